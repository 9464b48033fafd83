"""Documents of a pass: whatever lies under a name is read within limits, or refused in one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from preflights_es.features.compiler.domain.events import DOCUMENT_MAX, PASSES, Document, PassBegun
from preflights_es.features.compiler.passes import (
    check_length,
    documents,
    resolve_document_path,
    target_file,
)
from preflights_es.kernel.errors import Refused
from preflights_es.runtime.sanitizing import SECRETS_ALONE
from preflights_es.settings.load import Settings, load_settings
from tests.each import each
from tests.persons import git_repository

ARCHITECTURE = PASSES["architecture"]
"""Reads one document: the constraints."""
CONSTRAINTS = ".preflights/constraints.md"
SECRET = "sk-ant-api03-" + "Zq7Xw2Lk9" * 9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a constraint, beside a folder that is not in it."""
    folder = git_repository(tmp_path / "house")
    (folder / ".git" / "config").write_text("[core]\n")
    (folder / ".preflights").mkdir()
    (folder / CONSTRAINTS).write_text("# Constraints\n\nPython only.\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "constraints.md").write_text("# Not yours\n")
    return folder


def settings(root: Path) -> Settings:
    """Of a repository, without a person's."""
    return load_settings(root, {"GIT_AUTHOR_NAME": "Ada"})


def refusal(root: Path, *use: str) -> str:
    """Why the documents of a pass are refused, in one line."""
    with pytest.raises(Refused) as found:
        documents(settings(root), ARCHITECTURE, use)
    assert "\n" not in str(found.value)
    return str(found.value)


# 1. What is read -----------------------------------------------------------------------------


def test_a_document_has_the_digest_of_its_bytes_and_its_text(root: Path) -> None:
    content = "\ufeff# Constraints\r\n\r\nPython, überall.\r\n".encode()
    (root / CONSTRAINTS).write_bytes(content)
    (one,) = documents(settings(root), ARCHITECTURE)
    assert (one.path, one.sha256) == (CONSTRAINTS, sha256(content).hexdigest())
    recorded = SECRETS_ALONE.cleaned_fields(PassBegun, {"documents": (one,)})["documents"][0]
    assert recorded.text == "# Constraints\n\nPython, überall.\n"


def test_the_secrets_of_a_document_are_taken_out_and_counted(root: Path) -> None:
    (root / CONSTRAINTS).write_text(f"# Keys\n\nUse {SECRET}, and ask Ada.\n")
    found = documents(settings(root), ARCHITECTURE)
    fields = SECRETS_ALONE.cleaned_fields(PassBegun, {"documents": found})
    assert fields["redacted"] == ("key",)
    assert SECRET not in fields["documents"][0].text
    assert fields["documents"][0].sha256 == found[0].sha256
    again = SECRETS_ALONE.cleaned_fields(PassBegun, {"documents": fields["documents"]})
    assert (again["documents"], again["redacted"]) == (fields["documents"], ())


def test_a_setting_says_where_a_document_lies(root: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "limits.md").write_text("# Limits\n")
    (root / "preflights.toml").write_text('[plans]\nconstraints = "docs/limits.md"\n')
    assert [one.path for one in documents(settings(root), ARCHITECTURE)] == ["docs/limits.md"]


def test_a_document_that_the_caller_adds_is_read_once(root: Path) -> None:
    (root / "notes.md").write_text("# Notes\n")
    found = documents(settings(root), ARCHITECTURE, ("notes.md", "./notes.md", CONSTRAINTS))
    assert [one.path for one in found] == [CONSTRAINTS, "notes.md"]


def test_a_link_within_the_repository_is_followed(root: Path) -> None:
    (root / "real.md").write_text("# Real\n")
    (root / "link.md").symlink_to("real.md")
    found = documents(settings(root), ARCHITECTURE, ("link.md",))
    assert (found[1].path, found[1].text) == ("link.md", "# Real\n")


# 2. What is refused --------------------------------------------------------------------------


def _missing(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_text(" \n\u200b\t\n")


def _binary(path: Path) -> None:
    path.write_bytes(b"PNG\0\0\x01")


def _latin(path: Path) -> None:
    path.write_bytes("Größe".encode("latin-1"))


def _large(path: Path) -> None:
    path.write_bytes(b"# Large\n" * (10_000_000 // 8))


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link_outside(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parents[2] / "outside" / "constraints.md")


def _folder_outside(path: Path) -> None:
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(path.parents[2] / "outside")


def _device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _gits_own(path: Path) -> None:
    path.unlink()
    path.symlink_to("../.git/config")


def _program(path: Path) -> None:
    (path.parent / "main.py").write_text("import os\n\n\ndef main() -> None:\n    os._exit(0)\n")
    path.unlink()
    path.symlink_to("main.py")


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (_missing, "does not exist"),
        (_empty, "is empty: write what it should say"),
        (_binary, "holds the control character U+0000 at character 4: remove it"),
        (_latin, "is not UTF-8, at byte 3: save it as UTF-8"),
        (_large, "has 10,000,000 bytes, at most 800,003 are read: split it"),
        (_fifo, "cannot be read: it is no regular file"),
        (_folder, "is a folder: name a file"),
        (_link_outside, "is a link that leads out of the repository"),
        (_folder_outside, "is a link that leads out of the repository"),
        (_device, "is a link that leads out of the repository"),
        (_circle, "cannot be read: its links lead in a circle"),
        (_gits_own, "is a link to what belongs to git"),
        (_program, "is no document: "),
    ],
)
def test_what_is_no_document_is_refused(root: Path, made: Callable[[Path], None], why: str) -> None:
    made(root / CONSTRAINTS)
    assert refusal(root).startswith(f"{CONSTRAINTS} {why}")


def test_a_document_is_measured_after_its_secrets_are_out() -> None:
    long = Document(path="a.md", sha256="0" * 64, text="x" * (DOCUMENT_MAX + 1))
    with pytest.raises(Refused, match=r"a\.md has 200,001 characters, at most 200,000 are read"):
        check_length(long)
    line = f"{SECRET}\n"
    raw = Document(path="a.md", sha256="0" * 64, text=line * (DOCUMENT_MAX // len(line) + 2))
    assert len(raw.text) > DOCUMENT_MAX
    (recorded,) = SECRETS_ALONE.cleaned_fields(PassBegun, {"documents": (raw,)})["documents"]
    check_length(recorded)


@each(
    ("path", "why"),
    [
        ("../outside/constraints.md", "lies outside of the repository"),
        ("docs/../../outside/constraints.md", "lies outside of the repository"),
        ("/etc/passwd", "lies outside of the repository"),
        (".git/config", "belongs to git"),
        ("docs/.GIT/config", "belongs to git"),
        ("", "'' is no path of a file"),
        ("a\nb.md", "is no path of a file"),
        ("a\0b.md", "holds the control character U+0000 at character 2: remove it"),
        ("\udcff.md", "is not valid Unicode"),
        ("a/" * 600, "has 1,200 characters, at most 1,000 are taken"),
        (".", "is a folder: name a file"),
        (".preflights/constraints.md/deeper.md", "does not exist"),
    ],
)
def test_a_path_that_names_no_document_is_refused(root: Path, path: str, why: str) -> None:
    assert why in refusal(root, path)


def test_the_file_of_an_artifact_is_named_by_its_id(root: Path) -> None:
    (root / ".preflights" / "artifacts").mkdir()
    (root / ".preflights" / "artifacts" / "ProjectPlan-1.json").write_text("{}\n")
    why = "is the file of an artifact: name the artifact by its id"
    assert refusal(root, ".preflights/artifacts/ProjectPlan-1.json").endswith(why)


# 3. The target -------------------------------------------------------------------------------


def test_a_target_is_the_source_file_that_is_read_or_has_no_text_yet(root: Path) -> None:
    (root / "main.py").write_text("import os\n")
    (root / "empty.py").write_text("")
    found = target_file(root, "main.py")
    assert found is not None
    assert found.text == "import os\n"
    empty = target_file(root, "empty.py")
    assert empty is not None
    assert empty.text == ""
    assert target_file(root, "src/new.py") is None
    assert target_file(root, ".preflights/constraints.md/new.py") is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".preflights", "is a folder: name a file"),
        ("../outside/constraints.md", "lies outside of the repository"),
        (".git/config", "belongs to git"),
    ],
)
def test_a_target_outside_the_repository_is_refused(root: Path, path: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        target_file(root, resolve_document_path(root, path))
