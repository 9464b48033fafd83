"""The conversation at a terminal, and how it speaks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import click

from preflights_cli import EXIT_INTERRUPTED, EXIT_WAITING
from preflights_cli import options as answer_options
from preflights_cli.advice import worded
from preflights_cli.common import Voice, say_saved
from preflights_cli.rendering import (
    ask,
    describe,
    exit_code,
    say_refusals,
    shown_of,
    tell_asking,
)
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.questions import Question
from preflights_es.kernel.text import shown
from preflights_es.kernel.views import View
from preflights_es.use import sessions
from preflights_es.use.answers import chosen
from preflights_es.use.request import Request

Say = Callable[..., str]
"""Takes an English sentence of ours and what stands in its braces."""

GERMAN: Final = {
    "This is about {topic}, as the intention says.": "Es geht um {topic}, wie die Absicht sagt.",
    "There is no option {text}: give 1 to {most}, or the answer in words.": (
        "Es gibt keine Auswahl {text}: gib 1 bis {most} an, oder die Antwort in Worten."
    ),
    "Give a number from 1 to {most}, or the answer in your own words. "
    "An empty line leaves it for later.": (
        "Gib eine Zahl von 1 bis {most} an, oder die Antwort in eigenen Worten. "
        "Eine leere Zeile lässt sie für später."
    ),
    "Give the answer in your own words. An empty line leaves it for later.": (
        "Gib die Antwort in eigenen Worten. Eine leere Zeile lässt sie für später."
    ),
    "  Enter takes {option}.": "  Enter nimmt {option}.",
    "In your own words: ": "In eigenen Worten: ",
    "Not about this: preflights answer {id} --not-this": (
        "Darum geht es nicht: preflights answer {id} --not-this"
    ),
    "n: it is not about this.": "n: darum geht es nicht.",
    "t: it is a task, without a decision.": "t: eine Aufgabe, ohne Entscheidung.",
    "Nothing was decided; accepting files a task without a decision.": (
        "Nichts ist entschieden; die Annahme legt eine Aufgabe ohne Entscheidung ab."
    ),
    "This becomes an architecture decision record:": "Daraus wird ein Architekturentscheid (ADR):",
    "This becomes a task:": "Daraus wird eine Aufgabe:",
    "Stops nothing: it is for {scope} and names no files; `--path`, at a terminal e, names them.": (
        "Verhindert nichts: Es gilt für {scope} und nennt keine Dateien; `--path`, am Terminal e, "
        "nennt sie."
    ),
    "Stops nothing: it is for {scope} and names no files; `--path`, at a terminal e, names them, "
    "such as {folders}.": (
        "Verhindert nichts: Es gilt für {scope} und nennt keine Dateien; `--path`, am Terminal e, "
        "nennt sie, etwa {folders}."
    ),
    "Will be stopped: {names}, in {paths}": "Wird verhindert: {names}, in {paths}",
    "Will be stopped: {names}, in every file": "Wird verhindert: {names}, in jeder Datei",
    "Stops nothing: another decision in force has {names}.": (
        "Verhindert nichts: Eine andere geltende Entscheidung hat {names}."
    ),
    "Stops nothing: no package is called {names}.": "Verhindert nichts: Kein Paket heißt {names}.",
    "[a]ccept, [r]evise, [e]dit, [d]ecline, [?] help, [l]eave? ": (
        "[a]nnehmen, [r]evidieren, [e]ditieren, ablehnen [d], [?] Hilfe, [l]assen? "
    ),
    "a accepts it and writes the record. r changes an answer. e opens the reasons, the scope and "
    "the files in your editor. d declines it: the session ends, and your reason is recorded. "
    "l leaves it for later.": (
        "a nimmt an und schreibt das Dokument. r ändert eine Antwort. e öffnet Gründe, Bereich und "
        "Dateien im Editor. d lehnt ab: die Sitzung endet, der Grund wird festgehalten. "
        "l lässt es für später."
    ),
    "Why is it declined? (Enter: no reason) ": "Warum abgelehnt? (Enter: kein Grund) ",
    "Which answer?": "Welche Antwort?",
    "Give 1 to {most}.": "Gib 1 bis {most} an.",
    "In force:": "In Kraft:",
    "contradicts": "widerspricht",
    "related": "verwandt",
    "turned {value} down": "lehnt {value} ab",
    "says the same": "sagt dasselbe",
    "k 1 keeps what is in force, r 1 replaces it; r and Enter changes an answer.": (
        "k 1 behält, was in Kraft ist, r 1 ersetzt es; r und Enter ändert eine Antwort."
    ),
    "k keeps the first and decides nothing new; r replaces it. k 2 and r 2 mean the second.": (
        "k behält die erste, und nichts Neues wird entschieden; r ersetzt sie. "
        "k 2 und r 2 meinen die zweite."
    ),
    "k keeps it and decides nothing new; r replaces it.": (
        "k behält sie, und nichts Neues wird entschieden; r ersetzt sie."
    ),
    "{name} is replaced once you accept.": "{name} wird mit der Annahme ersetzt.",
    "replaces {name}": "ersetzt {name}",
    "because: {text}": "weil: {text}",
    "for: {text}": "für: {text}",
    "follows: {text}": "daraus folgt: {text}",
    "not {text}": "nicht {text}",
    "holds for {text}": "gilt für {text}",
    "Decision: ": "Entscheidung: ",
    "Not taken: {key} is a key of a menu. Say the decision in your own words.": (
        "Nicht angenommen: {key} ist eine Taste eines Menüs. "
        "Sag die Entscheidung in eigenen Worten."
    ),
    "Decision": "Entscheidung",
    "Because: ": "Weil: ",
    "Instead of: ": "Statt: ",
    "Because": "Weil",
    "Instead of": "Statt",
    "{label}: may stay empty; {how}": "{label}: darf leer bleiben; {how}",
    "Instead of ({names}; - for nothing): ": "Statt ({names}; - für nichts): ",
    "In your own words; Enter goes on.": "In eigenen Worten; Enter geht weiter.",
    "[e]xception to it, [s]upersede it, [l]eave? ": "[e] Ausnahme davon, er[s]etzen, [l]assen? ",
    "[s]upersede it, [k]eep both, [l]eave? ": "er[s]etzen, beides behalten [k], [l]assen? ",
    "Why do both stay in force? ": "Warum gelten beide weiter? ",
    "{reason} is a placeholder.": "{reason} ist ein Platzhalter.",
    "Nothing was changed.": "Nichts ist geändert.",
    "Saved. Go on with: preflights resume {id}": "Gespeichert. Weiter mit: preflights resume {id}",
    "named by the intention": "in der Absicht genannt",
    "stated in the intention": "in der Absicht gesagt",
    "chosen": "gewählt",
    "in own words": "in eigenen Worten",
    "read by the model": "vom Modell gelesen",
    "by a person": "von einer Person",
    "by an agent": "von einem Agenten",
    "by a script": "von einem Skript",
    ", relayed by {who}": ", überbracht von {who}",
}
"""Each English sentence of a dialogue, and the same in German."""


def spoken(session: View) -> Say:
    """How a dialogue about a session speaks: as its questions do."""
    is_german = getattr(session, "language", None) == "de"

    def say(text: str, /, **fields: Any) -> str:
        return (GERMAN.get(text, text) if is_german else text).format(**fields)

    return say


HELP: Final = ("?", "h?", "help", "hilfe")
"""What people type who want to know what can be typed; no answer."""


class Left(Exception):
    """The person ended the conversation; what was said is recorded."""


class Pressed(Exception):
    """A key of the workflow's own, in place of an answer."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def run(
    app: Request,
    voice: Voice,
    session: View,
    *,
    accepting: bool = False,
    by: str | None = None,
    **said: Any,
) -> int:
    """Ask until nothing is open, and end as sessions of the workflow do.

    Args:
        said: what the conversation of the workflow takes besides.
    """
    session = sessions.conversed(app, session)
    module = shown_of(session.workflow).conversation
    try:
        if module:
            converse = import_module(module).run
            code: int = converse(app, voice, session, accepting=accepting, by=by, **said)
            return code
        session = conversed(app, voice, session)
    except (Left, KeyboardInterrupt) as left:
        say_saved(session.session_id, spoken(session))
        return EXIT_WAITING if isinstance(left, Left) else EXIT_INTERRUPTED
    describe(voice, session)
    return exit_code(session)


# 1. Questions --------------------------------------------------------------------------------


def conversed(app: Request, voice: Voice, session: View, turn: Turn | None = None) -> View:
    """The session with no question open; each answer is recorded before the next is asked.

    Args:
        turn: the session after its question was asked, where a workflow asks it otherwise.
    """
    say_refusals(session)
    _say_new_warnings(voice, (), session)
    while session.questions:
        session = (turn or _turn)(app, voice, session)
    return session


Turn = Callable[[Request, Voice, View], View]


def _turn(app: Request, voice: Voice, session: View) -> View:
    given = answered(voice, session, session.questions[0])
    return taken(app, voice, session, given, revise=False)


def taken(
    app: Request, voice: Voice, before: View, given: answer_options.Answers, *, revise: bool
) -> View:
    """The session after an answer, or as it stands where the answer cannot be recorded."""
    try:
        session = sessions.answer(app, before.session_id, given, revise=revise)
    except Refused as refused:
        click.echo(f"Not taken: {shown(worded(refused))}", err=True)
        return sessions.show(app, before.session_id)  # another process may have ended it
    say_refusals(session)
    _say_new_warnings(voice, before.warnings, session)
    tell_asking(voice, session)
    return session


def _say_new_warnings(voice: Voice, before: tuple[str, ...], session: View) -> None:
    for warning in session.warnings:
        if warning not in before:
            voice.warn(warning)


def answered(
    voice: Voice,
    session: View,
    question: Question,
    *,
    prompt: str = "",
    is_key: Callable[[str], bool] = lambda _: False,
    keys_help: str = "",
) -> answer_options.Answers:
    """What the person answers to one question.

    Args:
        prompt: in place of the question.
        is_key: whether a text is a key of the workflow's own, and no answer.
        keys_help: what the keys do.

    Raises:
        Pressed: one of the keys.
        Left: an empty line, where it takes no option.
    """
    say = spoken(session)
    default = "" if prompt else shown_of(session.workflow).default(session)
    if not prompt:
        ask(voice, session, question)
    if default:
        voice.say(say("  Enter takes {option}.", option=shown(default)))
    if keys_help:
        voice.say(f"  {keys_help}")
    while True:
        text = line(prompt or "> ")
        text = text if text.strip() else default
        if not text.strip():
            raise Left
        if text.strip().casefold() in HELP:
            click.echo(" ".join(filter(None, (_help(say, question), keys_help))), err=True)
            continue
        if is_key(text.strip()):
            raise Pressed(text.strip())
        try:
            value = chosen(question, text)
        except Refused:
            known = "There is no option {text}: give 1 to {most}, or the answer in words."
            told = say(known, text=shown(text.strip()), most=len(question.options))
            click.echo(told, err=True)
            continue
        if own := shown_of(session.workflow).companion(question, value.strip()):
            return [(question.id, (value,)), (own, (_specified(say),))]
        return [(question.id, (value,))]


def _help(say: Say, question: Question) -> str:
    if not question.options:
        return say("Give the answer in your own words. An empty line leaves it for later.")
    return say(
        "Give a number from 1 to {most}, or the answer in your own words. "
        "An empty line leaves it for later.",
        most=len(question.options),
    )


def _specified(say: Say) -> str:
    while (text := line(say("In your own words: ")).strip()).casefold() in ("", *HELP):
        pass
    return text


def line(prompt: str) -> str:
    """What is typed up to Enter.

    Not by `input`, for which a NUL (Ctrl-Space) is the end of the text.
    """
    while True:
        click.echo(prompt, nl=False)
        try:
            text = sys.stdin.readline()
        except UnicodeDecodeError:
            click.echo("Not taken: it is no valid text: retype it.", err=True)
            continue
        if not text:
            raise Left
        return text.removesuffix("\n")
