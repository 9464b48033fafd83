"""Whatever a clone holds, a command that reads runs, writes, opens and sends nothing because of it.

Each command runs under strace, as a user without privileges, with secrets to steal. Linux only.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import pytest

from tests.clones import hostile
from tests.clones.commands import READS, RECORDS, RUNS, leaves, readings
from tests.clones.ground import Ground
from tests.clones.hostile import Log
from tests.clones.tracing import Traced
from tests.each import each

pytestmark = pytest.mark.needs("strace")

PARTS: Final = 4  # of the list of commands, so that several processes share it


@pytest.fixture(scope="module")
def maker() -> Iterator[Ground]:
    """Where the clone's author works."""
    made = Ground(Path(mkdtemp(prefix="preflights-maker-")))
    yield made
    made.close()


@pytest.fixture(scope="module")
def log(maker: Ground) -> Log:
    """A log that was recorded elsewhere."""
    return hostile.recorded(maker, maker.base / "there")


@pytest.fixture
def ground(maker: Ground) -> Iterator[Ground]:
    """An empty repository among things that must stay as they are."""
    made = Ground(Path(mkdtemp(prefix="preflights-ground-")), maker.cache)
    hostile.repository(made)
    yield made
    made.close()


def named(words: tuple[str, ...], log: Log) -> tuple[str, ...]:
    """The words of a command, with the sessions that they stand for."""
    ids = {"DECIDED": log.decided, "HARMFUL": log.harmful}
    return tuple(ids.get(word, word) for word in words)


def holes_of(ground: Ground, log: Log, part: int, every: bool) -> list[str]:
    """What the commands of one part do and must not do."""
    return [
        hole
        for words in readings(every)[part::PARTS]
        for hole in ground.holes(*named(words, log), runs=RUNS.get(" ".join(words[:2]), ()))
    ]


def test_every_command_is_known_as_one_that_reads_or_one_that_records() -> None:
    known = set(leaves())
    assert known <= {*READS, *RECORDS}, "say in tests/clones/commands.py whether they read"
    assert not set(READS) & RECORDS


@pytest.mark.slow("hostile clones")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_command_that_reads_is_led_astray_by_a_clone(
    ground: Ground, log: Log, part: int
) -> None:
    hostile.work_tree(ground, log)
    ground.own()
    found = holes_of(ground, log, part, every=False)
    assert not found, "\n".join(found)


@pytest.mark.slow("hostile clones")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_command_that_reads_is_led_astray_by_an_archive_with_a_log(
    ground: Ground, log: Log, part: int
) -> None:
    hostile.work_tree(ground, log)
    hostile.archive(ground, log)
    ground.own()
    found = holes_of(ground, log, part, every=True)
    assert not found, "\n".join(found)


# 1. Settings ---------------------------------------------------------------------------------


@pytest.mark.slow("hostile clones")
@pytest.mark.parametrize("part", range(PARTS))
def test_settings_that_lead_elsewhere_are_refused_and_named(
    ground: Ground, log: Log, part: int
) -> None:
    hostile.archive(ground, log)
    found: list[str] = []
    for name, text in list(hostile.refused(ground).items())[part::PARTS]:
        file = ("preflights.toml", "pyproject.toml")[len(found) % 2]
        prefix = "[tool.preflights]\n" if file == "pyproject.toml" else ""
        (ground.clone / file).write_text(f"{prefix}{text}\n")
        ground.own()
        done, holes = ground.watched("sessions", "-v")
        if done and not is_refused(done, name.split()[0]):
            holes.append(f"ends with {done.code}: {done.err!r}")
        found += [f"{file}: {name}: {hole}" for hole in holes]
        (ground.clone / file).unlink()
    assert not found, "\n".join(found)


def is_refused(done: Traced, word: str) -> bool:
    """Whether it is exit code 2 and one line that names what is wrong."""
    return done.code == 2 and done.err.count("\n") == 1 and word in done.err


def _linked(target: str) -> Callable[[Path, Ground], object]:
    return lambda path, ground: path.symlink_to(target.format(home=ground.home, clone=ground.clone))


def _holding(text: str) -> Callable[[Path, Ground], object]:
    """A file that begins as if it held settings."""

    def make(path: Path, ground: Ground) -> None:
        table = "[tool.preflights]\n" if path.name == "pyproject.toml" else "# preflights\n"
        path.write_text(table + text)

    return make


ODD: Final[dict[str, Callable[[Path, Ground], object]]] = {
    "a device": _linked("/dev/zero"),
    "a file of the user": _linked("{home}/.pgpass"),
    "a file outside": _linked("../home/.bashrc"),
    "a link to itself": lambda path, ground: path.symlink_to(path.name),
    "a fifo": lambda path, ground: os.mkfifo(path),
    "a folder": lambda path, ground: path.mkdir(),
    "2 MB": _holding("# x\n" * 500_000),
    "no text": lambda path, ground: path.write_bytes(b"# preflights \xff\xfe\x00"),
    "escapes": _holding(f"actor = {json.dumps(hostile.HARM)}\n"),
    "no TOML": _holding(hostile.HARM),
    "deep TOML": _holding("a = " + "[" * 100_000),
    "a deep key": _holding(".".join("a" * 50_000) + " = 1\n"),
    "a large number": _holding("seed = 1" + "0" * 10_000),
}


@pytest.mark.slow("hostile clones")
@pytest.mark.parametrize("file", ["preflights.toml", "pyproject.toml"])
def test_a_settings_file_that_is_none_is_one_line_and_exit_code_2(
    ground: Ground, file: str
) -> None:
    found: list[str] = []
    for name, make in ODD.items():
        path = ground.clone / file
        make(path, ground)
        ground.own()
        done, holes = ground.watched("sessions")
        if done and not is_refused(done, file):
            holes.append(f"ends with {done.code}: {done.err!r}")
        found += [f"{file} is {name}: {hole}" for hole in holes]
        path.rmdir() if path.is_dir() else path.unlink()
    assert not found, "\n".join(found)


# 2. The folder of git, and the log -----------------------------------------------------------


def _pointed(text: str) -> Callable[[Ground], None]:
    def make(ground: Ground) -> None:
        shutil.rmtree(ground.clone / ".git")
        (ground.clone / ".git").write_text(text.format(other=ground.other, home=ground.home))

    return make


def _chained(ground: Ground) -> None:
    _pointed("gitdir: real\n")(ground)
    (ground.clone / "real").mkdir()
    (ground.clone / "real" / "commondir").write_text(f"{ground.other}/.git\n")


def _odd_chain(target: str) -> Callable[[Ground], None]:
    def make(ground: Ground) -> None:
        _pointed("gitdir: real\n")(ground)
        (ground.clone / "real").mkdir()
        (ground.clone / "real" / "commondir").symlink_to(target)

    return make


def _git_fifo(ground: Ground) -> None:
    shutil.rmtree(ground.clone / ".git")
    os.mkfifo(ground.clone / ".git")


def _git_link(ground: Ground) -> None:
    shutil.rmtree(ground.clone / ".git")
    (ground.clone / ".git").symlink_to(ground.other / ".git")


def _log_folder_link(ground: Ground) -> None:
    (ground.clone / ".git" / "preflights").symlink_to(ground.other / ".git" / "preflights")


def _log_is(target: str, name: str = "log.db") -> Callable[[Ground], None]:
    def make(ground: Ground) -> None:
        folder = ground.clone / ".git" / "preflights"
        folder.mkdir(exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target.format(other=ground.other, home=ground.home))

    return make


def _log_fifo(ground: Ground) -> None:
    (ground.clone / ".git" / "preflights").mkdir()
    os.mkfifo(ground.clone / ".git" / "preflights" / "log.db")


def _git_includes(target: str) -> Callable[[Ground], None]:
    def make(ground: Ground) -> None:
        with (ground.clone / ".git" / "config").open("a") as config:
            config.write(f"[include]\n\tpath = {target}\n")

    return make


GIT: Final[dict[str, Callable[[Ground], None]]] = {
    "a file that points at another repository": _pointed("gitdir: {other}/.git\n"),
    "a file that points at a home": _pointed("gitdir: {home}\n"),
    "a file without an end": _pointed("gitdir: " + "x" * 3_000_000),
    "a chain to another repository": _chained,
    "a chain to a device": _odd_chain("/dev/zero"),
    "a fifo": _git_fifo,
    "a link to another repository": _git_link,
    "a folder whose log is another's": _log_folder_link,
    "a folder with a link to another log": _log_is("{other}/.git/preflights/log.db"),
    "a folder with a link to a file of the user": _log_is("{home}/.bashrc"),
    "a folder with a link to a new file": _log_is("{home}/new.db"),
    "a folder whose log is a device": _log_is("/dev/zero"),
    "a folder whose log is a fifo": _log_fifo,
    "a folder whose settings include a device": _git_includes("/dev/zero"),
}


@pytest.mark.parametrize("name", GIT)
def test_what_git_keeps_in_a_clone_leads_to_no_other_place(ground: Ground, name: str) -> None:
    GIT[name](ground)
    ground.own()
    found = ground.holes("sessions")
    assert not found, "\n".join(found)


@each("name", ["log.db-wal", "log.db-shm", "log.db-journal"])
def test_a_file_beside_the_log_that_is_a_link_leads_to_no_victim(
    ground: Ground, log: Log, name: str
) -> None:
    hostile.archive(ground, log)
    _log_is("{home}/.bashrc", name)(ground)
    ground.own()
    found = ground.holes("sessions")
    assert not found, "\n".join(found)


# 3. Documents that are owed ------------------------------------------------------------------


def _guessed(ground: Ground, owed: Path) -> None:
    owed.parent.mkdir(parents=True)
    hostile.guesses(owed.parent, ground.home / ".bashrc", owed.name)


def _folder_link(ground: Ground, owed: Path) -> None:
    owed.parent.parent.mkdir(parents=True)
    owed.parent.symlink_to(ground.home)


def _into_git(ground: Ground, owed: Path) -> None:
    owed.parent.parent.mkdir(parents=True)
    owed.parent.symlink_to(ground.clone / ".git" / "hooks")


def _target(
    make: Callable[[Path, Ground], object], new: bool = False
) -> Callable[[Ground, Path], None]:
    def placed(ground: Ground, owed: Path) -> None:
        owed.parent.mkdir(parents=True)
        make(owed, ground)
        if new:
            make(owed.with_name(f"{owed.name}.new"), ground)

    return placed


OWED: Final[dict[str, Callable[[Ground, Path], None]]] = {
    "links under guessed names": _guessed,
    "a folder that is a link outside": _folder_link,
    "a folder that is a link into .git": _into_git,
    "a link to a file of the user": _target(_linked("{home}/.bashrc"), new=True),
    "a link to a new file": _target(_linked("{home}/new"), new=True),
    "a link to a device": _target(_linked("/dev/zero"), new=True),
    "a fifo": _target(lambda path, ground: os.mkfifo(path), new=True),
    "a huge file": _target(lambda path, ground: hostile.huge(path), new=True),
}  # fmt: skip


@pytest.mark.slow("hostile clones")
@pytest.mark.parametrize("name", OWED)
def test_a_document_that_a_clone_says_is_owed_reaches_no_victim(
    ground: Ground, log: Log, name: str
) -> None:
    hostile.archive(ground, log)
    OWED[name](ground, ground.clone / log.owed)
    ground.own()
    found = [
        hole
        for words in (("sessions",), ("admin", "render", "last"))
        for hole in ground.holes(*words)
    ]
    assert not found, "\n".join(found)


# 4. Files that a person names ----------------------------------------------------------------


@pytest.mark.slow("hostile clones")
@pytest.mark.parametrize(
    "words",
    [
        ("admin", "export", "--all", "-o", "new.jsonl"),
        ("audit", "checkpoint", "-o", "new.jsonl"),
        ("replay", "DECIDED", "--simulate", "--out", "new.jsonl"),
        ("admin", "db", "backup", "new.jsonl"),
    ],
)
def test_a_new_file_in_a_clone_is_written_there_alone(
    ground: Ground, log: Log, words: tuple[str, ...]
) -> None:
    hostile.archive(ground, log)
    hostile.guesses(ground.clone, ground.home / ".bashrc", "new.jsonl")
    ground.own()
    before = set(os.listdir(ground.clone))
    found = ground.holes(*named(words, log), writes=("",))
    assert not found, "\n".join(found)
    made = set(os.listdir(ground.clone)) - before
    assert "new.jsonl" in made
    assert made <= {"new.jsonl", "docs"}  # the log owes a document
