"""`memory`: the words by which accepted decisions are found, and how much each says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from preflights_es.core.decision_record import Decided
from preflights_es.core.projection_ports import CATEGORY, Row
from preflights_es.core.word_stems import stems
from preflights_es.projections.decisions import accepted_at, patches
from preflights_es.projections.folding import Read
from preflights_es.projections.projection import Projection, text
from preflights_es.projections.versions import MEMORY as VERSION

VALUE: Final = 8  # weight of a word of a decided value
FIELD: Final = 2  # of a field's name
INTENTION: Final = 1  # of the title or the intention
TERMS_MAX: Final = 200  # words that are kept of a decision


class MemoryRow(msgspec.Struct, frozen=True):
    """A word of an accepted decision."""

    session_id: str
    version: int
    term: str
    project: str
    weight: int
    uid: str
    accepted_at: int | None
    superseded_at: int | None


def rows(read: Read) -> tuple[Row, ...]:
    """One a word of each decision that a person accepted; none of any other patch."""
    made: list[Row] = []
    for patch in patches(read):
        if accepted_at(patch) is None:
            continue
        intention = read.workflow.view(read.sessions[-1].state).intention
        made += (
            (
                read.head.session_id,
                patch.version,
                text(term),
                text(read.head.project),
                weight,
                text(patch.uid),
                accepted_at(patch),
                patch.superseded_at,
            )
            for term, weight in weighed(patch, intention)
        )
    return tuple(made)


def weighed(patch: Decided, intention: str) -> tuple[tuple[str, int], ...]:
    """Pairs of a word and its weight: that of the best place where it stands."""
    places: Iterable[tuple[int, str]] = (
        *((VALUE, value) for _, value in patch.fields),
        (CATEGORY, patch.category),
        *((FIELD, name) for name, _ in patch.fields),
        (INTENTION, patch.title),
        (INTENTION, intention),
    )
    found: dict[str, int] = {}
    for weight, said in places:
        for term in stems(said):
            found.setdefault(term, weight)
    heaviest = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return tuple(sorted(heaviest[:TERMS_MAX]))


MEMORY: Final = Projection(
    name="memory",
    version=VERSION,
    rows=rows,
    row=MemoryRow,
    key=3,
    index=("project", "term", "session_id", "superseded_at"),
)
PROJECTION: Final = MEMORY
