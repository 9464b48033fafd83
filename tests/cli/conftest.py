"""A repository for every test: empty, with a log whose tables exist already."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.clones import committed
from tests.cli.program import House, Project
from tests.persons import git_repository
from tests.providers.server import FakeAPI

GIT_CONFIG = """\
[user]
name = Ada
email = ada@preflights.test
[init]
defaultBranch = main
[core]
hooksPath = /dev/null
"""

REFERENCE = """\
[clarification]
heuristics = "reference"
"""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a person whom git knows, and who is asked by the reference.

    What a pack of topics changes stands in `test_packs`; everything else is the same with both.
    """
    folder = tmp_path_factory.mktemp("home")
    (folder / ".config" / "preflights").mkdir(parents=True)
    (folder / ".config" / "preflights" / "settings.toml").write_text(REFERENCE)
    (folder / ".gitconfig").write_text(GIT_CONFIG)
    return folder


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Path:
    """A repository with an empty log."""
    made = Project(tmp_path_factory.mktemp("template") / "house", home)
    git_repository(made.folder)
    assert made.call("admin", "db", "upgrade").code == 0
    return made.folder


@pytest.fixture
def house(tmp_path: Path, home: Path, template: Path) -> House:
    """A copy of it for one test."""
    folder = tmp_path / "house"
    shutil.copytree(template, folder)
    return House(folder, home, template)


@pytest.fixture
def waiting(house: Project) -> Project:
    """It has a session whose question is open: rows of a test find it as it was."""
    house.started_session()
    return house


@pytest.fixture
def shop(house: Project) -> Project:
    """It has an accepted decision: rows of a test find it as it was."""
    house.decided()
    return house


@pytest.fixture
def decided(house: House) -> str:
    """A session of the house, accepted and committed."""
    return house.made(_decided)


def _decided(house: Project) -> str:
    session_id: str = house.decided()["session_id"]
    committed(house)
    return session_id


@pytest.fixture
def empty(tmp_path: Path, home: Path) -> Project:
    """A repository in which the program never ran."""
    made = Project(tmp_path / "house", home)
    git_repository(made.folder)
    return made


@pytest.fixture
def colleague(tmp_path: Path, home: Path) -> Project:
    """Another clone of the same project, with a log of its own, in which the program never ran."""
    made = Project(tmp_path / "colleague", home)
    git_repository(made.folder)
    (made.folder / "preflights.toml").write_text('project = "house"\n')
    return made


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    """A server that answers as a provider does."""
    with FakeAPI() as made:
        yield made


@pytest.fixture
def asked(house: House) -> Project:
    """A log with two decisions in progress."""
    house.made(_asked)
    return house


def _asked(house: Project) -> None:
    house.call("start", "Add caching", "--no-input")
    house.call("start", "Add login", "--no-input")


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    """A database that a person asks about: three orders, and a table that no catalogue names."""
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE orders (day TEXT, amount INTEGER, note TEXT)")
        made.execute("CREATE TABLE secrets (word TEXT)")
        values = (
            ("2026-10-03", 5, "=1+1"),
            ("2026-10-04", 7, "\x1b[31mred"),
            ("2026-11-01", 9, ""),
        )
        made.executemany("INSERT INTO orders VALUES (?, ?, ?)", values)
    made.close()
    return path
