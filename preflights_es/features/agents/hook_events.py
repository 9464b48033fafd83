"""Events of coding agents: their names, and the JSON in which each agent takes an answer.

Most events end here, so it imports no use case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from preflights_es.kernel.json import NESTED_MAX, is_too_deep
from preflights_es.kernel.text import late_pattern

if TYPE_CHECKING:
    from preflights_es.words.decisions import Hold


Kind = Literal["begins", "edits", "asked", "failed"]
"""`begins`: a conversation begins, or goes on after a compaction; `edits`: a tool is about to run;
`asked`: a tool has run; `failed`: a tool has not done what it was to do."""

KINDS: Final[dict[str, Kind]] = {
    "sessionstart": "begins",
    "pretooluse": "edits",
    "beforetool": "edits",
    "posttooluse": "asked",
    "aftertool": "asked",
    "posttoolusefailure": "failed",
}
"""By the event's name in lower case, without hyphens and underscores.

Sources: https://code.claude.com/docs/en/hooks, https://developers.openai.com/codex/hooks,
https://cursor.com/docs/hooks, https://geminicli.com/docs/hooks/reference,
https://code.visualstudio.com/docs/agents/reference/hooks-reference.
"""
NAMES: Final = {"claude": "claude-code", "gemini": "gemini-cli"}
"""What a session calls an agent whose short name is another."""
EDITING: Final = frozenset(
    """
    edit write multiedit notebookedit applypatch writefile replace strreplace searchreplace editfile
    createfile editfiles replacestringinfile multireplacestringinfile inserteditintofile
    """.split()  # noqa: SIM905  a table
)
SHELLS: Final = frozenset(
    """
    bash shell localshell exec execcommand runshellcommand runinterminal powershell terminal
    """.split()  # noqa: SIM905  a table
)
ASKING: Final = frozenset(
    """
    askuserquestion requestuserinput askuser askquestion askquestions vscodeaskquestions
    """.split()  # noqa: SIM905  a table
)
"""Tools that edit, run commands, or ask, of Claude Code, Codex, Cursor, Gemini and VS Code; in
lower case, without hyphens and underscores."""
NEVER_ASKED: Final = frozenset(("dontAsk", "bypassPermissions"))
"""Values of `permission_mode` in an event of Claude Code (2.1.280) with which its person said that
nothing is to be asked: an `ask` would end an edit that they allowed.

Source: https://code.claude.com/docs/en/permissions.
"""
UNATTENDED: Final = (("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),)
"""Variables of a hook, and the value that says that no person is there: Claude Code (2.1.280) sets
this one under `claude -p`, where an `ask` is refused."""
_BETWEEN: Final = late_pattern(r"[-_\s]")

Output = dict[str, Any]


class HookEvent(msgspec.Struct, frozen=True):
    """What an agent says; none of it is verified."""

    session_id: str = ""
    conversation_id: str = ""
    """Of Cursor."""
    cwd: str = ""
    chat_id: str = msgspec.field(default="", name="sessionId")
    """Of VS Code."""
    hook_event_name: str = ""
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    tool_output: Any = None
    """Of Cursor: JSON in a text."""
    tool_use_id: str = ""
    error: Any = None
    """Why a tool failed."""
    cursor_version: str = ""
    permission_mode: str = ""
    """Of Claude Code, and of those that run its hooks."""

    @property
    def conversation(self) -> str:
        """The agent's id of its session."""
        return self.session_id or self.conversation_id or self.chat_id


def event_of(content: bytes) -> HookEvent:
    """The event that a text of JSON tells; a field that is null is a field that is missing.

    Raises:
        DecodeError, UnicodeError, RecursionError: it is no JSON object of this shape.
    """
    said = msgspec.json.decode(content, type=dict[str, Any])
    if is_too_deep(content):
        raise msgspec.DecodeError(f"it is nested deeper than {NESTED_MAX} levels")
    return msgspec.convert({k: v for k, v in said.items() if v is not None}, HookEvent)


def normalize_hook_name(name: str) -> str:
    """The name of an event, a tool or a field, as tables here have it."""
    return _BETWEEN.sub("", name).casefold()


def concerns(kind: Kind, tool: str) -> bool:
    """Whether a tool is one that an event of the kind is about."""
    match kind:
        case "begins":
            return True
        case "edits":
            return normalize_hook_name(tool) in EDITING or normalize_hook_name(tool) in SHELLS
        case _:
            return normalize_hook_name(tool) in ASKING


def recorded_agent_name(agent: str) -> str:
    """What a session calls the agent."""
    return NAMES.get(agent, agent)


def output_at_beginning(agent: str, event: str, brief: str) -> Output:
    """Text for the agent at the beginning of a conversation."""
    if agent == "cursor":
        return {"additional_context": brief}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": brief}}


def is_attended(event: HookEvent, environment: Mapping[str, str]) -> bool:
    """Whether nothing says that no person is there who could be asked."""
    if event.permission_mode in NEVER_ASKED:
        return False
    return all(environment.get(name) != value for name, value in UNATTENDED)


def output_before_edit(agent: str, hold: Hold, reason: str, *, attended: bool = True) -> Output:
    """The agent is told before the edit, the person is asked, or the edit is refused.

    Where no person is there, the agent is told instead of a question. Codex refuses `ask` and then
    edits; Cursor takes it and does not ask. There the person reads the
    reason, and the agent is told to ask. Gemini CLI hangs at an `ask` without a person,
    and no field or variable of its hooks says whether one is there: it is told in every case. It
    has no field for what only its model reads.
    """
    told = f"{reason} Ask the person before you go on." if hold == "ask" else reason
    match agent, hold:
        case "cursor", "tell":
            return {"agent_message": reason}
        case "cursor", _:
            said = told if hold == "ask" else f"{reason} {_REFUSED}"
            return {"permission": hold, "user_message": reason, "agent_message": said}
        case (("gemini" | "gemini-cli"), "deny"):
            return {"decision": "deny", "reason": f"{reason} {_REFUSED}", "systemMessage": reason}
        case (("gemini" | "gemini-cli"), _):
            return {"systemMessage": told}
        case _, "deny":
            refused = f"{reason} {_REFUSED}"
            denied = _before(permissionDecision="deny", permissionDecisionReason=refused)
            return {"systemMessage": reason, **denied}
        case _, "tell":
            return _before(additionalContext=reason)
        case "codex", _:
            return {"systemMessage": reason, **_before(additionalContext=told)}
        case _ if not attended:
            told = f"{reason} No person is there to ask: keep to the decision, or leave the edit."
            return {"systemMessage": reason, **_before(additionalContext=told)}
        case _:
            # Claude Code's dialog before a Write or Edit does not show the reason: the person reads
            # the message, and the model the context.
            asked = {"permissionDecision": "ask", "permissionDecisionReason": reason}
            return {"systemMessage": reason, **_before(**asked, additionalContext=reason)}


_REFUSED: Final = "The decision refuses this edit: a person may change the decision."


def _before(**said: str) -> Output:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}
