"""Sentences of authors who had not seen the rules; regression tests since they were run once.

`led`: intentions in thirty projects, with answers of a model that their author wrote by hand. The
author had seen the shape of an answer and its limits, neither prompt nor rules.
"""

from __future__ import annotations

import json
from functools import cache, reduce
from typing import Any, Final

from preflights_es.features.clarification.domain import WORKFLOW, contracts, lead
from preflights_es.features.clarification.domain.decide import decide
from preflights_es.features.clarification.domain.events import DecisionForModel, IntentionDeclared
from preflights_es.features.clarification.domain.evolve import evolve
from preflights_es.features.clarification.domain.pack import NO_TABLES, STANDARD, load_pack
from preflights_es.features.clarification.domain.state import ClarificationState, title_of
from preflights_es.features.clarification.domain.topics import Signal, find
from preflights_es.features.clarification.domain.values import DecisionPatch, LLMContext
from preflights_es.features.recall.domain.rules import ComparedDecision, judge_evolution
from preflights_es.features.recall.word_variants import stems
from preflights_es.kernel.completions import Accepted, CompletionRequested
from preflights_es.kernel.events import SourceSession
from preflights_es.kernel.lead import Lead, Setup, judge_session_response
from preflights_es.words.language import canonical, fold_letters, read_product_names
from tests.each import each
from tests.features.clarification.cases import ADA, UID, after, answered, declared
from tests.features.clarification.unseen import FOLDER, sentences
from tests.fixed import NOON
from tests.records.test_project_brief import tokens

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


@each(("set_", "at_least"), [("forms", 96), ("forms2", 94), ("free", 4)])
def test_statements_in_the_forms_are_taken(set_: str, at_least: int) -> None:
    lines = sentences(set_)
    taken = [one for one in lines if stated(one["text"]) == canonical(one["value"])]
    assert len(taken) >= at_least, [one["text"] for one in lines if one not in taken]


def test_no_title_misleads_or_lacks_its_subject() -> None:
    """At the first run 36 of 40 were right: two said the opposite of the decision."""
    lines = sentences("titles")
    assert len(lines) == 40
    assert [
        one for one in lines if title_after(one["intention"], one["decision"]) in one["bad"]
    ] == []


def title_after(intention: str, decision: str) -> str:
    """Of the record, once the question that the intention leads to is answered."""
    opened = declared(intention, heuristics=NO_TABLES, pack=STANDARD)
    question = after(opened).turns.question
    assert question is not None or after(opened).offer.patch is not None
    given = () if question is None else (answered(**{question.id: decision}),)
    return title_of(after(opened, *given))


def test_nothing_is_taken_of_sentences_that_choose_nothing() -> None:
    """Complaints, removals, regrets, questions, comparisons, negations, other languages."""
    lines = sentences("nothing")
    assert len(lines) == 400
    assert [one["text"] for one in lines if stated(one["text"])] == []


@each(("set_", "at_least"), [("year1", 32), ("year2", 25), ("year3", 25)])
def test_a_menu_is_shown_where_a_choice_is_asked_for_alone(set_: str, at_least: int) -> None:
    """Intentions of a team's year; their authors wrote which ask for a common kind of thing."""
    lines = sentences(set_)
    shown = [one for one in lines if find(one["text"]).kind == "choice"]
    assert [one["text"] for one in shown if not one["asks"]] == []
    assert sum(bool(one["plain"]) for one in shown) >= at_least
    wrong = [one for one in lines if stated(one["text"]) not in ("", canonical(one["states"]))]
    assert wrong == []


def test_a_menu_fits_what_is_asked_for() -> None:
    """Most of the set asks for work with a topic's word in it, and for no choice."""
    shown = [(one, found) for one in sentences("topics") if (found := find(one["text"])).topics]
    misfits = [one for one, found in shown if found.topics[0] not in (one["topic"], *one["also"])]
    assert len(shown) >= 25
    assert misfits == []


def decision(text: str) -> ComparedDecision:
    """What a sentence in one of the forms decides."""
    found = find(text)
    (value,) = found.stated
    topic = next((one for one in load_pack().topics if one.id == value.topic), None)
    return ComparedDecision(
        category=topic.category if topic else "Other",
        fields=((topic.field if topic else "Description", value.value),),
        intention=text,
        scope=stems(found.scope),
    )


@each(("set_", "at_least"), [("scopes", 81), ("scopes2", 84), ("scopes3", 83)])
def test_decisions_with_scopes_stand_to_each_other_as_labelled(set_: str, at_least: int) -> None:
    wrong, false = [], []
    for one in sentences(set_):
        if not all(stated(one[which]) for which in ("first", "second")):
            wrong.append(one)
            continue
        kind = judge_evolution(decision(one["second"]), decision(one["first"]))
        if kind not in STANDS[one["relation"]]:
            wrong.append(one)
            false += [one] * (kind in ("update", "contradict"))
    assert false == []
    assert len(sentences(set_)) - len(wrong) >= at_least, wrong


LED: Final[dict[str, Any]] = json.loads((FOLDER / "led.json").read_text("utf-8"))
TOKENS_MAX: Final = 3_500  # of a request without a conversation
PRODUCTS: Final = {
    fold_letters(package): one.name for one in read_product_names() for package in one.packages
}


def begun(project: dict[str, Any], intention: str) -> ClarificationState:
    """A session of one of the projects, which a model is asked about."""
    signals = (
        Signal(PRODUCTS.get(fold_letters(one["name"]), ""), one["name"], one["file"]).written()
        for one in project["packages"]
    )
    records = f"{project['readme']} Decision records: {'; '.join(project['records'])}"
    known = tuple(
        DecisionForModel(
            one["title"],
            DecisionPatch("Other", (("Description", one["title"]),)),
            SourceSession("01a0c450-6c00-7000-8000-000000000001", 1, "00" * 32),
            because=one["because"],
        )
        for one in project["decisions"]
    )
    new = IntentionDeclared(
        at=NOON,
        actor=ADA,
        intention=intention,
        project="house",
        uid=UID,
        setup=Setup("0", WORKFLOW.decider.version, "sim", lead=Lead("sim", "model-1")),
        heuristics=NO_TABLES,
        pack=STANDARD,
        context=LLMContext("Python (3 files)", tuple(signals), records),
        known=known,
    )
    return reduce(evolve, (new, *decide(ClarificationState(), new)), ClarificationState())


@cache
def all_begun() -> dict[str, tuple[ClarificationState, dict[str, Any]]]:
    """A session of each intention, by its text."""
    return {
        one["text"]: (begun(project, one["text"]), one)
        for project in LED["projects"]
        for one in project["intentions"]
    }


def is_usable(intention: str, text: str) -> bool:
    """Whether a response passes judging, unchanged."""
    state, _ = all_begun()[intention]
    verdict = judge_session_response(
        text, contracts.CLARIFY, lambda payload: lead.clarify_violations(state, payload)
    )
    return isinstance(verdict, Accepted) and verdict.payload == json.loads(text)


def test_every_request_holds_what_the_question_needs_within_its_budget() -> None:
    assert len(all_begun()) == 150
    for state, one in all_begun().values():
        request = state.led.request
        assert isinstance(request, CompletionRequested)
        text = "\n".join(message.content for message in request.messages)
        assert [part for part in one["must_contain"] if part not in text] == []
        assert tokens(text) <= TOKENS_MAX


def test_good_answers_pass_unchanged() -> None:
    good = [(text, one) for text, (_, said) in all_begun().items() for one in said["good"]]
    assert len(good) == 450
    passed = [is_usable(text, json.dumps(one, ensure_ascii=False)) for text, one in good]
    assert sum(passed) == 450


@each("bad", LED["bad"])
def test_bad_answers_are_refused(bad: dict[str, str]) -> None:
    assert not is_usable(bad["intention"], bad["answer"])
