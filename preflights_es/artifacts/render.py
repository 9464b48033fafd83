"""From a record to the text of a document: frozen templates, and text that can forge nothing.

A template is Markdown with `$placeholders`; a line of the front matter or a section of which every
placeholder is empty is left out, so that no section says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from preflights_es.core.artifacts import Record, RecordField, Related
from preflights_es.core.errors import LogFromFuture
from preflights_es.core.json import encoded
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.rationale import Rationale, Speaker, alternative_text
from preflights_es.core.text import one_line, shortened, shown, shown_lines, slug

TITLE_MAX: Final = 120  # characters of a heading
BRIEF_BYTES_MAX: Final = 1_200  # about 300 tokens of English, under 400 of any script

# What means something wherever it stands: an underscore inside a word and a lone ampersand do not.
_MARKUP = late_pattern(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# What means something at the start of a line, and at the end of a heading.
_MARGINS = late_pattern(r"^[#+=:-]|(?<= )#+$")
_SECTION = late_pattern(r"\n(?=###? )")
_TEMPLATE = late_pattern(r"[a-z_]+\.v[0-9]+")
_COUNT = late_pattern(r"^(\d+)(?=[.)])")


def document(template: str, record: Record) -> str:
    """The text of an ADR or a task, a pure function of the record and the template's version.

    Raises:
        LogFromFuture: this version has no such template.
    """
    return _filled(_template(template), _values(record))


def brief(record: Record, in_force: str = "") -> str:
    """What a coding agent has to know before it starts, in fewer than 500 tokens.

    What is open and what is decided come first; the intention gets the room they leave.

    Args:
        in_force: lines of other decisions, in the room beyond `BRIEF_BYTES_MAX`.
    """
    template = _template("brief.v2")
    values = {"context": ">", "outcome": "*", "open": "*", "in_force": ""}
    values["more"] = _before_you_code(record)
    values["standing"] = _STANDING.get(record.status, "Superseded, do not follow")
    room = BRIEF_BYTES_MAX - len(_filled(template, values).encode())
    values["open"] = _rows([("", question) for question in record.missing], room // 3)
    if not record.fields and not record.missing:
        values["open"] = "* Nothing was decided: ask before you choose a technology."
    room -= len(values["open"].encode())
    values["outcome"] = _rows(_decided_values(record), room * 2 // 3)
    if not values["outcome"]:
        values["standing"] = ""  # a section of which nothing is said is left out
    room -= len(values["outcome"].encode())
    values["context"] = _fitted(record.intention, room, _quoted)
    return _filled(template, values | {"in_force": in_force.rstrip("\n")})


def _template(name: str) -> str:
    # The name stands in a log, which may come from elsewhere: it must not lead to another file.
    found = Path(__file__).with_name("templates") / f"{name}.md"
    if not _TEMPLATE.fullmatch(name) or not found.is_file():
        raise LogFromFuture(
            f"the template {name!r} is not known to this version: upgrade preflights"
        )
    return found.read_text("utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    from string import Template

    head, *sections = _SECTION.split(template)
    if head.startswith("---\n"):
        _, front, rest = head.split("---\n", 2)
        kept = [line for line in front.splitlines() if _says_something(line, values)]
        head = "\n".join(("---", *kept, "---", rest))
    parts = [head, *(section for section in sections if _says_something(section, values))]
    filled = (Template(part.strip("\n")).substitute(values).strip("\n") for part in parts)
    return "\n\n".join(filled) + "\n"


def _says_something(text: str, values: Mapping[str, str]) -> bool:
    from string import Template

    return any(values[name] for name in Template(text).get_identifiers())


# 1. What a document says ---------------------------------------------------------------------


def _values(record: Record) -> dict[str, str]:
    return {
        "status": _yaml(_status(record)),
        "date": record.date,
        "decision_makers": f"[{_yaml(record.decided_by)}]" if record.decided_by else "",
        "uid": _yaml(record.uid),
        "session": _yaml(record.session_id),
        "title": inline(shortened(record.title, TITLE_MAX)),
        "context": _quoted(record.intention),
        "options": _options(record),
        "considered": "\n".join(f"* {inline(name)}" for name in record.considered),
        "chosen": _chosen(record),
        "outcome": _outcome(record),
        "consequences": "\n".join(
            f"* {inline(one.text)}{_speaker(one.by, record)}"
            for one in record.rationale.consequences
        ),
        "rejected": "\n".join(
            f"* {inline(one.name)}: bad, because {inline(one.why_not)}{_speaker(one.by, record)}"
            for one in record.rationale.alternatives
            if one.why_not
        ),
        "open": "\n".join(f"* {inline(question)}" for question in record.missing),
        "more": _relations(record),
    }


def _status(record: Record) -> str:
    if record.superseded_by is None:
        return record.status
    return f"superseded by {related_name(record.superseded_by)}"


def related_name(related: Related) -> str:
    """How another decision is named: by the number of its record, a task by its uid."""
    return f"task {related.uid}" if related.number is None else f"ADR-{related.number:04d}"


def _options(record: Record) -> str:
    """One list for each question; a person's own words are among the options."""
    lists = []
    for field in record.fields:
        if field.options:
            options = dict.fromkeys((*field.options, field.value))
            lines = "\n".join(f"* {inline(option)}" for option in options)
            lists.append(f"For {inline(field.name)}:\n\n{lines}")
    return "\n\n".join(lists)


_HOW = {
    "detected": "named by the intention",
    "chosen": "one of the options offered",
    "custom": "in their own words",
    "typed": "in their own words",
    "stated": "stated in the intention",
    "suggested": "a model read it out of what was said",
}
_BY = {"user": "a person", "agent": "an agent", "script": "a script"}


def _chosen(record: Record) -> str:
    """What was chosen, and why."""
    chosen, because = record.considered[:1], record.rationale.because
    text = f"Chosen option: {inline(chosen[0])}" if chosen else "Nothing was decided"
    if because is not None:
        said = one_line(because.text)
        said = said[len("because ") :] if said.casefold().startswith("because ") else said
        end = "" if said.endswith((".", "!", "?", "…")) else "."
        return f"{text}, because {inline(said)}{end}{_speaker(because.by, record)}"
    return f"{text}." if chosen or record.rationale != Rationale() else ""


def _speaker(by: Speaker, record: Record) -> str:
    """Who said it, where no person did; what a model offered is a person's once one accepts it."""
    if by == "model":
        return "" if record.status in ("accepted", "superseded") else " (offered by a model)"
    return "" if by == "user" else f" (said by {_BY[by]})"


def _outcome(record: Record) -> str:
    lines = [_decided(field) for field in record.fields]
    if not lines:
        return ""
    if record.category:
        how = "named by the intention" if record.category_source == "detected" else ""
        lines.insert(0, f"* Category: {inline(record.category)}{f' ({how})' if how else ''}")
    if record.proposed_by is not None:
        lines.append(f"\nProposed by {_BY[record.proposed_by]}; no person has confirmed it yet.")
    return "\n".join(lines)


def _decided(field: RecordField) -> str:
    how = _HOW[field.source]
    if field.source not in ("stated", "suggested"):  # which are no answers
        how = f"{how}, answered by {_BY[field.by]}"
    return f"* {inline(field.name)}: **{inline(field.value)}** ({how})"


def _relations(record: Record) -> str:
    lines = []
    if record.supersedes is not None:
        lines.append(f"* Supersedes {_link(record.supersedes, record.supersedes_file)}")
    lines += [f"* Supersedes {_link(one)}" for one in record.also_supersedes]
    if record.superseded_by is not None:
        lines.append(f"* Superseded by {_link(record.superseded_by)}")
    lines += [f"* Kept beside {_link(one.related)}: {inline(one.reason)}" for one in record.kept]
    return "\n".join(lines)


def _link(related: Related, file: str = "") -> str:
    """Both records lie in the folder of records; a task is named without a link."""
    has_name = related.uid or related.number is not None
    words = inline(related.title)
    words = f"{inline(related_name(related))}, {words}" if has_name else words
    if file:
        from urllib.parse import quote  # a stranger named the file

        return f"[{words}]({quote(file)})"
    if related.number is None:
        return words
    name = slug(related.title)
    file = f"{related.number:04d}-{name}.md" if name else f"{related.number:04d}.md"
    return f"[{words}]({file})"


# 2. The brief --------------------------------------------------------------------------------


def _decided_values(record: Record) -> list[tuple[str, str]]:
    """Pairs of name and value."""
    if not record.fields:
        return []
    category = [("Category", record.category)] if record.category else []
    because = record.rationale.because
    reason = [("Because", because.text)] if because else []
    rejected = [("Not", alternative_text(one)) for one in record.rationale.alternatives]
    return category + [(field.name, field.value) for field in record.fields] + reason + rejected


def _rows(pairs: list[tuple[str, str]], room: int) -> str:
    """A list, in at most so many bytes; says how many more there are where they do not fit."""
    lines: list[str] = []
    left = room - len(_more(len(pairs)).encode())
    for count, (name, value) in enumerate(pairs):
        shown_name = f"{_fitted(one_line(name), room // 6)}: " if name else ""
        line = f"* {shown_name}{_fitted(one_line(value), room // 3)}\n"
        left -= len(line.encode())
        if left < 0:
            lines.append(_more(len(pairs) - count))
            break
        lines.append(line)
    return "".join(lines).rstrip("\n")


def _more(count: int) -> str:
    return f"* … and {count} more: see the session\n"


def _fitted(text: str, room: int, form: Callable[[str], str] | None = None) -> str:
    """The text in its form, cut so that it takes at most so many bytes."""
    form = form or inline
    width = min(len(text), room)
    found = form(shortened(text, width))
    while (size := len(found.encode())) > room and width > 1:
        width = max(1, min(width - 1, width * room // size))
        found = form(shortened(text, width))
    return found


def _before_you_code(record: Record) -> str:
    newer = f" by {inline(related_name(record.superseded_by))}" if record.superseded_by else ""
    lines = (
        _STATE.get(record.status, "").format(newer=newer),
        "Ask the person before you decide anything that is not decided above.",
        f"Source: Preflights session {record.session_id[-8:]}.",
    )
    return "\n".join(filter(None, lines))


_STANDING: Final = {
    "accepted": "Decided, do not reconsider",
    "proposed": "Proposed, not accepted yet",
    "open": "Proposed, not accepted yet",
}
_STATE: Final = {
    "open": "No person has accepted this yet: treat it as a proposal.",
    "proposed": "No person has accepted this yet: treat it as a proposal.",
    "superseded": "This decision was superseded{newer}: ask for the newer one.",
}


# 3. Text that forges nothing -----------------------------------------------------------------


def inline(text: str) -> str:
    """One line of Markdown that shows the text and does nothing else."""
    escaped = _MARKUP.sub(r"\\\g<0>", shown(one_line(text)))
    return _COUNT.sub(r"\1\\", _MARGINS.sub(r"\\\g<0>", escaped))


def _quoted(text: str) -> str:
    """A block quote, so that no line of the text can begin a section."""
    lines = shown_lines(text).strip().split("\n")
    return "\n".join(f"> {inline(line)}".rstrip() for line in lines)


def _yaml(text: str) -> str:
    """A double-quoted scalar: JSON's strings are YAML's."""
    return encoded(shown(one_line(text))).decode()
