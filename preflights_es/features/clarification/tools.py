"""Beginning a decision, and recording what an agent asked its person itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from itertools import count, islice
from typing import Annotated, Any, Final

from msgspec import Meta, ValidationError, convert
from msgspec.structs import replace

from preflights_es.features.clarification.known_decisions import context_of
from preflights_es.features.clarification.observed_questions import record_observed_question
from preflights_es.features.recall.decision_search import RecordRows
from preflights_es.kernel.errors import CallHeld, ErasedSession, Refused
from preflights_es.kernel.text import caseless, one_line
from preflights_es.surfaces.mcp_calls import ToolCall
from preflights_es.surfaces.mcp_rounds import (
    Arguments,
    Came,
    SessionStanding,
    Tool,
    ask_open_questions,
    decided_values_by_field,
    found_for,
    session_standing,
)
from preflights_es.use import sessions
from preflights_es.use.inbox import acceptable
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from preflights_es.words.decisions import StatedReasons
from preflights_es.words.questions import (
    AskOutcome,
    Observed,
    Option,
    WrittenQuestion,
    lacking,
    written_question,
)
from preflights_es.words.workflow import View

FACTS_MAX: Final = 30  # products, and packages of none, that a result names
QUESTION_OF_YOURS: Final = (
    "a question of yours: you know the code; give question, options with description and against, "
    "recommendation with reason, why, scope and evidence"
)
OVER: Final = ("abandoned", "superseded", "erased")
"""Statuses after which the same call begins anew."""


class Begun(Arguments, frozen=True):
    """Of `start_decision`."""

    intention: Annotated[str, Meta(description="what is to be decided, one sentence")]
    question: Annotated[str, Meta(description="your own question: you know the code")] = ""
    options: Annotated[
        tuple[Any, ...], Meta(description="each {label, description, against}, or a label")
    ] = ()
    topic: str = ""
    recommendation: Annotated[str, Meta(description="one of the labels")] = ""
    reason: str = ""
    why: Annotated[str, Meta(description="what depends on the answer")] = ""
    scope: Annotated[str, Meta(description="what it is for; empty: the whole project")] = ""
    consequences: Annotated[tuple[str, ...], Meta(description="of the recommendation")] = ()
    evidence: Annotated[tuple[str, ...], Meta(description="src/db.py:12-40")] = ()
    paths: Annotated[tuple[str, ...], Meta(description="files it holds for: src/db/**")] = ()


async def _start_decision(call: ToolCall, given: Begun) -> Came:
    if (at := call.round) is not None:
        session = await call.run(lambda request: found_for(request, at.session))
        return await ask_open_questions(call, session)
    written = _build_agent_question(given)

    def begin(request: Request) -> View:
        reasons = StatedReasons(paths=given.paths) if given.paths else None
        new = NewSession(given.intention, written=written, scope=given.scope, reasons=reasons)
        return sessions.start_session(request, new)

    came = await ask_open_questions(call, await _once(call, given, begin))
    if not isinstance(came, SessionStanding):
        return came
    if not came.question:
        return came  # no facts for a question
    lacks = lacking(written) if written else (QUESTION_OF_YOURS,)
    return replace(came, facts=await call.run(_read_repository_facts), lacks=lacks)


def _read_repository_facts(request: Request) -> tuple[str, ...]:
    """What the repository says of itself, as the session began with it: a line a product."""
    found = context_of(request.process, RecordRows(request.process))
    if found is None:
        return ()
    places: dict[str, list[str]] = {}
    for signal in found.technology_signals:
        product, _, place = signal.rpartition(": ")
        places.setdefault(product or place, []).append(place)
    told = (
        name if [name] == at else f"{name}: {', '.join(at)}"
        for name, at in islice(places.items(), FACTS_MAX)
    )
    return tuple(filter(None, (found.file_summary, *told)))


async def _once(call: ToolCall, given: Arguments, begin: Callable[[Request], View]) -> View:
    """The session that this call begins, or began earlier; a new one where that one is over."""
    # The same of the same client's same call, also after the client's update.
    named = repr((call.client[0], given)).encode("utf-8", "replace")
    key = f"{given.__class__.__name__} {sha256(named).hexdigest()}"
    for attempt in count():
        begun = await call.run(partial(_begin_session_under_key, begin=begin), f"{key} {attempt}")
        if begun is not None:
            return begun
    raise AssertionError("count() has no end")


def _begin_session_under_key(request: Request, begin: Callable[[Request], View]) -> View | None:
    """The session under the request's key; None where it is over."""
    try:
        session = begin(request)
        is_new = not session.is_recalled
    except ErasedSession:
        return None
    except Refused as error:
        before = request.inputs.opened_before()
        if error.code != "key_used" or not before:
            raise
        # The same client began it in another version, and has another name in the log.
        session, is_new = sessions.show(request, before), False
    session = sessions.conversed(request, session)
    if session.status in OVER:
        return None
    return session if is_new or session.status != "waiting" else _resumed(request, session)


def _resumed(request: Request, session: View) -> View:
    """The session after its model is asked again, where no process asks it now."""
    try:
        return sessions.resume(request, session.session_id)
    except CallHeld:
        return session


class Happened(Arguments, frozen=True):
    """Of `record_question`."""

    question: str
    outcome: AskOutcome
    answers: Annotated[tuple[str, ...], Meta(description="the person's words, unchanged")] = ()
    options: tuple[str, ...] = ()
    topic: str = ""


async def _record_question(call: ToolCall, given: Happened) -> SessionStanding:
    name, version = call.client
    came = Observed(channel="tool", agent=name, agent_version=version, outcome=given.outcome)

    def begin(request: Request) -> View:
        said = (given.question, given.options, given.answers, came)
        return record_observed_question(request, *said, topic=given.topic)

    before = await call.run(partial(_find_same_proposal, given=given))
    return session_standing(before or await _once(call, given, begin))


def _find_same_proposal(request: Request, given: Happened) -> View | None:
    """The proposal of the same question and answer: a hook may have seen them, too."""
    said = caseless(", ".join(given.answers))
    for one in acceptable(request):
        if one.origin and one.intention == one_line(given.question):
            session = sessions.show(request, one.session_id)
            if said in map(caseless, decided_values_by_field(session).values()):
                return session
    return None


def _build_agent_question(given: Begun) -> WrittenQuestion | None:
    """The question that the agent wrote.

    Raises:
        Refused: a part of it stands without the question.
    """
    more = (given.options, given.topic, given.recommendation, given.reason, given.why)
    if not given.question:
        if any((*more, given.consequences, given.evidence)):
            message = (
                "options, topic, why, a recommendation, consequences and evidence belong to a "
                "question: give question too"
            )
            raise Refused(message, code="no_question")
        return None
    if bool(given.recommendation) != bool(given.reason):
        message = "a recommendation and its reason belong together: give both, or neither"
        raise Refused(message, code="no_reason")
    recommended = (given.recommendation, given.reason) if given.recommendation else None
    return written_question(
        given.question,
        map(_option, given.options),
        given.topic,
        recommended,
        why=given.why,
        scope=given.scope,
        evidence=given.evidence,
        consequences=given.consequences,
    )


def _option(given: Any) -> Option:
    """An option as the agent gives it.

    Raises:
        Refused: it is neither a label nor an object with one.
    """
    try:
        found: Option = convert({"label": given} if isinstance(given, str) else given, Option)
    except (ValidationError, UnicodeEncodeError) as error:
        message = f"options: {error}: expected a label, or {{label, description, against}}"
        raise Refused(message, code="no_option") from error
    return found


TOOLS: Final[tuple[Any, ...]] = (
    Tool(
        name="start_decision",
        description=(
            "Begin a decision about architecture before you build on it: the person is asked, "
            "the answer recorded."
        ),
        run=_start_decision,
        repeats=True,
    ),
    Tool(
        name="record_question",
        description=(
            "Record a question that you asked the person yourself, as it went. Silence is "
            "timed_out, never an answer."
        ),
        run=_record_question,
        repeats=True,
    ),
)
