"""A run with a change: a child of each session hears what was recorded."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
import pytest
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    ClarificationQuestionAsked,
    DecisionAcknowledged,
)
from preflights_es.features.regress.cases import measures
from preflights_es.features.regress.change import RunChange, describe_change, split_change
from preflights_es.features.regress.children import Runs, side_of
from preflights_es.features.regress.regression import Regression
from preflights_es.features.regress.results import Case, Noise, SessionLeftOut
from preflights_es.history.child import sealed_as
from preflights_es.history.replayer import Replayer
from preflights_es.history.whatif import Misused
from preflights_es.kernel.completions import (
    Completion,
    CompletionReceived,
    CompletionRequested,
    prompt,
)
from preflights_es.kernel.errors import (
    LLMLostError,
    LLMRefusedError,
    LLMTimeoutError,
    ProviderMissing,
)
from preflights_es.kernel.events import Decision, Event, Input
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.ports import Provider, Stored
from preflights_es.projections.usage import Price
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import jsonl, stored_events
from preflights_es.testing import PlayedSession, Reply, ScriptedProvider
from preflights_es.use import leads as own_providers
from preflights_es.use.prompt_changes import PromptChange
from preflights_es.use.replays import own_code
from preflights_es.words.questions import Answers, Question, Reached
from preflights_es.words.workflow import View, Workflow
from tests import toy
from tests.each import each
from tests.features.clarification.cases import ADA
from tests.features.extraction.cases import ASKED, EMAIL, READ_AGAIN, Note, items, task
from tests.features.regress.sessions import child_of, judged, led, place, regression_of, ruled
from tests.fixed import salt
from tests.history.sessions import Led, real, sim
from tests.history.test_goldens import FILES
from tests.toy import altered

RECORDED: Final[dict[str, Any]] = {"keeps_recording": True}
CHILD = "01a0c450-6c02-7000-8000-0000000000ff"


def noted(*replies: Reply) -> Note:
    """A note that a model read, which no settings know."""
    return Note(*replies)


def stored(note: Note) -> list[Stored]:
    return list(note.runner.store.read(note.handle.session_id))


def accepted(session: Led) -> list[Stored]:
    """With a patch that a person accepts."""
    state = session.handle.session.state
    new = DecisionAcknowledged(
        at=session.runner.now(), actor=ADA, patch=state.offer.patch, folder="docs", number=1
    )
    session.handle = session.runner.submit(session.handle, new, session.ids()).handle
    return session.stored


def tried(name: str, text: str, version: str = "") -> RunChange:
    return RunChange(prompts=(PromptChange(name, version, text),))


def kinds(case: Case) -> list[tuple[str, bool]]:
    return [(cause.kind, cause.together) for cause in case.causes]


# 1. What a change is -------------------------------------------------------------------------


def test_a_change_travels_to_other_processes_as_it_is() -> None:
    change = RunChange(
        prompts=(PromptChange("clarify", "", "Hi"),), seed=3, parameters=(("a", "b"),)
    )
    assert pickle.loads(pickle.dumps(change)) == change
    assert msgspec.json.decode(msgspec.json.encode(change), type=RunChange) == change
    assert describe_change(change) == (
        "prompt clarify, with another text",
        "parameter a=b",
        "seed 3",
    )


def test_the_model_of_another_provider_belongs_to_it() -> None:
    change = RunChange(provider="openai", model="m", parameters=(("max_tokens", "9"),))
    assert describe_change(change) == ("provider openai m (max_tokens=9)",)
    assert [part.kind for part in split_change(RunChange(model="m", parameters=(("t", "1"),)))] == [
        "model",
        "parameter",
    ]


def test_no_recorded_event_has_a_byte_of_a_candidate() -> None:
    assert b"candidates" not in canonical_json(Setup("0", "d"))
    with_text = Setup("0", "d", candidates=(("clarify.v1", "Hi"),))
    assert msgspec.json.decode(canonical_json(with_text), type=Setup) == with_text


def test_faults_that_the_simulator_does_not_know_are_no_session_s_fault() -> None:
    with pytest.raises(Misused, match="sim"):
        regression_of(RunChange(parameters=(("faults", "thunder"),)))


# 2. Who is touched ---------------------------------------------------------------------------


@each(
    "change",
    [
        tried("clarify", "Hi"),
        RunChange(model="m"),
        RunChange(prompts=(PromptChange("extract", "extract.v1"),)),
        RunChange(parameters=(("temperature", "1"),)),
    ],
)
def test_a_session_that_the_change_is_nothing_to_is_left_out(change: RunChange) -> None:
    case = regression_of(change).case(led("extraction", "Arzt"))
    assert isinstance(case, SessionLeftOut)
    assert case.why == "the change does not touch who leads it"


def test_another_provider_is_something_to_the_rules_too() -> None:
    case = judged(accepted(Led(None).answer("Cloud", "hosting")), RunChange(provider="sim"))
    assert ("provider", False) in kinds(case)


@pytest.mark.slow("whole runs")
@each("path", FILES)
def test_every_golden_has_a_child_that_replays_from_its_file_alone(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    change = RunChange(provider="sim", seed=5, prompts=(PromptChange("clarify", "", "Ask well."),))
    regression = regression_of(change)
    for events in stored_events.group_events_by_session(jsonl.stored(lines, path.name)).values():
        case = regression.case(events)
        if isinstance(case, SessionLeftOut):
            continue
        assert case.outcome != "damaged"
        assert case == regression.case(events), "two runs are the same"
        kept = sealed_as(CHILD, child_of(events, change), salt)
        again = jsonl.stored(jsonl.encode_event_file(kept).splitlines(), "child.jsonl")
        replay = Replayer(WORKFLOWS, own_code()).replay(list(again))
        assert replay.status in ("identical", "faulted"), replay.divergences


# 3. A candidate prompt -----------------------------------------------------------------------


def test_the_text_of_a_candidate_travels_in_the_first_input() -> None:
    events = led("clarification", "Add login", 3)
    child = child_of(events, tried("clarify", "Ask, please."))
    first = decode_plain_json(child[0].data or b"")
    assert first["setup"]["candidates"] == [["clarify.v1", "Ask, please."]]
    asked = decode_plain_json(child[place(child, CompletionRequested.tag)].data or b"")
    assert asked["messages"][0] == {"role": "system", "content": "Ask, please."}
    assert asked["prompts"][0][0] == "clarify.v1"
    assert asked["prompts"][0][1] != prompt("preflights_es.features.clarification", "clarify.v1")
    assert Replayer(WORKFLOWS, own_code()).replay(child).status == "identical"


def test_a_candidate_takes_the_place_of_the_version_it_is_for() -> None:
    events = led("clarification", "Add login", 3)
    child = child_of(events, tried("decide", "Hi", "decide.v1"))
    requests = [
        decode_plain_json(e.data or b"") for e in child if e.type == CompletionRequested.tag
    ]
    assert [one["contract"] for one in requests] == ["clarify.v1", "decide.v1"]
    assert requests[1]["messages"][0]["content"] == "Hi"


def test_the_words_that_ship_change_nothing() -> None:
    text = prompt("preflights_es.features.clarification", "clarify.v1").text
    case = judged(led("clarification", "Add login", 3), tried("clarify", text))
    assert (case.outcome, case.measures, case.causes) == ("same", (), ())


def test_a_prompt_is_the_cause_of_what_it_changes() -> None:
    case = judged(led("clarification", "Add login", 3), tried("clarify", "Ask, please."))
    (cause,) = case.causes
    assert (cause.kind, cause.detail) == ("prompt", "prompt clarify.v1 changed")
    assert case.differences
    assert {one.version for one in case.differences} == {0}


# 4. What a child hears -----------------------------------------------------------------------


def test_a_question_that_was_never_asked_has_what_was_accepted() -> None:
    events = accepted(Led(sim(2)).answer("OAuth"))
    case = judged(events, RunChange(provider="mock"))
    assert case.assumed == ("change_category",)
    assert case.recorded is not None
    assert case.candidate is not None
    assert (case.recorded.agrees, case.candidate.agrees) == (True, True)
    assert case.recorded.result == case.candidate.result
    assert case.measures == ("questions", "turns", "tokens"), "the rules ask no model: no validity"


def test_a_question_of_a_note_has_the_value_of_the_one_item_that_has_it() -> None:
    note = noted(READ_AGAIN)
    note.done(1)
    change = RunChange(model="asks")
    models = ScriptedProvider(ASKED, READ_AGAIN)
    case = judged(stored(note), change, models=lambda _request: models, **RECORDED)
    assert case.assumed == ("start_time",)
    assert case.candidate is not None
    assert (case.outcome, case.candidate.agrees) == ("changed", True)
    assert case.measures == ("questions", "turns")


class OwnerGiven(Answers, frozen=True):
    tag: ClassVar[str] = "toy.owner_given.v1"


def proposing() -> Workflow[toy.State]:
    """The toy; it has a proposal at once, and asks beside it who does it."""
    owner = Question("owner", "free_text", "Who does it?")

    def decide(state: toy.State, new: Input) -> tuple[Decision, ...]:
        return (
            (toy.Heard(text="", count=1),)
            if isinstance(new, OwnerGiven)
            else toy.decide(state, new)
        )

    def evolve(state: toy.State, event: Event) -> toy.State:
        if isinstance(event, OwnerGiven):
            return replace(state, asked=str(event.answers))
        return toy.evolve(state, event)

    def view(state: toy.State) -> View:
        return View(status="done", intention="", questions=() if state.asked else (owner,))

    return altered(
        toy.WORKFLOW,
        events=(*toy.WORKFLOW.decider.events, OwnerGiven),
        answers=OwnerGiven,
        decide=decide,
        evolve=evolve,
        view=view,
        reached=lambda _: Reached(result="Pin", accepted="Pin", answers=(("owner", "Ada"),)),
    )


def test_a_question_that_stays_open_beside_a_proposal_has_what_was_accepted() -> None:
    session = PlayedSession(proposing()).play([toy.said("The build is red")])
    assert [one.id for one in session.handle.view.questions] == ["owner"]
    runs = Runs({"toy": session.workflow}, own_code(), RunChange())
    *recorded, new, _ = runs.child(session.stored)
    assert [one.type for one in recorded] == [one.type for one in session.stored]
    given = decode_plain_json(new.data or b"")
    assert (new.type, given["actor"]["name"]) == (OwnerGiven.tag, "what was accepted")
    assert given["answers"] == [{"key": "owner", "values": ["Ada"]}]


def test_an_assumed_answer_is_marked_in_the_child() -> None:
    events = accepted(Led(sim(2)).answer("OAuth"))
    child = child_of(events, RunChange(provider="mock"))
    actors = [decode_plain_json(one.data or b"")["actor"]["name"] for one in child if one.input_id]
    assert actors.count("what was accepted") == 1


def test_a_question_without_an_answer_leaves_the_session_open() -> None:
    events = accepted(Led(sim(3)).answer("By Ops"))
    case = judged(events, RunChange(provider="mock"))
    assert (case.outcome, case.message) == ("open", "the log has no answer to description")
    assert case.candidate is not None
    assert case.candidate.agrees is None


def test_an_answer_that_came_before_its_question_is_given_again() -> None:
    session = Led(sim(27)).answer("Cloud", "hosting").answers({"change_category": "Infra"})
    case = judged(session.stored, RunChange(provider="mock"))
    assert (case.outcome, case.assumed) == ("changed", ())
    assert case.candidate is not None
    assert case.recorded is not None
    assert case.candidate.result == case.recorded.result


class Losing:
    """The simulator, whose first call is lost with its process."""

    def __init__(self) -> None:
        self._calls = 0
        self._inside = own_providers.simulated(sim(3))

    async def respond(self, request: CompletionRequested) -> Completion:
        self._calls += 1
        if self._calls == 1:
            raise LLMLostError("lost")
        return await self._inside.respond(request)


NOTHING = RunChange(parameters=(("faults", "malformed=0.0"),))
"""Sent otherwise, and the same to the simulator."""


def test_a_call_that_was_lost_is_lost_again() -> None:
    events = Led(sim(3), provider=Losing()).answer().stored
    assert judged(events, NOTHING).outcome == "same"


# 5. The label --------------------------------------------------------------------------------


def test_what_a_person_corrected_is_the_label() -> None:
    note = noted(items(task("Email")))
    note.cancelled(1).add("task", "Email an Chef")
    change = RunChange(model="better")
    models = ScriptedProvider(EMAIL)
    case = judged(stored(note), change, models=lambda _request: models, **RECORDED)
    assert case.recorded is not None
    assert case.candidate is not None
    assert (case.outcome, case.measures, case.live_calls) == ("fixed", ("result",), 1)
    assert (case.recorded.agrees, case.candidate.agrees) == (False, True)
    other = ScriptedProvider(items(task("Mail")))
    worse = judged(stored(note), change, models=lambda _request: other, **RECORDED)
    assert worse.outcome == "changed"


def test_a_result_that_no_person_touched_is_no_label() -> None:
    case = judged(
        *(stored(noted(EMAIL)), RunChange(model="b")),
        models=lambda _r: ScriptedProvider(items(task("x"))),
        **RECORDED,
    )
    assert case.recorded is not None
    assert (case.outcome, case.recorded.agrees) == ("changed", None)


def test_what_was_right_and_is_lost_has_failed() -> None:
    note = noted(EMAIL)
    note.done(1)
    other, broken = ScriptedProvider(items(task("x"))), ScriptedProvider("?", "?")
    case = judged(stored(note), RunChange(model="b"), models=lambda _r: other, **RECORDED)
    assert (case.outcome, kinds(case)) == ("failed", [("model", False)])
    invalid = judged(stored(note), RunChange(model="b"), models=lambda _r: broken, **RECORDED)
    assert invalid.outcome == "failed"
    assert invalid.measures == ("validity", "turns", "result", "fallback")


# 6. Who may be asked -------------------------------------------------------------------------


def test_without_leave_no_model_is_asked() -> None:
    case = judged(stored(noted(EMAIL)), RunChange(model="b"))
    assert (case.outcome, case.live_calls, case.calls_needed) == ("open", 0, 4)
    needed = "the call 'extract-1.1': a model would have to be asked"
    assert case.message == f"{needed}; the session takes at most 4 calls"
    both = judged(stored(noted(EMAIL)), RunChange(model="b", parameters=(("t", "1"),)))
    assert both.calls_needed == 8, "both sides, and each change alone"


def test_what_was_recorded_for_the_same_request_is_not_asked_again() -> None:
    events = Led(real()).answer("Cloud").stored
    case = judged(events, tried("decide", "Hi"))
    asked = [one for one in events if one.type == CompletionRequested.tag]
    assert len(asked) == 2
    assert case.candidate is not None
    assert (case.outcome, case.candidate.questions) == ("open", 1), "the first step was heard"


def test_the_calls_that_were_allowed_end_the_run_in_order() -> None:
    script = ScriptedProvider(EMAIL, items(task("x")))
    change = RunChange(model="b")
    sessions = [stored(noted(EMAIL)) for _ in range(3)]
    with regression_of(
        change, models=lambda _request: script, calls_max=2, keeps_recording=True
    ) as regression:
        cases = [regression.case(one) for one in sessions]
    found = [(case.outcome, case.live_calls) for case in cases if isinstance(case, Case)]
    assert found == [("same", 1), ("changed", 1), ("open", 0)]


def test_tokens_that_a_provider_did_not_say_are_unknown() -> None:
    runs = Runs(WORKFLOWS, own_code(), RunChange())
    one = runs.recording(led("clarification", "Add login", 3), None)
    silent = [
        replace(event, input_tokens=None) if isinstance(event, CompletionReceived) else event
        for event in one.events
    ]
    sides = [
        side_of(one.workflow, one.session, events, Reached()) for events in (one.events, silent)
    ]
    assert [side.tokens is None for side in sides] == [False, True]
    assert "tokens" not in measures(sides[0], sides[1], (), ())


def test_costs_are_those_of_the_prices_that_are_set() -> None:
    price = Price(
        provider="sim",
        model="simllm/1",
        since=0,
        input_per_million=Decimal(1_000),
        output_per_million=Decimal(2_000),
        currency="EUR",
    )
    case = judged(led("clarification", "Add login", 3), RunChange(seed=8), prices=(price,))
    assert case.recorded is not None
    assert case.recorded.cost is not None
    assert case.recorded.tokens is not None
    assert 0 < case.recorded.cost < case.recorded.tokens * 0.002
    other = judged(led("clarification", "Add login", 3), RunChange(seed=8))
    assert other.recorded is not None
    assert other.recorded.cost is None


# 7. Causes -----------------------------------------------------------------------------------


class Picky:
    """A model that changes its mind only under another prompt and another parameter at once."""

    async def respond(self, request: CompletionRequested) -> Completion:
        is_both = request.parameters == (("t", "1"),) and request.messages[0].content == "Hi"
        return Completion(canonical_json(items(task("x")) if is_both else EMAIL).decode())


BOTH = RunChange(prompts=(PromptChange("extract", "", "Hi"),), parameters=(("t", "1"),))


def test_changes_that_only_differ_together_are_said_to() -> None:
    case = judged(stored(noted(EMAIL)), BOTH, models=lambda _request: Picky(), **RECORDED)
    assert kinds(case) == [("prompt", True), ("parameter", True)]
    assert case.live_calls == 3


def test_of_several_changes_the_one_that_differs_alone_is_the_cause() -> None:
    change = RunChange(prompts=(PromptChange("clarify", "clarify.v1"),), seed=8)
    assert kinds(judged(led("clarification", "Add login", 3), change)) == [("parameter", False)]


def test_what_could_not_be_run_alone_is_unexplained() -> None:
    case = judged(stored(noted(EMAIL)), BOTH, models=lambda _request: Picky(), calls_max=2)
    assert kinds(case) == [("unexplained", False)]


def test_what_today_s_code_does_of_itself_is_not_the_change_s() -> None:
    events = led("clarification", "Add login", 3)
    other = Question("auth_strategy", "free_text", "What else?")
    code = {"clarification": ruled(WORKFLOWS["clarification"], _asks, question=other)}
    case = Regression(code, own_code(), Runs(code, own_code(), NOTHING)).case(events)
    assert isinstance(case, Case)
    assert (case.outcome, kinds(case)) == ("changed", [("code or data", False)])


def _asks(one: object) -> bool:
    return isinstance(one, ClarificationQuestionAsked)


# 8. What varies ------------------------------------------------------------------------------


OTHER: Final = items(task("x"))


def done_note() -> list[Stored]:
    """A note whose one item a person closed."""
    note = noted(EMAIL)
    note.done(1)
    return stored(note)


def test_a_model_is_asked_once_for_each_side() -> None:
    script = ScriptedProvider(items(task("x")), EMAIL)
    case = judged(done_note(), RunChange(model="b"), models=lambda _request: script)
    assert case.recorded is not None
    assert case.candidate is not None
    assert [one.model for one in script.requests] == ["b", "m-1"]
    assert (case.recorded.agrees, case.candidate.agrees) == (True, False)
    assert (case.outcome, case.live_calls, case.noise) == ("failed", 2, None)


TIMEOUT: Final = LLMTimeoutError("no response within 1 s")
NO_KEY: Final = ProviderMissing("no key for openai")


@each(
    ("replies", "outcome", "drift", "agrees"),
    [
        ((OTHER, OTHER), "same", "both", (False, False)),  # the provider drifted, not the change
        ((OTHER, EMAIL), "failed", "changed", (True, False)),
        ((EMAIL, OTHER), "fixed", "unchanged", (False, True)),
        ((TIMEOUT, TIMEOUT, EMAIL), "open", "", (True, None)),
        ((EMAIL, TIMEOUT, TIMEOUT), "open", "", (None, True)),
        ((TIMEOUT, EMAIL, EMAIL), "same", "", (True, True)),  # the retry was answered
        ((LLMRefusedError("no"),) * 2 + (EMAIL,), "failed", "changed", (True, False)),
    ],
)
def test_two_sides_are_compared_with_each_other(
    replies: tuple[Reply, ...], outcome: str, drift: str, agrees: tuple[bool | None, ...]
) -> None:
    script = ScriptedProvider(*replies)
    case = judged(done_note(), RunChange(model="b"), models=lambda _request: script)
    assert case.recorded is not None
    assert case.candidate is not None
    assert (case.outcome, case.drift) == (outcome, drift)
    assert (case.recorded.agrees, case.candidate.agrees) == agrees
    assert bool(case.causes) == (outcome in ("failed", "fixed"))
    assert ("no response within 1 s" in case.message) == (outcome == "open")


def test_a_recorded_side_that_cannot_be_asked_today_is_unknown() -> None:
    def models(request: CompletionRequested) -> Provider:
        if request.model == "m-1":
            raise NO_KEY
        return ScriptedProvider(EMAIL)

    case = judged(done_note(), RunChange(model="b"), models=models)
    assert (case.outcome, case.message) == (
        "open",
        "the unchanged side had no response: no key for openai",
    )


def test_a_side_is_right_where_most_of_its_runs_are() -> None:
    other = items(task("x"))
    script = ScriptedProvider(other, EMAIL, EMAIL, EMAIL, other, other)
    case = judged(done_note(), RunChange(model="b"), models=lambda _request: script, repeat=3)
    assert [one.model for one in script.requests] == ["b"] * 3 + ["m-1"] * 3
    assert case.recorded is not None
    assert case.candidate is not None
    assert (case.recorded.agrees, case.candidate.agrees) == (False, True)
    assert (case.outcome, case.live_calls) == ("flaky", 6)
    assert case.noise == Noise(runs=3, agreement=0.5, validity=0.0)


def test_a_session_whose_unchanged_side_may_not_be_asked_stays_open() -> None:
    case = judged(
        done_note(), RunChange(model="b"), models=lambda _r: ScriptedProvider(EMAIL), calls_max=1
    )
    assert case.candidate is not None
    assert (case.outcome, case.candidate.agrees, case.live_calls) == ("open", None, 1)


def test_code_of_ours_does_not_vary() -> None:
    events = led("clarification", "Add login", 3)
    with regression_of(
        RunChange(seed=8), models=lambda _request: ScriptedProvider(), repeat=3
    ) as regression:
        case = regression.case(events)
    assert isinstance(case, Case)
    assert (case.noise, case.live_calls) == (Noise(runs=3, agreement=0.0, validity=0.0), 0)
