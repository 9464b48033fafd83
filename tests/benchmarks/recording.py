"""The recorder: against a bare proxy and others, the replay of its log, and groups of its Inputs.

The bare proxy is of aiohttp too: it passes bytes on and does nothing else, and starts anew for each
program, as ours does. What either adds to a call is its time less that of a call without a proxy.
Other work on the machine only adds to times: of each side the least of several rounds counts.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, run
from typing import Final

from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.events import (
    CallRecorded,
    CallsOpened,
    RecordedAnswer,
    RecordedRequest,
)
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.events import Actor, Input
from preflights_es.kernel.session import begin
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, InputGroup
from preflights_es.store import jsonl, stored_events
from preflights_es.use import bootstrap
from preflights_es.use.process import Process
from preflights_es.use.replays import own_code
from tests.benchmarks import floor
from tests.benchmarks.measure import Figure, Pair, paired
from tests.benchmarks.startup import PREFLIGHTS
from tests.benchmarks.writing import SLOW
from tests.cli.program import environment
from tests.markdown import ROOT
from tests.postgres import SAFE, OwnServer

CALLS: Final = {1: 100, 8: 400, 64: 640}
"""Of one measurement, by how many are made at once."""
ROUNDS: Final = 5
ADDED: Final = 1.5
FASTER: Final = 1.0
STRICT: Final = 2.0
GROUPED: Final = 0.1
REPLAYED: Final = 1_000  # calls of one session
IN_GROUPS: Final = 200
PEERS: Final = {"reeltime": 1_000, "vcrpy": 100}
"""Calls that are recorded with each; vcrpy searches its whole tape at each."""

SERVER: Final = """
import asyncio, json
from aiohttp import web
WORDS = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "word " * 200}}]}
ANSWER = json.dumps(WORDS).encode()
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "a few words"}}]}\\n\\n'
async def answer(request):
    if b'"stream"' not in await request.read():
        return web.Response(body=ANSWER, content_type="application/json")
    out = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await out.prepare(request)
    for _ in range(5):
        await out.write(PIECE)
        await asyncio.sleep(0.002)
    return out
"""
PROXY: Final = """
import sys
from aiohttp import ClientSession, TCPConnector, web
OF_ONE = {"host", "connection", "content-length", "transfer-encoding"}
client = None
async def answer(request):
    global client
    client = client or ClientSession(connector=TCPConnector(limit=0), auto_decompress=False)
    sent = [(n, v) for n, v in request.headers.items() if n.lower() not in OF_ONE]
    url, body = sys.argv[1] + request.raw_path, await request.read()
    async with client.request(request.method, url, data=body, headers=sent) as response:
        out = web.StreamResponse(status=response.status)
        for name, value in response.headers.items():
            if name.lower() not in OF_ONE:
                out.headers.add(name, value)
        await out.prepare(request)
        async for piece in response.content.iter_any():
            await out.write(piece)
        await out.write_eof()
    return out
"""
SERVE: Final = """
import socket
listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listening.bind(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
app = web.Application(client_max_size=1 << 30)
app.router.add_route("*", "/{path:.*}", answer)
web.run_app(app, sock=listening, access_log=None, print=None, handler_cancellation=True)
"""
CLIENT: Final = """
import asyncio, json, os, sys
from time import perf_counter
from urllib.parse import urlsplit
at_once, calls, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
at = urlsplit(os.environ["OPENAI_BASE_URL"])
async def ask(reader, writer, number):
    asked = {"model": "m", "messages": [{"role": "user", "content": f"{number} " + "word " * 300}]}
    body = json.dumps(asked | ({"stream": True} if kind == "stream" else {})).encode()
    head = f"POST {at.path}/chat/completions HTTP/1.1\\r\\nHost: {at.netloc}\\r\\n"
    began = perf_counter()
    head += f"Content-Type: application/json\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n"
    writer.write(head.encode() + body)
    head = (await reader.readuntil(b"\\r\\n\\r\\n")).lower()
    if b"content-length:" in head:
        size = int(head.partition(b"content-length:")[2].split()[0])
        await reader.readexactly(size)
        return perf_counter() - began
    first = 0
    while size := int(await reader.readline(), 16):
        await reader.readexactly(size + 2)
        first = first or perf_counter() - began
    await reader.readline()
    return first if kind == "stream" else perf_counter() - began
async def work(first):
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    found = [await ask(reader, writer, first + number) for number in range(calls // at_once)]
    writer.close()
    return found[1:]
async def main():
    lists = await asyncio.gather(*(work(n * 10_000) for n in range(at_once)))
    print(json.dumps([one for some in lists for one in some]))
asyncio.run(main())
"""


def figures() -> list[Figure]:
    """By the clock on the wall, but for the replay."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(["git", "init", "--quiet", "--template="], cwd=folder, check=True)
        with served_code(SERVER) as url:
            found = [
                _added(folder, url, kind=kind, at_once=at_once)
                for kind in ("call", "stream")
                for at_once in CALLS
            ]
            found += [_against(folder, url, name) for name in PEERS]
        return [*found, _replayed(folder), _grouped(folder)]


@contextmanager
def served_code(code: str, *args: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    with Popen([sys.executable, "-c", code + SERVE, *args], stdout=PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


def _added(folder: Path, url: str, *, kind: str, at_once: int) -> Figure:
    asked = (sys.executable, "-c", CLIENT, str(at_once), str(CALLS[at_once]), kind)
    record = (*PREFLIGHTS, "calls", "record", "--")

    def median_s(address: str, *before: str) -> float:
        env = {**environment(folder), "OPENAI_BASE_URL": f"{address}/v1"}
        done = run([*before, *asked], cwd=folder, env=env, stdout=PIPE, stderr=DEVNULL, check=True)
        return float(statistics.median(json.loads(done.stdout)))

    rounds = []
    for _ in range(ROUNDS):
        with served_code(PROXY, url) as bare:
            rounds.append((median_s(url), median_s(url, *record), median_s(bare)))
    direct, ours, theirs = map(min, zip(*rounds, strict=True))
    assert theirs > direct, "the machine has too much other work to measure this"
    pair = Pair(ours - direct, theirs - direct, (ours - direct) / (theirs - direct))
    what = {"call": "a call", "stream": "the first piece of a stream"}[kind]
    return pair.figure(
        f"what the recorder adds to {what}, {at_once} at once, against a bare proxy",
        ADDED,
        lambda taken: f"{taken * 1_000:.2f} ms",
    )


def _against(folder: Path, url: str, name: str) -> Figure:
    """Another recorder, with the same program and Python; without it the limit is missed."""
    sys.path.append(str(ROOT / "docs" / "compare"))
    environments, recorders = import_module("environments"), import_module("recorders")
    package = next(one for one in environments.PACKAGES if one.name == name)
    peer = environments.install_peer(package, Path(sys.prefix) / "compared")
    what = f"{PEERS[name]:,} calls recorded, against {name} {package.version}"
    if not peer.programs:
        return Figure(what, math.inf, FASTER, None, "", f"not installed: {peer.missing}")
    _, ours, *_, theirs = recorders.list_recorders({name: peer})
    ours_s, theirs_s = (
        partial(recorders.time_recording, one, folder, url, PEERS[name])
        for one in (ours._replace(python=theirs.python), theirs)
    )
    return paired(ours_s, theirs_s, ROUNDS).figure(what, FASTER, lambda taken: f"{taken:.2f} s")


# The log -------------------------------------------------------------------------------------


def _inputs(count: int) -> list[Input]:
    actor, at = Actor("script"), 1_790_000_000_000_000
    opened = CallsOpened(
        at=at,
        actor=actor,
        source="record",
        file="python app.py",
        conversation="run",
        about="A question",
        program="0.1.0",
    )
    calls = []
    for number in range(count):
        words = f"Question {number}: " + "what does the customer of the shop want? " * 40
        body = json.dumps({"messages": [{"role": "user", "content": words}], "model": "m"})
        answer = {"choices": [{"message": {"role": "assistant", "content": words[:1_000]}}]}
        asked = RecordedRequest(route="openai", path="/v1/chat/completions", body=body)
        got = RecordedAnswer(type="application/json", text=json.dumps(answer))
        calls.append(CallRecorded(at=at, actor=actor, made_at=at, request=asked, answer=got))
    return [opened, *calls]


def _process(folder: Path, database: str) -> Process:
    return bootstrap.opened_process(folder, database=database).process


def _record(process: Process, parts: Sequence[Sequence[Input]]) -> str:
    """The id of a new session that holds Inputs, each part recorded by a transaction."""
    handle = Handle(process.runner.new_id(), "bench", WORKFLOW, begin(WORKFLOW.decider))
    for part in parts:
        inputs = tuple((one, process.runner.new_id()) for one in part)
        (handle,) = process.runner.submit_groups([InputGroup(handle, inputs)])
    return handle.session_id


def _replayed(folder: Path) -> Figure:
    with closing(_process(folder, str(folder / "log.db"))) as process:
        found = _record(process, [_inputs(REPLAYED)])
        lines = jsonl.encode_event_file(process.store.read(found)).splitlines()

    def ours() -> float:
        began = time.process_time()
        (events,) = stored_events.group_events_by_session(jsonl.stored(lines, "bench")).values()
        assert Replayer(WORKFLOWS, own_code()).replay(events).status == "identical"
        return time.process_time() - began

    def theirs() -> float:
        began = time.process_time()
        (events,) = floor.parsed(lines).values()
        floor.verify(events)
        return time.process_time() - began

    return paired(ours, theirs, 9).figure(
        f"strict replay of {REPLAYED:,} recorded calls, against reading and hashing their events",
        STRICT,
        lambda taken: f"{taken * 1_000:.0f} ms CPU",
    )


def _grouped(folder: Path) -> Figure:
    inputs = _inputs(IN_GROUPS)
    with (
        closing(OwnServer((*SAFE, *SLOW))) as server,
        server.log() as url,
        closing(_process(folder, url)) as process,
    ):

        def seconds(parts: Sequence[Sequence[Input]]) -> float:
            began = time.perf_counter()
            _record(process, parts)
            return (time.perf_counter() - began) / len(inputs)

        pair = paired(lambda: seconds([inputs]), lambda: seconds([[one] for one in inputs]), 5)
    return pair.figure(
        f"{IN_GROUPS} calls on PostgreSQL with a flush of 2 ms, in a group against one by one",
        GROUPED,
        lambda taken: f"{taken * 1_000_000:.0f} us",
    )
