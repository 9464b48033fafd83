"""Sets of sentences whose authors had seen neither the rules nor the code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent


def sentences(name: str) -> list[dict[str, Any]]:
    """The lines of a set."""
    found: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found
