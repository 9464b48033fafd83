"""What waits for a person: answered, revised, given reasons, accepted, kept or declined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from msgspec import UNSET

from preflights_es.kernel.errors import AmbiguousSession, Refused, SessionMoved, UnknownSession
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.runner import Handle
from preflights_es.surfaces.view.rendering import (
    DIGITS_MAX,
    Answer,
    Elsewhere,
    Page,
    PageRequest,
    Served,
    action,
    page,
)
from preflights_es.use import sessions
from preflights_es.use.answers import asked_in
from preflights_es.use.inbox import inbox, waiting_of
from preflights_es.use.use_cases import NewAcceptance
from preflights_es.words.decisions import HOLDS, Choices, Hold, RejectedAlternative, StatedReasons
from preflights_es.words.questions import Question
from preflights_es.words.workflow import View

OTHER: Final = "other"
"""How an option begins that stands for own words; a field stands in its place."""
ABOUT: Final = "about."
"""Begins the names of fields that say what becomes of a decision in force."""

# 1. Looking ----------------------------------------------------------------------------------


def inbox_page(asked: PageRequest) -> Page:
    """All that waits."""
    found = inbox(asked.request)
    commands = {one.session_id: asked.settles(one) for one in found.waiting}
    values = {"title": "Inbox", "section": "inbox", "found": found, "commands": commands}
    return Page("inbox.html", values, "preflights inbox")


def waiting_session_page(asked: PageRequest) -> Page:
    """A session that waits, with the forms that settle it."""
    handle = _mine(asked)
    return _inbox_session_page(asked, handle, sessions.show(asked.request, handle.session_id))


def _mine(asked: PageRequest) -> Handle:
    """The session of this project that the address names.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
    """
    typed = asked.path["id"]
    handle = asked.request.sessions.load(typed)
    if handle.project != asked.request.process.project:
        raise UnknownSession(typed)
    return handle


def _inbox_session_page(
    asked: PageRequest,
    handle: Handle,
    session: View,
    refused: str = "",
    status: int = HTTPStatus.OK,
) -> Page:
    """The page of a session.

    Args:
        refused: why what the form said is not recorded.
    """
    waits = waiting_of(session)
    shape: dict[str, Any] = session.shape()
    artifact = shape.get("artifact")
    is_seen = "patch" in shape or artifact is not None
    shows = f"preflights show {short_session(session.session_id)}"
    settles = asked.settles(waits) if waits else shows
    values = {
        "title": session.intention[:100] or "Session",
        "section": "inbox",
        "session": session,
        "shape": shape,
        "question": session.questions[0] if session.questions else None,
        # Without the one for own words.
        "options": lambda asked: [option for option in asked.options if not _is_other(option)],
        "decides": handle.workflow.filed.decided is not None,
        "again": _revisable_answers(handle, shape) if session.to_do or session.can_accept else [],
        "plan": decode_plain_json(canonical_json(artifact.payload)) if artifact else None,
        "accepts": session.can_accept and is_seen,
        "differing": [o for o in shape.get("related", ()) if o.needs_choice and session.can_accept],
        "settles": settles,
        "holds": HOLDS,
        "refused": refused,
        "is_behind": bool(refused) and asked.said("version") != str(session.version),
    }
    return Page("waiting.html", values, shows, status)


def _is_other(option: str) -> bool:
    return option.casefold().partition(" (")[0] == OTHER


def _revisable_answers(handle: Handle, shape: Mapping[str, Any]) -> list[tuple[str, str, Question]]:
    """What can be revised: its label, its value, and the question that it answers."""
    asked = {question.id: question for _, question in asked_in(handle)}
    origins = (one for one in shape.get("provenance", ()) if one.key in asked)
    return [(one.field, one.value, asked[one.key]) for one in origins]


# 2. Settling ---------------------------------------------------------------------------------


def submit_answer_form(asked: PageRequest) -> Answer:
    """The open question is answered; with the reasons, where the form has lines for them."""
    handle = _expected(asked)
    found = sessions.show(asked.request, handle.session_id)
    question = next((one for one in found.questions if one.id == asked.said("key")), None)
    if question is None:
        message = f"session {short_session(handle.session_id)} does not ask this any more"
        raise Refused(message, code="nothing_asked")
    given = _answer_of_form(asked, question)
    because, others = asked.said("because"), _alternatives(asked.said("alternatives"))
    reasons = StatedReasons(because, (), others) if because or others else None
    return _answered(asked, handle, given, reasons=reasons)


def revise(asked: PageRequest) -> Answer:
    """An answer is changed."""
    handle = _expected(asked)
    key = asked.said("key")
    question = next((one for _, one in asked_in(handle) if one.id == key), None)
    if question is None:
        message = f"session {short_session(handle.session_id)} has no answer to {key!r}"
        raise Refused(message, code="nothing_asked")
    return _answered(asked, handle, _answer_of_form(asked, question), revise=True)


def _answered(
    asked: PageRequest,
    handle: Handle,
    given: Sequence[tuple[str, tuple[str, ...]]],
    *,
    reasons: StatedReasons | None = None,
    revise: bool = False,
) -> Answer:
    """What came of answers to a session as it was shown."""
    id_, shown = handle.session_id, handle.version
    return _done(
        asked,
        sessions.answer_session(
            asked.request, id_, given, reasons=reasons, revise=revise, expect=shown
        ),
    )


def _answer_of_form(asked: PageRequest, question: Question) -> list[tuple[str, tuple[str, ...]]]:
    """The answer of a form: options that were chosen, or own words in their place."""
    own, chosen = asked.said("own"), asked.form.get("choice", ())
    has_other = any(map(_is_other, question.options))
    if own:
        return [(f"{question.id}__other" if has_other else question.id, (own,))]
    return [(question.id, chosen)]


def submit_reasons_form(asked: PageRequest) -> Answer:
    """Why it is decided so, what it is for, and where it holds: as the form says it, the whole."""
    handle = _expected(asked)
    shape: dict[str, Any] = sessions.show(asked.request, handle.session_id).shape()
    paths = tuple(_nonblank_lines(asked.said("paths")))
    hold: Hold = next((one for one in HOLDS if one == asked.said("hold")), "tell")
    said = StatedReasons(
        asked.said("because"),
        tuple(_nonblank_lines(asked.said("consequences"))),
        _alternatives(asked.said("alternatives")),
        replaces=True,
        paths=UNSET if paths == shape.get("paths", ()) else paths,
        hold=UNSET if hold == shape.get("hold", "tell") else hold,
    )
    keys = [one.key for one in shape.get("provenance", ()) if one.field != "Category"]
    scope = asked.said("scope")
    is_new = keys and scope != shape.get("scope", "")
    given = [(f"{keys[0]}__scope", (scope,))] if is_new else []
    return _answered(asked, handle, given, reasons=said)


def _alternatives(text: str) -> tuple[RejectedAlternative, ...]:
    """One a line: `NAME: why not`, or the name alone."""
    parts = (line.partition(": ") for line in _nonblank_lines(text))
    return tuple(
        RejectedAlternative(n.strip().removesuffix(":"), why.strip()) for n, _, why in parts
    )


def _nonblank_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def submit_acceptance_form(asked: PageRequest) -> Answer:
    """What was shown becomes a decision, as it was shown, or nothing does.

    The page is shown again where the person has to choose about a decision in force that differs.
    """
    handle = _mine(asked)
    version, choices = _shown_version_of_form(asked), _choices_of_form(asked)
    new = NewAcceptance(handle.session_id, expect=version, choices=choices)
    return _done(asked, sessions.accept_session(asked.request, new))


def _choices_of_form(asked: PageRequest) -> Choices | None:
    """What the form says about decisions in force; None where it says nothing."""
    said = {name.removeprefix(ABOUT): asked.said(name) for name in asked.form if ABOUT in name}
    kept = _decisions_with_choice(said, "keeps")
    keeps = tuple((uid, asked.said(f"reason.{uid}")) for uid in kept)
    supersedes = _decisions_with_choice(said, "supersedes")
    return Choices(supersedes, keeps, _decisions_with_choice(said, "exceptions")) or None


def _decisions_with_choice(said: Mapping[str, str], choice: str) -> tuple[str, ...]:
    return tuple(uid for uid, one in said.items() if one == choice)


def _call_port(port: str, *fields: str) -> Served:
    """What a feature does with a session as it was shown.

    Args:
        fields: those of the form that say more.
    """

    def answered(asked: PageRequest) -> Answer:
        handle, settle = _expected(asked), FEATURES.port(port)
        said = map(asked.said, fields)
        return _done(asked, settle(asked.request, handle.session_id, *said, expect=handle.version))

    return answered


def decline(asked: PageRequest) -> Answer:
    """The session is given up; it stays in the log."""
    handle = _expected(asked)
    reason = asked.said("reason")
    sessions.abandon(asked.request, handle.session_id, reason, expect=handle.version)
    return Elsewhere("/inbox")


def _shown_version_of_form(asked: PageRequest) -> int:
    """The version at which the session was shown.

    Raises:
        Refused: the form does not say it.
    """
    said = asked.said("version")
    if not (said.isascii() and said.isdigit() and len(said) <= DIGITS_MAX):
        message = "the form does not say what was shown: load the page again"
        raise Refused(message, code="no_version")
    return int(said)


def _expected(asked: PageRequest) -> Handle:
    """The session, as it was shown; what is recorded has to expect its version.

    Raises:
        SessionMoved: it is at another version.
    """
    handle, version = _mine(asked), _shown_version_of_form(asked)
    if handle.version != version:
        raise SessionMoved(handle.session_id, version, handle.version)
    return handle


def _done(asked: PageRequest, session: View) -> Answer:
    """Where the browser goes on; the page again where something was refused, or is to be chosen."""
    choices = [one for one in session.shape().get("related", ()) if one.needs_choice]
    if session.not_done or (choices and session.can_accept):
        status = HTTPStatus.CONFLICT if session.not_done else HTTPStatus.OK
        return _inbox_session_page(asked, _mine(asked), session, status=status)
    if session.status == "accepted" and session.shape().get("patch") is not None:
        return Elsewhere(f"/decisions/{session.session_id}")
    return Elsewhere(f"/inbox/{session.session_id}")


def _or_shown(served: Served) -> Served:
    """As it is, and where it is refused the session's page with the reason."""

    def answered(asked: PageRequest) -> Answer:
        try:
            return served(asked)
        except (UnknownSession, AmbiguousSession):
            raise
        except Refused as refused:
            handle = _mine(asked)
            session = sessions.show(asked.request, handle.session_id)
            why = asked.worded(str(refused), refused.code, refused.fields)
            return _inbox_session_page(asked, handle, session, why, status=HTTPStatus.CONFLICT)

    return answered


ROUTES: Final = (
    page("/inbox", inbox_page),
    page("/inbox/{id}", waiting_session_page),
    *(
        action(f"/inbox/{{id}}/{name}", _or_shown(served))
        for name, served in (
            ("answer", submit_answer_form),
            ("revise", revise),
            ("reasons", submit_reasons_form),
            ("accept", submit_acceptance_form),
            # A decision in force, by its place in the list of the page, is kept instead, or
            # replaced once this one is accepted.
            ("keep", _call_port("keep", "known")),
            ("replace", _call_port("replace_known", "known")),
            # The open question stays without an answer: a task is left, or it is of no topic.
            ("task", _call_port("file_task")),
            ("not-this", _call_port("dismiss_topic")),
            ("decline", decline),
        )
    ),
)
