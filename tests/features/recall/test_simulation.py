"""200 seeds: what the simulator answers to each contract, with faults and without."""

from __future__ import annotations

import pytest

from preflights_es.features.recall.domain.state import State
from preflights_es.features.recall.domain.values import LEARNED_MAX
from tests import led
from tests.features.recall.cases import OLDER
from tests.led import Case

FAULTS = "timeout=0.1,error=0.1,rate_limit=0.1,malformed=0.2"
TEXTS = ("what do we use for login?", *(t for t in led.TEXTS["recall"] if ": " in t))
NEEDED = {one.related.uid for one in OLDER if one.needs_choice}
FOUND = {one.related.uid for one in OLDER if one.evolution != "none"}


@pytest.mark.parametrize("faults", ["none", FAULTS])
@pytest.mark.parametrize("text", TEXTS)
def test_200_seeds_end_valid_and_replay(text: str, faults: str) -> None:
    sources = set()
    for session in led.together([Case("recall", text, seed, faults) for seed in range(200)]):
        state: State = session.handle.session.state
        assert session.status in ("stopped", "done")  # a question has no decisions yet
        assert session.replayed().status == "identical"
        sources.add(state.source)
        assert len(state.words or ()) <= LEARNED_MAX
        if state.findings is not None:
            assert {one.related.uid for one in state.findings} >= FOUND
            kept = {one.related.uid for one in state.findings if one.needs_choice}
            assert kept >= NEEDED
    assert "model" in sources
    assert faults != "none" or sources == {"model"}
