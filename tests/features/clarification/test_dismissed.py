"""An open question that is answered by: it is about something else, or a task."""

from __future__ import annotations

from typing import Any

from preflights_es.features.clarification.domain.events import (
    ClarificationChangeRefused,
    ClarificationQuestionAsked,
    ClarificationStopped,
    DecisionKept,
    FiledAsTask,
    ReplacementChosen,
    ReplacementNoted,
    TopicDismissed,
    TopicDropped,
)
from preflights_es.features.clarification.domain.pack import NO_TABLES, STANDARD
from preflights_es.features.clarification.domain.state import is_terminal
from preflights_es.features.clarification.domain.values import DecisionPatch
from preflights_es.features.clarification.domain.views import expected_record_kind, view
from preflights_es.kernel.events import Input
from preflights_es.words.decisions import Related
from tests.each import each
from tests.features.clarification.cases import (
    ADA,
    FORMER,
    acknowledged,
    after,
    answered,
    check,
    declared,
    log,
    reasoned,
    revised,
)
from tests.fixed import NOON

OPEN = declared("Make it faster", heuristics=NO_TABLES, pack=STANDARD)
MENU = declared("Which queue do we need?", heuristics=NO_TABLES, pack=STANDARD)
DISMISSED = TopicDismissed(at=NOON, actor=ADA)
TASK = FiledAsTask(at=NOON, actor=ADA)
REPLACED = ReplacementChosen(at=NOON, actor=ADA, replaces=FORMER, source=None)
KEPT = DecisionKept(at=NOON, actor=ADA, kept=FORMER, since=0, source=None)


@each("opening", [MENU, declared("Add login")])
def test_a_menu_about_something_else_gives_way_to_own_words(opening: Input) -> None:
    assert view(after(opening)).can_dismiss
    said = [type(one) for one in log(opening, DISMISSED)]
    assert said[-3:] == [TopicDismissed, TopicDropped, ClarificationQuestionAsked]
    state = after(opening, DISMISSED)
    found = view(state)
    assert [one.label for one in found.fields] == ["Decision", "Because", "Instead of"]
    assert (found.can_dismiss, found.provenance, found.topics) == (False, (), ())
    own = after(opening, DISMISSED, answered(description="One at a time"))
    assert own.offer.patch == DecisionPatch("Other", (("Description", "One at a time"),))


@each(
    ("late", "change"),
    [
        (DISMISSED, "topic"),
        (TASK, "task"),
        (REPLACED, "supersession"),
        (reasoned(because="Late"), "rationale"),
    ],
)
def test_nothing_is_taken_after_a_decision_was_kept(late: Input, change: str) -> None:
    refused = ClarificationChangeRefused(change=change, reason="kept")  # type: ignore[arg-type]
    check(OPEN, KEPT, when=late, then=(refused,))


def test_what_is_replaced_is_chosen_until_a_person_accepts() -> None:
    check(MENU, when=REPLACED, then=(ReplacementNoted(),))
    said = answered(description="Indexes")
    other = REPLACED.__class__(at=NOON, actor=ADA, replaces=Related("", "SOAP", 7), source=None)
    state = after(OPEN, REPLACED, said, other)
    assert (state.standing.supersedes, state.standing.also_supersedes) == (
        REPLACED.replaces,
        (other.replaces,),
    )
    assert state.offer.patch == after(OPEN, said).offer.patch
    accepted = (OPEN, said, acknowledged(state.offer.patch))
    late = ClarificationChangeRefused(change="supersession", reason="already_accepted")
    check(*accepted, when=REPLACED, then=(late,))
    check(
        when=REPLACED,
        then=(ClarificationChangeRefused(change="supersession", reason="not_expected"),),
    )


def test_a_task_can_be_accepted() -> None:
    check(MENU, when=TASK, then=(ClarificationStopped(reason="task"),))
    state = after(MENU, TASK)
    assert (view(state).can_accept, expected_record_kind(state), is_terminal(state)) == (
        True,
        "task",
        False,
    )
    done = after(MENU, TASK, acknowledged(None))
    assert (view(done).status, done.offer.patch) == ("accepted", None)


@each("cls", [answered, revised])
def test_an_answer_goes_on_and_it_is_a_task_all_the_same(cls: Any) -> None:
    state = after(OPEN, TASK, cls(description="Fewer colours"))
    assert state.offer.patch == DecisionPatch("Other", (("Description", "Fewer colours"),))
    assert expected_record_kind(state) == "task"
    again = after(OPEN, TASK, cls(change_category="Caching"))
    assert again.turns.question is not None
    assert again.turns.question.id == "caching"
    refused = after(OPEN, TASK, cls(description="tbd"))
    assert (refused.turns.question, view(refused).status) == (None, "stopped")


@each(("late", "change"), [(DISMISSED, "topic"), (TASK, "task")])
def test_it_fits_an_open_question_alone(late: Input, change: Any) -> None:
    unfit = ClarificationChangeRefused(change=change, reason="not_expected")
    check(when=late, then=(unfit,))
    said = answered(description="Indexes")
    check(OPEN, said, when=late, then=(unfit,))
    accepted = (OPEN, said, acknowledged(after(OPEN, said).offer.patch))
    check(
        *accepted,
        when=late,
        then=(ClarificationChangeRefused(change=change, reason="already_accepted"),),
    )


@each(
    "said",
    [
        [OPEN],
        [MENU, answered(change_category="Caching")],
        [MENU, answered(message_broker="Kafka"), revised(change_category="Caching")],
    ],
)
def test_a_menu_that_a_person_chose_is_not_dismissed(said: list[Input]) -> None:
    assert not view(after(*said)).can_dismiss
    check(
        *said,
        when=DISMISSED,
        then=(ClarificationChangeRefused(change="topic", reason="not_expected"),),
    )


def test_what_no_topic_covers_is_a_record_unless_a_person_says_task() -> None:
    assert expected_record_kind(after(OPEN, answered(description="Indexes"))) == "adr"
    task = declared("Make it faster", heuristics=NO_TABLES, pack=STANDARD, mark="task")
    assert expected_record_kind(after(task, answered(description="Indexes"))) == "task"


def test_a_scope_can_be_said_before_the_category_is_known() -> None:
    state = after(declared(), answered(change_category__scope="shops"))
    assert (state.offer.scope, view(state).status) == ("shops", "needs_answers")
