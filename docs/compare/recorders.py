"""A program's calls: recorded once, and run again offline with what was recorded."""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from environments import HERE, Done, Installed, run_measured, say, table

CALLS: Final = 40
"""Of a case, as the tests of our recorder make."""
SHORT: Final = 100
"""Calls of a short recording: vcrpy searches its whole tape for each call."""
FAILED: Final = (math.nan, math.nan)
OLD: Final = "Is the shop open on Sunday?"
NEW: Final = "Is the shop open on Monday?"

Words = tuple[str, ...]


class Recorder(NamedTuple):
    """A tool that records a program and replays it: the words before those of the program."""

    name: str
    python: str
    record: Words
    replay: Words
    names_program: bool = True
    """Whether a replay is told the program again."""


class Model(NamedTuple):
    """A model on this machine, and how many requests it got."""

    url: str
    requests: Callable[[], int]


def compare_recorders(
    asked: argparse.Namespace, peers: Mapping[str, Installed], work: Path
) -> dict[str, list[str]]:
    """Take each recorder through the cases, and through a short and a long recording."""
    recorders = list_recorders(peers)
    return {
        "recorded": _case_rows(recorders[1:], work, min(CALLS, asked.calls)),
        "recording": _speed_rows(recorders, work, asked.calls, asked.rounds),
    }


def list_recorders(peers: Mapping[str, Installed]) -> list[Recorder]:
    """The program alone, Preflights, and those peers, each as it is compared."""
    ours = (str(Path(sys.executable).with_name("preflights")), "calls")
    record, replay = (*ours, "record", "--"), (*ours, "replay", "last", "--")
    # One Python for the program of all, as far as they let us choose.
    python = peers["vcrpy"].program("python") if "vcrpy" in peers else sys.executable
    found = [
        Recorder("the program alone", python, (), ()),
        Recorder("Preflights", python, record, replay),
    ]
    if "vcrpy" in peers:
        for name, matched in (("vcrpy", "default"), ("vcrpy, matching bodies", "body")):
            taped = (python, str(HERE / "taped.py"), "tape.yaml", matched)
            found.append(Recorder(name, python, (*taped, "record"), (*taped, "replay")))
    if reeltime := peers.get("reeltime"):
        python, tape = reeltime.program("python"), reeltime.program("tape")
        for name, more in (("reeltime", ()), ("reeltime --strict", ("--strict",))):
            again = (tape, "replay", "last", *more)
            found.append(Recorder(name, python, (tape, "run"), again, names_program=False))
    return found


def _new_folder(work: Path, prompt: str) -> Path:
    folder = work / "program"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "prompt.txt").write_text(prompt, "utf-8")
    return folder


def _run(recorder: Recorder, folder: Path, model: Model, words: Words, *, again: bool) -> Done:
    """Record the program in its folder, or replay it."""
    say(f"{recorder.name}: {'replay' if again else 'record'} {' '.join(words)}")
    program = (recorder.python, str(HERE / "calling.py"), *words)
    command = recorder.replay if again else recorder.record
    if not again or recorder.names_program:
        command += program
    env = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "sk-none", "HOME": str(folder)}
    env["PREFLIGHTS_DATABASE_URL"] = f"sqlite:///{folder}/log.db"
    return run_measured(command, folder, env)


# 1. The cases --------------------------------------------------------------------------------


@contextmanager
def _numbering_model() -> Iterator[Model]:
    """Each answer has a number, so that none can be mistaken; a stream comes byte by byte."""
    from tests.cli import test_record
    from tests.providers.server import FakeAPI

    with FakeAPI() as api:
        api.script(test_record.Model())
        yield Model(api.url, lambda: len(api.requests))


def _case_rows(recorders: list[Recorder], work: Path, count: int) -> list[str]:
    from tests.cli.test_record import KEY

    cases = {"sequential": count, "asyncio": count, "threads": count, "stream": 2}
    rows = []
    for recorder in recorders:
        cells = [recorder.name]
        for case, asks in cases.items():
            first, second, live = _both(recorder, _new_folder(work, OLD), (case, str(asks)))
            cells.append(_right(first, second, live))
        secrets = []
        for case, prompt in (("sequential", f"Mail this: {KEY}"), ("stream", "Stream a key")):
            folder = _new_folder(work, prompt)
            _both(recorder, folder, (case, "1"))
            (folder / "prompt.txt").unlink()
            secrets.append("yes" if _holds(folder, KEY) else "no")
        first, second, _ = _both(recorder, _new_folder(work, OLD), ("sequential", "1"), then=NEW)
        rows.append([*cells, *secrets, _missed(first, second)])
    head = (
        *("right answers of a replay", "one by one", "16 at once", "8 threads"),
        *("streams cut in letters", "key in the file", "key over pieces in the file"),
        "the question changed",
    )
    return table(head, rows)


def _both(recorder: Recorder, folder: Path, words: Words, then: str = "") -> tuple[Done, Done, int]:
    """A recording, its replay, and how many calls of the replay reached the model."""
    with _numbering_model() as model:
        first, asked = _run(recorder, folder, model, words, again=False), model.requests()
        assert _answers(first), f"{recorder.name} records nothing: {first.err[-2000:]}"
        if then:
            (folder / "prompt.txt").write_text(then, "utf-8")
        second = _run(recorder, folder, model, words, again=True)
        return first, second, model.requests() - asked


def _answers(done: Done) -> list[str]:
    found = re.search(r"^answers: (.*)$", done.out, re.MULTILINE)
    answers: list[str] = json.loads(found[1]) if found else []
    return answers


def _right(first: Done, second: Done, live: int) -> str:
    wanted, given = _answers(first), _answers(second)
    same = sum(1 for one, two in zip(wanted, given, strict=False) if one == two)
    wrong = f", exit {second.code}" if same < len(wanted) else ""
    return f"{same} of {len(wanted)}{wrong}{f', {live} asked anew' if live else ''}"


def _holds(folder: Path, key: str) -> bool:
    """Whether a file of the recorder has the key, whole or in the pieces of a stream."""
    for file in (one for one in folder.rglob("*") if one.is_file()):
        text = re.sub(r"\\|\n\s*", "", file.read_text("utf-8", "replace"))
        if key in text or key in "".join(re.findall(r'"content": ?"([^"]*)"', text)):
            return True
    return False


def _missed(first: Done, second: Done) -> str:
    """What the program got, its exit code, and what was said."""
    given = "the old answer" if _answers(first) == _answers(second) else "refused"
    said = second.out + second.err
    names = [day for day in ("Sunday", "Monday") if day in said]
    what = {0: "names neither question", 1: f"names {''.join(names)}", 2: "names both questions"}
    return f"{given}, exit {second.code}, {what[len(names)]}"


# 2. Speed ------------------------------------------------------------------------------------


def time_recording(recorder: Recorder, work: Path, url: str, calls: int) -> float:
    """Seconds of the clock that the program takes with its start, where each call is recorded."""
    words, model = ("sequential", str(calls)), Model(url, lambda: 0)
    done = _run(recorder, _new_folder(work, OLD), model, words, again=False)
    assert len(_answers(done)) == calls, f"{recorder.name} records too few: {done.err[-2000:]}"
    return done.wall_s


def _speed_rows(recorders: list[Recorder], work: Path, calls: int, rounds: int) -> list[str]:
    """The least of some rounds, in which the recorders take turns."""
    from tests.benchmarks.recording import SERVER, served_code

    timed = [one for one in recorders if one.name not in ("vcrpy", "reeltime --strict")]
    sizes = (min(SHORT, calls), calls)
    taken: dict[str, list[list[tuple[float, float]]]] = {one.name: [] for one in timed}
    with served_code(SERVER) as url:
        model = Model(url, lambda: 0)
        for _ in range(rounds):
            for recorder in timed:
                seconds = []
                for size in sizes:
                    folder, words = _new_folder(work, OLD), ("sequential", str(size))
                    for again in (False, True):
                        done = _run(recorder, folder, model, words, again=again)
                        is_whole = len(_answers(done)) == size
                        seconds.append((done.wall_s, done.cpu_s) if is_whole else FAILED)
                taken[recorder.name].append(seconds)
    rows = [
        [
            name,
            *(
                "{:.1f} s, {:.1f} s".format(*map(min, zip(*some, strict=True)))
                for some in zip(*lists, strict=True)
            ),
        ]
        for name, lists in taken.items()
    ]
    head = [f"{size:,} calls {verb}" for size in sizes for verb in ("recorded", "replayed")]
    return table(("who", *head), rows)
