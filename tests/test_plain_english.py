"""The check of our English finds habits across lines, and leaves code alone."""

from __future__ import annotations

from tests.each import each
from tests.plain_english import found


@each(
    "text",
    [
        "# Whoever reads it",
        "the world\n    # failed",
        'f"{a} is no note "\n    "but of another workflow"',
        "ValueError: the address is none.",
    ],
)
def test_a_habit_is_found_where_it_begins(text: str) -> None:
    (one,) = found("a.py", f"x = 1\n{text}\n")
    assert (one.path, one.line) == ("a.py", 2)
    assert one.better


@each(
    "text", ["if value is None:", "None where there is none.", "it is no longer open, but closed"]
)
def test_code_and_plain_words_pass(text: str) -> None:
    assert not list(found("a.py", text))


def test_names_of_tests_are_read_and_the_user_nobody_passes() -> None:
    assert list(found("a.py", "def test_a_claim_that_nobody_holds() -> None: ..."))
    assert not list(found("a.py", 'USER = "nobody"'))
