"""From a record to the text of a document: frozen templates, and text that can forge nothing.

A template is Markdown with `$placeholders`; a line of the front matter or a section of which every
placeholder is empty is left out, so that no section says nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.kernel.errors import LogFromFuture
from preflights_es.kernel.events import ACTOR_WORDS
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import (
    caseless,
    escaped_text,
    late_pattern,
    one_line,
    shortened,
    shown_lines,
)
from preflights_es.records.record_names import ASCIIDOC
from preflights_es.words.decisions import (
    EXCEPTION,
    OPEN_FIELD,
    KeptDecision,
    Rationale,
    Record,
    RecordField,
    RecordForm,
    Related,
    ShownQuestion,
    Speaker,
    list_superseded,
)
from preflights_es.words.language import continued
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    import re

TITLE_MAX: Final = 120  # characters of a heading

# What means something wherever it stands: an underscore inside a word and a lone ampersand do not.
_MARKUP = late_pattern(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# What means something at the start of a line, and at the end of a heading.
_MARGINS = late_pattern(r"^[#+=:-]|(?<= )#+$")
_SECTION = late_pattern(r"\n(?=###? )")
_BLANKS = late_pattern(r"\n{3,}")
_TEMPLATE = late_pattern(r"[a-z_]+\.v[0-9]+")
_VALUE = late_pattern(r"\$([a-z_]+)")
_COUNT = late_pattern(r"^(\d+)(?=[.)])")


def render_document(template: str, record: Record) -> str:
    """The text of an ADR or a task, a pure function of the record and the template's version.

    It is AsciiDoc where the ending of its path says so.

    Raises:
        LogFromFuture: this version has no such template.
    """
    form, values = read_template(template), _collect_template_values(record)
    if "$closing" in form:
        values |= _nygard_values(record)
    text = fill_record_template(form, values)
    text = _BLANKS.sub("\n\n", text)  # of what a section does not say
    if not record.path.endswith(ASCIIDOC):
        return text
    from preflights_es.records.record_text import document_in_asciidoc  # most are Markdown

    return document_in_asciidoc(text)


def check_template(workflow: Workflow[Any], template: str) -> None:
    """Whether this version can write a file that a session owes.

    Raises:
        LogFromFuture: it has no such template.
    """
    if workflow.filed.filing is None:
        read_template(template)
    elif template != workflow.filed.filing.template:
        raise _unknown(template)


@cache
def read_template(name: str) -> str:
    # The name stands in a log, which may come from elsewhere: it must not lead to another file.
    found = Path(__file__).with_name("templates") / f"{name}.md"
    if not _TEMPLATE.fullmatch(name) or not found.is_file():
        raise _unknown(name)
    return found.read_text("utf-8")


def _unknown(template: str) -> LogFromFuture:
    found = f"the template {shortened(template, 60)!r} is not known to this version"
    return LogFromFuture(f"{found}: upgrade preflights")


def fill_record_template(template: str, values: Mapping[str, str]) -> str:
    front, (head, *sections) = _split_template(template)
    said = [_fill_values(head, values), *_fill_what_says_something(sections, values)]
    if front:
        said[0] = "\n".join(("---", *_fill_what_says_something(front, values), "---", said[0]))
    return "\n\n".join(part.strip("\n") for part in said) + "\n"


@cache
def _split_template(template: str) -> tuple[list[str], list[str]]:
    """The lines of what stands before the title, and the sections, the title's first."""
    head, *sections = _SECTION.split(template)
    front = ""
    if head.startswith("---\n"):
        _, front, head = head.split("---\n", 2)
    return front.splitlines(), [head, *sections]


def _fill_what_says_something(parts: Iterable[str], values: Mapping[str, str]) -> Iterator[str]:
    for part in parts:
        if any(values[name] for name in _VALUE.findall(part)):
            yield _fill_values(part, values)


def _fill_values(part: str, values: Mapping[str, str]) -> str:
    return _VALUE.sub(lambda name: values[name[1]], part)


# 1. What a document says ---------------------------------------------------------------------


def _collect_template_values(record: Record) -> dict[str, str]:
    said = one_line(record.intention).rstrip(".! ")
    # What is decided word for word stands in title and outcome.
    is_decided = any(said == chosen.rstrip(".! ") for chosen in record.considered[:1])
    return {
        "status": _yaml(_phrase_record_status(record)),
        "date": record.date,
        "decision_makers": f"[{_yaml(record.decided_by)}]" if record.decided_by else "",
        "applies_to": canonical_json(record.reach.paths).decode() if record.reach.paths else "",
        "uid": _yaml(record.uid),
        "session": _yaml(record.session_id),
        "title": inline(shortened(record.title, TITLE_MAX)),
        "context": "" if is_decided else quote_as_block(record.intention),
        "question": "\n\n".join(
            _render_shown_question(one, record) for one in record.shown if one.by
        ),
        "considered": _considered(record),
        "chosen": _render_chosen_option(record),
        "decided": _decided_rows(record),
        "consequences": _list_by_speaker(
            (_speaker(one.by, record), inline(one.text)) for one in record.rationale.consequences
        ),
        "rejected": _list_by_speaker(_against(record)),
        "open": "\n".join(f"* {inline(question)}" for question in record.missing),
        "more": _markdown_list(
            (*_evidence(record), *_render_superseded_decisions(record), *_kept_beside(record))
        ),
    }


def _nygard_values(record: Record) -> dict[str, str]:
    """What stands only in Nygard's form, which adr-tools reads: its words are English."""
    status = _phrase_record_status(record)
    if record.superseded_by is not None:
        name = related_name(record.superseded_by)
        link = _link_target(record.superseded_by, record)
        status = f"superseded by [{name}]({link})" if link else status
    own = replace(record, language="en")
    paths = ", ".join(_code(path) for path in record.reach.paths)
    weighed = record.considered if len(record.considered) > 1 else ()
    lines = {
        "Considered options": "; ".join(map(inline, weighed)),
        "Applies to": paths,
        "Decision makers": inline(record.decided_by),
        "Uid": record.uid,
        "Session": record.session_id,
    }
    return {
        "number": str(record.number or ""),
        "standing": f"{status[:1].upper()}{status[1:]}",
        "replaced": "\n\n".join(_render_superseded_decisions(own)),
        "evidence": _markdown_list(_evidence(record)),
        "kept": _markdown_list(_render_kept_decision(one, record) for one in record.kept),
        "closing": "\n".join(f"* {name}: {said}" for name, said in lines.items() if said),
    }


def _markdown_list(lines: Iterable[str]) -> str:
    return "\n".join(f"* {line}" for line in lines)


def _render_shown_question(one: ShownQuestion, record: Record) -> str:
    """The question as it was shown, who wrote it, and why it matters."""
    asked = _phrase_in_language(record, "asked by {}", inline(one.by))
    lines = [f"{_phrase_in_language(record, 'Question: {}', inline(one.question))} ({asked})"]
    if one.why:
        lines.append(_phrase_in_language(record, "Why it matters: {}", inline(one.why)))
    return "\n\n".join(lines)


def _considered(record: Record) -> str:
    """What was weighed, and who offered it; nothing where there was no choice."""
    first, *further = record.shown or (ShownQuestion(question=""),)
    shown = first if first.by else ShownQuestion(question="")  # a menu was only offered
    lists = [_offer(shown, record.considered, record)] if len(record.considered) > 1 else []
    for one in further:
        if one.options and one.by:
            labels = [option.label for option in one.options]
            lists += [inline(one.question), _offer(one, labels, record)]
    return "\n\n".join(lists)


def _offer(one: ShownQuestion, names: Collection[str], record: Record) -> str:
    """Options, and who offered which."""
    means = {caseless(option.label): option.description for option in one.options}
    lines = []
    for name in names:
        said = means.get(caseless(name), "")
        lines.append(f"* {inline(name)}{f': {inline(said)}' if said else ''}")
    if not one.options:
        return "\n".join(lines)
    by, labels = inline(one.by), ", ".join(inline(option.label) for option in one.options)
    is_mixed = len(names) > len(one.options)
    told = [
        _phrase_in_language(
            record, "Offered by {}: {}." if is_mixed else "Offered by {}.", by, labels
        )
    ]
    if best := one.recommended:
        text = f"{inline(best.option)}{_new_reason(best.reason, record)}"
        told.append(_end_sentence(_phrase_in_language(record, "Recommended: {}", text)))
    if one.quote:
        label, quote = inline(one.options[0].label), inline(one.quote)
        told.append(
            _phrase_in_language(record, '{} read {} in the intention: "{}".', by, label, quote)
        )
    return "\n".join(lines) + "\n\n" + " ".join(told)


def _new_reason(text: str, record: Record) -> str:
    """The reason of a recommendation, where it is not the reason of the decision."""
    because = record.rationale.because
    is_said = because is not None and because.text.casefold() == text.casefold()
    return "" if is_said else _reason(text, record)


def _reason(text: str, record: Record) -> str:
    """A reason as a sentence goes on with it.

    In English a small word loses its capital. Any other word may be a name, and keeps it: behind a
    colon that reads well.
    """
    said = one_line(text)
    for word in ("because ", "weil "):
        said = said[len(word) :] if said.casefold().startswith(word) else said
    said = continued(said) if record.language == "en" else said
    first = said.partition(" ")[0]
    colon = ":" if first.istitle() and first != "I" else ""
    return f"{_phrase_in_language(record, ', because')}{colon} {_end_sentence(inline(said), '')}"


def _end_sentence(text: str, end: str = ".") -> str:
    """A sentence with one full stop at its end, or none."""
    if text.endswith(("!", "?", "\u2026", "..")):
        return text
    return text.removesuffix(".") + end


def _against(record: Record) -> Iterator[tuple[str, str]]:
    """What speaks against the options, those that were chosen all the same first, by speaker."""
    person = dict(record.offered_by).get("user", "")
    chosen = {caseless(field.value) for field in record.fields}
    named = {caseless(one.name) for one in record.rationale.alternatives if one.why_not}
    weighed = [(one, option) for one in record.shown for option in one.options if option.against]
    for one, option in sorted(weighed, key=lambda pair: caseless(pair[1].label) not in chosen):
        is_chosen = caseless(option.label) in chosen
        if is_chosen or caseless(option.label) not in named:
            text = "Against {}, which was chosen: {}" if is_chosen else "Against {}: {}"
            row = _phrase_in_language(record, text, inline(option.label), inline(option.against))
            is_person = one.by in ("", person)
            yield ("" if is_person else _offered_by(inline(one.by), record), row)
    for other in record.rationale.alternatives:
        if other.why_not:
            row = _phrase_in_language(
                record, "Against {}: {}", inline(other.name), inline(other.why_not)
            )
            yield (_speaker(other.by, record), row)


def _list_by_speaker(rows: Iterable[tuple[str, str]]) -> str:
    """One list for each speaker: that of people first, without a name."""
    lists: dict[str, list[str]] = {"": []}
    for speaker, row in rows:
        lists.setdefault(speaker, []).append(f"* {row}")
    parts = []
    for speaker, said in lists.items():
        if said:
            parts += [f"{speaker[:1].upper()}{speaker[1:]}:"] if speaker else []
            parts.append("\n".join(said))
    return "\n\n".join(parts)


_GERMAN: Final[Mapping[str, str]] = {
    "Question: {}": "Frage: {}",
    "asked by {}": "gestellt von {}",
    "Asked: {} {}": "Gefragt: {} {}",
    "Why it matters: {}": "Warum das wichtig ist: {}",
    "Offered by {}.": "Angeboten von {}.",
    "Offered by {}: {}.": "Angeboten von {}: {}.",
    "Recommended: {}": "Empfohlen: {}",
    '{} read {} in the intention: "{}".': '{} las {} in der Absicht: "{}".',
    ", because": ", weil",
    "Against {}, which was chosen: {}": "Gegen {} (trotzdem gew\u00e4hlt): {}",
    "Against {}: {}": "Gegen {}: {}",
    'Chosen option: "{}"': 'Gew\u00e4hlt: "{}"',
    "Nothing was decided": "Nichts wurde entschieden",
    "offered by {}": "vorgeschlagen von {}",
    "offered by {}, accepted by {}": "vorgeschlagen von {}, angenommen von {}",
    "Proposed by {}.": "Vorgeschlagen von {}.",
    "Rejected by {}: {}": "Abgelehnt von {}: {}",
    "Rejected by {}.": "Abgelehnt von {}.",
    "Proposed by {}; no person has confirmed it yet.": (
        "Vorgeschlagen von {}; noch kein Mensch hat es best\u00e4tigt."
    ),
    "For: {}": "F\u00fcr: {}",
    "Category: {}": "Thema: {}",
    "Decision": "Entscheidung",
    "Holds for {}": "Gilt f\u00fcr {}",
    "An agent asks a person before it edits what this holds for": (
        "Ein Agent fragt einen Menschen, bevor er \u00e4ndert, wof\u00fcr dies gilt"
    ),
    "An agent does not edit what this holds for": (
        "Ein Agent \u00e4ndert nicht, wof\u00fcr dies gilt"
    ),
    "answered by {}": "beantwortet von {}",
    "answered by {}, in their own words": "beantwortet von {}, in eigenen Worten",
    "stated in the intention": "steht in der Absicht",
    "a model read it out of what was said": "von einem Modell aus dem Gesagten gelesen",
    "a person": "einem Menschen",
    "an agent": "einem Agenten",
    "a script": "einem Skript",
    "a model": "einem Modell",
    "Evidence: {}": "Belege: {}",
    "Bears a signature of the key {}": "Trägt eine Unterschrift des Schlüssels {}",
    "Supersedes {}": "Ersetzt {}",
    "Superseded by {}": "Ersetzt durch {}",
    "Kept beside {}: {}": "Bleibt neben {}: {}",
    "Exception to {}": "Ausnahme von {}",
    "Exception: {}": "Ausnahme: {}",
}
"""The sentences of a record in German; the headings are MADR's, which tools look for."""


def _phrase_in_language(record: Record, text: str, *parts: str) -> str:
    """A sentence of the program in the record's language, around parts that are Markdown."""
    return (_GERMAN.get(text, text) if record.language == "de" else text).format(*parts)


def _phrase_record_status(record: Record) -> str:
    if record.superseded_by is None:
        return record.status
    return f"superseded by {related_name(record.superseded_by)}"


def related_name(related: Related) -> str:
    """How another decision is named: by the number of its record, a task by its uid."""
    return f"task {related.uid}" if related.number is None else f"ADR-{related.number:04d}"


_HOW = {"stated": "stated in the intention", "suggested": "a model read it out of what was said"}
_BY = {**ACTOR_WORDS, "model": "a model"}


def _render_chosen_option(record: Record) -> str:
    """What was chosen, and why; before it, that no person has confirmed it."""
    chosen, because = record.considered[:1], record.rationale.because
    if not chosen and record.rationale == Rationale():
        return ""
    text = _phrase_in_language(record, "Nothing was decided")
    if chosen:
        text = _phrase_in_language(record, 'Chosen option: "{}"', inline(chosen[0]))
    if because is not None:
        by = _speaker(because.by, record)
        text += _reason(because.text, record) + (f" ({by})" if by else "")
    lines = [_end_sentence(text)]
    return "\n\n".join((*filter(None, (phrase_proposal(record),)), *lines))


def phrase_proposal(record: Record) -> str:
    """Who proposed it, and who rejected it and why; empty where a person accepted it."""
    by = _phrase_in_language(record, _BY[record.proposed_by]) if record.proposed_by else ""
    if record.rejected_by is None:
        text = "Proposed by {}; no person has confirmed it yet."
        return _phrase_in_language(record, text, by) if by else ""
    who = inline(record.rejected_by.name) or _phrase_in_language(
        record, _BY[record.rejected_by.kind]
    )
    why = inline(record.why_rejected)
    rejected = (
        _end_sentence(_phrase_in_language(record, "Rejected by {}: {}", who, why))
        if why
        else _phrase_in_language(record, "Rejected by {}.", who)
    )
    return f"{_phrase_in_language(record, 'Proposed by {}.', by)} {rejected}" if by else rejected


def _speaker(by: Speaker, record: Record) -> str:
    """Who said it, where no person did, and who accepted it."""
    if by == "user":
        return ""
    return _offered_by(
        inline(dict(record.offered_by).get(by, "")) or _phrase_in_language(record, _BY[by]), record
    )


def _offered_by(name: str, record: Record) -> str:
    if record.status in ("accepted", "superseded") and record.decided_by:
        return _phrase_in_language(
            record, "offered by {}, accepted by {}", name, inline(record.decided_by)
        )
    return _phrase_in_language(record, "offered by {}", name)


_COVERED_BY_NONE: Final = "Other"
"""The category of what no topic covers, which says nothing."""


def _decided_rows(record: Record) -> str:
    """What it is for, and each value with how it was given."""
    rows = [_phrase_in_language(record, "For: {}", inline(record.scope))] if record.scope else []
    if record.fields and record.category not in ("", _COVERED_BY_NONE, record.fields[0].name):
        rows.append(_phrase_in_language(record, "Category: {}", inline(record.category)))
    rows += [_render_field_value(field, record) for field in record.fields]
    rows += _reach(record)
    return "\n".join(f"* {row}" for row in rows)


def _reach(record: Record) -> list[str]:
    """The files that it holds for, and what an edit of them meets."""
    paths = ", ".join(_code(path) for path in record.reach.paths)
    by = (
        _speaker(record.reach.by, record) if paths and record.status in ("open", "proposed") else ""
    )
    rows = (
        [_phrase_in_language(record, "Holds for {}", paths) + (f" ({by})" if by else "")]
        if paths
        else []
    )
    if record.reach.hold != "tell":
        rows.append(_phrase_in_language(record, _HOLD[record.reach.hold]))
    return rows


_HOLD: Final = {
    "ask": "An agent asks a person before it edits what this holds for",
    "deny": "An agent does not edit what this holds for",
}


def _code(path: str) -> str:
    return inline(path) if "`" in path else f"`{path}`"


def _render_field_value(field: RecordField, record: Record) -> str:
    if field.source in ("stated", "suggested"):  # which are no answers
        how = _phrase_in_language(record, _HOW[field.source])
    else:
        own = ", in their own words" if field.source in ("custom", "typed") else ""
        how = _phrase_in_language(
            record, f"answered by {{}}{own}", _phrase_in_language(record, _BY[field.by])
        )
    is_open = field.name == OPEN_FIELD
    if is_open and record.considered[:1] == (field.value,):  # it stands above, as what was chosen
        return how[:1].upper() + how[1:]
    label = _phrase_in_language(record, "Decision") if is_open else inline(field.name)
    return f"{label}: **{inline(field.value)}** ({how})"


def _evidence(record: Record) -> Iterator[str]:
    """What questions rest on, what a menu held, and the key of a signature."""
    places = dict.fromkeys(place for one in record.shown for place in one.evidence)
    if places:
        named = ", ".join(
            inline(f"{place.path}:{place.lines}" if place.lines else place.path) for place in places
        )
        yield _phrase_in_language(record, "Evidence: {}", named)
    yield from (_menu(one, record) for one in record.shown if not one.by)
    if record.signed_with:
        yield _phrase_in_language(record, "Bears a signature of the key {}", record.signed_with)


def _render_superseded_decisions(record: Record) -> Iterator[str]:
    """The decisions whose place it took."""
    for one in list_superseded(record):
        yield _phrase_in_language(record, "Supersedes {}", _link_related_decision(one, record))


def _kept_beside(record: Record) -> Iterator[str]:
    """The decision that took its place, and those that stay in force beside it."""
    if record.superseded_by is not None:
        yield _phrase_in_language(
            record, "Superseded by {}", _link_related_decision(record.superseded_by, record)
        )
    yield from (_render_kept_decision(one, record) for one in record.kept)


def _menu(one: ShownQuestion, record: Record) -> str:
    """What the rules asked, and what their menu held."""
    held = ", ".join(inline(option.label) for option in one.options)
    return _phrase_in_language(record, "Asked: {} {}", inline(one.question), held).rstrip()


def _render_kept_decision(one: KeptDecision, record: Record) -> str:
    """The other decision; of an exception and its rule, only the rule has no scope."""
    link = _link_related_decision(one.related, record)
    if one.reason == EXCEPTION:
        return _phrase_in_language(
            record, "Exception to {}" if record.scope else "Exception: {}", link
        )
    return _phrase_in_language(record, "Kept beside {}: {}", link, inline(one.reason))


def _link_related_decision(related: Related, record: Record) -> str:
    """Another decision, linked where it has a record; a task is named without a link."""
    has_name = related.uid or related.number is not None
    words = inline(related.title)
    words = f"{inline(related_name(related))}, {words}" if has_name else words
    target = _link_target(related, record)
    return f"[{words}]({target})" if target else words


def _link_target(related: Related, record: Record) -> str:
    """The record of another decision, from the folder of this one; empty of a task."""
    if related.path is not UNSET:
        from urllib.parse import quote  # a stranger named the file

        start = posixpath.dirname(record.path) if record.path else record.folder
        return quote(posixpath.relpath(related.path, start or "."))
    if related.number is None:
        return ""
    name = RecordForm().file_name(related.number, "", related.title)
    has_own = bool(record.path) and posixpath.dirname(record.path) != record.folder
    return f"../{name}" if has_own else name


# 2. Text that forges nothing -----------------------------------------------------------------


def inline(text: str) -> str:
    """One line of Markdown that shows the text and does nothing else."""
    escaped = _MARKUP.sub(_escape_mark, escaped_text(one_line(text)))
    return _COUNT.sub(r"\1\\", _MARGINS.sub(_escape_mark, escaped))


def _escape_mark(found: re.Match[str]) -> str:
    """A function, since a pattern is asked to read a text with marks of its own each time."""
    return f"\\{found[0]}"


def quote_as_block(text: str) -> str:
    """A block quote, so that no line of the text can begin a section."""
    lines = shown_lines(text).strip().split("\n")
    return "\n".join(f"> {inline(line)}".rstrip() for line in lines)


def _yaml(text: str) -> str:
    """A double-quoted scalar: JSON's strings are YAML's."""
    return canonical_json(escaped_text(one_line(text))).decode()
