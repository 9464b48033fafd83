"""What is known before anything is asked: decisions in force (RESOLUTIONS 0.24) and the repository.

Decisions at the same place come first, then those of the same subject: ours, and records of other
tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec
from msgspec import UNSET

from preflights_es.features.clarification.domain.events import KnownLine, TopicsFound
from preflights_es.features.clarification.domain.pack import load_pack
from preflights_es.features.clarification.domain.rules import detected as detect
from preflights_es.features.clarification.domain.state import ClarificationState
from preflights_es.features.clarification.domain.topics import Signal, find, topic_named
from preflights_es.features.clarification.domain.values import Heuristics, LLMContext, TopicValue
from preflights_es.features.clarification.record_values import value_at
from preflights_es.features.recall.decision_search import (
    DecisionOrRecord,
    MemorySearch,
    RecordRows,
    Subject,
    Titled,
    is_in_force,
    logs_of_decisions,
    stems_of_subject,
)
from preflights_es.features.recall.domain.rules import ComparedDecision, have_same_stems
from preflights_es.features.recall.word_variants import may_have_stems, stems
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import SourceSession
from preflights_es.kernel.ids import iso
from preflights_es.kernel.text import (
    INTENTION_MAX,
    caseless,
    count_in_words,
    escaped_text,
    one_line,
    shortened,
)
from preflights_es.records.record_folder import package_of
from preflights_es.records.record_names import TitleStatement
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.store.sql_projections import SqlComparing
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.process import Process
from preflights_es.use.repository_facts import facts_of
from preflights_es.use.request import Request
from preflights_es.words.decisions import DecidedPatch, NotChosen, Related, named_instead
from preflights_es.words.language import canonical, collect_search_words
from preflights_es.words.questions import WrittenQuestion

KNOWN_MAX: Final = 3
FOUND_MAX: Final = 30  # matches of memory that are looked at
PLACED_MAX: Final = 50  # decisions of a topic that are looked at
LINE_MAX: Final = 200  # characters


def find_known_decisions(
    request: Request,
    records: RecordRows,
    intention: str,
    chosen: Heuristics,
    *,
    scope: str = "",
    written: WrittenQuestion | None = None,
) -> tuple[KnownLine, ...]:
    """At most three decisions in force, ours and records of other tools.

    Those that turned down what is stated come first, then those at the same place, then those of
    the topic for the whole project, then those whose subject the intention speaks of, then the
    others of its topic; of each kind first those of the package in which the caller stands.

    Args:
        scope: what the decision is for, where that is said beside the intention.
        written: the question that an actor wrote.
    """
    found = find(written.question if written else intention, inlined=chosen.inlined)
    about = _intention_subject(intention, found, chosen, written)
    searches = [
        MemorySearch(log, records if log is request.process else None)
        for log in logs_of_decisions(request)
    ]
    scope = one_line(scope or about.scope).strip()
    # What no topic covers is about what it is for.
    place = ComparedDecision(
        category=about.category,
        fields=(),
        scope=stems(scope),
        subject=stems(scope),
        replaced=frozenset(canonical(one.value) for one in found.replaced),
    )
    subject = Subject(intention, found, scope, chosen.inlined)
    of_topic, sharing = dict[str, DecisionOrRecord](), dict[str, DecisionOrRecord]()
    for search in reversed(searches):  # the log's own last: it is the truth of what both have
        of_topic |= {one.name: one for one in _of_topic(search, about.category)}
        sharing |= {one.name: one for one in search.sharing(subject, FOUND_MAX)}
    spoken = [name for name, one in sharing.items() if subject.is_of(one.titled)]
    every = {**of_topic, **sharing}
    named = {
        name: value
        for name, one in every.items()
        if isinstance(one.of, ForeignRow)
        if (value := value_at(place, one.of, chosen.inlined))
    }
    replaced = {
        one.name: one
        for one in _having(searches, found.replaced)
        if not place.scope or have_same_stems(place.scope, stems(one.titled.scope))
    }
    every |= replaced
    alike = {*named, *replaced}
    here = [name for name, one in every.items() if name in alike or _is_at(place, one.titled)]
    whole = [name for name, one in of_topic.items() if not one.titled.scope]
    against = dict(_against(searches, about.values))
    every |= {name: one.found for name, one in against.items()}
    package = package_of(request.process.record_places.new)

    def is_elsewhere(name: str) -> bool:
        return not _path_of(every[name]).startswith(f"{package}/" if package else "")

    groups = (against, here, whole, spoken, of_topic)
    first = dict.fromkeys(name for names in groups for name in sorted(names, key=is_elsewhere))
    lines = (
        _build_known_line(
            searches, every[name], against.get(name), named.get(name, ""), is_here=name in here
        )
        for name in first
    )
    return tuple(islice(filter(None, lines), KNOWN_MAX))


def _path_of(one: DecisionOrRecord) -> str:
    """Where its record lies; empty without one."""
    if isinstance(one.of, ForeignRow):
        return one.of.path
    return one.of.written.path if one.of.written else ""


def _is_at(place: ComparedDecision, one: Titled) -> bool:
    """Whether a decision is at a place."""
    if not may_have_stems(one.scope, place.scope):
        return False
    subject = stems_of_subject(one.title, one.values) if not place.has_topic else ()
    other = ComparedDecision(
        category=one.category, fields=(), scope=stems(one.scope), subject=subject
    )
    return place.is_at(other) and place.is_of(other)


def _having(
    searches: Sequence[MemorySearch], values: Iterable[TopicValue]
) -> Iterator[DecisionOrRecord]:
    """The decisions in force that have one of some values."""
    for search in searches:
        for value in values:
            for one in search.naming(value.value):
                if canonical(value.value) in map(canonical, one.titled.values):
                    yield one


class _Against(msgspec.Struct, frozen=True):
    """A decision in force that turned a value down."""

    found: DecisionOrRecord
    value: str
    other: NotChosen


def _against(
    searches: Sequence[MemorySearch], values: Iterable[str]
) -> Iterator[tuple[str, _Against]]:
    """By name: what turned one of some values down; none of a value that is in force elsewhere."""
    for value in values:
        naming = [one for search in searches for one in search.naming(value)]
        key = canonical(value)
        if key in (canonical(own) for one in naming for own in one.titled.values):
            continue
        for one in naming:
            if isinstance(one.of, DecidedPatch):
                for other in named_instead(one.of.rationale.alternatives):
                    if canonical(other.name) == key:
                        yield one.name, _Against(one, value, other)


def _of_topic(search: MemorySearch, category: str) -> Iterator[DecisionOrRecord]:
    """Decisions in force of a category."""
    if not category:
        return
    words = collect_search_words(category)
    log = SqlComparing(search.process.store)
    for session_id, data in log.rows(search.process.project, words, PLACED_MAX):
        one = msgspec.json.decode(data, type=DecidedPatch)
        if caseless(one.category) == caseless(category) and is_in_force(one):
            yield DecisionOrRecord(one, session_id)
    for row in search.records.of.values() if search.records else ():
        if row.is_held and caseless(row.category) == caseless(category):
            yield DecisionOrRecord(row)


def notice_other_scope(request: Request, state: ClarificationState, scope: str) -> None:
    """Say where the intention names something else that the decision is for."""
    found = (
        find(state.opened.intention, inlined=state.opened.inlined) if state.opened.pack else None
    )
    if found and found.scope and not have_same_stems(stems(found.scope), stems(scope)):
        text = f"it is recorded for {one_line(scope)}; the intention says for {found.scope}"
        request.notice("other_scope", text, scope=scope)


def _intention_subject(
    intention: str, found: TopicsFound, chosen: Heuristics, written: WrittenQuestion | None
) -> Titled:
    """The scope, topic and values that an intention has, as far as the rules tell."""
    if written is not None:
        return Titled(intention, (), written.scope, written.topic)
    if chosen.pack is None:
        detected = detect(intention, chosen.tables)
        return Titled(intention, (), "", detected.category.name if detected else "")
    topics = {topic.id: topic.category for topic in load_pack(chosen.inlined).topics}
    first = (*(one.topic for one in found.stated), *found.topics)
    category = next((topics[id_] for id_ in first if id_ in topics), "")
    said = found.stated or (found.mentioned if found.is_between else ())
    return Titled(intention, tuple(one.value for one in said), found.scope, category)


def _build_known_line(
    searches: Sequence[MemorySearch],
    found: DecisionOrRecord,
    against: _Against | None,
    named: str,
    *,
    is_here: bool,
) -> KnownLine | None:
    """None where its session cannot be read.

    Args:
        named: the value of a record whose title states none.
    """
    one = found.of
    if isinstance(one, ForeignRow):
        return _build_foreign_line(one, searches[0].process.sanitizer, named, is_here=is_here)
    try:
        heads = (search.process.store.head(found.session_id) for search in searches)
        head = next(filter(None, heads), None)
    except PreflightsError:
        head = None
    if head is None:
        return None
    at = max(one.acknowledged_at or 0, 0)
    because = one.rationale.because
    reason = because.text if because else ""
    if against is not None:
        reason = against.other.why_not or reason
    reason = f": {one_line(reason)}" if reason else ""
    day = iso(at).partition("T")[0]
    return KnownLine(
        line=shortened(f"{one.name} {one_line(one.title)} ({day}){reason}", LINE_MAX),
        kept=Related(one.uid, one.title, one.number, found.session_id),
        since=at,
        is_here=is_here,
        source=SourceSession(found.session_id, head.version, head.hash.hex()),
        values=tuple(value for _, value in one.fields),
        turned_down=against.value if against else UNSET,
    )


def _build_foreign_line(
    row: ForeignRow, sanitizer: Sanitizer, named: str, *, is_here: bool
) -> KnownLine:
    title, _ = sanitizer.cleaned_text(
        "the record's title", escaped_text(one_line(row.title)), INTENTION_MAX
    )
    said = f" ({row.date})" if row.date else ""
    return KnownLine(
        line=shortened(f"{escaped_text(row.path)} {title}{said}", LINE_MAX),
        kept=Related("", title, row.number, path=row.path),
        since=0,
        is_here=is_here,
        path=row.path,
        values=(value,) if (value := row.value or named) else UNSET,
    )


# The repository (RESOLUTIONS 0.25) ------------------------------------------------------------

BYTES_MAX: Final = 8_000  # of what a session records
ARCHITECTURE_MAX: Final = 2_000  # of these, of the README and the titles of records


def context_of(process: Process, records: RecordRows) -> LLMContext | None:
    """What the repository says of itself; None where it says nothing.

    Source: seed 0, section 9 (`LLMContext`).
    """
    found = facts_of(process, records.of.values())
    languages = ", ".join(
        f"{one.name} ({count_in_words(one.files, 'file')})" for one in found.languages[:8]
    )
    ci = f"CI: {', '.join(found.ci)}" if found.ci else ""
    titles = "; ".join(found.records)
    said = (found.readme, f"Decision records: {titles}" if titles else "")
    files = "; ".join(filter(None, (languages, ci)))
    architecture = shortened(" ".join(filter(None, said)), ARCHITECTURE_MAX)
    left = BYTES_MAX - len(files.encode()) - len(architecture.encode())
    kept: list[str] = []
    for one in found.technologies:
        text = Signal(one.product, one.name, one.path).written()
        left -= len(text.encode()) + 4  # quotes and a comma
        if left < 0:
            break
        kept.append(text)
    if not (files or architecture or kept):
        return None
    return LLMContext(files, tuple(kept), architecture)


# Records of other tools ----------------------------------------------------------------------


def read_title_statement(title: str) -> TitleStatement:
    """By the forms and names of the rules alone: a value, or the topic that the title names."""
    found = find(title)
    topics = {topic.id: topic.category for topic in load_pack().topics}
    if not found.stated:
        topic, scope = topic_named(title)
        return TitleStatement(topics[topic], "", scope) if topic else TitleStatement()
    (one,) = found.stated
    return TitleStatement(topics.get(one.topic, ""), one.value, found.scope)
