"""What holds for every session that a model leads, whatever the model does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.lead import FellBack, StepRetried
from preflights_es.runtime.features import WORKFLOWS
from tests import led
from tests.led import Case

ROOT = Path(__file__).parent.parent

VALID = {"ready", "stopped", "done", "needs_answers"}
"""Where a session may stand that no strictness holds up."""


@st.composite
def schedules(draw: st.DrawFn) -> str:
    """Faults of any probability, as the command line takes them."""
    names = ("timeout", "error", "rate_limit", "malformed")
    parts = [draw(st.integers(0, 100)) for _ in names]
    whole = max(100, sum(parts))
    return ",".join(f"{n}={p * 1_000 // whole / 1_000}" for n, p in zip(names, parts, strict=True))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    name = draw(st.sampled_from(sorted(led.TEXTS)))
    text = draw(st.sampled_from(led.TEXTS[name]))
    return Case(name, text, draw(st.integers(-999, 999)), draw(schedules()), draw(st.booleans()))


def waits(case: Case) -> bool:
    """Whether a step that brings nothing stays open: nothing stands in for the model."""
    return case.strict or WORKFLOWS[case.workflow].led.policy.then == "report"


@given(cases())
def test_every_session_ends_valid_or_can_be_resumed(case: Case) -> None:
    session = led.alone(case)
    assert session.status in VALID | ({"waiting"} if waits(case) else set())
    assert not session.handle.session.calls
    assert session.replayed().status == "identical"


@given(cases())
def test_no_step_is_asked_more_often_than_its_calls(case: Case) -> None:
    session = led.alone(case)
    asked = [event for event in session.events if isinstance(event, CompletionRequested)]
    steps = Counter(request.call.rsplit(".", 1)[0] for request in asked)
    calls_max = session.handle.workflow.led.policy.calls_max
    assert all(count <= calls_max for count in steps.values())
    assert all(1 <= request.attempt <= calls_max for request in asked)
    fell = sum(isinstance(event, FellBack) for event in session.events)
    assert fell <= (0 if waits(case) else 1)
    assert waits(case) or not any(isinstance(event, StepRetried) for event in session.events)


@pytest.mark.slow("crowds")
@given(st.lists(cases(), min_size=2, max_size=6))
def test_sessions_that_share_an_event_loop_are_what_they_are_alone(some: list[Case]) -> None:
    at_once = [session.replayed().trace for session in led.together(some)]
    assert at_once == [led.alone(case).replayed().trace for case in some]


SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "0"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/New_York", "LANG": "de_DE.UTF-8"},
)


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("extra", SURROUNDINGS, ids=lambda extra: extra["PYTHONHASHSEED"])
def test_a_seed_gives_the_same_traces_anywhere(tmp_path: Path, extra: dict[str, str]) -> None:
    program = [sys.executable, "-m", "tests.led"]
    environment = {**os.environ, **extra, "PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}"}
    done = subprocess.run(
        program, cwd=tmp_path, env=environment, capture_output=True, check=True, text=True
    )
    here = [f"{c.workflow} {c.seed} {led.alone(c).replayed().trace}" for c in led.SOME]
    assert done.stdout.splitlines() == here
