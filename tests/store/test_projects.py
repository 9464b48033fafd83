"""Names of repositories in a log that they share: each has its own, on every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest
from msgspec.structs import replace

from preflights_es.kernel.errors import Refused, StoreUnavailable
from preflights_es.kernel.text import NAME_MAX
from preflights_es.store.sql import Named, Projects, SqlStore
from tests.fixed import Clock
from tests.store.given import Salt, batch, heard, said

ONE, OTHER, THIRD = (f"root:{digit * 40}" for digit in "abc")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "log.db")
    url: str = request.getfixturevalue("empty_database")
    return url


@pytest.fixture
def store(place: str) -> Iterator[SqlStore]:
    with closing(SqlStore(place, Clock(), Salt())) as opened:
        yield opened


def recorded(store: SqlStore, project: str, count: int = 1) -> None:
    """Sessions of a project."""
    first = len(store.heads(None)) + 1
    for n in range(first, first + count):
        store.append(
            [replace(batch(n, said("add login", f"input {n}"), heard("x")), project=project)]
        )


def test_the_first_repository_has_the_plain_name_and_keeps_it(store: SqlStore) -> None:
    projects = Projects(store)
    assert projects.named("shop", ONE) == Named("shop", is_new=True)
    assert projects.named("shop", OTHER) == Named("shop-bbbbbbbb", is_new=True)
    for _ in range(2):
        assert projects.named("shop", ONE) == Named("shop")
        assert projects.named("shop", OTHER) == Named("shop-bbbbbbbb")
    assert projects.named("till", OTHER) == Named("till", is_new=True)


def test_it_keeps_the_sessions_that_bore_the_name_before(store: SqlStore) -> None:
    recorded(store, "shop", 3)
    recorded(store, "till")
    assert Projects(store).named("shop", ONE) == Named("shop", is_new=True, sessions=3)
    assert Projects(store).named("shop", ONE) == Named("shop")
    assert Projects(store).named("shop", OTHER).sessions == 0


def test_identities_that_begin_alike_have_longer_names(store: SqlStore) -> None:
    projects = Projects(store)
    alike = [f"root:{'a' * n}{'0' * (40 - n)}" for n in (40, 20, 12)]
    names = [projects.named("shop", one).name for one in (OTHER, *alike)]
    assert names == ["shop", "shop-aaaaaaaa", "shop-aaaaaaaaaaaaaaaa", f"shop-{'a' * 12}0000"]
    assert [projects.named("shop", one).name for one in (OTHER, *alike)] == names


def test_a_name_that_is_as_long_as_it_may_be_is_cut(store: SqlStore) -> None:
    plain = "x" * NAME_MAX
    projects = Projects(store)
    assert projects.named(plain, ONE).name == plain
    assert projects.named(plain, OTHER).name == f"{plain[:-9]}-bbbbbbbb"


def test_where_others_have_every_name_it_is_refused(store: SqlStore) -> None:
    projects = Projects(store)
    for name in ("shop", "shop-aaaaaaaa", f"shop-{'a' * 16}", f"shop-{'a' * 40}"):
        projects.named(name, OTHER)
    with pytest.raises(Refused, match="set PREFLIGHTS_PROJECT"):
        projects.named("shop", ONE)


def test_of_repositories_that_ask_at_once_one_has_the_plain_name(place: str) -> None:
    with closing(SqlStore(place, Clock(), Salt())):
        pass
    identities = [f"root:{digit * 40}" for digit in "12345678"]
    together = Barrier(len(identities))

    def asked(identity: str) -> str:
        with closing(SqlStore(place, Clock(), Salt())) as store:
            projects = Projects(store)
            together.wait()
            return projects.named("shop", identity).name

    with ThreadPoolExecutor(len(identities)) as pool:
        names = list(pool.map(asked, identities))
    assert len(set(names)) == len(names)
    assert names.count("shop") == 1
    with closing(SqlStore(place, Clock(), Salt())) as store:
        assert [Projects(store).named("shop", one).name for one in identities] == names


@pytest.fixture
def reading(place: str, store: SqlStore) -> Callable[[], SqlStore]:
    """Opens the same log where it can only be read."""
    if "://" not in place:
        return lambda: SqlStore(f"sqlite:///{place}?mode=ro", Clock(), Salt())
    only = f"{place}{'&' if '?' in place else '?'}options=-c%20default_transaction_read_only=on"
    return lambda: SqlStore(only, Clock(), Salt())


def test_who_only_reads_has_the_name_that_is_recorded(
    store: SqlStore, reading: Callable[[], SqlStore]
) -> None:
    for identity in (ONE, OTHER):
        Projects(store).named("shop", identity)
    recorded(store, "shop")
    with closing(reading()) as log:
        assert Projects(log).named("shop", ONE) == Named("shop")
        assert Projects(log).named("shop", OTHER) == Named("shop-bbbbbbbb")
        assert Projects(log).named("shop", THIRD) == Named("shop-cccccccc")
    assert Projects(store).named("shop", THIRD).is_new, "reading recorded nothing"


def test_who_only_reads_is_told_that_the_repository_of_sessions_is_not_known(
    store: SqlStore, reading: Callable[[], SqlStore]
) -> None:
    with closing(reading()) as log:
        assert Projects(log).named("shop", ONE) == Named("shop")
        recorded(store, "shop")
        assert Projects(log).named("shop", ONE) == Named("shop", is_unclaimed=True)
        with pytest.raises(StoreUnavailable):
            recorded(log, "till")
