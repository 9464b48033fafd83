"""From a record to the text of a document: frozen templates, and text that can forge nothing.

A template is Markdown with `$placeholders`; a line of the front matter or a section of which every
placeholder is empty is left out, so that no section says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from preflights_es.core.artifacts import Record, RecordField, Related, ShownQuestion
from preflights_es.core.errors import LogFromFuture
from preflights_es.core.json import encoded
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.questions import Place
from preflights_es.core.rationale import Rationale, Speaker, alternative_text
from preflights_es.core.text import one_line, shortened, shown, shown_lines, slug
from preflights_es.core.words import STOP_WORDS, folded

TITLE_MAX: Final = 120  # characters of a heading
BRIEF_BYTES_MAX: Final = 1_500  # about 375 tokens of English, under 500 of any script

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


def brief(record: Record) -> str:
    """What a coding agent has to know before it starts, in fewer than 500 tokens.

    What is open and what is decided come first; the intention gets the room they leave.
    """
    template = _template("brief.v2")
    values = {"context": ">", "outcome": "*", "open": "*", "more": _before_you_code(record)}
    values["standing"] = _STANDING.get(record.status, "Superseded, do not follow")
    room = BRIEF_BYTES_MAX - len(_filled(template, values).encode())
    values["open"] = _rows([("", question) for question in record.missing], room // 4)
    if not record.fields and not record.missing:
        values["open"] = "* Nothing was decided: ask before you choose a technology."
    room -= len(values["open"].encode())
    values["outcome"] = _rows(_decided_values(record), room * 2 // 3)
    if not values["outcome"]:
        values["standing"] = ""  # a section of which nothing is said is left out
    room -= len(values["outcome"].encode())
    values["context"] = _fitted(record.intention, room, _quoted)
    return _filled(template, values)


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
        "question": "\n\n".join(map(_question, record.shown)),
        "options": _options(record),
        "considered": _considered(record),
        "chosen": _chosen(record),
        "outcome": _outcome(record),
        "consequences": "\n".join(
            f"* {inline(one.text)}{_speaker(one.by, record)}"
            for one in record.rationale.consequences
        ),
        "rejected": "\n".join(_rejected(record)),
        "open": "\n".join(f"* {inline(question)}" for question in record.missing),
        "more": _relations(record),
    }


def _question(one: ShownQuestion) -> str:
    """The question as it was shown, who asked it, and why it matters."""
    lines = [f"Question: {inline(one.question)} (asked by {inline(one.by) or RULES})"]
    if one.why:
        lines.append(f"Why it matters: {inline(one.why)}")
    return "\n\n".join(lines)


def _considered(record: Record) -> str:
    """All that was shown or named, and who offered it."""
    means = {o.label.casefold(): o.description for one in record.shown for o in one.options}
    lines = []
    for name in record.considered:
        said = means.get(name.casefold(), "")
        lines.append(f"* {inline(name)}{f': {inline(said)}' if said else ''}")
    for one in record.shown[:1]:
        if one.options:
            labels = ", ".join(inline(option.label) for option in one.options)
            lines.append(f"\nOffered by {inline(one.by) or RULES}: {labels}.")
        if best := one.recommended:
            reason = _sentence(best.reason)
            lines.append(f"\nRecommended by {inline(one.by)}: {inline(best.option)}. {reason}")
        if one.quote:
            lines.append(f'\n{inline(one.by)} read it in the intention: "{inline(one.quote)}".')
    return "\n".join(lines)


RULES: Final = "Preflights"
"""Who asks and offers where no agent, person or model does."""


def _sentence(text: str) -> str:
    said = inline(text)
    return said if said.endswith((".", "!", "?", "\u2026")) else f"{said}."


def _clause(text: str) -> str:
    """A sentence as it goes on behind "because": a small word has no capital there."""
    said = one_line(text)
    first = said.partition(" ")[0]
    is_small = folded(first) in STOP_WORDS and first != "I"
    return said[:1].lower() + said[1:] if is_small else said


def _rejected(record: Record) -> Iterator[str]:
    """What speaks against the options: first against the one that was chosen all the same."""
    chosen = record.considered[0].casefold() if record.considered else ""
    for one in record.shown[:1]:
        for option in one.options:
            if option.against and option.label.casefold() == chosen:
                why = inline(_clause(option.against))
                by = f" (offered by {inline(one.by)})" if one.by else ""
                yield f"* {inline(option.label)}, chosen: bad, because {why}{by}"
    for other in record.rationale.alternatives:
        if other.why_not:
            by = _speaker(other.by, record)
            yield f"* {inline(other.name)}: bad, because {inline(_clause(other.why_not))}{by}"


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
_BY = {"user": "a person", "agent": "an agent", "script": "a script", "model": "a model"}


def _chosen(record: Record) -> str:
    """What was chosen, and why."""
    chosen, because = record.considered[:1], record.rationale.because
    text = f"Chosen option: {inline(chosen[0])}" if chosen else "Nothing was decided"
    if because is not None:
        said = one_line(because.text)
        said = said[len("because ") :] if said.casefold().startswith("because ") else said
        return f"{text}, because {_sentence(_clause(said))}{_speaker(because.by, record)}"
    return f"{text}." if chosen or record.rationale != Rationale() else ""


def _speaker(by: Speaker, record: Record) -> str:
    """Who said it, where no person did, and who accepted it."""
    if by == "user":
        return ""
    name = inline(dict(record.offered_by).get(by, "")) or _BY[by]
    is_accepted = record.status in ("accepted", "superseded") and record.decided_by
    accepted = f", accepted by {inline(record.decided_by)}" if is_accepted else ""
    return f" (offered by {name}{accepted})"


def _outcome(record: Record) -> str:
    lines = [_decided(field) for field in record.fields]
    if not lines:
        return ""
    if record.category:
        how = "named by the intention" if record.category_source == "detected" else ""
        lines.insert(0, f"* Category: {inline(record.category)}{f' ({how})' if how else ''}")
    if record.scope:
        lines.append(f"* For: {inline(record.scope)}")
    if record.proposed_by is not None:
        lines.append(f"\nProposed by {_BY[record.proposed_by]}; no person has confirmed it yet.")
    return "\n".join(lines)


def _decided(field: RecordField) -> str:
    how = _HOW[field.source]
    if field.source not in ("stated", "suggested"):  # which are no answers
        how = f"{how}, answered by {_BY[field.by]}"
    return f"* {inline(field.name)}: **{inline(field.value)}** ({how})"


def _relations(record: Record) -> str:
    places = dict.fromkeys(place for one in record.shown for place in one.evidence)
    lines = [f"* Evidence: {inline(_place(place))}" for place in places]
    if record.supersedes is not None:
        lines.append(f"* Supersedes {_link(record.supersedes, record.supersedes_file)}")
    lines += [f"* Supersedes {_link(one)}" for one in record.also_supersedes]
    if record.superseded_by is not None:
        lines.append(f"* Superseded by {_link(record.superseded_by)}")
    lines += [f"* Kept beside {_link(one.related)}: {inline(one.reason)}" for one in record.kept]
    return "\n".join(lines)


def _place(place: Place) -> str:
    return f"{place.path}:{place.lines}" if place.lines else place.path


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
