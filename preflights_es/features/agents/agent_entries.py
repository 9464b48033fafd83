"""What each coding agent reads in a repository: its server, its hooks, its instructions.

Each agent has names of its own for files, events and tools; its documentation stands above its row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from preflights_es.features.agents import managed_json, managed_texts
from preflights_es.features.agents.managed_files import FilePlan
from preflights_es.features.agents.managed_json import Entries

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


class AgentFile(NamedTuple):
    """A file that may hold text of a person as well."""

    parts: tuple[str, ...]
    """Of its path, from the repository's root."""
    content: Callable[[str | None], FilePlan]
    """Given what the file holds; None where there is none."""
    without: Callable[[str], FilePlan]


class Agent(NamedTuple):
    """An agent, and where it looks."""

    seen_as: tuple[str, ...]
    """What `settings.agents` calls it where its environment is seen."""
    signs: tuple[str, ...]
    """Files and folders of a repository that uses it."""
    files: tuple[AgentFile, ...]


# 1. Hooks ------------------------------------------------------------------------------------

_MISSING: Final = (
    f"{PROGRAM} is not on the PATH, or failed: no decision is shown or recorded here. "
    f"Install it, then try: {PROGRAM} --version"
)


def command(event: str, agent: AgentName) -> str:
    """The command of a hook, in words that sh, bash, zsh and fish read alike.

    Without our program it prints one line and ends with 0: at the start of a session a message that
    most agents show their person, at each later event a line on stderr, which no agent reads. Exit
    code 2 is a veto, and a version of us that knows no `hook` would end with it.
    """
    begins = event.casefold() == "sessionstart"
    said = f"'{json.dumps({'systemMessage': _MISSING})}'" if begins else f"'{_MISSING}' >&2"
    return f"command -v {PROGRAM} >/dev/null 2>&1 && {_plain(event, agent)} || echo {said}"


def _plain(event: str, agent: AgentName) -> str:
    return f"{PROGRAM} hook {event} --agent {agent}"


def _grouped(agent: AgentName, *events: tuple[str, str], timeout: int = TIMEOUT_S) -> Entries:
    """Pairs of event and matcher, in groups as Claude Code has them."""
    return Entries(hooks=tuple(_group(agent, *one, timeout) for one in events))


def _group(agent: AgentName, event: str, matcher: str, timeout: int) -> tuple[str, Any]:
    run = {"type": "command", "command": command(event, agent), "timeout": timeout}
    if agent == "codex":  # it gives the command to cmd.exe there
        run["commandWindows"] = f"{_plain(event, agent)} || exit 0"
    return event, {"matcher": matcher, "hooks": [run]} if matcher else {"hooks": [run]}


def _cursor(event: str, matcher: str) -> tuple[str, Any]:
    run = {"command": command(event, "cursor"), "timeout": TIMEOUT_S}
    return event, {"matcher": matcher, **run} if matcher else run


def _vscode(event: str) -> tuple[str, Any]:
    """VS Code ignores matchers; Copilot reads the same file, and denies what a hook fails at.

    The older PowerShell of Windows knows no `||`.
    """
    run = {"command": command(event, "vscode"), "powershell": f"{_plain(event, 'vscode')}; exit 0"}
    return event, {"type": "command", **run, "timeout": TIMEOUT_S}


# 2. Files ------------------------------------------------------------------------------------


def _json(path: str, wanted: Entries) -> AgentFile:
    content = partial(managed_json.entries, wanted=wanted)
    return AgentFile(
        tuple(path.split("/")), content, partial(managed_json.without_entries, wanted=wanted)
    )


def _server(path: str, above: str, entry: dict[str, Any]) -> AgentFile:
    return _json(path, Entries(server=((above, "preflights"), entry)))


def instructions(name: str) -> AgentFile:
    """The file in which every agent finds what to do."""
    body = _BODY.read_text("utf-8")
    return AgentFile((name,), partial(managed_texts.block, body=body), managed_texts.without_block)


def pointer(path: str) -> AgentFile:
    """A file of one agent that reads the instructions too."""
    parts = tuple(path.split("/"))
    body = f"@{'../' * (len(parts) - 1)}AGENTS.md\n"
    return AgentFile(parts, partial(_pointing, body=body), managed_texts.without_block)


def _pointing(found: str | None, body: str) -> FilePlan:
    plan = managed_texts.block(found, body)
    is_said = plan.state == "missing" and _IMPORT.search(found or "")
    return FilePlan("present", found or "") if is_said else plan


# 3. Agents -----------------------------------------------------------------------------------

TABLE: Final[dict[AgentName, Agent]] = {
    # https://code.claude.com/docs/en/hooks, .../mcp, .../memory
    "claude": Agent(
        ("claude-code",),
        (".claude", ".mcp.json", "CLAUDE.md"),
        (
            _server(".mcp.json", "mcpServers", _SERVER),
            _json(
                ".claude/settings.json",
                _grouped(
                    "claude",
                    ("SessionStart", "startup|resume|clear|compact"),
                    ("PreToolUse", "Edit|Write|MultiEdit|NotebookEdit"),
                    ("PostToolUse", "AskUserQuestion"),
                    ("PostToolUseFailure", "AskUserQuestion"),
                ),
            ),
        ),
    ),
    # https://developers.openai.com/codex/hooks, .../codex/mcp
    "codex": Agent(
        ("codex",),
        (".codex",),
        (
            AgentFile(
                (".codex", "config.toml"),
                partial(managed_texts.table, path=_PATH, body=_TABLE),
                partial(managed_texts.without_table, path=_PATH, body=_TABLE),
            ),
            _json(
                ".codex/hooks.json",
                _grouped(
                    "codex",
                    ("SessionStart", "startup|resume|clear|compact"),
                    ("PreToolUse", "apply_patch|Edit|Write"),
                    ("PostToolUse", "request_user_input"),
                ),
            ),
        ),
    ),
    # https://cursor.com/docs/agent/hooks, .../docs/context/mcp
    "cursor": Agent(
        ("cursor",),
        (".cursor", ".cursorrules"),
        (
            _server(".cursor/mcp.json", "mcpServers", _SERVER),
            _json(
                ".cursor/hooks.json",
                Entries(
                    begun=(("version", 1),),
                    hooks=(
                        _cursor("sessionStart", ""),
                        _cursor("preToolUse", "Write|Edit|StrReplace|ApplyPatch"),
                        _cursor("postToolUse", "AskQuestion"),
                        _cursor("postToolUseFailure", "AskQuestion"),
                    ),
                ),
            ),
        ),
    ),
    # https://geminicli.com/docs/hooks/reference: milliseconds
    "gemini": Agent(
        ("gemini-cli",),
        (".gemini", "GEMINI.md"),
        (
            _json(
                ".gemini/settings.json",
                _grouped(
                    "gemini",
                    ("SessionStart", ""),
                    ("BeforeTool", "write_file|replace"),
                    ("AfterTool", "ask_user"),
                    timeout=TIMEOUT_S * 1000,
                )._replace(server=(("mcpServers", "preflights"), _SERVER)),
            ),
        ),
    ),
    # https://code.visualstudio.com/docs/agent-customization/hooks,
    # https://docs.github.com/en/copilot/reference/hooks-reference
    "vscode": Agent(
        ("copilot-cli",),
        (".vscode/mcp.json", ".github/copilot-instructions.md", ".github/hooks"),
        (
            _server(".vscode/mcp.json", "servers", {"type": "stdio", **_SERVER}),
            _json(
                ".github/hooks/preflights.json",
                Entries(
                    begun=(("version", 1),),
                    hooks=tuple(map(_vscode, ("SessionStart", "PreToolUse", "PostToolUse"))),
                ),
            ),
        ),
    ),
    # https://opencode.ai/docs/mcp-servers; its hooks are plug-ins in JavaScript
    "opencode": Agent(
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
