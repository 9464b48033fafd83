"""A question that an agent asked its person somewhere else, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from preflights_es.kernel.events import Value, Whole

Outcome = Literal[
    "answered", "typed", "several", "empty", "timed_out", "denied", "by_hook", "unattended"
]
"""`answered`: an option was chosen; `typed`: the person's own words; `several`: more than one
option; `empty`: an answer without content; `timed_out`: silence until a limit; `denied`: the person
refused the question; `by_hook`: a program answered; `unattended`: no person was there."""

ANSWERED: tuple[Outcome, ...] = ("answered", "typed", "several")
"""The only outcomes in which a person said something."""

Channel = Literal["hook", "transcript", "tool"]
"""How the program learned of it: none of them shows the person. `tool`: the agent says so."""


class Observed(Value, frozen=True, kw_only=True):
    """Where and how a question was asked; stands in the Input that opens its session."""

    channel: Channel
    agent: str
    """`claude-code`, `codex`: as the channel names it."""
    agent_version: str = ""
    """Empty where the channel does not say it."""
    conversation: str = ""
    """The agent's own id of its session."""
    call: str = ""
    """The agent's own id of the question."""
    outcome: Outcome
    asked_at: Whole | None = None
    """In microseconds since 1970 UTC; None where the channel does not say it."""
    answered_at: Whole | None = None
    files: tuple[str, ...] = ()
    """Those that were edited next, relative to the project's root."""


_CAME: Final[Mapping[Outcome, str]] = {
    "answered": "answered there",
    "typed": "answered there in own words",
    "several": "answered there with several options",
    "empty": "left empty",
    "timed_out": "timed out",
    "denied": "refused",
    "by_hook": "answered by a hook",
    "unattended": "no person was there",
}


def call_of(call: str, place: int) -> str:
    """The id of one question of a call that asked several, the first of which is at 0.

    Empty where the agent gives its calls no id.
    """
    return f"{call}/{place + 1}" if call and place else call


def told(one: Observed) -> str:
    """Who asked, and what came of it: `asked by codex, timed out`."""
    return f"asked by {' '.join(filter(None, (one.agent, one.agent_version)))}, {came(one)}"


def came(one: Observed) -> str:
    """What came of the question, in a few words."""
    return _CAME[one.outcome]
