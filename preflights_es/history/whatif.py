"""What if: a session goes on with a change from one of its steps, beside the recording.

The child has the recording's events up to there, byte for byte. Then another lead may take over, a
call may fail, an answer may be another one; all else that people did is fed to it once more.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from preflights_es.history.child import Child, refused
from preflights_es.history.recompute import Code, Reasking
from preflights_es.history.recording import Recording, Turn
from preflights_es.history.report import Rerun, rerun
from preflights_es.history.responders import Answering, Failing, Models
from preflights_es.history.whatif_plan import (
    Led,
    Misused,
    Otherwise,
    calls_max,
    kept_turns,
    keys_of,
    led_after,
    led_before,
    opened,
    words,
)
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.events import Input, Outcome
from preflights_es.kernel.lead import LeadChanged
from preflights_es.kernel.questions import Answers, Given
from preflights_es.kernel.session import Session
from preflights_es.runtime.performer import PROGRAM


class LiveNeeded(Misused):
    """A model would have to be asked, which costs money."""

    def __init__(self, request: CompletionRequested, calls: int) -> None:
        super().__init__(
            f"this asks {request.provider} ({request.model}), at most {calls} calls: "
            "give --live if you mean it"
        )
        self.calls = calls


async def what_if(
    recording: Recording, otherwise: Otherwise, code: Code, models: Models | None = None
) -> tuple[Rerun, Child]:
    """A child that goes on with the change.

    Args:
        models: who asks a model; None where none may be asked.

    Raises:
        Misused: there is no such step, the change does not fit, or a fault met no call.
        LiveNeeded: a model would have to be asked, and may not.
    """
    kept = kept_turns(recording, otherwise)
    turns = recording.turns[kept:]
    copied = turns[0].version - 1 if turns else len(recording.events)
    before = led_before(recording, kept)
    after = led_after(recording, otherwise, before)
    said = words(otherwise, before, after)
    most = calls_max(recording, kept, otherwise)
    answering = Answering(recording, copied, Reasking(code), models, most)
    failing = Failing(answering, otherwise.faults)
    child = Child(recording, kept, failing, f"whatif {copied} {said}")
    await child.run(_Playing(child, kept, otherwise, before, after).play())
    if answering.needed is not None:
        raise LiveNeeded(answering.needed, most)
    _refuse_unmet(failing, otherwise, child)
    return rerun(child, "whatif", kept=copied, otherwise=said, live=answering.asked), child


def _refuse_unmet(failing: Failing, otherwise: Otherwise, child: Child) -> None:
    unmet = [step for step, _ in otherwise.faults if step not in failing.met]
    if unmet and not (child.stopped or child.fault):
        calls = ", ".join(dict.fromkeys(child.calls)) or "none"
        raise Misused(f"no call of {unmet[0]!r} was made for the fault to meet; made: {calls}")


class _Playing:
    """One play of a child: what it gets in place of what was recorded."""

    def __init__(
        self, child: Child, kept: int, otherwise: Otherwise, before: Led, after: Led
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

    def _take_over(self, led: Led) -> None:
        new = LeadChanged(at=self._child.now, actor=PROGRAM, lead=led.lead, prompts=led.prompts)
        for decision in self._child.submit(None, new):
            if refused(decision):
                at = self._child.handle.version
                raise Misused(f"no other lead can take over at event {at}: name an earlier step")

    async def _changed(self, turn: Turn, _session: Session[Any]) -> Input | None:
        new = turn.input
        if not isinstance(new, Outcome):
            await self._answer_what_is_asked()
        if self._after and self._opens and turn is self._turns[0]:
            return opened(new, self._after)
        if self._after and isinstance(new, LeadChanged):
            return None
        if isinstance(new, Answers):
            given = tuple(self._answers.get(one.key, one) for one in new.answers)
            if given != new.answers:
                return replace(new, answers=given, redacted=(*new.redacted, *self._redacted))
        return new

    async def _answer_what_is_asked(self) -> None:
        child = self._child
        while asked := [q.id for q in child.questions() if q.id in self._added]:
            # With what goes along with it: the text of another option has a key of its own.
            along = tuple(f"{key}__" for key in asked)
            keys = [key for key in self._added if key in asked or key.startswith(along)]
            self._answer(tuple(self._added.pop(key) for key in keys))
            await child.settle()

    def _answer(self, given: tuple[Given, ...], *, revised: bool = False) -> None:
        workflow = self._child.recording.workflow
        cls = workflow.revisions if revised else workflow.answers
        if cls is None:
            what = "changes no answers" if revised else "asks no question"
            raise Misused(f"a session of the workflow {workflow.name} {what}")
        at, redacted = self._child.now, self._redacted
        self._child.submit(None, cls(at=at, actor=PROGRAM, answers=given, redacted=redacted))
