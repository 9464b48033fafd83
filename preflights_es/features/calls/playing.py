"""Run a program again with the answers that were recorded; nothing is asked of a model."""

from __future__ import annotations

import asyncio
import copy
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import accumulate, count
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.features.calls.cleaning import CallCleaner, digest_request
from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.calls import WholeCall, join_calls
from preflights_es.features.calls.domain.dialects import json_text, split_pointer, turns_of_request
from preflights_es.features.calls.domain.events import CallsOpened
from preflights_es.features.calls.recording import Route, build_environment
from preflights_es.features.calls.serving import cut_off, serve_program
from preflights_es.features.calls.source_calls import SourceCall
from preflights_es.features.calls.use import load_call_events
from preflights_es.features.calls.writer import read_request_body
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import ABSENT, canonical_json, differences
from preflights_es.kernel.text import one_line, shortened
from preflights_es.use.request import Request
from preflights_es.use.results import Result

SHOWN_MAX: Final = 80  # characters of a value that differs
TOLD_MAX: Final = 20  # requests without a recorded answer that are told one by one


class ReplayedRun(Result, frozen=True, tag_field="format", tag="calls-replay/1"):
    """What came of a run with recorded answers."""

    session_id: str
    exit_code: int
    """Of the program."""
    served: int
    """Calls that got the recorded answer."""
    not_recorded: int
    """Calls that got none: they differ from each that is recorded, or come once more."""
    differences: tuple[str, ...]
    """Why, for the first of those."""
    not_asked: tuple[int, ...]
    """Numbers of recorded calls that the program did not make."""
    missed: int
    """Calls that the recording lacks."""


class RecordedCalls(NamedTuple):
    """The calls of a run, of all its sessions."""

    session_id: str
    calls: list[WholeCall]
    """In the order in which they were made; their numbers go on from session to session."""
    missed: int


def read_recorded_calls(request: Request, session: str) -> RecordedCalls:
    """The calls of the run that a session is of.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        Refused: it is no session of a recorded run.
    """
    handle, events = load_call_events(request, session)
    opened = next((one for one in events if isinstance(one, CallsOpened)), None)
    if opened is None or opened.source != "record":
        found = "was erased" if opened is None else f"was taken from {opened.file}"
        raise Refused(f"session {handle.session_id} {found}: expected a recorded run")
    cleaner = CallCleaner(request.process.log_id(), "record", ())
    calls, missed, first = list[WholeCall](), 0, ""
    for part in count(1):
        input_id = cleaner.name("conversation", f"{opened.conversation}\0{part}")
        session_id = request.process.store.session_of_input(input_id)
        if session_id is None:
            break
        handle, events = load_call_events(request, session_id)
        before = len(calls)
        for call in join_calls(events):
            calls.append(msgspec.structs.replace(call, number=before + call.number))
        missed += handle.session.state.missed
        first = first or session_id
    calls.sort(key=lambda call: call.made_at or 0)
    return RecordedCalls(first, calls, missed)


async def replay_run(
    request: Request,
    recorded: RecordedCalls,
    command: Sequence[str],
    routes: Sequence[Route],
    env: Mapping[str, str],
) -> ReplayedRun:
    """Run a program with the recorded answers.

    Raises:
        Refused: the program is not found.
    """
    player = Player(
        recorded.calls,
        CallCleaner(request.process.log_id(), "record", request.process.settings.redact_calls),
        request.process.settings.of(WORKFLOW).ignore,
    )

    told = partial(build_environment, env, routes, lends_keys=True)
    async with serve_program(command, told, lambda: nullcontext(player.answer)) as code:
        pass
    return ReplayedRun(
        session_id=recorded.session_id,
        exit_code=code,
        served=len(player.served),
        not_recorded=player.not_recorded,
        differences=tuple(player.differences),
        not_asked=tuple(sorted({call.number for call in recorded.calls} - player.served)),
        missed=recorded.missed,
    )


class Player:
    """Gives recorded answers: each once, of equal requests the earliest first."""

    def __init__(
        self, calls: Sequence[WholeCall], cleaner: CallCleaner, ignored: Sequence[str]
    ) -> None:
        self._calls = {call.number: call for call in calls}
        self._cleaner = cleaner
        self._ignored = ignored
        self._waiting = defaultdict[tuple[str, str], deque[int]](deque)
        """Numbers of calls, by route and digest."""
        for call in calls:
            self._waiting[self._key_of(call)].append(call.number)
        self.served: set[int] = set()
        self.not_recorded = 0
        self.differences: list[str] = []

    async def answer(self, request: Any, route: str, path: str) -> Any:
        """The recorded answer, in the pieces in which it came; else status 422."""
        from aiohttp import web

        body = await request.read()
        asked, left_out = read_request_body(body, request.headers.get("content-type", ""))
        source = SourceCall(
            line=0, route=route, method=request.method, path=path, request=asked, left_out=left_out
        )
        try:
            call = self._cleaner.clean(source, "")
        except Refused as error:
            return self._refuse(one_line(str(error)))
        method, path = self._cleaner.clean_address(source)
        waiting = self._waiting[route, self._digest(method, path, call.request)]
        if not waiting:
            return self._refuse(self._explain(route, method, path, call.request))
        number = waiting.popleft()
        found = self._calls[number].recorded
        if any(one.part == "answer" for one in found.left_out):
            return self._refuse(f"the answer of call {number} is not kept")
        self.served.add(number)
        recorded = found.answer
        if not recorded.status:
            cut_off(request)
            return web.Response()
        headers = [(n, v) for n, v in found.request.headers if n != "content-type"]
        out = web.StreamResponse(status=recorded.status, headers=dict(headers))
        if recorded.type:
            out.headers["content-type"] = recorded.type
        data = recorded.text.encode()
        if not (recorded.ended or recorded.cuts):
            out.content_length = len(data)
        await out.prepare(request)
        ends = [*accumulate(recorded.cuts)] or [len(data)]
        for start, end in zip((0, *ends), ends, strict=False):
            await out.write(data[start:end])
            await asyncio.sleep(0)
        if recorded.ended:
            cut_off(request)
        else:
            await out.write_eof()
        return out

    def _refuse(self, why: str) -> Any:
        from aiohttp import web

        self.not_recorded += 1
        if len(self.differences) < TOLD_MAX:
            self.differences.append(why)
        error = {"type": "not_recorded", "code": "not_recorded", "message": why}
        return web.json_response(
            {"type": "error", "error": error}, status=422, headers={"x-should-retry": "false"}
        )

    # 1. Which call ---------------------------------------------------------------------------

    def _key_of(self, call: WholeCall) -> tuple[str, str]:
        sent = call.recorded.request
        is_whole = not any(one.part == "request" for one in call.recorded.left_out)
        if is_whole and self._ignored:
            return sent.route, self._digest(sent.method, sent.path, call.request)
        return sent.route, sent.digest

    def _digest(self, method: str, path: str, body: Any) -> str:
        return digest_request(method, path, canonical_json(_without(body, self._ignored)))

    def _explain(self, route: str, method: str, path: str, body: Any) -> str:
        """Why a request has no answer, by the recorded one that is most like it."""
        of_path = [
            (number, call)
            for number, call in self._calls.items()
            if (call.recorded.request.route, call.recorded.request.path) == (route, path)
        ]
        what = f"{method} {path} of {route}"
        if not of_path:
            return f"no call {what} is recorded"
        body = _without(body, self._ignored)
        left = [pair for pair in of_path if pair[0] not in self.served]
        number, nearest = max(left or of_path, key=lambda pair: _likeness(pair[1].request, body))
        before = _without(nearest.request, self._ignored)
        found = next(differences(before, body), None)
        if found is None:
            return f"{what} is recorded less often than it is called: call {number} was served"
        pointer, old, new = found
        said = f"recorded {_show(old)}, now {_show(new)}"
        return f"{what} differs from call {number} at {pointer or '/'}: {said}"


def _likeness(recorded: Any, asked: Any) -> tuple[bool, int, int]:
    """Whether the last turns are equal, how many others are, and how alike their number is."""
    old, new = turns_of_request(recorded), turns_of_request(asked)
    same = sum(a == b for a, b in zip(old, new, strict=False))
    return bool(old and new and old[-1] == new[-1]), same, -abs(len(old) - len(new))


def _show(value: Any) -> str:
    return "nothing" if value is ABSENT else shortened(one_line(json_text(value)), SHOWN_MAX)


def _without(body: Any, pointers: Sequence[str]) -> Any:
    """A body without the fields at some JSON Pointers."""
    left = copy.deepcopy(body) if pointers else body
    for pointer in pointers:
        *way, last = split_pointer(pointer)
        held = left
        for part in way:
            inner = {str(n): one for n, one in enumerate(held)} if type(held) is list else held
            held = inner.get(part) if isinstance(inner, dict) else None
        if isinstance(held, dict):
            held.pop(last, None)
    return left
