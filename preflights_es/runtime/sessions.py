"""What people do with a session of any workflow: each thing they do is one Input.

Text is checked and freed of secrets here, before anything is recorded; ids and time are chosen
here; everything about meaning is left to `decide`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel import ids
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import (
    AmbiguousSession,
    CallHeld,
    ErasedSession,
    PreflightsError,
    RecordWithoutSession,
    Refused,
    SessionFaulted,
    SessionMoved,
    UnknownSession,
)
from preflights_es.kernel.events import (
    UNSEEN,
    Actor,
    Evidence,
    Input,
    InputQuarantined,
    SessionAbandoned,
)
from preflights_es.kernel.lead import Lead, LeadChanged, Setup, StepRetried, setup_of
from preflights_es.kernel.ports import Head
from preflights_es.kernel.questions import Answers, Given
from preflights_es.kernel.session import Workflow, refuse_missing
from preflights_es.kernel.text import late_pattern
from preflights_es.runtime.idempotency import Once, Recalled, WantedInput, answering
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.runtime.sanitizing import cleaned_answers, cleaned_fields, name_cleaned

RECORD: Final = late_pattern(r"adr-?0*([1-9][0-9]{0,8})", re.IGNORECASE)
RECENT: Final = 50  # sessions looked at before all of a project are
LAST = "last"


def is_listed(runner: Runner, head: Head, of: str) -> bool:
    """Whether a session is of a workflow; where none is named, of one that is not `aside`."""
    return head.workflow == of if of else not runner.workflow_or_opaque(head.workflow).aside


class Finder:
    """Finds sessions of one project, as people name them."""

    def __init__(
        self,
        runner: Runner,
        project: str,
        numbered: Callable[[int], Sequence[str]] = lambda _: (),
        records: Callable[[int | str], Sequence[str]] = lambda _: (),
    ) -> None:
        """Args:
        numbered: sessions whose record may bear a number: branches that were merged may have
            given it twice, and the log knows one holder.
        records: paths of records without a session that bear a number or a name.
        """
        self._runner = runner
        self._project = project
        self._numbered = numbered
        self._records = records

    def resolved(self, typed: str, of: str = "") -> str:
        """The id that a person meant: whole, its beginning, its end, `ADR-0007`, or `last`.

        The name of a record's file, with or without its ending, is that of a record alone.

        Args:
            of: the workflow that `last` is of; if empty, any whose sessions are not `aside`.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
            RecordWithoutSession: the number or name is that of a record alone.
        """
        if typed == LAST:
            return self._last(of)
        if record := RECORD.fullmatch(typed.strip()):
            return self._bearing(typed, int(record[1]))
        wanted = typed.strip().lower()
        if not set(wanted) <= ids.DIGITS:
            is_name = {"-", "."} & set(wanted)  # a word is mostly a field's name
            if is_name and (paths := tuple(self._records(typed.strip()))):
                raise RecordWithoutSession(typed.strip(), None, paths)
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
        if not found and (paths := tuple(self._records(number))):
            raise RecordWithoutSession(typed.strip(), number, paths)
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

    def _last(self, of: str) -> str:
        """The newest session of the project, open or closed."""
        for head in self._newest_first():
            if is_listed(self._runner, head, of):
                return head.session_id
        raise UnknownSession(LAST)

    def _newest_first(self) -> Iterator[Head]:
        """The project's sessions; a second query only when the first page did not do."""
        page = self._runner.store.heads(self._project, RECENT)
        yield from page
        if len(page) == RECENT:
            yield from self._runner.store.heads(self._project)[RECENT:]

    def known(self, typed: str) -> str:
        """The id of the session that is meant; empty where there is none."""
        try:
            return self.resolved(typed)
        except UnknownSession:
            return ""

    def load(self, typed: str) -> Handle:
        """A session by what was typed."""
        return self._runner.load(self.resolved(typed))


PERSON: Final = Actor("user")
"""The person whose words an agent passes on; the log does not know the name."""


class Desk(msgspec.Struct, frozen=True):
    """Who is at work in which project, and what helps with sessions of every workflow."""

    runner: Runner
    project: str
    who: Callable[[], Actor]
    """Is at work; not asked by what only looks."""
    settle: Callable[[Step], Step] = lambda step: step
    """Makes the completions that a step asks for."""
    once: Once | None = None
    """Knows what the command recorded when it ran before."""
    check: Callable[[Handle], None] = lambda _: None
    """Refuses a session whose lead cannot be asked, before anything is recorded."""
    finder: Finder | None = None
    """Finds sessions; without one, what the log alone knows."""
    evidence: Evidence = UNSEEN
    """What was seen of who is at work."""


class AskedElsewhere(Step, frozen=True):
    """A step that is recorded while another process asks the provider; that process goes on."""

    asking: str
    """The process and the provider that it asks, in words."""


class Sessions:
    """The sessions of one project, as one actor meets them."""

    def __init__(self, desk: Desk) -> None:
        self._runner = desk.runner
        self._project = desk.project
        self._who = desk.who
        self._finder = desk.finder or Finder(desk.runner, desk.project)
        self.resolved = self._finder.resolved
        self.load = self._finder.load
        self._settle = desk.settle
        self._check = desk.check
        self._once = desk.once or Once(desk.runner, desk.project)
        self._evidence = desk.evidence

    @cached_property
    def _actor(self) -> Actor:
        """As an Input records it."""
        told = self._who()
        return replace(told, name=name_cleaned(told.name))

    def begin(
        self,
        workflow: Workflow[Any],
        text: str,
        setup: Setup,
        check: Callable[[Input], None] = lambda _: None,
    ) -> Step:
        """Begin a session of any workflow to which a text is enough.

        Raises:
            Refused: it takes more, or the text cannot be recorded.
        """
        if (first := workflow.opens) is None or not first.typed:
            message = f"a session of the workflow {workflow.name} takes more than a text to begin"
            raise Refused(message, code="text_not_enough", workflow=workflow.name)
        return self.opened(workflow, first, {next(iter(first.typed)): text}, setup, check=check)

    def opened(
        self,
        workflow: Workflow[Any],
        first: type[Input],
        said: Mapping[str, Any],
        setup: Setup | None = None,
        *,
        beside: Callable[[], Mapping[str, Any]] = dict,
        is_same: Callable[[Any], bool] = lambda _: True,
        check: Callable[[Input], None] = lambda _: None,
    ) -> Step:
        """Begin a session with an Input of a class.

        Args:
            said: what the caller says; under one key it must be the same again.
            beside: other fields, asked for when it is recorded.
            is_same: what else must be the same.
            check: refuses an Input before it is recorded.

        Raises:
            Refused: a text cannot be recorded.
        """
        fields = cleaned_fields(first, said)
        session_id = self._runner.new_session_id(self._project)
        uid, project = ids.decision_uid(session_id), self._project

        def record(input_id: str) -> Step:
            said_or_known = {**fields, **beside()}
            new = self._input(first, said_or_known, project=project, uid=uid, setup=setup)
            check(new)
            return self._runner.open(workflow, project, new, session_id, input_id)

        def is_said(before: Any) -> bool:
            return is_same(before) and says(before, fields, setup)

        wanted = WantedInput((first,), self._actor, "", is_said)
        return self._settled(self._once.recorded(wanted, record))

    def submitted(
        self,
        handle: Handle,
        cls: type[Input],
        said: Mapping[str, Any],
        *,
        beside: Callable[[], Mapping[str, Any]] = dict,
        asks: bool = False,
        relays: bool = False,
        by: str | None = None,
        expect: int | None = None,
    ) -> Step:
        """Record an Input of a class in a session that goes on.

        Args:
            said: what the caller says; under one key it must be the same again.
            beside: other fields, asked for when it is recorded.
            asks: whether a provider is asked for what follows.
            relays: whether the words are a person's, whom the log does not see.
            by: the person whose words they are, where the caller names one.
            expect: the version at which the session was shown.

        Raises:
            SessionMoved: it is at another version.
            Refused: the session takes nothing any more, or a text cannot be recorded.
        """
        fields = cleaned_fields(cls, said)

        def record(input_id: str) -> Step:
            current = self._runner.refreshed(handle)
            if expect is not None and current.version != expect:
                raise SessionMoved(handle.session_id, expect, current.version)
            self._refuse_ended(current)
            if asks:
                self._check(current)
            relayed_by = None if actor == self._actor else self._actor
            new = self._input(cls, {**fields, **beside()}, actor=actor, relayed_by=relayed_by)
            return self._runner.submit(current, new, input_id)

        actor = PERSON if relays else self._named(by)
        wanted = WantedInput((cls,), actor, handle.session_id, lambda new: says(new, fields))
        step = self._once.recorded(wanted, record)
        return self._settled(step) if asks else step

    def refuse_agent(self, what: str) -> None:
        """Raises:
        Refused: an agent is at work, and what is to be done takes a person.
        """
        if self._actor.kind == "agent":
            message = f"{self._agent()} cannot {what}, only a person can"
            raise Refused(message, code="agent_at_work")

    def _agent(self) -> str:
        """`an agent (codex; CODEX_CI is set)`: the agent at work, as messages name it."""
        about = "; ".join(filter(None, (self._actor.name, self._evidence.set)))
        return f"an agent ({about})" if about else "an agent"

    def _named(self, by: str | None) -> Actor:
        """The person whose word a caller passes on; else who is at work."""
        return self._actor if by is None else Actor("user", name_cleaned(by))

    def _input(self, cls: type[Input], fields: Mapping[str, Any], **known: Any) -> Input:
        """An Input of now, with what is known beside its fields where it has a place for that."""
        known = {"actor": self._actor, "evidence": self._evidence, **known}
        more = {name: known[name] for name in known if name in cls.__struct_fields__}
        return cls(at=self._runner.now(), **fields, **more)

    def check(self, answers: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Refuse answers that cannot be recorded, before a session is opened for them.

        Raises:
            Refused: a text is too long, or holds what no text holds.
        """
        cleaned_answers(answers)

    def answer(
        self,
        handle: Handle,
        answers: Iterable[tuple[str, Sequence[str]]],
        *,
        revise: bool = False,
        relays: bool = False,
        beside: Callable[[], Mapping[str, Any]] = dict,
    ) -> Step:
        """Answer, or revise what was answered: one Input for all of it.

        Args:
            answers: pairs of key and values.
            beside: other fields, as in `submitted`.
            relays: whether they are a person's words, whom the log does not see.

        Raises:
            Refused: the session takes no answers any more, or a text cannot be recorded.
        """
        cls = self._answers_of(handle, revise=revise, relays=relays)
        given = tuple(Given(key, tuple(values)) for key, values in answers)
        said = {"answers": given}
        return self.submitted(handle, cls, said, beside=beside, asks=True, relays=relays)

    def answered(
        self, handle: Handle, *, revise: bool = False, relays: bool = False
    ) -> Handle | None:
        """The session as the answers met it that this command has given before, under its key.

        Raises:
            Refused: the key was used for something else.
            ErasedSession: nothing is asked there, and nothing is left of what was.
        """
        cls = self._answers_of(handle, revise=revise, relays=relays)
        actor = PERSON if relays else self._actor
        before = self._once.before(WantedInput((cls,), actor, handle.session_id))
        if before is None:
            _refuse_erased(handle)
        return before

    def _answers_of(self, handle: Handle, *, revise: bool, relays: bool) -> type[Answers]:
        if relays and self._actor.kind == "user":
            message = "a person answers here: nothing is relayed"
            raise Refused(message, code="nothing_relayed")
        return _answers_of(handle, revise=revise, relays=relays)

    def end_key(self) -> None:
        """What is recorded from here on has no key: a person says it, and sees what came of it."""
        self._once.end()

    def _settled(self, step: Step) -> Step:
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
        # What replaces it is said of what can be replaced.
        code = f"session_{handle.status}" if handle.workflow.related else "session_ended"
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
        text = cleaned_fields(SessionAbandoned, {"reason": reason})["reason"]
        wanted = WantedInput(
            (SessionAbandoned, InputQuarantined),
            self._actor,
            handle.session_id,
            lambda before: isinstance(before, InputQuarantined) or before.reason == text,
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
            from preflights_es.redaction.masking import redact

            error = f"{type(fault.error).__name__}: {fault.error}"[:500]
            quarantined = InputQuarantined(
                at=now, actor=actor, version=handle.version, error=redact(error).text
            )
            return self._runner.submit(handle, quarantined, input_id)
        self._refuse_ended(handle)
        return self._runner.submit(
            handle, SessionAbandoned(at=now, actor=actor, reason=text), input_id
        )


def says(before: Input, fields: Mapping[str, Any], setup: Setup | None = None) -> bool:
    """Whether an Input says the same, to the same model, be it at another time."""
    was = setup_of(before)
    if setup and was and answering(was.lead) != answering(setup.lead):
        return False
    return all(getattr(before, name) == fields[name] for name in fields if name != "redacted")


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


def _answers_of(handle: Handle, *, revise: bool, relays: bool) -> type[Answers]:
    refuse_missing(handle.workflow)
    workflow = handle.workflow
    cls = workflow.relayed if relays else workflow.revisions if revise else workflow.answers
    if cls is None:
        what = "its answers cannot be changed" if revise else "it asks no question"
        what = "it takes no relayed answer" if relays else what
        message = f"session {handle.session_id[-8:]} is of the workflow {workflow.name}: {what}"
        raise Refused(message, code="no_answers", workflow=workflow.name)
    return cls


def _is_asking(handle: Handle) -> bool:
    return any(isinstance(call, CompletionRequested) for call in handle.session.calls)
