"""The HTML report in a real browser: by keyboard, for everyone, and without a request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from msgspec.structs import replace
from selenium.webdriver import Keys

from preflights_es.features.regress.report_files import html
from preflights_es.features.regress.results import Report
from tests.browser import Browser, chromium
from tests.features.regress import given_reports as given

pytestmark = pytest.mark.needs("chromium")

FOCUS = "return document.activeElement.value || document.activeElement.tagName"
COUNT = "return document.getElementById('count').textContent"
OUTCOMES = "return [...new Set([...document.querySelectorAll('.outcome')].map(o => o.textContent))]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("browser")) as started:
        yield started


REPORTS: Final[dict[str, Callable[[], Report]]] = {
    "usual": given.usual,
    "strict": given.strict,
    "hostile": lambda: given.hostile(given.HOSTILE[4:9]),
    "empty": lambda: given.report([]),
}


@pytest.mark.slow("whole runs")
def test_axe_finds_nothing(browser: Browser) -> None:
    for name, scheme in (
        *(("usual", "light"), ("usual", "dark"), ("strict", "light")),
        *(("hostile", "dark"), ("empty", "light")),
    ):
        browser.open(html(REPORTS[name]()), scheme)
        browser.run(
            "document.querySelectorAll('summary').forEach((one, n) => n < 3 && one.click())"
        )
        browser.shows("return document.querySelectorAll('[open]:not(:has(.body))').length", 0)
        assert browser.complaints() == [], (name, scheme)
        assert browser.errors() == [], (name, scheme)


@pytest.mark.slow("whole runs")
def test_axe_would_find_something(browser: Browser) -> None:
    # Keeps the test above from looking at nothing.
    browser.open(html(given.usual()).replace("<label ", "<span "))
    assert any("label" in one for one in browser.complaints())


@pytest.mark.slow("whole runs")
def test_the_page_filters_by_keyboard(browser: Browser) -> None:
    browser.open(html(given.usual()))
    browser.shows(COUNT, "27 of 207 sessions match.")
    browser.press(Keys.TAB)  # the link that skips to the sessions
    for outcome in ("failed", "faulted", "damaged", "open"):
        browser.press(Keys.TAB)
        browser.shows(FOCUS, outcome)
        browser.press(Keys.SPACE)
    browser.shows(COUNT, "13 of 207 sessions match.")
    browser.shows(OUTCOMES, ["changed", "fixed"])
    for cause in ("changed", "fixed", "same", "code or data", "model", "prompt"):
        browser.press(Keys.TAB)
        browser.shows(FOCUS, cause)
    browser.press(Keys.SPACE)
    browser.shows(COUNT, "1 of 207 sessions match.")  # of the model too
    browser.press(Keys.SPACE, Keys.TAB, Keys.TAB, *"0000b9")
    browser.shows(COUNT, "1 of 207 sessions match.")
    browser.press(Keys.TAB, Keys.ENTER)
    browser.shows(COUNT, "27 of 207 sessions match.")


def test_a_session_opens_by_keyboard_and_shows_both_sides(browser: Browser) -> None:
    browser.open(html(given.usual()))
    browser.press(Keys.TAB, Keys.ENTER, Keys.TAB)
    browser.shows(FOCUS, "SUMMARY")
    browser.press(Keys.ENTER)
    texts = "return [...document.querySelectorAll('{}')].slice(0, 2).map(one => one.textContent)"
    browser.shows(
        texts.format("details[open] .differences td"),
        ["Which strategy do you want?", "Which strategy for sign-in do you want, and why?"],
    )
    browser.shows(
        texts.format("details[open] .differences mark"),
        ["do you want?", "for sign-in do you want, and why?"],
    )
    browser.shows("return document.querySelector('[open] .text').textContent", "Add login")
    assert "regress 0000000000c0 --prompt" in browser.run("return document.body.innerText")


def test_many_sessions_come_in_steps(browser: Browser) -> None:
    browser.open(html(given.report([given.case(n, "failed") for n in range(950)])))
    items = "return document.querySelectorAll('#cases > li').length"
    browser.shows(items, 100)
    browser.run("document.getElementById('more').focus()")
    browser.press(Keys.ENTER)
    browser.shows(items, 200)
    browser.shows(FOCUS, "SUMMARY")  # the first of those that came


def test_nothing_is_loaded_and_nothing_can_be(browser: Browser) -> None:
    address = browser.open(html(given.hostile()))
    assert browser.run("return performance.getEntriesByType('resource').length") == 0
    assert set(browser.requests()) == {address}
    browser.run("new Image().src = 'http://127.0.0.1:9/x'; fetch('http://127.0.0.1:9/y')")
    said = browser.run(
        "try { document.body.innerHTML = '<b>' } catch (error) { return String(error) }"
    )
    assert "TrustedHTML" in said
    refused = [one for one in browser.errors() if "Content Security Policy" in one]
    assert all(any(address in one for one in refused) for address in (":9/x", ":9/y"))


def test_hostile_text_is_shown_as_text(browser: Browser) -> None:
    browser.open(html(given.hostile()))
    browser.run("document.querySelectorAll('summary').forEach(one => one.click())")
    assert browser.run("return document.querySelectorAll('#cases img, #facts img').length") == 0
    assert browser.run("return document.scripts.length") == 2
    links = browser.run("return [...document.links].map(one => one.getAttribute('href'))")
    assert links == ["#sessions"]
    browser.shows("return document.querySelectorAll('details > .body').length", 100)
    shown = browser.run("return document.getElementById('cases').textContent")
    for text in ("</script><img src=x onerror=alert(1)>", "<!-- <script> -->", "\\u{202e}"):
        assert text in shown


def test_the_file_names_no_address_and_no_text_ends_its_data() -> None:
    assert "://" not in html(given.usual())
    page = html(given.hostile())
    assert page.count("<script") == page.count("</script>") == 2
    (data,) = re.findall(r'<script type="application/json" id="data">([^<]*)</script>', page)
    assert set("<>&\u2028\u2029").isdisjoint(data)
    assert {one["message"] for one in json.loads(data)["cases"]} == set(given.HOSTILE)


@pytest.mark.slow("sizes")
def test_a_page_stays_small_and_says_what_it_leaves_out(browser: Browser) -> None:
    large = [given.case(n, "same", message="x" * 10**6) for n in range(25)]
    browser.open(html(given.report([*large, given.case(99, "open")])))
    assert browser.run(COUNT) == (
        "1 of 20 sessions match. 6 more sessions did not fit into this page: "
        "the JSON report has all."
    )


@pytest.mark.slow("whole runs")
def test_pairs_of_one_session_are_told_apart(browser: Browser) -> None:
    pairs = [replace(given.case(1, "failed", intention=""), call=call) for call in (1, 4)]
    browser.open(html(replace(given.report(pairs), sessions=1, unit="pair")))
    browser.shows(COUNT, "2 of 2 pairs match.")
    seen = browser.run("return document.body.innerText")
    assert "2 pairs of 1 session" in seen
    assert [call for call in (1, 2, 4) if f"001 call {call}" in seen] == [1, 4]
