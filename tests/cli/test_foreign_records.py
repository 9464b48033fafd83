"""Records of other tools beside ours: listed, shown as data, and never taken for a session."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

import preflights_es
from preflights_es.kernel.errors import ArtifactOutside, RecordWithoutSession
from preflights_es.records.documents import Documents
from preflights_es.records.files import front_of
from preflights_es.records.foreign_records import foreign_record
from preflights_es.records.record_places import FOLDERS_MAX
from tests.cli.clones import cloned, committed
from tests.cli.program import Project
from tests.cli.test_sessions import in_force
from tests.each import each

NYGARD: Final = """# {n}. {title}

Date: 2020-03-04

## Status

{status}

## Context

Orders grow.

## Decision

We will use PostgreSQL because reports need it.
"""
LOGIN: Final = ("--answer", "auth_strategy=OAuth")
PATH: Final = "docs/decisions/0007-use-postgresql.md"


def finding(house: Project, rule: str) -> Any:
    """The one finding of a rule."""
    found = house.call("check", "--json").json["findings"]
    (one,) = (one for one in found if one["rule"] == rule)
    return one


def filed(house: Project, path: str = PATH, **texts: str) -> Path:
    said = {"n": "7", "title": "Use PostgreSQL", "status": "Accepted", **texts}
    target = house.folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(NYGARD.format(**said))
    return target


def test_records_in_force_are_listed_beside_decisions(house: Project) -> None:
    filed(house)
    filed(house, "docs/decisions/0008-old.md", n="8", status="Superseded by [9. X](0009-x.md)")
    house.decided()
    said = house.call("decisions").out
    assert "Records of other tools, or written by hand:" in said
    assert "ADR-0007  accepted  2020-03-04  Use PostgreSQL" in said
    assert "ADR-0008" not in said
    shape = house.call("decisions", "--json").json
    (row,) = shape["foreign"]
    assert row == {
        "path": PATH,
        "number": 7,
        "title": "Use PostgreSQL",
        "status": "accepted",
        "status_text": "Accepted",
        "superseded_by": "",
        "is_one_sided": False,
        "could_mean": [],
        "loop": [],
        "date": "2020-03-04",
        "tool": "nygard",
        "category": "Database",
        "value": "PostgreSQL",
        "scope": "",
        "paths": [],
        "chosen": "We will use PostgreSQL",
    }
    assert len(shape["decisions"]) == 1
    assert "superseded by 9. X" in house.call("decisions", "--all").out


def test_the_brief_knows_records_in_force_as_it_knows_decisions(house: Project) -> None:
    filed(house)
    filed(house, "docs/decisions/0008-old.md", n="8", status="Superseded by [9. X](0009-x.md)")
    filed(house, "docs/decisions/0009-no.md", n="9", title="# Do _this_", status="Rejected")
    filed(house, "docs/decisions/0010-x.md", n="10", title="Move the *orders* to MySQL")
    partly = "Partly superseded by ADR-9"
    filed(house, "docs/decisions/0011-x.md", title="Use Redis for user sessions", status=partly)
    filed(house, "docs/decisions/caching.md", n="12", title="Use Valkey for prices")
    house.decided()
    assert in_force(house.call("prompt").out) == [
        "Authentication: OAuth (ADR-0012)",
        "Prices: Valkey (docs/decisions/caching.md)",
        "User sessions: Redis (ADR-0011, partly superseded)",
        "Move the orders to MySQL (docs/decisions/0010-x.md)",
        "Database: PostgreSQL (ADR-0007)",
    ]
    shape = house.call("prompt", "--for", "the price list and user sessions", "--json").json
    near = [row["name"] for row in shape["decisions"][: shape["near"]]]
    assert near == ["ADR-0011", "docs/decisions/caching.md"], "two words, and one"
    assert [row["tool"] for row in shape["decisions"]].count("nygard") == 4
    for number in range(20, 99):
        filed(house, f"docs/decisions/00{number}-x.md", n=str(number))
    shape = house.call("prompt", "--json").json
    assert len(shape["decisions"]) + shape["left_out"]["decisions"] == 5 + 79
    assert f"\nand {shape['left_out']['decisions']} more: preflights decisions" in shape["prompt"]
    listed = house.call("decisions", "--json").json
    assert len(listed["decisions"]) + len(listed["foreign"]) == 5 + 79


def test_a_program_gets_the_records_that_the_command_lists(house: Project) -> None:
    filed(house)
    house.decided()
    listed = house.call("decisions", "--json").json
    with preflights_es.open(house.folder) as log:
        found = log.decisions()
    assert [row.path for row in found.foreign] == [row["path"] for row in listed["foreign"]]
    assert [row.uid for row in found.decisions] == [row["uid"] for row in listed["decisions"]]


def test_a_day_a_category_and_a_search_find_records_as_they_find_decisions(house: Project) -> None:
    filed(house)
    old = filed(house, "docs/decisions/0008-old.md", n="8", title="Use Redux", status="x")
    new = "[9. Use Zustand](0009-new.md)"
    old.write_text(old.read_text().replace("\nx\n", f"\nSuperseded by {new}\n"))
    later = filed(house, "docs/decisions/0009-new.md", n="9", title="Use Zustand")
    later.write_text(later.read_text().replace("2020-03-04", "2020-05-06"))
    dateless = filed(house, "docs/decisions/0010-tabs.md", n="10", title="Use tabs")
    dateless.write_text(dateless.read_text().replace("Date: 2020-03-04\n", ""))

    def told(*words: str) -> dict[int, str]:
        found = house.call("decisions", *words, "--json").json["foreign"]
        return {one["number"]: one["status"] for one in found}

    assert told("--at", "2020-03-03") == {}
    assert told("--at", "2020-03-04") == {7: "accepted", 8: "accepted"}
    assert told("--at", "2020-05-06") == {7: "accepted", 9: "accepted"}
    then = house.call("decisions", "--at", "2020-05-06")
    assert "Nothing is in force" not in then.out
    assert "1 record in force of other tools without a day: left out" in then.err
    assert told("--category", "database") == {7: "accepted"}
    found = house.call("decisions", "--query", "why PostgreSQL").out
    assert ("No decision matches" in found, "ADR-0007" in found) == (False, True)


def test_what_is_in_force_in_the_package_is_said_first(house: Project) -> None:
    found = {one: f"{one}/docs/adr/0001-use-redux.md" for one in ("app", "sync", "web")}
    for path in found.values():
        filed(house, path, n="1", title="Use Redux for state")
    for name, path in found.items():
        package = Project(house.folder / name, house.home)
        done = package.call("start", "Replace Redux with MobX in this package", "--json")
        assert done.json["known"][0]["path"] == path


def test_a_number_and_a_path_mean_the_record_of_the_package(house: Project) -> None:
    packages = {one: f"{one}/docs/adr/0001-use-redux.md" for one in ("web", "sync")}
    for name, path in packages.items():
        filed(house, path, n="1", title=f"Use Redux in {name}")
    filed(house, "api/docs/adr/0002-use-arq.md", n="2", title="Use arq")
    for name, path in packages.items():
        package = Project(house.folder / name, house.home)
        assert f"Use Redux in {name}" in package.call("show", "docs/adr/0001-use-redux.md").out
        words = ("--supersedes", path, "--again", "--accept", "--by", "Ada", "--json")
        done = package.call("start", "Add login", *LOGIN, *words)
        session = package.call("show", "docs/adr/0002-use-oauth-for-authentication.md", "--json")
        assert session.json["session_id"] == done.json["session_id"]
        assert done.json["artifacts"][0].startswith(f"{name}/docs/adr/0002-"), done
    then = house.call("decisions", "--at", "2021-01-01", "--json").json["foreign"]
    assert [one["title"] for one in then][1:] == ["Use Redux in sync", "Use Redux in web"]


def test_a_status_that_is_not_understood_is_named_and_not_held(house: Project) -> None:
    filed(house, status="Rechazado")
    filed(house, "docs/decisions/0008-use-kafka.md", n="8", title="Use Kafka", status="")
    listed = house.call("decisions")
    assert "docs/decisions/0007-use-postgresql.md: the status 'Rechazado' is not" in listed.err
    assert ("ADR-0007" in listed.out, "ADR-0008  none" in listed.out) == (False, True)
    assert "unknown: Rechazado" in house.call("decisions", "--all").out
    brief = house.call("prompt", "--json").json
    assert [one["title"] for one in brief["decisions"]] == ["Use Kafka"]
    assert brief["unclear"] == [{"path": PATH, "title": "Use PostgreSQL", "status": "Rechazado"}]
    assert f"Use PostgreSQL (status Rechazado, {PATH})" in brief["prompt"]
    checked = house.call("check").out
    assert f"{PATH}: warning: the status 'Rechazado' is not understood" in checked
    rows = house.call("decisions", "--all", "--json").json["foreign"]
    assert [(one["status"], one["status_text"]) for one in rows] == [
        ("unknown", "Rechazado"),
        ("none", ""),
    ]


def test_a_number_means_the_record_of_its_folder_and_else_is_named_if_it_is_not_clear(
    house: Project,
) -> None:
    for package in ("a", "b"):
        filed(house, f"packages/{package}/docs/adr/0007-use-x.md", title=f"Use {package}")
    old = "packages/c/docs/adr/0001-use-y.md"
    filed(house, old, n="1", title="Use y", status="Superseded by ADR-7")
    meant = "packages/a/docs/adr/0007-use-x.md, packages/b/docs/adr/0007-use-x.md"
    said = f"{old}: the number by which it names another record means several, {meant}: name one"
    assert said in house.call("decisions").err
    assert f"{old}: warning: the number by which" in house.call("check").out
    filed(house, "packages/c/docs/adr/0007-use-x.md", title="Use c")
    assert house.call("decisions").err == ""
    new = "packages/c/docs/adr/0008-use-z.md"
    for named in ("ADR-7", "[7](../gone/0007-use-x.md)"):
        filed(house, new, n="8", title="Use z", status=f"Accepted (supersedes {named})")
        over = [
            one["path"]
            for one in house.call("decisions", "--all", "--json").json["foreign"]
            if one["is_one_sided"]
        ]
        assert over == ["packages/c/docs/adr/0007-use-x.md"]


def test_what_only_the_newer_record_says_is_named_and_counts(house: Project) -> None:
    filed(house)
    later = "docs/decisions/0008-use-kafka.md"
    filed(house, later, n="8", title="Use Kafka", status="Accepted (supersedes ADR-0007)")
    said = house.call("decisions")
    assert f"{PATH}: only {later} says that it replaces this record" in said.err
    assert ("ADR-0007" in said.out, "ADR-0008" in said.out) == (False, True)
    assert "Use PostgreSQL" not in house.call("prompt").out
    checked = house.call("check").out
    assert f"{PATH}: warning: only {later} says that it replaces this record" in checked
    (row, _) = house.call("decisions", "--all", "--json").json["foreign"]
    assert (row["status"], row["superseded_by"], row["is_one_sided"]) == ("superseded", later, True)
    assert house.call("show", "ADR-7", "--json").json["status"] == "superseded"
    filed(house, later, n="8", title="Use Kafka", status="Proposed (supersedes ADR-0007)")
    assert house.call("decisions", "--json").json["foreign"][0]["path"] == PATH


def test_records_that_replace_each_other_in_a_loop_are_named_in_one_line(house: Project) -> None:
    paths = [f"docs/decisions/000{n}-x.md" for n in (2, 3, 4)]
    for n, (path, by) in enumerate(zip(paths, (3, 4, 2), strict=True), 2):
        filed(house, path, n=str(n), title=f"Use {n}", status=f"Superseded by ADR-{by}")
    filed(house, status="Superseded by ADR-2")
    loop = f"this record and {', '.join(paths[1:])} replace each other in a loop, so none of them"
    said = house.call("decisions")
    assert (said.err.count("loop"), f"{paths[0]}: {loop}" in said.err) == (1, True)
    assert house.call("check").out.count(loop) == 1
    rows = house.call("decisions", "--all", "--json").json["foreign"]
    assert [row["loop"] for row in rows] == [paths, paths, paths, []]
    for path, other in zip(paths[:2], (3, 2), strict=True):
        filed(house, path, n=path[18], title="X", status=f"Accepted (supersedes ADR-{other})")
    filed(house, paths[2], n="4", title="X", status="Accepted")
    assert house.call("decisions").err.count("loop") == 1


def test_a_record_of_ours_is_not_foreign_and_the_next_number_is_above_all(house: Project) -> None:
    house.decided()
    assert house.call("decisions", "--json").json["foreign"] == []
    filed(house, "docs/decisions/adr-012-x.md")
    filed(house, "docs/decisions/20201021-x.md")
    house.decided()
    assert [*(house.folder / "docs/decisions").glob("adr-013-*.md")]


def test_a_record_is_shown_by_its_number_and_two_of_one_are_both_named(house: Project) -> None:
    filed(house, title="Use \x1b[31mPostgreSQL")
    done = house.call("show", "ADR-0007")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert "Use \\x1b[31mPostgreSQL" in done.out
    assert f"{PATH} (nygard), without a session" in done.out
    assert 'because     "reports need it."' in done.out
    assert "date        2020-03-04\n" in done.out
    shape = house.call("show", "adr-7", "--json").json
    assert house.call("show", "0007", "--json").json == shape
    assert house.call("show", "7", "--json").json == shape
    assert (shape["format"], shape["chosen"]) == ("record/1", "We will use PostgreSQL")
    filed(house)
    filed(house, "docs/decisions/07-other.md")
    house.call("show", "ADR-7").refused(1, "0007-use-postgresql.md", "07-other.md")
    done = house.call("start", "Add login", "--supersedes", "ADR-7")
    assert done.code == 1
    both = "'docs/decisions/0007-use-postgresql.md', 'docs/decisions/07-other.md'"
    assert f"'ADR-7' matches several records ({both}): name one by its id or file" in done.err


@each("words", [("why",), ("log",), ("replay",), ("prompt",), ("answer",)])
def test_what_needs_a_session_says_that_there_is_none(
    house: Project, words: tuple[str, ...]
) -> None:
    filed(house)
    done = house.call(*words, "ADR-0007", *(["x"] if words == ("answer",) else []))
    assert (done.code, done.out) == (1, "")
    assert f"ADR-0007 has no session: it is a record of another tool: '{PATH}'" in done.err


def test_a_record_that_is_replaced_changes_only_its_status(house: Project) -> None:
    target = filed(house)
    before = target.read_bytes()
    words = ("--answer", "db_type=PostgreSQL", "--supersedes", "ADR-0007")
    house.call("start", "Keep orders in a database", *words, "--no-input")
    assert target.read_bytes() == before, "only an accepted decision replaces a record"
    done = house.call("accept", "last", "--by", "Ada", "--json").json
    (name,) = (path.name for path in (house.folder / "docs/decisions").glob("0008-*.md"))
    status = f"Superseded by [ADR-0008]({name})".encode()
    assert target.read_bytes() == before.replace(b"Accepted", status)
    text = (house.folder / "docs/decisions" / name).read_text()
    assert "Supersedes [ADR-0007, Use PostgreSQL](0007-use-postgresql.md)" in text
    assert (done["supersedes"]["number"], done["supersedes"]["uid"]) == (7, "")
    assert house.call("decisions", "--json").json["foreign"] == []
    assert "Not: " not in house.call("prompt", "--for", "the database").out, "the value stays"
    assert f"  replaces   {PATH}: Use PostgreSQL\n" in house.call("why", "ADR-8", "Type").out
    assert house.call("replay", "last").code == 0
    assert house.call("audit", "verify").code == 0
    again = house.call("start", "Add login", "--supersedes", "ADR-0007")
    assert (again.code, again.out) == (1, "")
    assert "was replaced by 'ADR-0008' already" in again.err


def test_what_took_the_place_of_a_match_is_no_match_of_the_count(house: Project) -> None:
    for number in range(10, 34, 2):
        filed(house, f"docs/decisions/00{number}-a.md", n=str(number), title="Log with Sinks")
        newer = {"title": f"Zap{number}", "status": f"Accepted (supersedes ADR-00{number})"}
        filed(house, f"docs/decisions/00{number + 1}-b.md", n=str(number + 1), **newer)
    found = house.call("recall", "sinks", "--json").json
    assert (len(found["records"]), found["matches"]) == (20, 12)
    assert "\n  The best 10 of 12 that match.\n" in house.call("recall", "sinks").out


def test_what_took_the_place_of_a_match_is_recalled_with_it(house: Project) -> None:
    filed(house, title="Use MySQL for reports")
    words = ("--answer", "db_type=PostgreSQL", "--accept", "--by", "Ada", "--json")
    first = house.call("start", "Keep rows in a database", *words, "--supersedes", "ADR-7").json
    (found,) = house.call("recall", "reports", "--json").json["results"]
    assert (found["uid"], found["words"]) == (first["uid"], [])
    anew = ("--answer", "db_type=SQLite", *words[2:], "--supersedes", "ADR-8")
    later = house.call("start", "Keep rows in a file database", *anew).json
    told = house.call("recall", "reports")
    assert f"  {later['uid'][-8:]}  accepted  " in told.out
    assert "(ADR-0009, took the place of one that matched)" in told.out
    (found, older) = house.call("recall", "PostgreSQL", "--json").json["results"]
    assert (found["uid"], older["uid"]) == (later["uid"], first["uid"])
    filed(house, "docs/decisions/0010-a.md", n="10", title="Log with Sinks")
    newer = {"n": "11", "title": "Zap", "status": "Accepted (supersedes ADR-0010)"}
    filed(house, "docs/decisions/0011-b.md", **newer)
    records = house.call("recall", "sinks", "--json").json["records"]
    assert [(one["title"], one["status"]) for one in records] == [
        ("Zap", "accepted"),
        ("Log with Sinks", "superseded"),
    ]
    assert (house.call("replay", "last").code, house.call("audit", "verify").code) == (0, 0)


def test_an_acceptance_replaces_and_keeps_records_as_it_does_decisions(house: Project) -> None:
    first, other = filed(house), filed(house, "docs/decisions/0008-b.md", n="8", title="Use B")
    filed(house, "docs/decisions/0009-use-mysql.md", n="9", title="Use MySQL")
    house.call("start", "Use MongoDB", "--answer", "db_type=MongoDB", "--no-input")
    reason = "Old reports need it"
    words = ("--supersedes", first.name, "--supersedes", "ADR-8", "--keep", f"ADR-9={reason}")
    done = house.call("accept", "last", "--by", "Ada", "--json", *words)
    assert "contradicts" not in done.err, "a person said what becomes of it"
    (link,) = (path.name for path in (house.folder / "docs/decisions").glob("0010-*.md"))
    for target in (first, other):
        assert f"Superseded by [ADR-0010]({link})" in target.read_text()
    text = (house.folder / "docs/decisions" / link).read_text()
    assert "Supersedes [ADR-0008, Use B](0008-b.md)" in text
    assert f"Kept beside [ADR-0009, Use MySQL](0009-use-mysql.md): {reason}" in text
    brief = house.call("prompt", "--for", "the database", "--json").json
    assert brief["conflicts"] == []
    assert ". Not: PostgreSQL, B. Beside " in brief["prompt"], "values, and no titles"
    assert (house.call("replay", "last").code, house.call("audit", "verify").code) == (0, 0)
    assert house.call("check").code == 0
    house.call("start", "Add login", *LOGIN, "--no-input")
    again = house.call("accept", "last", "--by", "Ada", "--supersedes", "ADR-7")
    assert "was replaced by 'ADR-0010' already" in again.err
    again = house.call("accept", "last", "--by", "Ada", "--keep", "ADR-9=tbd")
    assert "is a placeholder" in again.err


LOG4BRAINS: Final = "docs/decisions/20201021-use (old) mysql.md"


def test_a_record_without_a_number_is_named_by_its_file(house: Project) -> None:
    target = filed(house, LOG4BRAINS, title="Use MySQL")
    target.write_text("# Use MySQL\n\n- Status: accepted\n- Tags: db\n\n## Context\n\nx\n")
    names = (LOG4BRAINS, target.name, target.stem)
    for name in names:
        assert house.call("show", name, "--json").json["title"] == "Use MySQL"
    words = ("start", "Keep orders in a database", "--answer", "db_type=PostgreSQL")
    keyed = (*words, "--no-input", "--key", "k", "--json", "--supersedes")
    first, *others = (house.call(*keyed, name).json["session_id"] for name in names)
    assert others == [first, first]
    done = house.call("accept", first, "--by", "Ada", "--json").json
    (path,) = done["artifacts"]
    assert f"superseded by [ADR-0001]({Path(path).name})" in target.read_text()
    link = "* Supersedes [Use MySQL](20201021-use%20%28old%29%20mysql.md)"
    assert link in (house.folder / path).read_text()
    assert house.call("replay", "last").code == 0
    assert house.call("audit", "verify").code == 0
    assert "was replaced by 'ADR-0001' already" in house.call(*words, "--supersedes", names[0]).err


def test_a_name_of_no_record_is_no_session_and_one_is_replaced_once_under_a_key(
    house: Project,
) -> None:
    filed(house)
    house.call("show", "20201021-use-it").refused(1, "20201021-use-it")
    stores = ("start", "Keep orders in a database", "--answer", "db_type=PostgreSQL")
    words = (*stores, "--supersedes", "ADR-7")
    first = house.call(*words, "--no-input", "--key", "k", "--json").json
    assert house.call("accept", "last", "--by", "Ada").code == 0
    again = house.call(*words, "--no-input", "--key", "k", "--json").json
    assert again["session_id"] == first["session_id"]
    other = house.call(*stores, "--no-input", "--key", "k")
    assert (other.code, other.out) == (1, "")


def test_a_replaced_record_is_no_session_that_is_quoted(house: Project) -> None:
    filed(house)
    replacing = house.decided("Add SSO", "--supersedes", "ADR-0007")["session_id"]
    assert house.call("why", replacing, "--json").json["values"][0]["read"] == []
    assert house.call("admin", "erase", replacing, "--yes").code == 0
    bundle = house.call("admin", "export", "--all")
    assert bundle.code == 0


@pytest.mark.parametrize("written_by", ["another tool", "Preflights"])
def test_a_clone_without_a_log_refuses_a_number_that_two_folders_have(
    house: Project, tmp_path: Path, written_by: str
) -> None:
    house.decided()
    other = "packages/api/docs/adr/0001-use-postgresql.md"
    if written_by == "another tool":
        filed(house, other, n="1")
    committed(house)
    clone = cloned(house, tmp_path / "clone")
    if written_by == "Preflights":
        words = ("Add SSO", *LOGIN, "--accept", "--again", "--by", "Ada", "--json")
        (clone.folder / "preflights.toml").write_text('decisions = "packages/api/docs/adr"\n')
        (other,) = clone.call("start", *words).json["artifacts"]
    for typed in (
        "start X --supersedes ADR-1",
        "start X --accept --by Ada --keep ADR-1=both",
        "show ADR-0001",
    ):
        done = clone.call(*typed.split())
        assert (done.code, done.out) == (1, "")
        assert " matches several records (" in done.err
        assert "docs/decisions/0001-" in done.err
        assert other in done.err
    path = house.show()["artifacts"][0]
    assert f"only a session file has {path}: `preflights sync`" in (
        clone.call("start", "X", "--supersedes", path).err
    )


def test_a_program_is_told_the_record_and_a_clone_keeps_what_it_read(house: Project) -> None:
    filed(house)
    log = preflights_es.open(house.folder, database=str(house.folder / "own.db"))
    with log, pytest.raises(RecordWithoutSession) as raised:
        log.why("ADR-0007")
    assert (raised.value.code, raised.value.paths) == ("record_without_session", (PATH,))
    shutil.rmtree(house.log.parent, ignore_errors=True)
    home = house.home / ".cache" / "preflights" / "records"
    house.call("decisions")
    assert {one.suffix for one in home.iterdir()} == {".folders", ".records"}
    assert not house.log.parent.exists()


# 2. The folder -------------------------------------------------------------------------------


def test_records_go_where_records_lie(house: Project) -> None:
    filed(house, "doc/adr/0007-use-postgresql.md")
    said = [
        house.call("start", text, *LOGIN, "--accept", "--by", "Ada", "--no-input").err
        for text in ("Add login", "Add SSO")
    ]
    hint = "Records go to doc/adr, where this project has records; `decisions` in preflights.toml"
    assert [hint in text for text in said] == [True, False]
    assert [*(house.folder / "doc/adr").glob("0008-*.md")]
    assert house.call("decisions", "--json").json["foreign"][0]["number"] == 7


def test_a_new_name_has_the_words_before_the_numbers_of_others(house: Project) -> None:
    filed(house, "doc/adr/ACME-ADR-Web-0007-use-postgresql.md")
    (path,) = house.decided("Add login")["artifacts"]
    assert path == "doc/adr/ACME-ADR-Web-0008-use-oauth-for-authentication.md"


def test_a_record_beside_those_of_adr_tools_has_their_form_and_is_read_back(house: Project) -> None:
    filed(house, "doc/adr/0007-use-postgresql.md")
    (house.folder / ".adr-dir").write_text("doc/adr\n")
    words = ("--path", "src/**", "--alternative", "JWT: no logout", "--because", "It is known")
    first = house.decided("Add login", *words)
    path = first["artifacts"][0]
    file = house.folder / path
    assert path == "doc/adr/0008-use-oauth-for-authentication.md"
    text = file.read_text()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# 8. Use OAuth for authentication",
        *("## Status", "## Context", "## Decision", "## Consequences"),
    ]
    assert not text.startswith("---")
    assert text.endswith(
        "\n---\n\n* Considered options: OAuth; JWT\n* Applies to: `src/**`\n"
        f"* Decision makers: Ada Lovelace\n* Uid: {first['uid']}\n"
        f"* Session: {first['session_id']}\n"
    )
    second = house.decided("Add SSO", "--supersedes", "ADR-0008")
    assert (
        "\n## Status\n\nSuperseded by [ADR-0009](0009-use-oauth-for-authentication.md)\n"
        in file.read_text()
    )
    assert (
        "\nAccepted\n\nSupersedes [ADR-0008, Use OAuth for authentication]"
        "(0008-use-oauth-for-authentication.md)\n"
        in (house.folder / second["artifacts"][0]).read_text()
    )
    assert house.call("check").code == 0
    assert [one["number"] for one in house.call("decisions", "--json").json["foreign"]] == [7]
    file.write_text(file.read_text().replace("`src/**`\n*", "`lib/**`\n*"))
    found = finding(house, "record-differs")
    assert "its applies-to is 'lib/**', and its session says 'src/**'" in found["message"]
    house.git("checkout", "--quiet", "-b", "x")
    (house.folder / "doc/adr/0009-by-hand.md").write_text("# 9. By hand\n\nDate: 2020-01-01\n")
    assert house.call("admin", "renumber").code == 0
    moved = house.folder / "doc/adr/0010-use-oauth-for-authentication.md"
    assert moved.read_text().startswith("# 10. Use OAuth for authentication\n")


def test_a_record_is_called_by_its_year_and_number_or_its_file(house: Project) -> None:
    folder = house.folder / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "ADR-2025-001-use-x.md").write_text("# ADR-2025-001: Use X\n\nStatus: accepted\n")
    made = house.decided("Add login")
    (path,) = made["artifacts"]
    year = house.call("decisions", "--json").json["decisions"][0]["accepted_at"][:4]
    assert path == f"docs/adr/ADR-{year}-002-use-oauth-for-authentication.md"
    for name in (f"adr-{year}-002", "ADR-2", path, path.rpartition("/")[2][:-3]):
        assert house.show(name)["session_id"] == made["session_id"]
    assert house.call("show", "ADR-2025-001", "--json").json["title"] == "Use X"
    for name in (f"ADR-{year}-001", "ADR-2025-002", f"ADR-{year}-0"):
        assert house.call("show", name).code == 1


def test_a_record_beside_dated_ones_begins_with_the_day_and_is_linked_so(house: Project) -> None:
    folder = house.folder / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "20200102-use-x.md").write_text("# Use X\n\n- Status: accepted\n")
    first = house.decided("Add login")
    second = house.decided("Add SSO", "--supersedes", first["uid"])
    (row,) = house.call("decisions", "--json").json["decisions"]
    stem = f"{row['accepted_at'][:10].replace('-', '')}-use-oauth-for-authentication"
    assert first["artifacts"] == [f"docs/adr/{stem}.md"]
    assert second["artifacts"] == [f"docs/adr/{stem}-2.md"]
    link = f"Supersedes [ADR-0001, Use OAuth for authentication]({stem}.md)"
    assert link in (house.folder / second["artifacts"][0]).read_text()
    link = f"Superseded by [ADR-0002, Use OAuth for authentication]({stem}-2.md)"
    assert link in (house.folder / first["artifacts"][0]).read_text()


def test_a_record_follows_a_folder_per_year_and_its_numbers(house: Project) -> None:
    filed(house, "docs/adr/2024/0001-use-x.md", n="1")
    filed(house, "docs/adr/2025/0002-use-y.md", n="2")
    first = house.decided("Add login")
    second = house.decided("Add SSO", "--supersedes", first["uid"])
    year = house.call("decisions", "--json").json["decisions"][0]["accepted_at"][:4]
    name = "use-oauth-for-authentication.md"
    (path,) = first["artifacts"]
    assert path == f"docs/adr/{year}/0003-{name}"
    assert second["artifacts"] == [f"docs/adr/{year}/0004-{name}"]
    assert f"](0004-{name})" in (house.folder / path).read_text()
    assert house.show("ADR-3")["session_id"] == first["session_id"]
    assert house.call("check").code == 0
    assert (house.folder / "docs/adr/.sessions").is_dir()


def test_records_go_where_adr_dir_says_and_never_outside(house: Project) -> None:
    filed(house)
    (house.folder / ".adr-dir").write_text("architecture\n")
    assert house.decided()["artifacts"][0].startswith("architecture/0001-")
    (house.folder / ".adr-dir").write_text("../elsewhere\n")
    done = house.call("start", "Add login", "--no-input")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("preflights: .adr-dir: the folder '../elsewhere' leads outside")
    assert done.err.count("\n") == 1


def test_records_of_several_folders_are_named_by_their_paths(house: Project) -> None:
    filed(house)
    filed(house, "web/docs/adr/0001-use-vue.md", n="1", title="Use Vue")
    (house.folder / "web/docs/adr/0002-use-vite.rst").write_text("Use Vite\n")
    (house.folder / "web/docs/adr/0003-use-x.md").write_bytes(b"PK\x03\0# Use X\n")
    done = house.call("decisions")
    assert "'web/docs/adr/0003-use-x.md' is left out: it is binary" in done.err
    assert done.out.startswith("Records of other tools, or written by hand:")
    assert PATH in done.out
    filed(
        house,
        name := "web/docs/adr/0001-use-vue-3-and-no-other-framework.md",
        n="1",
        title="Use Vue 3",
    )
    assert name in house.call("decisions").out, "whole at 80 columns"
    (house.folder / name).unlink()
    assert "'web/docs/adr/0002-use-vite.rst' is left out: files that end in .rst" in done.err
    assert "status      accepted" in house.call("show", "web/docs/adr/0001-use-vue.md").out
    house.git("add", "-A")
    found = house.call("check", "--json").json["findings"]
    unread = [(one["file"], one["level"]) for one in found if one["rule"] == "unread-record"]
    names = ("0002-use-vite.rst", "0003-use-x.md")
    assert unread == [(f"web/docs/adr/{name}", "note") for name in names]
    committed(house)
    (house.folder / f"web/docs/adr/{names[0]}").write_text("Use Rollup\n")
    found = house.call("check", "--base", "HEAD", "--json").json["findings"]
    (one,) = (one["file"] for one in found if one["rule"] == "unread-record")
    assert one == f"web/docs/adr/{names[0]}", "the base has the other one"


def test_folders_of_records_beyond_the_limit_are_named(house: Project) -> None:
    for n in range(FOLDERS_MAX + 2):
        filed(house, f"{n:03}/adr/0001-use-x.md", n="1", title=f"Use {n}")
    for _ in range(2):  # found, and kept
        said = house.call("decisions").err
        assert f"'{FOLDERS_MAX}/adr' is left out: of 202 folders of records, 200 are read" in said
    unread = finding(house, "unread-record")
    assert (unread["file"], unread["level"]) == (f"{FOLDERS_MAX}/adr", "note")


def test_a_submodule_is_named_before_it_is_written_to(house: Project) -> None:
    filed(house, "shared/adr/0001-use-vue.md", n="1", title="Use Vue")
    house.git("init", "--quiet", "shared")
    assert house.call("decisions").out == "Nothing is in force here.\n"
    (house.folder / "preflights.toml").write_text('decisions = "shared/adr"\n')
    assert "Use Vue" in house.call("decisions").out
    said = house.call("start", "Add login", *LOGIN, "--accept", "--by", "Ada", "--no-input").err
    assert (
        "oauth-for-authentication.md lies in shared, a repository of its own: commit it there"
        in said
    )


def test_a_session_beside_a_record_of_a_package_is_read_in_a_clone(
    house: Project, tmp_path: Path
) -> None:
    house.decided("Store orders in a database", key="db_type=PostgreSQL")
    committed(house)
    clone = cloned(house, tmp_path / "clone")
    assert clone.call("sync").code == 0
    filed(house, "web/docs/adr/0001-use-vue.md", n="1", title="Use Vue")
    package = Project(house.folder / "web", house.home)
    done = package.call("start", "Add login", *LOGIN, "--accept", "--by", "Ada", "--json").json
    assert done["artifacts"][0].startswith("web/docs/adr/0002-")
    committed(house)
    clone.git("pull", "--quiet")
    assert clone.call("show", done["session_id"]).code == 0
    files = [one["file"] for one in clone.call("decisions", "--json").json["decisions"]]
    assert files == [None, f"web/docs/adr/.sessions/{done['session_id'][-12:]}.jsonl"]


def test_a_package_numbers_its_own_records(house: Project, tmp_path: Path) -> None:
    first, second = (
        house.decided("Store orders in a database", key="db_type=PostgreSQL"),
        house.decided("Add SSO"),
    )
    filed(house, "web/docs/adr/0001-use-vue.md", n="1", title="Use Vue")
    committed(house)
    package = Project(house.folder / "web", house.home)
    made = [
        package.call("start", text, *LOGIN, "--accept", "--by", "Ada", "--again", "--json").json
        for text in ("Add login for the web", "Add a login page")
    ]
    paths = [one["artifacts"][0] for one in (first, second, *made)]
    assert [path[: path.index("-")] for path in paths] == [
        *("docs/decisions/0001", "docs/decisions/0002", "web/docs/adr/0002", "web/docs/adr/0003")
    ]
    house.call("show", "ADR-0002").refused(1, paths[1], paths[2])
    said = house.call("prompt").out
    assert "(ADR-0003)" in said, "one folder has it"
    assert (f"({paths[2]})" in said, "ADR-0002" in said) == (True, False)
    assert house.show("ADR-0003")["session_id"] == made[1]["session_id"]
    assert house.show(paths[2])["session_id"] == made[0]["session_id"]
    assert house.call("admin", "renumber").out == "No numbers collide.\n"
    assert house.call("audit", "verify").code == 0
    committed(house)
    clone = cloned(house, tmp_path / "clone")
    done = clone.call("sync")
    assert (done.code, "number" in done.out + done.err) == (0, False)
    assert clone.call("audit", "verify").code == 0
    assert clone.call("admin", "renumber").out == "No numbers collide.\n"
    assert "number-clash" not in clone.call("check", "--json").out


def test_a_proposal_of_a_package_stays_where_it_lies_when_it_is_accepted_at_the_root(
    house: Project,
) -> None:
    old = house.decided("Add SSO")["artifacts"][0]
    filed(house, "web/docs/adr/0001-use-vue.md", n="1", title="Use Vue")
    committed(house)
    package = Project(house.folder / "web", house.home)
    proposal = ("start", "Add login", "--answer", "auth_strategy=passkeys", "--accept", "--json")
    first = package.call(*proposal).json
    words = ("--by", "Ada", "--supersedes", old, "--json")
    done = house.call("accept", first["session_id"], *words).json
    assert done["artifacts"] == first["artifacts"], done
    assert done["artifacts"][0].startswith("web/docs/adr/0002-")
    assert f"](../../../{old})" in (house.folder / done["artifacts"][0]).read_text()
    assert house.call("check").code == 0


def test_a_record_has_a_folder_of_its_own_where_the_others_have(house: Project) -> None:
    filed(house, "docs/adr/0001-use-postgresql/README.md")
    filed(house, "docs/adr/0002-use-vue/README.md", n="2", title="Use Vue")
    (house.folder / "docs/adr/0002-use-vue/why.png").write_bytes(b"x")
    first = house.decided("Add login")
    path = "docs/adr/0003-use-oauth-for-authentication/README.md"
    file = house.folder / path
    assert first["artifacts"] == [path]
    second = house.decided("Add SSO", "--supersedes", "ADR-0003", "--supersedes", "ADR-0002")
    (newer,) = second["artifacts"]
    assert newer == "docs/adr/0004-use-oauth-for-authentication/README.md"
    assert "](../0004-use-oauth-for-authentication/README.md)" in file.read_text()
    assert "](../0003-use-oauth-for-authentication/README.md)" in (house.folder / newer).read_text()
    assert house.show("0003-use-oauth-for-authentication")["session_id"] == first["session_id"]
    assert house.show(path)["session_id"] == first["session_id"]
    assert house.call("check").code == 0
    (file.parent / "picture.png").write_bytes(b"x")
    filed(house, "docs/adr/0003-by-hand/README.md", n="3", title="By hand")
    assert house.call("admin", "renumber").code == 0
    moved = house.folder / "docs/adr/0005-use-oauth-for-authentication"
    assert {one.name for one in moved.iterdir()} == {"README.md", "picture.png"}
    assert not file.parent.exists()
    assert "# 5. Use OAuth" in (moved / "README.md").read_text()
    assert house.show("ADR-0005")["session_id"] == first["session_id"]
    assert house.call("audit", "verify").code == 0


def test_no_document_of_a_log_has_a_name_that_programs_read(house: Project) -> None:
    documents = Documents(None, house.folder, ("docs/adr",))  # type: ignore[arg-type]  # only paths
    own = documents.target("docs/adr/0003-use-x/README.md")
    assert own == house.folder.resolve() / "docs/adr/0003-use-x/README.md"
    for path in (
        *("docs/adr/README.md", "docs/adr/.github/README.md", "docs/adr/skills/README.md"),
        *("docs/adr/0003-use-x/AGENTS.md", "docs/adr/0003-use-x/README.py", "0003-x/README.md"),
        *("docs/adr/0003-use-x/y/README.md", "docs/adr/0003-use-x/../README.md"),
    ):
        with pytest.raises(ArtifactOutside):
            documents.target(path)


ADOC: Final = {
    "a section": "= 1. Use PostgreSQL\n\nDate: 2020-03-04\n\n== Status\n\nAccepted\n\n"
    "== Context\n\nOrders grow.\n\n== Decision\n\nPostgreSQL.\n\n== Consequences\n\nNone.\n",
    "an attribute": "= Use PostgreSQL\n:status: accepted\n:date: 2020-03-04\n\n"
    "== Context and Problem Statement\n\nOrders grow.\n\n== Decision Outcome\n\nPostgreSQL.\n",
}
"""A record in AsciiDoc, by how it writes its status."""
HOSTILE: Final = (
    "Add login {docdir} for C++ & *all* `x` [y](z) +++<b>+++ include::/etc/passwd[] ^a^"
)


@pytest.mark.parametrize("form", ADOC)
def test_a_record_beside_those_in_asciidoc_is_asciidoc_and_is_read_back(
    house: Project, form: str
) -> None:
    (folder := house.folder / "docs/adr").mkdir(parents=True)
    (folder / "0001-use-postgresql.adoc").write_text(ADOC[form])
    where = ("--path", "src/{a,b}/**")
    whys = ("--alternative", "JWT: no *logout*", "--because", "It is C++")
    first = house.decided(HOSTILE, *where, *whys)
    (path,) = first["artifacts"]
    assert path == "docs/adr/0002-use-oauth-for-authentication.adoc"
    file = house.folder / path
    text = file.read_text()
    lines = text.splitlines()
    headings = [line for line in lines if line.startswith("=")]
    if form == "a section":
        assert headings == [
            "= 2. Use OAuth for authentication",
            *("== Status", "== Context", "== Decision", "== Consequences"),
        ]
    else:
        assert headings[:2] == [
            "= Use OAuth for authentication",
            "== Context and Problem Statement",
        ]
        assert lines[1] == ":status: accepted"
    assert not re.search(r"\{docdir|\+\+\+|include::|C\+\+|\^a|\\\\|^---\n.*^---$", text, re.DOTALL)
    read = foreign_record(path, text.encode())
    assert (read.number, read.title, read.status) == (2, "Use OAuth for authentication", "accepted")
    assert (read.applies_to, read.session) == (("src/{a,b}/**",), first["session_id"])
    assert (read.chosen, read.considered) == ("OAuth", ("OAuth", "JWT"))
    assert read.because == "it is C++."
    front = front_of(file)
    assert (front.session, front.uid) == (first["session_id"], first["uid"])
    second = house.decided("Add SSO", "--supersedes", "ADR-0002", "--supersedes", "ADR-0001")
    for name in (file, folder / "0001-use-postgresql.adoc"):
        read = foreign_record(name.name, name.read_bytes())
        assert (read.status, read.superseded_by and read.superseded_by.number) == ("superseded", 3)
    newer = (house.folder / second["artifacts"][0]).read_text()
    assert "Supersedes link:0002-use-oauth-for-authentication.adoc[ADR-0002" in newer
    assert house.call("check").code == 0
    file.write_text(file.read_text().replace("Use OAuth", "Use JWT"))
    assert "its title is 'Use JWT" in finding(house, "record-differs")["message"]
    assert house.call("audit", "verify").code == 0
