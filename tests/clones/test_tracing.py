"""The watch itself: it sees what a program does, also through links and in its children."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.clones.tracing import Traced, own, touched_by, traced
from tests.each import each

pytestmark = pytest.mark.needs("strace")


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder that another user reaches."""
    made = Path(mkdtemp(prefix="preflights-watched-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def ran(folder: Path, code: str) -> Traced:
    """A piece of Python under strace."""
    own(folder)
    return traced(Path(sys.executable), ["-IBc", code], cwd=folder, env={"PATH": os.defpath})


def test_what_a_link_or_the_rights_of_the_user_stop_is_seen_by_where_it_lies(ground: Path) -> None:
    (ground / "victim").write_text("mine")
    (ground / "link").symlink_to("victim")
    done = ran(ground, "open('link', 'w').write('yours')")
    assert done.code == 0, done.err
    assert {path for _, path in done.touched.changed} == {str(ground / "victim")}
    (ground / "theirs").mkdir()
    (ground / "theirs").chmod(0o500)
    done = ran(ground, "open('theirs/x', 'w')")
    assert done.code == 1
    assert ("openat", str(ground / "theirs" / "x")) in done.touched.changed
    assert "MemoryError" in ran(ground, "bytearray(600_000_000)").err


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("os.mkdir('x')", "mkdir"),
        ("os.rename('old', 'x')", "rename"),
        ("os.rename('old', 'x', src_dir_fd=os.open('.', 0), dst_dir_fd=os.open('.', 0))", "rename"),
        ("os.unlink('x')", "unlink"),
        ("os.link('old', 'x')", "link"),
        ("os.symlink('/etc', 'x')", "symlink"),
        ("os.chmod('x', 0o600)", "chmod"),
        ("os.truncate('x', 0)", "truncate"),
        ("os.ftruncate(os.open('x', os.O_RDWR), 0)", "ftruncate"),
        ("os.utime('x')", "utime"),
        ("os.mkfifo('x')", "mknod"),
    ],
)
def test_every_way_of_changing_a_folder_is_seen(ground: Path, code: str, call: str) -> None:
    (ground / "old").write_text("old")
    if call not in ("mkdir", "symlink", "link", "mknod"):
        (ground / "x").write_text("x")
    done = ran(ground, f"import os; {code}")
    assert done.code == 0, done.err
    changed = done.touched.changed
    assert any(name.startswith(call) and path == str(ground / "x") for name, path in changed)


@each("late", [False, True])
def test_a_child_stands_where_its_parent_stood_in_either_order(late: bool) -> None:
    heard = "1  <... vfork resumed>) = 2\n"
    lines = [
        '1  execve("/bin/p", ["p"], 0x0 /* 1 var */) = 0\n',
        '1  chdir("/ground/below") = 0\n',
        "1  vfork( <unfinished ...>\n",
        '2  execve("/bin/mkdir", ["mkdir", "z"], 0x0 /* 1 var */ <unfinished ...>\n',
        "2  <... execve resumed>) = 0\n",
        '2  mkdir("z", 0777) = 0\n',
    ]
    lines.insert(len(lines) if late else 4, heard)
    done = touched_by("/bin/p", "/ground", iter(lines))
    assert done.changed == {("mkdir", "/ground/below/z")}


def test_a_file_that_is_read_a_child_and_a_connection_are_seen(ground: Path) -> None:
    (ground / "x").write_text("x")
    done = ran(ground, "open('x').read(); import os; os.path.exists('y')")
    assert str(ground / "x") in done.touched.read
    assert not done.touched.changed
    (ground / "below").mkdir()
    done = ran(ground, "import os; os.chdir('below'); os.system('echo x > y; mkdir z')")
    shell = os.path.realpath("/bin/sh")
    assert shell in {os.path.realpath(path) for path in done.touched.executed}
    changed = {path for _, path in done.touched.changed}
    assert {str(ground / "below" / "y"), str(ground / "below" / "z")} <= changed
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    code = f"import socket; socket.socket().connect_ex(('127.0.0.1', {port}))"
    reached = dict(ran(ground, code).touched.reached)
    assert f"htons({port})" in reached["AF_INET"]
