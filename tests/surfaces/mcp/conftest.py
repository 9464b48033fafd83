"""What these tests begin with."""

from __future__ import annotations

import pytest

from tests.cli.conftest import home
from tests.cli.program import Project, environment
from tests.store.conftest import database
from tests.surfaces.api.conftest import shop

__all__ = ["database", "home", "shop"]


@pytest.fixture(autouse=True)
def surroundings(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's home, and no agent's environment."""
    for name, value in environment(shop.home).items():
        monkeypatch.setenv(name, value)
