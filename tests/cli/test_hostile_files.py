"""A session file that means harm, against `import`, `replay`, `render` and `audit`.

What a tail does to a session that is held here: `test_consent`. Numbers: `test_foreign`.
"""

from __future__ import annotations

import gzip
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import IntentionDeclared
from preflights_es.features.clarification.domain.values import HeuristicsConfig
from preflights_es.kernel.events import Actor
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from tests.cli.program import Project
from tests.each import each
from tests.fixed import NOON, memory_runner
from tests.store.given import resealed

MB: Final = 1024 * 1024
SESSIONS: Final = 40  # of a megabyte each
LIMITS: Final = "-v 700000"  # KB of address space: the program alone takes 300,000 of it
READING: Final = (
    ("show", "last"),
    ("log", "last"),
    ("why", "last"),
    ("prompt", "last"),
    ("decisions", "--all"),
    ("sessions", "--all"),
    ("usage",),
    ("audit", "trail"),
    ("audit", "verify"),
    ("replay", "last"),
    ("admin", "render", "last", "--check"),
    ("admin", "render", "last", "--stdout"),
    ("admin", "render", "last"),
    ("admin", "renumber", "--check"),
    ("admin", "erase", "last", "--dry-run"),
)


@pytest.fixture
def clone(colleague: Project, house: Project) -> Project:
    """Where the file is taken: an empty log of the same project."""
    return colleague


def events(house: Project, *args: str) -> list[Stored]:
    content = house.call("admin", "export", *(args or ("last",))).out.encode()
    return list(jsonl.stored(content.splitlines(), "here"))


def forged(
    stored: list[Stored], tag: str, change: Callable[[bytes], bytes], project: str = ""
) -> bytes:
    """The same with other payloads of a tag, and a chain that holds."""
    made = [
        replace(one, data=change(one.data) if one.data and tag in one.type else one.data)
        for one in stored
    ]
    return jsonl.encode_event_file(
        resealed([replace(one, project=project or one.project) for one in made])
    )


def borne(clone: Project, *codes: int) -> None:
    """Every command that reads bears what was taken."""
    for words in READING:
        done = clone.call(*words)
        assert done.code in (*codes, 0, 1, 3), (words, done)
        assert done.is_safe(), words


# 1. What events say that is not so ------------------------------------------------------------


def test_a_written_document_that_another_file_is_leaves_that_file_alone(
    house: Project, clone: Project
) -> None:
    house.decided()
    mine = clone.folder / "docs" / "decisions" / "0007-mine.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("# Mine\n")
    path = b"docs/decisions/0007-mine.md"
    content = forged(
        events(house),
        "artifact.",
        lambda data: data.replace(b"docs/decisions/0001-use-oauth-for-authentication.md", path),
    )
    assert path in content
    assert clone.call("admin", "import", "-", stdin=content).code == 0
    for words in (("replay", "last"), ("audit", "verify"), ("sessions",), ("decisions",)):
        assert clone.call(*words).is_safe()
    assert clone.call("replay", "last").code == 1, "the path follows from nothing"
    assert mine.read_text() == "# Mine\n"


@each(
    ("tag", "old", "new"),
    [
        ("category_detected", b'"Authentication"', b'"Nonsense"'),
        ("category_detected", b"clarification.", b"clarification."),
        ("decision_recorded", b'"accepted"', b'"proposed"'),
        ("patch_proposed", b'"Authentication"', b'"Nonsense"'),
        ("patch_proposed", b'"Strategy"', b'"Strategy\\u001b[31m"'),
        ("question_asked", b'"auth_strategy"', b'"change_category"'),
        ("intention_declared", b"Add OAuth login", b"Add \\u202e \\u001b]0;owned\\u0007"),
        ("decision_acknowledged", b'"docs/decisions"', b'"../../etc"'),
        ("artifact.due", b'"docs/decisions/0001-', b'"/etc/'),
        ("artifact.due", b'"madr', b'"../madr'),
    ],
)
def test_what_follows_from_nothing_is_borne_by_every_reader(
    house: Project, clone: Project, tag: str, old: bytes, new: bytes
) -> None:
    house.decided()
    content = forged(events(house), tag, lambda data: data.replace(old, new))
    done = clone.call("admin", "import", "-", stdin=content)
    assert done.code in (0, 4), done
    assert done.is_safe()
    borne(clone, 2, 4)
    assert not (clone.folder.parent / "etc").exists()


def test_a_patch_without_a_category_is_borne_by_every_reader(
    house: Project, clone: Project
) -> None:
    house.decided()
    left = [one for one in events(house) if "category_detected" not in one.type]
    assert clone.call("admin", "import", "-", stdin=forged(left, "", lambda data: data)).code == 0
    borne(clone)


def test_a_session_of_another_project_is_not_written_here(house: Project, clone: Project) -> None:
    house.decided()
    content = forged(events(house), "", lambda data: data, project="../../elsewhere\x1b[31m")
    done = clone.call("admin", "import", "-", stdin=content)
    assert (done.code, done.is_safe()) == (0, True)
    id_ = events(house)[0].session_id
    done = clone.call("admin", "render", id_)
    assert (done.code, done.is_safe()) == (1, True)
    assert not (clone.folder / "docs").exists()
    assert clone.call("sessions", "--any-project").is_safe()


def test_an_id_that_stands_twice_is_refused(house: Project, clone: Project) -> None:
    first = house.decided()["session_id"]
    second = house.started_session()
    id_ = events(house, first)[0].input_id
    two = events(house, second)
    collides = jsonl.encode_event_file(resealed([replace(two[0], input_id=id_), *two[1:]]))
    both = jsonl.encode_event_file(events(house, first)) + collides
    done = clone.call("admin", "import", "-", stdin=both)
    assert done.code == 1
    assert f"an Input of session {second} stands in another session" in done.err
    assert clone.call("admin", "import", "-", stdin=collides).code == 1, (
        "the first one is held here"
    )
    assert clone.call("audit", "verify").code == 0
    session_id = house.decided()["session_id"]
    before = house.call("admin", "export", session_id).out
    content = forged(events(house), "intention", lambda data: data.replace(b"OAuth", b"OAuth2"))
    done = house.call("admin", "import", "-", "--yes", stdin=content)
    assert done.code == 1
    assert f"session {session_id} has diverged: at version 1" in done.err
    assert house.call("admin", "export", session_id).out == before


# 2. What fills the memory ----------------------------------------------------------------------


def written(path: Path, blocks: Iterator[bytes]) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.writelines(blocks)


@pytest.mark.slow("sizes")
@pytest.mark.parametrize("command", ["admin import", "replay"])
def test_a_file_that_unpacks_to_much_is_refused_in_little_memory(
    house: Project, command: str
) -> None:
    for unit in (b"x", b" ", b"\n", b"[", b"{}\n"):
        block = unit * (MB // len(unit))
        written(house.folder / "bomb.jsonl.gz", (block for _ in range(400)))
        done = house.run(*command.split(), "bomb.jsonl.gz", limits=LIMITS)
        assert (done.code, done.out) == (4, ""), (unit, done)
        assert done.err.count("\n") == 1, unit
        assert len(done.err) < 3_000, unit


@pytest.mark.slow("sizes")
def test_a_file_of_many_sessions_is_replayed_one_by_one(house: Project) -> None:
    runner = memory_runner()
    first = IntentionDeclared(
        at=NOON,
        actor=Actor("script"),
        intention="Add a cache".ljust(MB, "x"),
        project="house",
        uid="0" * 12,
        setup=Setup("0.1.0", "clarification/1"),
        heuristics=HeuristicsConfig(),
    )
    workflow = runner.workflow("clarification")
    handle = runner.open(workflow, "house", first, runner.new_id(), runner.new_id()).handle
    stored = runner.store.read(handle.session_id)

    def named(name: str) -> bytes:
        """The same session under another id."""
        return jsonl.encode_event_file(
            resealed([replace(e, session_id=name, input_id=e.input_id and name) for e in stored])
        )

    path = house.folder / "large.jsonl"
    path.write_bytes(b"".join(named(runner.new_id()) for _ in range(SESSIONS)))
    tracemalloc.start()
    try:
        done = house.call("replay", "large.jsonl")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert done.out.count("identical") == SESSIONS
    assert peak < path.stat().st_size / 2


@pytest.mark.slow("sizes")
@pytest.mark.parametrize("command", ["admin import", "replay"])
@pytest.mark.parametrize(
    "payload",
    [
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 1_000_000 + b"]" * 1_000_000,
        b'"' + b"x" * 15 * MB + b'"',
        b"9" * MB,
    ],
    ids=["deep objects", "deep lists", "a long text", "a long number"],
)
def test_a_payload_that_is_deep_or_long_is_refused(
    house: Project, command: str, payload: bytes
) -> None:
    house.started_session()
    content = forged(events(house), "question_asked", lambda _: payload)
    (house.folder / "deep.jsonl").write_bytes(content)
    done = house.run(*command.split(), "deep.jsonl", "--db", "copy.db", limits=LIMITS)
    code = 5 if payload[:1] == b'"' else 4  # the text is JSON: only its class does not take it
    assert (done.code, done.out) == (code, ""), done
    assert done.is_safe()
    assert len(done.err) < 3_000


@each("size", [200_000_000, 4_000_000])
def test_a_checkpoint_that_was_made_to_fill_the_memory_is_refused(
    house: Project, size: int
) -> None:
    with (house.folder / "large.jsonl").open("wb") as file:
        file.write(b'{"checkpoint":1,"project":null,"log":""}' + b"\n" * 1_000_000)
        file.truncate(size)
    done = house.run("audit", "verify", "--against", "large.jsonl", limits=LIMITS)
    assert done.code in (1, 4), done
    assert done.err.count("\n") == 1


def test_a_checkpoint_that_is_a_fifo_is_refused_at_once(house: Project) -> None:
    os.mkfifo(house.folder / "checkpoint.jsonl")
    done = house.call("audit", "verify", "--against", "checkpoint.jsonl")
    assert done.code == 1
    assert "checkpoint.jsonl cannot be read: it is no regular file" in done.err
