"""`today`, as people and scripts meet it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from preflights_es.features.planning.commands import hours
from tests.cli.program import House, Project
from tests.cli.tampering import flipped, tampered
from tests.each import each
from tests.providers import server
from tests.providers.server import FakeAPI, wait_until

DAY = ("--from", "09:00", "--until", "18:00")
NOTE = "Bericht ~90m !high\nChef anrufen ~10m\nRechnung zahlen ~15m\nMeeting @today-14:00"
FAILING = ("--provider", "sim", "--faults", "malformed=1")


@pytest.fixture
def tasks(house: House) -> list[str]:
    """The tasks of a note of today."""
    return house.made(noted)


def noted(house: Project) -> list[str]:
    found = house.call("note", NOTE, "--json").json
    return [item["id"] for item in found["items"]]


def today(house: Project, *args: str) -> Any:
    return house.call("today", *args, "--json").json


# 1. Planning ---------------------------------------------------------------------------------


def test_open_tasks_become_a_timeline_with_the_names_of_the_seed(
    house: Project, tasks: list[str]
) -> None:
    done = house.call("today", *DAY)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].endswith(", 09:00-18:00")
    assert lines[1].endswith(", made by the rules"), "it is planned, and no task is done yet"
    assert lines[2:6] == [
        f"  09:00-10:30  focus  {tasks[0]}  Bericht",
        f"  10:45-10:55  mini   {tasks[1]}  Chef anrufen",
        f"  11:10-11:25  mini   {tasks[2]}  Rechnung zahlen",
        "  14:00-15:00  busy               Meeting  (time assumed)",
    ]
    assert "  365 minutes stay free." in lines
    assert lines[-1] == "When a task is done: preflights note done TASK"
    found = today(house, *DAY)
    assert (found["format"], found["workflow"], found["status"]) == ("day/1", "planning", "done")
    assert (found["focus_task_id"], found["mini_task_ids"]) == (tasks[0], tasks[1:3])
    assert (found["buffer_minutes"], found["source"], found["calls"]) == (15, "rules", 0)
    assert (found["warnings"], found["refused"], found["not_planned"]) == ([], [], [])
    assert found["reasoning"]


def test_the_same_day_again_shows_its_plan(house: Project, tasks: list[str]) -> None:
    first = today(house, *DAY)
    house.call("note", "idea: tea\nMeeting @2099-01-01T10:00")
    assert today(house) == first
    again = today(house, *DAY, "--minutes", "60")
    assert (again["session_id"], again["version"]) == (first["session_id"], first["version"] + 2)


def test_the_ladder_of_a_tried_day_plans_the_short_call(house: Project) -> None:
    house.call("note", "write report ~120m\nsync @today-15:00-16:30\ncall mom ~10m due:2099-12-04")
    house.call("note", "tidy !low due:2099-12-05")
    done = house.call("today", "--from", "13:30", "--until", "18:00")
    times = [" ".join(line.split()[:2]) for line in done.out.splitlines()[2:5]]
    assert times == ["13:30-15:00 focus", "15:00-16:30 busy", "16:30-16:40 mini"]
    assert "write report  (a part of it)" in done.out
    assert "80 minutes stay free." in done.out
    assert "tidy  (due Sat 5 Dec 2099)" in done.out


@pytest.mark.slow("crowds")
def test_processes_that_plan_a_day_at_once_make_one_plan(house: Project, tasks: list[str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(lambda _: house.run("today", *DAY, "--json"), range(4)))
    found = {done.json["session_id"] for done in ran if done.code == 0}
    assert len(found) == 1
    assert today(house)["session_id"] in found


def test_no_open_task_is_said_and_nothing_recorded(house: Project) -> None:
    done = house.call("today")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("No open tasks.\n")
    found = today(house)
    assert (found["session_id"], found["status"], found["warnings"]) == (
        None,
        "stopped",
        ["No open tasks."],
    )
    assert "Keine offenen Aufgaben." in house.call("today", "--language", "de").out
    assert house.call("sessions").out == house.call("sessions", "--all").out


def test_a_day_without_an_open_task_says_so_and_refuses_one_that_is_over(
    house: Project, tasks: list[str]
) -> None:
    before = today(house, *DAY)
    for task in tasks[:3]:
        house.call("note", "done", task)
    found = today(house)
    assert (found["session_id"], found["status"]) == (before["session_id"], "stopped")
    assert found["warnings"] == ["No open tasks."]
    for task in tasks:
        house.call("note", "done", task)
    done = house.call("today", "--focus", tasks[0])
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert f"no task {tasks[0]} is open" in done.err


def test_busy_intervals_and_the_end_of_the_day_are_kept(house: Project, tasks: list[str]) -> None:
    settings = house.folder / "preflights.toml"
    settings.write_text('[planning]\nuntil = "09:50"\n')
    assert today(house, "--from", "08:00")["window"] == ["08:00", "09:50"]
    found = today(
        house, *DAY, "--busy", "9:00-9:30", "--busy", "10:00\u201313:00", "--minutes", "95"
    )
    assert [(e["start"], e["end"], e["kind"]) for e in found["timeline"]] == [
        ("09:00", "09:30", "busy"),
        ("10:00", "13:00", "busy"),
        ("14:00", "15:00", "busy"),
        ("15:00", "16:30", "focus"),
    ]
    assert [one["task_id"] for one in found["not_planned"]] == tasks[1:3]
    again = today(house, "--from", "08:00", "--minutes", "40")
    assert [(e["start"], e["end"], e["kind"]) for e in again["timeline"]][:3] == [
        ("08:00", "08:40", "focus"),
        ("09:00", "09:30", "busy"),
        ("10:00", "13:00", "busy"),
    ], "what is not said again holds"
    assert again["window"] == ["08:00", "18:00"]
    settings.write_text('[planning]\nuntil = "late"\n')
    done = house.call("today")
    assert (done.code, "expected a time such as 18:00" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--minutes", "0"), "found 0 minutes, expected 1 to 1,440"),
        (("--minutes", "1441"), "found 1441 minutes, expected 1 to 1,440"),
        (("--busy", "14:00-13:00"), "'14:00-13:00', expected an interval that ends after"),
        (("--busy", "13:00-13:00"), "expected an interval that ends after it begins"),
        (("--busy", "13:00"), "found '13:00', expected an interval such as 13:00-14:00"),
        (("--busy", "noon-14:00"), "found 'noon', expected a time such as 13:00"),
        (("--busy", "25:00-26:00"), "found '25:00', expected a time such as 13:00"),
        (("--from", "9"), "found '9', expected a time such as 13:00"),
        (("--until", "18:60"), "found '18:60', expected a time such as 13:00"),
        (("--from", "18:00", "--until", "09:00"), "expected an end after the beginning"),
        (("--until", "00:00"), " to 00:00, expected an end after the beginning: say both"),
        (("--from", "18:00"), "found 18:00 to 18:00, expected an end after the beginning"),
    ],
)
def test_bad_form_is_refused_in_one_line(
    house: Project, tasks: list[str], args: tuple[str, ...], words: str
) -> None:
    done = house.call("today", *args)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert words in done.err
    assert today(house, *DAY)["version"] == 2, "nothing was recorded before"


@pytest.mark.parametrize("named", ["me", "3f9a.x", "ff00ff00.1"])
def test_a_task_that_is_typed_wrong_costs_no_plan(
    house: Project, tasks: list[str], named: str
) -> None:
    assert house.call("today", *DAY, "--focus", named).code == 1
    before = today(house, *DAY)
    assert before["version"] == 2, "no plan was recorded before"
    for args in (DAY, ()):
        done = house.call("today", *args, "--focus", named)
        assert (done.code, done.err.count("\n")) == (1, 1)
    assert today(house) == before


def test_each_zone_of_a_team_has_its_day(house: Project, tasks: list[str]) -> None:
    """The two zones are 26 hours apart, so that they never have the same date."""
    east, west = ({"TZ": zone} for zone in ("Etc/GMT-14", "Etc/GMT+12"))
    first = house.run("today", "--until", "24:00", "--json", env=east).json
    other = house.run("today", "--until", "24:00", "--json", env=west).json
    assert first["day"] > other["day"]
    assert house.run("today", "--json", env=east).json == first


# 2. A model ----------------------------------------------------------------------------------


def test_a_model_that_fails_gives_way_for_this_plan(house: Project, tasks: list[str]) -> None:
    done = house.call("today", *DAY, *FAILING, "--language", "de")
    assert done.code == 0
    assert done.err == "warning: KI nicht verfügbar. Selbst auswählen? (invalid json)\n"
    assert ", made by the rules" in done.out
    found = today(house, *DAY, "--provider", "sim")
    assert (found["source"], found["calls"], found["warnings"]) == ("model", 3, [])
    assert today(house, "--provider", "sim") == found, "it is planned by the model already"


@pytest.fixture
def waiting(house: Project, tasks: list[str]) -> tuple[str, dict[str, str]]:
    """A plan whose model was asked when the program was killed, and where it is asked."""
    with FakeAPI() as api:
        api.script(server.slow(server.text(), 60))
        who = ("--provider", "openai", "--base-url", api.openai)
        killed = house.started("today", *DAY, *who, env={"OPENAI_API_KEY": "k"})
        wait_until(lambda: bool(api.requests), 30)
        killed.kill()
        killed.communicate()
        there = {"PREFLIGHTS_BASE_URL": api.openai}
    return str(today(house)["session_id"]), there


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("args", [DAY, ("--focus", "last.1")])
def test_what_the_model_may_still_answer_is_not_changed(
    house: Project, waiting: tuple[str, dict[str, str]], args: tuple[str, ...]
) -> None:
    id_, there = waiting
    before = today(house)
    assert (before["status"], before["source"]) == ("waiting", None)
    done = house.call("today", *args, env=there)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert f"`preflights abandon {id_[-8:]}` gives the plan up" in done.err
    assert today(house) == before
    house.call("note", "done", "last.1")
    assert today(house) == before, "a change waits, too"
    house.call("abandon", id_)
    assert house.call("today", *DAY).code == 0


# 3. By hand, and anew ------------------------------------------------------------------------


def test_a_person_chooses_the_focus_without_a_model(house: Project, tasks: list[str]) -> None:
    found = today(house, *DAY, "--focus", tasks[2], *FAILING)
    assert (found["source"], found["calls"], found["focus_task_id"]) == ("person", 0, tasks[2])
    house.call("note", "done", tasks[1])
    found = today(house, *DAY)
    assert (found["source"], found["focus_task_id"]) == ("person", tasks[2]), "it is kept"
    house.call("note", "done", tasks[2])
    assert today(house, *DAY)["focus_task_id"] == tasks[0]


@pytest.mark.parametrize("how", ["done", "cancel"])
def test_what_is_done_gives_its_place_to_the_next_task(
    house: Project, tasks: list[str], how: str
) -> None:
    house.call("note", "Tee kaufen ~5m")
    first = today(house, "--from", "00:00", "--until", "24:00")
    assert [one["title"] for one in first["not_planned"]] == ["Tee kaufen"]
    house.call("note", how, tasks[1])
    again = today(house)
    # Late in the evening there is no room for another plan, which is one all the same.
    named = [one["title"] for one in (*again["timeline"], *again["not_planned"])]
    assert "Tee kaufen" in named
    assert "Chef anrufen" not in named
    assert (again["version"], again["window"][1]) == (first["version"] + 2, "24:00")
    assert today(house)["version"] == again["version"]


def test_an_appointment_of_today_is_planned_around(house: Project, tasks: list[str]) -> None:
    first = today(house, *DAY)
    house.call("note", "Zahnarzt @tomorrow-9:00-11:00")
    assert today(house)["version"] == first["version"], "it is on another day"
    house.call("note", "Zahnarzt @today-9:00-11:00")
    found = today(house, *DAY)["timeline"]
    assert [(e["start"], e["kind"], e["title"]) for e in found[:2]] == [
        ("09:00", "busy", "Zahnarzt"),
        ("11:00", "focus", "Bericht"),
    ]
    house.call("note", "cancel", "last.1")
    assert "Zahnarzt" not in [e["title"] for e in today(house)["timeline"]]


def test_an_event_without_a_day_is_on_none_and_one_without_a_note_is_busy(
    house: Project, tasks: list[str]
) -> None:
    house.call("note", "Zahnarzt @9:00")
    assert today(house, *DAY)["timeline"][0]["title"] == "Bericht"
    house.call(
        "note", "add", "event", "Sport", "--start", "09:00", "--end", "10:00", "--date", "today"
    )
    found = today(house, *DAY)["timeline"][0]
    assert (found["start"], found["end"], found["title"]) == ("09:00", "10:00", "Sport")


def test_no_open_task_is_without_a_line_and_the_last_plan_is_replayed(
    house: Project, tasks: list[str]
) -> None:
    house.call("note", "\n".join(f"Anruf {n} ~10m" for n in range(40)))
    lines = house.call("today", *DAY).out.splitlines()
    assert "  Not planned, beside a focus and two small tasks:" in lines
    assert sum("Anruf" in line for line in lines) == 40
    found = today(house, *DAY)
    replayed = house.call("replay", "last", "--json").json["sessions"]
    assert [one["session_id"] for one in replayed] == [found["session_id"]]
    assert found["session_id"][-8:] not in house.call("sessions", "--all").out
    assert found["session_id"][-8:] in house.call("sessions", "--workflow", "planning").out


# 4. Under a key ------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [("--minutes", "200"), ("--focus", "{}")])
@pytest.mark.parametrize("is_planned", [False, True])
def test_a_plan_under_a_key_is_made_once(
    house: Project, tasks: list[str], args: tuple[str, ...], is_planned: bool
) -> None:
    args = tuple(arg.format(tasks[0]) for arg in args)
    if is_planned:
        today(house, *DAY)
    first = today(house, *DAY, *args, "--key", "k")
    # By the second run the tasks are over and the day is, which ends before it begins.
    for task in tasks:
        house.call("note", "done", task)
    assert today(house, "--until", "00:00", *args, "--key", "k") == first


@pytest.mark.slow("whole runs")
def test_another_day_under_a_key_is_the_day_of_the_key(house: Project, tasks: list[str]) -> None:
    """The two zones are 26 hours apart, so that they never have the same date."""
    day = ("--from", "00:00", "--until", "24:00")
    west, east = ({"TZ": zone} for zone in ("Etc/GMT+12", "Etc/GMT-14"))
    for args in (day, ("--minutes", "60", *day)):
        run = ("today", *args, "--key", f"k {args}", "--json")
        first = house.run(*run, env=west)
        assert first.code == 0, first.err
        assert house.run(*run, env=east).json == first.json


# 5. With the rest of the program -------------------------------------------------------------


def test_a_plan_replays_also_of_a_task_that_is_normal(house: Project, tasks: list[str]) -> None:
    house.call("note", "add", "task", "Brief", "--importance", "normal")
    id_ = today(house, *DAY, "--provider", "sim")["session_id"]
    assert house.call("replay", id_).out.startswith(f"{id_[-8:]} identical")
    id_ = today(house, *DAY, "--provider", "sim")["session_id"]
    today(house, *DAY)
    assert house.call("replay", id_).out.startswith(f"{id_[-8:]} identical")


def test_an_erased_note_names_the_plan_that_quotes_it(house: Project, tasks: list[str]) -> None:
    note = house.newest()
    plan = today(house, *DAY)["session_id"]
    done = house.call("admin", "erase", note, "--yes")
    assert done.code == 0, done.err
    assert plan[-8:] in done.out + done.err
    assert house.call("today", *DAY).code == 0


def test_a_damaged_or_abandoned_plan_gives_way_to_another(house: Project, tasks: list[str]) -> None:
    first = today(house, *DAY)["session_id"]
    house.call("abandon", first)
    assert today(house, *DAY)["session_id"] != first
    first = today(house, *DAY)["session_id"]
    tampered(house, first, flipped)
    plan = today(house, *DAY)
    assert plan["session_id"] != first
    notes = house.call("sessions", "--workflow", "extraction", "--json").json["sessions"]
    tampered(house, notes[0]["session_id"], flipped)
    assert house.call("today").code == 0


def test_a_text_begins_no_plan_and_a_day_without_room_says_so(
    house: Project, tasks: list[str]
) -> None:
    done = house.call("start", "--workflow", "planning", "today")
    assert (done.code, "takes more than a text" in done.err) == (1, True)
    found = today(house, *DAY, "--busy", "08:00-19:00")
    assert (found["status"], found["focus_task_id"]) == ("stopped", None)
    assert found["warnings"] == ["No time is free today."]
    assert house.call("today").out.endswith("preflights today --until HH:MM\n")


@each(
    ("window", "said"), [(("09:00", "18:00"), "09:00-18:00"), (("23:30", "18:00"), "after 18:00")]
)
def test_a_window_that_is_over_is_shown_by_its_end(window: tuple[str, str], said: str) -> None:
    assert hours(*window) == said
