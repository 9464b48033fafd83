"""`regress`: recorded sessions as a regression suite; its report on a terminal, and as files for
machines and browsers. Text of sessions comes from outside. Here it becomes no markup and no
command.
"""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import click

from preflights_cli import EXIT_DAMAGED, EXIT_ENVIRONMENT, EXIT_INCONCLUSIVE, EXIT_REFUSED
from preflights_cli.common import Voice, bar, by_option, reading_command, text_option
from preflights_cli.names import SESSION
from preflights_cli.options import (
    check_report_files,
    parse_name_value_pairs,
    refuse,
    report_options,
    reports_of,
    write_report_files,
)
from preflights_cli.replaying import format_replay_value
from preflights_cli.table import Moment, streamed
from preflights_es.features.regress.cases import CANNOT_READ
from preflights_es.features.regress.change import ChangeOptions, change_of
from preflights_es.features.regress.paired import report_without_words
from preflights_es.features.regress.regress import (
    LOST,
    NOT_THERE,
    Announced,
    RunOptions,
    accept_report_group,
    regress,
)
from preflights_es.features.regress.report_files import cause, render_regression_report
from preflights_es.features.regress.results import Case, Report
from preflights_es.features.regress.run_files import (
    RunLine,
    case_groups,
    earlier_runs,
    run_line,
    with_run,
)
from preflights_es.features.regress.selection import Selection, find_workflow_of_pairs, offers_pairs
from preflights_es.features.regress.verdict import MARGIN, PAIRS_MARGIN
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import iso, short_session
from preflights_es.kernel.text import ANSWER_MAX, count_in_words, escaped_text, shortened
from preflights_es.redaction.masking import redact
from preflights_es.store.urls import parse_log_address, shown_url
from preflights_es.system import clock_ids
from preflights_es.use.request import Request
from preflights_es.words.pairs import PairsAsked

JOBS_MAX: Final = 256  # processes
FORMATS: Final = ("json", "junit", "html")
"""Of reports."""
EXAMPLES: Final = {
    "--prompt": "clarify=new.md",
    "--parameter": "temperature=0.2",
    "--report": "junit=regress.xml",
}


@click.command()
@click.argument("session", type=SESSION, nargs=-1, metavar="[SESSION|FILE|FOLDER]...")
@text_option("--workflow", metavar="NAME", help="Only sessions of this workflow.")
@click.option(
    "--since",
    type=Moment(is_end=False),
    metavar="DATE",
    help="Only sessions with events since; of calls, by when they were made.",
)
@text_option("--status", metavar="STATUS", help="Only this status.")
@text_option("--led-by", metavar="NAME", help="Only this provider or model.")
@text_option("--only", metavar="SESSION", help="Only the session of this id.")
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N of them; of calls, N pairs.")
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="NAME=VERSION|FILE",
    help="Change: another prompt, such as clarify=new.md. Of calls: OLD=NEW, files "
    "with the words as they stand and as they become, or system=NEW.",
)
@text_option("--provider", "provider_", metavar="NAME", help="Change: another provider.")
@text_option("--model", "model_", metavar="MODEL", help="Change: another model.")
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change: another parameter.",
)
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="/POINTER=VALUE",
    help="Change of calls: a value of their requests.",
)
@text_option(
    "--from-model",
    metavar="MODEL",
    help="Of calls: the unchanged model, where the recorded one is gone.",
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
    metavar="SHARE",
    help=f"The loss that does not matter: {MARGIN:g} if you give none, {PAIRS_MARGIN:g} of calls.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="With --live: ask N times, an odd number; most answers decide.",
)
@click.option("--jobs", type=click.IntRange(1, JOBS_MAX), metavar="N", help="Use N processes.")
@text_option("--scheduler", metavar="tcp://...", help="Use a Dask scheduler.")
@click.option(
    "--resume", "resumes", is_flag=True, help="With --live: go on with an interrupted run."
)
@text_option("--accept", metavar="GROUP", help="Accept the differences of a group.")
@text_option("--reason", metavar="TEXT", help="With --accept: why.")
@by_option
@text_option("--history", metavar="FILE", help="Keep one line a run; show them.")
@click.option("--words", is_flag=True, help="Of calls: let HTML and JSON hold what was said.")
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
      preflights regress --since 2026-11-01 --prompt clarify=new.md
      preflights regress --accept prompt-3f2a1b --reason "The new words are better"
      preflights regress --sample 500 --model claude-sonnet-5-5 --live --max-calls 200
    """
    wanted = reports_of(asked["reports"], FORMATS, EXAMPLES["--report"])
    is_changed = any(asked[name] for name in ("model_", "prompts", "values", "from_model"))
    if is_changed and asked["workflow"] is None:
        asked["workflow"] = find_workflow_of_pairs(app, session)
        if asked["workflow"] is not None:
            voice.remark(f"all of these sessions are of --workflow {asked['workflow']}")
    options = options_of(asked)
    check_report_files(wanted, replacing=asked["replaces"], is_json=voice.as_json)
    selection = Selection(**{name: asked[name] for name in Selection.__struct_fields__})
    pairs = pairs_asked(asked, _resuming(session, asked))
    change = change_of(app.leads, change_asked(asked)) if pairs is None else pairs
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
        announce=partial(say_or_confirm_calls, voice),
    )
    if asked["accept"]:
        report = accept_report_group(app, report, asked["accept"], by, why=why)
    bare = report if pairs is None else report_without_words(report)
    filed = report if asked["words"] else bare

    def render(form: str) -> str:
        return render_regression_report(bare if form == "junit" else filed, form)

    if wanted:
        write_report_files(render, wanted, replacing=asked["replaces"])
    voice.json(filed)
    if all(file != "-" for _, file in wanted):
        say_regression_report(voice, report)
    if asked["history"]:
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


def say_or_confirm_calls(voice: Voice, told: Announced) -> None:
    """Say what models will be asked; for another program's calls a person at a terminal agrees.

    Raises:
        Refused: the person does not.
    """
    if told.power and told.sessions:
        voice.remark(told.power)
    if not told.calls:
        return
    voice.remark(announced(told))
    if told.power and sys.stdin.isatty() and not click.confirm("Ask them now?", err=True):
        raise Refused("nothing was asked")


def announced(told: Announced) -> str:
    """What models will be asked, in words."""
    cost = "unknown" if told.cost is None else f"{told.cost:,.2f} {told.currency}"
    sessions = count_in_words(told.sessions, "session")
    calls = count_in_words(told.calls, "call")
    if told.pairs > told.sessions:
        sessions = f"{count_in_words(told.pairs, 'pair')} of {sessions}"
    elif told.power and told.calls > 2 * told.sessions:
        sessions += ", each one pair whatever its calls"
    retried = ", each once more where no answer comes" if told.power else ""
    anew = "; no answer of an earlier run is kept: all are asked anew" if told.is_anew else ""
    return f"asking models for {sessions}: at most {calls} in all{retried}, cost {cost}{anew}"


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


def pairs_asked(asked: Mapping[str, Any], resuming: str) -> PairsAsked | None:
    """The change of pairs that another feature offers; None where today's code runs again."""
    of_calls = {"--set": asked["values"], "--from-model": asked["from_model"]}
    if not offers_pairs(asked["workflow"]):
        of_calls |= {"--words": asked["words"]}
        if named := [name for name, value in of_calls.items() if value]:
            refuse(f"{named[0]} is for calls of other programs: give --workflow calls, too")
        return None
    foreign = {"--provider": asked["provider_"], "--parameter": asked["parameters"]}
    foreign |= {
        "--seed": asked["seed_"],
        "--jobs": asked["jobs"],
        "--scheduler": asked["scheduler"],
    }
    foreign |= {"--repeat": asked["repeat"] > 1 or None}
    if named := [name for name, value in foreign.items() if value not in (None, ())]:
        refuse(
            f"{named[0]} is not for --workflow {asked['workflow']}: change it by --model, --prompt "
            "OLD=NEW or --set /POINTER=VALUE"
        )
    if not (asked["model_"] or asked["prompts"] or asked["values"]):
        if asked["from_model"]:
            refuse("--from-model is the unchanged side: give a change, such as --model NEW")
        return None
    return PairsAsked(
        prompts=parse_name_value_pairs("--prompt", asked["prompts"], "old.md=new.md"),
        model=asked["model_"] or "",
        values=parse_name_value_pairs("--set", asked["values"], "/temperature=0.2"),
        from_model=asked["from_model"] or "",
        is_live=asked["is_live"],
        is_recorded=asked["is_recorded"],
        sample=asked["sample"],
        resumes=asked["resumes"],
        calls_max=asked["calls_max"],
        margin=PAIRS_MARGIN if asked["margin"] is None else asked["margin"],
        resuming=resuming,
    )


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
    usual = PAIRS_MARGIN if offers_pairs(asked["workflow"]) else MARGIN
    margin = usual if asked["margin"] is None else asked["margin"]
    if math.isnan(margin):
        refuse("--margin: found nan, expected a share between 0 and 1")
    given = {name: asked[name] for name in RunOptions.__struct_fields__ if name in asked}
    given |= {"scheduler": asked["scheduler"] or "", "margin": margin}
    return RunOptions(**given, repeating=_repeating(asked))


def _repeating(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """The change as it was typed."""
    many = {
        "--prompt": asked["prompts"],
        "--parameter": asked["parameters"],
        "--set": asked["values"],
    }
    once = {
        "--workflow": asked["workflow"] if offers_pairs(asked["workflow"]) else None,
        "--provider": asked["provider_"],
        "--model": asked["model_"],
        "--from-model": asked["from_model"],
        "--seed": asked["seed_"],
    }
    words = []
    for name, values in many.items():
        words += [word for value in values for word in (name, redact(value).text)]
    for name, value in once.items():
        words += () if value is None else (name, str(value))
    words += [f"--{name}" for name in ("live", "recorded") if asked[f"is_{name}"]]
    return (*words, *(("--repeat", str(asked["repeat"])) if asked["repeat"] > 1 else ()))


def _resuming(named: Sequence[str], asked: Mapping[str, Any]) -> str:
    """The command that goes on with this run."""
    names = ("only", "since", "status", "led_by", "sample", "margin")
    given = {name: asked[name] for name in names if asked[name] is not None}
    if "since" in given:
        given["since"] = iso(given["since"])
    words = ["preflights", "regress", *named, *_repeating(asked)]
    for name, value in given.items():
        words += (f"--{name.replace('_', '-')}", str(value))
    words += ["--any-project"] if asked["any_project"] else []
    context = click.get_current_context()
    if log := context.params["db"] or (context.obj or {}).get("db"):
        words += ["--db", shown_url(parse_log_address(log))]
    return shlex.join([*words, "--resume"])


# 1. A terminal -------------------------------------------------------------------------------

SESSIONS_MAX: Final = 20  # that are shown one by one
VALUE_MAX: Final = 1_000  # characters of a value that differs


def say_regression_report(voice: Voice, report: Report) -> None:
    """What differs, the first of each group in full, then the sums and the verdict."""
    groups, unit = case_groups(report.cases), report.unit
    for cases in groups[:SESSIONS_MAX]:
        _say_case(voice, cases[0], len(cases) - 1, unit)
    if (more := sum(map(len, groups[SESSIONS_MAX:]))) > 0:
        voice.hint(f"{more:,} more: --report html=FILE shows all.")
    voice.say(f"{_describe_total(report)}: {_counts(report.counts)}.")
    if report.cause_counts:
        causes = ", ".join(f"{kind} {n:,}" for kind, n in report.cause_counts.items())
        voice.say(f"Causes: {causes}.")
    if report.drifted:
        drifted = count_in_words(report.drifted, unit)
        voice.say(f"Drift of the provider: both sides differ from the recording in {drifted}.")
    if report.accepted:
        said = (f"{count:,} accepted by {person}" for person, count in report.accepted.items())
        voice.say(escaped_text(f"{', '.join(said)}."))
    if report.left_out:
        voice.say(escaped_text(f"Not judged: {'; '.join(report.left_out)}."))
    for change in report.changes:
        voice.say(escaped_text(f"Change: {change}."))
    for note in report.notes:
        voice.say(escaped_text(note))
    voice.say(f"{voice.bold(report.verdict.word)}: {escaped_text(report.verdict.why)}")
    if report.verdict.figures:
        voice.say(escaped_text(report.verdict.figures))


def say_history(voice: Voice, runs: Sequence[RunLine]) -> None:
    """All runs of a file as a table."""
    if voice.as_json:
        return
    columns = ("when", "verdict", "sessions", "agrees", "valid", "calls", "cost", "change")
    streamed(
        columns,
        (
            (
                iso(one.at)[:16],
                one.verdict,
                f"{one.sessions:,}",
                _rates(one.agrees),
                _rates(one.valid),
                f"{one.live_calls:,}",
                "-" if one.cost is None else f"{one.cost:,.2f}",
                escaped_text(", ".join(one.changes) or "-"),
            )
            for one in runs
        ),
    )


def _rates(shares: tuple[float | None, float | None]) -> str:
    """Without the change, then with it."""
    before, after = ("-" if one is None else f"{one:.1%}" for one in shares)
    return before if before == after else f"{before} -> {after}"


def _describe_total(report: Report) -> str:
    sessions = count_in_words(report.sessions, "session")
    pairs = count_in_words(len(report.cases), "pair")
    return sessions if report.unit == "session" else f"{pairs} of {sessions}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count) or "none"


def _say_case(voice: Voice, case: Case, alike: int, unit: str) -> None:
    """One session or pair, and how many others differ in the same way."""
    name = short_session(case.session_id) if case.session_id else case.source
    name += f" call {case.call}" if case.call else ""
    measures = f" ({', '.join(case.measures)})" if case.measures else ""
    causes = ", ".join(map(cause, case.causes))
    tail = "; ".join(filter(None, (case.message, causes)))
    more = f" and {count_in_words(alike, f'more {unit}')}" if alike else ""
    group = f" [{case.group}]" if case.group else ""
    voice.say(escaped_text(f"{name}{more} {case.outcome}{measures}: {tail}".rstrip(": ") + group))
    if case.intention:
        voice.say(escaped_text(f"  {_shorten_reported_value(case.intention)}"))
    for difference in case.differences:
        event = f"event {difference.version} {difference.type} " if difference.version else ""
        place = f"{event}{difference.place}"
        expected = _shorten_reported_value(difference.expected)
        actual = _shorten_reported_value(difference.actual)
        voice.say(escaped_text(f"  {place}: {expected} -> {actual}"))
    if (rest := case.difference_count - len(case.differences)) > 0:
        voice.say(f"  and {count_in_words(rest, 'more difference')}")
    voice.hint(escaped_text(f"  {case.repeat}"))


def _shorten_reported_value(found: object) -> str:
    return shortened(format_replay_value(found), VALUE_MAX)
