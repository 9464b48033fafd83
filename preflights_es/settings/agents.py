"""Whose environment this is: a coding agent's, or a CI's.

An agent says so in the environment of the commands that it runs. Settings of an agent that a person
keeps in a shell profile (`CLAUDE_CODE_USE_BEDROCK`, `CODEX_HOME`) are no signs of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from preflights_es.core.text import NAME_MAX, problem

NAMED: Final = "AI_AGENT"  # https://github.com/vercel/vercel/pull/13762: holds the agent's name
AGENTS: Final = (
    # It sets CLAUDECODE, too. https://github.com/anthropics/claude-code/issues/24838
    ("amp", ("AGENT=amp",)),
    # https://code.claude.com/docs/en/env-vars
    ("claude-code", ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID")),
    # https://github.com/cli/cli/blob/trunk/internal/agents/detect.go
    ("cursor", ("CURSOR_AGENT", "CURSOR_EXTENSION_HOST_ROLE=agent-exec")),
    # https://github.com/openai/codex/blob/main/codex-rs/core/src/spawn.rs, .../exec_env.rs and
    # .../unified_exec/process_manager.rs; https://github.com/aws/aws-cdk-cli takes all of CODEX_*
    ("codex", ("CODEX_*",)),
    # https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/shell.md
    ("gemini-cli", ("GEMINI_CLI",)),
    # https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/index.ts
    ("opencode", ("OPENCODE",)),
    # https://github.com/cli/cli/blob/trunk/internal/agents/detect.go
    ("copilot-cli", ("COPILOT_CLI",)),
    ("antigravity", ("ANTIGRAVITY_AGENT",)),
    ("augment", ("AUGMENT_AGENT",)),
    # https://github.com/checkly/checkly-cli/pull/1261
    ("cline", ("CLINE_ACTIVE",)),
    # https://github.com/block/goose/pull/7017
    ("goose", ("GOOSE_TERMINAL", "AGENT=goose")),
)
"""Pairs of an agent's name and the variables that it sets, in the order of the search. A name is a
variable that says something, with `=` one of this value, with `*` any that begins so."""

SETTINGS: Final = ("CODEX_HOME", "CODEX_API_KEY", "CODEX_SQLITE_HOME", "CODEX_CA_CERTIFICATE")
"""What a person sets: https://developers.openai.com/codex/environment-variables."""

HOMES: Final = {"claude": ("CLAUDE_CONFIG_DIR", ".claude"), "codex": ("CODEX_HOME", ".codex")}
"""Where agents keep their own files: the variable that says it, and the folder in the home."""

CI: Final = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "TEAMCITY_VERSION", "TF_BUILD")
"""https://github.com/watson/ci-info/blob/master/vendors.json; most set `CI`, too."""

_UNSET: Final = ("", "0", "false", "no")
_YES: Final = ("1", "true", "yes")


def agent_of(env: Mapping[str, str]) -> str:
    """The agent whose environment this is, with a version where it says one; empty without one."""
    said = env.get(NAMED, "").strip()
    found = next((name for name, _ in signs(env)), "")
    return said if found and _is_name(said) else found


def home_of(agent: str, env: Mapping[str, str]) -> Path | None:
    """The folder in which an agent keeps its own files; None where no absolute one is named."""
    said, usual = HOMES[agent]
    home = env.get("HOME") or env.get("USERPROFILE") or ""
    # A relative path would lie in the current folder, which may be a clone.
    for folder in (env.get(said, ""), os.path.join(home, usual)):
        if os.path.isabs(folder):
            return Path(folder)
    return None


def signs(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of an agent's name and a variable that shows it."""
    for agent, named in AGENTS:
        yield from ((agent, name) for one in named for name in _set(env, one))
    if _says(env.get(NAMED, "")):
        yield "agent", NAMED


def is_ci(env: Mapping[str, str]) -> bool:
    """Whether a CI runs the program."""
    return any(_says(env.get(name, "")) for name in CI)


def _set(env: Mapping[str, str], sign: str) -> list[str]:
    """The variables that a sign stands for, as far as they are set."""
    name, equals, value = sign.partition("=")
    if equals:
        return [name] if env.get(name) == value else []
    if not name.endswith("*"):
        return [name] if _says(env.get(name, "")) else []
    begun = (one for one in env if one.startswith(name[:-1]) and one not in SETTINGS)
    return [one for one in begun if _says(env[one])]


def _says(value: str) -> bool:
    return value.strip().lower() not in _UNSET


def _is_name(text: str) -> bool:
    return _says(text) and text.lower() not in _YES and not problem(text, NAME_MAX)
