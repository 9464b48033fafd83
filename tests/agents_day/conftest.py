"""The repository in which the agent works, made once."""

from __future__ import annotations

import pytest

from tests.agents_day.repository import made
from tests.cli.conftest import GIT_CONFIG
from tests.cli.program import Project, environment


@pytest.fixture(scope="module")
def parcelwise(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The repository, of a person without settings of their own."""
    top = tmp_path_factory.mktemp("day")
    home = top / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_CONFIG)
    return made(top / "parcelwise", home)


@pytest.fixture(autouse=True)
def surroundings(parcelwise: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's home, and no agent's environment."""
    for name, value in environment(parcelwise.home).items():
        monkeypatch.setenv(name, value)
