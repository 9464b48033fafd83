"""`replay`, `admin export`, `admin import` and `sync`: recorded sessions decided again, written to
files, and taken from files. What an import changes of sessions that are held here is said first,
and asked about.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import click

from preflights_cli import EXIT_ENVIRONMENT, EXIT_REFUSED
from preflights_cli.common import (
    Voice,
    bar,
    count_in_words,
    creating_command,
    is_terminal,
    reading_command,
    require_option_value,
)
from preflights_cli.options import keyed, mode_of, parse_name_value_pairs
from preflights_cli.rendering import shown_of
from preflights_es.history.child import ABSENT_TEXT, Divergence
from preflights_es.history.imports import ActorInputs, Review, SessionChange
from preflights_es.history.replayer import Rerun
from preflights_es.history.transfer import Collision, TransferredSession
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import escaped_text, shortened
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.inputs import LAST
from preflights_es.use.archives import (
    ExportedPart,
    SessionFile,
    export,
    export_session_lines,
    imported,
)
from preflights_es.use.replays import Again, Replayed, replays, rerun
from preflights_es.use.request import Request
from preflights_es.use.results import Drawn
from preflights_es.use.sync import Synced, synced
from preflights_es.words.event_names import event_in_words

BAR_BYTES: Final = 16 * 1024 * 1024  # a smaller file is taken before a bar is drawn
SHOWN_MAX: Final = 20  # sessions of a file that are named one by one


@click.command()
@click.argument("session", required=False)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=require_option_value,
    help="Write to this new file; - is stdout.",
)
@click.option("--all", "everything", is_flag=True, help="Every session of this project.")
@click.option("--any-project", is_flag=True, help="Every session of every project in this log.")
@click.option("--workflow", default="", metavar="NAME", help="Every session of one workflow.")
@click.option("--judged", is_flag=True, help="Of calls: those of which a person judged something.")
@reading_command
def export_command(
    session: str | None,
    output: str | None,
    everything: bool,
    any_project: bool,
    workflow: str,
    judged: bool,
    app: Request,
    voice: Voice,
) -> int:
    """Write sessions as JSON Lines, one event a line; compressed where FILE ends with .gz.

    \b
    Examples:
      preflights admin export > session.jsonl
      preflights admin export 3f9a12c4 -o bug-report.jsonl
      preflights admin export --all -o project.jsonl.gz
      preflights admin export --workflow calls --judged -o regress/calls.jsonl
    """
    many = everything or any_project or bool(workflow) or judged
    if many and session is not None:
        message = "name a session, or give --all, --any-project, --workflow or --judged"
        raise click.UsageError(message)
    named = None if many else session or LAST
    part = ExportedPart(any_project=any_project, workflow=workflow, is_judged=judged)
    if output in (None, "-"):
        for content in export_session_lines(app, named, part):
            voice.lines(content)
        return 0
    drawn = bar(voice, "Exporting")
    made = export(app, str(output), named, part, drawn=drawn)
    voice.json(made)
    of = f" of {count_in_words(made.sessions, 'session')}" if many else ""
    voice.say(escaped_text(f"Wrote {count_in_words(made.events, 'event')}{of} to {output}."))
    return 0


@click.command()
@click.argument("file")
@click.option("--yes", is_flag=True, help="Continue sessions of this log without asking.")
@creating_command
def import_command(file: str, yes: bool, app: Request, voice: Voice) -> int:
    """Import the sessions of a file (- is stdin); every hash chain is verified first.

    A chain shows that no event was changed after it was hashed. `replay FILE` checks that the
    decisions follow from the Inputs. The import skips known sessions: you can import a file again,
    also after an interruption. The file may be compressed by gzip.

    If the file has more events of a session in this log, the command lists them and asks first;
    without a terminal it needs --yes. A session that the file erases stays here, and is named.

    \b
    Examples:
      preflights admin import session.jsonl
      preflights admin import project.jsonl.gz --yes
      preflights admin export last | preflights admin import - --db copy.db
    """
    told, consent = Telling(voice), Consent(voice, yes=yes)
    drawn = bar(voice, "Importing", least=2 * BAR_BYTES)
    source = session_file(file)
    made = imported(app, source, consent.agrees, told.tell, lists=voice.as_json, drawn=drawn)
    voice.json(made)
    if consent.refused:
        raise Refused(f"{consent.refused}; nothing was imported")
    if told.sessions > 1:
        voice.say(
            f"{count_in_words(told.sessions, 'session')}, {count_in_words(told.new, 'new event')}."
        )
    warn_twice(voice, made.collisions)
    return 0


def session_file(typed: str) -> SessionFile:
    """A file as it is typed: - is stdin."""
    if typed == "-":
        return SessionFile("the standard input", sys.stdin.buffer)
    return SessionFile(typed)


def warn_twice(voice: Voice, twice: Sequence[Collision]) -> None:
    for one in twice[:SHOWN_MAX]:
        ids = ", ".join(map(short_session, one.session_ids[:SHOWN_MAX]))
        voice.warn(f"the number {one.number:04d} of {one.project} is used twice now: {ids}")
    if more := len(twice) - SHOWN_MAX if len(twice) > SHOWN_MAX else 0:
        voice.warn(f"and so do {count_in_words(more, 'other number')}")
    if twice:
        voice.warn(
            "`preflights admin renumber` mends it where the records of both lie in the folder; "
            "`preflights admin render SESSION` writes one that does not"
        )


class Telling:
    """Says what came of the first sessions, and counts all."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self.sessions = 0
        self.new = 0

    def tell(self, one: TransferredSession) -> None:
        self.sessions += 1
        self.new += one.new
        if self.sessions > SHOWN_MAX:
            return
        what = count_in_words(one.new, "new event") if one.new else "nothing new"
        erased = ", erased" if one.erased else ""
        name, project = short_session(one.head.session_id), escaped_text(one.head.project)
        self._voice.say(f"{name} ({project}): {what}, version {one.head.version}{erased}")


@click.command()
@click.option("--yes", is_flag=True, help="Continue sessions of this log without asking.")
@creating_command
def sync_command(yes: bool, app: Request, voice: Voice) -> int:
    """Bring the log and the session files beside the records together.

    Sessions that only files have are imported, and files that are missing or behind are written.
    If a file goes on beyond the log, the command lists it and asks first; without a terminal it
    needs --yes. A session that a file erases is named, and stays. Where file and log differ, both
    stay: exit 1. An agent's sync imports nothing.

    \b
    Examples:
      preflights sync
      preflights sync --yes --json
    """
    app.process.documents.check_folders()
    app.finish_pending()
    consent = Consent(voice, yes=yes)
    told = Telling(voice)
    done = synced(app, consent.agrees, told.tell)
    voice.json(done)
    if consent.refused:
        raise Refused(f"{consent.refused}; nothing was imported")
    for text in FEATURES.port("edited_records")(app):
        voice.warn(text)
    _say_synced(app, voice, done)
    warn_twice(voice, done.collisions)
    return EXIT_REFUSED if done.apart else 0


def _say_synced(app: Request, voice: Voice, done: Synced) -> None:
    if done.written:
        voice.say(f"Wrote {count_in_words(len(done.written), 'session file')}.")
    for file in done.waiting:
        id_ = short_session(file.session_id)
        voice.say(escaped_text(f"{file.path} erases session {id_}: `preflights admin erase {id_}`"))
    for file in done.apart:
        voice.warn(file.told)
    if any(file.compared == "diverged" for file in done.apart):
        voice.hint("To keep the log's session, delete the file and run `preflights sync` again.")
    if not (done.sessions or done.written or done.waiting or done.apart):
        voice.say(f"The log and {escaped_text(app.process.session_folders.paths)} say the same.")


CHANGES_SHOWN_MAX: Final = 20  # sessions that are named one by one
SAID_SHOWN_MAX: Final = 5  # kinds of Inputs that are named of each
TITLE_MAX: Final = 60  # characters of a title


class Consent:
    """Whether sessions that are held here may change as a file wants it."""

    def __init__(self, voice: Voice, *, yes: bool) -> None:
        """Args:
        yes: whether the person has agreed to everything.
        """
        self._voice = voice
        self._yes = yes
        self.refused = ""
        """Why nothing may be taken, and what to do; empty where it may."""

    def agrees(self, review: Review) -> bool:
        """Whether everything may be taken; lists what changes where it was not said to be right."""
        for warning in review.warnings[:CHANGES_SHOWN_MAX]:
            self._voice.warn(warning)
        self.refused = self._trouble(review)
        return not self.refused

    def _trouble(self, review: Review) -> str:
        if not review.changes or self._yes:
            return ""
        self._list(review)
        sessions = count_in_words(len(review.changes), "session")
        if is_terminal() and not self._voice.as_json:
            done = click.confirm(f"Let {sessions} go on as listed?")
            return "" if done else "you did not agree"
        held = "that is held here" if len(review.changes) == 1 else "that are held here"
        return f"the file changes {sessions} {held}: read the list, then run this again with --yes"

    def _list(self, review: Review) -> None:
        for change in review.changes[:CHANGES_SHOWN_MAX]:
            title = escaped_text(shortened(change.title, TITLE_MAX))
            project = escaped_text(change.project)
            self._voice.say(f"{short_session(change.session_id)} ({project})  {title}")
            self._voice.say(f"  {_does(change)}: {_inputs_in_words(change.said)}")
        if more := max(len(review.changes) - CHANGES_SHOWN_MAX, 0):
            self._voice.say(f"and {count_in_words(more, 'other session')}")


def _does(change: SessionChange) -> str:
    events = count_in_words(change.new_events, "event")
    parts = [f"extends it by {events}"]
    if change.superseded_by is not None:
        parts.append(f"it is replaced by {escaped_text(short_session(change.superseded_by))}")
    elif change.status_before != change.status_after:
        before, after = (
            status.replace("_", " ") for status in (change.status_before, change.status_after)
        )
        parts.append(f"it was {before}, and becomes {after}")
    return ", ".join(parts)


def _inputs_in_words(said: tuple[ActorInputs, ...]) -> str:
    """`decision acknowledged by user Mallory, 2 answers given by agent claude`."""
    parts = [_input_in_words(one) for one in said[:SAID_SHOWN_MAX]]
    if len(said) > SAID_SHOWN_MAX:
        parts.append("and others")
    return ", ".join(parts) or "no Input"


def _input_in_words(one: ActorInputs) -> str:
    times = f" ({one.events:,} times)" if one.events > 1 else ""
    by = recorded_by(one.actor_kind, one.actor_name)
    return f"{escaped_text(event_in_words(one.type))} by {by}{times}"


def recorded_by(kind: str, name: str) -> str:
    """An actor as its events call it."""
    return escaped_text(f"{kind} {shortened(name, TITLE_MAX)}".strip())


VALUE_MAX: Final = 400  # characters of a value that differs


def say_divergence(voice: Voice, id_: str, divergence: Divergence) -> None:
    """The place, the reason and both values."""
    where = divergence.pointer or "the whole event"
    voice.say(
        f"{id_} differs at version {divergence.version}, {escaped_text(divergence.type)}, "
        f"{escaped_text(where)}"
    )
    if divergence.cause:
        voice.say(f"  cause:    {escaped_text(divergence.cause)}")
    voice.say(f"  recorded: {format_replay_value(divergence.recorded)}")
    voice.say(f"  computed: {format_replay_value(divergence.computed)}")


def format_replay_value(found: Any) -> str:
    """A JSON value on one line, for people."""
    text = found if found == ABSENT_TEXT else canonical_json(found).decode()
    return shortened(escaped_text(text), VALUE_MAX)


TITLES = {"drift": "drift", "simulate": "simulated", "whatif": "what if"}


def run_again(
    app: Request,
    voice: Voice,
    named: Sequence[str | SessionFile],
    mode: str,
    asked: Mapping[str, Any],
    *,
    everything: bool,
    drawn: Drawn,
) -> int:
    """Every session again, and what came of it."""
    again, out = _again(mode, asked), asked["out"]
    found = rerun(app, named, again, out=out, everything=everything, drawn=drawn)
    voice.json(found)
    for result in found.sessions:
        _say_again(voice, result, everything=everything)
    for result in found.sessions if out is not None else ():
        voice.say(
            escaped_text(f"Kept as session {short_session(str(result.child_session_id))} in {out}.")
        )
    return 0 if all(map(is_well, found.sessions)) else EXIT_REFUSED


def is_well(result: Rerun) -> bool:
    """Whether it came out as it should: a what-if when it ran to its end, the others identical."""
    if result.otherwise or result.mode == "whatif":
        return result.status in ("identical", "different")
    return result.status == "identical"


# 1. What changes -----------------------------------------------------------------------------


def _again(mode: str, asked: Mapping[str, Any]) -> Again:
    return Again(
        mode=cast("Any", mode),
        seed=asked["seed_"],
        faults=asked["faults_"],
        provider=asked["provider_"],
        model=asked["model_"],
        answers=keyed(asked["answered"]),
        prompts=parse_name_value_pairs("--prompt", asked["prompts"], "clarify=v2"),
        start=asked["start"] or "",
        live=asked["live"],
    )


# 2. Saying it --------------------------------------------------------------------------------


def _say_again(voice: Voice, result: Rerun, *, everything: bool) -> None:
    id_ = short_session(result.session_id)
    title = ", ".join((TITLES[result.mode], *map(escaped_text, result.otherwise)))
    ran = f"{result.child_events} events"
    if result.kept:
        ran += f", {result.kept} of them recorded"
    if result.mode == "drift":
        ran = f"{result.exact} of {result.exact + len(result.matches)} responses by digest"
    voice.say(f"{id_} {title}: {result.status}: {ran}, trace {result.child_trace}")
    _say_run(voice, result)
    for change in result.changes:
        voice.say(
            f"  {escaped_text(change.pointer)}: {format_replay_value(change.recorded)}"
            f" -> {format_replay_value(change.child)}"
        )
    if not result.otherwise or everything:
        for divergence in result.divergences if everything else result.divergences[:1]:
            say_divergence(voice, id_, divergence)
        if result.differences > 1 and not everything:
            voice.hint(f"{result.differences - 1} more with --all.")


def _say_run(voice: Voice, result: Rerun) -> None:
    """What was met on the way."""
    for match in result.matches:
        causes = ", ".join(match.causes)
        voice.say(escaped_text(f"  {match.call} had the response of {match.recorded}: {causes}"))
    if result.stopped:
        voice.say(escaped_text(f"  it ends there: {result.stopped}"))
    if result.fault is not None:
        fault = result.fault
        voice.say(
            f"  raises in today's code at version {fault.version}: {fault.error}: "
            f"{escaped_text(fault.message)} ({fault.file}, line {fault.line})"
        )
    for left in result.left:
        which = f"the Input at version {left.version}" if left.version else "an answer"
        voice.say(escaped_text(f"  {which} ({left.type}) does not count: {left.reason}"))
    if result.asks and result.status != "identical":
        voice.say(escaped_text(f"  it waits for an answer to {', '.join(result.asks)}"))


@click.command()
@click.argument("session", nargs=-1, metavar="[SESSION|FILE.jsonl]...")
@click.option(
    "--all", "everything", is_flag=True, help="Show every difference, not only the first."
)
@click.option("--drift", is_flag=True, help="Run today's code with the recorded responses.")
@click.option(
    "--simulate", is_flag=True, help="Run again with the simulator (see --seed, --faults)."
)
@click.option(
    "--provider",
    "provider_",
    metavar="NAME",
    callback=require_option_value,
    help="What if: another provider.",
)
@click.option(
    "--model",
    "model_",
    metavar="MODEL",
    callback=require_option_value,
    help="What if: another model.",
)
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="NAME=VERSION",
    help="What if: another prompt, such as clarify=v2.",
)
@click.option("--seed", "seed_", type=int, metavar="N", help="Seed of the simulator.")
@click.option(
    "--faults",
    "faults_",
    metavar="FAULTS",
    callback=require_option_value,
    help="Faults of the simulator.",
)
@click.option(
    "--answer", "answered", multiple=True, metavar="KEY=VALUE", help="What if: another answer."
)
@click.option(
    "--from",
    "start",
    metavar="STEP",
    callback=require_option_value,
    help="Step or event where the what-if begins.",
)
@click.option("--live", is_flag=True, help="Let a what-if ask a model; this costs money.")
@click.option(
    "--out",
    metavar="FILE.jsonl",
    callback=require_option_value,
    help="Write the new run to a new file.",
)
@reading_command
def replay_command(
    session: tuple[str, ...], everything: bool, app: Request, voice: Voice, **asked: Any
) -> int:
    """Re-run recorded sessions and compare every decision; no model is asked.

    FILE is an export of `admin export`; - is stdin. With --drift, --simulate or a what-if
    (--provider to --answer) a session runs again outside the log; the run is not recorded.

    \b
    Examples:
      preflights replay
      preflights replay replays/*/*.jsonl
      preflights replay last --drift
      preflights replay last --simulate --seed 7
      preflights replay last --provider sim --from clarify-1
    """
    mode = mode_of(asked)
    named = [session_or_file(typed) for typed in session or (LAST,)]
    drawn = bar(voice, "Reading", least=2 * BAR_BYTES)
    if mode != "strict":
        return run_again(app, voice, named, mode, asked=asked, everything=everything, drawn=drawn)
    found, unknown = replays(app, named, everything=everything, drawn=drawn)
    voice.json(found)
    for result in found.sessions:
        _say_replay(voice, result)
    for result in found.sessions:
        if hint := shown_of(result.workflow).replayed(app, result.session_id):
            voice.hint(hint)
    for one in unknown:
        voice.warn(f"session {short_session(one.session_id)} is not replayed: {one.why}")
    if any(result.status != "identical" for result in found.sessions):
        return EXIT_REFUSED
    return EXIT_ENVIRONMENT if unknown else 0


def session_or_file(typed: str) -> str | SessionFile:
    """A session of the log, or a file."""
    if typed == "-" or typed.endswith(".jsonl") or _is_file(typed):
        return session_file(typed)
    return typed


def _is_file(typed: str) -> bool:
    """Whether it names a file; what is too long for a name does not."""
    try:
        return typed != LAST and Path(typed).is_file()
    except OSError:
        return False


def _say_replay(voice: Voice, result: Replayed) -> None:
    id_ = short_session(result.session_id)
    if result.status == "erased":
        voice.say(f"{id_} was erased: its payloads are gone and cannot be replayed")
        return
    if result.status == "identical":
        voice.say(f"{id_} identical: {result.events} events, trace {result.trace}")
        if result.undecided:
            voice.hint(f"Its last Input is undecided: preflights resume {id_} decides it.")
        _say_generation(voice, result)
        return
    if result.fault is not None:
        fault = result.fault
        what = "raises again" if fault.recorded else "raises in today's code"
        voice.say(
            f"{id_} {what} at version {fault.version}: {fault.error}: {escaped_text(fault.message)}"
            f" ({fault.file}, line {fault.line})"
        )
    for divergence in result.divergences:
        say_divergence(voice, id_, divergence)
    if rest := result.differences - len(result.divergences):
        voice.hint(f"{rest} more with --all.")


def _say_generation(voice: Voice, result: Replayed) -> None:
    if result.generation:
        voice.hint(
            f"{escaped_text(result.generation)} answered, which is not today's: "
            "its responses were not computed again."
        )
