"""Sentences of authors who had not seen the rules; regression tests since they were run once."""

from __future__ import annotations

import pytest

from preflights_es.features.clarification.domain.pack import loaded
from preflights_es.features.clarification.domain.topics import find
from preflights_es.features.recall.domain.evolution import Decision, evolution
from preflights_es.features.recall.use.variants import stems
from preflights_es.kernel.words import canonical
from tests.features.clarification.unseen import sentences

STANDS = {
    "same": {"same"},
    "contradicts": {"update", "contradict"},
    "exception": {"exception"},
    "refines": {"none", "derive"},
    "unrelated": {"none", "derive"},
}


def stated(text: str) -> str:
    """The value that is taken, whatever name of the product was typed; empty where none is."""
    found = find(text).stated
    return canonical(found[0].value) if found else ""


@pytest.mark.parametrize(("set_", "at_least"), [("forms", 96), ("forms2", 94), ("free", 4)])
def test_statements_in_the_forms_are_taken(set_: str, at_least: int) -> None:
    lines = sentences(set_)
    taken = [one for one in lines if stated(one["text"]) == canonical(one["value"])]
    assert len(taken) >= at_least, [one["text"] for one in lines if one not in taken]


def test_nothing_is_taken_of_sentences_that_choose_nothing() -> None:
    """Complaints, removals, regrets, questions, comparisons, negations, other languages."""
    lines = sentences("nothing")
    assert len(lines) == 400
    assert [one["text"] for one in lines if stated(one["text"])] == []


def test_a_topics_own_word_shows_a_menu_that_fits() -> None:
    shown = [(one, found) for one in sentences("topics") if (found := find(one["text"])).topics]
    misfits = [one for one, found in shown if found.topics[0] not in (one["topic"], *one["also"])]
    assert len(shown) >= 84
    assert misfits == []


def decision(text: str) -> Decision:
    """What a sentence in one of the forms decides."""
    found = find(text)
    (value,) = found.stated
    topic = next((one for one in loaded().topics if one.id == value.topic), None)
    return Decision(
        category=topic.category if topic else "Other",
        fields=((topic.field if topic else "Description", value.value),),
        intention=text,
        scope=stems(found.scope),
    )


@pytest.mark.parametrize(("set_", "at_least"), [("scopes", 81), ("scopes2", 84), ("scopes3", 83)])
def test_decisions_with_scopes_stand_to_each_other_as_labelled(set_: str, at_least: int) -> None:
    wrong, false = [], []
    for one in sentences(set_):
        if not all(stated(one[which]) for which in ("first", "second")):
            wrong.append(one)
            continue
        kind = evolution(decision(one["second"]), decision(one["first"]))
        if kind not in STANDS[one["relation"]]:
            wrong.append(one)
            false += [one] * (kind in ("update", "contradict"))
    assert false == []
    assert len(sentences(set_)) - len(wrong) >= at_least, wrong
