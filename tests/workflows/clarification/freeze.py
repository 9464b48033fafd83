"""Writes the index of today's pack anew: `python -m tests.workflows.clarification.freeze`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from preflights_es.workflows import clarification
from preflights_es.workflows.clarification.index import indexed
from preflights_es.workflows.clarification.pack import STANDARD, worded

FOLDER = Path(clarification.__file__).parent / "packs"


def indexes() -> dict[str, bytes]:
    """The index of the pack of new sessions, by the name of its file."""
    return {
        f"{ref.name}.v{ref.version}.index.json": msgspec.json.encode(indexed(worded(ref))) + b"\n"
        for ref in (STANDARD,)
    }


if __name__ == "__main__":
    for name, data in indexes().items():
        (FOLDER / name).write_bytes(data)
