"""`renumber`: two branches, one number, and real merges."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Project, Result

DECISIONS = "docs/decisions"


def records(project: Project) -> list[str]:
    return sorted(path.name for path in (project.folder / DECISIONS).glob("*.md*"))


def record(project: Project, name: str) -> str:
    return (project.folder / DECISIONS / name).read_text("utf-8")


def commit(project: Project, message: str) -> None:
    project.git("add", "--all")
    project.git("commit", "--quiet", "--allow-empty", "--message", message)


@pytest.fixture
def clone(house: Project, tmp_path: Path, home: Path) -> Project:
    """Another person's copy of the repository, with a log of its own."""
    (house.folder / "preflights.toml").write_text('project = "house"\n')
    commit(house, "Begin")
    made = Project(tmp_path / "clone", home)
    house.git("clone", "--quiet", ".", str(made.folder))
    return made


def merged(into: Project, other: Project) -> None:
    into.git("pull", "--quiet", "--no-rebase", "--no-edit", str(other.folder), "main")


def test_two_branches_with_one_log_never_collide(house: Project) -> None:
    commit(house, "Begin")
    house.git("checkout", "--quiet", "-b", "feature")
    house.decided("Add login")
    commit(house, "Login")
    house.git("checkout", "--quiet", "main")
    assert not (house.folder / DECISIONS).exists()
    house.decided("Add SSO")
    commit(house, "SSO")
    house.git("merge", "--quiet", "--no-edit", "feature")
    assert records(house) == [
        "0001-use-oauth-for-authentication.md",
        "0002-use-oauth-for-authentication.md",
    ]
    done = house.call("admin", "renumber", "--check")
    assert (done.code, done.out) == (0, "No numbers collide.\n")


def test_the_oldest_keeps_its_number_and_links_follow(house: Project, clone: Project) -> None:
    clone.decided("Use a database", key="db_type=PostgreSQL")  # the oldest
    commit(clone, "Database")
    old = house.decided("Add login")
    house.decided("Add SSO", "--supersedes", old["uid"])
    commit(house, "Login, and SSO")
    merged(house, clone)
    assert records(house) == [
        "0001-use-oauth-for-authentication.md",
        "0001-use-postgresql-for-the-database.md",
        "0002-use-oauth-for-authentication.md",
    ]

    planned = house.call("admin", "renumber", "--check", "--json")
    assert planned.code == 1
    move = {
        "from": f"{DECISIONS}/0001-use-oauth-for-authentication.md",
        "to": f"{DECISIONS}/0003-use-oauth-for-authentication.md",
        "session_id": old["session_id"],
    }
    links = f"{DECISIONS}/0002-use-oauth-for-authentication.md"
    assert planned.json == {
        "format": "renumber/1",
        "moves": [move],
        "changed": [links],
        "pointing": [],
    }
    assert len(records(house)) == 3
    done = house.call("admin", "renumber")
    follow = f"{links}: its heading or links follow\n"
    assert (done.code, done.out) == (0, f"{move['from']} -> {move['to']}\n{follow}")
    assert records(house) == [
        "0001-use-postgresql-for-the-database.md",
        "0002-use-oauth-for-authentication.md",
        "0003-use-oauth-for-authentication.md",
    ]
    assert 'status: "superseded by ADR-0002"' in record(
        house, "0003-use-oauth-for-authentication.md"
    )
    assert (
        "[ADR-0003, Use OAuth for authentication](0003-use-oauth-for-authentication.md)"
        in record(house, "0002-use-oauth-for-authentication.md")
    )
    assert house.show(old["uid"])["number"] == 3
    for session in (old["uid"], "last"):
        assert house.call("replay", session).code == 0
        assert house.call("admin", "render", session, "--check").code == 0
    assert house.call("admin", "renumber").out == "No numbers collide.\n"
    assert house.decided("Add API keys: auth")["number"] == 4


def test_a_status_that_follows_is_not_named_as_a_line_to_look_at(
    house: Project, clone: Project
) -> None:
    first = house.decided("Add login")
    commit(house, "Login")
    merged(clone, house)
    clone.call("sync")
    clone.decided("Use a database", key="db_type=PostgreSQL")  # the oldest
    commit(clone, "Database")
    house.decided("Add SSO", "--supersedes", first["uid"])
    commit(house, "SSO")
    merged(house, clone)
    assert house.call("sync").code == 0
    done = house.call("admin", "renumber")
    assert 'status: "superseded by ADR-0003"' in record(house, records(house)[0])
    assert (done.code, "two records bore" in done.err) == (0, False)


def test_the_task_behind_a_record_names_its_new_number(house: Project, clone: Project) -> None:
    clone.decided("Use a database", key="db_type=PostgreSQL")  # the oldest
    commit(clone, "Database")
    task = house.call("note", "Add login to the shop", "--json").json["items"][0]["id"]
    house.decided("Add login", "--task", task)
    assert "decided by ADR-0001" in house.call("note", "list").out
    commit(house, "Login")
    merged(house, clone)
    assert house.call("admin", "renumber").code == 0
    assert "decided by ADR-0002" in house.call("note", "list").out
    found = house.call("show", task.split(".")[0], "--json").json["items"][0]
    assert (found["record"], found["status"]) == (2, "open")
    assert house.call("audit", "verify").code == 0


def test_a_record_made_elsewhere_is_renamed_without_an_event(
    house: Project, clone: Project
) -> None:
    house.decided("Add login")
    commit(house, "Login")
    foreign = clone.decided("Use a database", key="db_type=MySQL")
    commit(clone, "Database")
    text = record(clone, "0001-use-mysql-for-the-database.md")
    merged(house, clone)
    (house.folder / DECISIONS / ".sessions" / f"{foreign['uid']}.jsonl").unlink()
    done = house.call("admin", "renumber", "--json")
    assert done.json["moves"] == [
        {
            "from": f"{DECISIONS}/0001-use-mysql-for-the-database.md",
            "to": f"{DECISIONS}/0002-use-mysql-for-the-database.md",
            "session_id": "",
        }
    ]
    assert record(house, "0002-use-mysql-for-the-database.md") == text
    assert house.call("abandon", foreign["session_id"]).code == 1


def test_both_sides_of_a_merge_come_to_the_same_names(house: Project, clone: Project) -> None:
    for intention in ("Add login", "Add SSO"):
        house.decided(intention)
    commit(house, "Login, SSO")
    for intention in ("Use a database", "Add a cache: db"):
        clone.decided(intention, key="db_type=MySQL")
    commit(clone, "Database, cache")
    merged(house, clone)
    merged(clone, house)
    assert (house.call("sync").code, clone.call("sync").code) == (0, 0)
    assert house.call("admin", "renumber").code == 0
    assert clone.call("admin", "renumber").code == 0
    assert (
        records(house)
        == records(clone)
        == [
            "0001-use-oauth-for-authentication.md",
            "0002-use-oauth-for-authentication.md",
            "0003-use-mysql-for-the-database.md",
            "0004-use-mysql-for-the-database.md",
        ]
    )


def test_a_record_written_by_hand_counts_too(house: Project) -> None:
    house.decided("Add login")
    folder = house.folder / DECISIONS
    (folder / "0001-by-hand.md").write_text("# By hand\n")
    (folder / "0007-by-hand.md").write_text("# By hand\n")
    (folder / "20260101-minutes.md").write_text("# No record\n")
    assert house.call("admin", "renumber").out == (
        f"{DECISIONS}/0001-by-hand.md -> {DECISIONS}/0008-by-hand.md\n"
    )
    assert house.decided("Add SSO")["number"] == 9


def filed(house: Project, path: str, text: str) -> None:
    (house.folder / path).parent.mkdir(parents=True, exist_ok=True)
    (house.folder / path).write_text(text, "utf-8")


def test_the_record_with_the_later_day_or_first_commit_gets_the_number(house: Project) -> None:
    filed(house, "docs/adr/0003-b.md", "# 3. B\n\nDate: 5 January 2026\n\n## Status\n\nAccepted\n")
    filed(house, "docs/adr/0004-b.md", "# 4. B\n\n## Status\n\nAccepted\n")
    commit(house, "Older")
    filed(house, "docs/adr/0003-a.md", "# 3. A\n\nDate: 06.01.2026\n\n## Status\n\nAccepted\n")
    filed(house, "docs/adr/0004-a.md", "# 4. A\n\n## Status\n\nAccepted\n")
    house.git("add", "--all")
    house.git("commit", "--quiet", "--message", "Younger", "--date", "2031-01-01T00:00:00Z")
    assert house.call("admin", "renumber").code == 0
    found = sorted(path.name for path in (house.folder / "docs/adr").iterdir())
    assert found == ["0003-b.md", "0004-b.md", "0005-a.md", "0006-a.md"]
    assert (house.folder / "docs/adr/0005-a.md").read_text().startswith("# 5. A\n")


def test_heading_and_links_follow_and_what_points_there_from_elsewhere_is_named(
    house: Project,
) -> None:
    filed(house, "docs/adr/ADR-003-a.md", "# ADR-003: A\n\nDate: 2026-01-05\n")
    old = "# ADR-003: B\n\nDate: 2026-01-06\n\n## Status\n\nAccepted\n"
    filed(house, "docs/adr/ADR-003-b.md", old)
    filed(house, "docs/adr/ADR-003-b.de.md", old)
    links = (
        "# ADR-001: C\n\n[ADR-003: B](./ADR-003-b.md#why), [[ADR-003-b]], "
        "[x](../../other/ADR-003-b.md), [d](ADR-003-b.de.md)\n\nSee ADR-3.\n"
    )
    filed(house, "docs/adr/ADR-001-c.md", links)
    filed(house, "docs/README.md", "# Docs\n\n[B](adr/ADR-003-b.md), [A](adr/ADR-003-a.md)\n")
    filed(house, "src/a.py", "# As ADR-0003 says\n# ADR-0030\n")
    commit(house, "Begin")
    planned = house.call("admin", "renumber", "--check", "--json").json
    done = house.call("admin", "renumber", "--json").json
    assert [one["to"] for one in done["moves"]] == [
        "docs/adr/ADR-004-b.md",
        "docs/adr/ADR-004-b.de.md",
    ]
    assert done["moves"] == planned["moves"]
    assert done["changed"] == [
        f"docs/adr/{name}.md" for name in ("ADR-001-c", "ADR-004-b.de", "ADR-004-b")
    ]
    assert [(one["path"], one["line"], one["names"]) for one in done["pointing"]] == [
        ("docs/README.md", 3, "docs/adr/ADR-003-b.md"),
        ("docs/adr/ADR-001-c.md", 5, "ADR-0003"),
        ("src/a.py", 1, "ADR-0003"),
    ]
    assert (house.folder / "docs/adr/ADR-004-b.md").read_text().startswith("# ADR-004: B\n")
    assert (house.folder / "docs/adr/ADR-001-c.md").read_text() == (
        "# ADR-001: C\n\n[ADR-004: B](./ADR-004-b.md#why), [[ADR-004-b]], "
        "[x](../../other/ADR-003-b.md), [d](ADR-004-b.de.md)\n\nSee ADR-3.\n"
    )
    assert house.call("admin", "renumber").out == "No numbers collide.\n"


def test_a_record_with_a_folder_of_its_own_takes_that_along(house: Project) -> None:
    filed(house, "docs/adr/0003-a/README.md", "# 3. A\n\nDate: 2026-01-05\n\n[B](../0003-b)\n")
    filed(house, "docs/adr/0003-b/README.md", "# 3. B\n\nDate: 2026-01-06\n\n![](x.png)\n")
    filed(house, "docs/adr/0003-b/x.png", "x")
    filed(house, "README.md", "[B](docs/adr/0003-b/README.md)\n")
    commit(house, "Begin")
    done = house.call("admin", "renumber")
    assert done.out.startswith("docs/adr/0003-b/README.md -> docs/adr/0004-b/README.md\n")
    assert "README.md:1 names docs/adr/0003-b, which has moved" in done.err
    folder = house.folder / "docs/adr"
    assert (folder / "0003-a/README.md").read_text().endswith("[B](../0004-b)\n")
    assert (folder / "0004-b/README.md").read_text().startswith("# 4. B\n")
    assert (folder / "0004-b/x.png").exists()


def test_what_a_person_wrote_moves_along_and_stays_the_record(house: Project) -> None:
    house.decided("Add login")
    mine = house.folder / DECISIONS / "0001-use-oauth-for-authentication.md"
    mine.write_text(mine.read_text() + "\nA note.\n")
    (house.folder / DECISIONS / "0001-older.md").write_text("---\ndate: 2020-01-01\n---\n# Older\n")
    assert house.call("admin", "renumber").code == 0
    assert records(house) == ["0001-older.md", "0002-use-oauth-for-authentication.md"]
    assert "A note." in record(house, "0002-use-oauth-for-authentication.md")
    assert house.call("admin", "renumber").out == "No numbers collide.\n"
    assert house.call("check").code == 0


# A clash is named ----------------------------------------------------------------------------

BY_HAND = f"{DECISIONS}/0001-by-hand.md"


def test_a_number_of_two_records_is_refused_where_it_is_typed_and_named_elsewhere(
    house: Project,
) -> None:
    mine = house.decided("Add login")
    (house.folder / BY_HAND).write_text("# 1. By hand\n")
    both = f"ADR-0001 is the number of 2 records: {BY_HAND}, {mine['artifacts'][0]}"
    for typed in ("show ADR-1", "why ADR-0001", "start X --supersedes ADR-1"):
        done = house.call(*typed.split())
        assert (done.code, done.out) == (1, "")
        assert f"matches several records ({mine['session_id'][-8:]} {mine['artifacts'][0]}, " in (
            done.err
        )
        assert f"{BY_HAND!r}): name one by its id or file" in done.err
    for typed in ("decisions", "sync", "show", f"show {BY_HAND}"):
        assert f"warning: {both}: `preflights admin renumber`" in house.call(*typed.split()).err
    assert "note: ADR-0001 is the number of 2 records" in house.call("check").out
    assert house.call("admin", "renumber").code == 0
    for typed in ("decisions", "sync", "show", "show ADR-1", "check"):
        done = house.call(*typed.split())
        assert done.code == 0
        assert "is the number of" not in done.out + done.err


def test_a_check_against_a_base_warns_of_what_the_change_brings(
    house: Project, clone: Project
) -> None:
    (house.folder / DECISIONS).mkdir(parents=True)
    for name in ("0001-a.md", "0002-a.md", "0002-b.md"):
        (house.folder / DECISIONS / name).write_text("# A\n")
    commit(house, "Records")
    house.git("branch", "base")
    (house.folder / BY_HAND).write_text("# By hand\n")
    commit(house, "Another")
    found = house.call("check", "--base", "base", "--json").json["findings"]
    assert [(one["level"], one["files"]) for one in found if one["rule"] == "number-clash"] == [
        ("warning", [f"{DECISIONS}/0001-a.md", BY_HAND])
    ]


# After an import -------------------------------------------------------------------


def imported(into: Project, other: Project) -> Result:
    content = other.call("admin", "export", "--all").out.encode()
    return into.call("admin", "import", "-", stdin=content)


def test_of_two_records_with_one_path_the_second_gets_another_number(
    house: Project, clone: Project
) -> None:
    mine = house.decided("Add login")["session_id"]
    theirs = clone.decided("Add login")["session_id"]
    assert imported(house, clone).code == 0
    before = record(house, "0001-use-oauth-for-authentication.md")
    path = "docs/decisions/0001-use-oauth-for-authentication.md"
    said = f"{path} is the document of session {mine[-8:]}: `preflights admin renumber` gives one"
    assert said in house.call("admin", "render", theirs, "--check").out
    assert said in house.call("admin", "render", theirs).out
    check = house.call("admin", "renumber", "--check")
    moved = f"{path} -> docs/decisions/0002-use-oauth-for-authentication.md\n"
    assert (check.code, check.out) == (1, moved)
    assert house.call("admin", "renumber").out == moved
    assert house.call("admin", "renumber").out == "No numbers collide.\n"
    assert record(house, "0001-use-oauth-for-authentication.md") == before
    assert theirs in record(house, "0002-use-oauth-for-authentication.md")
    assert house.call("audit", "verify").code == 0
    for session_id in (mine, theirs):
        assert house.call("admin", "render", session_id, "--check").code == 0
