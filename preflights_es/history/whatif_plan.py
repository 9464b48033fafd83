"""What changes in a child, and how much of the recording stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from preflights_es.history.recording import Recording, Turn
from preflights_es.history.responders import FailureKind, step_of
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.events import Input, InputQuarantined, Outcome
from preflights_es.kernel.lead import Lead, LeadChanged, LeadTaken, setup_of
from preflights_es.kernel.questions import Answers, Given

Prompts = tuple[tuple[str, str], ...]


class Misused(SettingsError):
    """What was asked for does not fit the session; names what would."""


class Otherwise(msgspec.Struct, frozen=True, kw_only=True):
    """The changes to test."""

    lead: Callable[[Lead | None], Lead | None] | None = None
    """Who leads, given who did; None leaves it as it was."""
    prompts: Prompts = ()
    """Pairs of prompt name and version, in place of the session's."""
    answers: tuple[Given, ...] = ()
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out of the answers."""
    faults: tuple[tuple[str, FailureKind], ...] = ()
    """Pairs of a step, or one of its calls, and what goes wrong with it."""
    start: str = ""
    """A step, one of its calls, or the version of an event; empty for the first that is touched."""

    @property
    def leads(self) -> bool:
        """Whether the lead changes, or its prompts."""
        return self.lead is not None or bool(self.prompts)


class Led(NamedTuple):
    """Who leads, and which prompts are read."""

    lead: Lead | None
    prompts: Prompts


# 1. Where the child begins -------------------------------------------------------------------


def kept_turns(recording: Recording, otherwise: Otherwise) -> int:
    """Turns that stay as they are: all before the first changed one.

    Raises:
        Misused: there is no such step or version.
    """
    turns = recording.turns
    kept = _named(recording, otherwise.start) if otherwise.start else _touched(turns, otherwise)
    while 0 < kept < len(turns) and _is_closed_to(turns[kept], otherwise):
        kept -= 1
    return kept


def _is_closed_to(turn: Turn, otherwise: Otherwise) -> bool:
    """Whether a child cannot begin there: while a call is open, no other lead can take over."""
    return isinstance(turn.input, InputQuarantined) or (otherwise.leads and turn.is_asking)


def _named(recording: Recording, start: str) -> int:
    turns = recording.turns
    if start.isascii() and start.isdigit():
        version = int(start) if len(start) < 10 else 0
        if not 1 <= version <= len(recording.events):
            raise Misused(f"there is no event {start}: expected 1 to {len(recording.events)}")
        return sum(turn.version <= version for turn in turns) - 1
    found = _turn_of(turns, start)
    if found is None:
        raise Misused(f"no step {start!r}: {_expected(recording)}, or the version of an event")
    return found


def _expected(recording: Recording) -> str:
    calls = (c.call for turn in recording.turns for c in _requests(turn))
    steps = tuple(dict.fromkeys(map(step_of, calls)))
    return f"expected one of {', '.join(steps)}" if steps else "no provider was asked"


def _turn_of(turns: tuple[Turn, ...], named: str) -> int | None:
    """The turn that asks for a step, or makes one of its calls."""
    for i, turn in enumerate(turns):
        if any(named in (step_of(c.call), c.call) for c in _requests(turn)):
            return i
    return None


def _requests(turn: Turn) -> list[CompletionRequested]:
    return [d for d in turn.decisions if isinstance(d, CompletionRequested)]


def _touched(turns: tuple[Turn, ...], otherwise: Otherwise) -> int:
    """The index of the first changed turn; without one, the number of turns."""
    if otherwise.leads:
        return 0
    named = [_turn_of(turns, named) for named, _ in otherwise.faults]
    keys = {given.key for given in otherwise.answers}
    answered = [i for i, turn in enumerate(turns) if keys & keys_of(turn)][:1]
    return min((*(i or 0 for i in named), *answered), default=len(turns))


def keys_of(turn: Turn) -> set[str]:
    """What a turn answers."""
    return {g.key for g in turn.input.answers} if isinstance(turn.input, Answers) else set()


# 2. Who leads there --------------------------------------------------------------------------


def led_before(recording: Recording, kept: int) -> Led:
    """Who leads where the child begins; at the beginning, as the first Input says."""
    setup = setup_of(recording.turns[0].input)
    if setup is None:
        return Led(None, ())
    if kept == 0:
        return Led(setup.lead, setup.prompts)
    turns, session = recording.turns, recording.session
    state = (turns[kept].before if kept < len(turns) else session).state
    taken = [
        turn.input.prompts
        for turn in recording.turns[:kept]
        if isinstance(turn.input, LeadChanged)
        and any(isinstance(decision, LeadTaken) for decision in turn.decisions)
    ]
    return Led(recording.workflow.lead(state), [setup.prompts, *taken][-1])


def led_after(recording: Recording, otherwise: Otherwise, before: Led) -> Led:
    """Who leads in the child.

    Raises:
        Misused: the workflow has no lead, or no model would read the prompts.
    """
    if not otherwise.leads:
        return before
    workflow = recording.workflow
    if setup_of(recording.turns[0].input) is None:
        raise Misused(f"sessions of the workflow {workflow.name} have no lead to change")
    lead = otherwise.lead(before.lead) if otherwise.lead else before.lead
    if lead is None and otherwise.prompts:
        raise Misused("the rules lead, and read no prompt: name a provider")
    prompts = dict(before.prompts or workflow.prompts if lead else before.prompts)
    return Led(lead, tuple({**prompts, **dict(otherwise.prompts)}.items()))


def opened(new: Input, led: Led) -> Input:
    """The first Input under another lead."""
    setup = setup_of(new)
    assert setup is not None, "looked at before"
    provider = led.lead.provider if led.lead else "mock"
    return replace(new, setup=replace(setup, lead=led.lead, provider=provider, prompts=led.prompts))


# 3. What it may cost -------------------------------------------------------------------------


def calls_max(recording: Recording, kept: int, otherwise: Otherwise) -> int:
    """Calls that a child may make: for the recording's steps, or for each thing that people do."""
    left = recording.turns[kept:]
    steps = {step_of(c.call) for turn in left for c in _requests(turn)}
    people = sum(not isinstance(turn.input, Outcome) for turn in left)
    takes_over = otherwise.leads and kept > 0
    steps_max = max(len(steps), people) + takes_over + len(otherwise.answers)
    return recording.workflow.policy.calls_max * steps_max


def words(otherwise: Otherwise, before: Led, after: Led) -> tuple[str, ...]:
    """The change, in words."""
    return (
        *((f"led by {named(after.lead)}",) if after.lead != before.lead else ()),
        *(f"prompt {version}" for _, version in otherwise.prompts),
        *(f"answer {g.key}={', '.join(g.values)}" for g in otherwise.answers),
        *(f"fault {step}={kind}" for step, kind in otherwise.faults),
    )


def named(lead: Lead | None) -> str:
    """Who leads, in words."""
    if lead is None:
        return "the rules"
    said = ", ".join(f"{name}={value}" for name, value in lead.parameters)
    return f"{lead.provider} {lead.model}{f' ({said})' if said else ''}"
