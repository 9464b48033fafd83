"""`admin export`, `admin import` and `sync`: recorded sessions written to files, and taken from
files. What an import changes of sessions that are held here is said first, and asked about.
"""

from __future__ import annotations

import sys
from typing import Final

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.advice import cure_absent_record
from preflights_cli.common import (
    Voice,
    bar,
    creating_command,
    is_terminal,
    reading_command,
    text_option,
)
from preflights_cli.names import SESSION
from preflights_es.history.imports import ActorInputs, Review, SessionChange
from preflights_es.history.transfer import TransferredSession
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import count_in_words, escaped_text, shortened
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.finder import LAST
from preflights_es.use.archives import (
    ExportedPart,
    SessionFile,
    export,
    export_session_lines,
    imported,
)
from preflights_es.use.request import Request
from preflights_es.use.sync import Synced, synced
from preflights_es.words.event_names import event_in_words

BAR_BYTES: Final = 16 * 1024 * 1024  # a smaller file is taken before a bar is drawn
SHOWN_MAX: Final = 20  # sessions of a file that are named one by one


@click.command()
@click.argument("session", type=SESSION, required=False)
@text_option("-o", "--output", metavar="FILE", help="Write to this new file; - is stdout.")
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
    made = export(app, str(output), named, part, drawn=bar(voice, "Exporting"))
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
        sessions = count_in_words(told.sessions, "session")
        voice.say(f"{sessions}, {count_in_words(told.new, 'new event')}.")
    here, others = app.process.project, told.projects
    if others and here not in others:
        which = escaped_text(min(others))
        found = f"The sessions are of the project {which}, and this is {escaped_text(here)}"
        voice.hint(f"{found}: PREFLIGHTS_PROJECT={which} before a command shows them.")
    return 0


def session_file(typed: str) -> SessionFile:
    """A file as it is typed: - is stdin."""
    if typed == "-":
        return SessionFile("the standard input", sys.stdin.buffer)
    return SessionFile(typed)


class Telling:
    """Says what came of the first sessions, and counts all."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self.sessions = 0
        self.new = 0
        self.projects: set[str] = set()

    def tell(self, one: TransferredSession) -> None:
        self.sessions += 1
        self.new += one.new
        self.projects.add(one.head.project)
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

    Sessions that only files have are imported, and files that are behind, or missing beside their
    record, are written. A record of a decision in force that is not here is named.

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
    done = synced(app, consent.agrees, Telling(voice).tell)
    voice.json(done)
    if consent.refused:
        raise Refused(f"{consent.refused}; nothing was imported")
    for text in FEATURES.port("edited_records")(app):
        voice.warn(text)
    _say_synced(app, voice, done)
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
    for record in done.absent:
        voice.warn(f"{record.found}: {cure_absent_record(record.session_id)}")
    if not (done.sessions or done.written or done.waiting or done.apart or done.absent):
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
        both = (change.status_before, change.status_after)
        before, after = (status.replace("_", " ") for status in both)
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
