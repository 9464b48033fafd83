"""`memory`: the words by which accepted decisions are found, where they stand, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from preflights_es.kernel.ports import CATEGORY, DOCUMENT, FIELD, TITLE, VALUE, Row
from preflights_es.projections.decisions import accepted_at
from preflights_es.projections.projection import VERSIONS, Projection, Read, database_text
from preflights_es.words.decisions import DecidedPatch, Rationale
from preflights_es.words.language import collect_search_words, count_search_words

INTENTION: Final = 5
OPTION: Final = 6  # the name of one that was turned down
REASON: Final = 7  # also a consequence, and why an option was turned down
ASKED: Final = 8  # a question that was asked for a value, or an option that an actor wrote
TERMS_MAX: Final = 200  # words that are kept of a decision


class MemoryColumns(msgspec.Struct, frozen=True):
    """A word of an accepted decision."""

    session_id: str
    version: int
    term: str
    project: str
    field: int
    """The first of the places where it stands."""
    count: int
    """In all of them."""
    length: int
    """Words of the whole decision, each as often as it stands there."""
    uid: str
    accepted_at: int
    superseded_at: int | None


class Counted(msgspec.Struct, frozen=True):
    """The words of a decision."""

    terms: tuple[tuple[str, int, int], ...]
    """Word, the first of the places where it stands, and how often it stands in all; sorted."""
    length: int


def fold_memory_rows(read: Read) -> tuple[Row, ...]:
    """One a word of each decision that a person accepted."""
    made: list[Row] = []
    for patch in read.patches:
        if (at := accepted_at(patch)) is None:
            continue
        found = counted_words(patch, read.view.intention, _question_texts_behind(read, patch))
        made += (
            (
                read.head.session_id,
                patch.version,
                database_text(term),
                database_text(read.head.project),
                field,
                count,
                found.length,
                database_text(patch.uid),
                at,
                patch.superseded_at,
            )
            for term, field, count in ((DOCUMENT, 0, 0), *found.terms)
        )
    return tuple(made)


def counted_words(patch: DecidedPatch, intention: str, asked: Iterable[str] = ()) -> Counted:
    """The words of a decision with the places where they stand.

    Args:
        asked: questions that were asked for its values, and options that were shown.
    """
    places: Iterable[tuple[int, str]] = (
        *((VALUE, value) for _, value in patch.fields),
        (CATEGORY, patch.category),
        (TITLE, patch.title),
        (TITLE, patch.scope or ""),
        *((FIELD, name) for name, _ in patch.fields),
        (INTENTION, intention),
        *_rationale_texts(patch.rationale),
        *((ASKED, said) for said in asked),
    )
    fields: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for field, said in places:
        of_text = count_search_words(said)
        counts.update(of_text)
        for term in of_text:
            fields.setdefault(term, field)
    category = set(
        collect_search_words(patch.category)
    )  # by it a new decision is compared with this one
    kept = sorted(counts, key=lambda term: (term not in category, fields[term], term))[:TERMS_MAX]
    terms = tuple((term, fields[term], counts[term]) for term in sorted(kept))
    return Counted(terms, counts.total())


def _rationale_texts(rationale: Rationale) -> Iterator[tuple[int, str]]:
    """What was turned down, and what speaks for and against: people ask for these words, too."""
    for one in rationale.alternatives:
        yield OPTION, one.name
        yield REASON, one.why_not
    reasons = (rationale.because, *rationale.consequences)
    yield from ((REASON, one.text) for one in reasons if one)


def _question_texts_behind(read: Read, patch: DecidedPatch) -> Iterator[str]:
    """The question behind each value, and its options where an actor or a model wrote them."""
    for origin in patch.origins[1:]:
        if origin.asked is None:
            continue
        question = read.workflow.filed.behind(read.folded[origin.asked - 1]).question
        if question is not None:
            yield question.question
            yield from () if origin.response is None else question.options


MEMORY: Final = Projection(
    name="memory",
    version=VERSIONS["memory"],
    rows=fold_memory_rows,
    row=MemoryColumns,
    key=3,
    index=("project", "term", "session_id", "superseded_at"),
)
PROJECTION: Final = MEMORY
