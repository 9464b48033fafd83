"""Texts of strangers stand on every page as text: no mark-up, no control, no turn of direction."""

from __future__ import annotations

from collections import Counter
from html import escape, unescape
from html.parser import HTMLParser
from typing import Final
from urllib.parse import quote

import pytest

from preflights_es.kernel.text import problem, shown_lines
from tests.cli.program import RAW, Project
from tests.cli.test_model_output import HOSTILE as OF_MODELS
from tests.features.regress.given_reports import HOSTILE as OF_REPORTS
from tests.surfaces.view.conftest import Open, Pages
from tests.surfaces.view.test_inbox import shown, version

PLAIN: Final = "a plain word"


def texts() -> list[str]:
    """Those that can be recorded, and that say something."""
    every = (
        *OF_REPORTS,
        *OF_MODELS,
        '" onmouseover="alert(1)',
        "{{ 7 * 7 }}{% raw %}",
        "&lt;b&gt;",
    )
    words = (one.replace("\n", " ").replace("\r", " ").strip() for one in every)
    return sorted({one for one in words if one.strip("`") and problem(one, 500) is None})


class Marks(HTMLParser):
    """Which elements and attributes a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.values: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] += 1
        for name, value in attrs:
            self.found[f"{tag} {name}"] += 1
            self.values.append((name, value or ""))


def marks(page: str) -> Marks:
    parser = Marks()
    parser.feed(page)
    return parser


def filled(shop: Project, pages: Pages, text: str) -> tuple[str, str]:
    """A decision and a proposal whose every text is this one."""
    made = []
    for _ in range(2):
        words = ("--because", text, "--consequence", text, "--alternative", f"{text}: {text}")
        begun = shop.call(
            "start", f"Use {text} for {text}", "--json", "--as", f"user:A {text}"
        ).json
        session = str(begun["session_id"])
        while shown(shop, session)["status"] == "needs_answers":
            key = shown(shop, session)["questions"][0]["id"]
            form = {"version": version(shop, session), "key": key, "own": f"x {text}"}
            answered = pages.fill(f"/inbox/{session}/answer", **form)
            assert answered.status_code == 200, answered.text
        shop.call("answer", session, *words, "--as", f"user:A {text}")
        made.append(session)
    done = pages.fill(f"/inbox/{made[0]}/accept", version=version(shop, made[0]))
    assert done.status_code == 200, done.text
    return made[0], made[1]


@pytest.mark.slow("whole runs")
def test_hostile_words_stand_as_text(shop: Project, opened: Open) -> None:
    for number, text in enumerate(texts()):
        other = Project(shop.folder.parent / str(number) / "shop", shop.home)
        other.folder.mkdir(parents=True)
        other.git("init", "--quiet", "--template=")
        check(other, opened(other.folder), text)


def check(shop: Project, pages: Pages, text: str) -> None:
    """That a text on every page is only text."""
    folder = shop.folder / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "0900-foreign.md").write_text(f"# Foreign {text}\n\n## Status\n\nAccepted\n")
    accepted, proposed = filled(shop, pages, text)
    has_patch = shown(shop, accepted)["patch"] is not None  # some words leave nothing to decide
    decided = f"/{'decisions' if has_patch else 'inbox'}/{accepted}"
    queries = ("/", "/?all=1", f"/?q={quote(text)}")
    said = ""
    for path in (*queries, decided, "/inbox", f"/inbox/{proposed}"):
        page = pages.text(path)
        assert not RAW & set(page), path
        found = marks(page)
        assert found.found["img"] + found.found["b onmouseover"] == 0, path
        assert found.found["script"] == found.found["script src"], path
        own = ("/", "#")
        links = [v for name, v in found.values if name in ("href", "src", "action")]
        assert [one for one in links if not one.startswith(own)] == [], path
        assert [name for name, _ in found.values if name.startswith("on") or name == "style"] == []
        said += " ".join(unescape(page).split())  # white space is shown as blanks
        assert escape(text) == text or text not in page
    assert said.count(" ".join(shown_lines(text).split())) > 5


def test_a_search_stands_as_text(pages: Pages) -> None:
    for text in texts():
        page = pages.get("/", params={"q": text, "topic": text}).text
        assert not RAW & set(page)
        assert marks(page).found["img"] == 0
        assert pages.get(f"/decisions/{text.replace('/', '')}").status_code in (400, 404)
        assert pages.get("/", params={"as-of": text}).status_code == 400
