"""Any session as JSON (docs/api.md), and the words for the same things.

What a workflow has of its own stands in its folder of commands, in `display`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, cast

import click
import msgspec

from preflights_cli.common import Voice
from preflights_cli.main import EXIT_REFUSED, EXIT_WAITING, EXIT_WORLD
from preflights_es.core import session as kernel
from preflights_es.core.events import Decision
from preflights_es.core.ids import short
from preflights_es.core.questions import AnswerRefusal, Refusal
from preflights_es.core.text import shown
from preflights_es.core.views import Question, View
from preflights_es.runtime.runner import Handle

OFFERED = ("ready", "stopped", "proposed")
"""Statuses in which somebody can accept."""


class Shown(Protocol):
    """What such a module has."""

    json: Callable[[Handle], dict[str, Any]]
    """The fields that are the workflow's own, `format` among them."""
    describe: Callable[[Voice, Handle, str], None]
    """The session in a few lines; the last argument is its status."""
    hint: Callable[[Handle, str], str]
    """What may come next in a status; empty where every workflow does the same."""
    refusal: Callable[[Decision], str]
    """Why something was not done."""


def _shown(handle: Handle) -> Shown:
    return cast("Shown", import_module(f"preflights_cli.workflows.{handle.workflow.name}.display"))


def view_of(handle: Handle) -> View:
    """What can be shown of a session."""
    view: View = handle.workflow.view(handle.session.state)
    return view


def status_of(handle: Handle) -> str:
    """One word for where a session stands."""
    return kernel.status(handle.workflow, handle.session)


def session_json(handle: Handle, decisions: tuple[Decision, ...] = ()) -> dict[str, Any]:
    """A session: what every one has, and what its workflow has of its own."""
    shape = {
        "format": "",
        "session_id": handle.session_id,
        "workflow": handle.workflow.name,
        "project": handle.project,
        "version": handle.version,
        "status": status_of(handle),
        "questions": msgspec.to_builtins(open_questions(handle)),
    }
    shown_by = _shown(handle)
    shape |= shown_by.json(handle)
    shape["refused"] = [
        {"key": d.key, "reason": d.reason, "message": shown_by.refusal(d)}
        for d in decisions
        if isinstance(d, AnswerRefusal)
    ]
    shape["warnings"] = list(view_of(handle).warnings)
    return shape


def open_questions(handle: Handle) -> tuple[Question, ...]:
    """What is asked; nothing in a session that was given up."""
    return () if handle.session.closed else view_of(handle).questions


def is_refusal(decision: Decision) -> bool:
    """Whether something that was asked for was not done."""
    return isinstance(decision, Refusal)


def exit_code(handle: Handle, decisions: tuple[Decision, ...] = ()) -> int:
    """1 when something was refused, 3 when a person has to go on, 5 when a model has, else 0."""
    if any(map(is_refusal, decisions)):
        return EXIT_REFUSED
    if status_of(handle) == "waiting":
        return EXIT_WORLD
    waits = view_of(handle).waits and not handle.session.closed
    return EXIT_WAITING if waits or status_of(handle) in ("needs_answers", "ready") else 0


def say_refusals(handle: Handle, decisions: tuple[Decision, ...]) -> None:
    """What was recorded and does not count, on stderr."""
    for decision in decisions:
        if isinstance(decision, Refusal):
            what = "taken" if isinstance(decision, AnswerRefusal) else "done"
            click.echo(f"Not {what}: {shown(_shown(handle).refusal(decision))}", err=True)


def tell_warnings(voice: Voice, handle: Handle) -> None:
    """What a person has to know about the session, on stderr."""
    for warning in view_of(handle).warnings:
        voice.warn(warning)


def said(voice: Voice, handle: Handle, decisions: tuple[Decision, ...] = ()) -> int:
    """Say how a session stands after a step; the exit code."""
    say_refusals(handle, decisions)
    tell_warnings(voice, handle)
    voice.json(session_json(handle, decisions))
    if not voice.as_json:
        describe(voice, handle)
    return exit_code(handle, decisions)


def describe(voice: Voice, handle: Handle) -> None:
    """A session in a few lines, and what may come next."""
    shown_by, status = _shown(handle), status_of(handle)
    shown_by.describe(voice, handle, status)
    if status == "needs_answers":
        voice.say()
        ask(voice, open_questions(handle)[0])
    voice.hint(shown_by.hint(handle, status) or _next(handle, status))


def ask(voice: Voice, question: Question) -> None:
    """A question with numbered options."""
    voice.say(voice.bold(shown(question.question)))
    for number, option in enumerate(question.options, 1):
        voice.say(f"  {number}. {shown(option)}")


def _next(handle: Handle, status: str) -> str:
    id_ = short(handle.session_id)
    return {
        "needs_answers": f"Answer with: preflights answer {id_} VALUE",
        "waiting": f"Ask the model again with: preflights resume {id_}",
        "faulted": f"See why with: preflights replay {id_}",
        "abandoned": "It is closed.",
    }.get(status, f"Look at it with: preflights show {id_}")
