"""Which sessions of a list are wanted: by words, day, model, what came of calls, and cost."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import Any, Final

import msgspec

from preflights_es.kernel.text import caseless
from preflights_es.projections.usage import COUNTED, Cost, Counted


class SessionSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted; what is empty leaves no session out."""

    words: str = ""
    """Each of them stands in the intention, or begins or ends the session's id."""
    model: str = ""
    """That a call was asked of."""
    prompt: str = ""
    """That a call was asked with."""
    counted: Counted | None = None
    """Calls that there are, as `usage` counts them."""
    since: int | None = None
    """Microseconds since 1970 UTC: of a call where calls are meant, else of any event."""
    until: int | None = None
    cost_over: float | None = None
    """In any currency."""
    among: Collection[str] | None = None
    """Ids of sessions; None for all."""

    @property
    def is_any(self) -> bool:
        """Whether it leaves no session out."""
        return self == ANY_SESSION

    def may_fit(self, session_id: str, intention: str, began: int, moved: int) -> bool:
        """Whether a session is wanted, but for its calls.

        Args:
            began, moved: the times of its first and last event.
        """
        if self.among is not None and session_id not in self.among:
            return False
        text = caseless(intention) if self.words else ""
        ends = (session_id.startswith, session_id.endswith)
        words = caseless(self.words).split()
        is_meant = all(word in text or any(at(word) for at in ends) for word in words)
        return is_meant and self._is_within(began, moved)

    def fits_calls(self, costs: Iterable[Cost], calls: Iterable[dict[str, Any]]) -> bool:
        """Whether its calls are those that are wanted.

        Args:
            calls: rows of the projection `usage`.
        """
        most = self.cost_over
        if most is not None and not any(Decimal(one.amount) > most for one in costs):
            return False
        is_of_calls = self.model or self.prompt or self.counted
        return not is_of_calls or any(map(self._is_meant, calls))

    def _is_meant(self, call: dict[str, Any]) -> bool:
        return (
            self.model in ("", call["model"])
            and self.prompt in ("", call["prompt"])
            and (self.counted is None or COUNTED[self.counted](call))
            and self._is_within(call["at"], call["at"])
        )

    def _is_within(self, first: int, last: int) -> bool:
        return (self.since is None or last >= self.since) and (
            self.until is None or first <= self.until
        )


ANY_SESSION: Final = SessionSearch()
