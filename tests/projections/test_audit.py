"""Every step of a session, with who is behind it."""

from __future__ import annotations

from msgspec.structs import replace

from preflights_es.core.completions import CompletionReceived
from preflights_es.core.events import Actor
from preflights_es.projections.audit import Wanted, steps, wanted
from tests.projections.recording import golden, goldens
from tests.projections.test_decisions import read


def test_every_event_is_a_step_and_every_decision_names_its_input() -> None:
    for events in goldens():
        found = list(steps(read(events)))
        assert [step.stored for step in found] == list(events)
        for step in found:
            if step.role == "input":
                assert step.actor is not None
                assert step.actor.kind == step.stored.actor_kind
                assert step.follows is None
            else:
                assert step.actor is None
                assert step.follows is not None
                assert events[step.follows - 1].input_id is not None
                assert all(e.input_id is None for e in events[step.follows : step.stored.version])


def test_a_response_is_the_models_whoever_recorded_it() -> None:
    found = list(steps(read(golden("a_model_leads")[0])))
    responses = [step for step in found if isinstance(step.event, CompletionReceived)]
    assert responses
    for step in responses:
        assert step.model is not None
        assert step.model.provider
        assert step.actor is not None
        assert step.actor.kind != "user"


def test_of_what_was_erased_the_kind_of_the_actor_is_left() -> None:
    session = read(golden("keyword_skips_the_generic_question")[0])
    gone = replace(
        session,
        stored=tuple(replace(one, data=None, salt=None) for one in session.stored),
        events=tuple(None for _ in session.events),
    )
    found = list(steps(gone))
    assert len(found) == len(session.stored)
    assert {step.actor for step in found if step.role == "input"} <= {
        *(Actor("user"), Actor("agent"), Actor("script"))
    }
    assert all(step.event is None for step in found)


def test_an_actor_is_asked_for_by_kind_by_name_or_by_both() -> None:
    session = read(golden("a_script_proposes_and_a_person_confirms")[0])
    names = {step.actor for step in steps(session) if step.actor}
    person = next(actor for actor in names if actor.kind == "user")
    by_kind = list(wanted(steps(session), Wanted(actor="USER")))
    assert by_kind
    assert by_kind == list(wanted(steps(session), Wanted(actor=f"user:{person.name}")))
    assert {step.actor for step in by_kind if step.role == "input"} == {person}
    assert any(step.role == "decision" for step in by_kind), "and what followed"
    assert list(wanted(steps(session), Wanted(actor="nobody"))) == []


def test_a_time_is_that_of_the_store_and_both_ends_count() -> None:
    session = read(golden("keyword_skips_the_generic_question")[0])
    times = [step.stored.recorded_at for step in steps(session)]
    middle = times[len(times) // 2]
    since = list(wanted(steps(session), Wanted(since=middle)))
    until = list(wanted(steps(session), Wanted(until=middle)))
    assert len(since) == sum(at >= middle for at in times)
    assert len(until) == sum(at <= middle for at in times)
    assert [s.stored.version for s in wanted(steps(session), Wanted(upto=3))] == [1, 2, 3]
