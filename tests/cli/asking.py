"""Helpers of the tests of `ask`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.program import Project


def answer(house: Project, *args: str, code: int = 0) -> Any:
    done = house.call("ask", *args, "--json")
    assert done.code == code, done.err
    return done.json


def shop(folder: Path, **files: str) -> Path:
    (folder / "metrics").mkdir(parents=True)
    (folder / "snippets").mkdir()
    for name, text in files.items():
        base, _, kind = name.rpartition("_")
        room = "snippets" if kind == "sql" else "metrics"
        (folder / room / f"{base}.{kind}").write_text(text)
    return folder
