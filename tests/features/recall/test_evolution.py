"""How a new decision stands to an older one."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.recall.domain.rules import ComparedDecision, is_related, judge_evolution
from preflights_es.words.decisions import Evolution
from tests.each import each
from tests.features.recall.evolutions import EVOLUTIONS

WORDS = st.sampled_from(("OAuth", "Redis", "x y", "Type", "", "statt", "Replace OAuth", "é"))
DECISIONS = st.builds(
    ComparedDecision,
    category=WORDS,
    fields=st.lists(st.tuples(WORDS, WORDS), max_size=3).map(tuple),
    intention=WORDS,
    uid=st.just("0d1da1e8af20"),
    number=st.none() | st.integers(1, 9),
)


def test_the_table_has_pairs_of_every_kind() -> None:
    assert len(EVOLUTIONS) == 60
    assert {kind for kind, _, _ in EVOLUTIONS} == set(get_args(Evolution))


@each(("kind", "new", "old"), EVOLUTIONS)
def test_an_evolution_is_what_its_label_says(
    kind: Evolution, new: ComparedDecision, old: ComparedDecision
) -> None:
    assert judge_evolution(new, old) == kind


@given(DECISIONS, DECISIONS)
def test_only_related_decisions_have_an_evolution_or_a_conflict(
    new: ComparedDecision, old: ComparedDecision
) -> None:
    kind = judge_evolution(new, old)
    assert is_related(new, old) or kind == "none"
    assert kind not in ("update", "contradict", "extend") or new.category == old.category
    assert judge_evolution(new, new) in ("same", "none")  # Other has words of its own


def test_two_open_answers_without_a_category_are_no_conflict() -> None:
    food, music = (
        ComparedDecision(category="Other", fields=(("Decision", one),), intention=f"Plan the {of}")
        for one, of in (("Pizza", "party"), ("Jazz", "ball"))
    )
    assert judge_evolution(music, food) == "none"
