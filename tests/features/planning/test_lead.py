"""A model that plans, a person who chooses, and the rules behind both."""

from __future__ import annotations

from typing import Any

from preflights_es.features.planning.domain import state
from preflights_es.features.planning.domain.decide import PACKAGE
from preflights_es.features.planning.domain.events import PlanAsked, PlanningChangeRefused
from preflights_es.kernel.completions import CompletionRequested, prompt
from preflights_es.kernel.errors import LLMAPIError, LLMTimeoutError
from preflights_es.kernel.events import SourceSession, sources
from preflights_es.kernel.lead import MISMATCH, FellBack, Lead, ResponseRejected, StepStalled
from preflights_es.providers.faults import FaultConfig
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.use.leads import bank
from tests.each import each
from tests.features.planning.cases import (
    BILL,
    CALL,
    NINE,
    REPORT,
    THREE,
    Planned,
    answer,
    busy,
    situation,
    task,
)

BOTH = answer("a.1", "a.2", "a.3")
DOWN = LLMAPIError("down")
BY_RULES = ("a.1", ("a.2", "a.3"), 15)


def refused(plan: Planned) -> tuple[str, str]:
    (one,) = plan.last
    assert isinstance(one, PlanningChangeRefused), one
    return one.reason, one.task_id


# 1. A usable answer --------------------------------------------------------------------------


def test_the_rules_plan_without_a_call() -> None:
    plan = Planned(rules=True)
    assert plan.chosen == BY_RULES
    assert (plan.plan.source, plan.view.calls, plan.status) == ("rules", 0, "done")
    assert plan.plan.reasoning == "“Task a.1” comes first: it is important."
    assert plan.replayed() == "identical"


def test_a_model_chooses_and_the_program_places() -> None:
    plan = Planned(answer("a.1", "a.3", buffer_minutes=20, reasoning="The report."))
    assert plan.chosen == ("a.1", ("a.3",), 20)
    assert (plan.plan.source, plan.plan.reasoning) == ("model", "The report.")
    assert [(b.start, b.end) for b in plan.plan.blocks] == [(NINE, 630), (650, 665)]
    assert (plan.view.calls, plan.replayed()) == (1, "identical")


@each(("said", "kept"), [(0, 0), (0.2, 1), (9.5, 10), (12.2, 13), (31, 31)])
@each(("words", "line"), [("", ""), ("First\nthis.", "First this.")])
def test_a_model_says_pauses_and_words(said: float, kept: int, words: str, line: str) -> None:
    plan = Planned(answer("a.1", "a.3", buffer_minutes=said, reasoning=words))
    assert (plan.chosen, plan.plan.reasoning) == (("a.1", ("a.3",), kept), line)
    assert (plan.view.calls, plan.replayed()) == (1, "identical")


def test_a_mini_without_room_is_asked_for_once_more() -> None:
    plan = Planned(BOTH, answer("a.1"), day=situation(*THREE, end=NINE + 100))
    (rejected,) = plan.events(ResponseRejected)
    assert [v.pointer for v in rejected.violations] == ["/mini_task_ids/0", "/mini_task_ids/1"]
    assert plan.chosen == ("a.1", (), 0)


def test_the_whole_request_stands_in_the_log() -> None:
    plan = Planned(BOTH, day=situation(*THREE, busy=busy(600, 660)), language="de")
    (request,) = plan.script.requests
    system, said = request.messages
    assert system.content == prompt(PACKAGE, "planning.v1").text
    head, _, day = said.content.partition("\nDay:\n")
    assert head == (
        "Now: 2026-11-23T08:58+01:00 (Europe/Berlin)\nLanguage: de\nWindow: 09:00-18:00\n"
    )
    assert '"busy":[[600,660]]' in day
    assert "s-1" not in day, "no source is sent"
    (first,) = plan.events(PlanAsked)
    assert sources(first) == (SourceSession("s-1", 2, "00"),)
    assert plan.events(CompletionRequested) == [request]


# 2. An answer that cannot be used ------------------------------------------------------------


@each(
    ("given", "place"),
    [
        (answer("a.9"), "/focus_task_id"),
        (answer("a.1", "a.9"), "/mini_task_ids/0"),
        (answer("a.1", "a.2", "a.2"), "/mini_task_ids/1"),
        (answer("a.2", "a.2"), "/mini_task_ids/0"),
        (answer("a.1", "a.1"), "/mini_task_ids/0"),
        (answer(None), "/focus_task_id"),
        (answer(None, "a.2"), "/focus_task_id"),
    ],
)
def test_what_breaks_a_rule_is_asked_for_once_more(given: dict[str, Any], place: str) -> None:
    plan = Planned(given, BOTH)
    again = plan.script.requests[1]
    (rejected,) = plan.events(ResponseRejected)
    assert [v.pointer for v in rejected.violations] == [place]
    named = "; ".join(f"{v.pointer} {v.message}" for v in rejected.violations)
    assert again.messages[-1].content == MISMATCH.format(named)
    assert (again.attempt, plan.chosen, plan.plan.source) == (2, BY_RULES, "model")
    assert plan.replayed() == "identical"


def test_only_ids_and_time_are_checked() -> None:
    day = situation(task("a.1", 90), task("a.2", 10, importance="high"), task("a.3", 60))
    plan = Planned(answer("a.2", "a.1", "a.3"), day=day)
    assert (plan.chosen, plan.view.calls) == (("a.2", ("a.1", "a.3"), 15), 1)


def test_a_focus_that_is_too_long_is_planned_in_part() -> None:
    plan = Planned(answer("a.1"), day=situation(*THREE, end=NINE + 45))
    assert [(b.task_id, b.start, b.end, b.part) for b in plan.plan.blocks] == [
        ("a.1", NINE, NINE + 45, True)
    ]


def test_no_focus_is_right_where_no_time_is_free() -> None:
    plan = Planned(answer(None), day=situation(*THREE, end=NINE))
    assert (plan.plan.blocks, plan.plan.warnings, plan.status) == ((), ("no_room",), "stopped")


@each(
    ("replies", "reason"),
    [
        (("no", "no"), "invalid_json"),
        ((answer("a.9"), answer("a.9")), "schema_violation"),
        ((DOWN, DOWN), "api_error"),
        ((LLMTimeoutError("slow"), "no"), "invalid_json"),
    ],
)
def test_a_model_that_fails_gives_way_to_the_rules(replies: Any, reason: str) -> None:
    plan = Planned(*replies, language="de")
    (fell,) = plan.events(FellBack)
    assert fell.reason == reason
    assert (plan.chosen, plan.plan.source, plan.view.calls) == (BY_RULES, "rules", 2)
    assert plan.view.warnings[0].startswith("KI nicht verfügbar. Selbst auswählen? (")
    assert plan.replayed() == "identical"


def test_it_falls_back_for_this_plan_and_not_for_the_day_or_another_lead() -> None:
    plan = Planned("no", "no", BOTH, BOTH)
    plan.again(lead=plan.lead)
    assert (plan.plan.source, plan.view.warnings) == ("model", ())
    plan.again(situation(*THREE, start=700), plan.lead)
    assert len(plan.script.requests[-1].messages) == 2, "no conversation stands behind it"
    assert plan.replayed() == "identical"
    other = Planned("no", "no", BOTH)
    other.led_by(Lead("script", "m-2"))
    assert other.plan.source == "model"


def test_what_stopped_a_plan_says_nothing_of_the_next_one() -> None:
    fallen, stalled = Planned("no", "no"), Planned(DOWN, DOWN, strict=True)
    for plan in (fallen, stalled):
        assert plan.view.warnings
        plan.again()
        assert (plan.status, plan.view.warnings) == ("done", ())


def test_a_strict_session_waits_and_is_resumed() -> None:
    plan = Planned(DOWN, DOWN, BOTH, strict=True)
    assert (plan.status, plan.state.plan) == ("waiting", None)
    assert plan.events(StepStalled)
    plan.retry()
    assert (plan.status, plan.plan.source) == ("done", "model")


def test_no_model_is_asked_where_nothing_is_open_or_the_first_could_plan() -> None:
    plan = Planned(day=situation())
    assert (plan.view.calls, plan.plan.warnings) == (0, ("no_tasks",))


# 3. By hand, and another plan ----------------------------------------------------------------


def test_a_person_who_chose_asks_no_model_and_both_plans_are_kept() -> None:
    plan = Planned("no", "no").again(situation(*THREE, focus="a.2"))
    found = state.planning_reached(plan.state)
    assert (plan.plan.source, plan.view.warnings) == ("person", ())
    assert (found.result, found.accepted) == (
        {"focus_task_id": "a.1", "mini_task_ids": ["a.2", "a.3"], "buffer_minutes": 15},
        {"focus_task_id": "a.2", "mini_task_ids": ["a.3"], "buffer_minutes": 15},
    )
    assert plan.replayed() == "identical"


def test_an_unknown_focus_and_another_day_are_refused_and_change_nothing() -> None:
    plan = Planned(rules=True)
    before = plan.plan
    assert refused(plan.again(situation(*THREE, focus="a.9"))) == ("unknown_task", "a.9")
    assert refused(plan.again(situation(day="2026-11-24"))) == ("not_expected", "")
    assert plan.plan == before
    assert plan.replayed() == "identical"


def test_what_is_done_gives_its_place_to_the_next_task() -> None:
    plan = Planned(rules=True, day=situation(REPORT, CALL, BILL, task("a.4", 5, created=9)))
    assert plan.plan.mini_task_ids == ("a.2", "a.3")
    plan.again(situation(REPORT, BILL, task("a.4", 5, created=9), start=700))
    assert (plan.plan.mini_task_ids, plan.plan.blocks[0].start) == (("a.3", "a.4"), 700)


# 4. The simulator ----------------------------------------------------------------------------


def test_the_simulator_varies_within_the_rules() -> None:
    found = set()
    many = (*THREE, task("a.4", 60), task("a.5", 20), task("a.6", 200))
    for seed in range(40):
        sim = SimLLMProvider(seed, FaultConfig(), bank())
        plan = Planned(day=situation(*many), provider=sim)
        assert (plan.plan.source, plan.view.calls) == ("model", 1)
        found.add(plan.chosen)
    assert len(found) > 3
