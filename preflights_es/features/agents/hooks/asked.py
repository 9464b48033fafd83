"""Questions that an agent's tool has asked its person, off the event that tells of the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from preflights_es.features.agents.hooks.agents import HookEvent, Kind, plain
from preflights_es.features.agents.transcripts.asked import CALL_MAX
from preflights_es.features.agents.transcripts.choices import Choice, apart, chosen, parts
from preflights_es.features.agents.transcripts.reader import Question
from preflights_es.kernel.questions import AskOutcome
from preflights_es.kernel.text import late_pattern

CODEX: Final = "requestuserinput"  # the tool of Codex: no answers at all are its time-out
_BY_HOOK: Final = late_pattern(r"\bhooks?\b", 2)  # re.IGNORECASE
_TIMED_OUT: Final = late_pattern(r"no response after|timed? ?out|\bafk\b", 2)
_REFUSED: Final = late_pattern(r"\buser\b|declined|rejected|cancel|dismissed|skipped", 2)


def questions(event: HookEvent) -> tuple[Question, ...]:
    """What was asked, in the order of the call; nothing whose answer was hidden as it was typed."""
    return tuple(map(_question, _listed(event)))


def choices(event: HookEvent, kind: Kind, asked: tuple[Question, ...]) -> Iterator[Choice]:
    """What came of each question."""
    said = _response(event)
    whole = (
        _failed(said)
        if kind == "failed" or isinstance(said, str)
        else _of_all(said, plain(event.tool_name))
    )
    answers = said.get("answers") if isinstance(said, dict) else None
    for place, (question, listed) in enumerate(zip(asked, _listed(event), strict=True)):
        if whole is not None:
            yield whole, ()
        elif isinstance(said, dict) and isinstance(answers, dict):
            yield _choice(question, _answer(answers, question, place), said, _by_id(listed))
        else:
            yield "empty", ()


def _listed(event: HookEvent) -> list[Mapping[str, Any]]:
    """The questions of the call as they are put."""
    said = event.tool_input
    found = said.get("questions") if isinstance(said, dict) else None
    every = found[:CALL_MAX] if isinstance(found, list) else ()
    return [one for one in every if isinstance(one, dict)]


def _question(one: Mapping[str, Any]) -> Question:
    text = _text(one.get("question") or one.get("prompt"))
    listed = one.get("options")
    options = [_label(option) for option in listed] if isinstance(listed, list) else []
    many = one.get("multiSelect") or one.get("multi_select") or one.get("allow_multiple")
    return Question(
        id=_text(one.get("id")) or text,
        question=text,
        header=_text(one.get("header") or one.get("title")),
        options=tuple(filter(None, options)),
        several=bool(many),
        is_secret=bool(one.get("isSecret") or one.get("is_secret")),
    )


def _label(option: Any) -> str:
    return _text(option.get("label") if isinstance(option, dict) else option)


def _by_id(one: Mapping[str, Any]) -> dict[str, str]:
    """Labels of the options that have an id too, as in Cursor: an answer may name either."""
    listed = one.get("options")
    options = listed if isinstance(listed, list) else ()
    pairs = ((_text(o.get("id")), _label(o)) for o in options if isinstance(o, dict))
    return {name: label for name, label in pairs if name and label}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


# What came of it -----------------------------------------------------------------------------


def _response(event: HookEvent) -> dict[str, Any] | str:
    """What the tool returned, out of the text or the list in which some agents wrap it."""
    said = next((v for v in (event.tool_response, event.tool_output, event.error) if v), "")
    for _ in range(3):
        if isinstance(said, list):
            said = "\n".join(_text(one.get("text")) for one in said if isinstance(one, dict))
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


def _failed(said: dict[str, Any] | str) -> AskOutcome:
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
    if plain(_text(said.get("answeredBy"))) == "hook":
        return "by_hook"
    if any(said.get(name) for name in ("interrupted", "cancelled", "declined", "rejected")):
        return "denied"
    return "timed_out" if tool == CODEX and said.get("answers") == {} else None


def _answer(answers: Mapping[str, Any], question: Question, place: int) -> Any:
    """By the question's id or text, its heading, or its place."""
    names = (question.id, question.question, question.header, str(place))
    return next((answers[name] for name in names if name in answers), None)


def _choice(
    one: Question, answer: Any, said: Mapping[str, Any], by_id: Mapping[str, str]
) -> Choice:
    free = _text(answer.get("freeText")) if isinstance(answer, dict) else ""
    if isinstance(answer, dict):
        answer = answer.get("answers", answer.get("selected"))
    texts = [part for part in (answer if isinstance(answer, list) else [answer]) if _text(part)]
    if one.several and isinstance(answer, str):
        texts = list(parts(answer, one.options))
    labels, notes = apart(
        [part if part in one.options else by_id.get(part, part) for part in texts]
    )
    return chosen(labels, one.options, " ".join([*notes, free, _annotated(one, said)]).strip())


def _annotated(one: Question, said: Mapping[str, Any]) -> str:
    """What the person wrote beside a choice in Claude Code."""
    notes = said.get("annotations")
    beside = notes.get(one.id) if isinstance(notes, dict) else None
    return _text(beside.get("notes")) if isinstance(beside, dict) else ""
