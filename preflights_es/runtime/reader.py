"""Stored events on their way to what they fold to, for workflows whose code is here or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import LogDamaged, SessionFaulted, WorkflowMissing
from preflights_es.kernel.events import Event
from preflights_es.kernel.ports import Store, Stored
from preflights_es.kernel.session import Session, Workflow, known, misplaced, opaque_workflow
from preflights_es.store.chain import erased_before
from preflights_es.store.codec import Codec


class Reader:
    """Reads the events of any workflow."""

    def __init__(self, store: Store, workflows: Mapping[str, Workflow[Any]]) -> None:
        self.store = store
        self.workflows = workflows
        self._codecs: dict[str, Codec] = {}

    def workflow(self, name: str) -> Workflow[Any]:
        """The workflow of that name.

        Raises:
            WorkflowMissing: its code is not here.
        """
        return known(self.workflows, name)

    def workflow_or_opaque(self, name: str) -> Workflow[Any]:
        """The same; where its code is not here, one that shows and decides nothing."""
        try:
            return self.workflow(name)
        except WorkflowMissing as error:
            return opaque_workflow(name, error.why)

    def codec(self, workflow: Workflow[Any]) -> Codec:
        """The codec of a workflow, made once."""
        if workflow.name not in self._codecs:
            self._codecs[workflow.name] = Codec(workflow)
        return self._codecs[workflow.name]

    def folded(
        self,
        workflow: Workflow[Any],
        stored: Sequence[Stored],
        begun: Session[Any] | None = None,
    ) -> Session[Any]:
        """What verified events fold to.

        Args:
            begun: what the first of them fold to, where that is known.

        Raises:
            SessionFaulted: `evolve` raises on one of them.
            LogDamaged: they do not follow the grammar of a log.
        """
        codec = self.codec(workflow)
        session = begun or kernel.begin(workflow)
        if begun is None and (covered := erased_before(stored)):
            # What an erasure covers is gone, and left no trace in the state before it went.
            session = Session(session.state, version=covered - 1)
        for _, after in steps(codec, stored[session.version :], session):
            session = after
        return session


def steps(
    codec: Codec, stored: Iterable[Stored], session: Session[Any]
) -> Iterator[tuple[Event, Session[Any]]]:
    """Each event with what the session folds to then; errors as of `Reader.folded`."""
    for one in stored:
        event = codec.decode(one)
        if found := misplaced(session, event, one):
            raise LogDamaged(f"session {one.session_id}", one.version, found)
        try:
            session = kernel.evolve(codec.workflow, session, event)
        except Exception as error:  # a bug of ours: named with its place, never swallowed
            raise SessionFaulted(one.session_id, one.version, error) from error
        yield event, session
