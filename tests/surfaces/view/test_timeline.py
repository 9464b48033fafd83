"""Lanes, marks, and how a session stood at any of its events."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from preflights_es.features.calls.domain.events import CallKept
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import (
    Actor,
    ArtifactDue,
    ArtifactRemoved,
    ArtifactWritten,
    SessionErased,
)
from preflights_es.kernel.ports import AppendBatch, Stored
from preflights_es.kernel.session import decide
from preflights_es.projections.projection import Read
from preflights_es.projections.usage import Price
from preflights_es.store.stored_events import Codec, erased_before, sealed
from preflights_es.surfaces.view.pictures import (
    LANES,
    PART,
    STEP,
    SessionTimeline,
    TimelineMark,
    TimelinePart,
    part_of,
)
from preflights_es.surfaces.view.recorded_session import stood_behind
from tests.fixed import salt
from tests.projections.recording import golden, goldens
from tests.projections.test_decisions import read
from tests.projections.test_usage import price

SECOND = 1_000_000  # microseconds


def part(session: Read, first: int, prices: Sequence[Price] = ()) -> TimelinePart:
    return SessionTimeline.of(session).part(first, prices)


def marks(session: Read) -> tuple[TimelineMark, ...]:
    return part(session, 1).marks


def timed(session: Read, *at: float) -> Read:
    """The same, its events recorded at these seconds; the last holds for all behind."""
    times = [*at, *[at[-1]] * (len(session.stored) - len(at))]
    told = zip(session.stored, times, strict=True)
    stored = (replace(one, recorded_at=int(t * SECOND)) for one, t in told)
    return replace(session, stored=tuple(stored))


# 1. Marks ------------------------------------------------------------------------------------


def test_at_every_event_of_every_golden_session_its_mark_and_state_stand() -> None:
    for events in goldens():
        found = part(read(events), 1)
        assert [mark.version for mark in found.marks] == [one.version for one in events]
        places = [mark.x for mark in found.marks]
        assert all(b - a >= STEP for a, b in pairwise(places))
        assert all(mark.x + mark.width <= found.width for mark in found.marks)
        assert {mark.lane for mark in found.marks} <= {*LANES}
    for events in goldens():
        session = read(events)
        if erased_before(events) or session.trouble:
            continue
        stood = stood_behind(session, range(len(events), 0, -1))
        assert [stood[n].session for n in sorted(stood)] == [*session.sessions]


def test_a_lane_says_who_was_at_work() -> None:
    lanes: dict[tuple[object, str | None], str] = {}
    for events in goldens():
        session = read(events)
        for mark, event, one in zip(marks(session), session.events, events, strict=True):
            lanes.setdefault((type(event), one.actor_kind), mark.lane)
    for (kind, actor), lane in lanes.items():
        if kind in (CompletionRequested, CompletionReceived, CompletionFailed, CallKept):
            assert lane == "model"
        elif kind in (ArtifactDue, ArtifactWritten, ArtifactRemoved):
            assert lane == "files"
        else:
            expected = {None: "rules", "user": "person"}.get(actor, "agent")
            assert lane == expected, (kind, actor)


def test_a_call_has_its_cost_and_a_bar_that_ends_before_its_outcome() -> None:
    session = read(golden("a_model_leads")[0])
    called = [one.call for one in marks(session) if one.call]
    assert called[0].input_tokens is not None
    known = replace(
        price(model=called[0].model), provider=called[0].provider, since=0, currency="EUR"
    )
    priced = [mark for mark in part(session, 1, [known]).marks if mark.costs]
    assert [mark.call for mark in priced] == called
    assert {cost.currency for mark in priced for cost in mark.costs} == {"EUR"}
    assert not any(mark.costs for mark in marks(session))
    calls = [mark for mark in marks(session) if mark.call is not None]
    assert len(calls) == sum(isinstance(one, CompletionRequested) for one in session.events)
    by_x = {mark.x: mark for mark in marks(session)}
    for mark in calls:
        assert mark.x < mark.x + mark.width <= min(x for x in by_x if x > mark.x)
        assert (mark.call is not None, mark.is_open, mark.is_bad) == (True, False, False)
    asked = next(n for n, e in enumerate(session.events) if isinstance(e, CompletionRequested))
    begun = replace(session, stored=session.stored[: asked + 1], events=session.events[: asked + 1])
    found = part(begun, 1)
    last = found.marks[-1]
    assert last.is_open
    assert found.width - last.x - last.width < STEP


def test_bars_of_very_short_calls_are_as_wide_as_they_took() -> None:
    session = timed(read(golden("a_model_leads")[0]), 0)
    took = iter((5, 1))
    events = tuple(
        replace(one, latency_ms=next(took)) if isinstance(one, CompletionReceived) else one
        for one in session.events
    )
    first, second = (mark.width for mark in marks(replace(session, events=events)) if mark.call)
    assert round(first / second, 1) == 5


def test_what_was_refused_or_failed_is_marked_and_of_an_erased_session_nothing_is_said() -> None:
    found = map(read, golden("a_model_is_asked_once_more"))
    refused = [mark for one in found for mark in marks(one) if mark.call and mark.is_bad]
    assert {mark.call.judged for mark in refused if mark.call} - {"", "accepted"}
    failed = marks(read(golden("a_model_fails_and_the_rules_go_on")[0]))
    assert any(mark.is_bad for mark in failed if mark.name == "model failed")
    gone = read(erased(read(golden("a_model_leads")[0])))
    stood = stood_behind(gone, (1, len(gone.stored)))
    assert stood[1].why == "its payloads were erased"
    last = stood[len(gone.stored)].session
    assert last is not None
    assert last.closed == "erased"


# 2. Times ------------------------------------------------------------------------------------


def test_no_mark_moves_back_and_three_days_of_waiting_are_folded() -> None:
    session = read(golden("a_model_leads")[0])
    places = [mark.x for mark in part(timed(session, 100, 50, 0, 200), 1).marks]
    assert places == sorted(places)
    odd: Any = "noon"
    stored = (replace(session.stored[0], recorded_at=odd), *session.stored[1:])
    found = part(replace(session, stored=stored), 1)
    assert found.marks[0].at is None
    assert found.marks[0].x < found.marks[1].x
    found = part(timed(session, 0, 0, 3, 3, 3, 3 + 3 * 86_400), 1)
    (gap,) = found.gaps
    assert gap.seconds == 3 * 86_400
    assert found.marks[4].x < gap.x < gap.x + gap.width < found.marks[5].x
    assert found.width < 1_000
    last = [tick for tick in found.ticks if tick.is_new_day][-1]
    assert (last.x, last.at) == (found.marks[5].x, found.marks[5].at)


def test_times_that_would_repeat_are_said_as_what_passed() -> None:
    session = read(golden("a_model_leads")[0])
    times = [0.1 + 0.1 * n for n in range(len(session.stored))]
    found = part(timed(session, *times), 1)
    told = [(tick.at // SECOND) if tick.since is None else tick.since for tick in found.ticks]
    assert found.ticks[0].since is None
    assert any(tick.since for tick in found.ticks)
    assert all(a != b for a, b in pairwise(told))
    assert len(part(timed(session, 0), 1).ticks) == 1


# 3. How a session stood ----------------------------------------------------------------------


def erased(session: Read) -> tuple[Stored, ...]:
    new = SessionErased(at=1, actor=Actor("user", "Ada"))
    codec, head = Codec(session.workflow.decider), session.head
    drafts = (
        codec.draft(new, "erasing"),
        *map(codec.draft, decide(session.workflow.decider, session.sessions[-1], new)),
    )
    batch = AppendBatch(
        session_id=head.session_id,
        project=head.project,
        workflow=head.workflow,
        expected_version=head.version,
        expected_hash=head.hash,
        events=drafts,
    )
    before = (replace(one, data=None, salt=None) for one in session.stored)
    return (*before, *sealed(batch, 1, salt))


def test_an_event_that_cannot_be_read_stops_the_fold_there_alone() -> None:
    session = read(golden("a_model_leads")[0])
    broken = replace(session, events=(*session.events[:3], None, *session.events[4:]))
    found = stood_behind(broken, (3, 4, 9))
    assert found[3].session == session.sessions[2]
    assert all("cannot be read" in found[n].why for n in (4, 9))


def test_parts_begin_at_every_so_many_events() -> None:
    assert [part_of(n) for n in (0, 1, PART, PART + 1, 3 * PART)] == [
        *(1, 1, 1, PART + 1),
        2 * PART + 1,
    ]
