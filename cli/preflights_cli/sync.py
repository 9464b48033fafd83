"""`sync`: the log and its session files are brought together."""

from __future__ import annotations

import click

from preflights_cli import EXIT_REFUSED
from preflights_cli.common import Voice, recording
from preflights_cli.consent import Consent
from preflights_cli.progress import counted, tell_scrubbed
from preflights_cli.transfer import Telling, warn_twice
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import shown
from preflights_es.use.request import Request
from preflights_es.use.sync import Synced, synced


@click.command()
@click.option("--yes", is_flag=True, help="Extend sessions of this log without asking.")
@click.option("--erase", is_flag=True, help="Erase sessions of this log that a file has erased.")
@recording
def sync_command(yes: bool, erase: bool, app: Request, voice: Voice) -> int:
    """Bring the log and the session files beside the records together.

    Sessions that only files have are imported, and files that are missing or behind are written.
    If a file goes on beyond the log, the command lists it and asks first; without a terminal it
    needs --yes. An erasure always needs --erase. Where file and log differ, both stay: exit 1.

    \b
    Examples:
      preflights sync
      preflights sync --yes --json
    """
    app.process.documents.check_folders()
    app.finish_pending()
    consent = Consent(voice, extend=yes, erase=erase, option="--yes")
    told = Telling(voice)
    done = synced(app, consent.agrees, told.tell, erases=erase)
    if told.erased:
        tell_scrubbed(app, voice, scrubbed=app.process.store.scrubbed())
    voice.json(done)
    if consent.refused:
        raise Refused(f"{consent.refused}; nothing was imported")
    _say(app, voice, done)
    warn_twice(voice, done.collisions)
    return EXIT_REFUSED if done.apart else 0


def _say(app: Request, voice: Voice, done: Synced) -> None:
    if done.written:
        voice.say(f"Wrote {counted(len(done.written), 'session file')}.")
    for file in done.waiting:
        voice.say(
            shown(f"{file.path} erases session {short(file.session_id)}: `preflights sync --erase`")
        )
    for file in done.apart:
        voice.warn(file.told)
    if any(file.compared == "diverged" for file in done.apart):
        voice.hint("To keep the log's session, delete the file and run `preflights sync` again.")
    if not (done.sessions or done.written or done.waiting or done.apart):
        voice.say(f"The log and {shown(app.process.session_folders.paths)} say the same.")
