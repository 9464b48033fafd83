"""`view --export`: what is published, what is not, and which folders are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from preflights_es.store import jsonl
from tests.cli.program import Project
from tests.cli.terminal import terminal
from tests.each import each
from tests.surfaces.view.conftest import words

SECRET: Final = "zebra"
"""Said in sessions that nothing publishes."""


def exported(project: Project, *options: str, name: str = "site") -> Path:
    done = project.call("view", "--export", name, "--yes", *options)
    assert done.code == 0, done.err
    return project.folder / name


def files(site: Path) -> dict[str, bytes]:
    """By path."""
    return {
        str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()
    }


def proof(site: Path, session: str) -> Any:
    """What a file of proof holds."""
    text = (site / "proof" / f"{session}.js").read_text("utf-8")
    return json.loads(text.removeprefix("proof(").removesuffix(");\n"))


@pytest.fixture
def decided(shop: Project) -> Any:
    """A project with a decision in force, and sessions that come to none; that decision."""
    row = shop.decided("Add OAuth login", "--because", "The shop has no passwords")
    shop.started_session(f"Add a {SECRET} cache")
    return row


def test_records_of_other_tools_stand_in_the_list(shop: Project) -> None:
    folder = shop.folder / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "0008-x.md").write_text("# 8. Use MySQL for orders\n\n## Status\n\nAccepted\n")
    (folder / "0009-y.md").write_text("# 9. Use Kafka\n\n## Status\n\nRejected\n")
    for number in range(10, 211):  # the served page names 200, and a command for the others
        text = f"# {number}. Log in part {number}\n\n## Status\n\nAccepted\n"
        (folder / f"{number:04}-z.md").write_text(text)
    site = exported(shop)
    said = (site / "index.html").read_text()
    assert ("Use MySQL for orders" in said, "Log in part 210<" in said) == (True, True)
    assert ("202 in force" in said, "Kafka" in said, "/records/" in said) == (True, False, False)
    exported(shop, "--all")
    assert "Use Kafka" in (site / "all.html").read_text()


# 1. What is published ------------------------------------------------------------------------


class Links(HTMLParser):
    """Where a page leads, and what it loads."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src", "action", "data-index"):
                self.found.append(value or "")
            if name == "id":
                self.ids.add(value or "")
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs), attrs


def links(site: Path) -> Iterator[tuple[Path, str]]:
    """Pages, and the addresses on them."""
    for page in site.rglob("*.html"):
        for address in Links(page.read_text("utf-8")).found:
            yield page, address


def test_a_decision_its_record_and_timeline_are_pages(shop: Project, decided: Any) -> None:
    site = exported(shop)
    listed = words((site / "index.html").read_text("utf-8"))
    assert "OAuth" in listed
    page = words((site / "decisions" / f"{decided['uid']}.html").read_text("utf-8"))
    for text in (
        "OAuth",
        "The shop has no passwords",
        "Ada Lovelace",
        "Chosen option",
        "Intention",
    ):
        assert text in page
    timeline = words((site / "sessions" / f"{decided['session_id']}.html").read_text("utf-8"))
    assert "decision acknowledged" in timeline
    assert not [path for path, content in files(site).items() if SECRET.encode() in content]
    found = proof(site, decided["session_id"])
    logged = shop.events(decided["session_id"])
    assert [one["hash"] for one in found["events"]] == [one["hash"] for one in logged]
    said = {one["version"] for one in found["events"] if one["data"] is not None}
    assert all((one["data"] is None) == (one["salt"] is None) for one in found["events"])
    assert {1, len(logged)} & said
    assert len(said) < len(logged)
    shown = (site / "sessions" / f"{decided['session_id']}.html").read_text("utf-8")
    assert {int(one) for one in re.findall(r'data-said="(\d+)"', shown)} == said
    stands = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in site.rglob("*.*")}
    exported(shop)
    assert stands == {
        path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in site.rglob("*.*")
    }
    shop.decided("Use PostgreSQL", key="db_type=PostgreSQL")
    exported(shop)
    same = [path for path, was in stands.items() if path.stat().st_ino == was[0]]
    assert site / "decisions" / f"{decided['uid']}.html" in same
    assert site / "index.html" not in same


def test_tokens_and_costs_are_those_of_published_responses(shop: Project) -> None:
    begun = shop.call(
        "start", "Keep orders safe", "--provider", "sim", "--seed", "7", "--json"
    ).json
    session = begun["session_id"]
    while not shop.show(session)["patch"]:
        question = shop.show(session)["questions"][0]
        shop.call("answer", session, f"{question['id']}={[*question['options'], 'Podman'][0]}")
    assert shop.call("accept", session, "--by", "Ada").code == 0
    prices = '[[prices]]\nprovider = "sim"\nmodel = "simllm/1"\nfrom = 2020-01-01\n'
    prices += 'input_per_million = 3.0\noutput_per_million = 15.0\ncurrency = "USD"\n'
    (shop.folder / "preflights.toml").write_text(prices)
    site = exported(shop)
    events = proof(site, session)["events"]
    responses = [one for one in events if one["type"] == "completion.received.v1"]
    said = [json.loads(one["data"]) for one in responses if one["data"] is not None]
    assert 0 < len(said) < len(responses)
    page = (site / "sessions" / f"{session}.html").read_text("utf-8")
    rows = map(words, re.findall(r'<tr id="event.*?</tr>', page, re.DOTALL))
    shown = [row for row in rows if " → " in row]
    told = [f"{one['input_tokens']:,} → {one['output_tokens']:,}" for one in said]
    assert len(shown) == len(said)
    assert all(one in row and " USD" in row for one, row in zip(told, shown, strict=True))
    listed = words((site / "sessions" / "index.html").read_text("utf-8"))
    assert f" {sum(one['input_tokens'] for one in said):,} → " in listed
    assert " USD" in listed


def test_every_link_leads_to_a_file_of_the_site(shop: Project, decided: Any) -> None:
    shop.decided("Use PostgreSQL", key="db_type=PostgreSQL")
    site = exported(shop, "--all", "--sessions")
    count = 0
    for page, address in links(site):
        way = urlsplit(address)
        assert f"{way.scheme}{way.netloc}" == "", address
        assert not address.startswith("/"), address
        target = page.parent / way.path if way.path else page
        assert target.is_file(), address
        if way.fragment and target.suffix == ".html":
            assert way.fragment in Links(target.read_text("utf-8")).ids, address
        count += 1
    assert count > 60


def test_what_waits_or_was_superseded_comes_with_all(shop: Project, decided: Any) -> None:
    waiting = shop.call("start", "Use a document database", "--json").json["session_id"]
    shop.call("answer", waiting, "PostgreSQL")
    site = exported(shop)
    before = set(files(site))
    assert "all.html" not in before
    now = set(files(exported(shop, "--all")))
    assert f"sessions/{waiting}.html" in now - before
    assert "all.html" in now
    index = (site / "proof" / "search.js").read_text("utf-8")
    rows = json.loads(index.removeprefix("searchable(").removesuffix(");\n"))
    beside = {row[0]: row[2].rpartition(" · ")[2] for row in rows}
    in_force = beside.pop(f"decisions/{decided['uid']}.html")
    assert (in_force[:2], [*beside.values()]) == ("20", ["ready"])
    assert set(files(exported(shop))) == before


def test_whole_sessions_come_only_where_they_are_asked_for(shop: Project, decided: Any) -> None:
    id_ = decided["session_id"]
    assert not list(exported(shop).rglob("*.jsonl"))
    site = exported(shop, "--sessions")
    with (site / "sessions" / f"{id_}.jsonl").open("rb") as file:
        stored = list(jsonl.stored(jsonl.lines_in(file, "site"), "site"))
    assert [one.hash.hex() for one in stored] == [one["hash"] for one in shop.events(id_)]
    assert f'href="../sessions/{id_}.jsonl"' in (site / "sessions" / f"{id_}.html").read_text(
        "utf-8"
    )


def test_the_command_says_what_it_publishes(shop: Project, decided: Any) -> None:
    done = shop.call("view", "--export", "site", "--yes")
    said = int(re.findall(r"the texts of (\d+) events", done.out)[0])
    events = proof(shop.folder / "site", decided["session_id"])["events"]
    assert said == sum(one["data"] is not None for one in events)
    assert "publishes 1 decision, " in done.out
    assert "Ada Lovelace" in done.out
    done = shop.call("view", "--export", "site", "--yes", "--json")
    assert (done.json["format"], done.json["texts"], done.json["written"]) == (
        "view-export/1",
        said,
        0,
    )


@pytest.mark.slow("sizes")
def test_a_long_session_has_its_timeline_in_parts(shop: Project) -> None:
    id_ = shop.started_session()
    for n in range(110):
        shop.call("answer", id_, "--because", f"reason {n}")
    shop.call("answer", id_, "OAuth")
    shop.call("accept", id_, "--by", "Ada", "--again")
    site = exported(shop)
    second = (site / "sessions" / f"{id_}-2.html").read_text("utf-8")
    assert 'id="event-201"' in second
    (decision,) = (site / "decisions").iterdir()
    led = re.findall(rf'href="\.\./sessions/{id_}(-2)?\.html#event-(\d+)"', decision.read_text())
    assert {bool(part) for part, version in led if int(version) > 200} == {True}
    assert {bool(part) for part, version in led if int(version) <= 200} == {False}


# 2. The same bytes ---------------------------------------------------------------------------


def test_the_same_log_gives_the_same_bytes_also_in_a_fresh_clone(
    shop: Project, decided: Any
) -> None:
    one, other = (exported(shop, name=name) for name in ("one", "other"))
    assert files(one) == files(other)
    here = files(exported(shop, name="../here"))
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "--message", "Decide")
    clone = Project(shop.folder.parent / "clone" / shop.folder.name, shop.home)
    clone.folder.parent.mkdir()
    shop.git("clone", "--quiet", ".", str(clone.folder))
    assert files(exported(clone, name="../there")) == here
    (shop.folder / "site").mkdir()
    assert (exported(shop) / "index.html").is_file()


def test_an_export_is_finished_by_the_next_which_leaves_files_of_a_person_alone(
    shop: Project, decided: Any
) -> None:
    site = exported(shop)
    whole = files(site)
    (site / "index.html").unlink()
    (site / "static" / "view.css").write_text("half")
    page = site / "decisions" / f"{decided['uid']}.html"
    page.rename(page.with_name("0123456789ab.html"))
    marker = json.loads((site / "preflights-site.json").read_text())
    marker["files"].append("decisions/0123456789ab.html")
    (site / "preflights-site.json").write_text(json.dumps(marker))
    exported(shop)
    assert files(site) == whole
    (site / "CNAME").write_text("decisions.example.org")
    exported(shop)
    assert (site / "CNAME").read_text() == "decisions.example.org"
    (site / "all.html").write_text("mine")
    done = shop.call("view", "--export", "site", "--yes", "--all")
    assert (done.code, "stands where a page belongs" in done.err) == (1, True)
    assert (site / "all.html").read_text() == "mine"
    shop.call("admin", "erase", decided["session_id"], "--yes")
    exported(shop)
    assert not list((site / "decisions").iterdir())
    assert not (site / "proof" / f"{decided['session_id']}.js").exists()
    assert b"Ada Lovelace" not in b"".join(files(site).values())


# 3. Folders ----------------------------------------------------------------------------------


def _link(at: Path) -> None:
    (at.parent / "elsewhere").mkdir()
    at.symlink_to(at.parent / "elsewhere")


def _file(at: Path) -> None:
    at.write_text("mine")


def _full(at: Path) -> None:
    at.mkdir()
    (at / "notes.txt").write_text("mine")


def _marked(marker: str) -> Any:
    def made(at: Path) -> None:
        at.mkdir()
        (at / "preflights-site.json").write_text(marker)

    return made


def _marked_by_a_link(at: Path) -> None:
    at.mkdir()
    (at.parent / "marker").write_text('{"format":"preflights.site/1","files":[]}')
    (at / "preflights-site.json").symlink_to(at.parent / "marker")


HELD: Final = "holds something else than an exported site"
REFUSED: Final = {
    "link": (_link, "is a link"),
    "file": (_file, "is a file"),
    "full": (_full, HELD),
    "no marker": (_marked("{}"), HELD),
    "upward": (_marked('{"format":"preflights.site/1","files":["../notes.txt"]}'), HELD),
    "absolute": (_marked('{"format":"preflights.site/1","files":["/etc/passwd"]}'), HELD),
    "other file": (_marked('{"format":"preflights.site/1","files":["notes.txt"]}'), HELD),
    "later format": (_marked('{"format":"preflights.site/2","files":[]}'), HELD),
    "no JSON": (_marked("\xff"), HELD),
    "linked marker": (_marked_by_a_link, HELD),
}


@each("name", REFUSED)
def test_a_folder_that_is_not_ours_is_refused(shop: Project, decided: Any, name: str) -> None:
    made, why = REFUSED[name]
    folder = shop.folder / name
    folder.mkdir()
    made(folder / "site")
    (folder / "notes.txt").write_text("mine")
    before = files(folder)
    done = shop.call("view", "--export", f"{name}/site", "--yes")
    assert (done.code, len(done.err.splitlines())) == (1, 1), done
    assert why in done.err
    assert files(folder).keys() >= before.keys()
    assert (folder / "notes.txt").read_text() == "mine"
    assert not list((folder / "elsewhere").glob("*"))


@each(
    ("name", "code", "why"),
    [
        (".git/site", 1, "lies in a folder of git"),
        (".GIT/site", 5, "there is no folder above it"),
        (".git", 1, "lies in a folder of git"),
        ("no/such", 5, "there is no folder above it"),
        (".", 1, HELD),
        ("", 1, HELD),
        ("..", 1, HELD),
    ],
)
def test_a_place_that_takes_no_site_is_refused(
    shop: Project, decided: Any, name: str, code: int, why: str
) -> None:
    done = shop.call("view", "--export", name, "--yes")
    assert (done.code, len(done.err.splitlines())) == (code, 1), done
    assert why in done.err


def test_a_link_in_the_site_is_not_followed(shop: Project, decided: Any, tmp_path: Path) -> None:
    site = exported(shop)
    target = tmp_path / "target"
    target.write_text("mine")
    (site / "index.html").unlink()
    (site / "index.html").symlink_to(target)
    exported(shop)
    assert target.read_text() == "mine"
    assert not (site / "index.html").is_symlink()
    (site / "proof").rename(tmp_path / "proof")
    (site / "proof").symlink_to(tmp_path / "proof")
    done = shop.call("view", "--export", "site", "--yes", "--all")
    assert (done.code, len(done.err.splitlines())) == (5, 1), done


# 4. Consent ----------------------------------------------------------------------------------


def test_a_script_has_to_say_yes(shop: Project, decided: Any) -> None:
    done = shop.call("view", "--export", "site")
    assert (done.code, "--export needs --yes" in done.err) == (2, True)
    assert not (shop.folder / "site").exists()
    for option in ("--all", "--sessions", "--yes"):
        assert shop.call("view", option).code == 2
    assert shop.call("view", "last", "--export", "site", "--yes").code == 2


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_a_person_sees_it_all_first(shop: Project, decided: Any, answer: str, code: int) -> None:
    with terminal(shop, "view", "--export", "site") as t:
        t.expect("publishes 1 decision, ")
        t.expect("Write it to ")
        assert not (shop.folder / "site").exists()
        t.type(answer)
        assert t.code() == code
    assert (shop.folder / "site").exists() is (code == 0)
