"""Answers as people give them: to the question that is open, and by the number of an option."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial, reduce
from typing import Any

from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Input
from preflights_es.kernel.questions import AnswerRefusal, Refusal
from preflights_es.kernel.session import Session, Workflow
from preflights_es.kernel.views import Question
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sanitizing import cleaned_answers
from preflights_es.use.results import refusals

Pairs = Sequence[tuple[str, Sequence[str]]]
Given = Mapping[str, str | Sequence[str]] | Pairs
"""Values by the key or the label of their question; the key "" is that of the open one. A number
stands for its option, unless an option is called so."""
Asked = Sequence[tuple[str, Question]]
"""Pairs of a field's label and its question."""


def pairs(given: Given) -> Pairs:
    """Pairs of key and values."""
    if not isinstance(given, Mapping):
        return given
    return [(key, (v,) if isinstance(v, str) else tuple(v)) for key, v in given.items()]


def addressed(given: Pairs, asked: Asked, question: Question | None = None) -> Pairs:
    """The same with keys in place of labels, and options in place of their numbers.

    Args:
        asked: all that can be answered.
        question: the open one, which an answer without a key is for.

    Raises:
        Refused: no question is open, or it has no such option.
    """
    labels = _labels(asked)
    questions = {one.id: one for _, one in asked}
    found: dict[str, list[str]] = {}
    for name, values in given:
        for value in values or [""]:
            key, text = (name, value) if name else _split(value, labels)
            if key:
                label, *own = key.partition("__")  # in own words, behind the key or the label
                key = key if key in questions else labels.get(_folded(label), label) + "".join(own)
                text = _numbered(questions.get(key), text)
            else:
                key, text = _answering(question, text)
            found.setdefault(key, []).extend([text] if values else [])
    return [(key, tuple(texts)) for key, texts in found.items()]


def _labels(asked: Asked) -> dict[str, str]:
    """Keys by their label, of those labels that one key has."""
    keys: dict[str, set[str]] = {}
    for label, question in asked:
        keys.setdefault(_folded(label), set()).add(question.id)
    return {label: min(ids) for label, ids in keys.items() if label and len(ids) == 1}


def _folded(label: str) -> str:
    return label.strip().casefold()


def _split(text: str, labels: Mapping[str, str]) -> tuple[str, str]:
    """`LABEL=VALUE`, where a field has this label; any other text is a value as it is."""
    label, equals, value = text.partition("=")
    return (label, value) if equals and _folded(label) in labels else ("", text)


def _answering(question: Question | None, text: str) -> tuple[str, str]:
    if question is None:
        message = f"no question is open that {text!r} could answer: give KEY=VALUE"
        raise Refused(message, code="nothing_asked")
    return question.id, chosen(question, text)


def _numbered(question: Question | None, text: str) -> str:
    """The option that a number stands for; any other text itself."""
    try:
        return text if question is None else chosen(question, text)
    except Refused:
        return text


def chosen(question: Question, text: str) -> str:
    """The option that a number stands for; any other text itself.

    Raises:
        Refused: the number stands for no option.
    """
    number = text.strip().rstrip(".)")
    if not question.options or not (number.isascii() and number.isdigit()):
        return text
    if number in question.options:
        return number
    if len(number) > 3 or not 1 <= int(number) <= len(question.options):
        raise Refused(
            f"there is no option {number}: give 1 to {len(question.options)}, or "
            f"{question.id}={number} if that is the answer itself",
            code="no_such_option",
            key=question.id,
        )
    return question.options[int(number) - 1]


def asked_in(handle: Handle) -> Asked:
    """All that can be answered in a session: the open questions first."""
    workflow, open_ones = handle.workflow, handle.view.questions
    labelled = workflow.answerable(handle.session.state)
    known = {question.id for _, question in labelled}
    return [*(("", one) for one in open_ones if one.id not in known), *labelled]


def check_taken(workflow: Workflow[Any], given: Pairs, first: Input) -> None:
    """See that a session would take the answers that it begins with, before it begins.

    Where a model leads, its questions are not known yet: then only a key that is no question's at
    all is refused.

    Raises:
        Refused: one would not be taken.
    """
    if not given or workflow.answers is None:
        return
    begun = _after(workflow, kernel.begin(workflow), first)
    asked = workflow.answerable(begun.state)
    told, _ = cleaned_answers(addressed(given, asked))
    new = workflow.answers(at=first.at, actor=first.actor, answers=told)
    refused = [one for one in kernel.decide(workflow, begun, new) if isinstance(one, Refusal)]
    if workflow.lead(begun.state) is not None:
        keys = {question.id for _, question in asked}
        refused = [one for one in refused if _is_unknown(one, keys)]
    for one in refusals(workflow.name, refused, lambda: asked)[:1]:
        message = f"{one.message}; no session was begun"
        raise Refused(message, code=one.code, key=one.key, expected=one.expected)


def _after(workflow: Workflow[Any], session: Session[Any], new: Input) -> Session[Any]:
    events = (new, *kernel.decide(workflow, session, new))
    return reduce(partial(kernel.evolve, workflow), events, session)


def _is_unknown(one: Refusal, keys: Collection[str]) -> bool:
    """Whether no question has the key; one with a dot may be of the model's own."""
    if not isinstance(one, AnswerRefusal) or one.reason != "unknown_question":
        return False
    key = one.key.partition("__")[0]
    return bool(keys) and key not in keys and "." not in key
