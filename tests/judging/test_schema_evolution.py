"""Published schemas are frozen, and a newer version takes every old answer."""

from __future__ import annotations

import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

from preflights_es.judging.contract import Accepted, Contract, judge
from tests.each import each
from tests.judging.schemas import TESTS, SchemaFile, changes, schema_files

FILES = schema_files()
VERSIONS = [
    [file for file in FILES if (file.workflow, file.name) == series]
    for series in sorted({(file.workflow, file.name) for file in FILES})
]
ANSWERS = [(file, answer) for file in FILES for answer in file.answers]


def of(file: SchemaFile) -> str:
    """How a test names a file."""
    return f"{file.workflow}/{file.id}"


UNANSWERED = ("failure_report",)
"""Schemas of what no model answers: of a report that the rules make (seed 2)."""


@each("versions", VERSIONS)
def test_the_newest_schema_is_what_its_contract_asks_for(versions: list[SchemaFile]) -> None:
    contracts = versions[-1].contracts
    if versions[-1].name in UNANSWERED:
        assert contracts == []
        return
    assert len(contracts) == 1, "the workflow's domain has one contract of this id"
    assert versions[-1].schema == contracts[0].shape.schema


@each("versions", VERSIONS)
def test_versions_have_no_gap_and_only_add_optional_properties(versions: list[SchemaFile]) -> None:
    assert [file.version for file in versions] == list(range(1, len(versions) + 1))
    for old, new in pairwise(versions):
        assert changes(old.schema, new.schema) == []


@each(("file", "answer"), ANSWERS)
def test_an_old_answer_meets_every_newer_schema(file: SchemaFile, answer: Path) -> None:
    newer = [f for f in FILES if f[:2] == file[:2] and f.version >= file.version]
    for version in newer:
        contract = Contract(
            name=file.name,
            version=version.version,
            schema=version.schema,
            failure=False,
            code=False,
        )
        found = judge(answer.read_text("utf-8"), contract)
        assert isinstance(found, Accepted), found


def test_every_folder_of_answers_names_a_schema() -> None:
    folders = {path.parent for path in TESTS.glob("*/fixtures/*.v[0-9]*/*.json")}
    known = {TESTS / file.workflow / "fixtures" / file.id for file in FILES}
    assert folders <= known


# What counts as a change ---------------------------------------------------------------------

OLD: dict[str, Any] = {
    "type": "object",
    "title": "Notes",
    "required": ["items"],
    "additionalProperties": False,
    "properties": {
        "items": {"type": "array", "maxItems": 50, "items": {"$ref": "#/$defs/Item"}},
        "owner": {"anyOf": [{"type": "string", "maxLength": 80}, {"type": "null"}]},
    },
    "$defs": {
        "Item": {
            "type": "object",
            "required": ["kind"],
            "properties": {
                "kind": {"enum": ["task", "event"]},
                "below": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
            },
        }
    },
}


def changed(*path: str, to: Any) -> dict[str, Any]:
    """The old schema with another value at a place; None removes it."""
    new = copy.deepcopy(OLD)
    at = new
    for part in path[:-1]:
        at = at[part]
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return new


@each(
    "new",
    [
        OLD,
        changed("title", to="Other notes"),
        changed("description", to="Words."),
        changed("properties", "mood", to={"type": "string"}),
        changed("$defs", "Item", "properties", "due", to={"type": "string"}),
        changed("properties", "owner", "default", to="unknown"),
        changed("$defs", "Unused", to={"type": "string"}),
        {
            **changed("properties", "items", "items", to={"$ref": "#/$defs/Renamed"}),
            "$defs": {"Renamed": OLD["$defs"]["Item"], "Item": OLD["$defs"]["Item"]},
        },
        changed("properties", "items", "items", to=OLD["$defs"]["Item"]),
    ],
)
def test_an_optional_property_and_words_are_no_change(new: dict[str, Any]) -> None:
    assert changes(OLD, new) == []


@each(
    ("new", "place"),
    [
        (changed("properties", "owner", to=None), "/properties/owner"),
        (changed("required", to=["items", "owner"]), "/required"),
        (changed("required", to=None), "/required"),
        (changed("additionalProperties", to=None), "/additionalProperties"),
        (changed("properties", "items", "maxItems", to=40), "/properties/items/maxItems"),
        (changed("properties", "items", "minItems", to=1), "/properties/items/minItems"),
        (changed("properties", "items", "type", to="object"), "/properties/items/type"),
        (
            changed("$defs", "Item", "properties", "kind", to={"enum": ["task"]}),
            "/properties/items/items/properties/kind/enum",
        ),
        (
            changed("$defs", "Item", "required", to=["kind", "below"]),
            "/properties/items/items/required",
        ),
        (changed("properties", "owner", "anyOf", to=[{"type": "null"}]), "/properties/owner/anyOf"),
        (
            changed("properties", "owner", "anyOf", to=[{"type": "string"}, {"type": "null"}]),
            "/properties/owner/anyOf/0/maxLength",
        ),
        (changed("properties", "owner", to=True), "/properties/owner"),
        (
            changed("properties", "items", "items", to={"type": "object"}),
            "/properties/items/items/properties/kind",
        ),
    ],
)
def test_anything_else_is_a_change_and_named(new: dict[str, Any], place: str) -> None:
    assert place in [change.partition(": ")[0] for change in changes(OLD, new)]
