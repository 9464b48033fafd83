"""Names can be found: CONTRIBUTING.md, "Names"."""

from __future__ import annotations

from pathlib import Path

from tests.house.names import name_figures

SHARED_MAX = 12  # percent of functions whose name stands in four or more files
ONE_WORD_MAX = 55  # percent of functions
AMBIGUOUS_TYPES_MAX = 40


def test_most_names_stand_in_few_files() -> None:
    found = name_figures()
    assert found["functions_of_shared_names"] <= SHARED_MAX, found
    assert found["functions_of_one_word"] <= ONE_WORD_MAX, found
    assert found["ambiguous_types"] <= AMBIGUOUS_TYPES_MAX, found


def test_a_name_is_shared_from_the_fourth_file_on(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.py" for number in range(4)]
    for number, path in enumerate(files):
        path.write_text(
            f"def {'_' * (number % 2)}read(): ...\n"
            f"def own_{number}(): ...\n"
            "def decide(): ...\n"
            f"class Kept: ...\nclass Own{number}:\n    def read(self): ...\n"
        )
    assert name_figures(files) == {
        "functions_of_shared_names": 50.0,
        "functions_of_one_word": 50.0,
        "ambiguous_types": 1,
    }
    assert name_figures(files[:3])["functions_of_shared_names"] == 0
