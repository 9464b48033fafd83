"""Folders of transcripts are read whatever lies in them, in little memory."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from preflights_es.features.agents.transcripts.importing import LINE_MAX, found
from preflights_es.features.agents.transcripts.reader import Agent
from preflights_es.kernel.errors import Refused
from tests.features.agents.transcripts.cases import CASES, PG
from tests.features.agents.transcripts.writing import HERE, claude_line, text_of, transcript

ROOT: Final = Path(HERE)
CLAUDE: Final = text_of(transcript(CASES[0]))
CODEX: Final = text_of(transcript(next(case for case in CASES if case.agent == "codex")))
TEXTS: Final[dict[Agent, bytes]] = {"claude": CLAUDE, "codex": CODEX}


def laid(folder: Path, name: str, text: bytes, changed: int = 1) -> Path:
    """A file that was changed at a time."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    os.utime(path, (changed, changed))
    return path


def test_the_agents_own_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("HOME", tmp_path), ("CLAUDE_CONFIG_DIR", ""), ("CODEX_HOME", "relative")):
        monkeypatch.setenv(name, str(value))
    laid(tmp_path, ".claude/projects/-work-shop/c1.jsonl", CLAUDE, 1)
    laid(tmp_path, ".claude/projects/-work-shop-src/c2.jsonl", CLAUDE.replace(b"toolu", b"t"), 2)
    laid(tmp_path, ".claude/projects/-work-shopping/c3.jsonl", CLAUDE.replace(b"toolu", b"u"), 3)
    laid(tmp_path, ".claude/projects/-work-shop/notes.md", b"no transcript")
    laid(tmp_path, ".codex/sessions/2026/11/23/rollout-1.jsonl", CODEX)
    laid(tmp_path, ".codex/archived_sessions/rollout-2.jsonl", CODEX.replace(b"call_", b"c_"))
    findings, unread = found("claude", ROOT)
    assert (len(findings.asked()), findings.tally.files, unread) == (2, 2, [])
    findings, unread = found("codex", ROOT)
    assert (len(findings.asked()), findings.tally.files, unread) == (2, 2, [])


def test_variables_name_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "x"))
    for agent in TEXTS:
        with pytest.raises(Refused, match="no transcripts"):
            found(agent, ROOT)
    laid(tmp_path, "c/projects/-work-shop/c1.jsonl", CLAUDE)
    laid(tmp_path, "x/sessions/r.jsonl", CODEX)
    for agent in TEXTS:
        assert len(found(agent, ROOT)[0].asked()) == 1


def test_a_file_or_a_folder_may_be_named(tmp_path: Path) -> None:
    path = laid(tmp_path, "a/b/c.jsonl", CLAUDE)
    for named in (path, tmp_path, path.parent):
        assert len(found("claude", ROOT, named)[0].asked()) == 1
    (tmp_path / "link").symlink_to(path)
    assert len(found("claude", ROOT, tmp_path / "link")[0].asked()) == 1
    with pytest.raises(Refused, match="does not exist"):
        found("claude", ROOT, tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="no transcripts"):
        found("claude", ROOT, tmp_path / "empty")


def test_no_fifo_link_or_locked_file_stops_the_reading(tmp_path: Path) -> None:
    secret = laid(tmp_path, "outside/secret.jsonl", CLAUDE)
    folder = laid(tmp_path, "in/c.jsonl", CLAUDE.replace(b"toolu", b"t")).parent
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "link.jsonl").symlink_to(secret)
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "away").symlink_to(secret.parent)
    (folder / "folder.jsonl").mkdir()
    findings, unread = found("claude", ROOT, folder)
    assert [one.call for one in findings.asked()] == ["t_1"]
    names = ["fifo.jsonl", "link.jsonl", "loop.jsonl", "zero.jsonl"]
    assert sorted(Path(one.path).name for one in unread) == names
    with pytest.raises(Refused, match="no regular file"):
        found("claude", ROOT, folder / "fifo.jsonl")


def test_a_deep_folder_is_read_down_to_some_depth(tmp_path: Path) -> None:
    laid(tmp_path, "a/" * 12 + "t.jsonl", CLAUDE)
    laid(tmp_path, "a/" * 900 + "t.jsonl", CLAUDE.replace(b"toolu", b"t"))
    findings, _ = found("claude", ROOT, tmp_path)
    assert [one.call for one in findings.asked()] == ["toolu_1"]


def test_the_origin_of_a_fork_is_the_older_file(tmp_path: Path) -> None:
    laid(tmp_path, "a.jsonl", CLAUDE.replace(b'"c1"', b'"fork"'), 2)
    laid(tmp_path, "b.jsonl", CLAUDE, 1)
    findings, _ = found("claude", ROOT, tmp_path)
    assert [one.conversation for one in findings.asked()] == ["c1"]
    assert findings.tally.repeated == 1


def test_lines_may_be_longer_than_is_read(tmp_path: Path) -> None:
    long = text_of([claude_line(1, "user", "x" * 10_000_000)])
    longer = b'{"type":"user","x":"' + b"x" * (LINE_MAX + 3_000_000) + b'"}\n'
    path = laid(tmp_path, "a.jsonl", longer + long + CLAUDE + longer[:-1])
    findings, _ = found("claude", ROOT, path)
    assert [one.answers for one in findings.asked()] == [(PG,)]
    assert (findings.tally.damaged, findings.tally.lines) == (2, 3 + len(CLAUDE.splitlines()))


def test_a_large_transcript_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    """50 MB against 5 MB: a gigabyte takes as much."""
    line = text_of([claude_line(1, "user", "x" * 20_000)])
    peaks = []
    for size in (5_000_000, 50_000_000):
        path = laid(tmp_path, f"{size}.jsonl", CLAUDE + line * (size // len(line)))
        tracemalloc.start()
        findings, _ = found("claude", ROOT, path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(findings.asked()) == 1
        path.unlink()
    assert peaks[1] < 1.2 * peaks[0] + 100_000
    assert peaks[1] < 5_000_000


def test_the_bar_moves_to_its_end(tmp_path: Path) -> None:
    steps: list[int] = []

    @contextmanager
    def drawn(length: int) -> Iterator[object]:
        steps.append(-length)
        yield steps.append

    laid(tmp_path, "a.jsonl", CLAUDE)
    laid(tmp_path, "b.jsonl", (b" " * 999 + b"\n") * 3_000)
    found("claude", ROOT, tmp_path, drawn)  # type: ignore[arg-type]  # a list's method is an update
    assert sum(steps) == 0
    assert len(steps) > 3
