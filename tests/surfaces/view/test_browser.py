"""The pages in a real browser: by keyboard alone, for everyone, and without a request elsewhere."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from selenium.webdriver import Keys

from preflights_cli.advice import advised
from preflights_cli.inbox import settling
from preflights_es.kernel.ports import Access
from preflights_es.surfaces.view.rendering import Keys as Secrets
from preflights_es.surfaces.view.rendering import Site
from preflights_es.surfaces.view.server import bound, opener, serving
from preflights_es.use.bootstrap import opened_process
from tests.browser import Browser
from tests.cli.program import Project
from tests.surfaces.view.conftest import at_home
from tests.surfaces.view.test_inbox import begun, ready, shown

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow("whole runs")]

WIDE: Final = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
TITLES: Final = "return [...document.querySelectorAll('.title')].map(one => one.textContent)"
HEADING: Final = "return document.querySelector('h1').textContent.trim()"
READY: Final = "return document.readyState"


class Opened(NamedTuple):
    """A server that runs, and sessions of its project."""

    address: str
    entrance: str
    """With the token."""
    shop: Project
    sessions: dict[str, str]
    """`accepted`, `superseded`, `question`, `proposal`, `differing`."""


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, home: Path, browser: Browser
) -> Iterator[Opened]:
    """A project with something on every page, in a browser that showed the token."""
    shop = Project(tmp_path_factory.mktemp("house") / "shop", home)
    shop.folder.mkdir()
    shop.git("init", "--quiet", "--template=")
    found = {"accepted": ready(shop), "superseded": ready(shop, "Use SQLite for the orders")}
    for session in found.values():
        assert shop.call("accept", session, "--by", "Ada").code == 0
    later = ready(shop, "Use PostgreSQL for the orders")
    uid = shown(shop, found["superseded"])["uid"]
    assert shop.call("accept", later, "--by", "Ada", "--supersedes", uid).code == 0
    earlier = "UPDATE projected_decisions SET accepted_at = accepted_at - 345600000000"
    with closing(sqlite3.connect(shop.log, isolation_level=None)) as log:  # four days
        log.execute(f"{earlier} WHERE session_id = '{found['accepted']}'")
    found["question"] = begun(shop, "Choose a feature flag service")
    found["proposal"] = ready(shop, "Use Stripe for payments")
    found["differing"] = ready(shop, "Use MySQL for the orders")
    with pytest.MonkeyPatch.context() as patched, bound(0) as listening:
        at_home(patched, home)
        program = opened_process(shop.folder, terminal=True, access=Access.WRITE)
        secrets, port = Secrets.new(), listening.getsockname()[1]
        made = Site(program.request(), secrets, port, "", advised, settling)
        server = serving(made)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        entrance = f"{made.address}/?token={secrets.token}"
        try:
            with opener(entrance) as file:
                browser.visit(file)
                browser.shows(HEADING, "Decisions")
            yield Opened(made.address, entrance, shop, found)
        finally:
            server.should_exit = True
            thread.join()
            program.process.close()


PAGES: Final = (
    *("/sessions", "/sessions?q=orders&with=waits", "/usage"),
    *("/", "/?all=1", "/?q=orders", "/?as-of=2026-01-01", "/nothing"),
    *("/decisions/accepted", "/decisions/superseded"),
    *("/inbox", "/inbox/question", "/inbox/proposal", "/inbox/accepted"),
)


def at(site: Opened, page: str) -> str:
    """An address, with the id of a session for its word."""
    head, _, word = page.rpartition("/")
    return f"{site.address}{head}/{site.sessions.get(word, word)}"


def found_by_axe(browser: Browser) -> list[str]:
    """With all that can be opened open; of text in a picture axe cannot say on what it stands."""
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    return [one for one in browser.complaints() if not one.startswith("color-contrast: <text")]


def test_axe_finds_nothing_on_any_page(browser: Browser, site: Opened) -> None:
    found = {}
    for page in PAGES:
        for scheme in ("light", "dark"):
            browser.visit(at(site, page), scheme)
            if complaints := found_by_axe(browser):
                found[page, scheme] = complaints
    assert found == {}
    assert [one for one in browser.errors() if "404" not in one] == []


def test_no_page_asks_any_other_server_and_every_one_fits_a_phone_and_a_wall(
    browser: Browser, site: Opened
) -> None:
    for page in PAGES:
        for width in (320, 2560):
            browser.visit(at(site, page), width=width)
            asked = browser.requests()
            assert asked
            own = (f"{site.address}/", "data:")  # the picture of a calendar is the browser's own
            assert [one for one in asked if not one.startswith(own)] == [], page
            browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert not browser.run(WIDE), (page, width)


def test_the_list_follows_what_is_typed(browser: Browser, site: Opened) -> None:
    browser.visit(f"{site.address}/")
    assert len(browser.run(TITLES)) == 2
    browser.run("document.getElementById('q').focus()")
    browser.press(*"orders")
    browser.shows(TITLES, ["Use PostgreSQL for the orders"])
    browser.shows("return document.activeElement.id", "q")
    assert "q=orders" in browser.driver.current_url
    browser.shows(
        "return document.querySelector('footer code').textContent",
        "preflights decisions --query orders",
    )


def test_the_slider_goes_back_by_keyboard(browser: Browser, site: Opened) -> None:
    _back_a_day(browser, site)
    browser.shows("return document.activeElement.id", "day")
    browser.press(Keys.ARROW_RIGHT)
    browser.shows("return new URL(location.href).searchParams.has('as-of')", False)


def test_lists_refresh_themselves_and_ids_are_copied(browser: Browser, site: Opened) -> None:
    for page in ("sessions", "inbox"):
        browser.visit(f"{site.address}/{page}")
        new = begun(site.shop, f"Choose a database for the {page}")
        link = f"return document.querySelector('[data-fresh] a[href$=\"{new}\"]') !== null"
        browser.shows(link, True)
    grants = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    allowed = {"permissions": grants, "origin": site.address}
    browser.driver.execute_cdp_cmd("Browser.grantPermissions", allowed)
    browser.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    browser.visit(f"{site.address}/decisions/{site.sessions['accepted']}")
    browser.run("document.querySelector('main .copy').focus()")
    browser.press(Keys.ENTER)
    browser.shows("return document.getElementById('copied').textContent", "Copied")
    read = "return navigator.clipboard.readText()"
    assert browser.run(read) == site.sessions["accepted"]
    browser.run("[...document.querySelectorAll('footer .copy')].at(-1).click()")
    browser.shows(read, f"{site.address}/decisions/{site.sessions['accepted']}")


def _back_a_day(browser: Browser, site: Opened) -> None:
    browser.visit(f"{site.address}/")
    browser.shows("return document.querySelector('.slider').hidden", False)
    browser.run("document.getElementById('day').focus()")
    browser.press(Keys.ARROW_LEFT)
    browser.shows("return new URL(location.href).searchParams.has('as-of')", True)


def test_a_search_stays_on_the_day_of_the_slider(browser: Browser, site: Opened) -> None:
    _back_a_day(browser, site)
    browser.run("document.getElementById('q').focus()")
    browser.press(*"zzz", Keys.ENTER)
    browser.shows("return document.getElementById('q').value", "zzz")
    browser.shows("return document.readyState", "complete")
    named = "return [...new URL(location.href).searchParams.keys()].sort().join()"
    browser.shows(named, "as-of,q")


def test_a_question_is_answered_kept_or_ended_by_keys_alone(browser: Browser, site: Opened) -> None:
    for button, said in (
        ("form[action$='/keep'] button:first-of-type", "Kept instead: "),
        ("form[action$='/task'] button", "accepting files a task"),
    ):
        ended = begun(site.shop, "Choose a database for the orders")
        browser.visit(f"{site.address}/inbox/{ended}")
        _tab_to(browser, button)
        browser.press(Keys.ENTER)
        browser.shows(f"return document.body.innerText.includes({said!r})", True)
        assert shown(site.shop, ended)["status"] == "stopped"
    session = begun(site.shop, "Choose a search engine")
    browser.visit(f"{site.address}/inbox/{session}")
    _tab_to(browser, "input[name=choice]")
    browser.press(Keys.SPACE)
    _tab_to(browser, "form[action$='/answer'] button")
    browser.press(Keys.ENTER)
    browser.shows("return !!document.querySelector(\"form[action$='/accept']\")", True)
    _tab_to(browser, "form[action$='/accept'] button")
    browser.press(Keys.ENTER)
    browser.shows("return location.pathname", f"/decisions/{session}")
    assert shown(site.shop, session)["evidence"]["way"] == "browser"


def test_a_differing_decision_is_chosen_about_by_keyboard(browser: Browser, site: Opened) -> None:
    session = site.sessions["differing"]
    browser.visit(f"{site.address}/inbox/{session}")
    _tab_to(browser, "form[action$='/accept'] button")
    browser.press(Keys.ENTER)
    browser.shows("return document.querySelectorAll('[name^=\"about.\"]').length", 2)
    assert found_by_axe(browser) == []
    _tab_to(browser, "input[value=supersedes]")
    browser.press(Keys.SPACE)
    _tab_to(browser, "form[action$='/accept'] button")
    browser.press(Keys.ENTER)
    browser.shows("return location.pathname", f"/decisions/{session}")
    assert shown(site.shop, session)["status"] == "accepted"


def test_words_without_an_end_fit_a_phone(browser: Browser, site: Opened) -> None:
    word, by = "Zinsen" * 12, ("--as", f"user:{'Ada' * 20}")
    asks = ("--question", f"{word}?", "--scope", word, "--recommend", f"{word}: {word}")
    options = ("--option", word, "--option", "No", "--against", f"{word}: {word}")
    found = []
    for _ in range(2):
        begun_ = site.shop.call("start", word, *asks, *options, "--json", *by).json
        found.append(begun_["session_id"])
    key = begun_["questions"][0]["id"]
    site.shop.call("answer", found[0], f"{key}={word}", *by)
    assert site.shop.call("accept", found[0], "--by", by[1][5:]).code == 0
    one, asked = found
    lists = ("/", "/?q=zinsen", "/inbox")
    for page in (*lists, f"/decisions/{one}", f"/sessions/{one}", f"/inbox/{asked}"):
        browser.visit(site.address + page, width=320)
        browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert not browser.run(WIDE), page
    height = "return document.querySelector('.value > .soft').offsetHeight"
    browser.visit(f"{site.address}/?q=zinsen", width=320)
    assert browser.run(height) < 40
    browser.visit(f"{site.address}/")
    short = "one.firstChild.textContent = 'Framework'; one.lastChild.textContent = 'Vue'"
    browser.run(f"for (const one of document.querySelectorAll('.value')) {{ {short} }}")
    assert 0 < browser.run(height) < 30


def _tab_to(browser: Browser, selector: str) -> None:
    """By the Tab key, from where the focus is."""
    script = f"return document.activeElement.matches({selector!r})"
    for _ in range(60):
        browser.press(Keys.TAB)
        if browser.run(script):
            return
    pytest.fail(f"no Tab leads to {selector}")
