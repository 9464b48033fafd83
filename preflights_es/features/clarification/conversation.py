"""A clarification at a terminal: what is in force, the questions, the reasons, the proposal."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
from msgspec import UNSET
from msgspec.structs import replace

from preflights_cli.advice import worded
from preflights_cli.common import Voice
from preflights_cli.dialogue import (
    HELP,
    Left,
    Pressed,
    Say,
    answered,
    conversed,
    line,
    spoken,
    taken,
)
from preflights_cli.options import alternative
from preflights_cli.rendering import describe, exit_code, say_refusals
from preflights_es.features.clarification.display import (
    compared,
    gate_line,
    known_line,
    own,
    values,
    waiting,
    why,
)
from preflights_es.features.clarification.domain.values import DecisionPatch, suggested
from preflights_es.features.clarification.domain.views import (
    ClarificationView,
    KnownDecision,
    RelatedDecision,
)
from preflights_es.features.clarification.use.sessions import (
    accept,
    answerable,
    dismiss_topic,
    file_task,
    keep,
)
from preflights_es.kernel.decisions import Alternative, Choices, Reasons, alternative_text
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.questions import Question, is_placeholder
from preflights_es.kernel.reach import HOLDS, Hold, pattern_problem
from preflights_es.kernel.text import caseless, one_line, shown
from preflights_es.kernel.views import View
from preflights_es.system.files import Unreadable, beginning
from preflights_es.use import sessions
from preflights_es.use.request import Request


def run(
    app: Request,
    voice: Voice,
    session: View,
    *,
    accepting: bool,
    by: str | None,
    choices: Choices | None = None,
) -> int:
    """Ask until nothing is open, show what would be decided, and take the person's word.

    Args:
        choices: what the person said about older decisions before.

    Raises:
        Left, KeyboardInterrupt: the person left.
    """
    _say_detected(voice, session)
    session, choices = _in_force(app, voice, session, choices)
    is_whole = bool(own(session).fields)
    session = conversed(app, voice, session, _turn)
    asked_of = own(session).patch if is_whole else None
    return _ended(
        app, voice, session, accepting=accepting, by=by, choices=choices, asked_of=asked_of
    )


def _say_detected(voice: Voice, session: View) -> None:
    found = own(session)
    if found.provenance and found.turn == 1 and found.provenance[0].source == "detected":
        topic = shown(found.provenance[0].value)
        said = "This is about {topic}, as the intention says."
        voice.hint(spoken(session)(said, topic=topic))


def _ended(
    app: Request,
    voice: Voice,
    session: View,
    *,
    accepting: bool,
    by: str | None,
    choices: Choices | None,
    asked_of: DecisionPatch | None = None,
) -> int:
    """One keystroke between a proposal and a decision.

    Args:
        asked_of: the patch of which the person said why, or skipped it.
    """
    draft = ""
    while session.can_accept:
        if own(session).patch != asked_of:
            if asked_of is None:
                session = _scope_asked(app, session)
            session, asked_of = _why_asked(app, session), own(session).patch
        _say_proposal(voice, session)
        assert isinstance(session, ClarificationView), "it is a clarification"
        is_seen = accepting and not suggested(session.provenance)
        key = "a" if is_seen else _key(spoken(session))
        if key == "a":
            session = _accepted(app, voice, session, by, choices)
            say_refusals(session)
            break
        if key == "e":
            session, draft = _edited(app, voice, session, draft)
        elif key == "r":
            session = _revised(app, voice, session)
        else:
            raise Left
    describe(voice, session)
    return exit_code(session)


def _accepted(
    app: Request, voice: Voice, session: View, by: str | None, said: Choices | None
) -> View:
    """The session once the person has chosen about older decisions that differ, too."""

    def again(choices: Choices | None, seen: View) -> View:
        return accept(app, seen.session_id, by=by, expect=seen.version, choices=choices)

    return resolved(voice, again(said, session), said, again)


def _say_proposal(voice: Voice, session: View) -> None:
    found, say = own(session), spoken(session)
    voice.say()
    if found.patch is None:
        voice.say(say("Nothing was decided; accepting files a task without a decision."))
    else:
        what = "an architecture decision record" if found.kind == "adr" else "a task"
        voice.say(say(f"This becomes {what}:"))
        gate = (gate_line(found, say),) if found.gate else ()
        for line in (*values(found.provenance, say), *why(found), *gate):
            voice.say(f"  {line}")


_LEAVING = ("l", "q", "\x1b")


def _key(say: Say) -> str:
    """A key that means something; it ignores keys from before the proposal.

    Raises:
        Left, KeyboardInterrupt: Ctrl-D, Ctrl-C.
    """
    while True:
        click.echo(say("[a]ccept, [r]evise, [e]dit the reasons, [l]eave? "), nl=False)
        try:
            key = click.getchar().lower()
            key = key.strip("\r\n") or key  # Enter behind it, in one burst
        except EOFError:
            raise Left from None
        click.echo(key if key.isprintable() else "")
        if key in ("a", "r", "e", *_LEAVING):
            return key


def _revised(app: Request, voice: Voice, session: View) -> View:
    """Revise one answer, and answer the questions that follow."""
    again = answerable(app, session.session_id)
    question = _chosen_again(voice, spoken(session), again)
    session = taken(app, voice, session, answered(voice, session, question), revise=True)
    return conversed(app, voice, replace(session, refusals=()), _turn)


def _chosen_again(voice: Voice, say: Say, again: list[tuple[str, Question]]) -> Question:
    """The question that the person wants to answer anew; the last one unless they say which."""
    if len(again) == 1:
        return again[0][1]
    voice.say(say("Which answer?"))
    for number, (name, _) in enumerate(again, 1):
        voice.say(f"  {number}. {shown(name)}")
    while True:
        text = line(f"> ({len(again)}) ").strip() or str(len(again))
        for number, (name, question) in enumerate(again, 1):
            if text.casefold() in (str(number), name.casefold(), question.id):
                return question
        click.echo(say("Give 1 to {most}.", most=len(again)), err=True)


# 1. What is in force ----------------------------------------------------------------------------


def _in_force(
    app: Request, voice: Voice, session: View, choices: Choices | None
) -> tuple[View, Choices | None]:
    """The session once the person has seen what is in force, and what they chose about it.

    Raises:
        Left: the person leaves.
    """
    found = own(session)
    if not found.known or not found.questions:
        return session, choices
    say = spoken(session)
    voice.say(say("In force:"))
    for place, one in enumerate(found.known, 1):
        voice.say(f"  {place}. {known_line(one)}")
    while True:
        key, meant = _said(say, found.known)
        if not key:
            return session, choices
        if key == "o":
            if scoped := _scoped(app, session, line(say("For what? "))):
                return scoped, choices
        elif key == "k":
            place = found.known.index(meant) + 1
            return keep(app, session.session_id, str(place)), choices
        elif not meant.same_place:
            name = meant.path or (f"ADR-{meant.number:04}" if meant.number else meant.uid)
            told = "It is at another place: begin again with --supersedes {name}."
            click.echo(say(told, name=shown(name)), err=True)
        else:
            before = choices or Choices()
            return session, replace(before, supersedes=(*before.supersedes, meant.uid))


def _said(say: Say, known: tuple[KnownDecision, ...]) -> tuple[str, KnownDecision]:
    """A key that means something, and the decision that it is about; empty for Enter.

    Raises:
        Left: the person leaves.
    """
    while True:
        keys = say("[k]eep it, [r]eplace it, [o]ther scope? Enter asks the question: ")
        text = line(keys).strip().casefold()
        key, _, rest = text.partition(" ")
        if text in ("", "o"):
            return text, known[0]
        if key in ("k", "r") and (meant := _meant(known, rest)):
            return key, meant
        if text in _LEAVING:
            raise Left
        _help(say, text, len(known))


def _meant(known: tuple[KnownDecision, ...], rest: str) -> KnownDecision | None:
    """The one with the number that was typed; without one the first, at the same place."""
    if not rest:
        return known[0] if known[0].same_place else None
    is_place = rest.isascii() and rest.isdigit() and 1 <= int(rest[:3]) <= len(known)
    return known[int(rest) - 1] if is_place else None


def _help(say: Say, text: str, most: int) -> None:
    told = (
        "k keeps the first, k 2 the second; r replaces it; o asks what the new one is for; "
        "Enter asks the question."
    )
    if text not in HELP:
        told = "Give k, r, o or Enter; a number from 1 to {most} follows k and r."
    click.echo(say(told, most=most), err=True)


def _scoped(app: Request, session: View, text: str) -> View | None:
    """The session for something else; None where nothing, or no scope, was said."""
    if not text.strip() or text.strip().casefold() in HELP:
        return None
    try:
        key = session.questions[0].id
        scoped = sessions.answer(app, session.session_id, [(f"{key}__scope", (text.strip(),))])
    except Refused as refused:
        click.echo(f"Not taken: {shown(worded(refused))}", err=True)
        return None
    say_refusals(scoped)
    return None if scoped.not_done else scoped


def _scope_asked(app: Request, session: View) -> View:
    """The session after the person was asked what the decision is for; Enter: the whole project."""
    found = own(session)
    key = next((one.key for one in found.provenance if one.field != "Category"), "")
    if found.patch is None or found.scope or not key or found.kind != "adr":
        return session
    _drop_typed()
    text = line(spoken(session)("For what? (Enter: the whole project) ")).strip()
    if not text or text.casefold() in HELP:
        return session
    return sessions.answer(app, session.session_id, [(f"{key}__scope", (text,))])


# 2. A question: a menu, or the three lines that a record needs ----------------------------------

KEYS: Final = ("t", "n")
"""It is a task; the menu is about something else."""
TASK_HELP: Final = "t makes it a task."
KEYS_HELP: Final = "t makes it a task, n says that it is not about this."


def _turn(app: Request, voice: Voice, session: View) -> View:
    """The session after its question was asked; three lines where no topic covers it."""
    question, say = session.questions[0], spoken(session)
    is_whole, prompt = bool(own(session).fields), ""
    if is_whole:
        voice.say(say(TASK_HELP))
        prompt = say("Decision: ")
    keys = _keys(question, can_dismiss=own(session).can_dismiss)
    keys_help = KEYS_HELP if "n" in keys else TASK_HELP
    try:
        given = answered(
            *(voice, session, question),
            prompt=prompt,
            keys=keys,
            keys_help=say(keys_help) if keys and not is_whole else "",
        )
    except Pressed as pressed:
        if pressed.key == "t":
            return file_task(app, session.session_id)
        return dismiss_topic(app, session.session_id)
    after = taken(app, voice, session, given, revise=False)
    return _reasoned(app, say, after) if is_whole and own(after).patch else after


def _keys(question: Question, *, can_dismiss: bool) -> tuple[str, ...]:
    """None of them where one is an option."""
    options = {caseless(option) for option in question.options}
    keys = KEYS if can_dismiss else KEYS[:1]
    return () if options.intersection(keys) else keys


def _reasoned(app: Request, say: Say, session: View) -> View:
    """The session after the lines behind the decision, which may stay empty."""
    because = _line(say, say("Because: ")) if own(session).because is None else ""
    instead = _line(say, say("Instead of: "))
    others = (alternative(instead),) if instead else ()
    return _told(app, session, Reasons(because, (), others)) if because or others else session


def _line(say: Say, prompt: str) -> str:
    _drop_typed()
    while (text := line(prompt).strip()).casefold() in HELP:
        click.echo(say("In your own words; Enter leaves it empty."), err=True)
    return text


# 3. Older decisions that differ -----------------------------------------------------------------


def resolved(
    voice: Voice,
    session: View,
    said: Choices | None,
    accept: Callable[[Choices, View], View],
) -> View:
    """The session once the person has chosen about each decision that differs.

    Args:
        accept: tries it again, with what was chosen so far.

    Raises:
        Left: the person leaves; nothing is accepted.
    """
    said, say = said or Choices(), spoken(session)
    while found := waiting(session):
        for one in found:
            voice.say(compared(one))
            said = _with(said, one, say)
        session = accept(said, session)
    return session


def _with(said: Choices, one: RelatedDecision, say: Say) -> Choices:
    key = _choice_key(say, is_exception=one.evolution == "exception")
    if key == "l":
        raise Left
    if key == "s":
        return replace(said, supersedes=(*said.supersedes, one.uid))
    if key == "e":
        return replace(said, exceptions=(*said.exceptions, one.uid))
    why = say("Why do both stay in force? ")
    while (reason := line(why).strip()).casefold() in ("", *HELP) or is_placeholder(reason):
        if reason:
            click.echo(say("{reason} is a placeholder.", reason=shown(reason)))
    return replace(said, keeps=(*said.keeps, (one.uid, reason)))


_BOTH: Final = "[s]upersede it, [k]eep both, [l]eave? "
_EXCEPTION: Final = "[e]xception to it, [s]upersede it, [l]eave? "


def _choice_key(say: Say, *, is_exception: bool) -> str:
    """A key that means something.

    Raises:
        Left: Ctrl-D.
    """
    while True:
        click.echo(say(_EXCEPTION if is_exception else _BOTH), nl=False)
        try:
            key = click.getchar().lower()
        except EOFError:
            raise Left from None
        click.echo(key if key.isprintable() else "")
        if key in ("s", "e" if is_exception else "k"):
            return key
        if key in _LEAVING:
            return "l"


# 4. Why: a question, and a text for the person's editor -----------------------------------------

TEXT_MAX: Final = 200_000  # bytes of an edited text
NAME: Final = "reasons.txt"
_LISTS: Final = ("Consequences:", "Alternatives:", "Holds for the files:")
_HOLD: Final = "Hold:"


class Unparsable(Exception):
    """A line of the text belongs nowhere."""


def _why_asked(app: Request, session: View) -> View:
    """The session after the person was asked why; Enter skips it."""
    if own(session).patch is None or own(session).because is not None:
        return session
    _drop_typed()
    say = spoken(session)
    while (text := line(say("Why? (Enter to skip) "))).strip().casefold() in HELP:
        click.echo(say("Give the reason in your own words; Enter goes on without one."), err=True)
    return _told(app, session, Reasons(text)) if text.strip() else session


def _drop_typed() -> None:
    """What was typed before the question was seen is no reason."""
    try:
        import termios
    except ImportError:  # Windows
        return
    with suppress(termios.error):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _told(app: Request, session: View, reasons: Reasons) -> View:
    """The session with reasons; as it was where they cannot be recorded."""
    try:
        after = sessions.answer(app, session.session_id, (), reasons=reasons)
    except Refused as refused:
        click.echo(f"Not taken: {shown(str(refused))}", err=True)
        return sessions.show(app, session.session_id)
    say_refusals(after)
    return after


def _edited(app: Request, voice: Voice, session: View, draft: str) -> tuple[View, str]:
    """The session after the person edited its reasons, and the text where it was not taken."""
    before = written(_said_of(session))
    text = _saved(draft or before)
    if text is None or text == before:
        voice.say(spoken(session)("Nothing was changed."))
        return session, draft
    try:
        reasons = parsed(text, _said_of(session))
    except Unparsable as error:
        click.echo(f"Not taken: {shown(str(error))}; press e to go on with your text.", err=True)
        return session, text
    after = _told(app, session, reasons)
    return after, text if after.not_done or after.version == session.version else ""


def _said_of(session: View) -> Reasons:
    """The reasons of a session, as one text would say them."""
    found = own(session)
    return Reasons(
        one_line(found.because.text) if found.because else "",
        tuple(one_line(said.text) for said in found.consequences),
        tuple(Alternative(one_line(o.name), one_line(o.why_not)) for o in found.alternatives),
        replaces=True,
        paths=found.paths,
        hold=found.hold,
    )


def written(reasons: Reasons) -> str:
    """The text that the person edits."""
    return "\n".join(
        (
            "# Lines that begin with # are left out.",
            "",
            f"Because: {reasons.because}".rstrip(),
            "",
            _LISTS[0],
            *(f"- {text}" for text in reasons.consequences),
            "",
            _LISTS[1],
            "# - NAME: why not",
            *(f"- {alternative_text(one)}" for one in reasons.alternatives),
            "",
            _LISTS[2],
            "# - src/db/**",
            *(f"- {path}" for path in reasons.paths or ()),
            "",
            f"# {', '.join(HOLDS)}",
            f"{_HOLD} {reasons.hold or 'tell'}",
            "",
        )
    )


def parsed(text: str, before: Reasons) -> Reasons:
    """What the person saved.

    Args:
        before: an alternative whose line did not change stays as it was.

    Raises:
        Unparsable: a line belongs nowhere.
    """
    known = {alternative_text(one): one for one in before.alternatives}
    parts: dict[str, list[str]] = {"Because:": [], **{name: [] for name in (*_LISTS, _HOLD)}}
    part = ""
    for number, full in enumerate(text.splitlines(), 1):
        bare = full.strip()
        if not bare or bare.startswith("#"):
            continue
        if head := next((name for name in parts if bare.startswith(name)), None):
            part, bare = head, bare.removeprefix(head).strip()
            if bare:
                parts[part].append(bare)
        elif part in _LISTS and bare.startswith(("- ", "* ")):
            parts[part].append(bare[2:].strip())
        elif part and (parts[part] or part not in _LISTS):
            parts[part] = [*parts[part][:-1], " ".join((*parts[part][-1:], bare))]
        else:
            message = f"line {number} belongs to no part: {bare[:40]!r}"
            raise Unparsable(message)
    said, paths = " ".join(parts[_HOLD]) or "tell", tuple(parts[_LISTS[2]])
    hold: Hold | None = next((one for one in HOLDS if one == said), None)
    if hold is None:
        message = f"found Hold: {said[:40]!r}, expected {', '.join(HOLDS)}"
        raise Unparsable(message)
    for path in paths:
        if why := pattern_problem(path):
            message = f"the path {path[:40]!r} {why}"
            raise Unparsable(message)
    return Reasons(
        " ".join(parts["Because:"]),
        tuple(parts[_LISTS[0]]),
        tuple(known.get(entry) or alternative(entry) for entry in parts[_LISTS[1]]),
        replaces=True,
        paths=UNSET if paths == (before.paths or ()) else paths,
        hold=UNSET if hold == (before.hold or "tell") else hold,
    )


def _saved(text: str) -> str | None:
    """What the person's editor saved; None where it could not run, or failed.

    The editor runs without a shell, on a file that only this user can read.
    """
    words = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"  # noqa: TID251  the person's own editor, no setting of ours
    with TemporaryDirectory(prefix="preflights-") as folder:
        path = Path(folder) / NAME
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        try:
            done = subprocess.run([*shlex.split(words), str(path)], check=False)  # noqa: S603  no shell
            if done.returncode:
                click.echo(f"Not taken: {shown(words)} ended with {done.returncode}.", err=True)
                return None
            return beginning(path, TEXT_MAX).decode("utf-8", "replace")
        except (OSError, ValueError, Unreadable) as error:
            click.echo(f"Not taken: {shown(words)} cannot run: {shown(str(error))}.", err=True)
            return None
