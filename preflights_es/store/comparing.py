"""Looks decisions up by their words, with few statements and little code for acceptances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from preflights_es.kernel.ports import TERMS_MAX, Head
from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import Looking


class SqlComparing(Looking):
    """Rows of the projections `memory` and `decisions`, as they lie there."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("projections", store.database)

    def is_current(self, versions: Mapping[str, int]) -> bool:
        """Whether these projections lack only what waits: this version of each is complete.

        Where nothing was ever folded, every session waits.
        """
        rows = self._rows("registered")
        return not rows or versions.items() <= {row[0]: row[1] for row in rows if row[3]}.items()

    def waiting(self, limit: int) -> list[Head]:
        """Sessions that moved and are not folded yet."""
        return [Head(*row) for row in self._rows("moved", at_most=limit)]

    def payloads(self, tag: str) -> dict[str, str]:
        """By session that waits: the payload of its last event with a tag."""
        rows = self._rows("unfolded_events", of_type=tag)
        return {session_id: data for session_id, data in rows if data is not None}

    def words(self, project: str, first: str, last: str, limit: int) -> list[str]:
        """The distinct words of decisions from one up to before another, sorted."""
        rows = self._rows("words", of_project=project, first=first, last=last, at_most=limit)
        return [row[0] for row in rows if isinstance(row[0], str)]

    def documents(self, project: str) -> tuple[int, int]:
        """How many decisions there are, and how many words they have together."""
        ((count, length),) = self._rows("documents", of_project=project)
        return int(count), int(length or 0)

    def rows(self, project: str, terms: Sequence[str], limit: int) -> list[tuple[str, str]]:
        """Pairs of session and decision, as JSON: the best match first, then the newest.

        Args:
            terms: words of values, categories and fields; the first `TERMS_MAX` count.
        """
        padded = [*terms, *[""] * TERMS_MAX][:TERMS_MAX]
        of = {f"term_{n}": term for n, term in enumerate(padded)}
        rows = self._rows("compared", of_project=project, at_most=limit, **of)
        return [(session_id, decided) for session_id, decided in rows]
