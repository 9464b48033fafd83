"""What a line says is what it does: no line is saved by a trick (tests/house/tricks.py)."""

from __future__ import annotations

from pathlib import Path

from tests.house.tricks import find_tricks


def test_no_line_is_saved_by_a_trick() -> None:
    found = find_tricks()
    assert not found, "\n".join(found)


def test_each_trick_is_found(tmp_path: Path) -> None:
    path = tmp_path / "tricks.py"
    path.write_text(
        "def words(*each): ...\n"
        "'a' * (b > 0)\n"
        "['-'] * is_json\n"
        "CHANCE * bool(b)\n"
        "f(*(1, 2), c)\n"
        "[*[1, 2], c]\n"
        "x[: len('2026-11-22')]\n"
        "f(1, 2, 3, 4, 5)\n"
    )
    assert [trick.split(": ")[0] for trick in find_tricks([path])] == [
        f"tricks.py:{line}" for line in range(2, 9)
    ]


def test_what_reads_well_is_no_trick(tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text(
        "def words(*each): ...\n"
        "words(1, 2, 3, 4, 5)\n"
        "select(a, b, c, d, e)\n"
        "f(1, 2, 3, 4, e=5)\n"
        "f(*rest, *[one for one in rest])\n"
        "3 * number\n"
        "len(text)\n"
    )
    assert find_tricks([path]) == []
