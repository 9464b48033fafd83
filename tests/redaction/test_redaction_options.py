"""Redaction of passwords that are glued to an option: no miss and no false alarm."""

from __future__ import annotations

from tests.each import each
from tests.filed_cases import filed_cases
from tests.redaction.every_kind import redact
from tests.redaction.test_redaction import pairs

FILED = filed_cases(__file__)

OPTIONS = FILED["OPTIONS"]
NO_OPTIONS = FILED["NO_OPTIONS"]


@each(("text", "recorded"), pairs(OPTIONS))
def test_a_password_that_is_glued_to_its_option_goes(text: str, recorded: str) -> None:
    assert redact(text).text == recorded
    assert redact(recorded) == (recorded, ())


@each("text", NO_OPTIONS.strip("\n").split("\n"))
def test_another_option_stays(text: str) -> None:
    assert redact(text) == (text, ())


def test_options_have_as_many_innocents_as_positives() -> None:
    assert len(pairs(OPTIONS)) >= 25
    assert len(NO_OPTIONS.strip("\n").split("\n")) >= len(pairs(OPTIONS))


@each(
    "unit",
    [
        *("mysql ", "mysql -p ", " -p", " -u a", "-u a -p ", "redis-cli -- ", "curl -u ", "rar "),
        *("mysql a ", "mysql '", 'mysql "a', "mysql \\\n", "mysql.", "mysql -v", "docker login "),
    ],
)
def test_a_long_text_of_options_without_values_stays(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    assert redact(text) == (text, ())
