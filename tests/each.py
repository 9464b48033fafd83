"""A table whose rows one test checks: a report for each row would cost more than its check."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Test = Callable[..., None]


def each(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, in one test; a row that fails is named and ends it."""
    named = (names,) if isinstance(names, str) else names
    table = [
        dict(zip(named, (row,) if isinstance(names, str) else row, strict=True)) for row in rows
    ]
    assert table, "a table without rows checks nothing"

    def of_all(test: Test) -> Test:
        @wraps(test)
        def run(**given: Any) -> None:
            for row in table:
                try:
                    test(**given, **row)
                except BaseException as error:  # whatever ends a row, it is raised on with its row
                    error.add_note(f"in the row {row!r}")
                    raise

        before = inspect.signature(test)
        fixtures = [one for name, one in before.parameters.items() if name not in named]
        run.__signature__ = before.replace(parameters=fixtures)  # type: ignore[attr-defined]  # as pytest reads it
        return run

    return of_all
