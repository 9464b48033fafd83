"""A change hides no session: by no settings, no attribute of git, and no events of its own."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from preflights_es.kernel.ports import Stored
from preflights_es.records.session_files import FOLDERS_MAX
from tests.cli.clones import SESSIONS, cloned, committed, session_file
from tests.cli.program import House, Project
from tests.features.govern.forged import EVE, behind, rewritten
from tests.features.govern.test_check import checked, write

BASKETS: Final = (
    *("Store baskets in a database", "db_type=PostgreSQL"),
    *("--alternative", "MongoDB"),
)


def decided(house: Project, intention: str, answer: str, *more: str) -> Any:
    words = ("--answer", answer, *more, "--accept", "--again", "--by", "Ada", "--json")
    done = house.call("start", intention, *words)
    assert done.code == 0, done.err
    return done.json["session_id"]


@pytest.fixture
def team(house: House) -> Project:
    """A base with one decision."""
    house.made(_base)
    return house


def _base(house: Project) -> None:
    decided(house, "Store orders in a database", "db_type=PostgreSQL")
    committed(house)
    house.git("branch", "base")


def found_in(team: Project) -> tuple[int, dict[str, list[Any]]]:
    """The exit code and the findings by rule, of a change that is committed."""
    committed(team)
    code, found, _ = checked(team, "--base", "base")
    return code, found


@pytest.mark.parametrize("attribute", ["working-tree-encoding=UTF-8", "filter=x", "ident"])
def test_a_session_is_kept_as_it_lies_there(team: Project, attribute: str) -> None:
    (first,) = (one.stem for one in (team.folder / SESSIONS).glob("*.jsonl"))
    id_ = decided(team, "Add OAuth login", "auth_strategy=OAuth")
    write(team, "preflights.toml", "seed = 1\n")
    write(team, ".preflights/allowed_signers", "")
    write(team, ".gitattributes", f"* {attribute}\n*.py -filter -ident\n")
    code, found = found_in(team)
    assert (code, [*found]) == (4, ["unverified-session", "signers-changed"])
    files = [one["file"] for one in found["unverified-session"]]
    sessions = [str(session_file(team, one).relative_to(team.folder)) for one in (first, id_)]
    name = attribute.partition("=")[0]
    records = (team.folder / "docs/decisions").glob("*.md") if name != "ident" else ()
    others = [str(one.relative_to(team.folder)) for one in records]
    wanted = [".preflights/allowed_signers", *sessions, "preflights.toml", *others]
    assert sorted(files) == sorted(wanted)
    assert f"checked: take its attribute {name} away" in found["unverified-session"][0]["message"]


def test_no_other_encoding_hides_what_a_record_says(team: Project) -> None:
    """git converts it for who works there: it says what git does not have, or no more."""
    path = "docs/decisions/use-kafka.md"
    record = "---\nstatus: accepted\n---\n\n# Use Kafka\n"
    write(team, path, record)
    committed(team)
    team.git("branch", "--force", "base")
    write(team, ".gitattributes", f"{path} working-tree-encoding=IBM037\n")
    (
        team.folder / path
    ).unlink()  # git reads a file again only where it is another or was just written
    write(team, path, record)
    code, found = found_in(team)
    assert (code, {*found}) == (4, {"unverified-session", "decision-changed"})
    assert [one["file"] for one in found["unverified-session"]] == [path]


WITHOUT: Final = "import os\n"
WITH: Final = "import os\nimport pymongo\n"


@pytest.mark.parametrize("attribute", ["working-tree-encoding=UTF-16", "filter=lfs"])
def test_a_source_that_git_keeps_in_another_form_is_named(team: Project, attribute: str) -> None:
    decided(team, *BASKETS)
    write(team, "src/old.py", WITHOUT.encode("utf-16"))
    committed(team)
    team.git("branch", "--force", "base")
    write(team, ".gitattributes", f"src/*.py {attribute}\n")
    write(team, "src/web.py", WITH.encode("utf-16"))
    code, found = found_in(team)
    (one,) = found["unread-file"]
    assert (code, one["files"], [*found]) == (0, ["src/old.py", "src/web.py"], ["unread-file"])


def test_an_encoding_of_what_the_base_decided_since_is_told(team: Project) -> None:
    path = "docs/decisions/use-kafka.md"
    write(team, ".gitattributes", f"{path} working-tree-encoding=IBM037\n")
    committed(team)
    team.git("checkout", "--quiet", "-b", "newer", "base")
    write(team, path, "---\nstatus: accepted\n---\n\n# Use Kafka\n")
    committed(team)
    team.git("checkout", "--quiet", "main")
    code, found, _ = checked(team, "--base", "newer")
    assert (code, [one["file"] for one in found["unverified-session"]]) == (4, [path])


def test_settings_that_move_the_records_hide_no_decision(team: Project, tmp_path: Path) -> None:
    write(team, "preflights.toml", 'decisions = "docs/other"\n')
    committed(team)
    clone = cloned(team, tmp_path / "clone")
    code, found, _ = checked(clone, "--base", "origin/base")
    assert (code, [*found], "sets decisions" in str(found)) == (0, ["gate-changed"], True)
    assert "PostgreSQL" in clone.call("decisions").out
    write(team, ".gitignore", "docs/decisions/*.md\n")
    team.git("rm", "--quiet", "--cached", "docs/decisions/*.md")
    committed(team)
    clone = cloned(team, tmp_path / "other")
    found = checked(clone, "--base", "origin/base")[1]
    (one,) = found["unverified-session"]
    assert one["file"].startswith(f"{SESSIONS.as_posix()}/")
    assert "where no session is read" in one["message"]


def test_a_log_of_another_project_ends_no_decision(team: Project) -> None:
    """Settings of the change name it: the log has the session, and not for this project."""
    decided(team, "Add OAuth login", "auth_strategy=OAuth")
    committed(team)
    team.git("branch", "--force", "base")
    write(team, "preflights.toml", 'project = "other"\n')
    code, found = found_in(team)
    assert (code, [*found]) == (0, ["gate-changed"])
    assert "sets project otherwise" in found["gate-changed"][0]["message"]


def test_folders_beyond_the_cap_are_named(team: Project) -> None:
    for n in range(FOLDERS_MAX + 2):
        write(team, f".preflights/empty{n}/x", "")
        write(team, f".preflights/kind{n:02}/.sessions/x", "")
    code, found = found_in(team)
    assert (code, [*found]) == (4, ["unverified-session"])
    files = [one["file"] for one in found["unverified-session"]]
    assert files == [f".preflights/kind{n}/.sessions" for n in (FOLDERS_MAX, FOLDERS_MAX + 1)]


def test_records_in_the_root_are_judged_as_any_others(team: Project) -> None:
    write(team, "preflights.toml", 'decisions = "."\n')
    committed(team)
    team.git("branch", "--force", "base")
    id_ = decided(team, "Add OAuth login", "auth_strategy=OAuth")
    assert found_in(team) == (0, {})
    team.git("branch", "--force", "base")
    (record,) = team.folder.glob("0001-*.md")
    record.unlink()
    code, found = found_in(team)
    assert (code, [*found]) == (1, ["record-differs"])
    (team.folder / ".sessions" / f"{id_[-12:]}.jsonl").unlink()
    assert "unverified-session" in found_in(team)[1]
    team.git("reset", "--quiet", "--hard", "base")
    (team.folder / "preflights.toml").unlink()
    code, found = found_in(team)
    assert (code, [*found]) == (4, ["unverified-session", "gate-changed"])
    assert found["unverified-session"][0]["file"].startswith(".sessions/")


def test_a_large_session_is_judged_as_any_other(team: Project) -> None:
    """It holds what is read of any session, which is more than is read of a source file."""
    large = session_file(team, decided(team, "Add OAuth login", "auth_strategy=OAuth"))
    large.write_bytes(large.read_bytes() + b" " * 2_100_000)
    assert found_in(team) == (0, {})
    team.git("branch", "--force", "base")
    large.write_bytes(b"".join(large.read_bytes().splitlines(keepends=True)[:6]))
    code, found = found_in(team)
    assert (code, [*found][:1]) == (4, ["unverified-session"])
    assert "with other events than before" in found["unverified-session"][0]["message"]


def written(events: list[Stored], file: Path, path: str) -> list[Stored]:
    """A session says that a file is its document as it lies there."""
    was = next(one for one in events if one.type == "artifact.written.v1")
    digest = sha256(file.read_bytes()).hexdigest()
    said = {**json.loads(was.data or b""), "path": path, "sha256": digest}
    return behind(events, (was.type, said), ("clarification.artifact_filed.v1", {"path": path}))


def test_a_session_that_says_that_an_edited_record_was_written_so_hides_no_edit(
    team: Project, tmp_path: Path
) -> None:
    record = next((team.folder / "docs/decisions").glob("0001-*"))
    record.write_text(record.read_text().replace("PostgreSQL", "MongoDB"))
    path = record.relative_to(team.folder).as_posix()
    rewritten(team, lambda events: written(events, record, path))
    committed(team)
    code, found, _ = checked(cloned(team, tmp_path / "clone"), "--base", "origin/base")
    assert (code, [*found]) == (1, ["record-differs"])


def test_a_session_in_place_of_another_record_hides_no_loss(team: Project, tmp_path: Path) -> None:
    path = "docs/decisions/0009-use-kafka.md"
    write(team, path, "---\nstatus: accepted\n---\n\n# Use Kafka\n")
    committed(team)
    team.git("branch", "--force", "base")
    record = next((team.folder / "docs/decisions").glob("0001-*"))
    write(team, path, record.read_text())
    rewritten(team, lambda events: written(events, record, path))
    committed(team)
    code, found, _ = checked(cloned(team, tmp_path / "clone"), "--base", "origin/base")
    assert (code, found["record-lost"][0]["file"]) == (1, path)


def test_a_session_of_the_base_replaces_nothing_more(team: Project) -> None:
    first = decided(team, *BASKETS)
    decided(team, "Add OAuth login", "auth_strategy=OAuth")
    committed(team)
    team.git("branch", "--force", "base")
    old = {"uid": first[-12:], "number": 1, "title": "Use PostgreSQL"}
    chosen = ("clarification.replacement_chosen.v1", {**EVE, "replaces": old, "source": None})
    rewritten(
        team, lambda events: behind(events, chosen, ("clarification.replacement_noted.v1", {}))
    )
    write(team, "web.py", "import pymongo\n")
    assert "turned-down" in found_in(team)[1]


def test_a_file_of_the_same_name_is_not_where_it_went(team: Project, tmp_path: Path) -> None:
    file = session_file(team, team.newest())
    content = file.read_bytes()
    for folder in ("src", "vendor/.sessions"):
        team.git("checkout", "--quiet", "-B", "change", "base")
        write(team, f"{folder}/{file.name}", "")
        file.rename(team.folder / folder / file.name)
        committed(team)
        clone = cloned(team, tmp_path / folder)
        code, found, _ = checked(clone, "--base", "origin/base")
        assert (code, [*found]) == (4, ["unverified-session"])
        write(team, str(file.relative_to(team.folder)), "")
        file.write_bytes(b"".join(content.splitlines(keepends=True)[:5]))
        committed(team)
        clone.git("pull", "--quiet")
        code, found, _ = checked(clone, "--base", "origin/base")
        lost = found["unverified-session"][0]["file"]
        assert (code, lost) == (4, str(file.relative_to(team.folder)))
