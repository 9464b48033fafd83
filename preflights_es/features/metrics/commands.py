"""`ask`: a question about data, its answer as a query, and the rows where they are wanted."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from math import isnan
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from msgspec.structs import replace

from preflights_cli import EXIT_INTERRUPTED, EXIT_WAITING
from preflights_cli.common import (
    Voice,
    creating_command,
    is_terminal,
    key_option,
    language_option,
    require_quoted_text,
    text_option,
    with_lead_options,
)
from preflights_cli.dialogue import ConversationLeft, read_typed_line
from preflights_cli.rendering import Shown, say_session_result, session_exit_code
from preflights_cli.table import streamed
from preflights_es.features.metrics.domain.decide import resolve_candidate_number
from preflights_es.features.metrics.domain.events import QUESTION_MAX
from preflights_es.features.metrics.domain.reference import join_option_names, offered_parts
from preflights_es.features.metrics.domain.state import AnswerView, MetricsQueryResult
from preflights_es.features.metrics.use import (
    follow_up,
    read_catalogue,
    run_session_query,
    show_metrics_session,
    start_metrics,
)
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import escaped_text, one_line, shown_lines
from preflights_es.store.guarded_query import Limits
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from preflights_es.words.workflow import View

FORMULA: Final = ("=", "+", "-", "@", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, also in full width."""

QUIT: Final = ("quit", "exit", "q")
LINE_MAX: Final = 4 * QUESTION_MAX + 3  # bytes of a line from a pipe

Options = dict[str, Any]


@click.command()
@click.argument("question", metavar="[TEXT]", nargs=-1, callback=require_quoted_text)
@text_option("--follow-up", metavar="TEXT", help="Go on in the last session, or --session.")
@text_option("--session", metavar="ID", help="The session for --follow-up, or for --run.")
@click.option("--run", "runs", is_flag=True, help="Run the query, read-only, and show its rows.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 100_000),
    default=1_000,
    help="Rows at most (1000).",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3_600),
    default=10,
    help="Seconds at most (10).",
)
@click.option("--csv", "as_csv", is_flag=True, help="With --run: print the rows as CSV.")
@click.option("--any-project", is_flag=True, help="With --run: rows of all projects of the log.")
@click.option(
    "--catalog",
    metavar="DIR",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="A catalogue of your own: DIR/metrics/*.yaml, DIR/snippets/*.sql.",
)
@text_option("--on", metavar="URL", help="The database of your catalogue.")
@click.option("--strict", is_flag=True, help="If the model fails, wait.")
@language_option
@key_option
@with_lead_options
@creating_command
def ask_command(
    question: str | None,
    follow_up: str | None,
    session: str | None,
    runs: bool,
    limit: int,
    timeout: float,
    as_csv: bool,
    any_project: bool,
    catalog: Path | None,
    on: str | None,
    strict: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Ask a question about data. The answer is one checked query; --run brings its rows.

    Without --catalog, the questions are about the log itself. At a terminal without TEXT, this is a
    conversation; "quit" ends it. With - as TEXT, each line of a pipe is a question or an answer.

    \b
    Examples:
      preflights ask "fallbacks by workflow last week" --run
      preflights ask --follow-up "November 2026"
      preflights ask --session last --run
      preflights ask --catalog shop --on sqlite:///shop.db "revenue 2026-10 top 3 by market" --run
    """
    asks, goes_on, is_kept = question is not None, follow_up is not None, session is not None
    brings, is_later = catalog is not None, bool(follow_up or session)
    for is_mixed, message in (
        (asks and goes_on, "give a question or --follow-up, not both"),
        (asks and is_kept, "give a question or --session, not both"),
        (is_kept and not (goes_on or runs), "--session goes with --follow-up or --run"),
        (brings and is_later, "--catalog goes with a new question: a session keeps its own"),
        (strict and is_later, "--strict goes with a new question"),
        ((as_csv or any_project) and not runs, "--csv and --any-project go with --run"),
        (any_project and on is not None, "--any-project is about the log, without --on"),
        (isnan(timeout), "--timeout: found nan, expected seconds"),
        (brings and runs and on is None, "--run needs --on: your database"),
    ):
        if is_mixed:
            raise click.UsageError(message)
    folders = (catalog / "metrics", catalog / "snippets") if catalog is not None else None
    asked = Asking(
        app=app,
        voice=voice,
        asks={"catalogue": folders, "on": on or ""},
        strict=strict,
        runs_with={"on": on or "", "any_project": any_project, "limits": Limits(limit, timeout)},
        runs=runs,
        as_csv=as_csv,
    )
    if follow_up is not None:
        return asked.asked_on(asked.followed_up(follow_up, session or ""))
    if session is not None:
        return asked.told(show_metrics_session(app, session))
    if question is None and not sys.stdin.isatty():
        raise click.UsageError("there is no question: give it as an argument, or - to read a pipe")
    if question is None:
        voice.hint("Ask a question, or press Enter to choose its parts; or `quit`.")
        return asked.conversation(_typed(), chooses=True)
    if question == "-":
        return asked.conversation(_piped())
    return asked.asked_on(asked.begun(question))


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """Questions with the options of one command."""

    app: Request
    voice: Voice
    asks: Options
    strict: bool
    runs_with: Options
    runs: bool
    as_csv: bool

    def begun(self, text: str) -> View:
        """A new session."""
        return start_metrics(self.app, NewSession(text, strict=self.strict), **self.asks)

    def followed_up(self, text: str, session: str) -> View:
        """A session that goes on."""
        return follow_up(self.app, text, session)

    def told(self, session: View) -> int:
        """Show an answer, with its rows where they are wanted; the exit code."""
        assert isinstance(session, AnswerView), "only these are asked"
        if self.runs and session.type == "sql" and not session.not_done:
            session = run_session_query(self.app, session, **self.runs_with)
            assert isinstance(session, AnswerView), "the same answer"
        if not self.as_csv or self.voice.as_json:
            return say_session_result(self.voice, session)
        if session.result is not None:
            return self._as_csv_text(session)
        with redirect_stdout(sys.stderr):  # words are no CSV
            return say_session_result(self.voice, session)

    def _as_csv_text(self, session: AnswerView) -> int:
        assert session.result is not None, "it was run"
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(map(_safe, session.result.columns))
        writer.writerows([_safe(value) for value in row] for row in session.result.rows)
        sys.stdout.buffer.write(text.getvalue().encode())
        _say_nothing(self.voice, session)
        if session.result.more:
            self.voice.warn(f"there are more than {len(session.result.rows):,} rows: see --limit")
        return session_exit_code(session)

    def asked_on(self, session: View) -> int:
        """An answer; at a terminal, what is asked back is asked at once."""
        if session.status != "needs_answers" or not is_terminal() or self.voice.as_json:
            return self.told(session)
        return self.conversation(_typed(), session)

    def conversation(
        self, lines: Iterator[str], session: View | None = None, *, chooses: bool = False
    ) -> int:
        """One line after another: a question, answers while it asks, the next question.

        Args:
            session: an open question; the conversation ends with it.
            chooses: a line without text is a question whose parts are chosen.
        """
        # A hint names the next command: until the end, it is the next line.
        quiet, self.voice.quiet = self.voice.quiet, True
        is_one, code = session is not None, EXIT_WAITING if session else 0
        if session:
            self._told_with_options(session)
        try:
            for typed in lines:
                text = typed.strip()
                if text.casefold() in QUIT:
                    break
                if not text and (session or not chooses):
                    session = None
                    continue
                try:
                    session = self._heard(text or self._question_of_menus(), session)
                    code = self._told_with_options(session)
                except Refused as error:
                    self.voice.warn(str(error))
                    code, session = 1, None
                    continue
                session = session if session.status == "needs_answers" else None
                self.app.notices.clear()
                if is_one and not session:
                    break
        except (KeyboardInterrupt, ConversationLeft) as error:
            click.echo(err=True)
            code = code if isinstance(error, ConversationLeft) else EXIT_INTERRUPTED
        self.voice.quiet = quiet
        if session:
            self.voice.hint("Answer later with: preflights ask --follow-up TEXT")
        return code

    def _heard(self, text: str, session: View | None) -> View:
        """What follows from a question, or from an answer to an open one."""
        if session is None:
            return self.begun(text)
        assert isinstance(session, AnswerView), "only these are asked"
        options = () if session.candidates else session.options
        return self.followed_up(resolve_candidate_number(text, options), session.session_id)

    def _told_with_options(self, session: View) -> int:
        """Show an answer; at a terminal, what a question in words takes stands in a list alone."""
        assert isinstance(session, AnswerView), "only these are asked"
        options = () if session.candidates or not is_terminal() else session.options
        if not (session.questions and options):
            return self.told(session)
        named, (question,) = f" {join_option_names(options)}.", session.questions
        question = replace(question, question=question.question.removesuffix(named))
        code = self.told(replace(session, questions=(question,)))
        _list_options(options)
        return code

    def _question_of_menus(self) -> str:
        """A question whose parts are chosen one after another; Enter leaves a part out."""
        known = read_catalogue(self.app, self.asks["catalogue"], self.asks["on"])
        name = _chosen_at("Metric", [one.name for one in known.metrics])
        parts = [name]
        for metric in known.metrics:
            if metric.name == name:
                offered = offered_parts(metric, self.app.process.settings.language)
                parts += [_chosen_at(title, options) for title, options in offered if options]
        return " ".join(filter(None, parts))


def _chosen_at(title: str, options: Sequence[str]) -> str:
    """A choice of a menu by its number, or other words."""
    _list_options(options)
    typed = read_typed_line(f"{title}: ").strip()
    if typed.casefold() in QUIT:
        raise ConversationLeft
    return resolve_candidate_number(typed, options)


def _list_options(options: Sequence[str]) -> None:
    for number, one in enumerate(options, 1):
        click.echo(f"  {number}. {escaped_text(one_line(one))}")


def _safe(value: object) -> object:
    """A value of a CSV: no formula for a spreadsheet, nothing that a terminal obeys."""
    if not isinstance(value, str):
        return value
    text = shown_lines(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def _typed() -> Iterator[str]:
    """Lines of a person; Ctrl-D ends them."""
    with suppress(ConversationLeft):
        while True:
            yield read_typed_line("Q: ")
    click.echo(err=True)


def _piped() -> Iterator[str]:
    """Lines of a pipe.

    Raises:
        Refused: one is too long, or is not UTF-8.
    """
    read: Callable[[int], bytes] = sys.stdin.buffer.readline
    while raw := read(LINE_MAX + 1):
        if len(raw) > LINE_MAX:
            message = f"a line is too long: a question has at most {QUESTION_MAX:,} characters"
            raise Refused(message, code="unfit_text")
        try:
            yield raw.decode()
        except UnicodeDecodeError as error:
            message = f"a line is not UTF-8, at byte {error.start + 1}"
            raise Refused(message, code="unfit_text") from error


def describe_metrics(voice: Voice, session: View) -> None:
    """The question, and the query."""
    assert isinstance(session, AnswerView), "the caller checked the workflow"
    voice.say(voice.bold(escaped_text(one_line(session.intention))))
    stands = session.status.replace("_", " ")
    voice.say(f"  question {short_session(session.session_id)}, {stands}")
    if session.type == "sql":
        if session.read_as:
            voice.say(f"  {escaped_text(one_line(session.read_as))}")
        voice.say()
        for line in session.sql.splitlines():
            voice.say(f"  {escaped_text(line)}")
    if session.result is not None:
        voice.say()
        _say_query_rows(voice, session.result)
        _say_nothing(voice, session)


def _say_query_rows(voice: Voice, ran: MetricsQueryResult) -> None:
    head = [escaped_text(one_line(name)) for name in ran.columns]
    rows = ([one_line(_cell_text(cell)) for cell in row] for row in ran.rows)
    if not streamed(head, rows):
        voice.say("No rows.")
    if ran.more:
        voice.say(f"... more than {len(ran.rows):,} rows: see --limit")


def _cell_text(cell: object) -> str:
    """A sum of 2.2 and 1.1 is no 3.3000000000000003: a float has 15 digits that count."""
    if cell is None:
        return "-"
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def _say_nothing(voice: Voice, session: AnswerView) -> None:
    """Where nothing was found, name the filters: a value may not be one of the database."""
    rows = session.result.rows if session.result is not None else ()
    is_nothing = not any(value for row in rows for value in row) and "=" in session.read_as
    if session.read_as and (is_nothing or not rows):
        voice.warn(f"there is nothing for: {escaped_text(one_line(session.read_as))}")


def metrics_hint(session: View) -> str:
    """What may come next."""
    assert isinstance(session, AnswerView), "the caller checked the workflow"
    goes_on = "preflights ask --follow-up TEXT"
    id_ = short_session(session.session_id)
    run_it = f"See its rows with: preflights ask --session {id_} --run"
    number = " (a number chooses)" if session.candidates else ""
    return {
        "done": f"Go on with: {goes_on}" if session.result is not None else run_it,
        "stopped": f"Ask in other words: {goes_on}",
        "needs_answers": f"Answer with: {goes_on}{number}",
    }.get(session.status, "")


SHOWN: Final = Shown(
    describe=describe_metrics, hint=metrics_hint, by_hand="preflights ask --follow-up TEXT"
)
