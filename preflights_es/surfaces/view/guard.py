"""Which requests reach the pages: those of the browser that showed the token of this start."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qsl

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from preflights_es.surfaces.view.rendering import LOOPBACK, Keys

HOSTS: Final = (LOOPBACK, "localhost")
HTTP_PORT: Final = 80  # the one that no browser says

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Of every response that does not say another one of them."""
NOT_KEPT: Final = (b"cache-control", b"no-store")
"""Of a response that does not say how long it may be kept: a page may hold what is erased soon."""

ENTERED: Final = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Preflights</title>
<link rel="icon" href="/static/icon.svg">
<meta http-equiv="refresh" content="0; url={path}"><p><a href="{path}">Open the page</a></p></html>
"""
"""A browser sends no strict cookie where another page led it here, but from this one on it does."""


class Guard:
    """Lets requests through to the application that may reach it."""

    def __init__(self, inner: ASGIApp, keys: Keys, port: int) -> None:
        self._inner = inner
        self._keys = keys
        self.cookie = f"preflights_{port}"
        self._hosts = {f"{host}:{port}".encode() for host in HOSTS}
        if port == HTTP_PORT:
            self._hosts.update(map(str.encode, HOSTS))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = list(message.get("headers", ()))
                said = {name for name, _ in found}
                more = [one for one in (*HEADERS, NOT_KEPT) if one[0] not in said]
                message = {**message, "headers": [*found, *more]}
            await send(message)

        answer: ASGIApp = self._refusal(scope) or self._inner
        await answer(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """What is answered instead of the page; None where the request may reach it."""
        headers = scope["headers"]
        hosts = _all(headers, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _refusal_response(421, "this server answers only to the address that it printed")
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if tokens := [value for name, value in query if name == "token"]:
            return self._entered(scope, tokens)
        if not self._has_cookie(_all(headers, b"cookie")):
            text = "open the address that `preflights view` printed: it holds the token"
            return _refusal_response(403, text)
        if scope["method"] not in ("GET", "HEAD"):
            origins = _all(headers, b"origin")
            if len(origins) != 1 or origins[0].lower() != b"http://" + hosts[0].lower():
                return _refusal_response(403, "only a page of this server may send a form here")
        return None

    def _entered(self, scope: Scope, tokens: list[str]) -> Response:
        is_one = scope["method"] == "GET" and len(tokens) == 1
        if not (is_one and _matches_secret(tokens[0], self._keys.token)):
            found = "this token is not of the server that runs now"
            return _refusal_response(403, f"{found}: start it anew")
        path = scope["path"]
        is_ours = path.startswith("/sessions/") and all(c.isalnum() or c in "-_/" for c in path)
        response = HTMLResponse(ENTERED.format(path=path if is_ours else "/"))
        response.set_cookie(self.cookie, self._keys.cookie, httponly=True, samesite="strict")
        return response

    def _has_cookie(self, headers: Iterable[bytes]) -> bool:
        pairs = (pair.strip().partition(b"=") for one in headers for pair in one.split(b";"))
        found = [value for name, _, value in pairs if name == self.cookie.encode()]
        return len(found) == 1 and _matches_secret(found[0].decode("latin-1"), self._keys.cookie)


def _all(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for found, value in headers if found == name]


def _matches_secret(given: str, expected: str) -> bool:
    """Compared in a time that tells nothing of where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())


def _refusal_response(status: int, why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status)
