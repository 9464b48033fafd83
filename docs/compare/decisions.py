"""Decision records: what a team asks of them, answered by a command of each tool."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from environments import HERE, Done, Installed, run_measured, say, table

BY_HAND: Final = "MADR by hand"
RECORD: Final = """---
status: accepted
date: 2026-01-12
decision-makers: Ada Lovelace
---
# Use PostgreSQL for the orders

## Context and Problem Statement

Orders change together.

## Considered Options

* PostgreSQL
* MongoDB

## Decision Outcome

Chosen option: "PostgreSQL", because the team knows it.
"""
ASKED: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "compare", "version": "1"},
    },
}
IDENTITY: Final = """
ssh-keygen -q -t ed25519 -N '' -f key && echo "ada@example.org $(cat key.pub)" > signers
git config --file .gitconfig user.name 'Ada Lovelace'
git config --file .gitconfig user.email ada@example.org
git config --file .gitconfig gpg.format ssh
git config --file .gitconfig user.signingkey "$PWD/key"
git config --file .gitconfig gpg.ssh.allowedSignersFile "$PWD/signers"
"""


def compare_decisions(
    asked: argparse.Namespace, peers: Mapping[str, Installed], work: Path
) -> dict[str, list[str]]:
    """Put each question to each tool."""
    cases = tomllib.loads((HERE / "decisions.toml").read_text("utf-8"))
    tools = [one for one in cases["setup"] if one in ("Preflights", *peers)]
    tools += [] if asked.dry_run else [BY_HAND]
    (work / "madr.md").write_text(RECORD, "utf-8")
    (work / "mcp.json").write_text(json.dumps(ASKED) + "\n", "utf-8")
    env = _environment(peers, work)
    made = run_measured(("sh", "-ec", IDENTITY), work, env)
    assert not made.code, made.err
    rows = [
        [row["asks"], *(_cell(tool, row, cases, work, env) for tool in tools)]
        for row in cases["rows"]
    ]
    return {"decided": table(("question", *tools), rows)}


def _environment(peers: Mapping[str, Installed], work: Path) -> dict[str, str]:
    """The tools on the path, and a home of their own."""
    programs = [str(Path(sys.executable).parent)]
    programs += [str(one.programs) for one in peers.values()]
    home = {
        "CI": "",  # in a job of a CI a person cannot decide
        "HOME": str(work),
        "XDG_CONFIG_HOME": str(work / ".config"),
        "XDG_STATE_HOME": str(work / ".state"),
        "EDITOR": "true",
        "VISUAL": "true",
    }
    return home | {"PATH": os.pathsep.join((*programs, os.environ["PATH"]))}  # noqa: TID251


def _cell(
    tool: str, row: dict[str, Any], cases: dict[str, Any], work: Path, env: Mapping[str, str]
) -> str:
    """What the tool's command says, or that it has none."""
    say(f"{tool}: {row['asks']}")
    folder = work / "case"
    if tool not in row:
        said = _shell(cases["help"].get(tool, "true"), work, env).out.lower()
        found = [word for word in row["words"] if word in said]
        assert not found, f"the help of {tool} says {found[0]!r}: {row['asks']} needs a command"
        return "no"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    begun = _shell("git init -q .\n" + cases["setup"][tool], folder, env)
    assert not begun.code, f"{tool}: {begun.err or begun.out}"
    done = _shell(row[tool], folder, env)
    say(f"  exit {done.code}: {(done.out + done.err).strip()[-200:]}")
    if row.get("shows"):
        return done.out.strip() or "no"
    if done.code:
        return "no"
    last = row[tool].strip().rpartition("&&")[2].lstrip(" !")
    return "by git" if last.startswith("git ") else "yes"


def _shell(script: str, folder: Path, env: Mapping[str, str]) -> Done:
    return run_measured(("sh", "-ec", script), folder, env)
