"""What projections need of the log, for one who follows it for long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from preflights_es.core.ports import Fold, Folded, Head, Stream
from preflights_es.store.projection_feed import SqlFollowing
from preflights_es.store.sql import SqlStore


class WatchedFollowing(SqlFollowing):
    """The same, told before each transaction that folds, and after it."""

    def __init__(
        self, store: SqlStore, before: Callable[[], None], after: Callable[[int], None]
    ) -> None:
        """Args:
        before: may raise, so that nothing more is folded.
        after: is told how many sessions were.
        """
        super().__init__(store)
        self._before = before
        self._after = after

    def follow(
        self, after: tuple[str, int], limit: int, versions: Mapping[str, int], fold: Fold
    ) -> tuple[str, int] | None:
        counted = _Counted(fold)
        self._before()
        place = super().follow(after, limit, versions, counted)
        self._after(counted.sessions)
        return place

    def write(self, heads: Sequence[Head], versions: Mapping[str, int], fold: Fold) -> None:
        counted = _Counted(fold)
        self._before()
        super().write(heads, versions, counted)
        self._after(counted.sessions)


class _Counted:
    """A fold that remembers how many sessions it folded, when it was done last."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self.sessions = 0

    def __call__(self, streams: Iterable[Stream]) -> Folded:
        folded = self._fold(streams)
        self.sessions = len(folded.turns)
        return folded
