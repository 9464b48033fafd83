"""The JSON of sessions (docs/api.md), and the words for the same things."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from preflights_cli.common import Voice
from preflights_cli.main import EXIT_REFUSED, EXIT_WAITING, EXIT_WORLD
from preflights_es.core import session as kernel
from preflights_es.core.events import Decision
from preflights_es.core.ids import SHORT, short
from preflights_es.core.text import one_line, shown
from preflights_es.core.views import Question
from preflights_es.runtime.runner import Handle
from preflights_es.workflows.clarification.events import AnswerRefused, ChangeRefused
from preflights_es.workflows.clarification.values import OTHER_OPTION, Provenance
from preflights_es.workflows.clarification.views import ClarificationView

FORMAT = "session/1"

_REFUSED = {
    "unknown_question": "is no question of this session",
    "already_answered": "is answered already: change it with `preflights revise`",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which decides nothing",
    "several_values": "takes one value: put quotes around words that belong together",
    "other_needs_text": f"was answered {OTHER_OPTION!r} without the text",
    "no_choice": "has no such option",
    "closed": "cannot be answered any more: the decision is accepted",
}
_CHANGE = {
    "question_open": "a question is still open",
    "already_accepted": "it is accepted already",
    "already_proposed": "it is proposed already: a person has to accept it (--by NAME)",
    "patch_changed": "the session moved on since the patch was shown",
    "number_missing": "the record has no number",
    "not_accepted": "it is not accepted",
    "already_superseded": "it was superseded before",
    "not_related": "it has nothing to do with this session",
    "not_expected": "nothing of the kind is expected here",
}
OFFERED = ("ready", "stopped", "proposed")
"""Statuses in which somebody can accept."""

_SOURCES = {
    "detected": "named by the intention",
    "chosen": "chosen",
    "custom": "in own words",
    "typed": "in own words",
    "suggested": "read by the model",
}


def view_of(handle: Handle) -> ClarificationView:
    """What can be shown of a session."""
    view = handle.workflow.view(handle.session.state)
    assert isinstance(view, ClarificationView), "the only workflow of this version"
    return view


def status_of(handle: Handle) -> str:
    """One word for where a session stands."""
    return kernel.status(handle.workflow, handle.session)


def session_json(handle: Handle, decisions: tuple[Decision, ...] = ()) -> dict[str, Any]:
    """The shape `session/1`."""
    view, state = view_of(handle), handle.session.state
    status = status_of(handle)
    return {
        "format": FORMAT,
        "session_id": handle.session_id,
        "workflow": handle.workflow.name,
        "project": handle.project,
        "version": handle.version,
        "status": status,
        "intention": view.intention,
        "questions": msgspec.to_builtins(open_questions(handle)),
        "missing_info": list(view.missing_info),
        "decision_hint": view.decision_hint,
        "progress": view.progress,
        "patch": msgspec.to_builtins(view.patch),
        "provenance": msgspec.to_builtins(view.provenance),
        "kind": view.kind,
        "uid": view.uid,
        "number": view.number,
        "turn": view.turn,
        "supersedes": msgspec.to_builtins(state.supersedes),
        "superseded_by": msgspec.to_builtins(state.superseded_by),
        "artifacts": [view.written.path] if view.written else [],
        "refused": [
            {"key": d.key, "reason": d.reason, "message": refusal(d)}
            for d in decisions
            if isinstance(d, AnswerRefused)
        ],
        "warnings": list(view.warnings),
    }


def open_questions(handle: Handle) -> tuple[Question, ...]:
    """What is asked; nothing in a session that was given up."""
    return () if handle.session.closed else view_of(handle).questions


def refusal(refused: AnswerRefused) -> str:
    """Why an answer does not count, in words that say what to do."""
    text = f"{refused.key!r} {_REFUSED[refused.reason]}" if refused.key else "no answer was given"
    if refused.expected:
        text += f": it takes {', '.join(refused.expected)}"
    return text


def is_refusal(decision: Decision) -> bool:
    """Whether something that was asked for was not done."""
    return isinstance(decision, AnswerRefused | ChangeRefused)


def exit_code(handle: Handle, decisions: tuple[Decision, ...] = ()) -> int:
    """1 when something was refused, 3 when a person has to go on, 5 when a model has, else 0."""
    if any(map(is_refusal, decisions)):
        return EXIT_REFUSED
    if status_of(handle) == "waiting":
        return EXIT_WORLD
    return EXIT_WAITING if status_of(handle) in ("needs_answers", "ready") else 0


def say_refusals(decisions: tuple[Decision, ...]) -> None:
    """What was recorded and does not count, on stderr."""
    for decision in decisions:
        if isinstance(decision, AnswerRefused):
            click.echo(f"Not taken: {shown(refusal(decision))}", err=True)
        elif isinstance(decision, ChangeRefused):
            click.echo(f"Not done: {_CHANGE[decision.reason]}", err=True)


def tell_warnings(voice: Voice, handle: Handle) -> None:
    """What a person has to know about the session, on stderr."""
    for warning in view_of(handle).warnings:
        voice.warn(warning)


def said(voice: Voice, handle: Handle, decisions: tuple[Decision, ...] = ()) -> int:
    """Say how a session stands after a step; the exit code."""
    say_refusals(decisions)
    tell_warnings(voice, handle)
    voice.json(session_json(handle, decisions))
    if not voice.as_json:
        describe(voice, handle)
    return exit_code(handle, decisions)


def describe(voice: Voice, handle: Handle) -> None:
    """A session in a few lines."""
    view, status, id_ = view_of(handle), status_of(handle), short(handle.session_id)
    voice.say(f"{voice.bold(shown(one_line(view.intention)))}")
    voice.say(f"  session {id_}, {status.replace('_', ' ')}, {round(view.progress * 100)} %")
    for line in values(view.provenance):
        voice.say(f"  {line}")
    if view.written:
        voice.say(f"  written to {shown(view.written.path)}")
    if by := handle.session.state.superseded_by:
        voice.say(f"  superseded by {by.uid[-SHORT:]}: {shown(one_line(by.title))}")
    if status == "needs_answers":
        voice.say()
        ask(voice, open_questions(handle)[0])
    voice.hint(_next(handle, status))


def values(provenance: tuple[Provenance, ...]) -> list[str]:
    """One line a value, with how it came about."""
    width = max((len(shown(p.field)) for p in provenance), default=0)
    return [
        f"{shown(p.field):<{width}}  {shown(one_line(p.value))}  ({_SOURCES[p.source]}"
        f"{'' if p.source == 'detected' else f', by {_by(p)}'})"
        for p in provenance
    ]


def _by(provenance: Provenance) -> str:
    return {"user": "a person", "agent": "an agent", "script": "a script"}[provenance.by]


def ask(voice: Voice, question: Question) -> None:
    """A question with numbered options."""
    voice.say(voice.bold(shown(question.question)))
    for number, option in enumerate(question.options, 1):
        voice.say(f"  {number}. {shown(option)}")


def _next(handle: Handle, status: str) -> str:
    id_ = short(handle.session_id)
    return {
        "needs_answers": f"Answer with: preflights answer {id_} VALUE",
        "ready": f"Accept with: preflights accept {id_}",
        "stopped": f"Nothing was decided. File it as a task with: preflights accept {id_}",
        "proposed": f"A person confirms it with: preflights accept {id_} --by NAME",
        "accepted": f"Brief an agent with: preflights prompt {id_}",
        "faulted": f"See why with: preflights replay {id_}",
        "abandoned": "It is closed.",
    }.get(status, f"Look at it with: preflights show {id_}")
