"""What people do with a clarification: each thing they do is one Input.

Text is checked and freed of secrets here, before anything is recorded; ids and time are chosen
here; everything about meaning is left to `decide`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from preflights_es.core import ids
from preflights_es.core.artifacts import Related
from preflights_es.core.errors import (
    AmbiguousSession,
    Conflict,
    NumberTaken,
    PreflightsError,
    Refused,
    SessionFaulted,
    SessionMoved,
    StoreUnavailable,
    UnknownSession,
)
from preflights_es.core.events import Actor, InputQuarantined, SessionAbandoned
from preflights_es.core.leading import StepRetried
from preflights_es.core.ports import Head
from preflights_es.core.session import Workflow
from preflights_es.core.text import ANSWER_MAX, INTENTION_MAX, KEY_MAX, NAME_MAX, one_line, problem
from preflights_es.runtime.documents import Documents
from preflights_es.runtime.redaction import Redacted, redact
from preflights_es.runtime.runner import CONFLICTS_MAX, Handle, Proposed, Runner, Step
from preflights_es.workflows.clarification.decide import kind_of
from preflights_es.workflows.clarification.events import (
    AnswersGiven,
    AnswersRevised,
    DecisionAcknowledged,
    DecisionRenumbered,
    DecisionSuperseded,
    Given,
    IntentionDeclared,
    Known,
    ReferenceRenumbered,
    Setup,
)
from preflights_es.workflows.clarification.state import State, accepted
from preflights_es.workflows.clarification.values import HeuristicsConfig, LLMContext, Mark

RECENT: Final = 50  # sessions looked at before all of a project are
KNOWN_MAX: Final = 20  # accepted decisions that a model is told of
_WITHOUT_WIDTH: Final = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
ANSWERS_MAX: Final = 50  # answers in one Input
LAST = "last"


class Sessions:
    """The clarifications of one project, as one actor meets them."""

    def __init__(
        self,
        runner: Runner,
        workflow: Workflow[State],
        project: str,
        actor: Actor,
        documents: Documents,
        folders: Mapping[str, str],
        settle: Callable[[Step], Step] = lambda step: step,
    ) -> None:
        """Args:
        settle: makes the completions that a step asks for.
        folders: where an `adr` and a `task` go, relative to the project's root.
        """
        self._runner = runner
        self._workflow = workflow
        self._project = project
        self._actor = replace(actor, name=_name(actor.name))
        self._documents = documents
        self._folders = folders
        self._settle = settle

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

    # 2. Clarifying ---------------------------------------------------------------------------

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
        text, redacted = _clean("the intention", intention.strip(), INTENTION_MAX)
        if not text.strip():
            raise Refused("the intention is empty: say in a sentence what you want to build")
        related = self._supersedable(supersedes)[1] if supersedes else None
        session_id = self._runner.new_id()
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
        return self._settle(
            self._runner.open(
                self._workflow, self._project, first, session_id, self._runner.new_id()
            )
        )

    def check(self, answers: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Refuse answers that cannot be recorded, before a session is opened for them.

        Raises:
            Refused: a text is too long, or holds what no text holds.
        """
        _cleaned_answers(answers)

    def answer(
        self, handle: Handle, answers: Iterable[tuple[str, Sequence[str]]], *, revise: bool = False
    ) -> Step:
        """Answer, or revise what was answered: one Input for all of it.

        Args:
            answers: pairs of key and values.

        Raises:
            Refused: the session takes no answers any more, or a text cannot be recorded.
        """
        self._refuse_closed(handle)
        given, redacted = _cleaned_answers(answers)
        cls = AnswersRevised if revise else AnswersGiven
        new = cls(at=self._runner.now(), actor=self._actor, answers=given, redacted=redacted)
        return self._settle(self._runner.submit(handle, new, self._runner.new_id()))

    def resume(self, handle: Handle) -> Step:
        """Go on where an error, a crash or a strict session stopped.

        Raises:
            SessionFaulted: deciding the last Input still raises.
        """
        step = self._runner.resume(handle)
        if step.handle.session.state.stalled and not step.handle.session.closed:
            again = StepRetried(at=self._runner.now(), actor=self._actor)
            step = self._runner.submit(step.handle, again, self._runner.new_id())
        return self._settle(step)

    def _known(self, setup: Setup) -> tuple[Known, ...]:
        """The decisions that a model is told of: accepted, in force, the newest first."""
        if setup.lead is None:
            return ()
        known: list[Known] = []
        for head in self._runner.store.heads(self._project, RECENT):
            try:
                state: State = self._runner.load(head.session_id).session.state
            except PreflightsError:
                continue  # a damaged session is no reason to refuse a new one
            if accepted(state) and state.superseded_by is None and state.patch is not None:
                known.append(Known(one_line(state.intention), state.patch))
        return tuple(known[:KNOWN_MAX])

    def _refuse_closed(self, handle: Handle) -> None:
        short = ids.short(handle.session_id)
        if handle.session.closed:
            raise Refused(f"session {short} was {handle.session.closed}: start a new one")
        if accepted(handle.session.state):
            raise Refused(
                f"session {short} is accepted and takes no answers any more: supersede it with "
                f"`preflights start INTENTION --supersedes {handle.session.state.uid}`"
            )

    # 3. Ending -------------------------------------------------------------------------------

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
        actor = Actor("user", _name(by)) if by is not None else self._actor
        for _ in range(CONFLICTS_MAX):
            handle = self._runner.resume(self._runner.load(session_id)).handle
            if expect is not None and handle.version != expect:
                raise SessionMoved(session_id, expect, handle.version)
            self.refuse_elsewhere(handle)
            self._refuse_closed(handle)
            proposed = self._acknowledgements(handle, actor, mark)
            try:
                return self._runner.submit_all(proposed)[0]
            except (Conflict, NumberTaken):
                continue
        raise StoreUnavailable(f"the log is too busy: {CONFLICTS_MAX} tries to append failed")

    def _acknowledgements(self, handle: Handle, actor: Actor, mark: Mark) -> list[Proposed]:
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
        )
        first = Proposed(handle, acknowledged, self._runner.new_id(), number)
        if state.supersedes is None or actor.kind != "user" or not is_due:
            return [first]
        former, _ = self._supersedable(state.supersedes.uid)
        by = Related(state.uid, state.intention, number, handle.session_id)
        superseded = DecisionSuperseded(at=self._runner.now(), actor=actor, by=by)
        return [first, Proposed(former, superseded, self._runner.new_id())]

    def refuse_elsewhere(self, handle: Handle) -> None:
        """A project's documents and numbers are its own.

        Raises:
            Refused: the session belongs to another project.
        """
        if handle.project != self._project:
            raise Refused(
                f"session {ids.short(handle.session_id)} belongs to the project "
                f"{handle.project!r}: go there, or set PREFLIGHTS_PROJECT"
            )

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
        state: State = handle.session.state
        if handle.project != self._project:
            raise Refused(f"{typed!r} is a decision of the project {handle.project!r}, not of this")
        if not accepted(state) or handle.session.closed:
            raise Refused(f"{typed!r} is no accepted decision: only those can be superseded")
        if state.superseded_by is not None:
            raise Refused(
                f"{typed!r} was superseded by {state.superseded_by.uid} already: supersede that one"
            )
        return handle, Related(state.uid, state.intention, state.number, handle.session_id)

    def next_number(self) -> int:
        """The first above all that the log has given out and that files bear."""
        given = {*self._runner.store.numbers(self._project), *self._documents.numbers_used()}
        return max(given, default=0) + 1

    def abandon(self, handle: Handle, reason: str = "", *, force: bool = False) -> Step:
        """Give a session up.

        Args:
            force: also one whose last Input cannot be decided; that Input is set aside.

        Raises:
            Refused: it is closed, accepted, or faulted without `force`.
        """
        self._refuse_closed(handle)
        text, _ = _clean("the reason", reason, ANSWER_MAX)
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
        self._refuse_closed(handle)
        return self._runner.submit(
            handle, SessionAbandoned(at=now, actor=actor, reason=text), self._runner.new_id()
        )

    # 4. Numbers ------------------------------------------------------------------------------

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


def _clean(what: str, text: str, limit: int) -> tuple[str, tuple[str, ...]]:
    """The text as it is recorded, and the kinds of secrets that were taken out.

    Raises:
        Refused: it is too long, or holds what no text holds.
    """
    if found := problem(text, limit):
        raise Refused(f"{what} {found}")
    redacted = _redacted(text.replace("\r\n", "\n").replace("\r", "\n"))
    return redacted.text, redacted.kinds


def _redacted(text: str) -> Redacted:
    """Also what hides behind characters without width, or in another form of the same letters."""
    found = redact(text)
    plain = _WITHOUT_WIDTH.sub("", unicodedata.normalize("NFKC", text))
    if plain != text and len((seen := redact(plain)).kinds) > len(found.kinds):
        return seen
    return found


def _cleaned_answers(
    answers: Iterable[tuple[str, Sequence[str]]],
) -> tuple[tuple[Given, ...], tuple[str, ...]]:
    given: list[Given] = []
    kinds: list[str] = []
    for key, values in answers:
        name, in_key = _clean("the key of an answer", key.strip(), KEY_MAX)
        cleaned = [_clean(f"the answer to {name!r}", value, ANSWER_MAX) for value in values]
        given.append(Given(name, tuple(text for text, _ in cleaned)))
        kinds += [*in_key, *(kind for _, found in cleaned for kind in found)]
    if len(given) > ANSWERS_MAX or any(len(g.values) > ANSWERS_MAX for g in given):
        raise Refused(f"too many answers at once: at most {ANSWERS_MAX} are taken")
    return tuple(given), tuple(kinds)


def _name(name: str) -> str:
    return _clean("the name", name.strip(), NAME_MAX)[0]
