"""A recorded session as what came in, turn by turn: what a child of it is played from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.events import Event, Input, InputQuarantined, ResponseIgnored
from preflights_es.kernel.lead import Lead, setup_of
from preflights_es.kernel.opaque import known
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Session, Workflow
from preflights_es.runtime.performer import open_completion
from preflights_es.runtime.reader import steps
from preflights_es.store.chain import verified
from preflights_es.store.codec import Codec


class Turn(NamedTuple):
    """An Input, and how the session stood when it came."""

    version: int
    """Of the Input."""
    input: Input
    input_id: str
    decisions: tuple[Event, ...]
    before: Session[Any]
    aside: bool
    """The next Input set it aside: it is not decided."""

    @property
    def is_asking(self) -> bool:
        """Whether a provider was being asked."""
        return open_completion(self.before) is not None

    @property
    def is_late(self) -> bool:
        """Whether it answers a call that was not open any more."""
        return any(isinstance(decision, ResponseIgnored) for decision in self.decisions)

    @property
    def is_provider_s(self) -> bool:
        """Whether it is what came of asking a provider."""
        asked = isinstance(self.input, (CompletionReceived, CompletionFailed))
        return asked and not self.is_late


class Recording(NamedTuple):
    """A whole session."""

    workflow: Workflow[Any]
    stored: tuple[Stored, ...]
    events: tuple[Event, ...]
    turns: tuple[Turn, ...]
    session: Session[Any]
    """As all of it folds."""

    @property
    def lead(self) -> Lead | None:
        """Who leads the session at its end, or led it before a fallback."""
        setup = setup_of(self.events[0])
        first = setup.lead if setup is not None else None
        return self.workflow.lead(self.session.state) or first

    @property
    def session_id(self) -> str:
        """Of the recorded session; a child in memory has the same."""
        return self.stored[0].session_id


def recording(
    workflows: Mapping[str, Workflow[Any]], stored: Sequence[Stored], head: bytes | None = None
) -> Recording:
    """A session, verified and read.

    Raises:
        LogDamaged: it does not verify, or its events follow no grammar.
        LogFromFuture: a newer version wrote it.
        WorkflowMissing: its workflow is not here.
        SessionFaulted: `evolve` raises on it.
    """
    if not stored:
        raise LogDamaged("the session", 0, "it has no events")
    workflow = known(workflows, stored[0].workflow)
    verified(stored, head)
    session = kernel.begin(workflow)
    events: list[Event] = []
    begun: list[tuple[int, Input, Session[Any]]] = []
    for event, after in steps(Codec(workflow), stored, session):
        events.append(event)
        if isinstance(event, Input):
            begun.append((len(events), event, session))
        session = after
    turns = []
    ends = [*(version - 1 for version, _, _ in begun[1:]), len(events)]
    for i, ((version, new, before), end) in enumerate(zip(begun, ends, strict=True)):
        following = begun[i + 1][1] if i + 1 < len(begun) else None
        aside = end == version and isinstance(following, InputQuarantined)
        input_id = stored[version - 1].input_id
        assert input_id is not None, "an Input has an id: its place was checked"
        turns.append(Turn(version, new, input_id, tuple(events[version:end]), before, aside))
    return Recording(workflow, tuple(stored), tuple(events), tuple(turns), session)
