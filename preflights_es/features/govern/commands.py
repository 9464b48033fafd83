"""`check`: a change, held against what was decided; printed for a person, as JSON, and as
annotations of GitHub Actions. In an annotation, what comes from outside becomes no command of the
runner.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import click

from preflights_cli.common import Voice, bar, reading_command, require_option_value
from preflights_cli.options import check_report_files as check_reports
from preflights_cli.options import report_options, reports_of, write_report_files
from preflights_es.features.govern.check import Checked, check_change
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import count_in_words, escaped_text
from preflights_es.use.request import Request

FORMATS: Final = ("json", "annotations")
"""Of reports."""


def _revision(_ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A revision that git takes for no option."""
    if (revision := require_option_value(_ctx, parameter, value)) and revision.startswith("-"):
        message = "it begins with -: give a branch, a tag or a commit"
        raise click.BadParameter(message, param=parameter)
    return value


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--base", metavar="REV", callback=_revision, help="What was done since it parted from HEAD."
)
@click.option("--staged", is_flag=True, help="What the next commit holds.")
@click.option(
    "--require-signed", is_flag=True, help="A signer of the base has to sign what is accepted."
)
@report_options(FORMATS)
@reading_command
def check_command(
    files: tuple[str, ...],
    base: str | None,
    staged: bool,
    require_signed: bool,
    reports: tuple[str, ...],
    replaces: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Check a change against what was decided; without an option, the work tree against HEAD.

    Names the decisions that hold for changed files. An error is an import that was turned down, a
    change where a decision denies one, a record or a session file that was edited, and two
    decisions that contradict each other. With --require-signed it is also an acceptance that no
    signer in .preflights/allowed_signers of the base, or else of HEAD, signed. Exit codes: 0 no
    error, 1 an error, 4 a session that does not verify, 6 no base to compare with, or no signers
    there; the first of 4, 1 and 6.

    \b
    Examples:
      preflights check
      preflights check --base origin/main --report json=check.json
      preflights check --staged
      preflights check --base origin/main --require-signed
    """
    if bool(files) + staged + (base is not None) > 1:
        raise click.UsageError("--base, --staged and files exclude each other: give one")
    if files and require_signed:
        raise click.UsageError("--require-signed is about a change: leave the files out")
    wanted = reports_of(reports, FORMATS, "json=check.json")
    check_reports(wanted, replacing=replaces, is_json=voice.as_json)
    found = check_change(
        app,
        base=base or "",
        staged=staged,
        files=files,
        require_signed=require_signed,
        cwd=Path.cwd(),
        drawn=bar(voice, "Checking"),
    )
    if wanted:
        write_report_files(lambda name: RENDER[name](found), wanted, replacing=replaces)
    voice.json(found)
    if all(file != "-" for _, file in wanted) and not voice.as_json:
        _say_check_findings(voice, found)
    return found.code


NEWS: Final = ("decision-changed", "note")
"""Of a decision that the change only adds: nothing has to be replaced."""


def _say_check_findings(voice: Voice, found: Checked) -> None:
    for text in found.left_out:
        voice.warn(f"not checked: {text}")
    for one in found.findings:
        line = f":{one.line}" if one.line else ""
        place = f"{one.file}{line}: " if one.file else ""
        voice.say(f"{place}{one.level}: {escaped_text(one.message)} [{one.rule}]")
    if found.changed or found.findings or not found.left_out:
        voice.say(summed(found))
    if any(one.decision and (one.rule, one.level) != NEWS for one in found.findings):
        voice.hint("`preflights start INTENTION --supersedes DECISION` begins what replaces one.")


TITLE: Final = "preflights check"
Kind = Literal["error", "warning", "notice"]
KINDS: Final[tuple[Kind, ...]] = ("error", "warning", "notice")
KIND_MAX: Final = 10  # annotations of a kind that GitHub shows of one step; of a job, 50
_DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def summed(found: Checked) -> str:
    """`3 changed files: 1 error, 2 notes.`"""
    words = ("error", "warning", "note")
    counts = [(sum(one.level == word for one in found.findings), word) for word in words]
    said = ", ".join(count_in_words(count, word) for count, word in counts if count)
    return f"{count_in_words(found.changed, 'changed file')}: {said or 'nothing to say'}."


def github_annotations(found: Checked) -> str:
    """At most ten lines of each kind; where there is more, the last one says how much."""
    lines: dict[Kind, list[str]] = {kind: [] for kind in KINDS}
    for text in found.left_out:
        lines["warning"].append(_annotation("warning", text, title=TITLE))
    for one in found.findings:
        kind: Kind = "notice" if one.level == "note" else one.level
        place = {"file": one.file} if one.file else {}
        place |= {"line": str(one.line)} if one.line else {}
        lines[kind].append(_annotation(kind, one.message, **place, title=f"{TITLE}: {one.rule}"))
    return "".join(f"{line}\n" for kind in KINDS for line in _limited(kind, lines[kind]))


def _annotation(kind: Kind, message: str, **properties: str) -> str:
    """One line: what text holds ends no line and no property.

    Source: escapeData and escapeProperty of the toolkit of GitHub Actions.
    """
    known = {key: escaped_text(text).translate(_PROPERTY) for key, text in properties.items()}
    said = ",".join(f"{key}={text}" for key, text in known.items())
    text = "\n".join(map(escaped_text, message.split("\n")))
    return f"::{kind} {said}::{text.translate(_DATA)}"


def _limited(kind: Kind, lines: list[str]) -> list[str]:
    """As many as the host shows; where there are more, the last line says how many."""
    if len(lines) <= KIND_MAX:
        return lines
    more = count_in_words(len(lines) - KIND_MAX + 1, "more finding")
    said = f"{more} not shown here: the report has them."
    return [*lines[: KIND_MAX - 1], _annotation(kind, said, title=TITLE)]


RENDER: Final[dict[str, Callable[[Checked], str]]] = {
    "json": lambda found: canonical_json(found).decode() + "\n",
    "annotations": github_annotations,
}
"""The forms that `--report` names."""
