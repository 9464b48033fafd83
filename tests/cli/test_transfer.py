"""`export` and `import`: a session travels whole, or not at all."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from preflights_es.kernel.errors import Refused
from preflights_es.use import archives
from tests.cli.program import Project
from tests.each import each


def exported(house: Project, session: str = "last") -> bytes:
    return house.call("admin", "export", session).out.encode()


@pytest.fixture
def file(house: Project) -> Path:
    """An accepted session of eleven events, in a file."""
    house.decided()
    path = house.folder / "session.jsonl"
    path.write_bytes(exported(house))
    return path


def test_a_session_travels_to_another_database_byte_for_byte(house: Project, file: Path) -> None:
    taken = house.call("admin", "import", "session.jsonl", "--db", "copy.db")
    assert taken.code == 0
    assert taken.out.endswith("(house): 11 new events, version 11\n")
    again = house.call("admin", "import", "session.jsonl", "--db", "copy.db", "--json")
    session_id = json.loads(file.read_bytes().splitlines()[1])["session_id"]
    assert again.json == {
        "format": "import/1",
        "sessions": [{"session_id": session_id, "version": 11, "new_events": 0, "erased": False}],
        "imported": True,
        "changes": [],
        "warnings": [],
    }
    assert (
        house.call("admin", "export", session_id, "--db", "copy.db").out.encode()
        == file.read_bytes()
    )
    assert house.call("replay", session_id, "--db", "copy.db").code == 0


def test_several_sessions_travel_in_one_stream_and_no_file_is_overwritten(house: Project) -> None:
    first, second = house.decided()["session_id"], house.started_session()
    stream = exported(house, first) + b"\n" + exported(house, second)
    taken = house.call("admin", "import", "-", "--db", "copy.db", "--json", stdin=stream)
    assert [s["new_events"] for s in taken.json["sessions"]] == [11, 3]
    assert house.call("replay", "-", stdin=stream).out.count("identical") == 2
    house.started_session()
    done = house.call("admin", "export", "last", "-o", "new.jsonl", "--json")
    content = (house.folder / "new.jsonl").read_bytes()
    assert done.json["events"] == content.count(b"\n") - 1 == 3
    assert content == exported(house)
    assert house.call("admin", "export", "last", "-o", "-").out.encode() == content
    again = house.call("admin", "export", "last", "-o", "new.jsonl")
    assert (again.code, again.err) == (1, "preflights: new.jsonl exists: name a new file\n")
    assert house.call("admin", "export", "last", "-o", "no/such/folder.jsonl").code == 5
    assert house.call("admin", "export", "nosuch").code == 1


def test_a_copy_that_fell_behind_gets_the_rest_and_one_that_diverged_is_refused(
    house: Project,
) -> None:
    house.started_session()
    early = exported(house)
    house.call("admin", "import", "-", "--db", "copy.db", stdin=early)
    house.call("answer", "last", "OAuth")
    extending = ("admin", "import", "-", "--yes", "--db", "copy.db", "--json")
    taken = house.call(*extending, stdin=exported(house))
    assert taken.json["sessions"][0]["new_events"] == 3
    behind = house.call("admin", "import", "-", "--json", stdin=early)
    assert behind.json["sessions"][0]["new_events"] == 0
    house.started_session()
    house.call("admin", "import", "-", "--db", "copy.db", stdin=exported(house))
    house.call("answer", "last", "OAuth")
    house.call("answer", "last", "Magic Link", "--db", "copy.db")
    diverged = house.show()["session_id"]
    other = house.decided("Add another login")["session_id"]
    stream = exported(house, other) + exported(house, diverged)
    house.call("admin", "import", "-", "--db", "copy.db", stdin=stream).refused(
        1, f"session {diverged} has diverged: at version 4", "nothing was imported"
    )
    assert house.call("abandon", other, "--db", "copy.db").code == 1


def changed_payload(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b"OAuth login", b"SAML login.") for line in lines]


def removed(lines: list[bytes]) -> list[bytes]:
    return lines[:5] + lines[6:]


def swapped(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[6], lines[5], *lines[7:]]


def beheaded(lines: list[bytes]) -> list[bytes]:
    return [lines[0], *lines[2:]]


def cut(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[5][:100]]


def changed_actor(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b'"actor_kind":"script"', b'"actor_kind":"user"') for line in lines]


def garbage(_lines: list[bytes]) -> list[bytes]:
    return [b"SQLite format 3\x00\xff\x1b[31m"]


def nothing(_lines: list[bytes]) -> list[bytes]:
    return [b"", b"  "]


def newer(lines: list[bytes]) -> list[bytes]:
    return [b'{"format":2}', *lines[1:]]


def without_format(lines: list[bytes]) -> list[bytes]:
    return lines[1:]


def unknown_workflow(lines: list[bytes]) -> list[bytes]:
    return [
        line.replace(b'"workflow":"clarification"', b'"workflow":"telepathy"') for line in lines
    ]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (changed_payload, "event 1: its payload was changed"),
        (removed, "event 5: missing: the next one is 6"),
        (swapped, "event 5"),
        (beheaded, "event 1: missing"),
        (cut, "line 6"),
        (changed_actor, "event 1: its hash does not follow"),
        (garbage, "line 1"),
        (nothing, "it holds no events"),
        (newer, "written by a newer Preflights (format 2, this version knows 1): upgrade"),
        (without_format, 'line 1: expected the format of the file, {"format":1}'),
        (unknown_workflow, "preflights: "),
    ],
)
def test_what_does_not_verify_is_refused_and_nothing_replayed(
    house: Project, file: Path, damage: Callable[[list[bytes]], list[bytes]], message: str
) -> None:
    file.write_bytes(b"\n".join(damage(file.read_bytes().splitlines())) + b"\n")
    for command in (("admin", "import"), ("replay",)):
        done = house.call(*command, "session.jsonl", "--db", "copy.db")
        assert done.code == 4, done
        assert message in done.err
        assert done.out == ""
        assert done.is_safe()
    assert house.call("sessions", "--json", "--db", "copy.db").json["sessions"] == []


@each("name", ["nosuch.jsonl", "."])
def test_a_file_that_cannot_be_read_is_refused(house: Project, name: str) -> None:
    house.call("admin", "import", name).refused(1, f"{name} cannot be read")


def test_another_projects_session_can_be_looked_at_but_not_superseded(
    house: Project, file: Path
) -> None:
    elsewhere = {"PREFLIGHTS_PROJECT": "elsewhere"}
    house.call("admin", "import", "session.jsonl", "--db", "copy.db", env=elsewhere)
    id_ = json.loads(file.read_bytes().splitlines()[1])["session_id"]
    assert house.call("show", id_, "--db", "copy.db", env=elsewhere).code == 0
    done = house.call(
        *("start", "Add login", "--supersedes", id_, "--db", "copy.db"), env=elsewhere
    )
    assert done.code == 1


@pytest.mark.parametrize("command", ["admin import", "replay"])
def test_a_pipe_of_more_bytes_than_are_copied_is_refused(
    house: Project, file: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    content = file.read_bytes()
    words = (*command.split(), "-", "--db", "copy.db")
    monkeypatch.setattr(archives, "COPY_MAX", len(content) - 1)
    done = house.call(*words, stdin=content)
    found = f"the standard input has more than {len(content) - 1:,} bytes"
    told = (1, "", f"preflights: {found}: save it in a file and name that\n")
    assert (done.code, done.out, done.err) == told
    assert house.call("admin", "export", "--any-project", "--db", "copy.db").out == ""
    monkeypatch.setattr(archives, "COPY_MAX", len(content))
    assert house.call(*words, stdin=content).code == 0


class Pipe(io.RawIOBase):
    """Blocks that are the same piece of memory, so that gigabytes cost nothing."""

    def __init__(self, blocks: int) -> None:
        super().__init__()
        self.left = [bytes(64 * 1024**2)] * blocks

    def read(self, _size: int = -1) -> bytes:
        """The next block; empty at the end."""
        return self.left.pop() if self.left else b""


def test_four_gibibytes_of_a_pipe_are_copied_and_no_more() -> None:
    with Path(os.devnull).open("wb", buffering=0) as nowhere:
        archives._copy(cast("BinaryIO", Pipe(64)), nowhere, "a pipe")
        with pytest.raises(Refused, match="a pipe has more than 4,294,967,296 bytes"):
            archives._copy(cast("BinaryIO", Pipe(65)), nowhere, "a pipe")
