"""The rows of projections are compared with the log, and forged rows are found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pytest
from msgspec.structs import replace

from preflights_es.history.verification import walked
from preflights_es.kernel.ports import Draft, KeptRows, Stream
from preflights_es.runtime import derived_rows
from preflights_es.runtime.derived_rows import ProjectionCheck
from preflights_es.runtime.projector import Projector
from preflights_es.store.sql import SqlStore, temporary_log
from preflights_es.store.sql_projections import SqlComparing, SqlFollowing
from preflights_es.use.process import build_projection_reader, projections
from tests.each import each
from tests.fixed import Clock
from tests.projections.given import changed, following, recorded, tampered
from tests.projections.recording import Recording, golden, goldens, new_id
from tests.store.given import Salt

DIFFER: Final = "its rows are not what its events fold to"


@pytest.fixture
def store(store: SqlStore) -> SqlStore:
    """A log of accepted decisions that every projection has read, in every engine."""
    recorded(store, golden("keyword_skips_the_generic_question") * 3)
    recorded(store, golden("a_model_leads"), first=10)
    following(store).catch_up()
    return store


class Looked(SqlFollowing):
    """What projections keep, where something happens before each look."""

    def __init__(self, store: SqlStore, meanwhile: Any) -> None:
        super().__init__(store)
        self._meanwhile = meanwhile
        self.looks = 0

    def marked_rows(self, name: str, ids: Sequence[str]) -> dict[str, Any]:
        for session_id in ids:
            self._meanwhile(name, session_id)
        return super().marked_rows(name, ids)

    def kept(self, name: str, session_id: str) -> KeptRows:
        self.looks += 1
        self._meanwhile(name, session_id)
        return super().kept(name, session_id)


@contextmanager
def check(store: SqlStore, looked: SqlFollowing | None = None) -> Iterator[ProjectionCheck]:
    """What compares the projections of a log with its sessions."""
    log = SqlFollowing(store)

    def again(session_id: str) -> Stream | None:
        head = store.head(session_id)
        return log.stream(head) if head else None

    with temporary_log(Clock(), Salt()) as made:
        yield ProjectionCheck(
            looked or log, SqlFollowing(made), projections(), build_projection_reader(), again
        )


def found(store: SqlStore, looked: SqlFollowing | None = None) -> list[tuple[str, str, str]]:
    """Everything, as `audit verify --all` finds it."""
    with check(store, looked) as checks:
        assert walked(store, store.heads(None), None, checks.look).broken == ()
        both = (*checks.differences(), *checks.strays(None))
    return [(one.projection, one.session_id, one.found) for one in both]


def strays(store: SqlStore, project: str) -> list[str]:
    """Sessions that have rows in a project that does not have them."""
    with check(store) as checks:
        return [one.session_id for one in checks.strays(project)]


def test_of_many_sessions_one_that_differs_is_found_wherever_it_lies(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are written in portions, and compared in pages: where they end is of no matter."""
    monkeypatch.setattr(derived_rows, "EVENTS", 30)
    ids = recorded(store, golden("keyword_skips_the_generic_question") * 40, first=100)
    following(store).catch_up()
    assert found(store) == []
    for session_id in (ids[0], ids[23], ids[-1]):
        changed(store, f"DELETE FROM projected_memory WHERE session_id = '{session_id}'")
    assert found(store) == [("memory", one, DIFFER) for one in (ids[-1], ids[23], ids[0])]


@pytest.mark.slow("fuzzing")
def test_what_was_folded_is_what_the_log_folds_to(store: SqlStore) -> None:
    recorded(store, goldens(), first=1_000)
    assert found(store) == [], "sessions that are not folded yet are no damage"
    following(store).catch_up()
    assert found(store) == []


ONE: Final = new_id(1)
FORGED: Final = {
    "UPDATE projected_decisions SET decided = replace(decided, 'OAuth', 'SAML')": "decisions",
    "UPDATE projected_decisions SET accepted_at = accepted_at + 1": "decisions",
    "UPDATE projected_decisions SET standing = 'proposed', accepted_at = NULL": "decisions",
    "UPDATE projected_decisions SET project = 'elsewhere'": "decisions",
    "UPDATE projected_decisions SET decided = '{'": "decisions",
    "DELETE FROM projected_decisions": "decisions",
    "UPDATE projected_sessions SET status = 'ready'": "sessions",
    "DELETE FROM projected_sessions": "sessions",
}


@each("statement", FORGED)
def test_a_forged_row_is_found_and_its_session_named(store: SqlStore, statement: str) -> None:
    changed(store, f"{statement} WHERE session_id = '{ONE}'")
    assert found(store) == [(FORGED[statement], ONE, DIFFER)]
    following(store).rebuild([FORGED[statement]])
    assert found(store) == []


def test_a_row_of_a_call_that_was_never_made_is_found(store: SqlStore) -> None:
    led = new_id(10)
    changed(
        store,
        "INSERT INTO projected_usage SELECT session_id, 999, project, workflow, call, provider, "
        "model, prompt, at, attempt, outcome, judged, fell_back, 7, 7, 7 FROM projected_usage "
        f"WHERE session_id = '{led}' AND version = (SELECT min(version) FROM projected_usage)",
        "UPDATE projected_usage SET input_tokens = 0 WHERE version < 999",
    )
    assert found(store) == [("usage", led, DIFFER)]


def test_rows_of_a_session_that_the_log_does_not_have_are_found(store: SqlStore) -> None:
    other = new_id(77)
    changed(
        store, f"UPDATE projected_decisions SET session_id = '{other}' WHERE session_id = '{ONE}'"
    )
    assert found(store) == [
        ("decisions", ONE, DIFFER),
        ("decisions", other, "it has rows, and the log has no such session"),
    ]
    assert strays(store, "house") == [other]
    assert strays(store, "elsewhere") == []
    changed(store, "UPDATE projected_decisions SET project = 'elsewhere'")
    assert len(strays(store, "elsewhere")) == len(store.heads(None))


def test_a_mark_that_would_keep_a_session_from_being_folded_is_found(store: SqlStore) -> None:
    version = next(head.version for head in store.heads(None) if head.session_id == ONE)
    mark = f"WHERE session_id = '{ONE}' AND projection = 'decisions'"
    changed(store, f"UPDATE marks SET version = version + 100 {mark}")
    said = f"it is marked as folded up to event {version + 100}, and has {version}"
    assert found(store) == [("decisions", ONE, said)]
    changed(store, f"UPDATE marks SET version = 2 {mark}")
    said = "it was folded up to event 2 alone, and no row of 'outbox' asks to fold the rest"
    assert found(store) == [("decisions", ONE, said)]
    changed(store, f"DELETE FROM marks {mark}")
    said = "it was never folded, and no row of 'outbox' asks to fold the rest"
    assert found(store) == [("decisions", ONE, said)]


def test_what_the_next_reader_folds_anyway_is_not_found(store: SqlStore) -> None:
    changed(
        store,
        f"UPDATE marks SET version = 2 WHERE session_id = '{ONE}'",
        f"DELETE FROM projected_decisions WHERE session_id = '{ONE}'",
        f"INSERT INTO outbox VALUES ('{ONE}', 3)",
    )
    assert found(store) == []
    changed(store, "UPDATE projections SET version = 99")
    changed(store, "UPDATE projected_sessions SET status = 'whatever a newer program says'")
    assert found(store) == []


SAML: Final = "UPDATE projected_decisions SET decided = replace(decided, 'OAuth', 'SAML')"


def test_no_row_is_read_that_the_rebuild_under_way_did_not_make(store: SqlStore) -> None:
    changed(store, SAML, "UPDATE projections SET complete = 0 WHERE name = 'decisions'")
    with check(store) as checks:
        assert walked(store, store.heads(None), None, checks.look).broken == ()
        assert [*checks.differences()] == []
        assert checks.left_out == ("the projection decisions, which is being rebuilt",)
    assert SqlComparing(store).rows("house", ["oauth"], 9) == []
    rows = list(following(store).rows("decisions", None))
    assert rows
    assert not any("SAML" in row["decided"] for row in rows)
    assert SqlComparing(store).rows("house", ["oauth"], 9)
    with check(store) as checks:
        assert (
            walked(store, store.heads(None), None, checks.look).broken,
            [*checks.differences()],
        ) == ((), [])
        assert checks.left_out == ()


def test_what_another_version_keeps_is_named(store: SqlStore) -> None:
    changed(store, SAML, "UPDATE projections SET version = 0 WHERE name = 'decisions'")
    with check(store) as checks:
        assert walked(store, store.heads(None), None, checks.look).broken == ()
        assert [*checks.differences()] == []
        assert checks.left_out == ("the projection decisions, which is of another version",)


def test_rows_that_were_there_before_their_projection_are_thrown_away(store: SqlStore) -> None:
    changed(store, "DELETE FROM projections", SAML)
    rows = list(following(store).rows("decisions", None))
    assert rows
    assert not any("SAML" in row["decided"] for row in rows)
    assert found(store) == []


def test_a_session_of_the_future_is_passed_over(store: SqlStore) -> None:
    head = next(head for head in store.heads(None) if head.session_id == ONE)
    future = Draft("clarification.voted.v9", b'{"at":1}', "clarification/9", "future", "user")
    one = Recording(golden("keyword_skips_the_generic_question")[0], 1).next()
    assert one is not None
    store.append(
        [replace(one, expected_version=head.version, expected_hash=head.hash, events=(future,))]
    )
    changed(store, f"DELETE FROM projected_decisions WHERE session_id = '{ONE}'")
    following(store).catch_up()
    assert found(store) == []


def test_words_about_trouble_may_be_those_of_another_program(store: SqlStore) -> None:
    data = b'{"at":'
    bad = Draft("session.abandoned.v1", data, "clarification/1", "bad", "user")
    head = next(head for head in store.heads(None) if head.session_id == ONE)
    one = Recording(golden("keyword_skips_the_generic_question")[0], 1).next()
    assert one is not None
    store.append(
        [replace(one, expected_version=head.version, expected_hash=head.hash, events=(bad,))]
    )
    following(store).catch_up()
    changed(store, f"UPDATE projected_sessions SET intention = 'x' WHERE session_id = '{ONE}'")
    assert found(store) == []
    changed(store, f"UPDATE projected_sessions SET status = 'ready' WHERE session_id = '{ONE}'")
    assert found(store) == [("sessions", ONE, DIFFER)]


def test_who_records_and_folds_meanwhile_is_no_forger(store: SqlStore) -> None:
    growing = Recording(golden("two_phases_without_a_keyword")[0], 50)

    def meanwhile(*_: str) -> None:
        """An append between reading a session and reading its rows; every other one is folded."""
        if (batch := growing.next()) is not None:
            growing.appended(store.append([batch])[0])
            if looked.looks % 2:
                following(store).catch_up()

    looked = Looked(store, lambda *_: None)
    meanwhile()
    looked = Looked(store, meanwhile)
    assert found(store, looked) == []
    assert looked.looks > 2, "it was looked at again"


def test_what_moves_between_two_looks_is_looked_at_until_it_rests(store: SqlStore) -> None:
    steps = ["- 3", "+ 1", "+ 1", "+ 1"]

    def meanwhile(name: str, session_id: str) -> None:
        """Marks as no projector leaves them, each time others, and at last those that hold."""
        if (name, session_id) == ("sessions", ONE) and steps:
            step = steps.pop()
            changed(
                store,
                f"UPDATE marks SET version = version {step} "
                f"WHERE session_id = '{ONE}' AND projection = 'sessions'",
            )

    looked = Looked(store, meanwhile)
    assert found(store, looked) == []
    assert (steps, looked.looks) == ([], 3), "until it rests"


def test_a_projector_keeps_what_holds(store: SqlStore) -> None:
    Projector(SqlFollowing(store), projections(), build_projection_reader()).rebuild()
    assert found(store) == []
    tampered(store, "UPDATE events SET decider = 'x' WHERE version = 1")
    with check(store) as checks:
        seen = walked(store, store.heads(None), None, checks.look)
        assert len(seen.broken) == len(store.heads(None))
        assert list(checks.differences()) == [], "of what does not verify, nothing is said"
