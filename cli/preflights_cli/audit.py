"""`audit verify` and `audit checkpoint`: whether the log is what was recorded.

`audit trail` has a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec.structs import replace

from preflights_cli.advice import advised
from preflights_cli.common import Voice, given, reading
from preflights_cli.consent import what, who
from preflights_cli.dates import minute
from preflights_cli.main import EXIT_DAMAGED
from preflights_cli.progress import bar_over, counted
from preflights_cli.trail import trail_command
from preflights_es.archive import verification
from preflights_es.archive.side_tables import Beside
from preflights_es.archive.verification import (
    Broken,
    Compared,
    Comparison,
    Difference,
    Grown,
    Unwritten,
    Verified,
)
from preflights_es.core.errors import LogDamaged, Refused
from preflights_es.core.ids import short
from preflights_es.core.ports import Head
from preflights_es.core.text import shown
from preflights_es.core.times import iso
from preflights_es.projections.verification import Astray, Holding
from preflights_es.services.request import Request
from preflights_es.store import checkpoint
from preflights_es.store.checkpoint import Checkpoint
from preflights_es.store.side_tables import SqlAuditing
from preflights_es.system.bounded_read import Unreadable, regular
from preflights_es.system.output_file import new_file

UNWRITTEN_MAX: Final = 20  # documents that are named one by one
GREW_MAX: Final = 20  # sessions that grew and are named one by one
INPUTS_MAX: Final = 10  # Inputs that are named of each


@click.group()
def audit_command() -> None:
    """Verify the log, and show who did what.

    \b
    Examples:
      preflights audit trail --decision last
      preflights audit verify
      preflights audit checkpoint -o checkpoint.jsonl
      preflights audit verify --against checkpoint.jsonl
    """


audit_command.add_command(trail_command)


# 1. Verifying --------------------------------------------------------------------------------


@audit_command.command("verify", short_help="Verify every hash chain, and report damage.")
@click.argument("session", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Include every project in this log.")
@click.option(
    "--against", metavar="FILE", callback=given, help="Also compare with this checkpoint."
)
@reading
def verify_command(
    session: tuple[str, ...], everything: bool, against: str | None, app: Request, voice: Voice
) -> int:
    """Verify the hash chains of this project's sessions, or of the named ones.

    The command reports the first event that does not fit, and rows of projections that differ from
    their session. With --against it also reports sessions that are missing, were cut, or have a
    recomputed chain. The exit code is 4 if it reports damage.

    \b
    Examples:
      preflights audit verify
      preflights audit verify last 3f9a12c4
      preflights audit verify --all --json
      preflights audit verify --against checkpoint.jsonl
    """
    if session and (everything or against):
        message = "--all and --against check every session: leave the session names out"
        raise click.UsageError(message)
    remembered = _read(against) if against else None
    comparison = Comparison(remembered) if remembered else None
    project = remembered.project if remembered else app.process.project
    if against and project not in (None, app.process.project):
        voice.warn(
            f"{against} is a checkpoint of the project {project!r}, and this folder belongs to "
            f"{app.process.project!r}: it is compared with that project"
        )
    heads = _named(app, session) if session else _heads(app, None if everything else project)
    with bar_over(heads, voice, "Verifying") as looked_at:
        holding, beside = app.process.holding(), app.process.beside()
        found = verification.walked(app.process.store, looked_at, comparison, holding, beside.look)
    ours = project or app.process.project
    broken = (verification.told_if_moved(app.process.store, one, ours) for one in found.broken)
    found = replace(found, broken=tuple(broken))
    skipped = ["all other sessions"] if session else []
    if not session:
        scope = None if everything else project
        known = {head.session_id for head in heads}
        strays = (one for one in holding.strays(scope) if one.session_id not in known)
        projections = (*found.projections, *strays)
        found = replace(found, projections=projections, broken=_all(app, beside, found, scope))
        if others := app.process.store.counts()["sessions"] - len(heads):
            skipped.append(f"{counted(others, 'session')} of other projects (--all)")
    skipped += _passed_over(holding)
    found = replace(found, skipped=tuple(skipped), unwritten=tuple(beside.unwritten))
    compared = comparison.result() if comparison else None
    if remembered and (other := _renamed(app, remembered)):
        found = replace(found, broken=(*found.broken, other))
    found = replace(found, broken=tuple(map(_advised, found.broken)))
    voice.json(
        {
            "format": "audit-verify/1",
            **msgspec.to_builtins(found),
            "against": msgspec.to_builtins(compared),
        }
    )
    for one in found.broken:
        voice.say(_broken(one))
    voice.say(_summary(found))
    _say_projections(voice, found.projections)
    _say_unwritten(voice, found.unwritten)
    if found.skipped:
        voice.say(f"Not looked at: {'; '.join(found.skipped)}.")
    if compared and against:
        _say_compared(voice, compared, against)
    differs = found.broken or found.projections or (compared and compared.differences)
    return EXIT_DAMAGED if differs else 0


def _all(app: Request, beside: Beside, found: Verified, project: str | None) -> tuple[Broken, ...]:
    """Adds rows of missing sessions, and rows without a session."""
    broken = list(found.broken)
    headless = verification.headless(app.process.store) if project is None else ()
    for more in (headless, beside.gone(project), beside.rest(project)):
        said = {one.session_id for one in broken if one.session_id}
        broken += [one for one in more if one.session_id not in said]
    return (*broken, *verification.unnamed(app.process.log_id))


def _renamed(app: Request, remembered: Checkpoint) -> Broken | None:
    """Says that the log's name differs from the checkpoint's."""
    try:
        now = app.process.log_id()
    except LogDamaged:
        return None  # it is named already
    if remembered.log in ("", now):
        return None
    found = (
        f"its id is {now!r}, and the checkpoint was made of {remembered.log!r}: this is another "
        "log, or its id was changed and keys (`--key`) are recorded again: restore the table 'log' "
        "from a copy, or name a new file for this log's checkpoint"
    )
    return Broken("", 0, found)


def _heads(app: Request, project: str | None) -> Sequence[Head]:
    """All of a project (of the log: None), and those whose head alone names another one."""
    heads = app.process.store.heads(project)
    if project is None:
        return heads
    moved = SqlAuditing(app.process.store).moved(project)
    return (*heads, *app.process.store.heads_of(moved).values()) if moved else heads


def _named(app: Request, typed: Sequence[str]) -> Sequence[Head]:
    heads = (app.process.store.head(app.sessions.resolved(one)) for one in typed)
    return [head for head in heads if head is not None]


def _passed_over(holding: Holding) -> Iterator[str]:
    if holding.unread:
        them = f"{counted(holding.unread, 'session')} that cannot be folded"
        yield f"what follows from {them} (see `preflights sessions --all`)"
    if holding.unknown:
        them = f"{counted(holding.unknown, 'session')} of a workflow that is not known here"
        yield f"what follows from {them} (see `preflights sessions --status unknown`)"


def _advised(broken: Broken) -> Broken:
    return replace(broken, found=advised(broken.found, broken.code, {}))


def _broken(broken: Broken) -> str:
    event = f", event {broken.version}" if broken.version else ""
    where = shown(short(broken.session_id)) if broken.session_id else "the log"
    return f"{where}{event}: {shown(broken.found)}"


def _summary(found: Verified) -> str:
    if not found.sessions and not found.broken:
        return "0 sessions: nothing was verified, since nothing is recorded here."
    erased = f" ({found.erased} erased)" if found.erased else ""
    broken = len(found.broken)
    trouble = f"{broken} broken" if broken else "every chain holds"
    sessions, events = counted(found.sessions, "session"), counted(found.events, "event")
    return f"{sessions}{erased}, {events}: {trouble}."


def _say_projections(voice: Voice, astray: Sequence[Astray]) -> None:
    for one in astray:
        of = f"{short(one.session_id)}: " if one.session_id else ""
        voice.say(f"{of}the projection {one.projection!r}: {shown(one.found)}")
    if astray:
        names = " ".join(sorted({one.projection for one in astray}))
        voice.say(
            "They differ from the log: rebuild them with "
            f"`preflights admin projections rebuild {names}`."
        )


def _say_unwritten(voice: Voice, unwritten: Sequence[Unwritten]) -> None:
    for one in unwritten[:UNWRITTEN_MAX]:
        id_ = short(one.session_id)
        voice.say(
            f"{id_}: {shown(one.path)} came with an import and was not written here: "
            f"`preflights resume {id_}` writes it"
        )
    if more := max(len(unwritten) - UNWRITTEN_MAX, 0):
        voice.say(f"and {counted(more, 'more document')}; --json has all of them")


def _say_compared(voice: Voice, compared: Compared, file: str) -> None:
    for difference in compared.differences:
        voice.say(f"{short(difference.session_id)} {_differs(difference)}")
    _say_grown(voice, compared.grew)
    for session_id in compared.erased:
        voice.say(f"{short(session_id)} was erased since; its chain is what it was")
    numbers = ", ".join(
        f"{number:,} {what}"
        for number, what in (
            (compared.same, "as they were"),
            (compared.grown, "grown"),
            (compared.new, "new"),
            (len(compared.differences), "not what they were"),
        )
        if number
    )
    sessions = counted(compared.sessions, "session")
    voice.say(f"Against {shown(file)} ({sessions}): {numbers or 'nothing is there'}.")


def _say_grown(voice: Voice, grew: Sequence[Grown]) -> None:
    for grown in grew[:GREW_MAX]:
        events = counted(len(grown.events), "event")
        voice.say(f"{short(grown.session_id)} grew by {events} since version {grown.remembered}:")
        inputs = [one for one in grown.events if one.actor_kind is not None]
        for one in inputs[:INPUTS_MAX]:
            by = who(one.actor_kind or "", one.actor_name or "")
            voice.say(
                f"  event {one.version}, {minute(iso(one.recorded_at))}: {what(one.type)} by {by}"
            )
        if more := max(len(inputs) - INPUTS_MAX, 0):
            voice.say(f"  and {counted(more, 'more Input')}")
    if more := max(len(grew) - GREW_MAX, 0):
        voice.say(f"and {counted(more, 'other session')} grew; --json has all of them")


def _differs(found: Difference) -> str:
    match found.kind:
        case "missing":
            return f"is missing: the checkpoint has it at version {found.remembered}"
        case "cut":
            then, now = found.remembered, found.version
            return f"was cut: the checkpoint has it at version {then}, {now} are left"
        case _:
            return f"was recomputed: event {found.remembered} has another hash than it had"


# 2. Checkpoints ------------------------------------------------------------------------------


@audit_command.command(
    "checkpoint", short_help="Write the version and hash of every session to a file."
)
@click.option(
    "-o", "--output", metavar="FILE", callback=given, help="Write to this new file; - is stdout."
)
@click.option("--all", "everything", is_flag=True, help="Include every project in this log.")
@click.option("--force", is_flag=True, help="Replace an older checkpoint, if the log still fits.")
@reading
def checkpoint_command(
    output: str | None, everything: bool, force: bool, app: Request, voice: Voice
) -> int:
    """Write the version and hash of every session to a file, after verifying all chains.

    Keep the file where the log's writers cannot write: commit it, sign it. `audit verify --against`
    then finds sessions that were removed, cut or recomputed.

    \b
    Examples:
      preflights audit checkpoint -o checkpoint.jsonl
      preflights audit checkpoint -o checkpoint.jsonl --force
      preflights audit checkpoint --all > /mnt/elsewhere/checkpoint.jsonl
    """
    project = None if everything else app.process.project
    to_stdout = output in (None, "-")
    replacing = not to_stdout and force and Path(str(output)).exists()
    if replacing:
        _check_older(app, str(output), project)
    heads = app.process.store.heads(project)
    with bar_over(heads, voice, "Verifying") as looked_at:
        made = verification.remembered(app.process.store, project, looked_at, app.process.log_id())
    content = checkpoint.content(made)
    if to_stdout:
        voice.lines(content)
        return 0
    with new_file(str(output), replacing=replacing) as made_file:
        made_file.write(content)
    voice.json(
        {
            "format": "audit-checkpoint/1",
            "project": project,
            "sessions": len(made.tips),
            "root": made.root,
            "file": output,
        }
    )
    sessions = counted(len(made.tips), "session")
    voice.say(f"Wrote {sessions} to {shown(str(output))}, root {made.root}.")
    return 0


def _check_older(app: Request, file: str, project: str | None) -> None:
    """A checkpoint gives way to a newer one only where the log still bears it out.

    Raises:
        Refused: the file is not a checkpoint, or of another scope.
        LogDamaged: a session is not what it remembers.
    """
    try:
        older = _read(file)
    except LogDamaged as error:
        raise Refused(f"{file} is no checkpoint ({error.found}): name a new file") from error
    if older.project != project:
        scope = "all of the log" if older.project is None else f"the project {older.project!r}"
        raise Refused(f"{file} is a checkpoint of {scope}: name a new file")
    if other := _renamed(app, older):
        raise LogDamaged("the log", 0, f"{other.found}; {file} was not replaced")
    comparison = Comparison(older)
    verification.walked(app.process.store, app.process.store.heads(project), comparison)
    for difference in comparison.result().differences[:1]:
        found = _differs(difference)
        raise LogDamaged(f"session {difference.session_id}", 0, f"{found}; {file} was not replaced")


def _read(file: str) -> Checkpoint:
    """A checkpoint from a file.

    Raises:
        Refused: it cannot be read, or is too large.
        LogDamaged, LogFromFuture: it is no checkpoint of this version.
    """
    try:
        raw = regular(Path(file), checkpoint.FILE_MAX)
    except (Unreadable, OSError) as error:
        raise Refused(f"{file} cannot be read: {getattr(error, 'strerror', error)}") from error
    return checkpoint.read(raw, file)
