"""Edits of a record in its own format that change nothing else: another status, or another number
in its heading and in the links that lead to its file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import late_pattern
from preflights_es.records.foreign_records import (
    record_header,
    status_heading,
    status_of,
    status_place,
    title_number,
)
from preflights_es.records.record_names import Tool, is_page
from preflights_es.records.record_text import (
    BOM,
    READ_MAX,
    Heading,
    Parts,
    TextPlace,
    as_asciidoc,
    decode_record_text,
    narrow,
    parts_of,
    row_cells,
    trimmed,
)
from preflights_es.records.render import phrase_proposal, related_name
from preflights_es.records.status_words import parse_status_text, says_status
from preflights_es.system.files import Unreadable
from preflights_es.words.decisions import Record

_LINE = late_pattern(
    rb"^[ \t>]*(?P<item>[*+-][ \t]+(?:\[[xX]\][ \t]+)?|(?=\|))?(?P<text>\S[^\n]*)", re.MULTILINE
)
_RELATION = late_pattern(r"(?:[\w-]+ ){0,2}[\w-]+(?: by| durch)?:? \[")
_TAKES = late_pattern(
    rb"[,;(]? ?\b(?:supersedes|supercedes|replaces|ersetzt)\b|\|[ \t]+[*_]*[a-z][a-z ]{1,30}[*_]*:",
    re.IGNORECASE,
)
"""What follows a status on its line and stays: an older record, or another key behind a bar."""


class NewStatus(msgspec.Struct, frozen=True):
    """That another decision took a record's place, or that its proposal was rejected."""

    name: str = ""
    """Of the other decision: `ADR-0012`, or `task 3f9a12c45d6e`; empty for `rejected`."""
    path: str = ""
    """Of its record, from the folder of the one that it replaces; empty for a task."""

    @property
    def words(self) -> str:
        """The status in small letters, without a link."""
        return f"superseded by {self.name}" if self.name else "rejected"


def with_status(content: bytes, tool: Tool, by: NewStatus) -> bytes:
    """The record with its new status, every other byte as it was.

    Args:
        tool: says where a status goes in a record that has none.

    Raises:
        UnicodeDecodeError: it begins like UTF-16, and is not.
    """
    plain, wide = narrow(content)
    parts = parts_of(plain)
    start, end, text = _change(plain, parts, tool, by)
    if parts.is_asciidoc:
        text = as_asciidoc(text)
    made = plain[: _line_end(plain, start)] + text.encode() + plain[_line_end(plain, end) :]
    if not wide:
        return made
    return content[:2] + made.decode().encode(wide)


def _change(plain: bytes, parts: Parts, tool: Tool, by: NewStatus) -> tuple[int, int, str]:
    """What is replaced, from where to where, and by what."""
    newline = _newline(plain)
    place, heading = status_place(parts), status_heading(parts)
    if place is not None and not parts.at(place).strip():
        place = place if heading is None or status_of(parts) == "" else None
    if place is not None:
        return _in_place(plain, parts, place, by)
    if heading is not None:
        return _in_section(parts, heading, by, newline)
    return _inserted(plain, parts, tool, by, newline=newline)


def mend_record_status(content: bytes, before: Record, after: Record) -> bytes | None:
    """A record of ours that a person edited, with its new status; None where more has changed.

    A new number changes nothing here: it stands in the file's name, and `renumber` mends headings.

    Args:
        before: what its log said when the document was written last, and `after`: what it says now.
    """
    is_renumbered = after == replace(before, number=after.number)
    has_ended = after.status == "rejected" or after.superseded_by is not None
    ended = replace(
        before,
        status=after.status,
        superseded_by=after.superseded_by,
        rejected_by=after.rejected_by,
        why_rejected=after.why_rejected,
    )
    if not is_renumbered and not (has_ended and after == ended):
        return None
    try:
        header = record_header("", content)
    except Unreadable:
        return None
    # Whatever else lies in its place is not the record.
    is_it = header.session == after.session_id and header.status != "none"
    if not is_it or is_renumbered:
        return content if is_it else None
    by = NewStatus(related_name(after.superseded_by) if after.superseded_by else "")
    said_before, said_now = phrase_proposal(before).encode(), phrase_proposal(after).encode()
    content = content.replace(said_before, said_now, 1) if said_before else content
    return with_status(content, header.tool, by)


def _line_end(content: bytes, at: int) -> int:
    """Before a line end of two bytes, not in it."""
    return at - 1 if content[max(0, at - 1) : at + 1] == b"\r\n" else at


def _newline(content: bytes) -> str:
    """As the first line of the file ends."""
    feed, back = content.find(b"\n"), content.find(b"\r")
    if back < 0 or 0 <= feed < back:
        return "\n"
    return "\r\n" if content[back + 1 : back + 2] == b"\n" else "\r"


# 1. A status that is there -------------------------------------------------------------------


def _in_place(plain: bytes, parts: Parts, place: TextPlace, by: NewStatus) -> tuple[int, int, str]:
    before = plain[place.start : place.end]
    if place.form == "front":
        value = canonical_json(by.words).decode()
        blank = "" if plain[place.start - 1 : place.start] in (b" ", b"\t") else " "
        return place.start, place.end, blank + value
    end = place.start + _length_of_status(parts.masked[place.start : place.end])
    # A value may stand on a line of its own, below its key.
    ahead = (b" ", b"\t", b"|", *((b"\n", b"\r") if before else ()))
    blank = "" if plain[place.start - 1 : place.start] in ahead else " "
    return place.start, end, blank + _phrase_new_status(by, is_title=_is_title(before))


def _length_of_status(line: bytes) -> int:
    """How much of a line is the status; a relation to an older record behind it stays."""
    found = _TAKES.search(line)
    if found is None or not line[: found.start()].strip():
        return len(line)
    return len(line[: found.start()].rstrip())


def _phrase_new_status(by: NewStatus, *, is_title: bool) -> str:
    words = f"{by.words[0].upper()}{by.words[1:]}" if is_title else by.words
    return words.replace(by.name, f"[{by.name}]({by.path})") if by.path else words


def _is_title(before: bytes) -> bool:
    """Whether the status that stood there begins with a capital."""
    return next((char.isupper() for char in decode_record_text(before) if char.isalpha()), False)


# 2. A section --------------------------------------------------------------------------------


def _in_section(
    parts: Parts, heading: Heading, by: NewStatus, newline: str
) -> tuple[int, int, str]:
    """The first line with a status; behind the heading where no line has one."""
    words = _phrase_new_status(by, is_title=True)
    if ":" in heading.name:
        colon = parts.content.index(b":", heading.text.start)
        return colon + 1, heading.text.end, f" {words}"
    end = min(heading.end, heading.start + READ_MAX)
    lines = [*_LINE.finditer(parts.masked, heading.start, end)]
    saying = [line for line in lines if says_status(decode_record_text(line["text"]))]
    if not saying:
        return heading.start, heading.start, f"{newline * 2}{words}{_gap(parts, heading, newline)}"
    which = parse_status_text(status_of(parts)).text
    line = next(
        (one for one in saying if parse_status_text(decode_record_text(one["text"])).text == which),
        saying[0],
    )
    following = _LINE.match(parts.masked, line.end() + 1, heading.end)
    if following and not (line["item"] is not None or _stands_alone(following)):
        # A sentence goes on: it stays, and the new status stands above it.
        return line.start(), line.start(), words + newline * 2
    start, end = trimmed(parts.masked, *line.span("text"))
    for cell in row_cells(parts.masked, start):
        if says_status(parts.at(cell)):
            start, end = cell.start, cell.end
            break
    return start, start + _length_of_status(parts.masked[start:end].rstrip(b" \\")), words


def _stands_alone(line: re.Match[bytes]) -> bool:
    """Whether a line begins something of its own: an item, another status, a link's relation."""
    text = decode_record_text(line["text"])
    return line["item"] is not None or says_status(text) or _RELATION.match(text) is not None


# 3. No status --------------------------------------------------------------------------------


def _inserted(
    plain: bytes, parts: Parts, tool: Tool, by: NewStatus, newline: str
) -> tuple[int, int, str]:
    """Where the tool has it: a line of front matter, of the list below the title, or a section."""
    if parts.front is not None:
        value = canonical_json(by.words).decode()
        sign = " =" if plain.lstrip(BOM).startswith(b"+++") else ":"
        return parts.front.start, parts.front.start, f"status{sign} {value}{newline}"
    top = len(BOM) if plain.startswith(BOM) else 0
    if tool in ("madr3", "madr4"):
        value = canonical_json(by.words).decode()
        front = ("---", f"status: {value}", "---", "")
        return top, top, "".join(f"{line}{newline}" for line in front)
    # A line below a title behind another section would belong to that section.
    title = next((h for h in parts.headings[:1] if h.level == 1), None)
    # Below a first line of dashes a key would begin front matter.
    if title is None or (tool == "other" and parts.content.startswith(b"---", top)):
        return top, top, f"Status: {_phrase_new_status(by, is_title=True)}{newline * 2}"
    line = {
        "madr2": f"* Status: {_phrase_new_status(by, is_title=False)}",
        "log4brains": f"- Status: {_phrase_new_status(by, is_title=False)}",
        "nygard": f"## Status{newline * 2}{_phrase_new_status(by, is_title=True)}",
    }.get(tool, f"Status: {_phrase_new_status(by, is_title=True)}")
    return title.start, title.start, f"{newline * 2}{line}" + _gap(parts, title, newline)


def _gap(parts: Parts, heading: Heading, newline: str) -> str:
    """A blank line, unless one follows the heading."""
    rest = parts.content[heading.start :]
    following = rest[1:].split(b"\n", 1)[0] if rest.startswith((b"\n", b" \n")) else rest
    return "" if not following.strip() else newline


_FOLDER_BEFORE = late_pattern(r"[^\s()<>\[\]\"'`|,;]*\Z")
TOKEN_MAX: Final = 1_000  # characters of a link's folder
_LABEL_BEFORE = late_pattern(r"\[(?P<label>[^\[\]]{0,500})\]\(\s?<?[^\s()<>]{0,500}\Z")
_LABEL_BEHIND = late_pattern(r"[^\s\[\]()]{0,500}\[(?P<label>[^\[\]]{0,500})\]")
_LABEL_NUMBER = r"\W{0,2}(?:adr[-_ #]{0,2})?(?P<digits>0*%d)(?!\d)"


class NewPlace(NamedTuple):
    """Where a record lies that got another number; paths are relative to the project's root."""

    path: str
    number: int
    new_path: str
    new_number: int

    @property
    def stem(self) -> str:
        """The former name, without the ending of a page; a record's own folder has none."""
        return _stem(self.path)

    @property
    def ending(self) -> str:
        """Of the page; empty of a folder."""
        return posixpath.basename(self.path)[len(self.stem) :]

    @property
    def new_stem(self) -> str:
        """The new name, as above."""
        return _stem(self.new_path)


def _stem(path: str) -> str:
    name = posixpath.basename(path)
    return name.rpartition(".")[0] if is_page(name) else name


class Pointing(NamedTuple):
    """A text that names a file by its former name."""

    start: int
    end: int
    place: NewPlace
    is_sure: bool
    """Whether its folder is named, too."""


def with_title_number(content: bytes, place: NewPlace) -> bytes:
    """The record with the new number in its title, where that bears the old one.

    Raises:
        UnicodeDecodeError: it begins like UTF-16, and is not.
    """
    plain, wide = narrow(content)
    parts = parts_of(plain)
    found = title_number(parts)
    if found is None:
        return content
    start, end = found
    if not plain[start:end].isdigit() or int(plain[start:end]) != place.number:
        return content
    digits = _as_wide(plain[start:end].decode(), place.new_number).encode()
    made = plain[:start] + digits + plain[end:]
    return content[:2] + made.decode().encode(wide) if wide else made


def with_links(content: bytes, path: str, places: Mapping[str, NewPlace]) -> bytes:
    """A page of which every link to a former place leads to the new one; its label follows.

    Args:
        path: of the page.
        places: by their former paths.

    Raises:
        UnicodeDecodeError: it is in no encoding of Markdown.
    """
    plain, wide = narrow(content)
    text = plain.decode()
    made, at = [], 0
    for pointing in pointing_at(text, path, places):
        if not pointing.is_sure:
            continue
        old = text[pointing.start : pointing.end]
        before = _relabelled(text[at : pointing.start], pointing.place, _LABEL_BEFORE.search)
        made += [before, quote(pointing.place.new_stem) if "%" in old else pointing.place.new_stem]
        at = pointing.end
        if (label := _LABEL_BEHIND.match(text, at)) is not None:
            made.append(_relabelled(label[0], pointing.place, _LABEL_BEHIND.match))
            at = label.end()
    made.append(text[at:])
    changed = "".join(made)
    if changed == text:
        return content
    return content[:2] + changed.encode(wide) if wide else changed.encode()


def pointing_at(text: str, path: str, places: Mapping[str, NewPlace]) -> Iterator[Pointing]:
    """Where a text names files by their former names, in its order.

    Args:
        path: of the text, from which its links start.
    """
    if not places:
        return
    by_stem: dict[str, list[NewPlace]] = {}
    for place in places.values():
        for form in {place.stem, quote(place.stem)}:
            by_stem.setdefault(form, []).append(place)
    stems = "|".join(map(re.escape, sorted(by_stem, key=len, reverse=True)))
    named = re.compile(rf"(?:(?<![\w.%-])|(?<=/))(?P<stem>{stems})(?P<end>\.\w+)?(?![\w-])")
    for hit in named.finditer(text):
        token = _FOLDER_BEFORE.search(text[max(0, hit.start() - TOKEN_MAX) : hit.start()])
        before = token[0] if token else ""
        for place in by_stem[hit["stem"]]:
            if hit["end"] not in (None, place.ending):
                continue
            folder = posixpath.dirname(place.path)
            if _leads_to(before, posixpath.dirname(path), folder):
                yield Pointing(hit.start("stem"), hit.end("stem"), place, is_sure=True)
            elif before.rstrip("/").endswith(folder) or (not before and hit["end"]):
                yield Pointing(hit.start("stem"), hit.end("stem"), place, is_sure=False)


def _leads_to(before: str, at: str, folder: str) -> bool:
    """Whether what stands before a file's name leads to its folder."""
    if "://" in before:
        return False
    before = before.rpartition(":")[2]  # `xref:`
    from_here = posixpath.normpath(posixpath.join(at, before))
    return folder in (from_here, before.strip("/"))


def _relabelled(text: str, place: NewPlace, found_in: Callable[[str], re.Match[str] | None]) -> str:
    """The text with the new number in its label, where that begins with the old one."""
    label = found_in(text)
    if label is None:
        return text
    number = re.match(_LABEL_NUMBER % place.number, label["label"], re.IGNORECASE)
    if number is None:
        return text
    start, end = (label.start("label") + at for at in number.span("digits"))
    return text[:start] + _as_wide(text[start:end], place.new_number) + text[end:]


def _as_wide(digits: str, number: int) -> str:
    return f"{number:0{len(digits)}d}"
