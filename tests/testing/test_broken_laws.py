"""Workflows that are wrong break a law, and are told by which Input and Decision."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import Phase, settings
from msgspec.structs import replace

from preflights_es.kernel.events import Decision, Event, Input
from preflights_es.testing import PlayedSession, check_laws, laws
from preflights_es.words.workflow import View, Workflow
from tests import toy
from tests.house.test_smallest_workflow import BLOCKS
from tests.toy import Answered, Heard, Said, State, altered, said

pytestmark = pytest.mark.hypothesis
FAST: Final = settings(max_examples=200, phases=(Phase.generate,))
"""As many as in a workflow's own tests; the first that fails is told, and not a shorter one."""


def broken(workflow: Workflow[Any], *texts: str) -> str:
    """How a workflow is told that it breaks a law."""
    with pytest.raises(AssertionError) as caught:
        check_laws(workflow, texts=texts, settings=FAST)
    return str(caught.value)


@pytest.mark.parametrize(
    ("bug", "law", "why", "decision"),
    [
        ("decide", "reading back", "Broken: cannot decide !", ""),
        ("evolve", "reading back", "Broken: cannot fold !", "Heard(text='!', count=1)"),
        ("empty", "reading back", "toy.decide answered toy.said.v1 with nothing", ""),
        ("surrogate", "reading back", "", "Heard(text='\\ud800', count=1)"),
        (
            "unreadable",
            "reading back",
            "toy.heard.v1 cannot be read back: Expected `int`, got `str` at `count`",
            "Heard(text='!', count='one')",
        ),
        ("endless", "settling", "asked its provider 100 times without an end", ""),
    ],
)
def test_each_bug_of_the_toy_breaks_a_law(bug: toy.Bug, law: str, why: str, decision: str) -> None:
    told = broken(toy.workflow(bug), "!")
    assert told.startswith(f"toy breaks the law of {law}: ")
    assert why in told
    assert "  Input 1: " in told
    assert (f"  Decision: {decision}" in told) if decision else ("Decision: " not in told)


# Workflows that look at more than their Inputs -------------------------------------------------


def heard(text: Callable[[State], object]) -> Workflow[State]:
    """The toy; it hears another text than was said."""

    def decide(state: State, new: Input) -> tuple[Decision, ...]:
        if isinstance(new, Said):
            return (Heard(text=str(text(state)), count=1),)
        return toy.decide(state, new)

    return altered(toy.WORKFLOW, decide=decide)


def counting() -> Callable[[State], object]:
    seen: list[State] = []

    def count(state: State) -> int:
        seen.append(state)
        return len(seen)

    return count


@pytest.mark.parametrize("text", [lambda _: time.time_ns(), counting(), lambda _: object()])
def test_a_decision_by_the_clock_by_memory_or_by_an_address_is_no_replay(
    text: Callable[[State], object],
) -> None:
    told = broken(heard(text))
    assert told.startswith("toy breaks the law of replay: event 2: /text is ")
    assert "  Input 1: Said(" in told
    assert "  Decision: Heard(" in told


def test_what_only_happens_once_is_told_as_it_happened() -> None:
    left = [True]

    def decide(state: State, new: Input) -> tuple[Decision, ...]:
        if isinstance(new, Said) and left:
            raise toy.Broken(f"only the first time, {left.pop()}")
        return toy.decide(state, new)

    told = broken(altered(toy.WORKFLOW, decide=decide))
    assert "it failed, and is decided when it is replayed" in told
    assert "  Input 1: Said(" in told


def test_an_evolve_that_changes_its_state_or_remembers_breaks_the_law_of_folding() -> None:
    kept: list[str | None] = []

    def remembering(state: State, event: Event) -> State:
        if isinstance(event, Heard):
            kept.append(event.text)
            return replace(state, answers=tuple(kept))
        return toy.evolve(state, event)

    class Listed(State, frozen=True):
        heard: list[str] = []

    def changing(state: Listed, event: Event) -> State:
        if isinstance(event, Heard):
            state.heard.append(event.text)
        return toy.evolve(state, event)

    told = broken(altered(toy.WORKFLOW, evolve=remembering))
    assert "evolve gives another state each time" in told
    assert "  Decision: Heard(" in told
    told = broken(altered(toy.WORKFLOW, initial=Listed(), evolve=changing))
    assert "evolve changed the state it was given" in told
    assert "  Decision: Heard(" in told


# Where a session stands ------------------------------------------------------------------------


def test_a_state_that_ends_and_goes_on_breaks_the_law_of_ending() -> None:
    told = broken(altered(toy.WORKFLOW, is_terminal=lambda state: len(state.said) == 1))
    assert told.startswith("toy breaks the law of ending: a state that was terminal is not any")
    assert "  Input 2: Said(" in told


def test_a_status_that_is_not_listed_and_a_view_that_fails_break_the_law_of_showing() -> None:
    def view(state: State) -> View:
        return View(status="heard" if state.said else "done", intention="")

    def failing(state: State) -> View:
        return View(status="done", intention=state.said[1] if state.said else "")

    told = broken(altered(toy.WORKFLOW, view=view))
    assert "the law of showing: AssertionError: the status 'heard' is not among its" in told
    told = broken(altered(toy.WORKFLOW, view=failing))
    assert "the law of showing: IndexError: tuple index out of range\n  Input 1: Said(" in told


def test_a_law_is_asked_of_one_session() -> None:
    session = PlayedSession(toy.WORKFLOW).play([said("one"), said("two")])
    for law in laws.LAWS:
        law(session)
    assert [type(event) for event in session.events] == [Said, Heard] * 2
    assert Answered not in map(type, session.events)
    remembers = PlayedSession(heard(counting())).play([said("one")])
    with pytest.raises(AssertionError, match="the law of replay: event 2: /text is"):
        laws.law_of_replay(remembers)
    with pytest.raises(AssertionError, match="the law of resuming: event 2: it came to "):
        laws.law_of_resuming(remembers)


# The workflow of docs/writing-a-workflow.md ----------------------------------------------------

MODULE: Final[str] = BLOCKS["preflights_blocker.py"]
ASKED: Final = "            return questions.text_answers("
OWN_REASON: Final = MODULE.replace(
    ASKED,
    '            if any(one.values == ("later",) for one in new.answers):\n'
    '                return (StepRefused(key="step", reason="not a step"),)\n' + ASKED,
)


def blocker(text: str) -> Workflow[Any]:
    made: dict[str, Any] = {"__name__": "preflights_blocker"}
    exec(compile(text, "preflights_blocker.py", "exec", dont_inherit=True), made)
    workflow: Workflow[Any] = made["WORKFLOW"]
    return workflow


def test_a_refusal_for_a_reason_of_its_own_is_found_and_its_mending_is_seen() -> None:
    told = broken(blocker(OWN_REASON), "later")
    assert "Invalid enum value 'not a step' at `reason`" in told
    *_, new, decision = told.splitlines()
    assert ": StepGiven(" in new
    assert "values=('later',)" in new
    assert decision == "  Decision: StepRefused(key='step', reason='not a step', expected=())"
    check_laws(blocker(MODULE), texts=("later",))


def test_without_hypothesis_one_line_names_the_extra() -> None:
    lines = (
        "import sys",
        "sys.modules['hypothesis'] = sys.modules['pytest'] = None",
        "from preflights_es.kernel.errors import ProviderMissing",
        "from preflights_es.testing import LAWS, PlayedSession, check_laws",
        "from tests.toy import WORKFLOW, said",
        "for law in LAWS: law(PlayedSession(WORKFLOW).play([said('one')]))",
        "try: check_laws(WORKFLOW)",
        "except ProviderMissing as error: print(error)",
    )
    words = (sys.executable, "-c", "\n".join(lines))
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("generated sessions need hypothesis (")
    assert ran.stdout.endswith("): `pip install 'preflights-es[testing]'`\n")
