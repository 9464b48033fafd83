"""Old conversations of an agent: what a person decided in them is proposed, each question once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.agents.transcripts import claude, codex
from preflights_es.features.agents.transcripts.reader import (
    NAMES,
    Agent,
    AskedQuestion,
    Findings,
    Project,
    Reader,
    Tally,
)
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import IntentionDeclared
from preflights_es.features.clarification.use.observed import record, recorded
from preflights_es.kernel.errors import ErasedSession, PreflightsError, Refused
from preflights_es.kernel.ids import iso_or_none
from preflights_es.kernel.questions import AskOutcome, Observed
from preflights_es.kernel.views import View
from preflights_es.redaction.masking import redact_hidden
from preflights_es.runtime.runner import Runner
from preflights_es.settings.load import agent_home
from preflights_es.settings.places import work_trees
from preflights_es.system.files import Unreadable, lines
from preflights_es.use.progress import Drawn, ticking, undrawn
from preflights_es.use.request import Request
from preflights_es.use.results import Result

Handling = Literal["new", "known", "refused", "apart"]
"""What came of a question: a `new` session, or one that is `known`; `refused` where it cannot be
recorded; `apart` where no person answered, which records nothing."""

Brought = dict[tuple[str, str], str]
"""Sessions, by the conversation and the call in which they were asked."""

BROKEN_OFF: Final = ("waiting", "needs_answers", "ready")
"""Statuses of a session that is not proposed: the command that recorded it was interrupted."""


class TranscriptQuestion(Result, frozen=True):
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
    came: Handling
    session_id: str | None
    """None where nothing is recorded."""
    why: str
    """Why it is refused."""


class Transcripts(Result, frozen=True, tag_field="format", tag="transcripts/1"):
    """What was found in the transcripts of an agent."""

    agent: Agent
    is_dry: bool
    """Whether nothing was recorded, and `new` is what would be."""
    questions: tuple[TranscriptQuestion, ...]
    """In the order of time."""
    outcomes: dict[AskOutcome, int]
    """How many questions came to what."""
    read: Tally
    unread: tuple[Unread, ...]
    """Files that cannot be read."""

    def those(self, *came: Handling) -> list[TranscriptQuestion]:
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
    for process in request.reading.logs:
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


def _told(
    request: Request, agent: Agent, asked: AskedQuestion, brought: Brought, *, is_dry: bool
) -> TranscriptQuestion:
    came, session_id, why = _came(request, agent, asked, brought, is_dry=is_dry)
    return TranscriptQuestion(
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
    request: Request, agent: Agent, asked: AskedQuestion, brought: Brought, *, is_dry: bool
) -> tuple[Handling, str, str]:
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


def _record(request: Request, asked: AskedQuestion, observed: Observed) -> View:
    said = (asked.question, asked.options, asked.answers, observed)
    return record(request, *said, topic=asked.header, files=asked.files)


def _observed(agent: Agent, asked: AskedQuestion) -> Observed:
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


LINE_MAX: Final = 16 * 1024 * 1024  # bytes; a longer line is counted as damaged
FILES_MAX: Final = 100_000  # transcripts of one import
DEPTH_MAX: Final = 12  # folders below the one that is named; agents use four
SUFFIX: Final = ".jsonl"
READERS: Final[dict[Agent, type[Reader]]] = {
    "claude": claude.ClaudeReader,
    "codex": codex.CodexReader,
}


class Unread(msgspec.Struct, frozen=True):
    """A file that could not be read."""

    path: str
    why: str


class _File(NamedTuple):
    changed: float
    path: str
    size: int


def found(
    agent: Agent, root: Path, path: Path | None = None, drawn: Drawn = undrawn
) -> tuple[Findings, list[Unread]]:
    """The questions in transcripts, and the files that could not be read.

    Args:
        root: of the project, which the questions belong to.
        path: a transcript, or a folder of them; None for the agent's own folder.
        drawn: makes the bar, of bytes.

    Raises:
        Refused: there are no transcripts, or the one that is named cannot be read.
    """
    project, findings = Project(*work_trees(root)), Findings()
    files = _files(agent, project, path)
    unread: list[Unread] = []
    with drawn(sum(one.size for one in files)) as update:
        for file in files:
            reader = READERS[agent](project, findings)
            # A link in a folder may lead anywhere; the one that a person names leads where it does.
            follows = path is not None and file.path == str(path)
            try:
                for line in lines(file.path, LINE_MAX, follows=follows, update=update):
                    reader.take(line)
            except (OSError, Unreadable) as error:
                why = getattr(error, "strerror", None) or str(error)
                unread.append(Unread(file.path, why))
            else:
                findings.tally.files += 1
            reader.end()
    if path is not None and not path.is_dir() and unread:
        raise Refused(f"{path} cannot be read: {unread[0].why}", code="transcript_unread")
    return findings, unread


def _files(agent: Agent, project: Project, path: Path | None) -> list[_File]:
    """Those that are read, in the order in which they were changed: the first one is the origin.

    Raises:
        Refused: there are none, or too many.
    """
    if path is not None and not path.is_dir():
        if not os.path.lexists(path):
            raise Refused(
                f"{path} does not exist: expected a transcript, or a folder of them",
                code="no_transcripts",
                agent=agent,
            )
        return [_File(0, str(path), os.stat(path).st_size if path.is_file() else 0)]
    folders = [path] if path is not None else _own(agent, project)
    files = sorted(one for folder in folders for one in _within(folder))
    if not files:
        where = str(path) if path is not None else f"the folder of {agent}"
        message = f"there are no transcripts of this project in {where}"
        raise Refused(message, code="no_transcripts", agent=agent)
    if len(files) > FILES_MAX:
        message = f"there are more than {FILES_MAX:,} transcripts: name a folder with fewer"
        raise Refused(message, code="too_many_transcripts")
    return files


def _own(agent: Agent, project: Project) -> list[Path]:
    home = agent_home(agent)
    if home is None:
        return []
    if agent == "claude":
        return list(claude.folders(home, project.names))
    return list(codex.folders(home))


def _within(folder: Path) -> Iterator[_File]:
    """The transcripts in a folder and below, down to some depth; links are not followed."""
    folders = [(str(folder), 0)]
    while folders:
        at, depth = folders.pop()
        with suppress(OSError), os.scandir(at) as entries:  # an agent deletes old ones meanwhile
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders += [(entry.path, depth + 1)] if depth < DEPTH_MAX else []
                elif entry.name.endswith(SUFFIX):
                    stat = entry.stat(follow_symlinks=False)
                    yield _File(stat.st_mtime, entry.path, stat.st_size)
