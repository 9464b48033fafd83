"""`memory`: the words by which accepted decisions are found, and how much each says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from preflights_es.core.decision_record import Decided
from preflights_es.core.projection_ports import CATEGORY, FIELD, Row
from preflights_es.core.rationale import Rationale, alternative_text
from preflights_es.core.word_stems import stems
from preflights_es.projections.decisions import accepted_at
from preflights_es.projections.folding import Read
from preflights_es.projections.projection import Projection, text
from preflights_es.projections.versions import MEMORY as VERSION

VALUE: Final = 16  # weight of a word of a decided value
INTENTION: Final = 2  # of the title, the intention, a reason, or an option that was not chosen
ASKED: Final = 1  # of a question that was asked for a value, or of an option that was shown
LEARNED: Final = 1  # of a word that the decision does not have, and a model named
MARK: Final = ""
"""The word of one more row of each learning, by which the newest of a decision is known."""
TERMS_MAX: Final = 200  # words that are kept of a decision


class MemoryRow(msgspec.Struct, frozen=True):
    """A word of an accepted decision, or one that is learned for it in another session.

    A learned word has no `accepted_at`. It counts while its decision does.
    """

    session_id: str
    version: int
    term: str
    project: str
    weight: int
    uid: str
    accepted_at: int | None
    superseded_at: int | None


def rows(read: Read) -> tuple[Row, ...]:
    """One a word of each decision that a person accepted, or a word that is learned for one."""
    made: list[Row] = [*_learned(read)]
    for patch in read.patches:
        if accepted_at(patch) is None:
            continue
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
            for term, weight in weighed(patch, read.view.intention, _asked(read, patch))
        )
    return tuple(made)


def _learned(read: Read) -> Iterator[Row]:
    """None of a session that was given up."""
    last = read.sessions[-1] if read.sessions else None
    learned = read.workflow.learned(last.state) if last and not last.closed else None
    if learned is None:
        return
    terms = dict.fromkeys((MARK, *stems(" ".join(learned.words))), LEARNED)
    for term, weight in {**terms, MARK: 0}.items():
        place = (read.head.session_id, read.version, text(term), text(read.head.project))
        yield (*place, weight, text(learned.uid), None, None)


def weighed(
    patch: Decided, intention: str, asked: Iterable[str] = ()
) -> tuple[tuple[str, int], ...]:
    """Pairs of a word and its weight: that of the best place where it stands.

    Args:
        asked: questions that were asked for its values, and options that were shown.
    """
    places: Iterable[tuple[int, str]] = (
        *((VALUE, value) for _, value in patch.fields),
        (CATEGORY, patch.category),
        *((FIELD, name) for name, _ in patch.fields),
        (INTENTION, patch.title),
        (INTENTION, intention),
        *((INTENTION, said) for said in _reasons(patch.rationale)),
        *((ASKED, said) for said in asked),
    )
    found: dict[str, int] = {}
    for weight, said in places:
        for term in stems(said):
            found.setdefault(term, weight)
    category = set(stems(patch.category))  # by it a new decision is compared with this one
    heaviest = sorted(found.items(), key=lambda one: (one[0] not in category, -one[1], one[0]))
    return tuple(sorted(heaviest[:TERMS_MAX]))


def _reasons(rationale: Rationale) -> Iterator[str]:
    """What was turned down, and what speaks for and against: people ask for these words, too."""
    yield from map(alternative_text, rationale.alternatives)
    yield from (one.text for one in (rationale.because, *rationale.consequences) if one)


def _asked(read: Read, patch: Decided) -> Iterator[str]:
    """The question behind each value, and its options; that of the category lists all of them."""
    for origin in patch.origins[1:]:
        if origin.asked is None:
            continue
        question = read.workflow.behind(read.folded[origin.asked - 1]).question
        if question is not None:
            yield question.question
            yield from question.options


MEMORY: Final = Projection(
    name="memory",
    version=VERSION,
    rows=rows,
    row=MemoryRow,
    key=3,
    index=("project", "term", "session_id", "superseded_at"),
)
PROJECTION: Final = MEMORY
