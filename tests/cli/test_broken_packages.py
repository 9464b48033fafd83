"""Installed packages whose own files cannot be read hide no other, and end no command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from preflights_es.store import jsonl
from tests.cli.archives import many
from tests.cli.program import Project
from tests.installed import TOY, installed
from tests.markdown import ROOT
from tests.store.given import chain_of, heard, said


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("entry_points.txt", b"[preflights.features]\ntoy = \xff\xfe:X\n"),
        ("entry_points.txt", b"no section\n"),
        ("METADATA", b"\xff\xfe\x00"),
        ("METADATA", None),
    ],
)
def test_a_broken_package_hides_no_other_and_is_named(
    site: Path, house: Project, name: str, content: bytes | None
) -> None:
    installed(site, "toys", {"toy": "toys:FEATURE"}, {"toys/__init__.py": TOY})
    broken = site / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    if content is None:
        (broken / "METADATA").unlink()
    else:
        (broken / name).write_bytes(content)
    many(house.folder / "one.jsonl", 1)
    path = {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    done = house.run("admin", "import", "one.jsonl", env=path)
    assert done.code == 0, done
    assert "Traceback" not in done.err
    assert "a bug of ours" not in done.err
    assert house.run("start", "Add login", env=path).code == 3


def test_a_broken_package_is_one_line_and_its_command_says_why(site: Path, house: Project) -> None:
    broken = site / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "entry_points.txt").write_bytes(b"[preflights.features]\ntoy = \xff\xfe:X\n")
    (house.folder / "one.jsonl").write_bytes(
        jsonl.encode_event_file(chain_of(said("Hi", "i-1"), heard("Hi")))
    )
    done = house.run("admin", "import", "one.jsonl", env={"PYTHONPATH": str(site)})
    assert done.code == 5, "its workflow is not here"
    assert done.err.count("broken-1.0.dist-info cannot be read") == 1
    assert "install it again, or remove that folder" in done.err
    installed(site, "toys", {"toy": "toys:FEATURE"}, {"toys.py": "raise OSError('no toys')"})
    path = {"PYTHONPATH": str(site)}
    done = house.run("toys", "list", env=path)
    assert done.code == 2
    why = "the package toys does not load: OSError: no toys"
    assert done.err.splitlines()[0] == f"warning: the feature toy is left out: {why}"
    assert "No such command 'toys'" in done.err.splitlines()[1]
    assert house.run("sessions", env=path).err == ""
