"""Files that no program of ours wrote, and whose chain holds: it was computed again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import pytest
from msgspec.structs import replace

from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from tests.cli.program import Project
from tests.cli.tampering import tampered
from tests.each import each
from tests.store.given import resealed

ELSEWHERE: Final = {"PREFLIGHTS_PROJECT": "elsewhere"}
Change = Callable[[Stored], Stored]
HUGE: Final = 10**30


@pytest.fixture
def other(colleague: Project, house: Project) -> Project:
    """Where the file is taken over: an empty log of the same project, and one decision."""
    colleague.decided("Add a login")
    return colleague


def forged(house: Project, change: Change) -> bytes:
    """A session of the house, changed, with a chain that holds."""
    lines = house.call("admin", "export", "last").out.encode().splitlines()
    return jsonl.encode_event_file(resealed([change(one) for one in jsonl.stored(lines, "here")]))


def payload(old: str, new: str, tag: str = "") -> Change:
    """Other words in payloads of a tag; of all, unless one is named."""

    def changed(one: Stored) -> Stored:
        assert one.data is not None
        if tag not in one.type:
            return one
        return replace(one, data=one.data.replace(old.encode(), new.encode()))

    return changed


ACKNOWLEDGED: Final = "decision_acknowledged"
REFUSED: Final = {
    "a time that no clock shows": payload('"at":', f'"at":{HUGE}', ACKNOWLEDGED),
    "a number that fits no column": payload('"number":1', f'"number":{2**70}'),
    "a number below 1": payload('"number":1', '"number":-1'),
    "a number that no document bears": payload('"number":1', f'"number":{10**12}'),
    "a project that PostgreSQL does not take": lambda one: replace(one, project="ho\0use"),
    "rules that PostgreSQL does not take": lambda one: replace(one, decider="c\0/1"),
}


@each("change", REFUSED.values())
def test_what_no_program_could_record_is_not_taken_over(
    house: Project, other: Project, change: Change
) -> None:
    house.decided()
    done = other.call("admin", "import", "-", stdin=forged(house, change))
    code = 5 if "cannot read" in done.err else 4
    assert (done.code, done.out) == (code, ""), done.err
    assert "nothing was imported" in done.err
    assert done.err.count("\n") == 1
    assert done.is_safe()
    assert len(other.call("decisions", "--json").json["decisions"]) == 1


@each(
    "change",
    [
        payload('"actor":', '"actor":{"kind":"user","name":"Eve"},"actor":'),
        payload('"name":', '"name":"Eve","name":'),
    ],
)
def test_what_readers_may_take_for_different_words_is_named_by_verify(
    house: Project, other: Project, change: Change
) -> None:
    house.decided()
    assert other.call("admin", "import", "-", stdin=forged(house, change)).code == 0
    done = other.call("audit", "verify")
    assert done.code == 4
    assert "twice" in done.out + done.err


@pytest.mark.parametrize("number", [1_003, 999_999, 999_999_998, 999_999_999])
def test_a_number_far_beyond_the_next_one_is_refused(
    house: Project, other: Project, number: int
) -> None:
    house.decided()
    content = forged(house, payload('"number":1', f'"number":{number}'))
    done = other.call("admin", "import", "-", stdin=content)
    assert done.code == 1
    assert f"the record number {number:,} of 'house' is far beyond" in done.err
    assert "known here, 1: expected at most 1,002." in done.err
    assert done.err.endswith("; nothing was imported\n")
    assert other.decided("Add SSO")["number"] == 2


def test_a_number_that_a_few_sessions_left_out_is_taken(house: Project, other: Project) -> None:
    house.decided()
    content = forged(house, payload('"number":1', '"number":1002'))
    assert other.call("admin", "import", "-", stdin=content).code == 0
    assert other.decided("Add SSO")["number"] == 1_003
    assert other.call("admin", "import", "-", stdin=content).code == 0


def test_the_records_of_the_folder_are_known_numbers(house: Project, other: Project) -> None:
    """They lie there, and the log of this clone is empty."""
    records = other.folder / "docs" / "decisions"
    for number in range(900, 4_500, 900):
        (records / f"{number:04d}-by-hand.md").write_text("# By hand")
    house.decided()
    content = forged(house, payload('"number":1', '"number":4400'))
    assert other.call("admin", "import", "-", stdin=content).code == 0
    elsewhere = other.call("admin", "import", "-", "--db", "e.db", stdin=content, env=ELSEWHERE)
    assert elsewhere.code == 1, "they are another project's"


def test_a_number_that_an_older_version_let_in_ends_no_numbers(
    house: Project, other: Project
) -> None:
    tampered(other, other.show()["session_id"], numbered_last)
    assert other.decided("Add SSO")["number"] == 2


def numbered_last(log: sqlite3.Connection, session_id: str) -> None:
    log.execute(
        "INSERT INTO numbers VALUES ('house', 'docs/decisions', 999999998, ?)", (session_id,)
    )


@pytest.mark.parametrize("name", ["999999-x.md", "2890-issue.md"])
def test_a_file_with_a_number_far_beyond_the_others_does_not_count(
    house: Project, name: str
) -> None:
    (house.folder / "docs" / "decisions").mkdir(parents=True)
    (house.folder / "docs" / "decisions" / name).write_text("# By hand")
    done = house.call("start", "Add OAuth login", "--answer", "auth_strategy=OAuth")
    done = house.call("accept", "--again", "last", "--by", "Ada", "--json")
    assert done.json["number"] == 1
    assert f"a number far beyond the others ({name.partition('-')[0]})" in done.err
    (house.folder / "docs" / "decisions" / name).unlink()
    done = house.call("start", "Add SSO", "--answer", "auth_strategy=OAuth", "--accept", "--again")
    assert done.err == ""


@each("at", [2**63 - 1, -(2**63)])
def test_a_time_that_no_calendar_has_is_shown_as_the_nearest(
    house: Project, other: Project, at: int
) -> None:
    house.decided("Add OAuth")  # after the other one, so that it is the last

    def change(one: Stored) -> Stored:
        moved = replace(one, recorded_at=at)
        assert one.data is not None
        at_, _, rest = one.data.partition(b'"at":')
        if not rest:
            return moved
        return replace(moved, data=at_ + b'"at":%d' % at + rest[rest.index(b",") :])

    assert other.call("admin", "import", "-", stdin=forged(house, change)).code == 0
    for words in (
        *(("log", "last"), ("show", "last"), ("why", "Strategy"), ("audit", "trail")),
        *(("decisions", "--all"), ("decisions", "--at", "2026-01-01"), ("sessions", "--all")),
        *(("usage",), ("admin", "render", "last"), ("audit", "verify")),
    ):
        done = other.call(*words)
        assert done.code == 0, (words, done)
        assert done.is_safe()
    year = "9999" if at > 0 else "0001"
    assert f", {year}-" in other.call("admin", "erase", "last", "--dry-run").out
