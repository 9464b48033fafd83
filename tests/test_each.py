"""A table that one test checks: each row counts, and one that fails is named."""

from __future__ import annotations

import pytest

from tests.each import each


def test_a_row_that_fails_is_named_and_fixtures_are_given() -> None:
    seen = []

    @each(("one", "two"), [(1, 1), (2, 3), (4, 4)])
    def equal(given: str, one: int, two: int) -> None:
        seen.append((given, one))
        assert one == two

    with pytest.raises(AssertionError) as error:
        equal(given="x")
    assert seen == [("x", 1), ("x", 2)]
    assert error.value.__notes__ == ["in the row {'one': 2, 'two': 3}"]


def test_a_table_has_rows() -> None:
    with pytest.raises(AssertionError, match="checks nothing"):
        each("one", ())(lambda one: None)
