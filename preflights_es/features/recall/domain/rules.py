"""The reference: what is looked for, how hits are ranked (BM25 over words that were counted), and
how a new decision stands to an older one. One small ranking for every store: PostgreSQL's own knows
no rarity, SQLite's stems English alone and keeps deleted words in its file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from math import log
from typing import Any, Final

import msgspec

from preflights_es.features.recall.domain.events import (
    QUERIES_MAX,
    RESULTS_MAX,
    WORDS_MAX,
    FoundDecision,
    MemoryMatch,
)
from preflights_es.kernel.ports import TITLE, VALUE
from preflights_es.kernel.text import late_pattern, one_line
from preflights_es.words.decisions import Evolution
from preflights_es.words.language import (
    EVERYDAY,
    canonical,
    collect_search_words,
    fold_letters,
    split_folded_words,
)

PACKAGE: Final = "preflights_es.features.recall"
STEP: Final = "rewrite"
CONTRACT: Final = "rewrite_query.v1"
"""Name of the step's prompt and of its contract."""
EMPTY: Final = ("other", "add", "introduce", "hinzufuegen", "einfuehren")
"""The category of whatever has none, and verbs that begin any intention: they say nothing."""

# 1. Asking -----------------------------------------------------------------------------------


def rewritten(question: str) -> tuple[str, ...]:
    """The words of a question that count, as one query; none where it has no such word."""
    own = search_words((question,))[:WORDS_MAX]
    return (" ".join(own),) if own else ()


def search_words(queries: Iterable[str]) -> tuple[str, ...]:
    """The words that are looked for, each once."""
    found = [
        word
        for query in queries
        for word in collect_search_words(query)[:WORDS_MAX]
        if word not in EMPTY
    ]
    return tuple(dict.fromkeys(found))[: QUERIES_MAX * WORDS_MAX]


# 2. Answering --------------------------------------------------------------------------------


def best(found: Iterable[FoundDecision]) -> list[FoundDecision]:
    """Decisions that were found: the higher score first, then the newer, then by uid."""
    return sorted(found, key=lambda one: (-one.score, -one.accepted_at, one.uid))


# 3. How a new decision stands to an older one --------------------------------------------------

REPLACING: Final = late_pattern(
    r"(?<!\w)(?:replac\w+|migrat(?:e|es|ed|ing)|migration (?:to|from|of|der|des|von|nach|auf)"
    r"|switch\w*|swap\w*|instead of|mov(?:e|ing) (?:from|off|away)|get(?:ting)? rid of|phas\w+ out"
    r"|\Achang(?:e|ing) (?:the|our)|ersetz\w*|migrier\w*|umstell\w*|umgestellt|umsteigen|umstieg"
    r"|umzieh\w*|umzug|umgezogen|wechsel\w*|gewechselt|aus(?:ge)?tausch\w*|ab(?:ge)?loes\w*"
    r"|loes(?:en|t)\b.*\bab|statt|anstatt|anstelle)(?!\w)"
)
"""Words of an intention that takes the place of something, English and German, folded."""

OPEN: Final = ("description", "decision")
"""Fields of the category Other that are asked without a topic."""


def have_same_stems(one: tuple[frozenset[str], ...], other: tuple[frozenset[str], ...]) -> bool:
    """Whether two scopes say the same: as English or as German, by the stems of their words."""
    return one == other or any(own == others for own, others in zip(one, other, strict=False))


class ComparedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules look at of a decision."""

    category: str
    fields: tuple[tuple[str, str], ...]
    """Pairs of field name and value."""
    intention: str = ""
    uid: str = ""
    number: int | None = None
    """Of its record."""
    scope: tuple[frozenset[str], ...] = ()
    """The stems of what it is for, by language; empty for the whole project."""
    subject: tuple[frozenset[str], ...] = ()
    """The stems of its title without the value; empty where the title is the value."""
    replaced: frozenset[str] = frozenset()
    """What its intention replaces or rules out, by `canonical`."""

    def is_at(self, other: ComparedDecision) -> bool:
        """Whether both have the same scope."""
        return have_same_stems(self.scope, other.scope)

    def is_of(self, other: ComparedDecision) -> bool:
        """Whether both are of one topic; without one, whether their titles have one subject."""
        if self.has_topic or other.has_topic:
            return _is_same_category(self.category, other.category)
        return any(self.subject) and have_same_stems(self.subject, other.subject)

    def replaces(self, other: ComparedDecision) -> bool:
        """Whether its intention replaces or rules out what the other decided, and it does not."""
        was, now = ({canonical(value) for _, value in one.fields} for one in (other, self))
        return not (self.replaced - now).isdisjoint(was)

    @property
    def has_topic(self) -> bool:
        """Whether its category says what it is about: no label beside an open decision does."""
        is_open = bool(self.fields) and _folded_line(self.fields[0][0]) in OPEN
        return not is_open and _folded_line(self.category) not in ("", EMPTY[0])


def judge_evolution(new: ComparedDecision, old: ComparedDecision) -> Evolution:
    """How the new one stands to the old one, which is in force."""
    if new.replaces(old) and (not (old.scope and new.scope) or new.is_at(old)):
        # What is replaced without a scope is replaced wherever it holds.
        return "exception" if new.scope and not old.scope else "update"
    is_about = new.is_of(old)
    if (is_about or _is_same_category(new.category, old.category)) and (
        not old.scope or new.is_at(old)
    ):
        before, after = (_comparable_values(one, keeps_open=is_about) for one in (old, new))
        changed = [name for name in before if after.get(name, before[name]) != before[name]]
        if changed and not new.is_at(old):
            return "exception"
        if changed:
            is_said = REPLACING.search(fold_letters(new.intention))
            former = (value for name, value in old.fields if _folded_line(name) in changed)
            names_it = any(text_holds_value(new.intention, value) for value in former)
            return "update" if is_said or names_it else "contradict"
        if before and before.keys() < after.keys():
            return "extend"
        if before == after and before and new.is_at(old):
            return "same"
    is_other = not _is_same_category(new.category, old.category)
    decides_more = is_other or bool(_comparable_values(new).keys() - _comparable_values(old).keys())
    return "derive" if decides_more and is_named(new.intention, old) else "none"


def is_related(new: ComparedDecision, old: ComparedDecision) -> bool:
    """Whether the two are compared: of one category, or the intention names the older one."""
    is_alike = _is_same_category(new.category, old.category) or new.replaces(old)
    return is_alike or is_named(new.intention, old)


def is_named(intention: str, old: ComparedDecision) -> bool:
    """Whether an intention names a value, the record or the uid of a decision."""
    if any(text_holds_value(intention, value) for _, value in old.fields):
        return True
    text = fold_letters(intention)
    if old.uid and (old.uid.casefold() in text or old.uid[-8:].casefold() in text):
        return True
    numbers = {int(found) for found in _RECORD.findall(text)}
    return old.number is not None and old.number in numbers


_RECORD: Final = late_pattern(r"(?<!\w)adr[- ]?0*([1-9][0-9]{0,8})(?!\w)")


def _comparable_values(one: ComparedDecision, *, keeps_open: bool = False) -> dict[str, str]:
    """By field; without open answers of what has no category, which bear one name for anything.

    Args:
        keeps_open: they stay, where both titles have one subject.
    """
    values = {_folded_line(name): canonical(one_line(value)) for name, value in one.fields}
    if not (one.has_topic or keeps_open):
        for name in OPEN:
            values.pop(name, None)
    return values


def _is_same_category(one: str, other: str) -> bool:
    return _folded_line(one) == _folded_line(other)


def _folded_line(text: str) -> str:
    return fold_letters(one_line(text)).strip()


def text_holds_value(intention: str, value: str) -> bool:
    """Whether a text holds a value as whole words; one that is also a word, as it is written."""
    if _folded_line(value) in EVERYDAY and value not in intention:
        return False
    said, wanted = f" {_spaced(intention)} ", f" {_spaced(value)} "
    return bool(wanted.strip()) and wanted in said


def _spaced(text: str) -> str:
    return " ".join(split_folded_words(text))


WEIGHTS: Final = (0.0, 3.0, 3.0, 4.0, 2.0, 2.0, 2.0, 1.0, 1.5)
"""Of a word by its place, in the order of the places of `projections.memory`."""
MORE: Final = 0.5  # of the logarithm of how often a word stands there: no body outweighs a title
SATURATION: Final = 2.0  # how much it still counts that a word comes again (`k1`)
TRADE: Final = 0.5  # what a word of the trade counts in a body
LENGTH: Final = 0.2  # how much a long decision loses (`b`)
WHOLE: Final = 1.5  # what a decision counts whose heading has all words of a question
SUPERSEDED: Final = 0.7  # what a superseded decision counts
QUALITY: Final = (0.0, 1.0, 1.0, 1.0, 0.8, 0.9, 1.2, 0.6, 0.6)
"""How sure it is by its place that a word is what the decision is about."""
SHARE: Final = 0.5  # of what the words of a question could say, what an answer must have
SURE: Final = 0.61
"""Or this much, where a word of one decision alone says one: more than one of a reason does."""
GUESSED: Final = 0.8  # of a word that stands for another by a part, an error or a synonym
LONGER: Final = 0.5  # of one that counts less than this for another, and only begins like it
UNKNOWN: Final = 0.5  # what a word that no decision has counts of it
BEST: Final = 3  # decisions that are told where any is an answer
POINTS: Final = 100  # of a score of one

Variants = dict[str, float]
"""Words of decisions that stand for one of a question, and how much each counts."""


class Corpus(msgspec.Struct, frozen=True):
    """How much is looked through."""

    documents: int
    words: int


class DecisionPlace(msgspec.Struct, frozen=True):
    """Where a decision stands, and what the order of matches asks of it."""

    session_id: str
    version: int
    accepted_at: int
    superseded_at: int | None
    length: int


class Scored(msgspec.Struct, frozen=True):
    """A decision with what it scores, and how much of the question it answers."""

    uid: str
    score: float
    share: float
    sure: float
    """The same, where a word that a single decision has says one."""
    is_named: bool
    """Whether its heading has a word of the question, or a form of one."""


class VariantHit(msgspec.Struct, frozen=True):
    """A word of a decision that stands for one of the question."""

    word: str
    """Of the question."""
    term: str
    """Of the decision."""
    counts: float
    sure: float
    """How sure it is that the decision is about it."""
    in_heading: bool
    """Whether its title, scope, value or category has it, and not one that only begins so."""


Hits = dict[str, dict[str, VariantHit]]
"""By word of the question and of the decision."""


def may_answer_question(one: Scored) -> bool:
    """Whether a question may be about a decision."""
    return one.share >= SHARE or one.sure >= SURE


def concerns(one: Scored) -> bool:
    """Whether a task may be about a decision: of its many words the decision need have one."""
    return one.is_named or may_answer_question(one)


def ranked(
    rows: Iterable[Mapping[str, Any]],
    wanted: Mapping[str, Variants],
    corpus: Corpus,
    *,
    of_trade: Collection[str] = (),
    enough: Callable[[Scored], bool] = may_answer_question,
    limit: int = RESULTS_MAX,
) -> list[MemoryMatch]:
    """The decisions that have words of a question, the best first.

    Args:
        rows: of the projection `memory`; others than those that match may be among them.
        wanted: by word of the question, what counts as it.
        of_trade: words of the question that most texts say, such as "service".
        enough: which of them count.
    """
    having, places = _gathered(rows, wanted)

    def hits(uid: str) -> Hits:
        found: Hits = {}
        for hit in having[uid]:
            found.setdefault(hit.word, {})[hit.term] = hit
        return found

    every = [*scored(hits, places, tuple(wanted), corpus, of_trade=of_trade)]
    if not any(map(enough, every)):
        return []

    def order(one: Scored) -> tuple[int, int, str]:
        return -round(one.score * POINTS), -places[one.uid].accepted_at, one.uid

    # Where a question has an answer, the best are told, even those that alone would be none.
    best = nsmallest(BEST, every, key=order)
    found = nsmallest(limit, {*best, *filter(enough, every)}, key=order)
    return [
        MemoryMatch(
            session_id=places[one.uid].session_id,
            version=places[one.uid].version,
            uid=one.uid,
            accepted_at=places[one.uid].accepted_at,
            score=round(one.score * POINTS),
            words=tuple(word for word in wanted if word in of),
            terms=tuple(term for terms in of.values() for term in terms),
        )
        for one in found
        for of in [hits(one.uid)]
    ]


def scored(
    hits: Callable[[str], Hits],
    places: Mapping[str, DecisionPlace],
    words: Sequence[str],
    corpus: Corpus,
    *,
    of_trade: Collection[str],
) -> Iterator[Scored]:
    """What each decision scores, in no order."""
    total = max(corpus.documents, len(places), 1)
    average = max(corpus.words / max(corpus.documents, 1), 1)
    having = Counter(word for uid in places for word in hits(uid))
    rare = {word: rarity(having[word], total) for word in words}
    could = sum(one if having[word] else UNKNOWN * one for word, one in rare.items()) or 1.0
    most = rarity(1, total)
    for uid, place in places.items():
        longer = max(1.0, 1 - LENGTH + LENGTH * place.length / average)
        score = known = 0.0
        headed = 0
        for word, terms in hits(uid).items():
            of_word = terms.values()
            in_heading = any(hit.in_heading for hit in of_word)
            headed += in_heading
            norm = SATURATION if in_heading else SATURATION * longer
            says = rare[word] if in_heading or word not in of_trade else rare[word] * TRADE
            count = max([hit.counts for hit in of_word])
            score += says * count * (SATURATION + 1) / (count + norm)
            known += rare[word] * max([hit.sure for hit in of_word])
        score *= WHOLE if headed == len(having) else 1.0
        score *= 1.0 if place.superseded_at is None else SUPERSEDED
        yield Scored(uid, score, known / could, known / most, is_named=headed > 0)


def rarity(having: int, total: int) -> float:
    """How much a word says that some of all decisions have."""
    return log(1 + (total - having + 0.5) / (having + 0.5))


def _gathered(
    rows: Iterable[Mapping[str, Any]], wanted: Mapping[str, Variants]
) -> tuple[dict[str, tuple[VariantHit, ...]], dict[str, DecisionPlace]]:
    """By uid: a decision's words, and where it stands."""
    of_term: dict[str, list[tuple[str, float]]] = {}
    for word, variants in wanted.items():
        for term, factor in variants.items():
            of_term.setdefault(term, []).append((word, factor))
    having: dict[str, tuple[VariantHit, ...]] = {}
    same: dict[VariantHit, VariantHit] = {}  # many decisions have the same: each is held once
    places: dict[str, DecisionPlace] = {}
    for row in rows:
        term, uid = row["term"], row["uid"]
        if term not in of_term:
            continue
        if uid not in places:
            names = ("session_id", "version", "accepted_at", "superseded_at", "length")
            places[uid] = DecisionPlace(*(row[name] for name in names))
        field = row["field"]
        weight = WEIGHTS[field] + MORE * log(row["count"])
        for word, factor in of_term[term]:
            sure = QUALITY[field] * _sureness(factor)
            in_heading = VALUE <= field <= TITLE and factor >= LONGER
            hit = VariantHit(word, term, weight * factor, sure, in_heading=in_heading)
            having[uid] = (*having.get(uid, ()), same.setdefault(hit, hit))
    return having, places


def _sureness(factor: float) -> float:
    """How sure a word is that counts so much for one of the question."""
    if factor == 1.0:
        return 1.0
    return GUESSED if factor >= LONGER else LONGER
