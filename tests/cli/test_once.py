"""A command under a key happens once, however often it runs."""

from __future__ import annotations

from tests.cli.program import Project

START = ("start", "Add login", "--answer", "auth_strategy=OAuth")
ACCEPT = (*START, "--accept", "--by", "Ada", "--json")


def test_a_repeated_start_gives_the_first_session(house: Project) -> None:
    first = house.call(*START, "--key", "k", "--json")
    again = house.call(*START, "--key", "k", "--json")
    assert first.json == again.json
    assert again.code == first.code
    assert len(house.call("sessions", "--json").json["sessions"]) == 1


def test_a_repeated_acceptance_records_and_writes_nothing(house: Project) -> None:
    first = house.call(*ACCEPT, "--key", "k").json
    events = house.call("log", "last", "--json").out
    again = house.call(*ACCEPT, "--key", "k").json
    assert again == first
    assert house.call("log", "last", "--json").out == events
    assert len(list((house.folder / "docs" / "decisions").glob("*.md"))) == 1


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


def test_a_key_is_refused_for_something_else(house: Project) -> None:
    house.call(*START, "--key", "k")
    for words in (
        ("start", "Add a database", "--key", "k"),
        ("abandon", "last", "--key", "k"),
        ("note", "buy milk", "--key", "k"),
    ):
        done = house.call(*words)
        assert done.code == 1
        assert "the key 'k' was used for something else" in done.err
    assert len(house.call("sessions", "--json").json["sessions"]) == 1


def test_a_run_that_was_cut_short_goes_on(house: Project) -> None:
    house.call("start", "Add login", "--key", "k", "--no-input")
    done = house.call(*ACCEPT, "--key", "k")
    assert done.code == 0
    assert done.json["status"] == "accepted"
    assert len(house.call("sessions", "--json").json["sessions"]) == 1


def test_notes_and_tasks_are_taken_once(house: Project) -> None:
    for _ in range(2):
        assert house.call("note", "buy milk, call mom", "--key", "n").code == 0
        assert house.call("note", "add", "task", "mow", "--note", "last", "--key", "a").code == 0
        assert house.call("task", "done", "last.1", "--key", "d").code == 0
        assert house.call("task", "edit", "last.2", "--minutes", "5", "--key", "e").code == 0
    tasks = house.call("tasks", "--all", "--json").json["items"]
    assert [(t["title"], t["status"]) for t in tasks] == [
        ("buy milk", "done"),
        ("call mom", "open"),
        ("mow", "open"),
    ]


def test_the_same_key_in_another_project_is_another(house: Project) -> None:
    house.call(*START, "--key", "k")
    env = {"PREFLIGHTS_PROJECT": "elsewhere"}
    assert house.run("start", "Add a database", "--key", "k", env=env).code == 3


def test_an_empty_key_is_a_mistake(house: Project) -> None:
    assert house.call(*START, "--key", " ").code == 2


def test_many_processes_under_one_key_open_one_session(house: Project) -> None:
    processes = [house.started("start", "Add login", "--key", "k", "--json") for _ in range(4)]
    outs = {process.communicate()[0] for process in processes}
    assert {process.returncode for process in processes} == {3}
    assert len(outs) == 1
    assert len(house.call("sessions", "--json").json["sessions"]) == 1
