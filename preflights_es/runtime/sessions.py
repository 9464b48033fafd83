"""What people do with a session of any workflow: each thing they do is one Input.

Text is checked and freed of secrets here, before anything is recorded; ids and time are chosen
here; everything about meaning is left to `decide`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from preflights_es.kernel import ids
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import ErasedSession, Refused, SessionFaulted, SessionMoved
from preflights_es.kernel.events import Actor, Input, InputQuarantined, SessionAbandoned, Signable
from preflights_es.kernel.lead import Lead, LeadChanged, NamesLead, Setup, StepRetried
from preflights_es.runtime.inputs import PERSON, Inputs, WantedInput, is_same_input
from preflights_es.runtime.runner import Handle, ProposedInput, Step
from preflights_es.words.questions import Answers, GivenAnswer
from preflights_es.words.workflow import Workflow, is_stalled


class Sessions:
    """The sessions of one project, as one actor meets them."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._runner = inputs.runner
        self.sanitizer = inputs.runner.sanitizer
        self._project = inputs.project

    @property
    def _actor(self) -> Actor:
        return self._inputs.actor

    def resolved(self, typed: str, of: str = "") -> str:
        """The id of the session of the log that is meant, as `Finder.recorded` finds it."""
        return self._inputs.finder.recorded(typed, of)

    def load(self, typed: str, of: str = "") -> Handle:
        """The same, verified and folded."""
        return self._runner.load(self.resolved(typed, of))

    def begin(
        self,
        workflow: Workflow[Any],
        text: str,
        setup: Setup,
        check: Callable[[Input], Input] = lambda new: new,
    ) -> Step:
        """Begin a session of any workflow to which a text is enough.

        Raises:
            Refused: it takes more, or the text cannot be recorded.
        """
        if (first := workflow.asked.opens) is None or not first.typed:
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
        check: Callable[[Input], Input] = lambda new: new,
    ) -> Step:
        """Begin a session with an Input of a class.

        Args:
            said: what the caller says; under one key it must be the same again.
            beside: other fields, asked for when it is recorded.
            is_same: what else must be the same.
            check: refuses an Input, or completes it, before it is recorded.

        Raises:
            Refused: a text cannot be recorded.
        """
        fields = self.sanitizer.cleaned_fields(first, said)
        session_id = self._runner.new_session_id(self._project)
        uid, project = ids.decision_uid(session_id), self._project

        def record(input_id: str) -> Step:
            said_or_known = {**fields, **beside()}
            new = self._inputs.made(first, said_or_known, project=project, uid=uid, setup=setup)
            new = check(new)
            return self._runner.open(workflow, project, new, session_id, input_id=input_id)

        def is_said(before: Any) -> bool:
            return is_same(before) and is_same_input(before, fields, setup)

        wanted = WantedInput((first,), self._actor, "", is_said)
        return self._inputs.recorded(wanted, record, asks=True)

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
        fields = self.sanitizer.cleaned_fields(cls, said)

        def record(input_id: str) -> Step:
            current = self._as_shown(handle, expect)
            self._refuse_ended(current)
            if asks and not issubclass(cls, NamesLead):  # its lead was checked when it was made
                self._inputs.check(current)
            new = self._inputs.made(cls, {**fields, **beside()}, actor)
            signs = self._inputs.signer is not None and isinstance(new, Signable)
            if expect is None and not signs:
                return self._runner.submit(current, new, input_id)
            current = self._runner.resume(current).handle
            proposed = self._inputs.signed(ProposedInput(current, new, input_id))
            return self._runner.submit_all([proposed])[0]

        actor = PERSON if relays else self._inputs.named(by)
        wanted = WantedInput(
            (cls,), actor, handle.session_id, lambda new: is_same_input(new, fields)
        )
        return self._inputs.recorded(wanted, record, asks=asks)

    def refuse_agent(self, what: str) -> None:
        """Raises:
        Refused: an agent is at work, and what is to be done takes a person.
        """
        if self._actor.kind == "agent":
            message = f"{self._inputs.agent} cannot {what}, only a person can"
            raise Refused(message, code="agent_at_work")

    def check(self, answers: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Refuse answers that cannot be recorded, before a session is opened for them.

        Raises:
            Refused: a text is too long, or holds what no text holds.
        """
        self.sanitizer.cleaned_answers(answers)

    def answer(
        self,
        handle: Handle,
        answers: Iterable[tuple[str, Sequence[str]]],
        *,
        revise: bool = False,
        relays: bool = False,
        expect: int | None = None,
    ) -> Step:
        """Answer, or revise what was answered: one Input for all of it.

        Args:
            answers: pairs of key and values.
            expect: as in `submitted`.
            relays: whether they are a person's words, whom the log does not see.

        Raises:
            SessionMoved: it is at another version.
            Refused: the session takes no answers any more, or a text cannot be recorded.
        """
        cls = self._answers_of(handle, revise=revise, relays=relays)
        given = tuple(GivenAnswer(key, tuple(values)) for key, values in answers)
        said = {"answers": given}
        return self.submitted(handle, cls, said, asks=True, relays=relays, expect=expect)

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
        before = self._inputs.before(WantedInput((cls,), actor, handle.session_id))
        if before is None:
            _refuse_erased(handle)
        return before

    def _answers_of(self, handle: Handle, *, revise: bool, relays: bool) -> type[Answers]:
        if relays and self._actor.kind == "user":
            raise Refused("a person answers here: nothing is relayed", code="nothing_relayed")
        asked = handle.workflow.asked
        cls = asked.relayed if relays else asked.revisions if revise else asked.answers
        if cls is None:
            what = "its answers cannot be changed" if revise else "it asks no question"
            what = "it takes no relayed answer" if relays else what
            name = handle.workflow.name
            message = f"session {handle.session_id[-8:]} is of the workflow {name}: {what}"
            raise Refused(message, code="no_answers", workflow=name)
        return cls

    def resume(self, handle: Handle) -> Step:
        """Go on where an error, a crash or a strict session stopped.

        Raises:
            ErasedSession: there is nothing to go on with.
            SessionFaulted: deciding the last Input still raises.
        """
        _refuse_erased(handle)
        step = self._runner.resume(handle)
        if is_stalled(step.handle.workflow, step.handle.session):
            self._inputs.check(step.handle)
            again = StepRetried(at=self._runner.now(), actor=self._actor)
            step = self._runner.submit(step.handle, again, self._runner.new_id())
        return self._inputs.settle(step)

    def led_by(
        self, handle: Handle, lead: Lead | None, prompts: Sequence[tuple[str, str]] = ()
    ) -> Step:
        """Go on under another lead: a model, or the rules where it is None.

        Raises:
            Refused: the session takes nothing any more, or a model is being asked.
        """
        self._refuse_ended(handle)
        handle = self._runner.resume(handle).handle
        if any(isinstance(call, CompletionRequested) for call in handle.session.calls):
            id_ = ids.short_session(handle.session_id)
            message = f"session {id_} has asked its model already"
            raise Refused(message, code="model_asked", session=id_)
        new = LeadChanged(
            at=self._runner.now(), actor=self._actor, lead=lead, prompts=tuple(prompts)
        )
        return self._inputs.settle(self._runner.submit(handle, new, self._runner.new_id()))

    def _refuse_ended(self, handle: Handle) -> None:
        _refuse_erased(handle)
        short = ids.short_session(handle.session_id)
        # What replaces it is said of what can be replaced.
        code = f"session_{handle.status}" if handle.workflow.filed.related else "session_ended"
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
            message = (
                f"session {ids.short_session(handle.session_id)} is of the workflow {found}; {why}"
            )
            raise Refused(message, code="other_workflow", workflow=found)

    def refuse_elsewhere(self, handle: Handle) -> None:
        """What a session left in its project (documents, numbers, items) is that project's.

        Raises:
            Refused: the session belongs to another project.
        """
        if handle.project != self._project:
            raise Refused(
                f"session {ids.short_session(handle.session_id)} belongs to the project "
                f"{handle.project!r}: go there, or set PREFLIGHTS_PROJECT",
                code="other_project",
                project=handle.project,
            )

    def abandon(
        self, handle: Handle, reason: str = "", *, force: bool = False, expect: int | None = None
    ) -> Step:
        """Give a session up.

        Args:
            force: also one whose last Input cannot be decided; that Input is set aside.
            expect: the version at which the session was shown.

        Raises:
            SessionMoved: it is at another version.
            Refused: it is closed, accepted, or faulted without `force`.
        """
        text = self.sanitizer.cleaned_fields(SessionAbandoned, {"reason": reason})["reason"]
        wanted = WantedInput(
            (SessionAbandoned, InputQuarantined),
            self._actor,
            handle.session_id,
            lambda before: isinstance(before, InputQuarantined) or before.reason == text,
        )
        return self._inputs.recorded(
            wanted,
            lambda id_: self._abandoned(self._as_shown(handle, expect), text, id_, force=force),
        )

    def _as_shown(self, handle: Handle, expect: int | None) -> Handle:
        """The session as it stands now, which has to be as it was shown."""
        current = self._runner.refreshed(handle)
        if expect is not None and current.version != expect:
            raise SessionMoved(handle.session_id, expect, current.version)
        return current

    def _abandoned(self, handle: Handle, text: str, input_id: str, *, force: bool) -> Step:
        self._refuse_ended(handle)
        now, actor = self._runner.now(), self._actor
        try:
            handle = self._runner.resume(handle).handle
        except SessionFaulted as fault:
            if not force:
                id_ = ids.short_session(handle.session_id)
                raise Refused(
                    f"session {id_} is faulted at event {fault.version} "
                    f"({type(fault.error).__name__})",
                    code="faulted_input",
                    session=id_,
                ) from fault
            from preflights_es.redaction.masking import redact

            error = f"{type(fault.error).__name__}: {fault.error}"[:500]
            quarantined = InputQuarantined(
                at=now,
                actor=actor,
                version=handle.version,
                error=redact(error, self.sanitizer.kinds).text,
            )
            return self._runner.submit(handle, quarantined, input_id)
        self._refuse_ended(handle)
        new = SessionAbandoned(at=now, actor=actor, reason=text)
        # Not decided again where it moved: it may have been accepted meanwhile.
        return self._runner.submit_all([ProposedInput(handle, new, input_id)])[0]


def _refuse_erased(handle: Handle) -> None:
    """Nothing goes on where nothing is left.

    Raises:
        ErasedSession: it was erased.
    """
    if handle.session.closed == "erased":
        raise ErasedSession(handle.session_id)
