"""The fold that every workflow shares: which Input is undecided, which calls are open, what closed.

`decide` and `evolve` of a workflow stand inside these two, which keep the grammar of the log and
answer what belongs to no workflow: abandoning, quarantine, and outcomes that come too late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic

import msgspec
from msgspec.structs import force_setattr

from preflights_es.kernel.errors import WorkflowBug
from preflights_es.kernel.events import (
    Actor,
    ArtifactDue,
    Decision,
    Event,
    Input,
    InputIgnored,
    InputQuarantined,
    Outcome,
    OutsideRequest,
    ResponseIgnored,
    S,
    SessionAbandoned,
    SessionClosed,
    SessionErased,
)
from preflights_es.kernel.json import decoder
from preflights_es.kernel.ports import Stored

Upcaster = tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]
"""The tag of the newer version, and the function from an old payload to a new one."""

KERNEL_INPUTS = (SessionAbandoned, InputQuarantined)


class Decider(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """The rules of a workflow: what follows from an Input, and what an event changes."""

    name: str
    version: str = ""
    """Of the rules, `name/N`; recorded with every batch. The first where it is empty."""
    events: tuple[type[Event], ...]
    """All it may record or read besides the kernel's own."""
    initial: S
    decide: Callable[[S, Input], tuple[Decision, ...]]
    """Total and never empty."""
    evolve: Callable[[S, Event], S]
    """Never fails."""
    is_terminal: Callable[[S], bool] | None = None
    """Whether nothing more is decided; None where the view says it, by `ended`."""
    abandoned: Callable[[S, SessionAbandoned], tuple[ArtifactDue, ...]] = lambda _state, _new: ()
    """The documents that a session still owes once it is abandoned; without any the Input reaches
    no workflow."""
    upcasters: dict[str, Upcaster] = {}

    def __post_init__(self) -> None:
        if not self.version:
            force_setattr(self, "version", f"{self.name}/1")


class Session(msgspec.Struct, Generic[S], frozen=True, gc=False):
    """What a log folds to; nothing in it can refer back to it."""

    state: S
    version: int = 0
    """Number of events folded."""
    calls: tuple[OutsideRequest, ...] = ()
    """Open requests, oldest first."""
    undecided: Input | None = None
    """The last Input, while no Decision follows it; not yet part of `state`."""
    closed: str = ""
    """`abandoned`, `erased`, or empty."""


def begin(decider: Decider[S]) -> Session[S]:
    """A session without events."""
    return Session(state=decider.initial)


def decide(decider: Decider[S], session: Session[S], new: Input) -> tuple[Decision, ...]:
    """The Decisions that follow from an Input; at least one, for any Input in any session."""
    if isinstance(new, InputQuarantined) and session.undecided is None:
        return (InputIgnored(reason="not_undecided"),)
    if isinstance(new, SessionErased):
        return (SessionClosed(status="erased"),)
    if isinstance(new, KERNEL_INPUTS) and session.closed != "erased":
        closed = SessionClosed(status="abandoned")
        if session.closed or isinstance(new, InputQuarantined):
            return (closed,)
        return (*decider.abandoned(session.state, new), closed)
    if isinstance(new, Outcome) and not any(
        _is_answer_to_call(new, call) for call in session.calls
    ):
        return (ResponseIgnored(call=new.call, reason="closed" if session.closed else "not_open"),)
    if session.closed and not isinstance(new, Outcome):
        return (InputIgnored(reason="closed"),)
    given: Any = decider.decide(session.state, new)  # the code of others keeps no promise
    is_tuple = isinstance(given, tuple) and given
    if not (is_tuple and all(isinstance(one, Decision) for one in given)):
        raise _no_decisions(decider, new, given)
    decisions: tuple[Decision, ...] = given
    return decisions


def _no_decisions(decider: Decider[Any], new: Input, given: object) -> WorkflowBug:
    all_given = given if isinstance(given, tuple) else (given,)
    what = ", ".join(type(one).__name__ for one in all_given) or "nothing"
    message = f"{decider.name}.decide answered {new.tag} with {what}"
    return WorkflowBug(f"{message}, expected a tuple of Decisions", decider.decide)


def _is_answer_to_call(outcome: Outcome, call: OutsideRequest) -> bool:
    return call.call == outcome.call and isinstance(call, outcome.answers)


def evolve(decider: Decider[S], session: Session[S], event: Event) -> Session[S]:
    """The session after one more event.

    An Input becomes part of the state with its first Decision, so that one which is quarantined,
    ignored or still undecided leaves no trace there.
    """
    return _AFTER[type(event)](decider, session, event)


def _evolve_after_input(_: Decider[S], session: Session[S], new: Input) -> Session[S]:
    version = session.version + 1
    assert session.undecided is None or isinstance(new, InputQuarantined), (
        f"event {version} follows an undecided Input"
    )
    return Session(session.state, version, session.calls, new, closed=session.closed)


def _after_erasure(decider: Decider[S], session: Session[S], new: SessionErased) -> Session[S]:
    return Session(
        decider.initial, session.version + 1, calls=(), undecided=new, closed=session.closed
    )


def _after_closing(_: Decider[S], session: Session[S], event: SessionClosed) -> Session[S]:
    """The calls are closed as well, but for documents where the closing asked for one."""
    is_owed = session.undecided is None
    calls = tuple(call for call in session.calls if is_owed and isinstance(call, ArtifactDue))
    return Session(session.state, session.version + 1, calls, undecided=None, closed=event.status)


def _after_ignoring(_: Decider[S], session: Session[S], __: Decision) -> Session[S]:
    return Session(
        session.state, session.version + 1, session.calls, undecided=None, closed=session.closed
    )


def _after_decision(decider: Decider[S], session: Session[S], event: Decision) -> Session[S]:
    state, calls, before = session.state, session.calls, session.undecided
    if before is not None:
        state = decider.evolve(state, before)
        if calls and isinstance(before, Outcome):
            calls = tuple(call for call in calls if not _is_answer_to_call(before, call))
    state = decider.evolve(state, event)
    return Session(state, session.version + 1, calls, undecided=None, closed=session.closed)


def _after_request(decider: Decider[S], session: Session[S], event: OutsideRequest) -> Session[S]:
    after = _after_decision(decider, session, event)
    return Session(
        after.state, after.version, (*after.calls, event), undecided=None, closed=after.closed
    )


After = Callable[[Decider[Any], Session[Any], Any], Session[Any]]


class _Dispatch(dict[type[Event], After]):
    """By class: a fold of a million events finds out once which each is."""

    def __missing__(self, kind: type[Event]) -> After:
        after: After = _after_decision
        if issubclass(kind, SessionErased):
            after = _after_erasure
        elif issubclass(kind, Input):
            after = _evolve_after_input
        elif issubclass(kind, OutsideRequest):
            after = _after_request
        self[kind] = after
        return after


_AFTER: Final = _Dispatch(
    {SessionClosed: _after_closing, ResponseIgnored: _after_ignoring, InputIgnored: _after_ignoring}
)
"""The kernel's own Decisions reach no decider."""


def fold(decider: Decider[S], events: Iterable[Event]) -> Session[S]:
    """The session that a whole log folds to."""
    session = begin(decider)
    for event in events:
        session = evolve(decider, session, event)
    return session


SETS_ASIDE: Final = (InputQuarantined, SessionErased)
"""What may follow an Input that is undecided."""


def misplaced(session: Session[Any], event: Event, one: Stored) -> str | None:
    """Why an event cannot stand behind what a session holds; None where it can."""
    input_id = one.input_id
    if "\0" in one.decider or "\0" in one.project or (input_id and "\0" in input_id):
        return "its envelope holds NUL, which PostgreSQL does not take"
    if session.closed == "erased":
        return "it follows an erasure, which nothing can follow"
    if isinstance(event, Input):
        if input_id is None:
            return "an Input without an id"
        if one.actor_kind != event.actor.kind:
            return "its envelope names another actor than its payload"
        if session.undecided is not None and not isinstance(event, SETS_ASIDE):
            return "an Input after one that is undecided"
    elif input_id is not None:
        return "a Decision with the id of an Input"
    elif session.version == 0:
        return "a Decision that follows from no Input"
    return None


class _ActorPayload(msgspec.Struct, frozen=True):
    """What the payload of every Input has."""

    actor: Actor


_acted: Final = decoder(_ActorPayload)


def actor_in(data: bytes | None) -> Actor:
    """Who made an Input, by its payload.

    Raises:
        ValueError, RecursionError: the payload is gone or damaged.
    """
    return _acted(data or b"").actor
