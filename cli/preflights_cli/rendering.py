"""Any session as JSON (docs/api.md), and the words for the same things.

What a workflow shows of its own is the `SHOWN` of its module `workflows/NAME/display.py`; that of
another package, of the module `display` in that package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import click
import msgspec

from preflights_cli.commands import workflows
from preflights_cli.common import Voice
from preflights_cli.main import EXIT_ENVIRONMENT, EXIT_REFUSED, EXIT_WAITING
from preflights_es.core.events import Decision
from preflights_es.core.ids import short
from preflights_es.core.questions import AnswerRefusal, Refusal
from preflights_es.core.text import one_line, shown
from preflights_es.core.views import Question, View
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.runtime.runner import Handle, Step
from preflights_es.runtime.sessions import AskedElsewhere
from preflights_es.services.request import Request

FORMAT: Final = "any-session/1"
"""The JSON format of sessions whose workflow has none of its own."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a workflow shows of its sessions."""

    fields: Callable[[Handle], dict[str, Any]]
    """The JSON fields that are the workflow's own, `format` among them."""
    describe: Callable[[Voice, Handle, str], None]
    """The session in a few lines; the last argument is its status."""
    hint: Callable[[Handle, str], str] = lambda _handle, _status: ""
    """What may come next in a status; empty where every workflow does the same."""
    refusal: Callable[[Decision], str]
    """Why something was not done."""
    companion: Callable[[Question, str], str] = lambda _question, _value: ""
    """The key under which a choice is said in own words; empty where the choice says enough."""
    converse: Callable[[Request, Voice, Step, bool, str | None], int] | None = None
    """The conversation of a workflow in which a person accepts: whether at once, and by whom."""
    filed: Callable[[Request, Voice, Handle], None] = lambda _app, _voice, _handle: None
    """Says what a person has to know once the documents are written."""
    sources: Mapping[str, str] = {}
    """How a value came about, in words, by `Origin.source`."""


def shown_of(workflow: str) -> Shown:
    """What a workflow shows of its sessions; the plain display where it shows nothing."""
    if workflow not in workflows():
        return _of_package(workflow)
    found: Shown = import_module(f"preflights_cli.workflows.{workflow}.display").SHOWN
    return found


@cache
def _of_package(workflow: str) -> Shown:
    """The `SHOWN` of the module `display` in the package that brings the workflow."""
    found = WORKFLOWS.get(workflow)
    module = f"{found.package}.display" if found and found.package else ""
    try:
        if not module or find_spec(module) is None:
            return PLAIN
        shown_by = import_module(module).SHOWN
    except Exception as error:  # code of others: its sessions are shown plainly
        why = one_line(f"{type(error).__name__}: {error}")
        click.echo(f"warning: {module} does not load: {shown(why)}", err=True)
        return PLAIN
    return shown_by if isinstance(shown_by, Shown) else PLAIN


def _shown(handle: Handle) -> Shown:
    return shown_of(handle.workflow.name)


def view_of(handle: Handle) -> View:
    """What can be shown of a session."""
    return handle.view


def status_of(handle: Handle) -> str:
    """One word for where a session stands."""
    return handle.status


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
    shape |= shown_by.fields(handle)
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


def can_accept(handle: Handle) -> bool:
    """Whether a person can accept what is proposed."""
    is_open = not handle.session.closed and handle.session.undecided is None
    return is_open and status_of(handle) != "waiting" and view_of(handle).can_accept


def exit_code(handle: Handle, decisions: tuple[Decision, ...] = ()) -> int:
    """1 when something was refused, 3 when a person has to go on, 5 when a model has, else 0."""
    if any(map(is_refusal, decisions)):
        return EXIT_REFUSED
    if status_of(handle) == "waiting":
        return EXIT_ENVIRONMENT
    is_over = handle.session.closed or handle.session.undecided is not None
    return EXIT_WAITING if view_of(handle).to_do and not is_over else 0


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


def step_said(voice: Voice, step: Step) -> int:
    """As `said`; what is recorded while another process asks the provider is no failure."""
    if not isinstance(step, AskedElsewhere):
        return said(voice, step.handle, step.decisions)
    say_refusals(step.handle, step.decisions)
    tell_warnings(voice, step.handle)
    tell_asking(voice, step)
    voice.json(session_json(step.handle, step.decisions))
    voice.say(f"Recorded in {short(step.handle.session_id)}.")
    return EXIT_REFUSED if any(map(is_refusal, step.decisions)) else 0


def tell_asking(voice: Voice, step: Step) -> None:
    """Say who asks the provider meanwhile, where that is another process."""
    if isinstance(step, AskedElsewhere):
        look = f"preflights show {short(step.handle.session_id)}"
        voice.warn(f"{step.asking}: see the result with `{look}`")


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
    if handle.workflow.missing:  # what is missing is said above, in place of the intention
        return f"Until it is here, only its events can be read: preflights log {id_}"
    return {
        "needs_answers": f"Answer with: preflights answer {id_} VALUE",
        "waiting": f"Ask the model again with: preflights resume {id_}",
        "faulted": f"See why with: preflights replay {id_}",
        "abandoned": "It is closed.",
    }.get(status, f"Look at it with: preflights show {id_}")


# A workflow that shows nothing of its own -----------------------------------------------------


def _plain_fields(handle: Handle) -> dict[str, Any]:
    view = view_of(handle)
    return {"format": FORMAT, "intention": view.intention, "progress": view.progress}


def _plain(voice: Voice, handle: Handle, status: str) -> None:
    voice.say(voice.bold(shown(one_line(view_of(handle).intention))))
    voice.say(f"  session {short(handle.session_id)}, {status.replace('_', ' ')}")


def _plain_refusal(decision: Decision) -> str:
    if not isinstance(decision, AnswerRefusal):
        return "the session does not allow it now"
    text = f"{decision.key!r} was refused: {decision.reason.replace('_', ' ')}"
    return text + (f": it takes {', '.join(decision.expected)}" if decision.expected else "")


PLAIN: Final = Shown(fields=_plain_fields, describe=_plain, refusal=_plain_refusal)
