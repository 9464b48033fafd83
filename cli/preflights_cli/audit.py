"""`audit verify`, `audit checkpoint` and `audit trail`: whether the log is what was recorded, and
every event of it as a table in words or as JSON Lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import click
from msgspec.structs import replace

from preflights_cli import EXIT_DAMAGED
from preflights_cli.advice import advised
from preflights_cli.common import Voice, bar, escaped, reading_command, text_option
from preflights_cli.decisions import who
from preflights_cli.names import SESSION
from preflights_cli.recordings import recorded_by
from preflights_cli.sessions import ERASED, GONE, UNREAD, indented
from preflights_cli.table import minute, refuse_backwards, streamed, time_range_options
from preflights_es.history.verification import Broken, CheckpointComparison, Grown, Unwritten
from preflights_es.kernel.events import Actor, Event, Evidence
from preflights_es.kernel.ids import iso, short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import count_in_words, escaped_text
from preflights_es.projections.event_sentences import event_values_in_words
from preflights_es.runtime.derived_rows import Astray
from preflights_es.use.archives import ImportedBy
from preflights_es.use.audit import (
    FilesAlone,
    Passed,
    SignatureCount,
    Verification,
    checkpoint,
    differs,
    read_checkpoint,
    verify,
)
from preflights_es.use.request import Request
from preflights_es.use.trail import DecodedStep, TrailStep, Trouble, trail
from preflights_es.words.event_names import event_in_words

IMPORTED_MAX: Final = 20  # imported sessions that are named

UNWRITTEN_MAX: Final = 20  # documents that are named one by one
GREW_MAX: Final = 20  # sessions that grew and are named one by one
INPUTS_MAX: Final = 10  # Inputs that are named of each
HEADINGS: Final = ("session", "", "UTC", "event", "by", "what")


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


# 1. Verifying --------------------------------------------------------------------------------


@audit_command.command("verify", short_help="Verify every hash chain, and report damage.")
@click.argument("session", type=SESSION, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Include every project in this log.")
@text_option("--against", metavar="FILE", help="Also compare with this checkpoint.")
@reading_command
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
    remembered = read_checkpoint(against) if against else None
    if remembered and remembered.project not in (None, app.process.project):
        voice.warn(
            f"{against} is a checkpoint of the project {remembered.project!r}, and this folder "
            f"belongs to {app.process.project!r}: it is compared with that project"
        )
    drawn = bar(voice, "Verifying")
    found, passed = verify(app, session, everything=everything, against=remembered, drawn=drawn)
    broken = (replace(one, found=advised(one.found, one.code, {})) for one in found.broken)
    skipped = tuple(_passed_over(passed, named=bool(session)))
    found = replace(found, broken=tuple(broken), skipped=skipped)
    voice.json(found)
    for one in found.broken:
        event = f", event {one.version}" if one.version else ""
        where = escaped_text(short_session(one.session_id)) if one.session_id else "the log"
        voice.say(f"{where}{event}: {escaped_text(one.found)}")
    voice.say(_summary(found))
    for line in _signatures(found.signatures) if found.signatures else ():
        voice.say(line)
    for line in _acceptances(found.files, found.broken) if found.files else ():
        voice.say(line)
    _say_projections(voice, found.projections)
    _say_unwritten(voice, found.unwritten)
    if found.skipped:
        voice.say(f"Not looked at: {'; '.join(found.skipped)}.")
    if found.against and against:
        _say_compared(voice, found.against, against)
    is_whole = not (found.files and found.files.damage)
    is_other = found.broken or found.projections or (found.against and found.against.differences)
    return EXIT_DAMAGED if is_other or not is_whole else 0


def _passed_over(passed: Passed, *, named: bool) -> Iterator[str]:
    if named:
        yield "all other sessions"
    if passed.others:
        yield f"{count_in_words(passed.others, 'session')} of other projects (--all)"
    if passed.unread:
        them = f"{count_in_words(passed.unread, 'session')} that cannot be folded"
        yield f"what follows from {them} (see `preflights sessions --all --all-workflows`)"
    if passed.unknown:
        them = f"{count_in_words(passed.unknown, 'session')} of a workflow that is not known here"
        yield f"what follows from {them} (see `preflights sessions --status unknown`)"
    for one in passed.unreadable:
        yield f"what follows from session {short_session(one.session_id)}: {escaped_text(str(one))}"
    yield from map(escaped_text, passed.files)
    yield from passed.projections


def _summary(found: Verification) -> str:
    if found.files:
        files = found.files
        # Of a clone without a log.
        trouble = f"{len(files.damage)} damaged" if files.damage else "every chain holds"
        sessions = count_in_words(files.sessions, "session file")
        return f"{sessions}, {count_in_words(files.events, 'event')}: {trouble}."
    if not found.sessions and not found.broken:
        return "0 sessions: nothing was verified, since nothing is recorded here."
    erased = f" ({found.erased} erased)" if found.erased else ""
    broken = len(found.broken)
    trouble = f"{broken} broken" if broken else "every chain holds"
    sessions = count_in_words(found.sessions, "session")
    events = count_in_words(found.events, "event")
    return f"{sessions}{erased}, {events}: {trouble}."


def _signatures(found: SignatureCount) -> Iterator[str]:
    """`12 acts are signed by 2 signers, 1 by a key that is not among your signers.`"""
    said = []
    if found.signed:
        are = "is" if found.signed == 1 else "are"
        by = count_in_words(len(found.signers), "signer")
        said.append(f"{count_in_words(found.signed, 'act')} {are} signed by {by}")
    if found.unknown:
        keys = "a key that is" if len(found.keys) == 1 else "keys that are"
        are = "is" if found.unknown == 1 else "are"
        acts = f"{count_in_words(found.unknown, 'act')} {are} signed"
        what = f"{found.unknown:,}" if said else acts
        said.append(f"{what} by {keys} not among your signers")
    if said:
        yield f"{', '.join(said)}."
    if found.unchecked:
        were = "was" if found.unchecked == 1 else "were"
        signatures = count_in_words(found.unchecked, "signature")
        yield f"{signatures} {were} not checked: {escaped_text(found.why)}."


def _acceptances(files: FilesAlone, broken: Sequence[Broken]) -> Iterator[str]:
    """What else is to be known of a clone without a log."""
    if unproved := sum(one.code == "signature_does_not_verify" for one in broken):
        do = "does" if unproved == 1 else "do"
        yield f"{count_in_words(unproved, 'signature')} {do} not verify."
    for hurt in files.damage:
        yield f"{escaped_text(hurt.file)}: {escaped_text(hurt.found)}"


def _say_projections(voice: Voice, astray: Sequence[Astray]) -> None:
    for one in astray:
        of = f"{short_session(one.session_id)}: " if one.session_id else ""
        voice.say(f"{of}the projection {one.projection!r}: {escaped_text(one.found)}")
    if astray:
        names = " ".join(sorted({one.projection for one in astray}))
        todo = f"rebuild them with `preflights admin projections rebuild {names}`."
        voice.say(f"They differ from the log: {todo}")


def _say_unwritten(voice: Voice, unwritten: Sequence[Unwritten]) -> None:
    for document in unwritten[:UNWRITTEN_MAX]:
        id_ = short_session(document.session_id)
        then = f"and was not written here: `preflights resume {id_}` writes it"
        voice.say(f"{id_}: {escaped_text(document.path)} came with an import {then}")
    if more := max(len(unwritten) - UNWRITTEN_MAX, 0):
        voice.say(f"and {count_in_words(more, 'more document')}; --json has all of them")


def _say_compared(voice: Voice, compared: CheckpointComparison, file: str) -> None:
    for difference in compared.differences:
        voice.say(f"{short_session(difference.session_id)} {differs(difference)}")
    _say_grown(voice, compared.grew)
    for session_id in compared.erased:
        voice.say(f"{short_session(session_id)} was erased since; its chain is what it was")
    counts = {"as they were": compared.same, "grown": compared.grown, "new": compared.new}
    counts["not what they were"] = len(compared.differences)
    numbers = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    sessions = count_in_words(compared.sessions, "session")
    voice.say(f"Against {escaped_text(file)} ({sessions}): {numbers or 'nothing is there'}.")


def _say_grown(voice: Voice, grew: Sequence[Grown]) -> None:
    for grown in grew[:GREW_MAX]:
        events = count_in_words(len(grown.events), "event")
        id_ = short_session(grown.session_id)
        voice.say(f"{id_} grew by {events} since version {grown.remembered}:")
        inputs = [one for one in grown.events if one.actor_kind is not None]
        for one in inputs[:INPUTS_MAX]:
            by = recorded_by(one.actor_kind or "", one.actor_name or "")
            recorded_minute = minute(iso(one.recorded_at))
            said = f"{escaped_text(event_in_words(one.type))} by {by}"
            voice.say(f"  event {one.version}, {recorded_minute}: {said}")
        if more := max(len(inputs) - INPUTS_MAX, 0):
            voice.say(f"  and {count_in_words(more, 'more Input')}")
    if more := max(len(grew) - GREW_MAX, 0):
        voice.say(f"and {count_in_words(more, 'other session')} grew; --json has all of them")


# 2. Checkpoints ------------------------------------------------------------------------------


@audit_command.command(
    "checkpoint", short_help="Write the version and hash of every session to a file."
)
@text_option("-o", "--output", metavar="FILE", help="Write to this new file; - is stdout.")
@click.option("--all", "everything", is_flag=True, help="Include every project in this log.")
@reading_command
def checkpoint_command(output: str | None, everything: bool, app: Request, voice: Voice) -> int:
    """Write the version and hash of every session to a file, after verifying all chains.

    Keep the file where the log's writers cannot write. `audit verify --against`
    then finds sessions that were removed, cut or recomputed.

    \b
    Examples:
      preflights audit checkpoint -o checkpoint.jsonl
      preflights audit checkpoint --all > /mnt/elsewhere/checkpoint.jsonl
    """
    file = None if output in (None, "-") else output
    drawn = bar(voice, "Verifying")
    made, content = checkpoint(app, file, everything=everything, drawn=drawn)
    if file is None:
        voice.lines(content)
        return 0
    voice.json(made)
    sessions = count_in_words(made.sessions, "session")
    voice.say(f"Wrote {sessions} to {escaped_text(file)}, root {made.root}.")
    return 0


# 3. The trail --------------------------------------------------------------------------------


@audit_command.command("trail", short_help="Show every step, as a table or JSON Lines.")
@text_option("--decision", metavar="UID", help="Only steps that led to this decision.")
@text_option("--session", metavar="ID", help="Only this session.")
@time_range_options("Steps")
@text_option(
    "--actor",
    metavar="WHO",
    help="Only steps of this kind of actor (user, agent, script, model) or of this name.",
)
@click.option("--any-project", is_flag=True, help="Include every project in this log.")
@reading_command
def trail_command(
    decision: str | None,
    session: str | None,
    since: int | None,
    until: int | None,
    actor: str | None,
    any_project: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Show every step that was recorded, with the actor behind it.

    The oldest session comes first. A provider's response is shown as the model's, never as a
    person's. Erased and damaged steps are marked as such.

    \b
    Examples:
      preflights audit trail --decision 4af671ebc321
      preflights audit trail --since 2026-11-01 --actor model
      preflights audit trail --session last --json
    """
    if decision is not None and session is not None:
        raise click.UsageError("--decision and --session exclude each other: leave one out")
    refuse_backwards(since, until)
    app.finish_pending()
    of = partial(trail, app, decision=decision, session=session, any_project=any_project)
    steps = of(
        since=since,
        until=until,
        actor=actor or "",
        tell=lambda one: voice.warn(_trail_trouble_in_words(one)),
    )
    if voice.as_json:
        for told in steps:
            voice.lines(escaped(canonical_json(told.step)) + b"\n")
    elif not _print_trail_table(voice, steps):
        is_filtered = any(of())
        voice.say("No step fits the filter." if is_filtered else "Nothing was recorded.")
    return 0


def _trail_trouble_in_words(trouble: Trouble) -> str:
    id_, why = short_session(trouble.session_id), trouble.why
    match trouble.kind:
        case "left_out":
            return f"session {id_} is left out: {why}"
        case "faulted":
            return f"session {id_} cannot be folded: {why}"
        case _:
            return why if trouble.session_id in why else f"session {id_}: {why}"


def _print_trail_table(voice: Voice, found: Iterable[DecodedStep]) -> bool:
    """Whether there was a step."""
    imported: dict[str, ImportedBy] = {}

    def row(one: DecodedStep) -> tuple[str, ...]:
        step = one.step
        if step.imported is not None and len(imported) < IMPORTED_MAX:
            imported[step.session_id] = step.imported
        return (
            short_session(step.session_id),
            str(step.version),
            step.recorded_at[:19].replace("T", " "),
            # In one word: a column of words would take the room of the time.
            indented(event_in_words(step.type), is_input=step.role == "input"),
            _step_actor_label(step, one.event),
            _step_in_words(one),
        )

    is_any = streamed(HEADINGS, map(row, found), whole=True)
    for session_id, one in imported.items():
        voice.say(escaped_text(f"(file) {short_session(session_id)}: {one.told}"))
    return is_any


def _step_actor_label(step: TrailStep, event: Event | None) -> str:
    """The actor behind an Input, and how an acceptance came; empty for a Decision."""
    if step.role == "decision":
        return ""
    if step.actor is None:
        return "?"
    if step.actor.kind == "model":
        provider = step.model.provider if step.model else ""
        return " ".join(word for word in ("model", provider, step.actor.name) if word)
    mark = " (file)" if step.imported else ""
    seen = getattr(event, "evidence", None)
    if isinstance(seen, Evidence) and seen.brought:
        mark += f" ({seen.brought})"
    return f"{who(Actor(step.actor.kind, step.actor.name))}{mark}"


def _step_in_words(told: DecodedStep) -> str:
    if told.event is not None:
        signature = told.step.signature
        values = event_values_in_words(told.event)
        return values + (f", {escaped_text(str(signature))}" if signature else "")
    if told.is_gone:
        return ERASED if told.step.erased else GONE
    return UNREAD
