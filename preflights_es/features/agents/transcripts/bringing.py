"""Old conversations of an agent: what a person decided in them is proposed, each question once."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.agents.transcripts.asked import NAMES, Agent, Asked, Tally
from preflights_es.features.agents.transcripts.files import Unread, found
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import IntentionDeclared
from preflights_es.features.clarification.use.observed import record, recorded
from preflights_es.kernel.errors import ErasedSession, PreflightsError, Refused
from preflights_es.kernel.ids import iso_or_none
from preflights_es.kernel.questions import AskOutcome, Observed
from preflights_es.redaction.masking import redact_hidden
from preflights_es.runtime.runner import Runner
from preflights_es.use.progress import Drawn, ticking, undrawn
from preflights_es.use.request import Request
from preflights_es.use.results import Result, Session

Came = Literal["new", "known", "refused", "apart"]
"""What came of a question: a `new` session, or one that is `known`; `refused` where it cannot be
recorded; `apart` where no person answered, which records nothing."""

Brought = dict[tuple[str, str], str]
"""Sessions, by the conversation and the call in which they were asked."""

BROKEN_OFF: Final = ("waiting", "needs_answers", "ready")
"""Statuses of a session that is not proposed: the command that recorded it was interrupted."""


class Told(Result, frozen=True):
    """A question of a transcript, without its secrets."""

    question: str
    header: str
    options: tuple[str, ...]
    outcome: AskOutcome
    answers: tuple[str, ...]
    asked_at: str | None
    answered_at: str | None
    files: tuple[str, ...]
    """Those that were edited next."""
    conversation: str
    call: str
    came: Came
    session_id: str | None
    """None where nothing is recorded."""
    why: str
    """Why it is refused."""


class Transcripts(Result, frozen=True, tag_field="format", tag="transcripts/1"):
    """What was found in the transcripts of an agent."""

    agent: Agent
    is_dry: bool
    """Whether nothing was recorded, and `new` is what would be."""
    questions: tuple[Told, ...]
    """In the order of time."""
    outcomes: dict[AskOutcome, int]
    """How many questions came to what."""
    read: Tally
    unread: tuple[Unread, ...]
    """Files that cannot be read."""

    def those(self, *came: Came) -> list[Told]:
        """The questions of which this came."""
        return [one for one in self.questions if one.came in came]


def imported(
    request: Request,
    agent: Agent,
    path: Path | None = None,
    *,
    is_dry: bool = False,
    reading: Drawn = undrawn,
    recording: Drawn = undrawn,
) -> Transcripts:
    """Propose what a person decided in an agent's transcripts of this project.

    Args:
        path: a transcript, or a folder of them; None for the agent's own folder.
        is_dry: whether nothing is recorded.
        reading, recording: make the bars, of bytes and of questions.

    Raises:
        Refused: there are no transcripts.
    """
    findings, unread = found(agent, request.process.settings.root, path, reading)
    asked = findings.asked()
    brought = _brought(request) if any(one.is_answered for one in asked) else {}
    with recording(len(asked)) as update:
        told = tuple(
            _told(request, agent, one, brought, is_dry=is_dry) for one in ticking(asked, update)
        )
    return Transcripts(
        agent=agent,
        is_dry=is_dry,
        questions=told,
        outcomes=dict(Counter(one.outcome for one in asked).most_common()),
        read=findings.tally,
        unread=tuple(unread),
    )


def _brought(request: Request) -> Brought:
    """The sessions of agents' questions, also those that began in another log.

    Files and `sync` bring such a session; its Input has a key that only the other log knows.
    """
    found: Brought = {}
    for at in filter(None, (request, request.at_files())):
        process = at.process
        for head in process.store.heads(process.project):  # a dry run keeps no projection
            if head.workflow != WORKFLOW.name:
                continue
            with suppress(PreflightsError):  # `audit verify` names what cannot be read
                if observed := _first_told(process.runner, head.session_id):
                    found[observed.conversation, observed.call] = head.session_id
    return found


def _first_told(runner: Runner, session_id: str) -> Observed | None:
    """Where an agent asked; the first event says it, and no session is folded for it."""
    first = runner.store.read(session_id)[0]
    event = runner.codec(WORKFLOW).decode(first) if first.data is not None else None
    if not isinstance(event, IntentionDeclared) or event.observed is UNSET:
        return None
    return event.observed


def _told(request: Request, agent: Agent, asked: Asked, brought: Brought, *, is_dry: bool) -> Told:
    came, session_id, why = _came(request, agent, asked, brought, is_dry=is_dry)
    return Told(
        question=_freed(asked.question),
        header=_freed(asked.header),
        options=tuple(map(_freed, asked.options)),
        outcome=asked.outcome,
        answers=() if asked.is_secret else tuple(map(_freed, asked.answers)),
        asked_at=iso_or_none(asked.asked_at),
        answered_at=iso_or_none(asked.answered_at),
        files=tuple(map(_freed, asked.files)),
        conversation=_freed(asked.conversation),
        call=_freed(asked.call),
        came=came,
        session_id=session_id or None,
        why=why,
    )


def _came(
    request: Request, agent: Agent, asked: Asked, brought: Brought, *, is_dry: bool
) -> tuple[Came, str, str]:
    """What came of a question, its session, and why it is refused."""
    if not asked.is_answered:
        return "apart", "", ""
    if asked.is_secret:
        return "refused", "", "the agent hid the answer as it was typed: it is a secret"
    observed = _observed(agent, asked)
    try:
        for conversation in (asked.conversation, *asked.origins):
            elsewhere = replace(observed, conversation=conversation)
            before = recorded(request, asked.question, elsewhere)
            if before is not None and before.status in BROKEN_OFF and not is_dry:
                with suppress(Refused):  # it was told in other words
                    _record(request, asked, elsewhere)
            known = before.session_id if before else brought.get((conversation, asked.call))
            if known:
                return "known", known, ""
        return "new", "" if is_dry else _record(request, asked, observed).session_id, ""
    except ErasedSession as error:
        return "known", "", str(error)
    except Refused as error:
        return "refused", "", str(error)


def _record(request: Request, asked: Asked, observed: Observed) -> Session:
    said = (asked.question, asked.options, asked.answers, observed)
    return record(request, *said, topic=asked.header, files=asked.files)


def _observed(agent: Agent, asked: Asked) -> Observed:
    return Observed(
        channel="transcript",
        agent=NAMES[agent],
        agent_version=asked.version,
        conversation=asked.conversation,
        call=asked.call,
        outcome=asked.outcome,
        asked_at=asked.asked_at,
        answered_at=asked.answered_at,
        files=tuple(asked.files),
    )


def _freed(text: str) -> str:
    return redact_hidden(text).text
