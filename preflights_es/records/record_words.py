"""What a status, a date, a reference and a name say, in the words of tools, English and German."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from preflights_es.kernel.late_pattern import late_pattern
from preflights_es.kernel.text import one_line, shortened
from preflights_es.records.record_header import Reference, Status
from preflights_es.records.record_names import day, day_of, number_of

SAID_MAX: Final = 2_000  # characters of a status, a date or a list of references
TEXT_MAX: Final = 200  # characters of a reference
REFERENCES_MAX: Final = 20  # records that one record can say it replaces

_WORDS: Final[dict[Status, str]] = {
    # The first that fits counts, so that "not accepted" is looked for before "accepted".
    "proposed": (
        r"not yet \w+|noch nicht \w+|proposed|proposal|draft|pending|work in progress|wip|rfc|open"
        r"|(?:in|under) (?:review|discussion)|todo|request for comments"
        r"|entwurf|vorgeschlagen|vorschlag|offen|in (?:diskussion|prüfung|arbeit|abstimmung)"
    ),
    "rejected": (
        r"not accepted|nicht (?:angenommen|akzeptiert)|rejected|declined|denied|abgelehnt|verworfen"
        r"|zurückgewiesen"
    ),
    "superseded": r"superseded|superceded|replaced|obsoleted|ersetzt|abgelöst",
    "deprecated": (
        r"deprecated|obsolete|retired|withdrawn|no longer (?:valid|relevant|in use)|veraltet"
        r"|überholt|zurückgezogen|außer kraft|nicht mehr gültig"
    ),
    "accepted": (
        r"accepted|approved|adopted|agreed|decided|active|implemented|done|final"
        r"|in (?:force|effect|use)|living|akzeptiert|angenommen|beschlossen"
        r"|entschieden|genehmigt|freigegeben|gültig|umgesetzt|in kraft|aktiv"
    ),
}
_STATUS = late_pattern(
    r"\b(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _WORDS.items()) + r")\b",
    re.IGNORECASE,
)
_GONE = late_pattern(
    r"(?P<before>(?:[\w-]+ ){0,3})\b(?:"
    r"(?:superseded|superceded|replaced|obsoleted|ersetzt|abgelöst|überholt)(?: worden)?[ :]*"
    r"\b(?:by|with|durch|von|mit|in favou?r of|zugunsten von)\b[: ]*(?P<by>.*)"
    r"|(?:durch|von) (?P<by_german>.{1,200}?) (?:ersetzt|abgelöst)\b)",
    re.IGNORECASE,
)
_NOT_YET = late_pattern(
    r"\b(?:will|shall|should|may|might|can|to|not|partially|partly|part"
    r"|nicht|teilweise|teils|soll|kann)\b",
    re.IGNORECASE,
)
_TAKES = late_pattern(
    r"(?:^|[,;.(] ?)(?:supersedes|supercedes|replaces|obsoletes"
    r"|ersetzt(?! (?:durch|von|worden|am)\b)|löst(?= .* ab\b))[: ]+(?P<what>[^;)]+(?:\)[^;)]*)*)",
    re.IGNORECASE,
)
_EDGE = late_pattern(r"^[^\w\[<]+", re.UNICODE)
_STRUCK = late_pattern(r"~~[^~]*~~")
_ARROW = late_pattern(r"→|->|=>|➡")
_LINK = late_pattern(
    r"!?\[(?P<label>[^\[\]]{0,500})\]\(\s?<?(?P<path>[^()<>\s]{0,500})>?(?:\s[^()]{0,500})?\)"
)
_WIKI = late_pattern(r"\[\[(?P<path>[^\[\]|]{1,500})(?:\|[^\[\]]{0,500})?\]\]")
_NUMBER = late_pattern(
    r"(?:\badr|\bdecision|\brecord|#|\bentscheidung|\bnr\.?)[ #_-]{0,2}(\d{1,6})\b"
    r"|^\W*(\d{1,6})\b(?!-\d)",
    re.IGNORECASE,
)
_FILE = late_pattern(r"[\w.-]+\.(?:md|markdown)\b")
_SLUG = late_pattern(r"\b\d{8}(?:-[a-z0-9]+)+\b")
_LINKS = late_pattern(r"!?\[([^\[\]]{0,500})\]\([^()\n]{0,500}\)")
_MARKS = late_pattern(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_NOTHING: Final = frozenset(
    ("", "-", "--", "none", "n/a", "null", "~", "[]", "keine", "nein", "no")
)


class Said(msgspec.Struct, frozen=True):
    """What the lines of a status say."""

    status: Status = "unknown"
    superseded_by: Reference | None = None
    supersedes: tuple[Reference, ...] = ()


# 1. Status -----------------------------------------------------------------------------------


def said(text: str) -> Said:
    """What a status says; `unknown` where it says nothing, or offers several as a template does."""
    found: list[tuple[str, Status]] = []
    by: Reference | None = None
    is_gone = False
    takes: list[Reference] = []
    for line in _lines(text[:SAID_MAX]):
        takes += [one for hit in _TAKES.finditer(line) for one in references(hit["what"])]
        gone = _GONE.search(line)
        if gone and not _NOT_YET.search(gone["before"]):
            is_gone, by = True, by or reference(gone["by"] or gone["by_german"] or "")
        elif status := _status(line):
            found.append((iso_date(line), status))
    # Of several lines with a date each, the newest counts; else the first.
    status = max(found, key=lambda one: one[0])[1] if found else "unknown"
    return Said("superseded" if is_gone else status, by, tuple(takes[:REFERENCES_MAX]))


def _lines(text: str) -> Iterator[str]:
    """Those that say something, without marks and what is struck out."""
    for line in filter(None, map(one_line, text.splitlines())):
        plain = _EDGE.sub("", _STRUCK.sub("", line)).replace("**", "").replace("`", "")
        if plain and not _is_template(plain):
            yield plain


def _is_template(line: str) -> bool:
    """Whether a line still offers what could be chosen."""
    return "|" in line and len({hit.lastgroup for hit in _STATUS.finditer(line)}) > 1


def _status(line: str) -> Status | None:
    """The word that a line begins with, or else the only one that it holds."""
    line = _EDGE.sub("", _ARROW.split(line)[-1])
    first = _STATUS.match(line)
    if first and not (_TAKES.match(line) or _is_partial(line)):
        return first.lastgroup  # type: ignore[return-value]  # a name of `_WORDS`
    names = {hit.lastgroup for hit in _STATUS.finditer(line)}
    if _GONE.search(line) or _TAKES.search(line):
        names -= {"superseded"}
    return names.pop() if len(names) == 1 else None  # type: ignore[return-value]


def _is_partial(line: str) -> bool:
    gone = _GONE.search(line)
    return gone is not None and gone.start("before") == 0 and bool(_NOT_YET.match(line))


# 2. References -------------------------------------------------------------------------------


def reference(text: str) -> Reference | None:
    """The first record that a text names; None where it names none."""
    found = next(iter(references(text)), None)
    rest = one_line(text[:SAID_MAX]).strip(" .,;:\"'()*_")
    if found is not None or rest.casefold() in _NOTHING:
        return found
    return Reference(shortened(rest, TEXT_MAX))


def references(text: str) -> Iterator[Reference]:
    """The records that a text names by link, file, number or slug."""
    text = one_line(text[:SAID_MAX])
    for pattern in (_LINK, _WIKI):
        if links := list(pattern.finditer(text)):
            yield from map(_linked, links)
            return
    for pattern in (_FILE, _SLUG):
        if files := list(pattern.finditer(text)):
            yield from (_reference(hit[0], hit[0]) for hit in files)
            return
    for hit in _NUMBER.finditer(text):
        yield Reference(hit[0].strip(" ,;"), int(hit[1] or hit[2]))


def _linked(link: re.Match[str]) -> Reference:
    label = link.groupdict().get("label") or link["path"]
    return _reference(label, link["path"])


def _reference(label: str, path: str) -> Reference:
    path = path.partition("#")[0]
    name = path.rstrip("/").rpartition("/")[2]
    number = number_of(name)
    if number is None and not day_of(name) and (hit := _NUMBER.search(label)):
        number = int(hit[1] or hit[2])
    return Reference(shortened(label.strip(), TEXT_MAX), number, shortened(path, TEXT_MAX))


def bare(text: str) -> str:
    """One line without links and emphasis."""
    return one_line(_MARKS.sub("", _LINKS.sub(r"\1", text)))


# 3. Dates ------------------------------------------------------------------------------------

_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    *("jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"),
)
_ISO = late_pattern(r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_DOTTED = late_pattern(r"(?<!\d)(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})(?!\d)")
_DAY_FIRST = late_pattern(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|\.)?[ -]([^\W\d]{3})[^\W\d]*[.,]?[ -](\d{4})(?!\d)"
)
_MONTH_FIRST = late_pattern(r"\b([^\W\d]{3})[^\W\d]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})(?!\d)")


def iso_date(text: str) -> str:
    """The day that a text names, ISO 8601; empty where it names none, or it could be two."""
    text = text[:SAID_MAX]
    if found := _ISO.search(text):
        return day(found[1], found[3], found[4])
    if found := _DOTTED.search(text):
        return day(found[3], found[2], found[1])
    if found := _DAY_FIRST.search(text):
        return day(found[3], _month(found[2]), found[1])
    if found := _MONTH_FIRST.search(text):
        return day(found[3], _month(found[1]), found[2])
    return ""


def _month(name: str) -> str:
    name = name.casefold()
    return str(_MONTHS.index(name) % 12 + 1) if name in _MONTHS else "0"
