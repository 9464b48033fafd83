"""The tables of docs/specs/extraction.md against the code: neither changes alone."""

from __future__ import annotations

from typing import Any, Final, get_args, get_type_hints

from preflights_es.features.extraction.domain import events, rules
from preflights_es.features.extraction.domain.contracts import EventItem, IdeaItem, TaskItem
from preflights_es.features.extraction.domain.events import POLICY
from tests import markdown
from tests.markdown import ticked

SPEC: Final = markdown.tables("docs/specs/extraction.md")


def test_the_limits_are_those_of_the_code() -> None:
    constants = {
        "NOTE_MAX": events.NOTE_MAX,
        "TITLE_MAX": events.TITLE_MAX,
        "CONTENT_MAX": events.CONTENT_MAX,
        "QUESTION_MAX": events.QUESTION_MAX,
        "DURATION_MAX": events.DURATION_MAX,
        "ITEMS_MAX": events.ITEMS_MAX,
        "POLICY.calls_max": POLICY.calls_max,
        "": 1,
    }
    found = {row["Constant"].strip("`"): int(row["Value"]) for row in SPEC["1.1 Limits"]}
    assert found == constants


def test_reasons_and_statuses_are_those_of_the_code() -> None:
    reasons = get_args(get_type_hints(events.NoteChangeRefused)["reason"])
    assert tuple(ticked(row["Reason"])[0] for row in SPEC["2.2 By hand"]) == reasons
    assert {row["Note"] for row in SPEC["7.2 Status"]} == set(get_args(events.NoteStatus))


def test_the_fields_of_items_and_who_says_them_are_those_of_the_code() -> None:
    listed: dict[str, list[str]] = {}
    for row in SPEC["3. Items"]:
        listed.setdefault(row["Type"], []).append(ticked(row["Field"])[0])
    assert {type_: tuple(fields) for type_, fields in listed.items()} == events.FIELDS
    models: dict[str, Any] = {"task": TaskItem, "event": EventItem, "idea": IdeaItem}
    for row in SPEC["3. Items"]:
        said_by_model = ticked(row["Field"])[0] in models[row["Type"]].model_fields
        assert said_by_model == ("model" in row["Who says it"])


def test_each_mark_of_the_table_says_what_it_says() -> None:
    for row in SPEC["5. Without a model"]:
        for mark in ticked(row["Mark"]):
            line = f"{mark} tea" if mark == "idea:" else f"tea {mark}"
            found = rules.read_note(line, "2026-11-27")
            assert not isinstance(found, rules.BadLine), found
            assert (found[0]["title"], found[0]["type"] in row["Of"]) == ("tea", True)


def test_the_sentences_are_those_of_the_code() -> None:
    for row in SPEC["6. Sentences"]:
        name = ticked(row["Sentence"])[0]
        assert getattr(events, name) == {"en": row["English"], "de": row["German"]}
