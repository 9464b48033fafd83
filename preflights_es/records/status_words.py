"""What the words of a status say: the status, the records that it names, a day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, get_args

import msgspec

from preflights_es.kernel.text import composed, late_pattern, one_line, shortened
from preflights_es.records.record_names import (
    Reference,
    Status,
    day_of_file_name,
    iso_day_or_empty,
    number_of,
)

SAID_MAX: Final = 2_000  # characters of a status, a date or a list of references
TEXT_MAX: Final = 200  # characters of a reference
STATUS_MAX: Final = 80  # characters of a status as it is written
REFERENCES_MAX: Final = 20  # records that one record can say it replaces

_GONE_WORDS: Final = r"superse+ded|superce+ded|replaced|obsoleted|ersetzt|abgelöst"
_TAKEN_WORDS: Final = (
    r"accepted|approved|adopted|agreed|decided|active|implemented|completed|done|final|ratified"
    r"|in (?:force|effect|use)|living|akzeptiert|angenommen|beschlossen|verabschiedet"
    r"|entschieden|genehmigt|freigegeben|gültig|umgesetzt|in kraft|aktiv"
)
_WORDS: Final[dict[Status, str]] = {
    # The first that fits counts, so that "not accepted" is looked for before "accepted".
    "proposed": (
        r"not (?:yet )?decided|not yet \w+|noch nicht \w+|undecided|tbd|to be (?:decided|discussed)"
        r"|proposed|proposal|draft|pending|work in progress|wip|rfc|open(?! source)|todo"
        r"|request for comments|(?:in|under) (?:review|discussion|consideration|evaluation)"
        r"|deferred|postponed|on hold|entwurf|vorgeschlagen|vorschlag|offen|zurückgestellt|vertagt"
        r"|in (?:diskussion|prüfung|arbeit|abstimmung|bearbeitung|klärung)"
    ),
    "rejected": (
        r"not (?:accepted|approved|adopted)|nicht (?:angenommen|akzeptiert|genehmigt)|rejected"
        r"|declined|denied|cancell?ed|abandoned|abgelehnt|verworfen|zurückgewiesen"
    ),
    "superseded": _GONE_WORDS,
    "deprecated": (
        r"deprecated|obsolete?|retired|withdrawn|outdated|revoked|expired|archived|veraltet|überholt"
        r"|no longer \w+"
        r"|zurückgezogen|aufgehoben|au(?:ß|ss)er kraft|nicht mehr (?:gültig|aktuell|in kraft)"
    ),
    # What is wanted, or is not so, says nothing.
    "unknown": (
        r"(?:not|never|nicht|(?:to|will|shall|should|must|can|may|might|would) be|soll|sollte|wird"
        rf"|muss|kann)(?: \w+)?[ -](?:{_TAKEN_WORDS})"
    ),
    "accepted": _TAKEN_WORDS,
}
_STATUS = late_pattern(
    r"\b(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _WORDS.items()) + r")\b",
    re.IGNORECASE,
)
_GONE = late_pattern(
    rf"(?P<before>(?:[\w-]+ ){{0,3}})\b(?:(?:{_GONE_WORDS}|überholt)"
    r"(?: worden| in part| partially| partly| teilweise| zum teil)?(?: \([^()]{1,100}\))?[ :-]*"
    r"\b(?:by|with|durch|von|mit|in favou?r of|zugunsten von)\b[: ]*(?P<by>.*)"
    r"|(?:durch|von) (?P<by_german>.{1,200}?) (?:ersetzt|abgelöst)\b)",
    re.IGNORECASE,
)
_NOT_YET = late_pattern(
    r"\b(?:will|shall|should|may|might|can|to|not|nicht|soll|kann)\b", re.IGNORECASE
)
_LIMITED: Final = (
    r"(?:where (?:it|this)|wo (?:es|sie)|(?:in ?)?so ?far as|as far as|to the extent|(?:in)?soweit)"
)
"""Words by which the rest of a record stays in force."""
_PARTLY = late_pattern(
    r"\b(?:partially|partly|in part|(?:parts|aspects) of|teilweise|teils|zum teil"
    r"|teile (?:von|d\w+))"
    rf"(?: [^\s,;]+){{0,8}}? (?:{_GONE_WORDS})\b"
    rf"|\b(?:{_GONE_WORDS}) (?:in part|partially|partly|teilweise|zum teil)\b"
    rf"|\b(?:{_GONE_WORDS})\b(?: [^\s,;]+){{0,8}}?,? {_LIMITED}\b",
    re.IGNORECASE,
)
_TAKES = late_pattern(
    r"(?:^|[,;.(] ?)(?:superse+des|superce+des|replaces|obsoletes"
    r"|ersetzt(?! (?:durch|von|worden|am)\b)|löst(?= .* ab\b))[: ]+(?P<what>[^;)]+(?:\)[^;)]*)*)",
    re.IGNORECASE,
)
_IN_PART = late_pattern(
    rf"\b(?:partially|partly|in part|teilweise|zum teil|{_LIMITED})\b", re.IGNORECASE
)
_BANNER = late_pattern(
    r"(?:(?:note|warning|important|update|hinweis|achtung)\W+)?"
    r"(?:(?:this|diese[rs]?) (?:adr|decision|record|document|entscheidung)"
    r" (?:has been|is|was|wurde|ist) (?:now )?)?",
    re.IGNORECASE,
)
"""How a line above the sections may begin that says what became of a record."""
_BESIDE = late_pattern(
    r"(?:amend|extend|clarifi|refine|update|relate|link|depend|base)(?:s|d|es|ed)(?: by| to| on)?\b"
    r"|see(?: also)?\b|ergänzt\b|geändert durch\b|siehe\b|basiert auf\b|last \w+:|date:|datum:"
    r"|deciders?:|authors?:",
    re.IGNORECASE,
)
"""What a line begins with that says something else than the status."""
_KEY = late_pattern(r"(?:[\w-]+ )?(?:status|state|zustand) ?: *(?=\S)", re.IGNORECASE)
_OPEN_END = late_pattern(
    rf"\b(?:{_GONE_WORDS}|superse+des|superce+des|replaces|by|with|durch|von|mit)\W*$",
    re.IGNORECASE,
)
_GOES_ON = late_pattern(r"(?:by|with|durch|von|mit)\b|!?\[|adr\b|#?\d", re.IGNORECASE)
_AND = late_pattern(r"(?:and|und) ")
_SIGNED_ROW: Final = late_pattern(r"\|[^|]*\w[^|]*\|(?=[^|]*[^\w\s|:-])[^\w|]*\|?$")
_BOX = late_pattern(r"[\s*+-]*(?:\[([ x\u2713\u2714])\]|([\u2610\u2611\u2b1c])) *", re.IGNORECASE)
_EDGE = late_pattern(r"^(?:(?!!\[)[^\w\[<])+", re.UNICODE)
_STRUCK = late_pattern(r"~~[^~]*~~|<(?:s|del|strike)>[^<]*</(?:s|del|strike)>")
_TAG = late_pattern(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)
_BOLD = late_pattern(r"(?:\*\*|__)([^*_]+)(?:\*\*|__)")
_LATER = "|".join(_WORDS[one] for one in ("superseded", "deprecated", "rejected"))
_ARROW = late_pattern(rf"→|->|=>|➡|(?<=\d\)),|(?<=\d), (?=(?:{_LATER})\b)", re.IGNORECASE)
_NEXT_KEY = late_pattern(r" \| \W*(?:[\w-]+ ){0,2}[\w-]+\W{0,2}:")
"""Where another key stands behind a bar on one line."""
_OFFERS = late_pattern(r"[|/,]|\b(?:or|oder)\b", re.IGNORECASE)
_OR = late_pattern(r"\W*(?:or|oder)\W*", re.IGNORECASE)
_LINK = late_pattern(
    r"!?\[(?P<label>[^\[\]]{0,500})\]\(\s?<?(?P<path>[^()<>\s]{0,500})>?(?:\s[^()]{0,500})?\)"
)
_BY_NAME = late_pattern(r"\[([^\[\]]{1,500})\]\[[^\[\]]{0,500}\]")
_WIKI = late_pattern(r"\[\[(?P<path>[^\[\]|]{1,500})(?:\|[^\[\]]{0,500})?\]\]")
_NUMBER = late_pattern(
    r"(?:\badr|\brfc|\bdecision|\brecord|#|\bentscheidung|\bnr\.?)[ #_-]{0,2}"
    r"(?:(?:19|20)\d\d[-_](?=\d))?(\d{1,6})\b"
    r"|^\W*(\d{1,6})\b(?!-\d)",
    re.IGNORECASE,
)
_LISTED: Final = r"(?:adr[ #_-]{0,2})?(\d{1,6})"
_NUMBERS = late_pattern(
    rf"\D{{0,3}}{_LISTED}(?:(?:[\s,;&\"'\[\]]|and\b|und\b)+{_LISTED})+\W*", re.IGNORECASE
)
_LISTED_NUMBER = late_pattern(rf"{_LISTED}()", re.IGNORECASE)
_BETWEEN = late_pattern(
    r"(?:[\s,;&/.:\"'\[\]*-]|\([^()]*\)|(?:and|und|sowie|the|decisions?|records?|adrs?)\b)*",
    re.IGNORECASE,
)
_FILE = late_pattern(r"[\w.-]+\.(?:mdx?|markdown|adoc|asciidoc)\b")
_SLUG = late_pattern(r"\b\d{8}(?:-[a-z0-9]+)+\b")
_LINKS = late_pattern(r"!?\[([^\[\]]{0,500})\]\([^()\n]{0,500}\)")
_REFERENCE = late_pattern(r"&#(3[3-9]|[4-9]\d|1[01]\d|12[0-6]);")  # of ASCII
_MARKS = late_pattern(r"\*\*|__|~~|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_NOTHING = late_pattern(
    r"|-{1,2}|none|n/a|n\.a\.|null|~|\[\]|keine|nein|no|nothing|tbd|todo|\?|xxx|not applicable"
    r"|nichts|false",
    re.IGNORECASE,
)


class StatusSaid(msgspec.Struct, frozen=True):
    """What the lines of a status say."""

    status: Status = "none"
    text: str = ""
    """The words that say so, on one line."""
    superseded_by: Reference | None = None
    supersedes: tuple[Reference, ...] = ()


# 1. Status -----------------------------------------------------------------------------------


class _StatusLine(NamedTuple):
    """A line of a status that says something."""

    text: str
    """Without marks, and what is struck out."""
    is_bold: bool
    is_template: bool = False
    """Whether it still offers what could be chosen."""


class _FoundStatus(NamedTuple):
    """A status that a line says."""

    day: str
    rank: int
    """The later it comes in the life of a record, the higher."""
    status: Status
    line: _StatusLine


def parse_status_text(text: str) -> StatusSaid:
    """What a status says; `unknown` where it is written and not understood."""
    lines, found = [*_split_status_lines(text[:SAID_MAX])], list[_FoundStatus]()
    gone, partly, by = "", "", None
    takes = list[Reference]()
    for line in lines:
        if line.is_template:
            continue
        takes += (
            one for hit in _TAKES.finditer(line.text) for one in whole_references(hit["what"])
        )
        later, is_part = _gone(line.text), _PARTLY.search(strip_links_and_emphasis(line.text))
        if later:
            by = by or reference(later["by"] or later["by_german"] or "")
        if later and not is_part:
            gone = gone or line.text
            continue
        if is_part:
            partly = partly or line.text
        if status := _find_status_word(is_part.string[: is_part.start()] if is_part else line.text):
            found.append(_FoundStatus(iso_date(line.text), _RANKS.index(status), status, line))
    status, words = _choose_status(found, lines)
    if gone:
        status, words = "superseded", gone
    elif partly and status in ("none", "unknown", "accepted"):
        status, words = "partly_superseded", partly
    if status in ("superseded", "deprecated"):  # in favour of ADR-7, see ADR-7
        by = by or next(references(words), None)
    return StatusSaid(
        status,
        shortened(strip_links_and_emphasis(words), STATUS_MAX),
        by,
        tuple(takes[:REFERENCES_MAX]),
    )


def _gone(line: str) -> re.Match[str] | None:
    later = _GONE.search(line)
    return None if later and _NOT_YET.search(later["before"]) else later


_RANKS: Final[Sequence[Status]] = get_args(Status)


def _choose_status(
    found: Sequence[_FoundStatus], lines: Sequence[_StatusLine]
) -> tuple[Status, str]:
    """The status that counts of several, and the line that says it."""
    known = [one for one in found if one.status != "unknown"] or found
    marked = [one for one in known if one.line.is_bold]
    if len(marked) == 1:
        known = marked
    is_offered = len({one.status for one in known}) > 2 and not all(one.day for one in known)
    if known and not is_offered:
        # Of several lines the newest counts, else what comes last in the life of a record.
        newest = max(known, key=lambda one: one[:2])
        return newest.status, newest.line.text
    others = (one.text for one in lines if not (_BESIDE.match(one.text) or _TAKES.match(one.text)))
    text = next(others, "")
    return ("unknown" if text else "none"), text


def relations_of(text: str) -> tuple[Reference | None, list[Reference]]:
    """The record that replaced this one, and those that it replaces, by the lines that begin so."""
    by, takes = None, list[Reference]()
    for line in _split_status_lines(text[:SAID_MAX]):
        banner = _BANNER.match(line.text)
        start = banner.end() if banner else 0
        gone = None if _PARTLY.search(line.text) else _GONE.match(line.text, start)
        if gone and gone["by"] and not gone["before"]:
            by = by or reference(gone["by"])
        elif taken := _TAKES.match(line.text):
            takes += whole_references(taken["what"])
    return by, takes


_NO_STATUS: Final = frozenset(("none", "n/a", "n.a.", "null"))


def says_status(line: str) -> bool:
    """Whether a line of a section says a status that is understood."""
    return parse_status_text(line).status not in ("none", "unknown")


def begins_with_status(line: str) -> bool:
    """Whether an entry of a list begins with a known status, perhaps that of a link."""
    return bool(_STATUS.match(_EDGE.sub("", _LINKS.sub(r"\1", line))))


def goes_on(line: str, following: str) -> bool:
    """Whether a line ends where the record that it names has to follow, and it does; or is wrapped
    before an "and".
    """
    is_named = _OPEN_END.search(line) and _GOES_ON.match(following.lstrip("*+- "))
    return bool(is_named or _AND.match(following))


def _split_status_lines(text: str) -> Iterator[_StatusLine]:
    """Those that say something; one that is wrapped is one, and a box counts if it is ticked.

    Rows of stages with signs of the team's own (a barrier, a circle) say nothing that we know.
    """
    lines = [line for line in map(one_line, composed(text).splitlines()) if line]
    boxes, before = [*filter(None, map(_BOX.match, lines))], ""
    signed = [line for line in lines if _SIGNED_ROW.match(line)]
    if len(signed) > 1 or (boxes and not any(map(_is_ticked, boxes))):
        yield _StatusLine(
            " | ".join(map(_strip_status_marks, lines)), is_bold=False, is_template=True
        )
        return
    for at, full in enumerate(lines):
        box = _BOX.match(full)
        if box and not _is_ticked(box):
            continue
        line = before + (full[box.end() :] if box else full)
        following = lines[at + 1] if at + 1 < len(lines) else ""
        before = f"{line} " if goes_on(line, following) else ""
        if not before:
            line = _STRUCK.sub("", _NEXT_KEY.split(line, 1)[0])
            made, bold = _strip_status_marks(line), [*map(_strip_status_marks, _BOLD.findall(line))]
            is_template = _is_template(made)
            if is_template and len(bold) == 1:
                made, is_template = bold[0], False
            if made and made.casefold() not in _NO_STATUS:
                yield _StatusLine(made, bool(bold), is_template)


def _is_ticked(box: re.Match[str]) -> bool:
    return (box[1] or box[2]) not in " \u2610\u2b1c"


def _is_template(line: str) -> bool:
    """Whether a line names several statuses with bars, or more than two with other signs.

    So does one that has nothing but statuses with "or" between them.
    """
    if not _OFFERS.search(line):
        return False
    names = {hit.lastgroup for hit in _STATUS.finditer(line)}
    is_choice = "|" in line or _OR.fullmatch(_STATUS.sub("", line))
    return len(names) > (1 if is_choice else 2)


def _strip_status_marks(line: str) -> str:
    """A line without marks and a key in front."""
    line = _MARKS.sub("", _TAG.sub("", _BY_NAME.sub(r"\1", line)))
    return _EDGE.sub("", _KEY.sub("", _EDGE.sub("", line), count=1))


def _find_status_word(line: str) -> Status | None:
    """The word that a line begins with, or else the only one that it holds."""
    line = _EDGE.sub("", _ARROW.split(_LINKS.sub(_read_link_label, line))[-1])
    if _BESIDE.match(line):
        return None
    first = _STATUS.match(line)
    if first and not _TAKES.match(line):
        return first.lastgroup  # type: ignore[return-value]  # a name of `_WORDS`
    names = {hit.lastgroup for hit in _STATUS.finditer(line)}
    if _GONE.search(line) or _TAKES.search(line):
        names -= {"superseded"}
    return names.pop() if len(names) == 1 else None  # type: ignore[return-value]  # as above


def _read_link_label(link: re.Match[str]) -> str:
    """What is read of a link; of a badge without a status in its label, its address."""
    is_badge = link[0].startswith("!") and not _STATUS.search(link[1])
    return link[0] if is_badge else link[1]


# 2. References -------------------------------------------------------------------------------


def reference(text: str) -> Reference | None:
    """The first record that a text names; None where it names none."""
    found = next(iter(references(text)), None)
    rest = one_line(text[:SAID_MAX]).strip(" .,;:\"'()*_")
    if found is not None or _NOTHING.fullmatch(rest):
        return found
    return Reference(shortened(rest, TEXT_MAX))


def references(text: str) -> Iterator[Reference]:
    """The records that a text names by link, file, slug or number, one behind the other.

    What stands behind other words is not of the list: `ADR-1, see ADR-5` names one.
    """
    text = one_line(text[:SAID_MAX])
    for pattern in (_LINK, _WIKI, _FILE, _SLUG, _NUMBER):
        if hits := list(pattern.finditer(text)):
            break
    else:
        return
    if pattern is _NUMBER and _NUMBERS.fullmatch(text):
        hits = list(_LISTED_NUMBER.finditer(text))
    end = hits[0].start()
    for hit in hits:
        if not _BETWEEN.fullmatch(text, end, hit.start()):
            return
        end = hit.end()
        if pattern in (_LINK, _WIKI):
            label = hit.groupdict().get("label") or hit["path"]
            yield _reference(label, hit["path"])
        elif pattern in (_FILE, _SLUG):
            yield _reference(hit[0], hit[0])
        else:
            yield Reference(hit[0].strip(" ,;"), int(hit[1] or hit[2]))


def whole_references(text: str) -> Iterator[Reference]:
    """The same of what is replaced; none where it is replaced in part."""
    return iter(()) if _IN_PART.search(text) else references(text)


def _reference(label: str, path: str) -> Reference:
    path = path.partition("#")[0]
    name = path.rstrip("/").rpartition("/")[2]
    number = number_of(name)
    if number is None and not day_of_file_name(name) and (hit := _NUMBER.search(label)):
        number = int(hit[1] or hit[2])
    return Reference(shortened(label.strip(), TEXT_MAX), number, shortened(path, TEXT_MAX))


def strip_links_and_emphasis(text: str) -> str:
    """One line without links and emphasis; a sign that is written by its number is that sign."""
    text = _MARKS.sub("", _LINKS.sub(r"\1", text))
    return one_line(_REFERENCE.sub(lambda sign: chr(int(sign[1])), text))


# 3. Dates ------------------------------------------------------------------------------------

_MONTHS: Final = """
    jan feb mar apr may jun jul aug sep oct nov dec
    jan feb mär apr mai jun jul aug sep okt nov dez
    """.split()  # noqa: SIM905  a table
_DAYS: Final = (
    late_pattern(r"(?<!\d)(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)"),
    late_pattern(r"(?P<y>\d{4})年(?P<m>\d{1,2})月(?P<d>\d{1,2})日"),
    late_pattern(r"(?<!\d)(?P<d>\d{1,2})\. ?(?P<m>\d{1,2})\. ?(?P<y>\d{4})(?!\d)"),
    late_pattern(
        r"(?<!\d)(?P<d>\d{1,2})(?:st|nd|rd|th|\.)?(?: of)?[ /-](?P<m>[^\W\d]{3})[^\W\d]*[.,]?[ /-]"
        r"(?P<y>\d{4})(?!\d)"
    ),
    late_pattern(
        r"\b(?P<m>[^\W\d]{3})[^\W\d]*\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})(?!\d)"
    ),
    late_pattern(r"(?<!\d)(?P<y>\d{4})[- ](?P<m>[^\W\d]{3})[^\W\d]*[- ](?P<d>\d{1,2})(?!\d)"),
)
_SLASHED = late_pattern(
    r"(?<![\d/.-])(\d{1,2})([/-])(\d{1,2})\2(\d{4})(?![\d/-])|(?<![\d/])(\d\d?)/(\d\d?)/(\d\d)(?![\d/])"
)


def iso_date(text: str) -> str:
    """The day that a text names, ISO 8601; empty where it names none, or it could be two."""
    text = text[:SAID_MAX]
    for pattern in _DAYS:
        if found := pattern.search(text):
            year, month, of_month = found["y"], _month(found["m"]), found["d"]
            # 2023-13-10 can only be the thirteenth of a month.
            return iso_day_or_empty(year, month, of_month) or iso_day_or_empty(
                year, of_month, month
            )
    if found := _SLASHED.search(text):
        one, other, year = found[1] or found[5], found[3] or found[6], found[4] or f"20{found[7]}"
        either = {iso_day_or_empty(year, other, one), iso_day_or_empty(year, one, other)} - {""}
        return either.pop() if len(either) == 1 else ""
    return ""


def _month(name: str) -> str:
    name = name.casefold()
    if name.isdigit():
        return name
    return str(_MONTHS.index(name) % 12 + 1) if name in _MONTHS else "0"
