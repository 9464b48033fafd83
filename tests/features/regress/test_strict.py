"""A strict run: exactly what was planted in recorded sessions is found, with its cause.

No session ends the run, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    ClarificationAnswersGiven,
    ClarificationQuestionAsked,
)
from preflights_es.features.regress.cases import DIFFERENCES_MAX
from preflights_es.features.regress.change import RunChange
from preflights_es.features.regress.regression import Regression
from preflights_es.features.regress.results import Case, Cause, SessionLeftOut
from preflights_es.kernel.events import InputQuarantined
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import jsonl
from preflights_es.use.prompt_changes import PromptChange
from preflights_es.use.replays import own_code
from tests import fuzzing, toy
from tests.each import each
from tests.features.regress.sessions import (
    Events,
    chained,
    edited,
    judged,
    led,
    many,
    place,
    regression_of,
    requested,
    with_prompt,
)
from tests.history.test_replayer import recorded as said
from tests.store.given import resealed

EACH: Final = 20


def _prompt(events: Events) -> Events:
    return edited(events, requested(events), with_prompt("Another character."))


def _model(events: Events) -> Events:
    return edited(events, requested(events), lambda one: one.update(model="simllm/0"))


def _parameter(events: Events) -> Events:
    sent = [["seed", "77"], ["faults", "none"]]
    return edited(events, requested(events), lambda one: one.update(parameters=sent))


def _answer(events: Events) -> Events:
    def edit(payload: dict[str, Any]) -> None:
        payload["answers"][0]["values"] = ["What was never answered"]

    return edited(events, place(events, ClarificationAnswersGiven.tag), edit)


def _swapped(events: Events) -> Events:
    at = place(events, "led.response_accepted.v1")
    return chained([*events[:at], events[at + 1], events[at], *events[at + 2 :]])


def _shorter(events: Events) -> Events:
    return chained(events[:-1])


def _longer(events: Events) -> Events:
    return chained([*events, events[-1]])


def _rule(events: Events) -> Events:
    """As rules of before recorded it, which counted turns otherwise."""
    at = place(events, ClarificationQuestionAsked.tag)
    return edited(events, at, lambda one: one.update(turn=7))


PLANTED: Final[dict[str, tuple[Callable[[Events], Events], str]]] = {
    "prompt character": (_prompt, "prompt"),
    "model": (_model, "model"),
    "parameter": (_parameter, "parameter"),
    "answer": (_answer, "code or data"),
    "rule": (_rule, "code or data"),
    "swapped events": (_swapped, "code or data"),
    "last event gone": (_shorter, "code or data"),
    "extra event": (_longer, "code or data"),
}


@pytest.mark.slow("whole runs")
def test_exactly_what_was_planted_is_found_and_attributed() -> None:
    sessions = list(many(1_000))
    fitting = (i for i, one in enumerate(sessions) if _fits(one))
    planted: dict[str, str] = {}
    for plant, cause in PLANTED.values():
        for _ in range(EACH):
            at = next(fitting)
            sessions[at] = tuple(plant(sessions[at]))
            planted[sessions[at][0].session_id] = cause
    strict = Regression(WORKFLOWS, own_code())
    cases = {one[0].session_id: strict.case(one) for one in sessions}
    found = {id_ for id_, case in cases.items() if outcome(case) != "same"}
    assert found == planted.keys()

    kinds = {id_: {cause.kind for cause in causes(cases[id_])} for id_ in found}
    assert not [id_ for id_ in found if kinds[id_] - {planted[id_], "unexplained"}]
    assert sum(kinds[id_] == {planted[id_]} for id_ in found) >= 0.95 * len(planted)


def _fits(events: Events) -> bool:
    """Answered once: a rule that is planted in one question differs in no other."""
    asked = sum(e.type == ClarificationQuestionAsked.tag for e in events)
    return asked == 1 and any(e.type == ClarificationAnswersGiven.tag for e in events)


def outcome(case: Case | SessionLeftOut) -> str:
    return case.outcome if isinstance(case, Case) else case.why


def causes(case: Case | SessionLeftOut) -> tuple[Cause, ...]:
    return case.causes if isinstance(case, Case) else ()


# One by one ----------------------------------------------------------------------------------


def test_a_session_that_today_s_code_decides_alike_is_the_same() -> None:
    events = led("clarification", "Add login", 3)
    case = judged(events)
    assert (case.outcome, case.causes, case.differences, case.message) == ("same", (), (), "")
    assert (case.session_id, case.workflow, case.source) == (
        events[0].session_id,
        "clarification",
        "log",
    )
    assert case.head == events[-1].hash.hex()


def test_a_decision_that_differs_is_code_or_data() -> None:
    case = judged(_rule(led("clarification", "Add login", 3)))
    assert [cause.kind for cause in case.causes] == ["code or data"]
    (difference,) = case.differences
    assert (difference.type, difference.pointer) == (ClarificationQuestionAsked.tag, "/turn")
    assert (difference.expected, difference.actual) == (7, 1)
    assert (case.outcome, case.difference_count) == ("changed", 1)


def test_of_many_differences_the_first_are_shown_and_all_are_counted() -> None:
    events = led("extraction", "taxes !high\nIdee: x", 3)

    def edit(payload: dict[str, Any]) -> None:
        payload["items"] = [{"number": n, "type": "idea", "title": "x"} for n in range(9)]
        payload["items"] = [{**one, "source": "extracted"} for one in payload["items"]]

    case = judged(edited(events, place(events, "extraction.items_extracted.v1"), edit))
    assert len(case.differences) == DIFFERENCES_MAX < case.difference_count


def test_what_does_not_verify_is_damaged_data() -> None:
    events = led("clarification", "Add login", 3)
    broken = (events[0], *events[2:])
    case = judged(broken)
    assert (case.outcome, [cause.kind for cause in case.causes]) == ("damaged", ["data"])
    assert "event 2" in case.message
    assert judged(()).outcome == "damaged"
    assert judged((replace(events[0], data=None), *events[1:])).outcome == "damaged"


def test_a_session_from_the_future_cannot_be_read() -> None:
    events = led("clarification", "Add login", 3)
    newer = chained([*events, replace(events[-1], type="clarification.foreseen.v1")])
    assert "upgrade preflights" in judged(newer).message


def test_a_recorded_bug_that_is_raised_again_is_no_difference() -> None:
    broken = {"toy": toy.workflow("decide", "!")}
    events = said("a", "!", workflow=toy.workflow("decide", "!"))
    case = Regression(broken, own_code()).case(events)
    assert outcome(case) == "faulted"
    assert causes(case) == ()
    fixed = Regression({"toy": toy.WORKFLOW}, own_code()).case(events)
    assert (outcome(fixed), causes(fixed)[0].kind) == ("open", "code or data")


def test_a_bug_of_today_is_faulted() -> None:
    events = said("a", "!")
    broken = {"toy": toy.workflow("decide", "!")}
    case = Regression(broken, own_code()).case(events)
    assert isinstance(case, Case)
    assert (case.outcome, [one.kind for one in case.causes]) == ("faulted", ["code or data"])
    assert case.message.startswith("event 3: Broken: cannot decide !")
    assert "\n" not in case.message


def test_what_cannot_be_judged_is_left_out() -> None:
    strict = Regression({}, own_code())
    left = strict.case(said("a"), source="a.jsonl")
    assert left == SessionLeftOut(
        session_id=said("a")[0].session_id,
        source="a.jsonl",
        why="the workflow toy (upgrade preflights) is not here",
    )


# Hostile sessions ----------------------------------------------------------------------------


CHANGES = (
    None,
    RunChange(provider="sim", seed=3),
    RunChange(prompts=(PromptChange("clarify", "", "x"), PromptChange("extract", "", "y")), seed=4),
    RunChange(provider="mock"),
)


@pytest.mark.slow("whole runs")
@each("change", CHANGES)
def test_no_session_ends_the_run(change: RunChange | None) -> None:
    regression = regression_of(change)
    rng = Random(13)
    for _ in range(150):
        events = fuzzing.session(rng)
        for _ in range(rng.choice((1, 1, 3))):
            events = rng.choice(fuzzing.KEEPING)(rng, events) or events
        found = regression.case(resealed(events))
        assert msgspec.json.decode(msgspec.json.encode(found))["session_id"]


def test_two_inputs_of_one_id_are_damaged_data() -> None:
    """Of which one was set aside: the others of its id would be found, and not recorded twice."""
    name = "an_input_that_could_not_be_decided.jsonl"
    lines = (fuzzing.REPLAYS / "clarification" / name).read_bytes().splitlines()
    events = list(jsonl.stored(lines, name))
    at = place(events, InputQuarantined.tag) - 1
    events[at] = msgspec.structs.replace(events[at], input_id=events[0].input_id)
    case = judged(chained(events), RunChange(provider="sim"))
    assert (case.outcome, case.causes[0].kind) == ("damaged", "data")
