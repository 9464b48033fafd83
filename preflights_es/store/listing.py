"""Pages of sessions, by what the projection `sessions` keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import BigInteger, and_, bindparam, literal_column, or_, select
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.core.errors import ProjectionDamaged
from preflights_es.core.events import INT_MAX
from preflights_es.core.ports import Head
from preflights_es.store import tables
from preflights_es.store.projection_statements import SHAPES
from preflights_es.store.statements import Looking

NAME: Final = "sessions"
LAST: Final = "\U0010ffff"  # behind every id, on any engine
HEAD: Final = 5  # columns of a head


class SqlListing(Looking):
    """The promises are those of `core.listing.Listing`."""

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
            msgspec.convert(kept, SHAPES[NAME])
        except msgspec.ValidationError as error:
            raise ProjectionDamaged(NAME, str(error)) from error
        return [(as_head(row[:HEAD]), self._row(row[HEAD:])) for row in found]

    def _row(self, row: Any) -> dict[str, Any] | None:
        columns = tables.projected_sessions.c.keys()
        return None if row[0] is None else dict(zip(columns, row, strict=True))

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


def statements() -> dict[str, ClauseElement]:
    """Each of a project, and as `any_` of all."""
    h, s, o = tables.heads.c, tables.projected_sessions.c, tables.outbox.c
    head = (h.session_id, h.project, h.workflow, h.version, h.head_hash)
    limit: BindParameter[int] = bindparam("at_most")
    after: BindParameter[str] = bindparam("after")
    project: BindParameter[str] = bindparam("of_project")
    since, until = (bindparam(name, type_=BigInteger) for name in ("since", "until"))
    newest = (
        select(*head, *s)
        .outerjoin_from(tables.heads, tables.projected_sessions, s.session_id == h.session_id)
        .where(h.session_id < bindparam("before"))
        .order_by(h.session_id.desc())
        .limit(limit)
    )
    trouble = or_(
        *(s.status == literal_column(f"'{word}'") for word in ("damaged", "faulted")),
        s.began_at > literal_column(str(INT_MAX)),  # a text, which is damage
    )
    within = (
        select(*head)
        .join_from(tables.projected_sessions, tables.heads, s.session_id == h.session_id)
        .where(s.session_id > after, or_(trouble, and_(s.moved_at >= since, s.began_at <= until)))
        .order_by(s.session_id)
        .limit(limit)
    )
    waiting = (
        select(*head)
        .join_from(tables.outbox, tables.heads, o.session_id == h.session_id)
        .where(o.session_id > after)
        .distinct()
        .order_by(h.session_id)
        .limit(limit)
    )
    return {
        "any_newest": newest,
        "newest": newest.where(h.project == project),
        "any_within": within,
        "within": within.where(s.project == project),
        "any_waiting": waiting,
        "waiting": waiting.where(h.project == project),
    }
