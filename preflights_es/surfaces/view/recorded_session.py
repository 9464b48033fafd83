"""A session as it is recorded, as it stood behind an event, and as cards: what models were asked,
what people saw, and what was proposed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property, partial
from itertools import chain, groupby, islice, takewhile
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import LogDamaged, PreflightsError, SessionFaulted
from preflights_es.kernel.events import Decision, Event, Input, SessionErased, Signable
from preflights_es.kernel.json import ABSENT, canonical_json, decode_plain_json, differences
from preflights_es.kernel.ports import Head, Stored
from preflights_es.kernel.session import Session, misplaced
from preflights_es.kernel.text import shortened
from preflights_es.projections.audit import TrailActor
from preflights_es.projections.json_words import (
    list_value_lines,
    split_answer,
    text_in_words,
    value_in_words,
    without_empty,
)
from preflights_es.projections.projection import Read
from preflights_es.projections.session_story import (
    NAME_SHOWN,
    SentMessage,
    ToldCall,
    call_costs,
    list_told_calls,
)
from preflights_es.projections.usage import Price
from preflights_es.runtime.runner import Handle, Step
from preflights_es.store.stored_events import erased_before
from preflights_es.surfaces.view import pictures
from preflights_es.use import sessions as use
from preflights_es.use.answers import asked_in
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import refusals, session_of
from preflights_es.words.event_names import pointer_in_words, value_of_pointer
from preflights_es.words.questions import Answers, Question, answers_in
from preflights_es.words.workflow import HEAD, Cost, View, Workflow

PAYLOAD: Final = 100_000  # characters of a payload on a page
LOOK: Final = 4_000  # characters of one beside the timeline, and of a text of a call
CARDS: Final = 10  # on a page: of 100 events, it stays below 64 KB
MESSAGES: Final = 50  # of a call, the last ones
TOOLS: Final = 20  # that an answer calls
TEXTS: Final = 150_000  # characters of what was sent and answered, and of what people saw
LINES: Final = 200  # of a difference that is marked line by line
LINES_AROUND: Final = 3  # lines that are the same, before and behind one that differs
AROUND: Final = 400  # characters around a difference
VALUE_SHOWN: Final = 1_000  # characters of a value whose parts are shown
CHANGES: Final = 30  # of what an event changed, and differences of a replay

NAMED: Final = ("id", "sha256")  # of a plan, which a card shows itself


# 1. As it stood ------------------------------------------------------------------------------


class Looked(msgspec.Struct, frozen=True):
    """A session as it is recorded now."""

    process: Process
    read: Read
    damage: use.Unread | None

    @property
    def stored(self) -> tuple[Stored, ...]:
        """Its events."""
        return self.read.stored

    @property
    def holds_to(self) -> int:
        """The last version up to which the chain holds, and every event can be read."""
        return len(self.stored) if self.damage is None else max(self.damage.version - 1, 0)


def looked(request: Request, typed: str) -> Looked:
    """A session, each link of its chain checked.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        LogDamaged: only its head is left.
        WorkflowMissing: its workflow is not here.
    """
    at = request.reading.session(typed)
    found = use.read_log_of_session(at)
    if not found.stored:
        raise found.damage or LogDamaged(f"session {at.session_id}", 0, "it has no events")
    last = found.stored[-1]
    head = Head(last.session_id, last.project, last.workflow, len(found.stored), hash=last.hash)
    read = Read(
        head=head,
        workflow=at.process.runner.workflow(last.workflow),
        stored=tuple(found.stored),
        version=head.version,
        events=tuple(one if isinstance(one, Event) else None for one in found.events),
        sessions=(),
        trouble="damaged" if found.damage else "",
        why=str(found.damage or ""),
    )
    return Looked(at.process, read, found.damage)


class ViewAtEvent(msgspec.Struct, frozen=True, dict=True):
    """How a session stood behind an event."""

    view: View | None = None
    why: str = ""
    """Why that cannot be said."""
    is_undecided: bool = False
    """Whether the event was not decided yet: then it stood as before."""
    handle: Handle | None = None

    @cached_property
    def told(self) -> dict[str, Any]:
        """What the session's JSON says beside its head; without what is empty."""
        if self.view is None or self.view.status == "erased":
            return {}  # of an erased session the shape is that of an empty one
        shape = decode_plain_json(canonical_json(self.view.shape()))
        return {name: one for name, one in without_empty(shape).items() if name not in HEAD}


def standings(at: Looked, versions: Collection[int]) -> dict[int, ViewAtEvent]:
    """A session behind some of its events, by their versions; before the first it is nothing."""
    held = [one for one in versions if 0 < one <= at.holds_to]
    stood = stood_behind(at.read, held).items()
    found = {version: _view_at_event(at, version, one) for version, one in stood}
    return {one: found.get(one) or ViewAtEvent(why=at.read.why if one else "") for one in versions}


def _view_at_event(at: Looked, version: int, stood: SessionAtEvent) -> ViewAtEvent:
    session = stood.session
    if session is None:
        return ViewAtEvent(why=stood.why)
    is_undecided = session.undecided is not None and version < len(at.stored)
    if is_undecided:
        session = replace(session, undecided=None)
    try:
        one = at.read.stored[version - 1]
        handle = Handle(one.session_id, one.project, at.read.workflow, session, hash=one.hash)
        view = session_of(Step(handle, ()))
        return ViewAtEvent(view, is_undecided=is_undecided, handle=handle)
    except PreflightsError as error:
        return ViewAtEvent(why=str(error))
    except Exception as error:  # the view of a workflow, perhaps of another package
        return ViewAtEvent(why=f"its view fails: {type(error).__name__}: {error}")


class SessionAtEvent(msgspec.Struct, frozen=True):
    """A session as it stood behind an event, or why that cannot be said."""

    session: Session[Any] | None
    why: str = ""


def stood_behind(read: Read, versions: Iterable[int]) -> dict[int, SessionAtEvent]:
    """A session behind some of its events, by their versions; it is folded once."""
    covered = erased_before(read.stored)
    session: Session[Any] = Session(read.workflow.decider.initial, version=max(covered - 1, 0))
    found = {}
    for version in sorted({*versions}):
        if version <= covered:  # the erasure itself is folded from nothing
            found[version] = SessionAtEvent(None, "its payloads were erased")
            continue
        try:
            for n in range(session.version, version):
                event, one = read.events[n], read.stored[n]
                session = evolve_recorded_event(read.workflow, session, event, one)
        except (LogDamaged, SessionFaulted) as error:
            found[version] = SessionAtEvent(None, str(error))
        else:
            found[version] = SessionAtEvent(session)
    return found


def evolve_recorded_event(
    workflow: Workflow[Any], session: Session[Any], event: Event | None, one: Stored
) -> Session[Any]:
    """A session behind one more of its recorded events.

    Raises:
        LogDamaged: the event cannot be read, or cannot stand there.
        SessionFaulted: folding it raises.
    """
    where = f"session {one.session_id}"
    if event is None:
        raise LogDamaged(where, session.version + 1, "its payload cannot be read")
    if found := misplaced(session, event, one):
        raise LogDamaged(where, session.version + 1, found)
    try:
        return kernel.evolve(workflow.decider, session, event)
    except Exception as error:  # a bug of ours, or of the workflow: it is shown in its place
        name = workflow.name
        raise SessionFaulted(one.session_id, session.version + 1, error, name) from error


class Changed(msgspec.Struct, frozen=True):
    """What one event changed of how its session stands."""

    place: str
    """In words."""
    before: Any
    """A JSON value, as text where it is long; empty where there was none."""
    now: Any


def list_view_changes(before: ViewAtEvent, now: ViewAtEvent) -> list[Changed]:
    """The first of them, in the order of the session's JSON."""
    views = _comparable_view(before), _comparable_view(now)
    told = []
    for pointer, *both in islice(differences(*views), CHANGES):
        shown = [_shown_value(value_of_pointer(pointer, one)) for one in both]
        told.append(Changed(pointer_in_words(pointer, *views), *shown))
    return told


def _shown_value(one: Any) -> Any:
    if one is ABSENT:
        return ""
    is_long = len(canonical_json(one)) > VALUE_SHOWN
    return shortened(value_in_words(one), VALUE_SHOWN) if is_long else one


def _comparable_view(one: ViewAtEvent) -> Any:
    return {"status": one.view.status, **one.told} if one.view is not None else {}


# 2. What differs ----------------------------------------------------------------------------


class DivergenceSide(msgspec.Struct, frozen=True):
    """A value as it was recorded or computed, around its first difference."""

    same: str
    parts: tuple[tuple[str, bool], ...]
    """What is in the middle, in lines, each with whether only this side has it."""
    behind: str

    @property
    def differs(self) -> str:
        """All that is in the middle."""
        return "".join(text for text, _ in self.parts)


def sides(
    recorded: Any, computed: Any, pointer: str = "", most: int = LOOK
) -> tuple[DivergenceSide, DivergenceSide]:
    """Both sides of a difference, each with what only it has in the middle.

    Args:
        pointer: where the values stand.
        most: characters of the middle.
    """
    a, b = (_as_read(value_of_pointer(pointer, one)) for one in (recorded, computed))
    if a == b:  # it is in the blanks of JSON, or in what is empty there
        a, b = str(recorded), str(computed)
    start = _common(a, b)
    shorter = min(len(a), len(b)) - start
    end = min(_common(a[::-1], b[::-1]), shorter)
    middles = [shortened(text[start : len(text) - end], most) for text in (a, b)]
    one, other = _mark_lines(*middles)
    return _side(a, start, end, one), _side(b, start, end, other)


def _mark_lines(a: str, b: str) -> tuple[tuple[tuple[str, bool], ...], ...]:
    lines = a.splitlines(keepends=True), b.splitlines(keepends=True)
    if max(map(len, lines)) > LINES:
        return ((a, True),), ((b, True),)
    marked: tuple[list[tuple[str, bool]], ...] = ([], [])
    for tag, *at in SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
        for n, (first, end) in enumerate((at[:2], at[2:])):
            some = lines[n][first:end]
            marked[n].append(("".join(some if tag != "equal" else _fold(some)), tag != "equal"))
    return tuple(tuple(part for part in side if part[0]) for side in marked)


def _fold(lines: list[str]) -> list[str]:
    """Equal lines, without those in the middle of many."""
    if (left_out := len(lines) - 2 * LINES_AROUND) < LINES_AROUND:
        return lines
    note = f"… {left_out:,} lines are the same …\n"
    return [*lines[:LINES_AROUND], note, *lines[-LINES_AROUND:]]


def _common(a: str, b: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((n for n, (x, y) in pairs if x != y), min(len(a), len(b)))


def _as_read(one: Any) -> str:
    """A text as it is, but for the JSON that it is or ends with, which is read as a value."""
    words, value = split_answer(one) if isinstance(one, str) else ("", one)
    if value is None and isinstance(one, str):
        return one
    return "\n".join((*((words,) if words else ()), *list_value_lines(value)))


def indent_json(value: Any) -> str:
    """A value as people read JSON."""
    return msgspec.json.format(canonical_json(value), indent=2).decode()


def _side(text: str, start: int, end: int, parts: tuple[tuple[str, bool], ...]) -> DivergenceSide:
    before, behind = text[:start], text[len(text) - end :]
    if len(before) > AROUND:
        before = f"…{before[-AROUND:]}"
    return DivergenceSide(before, parts, shortened(behind, AROUND))


# 3. Cards ------------------------------------------------------------------------------------


class CallCard(msgspec.Struct, frozen=True, kw_only=True):
    """A call, and what its answer says."""

    call: ToldCall
    costs: tuple[Cost, ...]
    sent: tuple[tuple[SentMessage, DivergenceSide | None], ...]
    """Each new message, with what the call before said otherwise, where it had one in its place."""
    words: str
    """In front of the value of an answer."""
    said: Any
    """The value that an answer is or ends with; None of every other."""
    size: int
    """Characters of the answer."""
    is_json: bool


class SessionCard(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a model with its retries, a question as a person saw it, or a proposal."""

    versions: tuple[int, ...]
    """Of its events, in order."""
    calls: tuple[CallCard, ...] = ()
    question: Question | None = None
    shape: Mapping[str, Any] = {}
    """The session's JSON, as it was seen."""
    chosen: tuple[str, ...] = ()
    """Options of the question, or own words."""
    proposal: Mapping[str, Any] = {}
    """What was seen of what was accepted, where the shape has no values of a decision."""
    act: str = ""
    """`acceptance` and others of `Signable`; empty of a question."""
    by: TrailActor | None = None
    """None of a question that is open."""
    refused: str = ""
    is_cut: bool = False
    """Whether not all of it is on the card."""


class NearCards(msgspec.Struct, frozen=True):
    """What of a part becomes a card: what is nearest to the event that is shown."""

    calls: list[ToldCall]
    settled: list[pictures.TimelineMark]
    """Events that answer a question, or settle a proposal."""
    left_out: int
    is_last: bool
    """Whether the part ends with the session."""


def choose_cards(at: Looked, part: pictures.TimelinePart, version: int) -> NearCards:
    """At most `CARDS` of a part."""
    marks = {mark.version: mark for mark in part.marks}
    told = {n: one for one in list_told_calls(at.read) if (n := one.numbers.version) in marks}
    settled = {one: mark for one, mark in marks.items() if is_settled(at.read.events[one - 1])}
    begins = sorted({*told, *settled})
    first = max(min(bisect_left(begins, version) - CARDS // 2, len(begins) - CARDS), 0)
    near = begins[first : first + CARDS]
    return NearCards(
        [told[one] for one in near if one in told],
        [settled[one] for one in near if one in settled],
        len(begins) - len(near),
        is_last=part.last == len(at.stored),
    )


def list_cards(
    at: Looked, near: NearCards, stood: Mapping[int, ViewAtEvent], prices: Sequence[Price]
) -> list[SessionCard]:
    """The cards in their order.

    Args:
        stood: the session before each event that settles something, and at its end.
    """
    texts = sum(min(len(one.messages), MESSAGES) + 1 for one in near.calls)
    most = max(min(LOOK, TEXTS // max(texts, 1)), AROUND // 2)
    found = []
    for _, step in groupby(near.calls, lambda one: one.numbers.call.rpartition(".")[0] or id(one)):
        cards = tuple(_call_card(one, prices, most) for one in step)
        behind = [(one.call.answered or 0, *one.call.followed) for one in cards]
        versions = [one.call.numbers.version for one in cards]
        found.append(SessionCard(versions=(*versions, *chain(*behind)), calls=cards))
    room = TEXTS // (len(near.settled) + 1)
    found += (_fit_card(card, room) for card in _list_seen_cards(at, near.settled, stood))
    last = len(at.stored)
    view = stood[last].view
    if view and view.questions and near.is_last and view.status != "faulted":
        card = SessionCard(versions=(last,), question=view.questions[0], shape=view.shape())
        found.append(_fit_card(card, room))
    return sorted(found, key=lambda card: card.versions[0])


def is_settled(event: Event | None) -> bool:
    """Whether it answers a question, or settles a proposal."""
    return isinstance(event, Answers | Signable) and not isinstance(event, SessionErased)


def _call_card(call: ToldCall, prices: Sequence[Price], most: int) -> CallCard:
    sent = []
    for one in call.messages[-MESSAGES:]:
        differs = one.before not in ("", one.text)
        side = sides(one.before, one.text, most=most)[1] if differs else None
        sent.append((replace(one, text=shortened(_as_read(one.text), most)), side))
    words, said = split_answer(call.answer)
    tools = tuple((name, text_in_words(given, LOOK)) for name, given in call.tools[:TOOLS])
    return CallCard(
        call=replace(call, answer=shortened(call.answer, most), tools=tools),
        costs=call_costs((call.numbers,), prices),
        sent=tuple(sent),
        size=len(call.answer),
        is_json=said is not None,
        words=shortened(words, most),
        said=said if len(call.answer) <= most else None,
    )


def _fit_card(card: SessionCard, room: int) -> SessionCard:
    """The card, without what its writer says beside a question where it is too long for a page."""
    if len(canonical_json((card.shape, card.proposal, card.question, card.chosen))) <= room:
        return card
    question = card.question and replace(
        card.question,
        question=shortened(card.question.question, AROUND),
        options=tuple(shortened(one, AROUND // 2) for one in card.question.options[:MESSAGES]),
    )
    chosen = tuple(shortened(one, AROUND // 2) for one in card.chosen[:MESSAGES])
    return replace(card, question=question, chosen=chosen, shape={}, proposal={}, is_cut=True)


def _list_seen_cards(
    at: Looked, marks: Sequence[pictures.TimelineMark], stood: Mapping[int, ViewAtEvent]
) -> Iterator[SessionCard]:
    """What people answered and settled, each as they saw it."""
    for mark in marks:
        new = at.read.events[mark.version - 1]
        before = stood[mark.version - 1]
        if before.view is None or before.handle is None:
            continue
        batch = takewhile(lambda one: isinstance(one, Decision), at.read.events[mark.version :])
        decisions = [one for one in batch if isinstance(one, Decision)]
        shape = before.view.shape()
        said = refusals(before.view.workflow, decisions, partial(asked_in, before.handle))
        card = SessionCard(
            versions=(mark.version,),
            shape=shape,
            by=mark.actor and replace(mark.actor, name=shortened(mark.actor.name, NAME_SHOWN)),
            refused="; ".join(one.message for one in said if one.key is None),
        )
        if isinstance(new, Signable):
            state = before.handle.session.state
            seen = {} if shape.get("provenance") else at.read.workflow.shown.proposal(state, new)
            said = without_empty(decode_plain_json(canonical_json(seen)))
            plan = before.told.get("artifact", {}).get("payload", {})
            proposal = {name: one for name, one in said.items() if name not in NAMED} | plan
            yield replace(card, act=new.act, proposal=proposal)
            continue
        questions = {one.id: one for _, one in asked_in(before.handle)}
        for given in answers_in(new) if isinstance(new, Input) else ():
            key, _, own = given.key.partition("__")
            if key in questions and own in ("", "other"):
                why = "; ".join(one.message for one in said if one.key == given.key)
                is_open = questions[key] in before.view.questions[:1]
                yield replace(
                    card,
                    question=questions[key],
                    shape=shape if is_open else {},
                    chosen=given.values,
                    refused=why,
                )
