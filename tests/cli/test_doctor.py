"""`doctor`: a sound installation is well; each trouble is named with its cure."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.program import House, Project

Plant = Callable[[Project], dict[str, str] | None]
"""Makes a trouble; the variables with which it is seen."""
RECORDS = "docs/decisions"


def lines_of(project: Project, code: int, **env: str) -> list[dict[str, Any]]:
    done = project.call("doctor", "--json", env=env)
    assert done.code == code, done.out + done.err
    found: list[dict[str, Any]] = done.json["lines"]
    return found


def written(name: str, text: str | bytes) -> Plant:
    def plant(project: Project) -> None:
        path = project.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return plant


def seen(**env: str) -> Plant:
    return lambda _: env


def own_settings(text: str) -> Plant:
    def plant(project: Project) -> dict[str, str]:
        folder = project.folder.parent / "config"
        (folder / "preflights").mkdir(parents=True)
        (folder / "preflights" / "settings.toml").write_text(text)
        return {"XDG_CONFIG_HOME": str(folder)}

    return plant


def damaged_log(project: Project) -> None:
    project.log.write_bytes(b"SQLite format 3\0" + bytes(4000))


def a_file_in_place_of_the_log(project: Project) -> None:
    shutil.rmtree(project.log.parent)
    project.log.parent.write_text("")


def log_of_another_version(project: Project) -> None:
    with sqlite3.connect(project.log) as log:
        log.execute("UPDATE alembic_version SET version_num = '9999'")


def a_file_in_place_of_the_cache(project: Project) -> dict[str, str]:
    cache = project.folder.parent / "cache"
    cache.mkdir()
    (cache / "preflights").write_text("")
    return {"XDG_CACHE_HOME": str(cache)}


def diverged_session_file(project: Project) -> None:
    (file,) = (project.folder / RECORDS / ".sessions").glob("*.jsonl")
    file.write_bytes(file.read_bytes().replace(b"OAuth", b"OAuht"))


def two_records_of_a_number(project: Project) -> None:
    for name in ("0002-use-kafka.md", "0002-use-nats.md"):
        written(f"{RECORDS}/{name}", "# Use it\n\n## Status\n\nAccepted\n")(project)


def hooks_of_another_version(project: Project) -> None:
    assert project.call("init", "--agent", "claude").code == 0
    agents = project.folder / "AGENTS.md"
    agents.unlink()


def agents_that_start_another_path(project: Project) -> None:
    assert project.call("init", "--agent", "claude").code == 0
    hooks = project.folder / ".claude" / "settings.json"
    hooks.write_text(
        hooks.read_text().replace("preflights-es hook", "/opt/none/preflights-es hook")
    )


def a_server_of_another_name(project: Project) -> None:
    assert project.call("init", "--agent", "claude").code == 0
    servers = project.folder / ".mcp.json"
    servers.write_text(servers.read_text().replace('"preflights-es"', '"preflight"'))


def a_folder_in_place_of_the_log(project: Project) -> None:
    project.log.unlink()
    project.log.mkdir()


def no_signers(project: Project) -> dict[str, str]:
    signers = project.folder.parent / "signers"
    signers.write_text("")
    return own_settings(f'[sign]\nsigners = "{signers}"\n')(project) or {}


def another_process_writes(project: Project) -> None:
    held = sqlite3.connect(project.log, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    HELD.append(held)


HELD: list[sqlite3.Connection] = []


@pytest.fixture(autouse=True)
def _let_go() -> Iterator[None]:
    yield
    while HELD:
        HELD.pop().close()


def an_invalid_key(project: Project) -> dict[str, str]:
    key = project.folder.parent / "id"
    key.write_text("no key\n")
    return own_settings(f'[sign]\nkey = "{key}"\n')(project) or {}


def invalid_signers(project: Project) -> dict[str, str]:
    signers = project.folder.parent / "signers"
    signers.write_text("# ours\n\nada@example.org ssh-ed25519\n")
    return own_settings(f'[sign]\nsigners = "{signers}"\n')(project) or {}


PLANTED: Final = (
    (written("preflights.toml", "x = ["), "settings", "not valid TOML", "mend"),
    (written("preflights.toml", "colour = 1"), "settings", "colour", "mend"),
    (damaged_log, "log", "not", ""),
    (log_of_another_version, "log", "9999", ""),
    (
        seen(PREFLIGHTS_DATABASE_URL="/nowhere/log.db"),
        "log",
        "none at /nowhere/log.db",
        "admin db upgrade",
    ),
    (written(".git/config", "[core\n"), "git", "git cannot read", "git status"),
    (a_file_in_place_of_the_log, "log", "no folder that may be written", "move it away"),
    (a_folder_in_place_of_the_log, "log", "log.db is no regular file", "move it away"),
    (
        seen(PREFLIGHTS_PROJECT="shop", PREFLIGHTS_DATABASE_URL=f"/{'x' * 300}/log.db"),
        "log",
        "File name too long",
        "",
    ),
    (
        written(f"{RECORDS}/0002-use-kafka.md", b"\xff\xfe\x00\xd8 Status"),
        "records",
        "cannot be read",
        "mend the file",
    ),
    (
        written(f"{RECORDS}/0002-use-kafka.md", "# Use Kafka\n\n## Status\n\nRechazado\n"),
        "records",
        "Rechazado",
        "write accepted",
    ),
    (two_records_of_a_number, "records", "ADR-0002 is the number of 2", "renumber"),
    (diverged_session_file, "session files", "left out", "preflights sync"),
    (hooks_of_another_version, "agents", "AGENTS.md", "init --agent claude"),
    (written(".claude/settings.json", "{"), "agents", ".claude/settings.json", "init"),
    (seen(PREFLIGHTS_PROVIDER="anthropic"), "models", "has no key", "ANTHROPIC_API_KEY"),
    (
        seen(PREFLIGHTS_PROVIDER="anthropic", ANTHROPIC_API_KEY="sk-ant x"),
        "models",
        "ANTHROPIC_API_KEY: expected a key, without blanks",
        "set it anew",
    ),
    (
        own_settings('[sign]\nkey = "/nowhere/id_ed25519"\n'),
        "signing",
        "/nowhere/id_ed25519",
        "[sign] key",
    ),
    (own_settings('[sign]\nsigners = "/nowhere/signers"\n'), "signing", "/nowhere/signers", ""),
    (own_settings('[sign]\nkey = "git"\n'), "signing", "gpg.format", ""),
    (a_file_in_place_of_the_cache, "cache", "may not be written", "remove it"),
    (another_process_writes, "log", "is locked", "wait for it"),
    (
        agents_that_start_another_path,
        "agents",
        "settings.json starts /opt/none/preflights-es, which is not there",
        "mend the path",
    ),
    (
        a_server_of_another_name,
        "agents",
        ".mcp.json starts preflight, which is not there",
        "mend the path",
    ),
    (
        written("preflights.toml", 'decisions = "preflights.toml/adr"'),
        "records, session files",
        "preflights.toml may not be written",
        "",
    ),
    pytest.param(
        an_invalid_key,
        "signing",
        "id cannot be used",
        "no key of OpenSSH",
        marks=pytest.mark.needs("ssh-keygen"),
    ),
    (no_signers, "signing", "signers is empty", "NAME TYPE KEY"),
    (invalid_signers, "signing", "line 3, names no signer", "KEY"),
    (
        written(".preflights/allowed_signers", 'ada namespaces="git" AAAAC3NzaC1lZDI1NTE5AAAA\n'),
        "signing",
        ".preflights/allowed_signers, line 1, names no signer",
        "NAME TYPE KEY",
    ),
    (
        seen(XDG_CACHE_HOME="/dev/null"),
        "cache",
        "/dev/null/preflights cannot be made",
        "XDG_CACHE_HOME",
    ),
    (
        lambda project: {"PREFLIGHTS_DATABASE_URL": str(shared_log(project))},
        "project",
        "may be shared",
        "",
    ),
)
"""Each with the subject, the words and the cure that name it."""


def shared_log(project: Project) -> Path:
    path = project.folder.parent / "shared.db"
    path.write_bytes(project.log.read_bytes())
    shutil.rmtree(project.folder / RECORDS / ".sessions")
    return path


def another_log(project: Project) -> dict[str, str]:
    path = project.folder.parent / "other.db"
    path.write_bytes(project.log.read_bytes())
    return {"PREFLIGHTS_DATABASE_URL": str(path), "PREFLIGHTS_PROJECT": "shop"}


def projections_of_another_version(project: Project) -> None:
    with sqlite3.connect(project.log) as log:
        log.execute("UPDATE projections SET version = 0 WHERE name = 'memory'")


@pytest.mark.parametrize(
    ("plant", "subject", "found", "cure"),
    [
        (another_log, "log", "another log, at ", "admin export --all"),
        (projections_of_another_version, "projections", "memory is of another", "rebuild memory"),
    ],
)
def test_what_is_worth_knowing_is_noted(
    house: House, plant: Plant, subject: str, found: str, cure: str
) -> None:
    house.decided()
    noted = [line for line in lines_of(house, 0, **(plant(house) or {})) if line["state"] == "note"]
    assert [line["subject"] for line in noted] == [subject], noted
    assert found in noted[0]["found"]
    assert cure in noted[0]["cure"]


@pytest.mark.parametrize(("plant", "subject", "found", "cure"), PLANTED)
def test_a_trouble_is_named_with_its_cure(
    house: House, plant: Plant, subject: str, found: str, cure: str
) -> None:
    house.decided()
    env = plant(house) or {}
    wrong = [line for line in lines_of(house, 1, **env) if line["state"] == "wrong"]
    assert ", ".join(line["subject"] for line in wrong) == subject, wrong
    assert found in wrong[0]["found"]
    assert cure in wrong[0].get("cure", "") + wrong[0]["found"]


def test_a_sound_installation_is_well_and_stays_as_it_is(house: House) -> None:
    house.decided()
    log, before = house.log.read_bytes(), house.git("status", "--short")
    key = "sk-ant-" + "x" * 30
    lines = lines_of(house, 0, PREFLIGHTS_PROVIDER="anthropic", ANTHROPIC_API_KEY=key)
    assert not [line for line in lines if line["state"] == "wrong"]
    (models,) = (line["found"] for line in lines if line["subject"] == "models")
    assert "ANTHROPIC_API_KEY" in models
    assert key not in str(lines)
    assert (house.log.read_bytes(), house.git("status", "--short")) == (log, before)


def test_projections_that_no_command_has_read_yet_need_no_mending(house: House) -> None:
    house.call("note", "Call Bob tomorrow")
    (line,) = (line for line in lines_of(house, 0) if line["subject"] == "projections")
    assert (line["state"], "not built yet" in line["found"]) == ("ok", True)


@pytest.mark.slow("clocks")
def test_a_git_that_hangs_is_asked_once(house: House, tmp_path: Path) -> None:
    house.decided()
    asked, program = tmp_path / "asked", tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho asked >> '{asked}'\nexec sleep 100\n")
    program.chmod(0o755)
    lines = lines_of(house, 1, PATH=f"{program.parent}:/usr/bin:/bin")
    (wrong,) = (line["found"] for line in lines if line["state"] == "wrong")
    assert "git cannot read" in wrong
    assert asked.read_text() == "asked\n"


@pytest.mark.parametrize(
    ("url", "env"),
    [
        ("postgresql://ada:secret@db.invalid/log", {}),
        ("postgresql:///log?host=db.invalid", {}),
        ("postgresql:///log", {"PGHOST": "db.invalid"}),
    ],
)
def test_a_log_on_a_server_is_not_asked(house: House, url: str, env: dict[str, str]) -> None:
    lines = lines_of(house, 0, PREFLIGHTS_DATABASE_URL=url, **env)
    found = {line["subject"]: line["found"] for line in lines if line["state"] == "note"}
    assert found["log"].endswith("a server is not asked here")
    assert {"project", "records", "session files"} < {*found}
    assert "secret" not in str(lines)


def test_people_read_lines_and_what_has_to_be_mended(house: House) -> None:
    (house.folder / RECORDS).mkdir(parents=True)
    two_records_of_a_number(house)
    done = house.call("doctor")
    assert done.code == 1
    assert "\nMEND  records        ADR-0002 is the number of 2 records" in done.out
    assert "`preflights admin renumber` gives the younger a new number" in done.out
