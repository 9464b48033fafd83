"""What a tool takes and gives: how a session stands, its forms, and rounds of questions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from typing import Any, Final, NamedTuple, get_args, get_type_hints

import mcp_types as types
import msgspec

from preflights_es.kernel.errors import Refused, UnknownSession
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import (
    caseless,
    escaped_text,
    one_line,
    shortened,
    shown_lines,
    visible,
)
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.runtime.runner import Handle
from preflights_es.surfaces.mcp_calls import Round, ToolCall
from preflights_es.use import sessions
from preflights_es.use.inbox import PROPOSED
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.use.use_cases import NewAcceptance
from preflights_es.words.questions import Question
from preflights_es.words.workflow import View

UNSAID: Final = ("title", "default", "additionalProperties")
"""What a schema says and no client needs: descriptions are read at every start of an agent."""


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Root of what tools take."""


class Nothing(Arguments, frozen=True):
    """Takes nothing."""


class ToolResult(Result, frozen=True, omit_defaults=True):
    """Root of what tools give."""

    notices: tuple[str, ...] = ()
    """What a person should know of the call."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool."""

    name: str
    description: str
    run: Callable[[ToolCall, Any], Awaitable[Any]]
    """Takes the call and its arguments; what both are, and what it gives, its annotations say."""
    reads: bool = False
    """Whether it changes nothing that a person would mind; a search may record its question."""
    repeats: bool = False
    """Whether the same call again records nothing more."""

    @property
    def takes(self) -> type[Arguments]:
        """The class of its arguments."""
        return _annotated(self.run)[0]

    @property
    def gives(self) -> type[ToolResult]:
        """The class of its result, where the client need not ask its person first."""
        return _annotated(self.run)[1]


@cache
def _annotated(run: Callable[..., Any]) -> tuple[type[Arguments], type[ToolResult]]:
    kinds = get_type_hints(run)
    returned = kinds.pop("return")
    (gives,) = (one for one in get_args(returned) or (returned,) if issubclass(one, ToolResult))
    return [*kinds.values()][-1], gives


def schema_in(takes: type[Arguments]) -> dict[str, Any]:
    """What a tool takes, as JSON Schema."""
    found = _strip_schema_fields(_struct_json_schema(takes))
    del found["description"]  # the tool's own says it
    return found


def schema_out(gives: type[ToolResult]) -> dict[str, Any]:
    """What a tool gives, as JSON Schema: the types of its own fields alone."""
    known = _struct_json_schema(gives)["properties"]
    own = [name for name in known if name not in ToolResult.__struct_fields__]
    fields = {name: {"type": known[name].get("type", "object")} for name in own}
    return {"type": "object", "properties": fields}


def make_json_visible(value: Any) -> Any:
    """JSON without characters that a model reads and its person does not see."""
    match value:
        case str():
            return shown_lines(value)
        case dict():
            return {shown_lines(name): make_json_visible(one) for name, one in value.items()}
        case list() | tuple():
            return [make_json_visible(one) for one in value]
        case _:
            return value


def _struct_json_schema(of: type[msgspec.Struct]) -> dict[str, Any]:
    (found,), defs = msgspec.json.schema_components((of,), ref_template="{name}")
    schema: dict[str, Any] = defs[found["$ref"]]
    return schema


def _strip_schema_fields(schema: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in schema.items() if name not in UNSAID}
    if "properties" in found:
        properties = found["properties"].items()
        found["properties"] = {name: _strip_schema_fields(one) for name, one in properties}
    return {name: value for name, value in found.items() if value != [] or name != "required"}


OTHER: Final = "Other"
INTENTION_SHOWN: Final = 120  # characters
CHOICE, OWN, AGREES = "choice", "other", "accept"
"""Keys of a form."""
NOT_THIS: Final = {"en": "Not about this", "de": "Darum geht es nicht"}
"""The option of a menu that is about something else, by language."""


def form_message(session: View, question: Question) -> str:
    """What stands above the form: the question, and what it is asked for."""
    shown_question = one_line(describe_question_with_options(session, question))
    return f"{escaped_text(shown_question)} {_form_source_line(session)}"


def describe_question_with_options(
    session: View, question: Question, *, numbered: bool = False
) -> str:
    """The question, why it matters, what its options mean, and what is recommended.

    Args:
        numbered: whether every option is named; a form lists them itself.
    """
    shape = session.shape()
    word = WORDS["de" if shape.get("language") == "de" else "en"]
    offer, beside = shape.get("offer"), dict(shape.get("beside", ()))
    told = {one.label: one for one in offer.options} if offer else {}
    why = _sentence(f"{word.why}: {offer.why}") if offer and offer.why else ""
    parts = [question_in_words(session, question), why]
    for number, option in enumerate(_options_with_dismissal(session, question), 1):
        one = told.get(option)
        against = f"{word.against}: {one.against}" if one and one.against else ""
        means = one.description if one else ""
        said = "; ".join(filter(None, (means or beside.get(option, ""), against)))
        if numbered or said:
            parts.append(f"{number}. {option}{f' ({said})' if said else ''}")
    if offer and (best := offer.recommended):
        parts.append(f"({offer.by} {word.recommends} {best.option}: {best.reason})")
    return " ".join(filter(None, parts))


def question_in_words(session: View, question: Question) -> str:
    """The question in words: where no topic fits, a terminal shows the label of a line alone."""
    shape = session.shape()
    if not shape.get("fields"):
        return question.question
    asks = WORDS["de" if shape.get("language") == "de" else "en"].decided
    return asks.format(intention=_quote_intention(session.intention))


class QuestionWording(NamedTuple):
    """What stands around a question, in its language."""

    decided: str
    why: str
    against: str
    recommends: str


WORDS: Final = {
    "en": QuestionWording(
        'What do you decide on "{intention}"?', "Why it matters", "against", "recommends"
    ),
    "de": QuestionWording(
        "Was wird zu \u201e{intention}\u201c entschieden?",
        "Warum es z\u00e4hlt",
        "dagegen",
        "empfiehlt",
    ),
}


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _quote_intention(intention: str) -> str:
    """An intention as it is quoted: it may be a page long."""
    return escaped_text(shortened(one_line(intention), INTENTION_SHOWN))


def asking(session: View, question: Question) -> dict[str, Any]:
    """The form of a question: its options with one for other words, or free text."""
    own = {"type": "string", "title": "In your own words"}
    if not question.options:
        return _object_form_schema({CHOICE: own}, CHOICE)
    more = _options_with_dismissal(session, question)[len(question.options) :]
    shown_ones = [*options_with_other(question), *more]
    choice: dict[str, Any] = {"type": "string", "enum": shown_ones}
    if question.type == "multi_choice":
        choice = {"type": "array", "items": choice}
    own["description"] = "Where none of the options fits."
    return _object_form_schema({CHOICE: {**choice, "title": "Your answer"}, OWN: own}, CHOICE)


def options_with_other(question: Question) -> list[str]:
    """The options, with one for other words."""
    found = list(question.options)
    has_other = any(_is_other(one) for one in found)
    return found if has_other else [*found, OTHER]


def _options_with_dismissal(session: View, question: Question) -> tuple[str, ...]:
    """The options, and behind them the one that leaves a menu, where it can be left."""
    shape = session.shape()
    way_out = NOT_THIS["de" if shape.get("language") == "de" else "en"]
    return (*question.options, *((way_out,) if shape.get("can_dismiss") else ()))


def is_dismissal(session: View, text: Any) -> bool:
    """Whether an answer says that the menu is about something else, by its words or its number."""
    offered = _options_with_dismissal(session, session.questions[0]) if session.questions else ()
    if offered[-1:] and offered[-1] in NOT_THIS.values() and isinstance(text, str):
        return caseless(text.strip()) in (caseless(offered[-1]), str(len(offered)))
    return False


def form_asked(session: View, question: Question) -> Round:
    """The round of a question.

    Where the question offers other words, they have a key of their own: a number among them
    stands for no option.
    """
    has_other = any(_is_other(one) for one in question.options)
    own = f"{question.id}__other" if has_other else question.id
    return Round(session.session_id, session.version, question.id, own)


def answers_from_form(
    at: Round, content: Mapping[str, Any] | None, question: Question | None
) -> dict[str, tuple[str, ...]]:
    """What a person answered, by key; nothing where the form did not allow what came back.

    Args:
        question: None where the session went on since it was asked.
    """
    own, chosen = (content or {}).get(OWN), (content or {}).get(CHOICE)
    values = chosen if isinstance(chosen, list) else [chosen]
    said = [one for one in values if isinstance(one, str) and visible(one)]
    offered = options_with_other(question) if question is not None and question.options else ()
    if offered and not set(said) <= {*offered}:
        return {}
    found = tuple(one for one in said if not _is_other(one))
    if isinstance(own, str) and visible(own):  # a comment may take the choice back
        return {at.own: (f"{', '.join(found)} ({own.strip()})" if found else own,)}
    return {at.question: found} if found else {}


def acceptance_message(session: View) -> str:
    """What stands above the form that asks for an acceptance."""
    decided = decided_values_by_field(session).items()
    said = "; ".join(f"{name}: {one_line(value)}" for name, value in decided)
    return f"{escaped_text(said)} {_form_source_line(session)}"


def decided_values_by_field(session: View) -> dict[str, str]:
    """What is decided so far, by field."""
    patch = session.shape().get("patch")
    return dict(patch.fields) if patch else {}


def acceptance_form() -> dict[str, Any]:
    """The form that asks whether a proposal is accepted."""
    accepts = {"type": "boolean", "title": "Accept this decision"}
    return _object_form_schema({AGREES: accepts}, AGREES)


def agrees(content: Mapping[str, Any] | None) -> bool:
    """Whether the person accepted."""
    return (content or {}).get(AGREES) is True


def _form_source_line(session: View) -> str:
    """Who asks, and what for: the intention may be a page long."""
    return f"(Preflights, for: {_quote_intention(session.intention)})"


def _is_other(option: str) -> bool:
    return option.casefold().partition(" (")[0] == OTHER.casefold()


def _object_form_schema(properties: dict[str, Any], required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [required]}


ASK: Final = (
    "Ask your person exactly this and wait; silence is no answer, and the answer is not yours to "
    "give. Then call answer with session {session}, their words as answer, relayed true: {words}"
)
AT_TERMINAL: Final = (
    "Ask your person exactly this: {words}. The person answers at a terminal: "
    "`preflights answer {session} ANSWER`."
)
NEXT: Final = {
    "ready": "Show it to your person, then call accept with session {session}.",
    "proposed": "Tell your person: `preflights accept {session}` at a terminal accepts it.",
    "waiting": (
        "The model did not answer yet: the same start_decision again, or `preflights resume "
        "{session}` in a shell, asks it again."
    ),
    "accepted": "It is decided: work by it.",
    "superseded": "Another decision took its place: call decisions.",
    "abandoned": "It was abandoned: start_decision begins anew.",
    "faulted": "Tell your person: `preflights show {session}` says what is wrong.",
    "stopped": "Nothing is to be decided here: go on.",
}

OPEN: Final = ("needs_answers", "ready", "proposed", "stopped")
"""Statuses in which what is in force beside it matters."""
SETTLED: Final = "{name} is in force: if it settles this, work by it and ask nothing. Otherwise: "
DIFFERS: Final = "{name} is in force at this place: tell your person that this would change it. "
AGAINST: Final = "{name} is in force and turned {value} down: tell your person so, and why. "


class SessionStanding(ToolResult, frozen=True, kw_only=True):
    """A session after a call."""

    session: str
    status: str
    intention: str
    decided: dict[str, str] = {}
    """Values by field, as far as they are known."""
    question: str = ""
    options: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Why parts of the call do not count."""
    record: str = ""
    """Path of its document."""
    in_force: tuple[str, ...] = ()
    """Decisions in force: at the same place, then related ones."""
    facts: tuple[str, ...] = ()
    """Of the repository; of `start_decision` alone."""
    lacks: tuple[str, ...] = ()
    """What a good question has besides; of `start_decision` alone."""
    next: str = ""
    """What the agent does now."""


def session_standing(session: View) -> SessionStanding:
    """A session as tools give it."""
    asked = session.questions[0] if session.questions else None
    id_, gate = short_session(session.session_id), session.shape().get("gate")
    # A person chooses at a terminal about each decision that an acceptance differs from.
    differing = [one for one in session.shape().get("related", ()) if one.needs_choice]
    refused = [one.message for one in session.refusals]
    refused += [f"it differs from a decision in force: {one.title}" for one in differing]
    return SessionStanding(
        session=id_,
        status=session.status,
        intention=session.intention,
        decided=decided_values_by_field(session),
        question=question_in_words(session, asked) if asked else "",
        options=_options_with_dismissal(session, asked) if asked else (),
        refused=tuple(refused),
        record=session.document or "",
        in_force=tuple(one.said() for one in _known_decisions_beside(session)),
        next=_next_agent_step(session, asked),
        notices=(*session.warnings, *((gate.line,) if gate else ())),
    )


def _known_decisions_beside(session: View) -> tuple[Any, ...]:
    """What is in force beside it, until it is accepted."""
    return session.shape().get("known", ()) if session.status in OPEN else ()


def _next_agent_step(session: View, asked: Question | None) -> str:
    """What the agent does now: a decision at the same place comes before a question."""
    name = short_session(session.session_id)
    said = (
        _instruct_agent_to_ask(session, asked)
        if asked
        else NEXT.get(session.status, "").format(session=name)
    )
    here = [one for one in _known_decisions_beside(session) if one.same_place or one.turned_down]
    if not here or session.status == "stopped":
        return said
    first = next((one for one in here if one.differs), here[0])
    how = DIFFERS if first.differs else AGAINST if first.turned_down else SETTLED
    name = first.line.partition(" ")[0]
    return how.format(name=name, value=escaped_text(one_line(first.turned_down))) + said


def is_relayed(session: View) -> bool:
    """Whether its log can say that a client passed a person's answer on."""
    workflow = WORKFLOWS.get(session.workflow)
    return workflow is not None and workflow.asked.relayed is not None


def _instruct_agent_to_ask(session: View, question: Question) -> str:
    """Exact words for a client without forms."""
    words = describe_question_with_options(session, question, numbered=True)
    ask = ASK if is_relayed(session) else AT_TERMINAL
    quoted = canonical_json(escaped_text(one_line(words))).decode()
    return ask.format(session=short_session(session.session_id), words=quoted)


USED: Final = "key_used"
Came = SessionStanding | types.InputRequiredResult
"""How a session stands, or what the client has to ask its person first."""


def mine(request: Request, typed: str) -> Handle:
    """A session of this project.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        Refused: it is another project's.
    """
    handle = request.reading.find(typed, of="").load()
    if handle.project != request.process.project:
        raise UnknownSession(typed)
    return handle


def found_for(request: Request, typed: str) -> View:
    """A session of this project as it stands."""
    return sessions.show(request, mine(request, typed).session_id)


async def ask_open_questions(call: ToolCall, session: View) -> Came:
    """The session after its person was asked what is open, round by round.

    A form that is declined, cancelled or forgotten leaves its question open.
    """
    if call.round is not None:
        at = call.round
        if (after := await _settled(call, session, at, call.brought)) is None:
            return session_standing(session)
        session = after
    while session.questions and is_relayed(session) and not session.refusals:
        question = session.questions[0]
        now = form_asked(session, question)
        came = await call.form(now, form_message(session, question), asking(session, question))
        if isinstance(came, types.InputRequiredResult):
            return came
        if (after := await _settled(call, session, now, came)) is None:
            break
        session = after
    return session_standing(session)


async def _settled(
    call: ToolCall, session: View, at: Round, came: Mapping[str, Any] | None
) -> View | None:
    """The session after what came back from a form; None where that says nothing."""
    question = next((one for one in session.questions if one.id == at.question), None)
    if question is not None and is_dismissal(session, (came or {}).get(CHOICE)):
        return await call.run(partial(dismissed, at=at), _key_of(at), is_form=True)
    said = answers_from_form(at, came, question)
    return await _relay_form_answer(call, at, said) if said else None


def dismissed(request: Request, at: Round) -> View:
    """The session without the topic of its menu, as it was shown."""
    mine(request, at.session)
    came: View = FEATURES.port("dismiss_topic")(request, at.session, expect=at.version)
    return sessions.conversed(request, came)


def _key_of(at: Round) -> str:
    return f"elicited {at.session} {at.version}"


async def _relay_form_answer(call: ToolCall, at: Round, said: dict[str, tuple[str, ...]]) -> View:
    """The person's words, relayed by the client; the same round again records nothing."""

    def answer(request: Request) -> View:
        mine(request, at.session)
        try:
            came = sessions.answer_session(request, at.session, said, relays=True)
        except Refused as error:
            if error.code != USED:
                raise
            id_ = short_session(at.session)
            message = f"session {id_} has another answer to this form: call show"
            raise Refused(message, code="answered_already") from error
        return sessions.conversed(request, came)

    return await call.run(answer, _key_of(at), is_form=True)


async def accept_or_propose(call: ToolCall, typed: str) -> Came:
    """The session after an acceptance: the agent's own only proposes.

    The person is asked only where the user's own settings let a form accept, and the form can show
    all that is decided: a plan is read before it is accepted.
    """
    if call.round is not None:
        return await _accept_from_form(call, call.round, call.brought)
    session = await call.run(lambda request: found_for(request, typed))
    can_ask = call.has_forms and bool(decided_values_by_field(session))
    asks = can_ask and call.desk.request.process.settings.agents.elicited_acceptance
    if not session.can_accept or (session.status == PROPOSED and not asks):
        return session_standing(session)
    now = Round(session.session_id, session.version)
    if not asks:
        return session_standing(await call.run(partial(_accept_at_round, at=now)))
    came = await call.form(now, acceptance_message(session), acceptance_form())
    if isinstance(came, types.InputRequiredResult):
        return came
    return await _accept_from_form(call, now, came)


async def _accept_from_form(
    call: ToolCall, at: Round, came: Mapping[str, Any] | None
) -> SessionStanding:
    """The session after its person accepted in a form, or did not."""
    if not agrees(came):
        return session_standing(await call.run(lambda request: found_for(request, at.session)))
    key = f"elicited acceptance {at.session} {at.version}"
    done = await call.run(partial(_accept_at_round, at=at, elicited=True), key, is_form=True)
    if not done.can_accept:
        return session_standing(done)
    proposed = await call.run(partial(_accept_at_round, at=at))  # a form has no place for choices
    refused = session_standing(done).refused
    return msgspec.structs.replace(session_standing(proposed), refused=refused)


def _accept_at_round(request: Request, at: Round, *, elicited: bool = False) -> View:
    mine(request, at.session)
    new = NewAcceptance(at.session, expect=at.version, elicited=elicited)
    return sessions.accept_session(request, new)
