"""How a request becomes a page: the addresses, forms, answers and errors."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from preflights_es.kernel.errors import AmbiguousSession, PreflightsError, Refused, UnknownSession
from preflights_es.surfaces.view import (
    inbox,
    judging,
    project_pages,
    rendering,
    session_list,
    sessions,
    side_by_side,
)
from preflights_es.surfaces.view.rendering import (
    FILES,
    Answer,
    Elsewhere,
    PageRequest,
    Served,
    Site,
    Way,
)

FORM_MAX: Final = 1_000_000  # bytes of what a form sends
FIELDS_MAX: Final = 5_000  # of a form
LARGE: Final = 2_000  # sessions that are folded while a page waits
REFRESH_S: Final = 2  # until a browser asks again whether the tables are made
KEPT: Final = "private, max-age=31536000, immutable"
"""Of files whose address changes with their content."""
FORM_TOKEN: Final = "form_token"  # noqa: S105  the field's name


def routed_pages(site: Site, ends: Callable[[], bool]) -> Starlette:
    """Every page of a start, without the guard.

    Args:
        ends: whether the server is about to end: then no page is followed any more.
    """

    async def refused(_http: HttpRequest, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "it is registered for these"
        return await run_in_threadpool(error_page_response, site, error.status_code, error.detail)

    async def broke(_http: HttpRequest, error: Exception) -> Response:
        text = f"a bug of ours: {type(error).__name__}; the terminal shows more"
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        return await run_in_threadpool(error_page_response, site, status, text)

    handlers: Any = {HTTPException: refused, Exception: broke}
    app = Starlette(routes=routes(), exception_handlers=handlers)
    app.state.site, app.state.ends, app.state.live = site, ends, 0
    app.state.preparation = _Preparation(site)
    return app


def routes() -> Sequence[BaseRoute]:
    """Every page."""
    ways = [*project_pages.DECISION_ROUTES, *inbox.ROUTES, *session_list.ROUTES, *sessions.ROUTES]
    ways += [*project_pages.USAGE_ROUTES, *judging.ROUTES, *side_by_side.ROUTES]
    static = Route("/static/{name}", _static, methods=["GET"])
    return (*map(_route, ways), *sessions.STREAMS, static)


def _route(way: Way) -> Route:
    async def handled(http: HttpRequest) -> Response:
        site: Site = http.app.state.site
        form = await _read_form_fields(http, site) if http.method == "POST" else {}
        if way.records and site.read_only:
            raise HTTPException(HTTPStatus.FORBIDDEN, f"this server is read-only: {site.read_only}")
        asked = PageRequest(
            request=site.asks(),
            path=http.path_params,
            query=dict(http.query_params),
            form=form,
            settles=site.settles,
            worded=site.worded,
        )
        preparation: _Preparation = http.app.state.preparation
        return await run_in_threadpool(_answer_once_prepared, preparation, way.served, asked)

    return Route(way.path, handled, methods=[way.method])


class _Preparation:
    """Folds a large log at the first look, so that no page waits for it without a word."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._sessions: int | None = None

    def count_sessions(self) -> int:
        """How many sessions are being folded; 0 where a page can be shown."""
        with self._lock:
            if self._sessions is None:
                process = self.site.request.process
                self._sessions = process.following.counts()["sessions"]
                states = process.projector.states() if self._sessions > LARGE else ()
                if not all(state.is_current for state in states):
                    self._thread = threading.Thread(target=process.projector.caught_up, daemon=True)
                    self._thread.start()
                    return self._sessions
            return self._sessions if self._thread and self._thread.is_alive() else 0


def _answer_once_prepared(
    preparation: _Preparation, served: Served, asked: PageRequest
) -> Response:
    site = preparation.site
    if folded := preparation.count_sessions():
        why = f"The tables of {folded:,} sessions are made once. The page opens when they are."
        response = error_page_response(site, HTTPStatus.OK, why, "Preparing tables")
        response.headers["refresh"] = str(REFRESH_S)
        return response
    return _respond_with_page(site, served, asked)


def _respond_with_page(site: Site, served: Served, asked: PageRequest) -> Response:
    try:
        found: Answer = served(asked)
    except PreflightsError as error:
        text = site.worded(str(error), error.code, error.fields)
        return error_page_response(site, _error_http_status(error), text)
    if isinstance(found, Elsewhere):
        return RedirectResponse(found.path, HTTPStatus.SEE_OTHER)
    told = (site.worded(one.text, one.code, one.fields) for one in asked.request.notices)
    return _render_page_response(site, found, tuple(dict.fromkeys(told)))


def _render_page_response(
    site: Site, found: rendering.Page, notices: Sequence[str] = ()
) -> Response:
    text = rendering.html(
        found.template,
        site=site,
        notices=notices,
        command=found.command,
        project=site.request.process.project,
        **found.values,
    )
    if len(text) > rendering.PAGE_MAX and found.template != "error.html":
        why = f"this page would have {len(text):,} characters: `{found.command}` shows it all"
        return error_page_response(site, HTTPStatus.INTERNAL_SERVER_ERROR, why, "Too large")
    return HTMLResponse(text, found.status)


def error_page_response(site: Site, status: int, text: str, title: str = "") -> Response:
    """A page that says why there is no other one."""
    title = title or HTTPStatus(status).phrase
    values = {"title": title, "section": "", "text": text, "status": status}
    page = rendering.Page("error.html", values, "preflights --help", status)
    return _render_page_response(site, page)


def _error_http_status(error: PreflightsError) -> int:
    if isinstance(error, UnknownSession) or error.code == "no_decision":
        return HTTPStatus.NOT_FOUND
    if isinstance(error, AmbiguousSession) or error.code == "no_day":
        return HTTPStatus.BAD_REQUEST
    return HTTPStatus.CONFLICT if isinstance(error, Refused) else HTTPStatus.INTERNAL_SERVER_ERROR


async def _read_form_fields(http: HttpRequest, site: Site) -> dict[str, tuple[str, ...]]:
    """The fields of a form of ours.

    Raises:
        HTTPException: it is too large, no form, or not of a page of this server.
    """
    body = bytearray()
    try:
        async for part in http.stream():
            body += part
            if len(body) > FORM_MAX:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    except ClientDisconnect as left:
        raise HTTPException(HTTPStatus.REQUEST_TIMEOUT) from left
    kind = http.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=FIELDS_MAX
        )
    except ValueError as error:
        text = f"the form is no UTF-8, or has more than {FIELDS_MAX:,} fields"
        raise HTTPException(HTTPStatus.BAD_REQUEST, text) from error
    form: dict[str, tuple[str, ...]] = {}
    for name, value in fields:
        form[name] = (*form.get(name, ()), value.replace("\r\n", "\n"))
    shown = "".join(form.pop(FORM_TOKEN, ()))
    if not hmac.compare_digest(shown.encode(), site.keys.form.encode()):
        raise HTTPException(HTTPStatus.FORBIDDEN, "the form is of another start of the server")
    return form


async def _static(http: HttpRequest) -> Response:
    name = http.path_params["name"]
    if name not in FILES:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    content = rendering.read_static_file(name)
    return Response(content, media_type=FILES[name], headers={"cache-control": KEPT})
