"""The projections that are kept, and what folds a session for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from preflights_es.kernel.events import Event
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import misplaced
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store.codec import Codec
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    from preflights_es.projections.projection import Projection, ProjectionReader
    from preflights_es.runtime.projector import Projector
    from preflights_es.store.projection_feed import SqlFollowing


def projector(log: SqlFollowing) -> Projector:
    """What keeps the projections of a log."""
    from preflights_es.runtime.projector import Projector

    return Projector(log, projections(), build_projection_reader())


def projected() -> list[str]:
    """Tables of projections, each of which has rows by session."""
    from preflights_es.store.frozen import PROJECTED

    return [*PROJECTED.values()]


def projections() -> tuple[Projection, ...]:
    """All that are kept."""
    from preflights_es.projections.projection import import_projections
    from preflights_es.store.frozen import PROJECTED

    return import_projections(PROJECTED)


def build_projection_reader() -> ProjectionReader:
    """What folds a session for a projection, or for the trail."""
    from preflights_es.projections.projection import ProjectionReader

    codecs: dict[str, Codec] = {}

    def decoder(workflow: Workflow[Any]) -> Callable[[Stored], Event]:
        if workflow.name not in codecs:
            codecs[workflow.name] = Codec(workflow.decider)
        return codecs[workflow.name].decode

    return ProjectionReader(WORKFLOWS, decoder, misplaced)
