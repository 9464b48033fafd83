"""Run a program again with the answers that were recorded; nothing is asked of a model."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.features.calls.cleaning import (
    CallCleaner,
    digest_request,
    find_conversation_parts,
)
from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.calls import CONVERSATION_NAMES, WholeCall, join_calls
from preflights_es.features.calls.domain.dialects import json_text, without_fields
from preflights_es.features.calls.domain.events import CallsOpened
from preflights_es.features.calls.recording import SDKS, Route, build_environment
from preflights_es.features.calls.serving import serve_program
from preflights_es.features.calls.source_calls import SourceCall
from preflights_es.features.calls.use import load_call_events, read_opening
from preflights_es.features.calls.writer import read_request_body
from preflights_es.kernel.errors import Refused, UnknownSession
from preflights_es.kernel.json import ABSENT, canonical_json, differences
from preflights_es.kernel.text import shortened
from preflights_es.providers.capabilities import KEY_VARIABLES
from preflights_es.runtime.finder import LAST
from preflights_es.use.request import Request
from preflights_es.use.results import Result

SHOWN_MAX: Final = 80  # characters of a value that differs
SHOWN_BEFORE: Final = 20  # of them, before the first one that differs
HASHED: Final = (
    "/user",
    "/safety_identifier",
    *(f"/metadata/{name}" for name in ("user_id", *CONVERSATION_NAMES)),
)
TOLD_MAX: Final = 10  # requests without a recorded answer that are told one by one


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
    hashed: tuple[str, ...]
    """JSON Pointers to what another log hashed by its own key: it cannot be compared."""


def read_recorded_calls(request: Request, session: str) -> RecordedCalls:
    """The calls of the run that a session is of.

    Args:
        session: `last` is the newest recorded run.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        Refused: it is no session of a recorded run.
    """
    session = _find_newest_run(request) if session == LAST else session
    handle, events = load_call_events(request, session)
    opened = next((one for one in events if isinstance(one, CallsOpened)), None)
    if opened is None or opened.source != "record":
        found = "was erased" if opened is None else f"was taken from {opened.file}"
        raise Refused(f"session {handle.session_id} {found}: expected a recorded run")
    parts = find_conversation_parts(request.process, opened.conversation)
    if is_imported := handle.session_id not in parts:
        parts = _find_imported_parts(request, opened.conversation)
    calls, missed = list[WholeCall](), 0
    for session_id in parts:
        handle, events = load_call_events(request, session_id)
        before = len(calls)
        for call in join_calls(events):
            calls.append(msgspec.structs.replace(call, number=before + call.number))
        missed += handle.session.state.missed
    calls.sort(key=lambda call: call.made_at or 0)
    return RecordedCalls(parts[0], calls, missed, HASHED if is_imported else ())


def _find_newest_run(request: Request) -> str:
    for session_id in request.reading.finder.list_newest(WORKFLOW.name):
        if _find_run(request, session_id):
            return session_id
    raise UnknownSession(LAST, "this project has no recorded run yet")


def _find_run(request: Request, session_id: str) -> str:
    """The run that a session is of; empty where it is of no run, or erased."""
    opened = read_opening(request, session_id)
    return opened.conversation if opened is not None and opened.source == "record" else ""


def _find_imported_parts(request: Request, run: str) -> list[str]:
    """Those of a run that another log recorded, whose key names its Inputs."""
    ids = (head.session_id for head in request.process.store.heads_in(WORKFLOW.name))
    return sorted(one for one in ids if _find_run(request, one) == run)


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
    player = Player(request, recorded)
    # An SDK that finds no key would not begin: this one opens nothing.
    keys = {KEY_VARIABLES[name][-1]: "none-is-needed" for name in SDKS}
    told = partial(build_environment, {**keys, **env}, routes)
    async with serve_program(command, told, player.answer, lambda: None) as code:
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

    def __init__(self, request: Request, recorded: RecordedCalls) -> None:
        settings, calls = request.process.settings, recorded.calls
        self._cleaner = CallCleaner(request.process.log_id(), "record", settings.redact_calls)
        self._ignored = [*settings.of(WORKFLOW).ignore, *recorded.hashed]
        self._calls = calls
        self._waiting = defaultdict[tuple[str, str], deque[WholeCall]](deque)
        """By route and digest."""
        for call in calls:
            sent = call.recorded.request
            digest = sent.digest
            if self._ignored and call.request is not None:  # else nothing is left out of it
                digest = self._digest(sent.method, sent.path, call.request)
            self._waiting[sent.route, digest].append(call)
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
        asked = self._cleaner.clean(source, "").request
        method, path = self._cleaner.clean_address(source)
        waiting = self._waiting[route, self._digest(method, path, asked)]
        if not waiting:
            return self._refuse(self._explain(route, method, path, asked))
        call = waiting.popleft()
        if any(one.part == "answer" for one in call.recorded.left_out):
            return self._refuse(f"the answer of call {call.number} is not kept")
        self.served.add(call.number)
        recorded = call.recorded.answer
        if not recorded.status:
            request.protocol.force_close()
            return web.Response()
        headers = {**dict(call.recorded.request.headers), "content-type": recorded.type}
        out = web.StreamResponse(status=recorded.status, headers=headers)
        data = memoryview(recorded.text.encode())
        if not (recorded.ended or recorded.cuts):
            out.content_length = len(data)
        await out.prepare(request)
        for size in recorded.cuts or (len(data),):
            await out.write(data[:size])
            await asyncio.sleep(0)
            data = data[size:]
        if recorded.ended:
            request.protocol.force_close()
        else:
            await out.write_eof()
        return out

    def _refuse(self, why: str) -> Any:
        from aiohttp import web

        self.not_recorded += 1
        if len(self.differences) < TOLD_MAX:
            self.differences.append(why)
        error = {"type": "not_recorded", "code": "not_recorded", "message": why}
        return web.json_response({"type": "error", "error": error}, status=422)

    # 1. Which call ---------------------------------------------------------------------------

    def _digest(self, method: str, path: str, body: Any) -> str:
        return digest_request(method, path, canonical_json(without_fields(body, self._ignored)))

    def _explain(self, route: str, method: str, path: str, body: Any) -> str:
        """Why a request has no answer, by the recorded one that is most like it."""
        calls = [(call, call.recorded.request) for call in self._calls]
        of_path = [call for call, sent in calls if (sent.route, sent.path) == (route, path)]
        what = f"{method} {path} of {route}"
        if not of_path:
            return f"no call {what} is recorded"
        body = without_fields(body, self._ignored)
        # Of those that are as like as others, the first that was not served.
        unserved_first = sorted(of_path, key=lambda call: call.number in self.served)
        found = {
            call.number: [*differences(without_fields(call.request, self._ignored), body)]
            for call in unserved_first
        }
        nearest = min(found, key=lambda number: len(found[number]))
        if not found[nearest]:
            return f"{what} is recorded less often than it is called: call {nearest} was served"
        pointer, old, new = found[nearest][0]
        said = describe_changed_value(old, new)
        return f"{what} differs from call {nearest} at {pointer or '/'}: {said}"


def describe_changed_value(old: Any, new: Any) -> str:
    """Both values; of long ones what is around the first character that differs."""
    texts = ["nothing" if one is ABSENT else json_text(one) for one in (old, new)]
    if any(len(text) > SHOWN_MAX for text in texts):
        both = zip(*texts, strict=False)
        begin = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both)) - SHOWN_BEFORE
        texts = [f"…{text[begin:]}" if begin > 0 else text for text in texts]
    return "recorded {}, now {}".format(*(shortened(text, SHOWN_MAX) for text in texts))
