"""What belongs to one caller of a process: who is at work, under which key, led by whom."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from preflights_es.kernel import __version__
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import LogBusy, Notice, PreflightsError
from preflights_es.kernel.events import UNSEEN, Actor, Evidence
from preflights_es.kernel.lead import WRITERS, Lead, Setup, setup_of
from preflights_es.runtime.runner import Handle, Step
from preflights_es.settings.load import surroundings
from preflights_es.system.interpreter import ran
from preflights_es.use.leads import CODE, Leads
from preflights_es.use.process import Process, projected
from preflights_es.use.reading import RequestReading
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    from preflights_es.history.erasure import Erasure
    from preflights_es.runtime.inputs import Inputs
    from preflights_es.runtime.sessions import Sessions
    from preflights_es.use.signer import Signer


SHOWN_AFTER_S: Final = 0.3  # a quicker answer shows nothing
Watch = Callable[[Lead, int | None], None]


class Request:
    """One command, one call of the API: used by one thread; each one gets its own."""

    def __init__(
        self,
        process: Process,
        who: Callable[[], Actor],
        *,
        evidence: Evidence = UNSEEN,
        leads: Leads | None = None,
        key: str = "",
    ) -> None:
        """Args:
        who: is at work; asked once, by what records or looks for it.
        evidence: what was seen of who is at work.
        leads: as the caller says; else as the settings do.
        key: makes what the request records happen once, however often it is made.
        """
        self.process = process
        self._who = who
        self.evidence = evidence
        self.leads = leads or Leads(process.settings)
        self.key = key
        self.notices: list[Notice] = []
        """What a person has to know of the call, in order."""
        self.tell: Callable[[Notice], None] = lambda _: None
        """Takes each notice at once."""
        self.watch: Watch | None = None
        """Takes who is asked and for how many seconds; None once the answer is here."""
        self.signs = process.settings.sign.always
        """Whether what the caller accepts is signed; said before anything is recorded."""
        self.asking_for = ""
        """The session for which a model was asked: what was said in it is recorded."""

    def another(
        self,
        actor: Actor,
        key: str = "",
        client: str = "",
        way: Literal["browser"] | UnsetType = UNSET,
    ) -> Request:
        """A request of a client to the same process, whose terminal is not the client's."""
        seen = replace(self.evidence, terminal=False, client=client, way=way)
        leads = self.leads.anew()
        other = Request(self.process, lambda: actor, evidence=seen, leads=leads, key=key)
        other.signs = False  # no terminal is there at which a key could ask
        return other

    @cached_property
    def actor(self) -> Actor:
        """Who is at work.

        Raises:
            SettingsError: git or the system has a name for it that cannot be recorded.
        """
        actor = self._who()
        self.notice_redacted("your name (PREFLIGHTS_ACTOR, or as git knows it)", actor.name)
        return actor

    def notice(self, code: str, text: str, **fields: Any) -> None:
        """Say something that a person has to know, once."""
        if (found := Notice(code, text, fields)) not in self.notices:
            self.notices.append(found)
            self.tell(found)

    def notice_redacted(self, what: str, text: str) -> None:
        """Say that a text which no session shows is recorded without its secrets."""
        from preflights_es.redaction.masking import redact

        if kinds := redact(text, self.process.sanitizer.kinds).kinds:
            found = f"what looks like a secret ({', '.join(kinds)})"
            self.notice("redacted", f"{what} is recorded without {found}", kinds=kinds)

    def finish_pending(self) -> None:
        """Write documents that an earlier call left open; trouble with one is no reason to stop.

        Raises:
            PreflightsError: the log itself cannot be opened.
        """
        _ = self.process.store  # what is wrong with the log as a whole is no matter of one document
        try:
            for handle in self.process.finish_pending():
                written = handle.view.written
                path = written.path if written else handle.session_id
                if written and written.sha256 != handle.view.hashes[-1]:
                    text = f"{path} was edited: its new text lies in {path}.new"
                    self.notice("document_edited", text, path=path)
                    continue
                self.notice("document_finished", f"finished {path}", path=path)
        except LogBusy as error:
            text = f"an earlier document is left to the next command: {error}"
            self.notice("document_left", text)
        except PreflightsError as error:
            self.notice("document_open", f"an earlier document is still open: {error}")

    @cached_property
    def reading(self) -> RequestReading:
        """The log and the session files of this project, to read."""
        return RequestReading(self.process, self.finish_pending, self.notice)

    @cached_property
    def inputs(self) -> Inputs:
        """What it records; first, what earlier calls left open is written."""
        from preflights_es.runtime.inputs import Inputs  # looking records nothing

        process = self.process
        return Inputs(
            process.runner,
            process.project,
            lambda: self.actor,
            evidence=self.evidence,
            key=self.key,
            log_id=process.log_id,
            finder=self.reading.finder,
            settle=self.settled,
            check=self._check_lead,
            signer=self._signer(),
        )

    def _signer(self) -> Signer | None:
        if not self.signs:
            return None
        from preflights_es.use.signer import Signer  # most sign nothing

        return Signer(self.process.settings, surroundings(), self.tell)

    def _check_lead(self, handle: Handle) -> None:
        self.leads.check(handle)  # those of now: the caller may have named others

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions of this project, whatever their workflow."""
        from preflights_es.runtime.sessions import Sessions  # likewise

        return Sessions(self.inputs)

    @cached_property
    def erasure(self) -> Erasure:
        """What erases sessions of this project."""
        from preflights_es.history.erasure import Erasure

        process, settings = self.process, self.process.settings
        records = (one.path for one in process.record_places.folders)
        folders = (*dict.fromkeys((process.record_places.new, *records)), settings.tasks)
        own = (*CODE, *WRITERS)
        return Erasure(
            self.inputs, process.store, settings.root, code=own, clear=projected(), folders=folders
        )

    def at(self, process: Process) -> Request:
        """This request, to another process: to what session files say more."""
        if process is self.process:
            return self
        return Request(process, lambda: self.actor, evidence=self.evidence, leads=self.leads)

    def setup(self, workflow: Workflow[Any], *, strict: bool = False) -> Setup:
        """What a new session records of the program.

        Raises:
            SettingsError: the provider lacks something; nothing is recorded yet.
        """
        lead = self.leads.lead(workflow, strict=strict)
        return Setup(
            preflights=__version__,
            decider=workflow.decider.version,
            provider=self.leads.settings.provider,
            prompts=workflow.led.prompts if lead else (),
            lead=lead,
        )

    def led_anew(self, handle: Handle) -> Step:
        """A session under the lead that this request names, as strict as it was.

        Raises:
            SettingsError: the provider lacks something; nothing is recorded.
            Refused: the session takes nothing any more, or a model is being asked.
        """
        workflow = handle.workflow
        now = workflow.led.lead(handle.session.state)
        former = now or self._first_lead(handle)
        self.leads = self.leads.over(former)
        lead = self.leads.lead(workflow, strict=former is not None and former.strict)
        if lead == now and lead is not None:
            return self.sessions.resume(handle)  # only the way to the same server was said
        return self.sessions.led_by(handle, lead, workflow.led.prompts if lead else ())

    def _first_lead(self, handle: Handle) -> Lead | None:
        """Who led a session at its beginning, before a fallback."""
        runner = self.process.runner
        first = runner.codec(handle.workflow).decode(runner.store.read(handle.session_id)[0])
        setup = setup_of(first)
        return setup.lead if setup is not None else None

    def settled(self, step: Step) -> Step:
        """The session after every completion it asks for; at once where it asks for none."""
        handle = step.handle
        if not any(isinstance(call, CompletionRequested) for call in handle.session.calls):
            return step
        lead = handle.workflow.led.lead(handle.session.state)
        assert lead is not None, "only a session that is led asks a model"
        self.asking_for = handle.session_id
        return Step(ran(lambda: self._settled(handle, lead)), step.decisions)

    async def _settled(self, handle: Handle, lead: Lead) -> Handle:
        async with self.leads.provider_for(lead) as provider, _watched(self.watch, lead):
            try:
                return (await self.process.runner.settle(handle, provider)).handle
            finally:
                if host := provider.failed_at:
                    self.notice("asked_at", f"{lead.provider} was asked at {host}", host=host)

    def close(self) -> None:
        """Give the process back, where it was made for this request alone."""
        self.process.close()


@asynccontextmanager
async def _watched(watch: Watch | None, lead: Lead) -> AsyncIterator[None]:
    """Tells the seconds while a model is at work, by a task of the same loop."""
    if watch is None:
        yield
        return
    import asyncio

    async def tick() -> None:
        await asyncio.sleep(SHOWN_AFTER_S)
        try:
            for seconds in count():
                watch(lead, seconds)
                await asyncio.sleep(1)
        finally:
            watch(lead, None)

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking
