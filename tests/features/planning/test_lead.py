"""A model that plans, a person who chooses, and the rules behind both."""

from __future__ import annotations

from typing import Any

import pytest

from preflights_es.features.planning.domain import state
from preflights_es.features.planning.domain.decide import PACKAGE
from preflights_es.features.planning.domain.events import (
    BlockClosed,
    Change,
    ChangeRefused,
    PlanAsked,
    PlanMade,
)
from preflights_es.kernel.completions import CompletionRequested, prompt
from preflights_es.kernel.errors import LLMAPIError, LLMTimeoutError
from preflights_es.kernel.events import Source, sources
from preflights_es.kernel.lead import (
    INVALID,
    MISMATCH,
    FellBack,
    Lead,
    ResponseRejected,
    StepStalled,
)
from preflights_es.providers.faults import FaultConfig
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.use.leads import bank
from tests.each import each
from tests.features.planning.cases import (
    NINE,
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
    assert isinstance(one, ChangeRefused), one
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


def test_what_a_model_says_is_kept_in_whole_minutes_and_on_one_line() -> None:
    plan = Planned(answer("a.1", "a.3", buffer_minutes=12.2, reasoning="First\nthis."))
    assert (plan.plan.buffer_minutes, plan.plan.reasoning) == (13, "First this.")


@each(("said", "kept"), [(0, 0), (0.2, 1), (9.5, 10), (31, 31)])
def test_a_model_says_any_pause_and_no_words_where_it_has_none(said: float, kept: int) -> None:
    plan = Planned(answer("a.1", "a.3", buffer_minutes=said, reasoning=""))
    assert (plan.chosen, plan.plan.reasoning) == (("a.1", ("a.3",), kept), "")
    assert (plan.view.calls, plan.replayed()) == (1, "identical")


def test_a_pause_longer_than_the_day_becomes_one_that_fits() -> None:
    plan = Planned(answer("a.1", "a.3", buffer_minutes=1e300))
    first, second = plan.plan.blocks
    assert second.start - first.end == plan.plan.buffer_minutes < 1_440


def test_a_models_plan_with_too_little_time_gives_up_its_minis() -> None:
    plan = Planned(BOTH, day=situation(*THREE, end=NINE + 100))
    assert plan.chosen == ("a.1", (), 0)
    assert plan.plan.warnings == ("mini_dropped",)


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
    assert plan.events(CompletionRequested) == [request]


def test_what_a_plan_takes_from_notes_is_named_by_its_source() -> None:
    (first,) = Planned(rules=True).events(PlanAsked)
    assert sources(first) == (Source("s-1", 2, "00"),)


# 2. An answer that cannot be used ------------------------------------------------------------


@each(
    ("given", "place"),
    [
        (answer("a.9"), "/focus_task_id"),
        (answer("a.1", "a.9"), "/mini_task_ids/0"),
        (answer("a.1", "a.2", "a.2"), "/mini_task_ids/1"),
        (answer("a.2", "a.2"), "/mini_task_ids/0"),
        (answer("a.2"), "/focus_task_id"),
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


def test_an_important_mini_is_against_the_rules() -> None:
    day = situation(task("a.1", 90), task("a.2", 10, importance="high"))
    plan = Planned(answer("a.1", "a.2"), answer("a.1"), day=day)
    assert plan.chosen == ("a.1", (), 0)


def test_what_stands_without_the_task_before_it_is_against_the_rules() -> None:
    day = situation(task("a.1", 90, after="a.2"), task("a.2", 10), task("a.3", 10, after="a.4"))
    plan = Planned(answer("a.1"), answer("a.1", "a.2"), day=day)
    (rejected,) = plan.events(ResponseRejected)
    (violation,) = rejected.violations
    assert (violation.pointer, violation.message) == (
        "/focus_task_id",
        "expected a.2, which goes before it, in the plan too",
    )
    assert [block.task_id for block in plan.plan.blocks] == ["a.2", "a.1"]
    plan = Planned(answer("a.1", "a.2", "a.3"), answer("a.1", "a.2"), day=day)
    (rejected,) = plan.events(ResponseRejected)
    assert [one.pointer for one in rejected.violations] == ["/mini_task_ids/1"]


def test_a_focus_without_room_is_against_the_rules() -> None:
    day = situation(task("a.1", 90), task("a.2", 40), end=NINE + 45)
    plan = Planned(answer("a.1"), answer("a.2"), day=day)
    assert (plan.plan.focus_task_id, plan.view.calls) == ("a.2", 2)


def test_no_focus_is_right_where_none_fits() -> None:
    plan = Planned(answer(None), day=situation(*THREE, end=NINE + 30))
    assert (plan.plan.blocks, plan.plan.warnings, plan.status) == ((), ("no_room",), "stopped")


@pytest.mark.parametrize("reply", ["I would begin with the report.", '{"focus_task_id": '])
def test_no_json_is_asked_for_once_more_with_the_fixed_sentence(reply: str) -> None:
    plan = Planned(reply, BOTH)
    assert plan.script.requests[1].messages[-1].content == INVALID
    assert plan.plan.source == "model"


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


def test_it_falls_back_for_this_plan_and_not_for_the_day() -> None:
    plan = Planned("no", "no", BOTH)
    plan.again(lead=plan.lead)
    assert (plan.plan.source, plan.view.replans, plan.view.warnings) == ("model", 1, ())
    assert plan.replayed() == "identical"


def test_what_stopped_a_plan_says_nothing_of_the_next_one() -> None:
    fallen, stalled = Planned("no", "no"), Planned(DOWN, DOWN, strict=True)
    for plan in (fallen, stalled):
        assert plan.view.warnings
        plan.again()
        assert (plan.status, plan.view.warnings) == ("done", ())


def test_a_second_plan_has_no_conversation_behind_it() -> None:
    plan = Planned(BOTH, BOTH)
    plan.again(situation(*THREE, start=700), plan.lead)
    assert len(plan.script.requests[1].messages) == 2


def test_a_strict_session_waits_and_is_resumed() -> None:
    plan = Planned(DOWN, DOWN, BOTH, strict=True)
    assert (plan.status, plan.state.plan) == ("waiting", None)
    assert plan.events(StepStalled)
    plan.retry()
    assert (plan.status, plan.plan.source) == ("done", "model")


def test_another_lead_makes_the_plan_that_the_first_could_not() -> None:
    plan = Planned("no", "no", BOTH)
    plan.led_by(Lead("script", "m-2"))
    assert plan.plan.source == "model"


def test_no_model_is_asked_where_nothing_is_open() -> None:
    plan = Planned(day=situation())
    assert (plan.view.calls, plan.plan.warnings) == (0, ("no_tasks",))


# 3. By hand ----------------------------------------------------------------------------------

MANY = (
    task("a.1", 90, importance="high"),
    task("a.2", 10),
    task("a.3", 15),
    task("a.4", 60),
    task("a.5", 20, importance="high"),
    task("a.6", 200),
    task("a.7", 25),
    task("a.8", 5),
)


LONG = (task("a.9", 200),)


@pytest.fixture
def plan() -> Planned:
    return Planned(rules=True, day=situation(*MANY))


def test_a_person_chooses_the_focus_and_keeps_the_minis(plan: Planned) -> None:
    plan.choose("a.4")
    assert plan.chosen == ("a.4", ("a.2", "a.3"), 15)
    assert (plan.plan.source, plan.plan.reasoning) == ("person", "Chosen by hand.")
    assert plan.replayed() == "identical"


def test_a_person_chooses_minis_and_keeps_the_focus(plan: Planned) -> None:
    assert plan.choose(None, "a.8").chosen == ("a.1", ("a.8",), 15)


def test_a_person_who_chose_reads_of_no_model_and_both_plans_are_kept() -> None:
    plan = Planned("no", "no").choose(None, "a.3")
    found = state.reached(plan.state)
    assert (plan.plan.source, plan.view.warnings) == ("person", ())
    assert (found.result, found.accepted) == (
        {"focus_task_id": "a.1", "mini_task_ids": ["a.2", "a.3"], "buffer_minutes": 15},
        {"focus_task_id": "a.1", "mini_task_ids": ["a.3"], "buffer_minutes": 15},
    )


def test_a_person_chooses_both(plan: Planned) -> None:
    assert plan.choose("a.4", "a.8", "a.3").chosen[:2] == ("a.4", ("a.8", "a.3"))


@each(
    ("focus", "minis", "found"),
    [
        ("a.99", (), ("unknown_task", "a.99")),
        (None, ("a.99",), ("unknown_task", "a.99")),
        ("a.2", (), ("no_focus_task", "a.2")),
        ("a.6", (), ("no_focus_task", "a.6")),
        ("a.7", (), ("no_focus_task", "a.7")),
        (None, ("a.4",), ("no_mini_task", "a.4")),
        (None, ("a.5",), ("no_mini_task", "a.5")),
        (None, ("a.2", "a.2"), ("named_twice", "a.2")),
        (None, ("a.1",), ("named_twice", "a.1")),
        (None, ("a.2", "a.3", "a.8"), ("too_many_minis", "")),
    ],
)
def test_what_the_rules_do_not_allow_is_refused(
    plan: Planned, focus: str | None, minis: tuple[str, ...], found: tuple[str, str]
) -> None:
    before = plan.plan
    assert refused(plan.choose(focus, *minis)) == found
    assert plan.plan == before
    assert plan.replayed() == "identical"


def test_a_person_keeps_the_order_until_what_goes_before_is_over() -> None:
    day = situation(task("a.1", 90), task("a.2", 10), task("a.3", 60, after="a.2"))
    plan = Planned(rules=True, day=day).choose(None, "a.2")
    assert plan.choose("a.3").chosen == ("a.3", ("a.2",), 15)
    assert [block.task_id for block in plan.plan.blocks] == ["a.2", "a.3"]
    day = situation(task("a.1", 90), task("a.2", 10), task("a.3", 10, after="a.2"), *LONG)
    plan = Planned(rules=True, day=day)
    refusal = plan.choose(None, "a.3").last[0]
    assert isinstance(refusal, ChangeRefused)
    assert (refusal.reason, refusal.task_id, refusal.other_id) == ("waits", "a.3", "a.2")
    plan.done("a.2")
    assert plan.choose(None, "a.3").chosen == ("a.1", ("a.3",), 15)
    assert plan.replayed() == "identical"


def test_what_a_person_keeps_gives_way_where_it_came_after_the_former_focus() -> None:
    day = situation(task("a.1", 90), task("a.2", 10, after="a.1"), task("a.3", 60))
    plan = Planned(rules=True, day=day)
    assert plan.chosen == ("a.1", ("a.2",), 15)
    assert plan.choose("a.3").chosen == ("a.3", (), 0)


def test_a_plan_made_anew_for_a_change_does_not_count(plan: Planned) -> None:
    for _ in range(3):
        plan.again()
    assert refused(plan.again()) == ("replans_used_up", "")
    changed = (Change("a.1", "task", "edited"),)
    plan.again(situation(*MANY, start=700), changed=changed)
    assert (plan.view.replans, plan.plan.blocks[0].start) == (3, 700)
    assert refused(plan.again()) == ("replans_used_up", "")
    assert plan.replayed() == "identical"


def test_what_is_named_and_has_no_room_is_refused() -> None:
    tight = Planned(rules=True, day=situation(*MANY, end=NINE + 105))
    assert tight.chosen == ("a.1", ("a.2",), 10) or tight.plan.warnings
    assert refused(tight.choose(None, "a.2", "a.3")) == ("no_room", "")


# 4. Done -------------------------------------------------------------------------------------


def test_a_block_is_done_once(plan: Planned) -> None:
    assert plan.done("a.1").last == (BlockClosed(task_id="a.1"),)
    assert [entry.done for entry in plan.view.timeline] == [True, False, False]
    assert plan.view.progress == pytest.approx(1 / 3)
    assert refused(plan.done("a.1")) == ("closed", "a.1")
    assert refused(plan.done("a.4")) == ("not_planned", "a.4")
    assert refused(plan.choose("a.1")) == ("closed", "a.1")
    assert plan.replayed() == "identical"


def test_a_day_is_planned_again_three_times(plan: Planned) -> None:
    for _ in range(3):
        plan.again(situation(*MANY, start=700))
    assert (plan.view.replans, plan.plan.blocks[0].start) == (3, 700)
    assert refused(plan.again()) == ("replans_used_up", "")
    assert (plan.view.replans, plan.plan.blocks[0].start) == (3, 700)
    assert len(plan.events(PlanMade)) == 4


def test_a_session_is_one_day(plan: Planned) -> None:
    assert refused(plan.again(situation(day="2026-11-24"))) == ("not_expected", "")


# 5. The simulator ----------------------------------------------------------------------------


def test_the_simulator_varies_within_the_rules() -> None:
    found = set()
    for seed in range(40):
        sim = SimLLMProvider(seed, FaultConfig(), bank())
        plan = Planned(day=situation(*MANY), provider=sim)
        assert (plan.plan.source, plan.view.calls) == ("model", 1)
        found.add(plan.chosen)
    assert len(found) > 3
