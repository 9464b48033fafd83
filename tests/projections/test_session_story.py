"""The sentence that says what happened in a session, and its calls as people read them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec.structs import replace

from preflights_es.features.calls.domain.events import CallKept
from preflights_es.kernel.completions import CompletionReceived, CompletionRequested
from preflights_es.kernel.events import Actor, SessionAbandoned, SessionErased
from preflights_es.kernel.lead import ResponseRejected, decode_response_text
from preflights_es.projections.json_words import (
    list_value_lines,
    read_answer_value,
    split_answer,
    value_in_words,
)
from preflights_es.projections.projection import Read
from preflights_es.projections.session_story import SAID_MAX, list_told_calls, tell_session_story
from preflights_es.projections.usage import Price
from tests.projections.recording import golden, goldens
from tests.projections.test_decisions import read


def story(name: str, workflow: str = "clarification", number: int = 0) -> str:
    return str(tell_session_story(read(golden(name, workflow)[number])))


@pytest.mark.parametrize(
    ("workflow", "name", "told"),
    [
        (
            "clarification",
            "a_model_fails_and_the_rules_go_on",
            (
                "The model was asked twice; both calls failed; the rules asked instead; "
                "Ada Lovelace answered and accepted it. 2 calls, 2 s."
            ),
        ),
        (
            "clarification",
            "a_proposal_is_rejected",
            (
                "No model was asked; Ada Lovelace answered and abandoned it (not worth it); "
                "an agent (claude) proposed it."
            ),
        ),
        (
            "clarification",
            "an_input_that_could_not_be_decided",
            (
                "No model was asked; Ada Lovelace answered; one Input was set aside, because "
                "deciding it raised ValueError: a bug of the past."
            ),
        ),
        (
            "compiler",
            "a_provider_fails_twice",
            (
                "The model was asked twice; both calls failed; the session waits to ask again; "
                "the failure was reported. 2 calls, 2 s."
            ),
        ),
        (
            "compiler",
            "code_in_a_response",
            (
                "The model was asked once; its answer held source code; the step ended without a "
                "result; the failure was reported. 1 call, 2 s."
            ),
        ),
        (
            "extraction",
            "a_note_that_no_model_could_read_is_filed_by_hand",
            (
                "The model was asked twice; both answers held no valid JSON; the step ended "
                "without a result; Ada Lovelace filed an item. "
                "2 calls, 868 -> 56 tokens, cost unknown, 4 s."
            ),
        ),
        (
            "metrics",
            "a_model_is_asked_once_more",
            (
                "The model was asked twice; one answer held no valid JSON; one answer was used; "
                "the question was answered with SQL. "
                "2 calls, 1,315 -> 65 tokens, cost unknown, 4 s."
            ),
        ),
        ("planning", "the_rules_plan_a_day", "No model was asked; the plan was made."),
        (
            "compiler",
            "tests_are_locked_and_give_way_to_others",
            "No model was asked; Ada Lovelace approved, locked and superseded the plan.",
        ),
        (
            "recall",
            "superseded_decisions_are_asked_for",
            "No model was asked; one attempt was refused.",
        ),
        (
            "calls",
            "a_conversation_of_each_dialect",
            (
                "A program asked a model 5 times; one call failed; one answer was not whole; "
                "3 calls were answered. 5 calls, 9 -> 2 tokens, cost unknown."
            ),
        ),
    ],
)
def test_a_sentence_says_what_happened_and_took(workflow: str, name: str, told: str) -> None:
    assert story(name, workflow) == told


def test_costs_are_rounded_to_what_a_person_reads() -> None:
    found = read(golden("a_model_is_asked_once_more", "metrics")[0])
    price = Price(
        provider="sim",
        model="simllm/1",
        since=0,
        input_per_million=Decimal(3),
        output_per_million=Decimal(15),
        currency="USD",
    )
    assert ", 0.0049 USD, " in tell_session_story(found, [price]).sums
    cheap = replace(price, input_per_million=Decimal("0.01"), output_per_million=Decimal(0))
    assert ", 0.000013 USD, " in tell_session_story(found, [cheap]).sums


def test_an_erased_session_says_who_and_when_and_a_faulted_one_why() -> None:
    found = read(golden("two_phases_without_a_keyword")[0])
    last = SessionErased(at=1_790_000_000_000_000, actor=Actor("user", "Ada"), reason="a mistake")
    erased = replace(found, events=(*(None for _ in found.events), last))
    assert str(tell_session_story(erased)) == "Ada erased it on 2026-09-21: a mistake."
    cut = replace(found, events=found.events[:1])
    assert (
        "has no Decision: clarification/1 failed at it, and the log keeps no error. Today's code"
        in tell_session_story(cut).trouble
    )
    broken = replace(cut, workflow=replace(found.workflow, decider=raising(found)))
    assert tell_session_story(broken).trouble.endswith(
        "failed at it. Today's code fails, too, with ValueError: a bug; a replay names the line"
    )


def raising(found: Read) -> object:
    def decide(_state: object, _new: object) -> tuple[()]:
        raise ValueError("a bug")

    return replace(found.workflow.decider, decide=decide)


def test_what_people_and_models_say_stays_one_short_line() -> None:
    found = read(golden("an_abandoned_session")[0])
    hostile = tuple(
        replace(one, actor=Actor("user", "<b>\n\x1b[31m" + "x" * 9_000), reason="y\n" * 9_000)
        if isinstance(one, SessionAbandoned)
        else one
        for one in found.events
    )
    told = str(tell_session_story(replace(found, events=hostile)))
    assert "\n" not in told
    assert len(told) < 4 * SAID_MAX


def test_every_call_of_every_golden_says_all_that_was_sent_and_answered() -> None:
    for events in goldens():
        found = read(events)
        calls = list_told_calls(found)
        sent = [one for one in found.events if isinstance(one, CompletionRequested)]
        if not found.workflow.shown.made_calls:
            assert len(calls) == len(sent)
        for call, asked in zip(calls, sent, strict=False):
            told = [one.text for one in call.messages]
            assert told == [one.content for one in asked.messages[call.kept :]]
        for call in calls:
            for version in call.followed:
                event = found.events[version - 1]
                assert not isinstance(event, ResponseRejected) or call.refused
            answer = call.answered and found.events[call.answered - 1]
            if isinstance(answer, CompletionReceived):
                assert call.answer == decode_response_text(answer)


def test_a_retry_shows_what_is_new_and_a_changed_prompt_what_stood_there() -> None:
    first, again = list_told_calls(read(golden("a_model_is_asked_once_more")[1]))
    assert first.refused == ("the response is not valid JSON: it ends before its JSON value does")
    assert (again.kept, [one.role for one in again.messages]) == (2, ["assistant", "user"])
    calls = list_told_calls(read(golden("a_model_leads")[0]))
    system, intention, *new = calls[1].messages
    assert system.before == calls[0].messages[0].text != system.text
    assert intention.before == intention.text
    assert not any(one.before for one in new)


def test_a_conversation_of_another_program_is_told_in_any_dialect() -> None:
    calls = list_told_calls(read(golden("a_conversation_of_each_dialect", "calls")[0]))
    assert [(one.kept, one.answer) for one in calls[:3]] == [
        (0, "Tomorrow."),
        (1, ""),
        (0, "Tomorrow."),
    ]
    assert [one.text for one in calls[1].messages] == ["Tomorrow.", "Thanks"]
    assert [(one.role, one.text) for one in calls[2].messages] == [
        ("system", "Be kind."),
        ("user", "And now?"),
    ]
    assert calls[1].refused == "status 529; no answer; overloaded"


def test_an_answer_that_met_the_limit_of_its_length_is_told_as_cut() -> None:
    found = read(golden("a_call_is_judged", "calls")[0])
    events = [
        replace(one, stop="length") if isinstance(one, CallKept) else one for one in found.events
    ]
    cut = replace(found, events=tuple(events))
    assert tell_session_story(cut).sentence.startswith(
        "A program asked a model once; its answer was not whole; Ada Lovelace judged its answer "
    )
    assert [one.refused for one in list_told_calls(cut)] == ["cut off (length)"]


def test_a_step_that_ended_before_a_later_answer_was_used_is_an_earlier_one() -> None:
    told = story("another_model_reads_what_the_first_could_not", "extraction")
    assert "; one answer was used; an earlier step ended without a result; " in told


def test_an_answer_that_nests_too_deep_is_read_as_text() -> None:
    assert read_answer_value('{"a": [1, {"b": null}], "c": ""}') == {"a": [1, {}]}
    assert read_answer_value("[" * 900 + "]" * 900) is None
    assert read_answer_value('"a text"') is None


def test_a_value_is_read_a_field_a_line_or_on_one_line_and_a_fence_is_no_part_of_it() -> None:
    said = '{"topic": "Maps", "offered": [{"label": "Tiles", "against": "a fee"}, "own"], "to": {}}'
    assert split_answer(f"Here it is:\n```json\n{said}\n```")[0] == "Here it is:"
    assert read_answer_value(f"Here it is: {said}") is None
    value = read_answer_value(f"```json\n{said}\n```")
    assert list_value_lines(value) == [
        "topic: Maps",
        "offered:",
        *("  - label: Tiles", "    against: a fee", "  - own"),
    ]
    assert value_in_words(value) == 'topic Maps; offered Tiles (against "a fee"), own'
    assert list_value_lines(["one\ntwo", True, None]) == ["- one", "  two", "- yes", "- none"]
