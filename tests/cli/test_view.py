"""`view` as it is typed: its address, its file, who may accept, and how it ends."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from preflights_es.surfaces.view.server import bound
from tests.cli.program import TIMEOUT_S, Project
from tests.cli.terminal import Terminal, terminal
from tests.each import each

ADDRESS: Final = r"http://127\.0\.0\.1:\d+/\?token=\S+\s"
VIEW: Final = ("view", "--no-browser", "--port", "0")
BROWSER: Final = """\
#!/bin/sh
printf '%s' "$1" >"$SEEN.new" && mv "$SEEN.new" "$SEEN"
"""
"""Notes with which words it was started."""


def entered(address: str) -> str:
    """The pages' cookie, as a browser gets it for the printed address."""
    with urlopen(address, timeout=TIMEOUT_S) as page:
        cookie: str = page.headers["Set-Cookie"].partition(";")[0]
    return cookie


def first_page(address: str) -> str:
    """The decisions."""
    asked = Request(address.partition("?")[0], headers={"Cookie": entered(address)})
    with urlopen(asked, timeout=TIMEOUT_S) as page:
        return str(page.read().decode())


def ended(t: Terminal) -> None:
    """By Ctrl-C."""
    t.interrupt()
    assert t.code() == 130


def test_the_next_free_port_is_taken_where_none_was_named(house: Project) -> None:
    with bound(0) as first:
        port = first.getsockname()[1]
        with bound(port, 5) as second:
            assert port < second.getsockname()[1] < port + 5
        done = house.call("view", "--no-browser", "--port", str(port))
        assert (done.code, f"port {port} of 127.0.0.1 cannot be used" in done.err) == (5, True)


@pytest.mark.slow("whole runs")
def test_the_page_is_served_at_the_printed_address_until_ctrl_c(house: Project) -> None:
    with terminal(house, *VIEW) as t:
        address = t.expect(ADDRESS).strip()
        t.expect("Ctrl-C ends the server")
        assert "What is accepted here is recorded as the word of <b>Ada</b>" in first_page(address)
        with pytest.raises(HTTPError, match="403"):
            urlopen(address.partition("?")[0], timeout=TIMEOUT_S)
        ended(t)


@pytest.mark.slow("whole runs")
def test_the_browser_is_started_with_a_file_that_only_its_person_reads(
    house: Project, tmp_path: Path
) -> None:
    program, seen = tmp_path / "browser", tmp_path / "seen"
    program.write_text(BROWSER)
    program.chmod(0o700)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    env = {"BROWSER": f"{program} %s", "SEEN": str(seen), "TMPDIR": str(temporary)}
    with terminal(house, "view", "--port", "0", env=env) as t:
        address = t.expect(ADDRESS).strip()
        t.expect("Ctrl-C")
        ends = time.monotonic() + TIMEOUT_S
        while not seen.exists():
            assert time.monotonic() < ends, "no browser was started"
            time.sleep(0.02)
        words = seen.read_text()
        assert words.startswith("file://")
        assert address.partition("=")[2] not in words
        file = Path(words.removeprefix("file://"))
        assert (stat.S_IMODE(os.stat(file).st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (
            0o600,
            0o700,
        )
        assert re.findall(r"url=([^\"]*)", file.read_text()) == [address]
        ended(t)
    assert list(temporary.iterdir()) == []


READ_ONLY: Final[tuple[tuple[tuple[str, ...], Mapping[str, str], str], ...]] = (
    (("--read-only",), {}, "it was started with --read-only"),
    ((), {"CLAUDECODE": "1"}, "CLAUDECODE is set, so an agent started it"),
    (("--as", "script:cron"), {}, "it was started as script"),
)


@pytest.mark.slow("whole runs")
def test_what_no_person_started_only_shows(house: Project) -> None:
    for args, env, why in READ_ONLY:
        with terminal(house, *VIEW, *args, env=env) as t:
            address = t.expect(ADDRESS).strip()
            t.expect(f"read-only: {why}")
            assert f"This server is read-only: {why}." in first_page(address)
            ended(t)


@pytest.mark.slow("whole runs")
def test_without_a_terminal_it_only_shows(house: Project) -> None:
    process = house.started(*VIEW)
    assert process.stderr is not None
    try:
        address = process.stderr.readline().decode().strip()
        assert process.stderr.readline() == b"read-only: no person started it at a terminal\n"
        assert "read-only" in first_page(address)
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)


def test_the_server_starts_without_the_modules_of_its_pages() -> None:
    loads = "import sys, preflights_es.surfaces.view.server; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    pages = "preflights_es.surfaces.view.responses"
    assert {pages, "starlette.routing", "jinja2"}.isdisjoint(done.stdout.split())


@each("package", ["uvicorn", "markdown_it"])
def test_without_its_packages_it_is_said_what_to_install(house: Project, package: str) -> None:
    bare = (
        f"import sys; sys.modules.update({package}=None); "
        "from preflights_cli.main import run_command_line"
    )
    done = house.run(
        *VIEW, program=("python", "-c", f"{bare}; sys.exit(run_command_line(sys.argv[1:]))")
    )
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert re.search("the page needs the extra `view`: `.* install .*view.*`$", done.err.strip())
