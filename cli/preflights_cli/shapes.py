"""The JSON of sessions (docs/api.md), and the words for the same things."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from preflights_cli.common import Voice
from preflights_cli.main import EXIT_REFUSED, EXIT_WAITING
from preflights_es.core import session as kernel
from preflights_es.core.events import Decision
from preflights_es.core.ids import short
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
    "several_values": "takes one value",
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
}
_SOURCES = {
    "detected": "named by the intention",
    "chosen": "chosen",
    "custom": "in own words",
    "typed": "in own words",
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
    view = view_of(handle)
    status = status_of(handle)
    return {
        "format": FORMAT,
        "session_id": handle.session_id,
        "workflow": handle.workflow.name,
        "project": handle.project,
        "version": handle.version,
        "status": status,
        "intention": view.intention,
        "questions": [msgspec.to_builtins(q) for q in _open(handle, view)],
        "missing_info": list(view.missing_info),
        "decision_hint": view.decision_hint,
        "progress": view.progress,
        "patch": msgspec.to_builtins(view.patch),
        "provenance": msgspec.to_builtins(view.provenance),
        "kind": view.kind,
        "uid": view.uid,
        "number": view.number,
        "turn": view.turn,
        "artifacts": [view.written.path] if view.written else [],
        "refused": [
            {"key": d.key, "reason": d.reason, "message": refusal(d)}
            for d in decisions
            if isinstance(d, AnswerRefused)
        ],
        "warnings": list(view.warnings),
    }


def _open(handle: Handle, view: ClarificationView) -> tuple[Question, ...]:
    return () if handle.session.closed else view.questions


def refusal(refused: AnswerRefused) -> str:
    """Why an answer does not count, in words that say what to do."""
    text = f"{refused.key!r} {_REFUSED[refused.reason]}" if refused.key else "no answer was given"
    if refused.expected:
        text += f": it takes {', '.join(refused.expected)}"
    return text


def exit_code(handle: Handle, decisions: tuple[Decision, ...] = ()) -> int:
    """1 when something was refused, 3 when a person has to go on, else 0."""
    if any(isinstance(d, AnswerRefused | ChangeRefused) for d in decisions):
        return EXIT_REFUSED
    return EXIT_WAITING if status_of(handle) in ("needs_answers", "waiting", "ready") else 0


def said(voice: Voice, handle: Handle, decisions: tuple[Decision, ...] = ()) -> int:
    """Say how a session stands after a step; the exit code."""
    for decision in decisions:
        if isinstance(decision, AnswerRefused):
            click.echo(f"preflights: refused: {shown(refusal(decision))}", err=True)
        elif isinstance(decision, ChangeRefused):
            click.echo(f"preflights: refused: {_CHANGE[decision.reason]}", err=True)
    voice.json(session_json(handle, decisions))
    if not voice.as_json:
        for warning in view_of(handle).warnings:
            voice.warn(warning)
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
    if questions := _open(handle, view):
        voice.say()
        ask(voice, questions[0])
    voice.hint(_next(handle, status, questions))


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


def _next(handle: Handle, status: str, questions: tuple[Question, ...]) -> str:
    id_ = short(handle.session_id)
    if questions and status == "needs_answers":
        return f"Answer with: preflights answer {id_} VALUE"
    return {
        "ready": f"Accept with: preflights accept {id_}",
        "stopped": f"Nothing was decided. File it as a task with: preflights accept {id_}",
        "proposed": f"A person confirms it with: preflights accept {id_} --by NAME",
        "accepted": f"Brief an agent with: preflights prompt {id_}",
        "faulted": f"See why with: preflights replay {id_}",
        "abandoned": "It is closed.",
    }.get(status, f"Look at it with: preflights show {id_}")
