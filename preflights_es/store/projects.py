"""Names of projects in a log that several repositories share: each belongs to one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from preflights_es.kernel.errors import ReadOnlyLog, Refused
from preflights_es.kernel.text import NAME_MAX
from preflights_es.store.database import Race
from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import Looking

DIGITS: Final = (8, 16, 64)  # of an identity, behind a name that another repository has


class Named(NamedTuple):
    """The name that a repository has in a log."""

    name: str
    is_new: bool = False
    """Whether it is recorded since a moment ago."""
    sessions: int = 0
    """That bore the name before a repository had it, and belong to this one from now on."""
    is_unclaimed: bool = False
    """Whether sessions bear the plain name, no repository has it, and this command records none."""


class Projects(Looking):
    """The table `projects`."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("projects", store.database)

    def named(self, plain: str, identity: str, *, claims: bool = True) -> Named:
        """The name of a repository: the plain one for the first that asks, else a longer one.

        Args:
            claims: whether a name is recorded; a command that only looks takes nothing over.

        Raises:
            Refused: other repositories have all of them.
            StoreUnavailable: it cannot be looked up or recorded.
        """
        held = dict(self._rows("held", **_each(plain, identity)))
        for name in _names(plain, identity):
            holder = held.get(name)
            if holder == identity:
                return Named(name)
            if holder is None and not claims:
                return self._unclaimed(plain, name)
            if holder is None:
                try:
                    holder, sessions = self._claimed(name, identity)
                except ReadOnlyLog:
                    return self._unclaimed(plain, name)
                if holder == identity:
                    return Named(name, is_new=True, sessions=sessions)
        raise Refused(
            f"other repositories have the project name {plain!r} in this log, and every longer "
            "one that this repository could have: set PREFLIGHTS_PROJECT"
        )

    def _unclaimed(self, plain: str, free: str) -> Named:
        """A name that is not recorded; sessions under the plain one may be another repository's."""
        count = self._rows("count", of_project=plain)[0][0] if free == plain else 0
        return Named(free, is_unclaimed=count > 0)

    def _claimed(self, name: str, identity: str) -> tuple[str, int]:
        """The owner of a name now, and the number of sessions that bore it."""

        def work(cursor: Any) -> tuple[str, int]:
            run = self._statements.run
            found = run(cursor, "holder", of_name=name).fetchone()
            if found is not None:
                return str(found[0]), 0
            try:
                run(cursor, "claim", name=name, identity=identity)
            except self.database.taken as error:
                raise Race from error  # another process was first
            return identity, int(run(cursor, "count", of_project=name).fetchone()[0])

        return self.database.wrote(work)


def _names(plain: str, identity: str) -> Iterator[str]:
    """Names that a repository can have, the first choice first."""
    _, _, digest = identity.partition(":")
    yield plain
    for digits in DIGITS:
        ending = f"-{digest[:digits]}"
        yield plain[: NAME_MAX - len(ending)] + ending


def _each(plain: str, identity: str) -> dict[str, str]:
    return {f"name_{n}": name for n, name in enumerate(_names(plain, identity))}
