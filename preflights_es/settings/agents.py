"""Whose environment this is: a coding agent's, or a CI's.

An agent says so in the environment of the commands that it runs. Settings of an agent that a person
keeps in a shell profile (`CLAUDE_CODE_USE_BEDROCK`, `CODEX_HOME`) are no signs of it, nor is what
an editor sets in a person's own terminal (`TERM_PROGRAM`, `CURSOR_TRACE_ID`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from preflights_es.kernel.text import NAME_MAX, late_pattern, problem

NAMED: Final = "AI_AGENT"  # https://github.com/vercel/vercel/pull/13762: holds the agent's name


class Sign(NamedTuple):
    """A variable that an agent sets for the commands that it runs."""

    agent: str
    variable: str
    """Its name; with `=`, it counts with this value only."""
    version: str
    """Of the agent, where it was seen; else when that was."""
    how: Literal["run", "read", "reported"]
    """`run`: the agent ran `env` here, led by a scripted model. `read`: in what it ships or in its
    source. `reported`: by others who ran it."""
    source: str = ""
    """Where, unless it was run here."""


_CURSOR: Final = "https://github.com/entireio/cli/pull/2317"
_GOOSE: Final = "https://github.com/block/goose/pull/7017"
_CODEX: Final = "https://github.com/openai/codex/blob/main/codex-rs/core/src/spawn.rs"

SIGNS: Final = (
    # It set CLAUDECODE, too.
    Sign(
        "amp",
        "AGENT=amp",
        "2026-02",
        "reported",
        source="https://github.com/anthropics/claude-code/issues/24838",
    ),
    Sign("claude-code", "CLAUDECODE", "2.1.197", "run"),
    Sign("claude-code", "CLAUDE_CODE_CHILD_SESSION", "2.1.197", "run"),
    Sign("claude-code", "CLAUDE_CODE_SESSION_ID", "2.1.197", "run"),
    Sign("claude-code", NAMED, "2.1.197", "run"),
    Sign("cursor", "CURSOR_AGENT", "2026-09", "reported", source=_CURSOR),
    Sign(
        "cursor",
        "CURSOR_EXTENSION_HOST_ROLE=agent-exec",
        "2026-04",
        "reported",
        source="https://github.com/vercel/vercel/pull/15879",
    ),
    Sign("codex", "CODEX_CI", "0.169.0", "run"),
    Sign("codex", "CODEX_SESSION_ID", "0.169.0", "run"),
    Sign("codex", "CODEX_THREAD_ID", "0.169.0", "run"),
    Sign("codex", "CODEX_TOOL_CALL_ID", "0.169.0", "run"),
    # Only within its sandbox.
    Sign("codex", "CODEX_SANDBOX", "0.169.0", "read", source=_CODEX),
    Sign("codex", "CODEX_SANDBOX_NETWORK_DISABLED", "0.169.0", "read", source=_CODEX),
    Sign("gemini-cli", "GEMINI_CLI", "0.61.0", "run"),
    # It sets it for itself: a terminal within it inherits it.
    Sign("opencode", "OPENCODE", "1.18.33", "run"),
    Sign(
        "copilot-cli",
        "COPILOT_CLI",
        "1.0.63",
        "reported",
        source="https://github.com/dynatrace-oss/dtctl/pull/289",
    ),
    Sign(
        "copilot-vscode",
        "COPILOT_AGENT",
        "1.121",
        "read",
        source="https://github.com/microsoft/vscode/pull/316267",
    ),
    Sign(
        "augment",
        "AUGMENT_AGENT",
        "0.36.0",
        "read",
        source="https://www.npmjs.com/package/@augmentcode/auggie",
    ),
    # The terminals that it opens in the editor, which a person may use as well.
    Sign(
        "cline",
        "CLINE_ACTIVE",
        "commit 31063c6",
        "read",
        source="https://github.com/cline/cline/blob/main/src/hosts/vscode/terminal/VscodeTerminalRegistry.ts",
    ),
    Sign("goose", "GOOSE_TERMINAL", "2026-02", "read", source=_GOOSE),
    Sign("goose", "AGENT=goose", "2026-02", "read", source=_GOOSE),
)
"""In the order of the search."""

CI: Final = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "TEAMCITY_VERSION", "TF_BUILD")
"""https://github.com/watson/ci-info/blob/master/vendors.json; most set `CI`, too."""

_VERSIONED: Final = late_pattern(r"([a-z][a-z-]*[a-z])[_/@ ]v?(\d+(?:[-._]\d+){1,3})(?=_|\W|\Z)")
_UNSET: Final = ("", "0", "false", "no")
_YES: Final = ("1", "true", "yes")


def agent_of(env: Mapping[str, str]) -> str:
    """The agent whose environment this is, with a version where it says one; empty without one."""
    said = env.get(NAMED, "").strip()
    found = next((name for name, _ in signs(env)), "")
    return _format_agent_version(said) if found and _is_agent_name(said) else found


def _format_agent_version(said: str) -> str:
    """Name and version, where it is so written: `claude-code_2-1-330_harness`, `codex/0.169.0`."""
    name = _VERSIONED.match(said)
    return f"{name[1]} {re.sub('[-_]', '.', name[2])}" if name else said


def signs(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of an agent's name and a variable that shows it."""
    for sign in SIGNS:
        name, equals, value = sign.variable.partition("=")
        if name != NAMED and (
            env.get(name) == value if equals else _is_value_set(env.get(name, ""))
        ):
            yield sign.agent, name
    if _is_value_set(env.get(NAMED, "")):
        yield "agent", NAMED


def is_ci(env: Mapping[str, str]) -> bool:
    """Whether a CI runs the program."""
    return any(_is_value_set(env.get(name, "")) for name in CI)


def _is_value_set(value: str) -> bool:
    return value.strip().lower() not in _UNSET


def _is_agent_name(text: str) -> bool:
    return _is_value_set(text) and text.lower() not in _YES and not problem(text, NAME_MAX)
