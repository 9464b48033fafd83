"""A log on each engine, and an API on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import preflights_es
from tests.postgres import SECOND_ENGINE
from tests.providers.server import FakeAPI


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def log(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """A log on each engine."""
    is_file = request.param == "sqlite"
    database = str(tmp_path / "log.db") if is_file else request.getfixturevalue("postgres")
    monkeypatch.setenv("PREFLIGHTS_PROJECT", "shop")
    with preflights_es.open(tmp_path, database=database) as opened:
        yield opened


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAPI]:
    """A server that answers as it is told; a log that is opened later asks it."""
    with FakeAPI() as made:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        monkeypatch.setenv("PREFLIGHTS_PROVIDER", "openai")
        monkeypatch.setenv("PREFLIGHTS_BASE_URL", made.openai)
        monkeypatch.setenv("PREFLIGHTS_OPENAI_API_KEY", "sk-not-a-real-key")
        monkeypatch.setenv("PREFLIGHTS_PROJECT", "shop")
        yield made
