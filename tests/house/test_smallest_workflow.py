"""The smallest workflow of docs/writing-a-workflow.md is small; tests/packaging installs it."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any, Final

import pytest

from preflights_es.kernel.events import Actor
from preflights_es.kernel.session import begin, decide, evolve
from preflights_es.words.workflow import Workflow, compute_session_status
from tests.markdown import ROOT

SMALLEST, _, _ = (
    (ROOT / "docs/writing-a-workflow.md").read_text("utf-8").partition("\n## A larger one\n")
)
BLOCKS: Final = dict(
    re.findall(r"^```\w+\n# ([\w.]+)\n(.*?)^```$", SMALLEST, re.MULTILINE | re.DOTALL)
)
LINES_MAX: Final = 60  # without empty lines, in both files together
ADA: Final = Actor("user", "Ada")


@pytest.fixture(scope="module")
def module() -> Any:
    made = ModuleType("preflights_blocker")
    name, text = "preflights_blocker.py", BLOCKS["preflights_blocker.py"]
    exec(compile(text, name, "exec", dont_inherit=True), made.__dict__)
    return made


def test_the_smallest_workflow_has_few_lines() -> None:
    assert set(BLOCKS) == {"pyproject.toml", "preflights_blocker.py"}
    lines = [line for text in BLOCKS.values() for line in text.splitlines() if line]
    assert len(lines) <= LINES_MAX, len(lines)


def test_the_defaults_say_how_it_stands(module: Any) -> None:
    workflow: Workflow[Any] = module.WORKFLOW
    assert workflow.decider.version == "blocker/1"
    assert [workflow.asked.answers] == [module.StepGiven]
    session, told = begin(workflow.decider), list[tuple[str, str, bool]]()
    assert not workflow.is_terminal(session.state)
    given = module.questions.GivenAnswer("step", ("Pin the compiler",))
    for new in (
        module.Met(at=1, actor=ADA, text="The build is red"),
        module.StepGiven(at=2, actor=ADA, answers=(given,)),
        module.Met(at=3, actor=ADA, text="The tests are red"),
    ):
        for event in (new, *decide(workflow.decider, session, new)):
            session = evolve(workflow.decider, session, event)
        view = workflow.shown.view(session.state)
        told.append(
            (
                compute_session_status(workflow, session),
                view.to_do,
                workflow.is_terminal(session.state),
            )
        )
    done = ("done", "", True)
    assert told == [("needs_answers", "answer the question", False), done, done]
    assert {one for one, _, _ in told} <= {*workflow.shown.statuses}
    assert session.state.intention == "The build is red"
    assert workflow.shown.reached(session.state).result == "Pin the compiler"
