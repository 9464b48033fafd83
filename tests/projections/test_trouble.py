"""Trouble stays where it is: one session that cannot be folded, or kept, hides no other."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from preflights_cli.advice import error_with_advice
from preflights_es.kernel.errors import ProjectionDamaged
from preflights_es.kernel.ports import Row, Stored
from preflights_es.projections.decisions import DECISIONS, decode_patch_row
from preflights_es.projections.projection import Projection, Read
from preflights_es.runtime.projector import Projector
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.use.process import build_projection_reader, projections
from tests.each import each
from tests.projections.given import NAMES, changed, following, kept, recorded, tampered
from tests.projections.recording import golden, new_id
from tests.store.given import resealed, sql

BAD: Final = new_id(2)
HUGE: Final = str(10**30).encode()


@pytest.fixture
def store(store: SqlStore) -> SqlStore:
    """Three sessions that are not folded yet, in every engine."""
    recorded(store, golden("a_model_leads") * 3)
    return store


def failing(rows: Callable[[Read], tuple[Row, ...]]) -> tuple[Projection, ...]:
    """All projections, of which the decisions say something else of one session."""

    def said(read: Read) -> tuple[Row, ...]:
        return rows(read) if read.head.session_id == BAD else DECISIONS.rows(read)

    bad = replace(DECISIONS, rows=said)
    return tuple(bad if one.name == bad.name else one for one in projections())


def _raises(_read: Read) -> tuple[Row, ...]:
    raise OverflowError("date value out of range")


def _with(column: int, value: Any) -> Callable[[Read], tuple[Row, ...]]:
    def rows(read: Read) -> tuple[Row, ...]:
        made = [list(row) for row in DECISIONS.rows(read)]
        for row in made:
            row[column] = value
        return tuple(map(tuple, made))

    return rows


FAILING: Final = {
    "a bug": _raises,
    "a number that fits no column": _with(6, 10**30),
    "a text where a number belongs": _with(6, "yesterday"),
    "a text that PostgreSQL does not take": _with(5, "Data\0base"),
    "nothing where something belongs": _with(3, None),
    "a row that is too long": lambda read: tuple((*row, 1) for row in DECISIONS.rows(read)),
}


@pytest.mark.parametrize("rows", FAILING.values(), ids=FAILING)
@pytest.mark.parametrize("is_rebuilt", [False, True], ids=["followed", "rebuilt"])
def test_a_session_whose_rows_cannot_be_kept_is_in_trouble_and_alone(
    store: SqlStore, rows: Callable[[Read], tuple[Row, ...]], is_rebuilt: bool
) -> None:
    projector = Projector(SqlFollowing(store), failing(rows), build_projection_reader())
    if is_rebuilt:
        projector.rebuild()
    projector.catch_up()
    seen = kept(store)
    assert [(row["session_id"], row["status"]) for row in seen["sessions"]] == [
        (new_id(1), "accepted"),
        (BAD, "faulted"),
        (new_id(3), "accepted"),
    ]
    assert {row["session_id"] for row in seen["decisions"]} == {new_id(1), new_id(3)}
    log = SqlFollowing(store)
    assert log.counts()["waiting"] == 0
    assert {name: len(log.marks(name, "", "~")) for name in NAMES} == dict.fromkeys(NAMES, 3)


def rewritten(store: SqlStore, change: Callable[[bytes], bytes]) -> None:
    """Another content in one session, its chain made anew, as an older program let it in."""
    head = store.head(BAD)
    assert head is not None
    events: list[Stored] = []
    for one in store.read(BAD):
        assert one.data is not None
        events.append(replace(one, data=change(one.data)))
    anew = resealed(events)
    tampered(
        store,
        *(
            f"UPDATE events SET data = '{text(one.data)}', digest = {binary(store, one.digest)}, "
            f"hash = {binary(store, one.hash)} WHERE session_id = '{BAD}' "
            f"AND version = {one.version}"
            for one in anew
        ),
        f"UPDATE heads SET head_hash = {binary(store, anew[-1].hash)} WHERE session_id = '{BAD}'",
    )


def text(data: bytes | None) -> str:
    assert data is not None
    return data.decode().replace("'", "''").replace("%", "%%")


def binary(store: SqlStore, value: bytes) -> str:
    is_postgres = store.database.dialect == "postgresql"
    return f"'\\x{value.hex()}'" if is_postgres else f"x'{value.hex()}'"


@pytest.mark.parametrize("field", ["at", "input_tokens", "latency_ms"])
def test_a_number_of_an_older_program_leaves_out_one_session(store: SqlStore, field: str) -> None:
    wanted = re.compile(rf'"{field}":-?[0-9]+'.encode())
    rewritten(store, lambda data: wanted.sub(f'"{field}":'.encode() + HUGE, data))
    rows = {row["session_id"]: row for row in following(store).rows("sessions", None)}
    assert {id_: row["status"] for id_, row in rows.items()} == {
        new_id(1): "accepted",
        new_id(3): "accepted",
    }
    assert {row["session_id"] for row in kept(store)["decisions"]} == {new_id(1), new_id(3)}
    assert {row["session_id"] for row in kept(store)["usage"]} >= {new_id(1), new_id(3)}


@pytest.mark.parametrize(
    "value",
    ["version = 'many'", "version = 1e300", "project = x'ff'", "workflow = 7", "head_hash = 1"],
)
def test_a_head_of_the_wrong_kind_hides_no_other_session(tmp_path: Path, value: str) -> None:
    with closing(sql(tmp_path)) as store:
        recorded(store, golden("a_model_leads") * 3)
        changed(store, f"UPDATE heads SET {value} WHERE session_id = '{BAD}'")
        for again in (following(store).catch_up, following(store).rebuild):
            again()
            seen = {row["session_id"] for row in following(store).rows("decisions", None)}
            assert seen >= {new_id(1), new_id(3)}


@pytest.mark.parametrize(
    "value",
    ["data = 7", "data = x'ff'", "recorded_at = 'late'", "recorded_at = 1e300", "salt = 'salt'"],
)
def test_an_event_of_the_wrong_kind_is_damage_of_one_session(tmp_path: Path, value: str) -> None:
    with closing(sql(tmp_path)) as store:
        recorded(store, golden("a_model_leads") * 3)
        tampered(store, f"UPDATE events SET {value} WHERE session_id = '{BAD}'")
        rows = {row["session_id"]: row["status"] for row in following(store).rows("sessions", None)}
        assert rows == {new_id(1): "accepted", BAD: "damaged", new_id(3): "accepted"}
        for row in following(store).rows("usage", None):
            assert isinstance(row["at"], int)


# Forged rows ---------------------------------------------------------------------------------


WRONG_KIND: Final = (
    ("decisions", "accepted_at = 'now'"),
    ("decisions", "decided = x'ff'"),
    ("decisions", "decided = CAST(x'ff' AS TEXT)"),
    ("sessions", "progress = 'half'"),
    ("usage", "input_tokens = 'some'"),
)


def test_a_row_of_the_wrong_kind_is_named_with_what_mends_it(tmp_path: Path) -> None:
    with closing(sql(tmp_path)) as store:
        recorded(store, golden("a_model_leads"))
        following(store).catch_up()
        for table, value in WRONG_KIND:
            changed(store, f"UPDATE projected_{table} SET {value}")
            with pytest.raises(ProjectionDamaged) as raised:
                list(following(store).rows(table, None))
            mends = f"`preflights admin projections rebuild {table}`"
            assert mends in error_with_advice(raised.value)
            following(store).rebuild([table])
            assert list(following(store).rows(table, None))


@each("decided", ["", "{", "[]", "{}", '{"version":"x"}', "[" * 100_000])
def test_an_unreadable_patch_is_named_with_what_mends_it(store: SqlStore, decided: str) -> None:
    following(store).catch_up()
    changed(store, f"UPDATE projected_decisions SET decided = '{decided}'")
    for row in following(store).rows("decisions", None):
        with pytest.raises(ProjectionDamaged) as raised:
            decode_patch_row(row)
        assert "`preflights admin projections rebuild decisions`" in error_with_advice(raised.value)
