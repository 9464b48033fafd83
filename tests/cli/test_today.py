"""`today`, as people and scripts meet it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from preflights_es.features.planning.commands import hours
from tests.cli.program import House, Project
from tests.cli.tampering import flipped, tampered
from tests.cli.terminal import terminal
from tests.providers import server
from tests.providers.server import FakeAPI, wait_until

DAY = ("--from", "09:00", "--until", "18:00")
NOTE = "Bericht 90 min dringend, Chef anrufen 10 min, Rechnung zahlen 15 min, Meeting 14 Uhr"
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


def open_tasks(house: Project) -> list[str]:
    return [item["id"] for item in house.call("note", "tasks", "--json").json["items"]]


# 1. Planning ---------------------------------------------------------------------------------


def test_open_tasks_become_a_timeline(house: Project, tasks: list[str]) -> None:
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
    assert lines[-1] == "When a task is done: preflights today --done"


def test_the_json_has_the_names_of_the_seed(house: Project, tasks: list[str]) -> None:
    found = today(house, *DAY)
    assert (found["format"], found["workflow"], found["status"]) == ("day/1", "planning", "done")
    assert (found["focus_task_id"], found["mini_task_ids"]) == (tasks[0], tasks[1:3])
    assert (found["buffer_minutes"], found["source"], found["calls"]) == (15, "rules", 0)
    assert (found["warnings"], found["refused"], found["replans"]) == ([], [], 0)
    assert found["reasoning"]


def test_the_same_day_again_shows_its_plan(house: Project, tasks: list[str]) -> None:
    first = today(house, *DAY)
    house.call("note", "Steuer 120 min dringend")
    assert today(house) == first
    done = house.call("today", "--minutes", "60")
    assert (done.code, done.out) == (1, "")
    assert "planned already: `preflights today --replan`" in done.err


@pytest.mark.slow("crowds")
def test_processes_that_plan_a_day_at_once_make_one_plan(house: Project, tasks: list[str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(lambda _: house.run("today", *DAY, "--json"), range(4)))
    taken = [done for done in ran if done.code == 1]
    assert all("planned already" in done.err for done in taken)
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


def test_a_day_is_not_planned_again_where_no_task_is_open(house: Project, tasks: list[str]) -> None:
    before = today(house, *DAY)
    for task in tasks:
        house.call("note", "done", task)
    assert house.call("today", "--replan", *DAY).out.startswith("No open tasks.\n")
    assert {**today(house), "notices": []} == before


def test_busy_intervals_and_minutes_are_kept(house: Project, tasks: list[str]) -> None:
    found = today(
        house, *DAY, "--busy", "9:00-9:30", "--busy", "10:00\u201313:00", "--minutes", "95"
    )
    assert [(e["start"], e["end"], e["kind"]) for e in found["timeline"]] == [
        ("09:00", "09:30", "busy"),
        ("10:00", "13:00", "busy"),
        ("14:00", "15:00", "busy"),
        ("15:00", "16:30", "focus"),
    ]
    assert found["warnings"] == ["Too little time: a small task is left out."]


def test_an_event_that_was_filed_without_a_note_is_busy(house: Project, tasks: list[str]) -> None:
    house.call("note", "add", "event", "Sport", "--start", "09:00", "--end", "10:00")
    found = today(house, *DAY)["timeline"][0]
    assert (found["start"], found["end"], found["title"]) == ("09:00", "10:00", "Sport")


def test_a_task_that_is_too_long_is_to_be_split(house: Project) -> None:
    house.call("note", "Keller 5 Stunden, Brief 60 min", "--language", "de")
    found = today(house, *DAY, "--language", "de")
    assert len(found["too_long"]) == 1
    assert found["warnings"] == ["„Keller“ dauert mehr als zwei Stunden: teile sie auf."]


def test_a_day_without_room_says_so(house: Project, tasks: list[str]) -> None:
    found = today(house, "--from", "09:00", "--until", "09:30")
    assert (found["status"], found["focus_task_id"]) == ("stopped", None)
    assert found["warnings"] == ["No room for new tasks today."]
    assert house.call("today").out.endswith("preflights today --replan --until HH:MM\n")


def test_the_settings_file_says_when_the_day_ends(house: Project, tasks: list[str]) -> None:
    (house.folder / "preflights.toml").write_text('[planning]\nuntil = "09:50"\n')
    assert today(house, "--from", "08:00")["window"] == ["08:00", "09:50"]
    (house.folder / "preflights.toml").write_text('[planning]\nuntil = "late"\n')
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
        (("--until", "00:00"), " to 00:00, expected an end after the beginning"),
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
    assert house.call("today", "--done").code == 1, "no plan was recorded"
    before = today(house, *DAY)
    for args in (("--replan", *DAY), ()):
        done = house.call("today", *args, "--mini", named)
        assert (done.code, done.err.count("\n")) == (1, 1)
    assert today(house) == before


def test_a_task_that_is_over_is_refused_where_none_is_open(
    house: Project, tasks: list[str]
) -> None:
    for task in tasks:
        house.call("note", "done", task)
    done = house.call("today", "--focus", tasks[0])
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert f"no task {tasks[0]} was open when the day was planned" in done.err


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
    assert done.err == "warning: KI nicht verfügbar. Selbst auswählen? (invalid_json)\n"
    assert ", made by the rules" in done.out
    found = today(house, "--replan", *DAY, "--provider", "sim")
    assert (found["source"], found["replans"], found["calls"], found["warnings"]) == (
        "model",
        1,
        3,
        [],
    )


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
@pytest.mark.parametrize("args", [("--replan",), ("--mini", "last.1"), ("--done",)])
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
    house.call("abandon", id_)
    assert house.call("today", *DAY).code == 0


# 3. By hand ----------------------------------------------------------------------------------


def test_a_person_chooses_without_a_model(house: Project, tasks: list[str]) -> None:
    found = today(house, *DAY, "--focus", tasks[0], "--mini", tasks[2], *FAILING)
    assert (found["source"], found["calls"]) == ("person", 0)
    assert (found["focus_task_id"], found["mini_task_ids"]) == (tasks[0], [tasks[2]])


def test_what_the_rules_forbid_is_recorded_and_refused(house: Project, tasks: list[str]) -> None:
    before = today(house, *DAY)
    done = house.call("today", "--focus", tasks[1])
    assert (done.code, f"{tasks[1]} cannot be the focus" in done.err) == (1, True)
    assert today(house)["version"] == before["version"] + 2


def test_a_closed_task_is_refused(house: Project, tasks: list[str]) -> None:
    house.call("note", "done", tasks[1])
    today(house, *DAY)
    done = house.call("today", "--mini", tasks[1])
    assert done.code == 1
    assert f"no task {tasks[1]} was open when the day was planned" in done.err


def test_a_task_that_was_closed_after_the_plan_is_refused(house: Project, tasks: list[str]) -> None:
    today(house, *DAY)
    house.call("note", "done", tasks[2])
    done = house.call("today", "--mini", tasks[2])
    assert (done.code, f"{tasks[2]} is over already" in done.err) == (1, True)


def test_a_day_is_planned_again_three_times(house: Project, tasks: list[str]) -> None:
    today(house, *DAY)
    assert [today(house, "--replan", *DAY)["replans"] for _ in range(3)] == [1, 2, 3]
    done = house.call("today", "--replan", *DAY)
    assert (done.code, "at most 3 times" in done.err) == (1, True)


def test_a_plan_says_when_it_is_older_than_a_change(house: Project, tasks: list[str]) -> None:
    first = today(house, *DAY)
    assert first["notices"] == []
    house.call("note", "edit", tasks[1], "--title", "Chef schreiben")
    done = house.call("today")
    assert done.err == (
        f"warning: the plan is older than a change: task {tasks[1]} was edited. "
        "`preflights today --replan` plans anew\n"
    )
    assert "Chef anrufen" in done.out, "it is the same plan"
    (notice,) = today(house)["notices"]
    assert (notice["code"], f"task {tasks[1]} was edited" in notice["text"]) == ("plan_older", True)
    again = today(house, "--replan", *DAY)
    assert (again["replans"], again["notices"]) == (0, [])
    assert house.call("today").err == ""


@pytest.mark.parametrize("how", ["done", "cancel"])
def test_a_task_that_is_closed_outside_of_the_plan_makes_it_older(
    house: Project, tasks: list[str], how: str
) -> None:
    today(house, *DAY)
    house.call("note", how, tasks[2])
    said = {"done": "done", "cancel": "cancelled"}[how]
    assert f"task {tasks[2]} was {said}." in house.call("today").err


def test_an_appointment_of_today_makes_a_plan_older_and_blocks_its_day(
    house: Project, tasks: list[str]
) -> None:
    today(house, *DAY)
    house.call("note", "Zahnarzt morgen 9:00-11:00", "--language", "de")
    assert house.call("today").err == "", "it is on another day"
    house.call("note", "edit", "last.1", "--date", "")
    assert "event " in house.call("today").err
    found = today(house, "--replan", *DAY)["timeline"]
    assert [(e["start"], e["kind"], e["title"]) for e in found[:2]] == [
        ("09:00", "busy", "Zahnarzt"),
        ("11:00", "focus", "Bericht"),
    ]


def test_a_finished_block_makes_no_plan_older(house: Project, tasks: list[str]) -> None:
    today(house, *DAY)
    house.call("today", "--done")
    assert house.call("today").err == ""


def test_a_replan_for_a_change_does_not_count(house: Project, tasks: list[str]) -> None:
    today(house, *DAY)
    for n in range(4):
        house.call("note", "edit", tasks[1], "--minutes", str(11 + n))
        assert today(house, "--replan", *DAY)["replans"] == 0
    assert [today(house, "--replan", *DAY)["replans"] for _ in range(3)] == [1, 2, 3]
    assert house.call("today", "--replan", *DAY).code == 1
    house.call("note", "edit", tasks[1], "--minutes", "20")
    assert house.call("today", "--replan", *DAY).code == 0
    session = today(house)["session_id"]
    assert "identical" in house.call("replay", session).out


@pytest.mark.parametrize(("key", "title"), [("y", "Chef schreiben"), ("n", "Chef anrufen")])
def test_at_a_terminal_a_new_plan_is_offered(
    house: Project, tasks: list[str], key: str, title: str
) -> None:
    assert house.run("today", "--from", "00:00", "--until", "24:00").code == 0
    house.call("note", "edit", tasks[1], "--title", "Chef schreiben")
    with terminal(house, "today") as t:
        assert "is older than a change" in t.expect(r"Plan anew\? \[y/N\]: ")
        t.type(key)
        assert t.code() == 0
    # Late in the evening there is no room for another plan, which is one all the same.
    found = today(house)
    titles = [one["title"] for one in (*found["timeline"], *found["left_out"])]
    assert title in titles


def test_an_order_is_kept_and_a_circle_refused(house: Project, tasks: list[str]) -> None:
    done = house.call("note", "edit", tasks[0], "--after", tasks[2], "--json")
    assert (done.code, done.json["items"][0]["after"]) == (0, tasks[2])
    assert f"after {tasks[2]}" in house.call("note", "tasks").out
    blocks = [e["task_id"] for e in today(house, *DAY)["timeline"] if e["kind"] != "busy"]
    assert blocks.index(tasks[2]) < blocks.index(tasks[0])
    refused = house.call("note", "edit", tasks[2], "--after", tasks[0])
    assert (refused.code, refused.err) == (
        1,
        f"preflights: that would be a circle: {tasks[2]} after {tasks[0]} after {tasks[2]}\n",
    )
    assert house.call("note", "edit", tasks[2], "--after", tasks[2]).code == 1
    assert house.call("note", "edit", tasks[2], "--after", tasks[3]).code == 1, "it is an event"
    house.call("today", "--done", tasks[2])
    assert f"after {tasks[2]}" not in house.call("note", "tasks").out
    assert house.call("today").err == "", "what it came after is over"
    late = house.call("note", "edit", tasks[1], "--after", tasks[2])
    assert (late.code, "is done: nothing waits for it" in late.err) == (1, True)
    cleared = house.call("note", "edit", tasks[0], "--after", "none", "--json")
    assert "after" not in cleared.json["items"][0]


def test_an_order_is_void_once_the_other_is_erased(house: Project, tasks: list[str]) -> None:
    other = house.call("note", "Keller 300 min", "--json").json
    house.call("note", "edit", tasks[0], "--after", other["items"][0]["id"])
    found = today(house, *DAY)
    assert tasks[0] not in [entry.get("task_id") for entry in found["timeline"]]
    assert ("it comes after “Keller”", "waits") in [
        (one["reason"], one["code"]) for one in found["left_out"] if one["task_id"] == tasks[0]
    ]
    assert house.call("admin", "erase", other["session_id"], "--yes", "--reason", "x").code == 0
    assert today(house, "--replan", *DAY)["focus_task_id"] == tasks[0]


def test_what_is_left_out_is_one_line_with_the_reason(house: Project) -> None:
    house.call("note", "Steuer 90 min; Regal 25 min")
    done = house.call("today", "--from", "09:00", "--until", "09:45")
    assert done.out.splitlines()[2:4] == [
        "  left out: Steuer (90 minutes do not fit into 45)",
        "  left out: Regal (25 minutes are too long for a small task, and too short for a focus)",
    ]
    house.call("note", "; ".join(f"Anruf {n} 10 min" for n in range(9)))
    done = house.call("today", "--replan", *DAY)
    assert "  left out: 3 more (--json names them)\n" in done.out
    assert len(today(house)["left_out"]) == 8


# 4. Done -------------------------------------------------------------------------------------


def test_done_closes_the_task_and_the_block(house: Project, tasks: list[str]) -> None:
    today(house, *DAY)
    done = house.call("today", "--done")
    assert (done.code, f"{tasks[0]}  Bericht  (done)" in done.out) == (0, True)
    assert open_tasks(house) == tasks[1:3]
    house.call("today", "--done", tasks[2])
    assert open_tasks(house) == [tasks[1]]
    house.call("today", "--done", "last.2")
    assert open_tasks(house) == []
    left = house.call("today", "--done")
    assert (left.code, "every block of today's plan is done" in left.err) == (1, True)
    assert house.call("audit", "verify").code == 0


def test_done_under_a_key_is_done_once(house: Project, tasks: list[str]) -> None:
    today(house, *DAY)
    for _ in range(2):
        assert house.call("today", "--done", tasks[0], "--key", "k").code == 0
    assert house.call("today", "--done", tasks[0]).code == 1


def test_the_first_block_under_a_key_is_done_once(house: Project, tasks: list[str]) -> None:
    today(house, *DAY)
    first, again = (house.call("today", "--done", "--key", "k") for _ in range(2))
    assert (again.code, again.out) == (0, first.out)
    assert open_tasks(house) == tasks[1:3]


@pytest.mark.parametrize(
    "args", [("--minutes", "200"), ("--focus", "{}"), ("--replan",), ("--replan", "--focus", "{}")]
)
def test_a_plan_under_a_key_is_made_once(
    house: Project, tasks: list[str], args: tuple[str, ...]
) -> None:
    args = tuple(arg.format(tasks[0]) for arg in args)
    if "--replan" in args:
        today(house, *DAY)
    first = today(house, *DAY, *args, "--key", "k")
    version = today(house)["version"]
    # By the second run the tasks are over and the day is, which ends before it begins.
    for task in tasks:
        house.call("note", "done", task)
    assert today(house, "--until", "00:00", *args, "--key", "k") == first
    assert today(house)["version"] == version == first["version"]


@pytest.mark.slow("whole runs")
def test_another_day_under_a_key_is_the_day_of_the_key(house: Project, tasks: list[str]) -> None:
    """The two zones are 26 hours apart, so that they never have the same date."""
    day = ("--from", "00:00", "--until", "24:00")
    west, east = ({"TZ": zone} for zone in ("Etc/GMT+12", "Etc/GMT-14"))
    for args in (day, ("--replan", *day), ("--mini", tasks[1]), ("--done",)):
        run = ("today", *args, "--key", f"k {args}", "--json")
        first = house.run(*run, env=west)
        assert first.code == 0, first.err
        assert house.run(*run, env=east).json == first.json


def test_a_task_that_was_closed_meanwhile_closes_the_block(
    house: Project, tasks: list[str]
) -> None:
    today(house, *DAY)
    house.call("note", "done", tasks[0])
    assert house.call("today", "--done", tasks[0]).code == 0
    assert open_tasks(house) == tasks[1:3]


def test_what_has_no_block_is_not_closed(house: Project, tasks: list[str]) -> None:
    today(house, *DAY, "--mini", tasks[1])
    done = house.call("today", "--done", tasks[2])
    assert (done.code, "is not in the plan" in done.err) == (1, True)
    assert tasks[2] in open_tasks(house)


def test_done_without_a_plan_is_refused(house: Project, tasks: list[str]) -> None:
    done = house.call("today", "--done")
    assert (done.code, "`preflights today` makes one" in done.err) == (1, True)
    assert house.call("today", "--done", "--replan").code == 2


# 5. With the rest of the program -------------------------------------------------------------


def test_a_plan_is_never_last_and_stands_in_its_own_list(house: Project, tasks: list[str]) -> None:
    decided = house.decided()["session_id"]
    found = today(house, *DAY)
    assert house.show("last")["session_id"] == decided
    assert found["session_id"][-8:] not in house.call("sessions", "--all").out
    assert found["session_id"][-8:] in house.call("sessions", "--workflow", "planning").out


def test_a_plan_replays(house: Project, tasks: list[str]) -> None:
    id_ = today(house, *DAY, "--provider", "sim")["session_id"]
    today(house, "--replan", *DAY)
    assert house.call("replay", id_).out.startswith(f"{id_[-8:]} identical")


def test_a_plan_of_a_task_that_is_said_to_be_normal_replays(
    house: Project, tasks: list[str]
) -> None:
    house.call("note", "edit", tasks[1], "--importance", "normal")
    id_ = today(house, *DAY, "--provider", "sim")["session_id"]
    assert house.call("replay", id_).out.startswith(f"{id_[-8:]} identical")


def test_an_erased_note_names_the_plan_that_quotes_it(house: Project, tasks: list[str]) -> None:
    note = house.newest()
    plan = today(house, *DAY)["session_id"]
    done = house.call("admin", "erase", note, "--yes")
    assert done.code == 0, done.err
    assert plan[-8:] in done.out + done.err
    assert house.call("today", "--replan", *DAY).code == 0


def test_a_damaged_plan_gives_way_and_a_damaged_note_says_nothing(
    house: Project, tasks: list[str]
) -> None:
    first = today(house, *DAY)["session_id"]
    tampered(house, first, flipped)
    plan = today(house, *DAY)
    assert plan["session_id"] != first
    notes = house.call("sessions", "--workflow", "extraction", "--json").json["sessions"]
    tampered(house, notes[0]["session_id"], flipped)
    assert today(house, "--mini", tasks[2])["mini_task_ids"] == [tasks[2]]


def test_an_abandoned_plan_gives_way_to_another(house: Project, tasks: list[str]) -> None:
    first = today(house, *DAY)["session_id"]
    house.call("abandon", first)
    assert today(house, *DAY)["session_id"] != first


def test_a_text_begins_no_plan(house: Project) -> None:
    done = house.call("start", "--workflow", "planning", "today")
    assert (done.code, "takes more than a text" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("window", "said"),
    [(("09:00", "18:00"), "09:00-18:00"), (("23:30", "18:00"), "after 18:00")],
)
def test_a_window_that_is_over_is_shown_by_its_end(window: tuple[str, str], said: str) -> None:
    assert hours(*window) == said
