"""A clarification at a terminal: what is in force, the questions, the reasons, the proposal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

import click
from msgspec.structs import replace

from preflights_cli.advice import error_with_advice
from preflights_cli.common import Voice
from preflights_cli.dialogue import (
    HELP,
    ConversationLeft,
    Pressed,
    ask_for_answer,
    conversed,
    read_line_behind,
    read_typed_line,
    say_aside,
    submit_dialogue_answer,
)
from preflights_cli.german import Say, spoken
from preflights_cli.options import alternative
from preflights_cli.rendering import describe_session, say_refusals, session_exit_code
from preflights_cli.table import folded_for
from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.display import (
    as_clarification,
    decisions_awaiting_choice,
    known_line,
    proposal_lines,
    provenance_lines,
    related_decision_line,
    topic_name,
)
from preflights_es.features.clarification.domain.values import SCOPE, select_suggested_values
from preflights_es.features.clarification.domain.views import (
    ClarificationView,
    KnownDecision,
    RelatedDecision,
)
from preflights_es.features.clarification.reasons_text import (
    Unparsable,
    edit_in_editor,
    format_reasons_text,
    parse_reasons_text,
    session_reasons,
)
from preflights_es.features.clarification.use import (
    accept_clarification,
    answerable,
    dismiss_topic,
    file_task,
    keep_known_decision,
    keep_same,
    replace_known,
)
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import caseless, escaped_text, one_line
from preflights_es.use import sessions
from preflights_es.use.inbox import PROPOSED
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewAcceptance
from preflights_es.words.decisions import Choices, Related, StatedReasons, list_superseded
from preflights_es.words.questions import WRAPPING, Question, is_placeholder, is_slip
from preflights_es.words.workflow import View


def run(
    app: Request,
    voice: Voice,
    session: View,
    *,
    accepting: bool,
    by: str | None,
    is_resumed: bool,
    choices: Choices | None = None,
) -> int:
    """Say what is in force, ask until nothing is open, and take the person's word.

    Args:
        is_resumed: whether the person does not see any more what was said before.
        choices: what the person said about older decisions before.

    Raises:
        Left, KeyboardInterrupt: the person left.
    """
    voice.is_german = as_clarification(session).language == "de"
    if is_resumed and session.can_accept:
        for line in provenance_lines(as_clarification(session)):
            voice.say(f"  {line}")
    talk = _Conversation(app, voice, by, choices or Choices(), is_resumed=is_resumed)
    return talk.run(session, accepting=accepting)


class _Conversation(NamedTuple):
    """A person at a terminal."""

    app: Request
    voice: Voice
    by: str | None
    choices: Choices
    """What the person said about older decisions before."""
    is_resumed: bool
    """Whether the person passed by what was asked behind a reason before."""

    def run(self, session: View, *, accepting: bool) -> int:
        """The exit code, once the session is where the person leaves it."""
        self._say_detected(session)
        is_told = bool(session.questions)
        if is_told:
            self._say_in_force(session)
        session = conversed(self.app, self.voice, session, self._turn)
        draft, is_new = "", True
        while session.can_accept:
            if is_new:
                session = self._before_proposal(session, is_told=is_told)
                is_new, is_told = False, True
                continue
            self._say_proposal(session)
            found = as_clarification(session)
            is_seen = accepting and not select_suggested_values(found.provenance)
            takes_known = bool(self._unsettled(found))
            key = "a" if is_seen else _read_proposal_key(spoken(session), takes_known=takes_known)
            if key != "r" and _is_known_key(key):
                session = self._settled(session, key)
            elif key == "a":
                session = resolved(
                    self.voice, self._accepted(self.choices, session), self.choices, self._accepted
                )
                say_refusals(session)
                break
            elif key == "d":
                say = spoken(session)
                reason = _read_reason_line(say, say("Why is it declined? (Enter: no reason) "))
                id_, seen = session.session_id, session.version
                session = sessions.abandon(self.app, id_, reason, expect=seen)
                break
            elif key == "e":
                session, draft = self._edited(session, draft)
            elif key == "r":
                session = self._revised(session)
                is_new = as_clarification(session).patch != found.patch
            else:
                raise ConversationLeft
        describe_session(self.voice, session)
        return session_exit_code(session)

    def _say_detected(self, session: View) -> None:
        found = as_clarification(session)
        is_found = found.provenance and found.provenance[0].source == "detected"
        if is_found and found.turn == 1 and not found.stated:
            topic = escaped_text(topic_name(found, found.provenance[0].value))
            said = "This is about {topic}, as the intention says."
            self.voice.hint(spoken(session)(said, topic=topic))

    def _before_proposal(self, session: View, *, is_told: bool) -> View:
        """The session with its reasons, or ended by a decision in force that says the same.

        Args:
            is_told: whether what is in force was said already.
        """
        # Of what an agent or a script proposed nothing is asked: the keys change it.
        is_asked = session.status != PROPOSED
        if is_asked and (same := keep_same(self.app, session.session_id, self.choices, self.by)):
            return same
        self._say_in_force(session, is_told=is_told)
        return self._ask_reasons(session) if is_asked else session

    def _accepted(self, choices: Choices, seen: View) -> View:
        """The session after an acceptance, or as it was where a choice is missing."""
        new = NewAcceptance(seen.session_id, by=self.by, expect=seen.version, choices=choices)
        return accept_clarification(self.app, new)

    def _say_proposal(self, session: View) -> None:
        found, say, voice = as_clarification(session), spoken(session), self.voice
        voice.say()
        if found.patch is None:
            voice.say(say("Nothing was decided; accepting files a task without a decision."))
            return
        what = "an architecture decision record" if found.kind == "adr" else "a task"
        voice.say(say(f"This becomes {what}:"))
        for line in proposal_lines(found, say):
            voice.say(f"  {line}")
        for old in list_superseded(found):
            voice.say(f"  {say('replaces {name}', name=_numbered_decision_title(old))}")
        for _, one in self._unsettled(found):
            if one.differs and one.path:  # one of ours waits for a choice
                voice.say(
                    f"  {say('stays in force beside it: {name}', name=escaped_text(one.path))}"
                )

    def _revised(self, session: View) -> View:
        """Revise one answer, and answer the questions that follow."""
        again = answerable(self.app, session.session_id)
        try:
            question = self._chosen_again(session, again)
            given = ask_for_answer(self.voice, session, question)
        except ConversationLeft:
            self.voice.say(spoken(session)("Nothing was changed."))
            return session
        session = submit_dialogue_answer(self.app, self.voice, session, given, revise=True)
        return conversed(self.app, self.voice, replace(session, refusals=()), self._turn)

    def _chosen_again(self, session: View, again: list[tuple[str, Question]]) -> Question:
        """The question that the person wants to answer anew; the last one unless they say which."""
        say = spoken(session)
        if len(again) == 1:
            return again[0][1]
        self.voice.say(say("Which answer?"))
        for number, (name, question) in enumerate(again, 1):
            self.voice.say(f"  {number}. {escaped_text(topic_name(session, name, question.id))}")
        while True:
            text = read_typed_line(f"> ({len(again)}) ").strip() or str(len(again))
            for number, (name, question) in enumerate(again, 1):
                if text.casefold() in (str(number), name.casefold(), question.id):
                    return question
            click.echo(say("Give 1 to {most}.", most=len(again)), err=True)

    # 1. What is in force ---------------------------------------------------------------------

    def _say_in_force(self, session: View, *, is_told: bool = False) -> None:
        """Say what is in force; the prompts that follow take the keys.

        Args:
            is_told: whether it was said before the value; then what contradicts the value is said.
        """
        found, say = as_clarification(session), spoken(session)
        told = [pair for pair in self._unsettled(found) if pair[1].differs or not is_told]
        if not told or not (found.questions or found.patch):
            return
        self.voice.say(say("In force:"))
        for place, one in told:
            self.voice.say(f"  {place}. {known_line(one, say)}")
        self.voice.say(say(_KEEPS if len(found.known) > 1 else _KEEPS_IT))

    def _unsettled(self, found: ClarificationView) -> list[tuple[int, KnownDecision]]:
        """Pairs of place and decision in force of which the person has not said what becomes."""
        said = self.choices
        typed = (*said.supersedes, *(typed for typed, _ in said.keeps), *said.exceptions)
        named = map(clarifications_of(self.app).former, typed)
        settled = {
            *(one.session_id or one.path or "" for one in list_superseded(found)),
            *(session_id or file for session_id, file in named),
        }
        known = enumerate(found.known, 1)
        return [(at, one) for at, one in known if (one.session_id or one.path) not in settled]

    def _settled(self, session: View, text: str) -> View:
        """The session after one of the decisions in force is kept or replaced."""
        say = spoken(session)
        key, _, place = text.partition(" ")
        settle = keep_known_decision if key == "k" else replace_known
        try:
            after = settle(self.app, session.session_id, place or "1", expect=session.version)
        except Refused as refused:
            why = escaped_text(error_with_advice(refused))
            say_aside(say("Not taken: {why}", why=why))
            return sessions.show(self.app, session.session_id)
        say_refusals(after)
        if key == "r" and not after.not_done:
            known = as_clarification(after).known[int(place or "1") - 1]
            for old in list_superseded(as_clarification(after)):
                if (old.session_id or old.path) == (known.session_id or known.path):
                    name = _numbered_decision_title(old)
                    click.echo(say("{name} is replaced once you accept.", name=name))
        return replace(after, refusals=())

    # 2. A question: a menu, or the decision in own words; and the two lines behind it ----------

    def _turn(self, session: View) -> View:
        """The session after its question was asked."""
        question, say, found = session.questions[0], spoken(session), as_clarification(session)
        is_whole = bool(found.fields)
        keys = _keys(found)
        try:
            given = ask_for_answer(
                self.voice,
                session,
                question,
                prompt=say("Decision: ") if is_whole else "",
                is_key=lambda text: _is_key(text, keys) or (is_whole and is_slip(text)),
                keys_help=" ".join(say(_MEANS[key]) for key in keys if key in _MEANS),
            )
        except Pressed as pressed:
            return self._pressed(session, pressed.key, keys)
        return submit_dialogue_answer(self.app, self.voice, session, given, revise=False)

    def _pressed(self, session: View, text: str, keys: tuple[str, ...]) -> View:
        """The session after a key in place of an answer."""
        if not _is_key(text, keys):
            say_aside(spoken(session)(_NO_DECISION, text=escaped_text(text)))
            return session
        if _is_known_key(text):
            return self._settled(session, text)
        end = dismiss_topic if text.casefold() == "n" else file_task
        after = end(self.app, session.session_id)
        say_refusals(after)
        return after

    def _ask_reasons(self, session: View) -> View:
        """The session after the two lines behind the decision; what is said is not asked again."""
        say, found = spoken(session), as_clarification(session)
        if found.patch is None:
            return session
        if found.because is None:
            session = self._told_line(session, say("Because: "), StatedReasons)
        elif self.is_resumed:
            return session
        is_said = as_clarification(session).alternatives or (found.stated and found.replaced)
        if not session.can_accept or is_said:
            return session
        default = found.instead_of
        names = escaped_text(", ".join(map(one_line, default)))
        asks = "Instead of ({names}; - for nothing): " if default else "Instead of: "
        return self._told_line(session, say(asks, names=names), partial(_instead, default))

    def _told_line(self, session: View, prompt: str, said: Callable[[str], StatedReasons]) -> View:
        """The session after one line, asked again until it is taken or says nothing.

        It takes the keys of what is in force, too. What may be meant for the program is taken where
        it is typed again.
        """
        doubted = ""
        while session.can_accept:
            text = _read_reason_line(spoken(session), prompt)
            if as_clarification(session).known and _is_known_key(text):
                session = self._settled(session, text)
                continue
            if text and text not in NOTHING and is_slip(text):
                say_aside(spoken(session)(_SAYS_NOTHING, text=escaped_text(text)))
                continue
            if _may_leave(text) and text != doubted:
                say_aside(spoken(session)(_TYPE_AGAIN, text=escaped_text(text)))
                doubted = text
                continue
            if (reasons := said(text)) == StatedReasons():
                break
            after = self._record_reasons(session, reasons)
            if not after.not_done and after.version != session.version:
                return after
            session = replace(after, refusals=())
        return session

    # 3. Why, as the person says it -----------------------------------------------------------

    def _record_reasons(
        self, session: View, reasons: StatedReasons, given: Sequence[tuple[str, tuple[str]]] = ()
    ) -> View:
        """The session with reasons; as it was where they cannot be recorded."""
        try:
            after = sessions.answer_session(self.app, session.session_id, given, reasons=reasons)
        except Refused as refused:
            not_taken = spoken(session)("Not taken: {why}", why=escaped_text(str(refused)))
            say_aside(not_taken)
            return sessions.show(self.app, session.session_id)
        say_refusals(after)
        return after

    def _edited(self, session: View, draft: str) -> tuple[View, str]:
        """The session after the person edited its reasons, and the text where it is not taken."""
        found, say = as_clarification(session), spoken(session)
        before = format_reasons_text(session_reasons(session), one_line(found.scope), say)
        text = edit_in_editor(draft or before)
        if text is None or text == before:
            self.voice.say(say("Nothing was changed."))
            return session, draft
        try:
            reasons, scope = parse_reasons_text(text, session_reasons(session), say)
        except Unparsable as error:
            why = escaped_text(str(error))
            say_aside(f"Not taken: {why}; press e to go on with your text.")
            return session, text
        is_new = bool(found.provenance) and scope != one_line(found.scope)
        given = [(f"{found.provenance[0].key}{SCOPE}", (scope,))] if is_new else []
        after = self._record_reasons(session, reasons, given)
        return after, text if after.not_done or after.version == session.version else ""


# Keys ------------------------------------------------------------------------------------------

_LEAVING = ("l", "q", "\x1b")
_KEYS_HELP: Final = (
    "a accepts it and writes the record. r changes an answer. e opens the reasons, the scope and "
    "the files in your editor. d declines it: the session is abandoned, with your reason. "
    "l leaves it for later."
)

_KNOWN_HELP: Final = "k 1 keeps what is in force, r 1 replaces it; r and Enter changes an answer."


def _read_proposal_key(say: Say, *, takes_known: bool) -> str:
    """A key that means something; it ignores keys from before the proposal.

    Args:
        takes_known: whether `k 1` and `r 1` mean something; then Enter ends both keys.

    Raises:
        Left, KeyboardInterrupt: Ctrl-D, Ctrl-C.
    """
    if takes_known:
        click.echo(folded_for(sys.stdout, say(_KNOWN_HELP)))
    while True:
        pressed = _read_key(say("[a]ccept, [r]evise, [e]dit, [d]ecline, [?] help, [l]eave? "))
        key = pressed.strip("\r\n") or pressed  # Enter behind it, in one burst
        if takes_known and key in ("k", "r") and key == pressed:
            key = read_line_behind(key)
        else:
            click.echo(key if key.isprintable() else "")
        if key in ("a", "r", "e", "d", *_LEAVING) or (takes_known and _is_known_key(key)):
            return key
        click.echo(folded_for(sys.stdout, say(_KEYS_HELP if key in HELP else _KEYS_ARE)))


def _read_key(prompt: str) -> str:
    click.echo(prompt, nl=False)
    try:
        return click.getchar().lower()
    except EOFError:
        raise ConversationLeft from None


_KEYS_ARE: Final = "The keys are a, r, e, d and l; ? says what each does."
_KEEPS_IT: Final = "k keeps it and decides nothing new; r replaces it."
_KEEPS: Final = (
    "k keeps the first and decides nothing new; r replaces it. k 2 and r 2 mean the second."
)


def _is_known_key(text: str) -> bool:
    """Whether it is `k` or `r`, alone or with a number; K and R are names of languages."""
    key, _, place = text.partition(" ")
    return key in ("k", "r") and (not place or (place.isascii() and place.isdigit()))


def _numbered_decision_title(old: Related) -> str:
    """An older decision by its number, where it has one, and its title."""
    return escaped_text(f"{old.name} {one_line(old.title)}".strip())


_NO_DECISION: Final = "Not taken: {text} is no decision. Say it in your own words."
_SAYS_NOTHING: Final = (
    "Not taken: {text} alone says nothing. Say it in your own words; Enter goes on."
)
_TYPE_AGAIN: Final = "Type {text} again if it is your answer; Ctrl-C leaves it for later."
_MEANS: Final = {"n": "n: it is not about this.", "t": "t: it is a task, without a decision."}


def _keys(found: ClarificationView) -> tuple[str, ...]:
    """What is typed in place of an answer; none that an option is called."""
    keys = (*(("n",) if found.can_dismiss else ()), "t", *(("k", "r") if found.known else ()))
    options = {caseless(option) for option in found.questions[0].options}
    return tuple(key for key in keys if key not in options)


def _is_key(text: str, keys: tuple[str, ...]) -> bool:
    if _is_known_key(text):
        return text[0] in keys
    return text.casefold() in keys and text.casefold() in _MEANS


def _instead(default: tuple[str, ...], text: str) -> StatedReasons:
    """What was turned down; several are separated by semicolons.

    Args:
        default: what Enter takes.
    """
    if text in NOTHING:
        return StatedReasons()
    names = text.split(";") if text else default
    return StatedReasons(alternatives=tuple(alternative(one) for one in names if one.strip()))


NOTHING: Final = ("-", "\u2013", "\u2014")
"""Typed in place of what Enter would take: nothing."""


def _may_leave(text: str) -> bool:
    """Whether a text is a word that ends other programs, or one of A to Z, as of a key."""
    bare = text.strip(WRAPPING).casefold()
    return bare in ("quit", "exit") or (len(bare) == 1 and "a" <= bare <= "z")


def _read_reason_line(say: Say, prompt: str) -> str:
    _drop_typed()
    while (text := read_typed_line(prompt).strip()).casefold() in HELP:
        click.echo(say("In your own words; Enter goes on."), err=True)
    return text


def _drop_typed() -> None:
    """What was typed before the question was seen is no reason."""
    try:
        import termios
    except ImportError:  # Windows
        return
    with suppress(termios.error):
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


# Older decisions that differ -------------------------------------------------------------------


def resolved(
    voice: Voice, session: View, said: Choices | None, accept: Callable[[Choices, View], View]
) -> View:
    """The session once the person has chosen about each decision that differs.

    Args:
        accept: tries it again, with what was chosen so far.

    Raises:
        Left: the person leaves; nothing is accepted.
    """
    said, say = said or Choices(), spoken(session)
    while found := decisions_awaiting_choice(session):
        for one in found:
            voice.say(related_decision_line(session, one))
            said = _ask_choice_about_decision(said, one, say)
        session = accept(said, session)
    return session


def _ask_choice_about_decision(said: Choices, one: RelatedDecision, say: Say) -> Choices:
    key = _choice_key(say, is_exception=one.evolution == "exception")
    if key == "l":
        raise ConversationLeft
    if key == "r":
        return replace(said, supersedes=(*said.supersedes, one.uid))
    if key == "e":
        return replace(said, exceptions=(*said.exceptions, one.uid))
    why = say("Why do both stay in force? ")
    while (reason := read_typed_line(why).strip()).casefold() in ("", *HELP) or is_placeholder(
        reason
    ):
        if reason:
            click.echo(say("{reason} is a placeholder.", reason=escaped_text(reason)))
    return replace(said, keeps=(*said.keeps, (one.uid, reason)))


_BOTH: Final = "[r]eplace it, [k]eep both, [l]eave? "
_EXCEPTION: Final = "[e]xception to it, [r]eplace it, [l]eave? "


def _choice_key(say: Say, *, is_exception: bool) -> str:
    """A key that means something.

    Raises:
        Left: Ctrl-D.
    """
    while True:
        key = _read_key(say(_EXCEPTION if is_exception else _BOTH))
        key = key.strip("\r\n") or key  # Enter behind it, in one burst
        click.echo(key if key.isprintable() else "")
        if key in ("r", "e" if is_exception else "k"):
            return key
        if key in _LEAVING:
            return "l"
