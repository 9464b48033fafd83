"""A session run again against the simulator.

One that the simulator led is led by it again, with its own seed and faults: all of it is code, so
that it must come out the same. Where a model led, the simulator answers in its place. A question
that an agent or person wrote is asked again as it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from preflights_es.history.child import Child
from preflights_es.history.recompute import Code, Reasking
from preflights_es.history.recording import Recording, Turn
from preflights_es.history.report import Rerun, rerun
from preflights_es.history.whatif_plan import Led, named, opened
from preflights_es.kernel.completions import Completion, CompletionFailed, CompletionRequested
from preflights_es.kernel.errors import LLMLostError
from preflights_es.kernel.events import Input
from preflights_es.kernel.lead import WRITERS, Lead, LeadChanged, setup_of
from preflights_es.kernel.session import Session
from preflights_es.providers.recorded import RecordedProvider

Simulating = Callable[[Lead | None], Lead | None]
"""Who leads in place of the recorded lead: the same, where that is code of ours already."""


class Own:
    """Code of ours, as each request names it; what the recording lost is lost again."""

    def __init__(self, reasking: Reasking, recording: Recording) -> None:
        self._reasking = reasking
        self._written = RecordedProvider(recording.events)
        self._lost = {
            event.call: event.message
            for event in recording.events
            if isinstance(event, CompletionFailed) and event.kind == LLMLostError.kind
        }

    async def respond(self, request: CompletionRequested) -> Completion:
        """What the simulator or the reference answers.

        Raises:
            LLMError: as they do.
        """
        if request.call in self._lost:
            raise LLMLostError(self._lost[request.call])
        if request.provider in WRITERS:
            return await self._written.respond(request)
        return await self._reasking.provider(request).respond(request)


async def simulate(recording: Recording, code: Code, simulating: Simulating) -> tuple[Rerun, Child]:
    """The whole session again, with code of ours in place of the recorded lead."""
    otherwise: dict[str, None] = {}

    async def changed(turn: Turn, _session: Session[Any]) -> Input:
        new = led_by(turn.input, recording.workflow.prompts, simulating)
        if new != turn.input:
            otherwise[f"led by {_leader(new)}"] = None
        return new

    names = [_leader(led_by(turn.input, (), simulating)) for turn in recording.turns]
    child = Child(recording, 0, Own(Reasking(code), recording), f"simulate {names}")
    await child.play(changed)
    return rerun(child, "simulate", otherwise=tuple(otherwise)), child


def led_by(new: Input, prompts: tuple[tuple[str, str], ...], simulating: Simulating) -> Input:
    """An Input that says who leads, with another lead; any other as it is.

    Args:
        prompts: of a session that had none, since it had no lead.
    """
    setup = setup_of(new)
    if setup is not None:
        lead = simulating(setup.lead)
        if lead == setup.lead:
            return new
        return opened(new, Led(lead, setup.prompts or prompts))
    if isinstance(new, LeadChanged) and new.lead is not None:
        return replace(new, lead=simulating(new.lead))
    return new


def _leader(new: Input) -> str:
    setup = setup_of(new)
    changed = new.lead if isinstance(new, LeadChanged) else None
    return named(changed if setup is None else setup.lead)
