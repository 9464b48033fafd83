"""An open question that is answered by: there is no decision."""

from __future__ import annotations

from typing import Any

import pytest

from preflights_es.features.clarification.domain.events import (
    ChangeRefused,
    ClarificationStopped,
    NothingToDecide,
)
from preflights_es.features.clarification.domain.pack import NO_TABLES, STANDARD
from preflights_es.features.clarification.domain.state import is_terminal
from preflights_es.features.clarification.domain.values import DecisionPatch
from preflights_es.features.clarification.domain.views import kind, view
from preflights_es.kernel.events import Input
from tests.each import each
from tests.features.clarification.cases import (
    ADA,
    acknowledged,
    after,
    answered,
    check,
    declared,
    reasoned,
    revised,
)
from tests.fixed import NOON

OPEN = declared("Make it faster", heuristics=NO_TABLES, pack=STANDARD)
MENU = declared("Which queue do we need?", heuristics=NO_TABLES, pack=STANDARD)
NOTHING = NothingToDecide(at=NOON, actor=ADA)
TASK = NothingToDecide(at=NOON, actor=ADA, is_task=True)


@each("opening", [OPEN, MENU, declared()])
def test_nothing_to_decide_ends_the_session(opening: Input) -> None:
    check(opening, when=NOTHING, then=(ClarificationStopped(reason="nothing_to_decide"),))
    state = after(opening, NOTHING)
    found = view(state)
    assert (found.status, found.can_accept, found.to_do) == ("stopped", False, "")
    assert (found.missing_info, found.progress, is_terminal(state)) == ((), 1.0, True)


@each(
    ("late", "change"),
    [
        (NOTHING, "ending"),
        (TASK, "ending"),
        (reasoned(because="Late"), "rationale"),
        (acknowledged(None), "acknowledgement"),
    ],
)
def test_nothing_is_taken_after_it(late: Input, change: str) -> None:
    refused = ChangeRefused(change=change, reason="nothing_to_decide")  # type: ignore[arg-type]
    check(OPEN, NOTHING, when=late, then=(refused,))


def test_a_task_can_be_accepted() -> None:
    check(MENU, when=TASK, then=(ClarificationStopped(reason="task"),))
    state = after(MENU, TASK)
    assert (view(state).can_accept, kind(state), is_terminal(state)) == (True, "task", False)
    done = after(MENU, TASK, acknowledged(None))
    assert (view(done).status, done.patch) == ("accepted", None)


@pytest.mark.parametrize("cls", [answered, revised])
def test_an_answer_goes_on_and_it_is_a_task_all_the_same(cls: Any) -> None:
    state = after(OPEN, TASK, cls(description="Fewer colours"))
    assert state.patch == DecisionPatch("Other", (("Description", "Fewer colours"),))
    assert kind(state) == "task"
    again = after(OPEN, TASK, cls(change_category="Caching"))
    assert again.question is not None
    assert again.question.id == "caching"
    refused = after(OPEN, TASK, cls(description="tbd"))
    assert (refused.question, view(refused).status) == (None, "stopped")


def test_it_fits_an_open_question_alone() -> None:
    unfit = ChangeRefused(change="ending", reason="not_expected")
    check(when=NOTHING, then=(unfit,))
    check(OPEN, answered(description="Indexes"), when=NOTHING, then=(unfit,))
    check(
        OPEN,
        answered(description="Indexes"),
        acknowledged(after(OPEN, answered(description="Indexes")).patch),
        when=NOTHING,
        then=(ChangeRefused(change="ending", reason="already_accepted"),),
    )


def test_what_no_topic_covers_is_a_record_unless_a_person_says_task() -> None:
    assert kind(after(OPEN, answered(description="Indexes"))) == "adr"
    task = declared("Make it faster", heuristics=NO_TABLES, pack=STANDARD, mark="task")
    assert kind(after(task, answered(description="Indexes"))) == "task"


def test_a_scope_can_be_said_before_the_category_is_known() -> None:
    state = after(declared(), answered(change_category__scope="shops"))
    assert (state.scope, view(state).status) == ("shops", "needs_answers")
