"""Lists of sessions of any length: a page at a time, by what the projection `sessions` keeps."""

from __future__ import annotations

from typing import Any, Protocol

from preflights_es.core.ports import Head


class Listing(Protocol):
    """The part of `Following` that long lists need; nothing is folded for them."""

    def newest(
        self, project: str | None, before: str | None, limit: int
    ) -> list[tuple[Head, dict[str, Any] | None]]:
        """Heads, newest first, each with its row of the projection; None where it has none.

        Args:
            project: None for all of them.
            before: the last id of the page before; None begins.

        Raises:
            ProjectionDamaged: a row is not one that this program writes.
        """

    def within(
        self, project: str | None, since: int, until: int, after: str, limit: int
    ) -> tuple[Head, ...]:
        """Heads of sessions with events in a time, oldest first.

        Also those that are damaged or faulted, and those that wait to be folded.

        Args:
            since: in microseconds since 1970 UTC, as `until`; both belong to the time.
            after: the last id of the page before; empty begins.
        """
