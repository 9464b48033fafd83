"""What a check found, in the forms of machines: JSON, and annotations of GitHub Actions.

In an annotation, what comes from outside becomes no command of the runner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from preflights_cli.progress import count_in_words
from preflights_es.features.govern.check import Checked
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import escaped_text

TITLE: Final = "preflights check"
Kind = Literal["error", "warning", "notice"]
KINDS: Final[tuple[Kind, ...]] = ("error", "warning", "notice")
KIND_MAX: Final = 10  # annotations of a kind that GitHub shows of one step; of a job, 50
_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def summed(found: Checked) -> str:
    """`3 changed files: 1 error, 2 notes.`"""
    words = ("error", "warning", "note")
    counts = [(sum(one.level == word for one in found.findings), word) for word in words]
    said = ", ".join(count_in_words(count, word) for count, word in counts if count)
    return f"{count_in_words(found.changed, 'changed file')}: {said or 'nothing to say'}."


def github_annotations(found: Checked) -> str:
    """At most ten lines of each kind; where there is more, the last one says how much."""
    lines: dict[Kind, list[str]] = {kind: [] for kind in KINDS}
    for text in found.left_out:
        lines["warning"].append(_annotation("warning", text, title=TITLE))
    for one in found.findings:
        kind: Kind = "notice" if one.level == "note" else one.level
        place = {"file": one.file} if one.file else {}
        place |= {"line": str(one.line)} if one.line else {}
        lines[kind].append(_annotation(kind, one.message, **place, title=f"{TITLE}: {one.rule}"))
    return "".join(f"{line}\n" for kind in KINDS for line in _limited(kind, lines[kind]))


def _annotation(kind: Kind, message: str, **properties: str) -> str:
    """One line: what text holds ends no line and no property.

    Source: escapeData and escapeProperty of the toolkit of GitHub Actions.
    """
    said = ",".join(
        f"{key}={escaped_text(text).translate(_PROPERTY)}" for key, text in properties.items()
    )
    text = "\n".join(map(escaped_text, message.split("\n")))
    return f"::{kind} {said}::{text.translate(_DATA)}"


def _limited(kind: Kind, lines: list[str]) -> list[str]:
    """As many as the host shows; where there are more, the last line says how many."""
    if len(lines) <= KIND_MAX:
        return lines
    more = count_in_words(len(lines) - KIND_MAX + 1, "more finding")
    said = f"{more} not shown here: the report has them."
    return [*lines[: KIND_MAX - 1], _annotation(kind, said, title=TITLE)]


RENDER: Final[dict[str, Callable[[Checked], str]]] = {
    "json": lambda found: canonical_json(found).decode() + "\n",
    "annotations": github_annotations,
}
"""The forms that `--report` names."""
