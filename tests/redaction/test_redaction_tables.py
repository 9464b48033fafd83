"""Redaction by tables: no miss and no false alarm.

Labels in French and Spanish; cards, IBANs and phone numbers; passwords that are glued to an option.
Every secret is made up. The cards are the networks' test numbers, the IBANs those of the registry's
examples, the phone numbers of ranges that are kept for fiction. `↵` stands for a line break.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.each import each
from tests.filed_cases import filed_cases
from tests.redaction.every_kind import redact
from tests.redaction.test_redaction import pairs

FILED = filed_cases(__file__)
KINDS = ("FRENCH", "SPANISH", "CARDS", "IBANS", "PHONES", "OPTIONS")
"""Each has a table of what goes, and one behind `NOT_` of what stays."""
LIKEWISE = "LIKEWISE"
"""What the review of other languages found in English and German."""

TYPOGRAPHIC = [
    ("Clé d\u2019API\u00a0: abc123def456", "Clé d\u2019API\u00a0: [redacted:key]"),
    ("Mot de passe\u202f: hunter2", "Mot de passe\u202f: [redacted:password]"),
    ("mdp : «\u00a0tournesol\u00a0»", "mdp : «\u00a0[redacted:password]\u00a0»"),
    ("4111\u20111111\u20111111\u20111111", "[redacted:card]"),
    ("5555\u20135555\u20135555\u20134444", "[redacted:card]"),
]


def innocent(kind: str) -> list[str]:
    """The lines that stay."""
    return str(FILED[f"NOT_{kind}"]).strip("\n").split("\n")


@each(("text", "recorded"), [*pairs(*(FILED[one] for one in (*KINDS, LIKEWISE))), *TYPOGRAPHIC])
def test_a_secret_goes_and_the_rest_stays(text: str, recorded: str) -> None:
    assert redact(text).text == recorded
    assert redact(recorded) == (recorded, ())


@each("text", ["", *(text for one in (*KINDS, LIKEWISE) for text in innocent(one))])
def test_a_text_without_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())


@each("kind", KINDS)
def test_each_kind_has_as_many_innocents_as_positives(kind: str) -> None:
    guilty = len(pairs(FILED[kind]))
    assert guilty >= 25
    assert len(innocent(kind)) >= guilty


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
mot de |mot de passe de |contraseña es |clé d'|mdp : |clave |a est |mdp admin |mdp, c'est |code d'
wa.me/|wa.me/49|tel:|011 49|0011|4111.|DE89.|%2B49|+33 612 |1|4|4111 |4111-
1234 5678 |+|+4|+49 |00|(0)|1(|49 30/|DE89|DE89 |a1|+1 202 555 |00 1 |+49(|- -|.
mysql |mysql -p | -p| -u a|-u a -p |redis-cli -- |curl -u |rar |mysql a |mysql '|mysql "a|mysql.
mysql -v|docker login |seed phrase: it |mnemonic is |c2VjcmV0 |c2VjcmV0"""
"""Labels without values, parts of numbers, and options without values."""


@pytest.mark.slow("sizes")
@each("unit", [*UNITS.strip("\n").replace("\n", "|").split("|"), "mysql \\\n"])
def test_a_long_text_without_a_whole_secret_stays(unit: str) -> None:
    text = unit * (LONG // len(unit))
    assert redact(text) == (text, ())
