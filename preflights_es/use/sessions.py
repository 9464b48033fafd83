"""What people and programs do with sessions of any workflow: one function a use case.

Each takes a request, does one thing, writes the documents that follow, and returns how the session
stands. A surface (command line, server, page, program) parses, calls one of these, and renders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import LogDamaged, Refused, UnknownSession, UnreadableEvent
from preflights_es.kernel.events import ERASED_TAG, Event, SessionErased
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.runtime.finder import ANY, LAST
from preflights_es.runtime.runner import Handle, Step
from preflights_es.store import stored_events
from preflights_es.store.stored_events import shared_event
from preflights_es.use.answers import (
    Given,
    Pairs,
    addressed,
    asked_in,
    finish_due_documents,
    normalize_answer_pairs,
    submit_reasons,
    taking,
    with_reasons,
    with_signature,
    with_taken,
)
from preflights_es.use.process import Process
from preflights_es.use.reading import FoundSession
from preflights_es.use.request import Request
from preflights_es.use.results import AgentPrompt, Result, session_of
from preflights_es.use.use_cases import NewAcceptance, NewSession
from preflights_es.words.decisions import StatedReasons
from preflights_es.words.workflow import ErasedBy, View

if TYPE_CHECKING:
    from preflights_es.projections.projection import Read
    from preflights_es.projections.session_story import Story

# 1. Deciding ---------------------------------------------------------------------------------


def start_session(request: Request, new: NewSession) -> View:
    """Begin a session with the user's text; with answers to what it will ask, where given.

    Raises:
        Refused: the text or an answer cannot be recorded, or nothing of the workflow begins so.
        WorkflowMissing: no package has the workflow.
    """
    workflow = request.process.runner.workflow(new.workflow)
    if (new.written is not None or new.scope) and not workflow.asked.written:
        what = "begins with no question of yours" if new.written else "has no scope"
        message = f"a session of the workflow {new.workflow} {what}"
        raise Refused(message, code="no_written_question", workflow=new.workflow)
    if new.reasons is not None:
        taking(workflow, new.reasons, request.process.sanitizer)
    feature = FEATURES.get(new.workflow)
    if feature is not None and feature.start:
        begun: View = feature.loaded(feature.start)(request, new)
        return begun
    answers = normalize_answer_pairs(new.answers)
    request.sessions.check(answers)
    if workflow.filed.record is not None or workflow.filed.filing is not None:
        request.process.documents.check_folders(workflow.filed.filing)
    setup = request.setup(workflow, strict=new.strict)
    taken = partial(with_taken, workflow, answers, sanitizer=request.process.sanitizer)
    step = request.sessions.begin(workflow, new.text, setup, taken)
    if answers:
        step = request.sessions.answer(step.handle, addressed(answers, asked_in(step.handle)))
    return finish_due_documents(request, with_reasons(request.sessions, step, new.reasons))


def answer_session(
    request: Request,
    session: str,
    given: Given,
    *,
    revise: bool = False,
    relays: bool = False,
    reasons: StatedReasons | None = None,
    expect: int | None = None,
) -> View:
    """Answer what is asked, or revise what was answered; what does not count is in `refused`.

    Args:
        given: nothing, where only reasons are said.
        relays: whether an agent or script passes a person's words on.
        reasons: why it is decided so; they count whatever becomes of the answers.
        expect: the version at which the session was shown.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        SessionMoved: the session is at another version.
        Refused: the session takes no answers any more, or has no such option.
    """
    if session == LAST and given and not revise:
        from preflights_es.use.inbox import newest_asking  # a name needs none of it

        session = newest_asking(request)
    handle = request.sessions.load(session)
    if reasons is not None:
        taking(handle.workflow, reasons, request.process.sanitizer)
        if not (given or relays):
            return finish_due_documents(
                request, submit_reasons(request.sessions, handle, reasons, expect)
            )
    before = request.sessions.answered(handle, revise=revise, relays=relays)
    if before is None:
        handle = request.process.runner.resume(handle).handle
    answers = _address_answers(
        normalize_answer_pairs(given), before or handle, again=before is not None
    )
    step = request.sessions.answer(handle, answers, revise=revise, relays=relays, expect=expect)
    return finish_due_documents(request, with_reasons(request.sessions, step, reasons))


def _address_answers(given: Pairs, handle: Handle, *, again: bool) -> Pairs:
    """What has no key answers the question that is open, or was when it was first said."""
    try:
        return addressed(given, asked_in(handle), next(iter(handle.view.questions), None))
    except Refused:
        if not again:
            raise
        return given  # never what was said the first time: refused as such


def conversed(request: Request, session: View) -> View:
    """The session as it stands now, for a conversation: what is said there has no key."""
    request.inputs.end()
    return show(request, session.session_id) if session.is_recalled else session


def accept_session(request: Request, new: NewAcceptance) -> View:
    """Accept what is proposed: a decision where a person does it, else a proposal.

    Raises:
        SessionMoved: the session is at another version.
        Refused: nothing there can be accepted.
    """
    from preflights_es.use import acceptance  # looking needs none of it

    try:
        handle = request.sessions.load(new.session)
    except UnknownSession:  # an agent is told that a person accepts, whatever it names
        acceptance.Acceptances.of(request).refuse_relaying(new.by, new.session)
        raise
    workflow = handle.workflow
    feature = FEATURES.get(workflow.name)
    has_own = feature is not None and feature.accept
    own = feature.loaded(feature.accept) if feature and has_own else acceptance.accept_proposal
    if new.reasons is not None:
        taking(workflow, new.reasons, request.process.sanitizer)
    if new.choices and "resolved" not in getattr(
        workflow.asked.acknowledges, "__struct_fields__", ()
    ):
        message = f"a session of the workflow {workflow.name} replaces and keeps nothing"
        raise Refused(message, code="no_choices", workflow=workflow.name)
    counts = new.elicited and request.process.settings.agents.elicited_acceptance
    done: View = own(request, replace(new, session=handle.session_id, elicited=counts))
    return done


def abandon(
    request: Request,
    session: str,
    reason: str = "",
    *,
    force: bool = False,
    expect: int | None = None,
) -> View:
    """Give a session up; it stays in the log, and the record of a proposal becomes `rejected`.

    A record that git does not know, and that no person edited, is removed instead.

    Args:
        force: also one whose last Input cannot be decided.
        expect: the version at which it was shown.
    """
    handle = request.sessions.load(session)
    step = request.sessions.abandon(handle, reason, force=force, expect=expect)
    request.notice_redacted("the reason", reason)
    found = finish_due_documents(request, step)
    if handle.view.written and found.written is None:
        path = handle.view.written.path
        text = f"Removed {path}: git does not know it, and it was not edited."
        request.notice("record_removed", text, path=path)
    return found


def resume(request: Request, session: str, *, anew: bool = False) -> View:
    """Go on where an error, a crash or a strict session stopped.

    Args:
        anew: whether the model that the request names leads from here on.
    """
    handle = request.sessions.load(session, ANY)
    step = request.led_anew(handle) if anew else request.sessions.resume(handle)
    feature = FEATURES.get(handle.workflow.name)
    if feature is not None and feature.resumed:
        step = feature.loaded(feature.resumed)(request, step)
    return finish_due_documents(request, step)


# 2. Looking ----------------------------------------------------------------------------------


def show(request: Request, session: str) -> View:
    """A session as it stands."""
    at = request.reading.session(session)
    handle = at.load()
    _notice_clash(request, handle)
    found = session_of(Step(handle, ()), request.notices)
    if found.status == "erased":
        return replace(found, erased=_erased(at.process, handle))
    return with_signature(at.process, found)


def has_calls(request: Request, session: str) -> bool:
    """Whether a session holds calls, or may hold them."""
    at = request.reading.session(session)
    head = at.head_there
    if WORKFLOWS[head.workflow].shown.made_calls is not None:
        return True
    return any(
        one.type == CompletionRequested.tag for one in at.process.store.read(head.session_id)
    )


def tell_story(request: Request, session: str) -> tuple[Story, Read]:
    """What happened in a session, as far as it can be read, in a sentence, with what it cost.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        AnotherVersion, WorkflowMissing: the code that reads it is not here.
    """
    from preflights_es.use.process import build_projection_reader

    at = request.reading.session(session)
    read = build_projection_reader().read(at.process.following.stream(at.head_there))
    return tell_read_session(at.process, read), read


def tell_read_session(process: Process, read: Read) -> Story:
    """The same of a session that was read; an error that today's code raises is no text of the log,
    so it is redacted now.
    """
    from preflights_es.projections.session_story import tell_session_story  # few commands tell it
    from preflights_es.use.usage import price

    story = tell_session_story(read, [price(one) for one in process.settings.prices])
    if not story.trouble:
        return story
    from preflights_es.redaction.masking import redact

    return replace(story, trouble=redact(story.trouble, process.sanitizer.kinds).text)


def _notice_clash(request: Request, handle: Handle) -> None:
    """Say that another record of the folder bears the number of this one."""
    written, number = handle.view.written, handle.workflow.filed.number(handle.session.state)
    if written is None or number is None:
        return
    from preflights_es.records.record_names import clash_beside  # many sessions have no record

    if clash := clash_beside(request.process.settings.root, written.path, number):
        request.notice("number_clash", clash.text, paths=clash.paths)


def _erased(process: Process, handle: Handle) -> ErasedBy:
    """All that is left to say of a session."""
    stored = process.store.read(handle.session_id)
    one = next(one for one in stored if one.type == ERASED_TAG)
    event = process.runner.codec(handle.workflow).decode(one)
    assert isinstance(event, SessionErased), "its tag says so"
    return ErasedBy(at=one.recorded_at, by=event.actor, reason=event.reason)


def prompt(request: Request, session: str) -> AgentPrompt:
    """The brief for a coding agent: what is decided, and what is still open."""
    from preflights_es.records.project_brief import IN_FORCE, LEAST, ROOM, estimate_tokens
    from preflights_es.records.record_brief import render_session_brief
    from preflights_es.use.brief import list_decisions_beside_session

    at = request.reading.session(session, of="")
    handle = at.load()
    view = with_signature(at.process, replace(handle.view, session_id=handle.session_id))
    signature = getattr(view, "signature", None)
    text = render_session_brief(handle, signature=signature)
    room = max(ROOM - estimate_tokens(f"{text}\n## {IN_FORCE}\n\n"), LEAST)
    found = list_decisions_beside_session(
        request, handle.session_id, f"{view.intention} {view.scope}", room
    )
    if found:
        text = render_session_brief(handle, found, signature)
    return AgentPrompt(session_id=handle.session_id, prompt=text)


Unread = LogDamaged | UnreadableEvent
"""Why an event cannot be read: it is damaged, or the code at hand does not take it."""


class LoggedSession(Result, frozen=True):
    """What the log has of a session, also of a damaged one."""

    stored: Sequence[Stored]
    events: tuple[Event | Unread | None, ...]
    """In place of an event, the error of reading it, or None where its payload is gone or its
    workflow is not here."""
    damage: Unread | None
    """Why its chain does not hold, or else the first event that cannot be read."""


def log(request: Request, session: str, *, decodes: bool = True) -> LoggedSession:
    """The events of a session.

    Args:
        decodes: whether the events are wanted, and not only what is stored.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        AnotherVersion: another version wrote it.
    """
    return read_log_of_session(request.reading.session(session), decodes=decodes)


def read_log_of_session(at: FoundSession, *, decodes: bool = True) -> LoggedSession:
    """The same of a session that was found.

    Raises:
        AnotherVersion: another version wrote it.
    """
    head, runner = at.head, at.process.runner  # before the events: a session may grow meanwhile
    stored = at.process.store.read(at.session_id)
    events: tuple[Event | Unread | None, ...] = ()
    if decodes and stored:
        workflow = runner.workflows.get(stored[0].workflow)
        decode = shared_event if workflow is None else runner.codec(workflow).decode
        events = tuple(_decode_or_keep_error(decode, one) for one in stored)
    damage = next((one for one in events if isinstance(one, Unread)), None)
    try:
        stored_events.verified(stored, head.hash if head else None)
    except LogDamaged as error:
        damage = error
    return LoggedSession(stored=stored, events=events, damage=damage)


def _decode_or_keep_error(
    decode: Callable[[Stored], Event | None], one: Stored
) -> Event | Unread | None:
    if one.data is None:
        return None
    try:
        return decode(one)
    except (LogDamaged, UnreadableEvent) as error:
        return error
    except TypeError as error:  # a database keeps what it is given, whatever the column's type
        return LogDamaged(
            f"session {one.session_id}", one.version, f"its payload cannot be read: {error}"
        )
