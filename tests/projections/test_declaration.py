"""A projection is one declaration: a module and a migration, and everything else follows."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

ROOT: Final = Path(__file__).parents[2]
MODULE: Final = """
from typing import Final

import msgspec

from preflights_es.projections.projection import Projection, database_text


class WordsRow(msgspec.Struct, frozen=True):
    session_id: str
    version: int
    project: str
    share: float
    type: str | None


def rows(read):
    count = len(read.stored)
    session_id, project = read.head.session_id, database_text(read.head.project)
    each = (WordsRow(session_id, one.version, project, 1 / count, one.type) for one in read.stored)
    return tuple(map(msgspec.structs.astuple, each))


PROJECTION: Final = Projection(name="kinds", version=1, rows=rows, row=WordsRow, key=2)
"""
MIGRATION: Final = '''
"""A projection."""

import sqlalchemy as sa
from alembic import op

revision = "log_9"
down_revision = "{before}"


def upgrade() -> None:
    op.create_table(
        "projected_kinds",
        sa.Column("session_id", sa.String(36), primary_key=True),
        sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("share", sa.Float, nullable=False),
        sa.Column("type", sa.Text),
    )
    op.create_index("projected_kinds_by_project", "projected_kinds", ["project", "session_id"])
'''


class Copy:
    """The program with one projection more, and a project that uses it."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.home = folder / "tree", folder / "home"
        self.home.mkdir()
        for name in ("preflights_es", "cli", "alembic"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, self.tree / name, ignore=ignored)
        (self.tree / "preflights_es" / "projections" / "kinds.py").write_text(MODULE)
        versions = self.tree / "alembic" / "versions"
        before = max(path.stem for path in versions.glob("log_*.py"))
        (versions / "log_9.py").write_text(MIGRATION.format(before=before))
        self.run("-m", "tests.store.freeze")

    def run(self, *words: str, code: int = 0) -> str:
        """A process of Python that imports this copy."""
        paths = (self.tree, self.tree / "cli", ROOT)
        env = {**os.environ, "HOME": str(self.home), "PYTHONPATH": os.pathsep.join(map(str, paths))}
        done = subprocess.run(
            [sys.executable, *words], cwd=self.home, env=env, capture_output=True, text=True
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    def preflights(self, *words: str, code: int = 0) -> Any:
        """What a command says, as JSON."""
        line = (
            "import sys; from preflights_cli.main import run_command_line; "
            "sys.exit(run_command_line(sys.argv[1:]))"
        )
        return msgspec.json.decode(self.run("-c", line, "--db", "log.db", *words, code=code))

    def asked(self, statement: str) -> list[tuple[Any, ...]]:
        """What any other program would do there."""
        with closing(sqlite3.connect(self.home / "log.db")) as log, log:
            return log.execute(statement).fetchall()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


@pytest.mark.slow("whole runs")
def test_a_module_and_a_migration_make_a_projection(copy: Copy) -> None:
    answer = ("--answer", "auth_strategy=OAuth")
    copy.preflights("start", "Add login", *answer, "--json", code=3)
    count = len(copy.asked("SELECT 1 FROM events"))

    def states() -> dict[str, str]:
        said = copy.preflights("admin", "projections", "status", "--json")
        return {one["name"]: one["state"] for one in said["projections"]}

    assert states()["kinds"] == "complete", "a decision looks for what is known first"
    copy.preflights("decisions", "--all", "--json")  # a reader of one follows all of them
    assert states()["kinds"] == "complete"
    kept = copy.asked("SELECT * FROM projected_kinds")
    assert len(kept) == count
    assert kept[0][3] == 1 / count

    copy.asked("UPDATE projected_kinds SET type = NULL WHERE version = 2")
    found = copy.preflights("audit", "verify", "--json", code=4)
    assert [one["projection"] for one in found["projections"]] == ["kinds"]
    rebuilt = copy.preflights("admin", "projections", "rebuild", "kinds", "--json")
    assert rebuilt["rebuilt"] == ["kinds"]
    assert copy.asked("SELECT * FROM projected_kinds") == kept
    assert copy.preflights("audit", "verify", "--json")["projections"] == []

    ((session_id,),) = copy.asked("SELECT session_id FROM heads")
    copy.preflights("admin", "erase", session_id, "--reason", "x", "--yes", "--json")
    assert copy.asked("SELECT 1 FROM projected_kinds WHERE type <> 'session.erased.v1'") == []
