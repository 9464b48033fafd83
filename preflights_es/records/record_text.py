"""What a record says in Markdown or AsciiDoc, by its headings, lists and words.

AsciiDoc is read as Markdown: other signs for headings and keys, every byte in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final, Literal, NamedTuple

import msgspec

from preflights_es.kernel.text import late_pattern, one_line, shortened
from preflights_es.records.record_names import ForeignRecord, RecordHeader
from preflights_es.records.status_words import iso_date, strip_links_and_emphasis

# A title of one sign, below comments, attributes and anchors at most; of another sign, above two
# attributes: one line could begin with an emoji.
_BEGINS = late_pattern(
    rb"(?:[ \t]*\n|//[^\n]*\n|:[\w-]+:[^\n]*\n|\[[^\n]*\n)*"
    rb"(?:=[ \t]+\S|#[ \t][^\n]*(?:\n+:[\w-]+:[^\n]*){2})"
)
_BLOCK = late_pattern(
    rb"^(?P<fence>-{4,}|\.{4,}|/{4,}|`{3,})[ \t]*$.*?(?:^(?P=fence)[ \t]*$|\Z)|^//(?!/)[^\n]*",
    re.MULTILINE | re.DOTALL,
)
_SIGNS = late_pattern(
    rb"^(?:(?P<heading>={1,6})(?=[ \t])|:(?=[\w-]+:[ \t])|(?P<term>[A-Za-z][\w -]*)::(?=[ \t]))",
    re.MULTILINE,
)
_SIDEBAR = late_pattern(rb"^\.([A-Za-z][\w ]*)\n(\*{4,})$", re.MULTILINE)  # with a title
_LINK = late_pattern(r"\[([^\]]*)\]\(([^)]*)\)")


def is_asciidoc(text: bytes) -> bool:
    """Whether a text begins with a title of AsciiDoc, which no Markdown does."""
    return _BEGINS.match(text) is not None


def as_markdown(text: bytes) -> bytes:
    """The text with the signs of Markdown, and blanks for code and comments."""
    text = _SIGNS.sub(_sign, _BLOCK.sub(blanks, text))
    return _SIDEBAR.sub(lambda found: found[1] + b" \n" + b"-" * len(found[2]), text)


def as_asciidoc(line: str) -> str:
    """A line of ours in Markdown, with the signs of AsciiDoc."""
    return _LINK.sub(r"link:\2[\1]", line).replace("## ", "== ")


def document_in_asciidoc(text: str) -> str:
    """A document of ours, its front matter as attributes below the title.

    What Markdown escapes, and what only AsciiDoc has a meaning for, is a reference to the letter.
    """
    front, body = "", text
    if text.startswith("---\n"):
        _, front, body = text.split("---\n", 2)
    lines = [_line_in_asciidoc(line) for line in body.strip("\n").split("\n")]
    attributes = [f":{key}: {_plain(key, value)}" for key, value in _PAIRS.findall(front)]
    return "\n".join((lines[0], *attributes, *lines[1:])) + "\n"


def document_in_markdown(text: str) -> str:
    """The same back, without its attributes."""
    body = _LINKED.sub(r"[\2](\1)", _ATTRIBUTES.sub(r"\1", text))
    body = _NUMBERED.sub(lambda sign: f"\\{chr(int(sign[1]))}", body)
    return as_markdown(body.encode()).decode()


_ATTRIBUTES = late_pattern(r"\A(= .*\n)(?::.*\n)+")
_LINKED = late_pattern(r"link:([^\[\s]*)\[([^\]\n]*)\]")
_NUMBERED = late_pattern(r"&#(\d{2,3});")
_PAIRS = late_pattern(r"^([\w-]+): (.*)$", re.MULTILINE)
_PARTS = late_pattern(
    r"(?P<code>`[^`\n]+`)|\[(?P<words>(?:[^\]\\]|\\.)*)\]\((?P<link>[^)\s]*)\)"
    r"|\\(?P<escaped>.)|(?P<sign>[{}+^#]|::|;;|\A[/.])"
)
_BEGINNING = late_pattern(r"(?:#{1,6}|[*>]) ")


def _line_in_asciidoc(line: str) -> str:
    begins = _BEGINNING.match(line)
    before = begins[0] if begins else ""
    return before.replace("#", "=") + _PARTS.sub(_part, line[len(before) :])


def _part(found: re.Match[str]) -> str:
    if found["code"]:
        return f"`+{found['code'][1:-1]}+`"
    if found["words"] is not None:
        return f"link:{found['link']}[{_PARTS.sub(_part, found['words'])}]"
    return "".join(f"&#{ord(sign)};" for sign in found["escaped"] or found["sign"])


def _plain(key: str, value: str) -> str:
    """A text of our front matter, or a list of one name, without quotes: both are JSON."""
    said = msgspec.json.decode(value) if value[:1] in ('"', "[") else value
    if isinstance(said, list):
        said = said[0] if key == "decision-makers" else value
    return re.sub(r"\\$", "&#92;", str(said))


def blanks(found: re.Match[bytes]) -> bytes:
    """As many blanks, on as many lines."""
    return b"\n".join(b" " * len(line) for line in found[0].split(b"\n"))


def _sign(found: re.Match[bytes]) -> bytes:
    """`#` for `=`, ` status:` for `:status:`, and `Status :` for `Status::`."""
    if found["heading"]:
        return b"#" * len(found[0])
    return found["term"] + b" :" if found["term"] else b" "


BOM: Final = b"\xef\xbb\xbf"
NAME_MAX: Final = 200  # bytes of a heading that are compared with names
_HEAD: Final = 8_000  # bytes in which a title and the lines below it stand
_WIDE: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}

_ENDS = late_pattern(rb"\r\n?")
_FENCED = late_pattern(
    rb"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?)??(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    rb"|(?<!\\)<!--.*?(?:-->|\Z)",
    re.MULTILINE | re.DOTALL,
)
# No pattern ends a value by what follows it: on a long line that would take time squared.
_HEADING = late_pattern(
    rb"^ {0,3}(?P<marks>#{1,6})[ \t](?P<name>[^\n]*)"
    rb"|(?:^[ \t]*\n|\A)(?P<under>\w[^\n]*)\n(?P<line>=+|-{3,})[ \t]*$",
    re.MULTILINE,
)
_BEGINS_WITH_NUMBER = late_pattern(rb"(?:ADR[-_ ]?)?\d{1,6}(?:[.:)]|[ \t]+\S)", re.IGNORECASE)
_FRONT = late_pattern(rb"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)
_OPEN_FRONT = late_pattern(
    rb"---[ \t]*\n((?:(?:[A-Za-z][\w -]{0,40}:|[ \t]+\S|-[ \t])[^\n]*\n)+)", re.MULTILINE
)
_TOML = late_pattern(rb"\A\s*\+\+\+[ \t]*\n.*?^\+\+\+[ \t]*$", re.MULTILINE | re.DOTALL)
_EQUALS = late_pattern(rb"^([\w-]+[ \t]*)=", re.MULTILINE)
_CELL_TAG = late_pattern(
    rb"<(?:/?(?:table|thead|tbody|tr)|/t[dh]|(t[dh]))\b[^<>\n]*>", re.IGNORECASE
)
_FIRST_KEY = late_pattern(
    rb"(?:[ \t]*(?:#[^\n]*)?\n)*[A-Za-z][\w -]{0,40}:(?:[ \t]|$)", re.MULTILINE
)
_PAIR = late_pattern(
    rb"^(?P<key>[A-Za-z][\w -]{0,40}):(?![^\s])(?P<value>[^\n]*)"
    rb"(?P<more>(?:\n(?:[ \t]+\S|-[ \t])[^\n]*)*)",
    re.MULTILINE,
)
_NESTED = late_pattern(
    rb"^[ \t]+(?P<key>[A-Za-z][\w -]{0,40}):(?![^\s])(?P<value>[^\n]*)(?P<more>)", re.MULTILINE
)
"""A pair below another one, which counts where no other has its key."""
_QUOTED = late_pattern(rb"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_COMMENT = late_pattern(rb"(?<=[ \t])#")
_SAID = late_pattern(
    rb"^ {0,3}(?:>[ \t]*)*(?:[*+-][ \t]+)?(?:\*\*|__|\*|_)?"
    rb"(?P<key>[A-Za-z\x80-\xff][A-Za-z\x80-\xff_ -]{1,40}?)(?:\*\*|__|\*|_)?"
    rb"(?:(?:[ \t]|\xc2\xa0)?:|\xef\xbc\x9a)(?:\*\*|__|\*|_)?(?P<value>[^\n]*)",
    re.MULTILINE,
)
_UNMARKED = late_pattern(
    rb"^(?:(?:\*\*|__)(?=\w+[*_])|(?=\w+[ \t]+(?:\xe2\x80[\x93\x94]|-)))(?P<key>status|zustand)"
    rb"(?:\*\*|__)?[ \t]+(?:(?:\xe2\x80[\x93\x94]|-)[ \t]+)?(?P<value>\S[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
"""A status in front of which no colon stands: `**Status** Rejected`, or `Status - Rejected`."""
_CLOSING = late_pattern(
    rb"^\* (?P<key>Considered options|Applies to|Decision makers|Uid|Session):(?P<value>[^\n]*)",
    re.MULTILINE,
)
_CLOSING_MAX: Final = 16_000  # bytes
_ALONE = late_pattern(
    rb"^(?:\*\*|__)?(?P<key>[A-Za-z][A-Za-z -]{1,30}?)"
    rb"(?:(?:\*\*|__)[ \t]?:|:?(?:\*\*|__)|:)[ \t\\]*\n"
    rb"(?:[ \t]*\n)?[ \t]*(?P<value>(?:\*\*|__|\*|_|`)?\w[^\n:|]{0,60})"
    rb"(?=\n[ \t]*(?:\n|\*\*|__)|\n?\Z)",
    re.MULTILINE,
)
"""What stands alone below a line that ends as a key does: `**Status:**`, or `**Status**`."""
_BREAK = late_pattern(rb"(?:\\|<br ?/?>)\Z")
_ROW = late_pattern(rb"^[ \t]*\|(?P<cells>[^\n|]*\|[^\n]*?)\|?[ \t]*$", re.MULTILINE)
_SECOND_WORD = late_pattern(r"(?<=[a-z])(?=[A-Z])")  # as in `supersededBy`
_NAME_EDGES = late_pattern(r"^[\W\d_]+|[\W_]+$")

Form = Literal["front", "line", "cell", "heading"]


class TextPlace(NamedTuple):
    """Where a value stands, and how."""

    start: int
    end: int
    form: Form


class Heading(NamedTuple):
    """A heading, and what lies between it and the next one of any level."""

    level: int
    name: str
    """In lower case, without numbers and marks around it."""
    text: TextPlace
    start: int
    """Of what lies below it."""
    end: int


class Parts(NamedTuple):
    """A record taken apart; places count bytes of `content`."""

    content: bytes
    """Lines end with a line feed each, at the place of the file's own line end."""
    masked: bytes
    """The same with blanks for code and comments."""
    front: TextPlace | None
    headings: tuple[Heading, ...]
    said: dict[str, TextPlace]
    """What stands above the first section as `key: value`, by the key in lower case."""
    is_asciidoc: bool

    @property
    def sections(self) -> tuple[Heading, ...]:
        """The headings; the title behind the others, whatever words it has."""
        first, rest = self.headings[:1], self.headings[1:]
        return rest + first if first and first[0].level == 1 else self.headings

    def at(self, place: TextPlace) -> str:
        """The text at a place."""
        return decode_record_text(self.content[place.start : place.end])

    def below(self, heading: Heading) -> bytes:
        """What stands below a heading, without code and comments."""
        return self.masked[heading.start : heading.end]


def parts_of(content: bytes) -> Parts:
    """Take a record apart; total over any bytes but UTF-16 (see `narrow`)."""
    # A line end of two bytes becomes a blank and a line feed: every place stays what it was.
    even = _ENDS.sub(lambda end: b" \n" if len(end[0]) > 1 else b"\n", content)
    even = b"   " + even[3:] if even.startswith(BOM) else even
    even = _TOML.sub(lambda found: _EQUALS.sub(rb"\1:", found[0]).replace(b"+++", b"---"), even)
    top = 3 if content.startswith(BOM) else 0
    front = _front(even, top)
    body = front.end if front else 0
    text = even[body:]
    is_other = is_asciidoc(text)
    masked = even[:body] + (as_markdown(text) if is_other else _FENCED.sub(blanks, text))
    masked = _CELL_TAG.sub(
        lambda tag: (b"|" if tag[1] else b" ") + b" " * (len(tag[0]) - 1), masked
    )
    headings = _with_title(masked, body, tuple(_headings(masked, body)))
    said = _read_keyed_places(even, masked, front, body, headings=headings)
    return Parts(even, masked, front, headings=headings, said=said, is_asciidoc=is_other)


def narrow(content: bytes) -> tuple[bytes, str]:
    """A file in UTF-16 as UTF-8, and its encoding; every other file as it is.

    Raises:
        UnicodeDecodeError: it begins like UTF-16, and is not.
    """
    encoding = _WIDE.get(content[:2], "")
    if not encoding:
        return content, ""
    return content[2:].decode(encoding).encode(), encoding


def decode_record_text(content: bytes) -> str:
    """Decoded as UTF-8, else as most old files of the West are."""
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    return content.decode("latin-1")


# 1. Front matter -----------------------------------------------------------------------------


def _front(content: bytes, top: int) -> TextPlace | None:
    """The lines between the fences; where the second is missing, the first lines that are pairs."""
    for pattern in (_FRONT, _OPEN_FRONT):
        found = pattern.match(content, top)
        if found and _FIRST_KEY.match(content, found.start(1), found.end(1)):
            return TextPlace(found.start(1), found.end(1), "front")
    return None


def _read_front_pairs(content: bytes, front: TextPlace) -> Iterator[tuple[str, TextPlace]]:
    span = (content, front.start, front.end)
    for found in (*_PAIR.finditer(*span), *_NESTED.finditer(*span)):
        start, end = trimmed(content, *found.span("value"))
        value = content[start:end]
        if value in (b"", b">", b"|", b">-", b"|-"):
            end = found.end("more") if found["more"] else end
        elif closed := _QUOTED.match(value):
            end = start + closed.end()
        elif comment := _COMMENT.search(value):
            end = trimmed(content, start, start + comment.start())[1]
        yield _normalize_record_key(found["key"]), TextPlace(start, end, "front")


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


def split_yaml_list(text: str) -> list[str]:
    """The entries of a YAML list in either form, or of one text with commas between them."""
    rows = text.strip().splitlines()
    if len(rows) > 1 or text.lstrip().startswith("- "):
        said = [row.strip()[2:] for row in rows if row.strip().startswith("- ")]
    else:
        said = _ENTRY.findall(text.strip().removeprefix("[").removesuffix("]"))
    return [one for one in map(scalar, said) if one]


_ENTRY = late_pattern(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^,]+)""")

# 2. Below the front matter -------------------------------------------------------------------


def _headings(masked: bytes, body: int) -> Iterator[Heading]:
    found = list(_HEADING.finditer(masked, body))
    ends = [one.start() for one in found[1:]] + [len(masked)]
    for one, end in zip(found, ends, strict=False):
        level = len(one["marks"] or (b"#" if one["line"][:1] == b"=" else b"##"))
        start, stop = trimmed(masked, *one.span("name" if one["marks"] else "under"))
        if one["marks"] and (closed := masked[start:stop].rstrip(b"#"))[-1:] in (b"", b" "):
            start, stop = trimmed(masked, start, start + len(closed))
        name = _NAME_EDGES.sub("", decode_record_text(masked[start:stop][:NAME_MAX]).casefold())
        yield Heading(level, name, TextPlace(start, stop, "heading"), one.end(), end=end)


def _with_title(masked: bytes, body: int, headings: tuple[Heading, ...]) -> tuple[Heading, ...]:
    """The first heading is the title where it alone has a number and nothing stands before it."""
    numbered = [one for one in headings if _BEGINS_WITH_NUMBER.match(masked, one.text.start)]
    if numbered != [*headings[:1]] or not numbered or headings[0].level == 1:
        return headings
    if masked[body : headings[0].text.start].strip(b"#= \n"):
        return headings
    return (headings[0]._replace(level=1), *headings[1:])


def _read_keyed_places(
    content: bytes, masked: bytes, front: TextPlace | None, body: int, headings: tuple[Heading, ...]
) -> dict[str, TextPlace]:
    """Of several lines with one key the first counts; the front matter comes before the text."""
    found: dict[str, TextPlace] = {}
    for key, place in _read_front_pairs(content, front) if front else ():
        found.setdefault(key, place)
    others = (h.text.start for h in headings if h.level > 1 and h.name not in _ABOUT_ITSELF)
    end = min(next(others, len(masked)), body + _HEAD)
    for line in _SAID.finditer(masked, body, end):
        start, stop = trimmed(masked, *line.span("value"))
        if broken := _BREAK.search(masked, start, stop):
            start, stop = trimmed(masked, start, broken.start())
        found.setdefault(_normalize_record_key(line["key"]), TextPlace(start, stop, "line"))
    for one in _UNMARKED.finditer(masked, body, end):
        place = TextPlace(*trimmed(masked, *one.span("value")), "line")
        found.setdefault(_normalize_record_key(one["key"]), place)
    for alone in _ALONE.finditer(masked, body, end):
        key = _normalize_record_key(alone["key"])
        if key not in found or found[key].start == found[key].end:
            found[key] = TextPlace(*trimmed(masked, *alone.span("value")), "line")
    for key, place in (*_cells(masked, body, end), *_closing(masked, body)):
        found.setdefault(key, place)
    return found


def _closing(masked: bytes, body: int) -> Iterator[tuple[str, TextPlace]]:
    """What the last lines of a record of ours in Nygard's form say, which has no front matter."""
    start = max(body, len(masked) - _CLOSING_MAX)
    rule = masked.rfind(b"\n---", start)
    lines = {
        _normalize_record_key(one["key"]): one
        for one in _CLOSING.finditer(masked, max(rule, start))
    }
    if rule >= 0 and {"uid", "session"} <= lines.keys():
        for key, line in lines.items():
            yield key, TextPlace(*trimmed(masked, *line.span("value")), "line")


def _cells(masked: bytes, body: int, end: int) -> Iterator[tuple[str, TextPlace]]:
    """Pairs of a table: its first row with the newest other one, and first column with second."""
    rows = [row_cells(masked, row.start()) for row in _ROW.finditer(masked, body, end)]
    keys = (
        [_normalize_record_key(masked[cell.start : cell.end]) for cell in rows[0]] if rows else []
    )
    if len(rows) > 2 and (len(keys) > 2 or _NAMES.intersection(keys[1:])):
        yield from zip(keys, _newest_history_row(masked, keys, rows[2:]), strict=False)
    for row in rows:
        if len(row) > 1:
            yield _normalize_record_key(masked[row[0].start : row[0].end]), row[1]


_ABOUT_ITSELF: Final = frozenset(("metadata", "meta", "info", "details", "metadaten"))
"""Names of a first section of what else stands above it."""
_DAYS: Final = frozenset(("date", "datum"))
_NAMES: Final = _DAYS | {"status", "zustand"}
"""What a second column is called where the first row names the columns."""


def _newest_history_row(
    masked: bytes, keys: list[str], rows: list[list[TextPlace]]
) -> list[TextPlace]:
    """The row with the last day, where there is a history; else the first."""
    at = next((place for place, key in enumerate(keys) if key in _DAYS), len(keys))

    def day_of_row(row: list[TextPlace]) -> str:
        return (
            iso_date(decode_record_text(masked[row[at].start : row[at].end]))
            if at < len(row)
            else ""
        )

    return max(rows, key=day_of_row)


def row_cells(masked: bytes, at: int) -> list[TextPlace]:
    """The cells of the row of a table that begins there; none where no row does."""
    if (row := _ROW.match(masked, at)) is None:
        return []
    at, cells = row.start("cells"), list[TextPlace]()
    for cell in row["cells"].split(b"|"):
        left = len(cell) - len(cell.lstrip())
        cells.append(TextPlace(at + left, at + max(left, len(cell.rstrip())), "cell"))
        at += len(cell) + 1
    return cells


def _normalize_record_key(name: bytes) -> str:
    key = _SECOND_WORD.sub("-", decode_record_text(name).strip(" *_:\t"))
    key = key.casefold().replace("_", "-").replace(" ", "-")
    return key.removeprefix("adr-")


READ_MAX: Final = 8_000  # bytes of a section that are read
BODY_MAX: Final = 2_000  # characters of a context, a choice and its reason
OPTION_MAX: Final = 200  # characters
OPTIONS_MAX: Final = 30


def with_body(header: RecordHeader, parts: Parts) -> ForeignRecord:
    """A record with what its sections say, by their names in English and German."""
    sections = {section: _section(parts, names) for section, names in _SECTIONS.items()}
    chosen, because = _choice(parts, sections["decision"])
    considered = tuple(_read_considered_options(parts, sections["options"]))
    said = {
        "context": shortened(" ".join(_paragraphs(parts, sections["context"])), BODY_MAX),
        "chosen": shortened(chosen, BODY_MAX),
        "because": shortened(because, BODY_MAX),
        "considered": (considered or _closing_options(parts))[:OPTIONS_MAX],
    }
    return ForeignRecord(**msgspec.structs.asdict(header) | said)


def chosen_of(parts: Parts) -> str:
    """What was chosen, as its section says it."""
    return _choice(parts, _section(parts, _SECTIONS["decision"]))[0]


_SECTIONS: Final[Mapping[str, str]] = {
    "context": (
        "context and problem statement|context|problem statement|problem|background|issue"
        "|motivation|kontext und problemstellung|kontext|problemstellung|ausgangslage"
        "|hintergrund|summary"
    ),
    "decision": (
        "decision outcome|decision|outcome|entscheidungsergebnis|entscheidung"
        "|ergebnis der entscheidung|beschluss|resolution|chosen option"
    ),
    "options": (
        "considered options|considered alternatives|options considered|options"
        "|alternatives considered|alternatives|positions|betrachtete optionen"
        "|betrachtete alternativen|erwogene optionen|alternativen|optionen"
    ),
}
"""Names of headings, those that say it surest first."""
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


def _section(parts: Parts, names: str) -> Heading | None:
    """The first heading of these names, in the order of the names."""
    found = {heading.name.rstrip(" :"): heading for heading in reversed(parts.sections)}
    return next((found[name] for name in names.split("|") if name in found), None)


def _paragraphs(parts: Parts, heading: Heading | None) -> list[str]:
    text = decode_record_text(parts.below(heading)[:READ_MAX]) if heading else ""
    return [one for one in map(_strip_bullets_and_emphasis, _BLANK.split(text)) if one]


_BLANK = late_pattern(r"\n[ \t]*(?:\n[ \t]*)+")


def _strip_bullets_and_emphasis(text: str) -> str:
    """One line without links, emphasis, and bullets where lines begin."""
    lines = (_BULLET.sub(r"\g<text>", line) for line in text.split("\n"))
    return strip_links_and_emphasis(" ".join(lines))


def _choice(parts: Parts, heading: Heading | None) -> tuple[str, str]:
    """What was chosen, and why, as far as the first lines of the section say it."""
    found = _paragraphs(parts, heading)
    if not found:
        return "", ""
    first, rest = found[0], one_line(" ".join(found[1:]))
    named = _CHOSEN.match(first)
    if named is None:
        chosen, because = _split_at_because(first)
        return chosen.strip(), because
    if quoted := _IN_QUOTES.match(named["rest"]):
        chosen, because = quoted["what"], _BECAUSE.sub("", quoted["rest"], count=1).strip()
    else:
        chosen, because = _split_at_because(named["rest"])
    if because in ("", ".", ":"):
        is_said = _BECAUSE.search(named["rest"]) is not None
        because = rest if is_said else ""
    return chosen.strip(" ,."), because


def _split_at_because(text: str) -> tuple[str, str]:
    """Before and behind the first "because"."""
    found = _BECAUSE.search(text)
    return (text[: found.start()], text[found.end() :]) if found else (text, "")


def _closing_options(parts: Parts) -> tuple[str, ...]:
    """Those that a line names, with semicolons between."""
    place = parts.said.get("considered-options")
    return tuple(_strip_bullets_and_emphasis(parts.at(place)).split("; ")) if place else ()


def _read_considered_options(parts: Parts, heading: Heading | None) -> Iterator[str]:
    """The list of a section, else the headings below it."""
    if heading is None:
        return
    listed = [
        hit["text"] for hit in _BULLET.finditer(decode_record_text(parts.below(heading)[:READ_MAX]))
    ]
    if not listed:
        at = parts.headings.index(heading)
        for below in parts.headings[at + 1 :]:
            if below.level <= heading.level:
                break
            if below.level == heading.level + 1:
                listed.append(parts.at(below.text)[:READ_MAX])
    for text in listed:
        plain = _strip_bullets_and_emphasis(text)
        if label := _LABEL.match(plain):
            plain = plain[label.end() :]
        if plain:
            yield shortened(plain, OPTION_MAX)
