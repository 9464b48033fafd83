"""A settings file that is no file, or a huge or odd one, is one line with its name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from preflights_es.kernel.errors import SettingsError
from preflights_es.settings.file import DOTS_MAX, FILE_MAX
from preflights_es.settings.load import load_settings
from preflights_es.settings.places import POINTER_MAX
from tests.each import each
from tests.persons import Person, git_repository


@pytest.fixture
def ada(tmp_path: Path) -> Person:
    """In a repository of a stranger's."""
    return Person(tmp_path)


TEXTS = {
    "large": "# preflights\n" + "#" * FILE_MAX,
    "no UTF-8": "\xff\xfe",
    "nested": f"preflights = {'[' * 100_000}",
    "digits": f"preflights = {'9' * 5_000}",
    "dots": f"preflights{'.a' * 20_000} = 1",
    "headers": f"[preflights{'.a' * 1_300}]\n" + "".join(f"a{n}=1\n" for n in range(9_999)),
}
LINKS = {
    "device": "/dev/zero",
    "circle": "circle.toml",
    "fifo": "fifo",
    "folder": ".git",
    "outside": "../outside.toml",
}


@pytest.mark.parametrize("name", ["preflights.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", TEXTS)
def test_an_odd_text_is_refused_at_once_with_its_name(ada: Person, name: str, kind: str) -> None:
    (ada.folder / name).write_text(TEXTS[kind], "latin-1")
    assert ada.refused().startswith(name)


@pytest.mark.parametrize("name", ["preflights.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", LINKS)
def test_an_odd_link_is_refused_at_once_with_its_name(ada: Person, name: str, kind: str) -> None:
    os.mkfifo(ada.folder / "fifo")
    (ada.folder / "circle.toml").symlink_to("circle.toml")
    (ada.folder.parent / "outside.toml").write_text("tasks = 'x'  # preflights")
    (ada.folder / name).symlink_to(LINKS[kind])
    assert ada.refused().startswith(name)


def test_what_is_no_file_is_refused_at_once_with_its_name(ada: Person) -> None:
    named = {ada.folder / name: name for name in ("preflights.toml", "pyproject.toml")}
    for path, name in {**named, ada.own: str(ada.own)}.items():
        os.mkfifo(path)
        assert ada.refused() == f"{name} cannot be read: it is no regular file"
        path.unlink()
        path.mkdir()
        assert ada.refused() == f"{name} cannot be read: it is no regular file"
        path.rmdir()


def test_no_settings_are_read_through_a_link_of_a_repository(ada: Person) -> None:
    (ada.folder / "etc").mkdir()
    (ada.folder / "etc" / "ours.toml").write_text("tasks = 'work'")
    ada.file.symlink_to("etc/ours.toml")
    assert "no settings are read through one" in ada.refused()
    ada.file.unlink()
    (ada.folder / "pyproject.toml").symlink_to("etc/ours.toml")
    assert ada.loaded().tasks != "work", "another program's settings"
    (ada.folder / "etc" / "ours.toml").write_text("[tool.preflights]\ntasks = 'work'")
    assert "no settings are read through one" in ada.refused()


def test_a_link_of_the_users_own_may_lead_anywhere(ada: Person, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("actor = 'Grace'")
    ada.own.symlink_to(tmp_path / "dotfiles.toml")
    assert ada.loaded().actor_name == "Grace"


def test_a_large_file_of_many_ordinary_lines_is_read(ada: Person) -> None:
    line = 'x = "https://example.org/a.b.c"\n'
    text = "[tool.other]\n" + "".join(f"a{n}{line}" for n in range(20_000)) + "[tool.preflights]\n"
    assert len(text) < FILE_MAX < DOTS_MAX
    (ada.folder / "pyproject.toml").write_text(f"{text}tasks = 'work'\n")
    assert ada.loaded().tasks == "work"


@pytest.mark.parametrize("content", [b"x" * (POINTER_MAX + 1), b"a\0b", b"nowhere", b"", b"\xff"])
def test_a_commondir_that_leads_nowhere_makes_no_repository(
    ada: Person, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "gits").mkdir()
    (tmp_path / "gits" / "commondir").write_bytes(content)
    shutil.rmtree(ada.folder / ".git")
    ada.folder.joinpath(".git").write_text("gitdir: ../gits\n")
    assert str(ada.home) in ada.loaded().database


def test_a_git_file_that_is_too_large_makes_no_repository(ada: Person) -> None:
    shutil.rmtree(ada.folder / ".git")
    ada.folder.joinpath(".git").write_text("gitdir: .\n" + "x" * POINTER_MAX)
    assert str(ada.home) in ada.loaded().database


@each("key", ["seed", "max_tokens", "timeout_s"])
def test_a_number_of_thousands_of_digits_is_one_line(ada: Person, key: str) -> None:
    ada.file.write_text(f"{key} = 0x{'f' * 6_000}\n")
    assert f"line 1: {key}: the number is too large" in ada.refused()


def test_keys_that_nest_deeper_than_python_recurses_are_one_line(ada: Person) -> None:
    ada.file.write_text(f"{'.'.join('a' * 1_200)} = 1\n")
    assert ada.refused() == "preflights.toml: is nested too deeply"
    ada.file.write_text(f"[clarification.categories.{'.'.join('a' * 1_200)}]\n")
    assert ada.refused() == "preflights.toml: is nested too deeply"


@each("end", ["\u2028", "\u2029", "\x85"])
def test_what_ends_a_line_elsewhere_hides_no_dots_of_a_long_key(ada: Person, end: str) -> None:
    """The parser would take minutes."""
    key = ".".join([f'"{end}"'] * 100_000)
    ada.file.write_text(f"{key} = 1\n", "utf-8")
    assert ada.refused() == "preflights.toml: has lines with too many dots: shorten them"


@pytest.mark.parametrize(
    "key", [r'"pro\u006Aect"', r'"\U00000070roject"', r'"project"', "'project'", "project"]
)
def test_a_key_in_any_spelling_is_named_with_its_line(ada: Person, key: str) -> None:
    ada.file.write_text(f"# \u2028 is no line's end in TOML\n{key} = 'shop'\n", "utf-8")
    assert ada.loaded().project == "shop"
    ada.file.write_text(f"# one\n{key} = ' '\n")
    assert ada.refused() == "preflights.toml, line 2: project: is empty"


def test_a_key_of_an_inline_table_is_blamed_on_no_variable(ada: Person) -> None:
    text = "[tool]\n'preflights' = { decisions = '/etc' }\n"
    (ada.folder / "pyproject.toml").write_text(text)
    assert ada.refused().startswith("pyproject.toml, line 2: tool.preflights.decisions: found")


@each("text", [r'"\uD800" = 1', r'"\U00110000" = 1', r'"\x" = 1', r'"\" = 1', r'"\u00" = 1'])
def test_no_text_that_looks_like_a_key_ends_the_search_for_a_line(ada: Person, text: str) -> None:
    ada.file.write_text(f"faults = '''\n{text}\n'''\ntasks = '/etc'\n")
    assert ada.refused().startswith("preflights.toml, line 4: tasks: found '/etc'")


# A folder ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["g\udcff", "bell\x07", "two\nlines", "x" * 220])
@pytest.mark.parametrize("in_git", [True, False])
def test_a_folder_that_cannot_name_a_project_is_named_itself(
    ada: Person, name: str, in_git: bool
) -> None:
    folder = ada.folder.parent / name
    folder.mkdir()
    if in_git:
        git_repository(folder)
    with pytest.raises(SettingsError) as caught:
        load_settings(folder, ada.env())
    said = str(caught.value)
    assert said.startswith("the project is named after its folder, and the name '")
    assert said.endswith(": rename the folder, or set PREFLIGHTS_PROJECT")
    assert said.isprintable()
    assert load_settings(folder, ada.env(PREFLIGHTS_PROJECT="shop")).project == "shop"
    with pytest.raises(SettingsError, match=r"^PREFLIGHTS_PROJECT: is not valid Unicode"):
        load_settings(folder, ada.env(PREFLIGHTS_PROJECT="\udcff"))
