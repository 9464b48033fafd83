"""What CI is told to install: where the running program came from, without a secret."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from preflights_es.kernel import __version__
from preflights_es.use.installed_source import command_with, install_command, source_said, tried
from tests.each import each

COMMIT = "0123456789abcdef0123456789abcdef01234567"
VCS = {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"}
RELEASED = f"preflights-es=={__version__}"
BACKEND = """
from pathlib import Path
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = Path(folder, "preflights_es-9.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: preflights-es\\nVersion: 9\\n")
    return info.name
def build_wheel(*_): raise NotImplementedError
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@each(
    ("said", "expected"),
    [
        (
            {"url": "https://host.example/a/b.git", "vcs_info": VCS},
            f"preflights-es @ git+https://host.example/a/b.git@{COMMIT}",
        ),
        (
            {"url": "https://ada:ghp_secret@host.example/b.git?token=secret", "vcs_info": VCS},
            f"preflights-es @ git+https://host.example/b.git@{COMMIT}",
        ),
        (
            {"url": "ssh://git@host.example/b.git", "vcs_info": VCS, "subdirectory": "sub"},
            f"preflights-es @ git+ssh://git@host.example/b.git@{COMMIT}#subdirectory=sub",
        ),
        (
            {"url": "https://host.example/preflights_es-1.whl", "archive_info": {}},
            "preflights-es @ https://host.example/preflights_es-1.whl",
        ),
    ],
)
def test_a_repository_and_commit_are_named_without_a_secret(said: Any, expected: str) -> None:
    assert source_said(json.dumps(said)) == (expected, "")


CLONE = {"url": "file:///home/ada/my%20clone", "dir_info": {}}
PIP = f"{sys.executable} -m pip install"


@each(
    ("marker", "said", "expected"),
    [
        ("uv-receipt.toml", CLONE, "uv tool install '/home/ada/my clone[mcp,view]'"),
        ("pipx_metadata.json", CLONE, "pipx install --force '/home/ada/my clone[mcp,view]'"),
        ("", CLONE, f"{PIP} '/home/ada/my clone[mcp,view]'"),
        (
            "",
            {"url": "file:///clone", "dir_info": {"editable": True}},
            f"{PIP} -e '/clone[mcp,view]'",
        ),
        (
            "uv-receipt.toml",
            {"url": "https://host.example/b.git", "vcs_info": VCS},
            f"uv tool install 'preflights-es[mcp,view] @ git+https://host.example/b.git@{COMMIT}'",
        ),
        ("pipx_metadata.json", None, "pipx install --force 'preflights-es[mcp,view]'"),
        ("", "no object", f"{PIP} 'preflights-es[mcp,view]'"),
    ],
)
def test_an_extra_is_installed_as_the_program_was_beside_the_others(
    tmp_path: Path, marker: str, said: Any, expected: str
) -> None:
    prefix = tmp_path / f"made-by-{marker}"
    prefix.mkdir(exist_ok=True)
    (prefix / (marker or "pyvenv.cfg")).touch()
    found = None if said is None else json.dumps(said)
    assert install_command(found, ("view", "mcp"), prefix) == expected


def test_the_extras_that_are_there_are_kept() -> None:
    kept = command_with("new").partition("[")[2].partition("]")[0].split(",")
    assert kept == ["distributed", "mcp", "metrics", "new", "postgres", "record", "view"]


def test_an_index_is_named_by_its_version() -> None:
    assert source_said(None) == (RELEASED, "")


@each(
    "said",
    [
        '{"url": "file:///home/ada/clone", "dir_info": {"editable": true}}',
        '{"url": "https://host.example/$(id)", "archive_info": {}}',
        *("", "[]", "{}", '{"url": 1}', '{"url": "https://[", "vcs_info": {}}'),
    ],
)
def test_what_ci_cannot_have_is_said(said: str) -> None:
    requirement, trouble = source_said(said)
    assert requirement == RELEASED
    assert trouble


@pytest.mark.slow("whole runs")
def test_a_source_is_tried(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "backend.py").write_text(BACKEND)
    ada = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("add", "."), (*ada, "commit", "-qm", "begin")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert tried(f"preflights-es @ git+file://localhost{tmp_path}") == ""
    assert "does not find" in tried(f"preflights-es @ git+file://localhost{tmp_path}@{COMMIT}")
    assert "does not find" in tried(f"preflights-es @ git+file://localhost{tmp_path}/nowhere")
