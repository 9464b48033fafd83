"""Reads the records that other tools and people wrote, in the forms of five tools and in any other.

Everything in them is data of a stranger: what shows a field escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from preflights_es.kernel.text import late_pattern, shortened
from preflights_es.records.record_names import (
    RECORD_MAX,
    ForeignRecord,
    RecordHeader,
    Tool,
    day_of_file_name,
    is_dated,
    is_first_page,
    is_other_page,
    name_of_record,
    number_behind_day,
    number_of,
    title_of_name,
)
from preflights_es.records.record_text import (
    READ_MAX,
    Heading,
    Parts,
    TextPlace,
    chosen_of,
    decode_record_text,
    narrow,
    parts_of,
    scalar,
    split_yaml_list,
    with_body,
)
from preflights_es.records.status_words import (
    REFERENCES_MAX,
    StatusSaid,
    begins_with_status,
    goes_on,
    iso_date,
    parse_status_text,
    reference,
    references,
    relations_of,
    says_status,
    strip_links_and_emphasis,
    whole_references,
)
from preflights_es.system.files import Unreadable
from preflights_es.words.path_patterns import PATTERN_MAX, PATTERNS_MAX

TITLE_MAX: Final = 300  # characters
DAY_MAX: Final = 12  # characters of a day in digits
CHOSEN_MAX: Final = 200  # characters of what was chosen that a list keeps


def foreign_record(path: str, content: bytes) -> ForeignRecord:
    """Read a record.

    Args:
        path: relative to the folder of records; its name, or that of its own folder, may hold a
            number or a day.

    Raises:
        Unreadable: it has more than `RECORD_MAX` bytes, or is in no encoding of Markdown.
    """
    parts = _parse_record_parts(content)
    return with_body(_read_foreign_header(path, parts), parts)


def record_header(path: str, content: bytes) -> RecordHeader:
    """Read what a list shows; arguments and errors as above."""
    return _read_foreign_header(path, _parse_record_parts(content))


def listed_header(path: str, content: bytes, *, counts_number: bool = True) -> RecordHeader | None:
    """The same of a page that is a record: it has a status, a number or day, or a heading of a
    decision.

    A template or a list of records counts only where it bears a number and a known status.

    Args:
        counts_number: whether a number or day is enough, as in a folder that is called so.

    Raises:
        Unreadable: as above, or it is binary.
    """
    parts = _parse_record_parts(content)
    header = _read_foreign_header(path, parts)
    name, is_known = name_of_record(path), header.status not in ("none", "unknown")
    if is_other_page(name):
        is_titled = not is_other_page(header.title.replace(" ", "-"))
        return header if is_titled and is_known and number_of(name) else None
    heading = None if header.number else _title_heading(parts)
    if heading and _TEMPLATE_TITLE.fullmatch(parts.at(heading.text)):
        return None
    # Notes beside a record bear the number of their folder alone.
    is_own = is_first_page(path) or name == path.rpartition("/")[2].rpartition(".")[0]
    is_numbered = is_own and (header.number is not None or bool(day_of_file_name(name)))
    says_so = is_known or status_of(parts) or _count_decision_headings(parts)
    if is_numbered and counts_number and not says_so:
        if b"\0" in parts.content:
            raise Unreadable("it is binary")
        if not parts.content.strip():
            raise Unreadable("it is empty")
    return header if says_so or (is_numbered and counts_number) else None


def is_decision(path: str, content: bytes) -> bool:
    """Whether a page is a record wherever it lies: its status is known, and it has a number or
    several headings of a decision. Plans and reports have one.
    """
    parts = _parse_record_parts(content)
    header = _read_foreign_header(path, parts)
    says_so = header.number is not None or _count_decision_headings(parts) > 1
    is_known = header.status not in ("none", "unknown")
    is_template = _TEMPLATE_TITLE.fullmatch(_first_stated_value(parts, "date"))
    return is_known and says_so and not (is_template or is_other_page(name_of_record(path)))


def _count_decision_headings(parts: Parts) -> int:
    """How many of Nygard's and of MADR's it has."""
    names = {heading.name for heading in parts.headings}
    return len(names & _NYGARD) + len(names & MADR_HEADINGS)


def _parse_record_parts(content: bytes) -> Parts:
    if len(content) > RECORD_MAX:
        raise Unreadable(f"it has more than {RECORD_MAX:,} bytes")
    try:
        return parts_of(narrow(content)[0])
    except UnicodeDecodeError as error:
        raise Unreadable("it begins like UTF-16, and is not") from error


# 1. Header -----------------------------------------------------------------------------------

_NUMBERED = late_pattern(
    r"\W{0,2}(?:(?:adr|architecture decision record)[- _#]{0,2}(?:(?:19|20)\d\d[-_](?=\d))?"
    r"(\d{1,6})\]?\s*(?:[:.|\u2013\u2014\uff1a\xb7-]\s*)?"
    r"|(\d{1,6}(?=\.|:| [\u2013\u2014-])|0\d{1,5}(?= ))(?:\.|:| [\u2013\u2014-]|)\s+"
    r"|(\d{1,6})\s+)(?=\S)",
    re.IGNORECASE,
)
"""The last group is a bare number: it counts where the name of the file has it, too."""
_SERIES = late_pattern(
    r"[A-Z]{2,5}(?:[-_][A-Za-z]+){0,2}(?:[-_ ](\d{1,6})|(\d{2,6}))(?::| [\u2013\u2014-])\s+(?=\S)"
)
"""Another word before the number, such as `DR012: `."""
_KIND_OF_TEXT = late_pattern(
    r"(?:adr(?:[- ]?(?:xx|nn)+)?|architecture decision(?: record)?(?: \(adr\))?"
    r"|architekturentscheidung)"
    r"\s*(?:[:\u2013\u2014]|-\s)\s*(?=\S)",
    re.IGNORECASE,
)
_DATED_ENTRY = late_pattern(
    r"^[ \t]*[*+-][ \t]+([^:\n]{0,40}\b(?:19|20)\d\d\b[^:\n]*)", re.MULTILINE
)
_TEMPLATE_TITLE = late_pattern(r"[\[{<].*[\]}>]")


def _read_foreign_header(path: str, parts: Parts) -> RecordHeader:
    name = name_of_record(path)
    number, title = _read_number_and_title(name, parts)
    found, folder = _read_record_status(parts), path.rpartition("/")[0].rpartition("/")[2]
    if found.status == "none" and not is_dated(folder) and says_status(folder):
        found = parse_status_text(folder)
    written = _first_stated_value(
        parts, "date", "datum", "decision-date", "created", "stand", "revdate", "last-updated"
    )
    written = written or _text_below_heading(parts, "date", "datum")
    return RecordHeader(
        path=path,
        tool=_tool(name, parts, found),
        number=number,
        title=title,
        status=found.status,
        status_text=found.text,
        superseded_by=found.superseded_by,
        supersedes=found.supersedes,
        date=iso_date(written)
        or day_of_file_name(name)
        or next(filter(None, map(iso_date, _short_values(parts))), "")
        or iso_date(found.text)
        or iso_date(status_of(parts))
        or _first_day(parts),
        applies_to=_applies_to(parts),
        session=_first_stated_value(parts, "session") if _first_stated_value(parts, "uid") else "",
        chosen=shortened(chosen_of(parts), CHOSEN_MAX),
    )


def _short_values(parts: Parts) -> Iterator[str]:
    """How what stands behind any key begins, and sections that are as short as a day."""
    for place in sorted(parts.said.values()):
        yield _read_place_text(parts, place)[:DAY_MAX]
    for heading in parts.sections:
        if len(text := decode_record_text(parts.below(heading)[:READ_MAX]).strip()) <= DAY_MAX:
            yield text


def _first_day(parts: Parts) -> str:
    """The first day of a changelog, as Cosmos writes it; empty where an entry could be two."""
    entries_dated = _DATED_ENTRY.findall(_text_below_heading(parts, "changelog", "change log"))
    return min(map(iso_date, entries_dated), default="")


def title_number(parts: Parts) -> tuple[int, int] | None:
    """Where the number of a title stands, from and to which byte; None where it bears none."""
    heading = _title_heading(parts)
    place = heading.text if heading else parts.said.get("title") or parts.said.get("titel")
    if place is None or (found := _NUMBERED.match(parts.at(place)[:READ_MAX])) is None:
        return None
    start, end = found.span(found.lastindex or 0)
    text = parts.at(place)
    at = place.start + len(text[:start].encode())
    return at, at + end - start


def _title_heading(parts: Parts) -> Heading | None:
    """The first heading of the first level, unless it is that of a section, such as "Decision"."""
    heading = next((one for one in parts.headings if one.level == 1), None)
    is_section = heading is not None and heading.name in _NYGARD | MADR_HEADINGS
    return None if is_section else heading


def _read_number_and_title(stem: str, parts: Parts) -> tuple[int | None, str]:
    """Number and title: a number of the title counts where the file's name has none.

    Where the name has a day, `12. factor` may be words: the name has to bear the number, too.
    """
    number, heading = number_of(stem), _title_heading(parts)
    text = parts.at(heading.text)[:READ_MAX] if heading else ""
    text = strip_links_and_emphasis(text) or strip_links_and_emphasis(
        _first_stated_value(parts, "title", "titel")
    )
    found = _NUMBERED.match(text)
    written = int(found[found.lastindex or 0]) if found else None
    if found and found[3] and written != number:
        found = None
    if found and (found[1] or not day_of_file_name(stem) or number_behind_day(stem) == written):
        number = written if number is None else number
        # A label with another number than the file's name was copied from another record.
        if written == number or found[0].rstrip().endswith((":", ".")):
            text = text[found.end() :]
    elif (found := _SERIES.match(text)) and int(found[1] or found[2]) == number:
        text = text[found.end() :]
    if kind := _KIND_OF_TEXT.match(text):
        text = text[kind.end() :]
    if not text or _TEMPLATE_TITLE.fullmatch(text):
        text = title_of_name(stem) or stem
    return number, shortened(text, TITLE_MAX)


def status_of(parts: Parts) -> str:
    """The text of the status, wherever the record has it; empty without one."""
    place = status_place(parts)
    heading = status_heading(parts)
    if place is None and heading is None:
        badges = _BADGE.findall(_head(parts))
        changes = _text_below_heading(parts, "changelog", "change log").splitlines()
        return next(filter(says_status, badges), "\n".join(filter(begins_with_status, changes)))
    return (place and _read_place_text(parts, place)) or (
        _beneath(parts, heading) if heading else ""
    )


def status_place(parts: Parts) -> TextPlace | None:
    """Where a line, cell or key of the front matter says the status; None without one."""
    found = (place for key, place in parts.said.items() if _STATUS_KEY.fullmatch(key))
    return next(found, None) or parts.said.get("state")


def status_heading(parts: Parts) -> Heading | None:
    """The heading of the status, which may stand behind a colon in it; None without one."""
    names = ((heading.name.partition(":")[0].strip(), heading) for heading in parts.sections)
    found = (one for name, one in names if one.level < 5 and _STATUS_NAME.fullmatch(name))
    return next(found, None)


# Also as other languages spell the word: what is written there is then shown, not understood.
_STATUS: Final = (
    r"(?:(?:decision|adr|current)[ -])?(?:e?stat(?:us|uts?|o|usz)|estado|stav|[ée]tat|zustand"
    r"|статус|状态|狀態|ステータス|상태)"
)
_STATUS_KEY = late_pattern(_STATUS)
_STATUS_NAME = late_pattern(rf"{_STATUS}(?:[ -](?:history|log|verlauf|historie))?|state")


def _read_record_status(parts: Parts) -> StatusSaid:
    """The status, with what other lines say of the records before and after this one."""
    found = parse_status_text(status_of(parts))
    by = found.superseded_by or reference(_first_stated_value(parts, *_REPLACED_BY))
    by = by or next(references(_text_below_heading(parts, "superseded by", "replaced by")), None)
    replaces = _first_stated_value(parts, *_REPLACES) or _text_below_heading(parts, *_REPLACES)
    takes = found.supersedes or tuple(whole_references(replaces))
    status = found.status
    for text in (_head(parts), *_links(parts)):
        later, earlier = relations_of(text)
        by, takes = by or later, takes or tuple(earlier)
    if by and status in ("none", "unknown", "accepted"):
        status = "superseded"
    return StatusSaid(status, found.text, by, takes[:REFERENCES_MAX])


def _head(parts: Parts) -> str:
    """What stands above the first section, and below the front matter."""
    start = parts.front.end if parts.front else 0
    end = min((one.text.start for one in parts.headings if one.level > 1), default=READ_MAX)
    return decode_record_text(parts.masked[start : min(end, start + READ_MAX)])


def _links(parts: Parts) -> Iterator[str]:
    for name in ("links", "more information", "weitere informationen", "related decisions"):
        yield _text_below_heading(parts, name)


def _applies_to(parts: Parts) -> tuple[str, ...]:
    """The first list that says what a record is about."""
    for key in ("applies-to", "paths", "affects", "scope"):
        place = parts.said.get(key)
        text = parts.at(place)[:READ_MAX] if place else ""
        text = text.replace("`+", "`").replace("+`", "`") if parts.is_asciidoc else text
        if found := _IN_CODE.findall(text) or split_yaml_list(text):
            return tuple(one for one in found[:PATTERNS_MAX] if len(one) <= PATTERN_MAX)
    return ()


_BADGE = late_pattern(r"!\[[^\[\]\n]{0,200}\]\([^()\s]{0,300}/status-([a-z]+)", re.IGNORECASE)
_IN_CODE = late_pattern(r"`([^`\n]+)`")
_REPLACED_BY: Final = ("superseded-by", "superceded-by", "replaced-by", "ersetzt-durch")
_REPLACES: Final = ("supersedes", "supercedes", "replaces", "obsoletes", "ersetzt")


def _first_stated_value(parts: Parts, *keys: str) -> str:
    """What stands behind the first key that says something."""
    for key in keys:
        if place := parts.said.get(key):
            found = _read_place_text(parts, place)
            if found:
                return found
    return ""


def _read_place_text(parts: Parts, place: TextPlace) -> str:
    """What is said at a place: a list as a text with commas, a wrapped line with what follows."""
    text = parts.at(place)[:READ_MAX].strip()
    if place.form == "front":
        is_flow = text.startswith("[") and text.endswith("]") and not text.startswith("[[")
        return (
            ", ".join(split_yaml_list(text)) if is_flow or text.startswith("- ") else scalar(text)
        )
    behind = decode_record_text(parts.masked[place.end : place.end + READ_MAX])
    following = behind.strip("\\ \t\n").partition("\n")[0]
    return f"{text} {following}" if place.form == "line" and goes_on(text, following) else text


def _text_below_heading(parts: Parts, *names: str) -> str:
    """What stands below a heading, or behind the colon in it."""
    for heading in parts.sections:
        if heading.name.partition(":")[0].strip() in names and heading.level < 5:
            return _beneath(parts, heading)
    return ""


def _beneath(parts: Parts, heading: Heading) -> str:
    if ":" in heading.name:
        return parts.at(heading.text)[:READ_MAX].partition(":")[2].strip()
    return decode_record_text(parts.below(heading)[:READ_MAX]).strip()


# 2. Tool -------------------------------------------------------------------------------------

MADR_HEADINGS: Final = frozenset(
    (
        "context and problem statement",
        "considered options",
        "decision outcome",
        "kontext und problemstellung",
        "betrachtete optionen",
        "entscheidungsergebnis",
        "pros and cons of the options",
        "ergebnis der entscheidung",
    )
)
_NYGARD: Final = frozenset(("context", "decision", "kontext", "entscheidung"))


def _tool(name: str, parts: Parts, found: StatusSaid) -> Tool:
    """The form that the record has; what several forms have in common is taken for the newest."""
    names = {heading.name for heading in parts.headings}
    has_section = any(map(_STATUS_NAME.fullmatch, names))
    forms = {key: place.form for key, place in parts.said.items()}
    if not names & MADR_HEADINGS:
        is_list = forms.get("status") == "line" and name[:8].isdigit()
        if forms.get("status") is None and has_section and names & _NYGARD:
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
    return "nygard" if has_section else "madr4"
