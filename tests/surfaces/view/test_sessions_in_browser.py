"""Sessions in a real browser: by keyboard, for everyone, live, and without a request elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace
from selenium.webdriver import Keys

from preflights_es.surfaces.view.pictures import PART
from tests.benchmarks.growing import recorded
from tests.browser import Browser
from tests.cli.program import Project
from tests.surfaces.view.conftest import KEYS
from tests.surfaces.view.given_sessions import filed, resealed
from tests.surfaces.view.test_live import Server, served

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow("whole runs")]

EVENT: Final = "return document.getElementById('session').dataset.version"
LAST: Final = "return document.getElementById('session').dataset.last"
SAID: Final = "return document.getElementById('said').textContent"
IS_LIVE: Final = "return !document.getElementById('live').hidden"
LONG: Final = "01900000-0000-7000-8000-00000000abcd"
WIDE: Final = "return document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture
def server(shop: Project, browser: Browser) -> Iterator[Server]:
    """The pages of a project, and a browser that showed the token."""
    shop.call("start", "Keep orders safe", "--provider", "sim", "--seed", "7", "--json")
    with served(shop) as found:
        browser.visit(f"{address(found, '/')}?token={KEYS.token}")
        yield found
        browser.visit("about:blank")


def address(server: Server, path: str) -> str:
    return f"http://127.0.0.1:{server.port}{path}"


def test_axe_finds_nothing(shop: Project, server: Server, browser: Browser) -> None:
    id_ = shop.newest()
    other = shop.call("start", "Keep orders", "--provider", "sim", "--json").json["session_id"]
    browser.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})  # for axe alone
    try:
        for scheme in ("light", "dark"):
            for path in (f"{id_}?at=3", id_, f"{id_}/event/2", f"{id_}/replay", ""):
                browser.visit(address(server, f"/sessions/{path}".rstrip("/")), scheme)
                if path.endswith("replay"):
                    browser.run("document.querySelector('button[value=strict]').click()")
                    browser.shows("return !!document.querySelector('.result')", True)
                assert complaints(browser) == [], path
            for path in (f"/diff/{id_}", f"/diff/{id_}/{other}"):
                browser.visit(address(server, path), scheme)
                assert complaints(browser) == [], path
            browser.visit(address(server, "/usage?by=prompt"), scheme)
            assert complaints(browser) == []
    finally:
        browser.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})


def test_on_paper_nothing_is_cut(shop: Project, server: Server, browser: Browser) -> None:
    paper = {"media": "print"}
    parts = (
        "document.querySelectorAll('.track > svg, .track text, .list, .inspector, .events, pre')"
    )
    cut = (
        f"return [...{parts}].filter(one => one.getBoundingClientRect().right > innerWidth).length"
    )
    for path in ("/sessions", f"/sessions/{shop.newest()}"):
        for width in (703, 1030):  # A4 within its margins, upright and across
            browser.visit(address(server, path), width=width)
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", paper)
            assert browser.run(cut) == 0, (path, width)
            beside = "document.querySelector('.inspector') || document.body"
            assert browser.run(f"return ({beside}).scrollHeight - ({beside}).clientHeight") <= 0


def complaints(browser: Browser) -> list[str]:
    """Those of axe, which cannot tell the colour behind a text of a picture."""
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    return [one for one in browser.complaints() if not one.startswith("color-contrast: <text")]


def test_arrow_keys_step_within_the_page(shop: Project, server: Server, browser: Browser) -> None:
    id_ = shop.newest()
    last = shop.show(id_)["version"]
    browser.visit(address(server, f"/sessions/{id_}"))
    browser.run("window.same = true")
    browser.press(Keys.ARROW_LEFT)
    browser.shows(EVENT, str(last - 1))
    browser.press(Keys.ARROW_LEFT)
    browser.shows(EVENT, str(last - 2))
    browser.shows(SAID, browser.run("return document.getElementById('session').dataset.said"))
    browser.press(Keys.ARROW_RIGHT)
    browser.shows(EVENT, str(last - 1))
    assert browser.run("return location.search") == f"?at={last - 1}"
    assert browser.run("return window.same") is True
    browser.run("document.querySelector('[rel=first]').focus()")
    browser.press(Keys.ENTER)
    browser.shows(EVENT, "1")
    browser.press(Keys.ARROW_LEFT)  # nothing lies before the first
    browser.shows(EVENT, "1")
    assert browser.run("return window.same") is True
    assert {urlsplit(one).netloc for one in browser.requests()} == {f"127.0.0.1:{server.port}"}
    assert browser.errors() == []


def test_a_long_session_is_dragged_through(
    shop: Project, server: Server, browser: Browser, tmp_path: Path
) -> None:
    events = resealed(replace(one, session_id=LONG) for one in recorded(PART + 10))
    file = filed(tmp_path / "long.jsonl", events)
    assert shop.call("admin", "import", str(file), "--yes").code == 0
    browser.visit(address(server, f"/sessions/{LONG}?at=3"))
    browser.run("document.querySelector('.chips a[href*=person]').click()")
    browser.shows("return location.search", "?only=person&at=3")
    browser.run("window.strip = document.getElementById('to')")
    for at in (90, 150):
        browser.run(
            f"strip.value = {at}; strip.dispatchEvent(new Event('input', {{bubbles: true}}))"
        )
        browser.shows(
            f"return Math.abs(document.getElementById('session').dataset.version - {at}) < 4", True
        )
    assert browser.run("return strip.isConnected && location.search.includes('only=person')")
    browser.run("document.querySelector('.cards details, .inspector details').open = true")
    browser.press(Keys.ARROW_RIGHT)
    browser.shows("return document.getElementById('session').dataset.version - 150 > 0", True)
    assert browser.run("return document.querySelector('.stood details').open")
    assert browser.errors() == []


def test_without_javascript_links_step(shop: Project, server: Server, browser: Browser) -> None:
    id_ = shop.newest()
    last = shop.show(id_)["version"]
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.visit(address(server, f"/sessions/{id_}"))
        browser.driver.find_element("css selector", "[rel=prev]").click()
        assert browser.driver.current_url.endswith(f"?at={last - 1}")
        browser.driver.find_element("css selector", "[rel=next]").click()
        assert browser.driver.current_url.endswith(f"?at={last}")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_session_going_on_is_followed(shop: Project, server: Server, browser: Browser) -> None:
    id_ = shop.started_session("Add OAuth login")
    last = shop.show(id_)["version"]
    browser.visit(address(server, f"/sessions/{id_}"))
    browser.shows(IS_LIVE, True)
    shop.call("answer", id_, "auth_strategy=OAuth")
    now = shop.show(id_)["version"]
    browser.shows(EVENT, str(now))
    assert now > last
    browser.visit(address(server, f"/sessions/{id_}?at=2"))  # who looks back stays there
    browser.shows(IS_LIVE, True)
    shop.call("abandon", id_, "--reason", "no time")
    browser.shows(LAST, str(shop.show(id_)["version"]))
    assert browser.run(EVENT) == "2"
    assert browser.errors() == []


def test_a_hidden_tab_gives_its_line_back(shop: Project, server: Server, browser: Browser) -> None:
    id_ = shop.newest()
    browser.visit(address(server, f"/sessions/{id_}"))
    browser.shows(IS_LIVE, True)
    here, driver = browser.driver.current_window_handle, browser.driver
    try:
        for _ in range(7):  # more than a browser opens lines to one server
            driver.switch_to.new_window("tab")
            driver.get(address(server, f"/sessions/{id_}"))
            browser.shows(IS_LIVE, True)
    finally:
        for handle in driver.window_handles:
            if handle != here:
                driver.switch_to.window(handle)
                driver.close()
        driver.switch_to.window(here)
    browser.visit("about:blank")
    assert browser.errors() == []


def test_nothing_is_wider_than_a_small_or_a_large_screen(
    shop: Project, server: Server, browser: Browser
) -> None:
    id_ = shop.newest()
    try:
        for width in (320, 3840):
            size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
            browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            for path in ("/sessions", f"/sessions/{id_}", f"/sessions/{id_}/replay", "/usage"):
                browser.visit(address(server, path))
                assert browser.run(WIDE), (width, path)
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
