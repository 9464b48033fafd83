"""Tables of cases that lie beside a module of tests as TOML: a line for each case."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def filed_cases(module: str) -> dict[str, Any]:
    """The tables of a module by name, given its `__file__`: lists of rows, each row a tuple."""
    found = tomllib.loads(Path(module).with_suffix(".toml").read_text("utf-8"))
    return {
        name: [*map(_frozen, table)] if isinstance(table, list) else _frozen(table)
        for name, table in found.items()
    }


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {key: _frozen(inner) for key, inner in value.items()}
    return value
