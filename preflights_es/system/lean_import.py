"""Imports a library without what it does not need."""

from __future__ import annotations

import sys


def import_msgspec() -> None:
    """Import msgspec as if `typing_extensions` were not installed: only an older Python needs it.

    It takes longer to import than all of msgspec; a module that needs it still gets it afterwards.
    """
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # as the import system wants
    try:
        import msgspec  # noqa: F401  for what comes after
    finally:
        del sys.modules["typing_extensions"]
