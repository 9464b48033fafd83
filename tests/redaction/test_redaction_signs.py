"""What a text must hold before a pattern is compiled: no pattern matches a text without it."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preflights_es.redaction.labels import _split_ways, may_lead
from preflights_es.redaction.patterns import rules
from preflights_es.redaction.shapes import _CANDIDATE, _KEYS, _RUN, _TOKENS
from tests.each import each

WAYS: Final = [way for way, signs in _split_ways().items() if signs != ["-"]]
"""Without the way behind a flag: its dash stands in front of the label."""
FORMATS: Final = (*rules(_KEYS), *rules(_TOKENS))


@pytest.mark.slow("fuzzing")
@each("way", WAYS)
def test_a_way_that_matches_has_one_of_its_signs(way: str) -> None:
    @given(st.from_regex(way))
    @settings(max_examples=10, suppress_health_check=list(HealthCheck))
    def check(text: str) -> None:
        assert any(sign in text for sign in _split_ways()[way])

    check()


@given(st.sampled_from(FORMATS).flatmap(lambda line: st.from_regex(line, fullmatch=True)))
@settings(suppress_health_check=list(HealthCheck))
def test_a_credential_is_a_candidate(text: str) -> None:
    assert re.search(_CANDIDATE, text) or not re.search(_RUN, text)


def test_words_are_no_candidates() -> None:
    assert not re.search(_CANDIDATE, "Add authentication to the administration")
    assert not may_lead("add oauth login")
