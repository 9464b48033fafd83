"""What if: a session with another answer, lead or prompt, or led by the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from preflights_es.history.child import Child, explain_uncounted_input
from preflights_es.history.recording import (
    Answering,
    Code,
    Models,
    Reasking,
    Recording,
    Turn,
    step_of,
)
from preflights_es.history.replayer import Rerun, rerun
from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import LLMLostError, SettingsError
from preflights_es.kernel.events import Input, InputQuarantined, Outcome
from preflights_es.kernel.lead import WRITERS, Lead, LeadChanged, LeadTaken, NamesLead, setup_of
from preflights_es.kernel.session import Session
from preflights_es.providers.base import RecordedProvider
from preflights_es.runtime.performer import PROGRAM
from preflights_es.words.questions import Answers, GivenAnswer, Opening, answers_in

Prompts = tuple[tuple[str, str], ...]


class Misused(SettingsError):
    """What was asked for does not fit the session; names what would."""


class Otherwise(msgspec.Struct, frozen=True, kw_only=True):
    """The changes to test."""

    lead: Callable[[Lead | None], Lead | None] | None = None
    """Who leads, given who did; None leaves it as it was."""
    prompts: Prompts = ()
    """Pairs of prompt name and version, in place of the session's."""
    candidates: Prompts = ()
    """Pairs of such a version and the text that is tried in its place."""
    answers: tuple[GivenAnswer, ...] = ()
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out of the answers."""
    start: str = ""
    """A step, one of its calls, or the version of an event; empty for the first that is touched."""

    @property
    def leads(self) -> bool:
        """Whether the lead changes, or its prompts."""
        return self.lead is not None or bool(self.prompts)


class LeadSetup(NamedTuple):
    """Who leads, and which prompts are read."""

    lead: Lead | None
    prompts: Prompts
    candidates: Prompts = ()


# 1. Where the child begins -------------------------------------------------------------------


def kept_turns(recording: Recording, otherwise: Otherwise) -> int:
    """Turns that stay as they are: all before the first changed one.

    Raises:
        Misused: there is no such step or version.
    """
    turns = recording.turns
    start = otherwise.start
    kept = _find_start_turn(recording, start) if start else _touched(turns, otherwise)
    while 0 < kept < len(turns) and _is_closed_to(turns[kept], otherwise):
        kept -= 1
    return kept


def _is_closed_to(turn: Turn, otherwise: Otherwise) -> bool:
    """Whether a child cannot begin there: while a call is open, no other lead can take over."""
    return isinstance(turn.input, InputQuarantined) or (otherwise.leads and turn.is_asking)


def _find_start_turn(recording: Recording, start: str) -> int:
    turns = recording.turns
    if start.isascii() and start.isdigit():
        version = int(start) if len(start) < 10 else 0
        if not 1 <= version <= len(recording.events):
            raise Misused(f"there is no event {start}: expected 1 to {len(recording.events)}")
        return sum(turn.version <= version for turn in turns) - 1
    found = _turn_of(turns, start)
    if found is None:
        calls = (c.call for turn in recording.turns for c in _requests(turn))
        steps = tuple(dict.fromkeys(map(step_of, calls)))
        expected = f"expected one of {', '.join(steps)}" if steps else "no provider was asked"
        raise Misused(f"no step {start!r}: {expected}, or the version of an event")
    return found


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
    keys = {given.key for given in otherwise.answers}
    return next((i for i, turn in enumerate(turns) if keys & keys_of(turn)), len(turns))


def keys_of(turn: Turn) -> set[str]:
    """What a turn answers."""
    return {given.key for given in answers_in(turn.input)}


# 2. Who leads there --------------------------------------------------------------------------


def led_before(recording: Recording, kept: int) -> LeadSetup:
    """Who leads where the child begins; at the beginning, as the first Input says."""
    setup = setup_of(recording.turns[0].input)
    if setup is None:
        return LeadSetup(None, ())
    if kept == 0:
        return LeadSetup(setup.lead, setup.prompts, setup.candidates or ())
    turns, session = recording.turns, recording.session
    state = (turns[kept].before if kept < len(turns) else session).state
    taken = [
        turn.input.prompts
        for turn in recording.turns[:kept]
        if isinstance(turn.input, NamesLead)
        and any(isinstance(one, LeadTaken | CompletionRequested) for one in turn.decisions)
    ]
    return LeadSetup(recording.workflow.led.lead(state), [setup.prompts, *taken][-1])


def led_after(recording: Recording, otherwise: Otherwise, before: LeadSetup) -> LeadSetup:
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
    prompts = dict(before.prompts or workflow.led.prompts if lead else before.prompts)
    prompts.update(otherwise.prompts)
    return LeadSetup(lead, tuple(prompts.items()), otherwise.candidates or before.candidates)


def replace_opening_lead(new: Input, led: LeadSetup) -> Input:
    """The first Input under another lead."""
    setup = setup_of(new)
    assert setup is not None, "looked at before"
    lead, candidates = led.lead, led.candidates or msgspec.UNSET
    provider = lead.provider if lead else "mock"
    after = replace(setup, lead=lead, provider=provider, prompts=led.prompts, candidates=candidates)
    return replace(new, setup=after)


# 3. What it may cost -------------------------------------------------------------------------


def calls_max(recording: Recording, kept: int, otherwise: Otherwise) -> int:
    """Calls that a child may make: for the recording's steps, or for each thing that people do."""
    left = recording.turns[kept:]
    steps = {step_of(c.call) for turn in left for c in _requests(turn)}
    people = sum(not isinstance(turn.input, Outcome) for turn in left)
    takes_over = otherwise.leads and kept > 0
    steps_max = max(len(steps), people) + takes_over + len(otherwise.answers)
    return recording.workflow.led.policy.calls_max * steps_max


def describe_whatif_change(
    otherwise: Otherwise, before: LeadSetup, after: LeadSetup
) -> tuple[str, ...]:
    """The change, in words."""
    tried = dict(otherwise.candidates)
    told = [f"led by {describe_whatif_lead(after.lead)}"] if after.lead != before.lead else []
    for _, version in otherwise.prompts:
        told.append(f"prompt {version}{', with another text' if version in tried else ''}")
    told += [f"answer {one.key}={', '.join(one.values)}" for one in otherwise.answers]
    return tuple(told)


def describe_whatif_lead(lead: Lead | None) -> str:
    """Who leads, in words."""
    if lead is None:
        return "the rules"
    said = ", ".join(f"{name}={value}" for name, value in lead.parameters)
    return f"{lead.provider} {lead.model}{f' ({said})' if said else ''}"


class LiveNeeded(Misused):
    """A model would have to be asked, which costs money."""

    def __init__(self, request: CompletionRequested, calls: int) -> None:
        more = f"at most {calls} calls: give --live if you mean it"
        super().__init__(f"this asks {request.provider} ({request.model}), {more}")
        self.calls = calls


async def what_if(
    recording: Recording, otherwise: Otherwise, code: Code, models: Models | None = None
) -> tuple[Rerun, Child]:
    """A child that goes on with the change.

    Args:
        models: who asks a model; None where none may be asked.

    Raises:
        Misused: there is no such step, or the change does not fit.
        LiveNeeded: a model would have to be asked, and may not.
    """
    kept = kept_turns(recording, otherwise)
    turns = recording.turns[kept:]
    copied = turns[0].version - 1 if turns else len(recording.events)
    before = led_before(recording, kept)
    after = led_after(recording, otherwise, before)
    said = describe_whatif_change(otherwise, before, after)
    most = calls_max(recording, kept, otherwise)
    answering = Answering(recording, copied, Reasking(code), models, most=most)
    child = Child(recording, kept, answering, f"whatif {copied} {said}")
    await child.run(_WhatifPlay(child, kept, otherwise, before, after=after).play())
    if answering.needed is not None:
        raise LiveNeeded(answering.needed, most)
    return rerun(child, "whatif", kept=copied, otherwise=said, live=answering.asked), child


class _WhatifPlay:
    """One play of a child: what it gets in place of what was recorded."""

    def __init__(
        self, child: Child, kept: int, otherwise: Otherwise, before: LeadSetup, after: LeadSetup
    ) -> None:
        self._child = child
        self._turns = child.recording.turns[kept:]
        self._after = after if after != before else None
        self._opens = kept == 0
        self._redacted = otherwise.redacted
        self._answers = {given.key: given for given in otherwise.answers}
        self._kept = {key for turn in child.recording.turns[:kept] for key in keys_of(turn)}
        """What is answered already where the child begins."""
        recorded = {key for turn in self._turns for key in keys_of(turn)}
        self._added = {k: given for k, given in self._answers.items() if k not in recorded}
        """Answers to questions left open: given when one is asked, at the latest at the end."""

    async def play(self) -> None:
        child = self._child
        if self._turns:
            child.now = self._turns[0].input.at
        if self._after and not self._opens:
            self._take_over(self._after)
        await child.feed(self._turns, self._changed)
        await child.settle()
        await self._answer_what_is_asked()
        if self._added:
            self._answer(tuple(self._added.values()), revised=bool(self._kept & {*self._added}))
            await child.settle()

    def _take_over(self, led: LeadSetup) -> None:
        new = LeadChanged(
            at=self._child.now,
            actor=PROGRAM,
            lead=led.lead,
            prompts=led.prompts,
            candidates=led.candidates or msgspec.UNSET,
        )
        for decision in self._child.submit(None, new):
            if explain_uncounted_input(decision):
                at = self._child.handle.version
                raise Misused(f"no other lead can take over at event {at}: name an earlier step")

    async def _changed(self, turn: Turn, _session: Session[Any]) -> Input | None:
        new = turn.input
        if not isinstance(new, Outcome):
            await self._answer_what_is_asked()
        if self._after and self._opens and turn is self._turns[0]:
            new = replace_opening_lead(new, self._after)
        if self._after and isinstance(new, LeadChanged):
            return None
        if self._after and isinstance(new, NamesLead) and new.lead is not None:
            return replace(new, lead=self._after.lead, prompts=self._after.prompts)
        if isinstance(new, Answers | Opening):
            given = tuple(self._answers.get(one.key, one) for one in answers_in(new))
            if given != answers_in(new):
                redacted = (*getattr(new, "redacted", ()), *self._redacted)
                return replace(new, answers=given, redacted=redacted)
        return new

    async def _answer_what_is_asked(self) -> None:
        child = self._child
        while asked := [q.id for q in child.questions() if q.id in self._added]:
            # With what goes along with it: the text of another option has a key of its own.
            along = tuple(f"{key}__" for key in asked)
            keys = [key for key in self._added if key in asked or key.startswith(along)]
            self._answer(tuple(self._added.pop(key) for key in keys))
            await child.settle()

    def _answer(self, given: tuple[GivenAnswer, ...], *, revised: bool = False) -> None:
        workflow = self._child.recording.workflow
        cls = workflow.asked.revisions if revised else workflow.asked.answers
        if cls is None:
            what = "changes no answers" if revised else "asks no question"
            raise Misused(f"a session of the workflow {workflow.name} {what}")
        at, redacted = self._child.now, self._redacted
        self._child.submit(None, cls(at=at, actor=PROGRAM, answers=given, redacted=redacted))


Simulating = Callable[[Lead | None], Lead | None]
"""Who leads in place of the recorded lead: the same, where that is code of ours already."""


class Own:
    """Code of ours, as each request names it; what the recording lost is lost again."""

    def __init__(self, reasking: Reasking, recording: Recording) -> None:
        self._reasking = reasking
        self._written = RecordedProvider(recording.events)
        self._lost = recording.lost

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
        new = led_by(turn.input, recording.workflow.led.prompts, simulating)
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
        led = LeadSetup(lead, setup.prompts or prompts, setup.candidates or ())
        return replace_opening_lead(new, led)
    if isinstance(new, NamesLead) and new.lead is not None:
        return replace(new, lead=simulating(new.lead))
    return new


def _leader(new: Input) -> str:
    setup = setup_of(new)
    changed = new.lead if isinstance(new, NamesLead) else None
    return describe_whatif_lead(changed if setup is None else setup.lead)
