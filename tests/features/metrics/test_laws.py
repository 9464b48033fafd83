"""What holds for every question, whatever a model says, on every engine."""

from __future__ import annotations

from collections import Counter
from typing import Final, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preflights_es.features.metrics import catalogue
from preflights_es.features.metrics.domain.events import TURNS_MAX, Dialect
from preflights_es.features.metrics.domain.sql_check import findings, render_checked_query
from preflights_es.features.metrics.domain.state import MetricsState
from preflights_es.kernel.completions import CompletionRequested
from tests import led
from tests.features.metrics.cases import TABLES
from tests.features.metrics.statements import HOSTILE, INNOCENT
from tests.led import Case

SEEDS: Final = 200
FAULTS: Final = ("none", "malformed=0.5", "timeout=0.4,error=0.2", "rate_limit=0.3,malformed=0.4")


def case(seed: int) -> Case:
    texts = led.TEXTS["metrics"]
    faults = FAULTS[seed // len(texts) % len(FAULTS)]
    return Case("metrics", texts[seed % len(texts)], seed, faults, strict=seed % 5 == 0)


@pytest.mark.slow("fuzzing")
def test_200_seeds_with_faults_end_as_the_specification_says() -> None:
    ends: Counter[str] = Counter()
    for session in led.together([case(seed) for seed in range(SEEDS)]):
        state: MetricsState = session.handle.session.state
        ends[session.status] += 1
        assert session.replayed().status == "identical"
        asked = [event for event in session.events if isinstance(event, CompletionRequested)]
        assert max(Counter(one.call.rpartition(".")[0] for one in asked).values()) <= 2
        assert state.turns <= TURNS_MAX
        assert not state.sql or not findings(state.sql, "sqlite", TABLES)
        if session.status == "stopped":
            assert [*state.led.said][-1:] == [] or [*state.led.said][-1].role == "assistant"
    assert ends.keys() == {"done", "stopped", "waiting"}, ends


@st.composite
def mixed(draw: st.DrawFn) -> str:
    """Pieces of statements, put together."""
    words = [word for _, sql in (*HOSTILE, *INNOCENT) for word in sql[:300].split(" ")]
    return " ".join(draw(st.lists(st.sampled_from(words), max_size=12)))


@settings(max_examples=60)
@given(mixed() | st.text(max_size=40), st.sampled_from(get_args(Dialect)))
def test_the_check_is_total_and_what_is_shown_passes_again(sql: str, dialect: Dialect) -> None:
    names = catalogue.queryable_log_tables()
    if not findings(sql, dialect, names):
        assert not findings(render_checked_query(sql, dialect), dialect, names)
