"""What people do with a session of any workflow: each thing they do is one Input.

Text is checked and freed of secrets here, before anything is recorded; ids and time are chosen
here; everything about meaning is left to `decide`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.core import ids
from preflights_es.core import session as kernel
from preflights_es.core.asking import Answers
from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import (
    AmbiguousSession,
    ErasedSession,
    Refused,
    SessionFaulted,
    UnknownSession,
)
from preflights_es.core.events import Actor, InputQuarantined, SessionAbandoned
from preflights_es.core.leading import Lead, LeadChanged, StepRetried
from preflights_es.core.ports import Head
from preflights_es.core.text import ANSWER_MAX
from preflights_es.runtime.once import Once
from preflights_es.runtime.redaction import redact
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.runtime.texts import cleaned, cleaned_answers, name_cleaned

RECENT: Final = 50  # sessions looked at before all of a project are
LAST = "last"


class Desk(msgspec.Struct, frozen=True):
    """Who is at work in which project, and what helps with sessions of every workflow."""

    runner: Runner
    project: str
    actor: Actor
    settle: Callable[[Step], Step] = lambda step: step
    """Makes the completions that a step asks for."""
    once: Once | None = None
    """Knows what the command recorded when it ran before."""
    check: Callable[[Handle], None] = lambda _: None
    """That whoever leads a session can be asked, before anything is recorded."""


class Sessions:
    """The sessions of one project, as one actor meets them."""

    def __init__(self, desk: Desk) -> None:
        self._runner = desk.runner
        self._project = desk.project
        self._actor = replace(desk.actor, name=name_cleaned(desk.actor.name))
        self._settle = desk.settle
        self._check = desk.check
        self._once = desk.once or Once(desk.runner, desk.project)

    # 1. Finding ------------------------------------------------------------------------------

    def resolved(self, typed: str) -> str:
        """The id that a person meant: whole, its beginning, its end, or `last`.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
        """
        if typed == LAST:
            return self._last()
        wanted = typed.strip().lower()
        if not set(wanted) <= ids.DIGITS:
            raise UnknownSession(typed)
        if self._runner.store.head(wanted):
            return wanted
        found = self._runner.store.matching(wanted)
        if not found:
            raise UnknownSession(typed)
        if len(found) > 1:
            raise AmbiguousSession(typed, found)
        return found[0]

    def _last(self) -> str:
        """The newest session of this project that this actor began."""
        runner = self._runner
        for head in self._newest_first():
            first = runner.store.read(head.session_id)[0]
            if first.data is None:
                continue
            event = runner.codec(runner.workflow(head.workflow)).decode(first)
            actor = getattr(event, "actor", None)
            if isinstance(actor, Actor) and actor.name == self._actor.name:
                return head.session_id
        raise UnknownSession(LAST)

    def _newest_first(self) -> Iterator[Head]:
        """The project's sessions; a second query only when the first page did not do."""
        page = self._runner.store.heads(self._project, RECENT)
        yield from page
        if len(page) == RECENT:
            yield from self._runner.store.heads(self._project)[RECENT:]

    def load(self, typed: str) -> Handle:
        """A session by what was typed."""
        return self._runner.load(self.resolved(typed))

    # 2. Going on ------------------------------------------------------------------------------

    def check(self, answers: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Refuse answers that cannot be recorded, before a session is opened for them.

        Raises:
            Refused: a text is too long, or holds what no text holds.
        """
        cleaned_answers(answers)

    def answer(
        self, handle: Handle, answers: Iterable[tuple[str, Sequence[str]]], *, revise: bool = False
    ) -> Step:
        """Answer, or revise what was answered: one Input for all of it.

        Args:
            answers: pairs of key and values.

        Raises:
            Refused: the session takes no answers any more, or a text cannot be recorded.
        """
        workflow = handle.workflow
        cls = workflow.revisions if revise else workflow.answers
        if cls is None:
            what = "no answer can be changed" if revise else "nothing is asked"
            raise Refused(f"in a session of the workflow {workflow.name} {what}")
        given, redacted = cleaned_answers(answers)
        if step := self._once.before(cls, answers=given):
            return self._settle(step)
        self._refuse_ended(handle)
        self._check(handle)
        new = cls(at=self._runner.now(), actor=self._actor, answers=given, redacted=redacted)
        return self._settle(self._runner.submit(handle, new, self._once.input_id()))

    def was_answered(self) -> bool:
        """Whether this command has given its answers before, under its key."""
        return self._once.next_is(Answers)

    def resume(self, handle: Handle) -> Step:
        """Go on where an error, a crash or a strict session stopped.

        Raises:
            ErasedSession: there is nothing to go on with.
            SessionFaulted: deciding the last Input still raises.
        """
        if handle.session.closed == "erased":
            raise ErasedSession(handle.session_id)
        step = self._runner.resume(handle)
        if _is_stalled(step.handle):
            self._check(step.handle)
            again = StepRetried(at=self._runner.now(), actor=self._actor)
            step = self._runner.submit(step.handle, again, self._runner.new_id())
        return self._settle(step)

    def led_by(
        self, handle: Handle, lead: Lead | None, prompts: Sequence[tuple[str, str]] = ()
    ) -> Step:
        """Go on under another lead: a model, or the rules where it is None.

        Raises:
            Refused: the session takes nothing any more, or a model is being asked.
        """
        self._refuse_ended(handle)
        handle = self._runner.resume(handle).handle
        if _is_asking(handle):
            raise Refused(
                f"session {ids.short(handle.session_id)} has asked its model already: "
                "`preflights resume` first, then change it"
            )
        new = LeadChanged(
            at=self._runner.now(), actor=self._actor, lead=lead, prompts=tuple(prompts)
        )
        return self._settle(self._runner.submit(handle, new, self._runner.new_id()))

    def _refuse_ended(self, handle: Handle) -> None:
        short = ids.short(handle.session_id)
        if handle.session.closed:
            raise Refused(f"session {short} was {handle.session.closed}: start a new one")
        if why := handle.workflow.view(handle.session.state).ended:
            raise Refused(f"session {short} {why}")

    def refuse_elsewhere(self, handle: Handle) -> None:
        """What a session left in its project (documents, numbers, items) is that project's.

        Raises:
            Refused: the session belongs to another project.
        """
        if handle.project != self._project:
            raise Refused(
                f"session {ids.short(handle.session_id)} belongs to the project "
                f"{handle.project!r}: go there, or set PREFLIGHTS_PROJECT"
            )

    def abandon(self, handle: Handle, reason: str = "", *, force: bool = False) -> Step:
        """Give a session up.

        Args:
            force: also one whose last Input cannot be decided; that Input is set aside.

        Raises:
            Refused: it is closed, accepted, or faulted without `force`.
        """
        text, _ = cleaned("the reason", reason, ANSWER_MAX)
        if step := self._once.before(SessionAbandoned, reason=text):
            return step
        self._refuse_ended(handle)
        now, actor = self._runner.now(), self._actor
        try:
            handle = self._runner.resume(handle).handle
        except SessionFaulted as fault:
            if not force:
                id_ = ids.short(handle.session_id)
                raise Refused(
                    f"session {id_} is faulted at event {fault.version} "
                    f"({type(fault.error).__name__}): "
                    f"`preflights abandon {id_} --force` sets that Input aside"
                ) from fault
            error = f"{type(fault.error).__name__}: {fault.error}"[:500]
            quarantined = InputQuarantined(
                at=now, actor=actor, version=handle.version, error=redact(error).text
            )
            return self._runner.submit(handle, quarantined, self._runner.new_id())
        self._refuse_ended(handle)
        return self._runner.submit(
            handle, SessionAbandoned(at=now, actor=actor, reason=text), self._once.input_id()
        )


def _is_asking(handle: Handle) -> bool:
    return any(isinstance(call, CompletionRequested) for call in handle.session.calls)


def _is_stalled(handle: Handle) -> bool:
    """Whether a strict session waits to be asked again: no call is open, and none is answered."""
    status = kernel.status(handle.workflow, handle.session)
    return status == "waiting" and not _is_asking(handle)
