"""What these tests begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.store.sql import SqlStore
from tests.postgres import SECOND_ENGINE
from tests.store.given import at, sql


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    """An empty log, in every engine."""
    is_file = request.param == "sqlite"
    with closing(sql(tmp_path) if is_file else at(request.getfixturevalue("postgres"))) as made:
        yield made
