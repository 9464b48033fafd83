"""What people do with a session of any workflow: each thing they do is one Input.

Text is checked and freed of secrets here, before anything is recorded; ids and time are chosen
here; everything about meaning is left to `decide`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.core import ids
from preflights_es.core import session as kernel
from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import (
    AmbiguousSession,
    CallHeld,
    ErasedSession,
    PreflightsError,
    Refused,
    SessionFaulted,
    UnknownSession,
)
from preflights_es.core.events import Actor, Input, InputQuarantined, SessionAbandoned
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.lead import Lead, LeadChanged, Setup, StepRetried, setup_of
from preflights_es.core.opaque import refuse_missing
from preflights_es.core.opening import Opening
from preflights_es.core.ports import Head
from preflights_es.core.questions import Answers
from preflights_es.core.session import Workflow
from preflights_es.core.text import ANSWER_MAX, visible
from preflights_es.redaction import redact
from preflights_es.runtime.idempotency import Once, Recalled, Wanted, answering
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.runtime.sanitizing import cleaned, cleaned_answers, name_cleaned

RECORD: Final = late_pattern(r"adr-?0*([1-9][0-9]{0,8})", re.IGNORECASE)
RECENT: Final = 50  # sessions looked at before all of a project are
TEXT_MAX: Final = 20_000  # characters of a text that begins a session; longer is a document
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
    """Refuses a session whose lead cannot be asked, before anything is recorded."""
    numbered: Callable[[int], Sequence[str]] = lambda _: ()
    """Sessions of the project whose record may bear a number: branches that were merged may have
    given it twice, and the log knows one holder."""


class AskedElsewhere(Step, frozen=True):
    """A step that is recorded while another process asks the provider; that process goes on."""

    asking: str
    """Who asks whom, in words."""


class Sessions:
    """The sessions of one project, as one actor meets them."""

    def __init__(self, desk: Desk) -> None:
        self._runner = desk.runner
        self._project = desk.project
        self._actor = replace(desk.actor, name=name_cleaned(desk.actor.name))
        self._settle = desk.settle
        self._check = desk.check
        self._numbered = desk.numbered
        self._once = desk.once or Once(desk.runner, desk.project)

    # 1. Finding ------------------------------------------------------------------------------

    def resolved(self, typed: str) -> str:
        """The id that a person meant: whole, its beginning, its end, `ADR-0007`, or `last`.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
        """
        if typed == LAST:
            return self._last()
        if record := RECORD.fullmatch(typed.strip()):
            return self._bearing(typed, int(record[1]))
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

    def _bearing(self, typed: str, number: int) -> str:
        """The session whose record bears a number in this project."""
        holder = self._runner.store.numbers(self._project).get(number, "")
        ids_ = dict.fromkeys(one for one in (holder, *self._numbered(number)) if one)
        found = tuple(one for one in ids_ if self._bears(one, number, holder))
        if not found:
            raise UnknownSession(typed)
        if len(found) > 1:
            raise AmbiguousSession(typed, found, "name one by its id", "ambiguous_number")
        return found[0]

    def _bears(self, session_id: str, number: int, holder: str) -> bool:
        """Whether its own log says so; of one that cannot be read, the log's list of numbers."""
        try:
            handle = self._runner.load(session_id)
        except PreflightsError:
            return session_id == holder
        if handle.session.closed == "erased":
            return session_id == holder
        return handle.workflow.number(handle.session.state) == number

    def _last(self) -> str:
        """The newest session of this project that this actor began."""
        runner = self._runner
        for head in self._newest_first():
            first = runner.store.read(head.session_id)[0]
            if first.data is None:
                continue
            event = runner.codec(runner.workflow_or_opaque(head.workflow)).decode(first)
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

    # 2. Beginning, and going on ------------------------------------------------------------------

    def begin(self, workflow: Workflow[Any], text: str, setup: Setup) -> Step:
        """Begin a session of any workflow to which a text is enough.

        Raises:
            Refused: it takes more, or the text cannot be recorded.
        """
        opens = workflow.opens
        if opens is None:
            message = f"a session of the workflow {workflow.name} takes more than a text to begin"
            raise Refused(message, code="text_not_enough", workflow=workflow.name)
        said, redacted = cleaned("the text", text.strip(), TEXT_MAX)
        if not visible(said):
            raise Refused("the text is empty: say what the session is about", code="empty_text")
        opening = Opening(
            at=self._runner.now(),
            actor=self._actor,
            text=said,
            redacted=redacted,
            project=self._project,
            setup=setup,
        )
        first = opens(opening)
        session_id = self._runner.new_session_id(self._project)

        def is_said(before: Input) -> bool:
            was = setup_of(before) or setup
            same = opens(replace(opening, at=before.at, setup=was)) == before
            return same and answering(was.lead) == answering(setup.lead)

        def record(input_id: str) -> Step:
            return self._runner.open(workflow, self._project, first, session_id, input_id)

        return self._recorded(Wanted((type(first),), self._actor, "", is_said), record)

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
        cls = _answers_of(handle, revise=revise)
        given, redacted = cleaned_answers(answers)

        def record(input_id: str) -> Step:
            current = self._runner.refreshed(handle)
            self._refuse_ended(current)
            self._check(current)
            new = cls(at=self._runner.now(), actor=self._actor, answers=given, redacted=redacted)
            return self._runner.submit(current, new, input_id)

        wanted = Wanted(
            (cls,), self._actor, handle.session_id, lambda before: before.answers == given
        )
        return self._recorded(wanted, record)

    def answered(self, handle: Handle, *, revise: bool = False) -> Handle | None:
        """The session as the answers met it that this command has given before, under its key.

        Raises:
            Refused: the key was used for something else.
            ErasedSession: nothing is asked there, and nothing is left of what was.
        """
        cls = _answers_of(handle, revise=revise)
        before = self._once.before(Wanted((cls,), self._actor, handle.session_id))
        if before is None:
            _refuse_erased(handle)
        return before

    def end_key(self) -> None:
        """What is recorded from here on has no key: a person says it, and sees what came of it."""
        self._once.end()

    def _recorded(self, wanted: Wanted, record: Callable[[str], Step]) -> Step:
        step = self._once.recorded(wanted, record)
        if recalled(step):
            return step
        try:
            return self._settle(step)
        except CallHeld as held:
            # It is recorded, and the process that asks goes on from there.
            return AskedElsewhere(step.handle, step.decisions, held.asking)

    def resume(self, handle: Handle) -> Step:
        """Go on where an error, a crash or a strict session stopped.

        Raises:
            ErasedSession: there is nothing to go on with.
            SessionFaulted: deciding the last Input still raises.
        """
        _refuse_erased(handle)
        step = self._runner.resume(handle)
        if kernel.is_stalled(step.handle.workflow, step.handle.session):
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
            id_ = ids.short(handle.session_id)
            message = f"session {id_} has asked its model already"
            raise Refused(message, code="model_asked", session=id_)
        new = LeadChanged(
            at=self._runner.now(), actor=self._actor, lead=lead, prompts=tuple(prompts)
        )
        return self._settle(self._runner.submit(handle, new, self._runner.new_id()))

    def _refuse_ended(self, handle: Handle) -> None:
        _refuse_erased(handle)
        short = ids.short(handle.session_id)
        code = f"session_{handle.status}"
        if handle.session.closed:
            message = f"session {short} was {handle.session.closed}: start a new one"
            raise Refused(message, code=code, session=short)
        if why := handle.view.ended:
            raise Refused(f"session {short} {why}", code=code, session=short)

    def refuse_other(self, handle: Handle, workflow: Workflow[Any], why: str) -> None:
        """Raises:
        Refused: the session is of another workflow.
        """
        if handle.workflow.name != workflow.name:
            found = handle.workflow.name
            message = f"session {ids.short(handle.session_id)} is of the workflow {found}; {why}"
            raise Refused(message, code="other_workflow", workflow=found)

    def refuse_elsewhere(self, handle: Handle) -> None:
        """What a session left in its project (documents, numbers, items) is that project's.

        Raises:
            Refused: the session belongs to another project.
        """
        if handle.project != self._project:
            raise Refused(
                f"session {ids.short(handle.session_id)} belongs to the project "
                f"{handle.project!r}: go there, or set PREFLIGHTS_PROJECT",
                code="other_project",
                project=handle.project,
            )

    def abandon(self, handle: Handle, reason: str = "", *, force: bool = False) -> Step:
        """Give a session up.

        Args:
            force: also one whose last Input cannot be decided; that Input is set aside.

        Raises:
            Refused: it is closed, accepted, or faulted without `force`.
        """
        text, _ = cleaned("the reason", reason, ANSWER_MAX)
        wanted = Wanted(
            (SessionAbandoned, InputQuarantined),
            self._actor,
            handle.session_id,
            lambda before: getattr(before, "reason", text) == text,
        )
        return self._once.recorded(
            wanted, lambda input_id: self._abandoned(handle, text, input_id, force=force)
        )

    def _abandoned(self, handle: Handle, text: str, input_id: str, *, force: bool) -> Step:
        self._refuse_ended(handle)
        now, actor = self._runner.now(), self._actor
        try:
            handle = self._runner.resume(handle).handle
        except SessionFaulted as fault:
            if not force:
                id_ = ids.short(handle.session_id)
                raise Refused(
                    f"session {id_} is faulted at event {fault.version} "
                    f"({type(fault.error).__name__})",
                    code="faulted_input",
                    session=id_,
                ) from fault
            error = f"{type(fault.error).__name__}: {fault.error}"[:500]
            quarantined = InputQuarantined(
                at=now, actor=actor, version=handle.version, error=redact(error).text
            )
            return self._runner.submit(handle, quarantined, input_id)
        self._refuse_ended(handle)
        return self._runner.submit(
            handle, SessionAbandoned(at=now, actor=actor, reason=text), input_id
        )


def recalled(step: Step) -> bool:
    """Whether the step was recorded before, and the session has gone on since."""
    return isinstance(step, Recalled)


def _refuse_erased(handle: Handle) -> None:
    """Nothing goes on where nothing is left, or the code is not here.

    Raises:
        ErasedSession: it was erased.
        WorkflowMissing: its workflow is not here.
    """
    if handle.session.closed == "erased":
        raise ErasedSession(handle.session_id)
    refuse_missing(handle.workflow)


def _answers_of(handle: Handle, *, revise: bool) -> type[Answers]:
    refuse_missing(handle.workflow)
    workflow = handle.workflow
    cls = workflow.revisions if revise else workflow.answers
    if cls is None:
        what = "no answer can be changed" if revise else "nothing is asked"
        message = f"in a session of the workflow {workflow.name} {what}"
        raise Refused(message, code="no_answers", workflow=workflow.name)
    return cls


def _is_asking(handle: Handle) -> bool:
    return any(isinstance(call, CompletionRequested) for call in handle.session.calls)
