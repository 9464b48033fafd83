"""The server as a process: two generations of the SDK's client, raw lines, the key that seals."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client, StdioServerParameters

from preflights_es.settings.load import load_settings
from preflights_es.surfaces.mcp_server import load_sealing_key
from tests.cli.program import BIN, TIMEOUT_S, Project, environment
from tests.each import each
from tests.surfaces.mcp.clients import CLAUDE, person, talk, told

FORMER: Final = "mcp>=1.30,<2"
CLIENT: Final = Path(__file__).parent / "former_client.py"
LARGE: Final = 10_000_000  # characters


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(("era", "spoken"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_sdks_client_talks_to_the_command(shop: Project, era: str, spoken: str) -> None:
    server = StdioServerParameters(
        command="preflights", args=["mcp", "-v"], cwd=shop.folder, env=environment(shop.home)
    )

    async def flow() -> None:
        async with Client(server, mode=era, client_info=CLAUDE) as client:
            assert client.protocol_version == spoken
            assert (await told(client, "start_decision", intention="Add login"))["question"]

    asyncio.run(flow())
    assert shop.show()["status"] == "needs_answers"


@pytest.fixture(scope="session")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the SDK's former major version, and all that it needs."""
    folder = tmp_path_factory.mktemp("former")
    has_uv = find_spec("uv") is not None
    installs = ("uv", "pip", "install", "--quiet") if has_uv else ("pip", "install", "--quiet")
    words = [sys.executable, "-m", *installs, "--target", str(folder), FORMER]
    subprocess.run(words, check=True, timeout=10 * TIMEOUT_S, capture_output=True)
    return folder


@pytest.mark.slow("whole runs")
def test_a_client_of_the_former_major_is_asked_by_a_form(shop: Project, former: Path) -> None:
    words = [sys.executable, str(CLIENT), str(BIN / "preflights"), str(shop.folder)]
    env = {**environment(shop.home), "PYTHONPATH": str(former)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    came = json.loads(done.stdout)
    assert came["spoken"] == "2025-11-25"
    assert "start_decision" in came["tools"]
    assert came["found"]["decided"] == {"Strategy": "OAuth"}
    assert len(came["forms"]) == 1


# Raw lines -----------------------------------------------------------------------------------


class Raw:
    """A process that is sent lines, and its answers."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def send(self, *lines: bytes) -> None:
        """Lines as they are."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"".join(line + b"\n" for line in lines))
        self._process.stdin.flush()

    def ask(self, number: int, method: str, **params: Any) -> Any:
        """The answer to a request."""
        said = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.send(json.dumps(said).encode())
        return self.answer(number)

    def answer(self, number: int) -> Any:
        """The answer of a number; what is no protocol would be no JSON."""
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            found = json.loads(line)
            assert found["jsonrpc"] == "2.0"
            if found.get("id") == number:
                return found
        raise AssertionError("the server ended")

    def shake(self, version: str) -> str:
        """The version that the server speaks then."""
        client = {"name": "raw", "version": "0"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        spoken: str = self.ask(1, "initialize", **params)["result"]["protocolVersion"]
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return spoken


@contextmanager
def raw(shop: Project) -> Iterator[Raw]:
    """The command, ended by the end of its input."""
    process = shop.started("mcp")
    try:
        yield Raw(process)
        _, errors = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, errors.decode()
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow("sizes")
def test_garbage_unknown_versions_and_ten_megabytes_do_no_harm(shop: Project) -> None:
    with raw(shop) as server:
        server.send(b"garbage", b"[]", b"\xff\xfe\x00", b'{"jsonrpc":"2.0"}', b"[" * 100_000)
        assert server.shake("1999-01-01") == "2025-11-25"
        large = {"name": "start_decision", "arguments": {"intention": "x" * LARGE}}
        found = server.ask(2, "tools/call", **large)["result"]
        assert found["isError"]
        assert "at most 4,000 are taken" in found["content"][0]["text"]
        assert server.ask(3, "nope")["error"]["code"] == -32601
        surrogate = rb'{"name":"start_decision","arguments":{"intention":"\ud800"}}'
        line = b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":' + surrogate + b"}"
        server.send(line)
        assert len(server.ask(5, "tools/list")["result"]["tools"]) > 5
    assert shop.call("sessions", "--json").json["sessions"] == []


def test_without_the_sdk_it_is_said_what_to_install(shop: Project, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").touch()
    process = shop.started("mcp", env={"PYTHONPATH": str(tmp_path)})
    _, errors = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, b"needs the extra `mcp`: `" in errors) == (2, True)


NOISY: Final = """\
import sys
sys.addaudithook(lambda event, _: print("noise") if event == "sqlite3.connect" else None)
"""


@pytest.mark.slow("whole runs")
def test_what_other_code_prints_does_not_reach_the_wire(shop: Project, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOISY)
    process = shop.started("mcp", env={"PYTHONPATH": str(tmp_path)})
    server = Raw(process)
    server.shake("2025-06-18")
    call = {"name": "start_decision", "arguments": {"intention": "Add login"}}
    assert "question" in server.ask(2, "tools/call", **call)["result"]["structuredContent"]
    out, errors = process.communicate(timeout=TIMEOUT_S)
    assert (out, b"noise" in errors) == (b"", True)


@pytest.mark.slow("whole runs")
def test_a_client_that_reads_no_more_ends_the_server(shop: Project) -> None:
    process = shop.started("mcp")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    Raw(process).send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    _, errors = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.slow("whole runs")
def test_ctrl_c_ends_the_server_while_its_input_is_open(shop: Project) -> None:
    """The thread that reads stdin would keep the process until the next line."""
    process = shop.started("mcp")
    try:
        Raw(process).shake("2025-11-25")
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) in (-signal.SIGINT, 130)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow("kills")
def test_a_server_that_is_killed_at_its_question_goes_on_where_it_stood(shop: Project) -> None:
    process = shop.started("mcp")
    server = Raw(process)
    client = CLAUDE.model_dump(include={"name", "version"})
    capable = {"capabilities": {"elicitation": {}}, "clientInfo": client}
    call = {"name": "start_decision", "arguments": {"intention": "Add login"}}
    server.ask(1, "initialize", protocolVersion="2024-11-05", **capable)
    server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    said = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    server.send(json.dumps(said).encode())
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["method"] == "elicitation/create"
    process.kill()
    process.communicate()

    async def again(client: Client) -> Any:
        return await told(client, "start_decision", intention="Add login")

    assert talk(shop.folder, again, "legacy", person("OAuth"))["status"] == "ready"
    (row,) = shop.call("sessions", "--json").json["sessions"]
    assert row["status"] == "ready"


# The key that seals --------------------------------------------------------------------------


KNOWN = b"k" * 32


def linked(at: Path) -> None:
    at.with_name("known").write_bytes(KNOWN)
    at.with_name("known").chmod(0o600)
    at.symlink_to("known")


def readable(at: Path) -> None:
    at.write_bytes(KNOWN)
    at.chmod(0o644)


def cut(at: Path) -> None:
    at.write_bytes(KNOWN[:-1])
    at.chmod(0o600)


@each("spoil", [linked, readable, cut])
def test_a_key_that_others_know_or_that_is_cut_gives_way(
    shop: Project, spoil: Callable[[Path], None]
) -> None:
    settings = load_settings(shop.folder)
    first = load_sealing_key(settings)
    assert load_sealing_key(settings) == first
    at = shop.log.parent / "mcp.key"
    at.unlink()
    spoil(at)
    second = load_sealing_key(settings)
    assert second not in (first, KNOWN)
    assert load_sealing_key(settings) == second, "a restart goes on with it"
    assert (at.is_symlink(), at.stat().st_mode & 0o777) == (False, 0o600)


def test_where_no_key_can_be_kept_the_process_has_its_own(shop: Project) -> None:
    settings = load_settings(shop.folder)
    (shop.log.parent / "mcp.key").mkdir(parents=True)
    assert load_sealing_key(settings) != load_sealing_key(settings)
