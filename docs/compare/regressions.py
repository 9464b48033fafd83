"""Recorded regressions: `preflights regress` and its peers on the same sessions."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from environments import HERE, ROOT, Done, Installed, run_measured, say, table


class Judge(NamedTuple):
    """A program that judges the sessions of a folder."""

    name: str
    version: str
    command: Sequence[str]
    differing: Callable[[Path, str], set[str]]
    """Ids of sessions that it reports, from the folder and from its output."""
    env: Mapping[str, str] = {}
    codes: tuple[int, ...] = (0,)


def compare_regressions(
    asked: argparse.Namespace, peers: Mapping[str, Installed], work: Path
) -> dict[str, list[str]]:
    """Make the sessions, and run every judge in turn."""
    import exports
    import planting

    clean = exports.recorded(asked.sessions)
    planted, kinds = planting.planted(clean, asked.each)
    for name, lines in (
        ("one", exports.lines_of(clean[:1])),
        ("all", exports.lines_of(clean)),
        ("planted", planting.edited_lines(planted, kinds)),
    ):
        exports.write(work / name, lines, golden=clean)
    judges = list(_judges(peers, work))
    speeds = _speeds(judges, work, asked.rounds)
    outs = {judge.name: _judged(judge, work / "planted").out for judge in judges}
    seen = {judge.name: judge.differing(work / "planted", outs[judge.name]) for judge in judges}
    causes = {
        case["session_id"]: {cause["kind"] for cause in case["causes"]}
        for case in json.loads(outs[judges[0].name])["cases"]
    }
    events = sum(map(len, clean)) / len(clean)
    return {
        "sessions": [f"{asked.sessions} sessions of {events:.0f} events and 5 calls each,"],
        "speed": _speed_rows(judges, speeds, asked.sessions),
        "found": _found_rows(seen, causes, kinds, asked.each),
    }


# 1. The judges -------------------------------------------------------------------------------


def _judges(peers: Mapping[str, Installed], work: Path) -> Iterable[Judge]:
    ours = [sys.executable, "-m", "preflights_cli", "regress", "sessions.jsonl"]
    ours += ["--jobs", "1", "--json", "--db", f"sqlite:///{work}/empty.db"]
    home = {"HOME": str(work), "PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}"}
    yield Judge("Preflights", version("preflights-es"), ours, _different_cases, home, (0, 1, 4))
    floor = [sys.executable, "-S", str(HERE / "by_hand.py"), str(ROOT)]
    yield Judge("by hand, standard library", platform.python_version(), floor, _printed)
    for peer, name, words in (
        ("Temporal", "Temporal Replayer", ("temporal_replayer.py", str(ROOT))),
        (
            "Temporal",
            "Temporal Replayer, no sandbox",
            ("temporal_replayer.py", str(ROOT), "--unsandboxed"),
        ),
        ("Inspect", "Inspect", ("inspect_mock.py",)),
        ("TruLens", "TruLens compare", ("trulens_compare.py",)),
    ):
        if peer in peers:
            script, *rest = words
            command = [peers[peer].program("python"), str(HERE / script), *rest]
            yield Judge(name, peers[peer].package.version, command, _printed)
    if "promptfoo" in peers:
        yield _promptfoo(peers["promptfoo"], work)


def _promptfoo(peer: Installed, work: Path) -> Judge:
    command = [
        *(peer.program("promptfoo"), "eval", "-c", "promptfoo.json", "-o", "promptfoo-out.json"),
        *("--no-cache", "--no-write", "--no-table", "--no-progress-bar"),
    ]
    quiet = ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_REMOTE_GENERATION")
    env = {f"PROMPTFOO_{name}": "1" for name in quiet}
    env["PROMPTFOO_CONFIG_DIR"] = str(work / "promptfoo")
    # Its logger may break while it ends, with 1: then the results are written.
    return Judge("promptfoo", peer.package.version, command, _failed_tests, env, (0, 1, 100))


def _different_cases(_folder: Path, out: str) -> set[str]:
    return {
        case["session_id"] or Path(case["source"]).name
        for case in json.loads(out)["cases"]
        if case["outcome"] != "same"
    }


def _printed(_folder: Path, out: str) -> set[str]:
    return set(out.splitlines()[-1].split()[1:])


def _failed_tests(folder: Path, _out: str) -> set[str]:
    file = folder / "promptfoo-out.json"
    results = json.loads(file.read_text("utf-8"))["results"]["results"]
    file.unlink()
    return {one["testCase"]["description"] for one in results if not one["success"]}


# 2. Measuring --------------------------------------------------------------------------------


def _speeds(judges: list[Judge], work: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """Seconds of CPU of one session and of all: the least of some rounds, in which all take turns.

    Those of the wall say little where a machine has other work.
    """
    taken: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for judge in judges:
            for size in ("one", "all"):
                done = _judged(judge, work / size)
                false = judge.differing(work / size, done.out)
                assert not false, f"{judge.name} reports {len(false)} sessions that are the same"
                taken.setdefault((judge.name, size), []).append(done.cpu_s)
    return {j.name: (min(taken[j.name, "one"]), min(taken[j.name, "all"])) for j in judges}


def _judged(judge: Judge, folder: Path) -> Done:
    say(f"{judge.name}: {folder.name}")
    done = run_measured(judge.command, folder, judge.env)
    if done.code not in judge.codes:
        raise SystemExit(f"{judge.name} ended with {done.code}: {done.err[-2000:]}")
    return done


# 3. The tables -------------------------------------------------------------------------------


def _speed_rows(
    judges: list[Judge], speeds: dict[str, tuple[float, float]], sessions: int
) -> list[str]:
    rows = []
    for judge in judges:
        start, cpu = speeds[judge.name]
        rate = (sessions - 1) / max(cpu - start, 0.01)
        rows.append(
            [judge.name, judge.version, f"{rate:,.0f}"]
            + [f"{taken:.1f} s" for taken in (start, cpu)]
        )
    head = ("who", "version", "sessions a CPU second", "CPU of a start", "CPU of all")
    return table(head, rows)


def _found_rows(
    seen: dict[str, set[str]], causes: dict[str, set[str]], kinds: dict[str, str], each: int
) -> list[str]:
    names = [name for name in seen if not name.endswith("no sandbox")]
    rows = []
    for kind in dict.fromkeys(kinds.values()):
        planted = {one for one, its in kinds.items() if its == kind}
        counts = [str(len(planted & seen[name])) for name in names]
        named = sorted(set().union(*(causes[one] for one in planted if one in causes)))
        rows.append([kind, *counts, ", ".join(named)])
    false = [str(len(seen[name] - set(kinds))) for name in names]
    rows.append(["nothing planted, all of them", *false, ""])
    shown = [name.partition(",")[0] for name in names]
    return table((f"{each} sessions with", *shown, "the cause that Preflights names"), rows)
