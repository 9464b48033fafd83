"""`calls judge`: the right value of a call, a table of right values, or pairs shown blind."""

from __future__ import annotations

from collections.abc import Iterable

import click
from msgspec.structs import replace

from preflights_cli.common import Voice, text_option, writing_command
from preflights_cli.options import read_input_file
from preflights_es.features.calls.asked_bodies import recorded_answer
from preflights_es.features.calls.cleaning import find_calls_sessions
from preflights_es.features.calls.domain.asking import is_right
from preflights_es.features.calls.domain.dialects import words_of_answer
from preflights_es.features.calls.judging import (
    FILE_MAX,
    QUOTED,
    JudgedCalls,
    NewJudgement,
    read_expected_value,
    read_judgement_file,
    record_judgements,
)
from preflights_es.features.calls.recorded_calls import read_asked_calls
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import count_in_words, one_line, shortened
from preflights_es.use.request import Request


@click.command()
@click.argument("session", required=False)
@click.argument("call", type=click.IntRange(min=1), required=False)
@text_option("--expect", metavar="JSON", help="The right value of CALL: JSON, or a text.")
@text_option(
    "--from",
    "file",
    metavar="FILE.csv",
    help="Right values of many calls: the columns session, call, expected, by, why.",
)
@text_option("--by", metavar="NAME", help="Who says it.")
@click.option("--why", default="", metavar="TEXT", help="Why it is right.")
@writing_command
def judge_command(
    session: str | None,
    call: int | None,
    expect: str | None,
    file: str | None,
    by: str | None,
    why: str,
    app: Request,
    voice: Voice,
) -> int:
    """Say which answers are right: what a regression run of calls is judged by.

    With --expect or --from, the right values are recorded. Alone, the pairs of the last run of
    `regress --workflow calls --live` are shown whose answers differ: side by side, without saying
    which is which. A judgement is of a call and an answer, so that no answer is shown twice.

    \b
    Examples:
      preflights calls judge 3f9a12c4 2 --expect '{"intent": "cancel"}'
      preflights calls judge --from right.csv
      preflights calls judge
    """
    if file is not None:
        if session or expect is not None or why:
            message = "--from says sessions, values and why in its columns: leave them out here"
            raise click.UsageError(message)
        where, raw = read_input_file(file, FILE_MAX)
        if len(raw) > FILE_MAX:
            raise Refused(f"{where} has more than {FILE_MAX:,} bytes")
        found = [replace(o, by=o.by or by or "") for o in read_judgement_file(raw, where)]
        _say_judged(voice, record_judgements(app, found))
        _warn_where_no_answer_is_right(app, voice, found)
        return 0
    if expect is None:
        if call is not None or why:
            message = "say the right value with --expect, or leave the call out to see pairs"
            raise click.UsageError(message)
        from preflights_es.features.calls.judge_terminal import judge_pairs_at_terminal

        return judge_pairs_at_terminal(app, voice, session, by or "")
    if session is None or call is None:
        raise click.UsageError("--expect is of one call: give SESSION and CALL")
    new = NewJudgement(
        session=session, call=call, expected=read_expected_value(expect), by=by or "", why=why
    )
    _say_judged(voice, record_judgements(app, [new]))
    return 0


def _say_judged(voice: Voice, made: JudgedCalls) -> None:
    voice.json(made)
    voice.say(f"{count_in_words(made.judged, 'judgement')} recorded.")
    if made.present:
        voice.say(f"{count_in_words(made.present, 'judgement')} stood in the log already.")
    if made.counting < made.judged:
        voice.warn(
            "a script or an agent judged: this is kept, and counts for nothing; --by names a person"
        )


def _warn_where_no_answer_is_right(
    app: Request, voice: Voice, judged: Iterable[NewJudgement]
) -> None:
    """Right values in another form than the answers have make both sides of a run wrong."""
    named = dict.fromkeys(one.session for one in judged)
    found = (read_asked_calls(app, find_calls_sessions(app, one)[0]) for one in named)
    calls = (call for one in found for call in one if call.expected is not None)
    both = ((call, answer) for call in calls if (answer := recorded_answer(call).answer))
    first = None
    for call, answer in both:
        if is_right(call, answer, ()):
            return
        first = first or (words_of_answer(answer), call.expected or "")
    if first is not None:
        answered, expected = (shortened(one_line(words), QUOTED) for words in first)
        voice.warn(
            f"no recorded answer is its right value: the first is {answered!r}, and {expected!r} "
            "is right; a right value is compared with the whole answer"
        )
