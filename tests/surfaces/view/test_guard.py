"""Who may ask the server: forged requests are refused, and nothing of them is recorded."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Final, NamedTuple

import pytest

from preflights_es.surfaces.view.guard import HEADERS
from tests.cli.program import Project
from tests.each import each
from tests.surfaces.view import test_live
from tests.surfaces.view.conftest import KEYS, Pages
from tests.surfaces.view.test_inbox import ready, shown, version

TIMEOUT_S: Final = 10


class Served(NamedTuple):
    """A server on a socket, and what its words stand for in a request."""

    port: int
    session: str
    """A proposal that waits."""
    version: str

    def ask(self, first: str, *headers: str, body: str = "") -> tuple[int, str, str]:
        """Status, headers and body of one request, sent as it is written."""
        lines = [first, *headers]
        if body:
            lines += [f"Content-Length: {len(self._said(body))}"]
        head = self._said("\r\n".join((*lines, "Connection: close")))
        with closing(socket.create_connection(("127.0.0.1", self.port), TIMEOUT_S)) as wire:
            wire.sendall(f"{head}\r\n\r\n{self._said(body)}".encode("latin-1"))
            found = b"".join(iter(lambda: wire.recv(65_536), b"")).decode("latin-1")
        answer, _, text = found.partition("\r\n\r\n")
        return int(answer.split(" ", 2)[1]), answer, text

    def _said(self, text: str) -> str:
        words = {"PORT": str(self.port), "SESSION": self.session, "VERSION": self.version}
        for word, meant in words.items():
            text = text.replace(word, meant)
        return text


@pytest.fixture
def served(shop: Project) -> Iterator[Served]:
    """The pages of a project with a proposal, on a port."""
    session = ready(shop)
    with test_live.served(shop) as server:
        yield Served(server.port, session, version(shop, session))


GET: Final = "GET / HTTP/1.1"
POST: Final = "POST /inbox/SESSION/accept HTTP/1.1"
HOST: Final = "Host: 127.0.0.1:PORT"
COOKIE: Final = f"Cookie: preflights_PORT={KEYS.cookie}"
ORIGIN: Final = "Origin: http://127.0.0.1:PORT"
FORM: Final = "Content-Type: application/x-www-form-urlencoded"
BODY: Final = f"form_token={KEYS.form}&version=VERSION"
WRITES: Final = (HOST, COOKIE, ORIGIN, FORM)

Case = tuple[str, int, str, tuple[str, ...], str]
FORGED: Final[tuple[Case, ...]] = (
    # Another Host: a page whose name was turned to this address (DNS rebinding)
    ("host of the web", 421, GET, ("Host: evil.example", COOKIE), ""),
    ("host of the web with our port", 421, GET, ("Host: evil.example:PORT", COOKIE), ""),
    ("host that begins as ours", 421, GET, ("Host: 127.0.0.1:PORT.evil.example", COOKIE), ""),
    ("host that begins as a name of ours", 421, GET, ("Host: localhost.evil:PORT", COOKIE), ""),
    ("host with a user before it", 421, GET, ("Host: evil@127.0.0.1:PORT", COOKIE), ""),
    ("another port", 421, GET, ("Host: 127.0.0.1:1", COOKIE), ""),
    ("no port", 421, GET, ("Host: 127.0.0.1", COOKIE), ""),
    ("another address of the loopback", 421, GET, ("Host: 127.0.0.2:PORT", COOKIE), ""),
    ("any address", 421, GET, ("Host: 0.0.0.0:PORT", COOKIE), ""),
    ("an address of version 6", 421, GET, ("Host: [::1]:PORT", COOKIE), ""),
    ("a dot behind the name", 421, GET, ("Host: localhost.:PORT", COOKIE), ""),
    ("no host", 421, "GET / HTTP/1.0", (COOKIE,), ""),
    ("a foreign host that writes", 421, POST, ("Host: evil.example", *WRITES[1:]), BODY),
    ("a token for a foreign host", 421, f"GET /?token={KEYS.token} HTTP/1.1", ("Host: x",), ""),
    # No cookie, or another
    ("no cookie", 403, GET, (HOST,), ""),
    ("an empty cookie", 403, GET, (HOST, "Cookie: preflights_PORT="), ""),
    ("the cookie of another start", 403, GET, (HOST, "Cookie: preflights_PORT=old"), ""),
    ("the cookie of another port", 403, GET, (HOST, f"Cookie: preflights_1={KEYS.cookie}"), ""),
    ("the token as the cookie", 403, GET, (HOST, f"Cookie: preflights_PORT={KEYS.token}"), ""),
    ("two cookies", 403, GET, (HOST, COOKIE, "Cookie: preflights_PORT=x"), ""),
    ("a cookie with more behind it", 403, GET, (HOST, f"{COOKIE}x"), ""),
    ("a file without a cookie", 403, "GET /static/view.css HTTP/1.1", (HOST,), ""),
    ("a form without a cookie", 403, POST, (HOST, ORIGIN, FORM), BODY),
    # The token
    ("an old token", 403, "GET /?token=old HTTP/1.1", (HOST,), ""),
    ("an old token and the cookie", 403, "GET /?token=old HTTP/1.1", (HOST, COOKIE), ""),
    ("an empty token", 403, "GET /?token= HTTP/1.1", (HOST,), ""),
    ("two tokens", 403, f"GET /?token={KEYS.token}&token=x HTTP/1.1", (HOST,), ""),
    ("a token that is posted", 403, f"POST /?token={KEYS.token} HTTP/1.1", WRITES, BODY),
    ("a token beyond ASCII", 403, "GET /?token=%ff%c3 HTTP/1.1", (HOST,), ""),
    # A form of another page
    ("no origin", 403, POST, (HOST, COOKIE, FORM), BODY),
    ("a foreign origin", 403, POST, (HOST, COOKIE, "Origin: https://evil.example", FORM), BODY),
    ("the origin of a file", 403, POST, (HOST, COOKIE, "Origin: null", FORM), BODY),
    ("another port as origin", 403, POST, (HOST, COOKIE, "Origin: http://127.0.0.1:1", FORM), BODY),
    ("the name for the address", 403, POST, (HOST, COOKIE, "Origin: http://localhost:PORT"), BODY),
    ("https as origin", 403, POST, (HOST, COOKIE, "Origin: https://127.0.0.1:PORT", FORM), BODY),
    ("two origins", 403, POST, (*WRITES, "Origin: http://evil.example"), BODY),
    ("no form token", 403, POST, WRITES, "version=VERSION"),
    ("a wrong form token", 403, POST, WRITES, "form_token=old&version=VERSION"),
    ("the form token twice", 403, POST, WRITES, f"{BODY}&form_token={KEYS.form}"),
    ("the token as form token", 403, POST, WRITES, f"form_token={KEYS.token}&version=VERSION"),
    ("a form as plain text", 415, POST, (*WRITES[:3], "Content-Type: text/plain"), BODY),
    ("a form as JSON", 415, POST, (*WRITES[:3], "Content-Type: application/json"), "{}"),
    ("a form that is no UTF-8", 400, POST, WRITES, f"{BODY}&reason=%ff%fe"),
    ("a form of many fields", 400, POST, WRITES, f"{BODY}{'&a=' * 6_000}"),
    ("a form of megabytes", 413, POST, WRITES, f"{BODY}&reason={'x' * 1_000_000}"),
    # Methods
    ("an action by a link", 405, POST.replace("POST", "GET"), (HOST, COOKIE), ""),
    ("a page by a form", 405, "POST / HTTP/1.1", WRITES, BODY),
    ("another method", 403, "PUT /inbox/SESSION/accept HTTP/1.1", (HOST, COOKIE, FORM), BODY),
    ("a method of ours with an origin", 405, "DELETE /inbox/SESSION HTTP/1.1", WRITES, BODY),
    # Paths
    ("a folder above", 404, "GET /../../etc/passwd HTTP/1.1", (HOST, COOKIE), ""),
    ("above the files", 404, "GET /static/../server.py HTTP/1.1", (HOST, COOKIE), ""),
    ("above the files, escaped", 404, "GET /static/%2e%2e%2fguard.py HTTP/1.1", (HOST, COOKIE), ""),
    ("above the files, twice", 404, "GET /static/%252e%252e%252fx HTTP/1.1", (HOST, COOKIE), ""),
    ("a template as a file", 404, "GET /static/base.html HTTP/1.1", (HOST, COOKIE), ""),
    ("a null in a path", 404, "GET /static/view.css%00.html HTTP/1.1", (HOST, COOKIE), ""),
    ("two slashes", 404, "GET //evil.example/ HTTP/1.1", (HOST, COOKIE), ""),
    ("a session with a way up", 404, "GET /inbox/..%2f..%2fx HTTP/1.1", (HOST, COOKIE), ""),
)


def test_forged_requests_are_refused_and_record_nothing(shop: Project, served: Served) -> None:
    assert len(FORGED) >= 40
    wrong = []
    for name, status, first, headers, body in FORGED:
        found, head, text = served.ask(first, *headers, body=body)
        is_clean = KEYS.form not in text and "Set-Cookie" not in head
        if found != status or not is_clean:
            wrong.append((name, found, text[:200]))
    assert wrong == []
    assert (version(shop, served.session), shown(shop, served.session)["status"]) == (
        served.version,
        "ready",
    )
    # The same request as a page of ours sends it
    assert served.ask(POST, *WRITES, body=BODY)[0] == 303
    assert shown(shop, served.session)["status"] == "accepted"


def test_the_token_becomes_a_cookie_that_only_this_server_reads(served: Served) -> None:
    status, head, text = served.ask(f"GET /?token={KEYS.token} HTTP/1.1", HOST)
    said = re.search(r"set-cookie: (.*)", head, re.IGNORECASE)
    assert said is not None
    name, _, rest = said[1].strip().partition("=")
    assert (status, name) == (200, f"preflights_{served.port}")
    attributes = [one.strip().casefold() for one in rest.split(";")[1:]]
    assert attributes == ["httponly", "path=/", "samesite=strict"]
    assert 'url=/"' in text  # by a page of ours: behind a redirect the cookie would be missing
    assert KEYS.token not in text
    assert served.ask(GET, HOST, f"Cookie: {name}={rest.split(';')[0]}; other=1")[0] == 200
    assert served.ask(GET, HOST.replace("127.0.0.1", "localhost"), COOKIE)[0] == 200


@each(
    ("path", "leads"),
    [
        ("/", "/"),
        ("/sessions/01a217e2-5c79", "/sessions/01a217e2-5c79"),
        ("//evil.example/", "/"),
        ('/sessions/"><script>', "/"),
        ("/sessions/../inbox", "/"),
    ],
)
def test_the_token_leads_to_pages_of_ours_alone(pages: Pages, path: str, leads: str) -> None:
    pages.cookies.clear()
    found = pages.get(f"http://127.0.0.1:8718{path}", params={"token": KEYS.token})
    assert re.findall(r'url=([^"]*)"', found.text) == [leads]


def test_answers_say_what_a_browser_may_do_and_ask_nowhere(pages: Pages, shop: Project) -> None:
    expected = {name.decode(): value.decode() for name, value in HEADERS}
    for path in ("/", "/inbox", "/static/view.css", "/nothing", "/?token=x"):
        found = dict(pages.get(path).headers)
        assert expected.items() <= found.items(), path
        assert found["cache-control"] == (
            "private, max-age=31536000, immutable" if path.startswith("/static") else "no-store"
        )
    assert "default-src 'none'" in expected["content-security-policy"]
    session = ready(shop)
    for path in ("/", "/inbox", f"/inbox/{session}", f"/decisions/{session}", "/nothing"):
        page = pages.get(path).text
        assert re.search(r"<style|<script(?! src)|\bstyle=|\son\w+=|javascript:", page) is None
        addresses = re.findall(r'(?:src|href|action)="([^"]*)"', page)
        assert addresses
        assert [one for one in addresses if not one.startswith(("/", "#"))] == []
