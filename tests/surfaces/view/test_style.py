"""Colours that can be read, and scripts that stay small."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from preflights_es.surfaces.view import export, rendering
from tests.each import each

DATA: Final = Path(rendering.__file__).parent / "data"
SCRIPTS_MAX: Final = 32_000  # bytes, all pages together
AA: Final = 4.5
EDGES: Final = 3.0
"""Of lines that say where a field is."""
GROUNDS: Final = ("ground", "raised", "sunken")


def tokens(scheme: int) -> dict[str, str]:
    """Colours by name; 0 is light, 1 is dark."""
    text = (DATA / "view.css").read_text("utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", text)
    return {name: colours[scheme] for name, *colours in pairs}


def contrast(one: str, two: str) -> float:
    """By WCAG 2.2, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        red, green, blue = (
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@each("scheme", [0, 1])
def test_every_colour_can_be_read_on_every_ground(scheme: int) -> None:
    found = tokens(scheme)
    words = ("text", "soft", "link", "person", "rules", "model", "agent", "files")
    pairs = [(word, ground) for word in words for ground in GROUNDS]
    pairs += [(word, f"{word}-ground") for word in ("good", "bad", "doubt", "new")]
    pairs += [("on-accent", "accent"), *((word, "new-ground") for word in words)]
    weak = {(one, two): round(contrast(found[one], found[two]), 2) for one, two in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < AA} == {}
    edges = {ground: contrast(found["edge"], found[ground]) for ground in GROUNDS[:2]}
    assert {ground: ratio for ground, ratio in edges.items() if ratio < EDGES} == {}


@each("scheme", [0, 1])
def test_every_text_in_a_picture_can_be_read(scheme: int) -> None:
    """What axe cannot say: on a call its colour lies over the ground, and shines through."""
    found, styles = tokens(scheme), "".join(map(Path.read_text, DATA.glob("*.css")))
    fills = dict(re.findall(r"(svg text[.\w]*|\.mark \.on) \{ fill: ([^;]+);", styles))
    assert fills == {
        "svg text": "var(--text)",
        "svg text.soft": "var(--soft)",
        "svg text.name": "currentColor",
        ".mark .on": "var(--text)",
    }
    templates = "".join(map(Path.read_text, DATA.glob("*.html")))
    classes = set(re.findall(r"<text(?: class=\"([^\"]*)\")? ", templates))
    assert classes == {"", "soft", "on", "c-{{ lane }} name"}
    (share,) = re.findall(r"\.mark \.call \{[^}]* fill-opacity: ([\d.]+);", styles)
    for colour in ("person", "rules", "model", "agent", "files", "bad"):
        ground = over(found[colour], float(share), found["ground"])
        assert contrast(found["text"], ground) >= AA, colour


def over(colour: str, share: float, ground: str) -> str:
    """A colour that lets the ground shine through."""
    pairs = [[int(one[at : at + 2], 16) for one in (colour, ground)] for at in (1, 3, 5)]
    return "#" + "".join(f"{round(top * share + below * (1 - share)):02x}" for top, below in pairs)


def test_our_scripts_are_small_and_every_file_is_served_or_a_template() -> None:
    assert sum(path.stat().st_size for path in DATA.glob("*.js")) < SCRIPTS_MAX
    served = {*rendering.FILES, *export.STATIC}
    assert {path.name for path in DATA.iterdir() if path.suffix != ".html"} == served
