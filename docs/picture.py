"""Draws what `docs/demo.sh` prints as `docs/demo.svg`: python docs/picture.py

Ids, hashes, dates and times become fixed ones, so that the same output gives the same picture.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

DOCS: Final = Path(__file__).resolve().parent
PICTURE: Final = DOCS / "demo.svg"
WIDTH: Final = 88  # characters of a line

# The longer ones first; each stand-in is as long as what it stands for, so that columns stay.
FIXED: Final = (
    (
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        "0190c2b4-7a10-7c3e-9f5d-2c5d6f3a91c2",
    ),
    (r"\b[0-9a-f]{64}\b", "9f" * 32),
    (r"\b[0-9a-f]{12}\b", "2c5d6f3a91c2"),
    (r"\b[0-9a-f]{8}\b", "6f3a91c2"),
    (r"\b\d{4}-\d\d-\d\d\b", "2026-01-12"),
    (r"\b\d\d:\d\d UTC\b", "09:30 UTC"),
)


def printed() -> str:
    """What the demo prints, with the program beside this Python."""
    here = os.environ  # noqa: TID251  handed on to the demo
    env = {**here, "BIN": str(Path(sys.executable).parent), "FORCE_COLOR": "1", "TZ": "UTC"}
    demo = ["/bin/sh", str(DOCS / "demo.sh")]
    done = subprocess.run(demo, env=env, capture_output=True, text=True, check=True)  # noqa: S603  ours
    text = done.stdout.strip("\n")
    for pattern, fixed in FIXED:
        text = re.sub(pattern, fixed, text)
    return text


def drawn(text: str) -> str:
    """The picture of a terminal that shows a text; it loads no font from elsewhere."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for line in text.split("\n"):
        shown = Text.from_ansi(line)
        if line.startswith("$ "):
            shown.stylize("bold green", 0, 1)
            shown.stylize("bold", 2)
        console.print(shown, soft_wrap=False)
    form = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(
        title="preflights", theme=MONOKAI, code_format=form, unique_id="preflights"
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(printed()) + "\n", "utf-8")
