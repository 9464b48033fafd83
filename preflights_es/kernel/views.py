"""What every workflow can show of itself; each adds its own fields by a subclass."""

from __future__ import annotations

from typing import Literal

from preflights_es.kernel.artifacts import Written
from preflights_es.kernel.events import Value
from preflights_es.kernel.growing import Growing
from preflights_es.kernel.items import ItemRef
from preflights_es.kernel.observed import Observed

Language = Literal["en", "de"]
"""Of the sentences that a person reads."""

QuestionType = Literal["single_choice", "multi_choice", "free_text"]


class Question(Value, frozen=True):
    """One short question to a person (seed 0, section 4)."""

    id: str
    type: QuestionType
    question: str
    options: tuple[str, ...] = ()
    optional: bool = False


class Behind(Value, frozen=True):
    """What an event says of where a decided value came from."""

    intention: str | None = None
    keyword: str | None = None
    """The word of the intention that named the value."""
    question: Question | None = None
    item: ItemRef | None = None
    """The task that the session clarifies."""
    observed: Observed | None = None
    """Where an agent asked the session's question."""


class Reached(Value, frozen=True, kw_only=True):
    """What a session comes to, and what a person made of it: a regression run compares both."""

    result: object = None
    """What the rules or the model came to, as JSON will have it; None while that is nothing."""
    accepted: object = None
    """What a person accepted, in the same form; None while that is nothing."""
    answers: tuple[tuple[str, str], ...] = ()
    """Pairs of a question's key and the value that was accepted for it."""


class View(Value, frozen=True, kw_only=True):
    """What may be shown of a session, derived from its state and stored nowhere."""

    status: str
    """One word of the workflow's own for where it stands."""
    intention: str
    scope: str = ""
    """What it is for, where that is said beside the intention; empty for the whole project."""
    questions: tuple[Question, ...] = ()
    progress: float = 0.0
    """0.0 to 1.0."""
    written: Written | None = None
    """The document as it was written last."""
    hashes: tuple[str, ...] = ()
    """SHA-256 of every document that was written for the session, in hexadecimal."""
    warnings: tuple[str, ...] = ()
    to_do: str = ""
    """What a person has to do next, in a few words; empty where nothing waits for a person."""
    can_accept: bool = False
    """Whether a person can accept what is proposed."""
    ended: str = ""
    """Why nothing can be answered any more, and what to do instead; empty while it can."""
    origin: str = ""
    """Who asked elsewhere, and what came of it, in a few words; empty where it began here."""


def taken_out(kinds: Growing[str]) -> tuple[str, ...]:
    """The warning about secrets that were not recorded; nothing where there were none."""
    if not kinds:
        return ()
    what = "1 secret was" if len(kinds) == 1 else f"{len(kinds)} secrets were"
    return (f"{what} taken out before recording ({', '.join(dict.fromkeys(kinds))})",)
