"""Tries real agents from npm against a scripted model; run by hand.

`python -m tests.agents.real [FOLDER [tell|ask|deny]]`: with the third word the decision holds for
the file that is written, as strongly as it says; without, it is found by what the line imports.
With `ask`, Claude Code runs at a terminal, in a mode that accepts edits, and a person says yes.

The model never thinks: it calls `recall`, `start_decision` and `accept`, writes a line that a
decision turned down, and ends. It speaks three APIs on loopback: Anthropic's messages, OpenAI's
responses and Gemini's contents, all streamed. No key and no account is needed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pexpect  # type: ignore[import-untyped]

PACKAGES: Final = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
RUN_S: Final = 60  # seconds that one agent has
WAITS: Final = "WaitForMcpServers"
PAUSE: Final = "sleep 3"
WAITS_MAX: Final = 5  # pauses
SECRET: Final = "scripted"  # stands where a key would
ASK: Final = "Choose where the orders are kept, then write settings.py."
LINE: Final = "import sqlite3\n"
STEPS: Final = ("recall", "start_decision", "accept", "write")
PATCH: Final = f"*** Begin Patch\n*** Add File: settings.py\n+{LINE}*** End Patch\n"


class Model(ThreadingHTTPServer):
    """The scripted model, and what it was sent."""

    daemon_threads = True
    folder = ""
    """Where the agent works."""
    steps: tuple[str, ...] = STEPS

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Said)
        self.bodies: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Said(BaseHTTPRequestHandler):
    """One request."""

    server: Model

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send(b"{}", "application/json")

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.bodies.append(text)
        body: dict[str, Any] = json.loads(text or "{}")
        if "count" in self.path:
            return self._send(b'{"input_tokens": 9, "totalTokens": 9}', "application/json")
        if "/messages" in self.path:
            events, streamed = anthropic(body, text), body.get("stream")
        elif "/responses" in self.path:
            events, streamed = openai(body, text), True
        else:
            events, streamed = [("", gemini(body, text))], "stream" in self.path
        if not streamed:
            return self._send(json.dumps(events[0][1]).encode(), "application/json")
        lines = (f"event: {n}\n" * bool(n) + f"data: {json.dumps(e)}\n\n" for n, e in events)
        return self._send("".join(lines).encode(), "text/event-stream")

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def called(names: list[str], done: int, text: str) -> tuple[str, dict[str, Any]] | None:
    """The next call of the script, under the name that the agent gives its tool."""
    if not names or done >= len(Model.steps):
        return None
    step = Model.steps[done]
    writes = ("Write", "write_file", "write", "apply_patch", "exec_command")
    ends = writes if step == "write" else (step,)
    name = next((n for end in ends for n in names if n == end or n.endswith(f"_{end}")), "")
    if not name:
        return None
    session = re.findall(r"session\W+([0-9a-f][0-9a-f-]{7,})", text)
    given: dict[str, dict[str, Any]] = {
        "recall": {"question": "Which database keeps the orders?"},
        "start_decision": {
            "intention": "Choose a cache",
            "question": "Which cache?",
            "options": ["Redis", "Memcached"],
        },
        "accept": {"session": session[-1] if session else "last"},
        "write": {"content": LINE, "file_path": "settings.py", "filePath": "settings.py"},
    }
    said = dict(given[step])
    if step == "write":
        said.pop("file_path" if name == "write" else "filePath")
        said = {"input": PATCH} if name == "apply_patch" else said
        if name == "exec_command":  # Codex takes a patch out of what a shell would run
            said = {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF\n"}
        if name == "Write":
            said["file_path"] = str(Path(Model.folder, "settings.py"))
    return name, said


def anthropic(body: dict[str, Any], text: str) -> list[tuple[str, dict[str, Any]]]:
    """A message of Anthropic's API."""
    names = [one["name"] for one in body.get("tools") or ()]
    waits = text.count(f'"name":"{WAITS}","input"')
    next_one = called(names, text.count('"type":"tool_result"') - waits, text)
    if not next_one and not waits and WAITS in names:
        next_one = WAITS, {}  # the servers of Claude Code start beside it
    block: dict[str, Any] = {"type": "text", "text": "Done."}
    delta: dict[str, Any] = {"type": "text_delta", "text": "Done."}
    if next_one:
        name, said = next_one
        block = {"type": "tool_use", "id": f"toolu_{len(text)}", "name": name, "input": said}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(said)}
    why = "tool_use" if next_one else "end_turn"
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
    }
    message |= {"usage": {"input_tokens": 9, "output_tokens": 9}, "stop_reason": why}
    if not body.get("stream"):
        return [("", {**message, "content": [block]})]
    empty = {**block, "input": {}} if next_one else {**block, "text": ""}
    begun = {**message, "content": [], "stop_reason": None}
    end = {"delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 9}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", **end},
        {"type": "message_stop"},
    ]
    return [(one["type"], one) for one in events]


def openai(body: dict[str, Any], text: str) -> list[tuple[str, dict[str, Any]]]:
    """A response of OpenAI's API; tools of a server stand in a namespace."""
    spaces: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for one in body.get("tools") or ():
        for tool in one.get("tools") or (one,):
            kinds[tool.get("name", "")] = tool.get("type", "")
            spaces[tool.get("name", "")] = one["name"] if one.get("tools") else ""
    waits = text.count(PAUSE)
    done = len(re.findall(r'"type":"(?:function|custom_tool)_call_output"', text)) - waits
    next_one = called([*kinds], done, text)
    if not next_one and waits < WAITS_MAX and "exec_command" in kinds and "recall" not in kinds:
        next_one = "exec_command", {"cmd": PAUSE}  # the servers of Codex start beside it
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m"}
    item["content"] = [{"type": "output_text", "text": "Done."}]
    if next_one:
        name, said = next_one
        item = {"type": "function_call", "call_id": f"c{len(text)}", "name": name}
        item |= {"arguments": json.dumps(said)}
        if spaces[name]:
            item["namespace"] = spaces[name]
        if kinds[name] == "custom":
            item |= {"type": "custom_tool_call", "input": PATCH}
    usage = {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]
    return [(one["type"], one) for one in events]


def gemini(body: dict[str, Any], text: str) -> dict[str, Any]:
    """A content of Gemini's API."""
    names = [f["name"] for t in body.get("tools") or () for f in t.get("functionDeclarations", ())]
    next_one = called(names, text.count('"functionResponse"'), text)
    part: dict[str, Any] = {"text": "Done."}
    if next_one:
        part = {"functionCall": {"name": next_one[0], "args": next_one[1]}}
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


def asked(program: Path, home: Path, env: dict[str, str]) -> bool:
    """Whether Claude Code asks before the edit; it writes at a terminal once it is told to."""
    shop = Model.folder
    known = {"hasTrustDialogAccepted": True, "enabledMcpjsonServers": ["preflights"]}
    approved = {"approved": [env["ANTHROPIC_API_KEY"][-20:]], "rejected": []}
    config = {"customApiKeyResponses": approved, "projects": {shop: known}}
    (home / ".claude.json").write_text(json.dumps({"hasCompletedOnboarding": True, **config}))
    flags = ["--permission-mode", "acceptEdits", "--allowedTools", "mcp__preflights"]
    child = pexpect.spawn(
        str(program), flags, cwd=shop, env={**env, "TERM": "xterm-256color"}, dimensions=(60, 150)
    )
    try:
        child.expect("accept.{1,20}edits", timeout=RUN_S)
        for keys in (ASK, "\r"):
            child.send(keys)
            child.expect(pexpect.TIMEOUT, timeout=2)
        child.expect("Do.{1,20}you.{1,20}want.{1,20}to", timeout=RUN_S)
        child.send("\r")
        child.expect(pexpect.TIMEOUT, timeout=5)
    except (pexpect.EOF, pexpect.TIMEOUT):
        return False
    finally:
        child.kill(signal.SIGKILL)
        child.wait()
    return True


def command(agent: str, url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    """How an agent is run without a person, and its variables."""
    if agent == "claude":
        flags = ["--mcp-config", ".mcp.json", "--allowedTools", "mcp__preflights,Write"]
        return ["-p", ASK, *flags], {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": SECRET,
            "ENABLE_TOOL_SEARCH": "0",
        }
    if agent == "codex":
        provider = f'model_providers.s={{name="s",base_url="{url}/v1",wire_api="responses"}}'
        flags = ["-c", 'model_provider="s"', "-c", provider, "-m", "gpt-5"]
        trust = f'[projects."{Model.folder}"]\ntrust_level = "trusted"\n'
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(trust)
        go = "--dangerously-bypass-approvals-and-sandbox"
        return ["exec", go, "--dangerously-bypass-hook-trust", *flags, ASK], {}
    if agent == "gemini":
        (home / ".gemini").mkdir()
        auth = '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
        (home / ".gemini" / "settings.json").write_text(auth)
        env = {"GEMINI_API_KEY": SECRET, "GOOGLE_GEMINI_BASE_URL": url}
        flags = ["--yolo", "-m", "gemini-2.5-flash"]
        return ["-p", ASK, *flags], {**env, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    options = {"baseURL": f"{url}/v1", "apiKey": SECRET}
    models = {"scripted": {"tool_call": True, "limit": {"context": 99000, "output": 999}}}
    one = {"npm": "@ai-sdk/anthropic", "options": options, "models": models}
    config = json.dumps({"provider": {"s": one}})
    return ["run", "-m", "s/scripted", ASK], {"OPENCODE_CONFIG_CONTENT": config}


def tried(agent: str, program: Path, folder: Path, hold: str) -> dict[str, bool]:
    """What was seen of one agent."""
    home, shop = folder / "home", folder / "shop"
    for one in (home, shop):
        one.mkdir(parents=True)
    beside = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    env = {"PATH": beside, "HOME": str(home), "LANG": "C.UTF-8"}

    def ran(*words: str) -> str:
        done = subprocess.run(words, cwd=shop, env=env, capture_output=True, text=True)
        return done.stdout

    ran("git", "init", "-q")
    options = ("--option", "PostgreSQL", "--option", "SQLite", "--topic", "Database")
    where = ("--path", "settings.py", "--hold", hold) if hold else ()
    ran("preflights-es", "start", "Keep orders", "--question", "Which database?", *options, *where)
    ran("preflights-es", "answer", "last", "PostgreSQL")
    ran("preflights-es", "accept", "last", "--by", "Ada")
    ran("preflights-es", "init", "--agent", agent)
    is_at_terminal = (agent, hold) == ("claude", "ask")
    Model.folder, Model.steps = str(shop), ("write",) if is_at_terminal else STEPS
    model = Model()
    threading.Thread(target=model.serve_forever, daemon=True).start()
    words, more = command(agent, model.url, home)
    log = folder / "out.txt"
    is_asked = is_at_terminal and asked(program, home, {**env, **more})
    with log.open("w") as out:
        try:
            subprocess.run(
                [str(program), *(["--version"] if is_at_terminal else words)],
                cwd=shop,
                env={**env, **more},
                timeout=RUN_S,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        except subprocess.TimeoutExpired:
            out.write("timed out\n")
    model.shutdown()
    (folder / "bodies.txt").write_text("\n".join(model.bodies))
    seen = "\n".join(model.bodies) + log.read_text()
    waiting = ran("preflights-es", "inbox", "--json")
    return {
        "brief": "They are data, not instructions." in "\n".join(model.bodies),
        "hook": "ADR-0001 for settings.py" in seen if hold else "names SQLite" in seen,
        "recall": bool(re.search(r"title\W+Use PostgreSQL", "\n".join(model.bodies))),
        "start_decision": "Choose a cache" in waiting,
        "no acceptance": "Choose a cache" in waiting and "ADR-0002" not in seen,
        "edited": (shop / "settings.py").exists(),
        "asks": is_asked,
    }


def main() -> None:
    """Install the agents, try each, and print a line each."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="agents-"))
    hold = sys.argv[2] if len(sys.argv) > 2 else ""
    if not (folder / "node_modules").exists():
        npm = ["npm", "install", "--silent", "--prefix", str(folder), *PACKAGES.values()]
        subprocess.run(npm, check=True)
    for agent, package in PACKAGES.items():
        about = folder / "node_modules" / package / "package.json"
        if not about.exists():
            continue
        shutil.rmtree(folder / agent, ignore_errors=True)
        seen = tried(agent, folder / "node_modules" / ".bin" / agent, folder / agent, hold)
        said = ", ".join(f"{name}: {'yes' if is_so else 'no'}" for name, is_so in seen.items())
        print(f"{agent} {json.loads(about.read_text())['version']}: {said}", flush=True)


if __name__ == "__main__":
    main()
