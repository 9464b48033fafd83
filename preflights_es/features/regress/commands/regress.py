"""`regress`: recorded sessions as a regression suite."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import click

from preflights_cli import EXIT_DAMAGED, EXIT_ENVIRONMENT, EXIT_INCONCLUSIVE, EXIT_REFUSED
from preflights_cli.common import Voice, by_option, reading_command, require_option_value
from preflights_cli.dates import Moment
from preflights_cli.progress import bar, count_in_words
from preflights_cli.reports import (
    check_report_files,
    parse_name_value_pairs,
    refuse,
    report_options,
    reports_of,
    write_report_files,
)
from preflights_es.features.regress.change import ChangeOptions, change_of
from preflights_es.features.regress.regress import (
    LOST,
    NOT_THERE,
    Announced,
    RunOptions,
    accept_report_group,
    regress,
)
from preflights_es.features.regress.results import Report
from preflights_es.features.regress.run_history import earlier_runs, run_line, with_run
from preflights_es.features.regress.selection import Selection
from preflights_es.features.regress.strict import CANNOT_READ
from preflights_es.features.regress.verdict import MARGIN
from preflights_es.kernel.text import ANSWER_MAX
from preflights_es.system import clock_ids
from preflights_es.use.request import Request

JOBS_MAX: Final = 256  # processes
FORMATS: Final = ("json", "junit", "html")
"""Of reports."""
EXAMPLES: Final = {
    "--prompt": "clarify=v2 or clarify=new.md",
    "--parameter": "temperature=0.2",
    "--report": "junit=regress.xml",
}


@click.command()
@click.argument("session", nargs=-1, metavar="[SESSION|FILE|FOLDER]...")
@click.option(
    "--workflow",
    metavar="NAME",
    callback=require_option_value,
    help="Only sessions of this workflow.",
)
@click.option(
    "--since", type=Moment(is_end=False), metavar="DATE", help="Only sessions with events since."
)
@click.option("--status", metavar="STATUS", callback=require_option_value, help="Only this status.")
@click.option(
    "--led-by", metavar="NAME", callback=require_option_value, help="Only this provider or model."
)
@click.option(
    "--only", metavar="SESSION", callback=require_option_value, help="Only the session of this id."
)
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="A sample of N sessions.")
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="NAME=VERSION|FILE",
    help="Change: another prompt, such as clarify=v2 or clarify=new.md.",
)
@click.option(
    "--provider",
    "provider_",
    metavar="NAME",
    callback=require_option_value,
    help="Change: another provider.",
)
@click.option(
    "--model",
    "model_",
    metavar="MODEL",
    callback=require_option_value,
    help="Change: another model.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change: another parameter.",
)
@click.option("--seed", "seed_", type=int, metavar="N", help="Change: seed of the simulator.")
@click.option(
    "--live", "is_live", is_flag=True, help="Ask models for both sides; this costs money."
)
@click.option(
    "--recorded",
    "is_recorded",
    is_flag=True,
    help="With --live: keep the recording as the other side.",
)
@click.option(
    "--max-calls", "calls_max", type=click.IntRange(1), metavar="N", help="Limit of --live."
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=MARGIN,
    metavar="SHARE",
    help=f"The loss that does not matter: {MARGIN:g} if you give none.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="With --live: ask N times, an odd number; most answers decide.",
)
@click.option("--jobs", type=click.IntRange(1, JOBS_MAX), metavar="N", help="Use N processes.")
@click.option(
    "--scheduler", metavar="tcp://...", callback=require_option_value, help="Use a Dask scheduler."
)
@click.option(
    "--resume", "resumes", is_flag=True, help="With --live: go on with an interrupted run."
)
@click.option(
    "--accept",
    metavar="GROUP",
    callback=require_option_value,
    help="Accept the differences of a group.",
)
@click.option("--reason", metavar="TEXT", callback=require_option_value, help="With --accept: why.")
@by_option
@click.option(
    "--history",
    metavar="FILE",
    callback=require_option_value,
    help="Keep one line a run; show them.",
)
@report_options(FORMATS)
@reading_command
def regress_command(session: tuple[str, ...], app: Request, voice: Voice, **asked: Any) -> int:
    """Run recorded sessions again with today's code, or with a change, and judge the result.

    Without a change every decision must be as recorded. With one, sessions run again, and what
    people accepted says whether that is worse. Exit codes: 0 same or PASS, 1 different or BLOCK,
    6 INCONCLUSIVE, 4 damaged sessions, 5 environment failure.

    \b
    Examples:
      preflights regress
      preflights regress replays/ --jobs 4 --report junit=regress.xml
      preflights regress --since 2026-11-01 --prompt clarify=v2
      preflights regress --accept prompt-3f2a1b --reason "The new words are better"
      preflights regress --sample 500 --model claude-sonnet-5-5 --live --max-calls 200
    """
    wanted, options = reports_of(asked["reports"], FORMATS, EXAMPLES["--report"]), options_of(asked)
    check_report_files(wanted, replacing=asked["replaces"], is_json=voice.as_json)
    selection = Selection(**{name: asked[name] for name in Selection.__struct_fields__})
    change = change_of(app.leads, change_asked(asked))
    by, why = acceptance(app, asked) if asked["accept"] else ("", "")
    if asked["history"]:
        earlier_runs(asked["history"])  # what cannot be read ends a run before it begins
    report = regress(
        app,
        session,
        selection,
        change,
        options=options,
        drawn=bar(voice, "Judging"),
        announce=lambda told: voice.remark(announced(told)),
    )
    if asked["accept"]:
        report = accept_report_group(app, report, asked["accept"], by, why=why)
    if wanted:
        from preflights_es.features.regress.commands.reports import render_regression_report

        write_report_files(
            partial(render_regression_report, report), wanted, replacing=asked["replaces"]
        )
    voice.json(report)
    if all(file != "-" for _, file in wanted):
        from preflights_es.features.regress.commands.reports import say_regression_report

        say_regression_report(voice, report)
    if asked["history"]:
        from preflights_es.features.regress.commands.reports import say_history

        say_history(voice, with_run(asked["history"], run_line(report, clock_ids.now())))
    return exit_code_of_report(report)


def acceptance(app: Request, asked: Mapping[str, Any]) -> tuple[str, str]:
    """The person who accepts differences, and the reason; its file is committed, without secrets.

    Raises:
        UsageError: no person is there or named, or no reason is given.
        Refused: an agent is at work, or the reason is too long.
    """
    app.sessions.refuse_agent("accept a difference")
    if asked["reason"] is None:
        refuse("--accept: give the reason with --reason")
    by = asked["by"] or (app.actor.name if app.actor.kind == "user" else "")
    if not by:
        refuse("--accept: a person accepts: name the person with --by")
    cleaned = app.process.sanitizer.cleaned_text
    (by, _), (why, _) = (
        cleaned(what, text, ANSWER_MAX)
        for what, text in (("the name", str(by)), ("the reason", asked["reason"]))
    )
    app.notice_redacted("the reason", asked["reason"])
    return by, why


def announced(told: Announced) -> str:
    """What models will be asked, in words."""
    cost = "-" if told.cost is None else f"{told.cost:,.2f} {told.currency}"
    sessions = count_in_words(told.sessions, "session")
    calls = count_in_words(told.calls, "call")
    return f"asking models for {sessions}: at most {calls} in all, cost {cost}"


def exit_code_of_report(report: Report) -> int:
    """What a run ends with; damage comes first, since a verdict says nothing of it."""
    if report.counts["damaged"]:
        return EXIT_DAMAGED
    if report.verdict.word in ("different", "BLOCK"):
        return EXIT_REFUSED
    if report.verdict.word == "could not run" or any(map(_lacks_code, report.left_out)):
        return EXIT_ENVIRONMENT
    return EXIT_INCONCLUSIVE if report.verdict.word == "INCONCLUSIVE" else 0


def _lacks_code(left_out: str) -> bool:
    """Whether sessions were not judged for want of a worker, or of code that reads them."""
    is_unread = left_out.endswith(NOT_THERE) or f": {CANNOT_READ}" in left_out
    return is_unread or left_out.startswith(LOST)


def change_asked(asked: Mapping[str, Any]) -> ChangeOptions:
    """The change."""
    return ChangeOptions(
        prompts=parse_name_value_pairs("--prompt", asked["prompts"], EXAMPLES["--prompt"]),
        provider=asked["provider_"],
        model=asked["model_"],
        parameters=parse_name_value_pairs(
            "--parameter", asked["parameters"], EXAMPLES["--parameter"]
        ),
        seed=asked["seed_"],
    )


def options_of(asked: Mapping[str, Any]) -> RunOptions:
    """How the run goes."""
    if asked["calls_max"] is not None and not asked["is_live"]:
        refuse("--max-calls limits what --live asks: give --live, or leave it out")
    if not asked["repeat"] % 2:
        refuse(f"--repeat: found {asked['repeat']}, expected an odd number, such as 3")
    if not asked["is_live"] and (asked["repeat"] > 1 or asked["is_recorded"] or asked["resumes"]):
        refuse("--repeat, --recorded and --resume say how --live asks: give --live, too")
    if asked["accept"] is None and (asked["reason"] or asked["by"]):
        refuse("--reason and --by belong to --accept GROUP: give it, too")
    if math.isnan(asked["margin"]):
        refuse("--margin: found nan, expected a share between 0 and 1")
    given = {name: asked[name] for name in RunOptions.__struct_fields__ if name in asked}
    given["scheduler"] = asked["scheduler"] or ""
    return RunOptions(**given, repeating=_repeating(asked))


def _repeating(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """The change as it was typed."""
    many = {"--prompt": asked["prompts"], "--parameter": asked["parameters"]}
    once = {
        "--provider": asked["provider_"],
        "--model": asked["model_"],
        "--seed": asked["seed_"],
    }
    words = [word for name, values in many.items() for value in values for word in (name, value)]
    for name, value in once.items():
        words += () if value is None else (name, str(value))
    words += [f"--{name}" for name in ("live", "recorded") if asked[f"is_{name}"]]
    return (*words, *(("--repeat", str(asked["repeat"])) if asked["repeat"] > 1 else ()))
