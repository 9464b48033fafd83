"""Any session in words; a workflow's own are what its feature gives as `shown`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final

import click
import msgspec
from msgspec.structs import replace

from preflights_cli import EXIT_ENVIRONMENT, EXIT_REFUSED, EXIT_WAITING
from preflights_cli.advice import advised
from preflights_cli.common import Voice
from preflights_cli.german import Say, english, spoken
from preflights_es.kernel.ids import iso, short_session
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.runtime.features import FEATURES
from preflights_es.use.request import Request
from preflights_es.words.questions import Question
from preflights_es.words.workflow import ErasedBy, NotDone, View


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a workflow shows of its sessions."""

    describe: Callable[[Voice, View], None]
    """The session in a few lines."""
    hint: Callable[[View], str] = lambda _session: ""
    """What may come next; empty where every workflow does the same."""
    beside: Callable[[View, str], str] = lambda _session, _option: ""
    """What stands beside an option of the open question."""
    explained: Callable[[View, str], list[str]] = lambda _session, _option: []
    """Lines below an option of the open question; below the question itself, for an empty one."""
    default: Callable[[View], str] = lambda _session: ""
    """The option of the open question that Enter takes; empty where there is none."""
    below: Callable[[View], Iterable[str]] = lambda _session: ()
    """Lines below the open question, where a person answers it later."""
    replayed: Callable[[Request, str], str] = lambda _app, _session: ""
    """What `replay` says behind a session, by its id: what else can be run again."""
    completed: Callable[[View], View] = lambda session: session
    """The session as its JSON says it, with the words that a command line takes."""
    companion: Callable[[Question, str], str] = lambda _question, _value: ""
    """The key under which a choice is said in own words; empty where the choice says enough."""
    label: Callable[[View, str], str] = lambda session, key: dict(session.labels).get(key, "")
    """What people read for the field of a key that is asked; empty where nothing is."""
    advice: Mapping[str, str] = {}
    """What to do about what was not done, by its code."""
    conversation: str = ""
    """The module whose `run` is the conversation of a workflow in which a person accepts."""
    by_hand: str = "preflights show {id}"
    """The command for what a person has to do where nothing is asked and nothing proposed."""
    accept: str = "preflights accept {id}"
    """The command by which a person accepts what is proposed."""
    sources: Mapping[str, str] = {}
    """How a value came about, in words, by `Origin.source`."""


OTHER: Final = "Other (specify)"


@cache
def shown_of(workflow: str) -> Shown:
    """What a workflow shows of its sessions; the plain display where it shows nothing."""
    feature = FEATURES.get(workflow)
    if feature is None or not feature.shown:
        return PLAIN
    try:
        shown_by = feature.loaded(feature.shown)
    except Exception as error:  # code of others: its sessions are shown plainly
        if not FEATURES.is_foreign(workflow):
            raise
        why = one_line(f"{type(error).__name__}: {error}")
        what = f"{feature.package}.{feature.shown.partition(':')[0]}"
        click.echo(f"warning: {what} does not load: {escaped_text(why)}", err=True)
        return PLAIN
    return shown_by if isinstance(shown_by, Shown) else PLAIN


def session_exit_code(session: View) -> int:
    """1 when something was refused or failed, 3 when a person goes on, 5 when a model does."""
    if session.not_done or session.failed:
        return EXIT_REFUSED
    if session.asking:
        return 0  # what is recorded while another process asks the provider is no failure
    if session.status == "waiting":
        return EXIT_ENVIRONMENT
    return EXIT_WAITING if session.to_do else 0


def say_refusals(session: View) -> None:
    """What was recorded and does not count, on stderr."""
    say = spoken(session)
    for one in session.refusals:
        not_so = "Not done: {why}" if one.key is None else "Not taken: {why}"
        why = escaped_text(_not_done_message(session, one, say))
        click.echo(say(not_so, why=why), err=True)


def _not_done_message(session: View, one: NotDone, say: Say = english) -> str:
    key = f"{one.key!r} " if one.key and one.message.startswith(f"{one.key!r} ") else ""
    said = key + say(one.message.removeprefix(key))
    return said + say(shown_of(session.workflow).advice.get(one.code, ""))


def say_session_result(voice: Voice, session: View) -> int:
    """Say how a session stands after a call; the exit code."""
    say_refusals(session)
    for warning in session.warnings:
        voice.warn(warning)
    tell_asking(voice, session)
    if voice.as_json:
        voice.json(session_json(session))
    elif session.asking:
        voice.say(f"Recorded in {short_session(session.session_id)}.")
    else:
        describe_session(voice, session)
    return session_exit_code(session)


def session_json(session: View) -> dict[str, object]:
    """Its versioned JSON; what is refused names the command that helps."""
    refusals = tuple(
        replace(one, message=_not_done_message(session, one)) for one in session.refusals
    )
    completed = shown_of(session.workflow).completed(session)
    return replace(completed, refusals=refusals).shape()


def tell_asking(voice: Voice, session: View) -> None:
    """Say who asks the provider meanwhile, where that is another process."""
    if session.asking:
        id_ = short_session(session.session_id)
        voice.warn(advised(session.asking, "asking_elsewhere", {"session": id_}))


def describe_session(voice: Voice, session: View) -> None:
    """A session in a few lines, and what may come next."""
    if session.erased is not None:
        _say_erased(voice, session.session_id, session.erased)
        return
    shown_by = shown_of(session.workflow)
    shown_by.describe(voice, session)
    if session.status == "needs_answers":
        voice.say()
        say_question(voice, session, session.questions[0])
        for line in shown_by.below(session):
            voice.say(f"  {escaped_text(line)}")
    voice.hint(shown_by.hint(session) or _next_command_hint(session))


def _say_erased(voice: Voice, session_id: str, erased: ErasedBy) -> None:
    """All that is left to say: when, by whom, and why."""
    from preflights_cli.table import minute

    by = erased.by
    who = f"{by.name} ({by.kind})" if by.name else by.kind
    why = f": {one_line(erased.reason)}" if erased.reason else ""
    voice.say(escaped_text(f"Session {short_session(session_id)} was erased{why}"))
    voice.say(escaped_text(f"  {minute(iso(erased.at))}, by {who}"))


def say_question(voice: Voice, session: View, question: Question) -> None:
    """A question with the label and the key under which it is answered, and numbered options."""
    say, shown_by = spoken(session), shown_of(session.workflow)
    label = shown_by.label(session, question.id)
    names = f"  ({label}, {question.id})" if label else ""
    voice.say(voice.bold(escaped_text(question.question)) + escaped_text(names))
    for text in shown_by.explained(session, ""):
        voice.say(f"  {escaped_text(one_line(text))}")
    for number, option in enumerate(question.options, 1):
        beside = shown_by.beside(session, option)
        said = f" ({escaped_text(one_line(beside))})" if beside else ""
        named = say(option) if option == OTHER else option
        voice.say(f"  {number}. {escaped_text(named)}{said}")
        for text in shown_by.explained(session, option):
            voice.say(f"     {escaped_text(one_line(text))}")


def _next_command_hint(session: View) -> str:
    text = {
        "needs_answers": "Answer with: preflights answer {id} VALUE",
        "waiting": "Ask the model again with: preflights resume {id}",
        "faulted": "See why with: preflights replay {id}",
        "abandoned": "It is closed.",
    }.get(session.status, "Look at it with: preflights show {id}")
    return spoken(session)(text, id=short_session(session.session_id))


def _describe_plain_session(voice: Voice, session: View) -> None:
    voice.say(voice.bold(escaped_text(one_line(session.intention))))
    voice.say(f"  session {short_session(session.session_id)}, {session.status.replace('_', ' ')}")
    if result := getattr(session.view, "result", ""):
        voice.say(f"  {escaped_text(one_line(str(result)))}")


PLAIN: Final = Shown(describe=_describe_plain_session)
