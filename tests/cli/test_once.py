"""A command under a key happens once, however often it runs."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from hashlib import sha256

import pytest

from tests.cli.program import Project
from tests.cli.terminal import ANSWER, terminal

START = ("start", "Add login", "--answer", "auth_strategy=OAuth")
ACCEPT = (*START, "--accept", "--by", "Ada", "--json")


def test_a_repeated_start_gives_the_first_session_and_an_empty_key_is_a_mistake(
    house: Project,
) -> None:
    first = house.call(*START, "--key", "k", "--json")
    again = house.call(*START, "--key", "k", "--json")
    assert first.json == again.json
    assert again.code == first.code
    assert len(house.call("sessions", "--json").json["sessions"]) == 1
    assert house.call(*START, "--key", " ").code == 2


def test_a_repeated_acceptance_records_and_writes_nothing(house: Project) -> None:
    first = house.call(*ACCEPT, "--key", "k")
    events = house.call("log", "last", "--json").out
    assert house.call(*ACCEPT, "--key", "k").json == first.json
    assert house.call("log", "last", "--json").out == events
    assert len(list((house.folder / "docs" / "decisions").glob("*.md"))) == 1
    house.decided("Use passkeys for the login", "--supersedes", first.json["uid"])
    assert house.call(*ACCEPT, "--key", "k")[:2] == first[:2]


def test_a_repeated_acceptance_of_what_is_in_force_gives_the_first_result(house: Project) -> None:
    house.decided()
    first = house.call(*ACCEPT, "--key", "k")
    id_ = house.call(*START, "--json").json["session_id"]
    accept = ("accept", id_, "--by", "Ada", "--json", "--key", "k2")
    kept, events = house.call(*accept), house.call("log", id_, "--json").out
    assert (first.json["status"], first.json["related"][0]["evolution"]) == ("stopped", "same")
    for words, before in (((*ACCEPT, "--key", "k"), first), (accept, kept)):
        again = house.call(*words)
        assert (again.code, again.json) == (0, before.json), again.err
    assert house.call("log", id_, "--json").out == events


def test_each_command_has_its_own_key(house: Project) -> None:
    house.call("start", "Add login", "--key", "a")
    for _ in range(2):
        assert house.call("answer", "last", "OAuth", "--key", "b").code == 3
    done = house.call("answer", "last", "auth_strategy=OAuth", "--key", "c")
    assert done.code == 1
    assert "is answered already" in done.err
    for _ in range(2):
        assert house.call("accept", "last", "--by", "Ada", "--key", "d").code == 0
    assert house.call("accept", "last", "--by", "Ada", "--key", "e").code == 1
    assert house.call("replay", "last").code == 0


def test_a_key_is_refused_for_something_else_and_is_another_in_another_project(
    house: Project,
) -> None:
    house.call(*START, "--key", "k")
    for words in (
        ("start", "Add a database", "--key", "k"),
        ("abandon", "last", "--key", "k"),
        ("note", "buy milk", "--key", "k"),
    ):
        house.call(*words).refused(1, "the key 'k' was used for something else")
    assert len(house.call("sessions", "--json").json["sessions"]) == 1
    env = {"PREFLIGHTS_PROJECT": "elsewhere"}
    assert house.run("start", "Add a database", "--key", "k", env=env).code == 3


def test_a_run_that_was_cut_short_goes_on(house: Project) -> None:
    house.call("start", "Add login", "--key", "k", "--no-input")
    done = house.call(*ACCEPT, "--key", "k")
    assert done.code == 0
    assert done.json["status"] == "accepted"
    assert len(house.call("sessions", "--json").json["sessions"]) == 1


@pytest.mark.slow("crowds")
def test_many_processes_under_one_key_open_one_session(house: Project) -> None:
    processes = [house.started("start", "Add login", "--key", "k", "--json") for _ in range(4)]
    outs = {process.communicate()[0] for process in processes}
    assert {process.returncode for process in processes} == {3}
    assert len(outs) == 1
    assert len(house.call("sessions", "--json").json["sessions"]) == 1


# What was asked for again ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "then"),
    [
        (("answer", "last", "3", "--key", "k"), ("answer", "last", "OAuth")),
        (("answer", "last", "Database", "--key", "k"), ("answer", "last", "MySQL")),
        (("answer", "last", "Database", "--key", "k"), ("abandon", "last")),
        (("answer", "last", "change_category=tbd", "--key", "k"), ("answer", "last", "Infra")),
        (("start", "Make it nicer", "--key", "k"), ("answer", "last", "Database")),
        (("start", "Make it nicer", "--key", "k"), ("start", "Something else")),
        (("abandon", "last", "--reason", "no", "--key", "k"), ("start", "Make it nicer")),
    ],
)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_repeated_command_says_what_it_said_whatever_happened_since(
    house: Project, word: tuple[str, ...], then: tuple[str, ...], form: tuple[str, ...]
) -> None:
    session_id = house.started_session("Make it nicer")
    words = tuple(session_id if part == "last" else part for part in (*word, *form))
    first = house.call(*words)
    house.call(*then)
    before = house.call("admin", "export", "--all").out
    assert before
    assert house.call(*words) == first
    assert house.call("admin", "export", "--all").out == before


def test_a_repeated_revision_and_acceptance_say_what_they_said(house: Project) -> None:
    session_id = house.started_session("Add login")
    house.call("answer", session_id, "OAuth")
    revise = ("revise", session_id, "auth_strategy=SAML", "--key", "r", "--json")
    revised = house.call(*revise)
    expected = str(revised.json["version"])
    accept = ("accept", session_id, "--by", "Ada", "--expect", expected, "--key", "a", "--json")
    accepted = house.call(*accept)
    assert accepted.code == 0, accepted.err
    assert house.call(*revise) == revised
    uid = accepted.json["uid"]
    house.decided("Use passkeys for the login", "--supersedes", uid)
    assert house.show(session_id)["superseded_by"]
    assert house.call(*accept)[:2] == accepted[:2]
    assert house.call(*revise) == revised


def test_repeated_notes_and_tasks_say_what_they_said(house: Project) -> None:
    note = ("note", "buy milk\ncall mom", "--key", "n", "--json")
    first = [house.call(*note)]
    session_id = first[0].json["session_id"]
    words = (
        ("note", "add", "task", "mow", "--note", session_id, "--key", "a", "--json"),
        ("note", "done", f"{session_id[-8:]}.1", "--key", "d", "--json"),
        ("note", "cancel", f"{session_id[-8:]}.2", "--key", "c", "--json"),
    )
    first += [house.call(*word) for word in words]
    tasks = house.call("note", "list", "--all", "--json").json["items"]
    assert [task["status"] for task in tasks] == ["done", "cancelled", "open"]
    house.call("abandon", session_id)
    assert [house.call(*word) for word in (note, *words)] == first


@pytest.mark.slow("whole runs")
def test_a_model_that_was_changed_since_is_not_asked_for_a_repeated_command(house: Project) -> None:
    failing = ("--provider", "sim", "--faults", "timeout=1", "--strict")
    start = ("start", "Keep orders safe", *failing, "--key", "k", "--json")
    first = house.call(*start)
    assert (first.code, first.json["status"]) == (5, "waiting")
    assert house.call("resume", "last", "--provider", "mock").code == 3
    assert house.call(*start) == first


def test_a_conversation_goes_on_where_the_session_stands(house: Project) -> None:
    with terminal(house, "start", "Make it nicer", "--key", "k") as t:
        t.expect(ANSWER)
        t.type("Infra")
        t.expect(ANSWER)
        t.end()
        assert t.code() == 3
    with terminal(house, "start", "Make it nicer", "--key", "k") as t:
        assert "Which hosting approach?" in t.expect(ANSWER)
        t.type("Cloud")
        t.proposal()
        t.press("a")
        assert t.code() == 0
    assert len(house.call("sessions", "--json").json["sessions"]) == 1


# Something else under the same key ------------------------------------------------------------


def test_a_key_belongs_to_one_session(house: Project) -> None:
    sessions = [house.started_session(f"Add login {n}") for n in range(2)]
    one, other = sessions
    for command in (
        ("answer", "auth_strategy=OAuth"),
        ("revise", "auth_strategy=SAML"),
        ("accept", "--by", "Ada"),
        ("abandon",),
    ):
        name, *rest = command
        if name == "abandon":
            one, other = (house.started_session(f"Add a cache {n}") for n in range(2))
        assert house.call(name, one, *rest, "--key", name).code in (0, 3)
        before = house.show(other)
        house.call(name, other, *rest, "--key", name).refused(
            1, f"the key '{name}' was used for something else: ", f" session {one[-8:]} under it"
        )
        assert house.show(other) == before
        assert house.call(name, other, *rest).code in (0, 3)


def test_a_key_of_a_task_belongs_to_its_note(house: Project) -> None:
    for word in ("milk", "bread"):
        house.call("note", f"buy {word}\ncall mom")
    notes = house.call("sessions", "--workflow", "extraction", "--json").json["sessions"]
    one, other = (s["session_id"] for s in notes)
    for words in (("note", "done", "{}.1"), ("note", "add", "idea", "A podcast", "--note", "{}")):
        for note, code in ((one, 0), (other, 1)):
            short = note[-8:]
            done = house.call(*(word.format(short) for word in words), "--key", words[1])
            assert done.code == code, done.err
    done = house.call("note", "add", "idea", "A podcast", "--key", "add")
    assert done.code == 1
    assert f"(script) filed an item in session {one[-8:]} under it" in done.err
    own = house.call("note", "add", "task", "mow", "--key", "own", "--json").json["session_id"]
    assert house.call("note", "add", "task", "mow", "--note", own, "--key", "own").code == 1


def test_an_acceptance_by_another_person_is_not_dropped(house: Project) -> None:
    house.call(*START, "--no-input")
    proposed = house.call("accept", "last", "--key", "z")
    assert proposed.code == 0
    done = house.call("accept", "last", "--by", "Ada", "--key", "z")
    assert done.code == 1
    short = house.show()["session_id"][-8:]
    assert done.err == (
        "preflights: the key 'z' was used for something else: Ada (script) accepted "
        f"session {short} under it: choose a new one\n"
    )
    assert house.call("accept", "last", "--by", "Grace", "--key", "y").code == 0
    for again in (("--by", "Grace", "--adr"), ("--by", "Ada")):
        assert house.call("accept", "last", *again, "--key", "y").code == 1


def test_a_start_under_a_key_says_all_of_the_same(house: Project) -> None:
    uid = house.decided("Add sessions to the login")["uid"]
    words = ("start", "Add login", "--key", "k")
    assert house.call(*words).code == 3
    for more in (
        ("--as-task",),
        ("--supersedes", uid),
        ("--provider", "sim"),
        ("--provider", "sim", "--seed", "3"),
    ):
        house.call(*words, *more).refused(1, "Ada (script) started session")
    agent = {"PREFLIGHTS_ACTOR": "agent:claude"}
    assert house.call(*words, env=agent).code == 1
    assert house.call(*words).code == 3


def test_other_words_under_the_key_of_an_answer_are_refused(house: Project) -> None:
    session_id = house.started_session("Make it nicer")
    assert house.call("answer", session_id, "3", "--key", "k").code == 3
    for words in (("2",), ("77",), ("change_category=Infra",), ("Database", "db_type=MySQL")):
        done = house.call("answer", session_id, *words, "--key", "k")
        assert done.code == 1, words
        assert f"Ada (script) answered in session {session_id[-8:]} under it" in done.err
    done = house.call("revise", session_id, "change_category=Database", "--key", "k")
    assert done.code == 1
    assert "was used for something else" in done.err


def test_a_faulted_session_that_is_set_aside_twice_is_set_aside_once(house: Project) -> None:
    house.call("start", "Add login")
    buggy = house.run("answer", "last", "crash", program=(sys.executable, "-m", "tests.cli.buggy"))
    assert buggy.code == 70, buggy.err
    words = ("abandon", "last", "--force", "--key", "k")
    program = (sys.executable, "-m", "tests.cli.buggy")
    first = house.run(*words, program=program)
    assert first.code == 0, first.err
    assert house.run(*words, program=program) == first


# Many at once ---------------------------------------------------------------------------------


@pytest.mark.slow("crowds")
def test_many_processes_accept_under_one_key_what_one_of_them_accepted(house: Project) -> None:
    house.call(*START, "--no-input")
    words = ("accept", "last", "--by", "Ada", "--key", "k")
    processes = [house.started(*words) for _ in range(4)]
    outs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, outs
    tags = [event["type"] for event in house.events()]
    assert tags.count("clarification.decision_recorded.v1") == 1


@pytest.mark.slow("crowds")
def test_many_processes_under_one_key_abandon_one_session_of_many(house: Project) -> None:
    sessions = [house.started_session(f"Add a cache {n}") for n in range(4)]
    processes = [house.started("abandon", id_, "--key", "k") for id_ in sessions]
    for process in processes:
        process.communicate()
    assert sorted(process.returncode for process in processes) == [0, 1, 1, 1]
    given_up = [s for s in sessions if house.show(s)["status"] == "abandoned"]
    assert len(given_up) == 1


# Logs -----------------------------------------------------------------------------------------


def test_logs_of_two_clones_that_used_one_key_are_merged(house: Project) -> None:
    for log in ("a.db", "b.db"):
        done = house.call("start", f"Add login to {log}", "--key", "build-42", "--db", log)
        assert done.code == 3
        for words in (("answer", "last", "OAuth"), ("accept", "last", "--by", "Ada")):
            assert house.call(*words, "--key", words[0], "--db", log).code in (0, 3)
    assert house.call("admin", "export", "--all", "-o", "b.jsonl", "--db", "b.db").code == 0
    done = house.call("admin", "import", "b.jsonl", "--db", "a.db")
    assert done.code == 0, done.err
    found = house.call("sessions", "--json", "--all", "--db", "a.db").json["sessions"]
    assert sorted(s["intention"] for s in found) == ["Add login to a.db", "Add login to b.db"]
    again = house.call("start", "Add login to a.db", "--key", "build-42", "--db", "a.db")
    assert again.code == 3


def test_a_key_has_its_id_and_one_that_cannot_be_named_is_a_mistake(house: Project) -> None:
    house.call(*START, "--key", "Küche")
    with closing(sqlite3.connect(house.log)) as log:
        ((log_id,),) = log.execute("SELECT id FROM log").fetchall()
        found = {id_ for (id_,) in log.execute("SELECT input_id FROM events")} - {None}
    named = [f'["{log_id}","house","K\\u00fcche",{place}]' for place in (1, 2)]
    assert found == {f"key-{sha256(name.encode()).hexdigest()[:32]}" for name in named}
    for key, why in (
        (b"\xff", "is not valid Unicode"),
        (b"a\x1b[31m", "holds the control character U+001B"),
        (b"k" * 201, "has 201 characters"),
    ):
        done = house.run("start", "Add login", "--key", key)
        assert done.code == 2
        assert why in done.err
        assert done.is_safe()


@pytest.mark.needs("strace")
def test_a_disk_that_fails_at_the_end_of_a_commit_leaves_it_open_what_is_recorded(
    house: Project,
) -> None:
    id_ = house.started_session()
    late = ("-e", "inject=fsync,fdatasync:error=EIO:when=1", "preflights")
    failing = ("strace", "-f", "-qq", "-o", os.devnull, *late)
    done = house.run("answer", id_, "OAuth", program=failing)
    assert done.code == 5
    said = (
        "it may have been recorded: the commit failed: disk I/O error: look with `preflights show"
    )
    assert said in done.err
    assert house.show(id_)["status"] in ("needs_answers", "ready")
