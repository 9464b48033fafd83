"""Drift: today's code runs on with the responses that were recorded, and says where it went off."""

from __future__ import annotations

from typing import Any

from preflights_es.history.causes import causes
from preflights_es.history.child import Child
from preflights_es.history.recording import Recording, Turn
from preflights_es.history.report import Rerun, Served, rerun
from preflights_es.kernel.events import Input
from preflights_es.kernel.session import Session
from preflights_es.providers.recorded import Match, RecordedProvider


async def drift(recording: Recording) -> tuple[Rerun, Child]:
    """The whole session again, on its own responses.

    A request that is not the recorded one has the response of the call with its number, and is
    listed. One without a response left ends the child: no provider and no other session is asked.
    """
    provider = RecordedProvider(recording.events)
    child = Child(recording, 0, provider, "drift")
    await child.play(as_recorded)
    matches = tuple(_served(match) for match in provider.matches if not match.exact)
    exact = len(provider.matches) - len(matches)
    return rerun(child, "drift", exact=exact, matches=matches), child


async def as_recorded(turn: Turn, _session: Session[Any]) -> Input:
    """The recorded Input, once more."""
    return turn.input


def _served(match: Match) -> Served:
    return Served(
        call=match.asked.call,
        recorded=match.recorded.call,
        causes=causes(match.recorded, match.asked),
    )
