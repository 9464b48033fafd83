"""Times, spans and numbers as pages say them."""

from __future__ import annotations

from preflights_es.kernel.events import INT_MAX
from preflights_es.surfaces.view import words
from tests.each import each
from tests.fixed import NOON


@each(
    ("seconds", "said"),
    [
        (0.0, "0 ms"),
        (0.34, "340 ms"),
        (1.0, "1 s"),
        (7.94, "7.9 s"),
        (59.96, "1 min"),
        (60.0, "1 min"),
        (3_600.0, "1 h"),
        (7_830.0, "2 h 10 min"),
        (86_400.0 + 5, "1 d"),
        (3 * 86_400.0 + 7_200, "3 d 2 h"),
        (400 * 86_400.0, "400 d"),
    ],
)
def test_a_span_has_two_units_at_most(seconds: float, said: str) -> None:
    assert words.span(seconds) == said


def test_a_time_is_utc_and_always_one() -> None:
    assert (words.clock(NOON), words.date(NOON)) == ("14:13:20", "21 Sep 2026")
    assert words.stamp(NOON + 42_000) == "2026-09-21 14:13:20.042"
    assert (words.clock(None), words.date(None), words.stamp(None)) == ("", "", "")
    assert words.date(INT_MAX) == "31 Dec 9999"
    assert words.date(-INT_MAX) == "1 Jan 1"


def test_what_is_not_known_is_a_question_mark_and_no_0() -> None:
    assert (words.count(None), words.millis(None), words.percent(None)) == ("?", "?", "")
    assert (words.count(0), words.millis(0), words.percent(0.5)) == ("0", "0 ms", "50 %")


def test_a_value_is_one_short_line() -> None:
    assert words.value({"a": [1, None]}) == '{"a":[1,null]}'
    assert words.value("text") == "text"
    assert len(words.value("x" * 1_000)) == words.VALUE_MAX
