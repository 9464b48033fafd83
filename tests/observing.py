"""A question that an agent asked elsewhere, as tests tell of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from preflights_es.features.clarification.observed_questions import record_observed_question
from preflights_es.kernel.errors import LogBusy
from preflights_es.kernel.events import Actor
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.use.bootstrap import Opened, opened_process
from preflights_es.use.sessions import accept_session
from preflights_es.use.use_cases import NewAcceptance
from preflights_es.words.questions import AskOutcome, Observed

QUESTION: Final = "Which database should orders use?"
OPTIONS: Final = ("PostgreSQL", "SQLite")


def seen(outcome: AskOutcome = "answered", call: str = "call-1", **more: Any) -> Observed:
    """Where it was asked."""
    said = {"agent": "claude-code", "agent_version": "2.1.300", "conversation": "c-1", **more}
    return Observed(channel="hook", call=call, outcome=outcome, **said)


def observed_in(folder: Path) -> str:
    """The session of such a question in a project."""
    opened = opened_process(folder)
    found = record_observed_question(opened.request(), QUESTION, OPTIONS, ("SQLite",), seen())
    opened.process.close()
    return found.session_id


def accepted_in_browser(folder: Path, session: str) -> None:
    """A person's word by a page."""
    opened = opened_process(folder)
    person = Actor("user", "Ada")
    accept_session(opened.request().another(person, way="browser"), NewAcceptance(session))
    opened.process.close()


class BusyLog(SqlStore):
    """A log that another process holds at one of the writes."""

    left = 0

    def _wrote(self, work: Any, *, begins: bool = True) -> Any:
        self.left -= 1
        if self.left == 0:
            raise LogBusy("another process is writing")
        return super()._wrote(work, begins=begins)


def busy_log(house: Opened, at: int) -> BusyLog:
    """The log of a process, held by another one at a write."""
    settings = house.process.settings
    log = BusyLog(settings.database, clock_ids.now, clock_ids.salt)
    log.left = at
    house.process.__dict__["store"] = log
    return log
