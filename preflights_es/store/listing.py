"""Pages of sessions, by what the projection `sessions` keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from preflights_es.core.errors import ProjectionDamaged
from preflights_es.core.ports import Head
from preflights_es.store.frozen import columns
from preflights_es.store.projected import PROJECTED, shape
from preflights_es.store.statements import Looking

NAME: Final = "sessions"
LAST: Final = "\U0010ffff"  # behind every id, on any engine
HEAD: Final = 5  # columns of a head


class SqlListing(Looking):
    """The promises are those of `core.projection_ports.Following`."""

    def newest(
        self, project: str | None, before: str | None, limit: int
    ) -> list[tuple[Head, dict[str, Any] | None]]:
        page = {"before": LAST if before is None else before, "at_most": limit}
        if project is None:
            found = self._rows("any_newest", **page)
        else:
            found = self._rows("newest", of_project=project, **page)
        kept = [row[HEAD:] for row in found if row[HEAD] is not None]
        try:
            msgspec.convert(kept, shape(NAME))
        except msgspec.ValidationError as error:
            raise ProjectionDamaged(NAME, str(error)) from error
        return [(as_head(row[:HEAD]), self._row(row[HEAD:])) for row in found]

    def _row(self, row: Any) -> dict[str, Any] | None:
        names = columns(PROJECTED[NAME])
        return None if row[0] is None else dict(zip(names, row, strict=True))

    def within(
        self, project: str | None, since: int, until: int, after: str, limit: int
    ) -> tuple[Head, ...]:
        page = {"of_project": project, "after": after, "at_most": limit}
        which = "any_" if project is None else ""
        found = self._rows(f"{which}within", since=since, until=until, **page)
        found += self._rows(f"{which}waiting", **page)
        heads = {row[0]: as_head(row) for row in found}
        return tuple(heads[session_id] for session_id in sorted(heads)[:limit])


def as_head(row: Sequence[Any]) -> Head:
    """A head whose version is none is folded like one that has not moved yet."""
    session_id, project, workflow, version, hash_ = row
    return Head(session_id, project, workflow, as_version(version), hash_)


def as_version(found: object) -> int:
    """SQLite keeps what it is given, whatever the column's type says."""
    return found if isinstance(found, int) else 0
