"""The clarifications of a project: they are opened, accepted, kept, renumbered, and shown with what
the gate will stop once they are accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    DecisionAcknowledged,
    DecisionForModel,
    DecisionKept,
    DecisionKeptBeside,
    DecisionRenumbered,
    DecisionSuperseded,
    IntentionDeclared,
    KnownLine,
    ReferenceRenumbered,
)
from preflights_es.features.clarification.domain.history import told_of
from preflights_es.features.clarification.domain.lead import (
    tables_of,
    written_question_response,
    written_question_trouble,
)
from preflights_es.features.clarification.domain.rules import OUR_FORM
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    acknowledgement_day,
    as_related,
    is_accepted_by_person,
    is_due,
)
from preflights_es.features.clarification.domain.values import Heuristics, LLMContext, Mark
from preflights_es.features.clarification.domain.views import ClarificationView, Gate, gate_words
from preflights_es.kernel import __version__
from preflights_es.kernel.errors import PreflightsError, RecordWithoutSession, Refused
from preflights_es.kernel.events import Input
from preflights_es.kernel.lead import WRITERS, Lead, Setup
from preflights_es.kernel.text import ANSWER_MAX, INTENTION_MAX, escaped_text, one_line
from preflights_es.redaction.masking import redact, response_redacted
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.finder import RECENT
from preflights_es.runtime.inputs import WantedInput
from preflights_es.runtime.runner import Handle, ProposedInput, Step
from preflights_es.use.acceptance import Acceptances
from preflights_es.use.answers import normalize_answer_pairs, with_taken
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from preflights_es.use.work_tree import WorkTree
from preflights_es.words.decisions import OlderDecision, Related, list_superseded, named_instead
from preflights_es.words.items import ItemRef
from preflights_es.words.language import collect_search_words, fold_letters
from preflights_es.words.questions import Language, Observed, WrittenQuestion, answers_in
from preflights_es.words.workflow import View

UNNAMED: Final = "unknown"
"""The model of an agent that does not say its name."""
KNOWN_MAX: Final = 20  # accepted decisions that a model is told of


def named_known(told: tuple[KnownLine, ...], typed: str) -> KnownLine:
    """What was said first and is called so.

    Args:
        typed: its number in that list, `ADR-0003`, its uid or session, or a record's path.

    Raises:
        Refused: none of those that were said is called so.
    """
    number = typed.casefold().removeprefix("adr-").lstrip("0")
    for place, one in enumerate(told, 1):
        old = one.kept
        names = {one.path, PurePosixPath(one.path).name, old.uid, old.uid[-8:], old.session_id}
        is_numbered = typed.casefold().startswith("adr-") and str(old.number) == number
        if typed == str(place) or is_numbered or (typed and typed in names):
            return one
    said = ", ".join(one.line.partition(" ")[0] for one in told) or "none"
    message = f"{typed!r} was not said to be in force here: {said}"
    raise Refused(message, code="not_known", typed=typed)


def clarifications_of(request: Request) -> Clarifications:
    """The clarifications of the project that a request is about."""
    return Clarifications.of(request)


class Clarifications(Acceptances):
    """The clarifications of one project, as one actor meets them."""

    # 1. Opening -------------------------------------------------------------------------------

    def open(
        self,
        new: NewSession,
        setup: Setup,
        chosen: Heuristics,
        *,
        language: Language | None = None,
        context: LLMContext | None = None,
        item: ItemRef | None = None,
        title: str = "",
        observed: Observed | None = None,
        told: Callable[[], tuple[KnownLine, ...]] = tuple,
        check: Callable[[Input], None] = lambda _: None,
    ) -> Step:
        """Begin a session.

        Args:
            chosen: what the settings come to.
            language: of the questions; None where the intention shows it.
            item: the task that is clarified.
            title: of that task; it is the intention where that is empty.
            observed: where an agent asked the question, if not here.
            told: decisions in force that are said first.
            check: refuses it before it is recorded.

        Raises:
            Refused: the intention cannot be recorded, an answer would not be taken, or what it
                supersedes cannot be superseded.
        """
        session_id, file = self.former(new.supersedes) if new.supersedes else ("", "")
        answers = normalize_answer_pairs(new.answers)

        def with_answers(first: Input) -> Input:
            return with_taken(WORKFLOW, answers, first, self.sanitizer, refuses=not new.asks)

        def is_same(before: IntentionDeclared) -> bool:
            old = before.supersedes
            path = old.path or "" if old and not old.uid else ""
            former = (old.session_id if old else "", path)
            read = before.item or None
            place = (read.source.session_id, read.number) if read else None
            if answers_in(with_answers(replace(before, answers=UNSET))) != answers_in(before):
                return False
            return (former, place) == ((session_id, file), of_item)

        def beside() -> dict[str, Any]:
            old, related = self.replaced(new.supersedes) if new.supersedes else (None, None)
            read: dict[str, Any] = {
                "known": self._known(setup),
                "supersedes_source": old.source if old else None,
            }
            former = (session_id, file)
            others = (one for one in told() if (one.kept.session_id, one.path) != former)
            read |= {"told": lines} if (lines := tuple(others)) else {}
            return {"supersedes": related, **read, **given}

        def completed(first: Input) -> Input:
            check(first)
            return with_answers(first)

        is_titled = bool(title and not new.text)
        of_item = (item.source.session_id, item.number) if item else None
        given = {
            "heuristics": chosen.tables,
            "pack": chosen.pack,
            "inlined": chosen.inlined,
            "language": language if chosen.pack else None,
            "context": context,
            **({"item": item} if item else {}),
            **({"intention": title} if is_titled else {}),
            **({"observed": observed} if observed else {}),
        }
        # The title may change until the command runs again under its key: it is not compared.
        said: dict[str, Any] = {} if is_titled else {"intention": new.text}
        said |= {"mark": new.mark}
        said |= {"scope": scope} if (scope := one_line(new.scope).strip()) else {}
        return self.opened(
            WORKFLOW,
            IntentionDeclared,
            said,
            setup,
            beside=beside,
            is_same=is_same,
            check=completed,
        )

    def _known(self, setup: Setup) -> tuple[DecisionForModel, ...]:
        """The decisions that a model is told of: accepted, in force, the newest first."""
        if setup.lead is None or setup.lead.provider in WRITERS:
            return ()
        known: list[DecisionForModel] = []
        for head in self._runner.store.heads(self._project, RECENT):
            if head.workflow != WORKFLOW.name:
                continue
            try:
                handle = self._runner.load(head.session_id)
            except PreflightsError:
                continue  # a damaged session is no reason to refuse a new one
            one = told_of(handle.session.state, handle.source)
            if one is not None and handle.session.state.standing.superseded_by is None:
                known.append(one)
        return tuple(known[:KNOWN_MAX])

    # 2. Ending -------------------------------------------------------------------------------

    def accept(
        self,
        session_id: str,
        complete: Callable[[ProposedInput], ProposedInput | None] | None = None,
        is_same: Callable[[Any], bool] | None = None,
        *,
        by: str | None = None,
        mark: Mark = "",
        expect: int | None = None,
        relays: bool = False,
    ) -> Step:
        """Accept what is proposed, as `acknowledged` says.

        Args:
            complete: compares it with decisions in force; without it nothing is compared.

        Raises:
            Refused: also where what it supersedes cannot be superseded any more.
        """
        if self._inputs.recorded_in(DecisionKept):  # an earlier run kept what says the same
            wanted = WantedInput((DecisionKept,), self._inputs.named(by), session_id)
            if (met := self._inputs.before(wanted)) is not None:
                return Step(met, ())
        return self.acknowledged(
            session_id,
            DecisionAcknowledged,
            {"mark": mark},
            by=by,
            expect=expect,
            complete=complete,
            is_same=is_same,
            relays=relays,
        )

    def keep_known(
        self, handle: Handle, typed: str, by: str | None = None, expect: int | None = None
    ) -> Step:
        """End a session with a decision that was said first, as `named_known` finds it.

        Args:
            by: the person who keeps it.
            expect: the version at which the session was shown.

        Raises:
            SessionMoved: it is at another version.
            Refused: none of those that were said is called so.
        """
        one = named_known(handle.session.state.opened.told or (), typed)
        said = {"kept": one.kept, "since": one.since, "source": one.source, "path": one.path}
        return self.submitted(handle, DecisionKept, said, by=by, expect=expect)

    def kept(self, step: Step, same: OlderDecision | None, by: str | None) -> Step:
        """The step after an acceptance; where a decision in force says the same, that is kept."""
        if same is None or is_accepted_by_person(step.handle.session.state):
            return step
        said = {"kept": same.related, "since": same.accepted_at, "source": same.source}
        return self.submitted(step.handle, DecisionKept, said, by=by)

    def _others(self, first: ProposedInput) -> list[ProposedInput]:
        """What it says to older decisions, and to the task that it clarifies."""
        state: ClarificationState = first.handle.session.state
        if first.input.actor.kind != "user" or not is_due(state):
            return []
        return [
            *self._superseded_by(state, first),
            *self._resolved(first),
            *self._deciding(state, first),
        ]

    def _resolved(self, first: ProposedInput) -> Iterator[ProposedInput]:
        """What a person chose about decisions that differ, told to each of them."""
        new = first.input
        assert isinstance(new, DecisionAcknowledged), "it is accepted"
        if new.resolved is UNSET:
            return
        for one in new.resolved:
            if not one.finding.related.uid:
                continue  # a record without a session: its status changes with the document
            older, _ = self._supersedable(one.finding.related.session_id)
            by = _as_related(first, older)
            told: Input = DecisionSuperseded(at=new.at, actor=new.actor, by=by)
            if one.choice == "keeps":
                told = DecisionKeptBeside(at=new.at, actor=new.actor, by=by, reason=one.reason)
            yield ProposedInput(older, told, self._runner.new_id())

    def _deciding(self, state: ClarificationState, first: ProposedInput) -> list[ProposedInput]:
        item = state.opened.item or None
        if item is None or self._runner.store.head(item.source.session_id) is None:
            return []  # a note of another log learns nothing of it
        note = self._runner.load(item.source.session_id)
        if note.session.closed:
            return []
        from preflights_es.features.extraction.domain.events import TaskDecided  # most have no task

        decided = TaskDecided(
            at=first.input.at,
            actor=first.input.actor,
            number=item.number,
            uid=state.opened.uid,
            record=first.number,
            session_id=first.handle.session_id,
        )
        return [ProposedInput(note, decided, self._runner.new_id())]

    def _superseded_by(
        self, state: ClarificationState, first: ProposedInput
    ) -> Iterator[ProposedInput]:
        for one in list_superseded(state.standing):
            # Of a record without a session the status changes with the document.
            if not one.uid or self.load(one.uid).session.closed == "erased":
                continue
            former, _ = self._supersedable(one.uid)
            by = _as_related(first, former)
            told = DecisionSuperseded(at=first.input.at, actor=first.input.actor, by=by)
            yield ProposedInput(former, told, self._runner.new_id())

    def former(self, typed: str) -> tuple[str, str]:
        """The session that is meant, or else the path of a record without one.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
            Refused: its file cannot be named.
        """
        try:
            return self.resolved(typed), ""
        except RecordWithoutSession as error:
            file = error.paths[0]
            if self._documents.foreign(file) is None:
                raise
            cleaned = self.sanitizer.cleaned_text
            if cleaned("the record's file", file, INTENTION_MAX) != (file, ()):
                message = f"the record {file!r} cannot be recorded by its name: rename it"
                raise Refused(message, code="record_name") from error
            return "", file

    def replaced(self, typed: str) -> tuple[Handle | None, Related]:
        """What is to be replaced: its session, where it has one, and how a record names it.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
            Refused: it is no decision of this project, or another one has replaced it.
        """
        _, file = self.former(typed)
        return (None, self.replaceable(typed, file)) if file else self._supersedable(typed)

    def replaceable(self, typed: str, file: str) -> Related:
        """A record without a session that is to be replaced, or kept beside a decision.

        Raises:
            Refused: another one has replaced it.
        """
        found = self._documents.foreign(file)
        assert found is not None, "it was found by its path"
        if found.status == "superseded":
            by = found.superseded_by
            later = f" by {by.text!r}" if by else ""
            message = f"{typed!r} was replaced{later} already: replace that one"
            raise Refused(message, code="superseded")
        cleaned = self.sanitizer.cleaned_text
        title, _ = cleaned("the record's title", escaped_text(one_line(found.title)), INTENTION_MAX)
        return Related("", title, found.number, path=file)

    def _supersedable(self, typed: str) -> tuple[Handle, Related]:
        """The decision that is to be replaced.

        Raises:
            Refused: it is no accepted decision of this project, or was replaced already.
        """
        handle = self._runner.resume(self.load(typed)).handle
        self.refuse_other(handle, WORKFLOW, "only decisions are replaced")
        state: ClarificationState = handle.session.state
        if handle.project != self._project:
            message = f"{typed!r} is a decision of the project {handle.project!r}, not of this"
            raise Refused(message, code="other_project", project=handle.project)
        if not is_accepted_by_person(state) or handle.session.closed:
            message = f"{typed!r} is no accepted decision: only those can be replaced"
            if state.standing.recorded is not None and not handle.session.closed:
                message = f"{typed!r} is only proposed: accept or abandon it first"
            raise Refused(message, code="not_accepted", typed=typed)
        if state.standing.superseded_by is not None:
            raise self._superseded(typed, state.standing.superseded_by)
        return handle, as_related(state, handle.session_id, self._folders["adr"])

    def _superseded(self, typed: str, successor: Related) -> Refused:
        """What took a decision's place."""
        said = f"{typed!r} was replaced by {successor.uid}"
        try:
            is_erased = self.load(successor.uid).session.closed == "erased"
        except PreflightsError:
            is_erased = False
        if not is_erased:
            message = f"{said} already: replace that one"
            return Refused(message, code="superseded", uid=successor.uid)
        # The decision stays superseded, as its log has it, and what is erased has no successor.
        return Refused(f"{said}, which was erased", code="successor_erased", uid=successor.uid)

    # 3. Numbers ------------------------------------------------------------------------------

    def renumber(self, handle: Handle, number: int) -> Step:
        """Give a record a new number; the task that led to it names the new one too.

        Raises:
            NumberTaken: another session holds it.
        """
        new = DecisionRenumbered(at=self._runner.now(), actor=self._actor, number=number)
        proposed = ProposedInput(handle, new, self._runner.new_id(), number)
        state: ClarificationState = handle.session.state
        others = self._deciding(state, proposed) if is_accepted_by_person(state) else []
        return self._runner.submit_all([proposed, *others])[0]

    def renumber_reference(
        self, handle: Handle, uid: str, number: int, path: str | UnsetType = UNSET
    ) -> Step:
        """Tell a record that one it is related to has a new number.

        Args:
            path: of that record, as in `Related`.
        """
        at, actor = self._runner.now(), self._actor
        new = ReferenceRenumbered(at=at, actor=actor, uid=uid, number=number, path=path)
        return self._runner.submit(handle, new, self._runner.new_id())


def _as_related(first: ProposedInput, other: Handle) -> Related:
    """A decision that is being acknowledged, as another session's document points at it."""
    new = first.input
    assert isinstance(new, DecisionAcknowledged), "it is accepted"
    state: ClarificationState = first.handle.session.state
    filed = replace(
        state.filed,
        day=acknowledgement_day(new.at),
        number=first.number,
        folder=new.folder,
        form=OUR_FORM if new.form is UNSET else new.form,
    )
    return as_related(
        replace(state, filed=filed), first.handle.session_id, other.session.state.filed.folder
    )


# A question that the actor wrote -------------------------------------------------------------


def asking(request: Request, written: WrittenQuestion, chosen: Heuristics) -> Setup:
    """What a session records of the writer; the request gives the question when it is asked.

    Raises:
        Refused: the question cannot be asked; nothing is recorded yet.
    """
    said, sanitizer = written.texts(), request.process.sanitizer
    for text in said:
        sanitizer.cleaned_text("the question", text, ANSWER_MAX)
    text = written_question_response(written)
    kinds = {kind for one in said for kind in redact(one, sanitizer.kinds).kinds}
    if kinds or response_redacted(text, sanitizer.kinds) != text:
        held = f" ({', '.join(sorted(kinds))})" if kinds else ""
        message = f"the question cannot be asked: it holds what looks like a secret{held}"
        raise Refused(message, code="secret_in_question")
    if found := written_question_trouble(text, tables_of(chosen)):
        raise Refused(found, code="question_refused")
    request.leads.written = text
    actor = request.actor
    is_person = actor.kind == "user"
    named = sanitizer.cleaned_name(actor.name) if actor.kind == "agent" else ""
    lead = Lead(
        "person" if is_person else "agent",
        "" if is_person else named or UNNAMED,
        # The same key with another question is another command.
        (("sha256", sha256(text.encode()).hexdigest()),),
    )
    return Setup(__version__, WORKFLOW.decider.version, lead.provider, lead=lead)


FOLDERS_MAX = 3


def with_gate(process: Process, view: View) -> View:
    """A proposal, with what accepting it will stop."""
    if not isinstance(view, ClarificationView) or view.patch is None or not view.can_accept:
        return view
    named = named_instead(view.alternatives)
    stops, elsewhere = tuple[str, ...](), tuple[str, ...]()
    if named or view.supersedes:
        said = (view.patch.fields, named, list_superseded(view))
        stops, elsewhere = FEATURES.port("stopped")(process, *said, has_paths=bool(view.paths))
    if not (named or stops or elsewhere):
        return view
    folders = tuple(_folders(process, view.scope)) if view.scope and not view.paths else ()
    text, gaps = gate_words(view, stops, elsewhere, folders)
    line = text.format(**{name: escaped_text(one_line(said)) for name, said in gaps.items()})
    gate = Gate(stops=stops, elsewhere=elsewhere, folders=folders, line=line)
    return replace(view, gate=gate)


def _folders(process: Process, scope: str) -> Iterator[str]:
    """Folders of the repository that a word of the scope is the name of, the highest first."""
    wanted = {_folded_singular(word) for word in collect_search_words(scope)}
    tree = WorkTree(process.settings.root)
    found = dict[str, None]()
    for path in tree.files:
        parts = path.split("/")[:-1]
        for place, name in enumerate(parts, 1):
            if _folded_singular(name) in wanted:
                found["/".join(parts[:place]) + "/"] = None
                break
    yield from sorted(found, key=lambda one: (one.count("/"), one))[:FOLDERS_MAX]


def _folded_singular(name: str) -> str:
    """A word or the name of a folder, in one case and number."""
    return fold_letters(name).strip("._-").removesuffix("s")
