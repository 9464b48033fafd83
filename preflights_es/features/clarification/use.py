"""What people do with clarifications, what they choose about decisions that differ, and why a
clarification refuses something.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.clarification.clarifications import (
    Clarifications,
    asking,
    clarifications_of,
    named_known,
)
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    ClarificationChangeRefused,
    DecisionAcknowledged,
    DecisionKept,
    DecisionRecorded,
    FiledAsTask,
    IntentionDeclared,
    ReplacementChosen,
    TopicDismissed,
)
from preflights_es.features.clarification.domain.reasons import RATIONALE_MAX
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    is_accepted_by_person,
)
from preflights_es.features.clarification.domain.values import OTHER_OPTION, select_suggested_values
from preflights_es.features.clarification.domain.views import ClarificationView, RelatedDecision
from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.ids import iso, short_session
from preflights_es.kernel.text import ANSWER_MAX, SCOPE_MAX, one_line
from preflights_es.runtime.runner import Handle, ProposedInput, Step
from preflights_es.use.acceptance import begin_acceptance, notice_agent
from preflights_es.use.answers import (
    addressed,
    asked_in,
    finish_due_documents,
    normalize_answer_pairs,
    submit_reasons,
    with_reasons,
)
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, Who, answer_refused
from preflights_es.use.use_cases import NewAcceptance, NewSession
from preflights_es.words.decisions import (
    EXCEPTION,
    Choice,
    Choices,
    OlderDecision,
    Related,
    Resolution,
    list_superseded,
)
from preflights_es.words.items import ItemRef, item_id
from preflights_es.words.path_patterns import PATTERNS_MAX
from preflights_es.words.questions import AnswerRefusal, Question, Refusal, is_placeholder
from preflights_es.words.workflow import View

if TYPE_CHECKING:
    from preflights_es.features.extraction.use import ListedItem
    from preflights_es.use.why_results import AskedAgain


def start_clarification(request: Request, new: NewSession) -> View:
    """Begin one with an intention.

    Raises:
        Refused: it cannot be recorded.
    """
    choosing = Choosing(request, new.choices)
    own, answers = clarifications_of(request), normalize_answer_pairs(new.answers)
    own.refuse_relaying(new.by)
    if new.accepts or new.asks:  # a person is not asked three lines that nothing can sign
        own.check_signing()
    if new.accepts and new.by is None and request.actor.kind != "user":
        choosing.refuse_choices()
    own.check(answers)
    request.process.documents.check_folders(writes=new.accepts)
    settings = request.process.settings
    tables = settings.of(WORKFLOW)
    listed = _find_named_task(request, new.task) if new.task else None
    from preflights_es.features.clarification import known_decisions
    from preflights_es.features.recall.decision_search import RecordRows  # an acceptance needs none

    records = RecordRows(request.process)
    asked = asking(request, new.written, tables) if new.written else None
    setup = asked or request.setup(WORKFLOW, strict=new.strict)
    step = own.open(
        new,
        setup,
        tables,
        context=known_decisions.context_of(request.process, records),
        language=settings.language if settings.is_language_said else None,
        item=ItemRef(listed.item.number, listed.handle.source) if listed else None,
        title=listed.item.title if listed else "",
        told=lambda: known_decisions.find_known_decisions(
            request, records, new.text, tables, scope=new.scope, written=new.written
        ),
        check=partial(_refuse_unfit_start, choosing, listed, new.keep_known),
    )
    if new.scope:
        known_decisions.notice_other_scope(request, step.handle.session.state, new.scope)
    if new.keep_known and not step.handle.session.state.standing.keeps:
        return finish_due_documents(request, own.keep_known(step.handle, new.keep_known, new.by))
    told = step.handle.session.state.turns.answers if setup.lead else {}
    given = addressed(answers, asked_in(step.handle)) if answers else ()
    if left := [one for one in given if one[0].partition("__")[0] not in told]:
        step = own.answer(step.handle, left)
    accepts = new.accepts and not step.handle.session.state.turns.question
    if accepts and (unseen := select_suggested_values(step.handle.session.state.turns.provenance)):
        text = f"a model suggested {one_line(unseen[0].value)}: look at it, then accept it"
        request.notice("suggested_unseen", text, field=unseen[0].field)
        accepts = False
    accepts = accepts and not any(isinstance(one, Refusal) for one in step.decisions)
    step = with_reasons(own, step, new.reasons, new.by if accepts else None)
    if accepts and not any(isinstance(one, Refusal) for one in step.decisions):
        step = _accepted_now(own, step.handle.session_id, choosing, new.by)
        step = _notice_acceptance(request, own, _keep_same_decision(own, step, choosing, new.by))
    return choosing.told(finish_due_documents(request, step))


def _accepted_now(own: Clarifications, session_id: str, choosing: Choosing, by: str | None) -> Step:
    """The acceptance of a session that this command began.

    Raises:
        Refused: it is not accepted; where nothing signed it, the session waits.
    """
    try:
        return own.accept(session_id, choosing.completed, choosing.is_said, by=by)
    except Refused as error:
        if error.code != "not_signed":
            raise
        id_ = short_session(session_id)
        why = f"nothing was signed: {error.__cause__}" if error.__cause__ else str(error)
        raise Refused(why, code="begun_not_signed", session=id_) from error


def _find_named_task(request: Request, typed: str) -> ListedItem:
    """The task that is named, whether it is open or not.

    Raises:
        Refused: it is no item of this project.
    """
    from preflights_es.features.extraction.use import notes_of  # most begin without a task

    own = notes_of(request)
    listed = own.found(typed)
    own.refuse_elsewhere(listed.handle)
    return listed


def _refuse_unfit_start(
    choosing: Choosing, listed: ListedItem | None, keep_known: str | None, first: Input
) -> None:
    """Refuse to begin what could not go on: its task is not open, what it keeps is not there."""
    assert isinstance(first, IntentionDeclared), "a clarification begins"
    choosing.refuse_unfit(first.supersedes)
    if keep_known:
        named_known(() if first.told is UNSET else first.told, keep_known)
    if listed:
        handle, item = listed.handle, listed.item
        if item.type != "task" or item.status != "open" or handle.session.closed:
            what = f"an {item.type}" if item.type != "task" else item.status
            id_ = item_id(handle.session_id, item.number)
            raise Refused(f"{id_} is {what}, expected an open task", code="no_open_task", typed=id_)


def keep_known_decision(
    request: Request, session: str, typed: str, *, expect: int | None = None
) -> View:
    """End a session with a decision in force that was said before anything was asked.

    Args:
        typed: its number in that list, `ADR-0003`, its uid, or a record's path.
        expect: the version at which the session was shown.

    Raises:
        SessionMoved: it is at another version.
        Refused: none of those is called so, or the session takes nothing any more.
    """
    own, handle = _load_clarification(request, session, "only a decision is kept")
    return finish_due_documents(request, own.keep_known(handle, typed, expect=expect))


def keep_same(
    request: Request, session: str, choices: Choices | None = None, by: str | None = None
) -> View | None:
    """End a person's session with a decision in force that says what is proposed.

    None where none does, or where `choices` record it once more.
    """
    handle = request.sessions.load(session)
    if request.actor.kind != "user" or handle.session.state.offer.patch is None:
        return None
    choosing = Choosing(request, choices)
    choosing.compare(handle)
    if choosing.same is None:
        return None
    return finish_due_documents(
        request, clarifications_of(request).kept(Step(handle, ()), choosing.same, by)
    )


def replace_known(request: Request, session: str, typed: str, *, expect: int | None = None) -> View:
    """Choose the decision in force that this one replaces, of those that were said first.

    Args:
        typed: its number in that list, `ADR-0003`, its uid, or a record's path.
        expect: the version at which the session was shown.

    Raises:
        SessionMoved: it is at another version.
        Refused: none of those is called so, it cannot be superseded, or the session takes nothing
            any more.
    """
    own, handle = _load_clarification(request, session, "only a decision replaces another")
    one = named_known(handle.session.state.opened.told or (), typed)
    old, related = own.replaced(one.path or one.kept.session_id)
    said = {"replaces": related, "source": old.source if old else None}
    step = own.submitted(handle, ReplacementChosen, said, expect=expect)
    return finish_due_documents(request, step)


def dismiss_topic(request: Request, session: str, *, expect: int | None = None) -> View:
    """Say that the menu is about something else: then no topic is, and own words decide.

    Args:
        expect: the version at which the session was shown.
    """
    own, handle = _load_clarification(request, session, "only a decision has a topic")
    return finish_due_documents(request, own.submitted(handle, TopicDismissed, {}, expect=expect))


def file_task(request: Request, session: str, *, expect: int | None = None) -> View:
    """File a session as a task whose open question stays without an answer.

    Args:
        expect: the version at which the session was shown.
    """
    own, handle = _load_clarification(request, session, "only a decision becomes a task")
    return finish_due_documents(request, own.submitted(handle, FiledAsTask, {}, expect=expect))


def _load_clarification(
    request: Request, session: str, refusal: str
) -> tuple[Clarifications, Handle]:
    own, handle = clarifications_of(request), request.sessions.load(session)
    own.refuse_other(handle, WORKFLOW, refusal)
    return own, handle


def accept_clarification(request: Request, new: NewAcceptance) -> View:
    """Accept what is proposed, as it is now or at the version that the person saw."""
    choosing = Choosing(request, new.choices)
    handle, expect = begin_acceptance(request, new.session, new.expect)
    own = clarifications_of(request)
    own.refuse_relaying(new.by, short_session(handle.session_id))
    if new.reasons is not None:
        said = submit_reasons(own, handle, new.reasons, expect, by=new.by)
        if any(isinstance(one, Refusal) for one in said.decisions):
            return finish_due_documents(request, said)
        handle, expect = said.handle, said.handle.version
    step = own.accept(
        handle.session_id,
        choosing.completed,
        choosing.is_said,
        by=new.by,
        mark=new.mark,
        expect=expect,
        relays=new.elicited,
    )
    step = _keep_same_decision(own, step, choosing, new.by)
    return choosing.told(finish_due_documents(request, _notice_acceptance(request, own, step)))


def _keep_same_decision(
    own: Clarifications, step: Step, choosing: Choosing, by: str | None
) -> Step:
    """The step after an acceptance, which ends with a decision in force that says the same."""
    if not (step.decisions or choosing.found):  # it was, in an earlier run under the same key
        choosing.compare(step.handle)
    return own.kept(step, choosing.same, by)


def _notice_acceptance(request: Request, own: Clarifications, step: Step) -> Step:
    """Say whose acceptance it is, what contradicts it, and which files no number counts from."""
    notice_agent(request, step)
    if any(isinstance(one, DecisionRecorded) for one in step.decisions):
        from preflights_es.features.clarification.contradictions import tell_contradicting

        tell_contradicting(request, step.handle)
    if step.handle.session.state.filed.number is None or not (found := own.uncounted()):
        return step
    which = f"{found[0]:04d}" if len(found) == 1 else f"{found[0]:04d} to {found[-1]:04d}"
    text = (
        f"{request.process.record_places.new} has a file with a number far beyond the others "
        f"({which}): new records do not count from it; rename it if its number is wrong"
    )
    request.notice("number_uncounted", text, numbers=found)
    return step


def answerable(request: Request, session: str) -> list[tuple[str, Question]]:
    """Pairs of field and question, for the category and each value that was given."""
    handle = request.sessions.load(session)
    view = handle.view
    assert isinstance(view, ClarificationView), "the caller checked the workflow"
    config = handle.session.state.found.heuristics
    fields = {field.id: field for category in config.categories for field in category.fields()}
    fields[config.description.id] = config.description
    again = [("Category", config.category_question())]
    for provenance in view.provenance:
        if field := fields.get(provenance.key):
            asked = field.asked()
            question = replace(asked, question=asked.question or f"{field.name}?")
            again.append((provenance.field, question))
    return again


# What a person chooses about decisions that differ -------------------------------------------


class Choosing:
    """The comparison of one acceptance, and what the person said about it."""

    def __init__(self, request: Request, said: Choices | None = None) -> None:
        """Raises:
        UnknownSession, AmbiguousSession: none or several match what was typed of a decision.
        Refused: a reason is blank, a placeholder, or cannot be recorded; or one is named twice.
        """
        self._request = request
        self._said = said or Choices()
        self.found: tuple[OlderDecision, ...] = ()
        """How the decision stands to others, as it was compared last."""
        self._chosen = self._by_key()

    @property
    def open(self) -> tuple[OlderDecision, ...]:
        """Those that a person has to choose about."""
        return tuple(one for one in self.found if one.needs_choice)

    @property
    def same(self) -> OlderDecision | None:
        """The decision in force that says the same, unless it is to be recorded once more."""
        if self._said.again:
            return None
        return next((one for one in self.found if one.evolution == "same"), None)

    def completed(self, first: ProposedInput) -> ProposedInput | None:
        """The acknowledgement with what a person chose; None where a choice is missing.

        Raises:
            Refused: a choice is about a decision that is not related, or no person makes it.
        """
        state: ClarificationState = first.handle.session.state
        if first.input.actor.kind != "user":
            self.refuse_choices()
            return first
        if is_accepted_by_person(state) or state.led.request is not None:
            return first  # it will be refused, in the log
        self.compare(first.handle)
        if self.same:
            return None
        new, is_said = first.input, bool(self.open or self._said)
        assert isinstance(new, DecisionAcknowledged), "a clarification is accepted"
        if resolved := self._resolved(state, first.handle.session_id) if is_said else ():
            new = replace(new, resolved=resolved)
        if not {one.finding for one in resolved}.issuperset(self.open):
            return None
        return replace(first, input=new)

    def compare(self, handle: Handle) -> None:
        """Find how a decision stands to those in force."""
        # Until now nothing of it is needed: looking and answering import none of it.
        from preflights_es.features.recall.decision_comparison import findings

        self.found = findings(self._request, handle)

    def refuse_choices(self) -> None:
        """Refuse what was chosen where no person accepts.

        Raises:
            Refused: something was.
        """
        if self._said.supersedes or self._said.keeps or self._said.exceptions:
            message = "only a person replaces a decision, or keeps it beside another"
            is_agent = self._request.actor.kind == "agent"  # it gives no --by
            raise Refused(message, code="agent_at_work" if is_agent else "person_chooses")

    def refuse_unfit(self, first: Related | None) -> None:
        """Refuse what could not count at the acceptance.

        Args:
            first: what the intention replaces.

        Raises:
            Refused: the session to replace has no decision in force, or the decision is kept too.
        """
        key = (first.session_id or first.path) if first else None
        for other, (typed, choice, _) in self._chosen.items():
            if choice == "supersedes":
                clarifications_of(self._request).replaced(typed)
            elif other == key:
                raise _named_twice(typed)

    def is_said(self, before: Any) -> bool:
        """Whether an acknowledgement that was recorded before holds the same choices."""
        resolved = () if before.resolved is UNSET else before.resolved
        found = ((one.finding.related, one.choice, one.reason) for one in resolved)
        was = {(old.session_id or old.path, choice, reason) for old, choice, reason in found}
        return was == {(key, *rest) for key, (_, *rest) in self._chosen.items()}

    def told(self, session: View) -> View:
        """The result of the acceptance, with what it was compared with."""
        if not self.found:
            return session
        related = tuple(map(RelatedDecision.of, self.found))
        is_open = session.can_accept and self.open
        to_do = "choose what becomes of the related decisions" if is_open else session.to_do
        return replace(session, related=related, to_do=to_do)

    def _reason(self, typed: str, text: str) -> str:
        sanitizer = self._request.process.sanitizer
        reason, _ = sanitizer.cleaned_text("the reason", text.strip(), ANSWER_MAX)
        if not reason or is_placeholder(reason):
            what = f"the reason {reason!r} is a placeholder" if reason else "the reason is blank"
            message = f"{what}: say why {typed!r} stays in force, too"
            raise Refused(message, code="no_reason_to_keep", typed=typed)
        self._request.notice_redacted("the reason", text)
        return reason

    def _by_key(self) -> dict[str, tuple[str, Choice, str]]:
        """By session, or path of a record without one: what was typed, the choice, the reason."""
        kept = [(typed, self._reason(typed, text)) for typed, text in self._said.keeps]
        said: list[tuple[str, Choice, str]] = []
        said += [(typed, "supersedes", "") for typed in self._said.supersedes]
        said += [(typed, "keeps", reason) for typed, reason in kept]
        said += [(typed, "keeps", EXCEPTION) for typed in self._said.exceptions]
        chosen: dict[str, tuple[str, Choice, str]] = {}
        for one in said:
            session_id, file = clarifications_of(self._request).former(one[0])
            if chosen.setdefault(session_id or file, one)[1:] != one[1:]:
                raise _named_twice(one[0])
        return chosen

    def _resolved(self, state: ClarificationState, own: str) -> tuple[Resolution, ...]:
        by_id = {one.related.session_id: one for one in self.found}
        replaced = {one.session_id or one.path for one in list_superseded(state.standing)}
        resolved: list[Resolution] = []
        for key, (typed, choice, reason) in self._chosen.items():
            if key in replaced and choice == "supersedes":
                continue  # it was named when the session began
            if key in replaced:
                raise _named_twice(typed)
            finding = by_id.get(key) or self._of_record(typed, key)
            if finding is None:
                message = f"{typed!r} is not related to this decision: leave it out"
                raise Refused(message, code="not_related", typed=typed, session=short_session(own))
            if reason == EXCEPTION and finding.evolution != "exception":
                message = f"{typed!r} does not hold for the whole project: replace or keep it"
                raise Refused(message, code="no_exception", typed=typed, session=short_session(own))
            resolved.append(Resolution(finding=finding, choice=choice, reason=reason))
        return tuple(resolved)

    def _of_record(self, typed: str, key: str) -> OlderDecision | None:
        """A record of another tool that a person named; None where the key is a session's."""
        if self._request.process.store.head(key) is not None:
            return None
        related = clarifications_of(self._request).replaceable(typed, key)
        return OlderDecision(
            related=related, category="", fields=(), accepted_at=0, evolution="none", source=None
        )


def _named_twice(typed: str) -> Refused:
    message = f"{typed!r} is named twice: it is replaced, or kept for one reason"
    return Refused(message, code="chosen_twice", typed=typed)


REFUSED: Final = {
    "unknown_question": "is no question of this session",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which decides nothing: give an option, its number "
    "or your own words",
    "undecided": "was left undecided: the question stays open",
    "several_values": "takes one value: put quotes around words that belong together",
    "other_needs_text": f"was answered {OTHER_OPTION!r} without the text",
    "too_long": f"has more than {SCOPE_MAX} characters",
    "closed": "cannot be answered any more: the decision is accepted",
}
_CHANGES: Final = {
    "question_open": "nothing is proposed yet: a question, or a call of the model, is open",
    "already_accepted": "it is accepted already",
    "already_proposed": "it is proposed already: a person has to accept it",
    "patch_changed": "the session moved on since the patch was shown",
    "number_missing": "the record has no number",
    "not_accepted": "it is not accepted",
    "already_superseded": "it was replaced before",
    "not_related": "it has nothing to do with this session",
    "blank": "no reason was given",
    "placeholder": "a reason is a placeholder, which says nothing",
    "unfit_pattern": "one of the paths is no pattern of a path",
    "too_many_patterns": f"a decision holds for at most {PATTERNS_MAX} patterns of paths",
    "too_many": f"a decision has at most {RATIONALE_MAX} consequences and alternatives each",
    "kept": "a decision in force was kept instead",
    "not_expected": NOT_EXPECTED,
}


def clarification_refusal(decision: Decision) -> tuple[str, str]:
    """Why a clarification takes something not, as a code and in words."""
    if isinstance(decision, ClarificationChangeRefused):
        return decision.reason, _CHANGES[decision.reason]
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    return decision.reason, answer_refused(decision, REFUSED[decision.reason])


def asked_again(request: Request) -> dict[str, tuple[AskedAgain, ...]]:
    """Oldest first, by the session of the decision, or by the path of another tool's record."""
    from preflights_es.use.why_results import AskedAgain  # only `why` asks

    process, found = request.process, dict[str, list[AskedAgain]]()
    for row in process.projector.rows("sessions", process.project):
        if (row["workflow"], row["status"]) != (WORKFLOW.name, "stopped"):
            continue
        session_id = row["session_id"]
        try:
            if all(one.type != DecisionKept.tag for one in process.store.read(session_id)):
                continue  # nothing of it has to be folded
            state: ClarificationState = process.runner.load(session_id).session.state
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        if (kept := state.standing.keeps) is None:
            continue
        again = AskedAgain(
            session_id=session_id,
            intention=state.opened.intention,
            by=Who.of(kept.actor),
            relayed_by=Who.of(kept.relayed_by),
            at=iso(kept.at),
        )
        found.setdefault(kept.kept.session_id or kept.path, []).append(again)
    return {key: tuple(sorted(those, key=lambda one: one.at)) for key, those in found.items()}
