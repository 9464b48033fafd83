"""Session files that mean harm, through the program and a log on disk: what it says is so.

10,000 of them, in memory: `tests/history/test_fuzzed_files.py`.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from random import Random
from typing import Final, NamedTuple

import pytest

from preflights_es.kernel.events import ERASED_TAG
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import count_in_words, escaped_text
from preflights_es.store import jsonl
from tests import fuzzing
from tests.bounds import bounded
from tests.cli.program import Project, Result

CASES: Final = 120
PARTS: Final = 4  # test functions, so that several processes share them
FIRST_SEED: Final = 1_000_000  # others than those that are played in memory
READ_MAX: Final = 2  # sessions of a log that are read one by one
PROJECT: Final = fuzzing.recorded()[0][0].project


class Row(NamedTuple):
    """An event, as far as it is compared."""

    project: str
    hash: bytes
    data: str | None


Streams = dict[str, list[Row]]
EVENTS: Final = """
    SELECT session_id, project, hash, data FROM heads JOIN events USING (session_id)
    WHERE workflow <> 'imports' ORDER BY session_id, events.version
"""


class Case:
    """A repository, a log beside it that holds a session or nothing, and a file."""

    def __init__(self, seed: int, house: Project) -> None:
        self.rng = Random(seed)
        self.house = house
        self.log = house.folder / "case.db"
        shutil.copyfile(house.log, self.log)
        shutil.rmtree(house.folder / "docs", ignore_errors=True)
        while (original := fuzzing.session(self.rng))[0].workflow == "imports":
            pass  # what the log says of imports is told apart by that name
        if self.rng.random() < 0.5:
            self.held(original[: self.rng.randint(1, len(original))])
        self.content = fuzzing.file(self.rng, original)
        (house.folder / "case.jsonl").write_bytes(self.content)

    def held(self, events: Sequence[Stored]) -> None:
        """Let the log hold a session."""
        done = self.house.call(
            "admin", "import", "-", *self.options, stdin=jsonl.encode_event_file(events)
        )
        assert done.code == 0, done

    @property
    def options(self) -> tuple[str, ...]:
        return ("--db", str(self.log))

    def call(self, *words: str, codes: tuple[int, ...]) -> Result:
        """A command on the log; its exit code is one of these, and it shows no traceback."""
        with bounded():
            done = self.house.call(
                *words,
                *self.options,
                env={"PREFLIGHTS_PROJECT": PROJECT, "PREFLIGHTS_ACTOR": "Eve"},
            )
        assert done.code in codes, (words, done)
        assert done.is_safe(), (words, done)
        assert "a bug of ours" not in done.err, (words, done)
        return done

    def streams(self) -> Streams:
        """All that the log holds, but who imported what; read by no code of ours."""
        found: Streams = {}
        with closing(sqlite3.connect(self.log)) as log:
            for session_id, *event in log.execute(EVENTS):
                found.setdefault(session_id, []).append(Row(*event))
        return found

    def imports(self) -> tuple[int, int]:
        """How many sessions and events say who imported what."""
        counted = "SELECT count(*), total(version) FROM heads WHERE workflow = 'imports'"
        with closing(sqlite3.connect(self.log)) as log:
            sessions, events = log.execute(counted).fetchone()
        return sessions, int(events)


def played(case: Case) -> bool:
    """Whether the file was taken."""
    before = case.streams()
    flags = case.rng.choice(((), ("--yes",)))
    as_json = case.rng.choice(((), ("--json",)))
    done = case.call("admin", "import", "case.jsonl", *flags, *as_json, codes=(0, 1, 4, 5))
    after = case.streams()
    if done.code != 0:
        assert done.err.splitlines()[-1 - len(as_json)].startswith("preflights: "), done
        some = re.search(r"\(sessions taken over before: (\d+)\)", done.err)
        changed = [key for key in after if after[key] != before.get(key)]
        assert len(changed) == (int(some[1]) if some else 0), done
        assert after.keys() >= before.keys()
    else:
        there = taken(case.content, before, after)
        if as_json:
            said(done, before, after, there)
        else:
            told(done, before, after)
    found = case.call("audit", "verify", "--all", "--json", codes=(0,)).json
    own, own_events = case.imports()
    assert found["sessions"] == len(after) + own
    assert found["events"] == sum(map(len, after.values())) + own_events
    case.call("replay", "case.jsonl", codes=(0, 1, 4, 5))
    if after != before:
        read(case, after)
    return done.code == 0


def said(done: Result, before: Streams, after: Streams, there: Streams) -> None:
    """The log holds what the JSON says, and nothing else changed."""
    shape = done.json
    assert shape["imported"] is True
    for one in shape["sessions"]:
        events, held = after[one["session_id"]], before.get(one["session_id"], [])
        assert one["version"] == len(there[one["session_id"]]), "of its last event in the file"
        assert one["new_events"] == len(events) - len(held)
    named = {one["session_id"] for one in shape["sessions"] if one["new_events"]}
    assert named == {key for key in after if after[key] != before.get(key)}


def told(done: Result, before: Streams, after: Streams) -> None:
    """Every session that changed has a line that says by how much."""
    lines = done.out.splitlines()
    for key, events in after.items():
        new = len(events) - len(before.get(key, ()))
        if new:
            project = escaped_text(events[0].project)
            began = f"{short_session(key)} ({project}): {count_in_words(new, 'new event')}, "
            assert any(line.startswith(f"{began}version {len(events)}") for line in lines), done
        else:
            assert events == before[key]


def taken(content: bytes, before: Streams, after: Streams) -> Streams:
    """The sessions of the file: each event stands in the log, under its hash; no other came."""
    there: Streams = {}
    erased = set[str]()
    for event in jsonl.stored(content.splitlines(), "file"):
        if event.type == ERASED_TAG:
            erased.add(event.session_id)
        data = None if event.data is None else event.data.decode()
        there.setdefault(event.session_id, []).append(Row(event.project, event.hash, data))
    assert after.keys() == before.keys() | there.keys()
    for key, events in there.items():
        held = after[key]
        if key in erased and key in before and len(before[key]) < len(events):
            assert held == before[key], "an erasure that a file brings erases nothing here"
            continue
        assert [one.hash for one in held[: len(events)]] == [one.hash for one in events]
        assert {one.project for one in held} == {events[0].project}
        for mine, theirs in zip(held, events, strict=False):
            assert mine.data in (None, theirs.data), "an erasure alone takes a payload"
        assert len(held) == max(len(events), len(before.get(key, ())))
    return there


def read(case: Case, streams: Streams) -> None:
    """Every reader bears what was taken, and leaves it as it is."""
    listed = case.call("sessions", "--any-project", "--all-workflows", "--json", codes=(0,)).json[
        "sessions"
    ]
    assert {one["session_id"] for one in listed} == streams.keys()
    for key in case.rng.sample(sorted(streams), min(READ_MAX, len(streams))):
        case.call("replay", key, codes=(0, 1, 4, 5))
        case.call("admin", "render", key, codes=(0, 1, 2, 4, 5))
    assert case.streams() == streams, "no reader changes it"
    here = {path.name for path in case.house.folder.iterdir()}
    logs = {"case.db", "case.db-wal", "case.db-shm", "case.db.folders", "case.jsonl"}
    assert here <= {".git", ".preflights", "docs", *logs}


@pytest.mark.slow("fuzzing")
@pytest.mark.parametrize("part", range(PARTS))
def test_what_the_program_says_of_a_forged_file_is_so(house: Project, part: int) -> None:
    outcomes = []
    for seed in range(FIRST_SEED + part, FIRST_SEED + CASES, PARTS):
        try:
            outcomes.append(played(Case(seed, house)))
        except Exception as error:  # named with its seed, and raised on
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
    assert {True, False} == set(outcomes), "some are taken, and some are not"
