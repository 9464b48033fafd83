"""Which sessions a search means."""

from __future__ import annotations

from preflights_es.use.session_lists import SessionSearch
from preflights_es.words.workflow import Cost
from tests.each import each
from tests.projections.test_usage import DAY, call

ID = "01a2238e-ba61-7151-b6ca-30145fcce888"


@each(
    ("search", "fits"),
    [
        (SessionSearch(words="LOGIN add"), True),
        (SessionSearch(words="login remove"), False),
        (SessionSearch(words="5fcce888"), True),
        (SessionSearch(words="01a2238e"), True),
        (SessionSearch(words="b6ca"), False),
        (SessionSearch(among={ID}), True),
        (SessionSearch(among=()), False),
    ],
)
def test_words_and_id(search: SessionSearch, fits: bool) -> None:
    assert search.fits_words(ID, "Add a login") is fits


@each(
    ("search", "fits"),
    [
        (SessionSearch(counted="fallbacks"), True),
        (SessionSearch(counted="fallbacks", since=2 * DAY, until=3 * DAY - 1), True),
        (SessionSearch(counted="fallbacks", since=3 * DAY), False),
        (SessionSearch(counted="fallbacks", model="another"), False),
        (SessionSearch(counted="failed"), True),
        (SessionSearch(counted="failed", until=DAY), False),
        (SessionSearch(counted="late"), False),
        (SessionSearch(prompt="another"), False),
        (SessionSearch(cost_over=0.2), True),
        (SessionSearch(cost_over=0.25), False),
        (SessionSearch(cost_over=0.2, counted="late"), False),
    ],
)
def test_what_happened_in_calls_and_what_they_cost(search: SessionSearch, fits: bool) -> None:
    calls = [call(at=DAY), call(at=2 * DAY, outcome="timeout", fell_back=1)]
    assert search.fits_calls((Cost("EUR", "0.25"),), calls) is fits
