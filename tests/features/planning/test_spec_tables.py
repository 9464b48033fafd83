"""The tables of docs/specs/planning.md against the code: neither changes alone."""

from __future__ import annotations

from typing import Final, get_args, get_type_hints

from preflights_es.features.planning.domain import events, schedule
from preflights_es.features.planning.domain.contracts import PLANNING
from tests import markdown
from tests.each import each
from tests.markdown import Row, ticked

SPEC: Final = markdown.tables("docs/specs/planning.md")


def names(heading: str, column: str) -> tuple[str, ...]:
    return tuple(ticked(row[column])[0] for row in SPEC[heading])


@each("row", SPEC["1.1 Limits"])
def test_a_limit_is_that_of_the_code(row: Row) -> None:
    name = row["Constant"].strip("`")
    found = PLANNING.policy.calls_max if "." in name else getattr(events, name)
    assert found == int(row["Value"])


def test_names_and_numbers_are_those_of_the_code() -> None:
    assert (events.ASSUMED, events.UNTIL) == (45, "18:00")
    assert names("2.2 Choosing", "Reason") == get_args(
        get_type_hints(events.PlanningChangeRefused)["reason"]
    )
    assert names("3. The plan", "Field") == events.PlannedDay.__struct_fields__
    assert names("5. The schedule", "Why") == get_args(schedule.Why) == tuple(schedule.REASONS)


def test_sentences_and_warnings_are_those_of_the_code() -> None:
    for row in SPEC["6. Sentences"]:
        name = ticked(row["Sentence"])[0]
        assert getattr(schedule, name) == {"en": row["English"], "de": row["German"]}
    found = {
        ticked(row["Warning"])[0]: {"en": row["English"], "de": row["German"]}
        for row in SPEC["6.1 Warnings"]
    }
    assert found == schedule.WARNINGS
    assert tuple(found) == get_args(events.Warned)
