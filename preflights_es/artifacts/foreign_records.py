"""Reads the records that other tools and people wrote: Nygard, MADR 2 to 4, log4brains, and any other.

What is read is data of a stranger: whoever shows a field escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from preflights_es.artifacts.record_parts import Heading, Parts, narrow, parts_of, scalar, text_of
from preflights_es.artifacts.record_words import (
    REFERENCES_MAX,
    Reference,
    Said,
    Status,
    day_of,
    iso_date,
    number_of,
    reference,
    references,
    said,
)
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.text import one_line, shortened
from preflights_es.system.bounded_read import Unreadable

RECORD_MAX: Final = 1_000_000  # bytes; a decision is a page
READ_MAX: Final = 8_000  # bytes of a section that are read
TITLE_MAX: Final = 300  # characters
TEXT_MAX: Final = 2_000  # characters of a context, a choice and its reason
OPTION_MAX: Final = 200  # characters
OPTIONS_MAX: Final = 30

Tool = Literal["nygard", "madr2", "madr3", "madr4", "log4brains", "other"]


class RecordHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a list of records shows of one."""

    path: str
    """Relative to the folder it was found in, with forward slashes."""
    tool: Tool
    number: int | None = None
    title: str
    """As the record says it, else the words of its file's name."""
    status: Status = "unknown"
    superseded_by: Reference | None = None
    supersedes: tuple[Reference, ...] = ()
    date: str = ""
    """ISO 8601; empty where the record names no day."""
    session: str = ""
    """Of Preflights, where the record says that it is ours; a claim."""


class ForeignRecord(RecordHeader, frozen=True, kw_only=True):
    """A record as its text says it, on one line each."""

    context: str = ""
    chosen: str = ""
    because: str = ""
    considered: tuple[str, ...] = ()


def foreign_record(path: str, content: bytes) -> ForeignRecord:
    """Read a record.

    Args:
        path: its name, which may hold a number or a day.

    Raises:
        Unreadable: it has more than `RECORD_MAX` bytes, or is in no encoding of Markdown.
    """
    parts = _parts(content)
    sections = {section: _section(parts, names) for section, names in _SECTIONS.items()}
    chosen, because = _choice(parts, sections["decision"])
    return ForeignRecord(
        **_header(path, parts),
        context=shortened(one_line(" ".join(_paragraphs(parts, sections["context"]))), TEXT_MAX),
        chosen=shortened(chosen, TEXT_MAX),
        because=shortened(because, TEXT_MAX),
        considered=tuple(_options(parts, sections["options"]))[:OPTIONS_MAX],
    )


def record_header(path: str, content: bytes) -> RecordHeader:
    """Read what a list shows; arguments and errors as above."""
    return RecordHeader(**_header(path, _parts(content)))


def _parts(content: bytes) -> Parts:
    if len(content) > RECORD_MAX:
        raise Unreadable(f"it has more than {RECORD_MAX:,} bytes")
    try:
        return parts_of(narrow(content)[0])
    except UnicodeDecodeError as error:
        raise Unreadable("it begins like UTF-16, and is not") from error


# 1. Header -----------------------------------------------------------------------------------

_NUMBERED = late_pattern(
    r"\W{0,2}(?:adr[- _#]{0,2}(\d{1,6})\]?\s*(?:[:.–—-]\s*)?|(\d{1,6})(?:\.|:| [–—-])\s+)(?=\S)",
    re.IGNORECASE,
)
_KIND_OF_TEXT = late_pattern(
    r"(?:adr|architecture decision record|architekturentscheidung)\s*(?:[:–—]|-\s)\s*(?=\S)",
    re.IGNORECASE,
)
_TEMPLATE_TITLE = late_pattern(r"[\[{<].*[\]}>]")


def _header(path: str, parts: Parts) -> dict[str, object]:
    name = path.rpartition("/")[2]
    number, title = _title(name, parts)
    found = _said(parts)
    written = _value(parts, "date", "datum", "decision-date", "created", "stand", "last-updated")
    written = written or _below(parts, "date", "datum")
    status_text = status_of(parts)
    return {
        "path": path,
        "tool": _tool(name, parts, found),
        "number": number,
        "title": title,
        "status": found.status,
        "superseded_by": found.superseded_by,
        "supersedes": found.supersedes,
        "date": iso_date(written) or day_of(name) or iso_date(status_text),
        "session": _value(parts, "session") if _value(parts, "uid") else "",
    }


def _title(name: str, parts: Parts) -> tuple[int | None, str]:
    """Number and title: a number of the title counts where the file's name has none and no day."""
    stem = name.removesuffix(".md").removesuffix(".markdown")
    number, day = number_of(stem), day_of(stem)
    text = next((parts.at(h.text) for h in parts.headings if h.level == 1), "")[:READ_MAX]
    text = _bare(text) or _bare(_value(parts, "title", "titel"))
    found = _NUMBERED.match(text)
    if found and not day:
        written = int(found[1] or found[2])
        if number in (None, written):
            number, text = written, text[found.end() :]
    if kind := _KIND_OF_TEXT.match(text):
        text = text[kind.end() :]
    if not text or _TEMPLATE_TITLE.fullmatch(text):
        words = stem[len(day.replace("-", "")) :] if day else stem
        text = one_line(_FILE_NUMBER.sub("", words).replace("-", " ").replace("_", " ")) or stem
    return number, shortened(text, TITLE_MAX)


_FILE_NUMBER = late_pattern(r"^(?:adr[-_ ]?)?\d+(?=[-_. ])", re.IGNORECASE)


def status_of(parts: Parts) -> str:
    """The text of the status, wherever the record has it; empty without one."""
    return _value(parts, "status", "zustand") or _below(parts, *STATUS_NAMES)


STATUS_NAMES: Final = ("status", "decision status", "current status", "zustand", "state")


def _said(parts: Parts) -> Said:
    """The status, and what other lines of the record say of what it replaced and what replaced it."""
    found = said(status_of(parts))
    by = found.superseded_by or reference(_value(parts, *_REPLACED_BY))
    takes = found.supersedes or tuple(references(_value(parts, *_REPLACES)))
    status: Status = "superseded" if by and found.status == "unknown" else found.status
    for name in ("links", "more information", "weitere informationen", "related decisions"):
        more = said(_below(parts, name))
        by = by or (more.superseded_by if status == "superseded" else None)
        takes = takes or more.supersedes
    return Said(status, by, takes[:REFERENCES_MAX])


_REPLACED_BY: Final = ("superseded-by", "superceded-by", "replaced-by", "ersetzt-durch")
_REPLACES: Final = ("supersedes", "supercedes", "replaces", "ersetzt")


def _value(parts: Parts, *keys: str) -> str:
    """What stands behind the first key that says something."""
    for key in keys:
        if place := parts.said.get(key):
            text = parts.at(place)[:READ_MAX]
            found = scalar(text) if place.form == "front" else text.strip()
            if found:
                return found
    return ""


def _below(parts: Parts, *names: str) -> str:
    """What stands below a heading, or behind the colon in it."""
    for heading in parts.headings:
        name, colon, rest = heading.name.partition(":")
        if name.strip() in names and heading.level < 5:
            if colon:
                return parts.at(heading.text)[:READ_MAX].partition(":")[2].strip()
            return text_of(parts.below(heading)[:READ_MAX]).strip()
    return ""


# 2. Tool -------------------------------------------------------------------------------------

_MADR: Final = frozenset(
    (
        *("context and problem statement", "considered options", "decision outcome"),
        *("kontext und problemstellung", "betrachtete optionen", "entscheidungsergebnis"),
        *("pros and cons of the options", "ergebnis der entscheidung"),
    )
)
_NYGARD: Final = frozenset(("context", "decision", "kontext", "entscheidung"))


def _tool(name: str, parts: Parts, found: Said) -> Tool:
    """The form that the record has; what several forms have in common is taken for the newest."""
    names = {heading.name for heading in parts.headings}
    forms = {key: place.form for key, place in parts.said.items()}
    if not names & _MADR:
        is_list = forms.get("status") == "line" and name[:8].isdigit()
        if forms.get("status") is None and names & set(STATUS_NAMES) and names & _NYGARD:
            return "nygard"
        return "log4brains" if is_list and not parts.front else "other"
    if "front" in forms.values():
        is_three = "deciders" in forms or "validation" in names
        has_link = found.superseded_by is not None and found.superseded_by.path
        is_four = "decision-makers" in forms or "confirmation" in names
        return "madr3" if not is_four and (is_three or has_link) else "madr4"
    if forms.keys() & {"status", "deciders", "date", "zustand", "datum"}:
        is_dated = name[:8].isdigit() or "tags" in forms
        return "log4brains" if is_dated else "madr2"
    return "nygard" if names & set(STATUS_NAMES) else "madr4"


# 3. Body -------------------------------------------------------------------------------------

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
_IN_QUOTES = late_pattern(r"[\"“”„«'](?P<what>.+?)[\"“”»'](?=[\s,.;:(]|$)[\s,]*(?P<rest>.*)", re.DOTALL)
_BECAUSE = late_pattern(
    r"(?:[,;]?\s*(?:-\s+)?\b(?:because(?! of\b)|weil|denn|since(?! \d))|(?:, |^)da)\b[\s:]*",
    re.IGNORECASE,
)
_BULLET = late_pattern(r"^ {0,3}(?:[*+-]|\d{1,2}[.)])[ \t]+(?P<text>.+)$", re.MULTILINE)
_LINKS = late_pattern(r"!?\[([^\[\]]{0,500})\]\([^()\n]{0,500}\)")
_MARKS = late_pattern(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_LABEL = late_pattern(r"(?:option|alternative|variante)\s*[\dA-Z]{0,2}\s*[:.–—-]\s+(?=\S)", re.IGNORECASE)


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
    return _bare(" ".join(lines))


def _bare(text: str) -> str:
    """One line without links and emphasis."""
    return one_line(_MARKS.sub("", _LINKS.sub(r"\1", text)))


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
