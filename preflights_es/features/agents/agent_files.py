"""Files in a repository that make coding agents use Preflights: a server, hooks, instructions."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.features.agents import project_files
from preflights_es.features.agents.agent_entries import (
    AGENTS,
    TABLE,
    AgentFile,
    AgentName,
    instructions,
    pointer,
)
from preflights_es.features.agents.managed_files import FilePlan
from preflights_es.features.agents.project_files import ProjectFile, ProjectFiles, Template
from preflights_es.kernel.errors import Refused
from preflights_es.settings.load import Settings

INSTRUCTIONS: Final = "AGENTS.md"
_OWN: Final = {"CLAUDE.md": "claude", ".claude/CLAUDE.md": "claude", "GEMINI.md": "gemini"}
"""Instructions of one agent, by their file."""


def agents_found(settings: Settings) -> tuple[AgentName, ...]:
    """Agents that this repository has files of, and the one in whose environment this runs."""
    seen, root = settings.agent.partition("/")[0], settings.root
    return tuple(
        name
        for name in AGENTS
        if seen in TABLE[name].seen_as or any((root / one).exists() for one in TABLE[name].signs)
    )


def agent_files(
    settings: Settings, agents: Collection[AgentName], *, writes: bool = True
) -> ProjectFiles:
    """The files of these agents, as they are found; what is missing or stale is written.

    A file that cannot be read or changed is left as it is, with the part to paste.

    Raises:
        StoreUnavailable: a file cannot be written.
    """
    root = settings.root
    files = (*_instructions(root, agents), *_others(root, agents))
    return ProjectFiles(files=tuple(_kept(root, one, writes=writes) for one in files))


def without_agents(settings: Settings, agents: Collection[AgentName]) -> ProjectFiles:
    """What `agent_files` wrote is taken out; a file with nothing else in it goes.

    The instructions in AGENTS.md stay as long as another agent is set up.

    Raises:
        StoreUnavailable: a file cannot be written.
    """
    root = settings.root
    is_shared = any(_is_ours(root, one) for one in _others(root, set(AGENTS) - set(agents)))
    texts = list(_instructions(root, agents))
    files = (*_others(root, agents), *texts[is_shared:])
    done = [_stripped(root, one) for one in files]
    return ProjectFiles(files=tuple(one for one in done if one.state != "missing"))


# 1. Which files ------------------------------------------------------------------------------


def _instructions(root: Path, agents: Collection[AgentName]) -> Iterator[AgentFile]:
    """The file that all agents read first, then those that point to it."""
    shared = _behind(root, INSTRUCTIONS)
    yield instructions(shared)
    for name, agent in _OWN.items():
        is_read = agent in agents and (agent == "gemini" or (root / name).exists())
        if is_read and _behind(root, name) not in (shared, INSTRUCTIONS):
            yield pointer(name)


def _behind(root: Path, name: str) -> str:
    """The file of instructions that a link leads to: many keep one text under several names."""
    path = root / name
    to = path.readlink() if path.is_symlink() else path.name
    led = Path(os.path.normpath(Path(name).parent / to)).as_posix()
    return led if led in (INSTRUCTIONS, *_OWN) else name


def _others(root: Path, agents: Collection[AgentName]) -> Iterator[AgentFile]:
    for agent in AGENTS:
        for file in TABLE[agent].files if agent in agents else ():
            is_commented = file.parts == ("opencode.json",) and (root / "opencode.jsonc").exists()
            yield file._replace(parts=("opencode.jsonc",)) if is_commented else file


# 2. One file ---------------------------------------------------------------------------------


def _kept(root: Path, file: AgentFile, *, writes: bool) -> ProjectFile:
    template = Template(file.parts, file.content)
    try:
        _check_mode(root, template)
        done = project_files.kept(root, template, writes=writes)
    except Refused as error:
        return _left(template, error)
    return _ours(template, done)


def _stripped(root: Path, file: AgentFile) -> ProjectFile:
    template = Template(file.parts, file.content)
    try:
        found = project_files.found_text(root, template)
        plan = FilePlan("missing", "") if found is None else file.without(found)
        writes = plan.state in ("current", "edited") and (plan.goes or plan.content != found)
        if writes:
            _check_mode(root, template)
            project_files.write(root, template, plan)
    except Refused as error:
        return _left(template, error)
    done = project_files.as_file(template, plan, written=writes)
    return done if plan.goes else _ours(template, done)


def _ours(template: Template, done: ProjectFile) -> ProjectFile:
    """The same with our part alone: the rest may hold keys of other servers."""
    return msgspec.structs.replace(done, content=template.content(None).content)


def _is_ours(root: Path, file: AgentFile) -> bool:
    """Whether a file holds something of ours."""
    try:
        found = project_files.found_text(root, Template(file.parts, file.content))
    except Refused:
        return False
    return found is not None and file.without(found).state in ("current", "edited")


def _left(template: Template, error: Refused) -> ProjectFile:
    why = str(error).partition(": ")[2]
    plan = FilePlan("unclear", template.content(None).content, why)
    return project_files.as_file(template, plan, written=False)


def _check_mode(root: Path, template: Template) -> None:
    """A file that its owner may not write is not replaced.

    Raises:
        Refused: it is one.
    """
    path = root.joinpath(*template.parts)
    if path.exists() and not path.lstat().st_mode & 0o222:
        raise Refused(f"{template.path} is left as it is: it is read-only")
