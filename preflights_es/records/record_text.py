"""What a record says in Markdown or AsciiDoc, by its headings, lists and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from preflights_es.kernel.text import late_pattern, one_line, shortened
from preflights_es.records.asciidoc import as_markdown, blanks, is_asciidoc
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
    r"(?:\badr|\bdecision|\brecord|#|\bentscheidung|\bnr\.?)[ #_-]{0,2}"
    r"(?:(?:19|20)\d\d[-_](?=\d))?(\d{1,6})\b"
    r"|^\W*(\d{1,6})\b(?!-\d)",
    re.IGNORECASE,
)
_FILE = late_pattern(r"[\w.-]+\.(?:md|markdown|adoc|asciidoc)\b")
_SLUG = late_pattern(r"\b\d{8}(?:-[a-z0-9]+)+\b")
_LINKS = late_pattern(r"!?\[([^\[\]]{0,500})\]\([^()\n]{0,500}\)")
_MARKS = late_pattern(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_NOTHING: Final = frozenset(
    ("", "-", "--", "none", "n/a", "null", "~", "[]", "keine", "nein", "no")
)


class StatusSaid(msgspec.Struct, frozen=True):
    """What the lines of a status say."""

    status: Status = "unknown"
    superseded_by: Reference | None = None
    supersedes: tuple[Reference, ...] = ()


# 1. Status -----------------------------------------------------------------------------------


def said(text: str) -> StatusSaid:
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
    return StatusSaid("superseded" if is_gone else status, by, tuple(takes[:REFERENCES_MAX]))


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
    return names.pop() if len(names) == 1 else None  # type: ignore[return-value]  # as above


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
_CLOSING = late_pattern(
    rb"^\* (?P<key>Considered options|Applies to|Decision makers|Uid|Session):(?P<value>[^\n]*)",
    re.MULTILINE,
)
_CLOSING_MAX: Final = 16_000  # bytes
_BREAK = late_pattern(rb"(?:\\|<br ?/?>)\Z")
_ROW = late_pattern(rb"^[ \t]*\|(?P<cells>[^\n|]*\|[^\n]*?)\|?[ \t]*$", re.MULTILINE)
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
    is_asciidoc: bool

    @property
    def sections(self) -> tuple[Heading, ...]:
        """The headings; the title behind the others, whatever words it has."""
        first, rest = self.headings[:1], self.headings[1:]
        return rest + first if first and first[0].level == 1 else self.headings

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
    text = even[body:]
    is_other = is_asciidoc(text)
    masked = even[:body] + (as_markdown(text) if is_other else _FENCED.sub(blanks, text))
    headings = tuple(_headings(masked, body))
    said = _said(even, masked, front, body, headings)
    return Parts(even, masked, front, headings, said, is_other)


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


def entries(text: str) -> list[str]:
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
    for key, place in (*_cells(masked, body, end), *_closing(masked, body)):
        found.setdefault(key, place)
    return found


def _closing(masked: bytes, body: int) -> Iterator[tuple[str, Place]]:
    """What the last lines of a record of ours in Nygard's form say, which has no front matter."""
    start = max(body, len(masked) - _CLOSING_MAX)
    rule = masked.rfind(b"\n---", start)
    lines = {_key(one["key"]): one for one in _CLOSING.finditer(masked, max(rule, start))}
    if rule >= 0 and {"uid", "session"} <= lines.keys():
        for key, line in lines.items():
            yield key, Place(*trimmed(masked, *line.span("value")), "line")


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


READ_MAX: Final = 8_000  # bytes of a section that are read
BODY_MAX: Final = 2_000  # characters of a context, a choice and its reason
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
        context=shortened(" ".join(_paragraphs(parts, sections["context"])), BODY_MAX),
        chosen=shortened(chosen, BODY_MAX),
        because=shortened(because, BODY_MAX),
        considered=(tuple(_options(parts, sections["options"])) or _closing_options(parts))[
            :OPTIONS_MAX
        ],
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
    found = {heading.name.rstrip(" :"): heading for heading in reversed(parts.sections)}
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


def _closing_options(parts: Parts) -> tuple[str, ...]:
    """Those that a line names, with semicolons between."""
    place = parts.said.get("considered-options")
    return tuple(map(_plain, parts.at(place).split("; "))) if place else ()


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
