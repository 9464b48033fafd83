"""`regress`: recorded sessions as a regression suite."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from preflights_es.features.regress.commands import FORMATS
from preflights_es.features.regress.regression import Job, dask, scheduled
from preflights_es.features.regress.results import Noise
from preflights_es.history.child import sealed_as
from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from tests.cli.program import TIMEOUT_S, Project
from tests.cli.tampering import flipped, tampered
from tests.cli.test_docs import check
from tests.each import each
from tests.features.regress.sessions import chained, edited, many, place
from tests.features.regress.test_workers import batches, mortal, told
from tests.fixed import salt

CANARY = "canary-7261"


def lines(count: int, first: int = 0) -> bytes:
    """So many sessions, as `admin export` writes them."""
    return b"".join(map(jsonl.encode_event_file, sessions(first + count)[first:]))


@cache
def sessions(count: int) -> list[tuple[Stored, ...]]:
    """Sessions that one log can hold: no two of them share an Input."""
    return [
        chained(
            [
                replace(one, input_id=one.input_id and f"{one.session_id}/{one.version}")
                for one in events
            ]
        )
        for events in many(count)
    ]


@pytest.fixture
def suite(house: Project) -> Project:
    """A log of forty sessions that the simulator led."""
    (house.folder / "all.jsonl").write_bytes(lines(40))
    assert house.call("admin", "import", "all.jsonl").code == 0
    return house


def regress(house: Project, *args: str, code: int = 0) -> Any:
    """The report, without what differs between two runs of the same."""
    done = house.call("regress", "--json", *args)
    assert done.code == code, (done.code, done.err, done.out[:2_000])
    return {**done.json, "seconds": None}


# 1. Strict -----------------------------------------------------------------------------------


def test_sessions_decided_as_recorded_are_the_same_in_a_log_and_in_a_file(suite: Project) -> None:
    found = regress(suite, "--any-project")
    assert (found["verdict"]["word"], found["counts"]["same"]) == ("same", 40)
    assert found["selection"] == "every project of the log"
    assert [case["session_id"] for case in found["cases"]] == sorted(
        case["session_id"] for case in found["cases"]
    )
    of_log = regress(suite, "--any-project")
    of_file = regress(suite, "all.jsonl")
    assert {c["source"] for c in of_file["cases"]} == {"all.jsonl"}
    assert [c["head"] for c in of_log["cases"]] == [c["head"] for c in of_file["cases"]]
    once = regress(suite, "all.jsonl", "--seed", "3", code=6)
    (suite.folder / "copy.jsonl").write_bytes((suite.folder / "all.jsonl").read_bytes())
    twice = regress(suite, "all.jsonl", "copy.jsonl", "--seed", "3", code=6)
    assert (len(twice["cases"]), twice["verdict"]) == (2 * len(once["cases"]), once["verdict"])


def test_a_difference_is_1_and_the_case_can_be_repeated_alone(house: Project) -> None:
    planted, whole = sessions(2)
    at = place(planted, "completion.requested.v1")
    other = edited(planted, at, lambda payload: payload.update(model="simllm/0"))
    (house.folder / "all.jsonl").write_bytes(
        jsonl.encode_event_file(other) + jsonl.encode_event_file(whole)
    )
    found = regress(house, "all.jsonl", code=1)
    assert found["verdict"]["word"] == "different"
    (case,) = [case for case in found["cases"] if case["outcome"] != "same"]
    assert case["repeat"] == f"preflights regress all.jsonl --only {planted[0].session_id}"
    said = house.call(*shlex.split(case["repeat"])[1:])
    assert said.code == 1
    assert "1 session: 1 changed." in said.out
    short = planted[0].session_id[-8:]
    assert house.call("regress", "all.jsonl", "--only", short).code == 1
    assert house.call("regress", "all.jsonl", "--only", whole[0].session_id).code == 0


def test_of_nothing_and_of_erased_sessions_alone_nothing_is_concluded(house: Project) -> None:
    house.call("regress").refused(1, "no session matches")
    assert house.call("regress", "missing.jsonl").code == 1
    id_ = house.decided()["session_id"]
    assert house.call("admin", "erase", id_, "--yes", "--reason", "a request").code == 0
    assert regress(house, code=6)["sessions"] == 0


def test_sessions_that_only_files_have_are_judged_in_a_clone(
    house: Project, colleague: Project
) -> None:
    house.decided()
    shutil.copytree(house.folder / "docs", colleague.folder / "docs")
    found = regress(colleague)
    (case,) = found["cases"]
    assert (case["outcome"], case["source"].startswith("docs/decisions/.sessions/")) == (
        "same",
        True,
    )
    by_name = regress(colleague, case["session_id"])
    assert by_name["cases"] == found["cases"]


# 2. Where it runs ----------------------------------------------------------------------------


@pytest.mark.slow("crowds")
def test_one_report_whatever_runs_it(suite: Project, postgres: str) -> None:
    assert suite.named().call("admin", "import", "all.jsonl", "--db", postgres).code == 0
    alone = regress(suite, "--jobs", "1")
    two = suite.run("regress", "--json", "--jobs", "2", starts=True)
    assert two.code == 0, two.err
    assert {**two.json, "seconds": None} == alone
    assert regress(suite, "--db", postgres) == alone
    words = ("regress", "--json", "--jobs", "2", "--db", postgres)
    served = suite.run(*words, starts=True)
    assert {**served.json, "seconds": None} == alone
    changed = ("--seed", "3")
    changed_alone = regress(suite, *changed, code=6)
    changed_two = suite.run("regress", "--json", *changed, "--jobs", "2", starts=True)
    assert {**changed_two.json, "seconds": None} == changed_alone


def begun(suite: Project) -> subprocess.Popen[bytes]:
    """A run in two processes, which work already."""
    (suite.folder / "more").mkdir()
    for number in range(100):
        shutil.copy(suite.folder / "all.jsonl", suite.folder / "more" / f"{number}.jsonl")
    process = suite.started("regress", "more", "--jobs", "2", "--json", leads=True)
    children = import_module("psutil").Process(process.pid).children  # psutil is Dask's
    until = time.monotonic() + TIMEOUT_S
    while sum(one.cpu_times().user > 0.2 for one in children()) < 2:
        assert time.monotonic() < until
        time.sleep(0.01)
    return process


@pytest.mark.slow("kills")
def test_its_workers_end_with_a_run_that_was_killed(suite: Project) -> None:
    process = begun(suite)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    until = time.monotonic() + TIMEOUT_S
    while _is_a_group(process.pid):
        assert time.monotonic() < until
        time.sleep(0.02)


def _is_a_group(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow("kills")
def test_control_c_ends_all_who_judge_in_one_word(suite: Project) -> None:
    process = begun(suite)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out, err) == (130, b"", b"\ninterrupted\n")


# 3. Damage -----------------------------------------------------------------------------------


def damages() -> Iterator[tuple[str, bytes]]:
    """Files with something wrong, each with one whole session where there is room."""
    whole, other = (jsonl.encode_event_file(one) for one in sessions(2))
    first = other.splitlines(keepends=True)
    yield from {
        "empty": b"",
        "blank": b"\n\n \n",
        "no json": b"{nonsense\n",
        "not utf-8": b"\xff\xfe\x00" * 40,
        "zeros": bytes(2_000),
        "an array": b"[1, 2, 3]\n",
        "not packed": b"\x1f\x8b" + b"nothing of gzip",
        "from the future": other.replace(b'{"format":1', b'{"format":9', 1),
        "a format of no number": other.replace(b'{"format":1', b'{"format":"x"', 1),
        "of development": b'{"log":1,' + other.removeprefix(jsonl.FIRST)[1:],
        "no format": other.removeprefix(jsonl.FIRST),
        "unknown field": other.replace(b'{"session_id"', b'{"more":1,"session_id"', 1),
    }.items()
    for n in range(1, len(first)):  # behind the format
        if n <= 12:
            yield f"line {n} is cut", whole + b"".join([*first[:n], first[n][:-40], b"\n"])
            yield f"line {n} twice", whole + b"".join([*first[:n], first[n], *first[n:]])
            yield (
                f"line {n} edited",
                whole
                + b"".join(
                    [
                        *first[:n],
                        first[n].replace(b'"version":', b'"version":1', 1),
                        *first[n + 1 :],
                    ]
                ),
            )
        if 1 < n < 7:
            yield f"line {n} is gone", whole + b"".join([*first[: n - 1], *first[n:]])


def test_damage_in_files_and_in_the_log_is_named_and_the_others_go_on(house: Project) -> None:
    folder = house.folder / "files"
    folder.mkdir()
    named = {}
    for n, (what, content) in enumerate(damages()):
        named[f"files/{n:02}.jsonl"] = what
        (folder / f"{n:02}.jsonl").write_bytes(content)
    assert len(named) >= 50
    (folder / "whole.jsonl").write_bytes(lines(1, first=2))
    found = regress(house, "files", code=4)
    damaged = {case["source"] for case in found["cases"] if case["outcome"] == "damaged"}
    assert damaged == set(named), [named[one] for one in set(named) - damaged]
    assert all(case["message"] for case in found["cases"] if case["outcome"] == "damaged")
    with_whole = [what for what in named.values() if what.startswith("line")]
    assert found["counts"]["same"] == len(with_whole) + 1
    assert regress(house, "files", code=4) == found
    good = house.decided()["session_id"]
    bad = house.decided("Choose a database", key="db_type=SQLite")["session_id"]
    tampered(house, bad, flipped)
    found = regress(house, code=4)
    assert {c["session_id"]: c["outcome"] for c in found["cases"]} == {good: "same", bad: "damaged"}


# 4. Which ones -------------------------------------------------------------------------------


def test_sessions_are_selected_by_what_they_are_and_a_sample_is_always_the_same(
    suite: Project,
) -> None:
    suite.decided()
    everything = regress(suite, "--any-project")
    assert everything["sessions"] == 41
    led = regress(suite, "--any-project", "--led-by", "sim")
    assert led["sessions"] == 40
    assert regress(suite, "--any-project", "--led-by", "mock")["sessions"] == 1
    notes = regress(suite, "all.jsonl", "--workflow", "clarification")
    assert {case["workflow"] for case in notes["cases"]} == {"clarification"}
    assert regress(suite, "--any-project", "--since", "2001-01-01")["sessions"] == 41
    assert suite.call("regress", "--since", "2999-01-01").code == 1
    assert regress(suite, "--status", suite.show()["status"])["sessions"] == 1
    assert suite.call("regress", "--status", "abandoned").code == 1
    assert regress(suite, "last")["sessions"] == 1
    words = ("--any-project", "--sample", "12")
    found = regress(suite, *words)
    assert found["sessions"] == 12
    assert regress(suite, *words) == found
    smaller = regress(suite, "--any-project", "--sample", "5")
    ids = [{case["session_id"] for case in one["cases"]} for one in (found, smaller)]
    assert (len(ids[1]), ids[1] < ids[0]) == (5, True)
    in_file = regress(suite, "all.jsonl", "--sample", "12")
    assert in_file["sessions"] == 12
    assert "a sample of 12 of 40" in in_file["selection"]


# 5. Changes, and what a run is held against --------------------------------------------------


def test_a_change_is_judged_and_says_so(suite: Project) -> None:
    found = regress(suite, "all.jsonl", "--seed", "3", code=6)
    assert found["changes"] == ["seed 3"]
    assert found["verdict"]["word"] == "INCONCLUSIVE"
    assert found["cause_counts"].keys() <= {"parameter"}
    only = f"--only {found['cases'][0]['session_id']}"
    assert found["cases"][0]["repeat"] == f"preflights regress all.jsonl {only} --seed 3"
    done = suite.call("regress", "all.jsonl", "--prompt", "clarify=v99")
    assert (done.code, "expected one of clarify.v1" in done.err) == (2, True), done
    (suite.folder / "new.md").write_text("Ask one question.")
    tried = regress(suite, "all.jsonl", "--prompt", "clarify=new.md", code=6)
    assert tried["changes"] == ["prompt clarify, with another text"]


def other_model(events: Any, model: str = "x") -> bytes:
    at = place(events, "completion.requested.v1")
    return jsonl.encode_event_file(edited(events, at, lambda payload: payload.update(model=model)))


def test_what_a_person_accepted_leaves_the_list_and_no_count(house: Project) -> None:
    planted, other, whole = sessions(3)
    file, seen = house.folder / "all.jsonl", house.folder / "regress" / "accepted.jsonl"
    file.write_bytes(
        other_model(planted) + jsonl.encode_event_file(other) + jsonl.encode_event_file(whole)
    )
    (group,) = {one["group"] for one in regress(house, "all.jsonl", code=1)["cases"]} - {""}
    words = ("regress", "all.jsonl", "--accept", group, "--reason", "The model is retired")
    for more, env, code, said in (
        ((), {}, 2, "name the person with --by"),
        (("--by", "Ada"), {"CLAUDECODE": "1"}, 1, "cannot accept a difference"),
        (("--by", "Ada", "--accept", "model-000000"), {}, 1, f"found {group}"),
    ):
        refused = house.call(*words, *more, env=env)
        assert (refused.code, said in refused.err, seen.exists()) == (code, True, False), refused
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    told = (*words[:-1], f"The model is retired, {secret}", "--by", "Ada")
    done = house.call(*told, "--history", "runs.jsonl")
    assert (done.code, "1 accepted by Ada." in done.out) == (1, True), done
    assert "the reason is recorded without what looks like a secret" in done.err
    assert secret not in f"{seen.read_text()}{done.out}{done.err}"
    first, *_ = map(msgspec.json.decode, seen.read_bytes().splitlines())
    assert (first["session"], first["by"], first["why"]) == (
        *(planted[0].session_id, "Ada", "The model is retired, [redacted:token]"),
    )
    file.write_bytes(other_model(planted) + other_model(other) + jsonl.encode_event_file(whole))
    again = house.call("regress", ".", "--history", "runs.jsonl")
    assert "2 of 3 sessions differ" in again.out
    assert "1 accepted by Ada." in again.out
    listed = [one[0].session_id in again.out for one in (planted, other)]
    assert listed == [False, True], "as a file of the repository, it is no session file either"
    assert again.out.count("  different  ") == 2, "of two runs"
    assert house.call("regress", "all.jsonl", "--history", "all.jsonl").code == 1
    for nowhere in ("no/such/runs.jsonl", "-"):
        refused = house.call("regress", "all.jsonl", "--history", nowhere)
        assert (refused.code, refused.out) == (1, ""), "before a run that may cost"
        assert "cannot be written: expected a file in a folder that exists" in refused.err
    file.write_bytes(other_model(planted, "y"))
    assert regress(house, "all.jsonl", code=1)["accepted"] == {}, "it differs otherwise now"
    seen.write_bytes(b'{"session":"\xff"}')
    assert "accepted.jsonl, line 1, cannot be read" in house.call("regress", "all.jsonl").err


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_report_is_written_to_a_new_file(house: Project, name: str) -> None:
    house.decided()
    assert house.call("regress", "--report", f"{name}=made").code == 0
    assert (house.folder / "made").read_bytes()
    assert house.call("regress", "--report", f"{name}=made").code == 1
    assert house.call("regress", "--report", f"{name}=made", "--replace").code == 0


def test_reports_that_cannot_be_written_end_a_run_and_what_was_erased_is_left_out(
    house: Project,
) -> None:
    house.decided()
    os.mkfifo(house.folder / "pipe")
    (house.folder / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        done = house.call("regress", "--report", f"json={name}", "--replace")
        assert (done.code, (house.folder / name).is_fifo()) == (1, True)
        assert f"{name} is no regular file" in done.err
    (house.folder / "made").touch()
    done = house.call("regress", "--report", "json=made", "--report", "html=other")
    assert (done.code, (house.folder / "other").exists()) == (1, False)
    assert house.call("regress", "--json", "--report", "json=-").code == 2
    assert house.call("regress", "--report", "json=x", "--report", "junit=x").code == 2
    assert house.call("regress", "--margin", "nan").code == 2
    assert house.call("regress", "").code == 1
    id_ = house.decided("Choose a database", key="db_type=SQLite")["session_id"]
    assert house.call("admin", "erase", id_, "--yes", "--reason", "a request").code == 0
    found = regress(house)
    assert found["left_out"] == ["1 session: erased"]
    (house.folder / "erased.jsonl").write_text(house.call("admin", "export", id_).out)
    assert regress(house, "erased.jsonl", code=6)["sessions"] == 0  # may be committed
    assert found["counts"]["same"] == 1


def test_a_file_may_have_any_name(house: Project) -> None:
    (planted,) = sessions(1)
    lines = jsonl.encode_event_file(planted).splitlines(keepends=True)
    names = (b"a\xff.jsonl", b"b\nc.jsonl", b"-d.jsonl", b"e 'f' $(g).jsonl")
    for name in names:
        (house.folder / os.fsdecode(name)).write_bytes(b"".join(lines[:-1]))
    reports = [word for name in FORMATS for word in ("--report", f"{name}={name}")]
    assert house.call("regress", ".", *reports).code == 1
    found = msgspec.json.decode((house.folder / "json").read_bytes())
    assert [case["source"] for case in found["cases"]] == [
        *("./-d.jsonl", "./a\\udcff.jsonl", "./b\nc.jsonl", "./e 'f' $(g).jsonl")
    ]
    for case in found["cases"]:
        words = ["bash", "-c", f"printf '%s\\0' {case['repeat']}"]
        said = subprocess.run(words, check=True, capture_output=True).stdout
        again = house.call(*map(os.fsdecode, said.split(b"\0")[1:-1]))
        assert (again.code, "1 session: 1 changed." in again.out) == (1, True), again.err
    assert "./-d.jsonl" in regress(house, "--", "-d.jsonl", code=1)["cases"][0]["repeat"]


def test_words_of_a_session_are_in_no_report_without_it(house: Project) -> None:
    house.decided(f"Add OAuth login {CANARY}")
    done = house.call("regress", "--json", "--report", "html=made.html")
    assert done.code == 0
    assert CANARY not in done.out + (house.folder / "made.html").read_text()


def test_the_fields_of_a_report_are_those_that_are_documented(house: Project) -> None:
    planted, other = sessions(2)
    at = place(planted, "completion.requested.v1")
    changed = edited(planted, at, lambda payload: payload.update(model="x"))
    (house.folder / "all.jsonl").write_bytes(
        jsonl.encode_event_file(changed) + jsonl.encode_event_file(other)
    )
    strict = house.call("regress", "all.jsonl", "--json").json
    change = house.call("regress", "all.jsonl", "--json", "--seed", "3").json
    noise = msgspec.to_builtins(Noise(runs=3, agreement=0.5, validity=0.0))  # a model's alone
    change["cases"][0]["noise"] = change["verdict"]["noise"] = noise
    for case in (*strict["cases"], *change["cases"]):
        case["differences"] = [{**one, "expected": 0, "actual": 0} for one in case["differences"]]
    check("regress/1", strict, change, opaque="cause_counts")


@each("words", [(), ("--sample", "1"), ("--seed", "3"), ("--since", "2020-01-01")])
def test_files_are_judged_without_a_log(house: Project, words: tuple[str, ...]) -> None:
    (house.folder / "all.jsonl").write_bytes(lines(2))
    no_log = "postgresql://ada@127.0.0.1:1/none"  # nothing listens there
    done = house.call("regress", "all.jsonl", "--db", no_log, *words)
    assert (done.code in (0, 6), done.err) == (True, ""), done


def test_alike_differences_are_one_group_and_the_first_of_it_is_shown(house: Project) -> None:
    one = sessions(1)[0]
    at = place(one, "completion.requested.v1")
    planted = edited(one, at, lambda payload: payload.update(model="x"))
    value = edited(one, at, lambda payload: payload.update(model="y"))
    other = edited(one, at, lambda payload: payload.update(contract="x.v1"))
    copies = [
        sealed_as(f"01a0c450-6c02-7000-8000-{number:012x}", events, salt)
        for number, events in enumerate([planted] * 4 + [value, other])
    ]
    (house.folder / "all.jsonl").write_bytes(b"".join(map(jsonl.encode_event_file, copies)))
    said = house.call("regress", "all.jsonl").out
    assert said.count(" and 4 more sessions changed: ") == 1
    assert said.count(" changed: ") == 2
    assert said.count("preflights regress all.jsonl --only") == 2, "an example of each"
    assert "6 sessions: 6 changed." in said


# 6. The workers of Dask ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a Dask scheduler with two workers."""
    library: Any = import_module("dask")
    distributed: Any = import_module("distributed")
    with (
        library.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as made,
    ):
        yield made.scheduler_address


@pytest.mark.slow("crowds")
def test_one_report_from_dask_and_from_one_process(
    house: Project, postgres: str, cluster: str
) -> None:
    (house.named().folder / "all.jsonl").write_bytes(lines(40))
    served = ("--db", postgres)
    for where in ((), served):
        assert house.call("admin", "import", "all.jsonl", *where).code == 0
    for words in ((), served, ("all.jsonl",)):
        sent = house.run("regress", "--json", "--scheduler", cluster, *words, starts=True)
        assert sent.code == 0, sent.err
        assert {**sent.json, "seconds": None} == regress(house, "--jobs", "1", *words)


@pytest.mark.slow("kills")
def test_dask_loses_no_more_than_the_batch_of_a_lost_worker(tmp_path: Path, cluster: str) -> None:
    names = ("1.jsonl", "2-deadly.jsonl", "3.jsonl")
    work = batches(tmp_path, *names)
    found = told(scheduled(work, Job(), dask(cluster), 8, judged=mortal))
    assert found == dict.fromkeys(names, "same") | {"2-deadly.jsonl": "lost"}


@pytest.mark.slow("crowds")
def test_a_scheduler_that_is_not_there_is_an_environment_failure(house: Project) -> None:
    house.decided()
    done = house.call("regress", "--scheduler", "tcp://127.0.0.1:1")
    assert (done.code, "cannot be reached" in done.err) == (5, True), done
