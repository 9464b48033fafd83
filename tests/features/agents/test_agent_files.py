"""`init --agent` over files of all shapes: nothing of a person's is lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.agents import hook_events, project_files
from preflights_es.features.agents.agent_files import (
    AGENTS,
    TABLE,
    AgentName,
    agent_files,
    agents_found,
    hook_command_line,
    parse_plain_json,
)
from preflights_es.kernel import __version__
from preflights_es.settings.load import Settings, load_settings
from tests.filed_cases import filed_cases
from tests.markdown import ROOT

CLAUDE = ".claude/settings.json"
MCP = ".mcp.json"
TOML = ".codex/config.toml"

KEPT: dict[str, tuple[str, str]] = filed_cases(__file__)["KEPT"]
"""Files to which ours is added."""

LEFT: dict[str, tuple[str, bytes, str]] = {
    "empty file": (MCP, b"", "it is no JSON without comments (line 1)"),
    "only blanks": (MCP, b" \n", "it is no JSON without comments (line 2)"),
    "no json": (MCP, b"servers:\n  - a\n", "it is no JSON without comments (line 1)"),
    "cut": (CLAUDE, b'{"hooks": {"Stop": [', "it is no JSON without comments (line 1)"),
    "single quotes": (MCP, b"{'mcpServers': {}}", "it is no JSON without comments (line 1)"),
    "merge conflict": (
        MCP,
        b"<<<<<<< HEAD\n{}\n=======\n{}\n",
        "it is no JSON without comments (line 1)",
    ),
    "array": (MCP, b"[]\n", "it has no object where 'mcpServers' belongs"),
    "array of servers": (MCP, b'{"mcpServers": []}', "it has no object where 'preflights' belongs"),
    "servers null": (MCP, b'{"mcpServers": null}', "it has no object where 'preflights' belongs"),
    "array of hooks": (CLAUDE, b'{"hooks": []}', "it has no object where 'SessionStart' belongs"),
    "object of an event": (
        CLAUDE,
        b'{"hooks": {"PreToolUse": {}}}',
        "it has no list where 'PreToolUse' belongs",
    ),
    "text of an event": (
        CLAUDE,
        b'{"hooks": {"PreToolUse": "x"}}',
        "it has no list where 'PreToolUse' belongs",
    ),
    "comments": (
        MCP,
        b'{\n  // mine\n  "mcpServers": {}\n}\n',
        "it is no JSON without comments (line 2)",
    ),
    "comma at the end": (MCP, b'{"a": 1,}', "it is no JSON without comments (line 1)"),
    "twice": (MCP, b'{"mcpServers": {}, "mcpServers": {}}', "it says 'mcpServers' twice"),
    "deep": (MCP, b'{"a":' * 9_000 + b"1" + b"}" * 9_000, "it is nested too deep"),
    "latin": (MCP, '{"a": "é"}'.encode("latin-1"), "it is not UTF-8"),
    "utf-16": (MCP, "{}".encode("utf-16"), "it is not UTF-8"),
    "huge": (MCP, b"{" + b" " * 1_000_000 + b"}", "it has more than 1,000,000 bytes"),
    "no toml": (TOML, b"a = \n", "it is no TOML"),
    "toml twice": (TOML, b"a = 1\na = 2\n", "it is no TOML"),
    "toml inline": (
        TOML,
        b'mcp_servers = {a = {command = "x"}}\n',
        "it is no TOML, or takes no more",
    ),
    "toml value": (TOML, b"mcp_servers = 1\n", "'mcp_servers' is no table"),
    "toml deep": (TOML, b"a = " + b"[" * 100_000, "it is nested too deep"),
    "text latin": ("AGENTS.md", "é".encode("latin-1"), "it is not UTF-8"),
}
"""Files that are left alone, with the part to paste."""


@pytest.fixture(scope="module")
def somewhere(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of no repository."""
    return load_settings(tmp_path_factory.mktemp("none"))


@pytest.fixture
def settings(somewhere: Settings, tmp_path: Path) -> Settings:
    """The same, for a new folder."""
    return msgspec.structs.replace(somewhere, root=tmp_path, agent="")


def _states(settings: Settings, *, writes: bool = True) -> dict[str, str]:
    return {one.path: one.state for one in agent_files(settings, AGENTS, writes=writes).files}


def _tree(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def _given(settings: Settings, path: str, content: str | bytes) -> Path:
    file = settings.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


# 1. A person's files -------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "content"), KEPT.values(), ids=KEPT)
def test_ours_is_added_and_every_line_stays(settings: Settings, path: str, content: str) -> None:
    file = _given(settings, path, content)
    assert _states(settings)[path] == "missing"
    _assert_within(path, content, file.read_bytes().decode())
    after = _tree(settings.root)
    assert set(_states(settings).values()) == {"current"}
    assert _tree(settings.root) == after


def _assert_within(path: str, before: str, after: str) -> None:
    """All that was there is still there, in its order."""
    if path.endswith((".json", ".jsonc")):
        old, new = (parse_plain_json(text) for text in (before, after))
        assert list(new)[: len(old)] == list(old)
        _assert_held(old, new)
    elif path.endswith(".toml"):
        old, new = (tomllib.loads(text.removeprefix("\ufeff")) for text in (before, after))
        assert new.pop("mcp_servers").pop("preflights") == {
            "command": "preflights-es",
            "args": ["mcp"],
        }
        assert {key: str(one) for key, one in old.items() if key != "mcp_servers"} == {
            key: str(one) for key, one in new.items()
        }
    else:
        assert after.startswith(before)
        assert len(after.splitlines()) - len(before.splitlines()) <= 15


def _assert_held(old: Any, new: Any) -> None:
    if isinstance(old, dict):
        for key, one in old.items():
            _assert_held(one, new[key])
    elif isinstance(old, list):
        assert new[: len(old)] == old
    else:
        assert new == old


@pytest.mark.parametrize(("path", "content", "why"), LEFT.values(), ids=LEFT)
def test_a_file_that_is_not_understood_is_left_with_the_part_to_paste(
    settings: Settings, path: str, content: bytes, why: str
) -> None:
    file = _given(settings, path, content)
    done = {one.path: one for one in agent_files(settings, AGENTS).files}
    assert (done[path].state, done[path].written) == ("unclear", False)
    assert done[path].why.startswith(why)
    assert "preflights" in done[path].content
    assert {one.state for one in done.values() if one.path != path} == {"missing"}
    assert file.read_bytes() == content


EDITS = {
    "server": (MCP, '"command": "preflights-es"', '"command": "/opt/bin/preflights-es"'),
    "server with more": (MCP, '"preflights": {', '"preflights": {"env": {},'),
    "command of a hook": (CLAUDE, "&& preflights-es hook Pre", "&& env A=1 preflights-es hook Pre"),
    "path of a hook": (CLAUDE, "&& preflights-es hook Pre", "&& /opt/bin/preflights-es hook Pre"),
    "matcher": (CLAUDE, "Edit|Write|MultiEdit|NotebookEdit", "Write"),
    "agent": (CLAUDE, "hook PreToolUse --agent claude ||", "hook PreToolUse --agent mine ||"),
    "time-out": (CLAUDE, '"timeout": 10', '"timeout": 60'),
    "table": (TOML, 'args = ["mcp"]', 'args = ["mcp"]\nenv = {A = "1"}'),
    "text": ("AGENTS.md", "Ask the person.", "Ask Ada."),
    "end of the block": ("AGENTS.md", "<!-- Preflights ends -->\n", ""),
    "beginning of the block": ("AGENTS.md", "<!-- Written by Preflights", "<!-- Mine"),
}


@pytest.mark.parametrize(("path", "old", "new"), EDITS.values(), ids=EDITS)
def test_an_edit_of_ours_stays(settings: Settings, path: str, old: str, new: str) -> None:
    agent_files(settings, AGENTS)
    file = settings.root / path
    _given(settings, path, file.read_text().replace(old, new))
    edited = file.read_bytes()
    assert _states(settings)[path] == "edited"
    assert file.read_bytes() == edited


def test_what_is_told_holds_no_key_of_another_server(settings: Settings) -> None:
    _given(settings, MCP, '{"mcpServers": {"a": {"command": "x", "env": {"KEY": "hunter2"}}}}')
    for done in (
        agent_files(settings, AGENTS, writes=False),
        agent_files(settings, AGENTS),
        agent_files(settings, AGENTS),
    ):
        assert "hunter2" not in str(done)


# 2. Versions ---------------------------------------------------------------------------------


def test_older_commands_are_written_anew_with_a_persons_matcher(settings: Settings) -> None:
    agent_files(settings, ["claude"])
    file = settings.root / CLAUDE
    current = file.read_text()
    older = current.replace(
        json.dumps(hook_command_line("PreToolUse", "claude")),
        '"preflights-es hook before-edit --agent claude"',
    )
    assert older != current
    file.write_text(older)
    assert _states(settings, writes=False)[CLAUDE] == "stale"
    assert _states(settings)[CLAUDE] == "stale"
    assert file.read_text() == current

    file.write_text(older.replace("Edit|Write|MultiEdit|NotebookEdit", "Write"))
    _states(settings)
    assert file.read_text() == current.replace("Edit|Write|MultiEdit|NotebookEdit", "Write")


def test_both_commands_of_an_older_version_are_written_anew(settings: Settings) -> None:
    agent_files(settings, ["vscode"])
    file = settings.root / ".github/hooks/preflights.json"
    current = file.read_text()
    file.write_text(current.replace("hook PreToolUse", "hook before-edit"))
    assert agent_files(settings, ["vscode"]).files[-1].state == "stale"
    assert file.read_text() == current


def test_a_block_of_an_older_version_is_written_anew_in_its_place(settings: Settings) -> None:
    agent_files(settings, ["codex"])
    file = settings.root / "AGENTS.md"
    current = file.read_text()
    older = project_files.block(None, "Older.\n").content
    file.write_text(f"# Mine\n{older}after\n")
    assert _states(settings)["AGENTS.md"] == "stale"
    assert file.read_text() == f"# Mine\n{current}after\n"


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_block_is_added_once_to_any_text(before: str, body: str) -> None:
    body = f"{body}\n".replace("\r", "")
    plan = project_files.block(before, body)
    if plan.state == "missing":
        assert plan.content.startswith(before)
        assert project_files.block(plan.content, body).state == "current"


# 3. Places -----------------------------------------------------------------------------------


def test_no_link_is_followed(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "mcp.json").write_text("{}")
    (settings.root / ".claude").symlink_to(elsewhere)
    (settings.root / MCP).symlink_to(elsewhere / "mcp.json")
    states = _states(settings)
    assert (states[CLAUDE], states[MCP]) == ("unclear", "unclear")
    assert [path.name for path in elsewhere.iterdir()] == ["mcp.json"]
    assert (elsewhere / "mcp.json").read_text() == "{}"


def test_a_pointer_in_a_folder_leads_out_of_it(settings: Settings) -> None:
    file = _given(settings, ".claude/CLAUDE.md", "Be brief.\n")
    agent_files(settings, ["claude"])
    assert "\n@../AGENTS.md\n" in file.read_text()


@pytest.mark.parametrize(
    ("text", "link"),
    [("AGENTS.md", "CLAUDE.md"), ("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", ".claude/CLAUDE.md")],
)
def test_one_text_under_two_names_gets_one_block(settings: Settings, text: str, link: str) -> None:
    file = _given(settings, text, "# Rules\n")
    (settings.root / link).parent.mkdir(exist_ok=True)
    (settings.root / link).symlink_to(os.path.relpath(text, Path(link).parent))
    assert [one.path for one in agent_files(settings, ["claude"]).files][:2] == [text, MCP]
    assert file.read_text().count("<!-- Written by Preflights") == 1
    assert "@AGENTS.md" not in file.read_text()
    assert (settings.root / link).is_symlink()


def test_a_read_only_file_or_a_folder_is_left_and_modes_stay(settings: Settings) -> None:
    locked, open_ = _given(settings, MCP, "{}"), _given(settings, CLAUDE, "{}")
    locked.chmod(0o444)
    open_.chmod(0o640)
    done = {one.path: one for one in agent_files(settings, ["claude"]).files}
    assert (done[MCP].state, done[MCP].why) == ("unclear", "it is read-only")
    assert locked.read_text() == "{}"
    assert open_.stat().st_mode & 0o777 == 0o640
    locked.unlink()
    locked.mkdir()
    done = {one.path: one for one in agent_files(settings, ["claude"]).files}
    assert (done[MCP].state, done[MCP].why) == ("unclear", "it is no regular file")


def test_instructions_that_claude_imports_already_need_no_pointer(settings: Settings) -> None:
    _given(settings, "CLAUDE.md", "See @AGENTS.md for all.\n")
    assert _states(settings)["CLAUDE.md"] == "present"


# 4. Agents -----------------------------------------------------------------------------------

SIGNS = {
    "CLAUDE.md": "claude",
    ".codex/config.toml": "codex",
    ".cursor/rules/a.mdc": "cursor",
    "GEMINI.md": "gemini",
    ".github/copilot-instructions.md": "vscode",
    "opencode.jsonc": "opencode",
}


@pytest.mark.parametrize(("path", "agent"), SIGNS.items(), ids=SIGNS.values())
def test_an_agent_is_found_by_its_files(settings: Settings, path: str, agent: str) -> None:
    assert agents_found(settings) == ()
    _given(settings, path, "")
    assert agents_found(settings) == (agent,)


def test_agents_are_found_by_their_environment_and_by_what_is_written(settings: Settings) -> None:
    inside = msgspec.structs.replace(settings, agent="claude-code/2.1")
    assert agents_found(inside) == ("claude",)
    assert agents_found(msgspec.structs.replace(settings, agent="amp")) == ()
    agent_files(settings, AGENTS)
    assert agents_found(settings) == AGENTS


def test_the_plug_in_of_claude_code_holds_what_init_writes() -> None:
    plugin = ROOT / "docs" / "plugin"
    server, hooks = (one.content(None).content for one in TABLE["claude"].files)
    assert (plugin / ".mcp.json").read_text() == server
    assert (plugin / "hooks" / "hooks.json").read_text() == hooks
    about, market = (
        json.loads((plugin / ".claude-plugin" / name).read_text())
        for name in ("plugin.json", "marketplace.json")
    )
    assert about["version"] == __version__
    assert [one["name"] for one in market["plugins"]] == [about["name"]]


SHELLS = ("sh", "dash", "bash", "zsh", "fish")


def _hooked(event: str, agent: AgentName, path: Path) -> subprocess.CompletedProcess[str]:
    """What every shell of this machine makes of a hook's command; all make the same."""
    shells = [found for one in SHELLS if (found := shutil.which(one))]
    (done,) = {
        (done.returncode, done.stdout, done.stderr): done
        for shell in shells
        for done in [
            subprocess.run(
                [shell, "-c", hook_command_line(event, agent)],
                env={"PATH": str(path), "HOME": str(path)},
                capture_output=True,
                check=False,
                text=True,
            )
        ]
    }.values()
    return done


@pytest.mark.parametrize("agent", [one for one in AGENTS if one != "opencode"])
def test_without_our_program_a_hook_says_one_line_and_ends_with_0(
    settings: Settings, tmp_path: Path, agent: AgentName
) -> None:
    (tmp_path / "preflights").write_text("#!/bin/sh\necho of another package\nexit 2\n")
    (tmp_path / "preflights").chmod(0o755)
    for event, _ in _written(agent):
        done = _hooked(event, agent, tmp_path)
        assert done.returncode == 0
        (line,) = (done.stdout + done.stderr).splitlines()
        assert "preflights-es is not on the PATH" in line
        if hook_events.KINDS[hook_events.normalize_hook_name(event)] == "begins":
            assert list(json.loads(done.stdout)) == ["systemMessage"]
        else:
            assert done.stdout == "", "an agent would read it"


def test_a_hook_runs_our_program_alone_and_an_older_one_vetoes_nothing(tmp_path: Path) -> None:
    (tmp_path / "preflights-es").write_text("#!/bin/sh\nexit 2\n")
    (tmp_path / "preflights-es").chmod(0o755)
    assert _hooked("PreToolUse", "claude", tmp_path).returncode == 0
    (tmp_path / "preflights-es").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "preflights-es").chmod(0o755)
    done = _hooked("PreToolUse", "claude", tmp_path)
    assert (done.stdout, done.stderr) == ("hook PreToolUse --agent claude\n", "")


@pytest.mark.parametrize("agent", AGENTS)
def test_all_that_is_written_calls_our_own_name(settings: Settings, agent: AgentName) -> None:
    agent_files(settings, [agent])
    for path, content in _tree(settings.root).items():
        called = re.findall(
            r'(?<![\w.-])preflights(?= [a-z])|"preflights"(?!: |\])', content.decode()
        )
        assert called == [], path


def test_every_file_says_what_its_agent_reads(settings: Settings) -> None:
    agent_files(settings, AGENTS)
    for path, content in _tree(settings.root).items():
        text = content.decode()
        assert "preflights mcp" in text or "preflights" in text or path == "GEMINI.md"
        if path.endswith(".json"):
            json.loads(text)
    assert len((settings.root / "AGENTS.md").read_text().splitlines()) <= 15
    assert all(
        os.path.lexists(settings.root.joinpath(*one.parts))
        for a in TABLE.values()
        for one in a.files
    )


def test_the_hook_knows_every_event_and_tool_that_is_written() -> None:
    for agent in AGENTS:
        for event, tools in _written(agent):
            assert hook_events.normalize_hook_name(event) in hook_events.KINDS
            kind = hook_events.KINDS[hook_events.normalize_hook_name(event)]
            assert all(hook_events.concerns(kind, one) for one in tools)


def _written(agent: AgentName) -> list[tuple[str, list[str]]]:
    """Pairs of event and tools, of the hooks of an agent."""
    found = []
    for file in TABLE[agent].files:
        if "preflights-es hook" in (text := file.content(None).content):
            for event, [item] in json.loads(text)["hooks"].items():
                run = item.get("hooks", [item])[0]["command"]
                assert run == hook_command_line(event, agent)
                found.append((event, item["matcher"].split("|") if "matcher" in item else []))
    assert found or agent == "opencode"
    return found
