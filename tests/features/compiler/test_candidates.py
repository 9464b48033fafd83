"""A candidate prompt in place of each file that a request is made of."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.compiler.domain.events import PACKAGE
from preflights_es.features.regress.change import RunChange
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import CompletionRequested, prompt, read_prompt_schema
from preflights_es.kernel.json import decode_plain_json
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.use.prompt_changes import PromptChange
from preflights_es.use.replays import own_code
from tests.each import each
from tests.features.regress.sessions import child_of, judged, led, place

EVENTS: Final = led("compiler", "project", 1)
"""A pass that the simulator drafts."""


def tried(name: str, text: str) -> RunChange:
    return RunChange(prompts=(PromptChange(name, "", text),))


def asked(events: Any) -> dict[str, Any]:
    found: dict[str, Any] = decode_plain_json(events[place(events, CompletionRequested.tag)].data)
    return found


@each("name", ["base", "project_planner"])
def test_a_candidate_takes_the_place_of_its_file_alone(name: str) -> None:
    text = prompt(PACKAGE, f"{name}.v1").text + "\nBe brief.\n"
    child = child_of(EVENTS, tried(name, text))
    before, now = asked(EVENTS), asked(child)
    changed = [a[0] for a, b in zip(before["prompts"], now["prompts"], strict=True) if a != b]
    assert changed == [f"{name}.v1"]
    assert text.splitlines()[0] in now["messages"][0]["content"]
    assert "Be brief." in now["messages"][0]["content"]
    assert '"title": "ProjectPlan"' in now["messages"][0]["content"]
    assert now["messages"][1] == before["messages"][1]
    assert Replayer(WORKFLOWS, own_code()).replay(child).status == "identical"
    case = judged(EVENTS, tried(name, text + 49 * "\nBe brief.\n"))
    assert [one.detail for one in case.causes] == [f"prompt {name}.v1 changed"]
    assert not [one for one in case.differences if one.pointer.endswith("/id")]


def test_a_candidate_for_another_pass_changes_nothing() -> None:
    case = judged(EVENTS, tried("test_designer", "Be brief."))
    assert (case.outcome, case.causes) == ("same", ())


def test_the_schema_is_hashed_as_its_file_lies_there() -> None:
    found = read_prompt_schema(PACKAGE, "project_plan.v1")
    assert [found.id, found.sha256] in asked(EVENTS)["prompts"]
    assert found.text.strip() in asked(EVENTS)["messages"][0]["content"]
