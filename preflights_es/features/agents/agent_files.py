"""Files in a repository that make coding agents use Preflights: a server, hooks, instructions, and
edits of a person's JSON file as text. Each agent has its own names for files, events and tools.
Every byte of such a file that is not ours stays; `project_files` writes the files.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from preflights_es.features.agents import project_files
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
INSTRUCTIONS: Final = "AGENTS.md"
_OWN: Final = {"CLAUDE.md": "claude", ".claude/CLAUDE.md": "claude", "GEMINI.md": "gemini"}
"""Instructions of one agent, by their file."""

_BODY: Final = Path(__file__).parent / "data" / "agents" / "instructions.md"
_IMPORT: Final = re.compile(r"(^|\s)@(\.{1,2}/)*AGENTS\.md\b")
_PATH: Final = ("mcp_servers", "preflights")
_TABLE: Final = f'[mcp_servers.preflights]\ncommand = "{PROGRAM}"\nargs = ["mcp"]\n'
_SERVER: Final = {"command": PROGRAM, "args": ["mcp"]}


class AgentSetup(NamedTuple):
    """An agent, and where it looks."""

    seen_as: tuple[str, ...]
    """What `settings.places` calls it where its environment is seen."""
    signs: tuple[str, ...]
    """Files and folders of a repository that uses it."""
    files: tuple[Template, ...]


def agents_found(settings: Settings) -> tuple[AgentName, ...]:
    """Agents that this repository has files of, and the one in whose environment this runs."""
    seen, root = settings.agent.partition("/")[0], settings.root

    def is_here(name: AgentName) -> bool:
        one = TABLE[name]
        return seen in one.seen_as or any((root / sign).exists() for sign in one.signs)

    return tuple(filter(is_here, AGENTS))


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


# 1. Which files -----------------------------------------------------------------------------------


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


# 2. One file --------------------------------------------------------------------------------------


def _update_agent_file(root: Path, template: Template, *, writes: bool) -> ProjectFile:
    try:
        # A file that its owner may not write is not replaced.
        path = root.joinpath(*template.parts)
        if path.exists() and not path.lstat().st_mode & 0o222:
            raise Refused(f"{template.path} is left as it is: it is read-only")
        done = project_files.update_project_file(root, template, writes=writes)
    except Refused as error:
        why = str(error).partition(": ")[2]
        plan = FilePlan("unclear", template.content(None).content, why)
        return project_files.as_file(template, plan, written=False)
    # The same with our part alone: the rest may hold keys of other servers.
    return msgspec.structs.replace(done, content=template.content(None).content)


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
    runs = _bare_hook_command(event, agent)
    return f"command -v {PROGRAM} >/dev/null 2>&1 && {runs} || echo {said}"


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
    run = {"type": "command", "command": hook_command_line(event, "vscode")}
    windows = f"{_bare_hook_command(event, 'vscode')}; exit 0"
    return event, {**run, "powershell": windows, "timeout": TIMEOUT_S}


# 4. Templates -------------------------------------------------------------------------------------


def _json_template(path: str, wanted: Entries) -> Template:
    return Template(tuple(path.split("/")), partial(plan_json_entries, wanted=wanted))


def _server(path: str, above: str, entry: dict[str, Any]) -> Template:
    return _json_template(path, Entries(server=((above, "preflights"), entry)))


def instructions(name: str) -> Template:
    """The file in which every agent finds what to do."""
    return Template((name,), partial(project_files.block, body=_BODY.read_text("utf-8")))


def pointer_template(path: str) -> Template:
    """A file of one agent that reads the instructions too."""
    parts = tuple(path.split("/"))
    body = f"@{'../' * (len(parts) - 1)}AGENTS.md\n"
    return Template(parts, partial(_pointing, body=body))


def _pointing(found: str | None, body: str) -> FilePlan:
    plan = project_files.block(found, body)
    is_said = plan.state == "missing" and _IMPORT.search(found or "")
    return FilePlan("present", found or "") if is_said else plan


# 5. Entries of a JSON file ------------------------------------------------------------------------

_OURS: Final = re.compile(r"(^|[\s/\\\"'])preflights(-es)?(\.exe)?[\"']? hook\b")
_WRITTEN: Final = re.compile(
    r"(command -v \S+ >/dev/null 2>&1 && )?preflights-es hook [A-Za-z-]+ --agent (?P<agent>[a-z]+)"
    r"( \|\| exit 0| \|\| echo '[^']*'( >&2)?|; exit 0)?"
)
"""A command that some version wrote, and no person edited."""

COMMANDS: Final = ("command", "bash", "commandWindows", "powershell")
"""Keys of a hook under which some agent reads a command."""


class Entries(NamedTuple):
    """What a file should hold."""

    server: tuple[tuple[str, ...], Any] | None = None
    """Path and value of a member."""
    hooks: tuple[tuple[str, Any], ...] = ()
    """Pairs of event and item of its list, below `hooks`."""
    begun: tuple[tuple[str, Any], ...] = ()
    """Other members of a new file."""


def plan_json_entries(found: str | None, wanted: Entries) -> FilePlan:
    """The file with what is missing, and with our commands of this version.

    Args:
        found: what the file holds; None where there is none.
    """
    if found is None:
        return FilePlan("missing", fresh(wanted))
    try:
        return _merged(found, wanted)
    except UnclearJson as error:
        return FilePlan("unclear", fresh(wanted), str(error))


def fresh(wanted: Entries) -> str:
    """A file that holds nothing else."""
    value: dict[str, Any] = dict(wanted.begun)
    if wanted.server:
        (*above, name), entry = wanted.server
        inner = value
        for key in above:
            inner = inner.setdefault(key, {})
        inner[name] = entry
    if wanted.hooks:
        value["hooks"] = {event: [item] for event, item in wanted.hooks}
    return f"{json.dumps(value, indent=2)}\n"


def _merged(found: str, wanted: Entries) -> FilePlan:
    text, is_edited = _renewed(found, wanted), False
    is_stale = text != found
    if wanted.server:
        path, entry = wanted.server
        if there := locate_json_value(text, path):
            is_edited = parse_plain_json(text[slice(*there)]) != entry
        else:
            text = added(text, path, entry)
    for event, item in wanted.hooks:
        there = locate_json_value(text, ("hooks", event))
        items = parse_plain_json(text[slice(*there)]) if there else None
        if isinstance(items, list) and item in items:
            continue
        if any(one == event for one, _, _ in _find_our_hooks(parse_plain_json(text))):
            is_edited = True
        else:
            text = added(text, ("hooks", event), item, item=True)
    if is_stale or text != found:
        return FilePlan("stale" if is_stale else "missing", text)
    return FilePlan("edited" if is_edited else "current", found)


# 6. Our hooks in it -------------------------------------------------------------------------------


def _renewed(text: str, wanted: Entries) -> str:
    """With the commands of this version in the place of an older one's; all else stays."""
    hooks = ({"hooks": {event: [item]}} for event, item in wanted.hooks)
    known = {(event, key): command for one in hooks for event, key, command in _find_our_hooks(one)}
    agents = set(map(_agent, known.values()))
    for event, key, command in _find_our_hooks(parse_plain_json(text)):
        new = known.get((event, key), command)
        if new != command and _agent(command) in agents:
            text = text.replace(json.dumps(command), json.dumps(new))
    return text


def _find_our_hooks(value: Any) -> Iterator[tuple[str, str, str]]:
    """Event, key and command of each hook that runs our program."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    for event, items in hooks.items() if isinstance(hooks, dict) else ():
        for item in items if isinstance(items, list) else ():
            for handler in _handlers(item):
                for key in COMMANDS:
                    command = handler.get(key)
                    if isinstance(command, str) and _OURS.search(command):
                        yield event, key, command


def _handlers(item: Any) -> Iterator[Mapping[str, Any]]:
    """The item itself, or those of its own list `hooks`."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    yield from (one for one in (inner or [item]) if isinstance(one, dict))


def _agent(command: str) -> str | None:
    """Whose hook some version wrote with this command."""
    found = _WRITTEN.fullmatch(command)
    return found and found["agent"]


# 7. Its text --------------------------------------------------------------------------------------

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_INDENT: Final = re.compile(r"\n([ \t]{1,8})\S")


class UnclearJson(Exception):
    """The text is no JSON in which a place is found; the message says why."""


def _members_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise UnclearJson(f"it says {next(key for key in keys if keys.count(key) > 1)!r} twice")
    return found


# A number is only compared: that of thousands of digits has no other limit.
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members_once, parse_int=float)


def parse_plain_json(text: str) -> Any:
    """The value of a text.

    Raises:
        Unclear: it is no plain JSON, or says a key twice.
    """
    try:
        return _DECODER.decode(text.removeprefix("\ufeff"))
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        raise UnclearJson(f"it is no JSON without comments (line {line})") from error
    except RecursionError as error:
        raise UnclearJson("it is nested too deep") from error


def locate_json_value(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the value of a path begins and ends; None where a key on the way is missing.

    Args:
        text: that `parsed` takes.

    Raises:
        Unclear: something else than an object lies on the way.
    """
    start, end = _behind_blanks(text, len(text) - len(text.removeprefix("\ufeff"))), len(text)
    for key in path:
        if text[start] != "{":
            raise UnclearJson(f"it has no object where {key!r} belongs")
        places = ((begin, end) for name, begin, end in _members(text, start) if name == key)
        if (found := next(places, None)) is None:
            return None
        start, end = found
    return start, len(text[:end].rstrip())


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The key of each member of an object, and where its value begins and ends."""
    at = _behind_blanks(text, start + 1)
    while text[at] != "}":
        key, colon = _DECODER.raw_decode(text, at)
        begin = _behind_blanks(text, _behind_blanks(text, colon) + 1)
        end = _DECODER.raw_decode(text, begin)[1]
        yield key, begin, end
        at = _behind_blanks(text, end)
        if text[at] == ",":
            at = _behind_blanks(text, at + 1)


def _behind_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def added(text: str, path: tuple[str, ...], value: Any, *, item: bool = False) -> str:
    """The text with a member at a path, or with one more item in the array there.

    Objects on the way, and the array, are made where they are missing.

    Raises:
        Unclear: the text holds something else on the way.
    """
    depth = len(path)
    while (there := locate_json_value(text, path[:depth])) is None:
        depth -= 1
    if depth == len(path):
        if text[there[0]] != "[":
            raise UnclearJson(f"it has no list where {path[-1]!r} belongs")
        return _put(text, there, "", value)
    key, *inner = path[depth:]
    value = [value] if item else value
    for name in reversed(inner):
        value = {name: value}
    return _put(text, there, f"{json.dumps(key)}: ", value)


def _put(text: str, there: tuple[int, int], key: str, value: Any) -> str:
    """The text with one more thing at the end of a container, in the layout that it has."""
    start, end = there[0] + 1, there[1] - 1
    inner = text[start:end]
    at = start + len(inner.rstrip())
    if inner.strip() and "\n" not in inner:
        return f"{text[:at]}, {key}{json.dumps(value)}{text[at:]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _INDENT.search(text)
    line = text[text.rfind("\n", 0, start) + 1 : start].lstrip("\ufeff")
    base = line[: len(line) - len(line.lstrip(" \t"))]
    unit = indent[1] if indent else "  "
    content = key + json.dumps(value, indent=unit).replace("\n", f"{newline}{base}{unit}")
    comma = "," if inner.strip() else ""
    rest = text[at:] if "\n" in inner else f"{newline}{base}{text[end:]}"
    return f"{text[:at]}{comma}{newline}{base}{unit}{content}{rest}"


# 8. Agents ----------------------------------------------------------------------------------------

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
