"""Accepting what a session of any workflow proposes, with the record number that it takes.

`use.sessions.accept_session` asks who accepts: a feature by its own, or the house, by what is here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Self

from msgspec.structs import replace

from preflights_es.kernel import ids
from preflights_es.kernel.errors import Refused, SessionMoved
from preflights_es.kernel.events import Actor, Input, Signable
from preflights_es.records.documents import Documents
from preflights_es.records.record_names import NUMBER_MAX, highest
from preflights_es.runtime.inputs import PERSON, Inputs, WantedInput, is_same_input
from preflights_es.runtime.runner import Handle, ProposedInput, Step
from preflights_es.runtime.sessions import Sessions
from preflights_es.use.answers import finish_due_documents
from preflights_es.use.foreign import record_form
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewAcceptance
from preflights_es.words.decisions import RecordForm
from preflights_es.words.workflow import View, numbered


def accept_proposal(request: Request, new: NewAcceptance) -> View:
    """Accept what is proposed in a session of any workflow, as it is now or as it was seen.

    Raises:
        SessionMoved: the session is at another version.
        Refused: nothing there can be accepted.
    """
    assert new.reasons is None, "a workflow that takes reasons has an acceptance of its own"
    handle, expect = begin_acceptance(request, new.session, new.expect)
    cls = handle.workflow.asked.acknowledges or Input
    own = Acceptances.of(request)
    proposes = cls is Input or "proposed" in handle.workflow.shown.statuses
    if not proposes and not new.elicited:
        own.refuse_unless_person(new.by, f"accept a {handle.workflow.name} session")
    how: dict[str, Any] = {"by": new.by, "expect": expect, "relays": new.elicited}
    step = own.acknowledged(handle.session_id, cls, {}, **how)
    notice_agent(request, step)
    return finish_due_documents(request, step)


def notice_agent(request: Request, step: Step) -> None:
    """Say that an agent's acceptance only proposes, and what shows that it is an agent's."""
    seen = request.evidence
    if seen.variables and not seen.client:
        text = f"{seen.set}: an agent ({request.actor.name}) accepts, so this is only proposed"
        request.notice("agent_proposes", text, session=ids.short_session(step.handle.session_id))


def begin_acceptance(
    request: Request, session: str, expect: int | None
) -> tuple[Handle, int | None]:
    """The session that is accepted, and the version at which it must still be then."""
    handle = request.sessions.load(session)
    request.process.documents.check_folders(handle.workflow.filed.filing, writes=True)
    handle = request.process.runner.refreshed(handle)
    if expect is None and handle.session.undecided is None:
        expect = handle.version
    return handle, expect


class Acceptances(Sessions):
    """The sessions of one project that come to something, as one actor meets them."""

    def __init__(
        self,
        inputs: Inputs,
        documents: Documents,
        folders: Mapping[str, str],
        form: Callable[[str], RecordForm] = lambda _: RecordForm(),
    ) -> None:
        """Args:
        folders: where an `adr` and a `task` go, relative to the project's root.
        form: how the records of a folder look.
        """
        super().__init__(inputs)
        self._documents = documents
        self._folders = folders
        self._form = form

    @classmethod
    def of(cls, request: Request) -> Self:
        """Those of the project that a request is about."""
        process = request.process
        new = PurePosixPath(process.record_places.new).as_posix()
        folders = {"adr": new, "task": process.settings.tasks}
        form = partial(record_form, process)
        return cls(request.inputs, process.documents, folders, form)

    # 1. Accepting ----------------------------------------------------------------------------

    def acknowledged(
        self,
        session_id: str,
        cls: type[Input],
        said: Mapping[str, Any],
        *,
        by: str | None,
        expect: int | None,
        complete: Callable[[ProposedInput], ProposedInput | None] | None = None,
        is_same: Callable[[Any], bool] | None = None,
        relays: bool = False,
    ) -> Step:
        """Acknowledge what is proposed; a decision when a person does it, a proposal otherwise.

        Args:
            said: fields of the Input that the caller says.
            by: the person's name, where no terminal shows that there is one.
            expect: the version at which it was shown.
            complete: the Input with what it needs of other sessions; None where a person has to
                say something first, and nothing is recorded.
            is_same: whether an Input that was recorded before is this one.
            relays: whether the person accepts whom the log does not see.

        Raises:
            SessionMoved: the session is at another version.
            Refused: it is closed, of another project, or nothing in it can be accepted.
        """
        self.refuse_relaying(by, ids.short_session(session_id))
        fields = self.sanitizer.cleaned_fields(cls, said)
        speakers = [PERSON] if relays else self._speakers(by)

        def record(input_id: str) -> Step:
            handle = self._runner.resume(self._runner.load(session_id)).handle
            if expect is not None and handle.version != expect:
                raise SessionMoved(session_id, expect, handle.version)
            self._refuse_unfit(handle, cls)
            self.refuse_elsewhere(handle)
            self._refuse_ended(handle)
            for actor in speakers:
                first = self._acknowledgement(handle, cls, fields, actor, input_id=input_id)
                if complete is not None:  # once it has a number: a decision that takes it is seen
                    if (whole := complete(first)) is None:
                        return Step(handle, ())
                    first = whole
                others, unmoved = self._others(first), self._unmoved(first)
                if not relays and actor is speakers[0]:  # a person touches the key once
                    relied = (*(one.handle for one in others), *unmoved)
                    first = self._inputs.signed(first, relied)
                if actor is speakers[-1] or self._is_proved(first):
                    break
            return self._runner.submit_all([first, *others], unmoved)[0]

        def is_said(before: Any) -> bool:
            return is_same_input(before, fields) and (is_same is None or is_same(before))

        wanted = WantedInput((cls,), speakers[-1], session_id, is_said, proved=speakers[0])
        return self._inputs.recorded(wanted, record)

    def _speakers(self, by: str | None) -> list[Actor]:
        """Whose word it may be: a person whom a touched key proves, else who is at work."""
        signer = self._inputs.signer
        if self._actor.kind == "agent" and signer is not None and signer.is_hardware:
            return [self._inputs.cleaned(signer.person(by)), self._actor]
        return [self._inputs.named(by)]

    def _is_proved(self, first: ProposedInput) -> bool:
        """Whether the signature shows that a person was there, in an agent's environment."""
        signer = self._inputs.signer
        return (
            signer is not None
            and isinstance(first.input, Signable)
            and signer.proves_person(first.input)
        )

    def check_signing(self) -> None:
        """See that there is a key, where acts are signed.

        Raises:
            Refused, SettingsError: there is none.
        """
        if self._inputs.signer is not None:
            self._inputs.signer.check()

    def refuse_relaying(self, by: str | None, session: str = "SESSION") -> None:
        """An agent passes no acceptance on: the log could not show whether there was one.

        Raises:
            Refused: an agent names a person.
        """
        if by is not None and self._actor.kind == "agent" and len(self._speakers(by)) == 1:
            message = f"{self._inputs.agent} cannot accept for {by!r}: a person accepts"
            raise Refused(message, code="agent_cannot_accept", session=session)

    def refuse_unless_person(self, by: str | None, what: str) -> None:
        """Refuse an agent, and a script that passes no person's word on.

        Raises:
            Refused: no person does it.
        """
        self.refuse_agent(what)
        if self._actor.kind == "script" and by is None:
            name = f" ({self._actor.name})" if self._actor.name else ""
            message = f"a script{name} cannot {what}, only a person can"
            raise Refused(message, code="person_needed")

    def _acknowledgement(
        self, handle: Handle, cls: type[Input], said: Mapping[str, Any], actor: Actor, input_id: str
    ) -> ProposedInput:
        accepting = handle.workflow.asked.accepting(handle.session.state, said)
        folder = self._folders.get(accepting.kind)
        held = numbered(handle.workflow, handle.session.state) if accepting.numbered else None
        if held and self._documents.is_record_folder(held.folder):  # where the proposal lies
            folder = held.folder
        number = self._number_of(handle, folder or "") if accepting.numbered else None
        fields = {**accepting.fields, **said}
        form = RecordForm() if number is None else self._form_of(handle, folder or "", number)
        more = {} if form == RecordForm() else {"form": form}
        new = self._inputs.made(cls, fields, actor, folder=folder, number=number, **more)
        return ProposedInput(handle, new, input_id, number)

    def _form_of(self, handle: Handle, folder: str, number: int) -> RecordForm:
        """That of the folder; of two records of one day and title the second bears its number."""
        form, record = self._form(folder), handle.workflow.filed.record
        if not form.day or record is None:
            return form
        day = ids.iso(self._runner.now()).partition("T")[0]
        path = f"{folder}/{form.file_name(number, day, record(handle.session.state).title)}"
        written = handle.view.written
        is_own = written is not None and written.path == path
        if is_own or path not in self._documents.record_paths():
            return form
        return replace(form, ending=f"{form.separator}{number}{form.ending}")

    def _others(self, first: ProposedInput) -> list[ProposedInput]:  # noqa: ARG002  of some workflows
        """What other sessions record with an acknowledgement."""
        return []

    def _unmoved(self, first: ProposedInput) -> list[Handle]:  # noqa: ARG002  of some workflows
        """Other sessions, on whose not moving meanwhile it relies."""
        return []

    def _refuse_unfit(self, handle: Handle, cls: type[Input]) -> None:
        """Refuse a session whose workflow has another Input to accept by, or none."""
        if handle.workflow.asked.acknowledges is not cls:
            of = f"session {handle.session_id[-8:]} is of the workflow {handle.workflow.name}"
            message = f"{of}: it proposes nothing to accept"
            raise Refused(message, code="not_acceptable", workflow=handle.workflow.name)

    # 2. Numbers ------------------------------------------------------------------------------

    def _number_of(self, handle: Handle, folder: str) -> int:
        """The record's own, unless it came from elsewhere and another session holds that here."""
        held = numbered(handle.workflow, handle.session.state)
        if held and held.folder in ("", folder):
            holder = self._runner.store.numbers(self._project).get(held)
            if holder in (None, handle.session_id):
                return held.number
        return self.next_number(folder)

    def next_number(self, folder: str, also: Collection[int] = ()) -> int:
        """The first above all of a folder that count.

        Args:
            also: numbers that are taken besides.

        Raises:
            Refused: none is left.
        """
        given, filed = self._given_in(folder), self._documents.numbers_used(folder)
        number, taken = highest(given, filed) + 1, {*given, *filed, *also}
        while number in taken:
            number += 1
        if number > NUMBER_MAX:
            message = f"no number is left: a record of this project has {NUMBER_MAX:,}"
            raise Refused(message, code="no_number_left")
        return number

    def _given_in(self, folder: str) -> Collection[int]:
        """The numbers that the log gave to records of a folder, or of a workflow that says none."""
        given = self._runner.store.numbers(self._project)
        return [one.number for one in given if one.folder in ("", folder)]

    def uncounted(self) -> list[int]:
        """Numbers of files that do not count, since they are far beyond the others."""
        folder = self._folders["adr"]
        used = self._documents.numbers_used(folder)
        top = highest(self._given_in(folder), used)
        return sorted(number for number in used if number > top)
