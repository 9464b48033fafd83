"""`preflights view FILE.jsonl` and `preflights view SESSION`, as programs."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from tests.cli.program import Project
from tests.markdown import ROOT
from tests.projections.recording import golden

FILE = ROOT / "replays" / "clarification" / "a_model_leads.jsonl"


@contextmanager
def viewed(shop: Project, session: str) -> Iterator[tuple[str, OpenerDirector]]:
    """The address that the program prints, and a browser that opened it."""
    running = shop.started("view", session, "--no-browser", "--port", "0")
    assert running.stderr is not None
    try:
        address = running.stderr.readline().decode().strip()
        browser = build_opener(HTTPCookieProcessor(CookieJar()))
        browser.open(address).close()
        yield address, browser
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=20)


@pytest.mark.slow("whole runs")
def test_a_file_that_is_in_no_log_is_shown(shop: Project) -> None:
    with viewed(shop, str(FILE)) as (address, browser):
        id_ = golden("a_model_leads")[0][0].session_id
        assert f"/sessions/{id_}?token=" in address
        page = browser.open(address.partition("?")[0]).read().decode()
        assert "Keep orders safe" in page
        assert "read-only" in page
        assert "a_model_leads.jsonl alone" in page
        assert f"</code>, after <code>preflights admin import {FILE}</code>" in page
    assert not shop.log.exists()


@pytest.mark.slow("whole runs")
def test_a_session_is_opened_at_its_timeline(shop: Project) -> None:
    id_ = shop.started_session("Add OAuth login")
    with viewed(shop, id_[-8:]) as (address, browser):
        assert re.search(rf"/sessions/{id_}\?token=", address)
        page = browser.open(address.partition("?")[0]).read()
        assert b"Add OAuth login" in page
        assert b"admin import" not in page


def test_a_session_that_is_not_there_starts_no_server(shop: Project) -> None:
    shop.call("view", "00000000", "--no-browser", "--port", "0").refused(1, "no session matches")
    missing = shop.call("view", "none.jsonl", "--no-browser", "--port", "0")
    assert missing.code == 1
    assert "none.jsonl cannot be read" in missing.err
