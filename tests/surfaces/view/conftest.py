"""A project, its pages without a socket, and a person at them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from preflights_cli.advice import advised
from preflights_cli.inbox import settling
from preflights_es.kernel.ports import Access
from preflights_es.settings.places import CI
from preflights_es.surfaces.view.rendering import Keys, Site
from preflights_es.surfaces.view.server import application
from preflights_es.use.bootstrap import opened_process
from tests.browser import Browser, chromium
from tests.cli.conftest import GIT_CONFIG
from tests.cli.program import Project, environment
from tests.store.conftest import database
from tests.surfaces.api.conftest import shop

__all__ = ["database", "shop"]

PORT: Final = 8718
KEYS: Final = Keys("token-of-this-start", "cookie-of-this-start", "form-of-this-start")
ADDRESS: Final = f"http://127.0.0.1:{PORT}"


class Pages(TestClient):
    """A browser that showed the token."""

    def text(self, path: str) -> str:
        """A page that is there."""
        found = self.get(path)
        assert found.status_code == 200, found.text
        return found.text

    def fill(self, path: str, **fields: str) -> Any:
        """A form of a page of this server; the page that follows it."""
        form = {"form_token": KEYS.form, **fields}
        return self.post(path, data=form, headers={"origin": ADDRESS})


Open = Callable[..., Pages]
"""Opens pages as a person at a terminal does; with words of `read_only` they only show."""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a person whom git knows; questions are asked as they are asked of most."""
    folder = tmp_path_factory.mktemp("home")
    (folder / ".gitconfig").write_text(GIT_CONFIG)
    return folder


@pytest.fixture(autouse=True)
def surroundings(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a person at home."""
    at_home(monkeypatch, shop.home)


def at_home(patched: pytest.MonkeyPatch, home: Path) -> None:
    """Make this process one that a person started, also where a CI runs the tests."""
    for name in CI:
        patched.delenv(name, raising=False)
    for name, value in environment(home).items():
        patched.setenv(name, value)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture
def opened(shop: Project) -> Iterator[Open]:
    """Opens the pages of a project."""
    with ExitStack() as given_back:

        def pages(folder: Path = shop.folder, read_only: str = "", **more: Any) -> Pages:
            program = opened_process(folder, terminal=True, access=Access.WRITE, **more)
            given_back.callback(program.process.close)
            site = Site(program.request(), KEYS, PORT, read_only, advised, settling)
            client = Pages(application(site), base_url=ADDRESS)
            client.cookies.set(f"preflights_{PORT}", KEYS.cookie)
            return given_back.enter_context(client)

        yield pages


@pytest.fixture
def pages(opened: Open) -> Pages:
    """The pages of the project, by a person who may accept."""
    return opened()


def words(page: str) -> str:
    """The text of a page, without its marks."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())
