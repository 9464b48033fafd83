"""Which session's words a model was told: only of a decision that was in force by then."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from preflights_es.features.clarification.clarifications import Clarifications
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import IntentionDeclared
from preflights_es.features.clarification.domain.values import Heuristics, HeuristicsConfig
from preflights_es.history.erasure import Erasure, quotes_of
from preflights_es.kernel.events import Actor, SourceSession
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.records.documents import Documents
from preflights_es.runtime.inputs import Inputs
from preflights_es.runtime.runner import Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.use.use_cases import NewSession
from tests.fixed import PROJECT, SECOND, Clock, Ids, salt

HOUR_US = 3_600 * SECOND
LED = Lead("sim", "simllm/1")
WORKFLOWS = {WORKFLOW.name: WORKFLOW}


class House:
    """Decisions of one project in memory; models are told of them, and none is asked."""

    def __init__(self, root: Path) -> None:
        self.clock = Clock()
        self.store = MemoryStore(self.clock, salt)
        self.runner = Runner(self.store, WORKFLOWS, self.clock, Ids())
        inputs = Inputs(self.runner, PROJECT, lambda: Actor("user", "Ada"))
        folders = {"adr": "docs/decisions", "task": "docs/tasks"}
        documents = Documents(self.runner, root, tuple(folders.values()))
        self.sessions = Clarifications(inputs, documents, folders)
        self.erasure = Erasure(inputs, self.store, root)

    def ready(self, intention: str = "A login", answer: str = "OAuth", old: str = "") -> str:
        """A session that waits to be accepted."""
        setup = Setup(preflights="0", decider=WORKFLOW.decider.version)
        config = Heuristics(HeuristicsConfig())
        step = self.sessions.open(NewSession(intention, supersedes=old or None), setup, config)
        return self.sessions.answer(step.handle, [("auth_strategy", [answer])]).handle.session_id

    def decided(self, intention: str = "A login", answer: str = "OAuth", old: str = "") -> str:
        session_id = self.ready(intention, answer, old)
        self.sessions.accept(session_id)
        return session_id

    def told(self) -> str:
        """A session whose model is told of what is in force."""
        setup = Setup(preflights="0", decider=WORKFLOW.decider.version, lead=LED)
        return self.sessions.open(
            NewSession("B cache"), setup, Heuristics(HeuristicsConfig())
        ).handle.session_id

    def known(self, *quoted: str) -> list[tuple[str, str]]:
        """Which sessions' models were told of which of these."""
        found = quotes_of(self.runner, PROJECT, quoted)
        assert found.unread == ()
        return [(q.session_id, q.quoted) for q in found.found if q.how == "known"]


def declared(house: House, session_id: str) -> IntentionDeclared:
    """What a session began with."""
    event = house.runner.codec(WORKFLOW).decode(house.store.read(session_id)[0])
    assert isinstance(event, IntentionDeclared)
    return event


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


# 1. By the source ----------------------------------------------------------------------------


def test_what_was_read_of_another_session_names_its_source(house: House) -> None:
    decided = house.decided()
    before = house.store.read(decided)[-1]
    read = SourceSession(decided, before.version, before.hash.hex())
    told, later = house.told(), house.ready(old=decided)
    assert [known.source for known in declared(house, told).known] == [read]
    assert declared(house, told).supersedes_source is None
    assert declared(house, later).supersedes_source == read


def test_a_model_was_told_of_what_was_accepted_before_it_was_asked(house: House) -> None:
    decided = house.decided()
    before = house.ready()
    waiting = house.ready()
    told = house.told()
    after = house.ready()
    assert house.known(before, after) == []
    assert house.known(told) == []
    assert house.known(decided) == [(told, decided)]
    house.sessions.accept(waiting)
    later = house.decided()
    assert house.known(waiting, later) == []
    assert house.known(decided, waiting, later) == [(told, decided)]


def test_another_decision_under_the_same_title_was_not_told_to_a_model(house: House) -> None:
    decided = house.decided(answer="OAuth")
    told = house.told()
    assert house.known(decided) == [(told, decided)]
    other = house.decided(answer="SAML")
    assert house.known(other) == []
    both = house.told()
    assert house.known(other) == [(both, other)]
    assert house.known(decided) == [(both, decided), (told, decided)]


def test_of_two_decisions_in_the_same_words_both_may_have_been_told(house: House) -> None:
    first, second = house.decided(), house.decided()
    told = house.told()
    assert house.known(first) == [(told, first)]
    assert house.known(second) == [(told, second)]
    assert sorted(house.known(first, second)) == [(told, first), (told, second)]


def test_a_session_whose_workflow_is_not_here_may_quote_and_is_named(house: House) -> None:
    decided = house.decided()
    told = house.told()
    house.runner.workflows = {}
    assert quotes_of(house.runner, PROJECT, [decided]).unread == (told,)


def test_a_damaged_session_of_the_same_title_changes_nothing(house: House) -> None:
    decided, damaged = house.decided(), house.decided()
    told = house.told()
    stream = house.store._streams[damaged]
    stream[-1] = replace(stream[-1], data=b"{")
    assert house.known(decided) == [(told, decided)]


def test_what_was_superseded_by_then_was_told_to_no_model(house: House) -> None:
    old = house.decided()
    new = house.decided(old=old)
    told = house.told()
    assert house.known(old) == []
    assert house.known(new) == [(told, new)]
    house.decided(old=new)
    assert house.known(new) == [(told, new)], "it was in force when the model was told"


def test_a_clock_that_stepped_back_hides_no_told_session(house: House) -> None:
    decided = house.decided()
    house.clock.at -= HOUR_US
    told = house.told()
    assert house.known(decided) == [(told, decided)]
    later = house.ready()
    house.clock.at -= HOUR_US
    house.sessions.accept(later)
    assert house.known(later) == [], "its session began later, whatever the clock says"


def test_what_was_told_of_an_erased_decision_is_not_laid_at_another_ones_door(house: House) -> None:
    decided = house.decided()
    house.told()
    house.erasure.erase(decided)
    assert house.known(house.decided()) == []
