"""Files in a repository that make coding agents use Preflights: a server, hooks, instructions.

Each agent has names of its own for files, events and tools; its documentation stands above its row.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from preflights_es.features.agents import managed_json, project_files
from preflights_es.features.agents.managed_json import Entries
from preflights_es.features.agents.project_files import (
    FilePlan,
    ProjectFile,
    ProjectFiles,
    Template,
)
from preflights_es.kernel.errors import Refused
from preflights_es.settings.load import Settings

AgentName = Literal["claude", "codex", "cursor", "gemini", "vscode", "opencode"]
AGENTS: Final[tuple[AgentName, ...]] = get_args(AgentName)
TIMEOUT_S: Final = 10  # a hook of ours takes less than one second
PROGRAM: Final = "preflights-es"
"""Our command: `preflights` may be the program of another package (docs/decisions/0032)."""

_BODY: Final = Path(__file__).parent / "data" / "agents" / "instructions.md"
_IMPORT: Final = re.compile(r"(^|\s)@(\.{1,2}/)*AGENTS\.md\b")
_PATH: Final = ("mcp_servers", "preflights")
_TABLE: Final = f'[mcp_servers.preflights]\ncommand = "{PROGRAM}"\nargs = ["mcp"]\n'
_SERVER: Final = {"command": PROGRAM, "args": ["mcp"]}
INSTRUCTIONS: Final = "AGENTS.md"
_OWN: Final = {"CLAUDE.md": "claude", ".claude/CLAUDE.md": "claude", "GEMINI.md": "gemini"}
"""Instructions of one agent, by their file."""


class AgentSetup(NamedTuple):
    """An agent, and where it looks."""

    seen_as: tuple[str, ...]
    """What `settings.agents` calls it where its environment is seen."""
    signs: tuple[str, ...]
    """Files and folders of a repository that uses it."""
    files: tuple[Template, ...]


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
    files = (*_instructions(root, agents), *_templates_of_agents(root, agents))
    return ProjectFiles(files=tuple(_update_agent_file(root, one, writes=writes) for one in files))


# 1. Which files ------------------------------------------------------------------------------


def _instructions(root: Path, agents: Collection[AgentName]) -> Iterator[Template]:
    """The file that all agents read first, then those that point to it."""
    shared = _follow_instructions_link(root, INSTRUCTIONS)
    yield instructions(shared)
    for name, agent in _OWN.items():
        is_read = agent in agents and (agent == "gemini" or (root / name).exists())
        if is_read and _follow_instructions_link(root, name) not in (shared, INSTRUCTIONS):
            yield pointer_template(name)


def _follow_instructions_link(root: Path, name: str) -> str:
    """The file of instructions that a link leads to: many keep one text under several names."""
    path = root / name
    to = path.readlink() if path.is_symlink() else path.name
    led = Path(os.path.normpath(Path(name).parent / to)).as_posix()
    return led if led in (INSTRUCTIONS, *_OWN) else name


def _templates_of_agents(root: Path, agents: Collection[AgentName]) -> Iterator[Template]:
    for agent in AGENTS:
        for file in TABLE[agent].files if agent in agents else ():
            is_commented = file.parts == ("opencode.json",) and (root / "opencode.jsonc").exists()
            yield file._replace(parts=("opencode.jsonc",)) if is_commented else file


# 2. One file ---------------------------------------------------------------------------------


def _update_agent_file(root: Path, template: Template, *, writes: bool) -> ProjectFile:
    try:
        # A file that its owner may not write is not replaced.
        path = root.joinpath(*template.parts)
        if path.exists() and not path.lstat().st_mode & 0o222:
            raise Refused(f"{template.path} is left as it is: it is read-only")
        done = project_files.update_project_file(root, template, writes=writes)
    except Refused as error:
        return _left(template, error)
    # The same with our part alone: the rest may hold keys of other servers.
    return msgspec.structs.replace(done, content=template.content(None).content)


def _left(template: Template, error: Refused) -> ProjectFile:
    why = str(error).partition(": ")[2]
    plan = FilePlan("unclear", template.content(None).content, why)
    return project_files.as_file(template, plan, written=False)


# 3. Hooks -----------------------------------------------------------------------------------------

_MISSING: Final = (
    f"{PROGRAM} is not on the PATH, or failed: no decision is shown or recorded here. "
    f"Install it, then try: {PROGRAM} --version"
)


def hook_command_line(event: str, agent: AgentName) -> str:
    """The command of a hook, in words that sh, bash, zsh and fish read alike.

    Without our program it prints one line and ends with 0: at the start of a session a message that
    most agents show their person, at each later event a line on stderr, which no agent reads. Exit
    code 2 is a veto, and a version of us that knows no `hook` would end with it.
    """
    begins = event.casefold() == "sessionstart"
    said = f"'{json.dumps({'systemMessage': _MISSING})}'" if begins else f"'{_MISSING}' >&2"
    return (
        f"command -v {PROGRAM} >/dev/null 2>&1 && {_bare_hook_command(event, agent)} || echo {said}"
    )


def _bare_hook_command(event: str, agent: AgentName) -> str:
    return f"{PROGRAM} hook {event} --agent {agent}"


def _group_hook_entries(
    agent: AgentName, *events: tuple[str, str], timeout: int = TIMEOUT_S
) -> Entries:
    """Pairs of event and matcher, in groups as Claude Code has them."""
    return Entries(hooks=tuple(_group(agent, *one, timeout) for one in events))


def _group(agent: AgentName, event: str, matcher: str, timeout: int) -> tuple[str, Any]:
    run = {"type": "command", "command": hook_command_line(event, agent), "timeout": timeout}
    if agent == "codex":  # it gives the command to cmd.exe there
        run["commandWindows"] = f"{_bare_hook_command(event, agent)} || exit 0"
    return event, {"matcher": matcher, "hooks": [run]} if matcher else {"hooks": [run]}


def _cursor(event: str, matcher: str) -> tuple[str, Any]:
    run = {"command": hook_command_line(event, "cursor"), "timeout": TIMEOUT_S}
    return event, {"matcher": matcher, **run} if matcher else run


def _vscode(event: str) -> tuple[str, Any]:
    """VS Code ignores matchers; Copilot reads the same file, and denies what a hook fails at.

    The older PowerShell of Windows knows no `||`.
    """
    run = {
        "command": hook_command_line(event, "vscode"),
        "powershell": f"{_bare_hook_command(event, 'vscode')}; exit 0",
    }
    return event, {"type": "command", **run, "timeout": TIMEOUT_S}


# 4. Its files -------------------------------------------------------------------------------------


def _json_template(path: str, wanted: Entries) -> Template:
    return Template(tuple(path.split("/")), partial(managed_json.plan_json_entries, wanted=wanted))


def _server(path: str, above: str, entry: dict[str, Any]) -> Template:
    return _json_template(path, Entries(server=((above, "preflights"), entry)))


def instructions(name: str) -> Template:
    """The file in which every agent finds what to do."""
    body = _BODY.read_text("utf-8")
    return Template((name,), partial(project_files.block, body=body))


def pointer_template(path: str) -> Template:
    """A file of one agent that reads the instructions too."""
    parts = tuple(path.split("/"))
    body = f"@{'../' * (len(parts) - 1)}AGENTS.md\n"
    return Template(parts, partial(_pointing, body=body))


def _pointing(found: str | None, body: str) -> FilePlan:
    plan = project_files.block(found, body)
    is_said = plan.state == "missing" and _IMPORT.search(found or "")
    return FilePlan("present", found or "") if is_said else plan


# 5. Agents ----------------------------------------------------------------------------------------

TABLE: Final[dict[AgentName, AgentSetup]] = {
    # https://code.claude.com/docs/en/hooks, .../mcp, .../memory
    "claude": AgentSetup(
        ("claude-code",),
        (".claude", ".mcp.json", "CLAUDE.md"),
        (
            _server(".mcp.json", "mcpServers", _SERVER),
            _json_template(
                ".claude/settings.json",
                _group_hook_entries(
                    "claude",
                    ("SessionStart", "startup|resume|clear|compact"),
                    ("PreToolUse", "Edit|Write|MultiEdit|NotebookEdit|Bash"),
                    ("PostToolUse", "AskUserQuestion"),
                    ("PostToolUseFailure", "AskUserQuestion"),
                ),
            ),
        ),
    ),
    # https://developers.openai.com/codex/hooks, .../codex/mcp
    "codex": AgentSetup(
        ("codex",),
        (".codex",),
        (
            Template(
                (".codex", "config.toml"),
                partial(project_files.plan_toml_table, path=_PATH, body=_TABLE),
            ),
            _json_template(
                ".codex/hooks.json",
                _group_hook_entries(
                    "codex",
                    ("SessionStart", "startup|resume|clear|compact"),
                    ("PreToolUse", "apply_patch|Edit|Write|Bash"),
                    ("PostToolUse", "request_user_input"),
                ),
            ),
        ),
    ),
    # https://cursor.com/docs/agent/hooks, .../docs/context/mcp
    "cursor": AgentSetup(
        ("cursor",),
        (".cursor", ".cursorrules"),
        (
            _server(".cursor/mcp.json", "mcpServers", _SERVER),
            _json_template(
                ".cursor/hooks.json",
                Entries(
                    begun=(("version", 1),),
                    hooks=(
                        _cursor("sessionStart", ""),
                        _cursor("preToolUse", "Write|Edit|StrReplace|ApplyPatch|Shell"),
                        _cursor("postToolUse", "AskQuestion"),
                        _cursor("postToolUseFailure", "AskQuestion"),
                    ),
                ),
            ),
        ),
    ),
    # https://geminicli.com/docs/hooks/reference: milliseconds
    "gemini": AgentSetup(
        ("gemini-cli",),
        (".gemini", "GEMINI.md"),
        (
            _json_template(
                ".gemini/settings.json",
                _group_hook_entries(
                    "gemini",
                    ("SessionStart", ""),
                    ("BeforeTool", "write_file|replace|run_shell_command"),
                    ("AfterTool", "ask_user"),
                    timeout=TIMEOUT_S * 1000,
                )._replace(server=(("mcpServers", "preflights"), _SERVER)),
            ),
        ),
    ),
    # https://code.visualstudio.com/docs/agent-customization/hooks,
    # https://docs.github.com/en/copilot/reference/hooks-reference
    "vscode": AgentSetup(
        ("copilot-cli",),
        (".vscode/mcp.json", ".github/copilot-instructions.md", ".github/hooks"),
        (
            _server(".vscode/mcp.json", "servers", {"type": "stdio", **_SERVER}),
            _json_template(
                ".github/hooks/preflights.json",
                Entries(
                    begun=(("version", 1),),
                    hooks=tuple(map(_vscode, ("SessionStart", "PreToolUse", "PostToolUse"))),
                ),
            ),
        ),
    ),
    # https://opencode.ai/docs/mcp-servers; its hooks are plug-ins in JavaScript
    "opencode": AgentSetup(
        ("opencode",),
        (".opencode", "opencode.json", "opencode.jsonc"),
        (
            _server(
                "opencode.json",
                "mcp",
                {"type": "local", "command": [PROGRAM, "mcp"], "enabled": True},
            ),
        ),
    ),
}
