"""Finds the parts of a record by their place in its bytes: one can change, and all others stay.

Structure is ASCII in every encoding that records come in; a text is decoded when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from preflights_es.kernel.late_pattern import late_pattern
from preflights_es.kernel.text import one_line

BOM: Final = b"\xef\xbb\xbf"
NAME_MAX: Final = 200  # bytes of a heading that are compared with names
_HEAD: Final = 8_000  # bytes in which a title and the lines below it stand
_WIDE: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}

_ENDS = late_pattern(rb"\r\n?")
_FENCED = late_pattern(
    rb"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?)??(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    rb"|<!--.*?(?:-->|\Z)",
    re.MULTILINE | re.DOTALL,
)
# No pattern ends a value by what follows it: on a long line that would take time squared.
_HEADING = late_pattern(
    rb"^ {0,3}(?P<marks>#{1,6})[ \t](?P<name>[^\n]*)"
    rb"|(?:^[ \t]*\n|\A)(?P<under>\w[^\n]*)\n(?P<line>=+|-{3,})[ \t]*$",
    re.MULTILINE,
)
_FRONT = late_pattern(rb"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)
_OPEN_FRONT = late_pattern(
    rb"---[ \t]*\n((?:(?:[A-Za-z][\w -]{0,40}:|[ \t]+\S|-[ \t])[^\n]*\n)+)", re.MULTILINE
)
_FIRST_KEY = late_pattern(
    rb"(?:[ \t]*(?:#[^\n]*)?\n)*[A-Za-z][\w -]{0,40}:(?:[ \t]|$)", re.MULTILINE
)
_PAIR = late_pattern(
    rb"^(?P<key>[A-Za-z][\w -]{0,40}):(?![^\s])(?P<value>[^\n]*)"
    rb"(?P<more>(?:\n(?:[ \t]+\S|-[ \t])[^\n]*)*)",
    re.MULTILINE,
)
_QUOTED = late_pattern(rb"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_COMMENT = late_pattern(rb"(?<=[ \t])#")
_SAID = late_pattern(
    rb"^[ \t>]*(?:[*+-][ \t]+)?(?:\*\*|__|\*|_)?(?P<key>[A-Za-z][A-Za-z -]{1,30}?)(?:\*\*|__|\*|_)?"
    rb"[ \t]?:(?:\*\*|__|\*|_)?(?P<value>[^\n]*)",
    re.MULTILINE,
)
_BREAK = late_pattern(rb"(?:\\|<br ?/?>)\Z")
_ROW = late_pattern(rb"^[ \t]*\|(?P<cells>[^\n]*)\|[ \t]*$", re.MULTILINE)
_NAME_EDGES = late_pattern(r"^[\W\d_]+|[\W_]+$")

Form = Literal["front", "line", "cell", "heading"]


class Place(NamedTuple):
    """Where a value stands, and how."""

    start: int
    end: int
    form: Form


class Heading(NamedTuple):
    """A heading, and what lies between it and the next one of any level."""

    level: int
    name: str
    """In lower case, without numbers and marks around it."""
    text: Place
    start: int
    """Of what lies below it."""
    end: int


class Parts(NamedTuple):
    """A record taken apart; places count bytes of `content`."""

    content: bytes
    """Lines end with a line feed each, at the place of the file's own line end."""
    masked: bytes
    """The same with blanks for code and comments."""
    front: Place | None
    headings: tuple[Heading, ...]
    said: dict[str, Place]
    """What stands above the first section as `key: value`, by the key in lower case."""

    def at(self, place: Place) -> str:
        """The text at a place."""
        return text_of(self.content[place.start : place.end])

    def below(self, heading: Heading) -> bytes:
        """What stands below a heading, without code and comments."""
        return self.masked[heading.start : heading.end]


def parts_of(content: bytes) -> Parts:
    """Take a record apart; total over any bytes but UTF-16 (see `narrow`)."""
    # A line end of two bytes becomes a blank and a line feed: every place stays what it was.
    even = _ENDS.sub(lambda end: b" \n" if len(end[0]) > 1 else b"\n", content)
    even = b"   " + even[3:] if even.startswith(BOM) else even
    top = 3 if content.startswith(BOM) else 0
    front = _front(even, top)
    body = front.end if front else 0
    masked = even[:body] + _FENCED.sub(_blanks, even[body:])
    headings = tuple(_headings(masked, body))
    return Parts(even, masked, front, headings, _said(even, masked, front, body, headings))


def narrow(content: bytes) -> tuple[bytes, str]:
    """A file in UTF-16 as UTF-8, and its encoding; every other file as it is.

    Raises:
        UnicodeDecodeError: it begins like UTF-16, and is not.
    """
    encoding = _WIDE.get(content[:2], "")
    if not encoding:
        return content, ""
    return content[2:].decode(encoding).encode(), encoding


def text_of(content: bytes) -> str:
    """Decoded as UTF-8, else as most old files of the West are."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        pass
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _blanks(found: re.Match[bytes]) -> bytes:
    return b"\n".join(b" " * len(line) for line in found[0].split(b"\n"))


# 1. Front matter -----------------------------------------------------------------------------


def _front(content: bytes, top: int) -> Place | None:
    """The lines between the fences; where the second is missing, the first lines that are pairs."""
    for pattern in (_FRONT, _OPEN_FRONT):
        found = pattern.match(content, top)
        if found and _FIRST_KEY.match(content, found.start(1), found.end(1)):
            return Place(found.start(1), found.end(1), "front")
    return None


def _pairs(content: bytes, front: Place) -> Iterator[tuple[str, Place]]:
    for found in _PAIR.finditer(content, front.start, front.end):
        start, end = trimmed(content, *found.span("value"))
        value = content[start:end]
        if value in (b"", b">", b"|", b">-", b"|-"):
            end = found.end("more") if found["more"] else end
        elif closed := _QUOTED.match(value):
            end = start + closed.end()
        elif comment := _COMMENT.search(value):
            end = trimmed(content, start, start + comment.start())[1]
        yield _key(found["key"]), Place(start, end, "front")


def trimmed(content: bytes, start: int, end: int) -> tuple[int, int]:
    """From where to where without the blanks around it."""
    text = content[start:end]
    start += len(text) - len(text.lstrip(b" \t"))
    return start, max(start, end - (len(text) - len(text.rstrip(b" \t"))))


def scalar(text: str) -> str:
    """The text of a YAML scalar, without its quotes or the marks of a block or list."""
    text = one_line(text).lstrip(">|-").strip() if "\n" in text else text.strip()
    if text[:1] in ("'", '"'):
        text = text[1:].removesuffix(text[0]).replace('\\"', '"').replace("''", "'")
    return text.strip()


# 2. Below the front matter -------------------------------------------------------------------


def _headings(masked: bytes, body: int) -> Iterator[Heading]:
    found = list(_HEADING.finditer(masked, body))
    ends = [one.start() for one in found[1:]] + [len(masked)]
    for one, end in zip(found, ends, strict=False):
        level = len(one["marks"] or (b"#" if one["line"][:1] == b"=" else b"##"))
        start, stop = trimmed(masked, *one.span("name" if one["marks"] else "under"))
        if one["marks"] and (closed := masked[start:stop].rstrip(b"#"))[-1:] in (b"", b" "):
            start, stop = trimmed(masked, start, start + len(closed))
        name = _NAME_EDGES.sub("", text_of(masked[start:stop][:NAME_MAX]).casefold())
        yield Heading(level, name, Place(start, stop, "heading"), one.end(), end)


def _said(
    content: bytes,
    masked: bytes,
    front: Place | None,
    body: int,
    headings: tuple[Heading, ...],
) -> dict[str, Place]:
    """Of several lines with one key the first counts; the front matter comes before the text."""
    found: dict[str, Place] = {}
    for key, place in _pairs(content, front) if front else ():
        found.setdefault(key, place)
    end = min(next((h.text.start for h in headings if h.level > 1), len(masked)), body + _HEAD)
    for line in _SAID.finditer(masked, body, end):
        start, stop = trimmed(masked, *line.span("value"))
        if broken := _BREAK.search(masked, start, stop):
            start, stop = trimmed(masked, start, broken.start())
        found.setdefault(_key(line["key"]), Place(start, stop, "line"))
    for key, place in _cells(masked, body, end):
        found.setdefault(key, place)
    return found


def _cells(masked: bytes, body: int, end: int) -> Iterator[tuple[str, Place]]:
    """Pairs of a table: its first column with its second, and its first row with its third."""
    rows = [list(_cells_of(row)) for row in _ROW.finditer(masked, body, end)]
    keys = [_key(masked[cell.start : cell.end]) for cell in rows[0]] if rows else []
    if len(rows) > 2 and (len(keys) > 2 or keys[1:] == ["date"]):
        yield from zip(keys, rows[2], strict=False)
    for row in rows:
        if len(row) > 1:
            yield _key(masked[row[0].start : row[0].end]), row[1]


def _cells_of(row: re.Match[bytes]) -> Iterator[Place]:
    at = row.start("cells")
    for cell in row["cells"].split(b"|"):
        left = len(cell) - len(cell.lstrip())
        yield Place(at + left, at + max(left, len(cell.rstrip())), "cell")
        at += len(cell) + 1


def _key(name: bytes) -> str:
    return text_of(name).strip(" *_:\t").casefold().replace("_", "-").replace(" ", "-")
