"""`planning.v1`: what is an answer, what is dropped, what is frozen, and what a v2 may add."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Annotated, Any

from pydantic import Field

from preflights_es.features.planning.domain.contracts import PLANNING, ModelPlan
from preflights_es.features.planning.domain.decide import PACKAGE
from preflights_es.judging.contract import Contract, judge
from preflights_es.kernel.completions import Accepted, Rejected, prompt
from tests.each import each
from tests.features.planning.cases import answer
from tests.judging.schemas import TESTS, changes

FIXTURES = sorted((TESTS / "planning" / "fixtures" / "planning.v1").glob("*.json"))


def verdict(given: Any) -> Accepted | Rejected:
    return judge(given if isinstance(given, str) else json.dumps(given), PLANNING)


@each("path", FIXTURES)
def test_an_answer_as_the_specification_has_it_is_taken_as_it_is(path: Any) -> None:
    text = path.read_text("utf-8")
    for contract in (PLANNING, PLANNING_2):
        found = judge(text, contract)
        assert isinstance(found, Accepted), found
        assert found.payload == json.loads(text)


@each(
    ("given", "pointer"),
    [
        ({"reasoning": "x"}, "/focus_task_id"),
        ({"focus_task_id": "a"}, "/reasoning"),
        (answer(reasoning="x" * 2_001), "/reasoning"),
        (answer(reasoning=None), "/reasoning"),
        (answer("", reasoning="x"), "/focus_task_id"),
        (answer(1), "/focus_task_id"),  # type: ignore[arg-type]  # what a model may say
        (answer("a", "b", "c", "d"), "/mini_task_ids"),
        (answer(mini_task_ids=None), "/mini_task_ids"),
        (answer(mini_task_ids="b"), "/mini_task_ids"),
        (answer(mini_task_ids=[1]), "/mini_task_ids/0"),
        (answer(buffer_minutes=-1), "/buffer_minutes"),
        (answer(buffer_minutes="15"), "/buffer_minutes"),
        (answer(buffer_minutes=None), "/buffer_minutes"),
        ([], ""),
    ],
)
def test_anything_else_is_rejected_where_it_is_wrong(given: Any, pointer: str) -> None:
    found = verdict(given)
    assert isinstance(found, Rejected), found
    assert any(v.pointer == pointer or not pointer for v in found.violations), found.violations


def test_prose_and_unknown_properties_are_dropped_and_reported() -> None:
    found = verdict(f"Here:\n{json.dumps(answer(mood='calm'))}")
    assert isinstance(found, Accepted)
    assert (found.prose, found.dropped) == ("Here:", ("/mood",))
    assert found.payload == answer()


def test_the_prompt_names_what_the_schema_has() -> None:
    text = prompt(PACKAGE, "planning.v1").text
    schema = json.loads(files(PACKAGE).joinpath("data/schemas/planning.v1.json").read_text())
    assert all(f'"{name}"' in text for name in schema["properties"])


# A newer version -----------------------------------------------------------------------------


class ModelPlan2(ModelPlan):
    """What a second version may add: an optional property, and nothing else."""

    energy_level: Annotated[str, Field(max_length=20)] = Field(default_factory=lambda: None)  # type: ignore[assignment]  # absent is not null


PLANNING_2 = Contract(
    name="planning",
    version=2,
    model=ModelPlan2,
    prose="drop",
    unknown="drop",
    failure=False,
    code=False,
    checks=PLANNING.checks,
)


def test_a_second_version_only_adds() -> None:
    assert changes(ModelPlan.model_json_schema(), ModelPlan2.model_json_schema()) == []
    newer = answer(energy_level="low")
    found, before = judge(json.dumps(newer), PLANNING_2), verdict(newer)
    assert isinstance(found, Accepted)
    assert isinstance(before, Accepted)
    assert (found.payload, before.payload, before.dropped) == (newer, answer(), ("/energy_level",))
