"""What these tests begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import home
from tests.cli.program import Project
from tests.persons import git_repository
from tests.store.conftest import database

__all__ = ["database", "home", "shop"]


@pytest.fixture
def shop(tmp_path: Path, home: Path) -> Project:
    """A repository."""
    made = Project(tmp_path / "shop", home)
    git_repository(made.folder)
    return made
