"""How a new decision stands to an older one: by the rules, and as the simulator varies it."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.recall.domain.events import LEARNED_MAX
from preflights_es.features.recall.domain.rules import Compared, evolution, is_related
from preflights_es.features.recall.domain.state import State
from preflights_es.kernel.decisions import Evolution
from tests import led
from tests.each import each
from tests.features.recall.cases import OLDER
from tests.features.recall.evolutions import EVOLUTIONS
from tests.led import Case

WORDS = st.sampled_from(("OAuth", "Redis", "x y", "Type", "", "statt", "Replace OAuth", "é"))
DECISIONS = st.builds(
    Compared,
    category=WORDS,
    fields=st.lists(st.tuples(WORDS, WORDS), max_size=3).map(tuple),
    intention=WORDS,
    uid=st.just("0d1da1e8af20"),
    number=st.none() | st.integers(1, 9),
)


def test_the_table_has_pairs_of_every_kind() -> None:
    assert len(EVOLUTIONS) == 56
    assert {kind for kind, _, _ in EVOLUTIONS} == set(get_args(Evolution))


@each(("kind", "new", "old"), EVOLUTIONS)
def test_an_evolution_is_what_its_label_says(kind: Evolution, new: Compared, old: Compared) -> None:
    assert evolution(new, old) == kind


@given(DECISIONS, DECISIONS)
def test_what_is_not_related_has_no_evolution(new: Compared, old: Compared) -> None:
    if not is_related(new, old):
        assert evolution(new, old) == "none"


@given(DECISIONS, DECISIONS)
def test_only_decisions_of_one_category_contradict_each_other(new: Compared, old: Compared) -> None:
    if evolution(new, old) in ("update", "contradict", "extend"):
        assert new.category == old.category


def test_two_open_answers_without_a_category_are_no_conflict() -> None:
    food = Compared(category="Other", fields=(("Decision", "Pizza"),), intention="Plan the party")
    music = Compared(category="Other", fields=(("Decision", "Jazz"),), intention="Plan the ball")
    assert evolution(music, food) == "none"


@given(DECISIONS)
def test_a_decision_that_says_the_same_changes_nothing(one: Compared) -> None:
    assert evolution(one, one) in ("same", "none")  # Other has words of its own


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
