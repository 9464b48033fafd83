"""A record without a session, as lists of decisions show it beside them."""

from __future__ import annotations

from pathlib import PurePosixPath

from preflights_es.use.results import Result


class ForeignRow(Result, frozen=True):
    """A record without a session, in a list."""

    path: str
    """Relative to the project's root."""
    number: int | None
    title: str
    status: str
    """`proposed`, `accepted`, `rejected`, `deprecated`, `superseded` or `unknown`."""
    superseded_by: str
    """As the record names it; empty where it names none."""
    date: str
    """ISO 8601; empty where the record names no day."""
    tool: str
    category: str
    """That its title states, by the forms in which an intention states a value; else empty."""
    value: str
    scope: str

    @property
    def is_held(self) -> bool:
        """Whether it is in force, as far as it says."""
        return self.status in ("accepted", "unknown")

    def is_called(self, named: int | str) -> bool:
        """Whether it bears the number, or its file the name, also without folder and ending."""
        path = PurePosixPath(self.path)
        return named in (self.number, self.path, path.name, path.stem)
