"""Which scopes are one place, and how much is done to find out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.recall.domain.evolution import is_same
from preflights_es.features.recall.use import near
from preflights_es.features.recall.use.variants import stems
from preflights_es.kernel.words import begins

WORDS = st.sampled_from(
    [
        "order",
        "orders",
        "ordering",
        "Bestellung",
        "Bestellungen",
        "import2",
        "imports2",
        "2",
        "café",
    ]
)
SCOPES = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), unique=True, max_size=8)


def test_scopes_that_say_the_same_are_one_place() -> None:
    found = near.places(["orders", "the order", "background jobs", "Bestellung", "Bestellungen"])
    assert found == {
        "orders": "orders",
        "the order": "orders",
        "background jobs": "background jobs",
        "Bestellung": "Bestellung",
        "Bestellungen": "Bestellung",
    }


@given(SCOPES)
def test_a_place_is_a_scope_that_says_the_same_or_leads_to_one(scopes: list[str]) -> None:
    found = near.places(scopes)
    for scope in scopes:
        place, before = found[scope], scopes[: scopes.index(scope)]
        same = [one for one in before if stems(one) and is_same(stems(one), stems(scope))]
        assert bool(same) == (place != scope)
        assert place in {found[one] for one in same} | {scope}


@pytest.mark.slow("whole runs")
@given(SCOPES)
def test_scopes_that_say_the_same_begin_alike(scopes: list[str]) -> None:
    """So a list needs no stems of those that do not."""
    for one in scopes:
        for other in scopes:
            if is_same(stems(one), stems(other)):
                assert begins(one) == begins(other), (one, other)


def test_scopes_are_stemmed_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def counted(text: str) -> tuple[frozenset[str], ...]:
        said.append(text)
        return stems(text)

    monkeypatch.setattr(near, "stems", counted)
    scopes = [f"module of area {'x' * n}" for n in range(40)]
    near.places(scopes)
    assert said == scopes
