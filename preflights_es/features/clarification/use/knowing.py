"""What is known before anything is asked: decisions in force (RESOLUTIONS 0.24), the repository.

Decisions at the same place come first, then what memory finds: ours, and records of other tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from preflights_es.features.clarification.domain.events import KnownLine
from preflights_es.features.clarification.domain.pack import loaded
from preflights_es.features.clarification.domain.rules import detected as detect
from preflights_es.features.clarification.domain.state import State
from preflights_es.features.clarification.domain.topics import Signal, find
from preflights_es.features.clarification.domain.values import Heuristics, LLMContext
from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.ranking import concerns
from preflights_es.features.recall.domain.rules import is_same
from preflights_es.features.recall.use.searching import Search, decided_in_force, is_in_force
from preflights_es.features.recall.use.variants import stems
from preflights_es.kernel.decisions import Decided, Related
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import Source
from preflights_es.kernel.ids import decision_name, iso
from preflights_es.kernel.questions import WrittenQuestion
from preflights_es.kernel.text import INTENTION_MAX, caseless, one_line, shortened, shown
from preflights_es.kernel.words import words
from preflights_es.records.record_header import Said
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.store.projection_rows import SqlComparing
from preflights_es.use.facts.facts import facts_of
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.process import Process
from preflights_es.use.request import Request

KNOWN_MAX: Final = 3
FOUND_MAX: Final = 10  # matches of memory that are looked at
PLACED_MAX: Final = 50  # decisions of a topic that are looked at
LINE_MAX: Final = 200  # characters
DAY: Final = len("2026-11-24")


def known(
    request: Request,
    intention: str,
    chosen: Heuristics,
    scope: str = "",
    written: WrittenQuestion | None = None,
) -> tuple[KnownLine, ...]:
    """At most three decisions in force; none of a task.

    Those at the same place come first, ours and records of other tools, then those of the topic for
    the whole project, then what memory finds.

    Args:
        scope: what the decision is for, where that is said beside the intention.
        written: the question that an actor wrote.
    """
    about = _about(intention, chosen, written)
    if about is None:
        return ()
    category, said = about
    process = request.process
    place = stems((scope or said).strip())
    found: dict[str, KnownLine] = {}
    for session_id, one in _of_category(process, category) if category else ():
        scope = (one.scope or "").strip()
        # Stems cost time, and most decisions are for the whole project or for something else.
        is_here = bool(scope) == bool(place) and (not scope or is_same(stems(scope), place))
        if not (is_here or not scope):
            continue
        if made := _line(process, session_id, one, is_here=is_here):
            found[session_id] = made
    search = Search(process)
    here = {key: one for key, one in found.items() if one.is_here}
    beside = _records_here(search, category, place, process.sanitizer) if category else {}
    placed = {**here, **beside, **found}
    return tuple(_remembered(process, search, intention, placed).values())[:KNOWN_MAX]


def _records_here(
    search: Search, category: str, place: tuple[frozenset[str], ...], sanitizer: Sanitizer
) -> dict[str, KnownLine]:
    """Records of other tools at the same place, as their titles say."""
    held = [one for one in search.records.of.values() if one.is_held] if search.records else []
    return {
        one.path: _foreign(one, sanitizer)
        for one in held
        if one.value and caseless(one.category) == caseless(category)
        # As above: only scopes that could be the same are stemmed.
        if bool(one.scope) == bool(place) and (not place or is_same(stems(one.scope), place))
    }


def remembered(request: Request, text: str) -> dict[str, KnownLine]:
    """What memory finds in force that a text concerns, by session and by path; also of a task."""
    return _remembered(request.process, Search(request.process), text, {})


def _remembered(
    process: Process, search: Search, text: str, placed: Mapping[str, KnownLine]
) -> dict[str, KnownLine]:
    """What stands first, and then what memory finds, the best first.

    Args:
        placed: what stands first, by session and by path.
    """
    found = dict(placed)
    for match in search.matches(rules.wanted((text,)), concerns, limit=FOUND_MAX, widens=False):
        if len(found) >= KNOWN_MAX:
            break
        row = search.records.of.get(match.uid) if search.records else None
        if row is not None:
            found |= {row.path: _foreign(row, process.sanitizer)} if row.is_held else {}
        elif match.session_id not in found:
            of = decided_in_force(process, match.session_id)
            if of and (made := _line(process, match.session_id, of, is_here=False)):
                found[match.session_id] = made
    return found


def notice_other_scope(request: Request, state: State, scope: str) -> None:
    """Say where the intention names something else that the decision is for."""
    found = find(state.intention, inlined=state.inlined) if state.pack else None
    if found and found.scope and not is_same(stems(found.scope), stems(scope)):
        text = f"it is recorded for {one_line(scope)}; the intention says for {found.scope}"
        request.notice("other_scope", text, scope=scope)


def _about(
    intention: str, chosen: Heuristics, written: WrittenQuestion | None
) -> tuple[str, str] | None:
    """The category of what is decided and what it is for; None of a task."""
    if written is not None:
        return written.topic, written.scope
    if chosen.pack is None:
        detected = detect(intention, chosen.tables)
        return detected.category.name if detected else "", ""
    found = find(intention, inlined=chosen.inlined)
    ids = (*(one.topic for one in found.stated), *found.topics)
    topics = {topic.id: topic for topic in loaded(chosen.inlined).topics}
    return next((topics[id_].category for id_ in ids if id_ in topics), ""), found.scope


def _of_category(process: Process, category: str) -> Iterator[tuple[str, Decided]]:
    """Decisions in force of a category."""
    log = SqlComparing(process.store)
    for session_id, data in log.rows(process.project, words(category), PLACED_MAX):
        one = msgspec.json.decode(data, type=Decided)
        if caseless(one.category) == caseless(category) and is_in_force(one):
            yield session_id, one


def _line(process: Process, session_id: str, one: Decided, *, is_here: bool) -> KnownLine | None:
    try:
        head = process.store.head(session_id)
    except PreflightsError:
        head = None
    if head is None:
        return None
    name = decision_name(one.number, one.uid)
    at = max(one.acknowledged_at or 0, 0)
    because = one.rationale.because
    reason = f": {one_line(because.text)}" if because else ""
    return KnownLine(
        line=shortened(f"{name} {one_line(one.title)} ({iso(at)[:DAY]}){reason}", LINE_MAX),
        kept=Related(one.uid, one.title, one.number, session_id),
        since=at,
        is_here=is_here,
        source=Source(session_id, head.version, head.hash.hex()),
        values=tuple(value for _, value in one.fields),
    )


def _foreign(row: ForeignRow, sanitizer: Sanitizer) -> KnownLine:
    title, _ = sanitizer.cleaned_text(
        "the record's title", shown(one_line(row.title)), INTENTION_MAX
    )
    said = f" ({row.date})" if row.date else ""
    return KnownLine(
        line=shortened(f"{shown(row.path)} {title}{said}", LINE_MAX),
        kept=Related("", title, row.number),
        since=0,
        is_here=False,
        path=row.path,
    )


# The repository (RESOLUTIONS 0.25) ------------------------------------------------------------

BYTES_MAX: Final = 8_000  # of what a session records
ARCHITECTURE_MAX: Final = 2_000  # of these, of the README and the titles of records


def context_of(process: Process) -> LLMContext | None:
    """What the repository says of itself; None where it says nothing.

    Source: seed 0, section 9 (`LLMContext`).
    """
    found = facts_of(process)
    languages = ", ".join(f"{one.name} ({_files(one.files)})" for one in found.languages[:8])
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


def _files(count: int) -> str:
    return f"{count} file" if count == 1 else f"{count} files"


# Records of other tools ----------------------------------------------------------------------


def said(title: str) -> Said:
    """By the forms and names of the rules alone; nothing where no form covers the title."""
    found = find(title)
    if not found.stated:
        return Said()
    (one,) = found.stated
    topics = {topic.id: topic.category for topic in loaded().topics}
    return Said(topics.get(one.topic, ""), one.value, found.scope)
