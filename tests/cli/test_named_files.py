"""A file that a person names is read within a limit; a pipe of the shell's is a file, too."""

from __future__ import annotations

import pytest

from preflights_cli.options import FILE_MAX
from tests.cli.program import Project

READING = (("start", "Add login", "--answers-file"), ("note", "--file"))


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_device_a_folder_and_a_huge_file_are_one_line(
    house: Project, words: tuple[str, ...]
) -> None:
    with (house.folder / "huge").open("wb") as file:
        file.truncate(FILE_MAX * 10_000)  # sparse: it takes no room
    for name in ("/dev/zero", "docs", "huge", "missing"):
        (house.folder / "docs").mkdir(exist_ok=True)
        done = house.run(*words, name, limits="-v 2000000")
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done
        assert done.err.startswith(f"preflights: {name} ")
    assert house.call("sessions", "--json").json["sessions"] == []


def test_a_pipe_of_the_shells_may_be_named(house: Project) -> None:
    answers = """preflights start "Add login" --answers-file <(echo '{"auth_strategy": "OAuth"}')"""
    assert house.run(program=("bash", "-c", answers)).code == 3
    note = "preflights note --file <(echo 'Call the dentist') --no-input"
    assert house.run(program=("bash", "-c", note)).code in (0, 3)
    assert house.call("note", "list", "--json").json["items"]
