"""The brief that an agent is given, and the questions that its own tool asked a person, read from
the event of the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from preflights_es.features.agents.hook_events import (
    HookEvent,
    Kind,
    Output,
    normalize_hook_name,
    output_at_beginning,
    recorded_agent_name,
)
from preflights_es.kernel.errors import LogBusy, PreflightsError
from preflights_es.kernel.text import late_pattern, one_line, visible
from preflights_es.use.brief import compose_brief
from preflights_es.use.request import Request
from preflights_es.words.questions import AskOutcome, Observed, call_of

UNNAMED: Final = "agent"
"""The agent that neither the command nor its environment names."""
TEXT_MAX: Final = 4_000  # characters that are kept of a text
CALL_MAX: Final = 20  # questions of a call; the agents take four at most
LABELS_MAX: Final = 50  # answers of a question that are kept
WAITS_MAX: Final = 3  # of one event, each a quarter of a second for a process that writes
CODEX: Final = "requestuserinput"  # the tool of Codex: no answers at all are its time-out
Choice = tuple[AskOutcome, tuple[str, ...]]
"""What came of a question, and the answers."""
BETWEEN: Final = ", "
"""What stands between several labels that were chosen."""
NOTE: Final = "user_note: "
"""How an answer begins in Codex that the person wrote beside an option."""
NONE: Final = "None of the above"
"""The option that Codex adds; it decides nothing."""
_BY_HOOK: Final = late_pattern(r"\bhooks?\b", 2)  # re.IGNORECASE
_TIMED_OUT: Final = late_pattern(r"no response after|timed? ?out|\bafk\b", 2)
_REFUSED: Final = late_pattern(r"\buser\b|declined|rejected|cancel|dismissed|skipped", 2)


def brief_for_agent(request: Request, agent: str, event: str) -> Output:
    """The brief, where anything is decided, proposed or open."""
    found = compose_brief(request)
    if not (found.decisions or found.proposed or found.open):
        return {}
    return output_at_beginning(agent, event, found.prompt)


def record_asked(request: Request, agent: str, event: HookEvent, kind: Kind) -> list[str]:
    """Record what the agent asked its person; what could not be recorded, a line each."""
    with request.process.store.database.hurried():  # the agent waits
        return [*_record_observed_answers(request, agent, event, kind)]


def _record_observed_answers(
    request: Request, agent: str, event: HookEvent, kind: Kind
) -> Iterator[str]:
    asked = questions(event)
    environment = request.process.settings.agent
    name = recorded_agent_name(agent) or environment or UNNAMED
    # It stands behind the agent's name, such as `claude-code/2.1.300`.
    version = environment.removeprefix(name).strip("/@ ") if environment.startswith(name) else ""
    waits: list[LogBusy] = []
    choices = zip(asked, read_hook_choices(event, kind, asked), strict=True)
    for place, (one, (outcome, answers)) in enumerate(choices):
        if one.is_secret:
            yield "a question whose answer is hidden is not recorded"
            continue
        observed = Observed(
            channel="hook",
            agent=name,
            agent_version=event.cursor_version or version,
            conversation=event.conversation,
            call=call_of(event.tool_use_id, place),
            outcome=outcome,
        )
        try:
            _observe(request, one, answers, observed, waits=waits)
        except PreflightsError as error:
            yield one_line(str(error))


def _observe(
    request: Request,
    asked: AgentQuestion,
    answers: Sequence[str],
    observed: Observed,
    waits: list[LogBusy],
) -> None:
    """Record a question; a try that met another process's lock goes on where it stopped.

    Args:
        waits: those of the event so far; they are added to.
    """
    from preflights_es.runtime.features import FEATURES

    record, topic = FEATURES.port("observe"), asked.header
    while len(waits) < WAITS_MAX:
        try:
            record(request, asked.question, asked.options, answers, observed=observed, topic=topic)
        except LogBusy as error:
            waits.append(error)
        else:
            return
    raise waits[-1]


# 1. What its tool asked ---------------------------------------------------------------------------


class AgentQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question as the agent put it."""

    id: str
    """By which the answer names it."""
    question: str
    header: str
    options: tuple[str, ...]
    several: bool
    is_secret: bool
    """Whether the agent hid the answer as it was typed."""


def questions(event: HookEvent) -> tuple[AgentQuestion, ...]:
    """What was asked, in the order of the call; nothing whose answer was hidden as it was typed."""
    return tuple(map(_parse_agent_question, _list_call_questions(event)))


def read_hook_choices(
    event: HookEvent, kind: Kind, asked: tuple[AgentQuestion, ...]
) -> Iterator[Choice]:
    """What came of each question."""
    said = _unwrap_tool_response(event)
    whole = (
        _classify_missing_answer(said)
        if kind == "failed" or isinstance(said, str)
        else _of_all(said, normalize_hook_name(event.tool_name))
    )
    answers = said.get("answers") if isinstance(said, dict) else None
    pairs = zip(asked, _list_call_questions(event), strict=True)
    for place, (question, listed) in enumerate(pairs):
        if whole is not None:
            yield whole, ()
        elif isinstance(said, dict) and isinstance(answers, dict):
            answer = _find_tool_answer(answers, question, place)
            yield _choice(question, answer, said, _by_id(listed))
        else:
            yield "empty", ()


def _list_call_questions(event: HookEvent) -> list[Mapping[str, Any]]:
    """The questions of the call as they are put."""
    said = event.tool_input
    found = said.get("questions") if isinstance(said, dict) else None
    every = found[:CALL_MAX] if isinstance(found, list) else ()
    return [one for one in every if isinstance(one, dict)]


def _parse_agent_question(one: Mapping[str, Any]) -> AgentQuestion:
    text = _stripped_text(one.get("question") or one.get("prompt"))
    listed = one.get("options")
    options = [_label_of_option(option) for option in listed] if isinstance(listed, list) else []
    many = one.get("multiSelect") or one.get("multi_select") or one.get("allow_multiple")
    return AgentQuestion(
        id=_stripped_text(one.get("id")) or text,
        question=text,
        header=_stripped_text(one.get("header") or one.get("title")),
        options=tuple(filter(None, options)),
        several=bool(many),
        is_secret=bool(one.get("isSecret") or one.get("is_secret")),
    )


def _label_of_option(option: Any) -> str:
    return _stripped_text(option.get("label") if isinstance(option, dict) else option)


def _by_id(one: Mapping[str, Any]) -> dict[str, str]:
    """Labels of the options that have an id too, as in Cursor: an answer may name either."""
    listed = one.get("options")
    options = [o for o in listed if isinstance(o, dict)] if isinstance(listed, list) else ()
    pairs = ((_stripped_text(one.get("id")), _label_of_option(one)) for one in options)
    return {name: label for name, label in pairs if name and label}


def _stripped_text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


# 2. What came of it -------------------------------------------------------------------------------


def _unwrap_tool_response(event: HookEvent) -> dict[str, Any] | str:
    """What the tool returned, out of the text or the list in which some agents wrap it."""
    said = next((v for v in (event.tool_response, event.tool_output, event.error) if v), "")
    for _ in range(3):
        if isinstance(said, list):
            parts = (one.get("text") for one in said if isinstance(one, dict))
            said = "\n".join(map(_stripped_text, parts))
        elif isinstance(said, dict) and "answers" not in said:
            inside = next((said[key] for key in ("llmContent", "content") if key in said), None)
            if inside is None:
                break
            said = inside
        elif isinstance(said, str) and said.lstrip().startswith("{"):
            try:
                said = msgspec.json.decode(said)
            except (msgspec.DecodeError, RecursionError):
                break
        else:
            break
    return said if isinstance(said, dict | str) else ""


def _classify_missing_answer(said: dict[str, Any] | str) -> AskOutcome:
    """Why no answer came, by the words in which it is said."""
    text = said if isinstance(said, str) else " ".join(map(str, said.values()))
    if not text.strip():
        return "empty"
    for pattern, outcome in _WORDS:
        if pattern.search(text[:300]):
            return outcome
    return "unattended"


_WORDS: Final[tuple[tuple[Any, AskOutcome], ...]] = (
    (_BY_HOOK, "by_hook"),
    (_TIMED_OUT, "timed_out"),
    (_REFUSED, "denied"),
)


def _of_all(said: dict[str, Any], tool: str) -> AskOutcome | None:
    """What is so of every question of the call; None where each has its own answer."""
    if said.get("afkTimeoutMs") or said.get("autoResolved") or said.get("timedOut"):
        return "timed_out"
    if normalize_hook_name(_stripped_text(said.get("answeredBy"))) == "hook":
        return "by_hook"
    if any(said.get(name) for name in ("interrupted", "cancelled", "declined", "rejected")):
        return "denied"
    return "timed_out" if tool == CODEX and said.get("answers") == {} else None


def _find_tool_answer(answers: Mapping[str, Any], question: AgentQuestion, place: int) -> Any:
    """By the question's id or text, its heading, or its place."""
    names = (question.id, question.question, question.header, str(place))
    return next((answers[name] for name in names if name in answers), None)


def _choice(
    one: AgentQuestion, answer: Any, said: Mapping[str, Any], by_id: Mapping[str, str]
) -> Choice:
    free = _stripped_text(answer.get("freeText")) if isinstance(answer, dict) else ""
    if isinstance(answer, dict):
        answer = answer.get("answers", answer.get("selected"))
    texts = [*filter(_stripped_text, answer if isinstance(answer, list) else [answer])]
    if one.several and isinstance(answer, str):
        texts = list(split_joined_labels(answer, one.options))
    named = [part if part in one.options else by_id.get(part, part) for part in texts]
    labels, notes = apart(named)
    beside = " ".join([*notes, free, _annotated(one, said)]).strip()
    return classify_choice(labels, one.options, beside)


def _annotated(one: AgentQuestion, said: Mapping[str, Any]) -> str:
    """What the person wrote beside a choice in Claude Code."""
    notes = said.get("annotations")
    beside = notes.get(one.id) if isinstance(notes, dict) else None
    return _stripped_text(beside.get("notes")) if isinstance(beside, dict) else ""


def apart(said: Sequence[str]) -> tuple[list[str], list[str]]:
    """The labels, and the notes, among the answers of Codex."""
    notes = [one.removeprefix(NOTE) for one in said if one.startswith(NOTE)]
    return [one for one in said if not one.startswith(NOTE) and one != NONE], notes


def classify_choice(said: Sequence[str], labels: Sequence[str], note: str) -> Choice:
    """The outcome of what was said: an option, several, or the person's own words.

    Args:
        note: what the person wrote beside the choice; it may take the choice back.
    """
    texts = dict.fromkeys(_limit_answer_text(one.strip()) for one in said if visible(one))
    bare = tuple(texts)[:LABELS_MAX]
    if visible(note):
        beside = f"{BETWEEN.join(bare)} ({note.strip()})" if bare else note.strip()
        return "typed", (_limit_answer_text(beside),)
    if len(bare) > 1:
        return "several", bare
    if not bare:
        return "empty", ()
    offered = {_limit_answer_text(one.strip()) for one in labels}
    return "answered" if bare[0] in offered else "typed", bare


def split_joined_labels(said: str, labels: Sequence[str]) -> Iterator[str]:
    """Labels that stand one after the other, and words between them; a label may hold a comma."""
    said = _limit_answer_text(said)
    longest = sorted((one for one in labels if one), key=len, reverse=True)
    while said:
        fitting = (one for one in longest if said == one or said.startswith(one + BETWEEN))
        found = next(fitting, None)
        part = found if found is not None else said.partition(BETWEEN)[0]
        said = said[len(part) :].removeprefix(BETWEEN)
        yield part


def _limit_answer_text(text: str) -> str:
    """As much of a text as is kept."""
    return text[:TEXT_MAX]
