"""One session: its timeline, its payloads, its replay, and what comes to it live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from functools import cached_property
from itertools import count, islice
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from preflights_es.kernel.errors import LogDamaged, PreflightsError
from preflights_es.kernel.events import Event
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import ABSENT, canonical_json, decode_plain_json, differences
from preflights_es.kernel.ports import Head, Stored
from preflights_es.kernel.text import shortened
from preflights_es.projections.projection import Read
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.runner import Handle, Step
from preflights_es.surfaces.view import pictures
from preflights_es.surfaces.view.rendering import (
    DIGITS_MAX,
    Page,
    PageRequest,
    Site,
    form_way,
    page,
    positive_number,
    value,
)
from preflights_es.use import sessions as use
from preflights_es.use.process import Process
from preflights_es.use.reading import FoundSession
from preflights_es.use.request import Request
from preflights_es.use.results import session_of
from preflights_es.use.usage import price
from preflights_es.words.workflow import HEAD, View

PAYLOAD: Final = 100_000  # characters of a payload on a page
LOOK: Final = 4_000  # characters of one beside the timeline
AROUND: Final = 400  # characters around a difference
CHANGES: Final = 30  # of what an event changed, and differences of a replay
LIVE_MAX: Final = 8  # pages that follow a session at once
TURN_S: Final = 0.2  # between two looks whether the server ends
LOOKS: Final = 5  # turns between two looks at the log
QUIET: Final = 15  # looks without news, until a word finds out whether the page is still there

EMPTY: Final[tuple[object, ...]] = (None, "", [], {})


# 1. One session ------------------------------------------------------------------------------


class Looked(msgspec.Struct, frozen=True):
    """A session as it is recorded now."""

    process: Process
    read: Read
    damage: use.Unread | None

    @property
    def stored(self) -> tuple[Stored, ...]:
        """Its events."""
        return self.read.stored

    @property
    def holds_to(self) -> int:
        """The last version up to which the chain holds, and every event can be read."""
        return len(self.stored) if self.damage is None else max(self.damage.version - 1, 0)


def looked(request: Request, typed: str) -> Looked:
    """A session, each link of its chain checked.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        LogDamaged: only its head is left.
        WorkflowMissing: its workflow is not here.
    """
    at = request.reading.session(typed)
    found = use.log(request, at.session_id)
    if not found.stored:
        raise found.damage or LogDamaged(f"session {at.session_id}", 0, "it has no events")
    last = found.stored[-1]
    head = Head(last.session_id, last.project, last.workflow, len(found.stored), hash=last.hash)
    read = Read(
        head=head,
        workflow=at.process.runner.workflow(last.workflow),
        stored=tuple(found.stored),
        version=head.version,
        events=tuple(one if isinstance(one, Event) else None for one in found.events),
        sessions=(),
        trouble="damaged" if found.damage else "",
        why=str(found.damage or ""),
    )
    return Looked(at.process, read, found.damage)


class ViewAtEvent(msgspec.Struct, frozen=True, dict=True):
    """How a session stood behind an event."""

    view: View | None = None
    why: str = ""
    """Why that cannot be said."""
    is_undecided: bool = False
    """Whether the event was not decided yet: then it stood as before."""

    @cached_property
    def told(self) -> dict[str, Any]:
        """What the session's JSON says beside its head; without what is empty."""
        if self.view is None or self.view.status == "erased":
            return {}  # of an erased session the shape is that of an empty one
        shape = decode_plain_json(canonical_json(self.view.shape()))
        return {name: one for name, one in pruned(shape).items() if name not in HEAD}


def pruned(found: Any) -> Any:
    """A JSON value without what is empty."""
    if isinstance(found, dict):
        inner = {name: pruned(one) for name, one in found.items()}
        return {name: one for name, one in inner.items() if one not in EMPTY}
    return [*map(pruned, found)] if isinstance(found, list) else found


def standings(at: Looked, versions: Collection[int]) -> dict[int, ViewAtEvent]:
    """A session behind some of its events, by their versions; before the first it is nothing."""
    held = [one for one in versions if 0 < one <= at.holds_to]
    found = {
        version: _view_at_event(at, version, stood)
        for version, stood in pictures.stood_behind(at.read, held).items()
    }
    return {one: found.get(one) or ViewAtEvent(why=at.read.why if one else "") for one in versions}


def _view_at_event(at: Looked, version: int, stood: pictures.SessionAtEvent) -> ViewAtEvent:
    session = stood.session
    if session is None:
        return ViewAtEvent(why=stood.why)
    is_undecided = session.undecided is not None and version < len(at.stored)
    if is_undecided:
        session = replace(session, undecided=None)
    try:
        one = at.read.stored[version - 1]
        handle = Handle(one.session_id, one.project, at.read.workflow, session, hash=one.hash)
        return ViewAtEvent(session_of(Step(handle, ())), is_undecided=is_undecided)
    except PreflightsError as error:
        return ViewAtEvent(why=str(error))
    except Exception as error:  # the view of a workflow, perhaps of another package
        return ViewAtEvent(why=f"its view fails: {type(error).__name__}: {error}")


class Changed(msgspec.Struct, frozen=True):
    """What one event changed of how its session stands."""

    pointer: str
    before: str
    now: str


def list_view_changes(before: ViewAtEvent, now: ViewAtEvent) -> list[Changed]:
    """The first of them, in the order of the session's JSON."""
    found = islice(differences(_comparable_view(before), _comparable_view(now)), CHANGES)
    return [
        Changed(pointer, *("" if one is ABSENT else value(one) for one in both))
        for pointer, *both in found
    ]


def _comparable_view(one: ViewAtEvent) -> dict[str, Any]:
    if one.view is None:
        return {}
    return {"status": one.view.status, **one.told}


def session_page(asked: PageRequest) -> Page:
    """The timeline, and the session as it stood behind one event: the last, where none is named."""
    at = looked(asked.request, asked.path["session"])
    last = len(at.stored)
    version = min(positive_number(asked.query.get("at"), last), last)
    prices = [price(one) for one in at.process.settings.prices]
    part = pictures.SessionTimeline.of(at.read).part(pictures.part_of(version), prices)
    stood = standings(at, (version - 1, version, last))
    now = stood[version]
    one = at.stored[version - 1]
    text = _stored_payload_text(one)
    values = {
        "title": f"Session {short_session(one.session_id)}",
        "section": "sessions",
        "at": at,
        "part": part,
        "lanes": pictures.MIDDLES,
        "step_to": "?at=",
        "parts": range(1, last + 1, pictures.PART),
        "last": last,
        "version": version,
        "one": one,
        "has_costs": any(mark.costs for mark in part.marks),
        "mark": part.marks[version - part.first],
        "now": now,
        "changes": list_view_changes(stood[version - 1], now),
        "look": _pretty(one, text)[:LOOK],
        "size": len(one.data or b""),
        "is_whole": len(text) <= LOOK,
        "previous": at.stored[version - 2].hash if version > 1 else None,
        "current": stood[last],
        "patch": now.told.get("patch"),
        "told": _limited({k: v for k, v in now.told.items() if k not in ("patch", "progress")}),
    }
    return Page("session.html", values, f"preflights log {short_session(one.session_id)}")


def _limited(told: dict[str, Any]) -> dict[str, Any] | str:
    """All of it, or the beginning of its JSON where it is too much for a page."""
    text = _indent_json(told)
    return told if len(text) <= PAYLOAD else f"{text[:PAYLOAD]}\n…"


# 2. Payloads ---------------------------------------------------------------------------------


def payload_page(asked: PageRequest) -> Page:
    """One payload to the byte, in parts where it is large."""
    at = looked(asked.request, asked.path["session"])
    one = _find_event_by_version(at, asked.path["version"])
    is_raw = "raw" in asked.query
    text = _stored_payload_text(one) if is_raw else _pretty(one, _stored_payload_text(one))
    parts = max(-(-len(text) // PAYLOAD), 1)
    number = min(positive_number(asked.query.get("page"), 1), parts)
    values = {
        "title": f"Event {one.version} of session {short_session(one.session_id)}",
        "section": "sessions",
        "at": at,
        "one": one,
        "is_raw": is_raw,
        "text": text[(number - 1) * PAYLOAD : number * PAYLOAD],
        "page": number,
        "parts": parts,
        "size": len(one.data or b""),
    }
    command = f"preflights log {short_session(one.session_id)} --json"
    return Page("event.html", values, command)


def _find_event_by_version(at: Looked, typed: str) -> Stored:
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= DIGITS_MAX
    version = int(typed) if is_number else 0
    if not 1 <= version <= len(at.stored):
        raise HTTPException(404, f"the session has {len(at.stored):,} events")
    return at.stored[version - 1]


def _stored_payload_text(one: Stored) -> str:
    return (one.data or b"").decode("utf-8", "backslashreplace")


def _pretty(one: Stored, text: str) -> str:
    try:
        return msgspec.json.format(one.data or b"", indent=2).decode()
    except (ValueError, RecursionError):
        return text  # a damaged log may hold anything


async def _bytes(http: HttpRequest) -> Response:
    """A payload, byte for byte, as a file."""
    site: Site = http.app.state.site

    def found() -> Response:
        at = looked(site.asks(), http.path_params["session"])
        one = _find_event_by_version(at, http.path_params["version"])
        name = f"{short_session(one.session_id)}-{one.version}.json"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(one.data or b"", media_type="application/json", headers=headers)

    try:
        return await run_in_threadpool(found)
    except PreflightsError as error:
        raise HTTPException(404, str(error)) from error


# 3. Replay -----------------------------------------------------------------------------------


class DivergenceSide(msgspec.Struct, frozen=True):
    """A value as it was recorded or computed, around its first difference."""

    same: str
    differs: str
    behind: str


def sides(recorded: Any, computed: Any) -> tuple[DivergenceSide, DivergenceSide]:
    """Both sides of a difference, each with what only it has in the middle."""
    a, b = (one if isinstance(one, str) else _indent_json(one) for one in (recorded, computed))
    start = _common(a, b)
    shorter = min(len(a), len(b)) - start
    end = min(_common(a[::-1], b[::-1]), shorter)
    return _side(a, start, end), _side(b, start, end)


def _common(a: str, b: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((n for n, (x, y) in pairs if x != y), min(len(a), len(b)))


def _indent_json(value: Any) -> str:
    return msgspec.json.format(canonical_json(value), indent=2).decode()


def _side(text: str, start: int, end: int) -> DivergenceSide:
    before, behind = text[:start], text[len(text) - end :]
    differs = text[start : len(text) - end]
    if len(before) > AROUND:
        before = f"…{before[-AROUND:]}"
    return DivergenceSide(before, shortened(differs, LOOK), shortened(behind, AROUND))


def replay(asked: PageRequest) -> Page:
    """What a replay can be, and what came of it; nothing is recorded."""
    from preflights_es.use.replays import Again, replays, rerun  # looking needs none of it

    at = asked.request.reading.session(asked.path["session"])
    mode = asked.said("mode")
    id_ = at.session_id
    strict = drift = None
    if mode == "strict":
        strict = replays(asked.request, [id_], everything=True)[0].sessions[0]
    elif mode == "drift":
        drift = rerun(asked.request, [id_], Again(mode="drift"), everything=True).sessions[0]
    result = strict or drift
    values = {
        "title": f"Replay of session {short_session(id_)}",
        "section": "sessions",
        "session_id": id_,
        "mode": mode,
        "strict": strict,
        "drift": drift,
        "differences": [
            (one, *sides(one.recorded, one.computed))
            for one in (result.divergences[:CHANGES] if result else ())
        ],
        "more": max(result.differences - CHANGES, 0) if result else 0,
    }
    drifts = " --drift" if mode == "drift" else ""
    return Page("replay.html", values, f"preflights replay {short_session(id_)}{drifts}")


# 4. Live -------------------------------------------------------------------------------------


async def _live(http: HttpRequest) -> Response:
    """The version of a session whenever it grows, as server-sent events."""
    state, typed = http.app.state, http.path_params["session"]
    site: Site = state.site

    def found() -> FoundSession:
        return site.asks().reading.find(typed)

    try:
        at = await run_in_threadpool(found)
    except PreflightsError as error:
        raise HTTPException(404, str(error)) from error

    async def news() -> AsyncIterator[str]:
        async for version in _versions(
            at, positive_number(http.query_params.get("after"), 1), state.ends
        ):
            yield f"data: {version}\n\n" if version else ":\n\n"

    headers = {"cache-control": "no-store"}
    if http.method == "HEAD":
        return Response(media_type="text/event-stream", headers=headers)
    if state.live >= LIVE_MAX:
        raise HTTPException(503, f"{LIVE_MAX} pages follow sessions already: reload this one")
    return _Followed(news(), media_type="text/event-stream", headers=headers)


class _Followed(StreamingResponse):
    """Counted as soon as it begins: nothing waits between the look at the limit and here."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope["app"].state
        state.live += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            state.live -= 1


async def _versions(at: FoundSession, after: int, ends: Callable[[], bool]) -> AsyncIterator[int]:
    """Each version that a session moves to; 0 now and then, where it does not."""
    looks = count()
    while not ends():
        look = next(looks)
        if look % LOOKS == 0:
            head = await run_in_threadpool(lambda: at.head)
            if head is None:
                return
            if head.version > after:
                after = head.version
                yield after
        if look % (LOOKS * QUIET) == 0:
            yield 0
        await asyncio.sleep(TURN_S)


async def _regression_report_page(http: HttpRequest) -> Response:
    """The page of a regression report, under its own policy: no other script runs in it."""
    site: Site = http.app.state.site
    root, path = site.request.process.settings.root, http.path_params["path"]
    found = await run_in_threadpool(FEATURES.port("report"), root, path)
    if found is None:
        raise HTTPException(404, "no report of this version lies there")
    policy = f"{FEATURES.port('report_policy')()}; frame-ancestors 'none'"
    headers = {"content-security-policy": policy}
    return Response(found, media_type="text/html", headers=headers)


ROUTES: Final = (
    page("/sessions/{session}", session_page),
    page("/sessions/{session}/event/{version}", payload_page),
    page("/sessions/{session}/replay", replay),
    form_way("/sessions/{session}/replay", replay),
)
STREAMS: Final = (
    Route("/sessions/{session}/event/{version}/bytes", _bytes, methods=["GET"]),
    Route("/sessions/{session}/live", _live, methods=["GET"]),
    Route("/reports/{path:path}", _regression_report_page, methods=["GET"]),
)
"""What is no page."""
