"""`calls record` and `calls replay`: a program's calls recorded, and given again offline."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import pytest

from preflights_es.features.calls.recording import FAILURES_MAX, Handover
from preflights_es.features.calls.serving import serve_program
from preflights_es.features.calls.writer import LENGTH, Exchange, RunBegun, write_frame
from preflights_es.kernel.events import Actor
from tests.cli.program import Project, Result
from tests.providers.server import (
    FakeAPI,
    Reply,
    Request,
    Sent,
    body,
    chat_completion,
    dripping,
    json_body,
    status,
    text,
)
from tests.store.small_disk import SmallDisk, on_a_disk

PROGRAM: Final = (sys.executable, str(Path(__file__).with_name("calling_program.py")))
KEY: Final = "sk-proj-Zyx987Wvu654Tsr321Qpo098"


def deltas(said: str) -> bytes:
    """OpenAI's stream of a text, two letters an event."""
    events = [
        {"id": "c", "choices": [{"index": 0, "delta": {"content": said[at : at + 2]}}]}
        for at in range(0, len(said), 2)
    ]
    lines = [json.dumps(one, ensure_ascii=False) for one in events]
    return "".join(f"data: {line}\n\n" for line in (*lines, "[DONE]")).encode()


def anthropic_stream(said: str) -> bytes:
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "c"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": said}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]
    parts = (f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
    return "".join(parts).encode()


class Model:
    """Answers what it is asked; each answer has a number, so that none can be mistaken."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, request: Request) -> Sent:
        self.number += 1
        asked = request.body
        said = f"answer {self.number} to {crc32(str(asked).encode())}"
        return self._reply(request, asked, said)(request)

    def _reply(self, request: Request, asked: Any, said: str) -> Reply:
        if request.path.endswith("/embeddings"):
            data = [{"object": "embedding", "index": 0, "embedding": [0.5, self.number]}]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return json_body({"object": "list", "data": data, "model": "e", "usage": usage})
        if asked.get("stream"):
            said = f"My key is {KEY}, keep it." if "Stream a key" in str(asked) else f"grüß {said}"
            if request.path.endswith("/messages"):
                return body(anthropic_stream(said), "text/event-stream")
            pace = 0.02 if "left" in str(asked) else 0.0002
            return dripping(body(deltas(said), "text/event-stream"), pace)
        if asked.get("tools"):
            answer = chat_completion("", "tool_calls")
            function = {"name": "weather", "arguments": '{"city": "Graz"}'}
            call = {"id": "call_abcdef123456", "type": "function", "function": function}
            answer["choices"][0]["message"]["tool_calls"] = [call]
            return json_body(answer)
        return text(said)


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as made:
        made.script(Model())
        yield made


def keys(api: FakeAPI | None = None) -> dict[str, str]:
    """The environment of the program; without a server, one at which nothing listens."""
    return {
        "OPENAI_API_KEY": "sk-none",
        "ANTHROPIC_API_KEY": "none",
        "OPENAI_BASE_URL": api.openai if api else "http://127.0.0.1:9/v1",
        "ANTHROPIC_BASE_URL": api.anthropic if api else "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }


def record(project: Project, api: FakeAPI | None, *parts: str) -> Result:
    return project.run("calls", "record", "--", *PROGRAM, *parts, env=keys(api))


def replay(project: Project, *parts: str, **env: str) -> Result:
    return project.run("calls", "replay", "last", "--", *PROGRAM, *parts, env=keys() | env)


def recorded_calls(project: Project) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = project.run("calls", "show", "last", "--json").json["calls"]
    return calls


def exported(project: Project) -> tuple[str, str, str]:
    """The command that writes the events of the only session."""
    (session,) = project.run("calls", "--json").json["sessions"]
    return "admin", "export", session["session_id"]


def log_bytes(project: Project) -> bytes:
    return b"".join(path.read_bytes() for path in project.log.parent.glob("*"))


@pytest.mark.slow("whole runs")
def test_a_program_gets_the_recorded_answers_without_a_server(empty: Project) -> None:
    parts = ("plain", "claude", "tools", "crowd", "threads")
    with FakeAPI() as api:
        api.script(Model())
        first = record(empty, api, *parts)
        assert first.code == 0, first
        sent = len(api.requests)
    assert sent == 6 + 2 + 2 + 16 + 24
    assert f"Recorded {sent} calls in " in first.err
    strict = empty.run("replay", exported(empty)[-1])
    assert strict.code == 0
    assert re.search(r"\n`preflights calls replay \w+ -- COMMAND` runs the .*\n$", strict.out)
    assert len(recorded_calls(empty)) == sent
    again = replay(empty, *parts)
    assert (again.code, again.out) == (0, first.out), again
    assert f"Served {sent} of {sent} recorded calls." in again.err


@pytest.mark.slow("whole runs")
def test_a_call_that_differs_is_named_and_refused(empty: Project, api: FakeAPI) -> None:
    assert record(empty, api, "raw").code == 0
    sent = len(api.requests)
    again = replay(empty, "changed")
    assert again.code == 1
    kind, _, said = again.out.partition(" ")
    assert kind == "UnprocessableEntityError"
    differs = 'differs from call 1 at /messages/0/content: recorded "raw 0", now '
    assert (
        f'POST /v1/chat/completions of openai {differs}"What is a tree?"'
        in json.loads(said)["message"]
    )
    assert differs in again.err
    assert "did not make 6 recorded calls: 1, 2, 3, 4, 5, 6\n" in again.err
    assert len(api.requests) == sent


def test_one_call_too_many_is_said(empty: Project, api: FakeAPI) -> None:
    assert record(empty, api, "gone", "other").code == 0
    again = replay(empty, "gone", "gone")
    assert again.code == 1
    assert "is recorded less often than it is called: call 1 was served" in again.err


def test_pointers_of_the_settings_are_left_out(empty: Project, api: FakeAPI) -> None:
    assert record(empty, api, "gone").code == 0
    file = empty.folder / "preflights.toml"
    file.write_text('[calls]\nignore = ["/messages/0/content", "/not/there"]\n')
    assert replay(empty, "other").code == 0
    file.write_text('[calls]\nignore = ["messages"]\n')
    replay(empty, "gone").refused(
        2, "calls.ignore: found 'messages', expected a JSON Pointer such as /metadata/request_id"
    )


@pytest.mark.slow("whole runs")
def test_the_exit_code_is_that_of_the_program(empty: Project, api: FakeAPI) -> None:
    assert record(empty, api, "raw", "7").code == 7
    assert replay(empty, "raw", "7").code == 7
    assert replay(empty, "9").code == 9
    nothing = record(empty, api)
    assert nothing.code == 1
    assert "none of the addresses in OPENAI_BASE_URL, ANTHROPIC_BASE_URL" in nothing.err
    for verb in (("record",), ("replay", "last")):
        found = empty.run("calls", *verb, "--", "no-such-program")
        found.refused(1, "'no-such-program' cannot be started: No such file or directory; name one")


def test_an_answer_comes_in_the_same_pieces(empty: Project, api: FakeAPI) -> None:
    assert record(empty, api, "stream").code == 0
    lines = empty.run(*exported(empty)).out
    (cuts,) = re.findall(r'"cuts":(\[[\d,]+\])', lines)
    (gaps,) = re.findall(r'"gaps_ms":(\[[\d,]+\])', lines)
    assert len(json.loads(cuts)) == len(json.loads(gaps)) > 1
    again = replay(empty, "chunks")
    assert (again.code, json.loads(again.out)) == (0, json.loads(cuts)), again


def test_ctrl_c_is_the_program_s_and_what_was_called_is_recorded(
    empty: Project, api: FakeAPI
) -> None:
    args = ("calls", "record", "--", *PROGRAM, "raw", "waits")
    started = empty.started(*args, env=keys(api), leads=True)
    assert started.stdout is not None
    assert all(started.stdout.readline() for _ in range(7))
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (3, b"interrupted\n"), err
    assert len(recorded_calls(empty)) == 6


def test_ctrl_c_between_the_program_s_end_and_the_wait_for_the_log_loses_no_call(
    empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unasked(*_: object) -> None:
        """Of a program that makes no call."""

    async def run() -> Handover:
        handover = Handover(RunBegun("run", "true", str(empty.log), Actor("user", "Ada")))
        handover.put(Exchange(at=1, status=200, body_type="", body=b"{}", pieces=[(1, b"{}")]), 4)
        told = (lambda _: os.environ, unasked, handover.give_up)
        async with serve_program(["true"], *told) as code:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.raise_signal(number)
                await asyncio.sleep(0)
            await handover.close()
        assert code == 0
        return handover

    monkeypatch.setenv("PREFLIGHTS_PROJECT", "shop")
    assert asyncio.run(run()).recorded == 1


def test_without_the_extra_one_line_names_it(empty: Project) -> None:
    hides = "import sys\nsys.modules['aiohttp'] = None\n"
    (empty.folder / "sitecustomize.py").write_text(hides)
    env = {"PYTHONPATH": str(empty.folder)}
    found = empty.run("calls", "record", "--", "true", env=env, starts=True)
    found.refused(2, "recording and replaying calls needs the extra `record`: `")


@pytest.mark.slow("kills")
def test_a_killed_writer_is_started_anew_and_nothing_is_lost(empty: Project, api: FakeAPI) -> None:
    found = record(empty, api, "raw", "kills", "raw", "kills", "raw")
    assert found.code == 0, found
    assert len(recorded_calls(empty)) == 6 + 6 + 6


@pytest.mark.slow("kills")
def test_a_call_at_which_the_writer_ends_again_and_again_is_counted(
    empty: Project, api: FakeAPI
) -> None:
    assert record(empty, api, "gone").code == 0
    with closing(sqlite3.connect(empty.log, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = empty.started("calls", "record", "--", *PROGRAM, "raw", env=keys(api))
        assert started.stdout is not None
        assert all(started.stdout.readline() for _ in range(6))
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
        killed = set[str]()
        while len(killed) < FAILURES_MAX:
            for number in children.read_text().split():
                with suppress(FileNotFoundError):
                    is_writer = b"calls.writer" in Path(f"/proc/{number}/cmdline").read_bytes()
                    if is_writer and number not in killed:
                        os.kill(int(number), signal.SIGKILL)
                        killed.add(number)
            time.sleep(0.01)
        other.execute("ROLLBACK")
    _, err = started.communicate(timeout=60)
    assert (started.returncode, b"the log lacks 1 call\n" in err) == (1, True), err
    shown = empty.run("calls", "show", "last", "--json").json
    assert (len(shown["calls"]), shown["missed"]) == (5, 1)


@pytest.mark.slow("kills")
def test_where_each_writer_ends_at_once_the_end_of_the_run_tries_once_more(
    empty: Project, api: FakeAPI
) -> None:
    assert record(empty, api, "gone").code == 0
    with closing(sqlite3.connect(empty.log, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = empty.started("calls", "record", "--", *PROGRAM, "hunts", "waits", env=keys(api))
        assert started.stdout is not None
        assert all(started.stdout.readline() for _ in range(7))
        other.execute("ROLLBACK")
    started.send_signal(signal.SIGTERM)
    _, err = started.communicate(timeout=60)
    assert b"the log lacks 3 calls\n" in err, err
    assert len(recorded_calls(empty)) == 3


def test_a_writer_ends_at_what_it_cannot_read(empty: Project) -> None:
    begun = RunBegun("run", "app", str(empty.log), Actor("script"))
    writer = (sys.executable, "-P", "-m", "preflights_es.features.calls.writer")
    sent = write_frame(begun) + (1).to_bytes(LENGTH, "big") + b"x"
    found = empty.run(program=writer, stdin=sent)
    assert "DecodeError" in found.err or "ValidationError" in found.err, found


@pytest.mark.slow("whole runs")
def test_a_log_that_is_locked_delays_no_call(empty: Project, api: FakeAPI) -> None:
    assert record(empty, api, "gone").code == 0
    with closing(sqlite3.connect(empty.log, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = empty.started("calls", "record", "--", *PROGRAM, "raw", env=keys(api))
        assert started.stdout is not None
        said = [started.stdout.readline() for _ in range(6)]
        other.execute("ROLLBACK")
    _, err = started.communicate(timeout=60)
    assert (started.returncode, all(said)) == (0, True), err
    assert len(recorded_calls(empty)) == 6


@pytest.mark.slow("whole runs")
def test_a_log_that_stays_locked_is_told(empty: Project, api: FakeAPI) -> None:
    assert record(empty, api, "gone").code == 0
    with closing(sqlite3.connect(empty.log, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        found = record(empty, api, "raw")
    assert found.code == 1
    assert len(found.out.splitlines()) == 6
    assert "the log took nothing at the end: " in found.err
    assert "the log lacks 6 calls" in found.err


def test_ctrl_c_ends_the_wait_for_a_locked_log(empty: Project, api: FakeAPI) -> None:
    assert record(empty, api, "gone").code == 0
    with closing(sqlite3.connect(empty.log, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = empty.started("calls", "record", "--", *PROGRAM, "raw", env=keys(api))
        assert started.stdout is not None
        assert all(started.stdout.readline() for _ in range(6))
        while Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().count(" ") > 1:
            time.sleep(0.01)
        time.sleep(0.5)  # before the wait begins, Ctrl-C does nothing
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=60)
    assert started.returncode == 1, err
    assert b"the log lacks 6 calls" in err


def test_a_provider_that_is_gone_is_recorded_and_replayed(empty: Project) -> None:
    first = record(empty, None, "gone")
    assert (first.code, first.out) == (0, "RemoteDisconnected\n"), first
    assert {call["ended"] for call in recorded_calls(empty)} == {"no answer: ClientConnectorError"}
    assert "no whole answer came to 1 call; http://127.0.0.1:9/v1 does not answer\n" in first.err
    again = replay(empty, "gone")
    assert (again.code, again.out) == (0, first.out), again


def test_an_answer_that_breaks_off_breaks_off_again(empty: Project, api: FakeAPI) -> None:
    whole = body(deltas("a long answer that is cut"), "text/event-stream")
    api.script(lambda request: replace(whole(request), cut_at=150))
    first = record(empty, api, "stream")
    assert first.out.startswith("broke off after")
    assert recorded_calls(empty)[0]["ended"] == "the connection broke: ClientPayloadError"
    again = replay(empty, "stream")
    assert again.out == first.out
    assert "Served 1 of 1 recorded call." in again.err


def test_a_program_may_leave_a_stream(empty: Project, api: FakeAPI) -> None:
    first = record(empty, api, "leaves", "raw")
    assert first.code == 0, first
    calls = recorded_calls(empty)
    assert "the program left" in {call["ended"] for call in calls}
    again = replay(empty, "leaves", "raw")
    assert (again.code, again.out) == (0, first.out), again


def test_errors_of_the_provider_are_replayed(empty: Project) -> None:
    with FakeAPI() as api:
        api.script(status(529, "overloaded"), Model())
        first = record(empty, api, "gone", "gone")
    assert first.code == 0, first
    again = replay(empty, "gone", "gone")
    assert (again.code, again.out) == (0, first.out)
    assert [call["status"] for call in recorded_calls(empty)] == [529, 200]


def test_no_secret_reaches_the_log(empty: Project, api: FakeAPI) -> None:
    secret = "--token=ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
    found = record(empty, api, "key", "raw", "0", secret)
    assert found.code == 0, found
    raw = log_bytes(empty)
    for piece in (KEY, KEY[8:], "sk-proj-Abc123", "sk-none", secret[8:], "lee-4711"):
        assert piece.encode() not in raw
    assert recorded_calls(empty)[0]["answer"] == "My key is [redacted:key], keep it."
    assert len(re.findall('"cuts":', empty.run(*exported(empty)).out)) == 0
    assert replay(empty, "key", "raw").code == 0
    assert "Erased 1 session" in empty.run("calls", "erase", "--user", "lee-4711", "--yes").out


def test_the_proxy_answers_the_program_alone(empty: Project, api: FakeAPI) -> None:
    probe = (
        "import os, http.client\n"
        "from urllib.parse import urlsplit\n"
        "parts = urlsplit(os.environ['OPENAI_BASE_URL'])\n"
        "def asked(path, **headers):\n"
        "    it = http.client.HTTPConnection(parts.netloc)\n"
        "    it.request('POST', path, '{}', headers)\n"
        "    return it.getresponse().status\n"
        "path = parts.path + '/chat/completions'\n"
        "print(asked(path), asked(path, Host='evil.example'), asked(path, Origin='null'),\n"
        "    asked('/v1/chat/completions'),\n"
        "    asked(path, Connection='upgrade', Upgrade='websocket'))\n"
        "print(os.environ['NO_PROXY'])\n"
    )
    env = keys(api) | {"NO_PROXY": "intern.example"}
    found = empty.run("calls", "record", "--", sys.executable, "-c", probe, env=env)
    assert found.out == "200 421 403 404 501\nintern.example,127.0.0.1,localhost\n", found
    assert len(api.requests) == 1


def test_redirects_are_passed_on(empty: Project, api: FakeAPI) -> None:
    api.script(status(307, location="/elsewhere"))
    probe = (
        "import os, urllib.request as u\n"
        "class No(u.HTTPRedirectHandler):\n"
        "    def redirect_request(self, *_): return None\n"
        "url = os.environ['GROQ_URL'] + '/chat/completions?api-version=1&key=' + 'secret'\n"
        "try: u.build_opener(No, u.ProxyHandler({})).open(u.Request(url, b'{}'))\n"
        "except OSError as error: print(error.code, error.headers['location'])\n"
    )
    said = ("--route", f"groq={api.openai}", "--var", "GROQ_URL", "--", sys.executable, "-c", probe)
    found = empty.run("calls", "record", *said)
    assert (found.code, found.out) == (0, f"307 {api.url}/elsewhere\n"), found
    assert f"--route groq={api.openai} --var GROQ_URL -- ...` gives" in found.err
    assert api.requests[0].path == "/v1/chat/completions?api-version=1&key=secret"
    assert b"key=secret" not in log_bytes(empty)
    api.script(Model())
    again = empty.run("calls", "replay", "last", *said)
    assert (again.code, again.out) == (0, "307 None\n"), again  # it leads to no recorded call
    assert len(api.requests) == 1


@pytest.mark.slow("whole runs")
def test_a_program_goes_on_by_the_recorded_headers(empty: Project, api: FakeAPI) -> None:
    api.script(
        status(307, location=f"{api.url}/v1/new/chat/completions"),
        json_body(chat_completion("from there")),
        status(308, location="../more/chat/completions?key=secret"),
        json_body(chat_completion("and there")),
        status(503, x_should_retry="false"),
    )
    first = record(empty, api, "changed", "changed", "changed")
    assert first.out.startswith("from there\nand there\nInternalServerError"), first
    places = ["chat", "new/chat", "chat", "more/chat", "chat"]
    assert [one.path.partition("?")[0] for one in api.requests] == [
        f"/v1/{place}/completions" for place in places
    ]
    assert b"key=secret" not in log_bytes(empty)
    assert (found := replay(empty, "changed", "changed", "changed")).out == first.out, found


def test_a_route_is_one(empty: Project) -> None:
    for said, words in (
        (("--route", "groq"), "found 'groq', expected NAME=URL"),
        (("--var", "X"), "--var X: it belongs to a --route"),
    ):
        empty.run("calls", "record", *said, "--", "true").refused(2, words)
    found = empty.run("calls", "record", "--route", "groq=ftp://x", "--", "true")
    found.refused(1, "the address of groq: expected an address such as http://localhost")


def test_what_was_imported_cannot_be_replayed(empty: Project) -> None:
    line = {"request": "Where is it?", "response": "Here."}
    (empty.folder / "calls.jsonl").write_text(json.dumps(line))
    assert empty.run("calls", "import", "calls.jsonl").code == 0
    (one,) = empty.run("calls", "--json").json["sessions"]
    found = empty.run("calls", "replay", one["session_id"], "--", "true")
    found.refused(1, "was taken from calls.jsonl: expected a recorded run")


def test_a_recording_is_replayed_from_the_log_that_imports_it(empty: Project, api: FakeAPI) -> None:
    first = record(empty, api, "raw", "named")
    assert first.code == 0, first
    file, other = empty.folder / "run.jsonl", f"sqlite:///{empty.folder}/other.db"
    log = {"PREFLIGHTS_DATABASE_URL": other}
    empty.run(*exported(empty), "-o", str(file))
    (empty.folder / "calls.jsonl").write_text('{"request": "Where is it?", "response": "Here."}')
    assert empty.run("calls", "import", "calls.jsonl", env=log).code == 0
    replay(empty, "raw", **log).refused(1, "this project has no recorded run yet")
    assert empty.run("admin", "import", str(file), env=log).code == 0
    again = replay(empty, "raw", "named", **log)
    assert (again.code, again.out) == (0, first.out), again


@pytest.mark.slow("sizes")
def test_a_call_without_room_in_memory_is_counted(empty: Project, api: FakeAPI) -> None:
    api.script(text("ok"))
    found = record(empty, api, "raw", "big", "raw")
    assert found.code == 1, found
    assert "the log lacks 1 call\n" in found.err
    assert len(recorded_calls(empty)) == 12
    shown = empty.run("calls", "show", "last", "--json").json
    assert shown["missed"] == 1
    assert '"why":"there was no room in memory"' in empty.run(*exported(empty)).out
    again = replay(empty, "raw", "raw")
    assert (again.code, "the recording lacks 1 call" in again.err) == (1, True), again


@pytest.mark.slow("sizes")
def test_a_run_of_more_calls_than_a_session_holds_is_replayed(empty: Project, api: FakeAPI) -> None:
    parts = ("raw",) * 170
    first = record(empty, api, *parts)
    assert first.code == 0, first
    assert [one["calls"] for one in empty.run("calls", "--json").json["sessions"]] == [20, 1000]
    again = replay(empty, *parts)
    assert (again.code, again.out) == (0, first.out)


@pytest.mark.slow("full disk")
@on_a_disk("2m")
def test_a_disk_that_is_full_for_a_while_costs_no_call(disk: SmallDisk, empty: Project) -> None:
    ballast = disk.folder / "fill"
    program = " ".join(PROGRAM)
    script = (
        f"{program} raw; sleep 1; dd if=/dev/zero of={ballast} bs=1k 2>/dev/null; "
        f"{program} {'raw ' * 20}; sleep 1; $LAST; {program} raw"
    )
    log = {"PREFLIGHTS_DATABASE_URL": f"sqlite:///{disk.folder}/log.db", "PREFLIGHTS_PROJECT": "p"}
    with FakeAPI() as api:
        api.script(Model())
        env = keys(api) | log
        for last, code, told in (
            (f"rm {ballast}", 0, "Recorded 132 calls in "),
            ("true", 1, "the log took nothing at the end: the log cannot be used: "),
        ):
            said = ("calls", "record", "--", "sh", "-c", script)
            found = empty.run(*said, env=env | {"LAST": last})
            assert (found.code, found.out.count("answer")) == (code, 132), found
            assert told in found.err


@pytest.mark.slow("second engine")
def test_a_run_is_recorded_in_postgresql(empty: Project, postgres: str, api: FakeAPI) -> None:
    api.script(Model())
    log = {"PREFLIGHTS_DATABASE_URL": postgres, "PREFLIGHTS_PROJECT": "p"}
    command = ("--", *PROGRAM, "raw", "kills", "raw")
    first = empty.run("calls", "record", *command, env=keys(api) | log)
    assert first.code == 0, first
    again = empty.run("calls", "replay", "last", *command, env=keys() | log)
    assert (again.code, again.out) == (0, first.out), again
