"""Every event of a session as a sentence, over golden sessions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from preflights_es.kernel.ports import Stored
from preflights_es.projections.audit import steps
from preflights_es.projections.event_sentences import (
    EventSentence,
    event_values_in_words,
    list_call_words,
    list_event_sentences,
)
from preflights_es.projections.session_story import list_told_calls
from preflights_es.words.event_names import name_in_sentence
from tests.projections.recording import golden, goldens
from tests.projections.test_decisions import read


def told(events: Sequence[Stored]) -> list[EventSentence]:
    found = read(events)
    words = list_call_words(found, list_told_calls(found))
    return [*list_event_sentences([*steps(found)], words)]


def told_golden(name: str, workflow: str = "clarification", place: int = 0) -> list[str]:
    return [*map(str, told(golden(name, workflow)[place]))]


def test_an_event_has_a_subject_a_verb_and_what_was_said() -> None:
    said = told_golden("a_model_is_asked_once_more", place=2)
    assert said[0].startswith('Ada Lovelace started the session: "')
    assert any(one.startswith("The model was asked (simllm/1, 2 messages, ") for one in said)
    assert any(one.startswith("The model was asked again (simllm/1, ") for one in said)
    assert any(" characters, no JSON object" in one for one in said)
    refused = "The model's answer was refused: the response is not valid JSON: "
    assert any(one.startswith(refused) for one in said)
    assert "The rules asked instead, since the answer held no valid JSON." in said
    said = told_golden("a_conversation_of_each_dialect", "calls")
    assert any(re.fullmatch(r'The model was asked \(gpt-4o, .*\): "Where is .*"', o) for o in said)
    said = told_golden("an_agent_writes_the_question")
    assert not any("tokens" in one or " s)" in one for one in said), "no model took part"
    assert not any("{" in one for one in said)


def test_every_recorded_event_is_a_sentence() -> None:
    for events in goldens():
        found = read(events)
        for one in list_event_sentences(
            [*steps(found)], list_call_words(found, list_told_calls(found))
        ):
            assert not one.head.startswith("The session recorded"), one
            assert re.search('[.!?…]"?$', str(one)), one


def test_what_is_long_stands_below_the_sentence() -> None:
    one = EventSentence("Ada answered", "OAuth", "turn 1")
    assert str(one) == "Ada answered (turn 1): OAuth."
    assert one.fold_lines(20) == ["Ada answered: OAuth.", "  turn 1"]
    assert EventSentence("Ada answered", "O" * 20, "turn 1").fold_lines(30) == [
        *("Ada answered (turn 1).", "  " + "O" * 20)
    ]
    assert EventSentence("Ada answered", "O" * 20, "t" * 20).fold_lines(30) == [
        *("Ada answered.", "  " + "O" * 20, "  " + "t" * 20)
    ]


def test_the_name_of_an_event_of_any_workflow_becomes_a_sentence() -> None:
    assert name_in_sentence("questions answered") == "The questions were answered"
    assert name_in_sentence("letter day") == 'The session recorded "letter day"'
    assert name_in_sentence("rules took over") == "The rules took over"


def test_values_say_times_as_dates_cut_hashes_and_ids_and_say_nothing_twice() -> None:
    events = read(golden("a_person_rejects_a_plan", "compiler")[0]).events
    said = "; ".join(event_values_in_words(event) for event in events if event is not None)
    assert re.search(r"created at 20\d\d-\d\d-\d\d \d\d:\d\d;", said)
    assert not re.search("[0-9a-f]{64}|[0-9a-f]{4}-[0-9a-f]{4}-", said)
    model = read(golden("a_model_leads")[0]).events
    said = "; ".join(event_values_in_words(one) for one in model if one is not None)
    assert "Redis; key db_type; field Type; source chosen" in said, "and not the value once more"
