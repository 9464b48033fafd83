"""Redaction of payment cards, IBANs and phone numbers: no miss and no false alarm.

The cards are the networks' test numbers and the IBANs those of the registry's examples. Phone
numbers come from ranges that are kept for fiction. `↵` stands for a line break.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.each import each
from tests.filed_cases import filed_cases
from tests.redaction.every_kind import redact
from tests.redaction.test_redaction import pairs

FILED = filed_cases(__file__)

CARDS = FILED["CARDS"]
NO_CARDS = FILED["NO_CARDS"]
IBANS = FILED["IBANS"]
NO_IBANS = FILED["NO_IBANS"]
PHONES = FILED["PHONES"]
NO_PHONES = FILED["NO_PHONES"]


TYPOGRAPHIC = [
    ("4111\u20111111\u20111111\u20111111", "[redacted:card]"),
    ("5555\u20135555\u20135555\u20134444", "[redacted:card]"),
]


@each(("text", "recorded"), [*pairs(CARDS, IBANS, PHONES), *TYPOGRAPHIC])
def test_a_number_of_a_person_goes_and_the_rest_stays(text: str, recorded: str) -> None:
    assert redact(text).text == recorded
    assert redact(recorded) == (recorded, ())


@each("text", "".join((NO_CARDS, NO_IBANS, NO_PHONES)).split("\n"))
def test_another_number_stays(text: str) -> None:
    assert redact(text) == (text, ())


@each(("guilty", "innocent"), [(CARDS, NO_CARDS), (IBANS, NO_IBANS), (PHONES, NO_PHONES)])
def test_each_kind_has_as_many_innocents_as_positives(guilty: str, innocent: str) -> None:
    assert len(pairs(guilty)) >= 25
    assert len(innocent.strip().splitlines()) >= len(pairs(guilty))


NUMBERS = ["4111 1111 1111 1111", "378282246310005", "DE89 3704 0044 0532 0130 00", "+49 30 901820"]
PIECES = st.sampled_from(
    [*NUMBERS, *"0123456789", *"+-./() \n", "00", "4111", "DE89", "\u00a0", "[redacted:card]", "٤"]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_redacting_numbers_again_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once) == (once, ())


@given(st.text("abc .,;:\n"), st.sampled_from(NUMBERS), st.text("abc ,;:\n"))
def test_a_number_goes_wherever_it_stands(before: str, number: str, after: str) -> None:
    assert len(redact(f"{before} {number} {after}").kinds) == 1


LONG = 50_000  # characters
UNITS = """
wa.me/|wa.me/49|tel:|011 49|0011|4111.|DE89.|%2B49|+33 612 |1|4|4111 |4111-
1234 5678 |+|+4|+49 |00|(0)|1(|49 30/|DE89|DE89 |a1|+1 202 555 |00 1 |+49(|- -|.
"""


@each("unit", UNITS.strip("\n").replace("\n", "|").split("|"))
def test_a_long_text_without_a_whole_number_stays(unit: str) -> None:
    text = unit * (LONG // len(unit))
    assert redact(text) == (text, ())
