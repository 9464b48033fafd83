"""The recorder among other programs, servers and proxies than an SDK and its provider."""

from __future__ import annotations

import gzip
import json
import select
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any, Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.cli.program import Project
from tests.cli.test_record import Model, keys, recorded_calls
from tests.providers.server import FakeAPI

HOST: Final = "model.example"
SAID: Final = b'{"choices": [{"message": {"role": "assistant", "content": "hi"}}]}'
PACKED: Final = gzip.compress(SAID)
CHUNKED: Final = b"200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS: Final = {
    "plain": b"200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(SAID), SAID),
    "packed": b"200 OK\r\nContent-Encoding: GZIP\r\nContent-Length: %d\r\n\r\n%s"
    % (len(PACKED), PACKED),
    "latin": b"200 Gr\xfcn\r\nContent-Type: text/\xfc\r\nContent-Length: 2\r\n\r\nok",
    "early": b"103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "nothing": b"204 No Content\r\n\r\n",
    "endless": b"200 OK\r\nConnection: close\r\n\r\nto the end",
    "invalid": CHUNKED + b"2\r\nok\r\nZZ\r\nno\r\n0\r\n\r\n",
    "short": b"200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nhello",
    "cut": CHUNKED + b"5\r\nhello\r\n",
    "long": b"200 OK\r\nX-Long: %s\r\nContent-Length: 2\r\n\r\nok" % (b"x" * 60_000),
    "longer": b"200 OK\r\nX-Long: %s\r\nContent-Length: 2\r\n\r\nok" % (b"x" * 100_000),
}
"""What a provider may send behind `HTTP/1.1 `, by the end of the path."""
DONE: Final = b"200 OK\r\nTransfer-Encoding: chunked\r\n\r\ne\r\ndata: [DONE]\n\n\r\n"
"""A stream of OpenAI that says its end, and has not ended yet."""
PROBE: Final = """
import gzip, http.client, os, socket, sys
from urllib.parse import urlsplit
at = urlsplit(os.environ["OPENAI_BASE_URL"])
def ask(case, method="POST", body=b"{}", **headers):
    it = http.client.HTTPConnection(at.netloc)
    try:
        it.request(method, f"{at.path}/{case}", body, headers, encode_chunked=True)
        answer = it.getresponse()
        data = answer.read()
        packed = answer.headers.get("content-encoding")
        print(case, answer.status, gzip.decompress(data) if packed else data, flush=True)
    except http.client.IncompleteRead as error:
        print(case, "broke off after", error.partial, flush=True)
    except (http.client.HTTPException, ConnectionError):
        print(case, "broke off", flush=True)
"""
ODD: Final = """
ask("plain", "GET", None)
ask("plain", "HEAD", None)
ask("plain", body=iter([b'{"a"', b": 1}"]), **{"Transfer-Encoding": "chunked"})
ask("plain", Expect="100-continue", **{"Content-Type": "text/gr\u00fcn"})
ask("plain", body=bytes([255, 0]))
ask("plain", Connection="Upgrade, HTTP2-Settings", Upgrade="h2c", **{"HTTP2-Settings": "AAMAAABk"})
mark = os.urandom(8).hex()
form = f"--{mark}\\r\\n\\r\\n".encode() + bytes([255, 0]) + f"\\r\\n--{mark}--\\r\\n".encode()
ask("plain", body=form, **{"Content-Type": f"multipart/form-data; boundary={mark}"})
old = socket.create_connection((at.hostname, at.port))
old.sendall(f"POST {at.path}/plain HTTP/1.0\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}".encode())
print(old.makefile("rb").read().splitlines()[0])
"""


class Server(ThreadingTCPServer):
    """Answers by any bytes; a CONNECT by a way to another port."""

    daemon_threads = True

    def __init__(self, leads_to: int = 0, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.leads_to = leads_to
        self.heads: list[bytes] = []
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.port = int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is part of a test."""


class _Asked(StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        while self._answer():
            pass

    def _answer(self) -> bool:
        """Whether the connection stays."""
        lines = iter(self.rfile.readline, b"")
        head = b"".join(takewhile(lambda line: line != b"\r\n", lines))
        if not head:
            return False
        self.server.heads.append(head)
        if head.startswith(b"CONNECT "):
            with socket.create_connection(("127.0.0.1", self.server.leads_to)) as other:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                _pass_on(self.connection, other)
            return False
        length = head.lower().partition(b"content-length:")[2].split()
        self.rfile.read(int(length[0]) if length else 0)
        answer = ANSWERS.get(head.split()[1].rpartition(b"/")[2].decode(), DONE)
        self.wfile.write(b"HTTP/1.1 " + answer[: -len(SAID) if head.startswith(b"HEAD ") else None])
        return b"Connection: close" not in answer


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    ways = {one: other, other: one}
    while True:
        for come in select.select([one, other], [], [])[0]:
            data = come.recv(65_536)
            if not data:
                return
            ways[come].sendall(data)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, args=(0.005,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Of an authority of our own, which a server shows."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ours")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file = folder / "ours.pem"
    file.write_bytes(key.private_bytes(pem, form, plain) + made.public_bytes(pem))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    return file, tls


def test_odd_programs_and_servers_are_served_and_replayed(empty: Project) -> None:
    said = "".join(f"ask({case!r})\n" for case in ANSWERS)
    command = ("--", sys.executable, "-c", PROBE + said + ODD)
    with serving(Server()) as server:
        env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.port}/v1"}
        first = empty.run("calls", "record", *command, env=env)
    assert first.code == 0, first
    plain = f"plain 200 {SAID!r}"
    lines = [
        plain,
        f"packed 200 {SAID!r}",
        "latin 200 b'ok'",
        "early 200 b'ok'",
        "nothing 204 b''",
        "endless 200 b'to the end'",
        "invalid broke off",
        "short broke off after b'hello'",
        "cut broke off after b'hello'",
        "long 200 b'ok'",
        "longer broke off",
        plain,
        "plain 200 b''",
        *[plain] * 5,
        "b'HTTP/1.0 200 OK'",
    ]
    assert first.out == "".join(f"{line}\n" for line in lines), first
    assert "the words of these calls lie in " in first.err
    assert not any(b"h2c" in head or b"100-continue" in head for head in server.heads)
    again = empty.run("calls", "replay", "last", *command)
    assert (again.code, again.out) == (0, first.out), again


def test_an_answer_is_whole_once_its_stream_says_so(empty: Project) -> None:
    leaves = (
        "it = http.client.HTTPConnection(at.netloc)\n"
        "it.request('POST', f'{at.path}/done', b'{}')\n"
        "print(it.getresponse().readline())\n"
    )
    command = ("--", sys.executable, "-c", PROBE + leaves)
    with serving(Server()) as server:
        env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.port}/v1"}
        first = empty.run("calls", "record", *command, env=env)
    assert (first.code, first.out) == (0, "b'data: [DONE]\\n'\n"), first
    assert "no whole answer" not in first.err
    assert recorded_calls(empty)[0]["ended"] == ""
    again = empty.run("calls", "replay", "last", *command)
    assert (again.code, again.out) == (0, first.out), again


def test_what_is_no_http_is_refused_without_a_word(empty: Project) -> None:
    said = (
        "for line in (b'GET / x HTTP/1.1', b'\\x16\\x03\\x01', b'GET / HTTP/1.1\\r\\nno colon'):\n"
        "    it = socket.create_connection((at.hostname, at.port))\n"
        "    it.sendall(line + b'\\r\\n\\r\\n')\n"
        "    print(it.makefile('rb').read(12))\n"
    )
    with serving(Server()) as server:
        env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.port}/v1"}
        command = ("--", sys.executable, "-c", PROBE + said + 'ask("plain")\n')
        found = empty.run("calls", "record", *command, env=env)
    refused = "b'HTTP/1.0 400'\n" * 3
    assert found.out == f"{refused}plain 200 {SAID!r}\n", found
    assert "Traceback" not in found.err


@pytest.mark.parametrize("scheme", ["https", "http"])
def test_a_provider_is_asked_by_the_proxy_and_the_certificates_of_the_environment(
    empty: Project, tmp_path: Path, scheme: str
) -> None:
    file, tls = certificate(tmp_path)
    command = ("calls", "record", "--", sys.executable, "-c", PROBE + 'ask("plain")\n')
    with serving(Server(tls=tls)) as provider, serving(Server(provider.port)) as proxy:
        env = {"OPENAI_BASE_URL": f"{scheme}://{HOST}/v1"}
        env[f"{scheme.upper()}_PROXY"] = f"http://ada:word@127.0.0.1:{proxy.port}"
        found = empty.run(*command, env=env | {"SSL_CERT_FILE": str(file)})
        assert (found.code, found.out) == (0, f"plain 200 {SAID!r}\n"), found
        (asked,) = proxy.heads
        line = b"CONNECT model.example:443 " if scheme == "https" else b"POST http://model.example/"
        assert asked.startswith(line)
        assert b"\r\nProxy-Authorization: Basic YWRhOndvcmQ=\r\n" in asked
        assert bool(provider.heads) == (scheme == "https")
        if scheme == "https":
            assert empty.run(*command, env=env).out == "plain broke off\n"
            ended = recorded_calls(empty)[0]["ended"]
            assert ended == "no answer: ClientConnectorCertificateError"


def test_an_environment_that_cannot_be_used_is_refused(empty: Project) -> None:
    for env, words in (
        ({"HTTPS_PROXY": "http://u:SECRET/pw@proxy:80"}, "the address in HTTPS_PROXY is invalid"),
        ({"ALL_PROXY": "socks5://127.0.0.1:9"}, "; set HTTPS_PROXY to such a one, or NO_PROXY to"),
        ({"SSL_CERT_FILE": "/not/there"}, "the certificates cannot be read: "),
        ({"OPENAI_BASE_URL": "http://u:SECRET@x"}, "the address of openai: expected an address"),
    ):
        found = empty.run("calls", "record", "--", "true", env=env)
        found.refused(1, words)
        assert "SECRET" not in found.err


def test_no_proxy_of_all_stays_so_and_without_calls_no_place_is_named(empty: Project) -> None:
    said = ("--", sys.executable, "-c", "import os; print(os.environ['NO_PROXY'])")
    found = empty.run("calls", "record", *said, env={"NO_PROXY": "*"})
    assert (found.code, found.out) == (1, "*\n")
    assert "these calls lie in" not in found.err


@pytest.mark.needs("node")
def test_a_program_of_node_is_recorded_and_replayed(empty: Project) -> None:
    command = ("--", "node", str(Path(__file__).with_name("calling_program.mjs")))
    with FakeAPI() as api:
        api.script(Model())
        first = empty.run("calls", "record", *command, env=keys(api))
        assert (first.code, len(api.requests)) == (0, 19), first
    again = empty.run("calls", "replay", "last", *command, env=keys())
    assert (again.code, again.out) == (0, first.out), again
    assert json.loads(first.out)["stream"].startswith("grüß answer ")
