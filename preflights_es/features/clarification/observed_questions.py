"""A question that an agent asked its person somewhere else becomes a session: it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from preflights_es.features.clarification.clarifications import (
    UNNAMED,
    Clarifications,
    asking,
    clarifications_of,
)
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.lead import OPTIONS_MAX
from preflights_es.kernel.errors import LogBusy, PreflightsError, Refused
from preflights_es.kernel.events import Actor
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.text import (
    ANSWER_MAX,
    INTENTION_MAX,
    NAME_MAX,
    caseless,
    escaped_text,
    late_pattern,
    one_line,
    shortened,
    visible,
)
from preflights_es.redaction.masking import redact_hidden
from preflights_es.redaction.patterns import SECRETS, SecretKind
from preflights_es.runtime.runner import Handle, RecalledStep, Step
from preflights_es.use.answers import finish_due_documents
from preflights_es.use.request import Request
from preflights_es.use.results import session_of
from preflights_es.use.use_cases import NewSession
from preflights_es.words.questions import (
    ANSWERED,
    Observed,
    Option,
    WrittenQuestion,
    is_placeholder,
    stripped,
)
from preflights_es.words.workflow import View

QUESTION_MAX: Final = 200  # characters, as `clarify.v1` has it; the intention holds all of it
OPTION_MAX: Final = 80  # characters, of an option and of a topic; as `clarify.v1` has it
_RECOMMENDED: Final = late_pattern(r"\s*\((?:recommended|empfohlen)\)\s*$", 2)  # re.IGNORECASE


def record_observed_question(
    request: Request,
    question: str,
    options: Sequence[str],
    answers: Sequence[str],
    observed: Observed,
    *,
    topic: str = "",
) -> View:
    """The question as it happened: answered and proposed where a person answered, else open.

    The same question of the same conversation is one session, however often it is recorded; the
    session is then `is_recalled`. Where the channel names neither, the caller's key does this.

    Args:
        answers: labels or the person's own words; they count only where `observed` says that a
            person answered.
        topic: what the question is about, as the agent heads it.

    Raises:
        Refused: nothing of it can be asked; nothing is recorded.
        ErasedSession: it was recorded, and erased.
    """
    options, kinds = (
        [_without_recommendation(one) for one in options],
        request.process.sanitizer.kinds,
    )
    said = tuple(
        _clean_observed_text(_without_recommendation(one), ANSWER_MAX, kinds)
        for one in answers
        if visible(one)
    )
    observed = _cleaned(observed, said, kinds)
    own_request = _as_agent(request, observed, question)
    opened = own_request.inputs.opened_before()
    before = clarifications_of(own_request).load(opened) if opened else None
    if before is None or before.status == "waiting":  # a try broke off before it was asked
        own_request, before = _as_agent(request, observed, question), None
        own_request.finish_pending()
        handle = _open_observed_session(
            own_request, question, options, said=said, observed=observed, topic=topic
        ).handle
    else:
        handle = before
    own = clarifications_of(own_request)
    told = handle.session.state.opened.observed  # what was told first counts
    done = Step(handle, ())
    if told.outcome in ANSWERED and said:
        done = _relay_observed_answer(own_request, own, handle, said)
    done = _propose_if_ready(own_request, own, done)
    request.notices += own_request.notices
    if before and done.handle.version == before.version:
        return session_of(RecalledStep(handle, ()), request.notices)
    return finish_due_documents(own_request, done)


def _as_agent(request: Request, observed: Observed, question: str) -> Request:
    """A request of the agent that asked; the caller is a hook."""
    actor = Actor("agent", observed.agent or UNNAMED)
    key = _observed_question_key(observed, question) or request.key
    own_request = Request(request.process, lambda: actor, evidence=request.evidence, key=key)
    own_request.tell = request.tell
    return own_request


def _observed_question_key(observed: Observed, question: str) -> str:
    """One a question of a conversation; empty where the channel names none of both."""
    if not (observed.call or observed.conversation):
        return ""
    # Not the agent, where another id tells: VS Code runs the hooks of two agents at each event.
    parts = (observed.conversation or observed.agent, observed.call or question)
    return f"observed {sha256(chr(0).join(parts).encode('utf-8', 'replace')).hexdigest()}"


def _open_observed_session(
    request: Request,
    question: str,
    options: Sequence[str],
    said: Sequence[str],
    observed: Observed,
    topic: str,
) -> Step:
    settings = request.process.settings
    tables = settings.of(WORKFLOW)
    refused: Refused | None = None
    for written in _askable_question_forms(question, _select_offered_options(options, said), topic):
        try:
            setup = asking(request, written, tables)
        except Refused as error:
            refused = refused or error
            continue
        return clarifications_of(request).open(
            NewSession(_clean_observed_text(question, INTENTION_MAX)),
            _with_agent_version(setup, observed),
            tables,
            language=settings.language if settings.is_language_said else None,
            observed=observed,
        )
    assert refused is not None, "there is at least one form"
    raise refused


def _askable_question_forms(
    question: str, options: tuple[str, ...], topic: str
) -> Iterator[WrittenQuestion]:
    """The question as it was asked, then without what may be refused of it."""
    asked = _clean_observed_text(question, QUESTION_MAX)
    offered = tuple(map(Option, options))
    if about := _clean_observed_text(topic, OPTION_MAX):
        yield WrittenQuestion(asked, offered, about)
    yield WrittenQuestion(asked, offered)
    yield WrittenQuestion(asked)


def _with_agent_version(setup: Setup, observed: Observed) -> Setup:
    """The agent's version stands beside its name."""
    lead = setup.lead
    assert lead is not None, "an agent wrote the question"
    model = f"{lead.model} {observed.agent_version}".strip()
    return replace(setup, lead=replace(lead, model=model))


def _select_offered_options(options: Sequence[str], said: Sequence[str]) -> tuple[str, ...]:
    """Those that a question may have: what was chosen is among them, and at least one more."""
    known: dict[str, str] = {}
    for one in options:
        option = _clean_observed_text(one, OPTION_MAX)
        if not (
            is_placeholder(one) or is_placeholder(option) or option.casefold().startswith("other")
        ):
            known.setdefault(caseless(option), option)
    chosen = {caseless(_clean_observed_text(one, OPTION_MAX)) for one in said}
    room = OPTIONS_MAX - len(chosen & known.keys())
    kept = []
    for folded, option in known.items():
        if folded in chosen or room > 0:
            kept.append(option)
            room -= folded not in chosen
    return tuple(kept[:OPTIONS_MAX]) if len(kept) > 1 else ()


def _relay_observed_answer(
    request: Request, own: Clarifications, handle: Handle, said: Sequence[str]
) -> Step:
    """The person's words, relayed; several options are one value."""
    if not handle.view.questions:
        request.inputs.skip()  # a try broke off after the answer
        return Step(handle, ())
    asked = handle.view.questions[0]
    by_name = {caseless(option): option for option in asked.options}
    values = [by_name.get(caseless(_clean_observed_text(one, OPTION_MAX)), one) for one in said]
    value = _clean_observed_text(", ".join(dict.fromkeys(values)), ANSWER_MAX)
    try:
        return own.answer(handle, [(asked.id, (value,))], relays=True)
    except Refused as error:
        if error.code != "key_used":
            raise
        return Step(handle, ())  # it was told before, in other words: what was told first counts


def _propose_if_ready(request: Request, own: Clarifications, step: Step) -> Step:
    """Accepted by the agent, which only proposes; else it waits, ready to be accepted."""
    if step.handle.status != "ready":
        return step
    try:
        request.process.documents.check_folders(writes=True)
        return own.accept(step.handle.session_id)
    except LogBusy:
        raise
    except PreflightsError as error:
        request.notice("not_proposed", f"it is not proposed, and waits in the inbox: {error}")
        return step


# What an agent says of itself ----------------------------------------------------------------


def _cleaned(observed: Observed, said: Sequence[str], kinds: tuple[SecretKind, ...]) -> Observed:
    """Without secrets and within limits; an answer without content is empty."""
    is_silent = observed.outcome in ANSWERED and not said
    return replace(
        observed,
        agent=_clean_observed_text(observed.agent, NAME_MAX, kinds),
        agent_version=_clean_observed_text(observed.agent_version, OPTION_MAX, kinds),
        conversation=_clean_observed_text(observed.conversation, NAME_MAX, kinds),
        call=_clean_observed_text(observed.call, NAME_MAX, kinds),
        outcome="empty" if is_silent else observed.outcome,
    )


def _without_recommendation(text: str) -> str:
    """An option without the agent's recommendation of it."""
    return _RECOMMENDED.sub("", text) or text


def _clean_observed_text(text: str, limit: int, kinds: tuple[SecretKind, ...] = SECRETS) -> str:
    """On one line, safe to show, without secrets."""
    # What a limit cuts in two is no secret that a pattern knows: it is taken out before.
    bounded = one_line(stripped(text[: 4 * limit]))
    return shortened(escaped_text(redact_hidden(bounded, kinds).text), limit)
