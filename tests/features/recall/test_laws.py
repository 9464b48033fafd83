"""What holds for every recall, whatever a model says and the index holds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.events import QUERIES_MAX, QueriesRewritten
from preflights_es.features.recall.domain.state import RecallState
from preflights_es.features.recall.word_variants import may_have_stems, stems
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.lead import FellBack
from preflights_es.testing import PlayedSession, SessionMove
from tests import strategies

SESSIONS = strategies.sessions("recall")
WILD = strategies.wild_sessions("recall")


def run(moves: list[SessionMove]) -> PlayedSession:
    return PlayedSession(strategies.EVERY["recall"]).play(moves)


@given(SESSIONS | WILD)
def test_an_answer_is_in_the_order_of_the_rules_and_stays(moves: list[SessionMove]) -> None:
    before = None
    for _, session in run(moves).steps():
        state: RecallState = session.state
        assert len(state.queries or ()) <= QUERIES_MAX
        if before is not None:
            assert state.results == before
        if state.results is not None:
            assert list(state.results) == rules.best(state.results)
        before = state.results


@given(SESSIONS | WILD)
def test_a_fallback_is_followed_by_the_answer_of_the_rules(moves: list[SessionMove]) -> None:
    events = run(moves).events
    for event, following in pairwise(events):
        if isinstance(event, FellBack):
            assert isinstance(following, QueriesRewritten)
            assert following.source == "rules"


@given(SESSIONS)
def test_every_call_is_counted(moves: list[SessionMove]) -> None:
    found = run(moves)
    calls = [event for event in found.events if isinstance(event, CompletionRequested)]
    assert found.handle.session.state.led.calls == len(calls)


@given(st.text(st.characters(max_codepoint=0x17F), max_size=30))
@example("the dying news")
@example("\u00c4rzte und \u00dcbungen")
def test_a_text_may_have_its_own_stems_and_none_of_other_words(text: str) -> None:
    assert may_have_stems(text, stems(text))
    assert not may_have_stems(f"{text} orders", stems("carts"))
