"""`make demo`: six workflows in less than a minute."""

from __future__ import annotations

import os
import subprocess

from tests.cli.program import BIN
from tests.markdown import ROOT

SECONDS = 50  # of the minute; the picture of the front page takes the rest


def test_a_note_becomes_a_task_a_plan_a_decision_an_answer_and_passes() -> None:
    done = subprocess.run(
        ["sh", str(ROOT / "docs" / "demo-day.sh")],
        env={**os.environ, "BIN": str(BIN), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = [f"$ preflights {part}" for part in done.stdout.split("\n$ preflights ")[1:]]
    for command, what in (
        ("note", "task   Keep the orders in a database"),
        ("today --from", "focus"),
        ("start --task", "docs/decisions/0001-use-postgresql-for-the-database.md"),
        ("note tasks", "ADR-0001"),
        ("today --done", "(done)"),
        ("recall", "Use PostgreSQL for the database"),
        ("ask", "decisions\n  1\n"),
        ("plan project", '"name": "baskets"'),
        ("approve", "written to .preflights/artifacts/ProjectPlan-"),
        ("plan architecture", "domain_cannot_import_infrastructure"),
    ):
        part = next(part for part in shown if part.startswith(f"$ preflights {command}"))
        assert what in part
