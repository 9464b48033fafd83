"""The port by which a feature has its sessions compared: it reads, changes, asks and judges them,
and `regress` makes cases, a verdict and reports of the pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

import msgspec

from preflights_es.kernel.events import Event

ChangeKind = Literal["prompt", "model", "parameter"]
Drift = Literal["", "unchanged", "changed", "both"]
"""Which of two sides differ from the recording."""


class PairsAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a run asks for, as it was typed."""

    prompts: tuple[tuple[str, str], ...] = ()
    model: str = ""
    values: tuple[tuple[str, str], ...] = ()
    """Pairs of JSON Pointer and value."""
    from_model: str = ""
    """Of the unchanged side; empty for the recorded one."""
    is_live: bool = False
    is_recorded: bool = False
    """Whether the recording is the unchanged side."""
    sample: int | None = None
    """Pairs, where sessions hold more."""
    resumes: bool = False
    """Whether answers that were paid for are not asked again."""
    calls_max: int | None = None
    margin: float = 0.0
    """The loss that is too small to matter."""
    resuming: str = ""
    """The command that goes on with this run."""


class PairSide(msgspec.Struct, frozen=True, kw_only=True):
    """What one side of a session comes to."""

    agrees: bool | None
    result: str | None
    """Digest of all answers; None where one is missing."""
    differing: dict[str, Any]
    """The answers that differ from the other side's, by the name of their call."""
    calls: int
    tokens: int | None
    cost: float | None
    asked: int = 0
    """Calls of a model that were made for this run."""
    unanswered: int = 0
    failure: str = ""
    """What the first of those said that brought nothing."""


class SessionPair(msgspec.Struct, frozen=True, kw_only=True):
    """A session, or a conversation of it, without and with the change."""

    taken: int
    """Of which session: the place among those that were added, from 0."""
    call: int = 0
    """The first call of the conversation; 0 where the pair is the whole session."""
    unchanged: PairSide
    changed: PairSide
    is_undecided: bool
    """Whether it counts as worse for the bound, since nothing says which answer is right."""
    drift: Drift = ""
    title: str = ""
    """What it is about: the words of its first call that differs."""
    calls_needed: int = 0
    """Calls that were not made, since none or no more may be."""


class PairCounts(msgspec.Struct, frozen=True):
    """Pairs that have one measure as recorded, counted: docs/specs/verdict.md, section 2."""

    worse: int
    """Right as recorded, wrong with the change."""
    better: int
    total: int
    """With both sides."""
    unknown: int = 0
    """Right as recorded, and the change leaves nothing to compare; or undecided."""
    right: int = 0
    """With both sides, and right as recorded."""
    waiting: int = 0
    """Of the unknown, those that a person may still judge."""

    def with_more(self, more: int, *, worse: int) -> PairCounts:
        """As many of the waiting judged, some of them as worse, the others as equally good."""
        return PairCounts(
            self.worse + worse,
            self.better,
            self.total + more,
            self.unknown - more,
            right=self.right + more,
            waiting=self.waiting - more,
        )


def count_pairs(pairs: Iterable[tuple[bool | None, bool | None, bool, bool]]) -> PairCounts:
    """Args:
    pairs: whether either side is right, whether that is undecided, and may still be judged.
    """
    worse = better = total = unknown = right = waiting = 0
    for before, after, is_undecided, waits in pairs:
        if is_undecided:
            unknown += 1
            waiting += waits
        elif before is None or after is None:
            unknown += before is True
        else:
            total += 1
            right += before
            worse += before and not after
            better += after and not before
    return PairCounts(worse, better, total, unknown, right=right, waiting=waiting)


class PairsPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run will ask."""

    pairs: int
    sessions: int
    calls: int
    cost: float | None
    """As the recorded calls would cost today; None where no price is set."""
    is_anew: bool = False
    """Whether --resume found no answer: they go with the verdict."""


class SessionPairs(Protocol):
    """The pairs of one run."""

    changes: tuple[tuple[ChangeKind, str], ...]
    """Each change: its kind, and in words."""

    def take(self, session_id: str, events: Sequence[Event]) -> str:
        """Add a session, or say why it is left out: in the same words for all of a kind."""

    def plan(self) -> PairsPlan:
        """What is asked of the sessions that were added.

        Raises:
            Refused: the change cannot be made in them.
        """

    def judged(self, update: Callable[[int], object]) -> Iterator[SessionPair]:
        """Their pairs: one or more of a session, or none where another state of it has them.

        Args:
            update: takes how many more are done.
        """

    def notes(self) -> tuple[str, ...]:
        """What a reader of the report has to know."""

    def end(self, *, is_decided: bool) -> None:
        """The run is done: with a verdict, what was kept to go on goes."""
