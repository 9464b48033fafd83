"""The compiler on the command line: `plan`, `artifacts`, `approve`, `reject` and `lock`, and how a
pass and its artifact are shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from posixpath import basename
from shlex import quote
from typing import Any, Final

import click
import msgspec

from preflights_cli import EXIT_REFUSED, dialogue
from preflights_cli.commands import Lazy
from preflights_cli.common import (
    Voice,
    by_option,
    creating_command,
    current_folder,
    is_terminal,
    key_option,
    reading_command,
    require_quoted_text,
    sign_option,
    tell_behind,
    text_option,
    with_lead_options,
    writing_command,
)
from preflights_cli.rendering import Shown, say_session_result
from preflights_cli.table import streamed
from preflights_es.features.compiler import passes
from preflights_es.features.compiler.artifacts import (
    ArtifactRow,
    approve,
    artifact,
    artifacts,
    lock_tests,
    reject,
)
from preflights_es.features.compiler.domain.events import PASSES, PassName
from preflights_es.features.compiler.domain.state import REPORT, PlanView, ShownPlan
from preflights_es.kernel.ids import SHORT, short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import count_in_words, escaped_text, one_line, shortened
from preflights_es.use.request import Request
from preflights_es.words.workflow import View


@click.command(cls=Lazy, under="plan")
def plan_command() -> None:
    """Make structured plans from documents, pass by pass.

    A model answers one artifact. You approve it; the next pass reads only what is approved. Without
    a model (--provider mock, the default) a pass gives the smallest artifact that meets its schema.

    \b
    Examples:
      preflights init --plans
      preflights plan project
      preflights plan architecture --use docs/adr/0001-log.md
      preflights plan impl src/billing.py --provider anthropic
    """


Command = Callable[..., int]

_OPTIONS: Final[tuple[Callable[[Command], Command], ...]] = (
    click.option(
        "--use", multiple=True, metavar="ID|FILE", help="Also read an artifact or a document."
    ),
    click.option("--no-input", is_flag=True, help="Stop at a question with exit code 3."),
    key_option,
    with_lead_options,
    creating_command,
)


def _passing(command: Command) -> Command:
    """The options of every pass."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_passing
def project_command(app: Request, voice: Voice, **options: Any) -> int:
    """Plan domains and modules from the requirements, the constraints and the glossary.

    `preflights init --plans` writes starters of these documents.

    \b
    Examples:
      preflights plan project --provider anthropic
      preflights plan project --use docs/interviews.md
    """
    return _run_pass_command(app, voice, "project", **options)


@click.command()
@_passing
def architecture_command(app: Request, voice: Voice, **options: Any) -> int:
    """Plan layers and rules from the constraints and the approved ProjectPlan.

    \b
    Examples:
      preflights plan architecture
      preflights plan architecture --provider openai --json
    """
    return _run_pass_command(app, voice, "architecture", **options)


@click.command()
@_passing
def scaffold_command(app: Request, voice: Voice, **options: Any) -> int:
    """Plan the files from the approved ProjectPlan and ArchitecturePlan.

    \b
    Examples:
      preflights plan scaffold
      preflights plan scaffold --json
    """
    return _run_pass_command(app, voice, "scaffold", **options)


@click.command()
@_passing
def tests_command(app: Request, voice: Voice, **options: Any) -> int:
    """Plan the tests from the requirements and the approved plans so far.

    \b
    Examples:
      preflights plan tests
      preflights plan tests --provider anthropic
    """
    return _run_pass_command(app, voice, "test", **options)


@click.command()
@click.argument("file")
@_passing
def impl_command(app: Request, voice: Voice, file: str, **options: Any) -> int:
    """Plan the implementation of one file, from the approved TestPlan and ScaffoldPlan.

    FILE is the only source file that is read. It may be missing where the ScaffoldPlan names it.

    \b
    Examples:
      preflights plan impl src/billing.py
      preflights plan impl src/billing.py --json
    """
    root = app.process.settings.root
    return _run_pass_command(app, voice, "implementation", target=_from_root(root, file), **options)


@click.command()
@click.argument("goal", nargs=-1, required=True, callback=require_quoted_text)
@_passing
def refactor_command(app: Request, voice: Voice, goal: str, **options: Any) -> int:
    """Plan a refactoring, from the approved ArchitecturePlan and the locked TestPlan.

    \b
    Examples:
      preflights plan refactor "Move src/billing.py to src/domain/billing.py"
    """
    return _run_pass_command(app, voice, "refactor", goal=goal, **options)


def _run_pass_command(
    app: Request,
    voice: Voice,
    name: PassName,
    *,
    use: Sequence[str],
    no_input: bool,
    target: str = "",
    goal: str = "",
) -> int:
    """Run a pass."""
    root = app.process.settings.root
    use = [_from_root(root, one) if os.path.lexists(one) else one for one in use]
    found = passes.run_pass(app, passes.WantedPass(name, target, goal, use))
    if is_terminal() and not (voice.as_json or no_input):
        return dialogue.run_dialogue(app, voice, found)
    return say_session_result(voice, found)


def _from_root(root: os.PathLike[str], typed: str) -> str:
    """A path that was typed in the current folder, as the project's root has it."""
    if not typed.strip() or "\0" in typed:
        return typed
    return os.path.relpath(os.path.join(current_folder(), typed), root)


SUBJECT_MAX = 40  # characters of a target or a goal in the list


class _ArtifactsGroup(Lazy):
    """`artifacts` alone, or with options, lists them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_list = not args or (args[0].startswith("-") and args[0] not in ("-h", "--help"))
        if is_list and not ctx.resilient_parsing:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.command(cls=_ArtifactsGroup, under="artifacts")
def artifacts_command() -> None:
    """List artifacts and their standing, or show one.

    `preflights artifacts` lists them (see `preflights artifacts list --help`).

    \b
    Examples:
      preflights artifacts
      preflights artifacts --all --json
      preflights artifacts show 3f9a12c4
    """


@click.command()
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also superseded and rejected ones, and failure reports.",
)
@reading_command
def list_command(everything: bool, app: Request, voice: Voice) -> int:
    """List the artifacts that can be approved or are in force, the oldest first.

    The last column shows what each was made from: documents, with the first digits of their
    SHA-256, and other artifacts, by their ids.

    \b
    Examples:
      preflights artifacts
      preflights artifacts list --all
      preflights artifacts --json
    """
    app.finish_pending()
    found = artifacts(app, everything=everything)
    tell_behind(app, voice)
    for path in found.head.strays:
        voice.warn(f"{path} counts for nothing: no session says that it was approved")
    voice.listed(found.head, "artifacts", found.rows)
    if voice.as_json:
        return 0
    names = ("artifact", "id", "standing", "session", "made from")
    if not streamed(names, map(_cells, found.rows)):
        voice.say("There are no artifacts." if not found.ended else "No artifact is in force.")
    if found.ended:
        voice.hint(f"{count_in_words(found.ended, 'artifact')} ended: preflights artifacts --all")
    return 0


def _cells(one: ArtifactRow) -> tuple[str, ...]:
    subject = f" of {shortened(one_line(one.subject), SUBJECT_MAX)}" if one.subject else ""
    session = f"{short_session(one.session_id)}{' (file)' if one.file else ''}"
    documents = (f"{basename(file.path)} {file.sha256[:SHORT]}" for file in one.documents)
    read = ", ".join((*documents, *(id_[:SHORT] for id_ in one.depends_on)))
    what, stands = f"{one.type}{subject}", _format_artifact_standing(one)
    return what, one.id[:SHORT], stands, session, read


def _format_artifact_standing(one: ArtifactRow) -> str:
    """Where it stands, what took its place, and whether its file is as it was written."""
    by = f" by {one.superseded_by[:SHORT]}" if one.superseded_by else ""
    lies = f", file {one.artifact_state}" if one.artifact_state in ("edited", "missing") else ""
    return f"{one.standing}{by}{lies}"


@click.command()
@click.argument("id_", metavar="ID")
@reading_command
def show_command(id_: str, app: Request, voice: Voice) -> int:
    """Show an artifact, or a FailureReport: its standing, then its JSON.

    ID is the artifact's id, at least four characters of its beginning, or `last`, the newest.

    \b
    Examples:
      preflights artifacts show 3f9a12c4
      preflights artifacts show 3f9a12c4 --json
    """
    app.finish_pending()
    found = artifact(app, id_)
    voice.json(found)
    row = found.row
    voice.say(voice.bold(escaped_text(f"{row.type} {row.id}")))
    voice.say(f"  {_format_artifact_standing(row)}, session {short_session(row.session_id)}")
    if row.reason:
        voice.say(f"  because: {escaped_text(one_line(row.reason))}")
    if row.artifact:
        voice.say(f"  file {escaped_text(row.artifact)}")
    for file in row.documents:
        voice.say(f"  made from {escaped_text(file.path)}, sha256 {file.sha256}")
    for line in msgspec.json.format(canonical_json(found.envelope), indent=2).decode().splitlines():
        voice.say(escaped_text(line))
    return 0


@click.command()
@click.argument("id_", metavar="ID")
@by_option
@sign_option
@click.option(
    "--expect", type=int, metavar="VERSION", help="Refuse if its session is not at this version."
)
@key_option
@writing_command
def approve_command(
    id_: str, by: str | None, expect: int | None, app: Request, voice: Voice
) -> int:
    """Approve an artifact: the next passes read it, and its file is written.

    It supersedes the approved artifact of the same type. An ImplementationPlan supersedes only the
    one of the same target, a RefactorPlan the one of the same goal.

    ID is the artifact's id, at least four characters of its beginning, the id of its session, or
    `last`, the newest.

    Without a terminal and without --by a script approves: the artifact is proposed until a person
    approves it.

    \b
    Examples:
      preflights approve 3f9a12c4
      preflights approve 3f9a12c4 --by "Ada Lovelace" --expect 4
    """
    return say_session_result(voice, approve(app, id_, by=by, expect=expect))


@click.command()
@click.argument("id_", metavar="ID")
@text_option("--reason", required=True, metavar="TEXT", help="Why.")
@by_option
@sign_option
@key_option
@writing_command
def reject_command(id_: str, reason: str, by: str | None, app: Request, voice: Voice) -> int:
    """Reject an artifact that is not approved; it stays in the log with the reason.

    \b
    Examples:
      preflights reject 3f9a12c4 --reason "Billing is no domain of its own"
      preflights reject 3f9a12c4 --reason "Too many layers" --by "Ada Lovelace"
    """
    found = reject(app, id_, reason, by=by)
    say_session_result(voice, found)
    return EXIT_REFUSED if found.not_done else 0


@click.command(cls=Lazy, under="lock")
def lock_command() -> None:
    """Lock the approved TestPlan.

    \b
    Examples:
      preflights lock tests
    """


@click.command()
@click.argument("id_", metavar="[ID]", required=False)
@by_option
@key_option
@writing_command
def lock_tests_command(id_: str | None, by: str | None, app: Request, voice: Voice) -> int:
    """Lock the approved TestPlan: `plan refactor` reads it. The new lock replaces the former one.

    Without ID it locks the one that is approved.

    \b
    Examples:
      preflights lock tests
      preflights lock tests 3f9a12c4 --by "Ada Lovelace"
    """
    return say_session_result(voice, lock_tests(app, id_, by=by))


LINES_MAX: Final = 60  # of a payload; the rest with `artifacts show`
WIDTH_MAX: Final = 2_000  # characters of a line of it; a model may write megabytes into one
VIOLATIONS_MAX: Final = 10
TO_DO: Final = {
    "human_input_required": "Say in the documents what is missing, then: {plan}",
    "fix_and_retry": "Change what the pass reads, then: {plan}",
    "retry": "Ask the model again: {plan}",
    "retry_after_delay": "Wait a little, then: {plan}",
    "abort": "The response is not used. Run the pass again: {plan} --model ANOTHER",
    "truncated": "The response was cut off at `max_tokens`: raise it in the settings, then: {plan}",
}
"""What to do after a failure, by `recovery_action`, or by the kind of one."""
NEXT: Final = {
    "ProjectPlan": "preflights plan architecture",
    "ArchitecturePlan": "preflights plan scaffold",
    "ScaffoldPlan": "preflights plan tests",
    "TestPlan": "preflights lock tests, and preflights plan impl FILE",
    "locked": "preflights plan impl FILE, and preflights plan refactor GOAL",
}
"""What comes after the approval of an artifact of a type, or the locking of one."""
_NO_MODEL: Final = "no model wrote it: the smallest artifact that meets its schema"


def as_plan_view(session: View) -> PlanView:
    """A session as a pass."""
    assert isinstance(session, PlanView), "the caller checked the workflow"
    return session


def describe_pass(voice: Voice, session: View) -> None:
    """A pass in a few lines, and its artifact."""
    found = as_plan_view(session)
    stands = session.status.replace("_", " ")
    voice.say(voice.bold(escaped_text(one_line(found.intention))))
    voice.say(f"  session {short_session(found.session_id)}, {stands}")
    one = found.artifact
    if one is None:
        return
    if session.status == "needs_answers":
        voice.say(f"  no artifact yet: the model needs to know more (report {one.id})")
        return
    if one.type == REPORT:
        _say_report(voice, one, "" if session.status == "waiting" else _again(found))
        return
    author = f", {_NO_MODEL}" if one.created_by == "system" else ""
    voice.say(f"  artifact {one.id}, {one.standing}{author}")
    if found.signature:
        voice.say(f"  {escaped_text(str(found.signature))}")
    if found.document:
        voice.say(f"  written to {escaped_text(found.document)}")
    if found.superseded_by:
        voice.say(f"  superseded by {found.superseded_by}")
    if found.reason:
        voice.say(f"  because: {escaped_text(one_line(found.reason))}")
    if session.to_do:  # what a person is about to approve
        _say_payload(voice, one)


def _say_payload(voice: Voice, one: ShownPlan) -> None:
    """The payload as JSON of many lines."""
    most = LINES_MAX
    lines = msgspec.json.format(canonical_json(one.payload), indent=2).decode().splitlines()
    for line in lines[:most]:
        voice.say(f"  {escaped_text(shortened(line, WIDTH_MAX))}")
    more, cut = len(lines) - most, sum(len(line) > WIDTH_MAX for line in lines[:most])
    rest = [f"{count_in_words(cut, 'line')} cut"] if cut else []
    rest += [f"{more:,} more lines"] if more > 0 else []
    if rest:
        voice.say(f"  ... {' and '.join(rest)}: preflights artifacts show {one.id}")


def _again(found: PlanView) -> str:
    """The command that runs a pass once more."""
    subject = found.target or found.goal
    command = PASSES[found.pass_type].command  # type: ignore[index]  # one of them
    return f"preflights plan {command}{f' {quote(subject)}' if subject else ''}"


def _say_report(voice: Voice, report: ShownPlan, again: str) -> None:
    """Why there is no artifact, and what a person can do.

    Args:
        again: the command that runs the pass once more; empty where it only waits.
    """
    said = _object(report.payload)  # a forged log may hold anything
    category = str(said.get("category", "")).replace("_", " ")
    voice.say(f"  no artifact: {escaped_text(category)} (report {report.id})")
    voice.say(f"  {escaped_text(one_line(str(said.get('summary', ''))))}")
    details = _object(said.get("details"))
    found = details.get("violations")
    found = found if isinstance(found, list) and len(found) > 1 else []  # the summary has one
    for one in found[:VIOLATIONS_MAX]:
        voice.say(f"    {escaped_text(one_line(' '.join(map(str, _object(one).values()))))}")
    if (more := len(found) - VIOLATIONS_MAX) > 0:
        voice.say(f"    and {more:,} more")
    advice = TO_DO.get(str(details.get("kind")), TO_DO.get(str(said.get("recovery_action"))))
    if again and advice:
        voice.say(f"  {escaped_text(advice.format(plan=again))}")


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def pass_hint(session: View) -> str:
    """What may come next."""
    found, id_ = as_plan_view(session), short_session(session.session_id)
    one = found.artifact
    if one is None:
        return ""
    following = NEXT.get("locked" if one.standing == "locked" else one.type)
    return {
        "ready": f"Approve it with: preflights approve {one.id[:8]}",
        "proposed": f"A person approves it with: preflights approve {one.id[:8]}",
        "accepted": f"Show it with: preflights artifacts show {one.id[:8]}"
        + (f". Next: {following}" if following else ""),
        "stopped": f"See the response with: preflights log {id_}",
    }.get(session.status, "")


SHOWN: Final = Shown(describe=describe_pass, hint=pass_hint, accept="preflights approve {id}")
