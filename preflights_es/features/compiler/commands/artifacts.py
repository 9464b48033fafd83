"""`artifacts`: what the passes made, and where it stands."""

from __future__ import annotations

from posixpath import basename

import click
import msgspec

from preflights_cli.commands import Lazy
from preflights_cli.common import Voice, reading_command, tell_behind
from preflights_cli.progress import count_in_words
from preflights_cli.table import streamed
from preflights_es.features.compiler.use.artifacts import (
    ArtifactRow,
    artifact,
    artifacts,
)
from preflights_es.kernel.ids import SHORT, short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.use.request import Request

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
    session = (
        f"{short_session(one.session_id)} (file)" if one.file else short_session(one.session_id)
    )
    documents = (f"{basename(file.path)} {file.sha256[:SHORT]}" for file in one.documents)
    return (
        f"{one.type}{subject}",
        one.id[:SHORT],
        _format_artifact_standing(one),
        session,
        ", ".join((*documents, *(id_[:SHORT] for id_ in one.depends_on))),
    )


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
