"""Runs `preflights regress` and its peers on the same sessions, and writes the tables of a page.

    python docs/compare_regression.py FOLDER --temporal ENV --inspect ENV --trulens ENV \\
        --promptfoo ENV

FOLDER is for scratch files. An ENV holds the peer: a virtual environment of Python, or a folder
with `node_modules`. A peer that is not named is left out. Results go to `docs/compared.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

DOCS: Final = Path(__file__).resolve().parent
ROOT: Final = DOCS.parent
PEERS: Final = DOCS / "peers"
PAGE: Final = DOCS / "compared.md"

sys.path.insert(0, str(ROOT))  # for the benchmark's sessions

Measured = tuple[float, float]
"""Seconds of CPU, of the process and its children, and of the wall."""


class Peer(NamedTuple):
    """A program that judges the sessions of a folder."""

    name: str
    version: str
    command: Callable[[Path], Sequence[str]]
    found: Callable[[Path, str], set[str]]
    """Ids of sessions that it reports, from the folder and from its output."""
    env: dict[str, str] = {}
    codes: tuple[int, ...] = (0,)


def main() -> None:
    """Make the sessions, run every peer in turn, write the tables."""
    from peers import exports, planting

    asked = _arguments()
    work: Path = asked.folder.resolve()
    work.mkdir(parents=True, exist_ok=True)
    clean = exports.recorded(work / "recorded.jsonl", asked.sessions)
    planted, kinds = planting.planted(clean, asked.each)
    for name, lines in (
        ("one", exports.lines_of(clean[:1])),
        ("all", exports.lines_of(clean)),
        ("planted", planting.edited_lines(planted, kinds)),
    ):
        exports.write(work / name, lines, golden=clean)
    peers = list(_peers(asked, work))
    speeds = _speeds(peers, work, asked.rounds)
    seen = {peer.name: _differing(peer, work / "planted") for peer in peers}
    events = sum(map(len, clean)) / len(clean)
    tables = {
        "speed": _speed_rows(peers, speeds, asked.sessions),
        "found": _found_rows(seen, _causes(peers[0], work / "planted"), kinds, asked.each),
        "run": _said(asked, events),
    }
    for part, lines in tables.items():
        sys.stdout.write("\n".join((*lines, ""))) if asked.dry_run else _write(part, lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for peer in ("temporal", "inspect", "trulens", "promptfoo"):
        parser.add_argument(f"--{peer}", type=Path, metavar="ENV")
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--each", type=int, default=10, help="sessions of each kind of difference")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dry-run", action="store_true", help="print the tables, write no page")
    return parser.parse_args()


# 1. The peers --------------------------------------------------------------------------------


def _peers(asked: argparse.Namespace, work: Path) -> Iterable[Peer]:
    ours = [sys.executable, "-m", "preflights_cli", "regress", "sessions.jsonl"]
    ours += ["--jobs", "1", "--json", "--db", f"sqlite:///{work}/empty.db"]
    home = {"HOME": str(work), "PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}"}
    yield Peer(
        "Preflights", version("preflights-es"), lambda _: ours, _differing_cases, home, (0, 1, 4)
    )
    floor = [sys.executable, "-S", str(PEERS / "by_hand.py"), str(ROOT)]
    yield Peer("by hand, standard library", platform.python_version(), lambda _: floor, _printed)
    if asked.temporal:
        yield from _temporal(asked.temporal.absolute() / "bin" / "python")
    if asked.inspect:
        python = asked.inspect.absolute() / "bin" / "python"
        command = [str(python), str(PEERS / "inspect_mock.py")]
        yield Peer("Inspect", _version(python, "inspect-ai"), lambda _: command, _printed)
    if asked.trulens:
        python = asked.trulens.absolute() / "bin" / "python"
        scores = [str(python), str(PEERS / "trulens_compare.py")]
        yield Peer("TruLens compare", _version(python, "trulens"), lambda _: scores, _printed)
    if asked.promptfoo:
        yield _promptfoo(asked.promptfoo.absolute() / "node_modules", work)


def _temporal(python: Path) -> Iterable[Peer]:
    number = _version(python, "temporalio")
    for name, more in (("", ()), (", no sandbox", ("--unsandboxed",))):
        command = [str(python), str(PEERS / "temporal_replayer.py"), str(ROOT), *more]
        yield Peer(f"Temporal Replayer{name}", number, lambda _, c=command: c, _printed)  # type: ignore[misc]


def _promptfoo(modules: Path, work: Path) -> Peer:
    package = json.loads((modules / "promptfoo" / "package.json").read_text())
    program = modules / "promptfoo" / package["bin"]["promptfoo"]
    command = [
        *("node", str(program), "eval", "-c", "promptfoo.json", "-o", "promptfoo-out.json"),
        *("--no-cache", "--no-write", "--no-table", "--no-progress-bar"),
    ]
    quiet = ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_REMOTE_GENERATION")
    env = {f"PROMPTFOO_{name}": "1" for name in quiet}
    env["PROMPTFOO_CONFIG_DIR"] = str(work / "promptfoo")
    return Peer("promptfoo", package["version"], lambda _: command, _failed_tests, env, (0, 100))


def _version(python: Path, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  ours
    return done.stdout.strip()


def _differing_cases(_folder: Path, out: str) -> set[str]:
    cases = json.loads(out)["cases"]
    return {
        Path(c["source"]).name if not c["session_id"] else c["session_id"]
        for c in cases
        if c["outcome"] != "same"
    }


def _printed(_folder: Path, out: str) -> set[str]:
    return set(out.splitlines()[-1].split()[1:])


def _failed_tests(folder: Path, _out: str) -> set[str]:
    results = json.loads((folder / "promptfoo-out.json").read_text())["results"]["results"]
    return {one["testCase"]["description"] for one in results if not one["success"]}


# 2. Measuring --------------------------------------------------------------------------------


def _speeds(peers: list[Peer], work: Path, rounds: int) -> dict[str, tuple[Measured, Measured]]:
    """The least of some rounds, of one session and of all; the peers take turns in each."""
    taken: dict[tuple[str, str], list[Measured]] = {}
    for number in range(rounds):
        for peer in peers:
            for size in ("one", "all"):
                _told(f"round {number + 1}: {peer.name}, {size}")
                seconds, out = _ran(peer, work / size)
                false = peer.found(work / size, out)
                assert not false, f"{peer.name} reports {len(false)} sessions that are the same"
                taken.setdefault((peer.name, size), []).append(seconds)
    return {p.name: (_least(taken[p.name, "one"]), _least(taken[p.name, "all"])) for p in peers}


def _least(taken: list[Measured]) -> Measured:
    return min(cpu for cpu, _ in taken), min(wall for _, wall in taken)


def _ran(peer: Peer, folder: Path) -> tuple[Measured, str]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    env = {**os.environ, **peer.env}  # noqa: TID251  handed on
    done = subprocess.run(  # noqa: S603  ours
        peer.command(folder), cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in peer.codes:
        raise SystemExit(f"{peer.name} ended with {done.returncode}: {done.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (cpu, wall), done.stdout


def _differing(peer: Peer, folder: Path) -> set[str]:
    _told(f"{peer.name}, {folder.name}")
    _, out = _ran(peer, folder)
    return peer.found(folder, out)


def _causes(ours: Peer, folder: Path) -> dict[str, set[str]]:
    """Kinds of cause by session, as Preflights names them."""
    _, out = _ran(ours, folder)
    return {
        one["session_id"]: {cause["kind"] for cause in one["causes"]}
        for one in json.loads(out)["cases"]
    }


def _told(what: str) -> None:
    sys.stderr.write(what + "\n")


# 3. The tables -------------------------------------------------------------------------------


def _speed_rows(
    peers: list[Peer], speeds: dict[str, tuple[Measured, Measured]], sessions: int
) -> list[str]:
    rows = ["| who | version | sessions a CPU second | CPU of a start | all, CPU | all, wall |"]
    rows.append("| --- | --- | --- | --- | --- | --- |")
    for peer in peers:
        (start, _), (cpu, wall) = speeds[peer.name]
        rate = (sessions - 1) / max(cpu - start, 0.01)
        rows.append(
            f"| {peer.name} | {peer.version} | {rate:,.0f} | {start:.1f} s | {cpu:.1f} s |"
            f" {wall:.1f} s |"
        )
    return rows


def _found_rows(
    seen: dict[str, set[str]], causes: dict[str, set[str]], kinds: dict[str, str], each: int
) -> list[str]:
    names = [name for name in seen if not name.endswith("no sandbox")]
    shown = (name.partition(",")[0] for name in names)
    rows = [f"| {each} sessions with | {' | '.join(shown)} | the cause that Preflights names |"]
    rows.append("| --- |" + " --- |" * (len(names) + 1))
    for kind in dict.fromkeys(kinds.values()):
        planted = {one for one, its in kinds.items() if its == kind}
        counts = " | ".join(str(len(planted & seen[name])) for name in names)
        named = sorted(set().union(*(causes[one] for one in planted if one in causes)))
        rows.append(f"| {kind} | {counts} | {', '.join(named)} |")
    false = " | ".join(str(len(seen[name] - set(kinds))) for name in names)
    rows.append(f"| nothing planted, all of them | {false} | |")
    return rows


def _said(asked: argparse.Namespace, events: float) -> list[str]:
    load = os.getloadavg()[2]
    return [
        f"{asked.sessions} sessions of {events:.0f} events and 5 calls each,",
        f"{asked.rounds} rounds in turn, of which the least counts;",
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()},",
        f"{os.cpu_count()} processors with a load of {load:.0f}; {time.strftime('%Y-%m-%d')}.",
    ]


def _write(part: str, lines: list[str]) -> None:
    """Put lines between the marks of a part of the page."""
    text = PAGE.read_text("utf-8")
    marked = re.compile(rf"(<!-- {part} -->\n).*?(<!-- end -->)", re.DOTALL)
    inner = "".join(f"{line}\n" for line in lines)
    made, count = marked.subn(lambda found: f"{found[1]}{inner}{found[2]}", text)
    assert count == 1, f"the page has no place for {part}"
    PAGE.write_text(made, "utf-8")


if __name__ == "__main__":
    main()
