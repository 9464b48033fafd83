"""Every step of a session, with who is behind it."""

from __future__ import annotations

from msgspec.structs import replace

from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.projections.audit import TrailActor, TrailFilter, filter_wanted_steps, steps
from tests.each import each
from tests.projections.recording import golden, goldens
from tests.projections.test_decisions import read


def test_every_event_is_a_step_and_every_decision_names_its_input() -> None:
    for events in goldens():
        found = list(steps(read(events)))
        assert [step.stored for step in found] == list(events)
        for step in found:
            if step.role == "input":
                assert step.actor is not None
                is_answer = isinstance(step.event, (CompletionReceived, CompletionFailed))
                assert step.actor.kind == ("model" if is_answer else step.stored.actor_kind)
                assert step.follows is None
            else:
                assert step.actor is None
                assert step.follows is not None
                assert events[step.follows - 1].input_id is not None
                assert all(e.input_id is None for e in events[step.follows : step.stored.version])


def test_a_response_is_the_models_for_any_recorder() -> None:
    found = list(steps(read(golden("a_model_leads")[0])))
    responses = [step for step in found if isinstance(step.event, CompletionReceived)]
    assert responses
    for step in responses:
        assert step.model is not None
        assert step.model.provider
        assert step.actor == TrailActor("model", step.model.model)
        assert step.stored.actor_kind == "script", "what the log says of it stays as it is"


def test_of_what_was_erased_the_kind_of_the_actor_is_left() -> None:
    session = read(golden("a_model_leads")[0])
    gone = replace(
        session,
        stored=tuple(replace(one, data=None, salt=None) for one in session.stored),
        events=tuple(None for _ in session.events),
    )
    found = list(steps(gone))
    assert all(step.event is None for step in found)
    before = [step.actor.kind for step in steps(session) if step.actor]
    assert [step.actor for step in found if step.role == "input"] == list(map(TrailActor, before))
    assert {"model", "user"} <= set(before)
    assert list(filter_wanted_steps(iter(found), TrailFilter(actor="model")))


def test_an_actor_is_asked_for_by_kind_by_name_or_by_both() -> None:
    session = read(golden("a_script_proposes_and_a_person_confirms")[0])
    names = {step.actor for step in steps(session) if step.actor}
    person = next(actor for actor in names if actor.kind == "user")
    by_kind = list(filter_wanted_steps(steps(session), TrailFilter(actor="USER")))
    assert by_kind
    assert by_kind == list(
        filter_wanted_steps(steps(session), TrailFilter(actor=f"user:{person.name}"))
    )
    assert {step.actor for step in by_kind if step.role == "input"} == {person}
    assert any(step.role == "decision" for step in by_kind), "and what followed"
    assert list(filter_wanted_steps(steps(session), TrailFilter(actor="nobody"))) == []


def test_what_a_model_said_is_found_only_as_the_models() -> None:
    session = read(golden("a_model_leads")[0])
    responses = [s for s in steps(session) if isinstance(s.event, CompletionReceived)]
    model = responses[0].model
    assert model is not None
    for said in ("model", "MODEL", f"model:{model.model}", f"model:{model.provider}", model.model):
        theirs = [
            s
            for s in filter_wanted_steps(steps(session), TrailFilter(actor=said))
            if s.role == "input"
        ]
        assert theirs == responses, said
    for said in ("user", "agent", "script", f"script:{model.model}"):
        theirs = list(filter_wanted_steps(steps(session), TrailFilter(actor=said)))
        assert not [s for s in theirs if s in responses], said


@each("name", ["user", "User", "agent:Ada", "user:"])
def test_a_word_that_is_a_kind_is_not_a_name(name: str) -> None:
    session = read(golden("keyword_skips_the_generic_question")[0])
    named = TrailActor("script", name)
    found = [replace(step, actor=step.actor and named) for step in steps(session)]
    for said in ("user", "agent", "model", "user:Ada", "agent:Ada", name):
        assert list(filter_wanted_steps(iter(found), TrailFilter(actor=said))) == [], said
    for said in ("script", f"script:{name}", f"SCRIPT:{name.upper()}"):
        assert list(filter_wanted_steps(iter(found), TrailFilter(actor=said))) == found, said


def test_a_time_is_that_of_the_store_and_both_ends_count() -> None:
    session = read(golden("keyword_skips_the_generic_question")[0])
    times = [step.stored.recorded_at for step in steps(session)]
    middle = times[len(times) // 2]
    since = list(filter_wanted_steps(steps(session), TrailFilter(since=middle)))
    until = list(filter_wanted_steps(steps(session), TrailFilter(until=middle)))
    assert len(since) == sum(at >= middle for at in times)
    assert len(until) == sum(at <= middle for at in times)
    assert [s.stored.version for s in filter_wanted_steps(steps(session), TrailFilter(upto=3))] == [
        1,
        2,
        3,
    ]


def test_a_step_whose_time_was_damaged_is_hidden_by_no_time() -> None:
    session = read(golden("keyword_skips_the_generic_question")[0])
    *others, last = steps(session)
    lost = replace(last, stored=replace(last.stored, recorded_at="yesterday"))
    for want in (TrailFilter(since=2**62), TrailFilter(until=0)):
        assert list(filter_wanted_steps(iter([*others, lost]), want)) == [lost]
