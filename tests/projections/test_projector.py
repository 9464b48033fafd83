"""Projections follow the log: whatever happens, they come to what folding every session says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace
from sqlalchemy.engine import make_url

from preflights_es.kernel.errors import LogFromFuture, StoreUnavailable
from preflights_es.kernel.events import ERASED_TAG
from preflights_es.kernel.ports import AppendBatch, Draft, Row
from preflights_es.kernel.session import misplaced
from preflights_es.projections.decisions import DECISIONS
from preflights_es.projections.projection import Projection, ProjectionReader, Read
from preflights_es.projections.sessions import SESSIONS
from preflights_es.projections.usage import USAGE
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.projector import Projector
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.store.stored_events import Codec
from preflights_es.use.process import build_projection_reader
from tests.postgres import Server
from tests.projections.given import (
    NAMES,
    address,
    changed,
    following,
    from_zero,
    kept,
    recorded,
    tampered,
)
from tests.projections.recording import Recording, golden, goldens, new_id, several
from tests.store.given import at, behind, sql
from tests.store.mortal import Mortals
from tests.toy import altered

# 1. Following --------------------------------------------------------------------------------


@pytest.mark.slow("whole runs")
def test_what_is_folded_step_by_step_is_what_is_folded_at_once(store: SqlStore) -> None:
    projections = following(store)
    growing = [Recording(events, number) for number, events in enumerate(goldens(), 1)]
    while growing:
        for one in growing:
            batch = one.next()
            assert batch is not None
            one.appended(store.append([batch])[0])
        projections.catch_up()
        growing = [one for one in growing if one.next() is not None]
    stepwise = kept(store)
    assert len(stepwise["sessions"]) == len(goldens())
    assert stepwise["decisions"]
    assert stepwise["usage"]
    assert stepwise == from_zero(store)


def test_what_is_taken_leaves_the_outbox_is_marked_and_is_folded_once(store: SqlStore) -> None:
    ids = recorded(store, several())
    log, projections = SqlFollowing(store), following(store)
    assert log.counts()["waiting"] > len(several())
    projections.catch_up()
    assert log.counts()["waiting"] == 0
    for head in store.heads(None):
        for name in NAMES:
            assert log.marks(name, head.session_id, head.session_id) == {
                head.session_id: head.version
            }
    before = kept(store)
    projections.catch_up()
    following(store).catch_up()
    assert kept(store) == before
    # An append that is seen twice, and sessions that cannot be read as far as they are said to be.
    rows = [*((one, 2) for one in (*ids[:5], "no-such-session")), ("none", 3), (ids[0], 99)]
    changed(store, *(f"INSERT INTO outbox VALUES ('{one}', {version})" for one, version in rows))
    following(store).catch_up()
    assert kept(store) == before
    assert log.counts()["waiting"] == 0


def test_a_reader_sees_the_append_that_came_right_before(store: SqlStore) -> None:
    one = Recording(golden("two_phases_without_a_keyword")[0], 1)
    seen = []
    while (batch := one.next()) is not None:
        one.appended(store.append([batch])[0])
        (row,) = following(store).rows("sessions", "house")
        seen.append((row["status"], row["turns"]))
    assert seen[0] == ("needs_answers", 0)
    assert seen[-1][0] == "accepted"
    assert list(following(store).rows("sessions", "elsewhere")) == []


def test_who_waits_for_the_first_fold_sees_how_far_it_is(store: SqlStore) -> None:
    ids = recorded(store, several())
    seen = list[object]()

    @contextmanager
    def drawn(length: int) -> Iterator[Callable[[int], object]]:
        seen.append(length)
        yield seen.append

    for _ in range(2):
        projections = following(store)
        projections.drawn = drawn
        projections.catch_up()
    assert seen == [len(ids), len(ids)], "and nothing the second time"


# 2. Crashes ----------------------------------------------------------------------------------


class Died(BaseException):
    """Stands for the end of a process, which nothing on the way takes for a session's trouble."""


def dying(after: int) -> Projection:
    """Decisions, folded by a process that dies when so many sessions are folded."""
    left = after

    def rows(read: Read) -> tuple[Row, ...]:
        nonlocal left
        if left == 0:
            raise Died
        left -= 1
        return DECISIONS.rows(read)

    return replace(DECISIONS, rows=rows)


def with_decisions(store: SqlStore, decisions: Projection) -> Projector:
    return Projector(SqlFollowing(store), (SESSIONS, decisions, USAGE), build_projection_reader())


@pytest.mark.slow("kills")
@pytest.mark.parametrize("after", [0, 20])
def test_who_dies_while_folding_leaves_rows_and_marks_that_fit(store: SqlStore, after: int) -> None:
    following(store).catch_up()
    recorded(store, goldens())
    log = SqlFollowing(store)
    waiting = log.counts()["waiting"]
    with pytest.raises(Died):
        with_decisions(store, dying(after)).catch_up()
    sessions = {row["session_id"] for row in kept(store)["sessions"]}
    assert {row["session_id"] for row in kept(store)["decisions"]} <= sessions
    assert set(log.marks("sessions", "", "~")) == sessions
    assert (log.counts()["waiting"] == waiting) == (not sessions)
    following(store).catch_up()
    assert kept(store) == from_zero(store)


@pytest.mark.parametrize("after", [0, 20])
def test_a_rebuild_that_died_is_taken_up_by_the_next_reader(store: SqlStore, after: int) -> None:
    recorded(store, several())
    following(store).catch_up()
    before = kept(store)
    with pytest.raises(Died):
        with_decisions(store, dying(after)).rebuild(["decisions"])
    state = {state.name: state for state in following(store).states()}
    assert not state["decisions"].is_current
    assert state["sessions"].is_current
    assert list(following(store).rows("decisions", None)) == before["decisions"]
    assert kept(store) == before


def test_a_transaction_that_fails_moves_neither_rows_nor_marks(store: SqlStore) -> None:
    recorded(store, golden("keyword_skips_the_generic_question"))
    following(store).catch_up()
    changed(store, "CREATE UNIQUE INDEX one_call ON projected_usage (project)")
    before = kept(store)
    recorded(store, golden("a_model_leads"), first=50)
    with pytest.raises(StoreUnavailable):
        following(store).catch_up()
    assert kept(store) == before
    assert SqlFollowing(store).counts()["waiting"] > 0
    changed(store, "DROP INDEX one_call")
    following(store).catch_up()
    assert kept(store) == from_zero(store)
    assert len(kept(store)["sessions"]) == 2


@pytest.mark.slow("kills")
def test_who_is_killed_while_rebuilding_leaves_rows_and_marks_that_fit(tmp_path: Path) -> None:
    with closing(sql(tmp_path)) as store, Mortals("tests.projections.rebuilder") as rebuilders:
        for round_ in range(6):
            recorded(store, goldens(), first=1 + round_ * 1_000)
            rebuilders.acknowledged(address(store))
            left = kept(store)
            marks = SqlFollowing(store).marks("sessions", "", "~")
            assert {row["session_id"]: row["version"] for row in left["sessions"]} == marks
            following(store).catch_up()
            caught_up = kept(store)
            assert len(caught_up["sessions"]) == len(goldens()) * (round_ + 1)
        assert caught_up == from_zero(store)


# 3. Versions ---------------------------------------------------------------------------------


NEWER: Final = DECISIONS.version + 1


def shouting(version: int) -> Projection:
    """Another version of the decisions, whose rows say something else."""

    def rows(read: Read) -> tuple[Row, ...]:
        return tuple((*row[:5], row[5].upper(), *row[6:]) for row in DECISIONS.rows(read))

    return replace(DECISIONS, version=version, rows=rows)


def test_a_projection_of_another_version_rebuilds_itself_and_no_other(store: SqlStore) -> None:
    recorded(store, several())
    following(store).catch_up()
    before = kept(store)
    generations = {name: one.generation for name, one in SqlFollowing(store).registered().items()}
    rows = list(with_decisions(store, shouting(NEWER)).rows("decisions", None))
    assert [row["category"] for row in rows] == [
        row["category"].upper() for row in before["decisions"]
    ]
    after = SqlFollowing(store).registered()
    assert after["decisions"].version == NEWER
    assert after["decisions"].generation == generations.pop("decisions") + 1
    assert {name: after[name].generation for name in generations} == generations
    assert kept(store)["sessions"] == before["sessions"]


def test_an_older_program_does_not_touch_what_a_newer_one_keeps(store: SqlStore) -> None:
    with_decisions(store, shouting(NEWER)).catch_up()
    recorded(store, goldens()[:4])
    waiting = SqlFollowing(store).counts()["waiting"]
    older = following(store)
    for refused in (older.catch_up, older.follow, older.rebuild):
        with pytest.raises(LogFromFuture, match="keeps the projection 'decisions'"):
            refused()
    assert SqlFollowing(store).counts()["waiting"] == waiting
    assert len(list(with_decisions(store, shouting(NEWER)).rows("sessions", None))) == 4


def test_a_reader_gets_sessions_that_are_not_folded_yet(server: Server, postgres: str) -> None:
    with closing(at(postgres)) as store:
        recorded(store, goldens()[:9])
        following(store).catch_up()
        recorded(store, goldens()[9:20], first=100)
        role = f"reader_{make_url(postgres).database}"
        server.said(f'CREATE ROLE "{role}" LOGIN')
        try:
            changed(store, f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{role}"')
            with closing(at(server.url(str(make_url(postgres).database), role))) as theirs:
                seen = {name: list(following(theirs).rows(name, None)) for name in NAMES}
            assert len(kept(store)["sessions"]) == 9, "nothing was written"
        finally:
            changed(store, f'DROP OWNED BY "{role}"')
            server.said(f'DROP ROLE "{role}"')
        following(store).catch_up()
        assert seen == kept(store)


def test_a_projection_that_only_a_newer_program_knows_keeps_its_share(store: SqlStore) -> None:
    following(store).catch_up()
    recorded(store, goldens()[:2])
    changed(store, "INSERT INTO projections VALUES ('weather', 1, 1, 1)")
    with pytest.raises(LogFromFuture, match="'weather'"):
        following(store).catch_up()
    assert SqlFollowing(store).counts()["waiting"] > 0


def test_what_a_rebuild_of_all_folds_waits_no_more_in_a_file(store: SqlStore) -> None:
    recorded(store, several())
    waited = SqlFollowing(store).counts()["waiting"]
    following(store).rebuild(["sessions"])
    assert SqlFollowing(store).counts()["waiting"] == waited, "the other projections need them"
    following(store).rebuild()
    is_file = store.database.dialect == "sqlite"
    assert SqlFollowing(store).counts()["waiting"] == (0 if is_file else waited)
    following(store).follow()
    assert SqlFollowing(store).counts()["waiting"] == 0
    assert kept(store) == from_zero(store)


# 4. Sessions in trouble ----------------------------------------------------------------------


def test_damaged_sessions_are_marked_as_such_and_hide_no_other(store: SqlStore) -> None:
    ids = recorded(store, golden("keyword_skips_the_generic_question") * 5)
    tampered(
        store,
        f"UPDATE events SET data = replace(data, 'OAuth', 'Magic') WHERE session_id = '{ids[1]}'",
        f"DELETE FROM events WHERE session_id = '{ids[3]}'",
        f"DELETE FROM events WHERE session_id = '{ids[4]}' AND version > 2",
    )
    rows = {row["session_id"]: row for row in following(store).rows("sessions", None)}
    whole = {ids[0], ids[2]}
    assert {one: row["status"] for one, row in rows.items()} == {
        one: "accepted" if one in whole else "damaged" for one in ids
    }
    assert "its payload was changed" in rows[ids[1]]["intention"]
    assert rows[ids[1]]["progress"] is None
    assert {row["session_id"] for row in kept(store)["decisions"]} == whole


def erase(store: SqlStore, session_id: str) -> None:
    """Cover a session by an erasure, and let its payloads go."""
    head = store.head(session_id)
    assert head is not None
    payload = b'{"at":1,"actor":{"kind":"user","name":""},"reason":""}'
    draft = Draft(ERASED_TAG, payload, "session/1", f"erasure of {session_id}", "user")
    batch = behind(head, draft)
    store.append([batch])
    changed(
        store,
        "UPDATE events SET data = NULL, salt = NULL "
        f"WHERE session_id = '{session_id}' AND type <> '{ERASED_TAG}'",
    )


def test_what_was_erased_is_gone_from_every_projection(store: SqlStore) -> None:
    (session_id,) = recorded(store, golden("a_model_leads"))
    following(store).catch_up()
    assert all(kept(store)[name] for name in ("decisions", "sessions", "usage"))
    erase(store, session_id)
    (row,) = following(store).rows("sessions", None)
    assert (row["status"], row["intention"], row["provider"]) == ("erased", "", "")
    assert kept(store)["decisions"] == []
    assert kept(store)["usage"] == []
    assert kept(store) == from_zero(store)


def test_the_artifacts_of_an_erased_session_are_gone(store: SqlStore) -> None:
    former, newer = recorded(store, golden("one_plan_supersedes_another", "compiler"))
    rows = [*following(store).rows("artifacts", None)]
    assert [(row["session_id"], row["standing"]) for row in rows] == [
        (former, "superseded"),
        (newer, "approved"),
    ]
    erase(store, former)
    (row,) = following(store).rows("artifacts", None)
    assert row["session_id"] == newer
    (row,) = following(store).rows("artifacts", None, "in_force")
    assert row["standing"] == "approved"
    assert kept(store) == from_zero(store)


@pytest.mark.parametrize("rebuilds", [False, True])
def test_what_was_erased_as_it_was_folded_stays_erased(store: SqlStore, rebuilds: bool) -> None:
    following(store).catch_up()
    (session_id,) = recorded(store, golden("a_model_leads"))
    erased: list[str] = []

    def rows(read: Read) -> tuple[Row, ...]:
        if not erased:
            erased.append(session_id)
            erase(store, session_id)
        return DECISIONS.rows(read)

    late = with_decisions(store, replace(DECISIONS, rows=rows))
    if rebuilds:
        late.rebuild()
    else:
        late.follow()
    assert erased
    assert kept(store)["decisions"] == []
    assert kept(store)["usage"] == []
    (row,) = following(store).rows("sessions", None)
    assert (row["status"], row["intention"]) == ("erased", "")
    assert kept(store) == from_zero(store)


def test_a_session_of_a_newer_program_waits_for_it(store: SqlStore) -> None:
    ids = recorded(store, goldens()[:2])
    unknown = Draft("clarification.to_come.v9", b"{}", "clarification/9", "from the future", "user")
    (head,) = store.append(
        [
            AppendBatch(
                session_id=new_id(77),
                project="house",
                workflow="clarification",
                expected_version=0,
                expected_hash=b"",
                events=(unknown,),
            )
        ]
    )
    for _ in range(2):
        rows = list(following(store).rows("sessions", None))
        assert [row["session_id"] for row in rows] == ids
        assert SqlFollowing(store).counts()["waiting"] > 0
    following(store).rebuild()
    assert SqlFollowing(store).marks("sessions", head.session_id, "~") == {}
    assert SqlFollowing(store).counts()["waiting"] > 0
    assert len(list(newer(store).rows("sessions", None))) == 3
    assert SqlFollowing(store).counts()["waiting"] == 0


def newer(store: SqlStore) -> Projector:
    """A program that reads every tag, as the answer to an unknown one."""
    codecs = {name: Codec(workflow.decider) for name, workflow in WORKFLOWS.items()}

    def decoder(workflow: Any) -> Any:
        def decode(one: Any) -> Any:
            known = one.type != "clarification.to_come.v9"
            return codecs[workflow.name].decode(one if known else goldens()[0][0])

        return decode

    return Projector(
        SqlFollowing(store),
        (SESSIONS, DECISIONS, USAGE),
        ProjectionReader(WORKFLOWS, decoder, misplaced),
    )


def test_a_bug_in_a_fold_hides_its_own_session_only(store: SqlStore) -> None:
    ids = recorded(store, golden("keyword_skips_the_generic_question") * 2)
    clarification = WORKFLOWS["clarification"]

    def evolve(state: Any, event: Any) -> Any:
        if type(event).__name__ == "ClarificationAnswerAccepted":
            raise RuntimeError("a bug")
        return clarification.decider.evolve(state, event)

    workflows = {"clarification": altered(clarification, evolve=evolve)}
    codec = Codec(clarification.decider)
    buggy = ProjectionReader(workflows, lambda _: codec.decode, misplaced)
    projections = Projector(SqlFollowing(store), (SESSIONS, DECISIONS, USAGE), buggy)
    rows = list(projections.rows("sessions", None))
    assert [row["session_id"] for row in rows] == ids
    assert {row["status"] for row in rows} == {"faulted"}
    assert "RuntimeError: a bug" in rows[0]["intention"]
