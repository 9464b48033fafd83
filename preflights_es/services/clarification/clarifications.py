"""What people do with a clarification, besides what they do with any session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from preflights_es.archive.record_numbers import NUMBER_MAX, highest
from preflights_es.core import ids
from preflights_es.core.artifacts import Related
from preflights_es.core.errors import (
    Conflict,
    NumberTaken,
    PreflightsError,
    Refused,
    SessionMoved,
    StoreUnavailable,
    UnknownSession,
)
from preflights_es.core.events import Actor
from preflights_es.core.lead import Setup
from preflights_es.core.text import INTENTION_MAX, one_line, shown, visible
from preflights_es.runtime.documents import Documents
from preflights_es.runtime.idempotency import Wanted, answering
from preflights_es.runtime.runner import CONFLICTS_MAX, Handle, Proposed, Step
from preflights_es.runtime.sanitizing import cleaned, name_cleaned
from preflights_es.runtime.sessions import RECENT, RECORD, Desk, Sessions
from preflights_es.services.request import Request
from preflights_es.workflows import clarification
from preflights_es.workflows.clarification.decide import kind_of
from preflights_es.workflows.clarification.events import (
    DecisionAcknowledged,
    DecisionRenumbered,
    DecisionSuperseded,
    IntentionDeclared,
    Known,
    ReferenceRenumbered,
)
from preflights_es.workflows.clarification.state import State, accepted
from preflights_es.workflows.clarification.values import HeuristicsConfig, LLMContext, Mark

KNOWN_MAX: Final = 20  # accepted decisions that a model is told of


def clarifications_of(request: Request) -> Clarifications:
    """The clarifications of the project that a request is about."""
    process = request.process
    folders = {"adr": process.settings.decisions, "task": process.settings.tasks}
    return Clarifications(request.desk, process.documents, folders)


class Clarifications(Sessions):
    """The clarifications of one project, as one actor meets them."""

    def __init__(self, desk: Desk, documents: Documents, folders: Mapping[str, str]) -> None:
        """Args:
        folders: where an `adr` and a `task` go, relative to the project's root.
        """
        super().__init__(desk)
        self._documents = documents
        self._folders = folders

    # 1. Opening -------------------------------------------------------------------------------

    def open(
        self,
        intention: str,
        setup: Setup,
        heuristics: HeuristicsConfig,
        *,
        context: LLMContext | None = None,
        mark: Mark = "",
        supersedes: str | None = None,
    ) -> Step:
        """Begin a session.

        Raises:
            Refused: the intention cannot be recorded, or what it supersedes cannot be superseded.
        """
        text, redacted = cleaned("the intention", intention.strip(), INTENTION_MAX)
        if not visible(text):
            raise Refused("the intention is empty: say in a sentence what you want to build")
        stranger = self._foreign(supersedes) if supersedes else None
        former = self.resolved(supersedes) if supersedes and not stranger else ""
        session_id = self._runner.new_session_id(self._project)

        def is_said(before: IntentionDeclared) -> bool:
            related = before.supersedes
            if stranger is not None:
                is_same = related is not None and related.number == stranger.number
            else:
                is_same = (related.session_id if related else "") == former
            said = (before.intention, before.mark, answering(before.setup.lead))
            return is_same and said == (text, mark, answering(setup.lead))

        def record(input_id: str) -> Step:
            related = stranger
            if supersedes and not stranger:
                related = self._supersedable(supersedes)[1]
            first = IntentionDeclared(
                at=self._runner.now(),
                actor=self._actor,
                intention=text,
                project=self._project,
                uid=ids.decision_uid(session_id),
                setup=setup,
                heuristics=heuristics,
                context=context,
                mark=mark,
                supersedes=related,
                known=self._known(setup),
                redacted=redacted,
            )
            workflow = clarification.WORKFLOW
            return self._runner.open(workflow, self._project, first, session_id, input_id)

        wanted = Wanted((IntentionDeclared,), self._actor, "", is_said)
        return self._recorded(wanted, record)

    def _known(self, setup: Setup) -> tuple[Known, ...]:
        """The decisions that a model is told of: accepted, in force, the newest first."""
        if setup.lead is None:
            return ()
        known: list[Known] = []
        for head in self._runner.store.heads(self._project, RECENT):
            if head.workflow != clarification.WORKFLOW.name:
                continue
            try:
                state: State = self._runner.load(head.session_id).session.state
            except PreflightsError:
                continue  # a damaged session is no reason to refuse a new one
            if accepted(state) and state.superseded_by is None and state.patch is not None:
                known.append(Known(one_line(state.intention), state.patch))
        return tuple(known[:KNOWN_MAX])

    def refuse_other(self, handle: Handle) -> None:
        """Raises:
        Refused: the session is of another workflow.
        """
        if handle.workflow.name != clarification.WORKFLOW.name:
            raise Refused(
                f"session {ids.short(handle.session_id)} is of the workflow "
                f"{handle.workflow.name}; only clarifications can be accepted"
            )

    # 2. Ending -------------------------------------------------------------------------------

    def accept(
        self,
        session_id: str,
        *,
        by: str | None = None,
        mark: Mark = "",
        expect: int | None = None,
    ) -> Step:
        """Acknowledge what is proposed; a decision when a person does it, a proposal otherwise.

        Args:
            by: the person's name, where no terminal shows that there is one.
            expect: the version at which it was shown.

        Raises:
            SessionMoved: the session is at another version.
            Refused: it is closed, of another project, or what it supersedes cannot be superseded
                any more.
        """
        self.refuse_relaying(by, ids.short(session_id))
        actor = Actor("user", name_cleaned(by)) if by is not None else self._actor
        wanted = Wanted(
            (DecisionAcknowledged,), actor, session_id, lambda before: before.mark == mark
        )
        return self._once.recorded(
            wanted, lambda input_id: self._acknowledged(session_id, input_id, actor, mark, expect)
        )

    def refuse_relaying(self, by: str | None, session: str = "SESSION") -> None:
        """An agent passes no acceptance on: the log could not show whether there was one.

        Raises:
            Refused: an agent names a person.
        """
        if by is not None and self._actor.kind == "agent":
            name = f" ({self._actor.name})" if self._actor.name else ""
            raise Refused(
                f"an agent{name} cannot accept for {by!r}: a person accepts, with "
                f"`preflights accept {session}` at a terminal; without --by it is proposed"
            )

    def _acknowledged(
        self, session_id: str, input_id: str, actor: Actor, mark: Mark, expect: int | None
    ) -> Step:
        for _ in range(CONFLICTS_MAX):
            handle = self._runner.resume(self._runner.load(session_id)).handle
            if expect is not None and handle.version != expect:
                raise SessionMoved(session_id, expect, handle.version)
            self.refuse_other(handle)
            self.refuse_elsewhere(handle)
            self._refuse_ended(handle)
            proposed = self._acknowledgements(handle, input_id, actor, mark)
            try:
                return self._runner.submit_all(proposed)[0]
            except (Conflict, NumberTaken):
                continue
        raise StoreUnavailable(f"the log is too busy: {CONFLICTS_MAX} tries to append failed")

    def _acknowledgements(
        self, handle: Handle, input_id: str, actor: Actor, mark: Mark
    ) -> list[Proposed]:
        state: State = handle.session.state
        kind = kind_of(state, mark)
        is_due = state.patch is not None or bool(state.stopped)
        needs_number = is_due and kind == "adr"
        number = self._number_of(handle) if needs_number else None
        acknowledged = DecisionAcknowledged(
            at=self._runner.now(),
            actor=actor,
            patch=state.patch,
            folder=self._folders[kind],
            number=number,
            mark=mark,
            relayed_by=None if actor == self._actor else self._actor,
        )
        first = Proposed(handle, acknowledged, input_id, number)
        if state.supersedes is None or actor.kind != "user" or not is_due:
            return [first]
        if not state.supersedes.uid:
            return [first]  # a record without a session: its status changes with the document
        if self.load(state.supersedes.uid).session.closed == "erased":
            return [first]
        former, _ = self._supersedable(state.supersedes.uid)
        by = Related(state.uid, state.intention, number, handle.session_id)
        superseded = DecisionSuperseded(at=acknowledged.at, actor=actor, by=by)
        return [first, Proposed(former, superseded, self._runner.new_id())]

    def _number_of(self, handle: Handle) -> int:
        """The record's own, unless it came from elsewhere and another session holds that here."""
        number: int | None = handle.session.state.number
        holder = self._runner.store.numbers(self._project).get(number) if number else None
        if number and holder in (None, handle.session_id):
            return number
        return self.next_number()

    def _supersedable(self, typed: str) -> tuple[Handle, Related]:
        """The decision that is to be replaced.

        Raises:
            Refused: it is no accepted decision of this project, or was replaced already.
        """
        handle = self._runner.resume(self.load(typed)).handle
        self.refuse_other(handle)
        state: State = handle.session.state
        if handle.project != self._project:
            raise Refused(f"{typed!r} is a decision of the project {handle.project!r}, not of this")
        if not accepted(state) or handle.session.closed:
            raise Refused(f"{typed!r} is no accepted decision: only those can be superseded")
        if state.superseded_by is not None:
            raise Refused(f"{typed!r} was superseded by {self._instead(state.superseded_by)}")
        return handle, Related(state.uid, state.intention, state.number, handle.session_id)

    def _foreign(self, typed: str) -> Related | None:
        """A record without a session by its number; None where a session bears it, or no record.

        Raises:
            Refused: several records bear the number, or another one has replaced it.
        """
        named = RECORD.fullmatch(typed.strip())
        if named is None:
            return None
        try:
            self.resolved(typed)
        except UnknownSession:
            found = self._documents.foreign(int(named[1]))
        else:
            return None
        if len(found) > 1:
            raise Refused(f"{typed!r} is the number of {len(found)} records: renumber all but one")
        if found and found[0].status == "superseded":
            by = found[0].superseded_by
            later = f" by {by.text!r}" if by else ""
            raise Refused(f"{typed!r} was superseded{later} already: supersede that one")
        if not found:
            return None
        title, _ = cleaned("the record's title", shown(one_line(found[0].title)), INTENTION_MAX)
        return Related("", title, found[0].number)

    def _instead(self, successor: Related) -> str:
        """What took a decision's place, and what can be done instead of replacing it again."""
        try:
            is_erased = self.load(successor.uid).session.closed == "erased"
        except PreflightsError:
            is_erased = False
        if not is_erased:
            return f"{successor.uid} already: supersede that one"
        # The decision stays superseded, as its log has it, and what is erased has no successor.
        return (
            f"{successor.uid}, which was erased: start without --supersedes, or supersede "
            "a decision that is in force (`preflights decisions`)"
        )

    def next_number(self) -> int:
        """The first above all that count (`archive.record_numbers`), and that is free.

        Raises:
            Refused: none is left.
        """
        given, filed = self._runner.store.numbers(self._project), self._documents.numbers_used()
        number = highest(given, filed) + 1
        while number in filed or number in given:
            number += 1
        if number > NUMBER_MAX:
            raise Refused(f"no number is left: a record of this project has {NUMBER_MAX:,}")
        return number

    def uncounted(self) -> list[int]:
        """Numbers of files that do not count, since they are far beyond the others."""
        top = highest(self._runner.store.numbers(self._project), self._documents.numbers_used())
        return sorted(number for number in self._documents.numbers_used() if number > top)

    # 3. Numbers ------------------------------------------------------------------------------

    def renumber(self, handle: Handle, number: int) -> Step:
        """Give a record a new number.

        Raises:
            NumberTaken: another session holds it.
        """
        new = DecisionRenumbered(at=self._runner.now(), actor=self._actor, number=number)
        proposed = Proposed(handle, new, self._runner.new_id(), number)
        return self._runner.submit_all([proposed])[0]

    def renumber_reference(self, handle: Handle, uid: str, number: int) -> Step:
        """Tell a record that one it is related to has a new number."""
        new = ReferenceRenumbered(at=self._runner.now(), actor=self._actor, uid=uid, number=number)
        return self._runner.submit(handle, new, self._runner.new_id())
