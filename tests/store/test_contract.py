"""The promises of `core.ports.Store`, held against every store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.kernel.errors import Conflict, DuplicateInput, LogDamaged, NumberTaken
from preflights_es.kernel.ports import AppendBatch, Arrival, Draft, Head, Numbered
from preflights_es.store.frozen import AT_ONCE, MATCHES_MAX
from preflights_es.store.memory import MemoryStore
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import (
    GENESIS,
    digest_payload,
    hash_event_link,
    stream_prefix,
    verified,
)
from tests.fixed import NOON, PROJECT, SECOND, Clock
from tests.postgres import Server
from tests.projections.given import changed
from tests.store.given import (
    DECISION,
    INPUT,
    WORKFLOW,
    AnyStore,
    Salt,
    batch,
    heard,
    opened,
    said,
    session_id,
    sql,
)

KINDS = ["memory", "sqlite", "postgres"]


@contextmanager
def kept(kind: str, request: pytest.FixtureRequest) -> Iterator[AnyStore]:
    """An empty store of a kind; a server is started where one is asked for."""
    if kind == "memory":
        yield MemoryStore(Clock(), Salt())
    elif kind == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path") / str(request.fixturename)
        folder.mkdir()
        with closing(sql(folder)) as made:
            yield made
    else:
        server: Server = request.getfixturevalue("server")
        with server.log() as url, closing(SqlStore(url, Clock(), Salt())) as made:
            yield made


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest) -> Iterator[AnyStore]:
    with kept(request.param, request) as made:
        yield made


@pytest.fixture
def source() -> AnyStore:
    """Where sessions come from; what any store reads is the same, as the first tests here say."""
    return MemoryStore(Clock(), Salt())


# 1. Appending and reading --------------------------------------------------------------------


def test_what_was_appended_is_read_back_byte_for_byte(store: AnyStore) -> None:
    (head,) = store.append([batch(1, said("hello", "a"), heard("hello"))])
    first, second = store.read(session_id(1))
    assert (first.session_id, first.project, first.workflow) == (session_id(1), PROJECT, WORKFLOW)
    assert (first.version, first.type, first.data) == (1, INPUT, b'{"text":"hello"}')
    assert (first.input_id, first.actor_kind, first.decider) == ("a", "user", "toy/1")
    assert (second.version, second.type, second.data) == (2, DECISION, b'{"text":"hello"}')
    assert (second.input_id, second.actor_kind, second.decider) == (None, None, "toy/1")
    assert head == Head(session_id(1), PROJECT, WORKFLOW, 2, second.hash)


def test_every_event_is_stamped_chained_to_the_one_before_and_in_order(store: AnyStore) -> None:
    head = opened(store, 1)
    first, second = store.read(session_id(1))
    assert (first.recorded_at, second.recorded_at) == (NOON + SECOND, NOON + SECOND)
    assert (first.salt, second.salt) == (bytes(15) + b"\1", bytes(15) + b"\2")
    store.append([batch(1, said("more", "b"), heard("more"), after=head)])
    events = store.read(session_id(1))
    previous = GENESIS
    for event in events:
        assert event.salt is not None
        assert event.data is not None
        assert event.digest == digest_payload(event.salt, event.data)
        previous = hash_event_link(previous, stream_prefix(session_id(1), PROJECT, WORKFLOW), event)
        assert event.hash == previous
    found = store.head(session_id(1))
    assert found is not None
    assert found.hash == previous
    assert [event.version for event in store.read(session_id(1), after=1)] == [2, 3, 4]
    assert store.read(session_id(1), after=4) == ()
    assert store.read(session_id(1), after=99) == ()


def test_a_payload_keeps_its_bytes(store: AnyStore) -> None:
    texts = ("é ü 漢字 🛫", r"\u0000\n\t\"", "'; DROP TABLE events; --", "%s ? :x", "x" * 1_000_000)
    payloads = [b'{"text":"%s"}' % text.encode() for text in texts]
    for n, data in enumerate((*payloads, b'{"z":1.0,"a":[1e2,0.10,-0],"m":"1"}'), 1):
        store.append([batch(n, Draft(INPUT, data, "toy/1", f"i{n}", "user"))])
        assert store.read(session_id(n))[0].data == data


def test_several_sessions_are_appended_at_once_and_give_heads_in_order(store: AnyStore) -> None:
    heads = store.append([batch(n, said("hello", f"i{n}"), heard("hello")) for n in (3, 1, 2)])
    assert [head.session_id for head in heads] == [session_id(n) for n in (3, 1, 2)]
    assert list(heads) == [store.head(session_id(n)) for n in (3, 1, 2)]


def test_appending_nothing_and_an_unknown_session_leave_nothing(store: AnyStore) -> None:
    assert store.append([]) == ()
    assert store.heads(None) == ()
    opened(store, 1)
    assert store.head(session_id(2)) is None
    assert store.read(session_id(2)) == ()


# 2. All or nothing ---------------------------------------------------------------------------


def _everything(store: AnyStore) -> object:
    heads = store.heads(None)
    return (
        heads,
        [store.read(head.session_id) for head in heads],
        store.open_calls(PROJECT),
        store.numbers(PROJECT),
        [store.session_of_input(input_id) for input_id in ("new-1", "new-2", "new-3")],
    )


def test_a_head_that_moved_is_a_conflict(store: AnyStore) -> None:
    old = opened(store, 1)
    store.append([batch(1, said("more", "b"), after=old)])
    before = _everything(store)
    with pytest.raises(Conflict) as caught:
        store.append([batch(1, said("late", "new-1"), after=old)])
    assert (caught.value.session_id, caught.value.expected) == (session_id(1), 2)
    assert _everything(store) == before


def test_what_does_not_follow_the_head_is_a_conflict_and_leaves_nothing(store: AnyStore) -> None:
    head = opened(store, 1)
    ahead = Head(head.session_id, head.project, head.workflow, 7, head.hash)
    with pytest.raises(Conflict):
        store.append([batch(1, said("early", "new-1"), after=ahead)])
    with pytest.raises(Conflict):
        store.append([batch(2, said("early", "new-1"), after=ahead)])
    assert store.head(session_id(1)) == head
    assert store.head(session_id(2)) is None
    elsewhere = Head(head.session_id, head.project, head.workflow, head.version, bytes(32))
    with pytest.raises(Conflict):
        store.append([batch(1, said("forked", "new-1"), after=elsewhere)])
    assert store.head(session_id(1)) == head
    before = _everything(store)
    with pytest.raises(Conflict):
        store.append(
            [
                batch(1, said("left", "new-1"), after=head),
                batch(1, said("right", "new-2"), after=head),
            ]
        )
    assert _everything(store) == before
    with pytest.raises(Conflict):
        store.append([batch(1, said("again", "new-1"))])
    assert _everything(store) == before


@pytest.mark.parametrize("order", [(2, 1), (1, 2)])
def test_a_conflict_in_a_batch_leaves_nothing(store: AnyStore, order: tuple[int, int]) -> None:
    opened(store, 1)
    before = _everything(store)
    batches = {
        1: batch(1, said("again", "new-1"), opens=("call",)),
        2: batch(2, said("new", "new-2"), opens=("call",), holds=7),
    }
    with pytest.raises(Conflict):
        store.append([batches[n] for n in order])
    assert _everything(store) == before


@pytest.mark.parametrize("is_first", [True, False])
def test_a_batch_without_events_holds_a_session_still(store: AnyStore, is_first: bool) -> None:
    held = opened(store, 2)
    guard = batch(2, after=held)
    other = batch(1 if is_first else 3, said("new", "new-1"))
    assert store.append([guard, other])[0] == held == store.head(held.session_id)
    store.append([batch(2, said("again", "new-2"), after=held)])
    before = _everything(store)
    with pytest.raises(Conflict):
        store.append([batch(4, said("late", "new-3")), guard])
    assert _everything(store) == before


def test_an_input_is_recorded_once(store: AnyStore) -> None:
    head = opened(store, 1)
    (second,) = store.append([batch(2, said("hello", "x"), heard("hello"))])
    before = _everything(store)
    for again in (
        batch(1, said("again", "x"), after=head),
        batch(2, said("again", "x"), heard("again"), after=second),
        batch(3, said("new", "new-1"), heard("new"), said("again", "x")),
    ):
        with pytest.raises(DuplicateInput) as caught:
            store.append([again])
        assert caught.value.input_id == "x"
    assert _everything(store) == before


def test_an_input_cannot_stand_twice_in_one_append(store: AnyStore) -> None:
    with pytest.raises(DuplicateInput) as caught:
        store.append([batch(1, said("one", "new-1"), heard("one"), said("two", "new-1"))])
    assert caught.value.input_id == "new-1"
    with pytest.raises(DuplicateInput) as caught:
        store.append([batch(1, said("one", "new-1")), batch(2, said("two", "new-1"))])
    assert caught.value.input_id == "new-1"
    assert store.heads(None) == ()


def test_a_duplicate_in_one_batch_leaves_nothing_of_the_others(store: AnyStore) -> None:
    opened(store, 5)
    before = _everything(store)
    with pytest.raises(DuplicateInput):
        store.append([batch(4, said("new", "new-1"), holds=3), batch(6, said("old", "input-5"))])
    assert _everything(store) == before


def test_an_input_leads_to_its_session_and_decisions_have_no_id(store: AnyStore) -> None:
    store.append([batch(n, said("hello", f"i{n}"), heard("a"), heard("b")) for n in (1, 2)])
    assert [event.input_id for event in store.read(session_id(2))] == ["i2", None, None]
    assert store.session_of_input("i2") == session_id(2)
    assert store.session_of_input("i3") is None
    assert store.session_of_input("") is None


# 3. Numbers ----------------------------------------------------------------------------------


def test_a_number_belongs_to_one_session_of_a_project_at_a_time(store: AnyStore) -> None:
    store.append([batch(1, said("hello", "a"), holds=7)])
    before = _everything(store)
    with pytest.raises(NumberTaken) as caught:
        store.append([batch(2, said("hello", "new-1"), holds=7)])
    assert caught.value.number == 7
    assert _everything(store) == before
    with pytest.raises(NumberTaken):
        store.append([batch(n, said("hello", f"new-{n}"), holds=8) for n in (3, 4)])
    assert (_everything(store), store.numbers(PROJECT)) == (
        before,
        {Numbered("", 7): session_id(1)},
    )


def test_a_session_may_take_its_number_again_and_hold_several(store: AnyStore) -> None:
    (head,) = store.append([batch(1, said("hello", "a"), holds=7)])
    (head,) = store.append([batch(1, said("again", "b"), after=head, holds=7)])
    assert store.numbers(PROJECT) == {Numbered("", 7): session_id(1)}
    store.append([batch(1, said("renumbered", "c"), after=head, holds=9)])
    assert store.numbers(PROJECT) == {
        Numbered("", 7): session_id(1),
        Numbered("", 9): session_id(1),
    }


def test_projects_number_apart_and_nought_is_a_number(store: AnyStore) -> None:
    store.append([batch(1, said("hello", "a"), holds=0)])
    store.append([batch(2, said("hello", "b"), holds=0, project="garden")])
    store.append([batch(3, said("hello", "c"))])
    assert store.numbers(PROJECT) == {Numbered("", 0): session_id(1)}
    assert store.numbers("garden") == {Numbered("", 0): session_id(2)}
    assert store.numbers("attic") == {}


def test_folders_number_apart(source: AnyStore, store: AnyStore) -> None:
    def in_folders(first: int, number: int) -> list[AppendBatch]:
        places = enumerate(("docs/adr", "web/adr"), first)
        return [
            replace(batch(n, said("hello", f"i{n}")), number=Numbered(place, number))
            for n, place in places
        ]

    store.append(in_folders(1, 7))
    held = {Numbered("docs/adr", 7): session_id(1), Numbered("web/adr", 7): session_id(2)}
    assert store.numbers(PROJECT) == held
    with pytest.raises(NumberTaken):
        store.append([replace(batch(3, said("hello", "c")), number=Numbered("web/adr", 7))])
    source.append(in_folders(4, 8))
    more = {Numbered("docs/adr", 8): session_id(4), Numbered("web/adr", 8): session_id(5)}
    arrivals = [Arrival(source.read(id_), number=place) for place, id_ in more.items()]
    assert store.insert_new(arrivals)
    assert store.numbers(PROJECT) == held | more


# 4. Calls ------------------------------------------------------------------------------------


def _with_calls(store: AnyStore) -> Head:
    store.append([batch(1, said("hello", "a"), opens=("completion-1", "artifact-1"))])
    store.append([batch(2, said("hello", "b"), opens=("artifact-1",), project="garden")])
    head = store.head(session_id(1))
    assert head is not None
    return head


def test_a_claim_keeps_others_away_until_it_is_overdue(store: AnyStore) -> None:
    _with_calls(store)
    claim = (session_id(1), "completion-1")
    assert store.claim(*claim, "ada", now=100, until=200) == "taken"
    assert store.claim(*claim, "bob", now=150, until=250) == "held"
    assert store.claim(*claim, "bob", now=199, until=299) == "held"
    assert store.claim(*claim, "bob", now=200, until=300) == "overdue"
    assert store.claim(*claim, "ada", now=250, until=350) == "held"
    assert store.claim(*claim, "bob", now=250, until=350) == "taken"
    assert store.claimed_until(*claim) == 350


@pytest.mark.parametrize(
    ("again", "later"),
    [
        pytest.param(("taken", 150, 400), ("held", 300), id="the holder may renew it"),
        pytest.param(("overdue", 200, 300), ("held", 299), id="one's own is overdue as well"),
        pytest.param(("taken", 150, 150), ("overdue", 150), id="it may end at once"),
    ],
)
def test_a_claim_is_claimed_again_by_its_holder(
    store: AnyStore, again: tuple[str, int, int], later: tuple[str, int]
) -> None:
    _with_calls(store)
    claim = (session_id(1), "completion-1")
    assert store.claim(*claim, "ada", now=100, until=200) == "taken"
    what, now, until = again
    assert store.claim(*claim, "ada", now=now, until=until) == what
    what, now = later
    assert store.claim(*claim, "bob", now=now, until=500) == what


def test_only_the_holder_gives_a_claim_back_and_none_is_left_of_it(store: AnyStore) -> None:
    head = _with_calls(store)
    claim = (session_id(1), "completion-1")
    assert store.claim(*claim, "ada", now=100, until=200) == "taken"
    store.give_back(*claim, "ada")
    assert store.claim(*claim, "bob", now=101, until=200) == "taken"
    store.give_back(*claim, "ada")
    store.give_back(session_id(9), "completion-1", "bob")
    assert store.claim(*claim, "cyd", now=150, until=250) == "held"
    assert store.claim(*claim, "cyd", now=200, until=300) == "overdue"
    store.append([batch(1, said("done", "c"), after=head, closes=("completion-1",))])
    store.give_back(*claim, "cyd")
    assert (session_id(1), "completion-1") not in store.open_calls(PROJECT)


def test_open_calls_are_claimed_apart_and_no_others(store: AnyStore) -> None:
    head = _with_calls(store)
    assert store.claim(session_id(1), "completion-1", "ada", now=100, until=200) == "taken"
    assert store.claim(session_id(1), "artifact-1", "bob", now=100, until=200) == "taken"
    assert store.claim(session_id(2), "artifact-1", "cyd", now=100, until=200) == "taken"
    assert store.claim(session_id(1), "completion-9", "ada", now=100, until=200) == "not_open"
    assert store.claim(session_id(9), "completion-1", "ada", now=100, until=200) == "not_open"
    store.append([batch(1, said("done", "c"), after=head, closes=("completion-1",))])
    assert store.claim(session_id(1), "completion-1", "ada", now=100, until=200) == "not_open"


def test_a_call_is_open_in_its_project_until_it_is_closed(store: AnyStore) -> None:
    head = _with_calls(store)
    store.claim(session_id(1), "completion-1", "ada", now=100, until=200)
    assert store.head(session_id(1)) == head
    assert len(store.read(session_id(1))) == 1
    assert store.open_calls(PROJECT) == (
        (session_id(1), "artifact-1"),
        (session_id(1), "completion-1"),
    )
    assert store.open_calls("garden") == ((session_id(2), "artifact-1"),)
    assert store.open_calls("attic") == ()
    with pytest.raises(Conflict):
        store.append([batch(1, said("late", "c"), closes=("artifact-1",))])
    assert (session_id(1), "artifact-1") in store.open_calls(PROJECT)
    store.append([batch(1, said("done", "c"), after=head, closes=("artifact-1",))])
    assert store.open_calls(PROJECT) == ((session_id(1), "completion-1"),)
    assert store.open_calls("garden") == ((session_id(2), "artifact-1"),)


# 5. Finding ----------------------------------------------------------------------------------


def test_heads_come_newest_first(store: AnyStore) -> None:
    for n in (2, 5, 1, 4):
        opened(store, n)
    assert [head.session_id for head in store.heads(PROJECT)] == [
        session_id(n) for n in (5, 4, 2, 1)
    ]


def test_heads_are_limited_to_a_project_and_a_count(store: AnyStore) -> None:
    for n in range(1, 7):
        opened(store, n, project="garden" if n % 2 else PROJECT)
    assert [h.session_id for h in store.heads("garden", 2)] == [session_id(5), session_id(3)]
    assert [h.session_id for h in store.heads(None, 3)] == [session_id(n) for n in (6, 5, 4)]
    assert store.heads(PROJECT, 0) == ()
    assert len(store.heads(None, 99)) == 6
    assert store.heads("attic") == ()


def test_a_session_is_found_by_the_beginning_or_the_end_of_its_id(store: AnyStore) -> None:
    opened(store, 0xAB12)
    opened(store, 0xCD34)
    for typed in (session_id(0xAB12), "0000ab12", "0000ab12-", "00ab12", "ab12"):
        assert store.matching(typed) == (session_id(0xAB12),), typed
    for typed in ("7000", "b12", "", "AB12", "%ab12", "0000%", "____", "*b12"):
        assert store.matching(typed) == (), typed


def test_a_session_is_found_by_the_beginning_of_its_short_id(store: AnyStore) -> None:
    named = f"{session_id(1)[:-8]}6f3a91c2"
    store.append([replace(batch(1, said("hello", "input-1")), session_id=named)])
    assert store.matching("6f3a") == store.matching("6f3a91c") == (named,)
    assert store.matching("f3a9") == ()


def test_at_most_a_handful_of_matches_is_named_newest_first(store: AnyStore) -> None:
    for n in range(1, MATCHES_MAX + 4):
        opened(store, n)
    newest = [session_id(n) for n in range(MATCHES_MAX + 3, 3, -1)]
    assert list(store.matching("0000")) == newest


# 6. Taking over ------------------------------------------------------------------------------


def test_a_session_is_imported_byte_for_byte_and_goes_on(source: AnyStore, store: AnyStore) -> None:
    head = opened(source, 1)
    source.append([batch(1, said("more", "b"), heard("more"), after=head)])
    store.insert(source.read(session_id(1)))
    assert store.read(session_id(1)) == source.read(session_id(1))
    assert store.head(session_id(1)) == source.head(session_id(1))
    assert store.session_of_input("b") == session_id(1)
    (head,) = store.heads(None)
    store.append([batch(1, said("more", "c"), heard("more"), after=head)])
    verified(store.read(session_id(1)))
    with pytest.raises(DuplicateInput):
        store.append([batch(2, said("again", "input-1"))])


def test_events_that_do_not_follow_are_not_taken_over(source: AnyStore, store: AnyStore) -> None:
    head = opened(source, 1)
    store.insert(source.read(session_id(1)))
    source.append([batch(1, said("more", "b"), heard("more"), after=head)])
    for after in (0, 1, 3):
        with pytest.raises(Conflict) as caught:
            store.insert(source.read(session_id(1), after=after))
        assert (caught.value.session_id, caught.value.expected) == (session_id(1), after)
        assert store.head(session_id(1)) == head


def test_a_tail_of_another_history_is_not_taken_over(source: AnyStore, store: AnyStore) -> None:
    head = opened(source, 1)
    source.append([batch(1, said("more", "b"), heard("more"), after=head)])
    (mine,) = store.append([batch(1, said("else", "c"), heard("else"))])
    with pytest.raises(Conflict):
        store.insert(source.read(session_id(1), after=2))
    assert store.head(session_id(1)) == mine
    assert len(store.read(session_id(1))) == 2


def test_a_session_with_a_known_input_is_not_taken_over(source: AnyStore, store: AnyStore) -> None:
    source.append([batch(1, said("one", "fresh"), heard("one"), said("two", "known"))])
    store.append([batch(2, said("hello", "known"))])
    with pytest.raises(DuplicateInput) as caught:
        store.insert(source.read(session_id(1)))
    assert caught.value.input_id == "known"
    assert store.head(session_id(1)) is None
    assert store.read(session_id(1)) == ()
    assert store.session_of_input("fresh") is None


def test_calls_can_be_claimed_and_are_left_where_only_the_tail_is_taken_over(
    source: AnyStore, store: AnyStore
) -> None:
    head = opened(source, 1)
    store.insert(source.read(session_id(1)), open_calls=("artifact-1", "artifact-2"))
    assert store.open_calls(PROJECT) == (
        (session_id(1), "artifact-1"),
        (session_id(1), "artifact-2"),
    )
    assert store.claim(session_id(1), "artifact-1", "ada", now=100, until=200) == "taken"
    assert store.claim(session_id(1), "artifact-2", "ada", now=100, until=200) == "taken"
    (head,) = source.append([batch(1, said("more", "b"), heard("more"), after=head)])
    store.insert(source.read(session_id(1), after=2), open_calls=("artifact-2", "artifact-3"))
    calls = ((session_id(1), "artifact-2"), (session_id(1), "artifact-3"))
    assert store.open_calls(PROJECT) == calls
    assert store.claim(session_id(1), "artifact-2", "bob", now=150, until=250) == "held"
    source.append([batch(1, said("more", "c"), heard("more"), after=head)])
    store.insert(source.read(session_id(1), after=4))
    assert store.read(session_id(1)) == source.read(session_id(1))
    assert store.head(session_id(1)) == source.head(session_id(1))
    assert store.open_calls(PROJECT) == calls


def test_a_number_comes_along_unless_another_holds_it(source: AnyStore, store: AnyStore) -> None:
    opened(source, 1)
    opened(source, 2)
    store.append([batch(3, said("mine", "c"), holds=7)])
    store.insert(source.read(session_id(1)), number=Numbered("", 7))
    store.insert(source.read(session_id(2)), number=Numbered("", 8))
    assert store.numbers(PROJECT) == {
        Numbered("", 7): session_id(3),
        Numbered("", 8): session_id(2),
    }


def two(store: AnyStore, **of_the_first: Any) -> list[Arrival]:
    """Two sessions of a store on their way into another one, the second one with nothing else."""
    return [Arrival(store.read(session_id(1)), **of_the_first), Arrival(store.read(session_id(2)))]


def test_many_new_sessions_are_taken_over_byte_for_byte(source: AnyStore, store: AnyStore) -> None:
    """As many as several statements insert, in an order of their own, one of them long."""
    numbers = [*range(1, 5 * AT_ONCE + 8)]
    for number in numbers:
        opened(source, number, project="garden" if number % 3 else PROJECT)
    head = source.heads_of([session_id(5)])[session_id(5)]
    more = [said(f"more {n}", f"more-{n}") for n in range(2 * AT_ONCE + 3)]
    source.append([batch(5, *more, after=head, project=head.project)])
    arrivals = [Arrival(source.read(session_id(number))) for number in reversed(numbers)]
    assert store.insert_new(arrivals)
    for number in numbers:
        assert store.read(session_id(number)) == source.read(session_id(number))
    ids = [session_id(number) for number in numbers]
    assert store.heads_of(ids) == source.heads_of(ids)
    assert [*store.heads_of(ids)] != []
    assert store.session_of_input("more-7") == session_id(5)


def test_heads_are_found_by_ids_of_which_some_are_unknown(store: AnyStore) -> None:
    heads = [opened(store, number) for number in range(1, 5 * AT_ONCE + 3)]
    ids = [session_id(number) for number in range(5 * AT_ONCE + 5)]
    assert store.heads_of(ids) == {head.session_id: head for head in heads}
    assert store.heads_of([session_id(99_999)]) == {}
    assert store.heads_of([]) == {}


def test_new_sessions_bring_their_calls_and_numbers(source: AnyStore, store: AnyStore) -> None:
    opened(source, 1)
    opened(source, 2)
    store.append([batch(3, said("mine", "c"), holds=7)])
    calls = ("completion-1", "completion-2")
    assert store.insert_new(two(source, open_calls=calls, number=Numbered("", 7)))
    assert store.open_calls(PROJECT) == tuple((session_id(1), call) for call in calls)
    assert store.claim(session_id(1), "completion-1", "ada", now=100, until=200) == "taken"
    assert store.numbers(PROJECT) == {Numbered("", 7): session_id(3)}, "its holder here keeps it"
    opened(source, 4)
    assert store.insert_new([Arrival(source.read(session_id(4)), number=Numbered("", 8))])
    assert store.numbers(PROJECT) == {
        Numbered("", 7): session_id(3),
        Numbered("", 8): session_id(4),
    }


def test_no_new_session_is_taken_over_if_one_is_here(source: AnyStore, store: AnyStore) -> None:
    opened(source, 1)
    opened(source, 2)
    store.append([batch(1, said("another way", "c"))])
    before = store.read(session_id(1))
    assert not store.insert_new(two(source, number=Numbered("", 7)))
    assert store.heads_of([session_id(1), session_id(2)]).keys() == {session_id(1)}
    assert store.read(session_id(1)) == before
    assert store.read(session_id(2)) == ()
    assert store.numbers(PROJECT) == {}


def test_of_new_sessions_none_is_taken_over_where_an_input_is_known(
    source: AnyStore, store: AnyStore
) -> None:
    opened(source, 1)
    opened(source, 2)
    store.append([batch(3, said("hello", "input-2"))])
    assert not store.insert_new(two(source, open_calls=("call",)))
    assert not store.insert_new([two(source)[0]] * 2)
    assert store.heads_of([session_id(1), session_id(2)]) == {}
    assert store.open_calls(PROJECT) == ()
    assert store.session_of_input("input-1") is None


# 7. Kept -------------------------------------------------------------------------------------


def test_what_was_read_does_not_change_with_the_store(store: AnyStore) -> None:
    head = opened(store, 1)
    heads, events = store.heads(None), store.read(session_id(1))
    kept = (tuple(heads), tuple(events))
    store.append([batch(1, said("more", "b"), after=head)])
    assert (heads, events) == kept
    assert kept[0] != store.heads(None)
    assert kept[1] != store.read(session_id(1))


# 8. What logs of both engines tell besides ---------------------------------------------------


@pytest.fixture
def log(database: str) -> Iterator[SqlStore]:
    with closing(SqlStore(database, Clock(), Salt())) as made:
        yield made


def test_counts_and_checks_say_what_is_there(log: SqlStore) -> None:
    log.append([batch(1, said("hi", "a"), heard("hi"), opens=("call",))])
    opened(log, 2)
    assert log.counts() == {"sessions": 2, "events": 4, "open_calls": 1}
    log.check()


def test_sessions_are_found_by_the_tags_of_their_events(log: SqlStore) -> None:
    one, _ = opened(log, 1), opened(log, 2)
    other = said("more", "more")
    log.append([batch(1, replace(other, type="toy.refused.v1"), after=one)])
    assert log.sessions_with(["toy.refused.v1", "toy.unknown.v1"]) == {session_id(1)}
    assert log.sessions_with([other.type]) == {session_id(1), session_id(2)}
    assert log.sessions_with([]) == frozenset()


def test_a_head_that_was_set_back_is_found_by_the_next_append(log: SqlStore) -> None:
    head = opened(log, 1)
    first = "(SELECT hash FROM events WHERE version = 1)"
    changed(log, f"UPDATE heads SET version = 1, head_hash = {first}")
    back = log.head(session_id(1))
    assert back is not None
    assert back.version == 1
    for draft in (heard("again"), said("again", "b")):
        with pytest.raises(LogDamaged, match="event 2") as caught:
            log.append([batch(1, draft, after=back)])
        assert caught.value.version == 2
    assert log.read(session_id(1))[-1].hash == head.hash
