"""Every command that serves sessions of any workflow, over the toy: nothing here knows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from msgspec.structs import replace

from preflights_es.kernel.events import Decision, Event, Input
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.words.questions import Answers, Question
from preflights_es.words.workflow import View, Workflow
from tests import toy
from tests.cli.program import Project, Result
from tests.postgres import SECOND_ENGINE

RECORD = "docs/decisions/0001-toy.md"
TONE = Question("tone", "single_choice", "In which tone?", ("kind", "short"))


class ToneGiven(Answers, frozen=True):
    tag: ClassVar[str] = "toy.tone_given.v1"
    verb: ClassVar[str] = "answered in"


def asking() -> Workflow[toy.State]:
    """The toy, which asks for a tone until a person says two things; a path is a document."""
    plain = toy.WORKFLOW

    def decide(state: toy.State, new: Input) -> tuple[Decision, ...]:
        if isinstance(new, ToneGiven):
            return (toy.Heard(text=new.answers[0].values[0], count=len(state.said) + 1),)
        if isinstance(new, toy.Said) and new.text == RECORD:
            return plain.decider.decide(state, toy.wanted(RECORD))
        return plain.decider.decide(state, new)

    def evolve(state: toy.State, event: Event) -> toy.State:
        if isinstance(event, ToneGiven):
            return replace(state, said=(*state.said, event.answers[0].values[0]))
        return plain.decider.evolve(state, event)

    def view(state: toy.State) -> View:
        if len(state.said) != 1 or state.said[0] == RECORD:
            return plain.shown.view(state)
        return View(
            status="needs_answers", intention=state.said[0], questions=(TONE,), to_do="answer"
        )

    return toy.altered(
        plain,
        events=(*plain.decider.events, ToneGiven),
        decide=decide,
        evolve=evolve,
        view=view,
        answers=ToneGiven,
        opens=toy.Said,
    )


class House:
    """A project whose log lies in one engine or the other."""

    def __init__(self, project: Project, url: str) -> None:
        self._project = project
        self._url = url
        self.folder = project.folder

    def call(self, *words: str, code: int = 0) -> Result:
        """One command, which ends with that exit code, in one line where it is refused."""
        done = self._project.call(*words, "--db", self._url, env={"PREFLIGHTS_PROJECT": "house"})
        assert done.code == code, (words, done)
        assert done.is_safe()
        if code in (1, 5) and not done.out:
            assert done.err.count("\n") == 1, (words, done.err)
        return done


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def house(request: pytest.FixtureRequest, empty: Project, tmp_path: Path) -> Iterator[House]:
    """The toy, registered; gone when the test is."""
    is_file = request.param == "sqlite"
    url = f"sqlite:///{tmp_path}/log.db" if is_file else request.getfixturevalue("postgres")
    WORKFLOWS["toy"] = asking()
    yield House(empty, url)
    del WORKFLOWS["toy"]


def begun(house: House, text: str = "hello") -> str:
    done = house.call("start", "--workflow", "toy", text, "--json", code=3)
    return str(json.loads(done.out)["session_id"])


def test_a_session_is_begun_answered_shown_and_replayed(house: House) -> None:
    id_ = begun(house)
    assert "In which tone?" in house.call("show", id_).out
    assert "Answer with: preflights answer" in house.call("resume", "--no-input", code=3).out
    assert "needs answers" in house.call("sessions", "--status", "needs_answers").out
    house.call("answer", "last", "2")
    shape = house.call("show", "last", "--json").json
    assert (shape["format"], shape["status"]) == ("any-session/1", "done")
    assert "heard" in house.call("log", "last").out
    assert "A script (Ada) answered: short." in house.call("log", "last").out
    assert "hello" in house.call("prompt", "last").out
    assert "identical: 4 events" in house.call("replay", "last").out
    for how in ("--drift", "--simulate"):
        assert "identical" in house.call("replay", "last", how).out
    whatif = house.call("replay", "last", "--answer", "tone=kind").out
    assert "what if, answer tone=kind: different: 4 events" in whatif


def test_what_the_workflow_does_not_have_is_refused_in_words(house: House) -> None:
    id_ = begun(house)[-8:]
    for words, said in (
        (("revise", id_, "tone=x"), "workflow toy: its answers cannot be changed"),
        (("accept", id_), "is of the workflow toy: it proposes nothing to accept"),
        (("why", id_), f"session {id_} has no decision"),
        (("admin", "render", id_), f"session {id_} has no document\n"),
        (("audit", "trail", "--decision", id_), f"session {id_} has no decision"),
        (("start", "--workflow", "toy", " "), "the text is empty"),
    ):
        assert said in house.call(*words, code=1).err, words
    assert "task   x" in house.call("start", "--workflow", "extraction", "x").out
    done = house.call("start", "--workflow", "toy", "x", "--as-task", code=2)
    assert "--as-task is about a decision: leave it out" in done.err
    assert "install the package" in house.call("start", "--workflow", "nix", "x", code=5).err


def test_its_document_is_written_and_rebuilt(house: House) -> None:
    house.call("start", "--workflow", "toy", RECORD)
    file = house.folder / RECORD
    text = file.read_text()
    file.unlink()
    assert f"{RECORD} is missing" in house.call("admin", "render", "last", "--check", code=1).out
    assert f"Wrote {RECORD}" in house.call("admin", "render", "last").out
    assert file.read_text() == text == house.call("admin", "render", "last", "--stdout").out


def test_lists_and_sums_have_it(house: House) -> None:
    begun(house)
    assert "Nothing is in force here." in house.call("decisions").out
    assert "Nothing is decided here." in house.call("decisions", "--all").out
    assert house.call("usage").out == "No model was asked anything.\n"
    trail = house.call("audit", "trail", "--json").out.splitlines()
    assert [json.loads(line)["type"] for line in trail] == ["toy.said.v1", "toy.heard.v1"]
    assert "1 session" in house.call("audit", "verify").out
    verified = house.call("audit", "verify", "--json").json
    assert (verified["broken"], verified["projections"], verified["skipped"]) == ([], [], [])
    house.call("admin", "projections", "rebuild")
    assert "0 appends to fold" in house.call("admin", "projections", "status").out


def test_it_leaves_and_comes_back(house: House, tmp_path: Path) -> None:
    id_ = begun(house)
    file = tmp_path / "toy.jsonl"
    house.call("admin", "export", "last", "-o", str(file))
    assert "identical" in house.call("replay", str(file)).out
    assert "nothing new, version 2" in house.call("admin", "import", str(file)).out
    house.call("abandon", id_, "--reason", "enough")
    assert house.call("show", id_, "--json").json["status"] == "abandoned"
    assert "was abandoned" in house.call("answer", id_, "kind", code=1).err
    house.call("admin", "erase", id_, "--yes")
    assert "was erased" in house.call("show", id_).out
    assert "was erased" in house.call("answer", id_, "tone=kind", code=1).err
    assert "erased" in house.call("replay", id_, code=1).out
    assert house.call("audit", "verify", "--json").json["erased"] == 1


def test_a_workflow_that_is_not_here_stops_no_other_session(house: House) -> None:
    id_, toys = begun(house), WORKFLOWS["toy"]
    house.call("note", "milk")
    known = house.call("sessions", "--all-workflows", "--json").json["sessions"]
    (note,) = (one["session_id"] for one in known if one["session_id"] != id_)
    del WORKFLOWS["toy"]
    try:
        missing = "the workflow 'toy' is not known here: install the package that has it"
        for words in (("show", id_), ("answer", id_, "tone=kind"), ("abandon", id_)):
            assert house.call(*words, code=5).err == f"preflights: {missing}\n", words
        assert "heard" not in house.call("log", id_).err
        assert "said" in house.call("log", id_).out
        trail = house.call("audit", "trail", "--session", id_, "--json").out.splitlines()
        step = json.loads(trail[0])
        assert (step["actor"]["kind"], step["data"]["text"]) == ("script", "hello")
        for ids in ((id_, note), (note, id_)):
            done = house.call("replay", "--all", *ids, code=5)
            assert f"{note[-8:]} identical" in done.out
            said = f"session {id_[-8:]} is not replayed: the workflow 'toy' is not known here: "
            assert done.err.count("\n") == 1
            assert said in done.err
            sessions = house.call("replay", "--json", *ids, code=5).json["sessions"]
            assert [one["session_id"] for one in sessions] == [note]
        skipped = house.call("audit", "verify", "--json").json["skipped"]
        them = "what follows from 1 session of a workflow that is not known here"
        assert skipped == [f"{them} (see `preflights sessions --status unknown`)"]
        (row,) = house.call("sessions", "--status", "unknown", "--json").json["sessions"]
        told = (row["session_id"], row["workflow"], row["intention"])
        assert told == (id_, "toy", missing)
        house.call("admin", "erase", id_, "--yes")
        assert "erased" in house.call("log", id_).out
    finally:
        WORKFLOWS["toy"] = toys
