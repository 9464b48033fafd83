"""Lists of any length: the same bytes as before, in little memory, and a day without the rest."""

from __future__ import annotations

import json
import os
import sqlite3
import tracemalloc
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Final

import msgspec
import pytest

from preflights_cli.common import PAGE, Voice
from preflights_cli.main import run_command_line
from tests.cli.archives import many
from tests.cli.program import Project
from tests.cli.tampering import changed, flipped, tampered
from tests.each import each

# A session, its decision and its marks once more for every number; the log itself stays as it is.
MORE = """
WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})
INSERT INTO {table} SELECT {columns} FROM {table}, n WHERE {table}.session_id = '{id}'
"""
TABLES = ("heads", "projected_sessions", "projected_decisions")


def multiplied(house: Project, session_id: str, first: int, last: int) -> None:
    """As many rows in lists as such sessions would make, by their numbers."""
    with closing(sqlite3.connect(house.log, isolation_level=None)) as log:
        for table in TABLES:
            names = [row[1] for row in log.execute(f"PRAGMA table_info({table})")]
            columns = ", ".join(
                "printf('00000000-0000-7000-8000-%012d', i)" if name == "session_id" else name
                for name in names
            )
            made = MORE.format(first=first, last=last, table=table, columns=columns, id=session_id)
            log.execute(made)


def peak(house: Project, *args: str) -> int:
    """The most bytes that Python held while a command ran, its output thrown away."""
    with house._surroundings({}), open(os.devnull, "w") as sink, redirect_stdout(sink):
        tracemalloc.start()
        try:
            assert run_command_line(list(args)) == 0
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


LISTS: Final = (
    ("decisions", "--json"),
    ("decisions",),
    ("decisions", "--all", "--json"),
    ("sessions", "--all", "--json"),
    ("sessions", "--all"),
    ("sessions", "--status", "accepted", "--json"),
)


@pytest.mark.slow("sizes")
def test_a_list_of_twice_the_length_takes_no_more_memory(house: Project) -> None:
    session_id = house.decided()["session_id"]
    house.call("decisions")
    multiplied(house, session_id, 1, 2_500)
    for words in LISTS:
        house.call(*words)  # imports what it needs
    few = {words: peak(house, *words) for words in LISTS}
    multiplied(house, session_id, 2_501, 5_000)
    for words in LISTS:
        assert peak(house, *words) < 1.3 * few[words], words
        told = "Use OAuth" if words[0] == "decisions" else "Add OAuth login"
        assert house.call(*words).out.count(told) == 5_001


# 1. The same bytes ---------------------------------------------------------------------------


@each("count", [0, 1, 2, 5_000])
def test_a_list_is_written_as_it_would_be_at_once(
    count: int, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    value = {"format": "x/1", "rows": [], "more": False}
    rows = [{"number": n, "text": f'"rows":[] \u202e {n}'} for n in range(count)]
    voice = Voice(as_json=True, quiet=False, verbose=False)
    voice.listed(value, "rows", iter(rows))
    streamed = capfdbinary.readouterr().out
    voice.json({**value, "rows": rows})
    assert streamed == capfdbinary.readouterr().out
    assert json.loads(streamed)["rows"] == rows


def test_what_fails_before_the_first_page_leaves_nothing_on_stdout(house: Project) -> None:
    house.decided()
    house.call("decisions")
    changed(house, "UPDATE projected_decisions SET decided = 'no JSON'")
    done = house.call("decisions", "--json")
    assert (done.code, done.out) == (4, "")


@pytest.mark.slow("sizes")
def test_lists_have_every_session_once_in_order(house: Project, tmp_path: Path) -> None:
    many(tmp_path / "many.jsonl", 1_100)
    assert house.call("admin", "import", str(tmp_path / "many.jsonl")).code == 0
    listed = house.call("sessions", "--all", "--json").json
    ids = [row["session_id"] for row in listed["sessions"]]
    assert (len(ids), len(set(ids)), listed["more"]) == (1_100, 1_100, False)
    assert ids == sorted(ids, reverse=True)
    table = house.call("sessions", "--all").out.splitlines()[2:]
    assert [line.split()[0] for line in table] == [one[-8:] for one in ids]
    assert len(house.call("sessions", "--json").json["sessions"]) == 20


@pytest.mark.slow("sizes")
def test_a_list_that_is_read_no_further_ends_with_141(house: Project, tmp_path: Path) -> None:
    many(tmp_path / "many.jsonl", 1_100)
    assert house.call("admin", "import", str(tmp_path / "many.jsonl")).code == 0
    with house.started("sessions", "--all", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(100).startswith(b'{"format":"sessions/1","sessions":[{')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
    assert PAGE < 1_100 * 100, "it was not written at once"


# 2. A day ------------------------------------------------------------------------------------


def test_a_day_without_sessions_says_so_and_damage_is_shown_whatever_the_day(
    house: Project,
) -> None:
    assert house.call("audit", "trail", "--until", "2020-01-01").out == "Nothing was recorded.\n"
    session_id = house.started_session()
    tampered(house, session_id, flipped)
    done = house.call("audit", "trail", "--until", "2020-01-01")
    assert (done.code, done.out) == (0, "No step fits the filter.\n")
    assert session_id in done.err


def test_the_trail_of_a_day_is_the_whole_one_of_its_steps(house: Project) -> None:
    house.decided()
    house.started_session("Add SSO")
    lines = house.call("audit", "trail", "--json").out.splitlines()
    times = [msgspec.json.decode(line)["recorded_at"] for line in lines]
    for since, until in ((times[0], times[3]), (times[3], times[-1]), (times[5], times[5])):
        words = ("--since", since, "--until", until)
        found = house.call("audit", "trail", "--json", *words).out.splitlines()
        assert found == [
            line for line, at in zip(lines, times, strict=True) if since <= at <= until
        ]
