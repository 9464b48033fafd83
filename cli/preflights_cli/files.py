"""What is said of session files, wherever a session is looked at."""

from __future__ import annotations

from preflights_cli.common import Voice
from preflights_es.core.ids import short
from preflights_es.services.file_log import FileLog
from preflights_es.services.request import Request
from preflights_es.services.session_files import Shelf


def holding(app: Request, voice: Voice, typed: str) -> Request:
    """The request to the log, or to the session files where only those have the session.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
    """
    found = app.holding(typed)
    session_id = found.sessions.resolved(typed)
    if isinstance(found.process, FileLog):
        path = found.process.files[session_id].path
        voice.warn(f"only {path} has this session: `preflights sync` takes it over")
        return found
    file = Shelf(app.process).file_of(session_id)
    if file is None:
        return found
    if file.compared == "beyond":
        voice.warn(
            f"{file.path} goes on beyond the log, to event {file.version}: there session "
            f"{short(session_id)} is {app.file_status(session_id)}; "
            f"`preflights sync{' --erase' if file.is_erased else ''}` takes it over"
        )
    elif file.told:
        voice.warn(file.told)
    return found
