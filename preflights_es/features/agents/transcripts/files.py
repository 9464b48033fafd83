"""The files of transcripts, read one after the other in little memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from preflights_es.features.agents.transcripts import claude, codex
from preflights_es.features.agents.transcripts.asked import Agent, Findings
from preflights_es.features.agents.transcripts.places import Project
from preflights_es.features.agents.transcripts.reader import Reader
from preflights_es.kernel.errors import Refused
from preflights_es.settings.load import agent_home
from preflights_es.settings.places import work_trees
from preflights_es.system.files import Unreadable, lines
from preflights_es.use.progress import Drawn, undrawn

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
