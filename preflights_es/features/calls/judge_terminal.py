"""Blind pairs at a terminal: two answers side by side, and a key for what a person thinks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Final

import click

from preflights_cli.common import Voice, is_terminal
from preflights_es.features.calls.blind_pairs import (
    BlindPair,
    BlindRun,
    Choice,
    MarkedWords,
    mark_differing_words,
    words_shown,
)
from preflights_es.features.calls.cleaning import find_calls_sessions
from preflights_es.features.calls.commands import say_spoken_words
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import count_in_words, escaped_text
from preflights_es.use.request import Request

TURNS_SHOWN: Final = 4  # of a question, the last ones
WIDTH_MAX: Final = 160  # characters
KEYS: Final[dict[str, Choice]] = {"l": "left", "r": "right", "f": "both_fine", "w": "both_wrong"}
PROMPT: Final = (
    "[l]eft, [r]ight, both [f]ine, both [w]rong, [v]alue, [n]ext, [u]ndo, [?] help, [q]uit > "
)
HELP: Final = """  l, r  only the answer on that side is right
  f, w  both are right, both are wrong
  v     type the right value: JSON, or a text; then both answers are compared with it
  n     leave this pair for another time
  u     take back the last key: nothing of it is recorded yet
  q     record the last key and leave; `preflights calls judge` goes on from here"""


def judge_pairs_at_terminal(app: Request, voice: Voice, session: str | None, by: str) -> int:
    """Show the pairs of the last run one by one, and record what the person says.

    Raises:
        Refused: no run left answers that differ, or there is no terminal.
    """
    if not is_terminal() or voice.as_json:
        message = "pairs are shown at a terminal, or by `preflights view`; --expect and --from"
        raise Refused(f"{message} say right values without one", code="no_terminal")
    named = find_calls_sessions(app, session)[0] if session else ""
    run = BlindRun(app, session=named)
    if run.is_empty:
        raise Refused(
            "no run left answers to judge: `preflights regress --workflow calls --model NEW "
            "--live` asks both sides, and keeps the answers until it has a verdict",
            code="no_run",
        )
    pairs = run.undecided()
    if not pairs:
        voice.say("Nothing is undecided.")
    _judge_each(voice, run, pairs, by)
    voice.say(f"{run.describe_outlook()}.")
    voice.hint("This command gives the verdict, and asks nothing twice:")
    voice.hint(escaped_text(f"  {run.resuming}"))
    return 0


def _judge_each(voice: Voice, run: BlindRun, pairs: Sequence[BlindPair], by: str) -> None:
    at = 0
    pending: Callable[[], None] | None = None  # so that `u` takes it back before it is recorded
    while at < len(pairs):
        shown = pairs[at]
        _say_pair(voice, shown, at + 1, len(pairs))
        key = _ask_key()
        if key == "u":
            at, pending = max(at - 1, 0), None
            continue
        if pending is not None:
            pending()
        if key == "q":
            return
        if pending is not None:
            voice.say(voice.dim(f"{run.describe_outlook()}."))
            pending = None
        if key == "v":
            value = _ask_value()
            voice.say(run.compare_typed_value(shown, value))
            pending = partial(run.expect, shown, value, by)
        elif key != "n":
            pending = partial(run.judge, shown, KEYS[key], by)
        at += 1
    if pending is not None:
        pending()


def _ask_key() -> str:
    while True:
        click.echo(PROMPT, nl=False)
        try:
            pressed = click.getchar().lower()
        except EOFError:
            pressed = "q"
        key = pressed.strip("\r\n") or pressed  # Enter behind it, in one burst
        click.echo(key if key.isprintable() else "")
        if key in KEYS or key in ("v", "n", "u", "q"):
            return key
        click.echo(HELP)


def _ask_value() -> str:
    while not (said := str(click.prompt("The right value (JSON, or a text)")).strip()):
        click.echo("the right value is empty: type it")
    return said


# 1. A pair -----------------------------------------------------------------------------------


def _say_pair(voice: Voice, shown: BlindPair, number: int, of: int) -> None:
    call = shown.call
    voice.say()
    where = f"session {short_session(call.session_id)}, call {call.call}"
    voice.say(voice.bold(f"pair {number} of {of}") + voice.dim(f"  {where}"))
    turns = shown.question()
    if len(turns) > TURNS_SHOWN:
        hidden = count_in_words(len(turns) - TURNS_SHOWN, "earlier turn")
        voice.say(voice.dim(f"  ({hidden} left out)"))
    for role, words in turns[-TURNS_SHOWN:]:
        say_spoken_words(voice, role, words)
    voice.say()
    width = min(shutil.get_terminal_size().columns, WIDTH_MAX)
    for line in draw_side_by_side(words_shown(shown.left), words_shown(shown.right), width):
        voice.say(line)


def draw_side_by_side(left: str, right: str, width: int) -> Iterator[str]:
    """Lines of two columns; what differs is marked word by word."""
    column = max((width - 3) // 2, 10)
    marked = mark_differing_words(left, right)
    both = [[*_wrap_marked(words, column)] for words in marked]
    yield f"{'LEFT':<{column}} | RIGHT"
    for one, other in zip_longest(*both, fillvalue=("", 0)):
        yield f"{one[0]}{' ' * (column - one[1])} | {other[0]}"


def _wrap_marked(words: MarkedWords, width: int) -> Iterator[tuple[str, int]]:
    """Pairs of a line and how many columns it takes."""
    line: list[str] = []
    used = 0
    for word, differs in words:
        if word == "\n":
            yield " ".join(line), used
            line, used = [], 0
            continue
        for piece in (word[at : at + width] for at in range(0, len(word), width)):
            if used and used + 1 + len(piece) > width:
                yield " ".join(line), used
                line, used = [], 0
            line.append(click.style(piece, bold=True, underline=True) if differs else piece)
            used += len(piece) + (1 if used else 0)
    if line:
        yield " ".join(line), used
