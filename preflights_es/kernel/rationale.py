"""Why something is decided: a reason, consequences and alternatives, each with who said it."""

from __future__ import annotations

from typing import Literal

from preflights_es.kernel.events import Value

Speaker = Literal["user", "agent", "script", "model"]


class Alternative(Value, frozen=True):
    """What was not chosen."""

    name: str
    why_not: str = ""
    """Empty where it is not said."""


class Reasons(Value, frozen=True):
    """What one speaker says at once."""

    because: str = ""
    consequences: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    replaces: bool = False
    """Whether it is the whole: what was said before is dropped."""


class Statement(Value, frozen=True):
    """A reason or a consequence."""

    text: str
    by: Speaker


class Rejected(Value, frozen=True):
    """An alternative, and who named it."""

    name: str
    why_not: str
    by: Speaker


def alternative_text(one: Alternative | Rejected) -> str:
    """An alternative in one text."""
    return f"{one.name}: {one.why_not}" if one.why_not else one.name


class Rationale(Value, frozen=True):
    """All that is said so far."""

    because: Statement | None = None
    consequences: tuple[Statement, ...] = ()
    alternatives: tuple[Rejected, ...] = ()

    @property
    def by_model(self) -> bool:
        """Whether a model said any of it."""
        said = (*((self.because,) if self.because else ()), *self.consequences, *self.alternatives)
        return any(one.by == "model" for one in said)
