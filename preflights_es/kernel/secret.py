"""Keys: held without being shown, taken out of what is shown."""

from __future__ import annotations

from typing import Final

MASK: Final = "***"


class Secret:
    """A value that is not printed by accident; only `reveal` returns it.

    `source` names where it came from (an environment variable), so that a message can say which
    key is meant.
    """

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str = "") -> None:
        self._value = value
        self.source = source

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return MASK

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)
