"""`replay --drift`, `--simulate` and what-if: a session runs again, and the log stays as it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from preflights_es.kernel.json import canonical_json, decode_plain_json
from tests.cli.program import Project
from tests.cli.test_docs import check
from tests.filed_cases import filed_cases
from tests.history.sessions import Led, asking, real
from tests.history.test_rerun import drifted
from tests.providers import server
from tests.providers.server import FakeAPI
from tests.scripted import asks

FILED = filed_cases(__file__)

ANSWER = json.dumps(asks("Infra", "Where?", "Here", "There"))
PATCH = json.dumps({"category": "Infra", "fields": [{"name": "Hosting", "value": "Here"}]})


def led(house: Project, *args: str, faults: str = "none", seed: int = 68) -> str:
    """A session that the simulator leads, up to its patch; its short id."""
    words = ("--provider", "sim", "--seed", str(seed), "--faults", faults, "--no-input", "--json")
    done = house.call("start", "Keep orders safe", *words, *args)
    assert done.code in (0, 3), done.err
    id_ = str(done.json["session_id"])[-8:]
    assert house.call("answer", "last", "hosting=Cloud", "--json").code in (0, 1, 3)
    return id_


def one(house: Project, *args: str, code: int = 0) -> Any:
    """The one session of a replay as JSON."""
    done = house.call("replay", "last", *args, "--json")
    assert done.code == code, (done.out, done.err)
    (found,) = done.json["sessions"]
    return found


# 1. Drift and simulation ---------------------------------------------------------------------


def test_the_same_is_identical_and_another_seed_or_answer_is_a_difference(house: Project) -> None:
    id_ = led(house)
    done = house.call("replay", "last", "--simulate")
    assert done.out.startswith(f"{id_} simulated: identical: 13 events")
    done = house.call("replay", "last", "--drift")
    assert done.out.startswith(f"{id_} drift: identical: 2 of 2 responses by digest")
    done = house.call("replay", "last", "last", "--seed", "1")
    assert (done.code, "one session, found more" in done.err) == (2, True)
    assert one(house, "--provider", "mock", "--from", "decide-2")["kept"] == 6
    assert one(house, "--provider", "mock", "--from", "7")["kept"] == 6
    found = one(house, "--simulate", "--seed", "5")
    assert (found["status"], found["otherwise"]) == (
        "different",
        ["led by sim simllm/1 (seed=5, faults=none)"],
    )
    done = house.call("replay", "last", "--simulate", "--seed", "5")
    assert "hosting: unknown_question" in done.out
    assert "it waits for an answer to" in done.out
    assert '  status: "ready" -> "needs answers"' in done.out
    text = house.call("admin", "export", "last").out
    (house.folder / "x.jsonl").write_text(text.replace("Bare metal", "Bare bones"))
    assert house.call("replay", "x.jsonl").code == 4, "the chain says so"


@pytest.mark.slow("whole runs")
def test_several_sessions_run_again_at_once(house: Project, tmp_path: Path) -> None:
    goldens = sorted(str(p) for p in (Path(__file__).parents[2] / "replays").rglob("*.jsonl"))
    done = house.call("replay", "--drift", "--json", *goldens)
    assert done.code == 0
    assert {s["status"] for s in done.json["sessions"]} == {"identical"}
    # The simulator says something else than a model did; what our own code said comes again.
    done = house.call("replay", "--simulate", "--json", *goldens)
    found = {(bool(s["otherwise"]), s["status"]) for s in done.json["sessions"]}
    assert found == {(False, "identical"), (True, "different")}


# 2. What if ----------------------------------------------------------------------------------


def test_a_what_if_reports_and_leaves_the_log_alone(house: Project) -> None:
    led(house)
    (house.folder / "new.md").write_text("Ask.")
    before = house.recorded()
    for args, otherwise in (
        (("--provider", "sim", "--seed", "9"), "led by sim simllm/1 (seed=9, faults=none)"),
        (("--seed", "9"), "led by sim simllm/1 (seed=9, faults=none)"),
        (("--faults", "timeout=1"), "led by sim simllm/1 (seed=68, faults=llm_timeout=1.0)"),
        (("--provider", "mock"), "led by the rules"),
        (("--prompt", "clarify=v1"), "prompt clarify.v1"),
        (("--prompt", "clarify=new.md"), "prompt clarify.v1, with another text"),
        (("--answer", "hosting=On foot"), "answer hosting=On foot"),
    ):
        found = one(house, *args)
        assert (found["mode"], found["otherwise"]) == ("whatif", [otherwise])
        assert found == one(house, *args), "the same again"
        text = house.call("replay", "last", *args)
        assert text.out.splitlines()[0].split(" ", 1)[1].startswith(f"what if, {otherwise}: ")
        assert house.recorded() == before, args
    same = house.call("replay", "last", "--faults", "timeout=0.0001").out
    assert "it comes to the same: only events differ, which --all shows" in same


def test_a_child_is_kept_in_a_file_and_many_in_one(house: Project) -> None:
    id_ = led(house)
    done = house.call("replay", "last", "--seed", "9", "--out", "child.jsonl")
    assert done.code == 0
    kept = done.out.splitlines()[-1]
    assert kept.startswith("Kept as session ")
    assert kept.endswith(" in child.jsonl.")
    assert id_ not in kept
    assert house.call("replay", "child.jsonl").code == 0
    refused = house.call("admin", "import", "child.jsonl")
    assert (refused.code, "stands in another session" in refused.err) == (1, True)
    again = house.call("replay", "last", "--seed", "9", "--out", "child.jsonl")
    assert (again.code, again.err) == (1, "preflights: child.jsonl exists: name a new file\n")
    assert [path.name for path in house.folder.glob("*child*")] == ["child.jsonl"]
    lost = house.call("replay", "last", "--seed", "9", "--out", "no/such/child.jsonl")
    assert lost.code == 5
    assert "cannot be written" in lost.err
    led(house, seed=4)
    ids = [s["session_id"] for s in house.call("sessions", "--json").json["sessions"]]
    shape = house.call("replay", *ids, "--drift", "--out", "all.jsonl", "--json").json
    children = [s["child_session_id"] for s in shape["sessions"]]
    replayed = house.call("replay", "all.jsonl", "--json").json["sessions"]
    assert [s["session_id"] for s in replayed] == children
    assert {s["status"] for s in replayed} == {"identical"}


def test_what_does_not_fit_is_one_clear_line(house: Project) -> None:
    led(house)
    for args, message in FILED["what_does_not_fit_is_one_clear_line"]:
        done = house.call("replay", "last", *args)
        done.refused(5 if "key" in message else 2, message)
        assert done.err.count("\n") == 1, done


# 3. A model ----------------------------------------------------------------------------------


def test_a_model_is_asked_only_with_leave(house: Project) -> None:
    with FakeAPI() as api:
        here = {
            "PREFLIGHTS_PROVIDER": "openai",
            "PREFLIGHTS_MODEL": "gpt-4o",
            "PREFLIGHTS_BASE_URL": api.openai,
            "PREFLIGHTS_OPENAI_API_KEY": "sk-test-0123456789",
        }
        api.script(server.text(ANSWER), server.text(PATCH))
        started = house.call("start", "Keep orders safe", "--no-input", "--json", env=here)
        assert started.code == 3, started.err
        assert house.call("answer", "last", "Here", "--json", env=here).code in (0, 3)
        paid = len(api.requests)

        for how in ((), ("--drift",)):
            assert house.call("replay", "last", *how, env=here).code == 0
        priced = house.call("replay", "last", "--answer", "hosting=There", env=here)
        assert (priced.code, len(api.requests)) == (2, paid)
        assert "this asks openai (gpt-4o), at most 4 calls: give --live" in priced.err

        api.script(server.text(PATCH.replace("Here", "There")))
        live = ("--answer", "hosting=There", "--live", "--out", "child.jsonl", "--json")
        done = house.call("replay", "last", *live, env=here)
        assert done.code == 0, done.err
        (found,) = done.json["sessions"]
        assert (found["live"], len(api.requests)) == (1, paid + 1)
        text = (house.folder / "child.jsonl").read_text()
        assert "sk-test" not in text
        assert api.url not in text


# 4. The shape --------------------------------------------------------------------------------


def test_the_fields_of_a_rerun_are_those_that_are_documented(house: Project) -> None:
    led(house)
    child = house.call("replay", "last", "--seed", "5", "--out", "child.jsonl", "--json").json
    diverging = ("python", str(Path(__file__).parent / "diverging.py"))
    buggy = ("python", str(Path(__file__).parent / "buggy.py"))
    drift = house.run("replay", "last", "--drift", "--json", program=diverging)
    assert drift.code == 1
    house.started_session("Add OAuth login")
    house.call("answer", "last", "crash")
    fault = house.run("replay", "last", "--drift", "--json", program=buggy)
    assert fault.code == 1
    matched = _drifted_match()
    check("rerun/1", *map(_opaque, (child, drift.json, fault.json, matched)))


def _opaque(shape: Any) -> Any:
    """Without the inside of values that may be anything."""
    for session in shape["sessions"]:
        for one in (*session["changes"], *session["divergences"]):
            one.update({k: "any" for k, v in one.items() if isinstance(v, (dict, list))})
    return shape


def _drifted_match() -> Any:
    """A drift with a response by call number, which no program on this page leads to."""
    found = decode_plain_json(canonical_json(drifted(Led(real()).stored, asking(model="x"))))
    return {"format": "rerun/1", "sessions": [{**found, "child_session_id": None}]}


def test_a_change_of_the_model_needs_a_provider_where_no_model_led(house: Project) -> None:
    wrote = ("--question", "Which queue?", "--option", "Kafka", "--option", "NATS")
    for words, who in (((), "the rules lead"), (wrote, "the agent wrote the question")):
        house.call("start", "Send the mails by a queue", *words, "--no-input")
        house.call("replay", "last", "--model", "m2").refused(2, f"{who}: name a --provider")


# 5. As recorded: identical, different, faulted or damaged, each with its exit code -----------


BUGGY: Final = (sys.executable, str(Path(__file__).parent / "buggy.py"))
DIVERGING: Final = (sys.executable, str(Path(__file__).parent / "diverging.py"))


def test_an_identical_session_has_the_same_trace_anywhere_and_exit_code_0(
    house: Project, tmp_path: Path, home: Path
) -> None:
    session = house.decided()
    done = house.call("replay", "last")
    shape = house.call("replay", "last", "--json").json
    (result,) = shape["sessions"]
    assert done.code == 0
    assert done.out == f"{session['session_id'][-8:]} identical: 11 events\n"
    assert (result["status"], result["differences"], result["fault"]) == ("identical", 0, None)
    (tmp_path / "session.jsonl").write_text(house.call("admin", "export", "last").out)
    elsewhere = Project(tmp_path, home)
    there = elsewhere.call("replay", "session.jsonl", "--json", env={"TZ": "Asia/Tokyo"}).json
    assert [one["trace"] for one in there["sessions"]] == [result["trace"]]


@pytest.mark.slow("whole runs")
def test_todays_code_is_held_against_the_record(house: Project) -> None:
    house.call("start", "Add a login", "--answer", "auth_strategy=OAuth")
    done = house.run("replay", "last", "--json", program=DIVERGING)
    assert done.code == 1
    (result,) = done.json["sessions"]
    assert (result["status"], result["differences"]) == ("diverged", 2)
    assert result["divergences"] == [
        {
            "version": 3,
            "type": "clarification.question_asked.v1",
            "pointer": "/question/question",
            "place": "question",
            "recorded": "Which authentication approach?",
            "computed": "Which authentication approach? \u202e",
            "cause": "",
        }
    ]
    assert "\u202e" not in done.out, "escaped, and the same JSON"
    everything = house.run("replay", "last", "--all", "--json", program=DIVERGING).json
    assert [d["pointer"] for d in everything["sessions"][0]["divergences"]] == [
        "/question/question",
        "/patch/category",
    ]
    text = house.run("replay", "last", program=DIVERGING)
    assert "differs at event 3, question asked: question" in text.out
    assert "  recorded:  Which authentication approach?" in text.out
    assert "  computed:  Which authentication approach? \\u202e" in text.out
    assert "1 more with --all." in text.out
    assert text.is_safe()
    assert house.call("replay", "last").code == 0


@pytest.mark.slow("whole runs")
def test_a_bug_is_recorded_replayed_and_survived(house: Project) -> None:
    """A real one: the program that raises is another process, and what it leaves is its log."""
    id_ = house.started_session()[-8:]
    crashed = house.run("answer", "last", "crash", program=BUGGY)
    assert crashed.code == 70
    assert (
        "preflights: a bug of ours: ZeroDivisionError: division by \\x1b[31mzero (" in crashed.err
    )
    assert "buggy.py, line " in crashed.err
    assert f"The Input is recorded; see it again with: preflights replay {id_}" in crashed.err
    assert "--debug for the traceback" in crashed.err
    assert crashed.is_safe()
    assert house.show()["status"] == "faulted"
    assert "See why with: preflights replay" in house.call("show").out

    again = house.run("replay", "last", program=BUGGY)
    assert again.code == 1
    assert "raises again at version 4: ZeroDivisionError: division by \\x1b[31mzero" in again.out
    (result,) = house.run("replay", "last", "--json", program=BUGGY).json["sessions"]
    assert result["status"] == "faulted"
    assert (result["fault"]["version"], result["fault"]["recorded"]) == (4, True)

    stuck = house.run("resume", "last", "--debug", program=BUGGY)
    assert stuck.code == 70
    assert "Traceback (most recent call last)" in stuck.err
    assert "\x1b" not in stuck.err
    assert house.run("answer", "last", "OAuth", program=BUGGY).code == 70

    fixed = house.call("replay", "last")
    assert fixed.code == 0
    assert f"Its last Input is undecided: preflights resume {id_} decides it." in fixed.out
    resumed = house.call("resume", "last", "--json")
    assert resumed.json["patch"]["fields"] == [["Strategy", "crash"]]
    assert house.call("replay", "last").code == 0


@pytest.mark.slow("whole runs")
def test_a_faulted_session_is_given_up_only_by_force(house: Project) -> None:
    id_ = house.started_session()
    assert house.run("answer", "last", "crash", program=BUGGY).code == 70
    house.run("abandon", "last", program=BUGGY).refused(
        1, "is faulted at event 4 (ZeroDivisionError)", f"`preflights abandon {id_[-8:]} --force`"
    )
    done = house.run("abandon", "last", "--force", program=BUGGY)
    assert (done.code, done.out) == (0, f"Abandoned {id_[-8:]}.\n")
    assert house.show()["status"] == "abandoned"
    assert house.call("replay", "last").code == 0
    assert house.run("replay", "last", program=BUGGY).code == 0, "the Input rests in quarantine"


def test_a_fault_of_todays_code_is_told_apart_and_no_file_hides_the_last_session(
    house: Project,
) -> None:
    house.started_session()
    house.call("answer", "last", "crash")
    done = house.run("replay", "last", program=BUGGY)
    assert done.code == 1
    assert "raises in today's code at version 4" in done.out
    (house.folder / "last").write_text("not a log")
    assert house.call("replay", "last").code == 0


def test_what_cannot_be_replayed_or_is_damaged_is_refused(house: Project) -> None:
    for typed, code, message in (
        ("nosuch", 1, "no session matches 'nosuch'"),
        ("nosuch.jsonl", 1, "nosuch.jsonl cannot be read: No such file or directory"),
        ("a" * 300, 1, "no session matches"),
        (".", 1, "no session matches '.'"),
    ):
        done = house.call("replay", typed)
        assert done.code == code
        assert message in done.err
    house.decided()
    sound = house.call("admin", "export", "last").out
    event = json.loads(sound.splitlines()[1])
    broken = sound.replace(event["hash"], "0" * 64)
    (house.folder / "a.jsonl").write_text(sound)
    (house.folder / "b.jsonl").write_text(broken)
    done = house.call("replay", "a.jsonl", "b.jsonl")
    assert (done.code, done.out) == (4, "")
    assert "event 1: its hash does not follow from the one before" in done.err
