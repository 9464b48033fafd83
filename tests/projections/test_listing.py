"""Long lists read what they show: the sessions of a day, the decisions in force, items."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from preflights_es.kernel.events import INT_MAX
from preflights_es.projections.decisions import filter_decisions_in_force
from preflights_es.projections.sessions import SESSIONS
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from tests.projections.given import address, asked, changed, following, kept, recorded, tampered
from tests.projections.recording import Recording, golden, new_id, several
from tests.projections.test_projector import erase
from tests.store.given import sql

DAY: Final = 86_400_000_000  # microseconds
ONE: Final = golden("keyword_skips_the_generic_question")


class Days:
    """A clock that is set by hand; it stands still."""

    def __init__(self) -> None:
        self.day = 0

    def __call__(self) -> int:
        return self.day * DAY


@pytest.fixture
def days(store: SqlStore) -> Days:
    store._now = made = Days()
    return made


def of_days(store: SqlStore, days: Days, *when: Sequence[int]) -> list[str]:
    """Sessions, each recorded on the given days, one Input a day."""
    made = []
    for number, its_days in enumerate(when, 1):
        one = Recording(ONE[0], number)
        for day in its_days:
            batch = one.next()
            assert batch is not None, "the golden session has as many Inputs"
            days.day = day
            one.appended(store.append([batch])[0])
        made.append(one.session_id)
    return made


def within(
    store: SqlStore, since: int | None, until: int | None, project: str = "house"
) -> list[str]:
    """Ids of the sessions that are read for a time, in days."""
    low, high = (None if day is None else day * DAY for day in (since, until))
    return [head.session_id for head in following(store).within(project, low, high)]


# 1. A day ------------------------------------------------------------------------------------


def test_of_a_day_only_sessions_with_events_around_it_are_read(store: SqlStore, days: Days) -> None:
    one, two, three = of_days(store, days, (1, 2), (2, 4), (5,))
    assert within(store, 2, 2) == [one, two]
    assert within(store, 3, 3) == [two]
    assert within(store, 5, None) == [three]
    assert within(store, None, 1) == [one]
    assert within(store, 6, 7) == []
    assert within(store, None, None) == [one, two, three]
    assert within(store, 1, 5, project="another") == []


def test_a_clock_that_stepped_back_hides_no_event(store: SqlStore, days: Days) -> None:
    one, two = of_days(store, days, (9, 3), (3, 9))
    assert within(store, 9, 9) == within(store, 3, 3) == [one, two]
    assert within(store, 4, 4) == [one, two], "there may be events between"
    (row, _) = following(store).rows("sessions", "house")
    assert (row["began_at"], row["moved_at"]) == (3 * DAY, 9 * DAY)


def test_what_was_appended_since_the_last_fold_is_among_them(store: SqlStore, days: Days) -> None:
    of_days(store, days, (1,))
    assert within(store, 5, 5) == []
    days.day = 5
    (late,) = recorded(store, ONE, first=2)
    assert within(store, 5, 5) == [late]


def test_damage_and_the_future_are_among_them_at_any_time(store: SqlStore, days: Days) -> None:
    one, two, three = of_days(store, days, (1,), (1,), (1,))
    tampered(store, f"UPDATE events SET data = '{{}}' WHERE session_id = '{two}'")
    changed(store, f"UPDATE heads SET workflow = 'of a newer one' WHERE session_id = '{three}'")
    assert within(store, 5, 5) == [two, three]
    assert within(store, 1, 1) == [one, two, three]


def test_with_rows_of_another_version_every_session_is_read(store: SqlStore, days: Days) -> None:
    both = of_days(store, days, (1,), (2,))
    following(store).catch_up()
    changed(
        store, f"UPDATE projections SET version = {SESSIONS.version + 1} WHERE name = 'sessions'"
    )
    assert within(store, 2, 2) == both
    assert [row for _, row in following(store).newest("house")] == [None, None]


def test_a_rebuild_that_begins_meanwhile_hides_no_session(tmp_path: Path) -> None:
    with closing(sql(tmp_path)) as store:
        count = 1_200  # more than one page
        store._now = Days()
        recorded(store, [ONE[0][:1]] * count)
        read = following(store).within("house", 0, 0)
        found = [next(read).session_id]
        SqlFollowing(store).begin("sessions", SESSIONS.version)
        found += [head.session_id for head in read]
        assert found == [new_id(number) for number in range(1, count + 1)]


# 2. Newest first -----------------------------------------------------------------------------


def test_the_newest_come_first_each_with_its_stored_fields(store: SqlStore) -> None:
    recorded(store, several())
    rows = {row["session_id"]: row for row in following(store).rows("sessions", None)}
    found = list(following(store).newest(None))
    assert [head for head, _ in found] == list(store.heads(None))
    assert {head.session_id: row for head, row in found} == rows
    assert [head for head, _ in following(store).newest("house")] == list(store.heads("house"))
    assert list(following(store).newest("another")) == []


# 3. What is chosen ---------------------------------------------------------------------------


def test_what_is_in_force_is_the_same_whether_all_rows_are_read_or_not(store: SqlStore) -> None:
    recorded(store, several())
    projections = following(store)
    everything = list(projections.rows("decisions", "house"))
    times = {row[name] for row in everything for name in ("accepted_at", "superseded_at")} - {None}
    assert times
    for moment in [None, *(time + step for time in times for step in (-1, 0, 1))]:
        then = INT_MAX if moment is None else moment
        chosen = list(projections.rows("decisions", "house", "in_force", then))
        assert list(filter_decisions_in_force(chosen, moment)) == list(
            filter_decisions_in_force(everything, moment)
        )
        assert len(chosen) < len(everything)


def test_sessions_that_are_no_more_are_chosen_alone(store: SqlStore) -> None:
    recorded(store, ONE * 3)
    bad = f"UPDATE events SET data = '{{}}' WHERE session_id = '{new_id(2)}'"
    tampered(store, bad)
    (row,) = following(store).rows("sessions", "house", "unfolded")
    assert (row["session_id"], row["status"]) == (new_id(2), "damaged")


@pytest.mark.parametrize("name", ["decisions", "sessions"])
def test_a_choice_is_answered_from_an_index_in_its_order(tmp_path: Path, name: str) -> None:
    chosen = {"decisions": "accepted_at <= 1", "sessions": "moved_at >= 1 AND began_at <= 1"}
    query = (
        f"SELECT session_id FROM projected_{name} WHERE project = 'house' AND session_id > '' "
        f"AND {chosen[name]} ORDER BY session_id LIMIT 9"
    )
    with closing(sql(tmp_path)) as store:
        recorded(store, ONE)
        following(store).catch_up()
        (step,) = asked(store, f"EXPLAIN QUERY PLAN {query}")
    assert f"USING COVERING INDEX projected_{name}_by_project" in step[-1]


# 4. Older rows -------------------------------------------------------------------------------


def test_rows_of_an_older_version_are_folded_again(store: SqlStore, days: Days) -> None:
    one, _ = of_days(store, days, (9, 3), (1,))
    following(store).catch_up()
    changed(
        store,
        f"UPDATE projections SET version = {SESSIONS.version - 1} WHERE name = 'sessions'",
        "UPDATE projected_sessions SET began_at = 0, moved_at = 0",
    )
    with closing(SqlStore(address(store), days, store._salt)) as again:
        assert within(again, 9, 9) == [one]
        assert [head.session_id for head in again.heads("house")] == [new_id(2), one]


# 5. Items ------------------------------------------------------------------------------------


def test_a_note_gives_a_row_an_item_with_its_place_until_it_is_erased(store: SqlStore) -> None:
    recorded(store, golden("a_model_leads"))
    assert list(following(store).rows("items", None)) == [], "it holds nothing"
    (session_id,) = recorded(store, golden("items_are_filed_by_hand", "extraction"), first=2)
    _, task, event = following(store).rows("items", None)
    head = store.head(session_id)
    assert head is not None
    assert (task["number"], task["type"], task["status"]) == (2, "task", "open")
    assert (task["title"], task["importance"], task["energy"]) == ("Write it", None, "creative")
    assert (task["duration_min"], task["duration_max"], task["due"]) == (5, None, "2026-12-01")
    assert (event["type"], event["title"], event["start_time"]) == ("event", "Record it", "10:00")
    assert event["date"] == "2026-12-01"
    for row in (task, event):
        assert (row["version"], row["hash"]) == (head.version, head.hash.hex())
    assert kept(store)["items"]
    erase(store, session_id)
    assert list(following(store).rows("items", None)) == []
