"""What the sections of a record say: the problem, the choice and its reason, the options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from preflights_es.kernel.late_pattern import late_pattern
from preflights_es.kernel.text import one_line, shortened
from preflights_es.records.record_parts import Heading, Parts, text_of
from preflights_es.records.record_words import bare

READ_MAX: Final = 8_000  # bytes of a section that are read
TEXT_MAX: Final = 2_000  # characters of a context, a choice and its reason
OPTION_MAX: Final = 200  # characters
OPTIONS_MAX: Final = 30


class Body(msgspec.Struct, frozen=True):
    """Each is on one line, and empty where the record does not say it."""

    context: str
    chosen: str
    because: str
    considered: tuple[str, ...]


def body_of(parts: Parts) -> Body:
    """Read the sections, by their names in English and German."""
    sections = {section: _section(parts, names) for section, names in _SECTIONS.items()}
    chosen, because = _choice(parts, sections["decision"])
    return Body(
        context=shortened(" ".join(_paragraphs(parts, sections["context"])), TEXT_MAX),
        chosen=shortened(chosen, TEXT_MAX),
        because=shortened(because, TEXT_MAX),
        considered=tuple(_options(parts, sections["options"]))[:OPTIONS_MAX],
    )


_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "context": (
        *("context and problem statement", "context", "problem statement", "problem", "background"),
        *("issue", "motivation", "kontext und problemstellung", "kontext", "problemstellung"),
        *("ausgangslage", "hintergrund", "summary"),
    ),
    "decision": (
        *("decision outcome", "decision", "outcome", "entscheidungsergebnis", "entscheidung"),
        *("ergebnis der entscheidung", "beschluss", "resolution", "chosen option"),
    ),
    "options": (
        *("considered options", "considered alternatives", "options considered", "options"),
        *("alternatives considered", "alternatives", "positions", "betrachtete optionen"),
        *("betrachtete alternativen", "erwogene optionen", "alternativen", "optionen"),
    ),
}
_CHOSEN = late_pattern(
    r"(?:we have |wir haben )?(?:chosen|selected|gewählte?|ausgewählte)"
    r"(?: (?:option|alternative|solution|lösung|variante))?\s*:\s*(?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
_IN_QUOTES = late_pattern(
    r"[\"“”„«'](?P<what>.+?)[\"“”»'](?=[\s,.;:(]|$)[\s,]*(?P<rest>.*)", re.DOTALL
)
_BECAUSE = late_pattern(
    r"(?:[,;]?\s*(?:-\s+)?\b(?:because(?! of\b)|weil|denn|since(?! \d))|(?:, |^)da)\b[\s:]*",
    re.IGNORECASE,
)
_BULLET = late_pattern(r"^ {0,3}(?:[*+-]|\d{1,2}[.)])[ \t]+(?P<text>.+)$", re.MULTILINE)
_LABEL = late_pattern(
    r"(?:option|alternative|variante)\s*[\dA-Z]{0,2}\s*[:.\u2013\u2014-]\s+(?=\S)", re.IGNORECASE
)


def _section(parts: Parts, names: tuple[str, ...]) -> Heading | None:
    """The first heading of these names, in the order of the names."""
    found = {heading.name.rstrip(" :"): heading for heading in reversed(parts.headings)}
    return next((found[name] for name in names if name in found), None)


def _paragraphs(parts: Parts, heading: Heading | None) -> list[str]:
    text = text_of(parts.below(heading)[:READ_MAX]) if heading else ""
    return [one for one in map(_plain, _BLANK.split(text)) if one]


_BLANK = late_pattern(r"\n[ \t]*(?:\n[ \t]*)+")


def _plain(text: str) -> str:
    """One line without links, emphasis, and bullets where lines begin."""
    lines = (_BULLET.sub(r"\g<text>", line) for line in text.split("\n"))
    return bare(" ".join(lines))


def _choice(parts: Parts, heading: Heading | None) -> tuple[str, str]:
    """What was chosen, and why, as far as the first lines of the section say it."""
    found = _paragraphs(parts, heading)
    if not found:
        return "", ""
    first, rest = found[0], one_line(" ".join(found[1:]))
    named = _CHOSEN.match(first)
    if named is None:
        chosen, because = _reasoned(first)
        return chosen.strip(), because
    if quoted := _IN_QUOTES.match(named["rest"]):
        chosen, because = quoted["what"], _BECAUSE.sub("", quoted["rest"], count=1).strip()
    else:
        chosen, because = _reasoned(named["rest"])
    if because in ("", ".", ":"):
        is_said = _BECAUSE.search(named["rest"]) is not None
        because = rest if is_said else ""
    return chosen.strip(" ,."), because


def _reasoned(text: str) -> tuple[str, str]:
    """Before and behind the first "because"."""
    found = _BECAUSE.search(text)
    return (text[: found.start()], text[found.end() :]) if found else (text, "")


def _options(parts: Parts, heading: Heading | None) -> Iterator[str]:
    """The list of a section, else the headings below it."""
    if heading is None:
        return
    listed = [hit["text"] for hit in _BULLET.finditer(text_of(parts.below(heading)[:READ_MAX]))]
    if not listed:
        at = parts.headings.index(heading)
        for below in parts.headings[at + 1 :]:
            if below.level <= heading.level:
                break
            if below.level == heading.level + 1:
                listed.append(parts.at(below.text)[:READ_MAX])
    for text in listed:
        plain = _plain(text)
        if label := _LABEL.match(plain):
            plain = plain[label.end() :]
        if plain:
            yield shortened(plain, OPTION_MAX)
