"""The writer of a run: a process of its own that frees calls of secrets and records them.

What the proxy hands over comes by standard input, in frames: four bytes of length, then
MessagePack; the first holds the run, each other one a handful of calls. That they are recorded, or
why not yet, is said on standard output, a line of JSON each time. Within the proxy all of this
would make the program wait.
"""

from __future__ import annotations

import signal
import sys
import time
import zlib
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from preflights_es.features.calls.cleaning import describe_left_out, find_conversation
from preflights_es.features.calls.domain.dialects import parse_json_text
from preflights_es.features.calls.domain.events import PIECES_MAX, CallsMissed, LeftOut
from preflights_es.features.calls.intake import Intake
from preflights_es.features.calls.source_calls import SourceCall
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import Actor
from preflights_es.kernel.json import ABSENT
from preflights_es.kernel.text import one_line
from preflights_es.system import clock_ids
from preflights_es.use import bootstrap
from preflights_es.use.request import Request

HELD_MAX: Final = 64_000_000  # bytes of calls that are not recorded yet, in the proxy
PAUSE_S: Final = 0.5  # seconds between two tries to record
GZIP_OR_DEFLATE: Final = 47  # wbits of zlib: its header says which
LENGTH: Final = 4  # bytes in front of a frame
NICE: Final = 10  # of its process: the program and the proxy come first


# 1. What is handed over ----------------------------------------------------------------------


class RunBegun(msgspec.Struct, frozen=True, array_like=True):
    """The first frame: which run it is, and where it is recorded."""

    run: str
    command: str
    """Its command line, as it was given."""
    database: str
    """Where the user named one; else empty."""
    actor: Actor


class Exchange(SourceCall, array_like=True, kw_only=True):
    """A call whose request and answer are bytes yet; its line is its number in the run."""

    at: int
    line: int = 0
    request: Any = None
    status: int = 0
    body_type: str
    body: bytes
    pieces: list[tuple[int, bytes]] = []
    """Of the answer, as they came, each behind its milliseconds since the request was sent."""


class MissedExchanges(msgspec.Struct, frozen=True, array_like=True):
    """Calls that the log lacks."""

    count: int
    first_at: int
    last_at: int
    why: str


Frame = tuple[list[Exchange], MissedExchanges | None]
"""What is to be recorded; at the end of the run, what of it could not be handed over."""


class Recorded(msgspec.Struct, frozen=True):
    """That a handful is recorded, or why the log does not take it at the moment."""

    session_id: str = ""
    refused: MissedExchanges | None = None
    """Those that could not be recorded."""
    trouble: str = ""
    """Empty where the handful is recorded."""


def write_frame(frame: object) -> bytes:
    """The bytes of a frame."""
    data = msgspec.msgpack.encode(frame)
    return len(data).to_bytes(LENGTH, "big") + data


def _read_frame(source: BinaryIO, kind: Any) -> Any:
    """The next frame, of such a type; None where the proxy has no more, or ended within one."""
    size = int.from_bytes(source.read(LENGTH), "big")
    data = source.read(size)
    return msgspec.msgpack.decode(data, type=kind) if size and len(data) == size else None


# 2. As a source holds it ---------------------------------------------------------------------


def read_exchange(run: str, one: Exchange) -> SourceCall:
    """An exchange as a call that can be taken in."""
    request, left_out = read_request_body(one.body, one.body_type)
    headers = dict(one.headers)
    content_type = headers.pop("content-type", "")
    raw = b"".join(piece for _, piece in one.pieces)
    answer = _read_answer_text(raw, headers.get("content-encoding", "").lower())
    if answer is None:
        left_out += (describe_left_out("answer", raw, content_type),)
    times_ms = (0, *(after_ms for after_ms, _ in one.pieces))
    has_pieces = answer is not None and answer.encode() == raw and 1 < len(one.pieces) <= PIECES_MAX
    return msgspec.structs.replace(
        one,
        id=f"{run}\0{one.line}",
        session=run,
        headers=tuple(headers.items()),
        request=request,
        content_type=content_type,
        answer=answer or "",
        cuts=tuple(len(piece) for _, piece in one.pieces) if has_pieces else (),
        gaps_ms=tuple(b - a for a, b in pairwise(times_ms)) if has_pieces else (),
        left_out=left_out,
    )


def read_request_body(body: bytes, content_type: str) -> tuple[Any, tuple[LeftOut, ...]]:
    """The JSON of a body, else its text; of one that is no text its hash, and what is left out."""
    if not body:
        return None, ()
    same, boundary = body, content_type.partition("boundary=")[2].partition(";")[0].strip('" ')
    if boundary:
        # Of a form with files: each client draws it anew, and a replay has to find the call.
        same = body.replace(boundary.encode(), b"boundary")
    try:
        text = same.decode()
    except UnicodeDecodeError:
        left_out = describe_left_out("request", body, content_type.partition(";")[0])
        return sha256(same).hexdigest(), (left_out,)
    value = parse_json_text(text)
    return (text if value is ABSENT else value), ()


def _read_answer_text(raw: bytes, encoding: str) -> str | None:
    """None where it is no text, or packed in a way that is not read."""
    try:
        if encoding not in ("", "identity"):
            raw = zlib.decompressobj(GZIP_OR_DEFLATE).decompress(raw, HELD_MAX)
        return raw.decode()
    except (zlib.error, UnicodeDecodeError):
        return None


# 3. Recording --------------------------------------------------------------------------------


class RunWriter:
    """Records the calls of one run, and tries again for as long as the log takes none."""

    def __init__(self, request: Request, begun: RunBegun) -> None:
        self._request = request
        self._begun = begun
        self._intake: Intake | None = None

    def record(self, exchanges: Sequence[Exchange], missed: MissedExchanges | None) -> None:
        """Record a handful, in one transaction where that can be, and say so."""
        while True:
            try:
                # Waiting long for a lock, it would not see in time that there is room again.
                with self._request.process.store.database.hurried():
                    said = self._take(exchanges, missed)
            except PreflightsError as error:
                # What is recorded already is known by its id.
                self._intake, said = None, Recorded(trouble=one_line(str(error)))
            sys.stdout.buffer.write(msgspec.json.encode(said) + b"\n")
            sys.stdout.buffer.flush()
            if not said.trouble:
                return
            time.sleep(PAUSE_S)

    def _take(self, exchanges: Sequence[Exchange], missed: MissedExchanges | None) -> Recorded:
        begun, request = self._begun, self._request
        if self._intake is None:
            self._intake = Intake(request, begun.command, "record")
        calls = (read_exchange(begun.run, one) for one in exchanges)
        counts = self._intake.take(calls, lambda _: None)
        if missed is not None:
            said = msgspec.structs.asdict(missed)
            event = CallsMissed(at=clock_ids.now(), actor=request.actor, **said)
            self._intake.count_missed(begun.run, event)
        refused = None
        if count := counts.refused.total() + counts.erased:
            why = "; ".join(counts.refused) or "their session was erased"
            refused = MissedExchanges(count, exchanges[0].at, exchanges[-1].at, why)
        return Recorded(find_conversation(request.process, begun.run), refused)


def main() -> None:
    """Record until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program's, not ours
    begun = _read_frame(sys.stdin.buffer, RunBegun)
    if begun is None:
        return
    opened = bootstrap.opened_process(Path.cwd(), database=begun.database or None)
    with closing(opened.request(begun.actor)) as request:
        writer = RunWriter(request, begun)
        while (frame := _read_frame(sys.stdin.buffer, Frame)) is not None:
            writer.record(*frame)


if __name__ == "__main__":
    main()
