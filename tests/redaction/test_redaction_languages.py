"""Redaction behind French and Spanish labels: no miss and no false alarm.

Every secret here is made up. `↵` stands for a line break.
"""

from __future__ import annotations

import pytest

from tests.each import each
from tests.filed_cases import filed_cases
from tests.redaction.every_kind import redact
from tests.redaction.test_redaction import pairs

FILED = filed_cases(__file__)

FRENCH = FILED["FRENCH"]
NOT_FRENCH = FILED["NOT_FRENCH"]
SPANISH = FILED["SPANISH"]
NOT_SPANISH = FILED["NOT_SPANISH"]


TYPOGRAPHIC = [
    ("Clé d\u2019API\u00a0: abc123def456", "Clé d\u2019API\u00a0: [redacted:key]"),
    ("Mot de passe\u202f: hunter2", "Mot de passe\u202f: [redacted:password]"),
    ("mdp : «\u00a0tournesol\u00a0»", "mdp : «\u00a0[redacted:password]\u00a0»"),
]


# What the review of other languages found in English and German.
LIKEWISE = FILED["LIKEWISE"]
NOT_LIKEWISE = FILED["NOT_LIKEWISE"]


@each(("text", "recorded"), [*pairs(FRENCH, SPANISH, LIKEWISE), *TYPOGRAPHIC])
def test_a_secret_behind_a_french_or_spanish_label_goes(text: str, recorded: str) -> None:
    assert redact(text).text == recorded
    assert redact(recorded) == (recorded, ())


@each("text", f"{NOT_FRENCH}{NOT_SPANISH}{NOT_LIKEWISE}".split("\n"))
def test_a_french_or_spanish_sentence_without_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(("guilty", "innocent"), [(FRENCH, NOT_FRENCH), (SPANISH, NOT_SPANISH)])
def test_each_language_has_as_many_innocents_as_positives(guilty: str, innocent: str) -> None:
    assert len(pairs(guilty)) >= 25
    assert len(innocent.strip().splitlines()) >= len(pairs(guilty))


@each(
    "unit",
    [
        "mot de ",
        "mot de passe de ",
        "contraseña es ",
        "clé d'",
        "mdp : ",
        "clave ",
        "a est ",
        "mdp admin ",
        "mdp, c'est ",
        "code d'",
    ],
)
def test_a_long_text_of_labels_without_values_stays(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    assert redact(text) == (text, ())
