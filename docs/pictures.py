"""Takes the pictures of pages that the docs show, in Chromium without a window: `make pictures`.

A person decides at a terminal what the demos decide, in a throw-away folder. Times and ids differ
each time, so no test compares a picture.
"""

from __future__ import annotations

import sys
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from preflights_es.kernel.ports import Access
from preflights_es.surfaces.view.rendering import Keys
from preflights_es.surfaces.view.server import Site, bound, serving
from preflights_es.use.bootstrap import opened_process
from tests.browser import Browser, chromium
from tests.cli.program import Project
from tests.cli.terminal import terminal

DOCS: Final = Path(__file__).resolve().parent
SIZE_MAX: Final = 150_000  # bytes of a picture
WIDTH, HEIGHT = 1200, 760
WHY: Final = "--because"
COMMANDS: Final = (
    (
        *("Choose a database for the orders", "--provider", "sim", "--seed", "4"),
        *("--answer", "db_type=PostgreSQL", "--alternative", "Redis: no joins"),
        *(WHY, "Orders change together"),
    ),
    (
        *("Add OAuth login", "--answer", "auth_strategy=OAuth", "--path", "src/login/**"),
        *(WHY, "The shop keeps no passwords"),
    ),
    (
        *("Cache pages", "--answer", "caching=Redis", "--scope", "product pages"),
        *(WHY, "The database is too slow for them"),
    ),
    (
        *("Use MySQL for the orders", "--path", "src/reports/**"),
        *("--keep", "ADR-0001=The tool for reports reads nothing else"),
    ),
)
"""Words behind `start`."""
PICTURES: Final = (
    ("view-decisions", "/", "light"),
    ("view-decision", "/decisions/ADR-0001", "dark"),
    ("view-timeline", "/sessions/ADR-0001?at=4", "light"),
)
"""Names of files, with the page and its colours."""


def main() -> int:
    """1 where a picture is too large for a page."""
    with TemporaryDirectory() as home, chromium(Path(home)) as browser:
        shop = Project(Path(home) / "shop", Path(home))
        shop.folder.mkdir()
        shop.git("init", "--quiet")
        shop.git("config", "--global", "user.name", "Ada Lovelace")
        for words in COMMANDS:
            with terminal(shop, "start", *words, "--no-input", "--accept") as person:
                assert person.code() == 0, person.raw
        with _served(shop.folder) as site:
            browser.visit(f"{site.address}/?token={site.keys.token}")
            sizes = [
                _taken(browser, name, site.address + page, scheme)
                for name, page, scheme in PICTURES
            ]
    return int(max(sizes) > SIZE_MAX)


@contextmanager
def _served(shop: Path) -> Iterator[Site]:
    program = opened_process(shop, terminal=True, access=Access.READ)
    with closing(program.process), bound(0) as listening:
        site = Site(program.request(), Keys.new(), listening.getsockname()[1])
        server = serving(site)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield site
        finally:
            server.should_exit = True
            thread.join()


def _taken(browser: Browser, name: str, address: str, scheme: str) -> int:
    """How many bytes a picture has."""
    browser.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    browser.visit(address, scheme, WIDTH)
    browser.shows("return document.readyState", "complete")
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
    taken = browser.driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "clip": clip}
    )
    content = b64decode(taken["data"])
    (DOCS / f"{name}.png").write_bytes(content)
    return len(content)


if __name__ == "__main__":
    sys.exit(main())
