"""`make demo`: six workflows in less than a minute, and a coding agent that a script plays.

The picture of the front page is what the demo prints.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.program import BIN
from tests.markdown import ROOT

pytestmark = pytest.mark.slow("whole runs")

SECONDS = 50  # of the minute; the picture of the front page takes the rest


def _shown(script: str) -> tuple[str, str]:
    """All that a script of the demo prints, and what it says beside."""
    done = subprocess.run(
        ["sh", str(ROOT / "docs" / script)],
        env={**os.environ, "BIN": str(BIN), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_note_becomes_a_task_a_plan_a_decision_an_answer_and_passes() -> None:
    out, err = _shown("demo-day.sh")
    assert err == ""
    shown = [f"$ preflights {part}" for part in out.split("\n$ preflights ")[1:]]
    for command, what in (
        ("note", "task   Keep the orders in a database"),
        ("today --from", "focus"),
        ("start --task", "docs/decisions/0001-use-postgresql-for-the-orders.md"),
        ("note list", "ADR-0001"),
        ("note done", "done"),
        ("recall", "Use PostgreSQL for the orders"),
        ("ask", "decisions\n─────────\n1\n"),
        ("plan project", "no model wrote it: the smallest artifact that meets its schema"),
        ("approve", "written to .preflights/artifacts/ProjectPlan-"),
        ("plan architecture", '"layers"'),
    ):
        part = next(part for part in shown if part.startswith(f"$ preflights {command}"))
        assert what in part


def test_an_agent_asks_through_the_server_and_its_hooks_bring_the_decision_back() -> None:
    """Hook at the start, tool, form, acceptance by the person, an edit, brief after compaction."""
    out, err = _shown("demo-agent.sh")
    assert err.startswith("Sessions are kept beside the records")  # said by the server
    steps = iter(out.split("\n\n"))
    for begins, what in (
        ("$ preflights init --agent claude", "Wrote .claude/settings.json."),
        ("agent: a session begins (startup)", "nothing yet"),
        ("agent: I call start_decision", "person: PostgreSQL"),
        ("$ preflights inbox", "proposal  Choose a database "),
        ("$ preflights accept", "relayed by demo-agent 1.0 (form)"),
        ("agent: I write", "ask: ADR-0001: on "),
        (
            "agent: a session begins (compact)",
            "In force, do not reconsider: Database: PostgreSQL (ADR-0001)",
        ),
        ("$ preflights why", "accepted   by Ada Lovelace"),
    ):
        step = next(step for step in steps if step.lstrip().startswith(begins))
        assert what in step
        if "start_decision" in begins:
            assert "I call accept; the decision is proposed" in step


# The picture of the README -------------------------------------------------------------------


@pytest.mark.slow("whole runs")
def test_the_picture_is_what_its_script_draws() -> None:
    code = "import picture; print(picture.drawn(picture.printed()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "docs", capture_output=True, text=True, check=True
    )
    assert done.stdout == (ROOT / "docs" / "demo.svg").read_text("utf-8"), (
        "draw it anew: python docs/picture.py"
    )
    assert "url(http" not in done.stdout  # no font of another server
