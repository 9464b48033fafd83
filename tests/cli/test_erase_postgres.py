"""`erase` on a server: what its files still hold, and that docs/operations.md takes it out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.cli.clones import ERASED, SESSIONS
from tests.cli.program import Project, Result
from tests.markdown import ROOT
from tests.postgres import FAST, OwnServer, connected

WORD = b"Quimby"
BLOCK = re.compile(r"^```sql\n(VACUUM.*?)^```$", re.MULTILINE | re.DOTALL)
STATISTICS = (
    "SELECT DISTINCT tablename FROM pg_stats "
    "WHERE concat(most_common_vals, histogram_bounds) LIKE '%Quimby%'"
)


class Shared:
    """A house whose log lies on a server with files that can be read."""

    def __init__(self, house: Project, server: OwnServer) -> None:
        self._house = house
        self._server = server
        self.url = server.url(server.database())

    def call(self, *args: str) -> Result:
        done = self._house.call(*args, "--db", self.url)
        assert done.code == 0, done.err
        return done

    def decided(self, intention: str, by: str = "Ada") -> str:
        words = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--by", by, "--json")
        return str(self.call("start", intention, *words).json["session_id"])

    def said(self, *statements: str) -> list[tuple[object, ...]]:
        with closing(connected(self.url)) as connection:
            for statement in statements:
                done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    def written_anew(self) -> None:
        """As the page says."""
        (documented,) = BLOCK.findall((ROOT / "docs" / "operations.md").read_text("utf-8"))
        self.said(*filter(None, map(str.strip, documented.split(";"))))

    def holds(self, part: str, word: bytes = WORD) -> bool:
        """Whether a file of the server has a word, in one part of its folder."""
        self._server.said("CHECKPOINT")
        files = (self._server.folder / "data" / part).rglob("*")
        return any(word in path.read_bytes() for path in files if path.is_file())


@pytest.fixture(scope="module")
def own() -> Iterator[OwnServer]:
    """One whose folder is known, wherever the other tests have theirs."""
    made = OwnServer(FAST)
    yield made
    made.close()


@pytest.fixture
def shared(house: Project, own: OwnServer) -> Shared:
    return Shared(house.named(), own)


@pytest.mark.slow("whole runs")
def test_what_was_erased_leaves_the_servers_files_as_the_page_says(shared: Shared) -> None:
    quimbys = [shared.decided(f"Let Quimby {n} in by a login", "Z. Quimby") for n in range(3)]
    shared.decided("Add SSO"), shared.decided("Add a login")
    for kept in ("decisions", "sessions", "usage"):
        shared.call(kept)
    shared.said("ANALYZE")
    assert shared.said(STATISTICS), "samples of the rows are kept as well"
    done = shared.call("admin", "erase", *quimbys, "--yes")
    path = f"{SESSIONS}/{quimbys[0][-12:]}.jsonl"
    assert done.err == ERASED.format(f"{path} and 2 more session files") + (
        "warning: the server's files hold what was erased until VACUUM FULL, its journal for some "
        "time after that\n"
    )
    assert shared.said(f"SELECT 1 FROM events WHERE data LIKE '%{WORD.decode()}%'") == []
    shared.said("VACUUM")
    assert shared.holds("base"), "room was made, and nothing written over it"
    shared.written_anew()
    assert not shared.holds("base")
    assert shared.said(STATISTICS) == []
    assert shared.holds("base", b"Add SSO"), "what was not erased is where it was"
    assert shared.holds("pg_wal")
    assert shared.call("audit", "verify").out.startswith("5 sessions (3 erased), ")


@pytest.mark.slow("whole runs")
def test_a_transaction_that_is_older_than_the_erasure_keeps_it_in_the_files(shared: Shared) -> None:
    quimby = shared.decided("Let Quimby in by a login", "Z. Quimby")
    shared.decided("Add SSO")
    with closing(connected(shared.url)) as older:
        older.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        older.execute("SELECT 1 FROM pg_class")
        shared.call("admin", "erase", quimby, "--yes")
        shared.written_anew()
        assert shared.holds("base")
        older.execute("COMMIT")  # a closed connection may end on the server later than this
    shared.written_anew()
    assert not shared.holds("base")


@pytest.mark.slow("whole runs")
def test_statistics_of_a_table_without_rows_stay_until_they_are_deleted(shared: Shared) -> None:
    quimbys = [shared.decided(f"Let Quimby {n} in by a login", "Z. Quimby") for n in range(3)]
    shared.call("decisions")
    shared.said("ANALYZE")
    shared.call("admin", "erase", *quimbys, "--yes")
    shared.written_anew()
    assert shared.said("SELECT * FROM projected_sessions") == []
    assert shared.said(STATISTICS) == [("projected_sessions",)]
    shared.said("DELETE FROM pg_statistic")
    shared.written_anew()
    assert not shared.holds("base")
