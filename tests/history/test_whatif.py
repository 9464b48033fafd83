"""What if: a child has the recording's beginning and a change, beside the log."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.clarification.domain.events import ClarificationAnswersGiven
from preflights_es.history.child import Child, sealed_as
from preflights_es.history.recording import Answering, Reasking, driven, recording, step_of
from preflights_es.history.replayer import Rerun
from preflights_es.history.whatif import LiveNeeded, Misused, Otherwise, what_if
from preflights_es.kernel.completions import (
    Completion,
    CompletionRequested,
    Message,
    prompt,
    versions,
)
from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.lead import Lead, LeadChanged
from preflights_es.kernel.ports import Provider, Stored
from preflights_es.providers.base import Unanswered
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.performer import PROGRAM
from preflights_es.store import jsonl
from preflights_es.store.stored_events import verified
from preflights_es.use import leads as own_providers
from preflights_es.use import replays
from preflights_es.use.prompt_changes import (
    PromptChange,
    candidate_texts,
    changed_versions,
    read_prompt_changes,
)
from preflights_es.words.questions import GivenAnswer
from tests import toy
from tests.each import each
from tests.fixed import salt
from tests.history.sessions import CODEC, Led, real, replayed, requests, sim
from tests.history.test_led import FAULTS
from tests.history.test_replayer import recorded as said
from tests.record_goldens import a_model_leads
from tests.record_goldens import recorded as golden
from tests.strategies import EVERY


def run(
    stored: list[Stored], live: Provider | None = None, **otherwise: Any
) -> tuple[Rerun, Child]:
    models = None if live is None else lambda _request: live
    found = recording(EVERY, stored)
    return asyncio.run(what_if(found, Otherwise(**otherwise), replays.own_code(), models))


def led_by(lead: Lead | None) -> Any:
    return lambda _before: lead


class Asked:
    """A model, which counts what it is asked."""

    def __init__(self, seed: int = 5) -> None:
        self.requests: list[CompletionRequested] = []
        self._inside = own_providers.simulated(sim(seed))

    async def respond(self, request: CompletionRequested) -> Completion:
        self.requests.append(request)
        return await self._inside.respond(request)


# 1. The prefix -------------------------------------------------------------------------------


@given(st.integers(0, 10_000), FAULTS, st.integers(1, 40), st.sampled_from((None, sim(9))))
def test_the_child_has_the_beginning_byte_for_byte(
    seed: int, faults: str, version: int, lead: Lead | None
) -> None:
    stored = Led(sim(seed, faults)).answer().stored
    version = min(version, len(stored))
    found, child = run(stored, lead=led_by(lead), start=str(version))
    assert found.kept < version
    assert list(child.stored[: found.kept]) == stored[: found.kept], "envelope and hash, too"
    assert verified(child.stored)


@each(
    ("start", "kept"),
    [("clarify-1", 0), ("clarify-1.1", 0), ("decide-2", 6), ("1", 0), ("2", 0), ("7", 6), ("8", 6)],
)
def test_it_begins_with_the_input_that_led_to_the_step(start: str, kept: int) -> None:
    stored = Led(sim(27)).answer("Cloud").stored
    found, _ = run(stored, answers=(GivenAnswer("hosting", ("On foot",)),), start=start)
    assert found.kept == kept


def test_without_a_word_it_begins_where_something_differs_but_in_no_open_call() -> None:
    stored = Led(sim(27)).answer("Cloud").stored
    assert run(stored, lead=led_by(sim(5)))[0].kept == 0
    assert run(stored, answers=(GivenAnswer("hosting", ("Bare metal",)),))[0].kept == 6
    assert run(stored, answers=(GivenAnswer("ci_cd", ("Jenkins",)),))[0].kept == len(stored)
    outcome = next(i for i, one in enumerate(stored, 1) if one.type == "completion.received.v1")
    assert run(stored, lead=led_by(sim(5)), start=str(outcome))[0].kept == 0
    answers = (GivenAnswer("hosting", ("Bare metal",)),)
    assert run(stored, answers=answers, start=str(outcome))[0].kept == outcome - 1


@each("start", ["0", "99", "9" * 40, "clarify-9", "clarify", " "])
def test_a_step_that_does_not_exist_is_said_with_those_that_do(start: str) -> None:
    stored = Led(sim(27)).answer("Cloud").stored
    with pytest.raises(Misused, match=r"expected (1 to 13|one of clarify-1, decide-2)"):
        run(stored, lead=led_by(sim(5)), start=start)


def test_two_children_are_the_same_to_the_last_id_and_touch_no_log() -> None:
    led = Led(sim(27)).answer("Cloud")
    before = led.stored
    runs = [run(before, lead=led_by(sim(5)), start="decide-2") for _ in range(2)]
    assert runs[0][1].stored == runs[1][1].stored
    assert runs[0][0] == runs[1][0]
    assert led.stored == before


# 2. Another lead -----------------------------------------------------------------------------


def test_another_lead_at_the_beginning_opens_the_session() -> None:
    found, child = run(Led(real()).answer("Cloud").stored, lead=led_by(sim(5)))
    first = CODEC.decode(child.stored[0])
    assert first.setup.lead == sim(5)  # type: ignore[attr-defined]  # an opening
    assert first.setup.provider == "sim"  # type: ignore[attr-defined]  # an opening
    assert found.otherwise == ("led by sim simllm/1 (seed=5, faults=none)",)


def test_another_lead_in_the_middle_takes_over_and_its_session_replays() -> None:
    _, child = run(Led(sim(27)).answer("Cloud").stored, lead=led_by(sim(5)), start="decide-2")
    taken = CODEC.decode(child.stored[6])
    assert isinstance(taken, LeadChanged)
    assert taken.lead == sim(5)
    assert [r.parameters[0] for r in requests(list(map(CODEC.decode, child.stored)))] == [
        ("seed", "27"),
        ("seed", "5"),
    ]
    kept = sealed_as(child.new_id(), child.stored, salt)
    assert kept[0].session_id != child.recording.session_id
    assert [(e.type, e.data, e.input_id) for e in kept] == [
        (e.type, e.data, e.input_id) for e in child.stored
    ]
    assert replayed(kept).status == "identical"
    assert replayed(kept).reasked == 2


def test_the_rules_take_over_and_no_provider_is_asked() -> None:
    found, child = run(Led(real(), "Add login").stored, lead=led_by(None))
    assert requests(list(map(CODEC.decode, child.stored))) == []
    assert found.asks == ("auth_strategy",)


def test_a_recorded_change_of_lead_gives_way() -> None:
    led = Led(sim(27))
    new = LeadChanged(at=1, actor=toy.ADA, lead=sim(8))
    led.handle = led.runner.submit(led.handle, new, led.ids()).handle
    found, _ = run(led.stored, lead=led_by(sim(5)))
    assert [left.reason for left in found.left] == ["something else is done in its place"]


def test_other_prompts_are_read() -> None:
    named, tried = (("clarify", "clarify.v1"),), (("clarify.v1", "Ask."),)
    found, child = run(Led(sim(27)).stored, prompts=named, candidates=tried)
    (asked,) = requests(list(map(CODEC.decode, child.stored)))[:1]
    assert asked.messages[0].content == "Ask."
    assert found.otherwise == ("prompt clarify.v1, with another text",)
    assert found.divergences[0].pointer == "/setup/candidates"
    request = next(d for d in found.divergences if d.type == "completion.requested.v1")
    assert request.cause == "prompt clarify.v1 changed"
    later = Led(sim(27)).answer("Cloud").stored
    named, tried = (("decide", "decide.v1"),), (("decide.v1", "Decide."),)
    found, child = run(later, start="decide-2", prompts=named, candidates=tried)
    assert found.kept > 0
    assert requests(list(map(CODEC.decode, child.stored)))[-1].messages[0].content == "Decide."
    assert replayed(child.stored).status == "identical"


def test_no_lead_takes_over_where_there_is_none_or_all_is_accepted() -> None:
    with pytest.raises(Misused, match="read no prompt"):
        run(Led(None).stored, prompts=(("clarify", "clarify.v1"),))
    with pytest.raises(Misused, match="sessions of the workflow toy have no lead"):
        run(said("a"), lead=led_by(sim(5)))
    stored = list(jsonl.stored(golden(a_model_leads).splitlines(), "golden"))
    with pytest.raises(Misused, match="no other lead can take over at event"):
        run(stored, lead=led_by(sim(5)), start=str(len(stored)))
    with pytest.raises(Misused, match="asks no question"):
        run(said("a"), answers=(GivenAnswer("x", ("y",)),))


def test_a_call_without_an_attempt_is_its_own_step() -> None:
    assert [step_of(c) for c in ("clarify-1.2", "completion-1", "a.b", "a.0")] == [
        "clarify-1",
        "completion-1",
        "a.b",
        "a.0",
    ]


# 3. Another answer ---------------------------------------------------------------------------


def test_an_answer_to_what_is_asked_only_now_is_given_then_with_its_other_text() -> None:
    stored = Led(sim(27)).answer("Cloud").stored
    waiting, _ = run(stored, lead=led_by(sim(5)))
    (key,) = waiting.asks
    found, _ = run(stored, lead=led_by(sim(5)), answers=(GivenAnswer(key, ("In the cellar",)),))
    assert found.asks == ()
    assert [left.type for left in found.left] == ["clarification.answers_given.v1"]
    other = (
        GivenAnswer(key, ("Other (specify)",)),
        GivenAnswer(f"{key}__other", ("In the cellar",)),
    )
    found, child = run(stored, lead=led_by(sim(5)), answers=other)
    assert found.asks == ()
    given = [e for e in map(CODEC.decode, child.stored) if isinstance(e, ClarificationAnswersGiven)]
    assert [event.answers for event in given if event.actor == PROGRAM] == [other]


def test_another_answer_takes_the_place_of_the_recorded_one_or_revises_it() -> None:
    stored = Led(sim(27)).answer("Cloud").stored
    found, _ = run(stored, answers=(GivenAnswer("hosting", ("On foot",)),), start=str(len(stored)))
    changes = {change.pointer: change.child for change in found.changes}
    assert found.kept == 9
    assert changes["/view/patch/fields/0/1"] == "On foot"
    found, _ = run(
        Led(sim(27)).answer("Cloud").stored, answers=(GivenAnswer("hosting", ("On foot",)),)
    )
    changes = {change.pointer: (change.recorded, change.child) for change in found.changes}
    assert changes["/view/patch/fields/0/1"] == ("Cloud", "On foot")
    found, _ = run(Led(sim(27)).stored, answers=(GivenAnswer("no_such_key", ("x",)),))
    assert [(left.version, left.reason) for left in found.left] == [
        (0, "no_such_key: unknown_question")
    ]


# 4. A model ----------------------------------------------------------------------------------


def test_a_model_is_not_asked_without_leave_and_the_price_is_said() -> None:
    stored = Led(sim(27)).answer("Cloud").stored
    with pytest.raises(
        LiveNeeded, match=r"this asks anthropic \(claude-sonnet-5-5\), at most 4 calls: give --live"
    ) as caught:
        run(stored, lead=led_by(real()))
    model = Asked()
    found, _ = run(stored, live=model, lead=led_by(real()))
    assert found.live == len(model.requests) <= caught.value.calls


def test_what_was_recorded_costs_nothing_and_another_answer_what_it_changes() -> None:
    led = Led(real(), provider=Asked(27)).answer("Cloud")
    found, child = run(led.stored, start="1")
    assert (found.live, found.status) == (0, "identical")
    asked = requests(list(map(CODEC.decode, child.stored)))
    assert [r.call for r in asked] == ["clarify-1.1", "decide-2.1"]
    texts = [e.text for e in led.events if hasattr(e, "text")]
    again = [e.text for e in map(CODEC.decode, child.stored) if hasattr(e, "text")]
    assert again == texts
    with pytest.raises(LiveNeeded):
        run(led.stored, answers=(GivenAnswer("hosting", ("On foot",)),))
    model = Asked(27)
    found, _ = run(led.stored, live=model, answers=(GivenAnswer("hosting", ("On foot",)),))
    assert [request.call for request in model.requests] == ["decide-2.1"]
    assert found.live == 1


def test_no_more_calls_are_made_than_were_announced() -> None:
    led = Led(real())
    model = Asked()
    found = recording(EVERY, led.stored)
    answering = Answering(found, 99, Reasking(replays.own_code()), lambda _: model, 1)
    (asked,) = requests(led.events)
    assert driven(answering.respond(asked)).text
    with pytest.raises(Unanswered, match="1 calls were announced, and have been made"):
        driven(answering.respond(asked))
    assert len(model.requests) == 1


# 5. What the options say ---------------------------------------------------------------------


def test_prompts_are_named_by_version_or_whole_or_by_a_file(tmp_path: Path) -> None:
    workflow = WORKFLOWS["clarification"]
    for version in ("v1", "clarify.v1"):
        (change,) = read_prompt_changes((("clarify", version),), [workflow])
        assert change == PromptChange("clarify", "clarify.v1")
    (tmp_path / "new.md").write_text("Ask.")
    changes = [*read_prompt_changes((("clarify", str(tmp_path / "new.md")),), [workflow])]
    assert changed_versions(changes, workflow) == (("clarify", "clarify.v1"),)
    assert candidate_texts(changes, workflow) == (("clarify.v1", "Ask."),)
    for pair, found, expected in (
        (("x", "v1"), workflow, "expected one of clarify, decide"),
        (("clarify", "v3"), workflow, r"expected one of clarify\.v1, or a file"),
        (("x", "v1"), toy.WORKFLOW, "there is none"),
    ):
        with pytest.raises(SettingsError, match=expected):
            [*read_prompt_changes((pair,), [found])]


@each("name", WORKFLOWS)
def test_every_version_of_a_prompt_has_the_same_generator(name: str) -> None:
    simulator = own_providers.simulated(sim(1))
    assert isinstance(simulator, SimLLMProvider)
    package = f"preflights_es.features.{name}"
    for prompt_name, default in WORKFLOWS[name].led.prompts:
        texts = [prompt(package, id_).text for id_ in (default, *versions(package, prompt_name))]
        asked = [simulator.asked([Message("system", text)]) for text in texts]
        (route,) = {simulator.route(request) for request in asked}
        assert route != "generic"


# 7. Keeping it -------------------------------------------------------------------------------
