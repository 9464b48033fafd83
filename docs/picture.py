"""Draws what `docs/demo-scenes.sh` prints as `docs/demo.svg`: python docs/picture.py

The scenes follow each other by CSS alone, once, each as long as its words take, and the last one
stays; a reader who wants no motion sees that one. Ids, hashes, dates and times become fixed ones,
so that the same output gives the same picture.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).resolve().parent
PICTURE: Final = DOCS / "demo.svg"
WIDTH, HEIGHT = 900, 500
SECONDS: Final = 15.0  # of all scenes
COLUMNS, ROWS = 84, 17  # of a scene
LINE: Final = 25  # pixels of a row
TOP: Final = 80  # pixels above the first row
REST_S: Final = 1.0  # of a scene, behind its last row

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
    (r"\b\d\d:\d\d(?=\s+UTC\b)", "09:30"),
)
STYLE: Final = """\
text { font: 16.5px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
text { fill: #d9dee7; white-space: pre; }
.title { font-weight: 700; font-size: 19px; fill: #fff; }
.command { font-weight: 700; fill: #98e024; }
.scene:not(:last-of-type) { opacity: 0; }
@media (prefers-reduced-motion: no-preference) {
.row { animation: appear .1s both; }
@keyframes appear { from { opacity: 0; } }
"""


def printed() -> str:
    """What the demo prints, with the program beside this Python."""
    here = os.environ  # noqa: TID251  handed on to the demo
    env = {**here, "BIN": str(Path(sys.executable).parent), "NO_COLOR": "1", "TZ": "UTC"}
    demo = ["/bin/sh", str(DOCS / "demo-scenes.sh")]
    done = subprocess.run(  # noqa: S603  ours
        demo, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    text = done.stdout.replace("\r", "").strip("\n")
    for pattern, fixed in FIXED:
        text = re.sub(pattern, fixed, text)
    return text


def drawn(text: str) -> str:
    """The picture of a terminal that shows one scene after the other; it loads nothing."""
    scenes = [scene.partition("\n") for scene in re.split(r"^@ ", text, flags=re.MULTILINE)[1:]]
    weights = [*_weigh_scenes(f"{title} {shown}" for title, _, shown in scenes)]
    turns, groups = list[str](), list[str]()
    for number, (title, _, shown) in enumerate(scenes):
        shares = [sum(weights[:at]) / sum(weights) for at in (number, number + 1)]
        begin, end = (round(100 * share, 2) for share in shares)
        times = [SECONDS * share for share in shares]
        is_last = number == len(scenes) - 1
        hidden = "" if is_last else f" {end}% {{ opacity: 0; }}"
        turns.append(
            f"@keyframes scene{number} {{ 0% {{ opacity: {int(not number)}; }} "
            f"{begin}% {{ opacity: 1; }}{hidden} }}\n"
            f"#scene{number} {{ animation: scene{number} {SECONDS:g}s step-end both; }}\n"
        )
        rows = "\n".join(_rows(shown.strip("\n"), *times))
        head = f'<text class="title" x="20" y="40">{number + 1} {escape(title)}</text>'
        groups.append(f'<g class="scene" id="scene{number}">\n{head}\n{rows}\n</g>')
    said = escape(", ".join(title for title, _, _ in scenes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{said}">\n<style>\n{STYLE}{"".join(turns)}}}\n</style>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#1b1f27"/>\n'
        + "\n".join(groups)
        + "\n</svg>"
    )


def _weigh_scenes(scenes: Iterable[str]) -> Iterator[float]:
    """How long each takes to read: the words that none before it has, and a quarter of others."""
    seen = set[str]()
    for scene in scenes:
        words = {one.lower() for one in re.findall(r"[A-Za-z][\w'-]*", scene)}
        yield len(words - seen) + len(words & seen) / 4
        seen |= words


def _rows(shown: str, begins_s: float, ends_s: float) -> Iterator[str]:
    """Rows of a scene, which appear one after the other; a long command takes several."""
    rows = [(row, line[:2] == "$ ") for line in shown.split("\n") for row in _folded(line)]
    step_s = (ends_s - begins_s - REST_S) / len(rows)
    for number, (row, is_command) in enumerate(rows[:ROWS]):
        y = round(TOP + LINE * number, 1)
        delay = round(begins_s + step_s * number, 2)
        kind = " command" if is_command else ""
        style = f'class="row{kind}" style="animation-delay: {delay:g}s"'
        if row:
            yield f'<text {style} x="20" y="{y:g}">{escape(row, quote=False)}</text>'


def _folded(line: str) -> Iterator[str]:
    while len(line) > COLUMNS:
        end = line.rfind(" ", 0, COLUMNS)
        end = end if end > len(line) - len(line.lstrip()) else COLUMNS
        yield line[:end]
        line = f"    {line[end:].lstrip()}"
    yield line


if __name__ == "__main__":
    PICTURE.write_text(drawn(printed()) + "\n", "utf-8")
