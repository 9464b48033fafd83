"""Accepting in a session of any workflow: number, folder, who accepts for whom, the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from msgspec.structs import replace

import preflights_es
from preflights_es.kernel.errors import Refused, SessionMoved
from preflights_es.kernel.events import (
    UNSEEN,
    Actor,
    Decision,
    Event,
    Evidence,
    Input,
    RecordNumber,
    Typed,
)
from preflights_es.records.documents import Documents
from preflights_es.runtime.inputs import Inputs
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.settings.places import CI
from preflights_es.store.memory import MemoryStore
from preflights_es.use.acceptance import Acceptances
from preflights_es.use.bootstrap import opened_process
from preflights_es.words.decisions import Accepting
from tests import toy
from tests.fixed import PROJECT, Clock, Ids, salt

FOLDERS: Final = {"adr": "docs/decisions", "task": "docs/tasks"}
ADA: Final = Actor("user", "Ada")
AGENT: Final = Actor("agent", "coder")


class Agreed(Input, frozen=True):
    tag: ClassVar[str] = "toy.agreed.v1"
    verb: ClassVar[str] = "agreed to"
    typed: ClassVar = {"why": Typed(20)}
    said: str
    folder: str
    number: RecordNumber | None
    why: str = ""
    redacted: tuple[str, ...] = ()
    relayed_by: Actor | None = None


class State(toy.State, frozen=True):
    number: int | None = None


def decide(state: State, new: Input) -> tuple[Decision, ...]:
    if isinstance(new, Agreed):
        return (toy.Filed(path=f"{new.folder}/{new.number}"),)
    return toy.decide(state, new)


def evolve(state: State, event: Event) -> State:
    if isinstance(event, Agreed):
        return replace(state, number=event.number)
    after: Any = toy.evolve(state, event)
    return after  # type: ignore[no-any-return]  # the toy's state, with a field more


def accepting(state: State, said: Any) -> Accepting:
    if said["why"] == "small":
        return Accepting("task", fields={"said": state.said[0]})
    return Accepting("adr", numbered=True, fields={"said": state.said[0]})


WORKFLOW: Final = toy.altered(
    toy.WORKFLOW,
    events=(*toy.WORKFLOW.decider.events, Agreed),
    initial=State(),
    decide=decide,
    evolve=evolve,
    number=lambda state: state.number,
    acknowledges=Agreed,
    accepting=accepting,
)


class House:
    """A project with its log in memory."""

    def __init__(self, root: Path) -> None:
        clock = Clock()
        workflows = {"toy": WORKFLOW}
        self.runner = Runner(MemoryStore(clock, salt), workflows, clock, Ids())
        self.documents = Documents(self.runner, root, tuple(FOLDERS.values()))

    def by(self, actor: Actor = ADA, key: str = "") -> Acceptances:
        inputs = Inputs(self.runner, PROJECT, lambda: actor, key=key)
        return Acceptances(inputs, self.documents, FOLDERS)

    def began(self, text: str = "tea") -> Handle:
        return self.by().opened(WORKFLOW, toy.Said, {"text": text}).handle

    def accept(
        self,
        handle: Handle,
        actor: Actor = ADA,
        why: str = "",
        key: str = "",
        by: str | None = None,
        expect: int | None = None,
    ) -> Agreed:
        """Accept, and return the Input as it is recorded."""
        sessions, said = self.by(actor, key), {"why": why}
        step = sessions.acknowledged(handle.session_id, Agreed, said, by=by, expect=expect)
        codec = self.runner.codec(WORKFLOW)
        stored = self.runner.store.read(handle.session_id)
        (*_, new) = (one for one in map(codec.decode, stored) if isinstance(one, Agreed))
        assert step.handle.version == len(stored)
        return new


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_it_takes_what_was_shown_the_next_number_and_the_folder(house: House) -> None:
    (house.documents.root / "docs" / "decisions").mkdir(parents=True)
    (house.documents.root / "docs" / "decisions" / "0006-by-hand.md").touch()
    first, second = (house.accept(house.began(text)) for text in ("tea", "milk"))
    assert (first.said, first.folder, first.number) == ("tea", "docs/decisions", 7)
    assert (second.said, second.number, second.relayed_by) == ("milk", 8, None)


def test_a_record_keeps_its_number(house: House) -> None:
    handle = house.began()
    assert [house.accept(handle).number for _ in range(2)] == [1, 1]


def test_what_takes_no_number_goes_to_the_folder_of_tasks(house: House) -> None:
    new = house.accept(house.began(), why="small")
    assert (new.folder, new.number, new.why) == ("docs/tasks", None, "small")


def test_typed_text_is_cleaned(house: House) -> None:
    new = house.accept(house.began(), why="AKIAIOSFODNN7EXAMPLE")
    assert (new.why, new.redacted) == ("[redacted:key]", ("key",))
    with pytest.raises(Refused, match="the why has 21 characters, at most 20"):
        house.accept(house.began(), why="x" * 21)


def test_the_same_key_accepts_once_and_nothing_else(house: House) -> None:
    handle = house.began()
    once, again = (house.accept(handle, key="k") for _ in range(2))
    assert once == again
    assert house.runner.load(handle.session_id).version == 4
    with pytest.raises(Refused, match="the key 'k' was used for something else"):
        house.accept(handle, key="k", why="no")


def test_a_script_may_pass_on_a_persons_word_and_an_agent_may_not(house: House) -> None:
    script = Actor("script")
    new = house.accept(house.began(), script, by="Grace")
    assert (new.actor, new.relayed_by) == (Actor("user", "Grace"), script)
    with pytest.raises(Refused, match=r"an agent \(coder\) cannot accept for 'Grace'"):
        house.accept(house.began(), AGENT, by="Grace")


def test_another_version_than_the_one_that_was_shown_is_not_accepted(house: House) -> None:
    handle = house.began()
    with pytest.raises(SessionMoved):
        house.accept(handle, expect=handle.version + 1)


def test_what_another_input_accepts_is_refused(house: House) -> None:
    handle = house.began()
    with pytest.raises(Refused, match="of the workflow toy: it proposes nothing to accept"):
        house.by().acknowledged(handle.session_id, toy.Asked, {}, by=None, expect=None)


# Evidence ------------------------------------------------------------------------------------


def test_a_program_sees_variables_by_name_and_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with preflights_es.open(tmp_path) as log:
        assert log.request().evidence == UNSEEN
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("AI_AGENT", "claude-code/2.1 secret-of-the-value")
    with preflights_es.open(tmp_path) as log:
        assert log.request().evidence == Evidence(("AI_AGENT", "CLAUDECODE"))


def test_the_terminal_is_evidence_also_where_no_person_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in CI:
        monkeypatch.delenv(variable, raising=False)
    asked = opened_process(tmp_path, terminal=True).request()
    assert (asked.evidence, asked.actor.kind) == (Evidence(terminal=True), "user")
    unasked = opened_process(tmp_path, terminal=True, asks=False).request()
    assert (unasked.evidence, unasked.actor.kind) == (Evidence(terminal=True), "script")


def test_a_client_of_the_server_is_not_at_the_servers_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    server = opened_process(tmp_path, terminal=True).request()
    client = server.another(Actor("agent", "cline 3"), client="cline 3")
    assert client.evidence == Evidence(("CLAUDECODE",), client="cline 3")
