"""One session: what happened in it, its payloads, its replay, and what comes to it live."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any, Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import one_line, shortened
from preflights_es.projections.event_sentences import (
    EventWords,
    list_call_words,
    list_event_sentences,
)
from preflights_es.runtime.features import FEATURES
from preflights_es.surfaces.view import pictures
from preflights_es.surfaces.view.recorded_session import (
    CHANGES,
    LOOK,
    PAYLOAD,
    Looked,
    choose_cards,
    indent_json,
    list_cards,
    list_view_changes,
    looked,
    sides,
    standings,
)
from preflights_es.surfaces.view.rendering import (
    DIGITS_MAX,
    Page,
    PageRequest,
    Site,
    form_way,
    page,
    positive_number,
)
from preflights_es.use import sessions as use
from preflights_es.use.reading import FoundSession
from preflights_es.use.usage import price
from preflights_es.words.event_names import value_of_pointer

LIVE_MAX: Final = 8  # pages that follow a session at once
TURN_S: Final = 0.2  # between two looks whether the server ends
LOOKS: Final = 5  # turns between two looks at the log
QUIET: Final = 15  # looks without news, until a word finds out whether the page is still there


# 1. One session ------------------------------------------------------------------------------


def session_page(asked: PageRequest) -> Page:
    """What happened, as a sentence, a timeline and cards; and one event: the last, where none is
    named.
    """
    at = looked(asked.request, asked.path["session"])
    last = len(at.stored)
    typed = min(positive_number(asked.query.get("at"), last), last)
    prices = [price(one) for one in at.process.settings.prices]
    timeline = pictures.SessionTimeline.of(at.read)
    is_long = last > pictures.PART
    only = next((one for one in pictures.ONLY if is_long and asked.query.get("only") == one), None)
    shown = timeline.only(only) if only else timeline
    versions = [step.stored.version for step in shown.steps]
    place = min(bisect_left(versions, typed), len(versions) - 1)
    version = versions[place] if versions else typed
    first = pictures.part_of(place + 1)
    part = shown.part(first, prices)
    marks = {mark.version: mark for mark in part.marks}
    near = choose_cards(at, part, version)
    before = (mark.version - 1 for mark in near.settled)
    stood = standings(at, {version - 1, version, last, *before})
    now, current = stood[version], stood[last]
    mark = marks.get(version) or timeline.part(version).marks[0]
    told = list_call_words(at.read, near.calls)
    if mark.gone:
        told[version] = EventWords("", mark.gone)
    one = at.stored[version - 1]
    text = _stored_payload_text(one)
    intention = current.view.intention if current.view else ""
    named = f"Session {short_session(one.session_id)}"
    values = {
        "title": shortened(one_line(intention), 60) or named,
        "named": named,
        "section": "sessions",
        "at": at,
        "story": use.tell_read_session(at.process, at.read),
        "part": part,
        "lanes": pictures.MIDDLES,
        "only": only or "",
        "kinds": pictures.ONLY,
        "overview": timeline.overview() if is_long else (),
        "step_to": f"?only={only}&at=" if only else "?at=",
        "last": last,
        "version": version,
        "one": one,
        "mark": mark,
        "sentence": str(next(list_event_sentences(timeline.steps[version - 1 :], told))),
        "earlier": versions[place - 1] if place > 0 else 0,
        "later": versions[place + 1] if place + 1 < len(versions) else 0,
        "before": versions[first - 2] if first > 1 else 0,
        "after": next(iter(versions[first - 1 + pictures.PART :]), 0),
        "ends": (versions[0], versions[-1]) if versions else (0, 0),
        "is_long": is_long,
        "cards": list_cards(at, near, stood, prices),
        "more": near.left_out,
        "names": {n: mark.name for n, mark in marks.items()},
        "now": now,
        "changes": list_view_changes(stood[version - 1], now),
        "look": _pretty(one, text)[:LOOK],
        "size": len(one.data or b""),
        "is_whole": len(text) <= LOOK,
        "previous": at.stored[version - 2].hash if version > 1 else None,
        "current": current,
        "told": _limited({k: v for k, v in now.told.items() if k != "progress"}),
    }
    return Page("session.html", values, f"preflights log {short_session(one.session_id)}")


def _limited(told: dict[str, Any]) -> dict[str, Any] | str:
    """All of it, or the beginning of its JSON where it is too much for a page."""
    text = indent_json(told)
    return value_of_pointer("", told) if len(text) <= PAYLOAD else f"{text[:PAYLOAD]}\n…"


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
            (one, *sides(one.recorded, one.computed, one.pointer))
            for one in (result.divergences[:CHANGES] if result else ())
        ],
        "changes": [
            (
                one.place,
                *(value_of_pointer(one.pointer, each) for each in (one.recorded, one.child)),
            )
            for one in (drift.changes if drift else ())
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
        after = positive_number(http.query_params.get("after"), 1)
        async for version in _versions(at, after, state.ends):
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
