"""A real browser without a window, for pages that lie in files or are served on this machine."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import axe_core_python  # type: ignore[import-untyped]
from selenium.common.exceptions import JavascriptException
from selenium.webdriver import ActionChains, Chrome, ChromeOptions, ChromeService

AXE: Final = Path(axe_core_python.__file__).with_name("axe.min.js")
COLOURS: Final = ("color-contrast", "link-in-text-block")
"""Rules of axe that a colour scheme can break."""
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--window-size=1200,900",
)
PATIENCE_S: Final = 30
EMPTY: Final = "about:blank"
LOADED: Final = "return document.readyState === 'complete'"
LEFT: Final = f"{LOADED} && location.href !== '{EMPTY}'"


class Browser:
    """What a test does with a page."""

    def __init__(self, driver: Chrome, folder: Path) -> None:
        self.driver = driver
        self._folder = folder

    def open(self, page: str, scheme: str = "light") -> str:
        """Its address."""
        path = self._folder / "report.html"
        path.write_text(page, "utf-8")
        self.visit(path.as_uri(), scheme)
        return path.as_uri()

    def visit(self, address: str, scheme: str = "light", width: int = 1200) -> None:
        """A page wherever it is."""
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(EMPTY)  # the page before asks for nothing any more
        _ = self.requests(), self.errors()
        self.driver.get(address)
        assert self.until(
            LOADED if address == EMPTY else LEFT
        )  # at times the driver comes back from it too early

    def run(self, script: str) -> Any:
        """What it returns."""
        return self.driver.execute_script(script)

    def shows(self, script: str, expected: object) -> None:
        """It returns that soon: the page answers some events a moment later."""
        ends = time.monotonic() + PATIENCE_S
        while (found := self._run_early(script)) != expected and time.monotonic() < ends:
            time.sleep(0.02)
        assert found == expected

    def until(self, script: str) -> Any:
        """What it returns, once that is something."""
        ends = time.monotonic() + PATIENCE_S
        while not (found := self._run_early(script)) and time.monotonic() < ends:
            time.sleep(0.01)
        return found

    def _run_early(self, script: str) -> Any:
        """None where it fails: between two pages there is no element at all."""
        try:
            return self.run(script)
        except JavascriptException:
            return None

    def press(self, *keys: str) -> None:
        """Wherever the focus is."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def complaints(self) -> list[str]:
        """What axe finds, and what it cannot decide; of a dark page, its colours alone."""
        self.driver.execute_script(AXE.read_text("utf-8"))
        is_dark = self.run("return matchMedia('(prefers-color-scheme: dark)').matches")
        options = {"runOnly": COLOURS} if is_dark else {}
        words = "axe.run(arguments[0]).then(arguments[1])"
        found: Any = self.driver.execute_async_script(words, options)
        return [
            f"{one['id']}: {node['html']}"
            for one in (*found["violations"], *found["incomplete"])
            for node in one["nodes"]
        ]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last time, the page's own among them; without
        what the first tab of the browser asks itself for.
        """
        entries = (json.loads(one["message"])["message"] for one in self._log("performance"))
        return [
            entry["params"]["request"]["url"]
            for entry in entries
            if entry["method"] == "Network.requestWillBeSent"
            and not entry["params"]["documentURL"].startswith("chrome:")
        ]

    def errors(self) -> list[str]:
        """What the page wrote to its console since the last time."""
        return [one["message"] for one in self._log("browser")]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.driver.get_log(kind)  # type: ignore[no-untyped-call]
        return found


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Started for the tests of a module."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert browser is not None, "the test is marked with what it needs"
    options = ChromeOptions()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    with Chrome(options=options, service=ChromeService(driver)) as started:
        yield Browser(started, folder)
