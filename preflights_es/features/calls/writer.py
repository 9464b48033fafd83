"""The writer of a run: a process of its own that frees calls of secrets and records them.

What the proxy hands over comes by standard input, in frames: four bytes of length, then
MessagePack; the first holds the run, each other one a handful of calls, which is one transaction.
What is recorded is said on standard output, a line of JSON each time. Within the proxy all of this
would make the program wait.
"""

from __future__ import annotations

import signal
import sys
import time
import zlib
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

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
PAUSES_S: Final = (0.1, 2.0)  # seconds between two tries to record: the first, the longest
LENGTH: Final = 4  # bytes in front of a frame
NICE: Final = 10  # of its process: the program and the proxy come first


# 1. What is handed over ----------------------------------------------------------------------


class RunBegun(msgspec.Struct, frozen=True, tag="begun", array_like=True):
    """The first frame: which run it is, and where it is recorded."""

    run: str
    command: str
    """Its command line, freed of secrets."""
    database: str
    project: str
    actor: Actor


class Exchange(msgspec.Struct, frozen=True, tag="exchange", array_like=True, kw_only=True):
    """A request of the program and what came back, as bytes."""

    at: int
    """Microseconds since 1970 UTC: when the request came."""
    route: str
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    """Of the answer."""
    body_type: str
    body: bytes
    status: int = 0
    pieces: tuple[bytes, ...] = ()
    """Of the answer, as they came."""
    times_ms: tuple[int, ...] = ()
    """When each of them came, since the request was sent."""
    ended: str = ""


class MissedExchanges(msgspec.Struct, frozen=True, tag="missed", array_like=True, kw_only=True):
    """Calls that could not be handed over."""

    count: int
    first_at: int
    last_at: int
    why: str


class Recorded(msgspec.Struct, frozen=True):
    """What the writer says."""

    upto: int = 0
    """The number of the last that is recorded, with all before it."""
    session_id: str = ""
    refused: int = 0
    """Calls among them that could not be recorded."""
    trouble: str = ""
    """Why the log takes nothing at the moment."""


Held = Exchange | MissedExchanges
Handful = tuple[int, list[Held]]
"""The number of the first, and some in a row."""


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


def read_exchange(run: str, number: int, one: Exchange) -> SourceCall:
    """An exchange as a call that can be taken in."""
    request, left_out = read_request_body(one.body, one.body_type)
    headers = dict(one.headers)
    content_type = headers.pop("content-type", "")
    raw = b"".join(one.pieces)
    answer = _read_answer_text(raw, headers.get("content-encoding", "").lower())
    if answer is None:
        size, digest = len(raw), sha256(raw).hexdigest()
        left_out += (LeftOut(part="answer", size=size, type=content_type, sha256=digest),)
    has_pieces = answer is not None and answer.encode() == raw and 1 < len(one.pieces) <= PIECES_MAX
    return SourceCall(
        line=number,
        id=f"{run}\0{number}",
        session=run,
        at=one.at,
        route=one.route,
        method=one.method,
        path=one.path,
        headers=tuple(headers.items()),
        request=request,
        status=one.status,
        content_type=content_type,
        answer=answer or "",
        ended=one.ended,
        cuts=tuple(map(len, one.pieces)) if has_pieces else (),
        gaps_ms=tuple(b - a for a, b in pairwise((0, *one.times_ms))) if has_pieces else (),
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
        digest, size = sha256(body).hexdigest(), len(body)
        kind = content_type.partition(";")[0]
        left_out = LeftOut(part="request", size=size, type=kind, sha256=digest)
        return sha256(same).hexdigest(), (left_out,)
    value = parse_json_text(text)
    return (text if value is ABSENT else value), ()


def _read_answer_text(raw: bytes, encoding: str) -> str | None:
    """None where it is no text, or packed in a way that is not read."""
    try:
        if encoding in ("gzip", "deflate"):
            raw = zlib.decompressobj(47 if encoding == "gzip" else 15).decompress(raw, HELD_MAX)
        elif encoding not in ("", "identity"):
            return None
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

    def record(self, first: int, held: Sequence[Held]) -> None:
        """Record a handful, in one transaction where that can be, and say so."""
        pause, longest = PAUSES_S
        while True:
            try:
                # Waiting long for a lock, it would not see in time that there is room again.
                with self._request.process.store.database.hurried():
                    said = self._take(first, held)
                break
            except PreflightsError as error:
                # What is recorded already is known by its id.
                self._intake = None
                _say(Recorded(trouble=one_line(str(error))))
                time.sleep(pause)
                pause = min(2 * pause, longest)
        _say(said)

    def _take(self, first: int, held: Sequence[Held]) -> Recorded:
        run, request = self._begun.run, self._request
        if self._intake is None:
            self._intake = Intake(request, self._begun.command, "record", self._begun.project)
        intake, numbered = self._intake, [*enumerate(held, first)]
        before, erased = intake.counts.refused.copy(), intake.counts.erased
        calls = [read_exchange(run, n, one) for n, one in numbered if isinstance(one, Exchange)]
        intake.take(calls, lambda _: None)
        missed = [(n, one) for n, one in numbered if isinstance(one, MissedExchanges)]
        last = first + len(held) - 1
        if refused := intake.counts.refused - before:
            times = [call.at for call in calls if call.at is not None]
            one = MissedExchanges(
                count=refused.total(), first_at=times[0], last_at=times[-1], why="; ".join(refused)
            )
            missed.append((-last, one))
        for number, one in missed:
            said = msgspec.structs.asdict(one)
            counted = CallsMissed(at=clock_ids.now(), actor=request.actor, **said)
            intake.count_missed(run, number, counted)
        return Recorded(
            upto=last,
            session_id=min(intake.counts.sessions, default=""),
            refused=refused.total() + intake.counts.erased - erased,
        )


def _say(said: Recorded) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(said) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    """Record until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program's, not ours
    begun = _read_frame(sys.stdin.buffer, RunBegun)
    if begun is None:
        return
    opened = bootstrap.opened_process(Path.cwd(), database=begun.database or None)
    request = opened.request(begun.actor)
    writer = RunWriter(request, begun)
    try:
        while (handful := _read_frame(sys.stdin.buffer, Handful)) is not None:
            writer.record(*handful)
    finally:
        request.close()


if __name__ == "__main__":
    main()
