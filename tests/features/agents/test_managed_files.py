"""Files that `init` writes: where an entry goes, and that a person's text stays."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from preflights_es.features.agents.project_files import entry, plan_whole_file
from tests.each import each
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

BODY = "- repo: local\n  hooks:\n    - id: ours\n      name: ours\n"
NEWER = BODY + "      files: new\n"
MARK = "- id: ours"

PLAIN = FILED["PLAIN"]

UNCLEAR = {
    "flow": "{repos: []}\n",
    "flow list": "repos: [{repo: local, hooks: []}]\n",
    "anchor": "repos: &all\n  - repo: https://a\n",
    "two documents": "repos: []\n---\nrepos: []\n",
    "twice": "repos: []\nrepos: []\n",
    "tabs": "repos:\n\t- repo: https://a\n",
    "quoted": '"repos":\n  - repo: https://a\n',
    "alias of it": "other:\n  repos: 1\n",
}


def _read(text: str) -> Any:
    return YAML(typ="safe").load(text)


@each("found", PLAIN.values())
def test_an_entry_is_added_and_every_line_stays(found: str) -> None:
    outcome = entry(found, BODY, MARK)
    before = _read(found) or {}
    after = _read(outcome.content)
    assert outcome.state == "missing"
    assert after == {**before, "repos": [*(before.get("repos") or []), *_read(BODY)]}
    gained = outcome.content.splitlines()
    for line in found.replace("[ ]", "").replace("[]\n", "\n").splitlines():
        assert line.rstrip() in [one.rstrip() for one in gained] or "repos:" in line
    assert ("\r\n" in found) == ("\r\n" in outcome.content)


@each("found", PLAIN.values())
def test_an_entry_is_added_once_and_its_newer_version_unless_edited(found: str) -> None:
    once = entry(found, BODY, MARK).content
    assert entry(once, BODY, MARK)[:2] == ("current", once)
    newer = entry(once, NEWER, MARK)
    assert newer.state == "stale"
    assert newer.content == entry(found, NEWER, MARK).content
    edited = entry(found, BODY, MARK).content.replace("name: ours", "name: mine")
    assert entry(edited, NEWER, MARK)[:2] == ("edited", edited)


@each("found", UNCLEAR.values())
def test_another_shape_is_left_alone_with_the_text_to_paste(found: str) -> None:
    outcome = entry(found, BODY, MARK)
    assert outcome.state == "unclear"
    assert _read(outcome.content) == _read(BODY)


def test_an_entry_written_by_hand_is_a_persons() -> None:
    found = f"repos:\n{BODY}"
    assert entry(found, NEWER, MARK)[:2] == ("edited", found)


@given(st.text("abc\n :#-", max_size=60))
def test_a_whole_file_is_written_anew_only_where_no_person_edited_it(edit: str) -> None:
    first = plan_whole_file(None, BODY).content
    assert plan_whole_file(first, BODY).state == "current"
    assert plan_whole_file(first, NEWER).state == "stale"
    if edit.strip():
        assert plan_whole_file(first + edit, NEWER).state == "edited"
        assert plan_whole_file(edit + first, NEWER).state == "edited"


@given(st.text(max_size=200))
def test_any_text_is_added_to_or_left(found: str) -> None:
    outcome = entry(found, BODY, MARK)
    assert outcome.state in ("missing", "unclear", "edited")
