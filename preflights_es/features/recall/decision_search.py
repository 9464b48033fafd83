"""Looks the words of a question up: who has them or their forms, and whether a decision speaks of
the subject of a text. Decisions of the log and records of other tools are one collection.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, islice, zip_longest
from operator import itemgetter
from typing import Any, Final

import msgspec

from preflights_es.features.clarification.domain.events import TopicsFound
from preflights_es.features.clarification.domain.pack import load_pack
from preflights_es.features.clarification.domain.topics import lexicon, topic_named, words_of
from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.events import RESULTS_MAX, MemoryMatch
from preflights_es.features.recall.domain.rules import (
    Corpus,
    Scored,
    Variants,
    concerns,
    may_answer_question,
    ranked,
)
from preflights_es.features.recall.word_variants import (
    BEGIN,
    PART,
    PART_MIN,
    SAME,
    english_stem,
    find_variants,
    is_form,
    stems,
    synonyms,
    widened_by,
)
from preflights_es.kernel.errors import ArtifactOutside, PreflightsError
from preflights_es.kernel.events import INT_MAX, SourceSession
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import CATEGORY, TERMS_MAX, TITLE, VALUE
from preflights_es.kernel.text import late_pattern, own_file
from preflights_es.projections.decisions import DECISIONS, decode_patch_row
from preflights_es.projections.memory import OPTION, REASON
from preflights_es.records.record_list import RecordIndex
from preflights_es.store.sql_projections import SqlComparing
from preflights_es.system.files import Unreadable
from preflights_es.use.foreign import ForeignRow, with_words
from preflights_es.use.process import FileLog, Process
from preflights_es.use.request import Request
from preflights_es.words.decisions import DecidedPatch
from preflights_es.words.language import (
    GENERIC,
    also_called,
    canonical,
    collect_search_words,
    fold_letters,
    language_of,
    read_small_words,
)

WORDS_READ: Final = 50_000  # words of decisions that are looked at for one that is unknown
NEAR_MAX: Final = 50  # decisions that may be near a task
MATCHES_MAX: Final = 10_000  # decisions of a search, of which a list tells the best
NAMING_MAX: Final = 200  # decisions that are looked at for a value
LAST: Final = "\U0010ffff"  # behind every word
ENDING: Final = ".jsonl"  # of a session file
_TOPICS: Final = ""  # stands for those of a text among its words


class DecisionOrRecord(msgspec.Struct, frozen=True):
    """A decision, or a record of another tool."""

    of: DecidedPatch | ForeignRow
    session_id: str = ""
    """Empty of a record."""
    chosen: str = ""
    """What a record says was chosen."""

    @property
    def name(self) -> str:
        """Its uid; of a record its path."""
        return self.of.uid

    @property
    def titled(self) -> Titled:
        """What it is compared by."""
        one = self.of
        values = tuple(value for _, value in one.fields)
        if isinstance(one, ForeignRow):
            return Titled(one.title, values, one.scope, one.category, chosen=self.chosen)
        return Titled(one.title, values, one.scope or "", one.category)


class RecordRows:
    """Records of other tools, as rows like those of `memory`; their uid is their path."""

    def __init__(self, process: Process) -> None:
        self.of: dict[str, ForeignRow] = {}
        self.chosen: dict[str, str] = {}
        self._places: dict[int, ForeignRow] = {}
        self._lengths: tuple[int, ...] = ()
        self._hits: dict[str, msgspec.Raw] = {}
        try:
            self._places, found = with_words(process)
        except ArtifactOutside:
            return  # what writes there says so
        self.of = {row.path: row for row in self._places.values()}
        if self.of:
            self._lengths, self._hits = found.index.lengths, found.index.words()
            self.chosen = {row.path: found.records[at].chosen for at, row in self._places.items()}

    @property
    def length(self) -> int:
        """Words of all records together."""
        return sum(self._lengths[place] for place in self._places)

    @cached_property
    def _of_category(self) -> dict[str, list[int]]:
        """By word of a category: the places of the records whose titles state it."""
        found: dict[str, list[int]] = {}
        for place, row in self._places.items():
            for word in collect_search_words(row.category):
                found.setdefault(word, []).append(place)
        return found

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._hits.keys() | self._of_category.keys())

    def words(self, first: str, last: str) -> list[str]:
        """The distinct words from one up to before another."""
        there = self._sorted
        return there[bisect_left(there, first) : bisect_left(there, last)]

    def rows(self, terms: Iterable[str]) -> Iterator[dict[str, Any]]:
        """One for each record that has one of some words."""
        for term in terms:
            said = RecordIndex.hits(self._hits[term]) if term in self._hits else ()
            hits = {hit.record: hit for hit in said}
            topical = self._of_category.get(term, ())
            for place in (hits | dict.fromkeys(topical)).keys() & self._places.keys():
                record, hit = self._places[place], hits.get(place)
                in_title = hit is not None and hit.in_title
                yield {
                    "session_id": "",
                    "version": 0,
                    "term": term,
                    "field": TITLE if in_title else CATEGORY if place in topical else REASON,
                    "count": hit.times if hit else 1,
                    "length": self._lengths[place],
                    "uid": record.path,
                    "accepted_at": 0,
                    "superseded_at": None if record.is_held else 0,
                }


def records_beside(process: Process) -> RecordRows | None:
    """The records that are looked through with a log; none with session files alone."""
    return None if isinstance(process, FileLog) else RecordRows(process)


class MemorySearch:
    """The memory of one log, and records beside it, as they are when the search begins."""

    def __init__(self, process: Process, records: RecordRows | None) -> None:
        """Args:
        records: of other tools, which are looked through too.
        """
        process.projector.caught_up()
        self.process = process
        self._log = SqlComparing(process.store)
        self.records = records

    def matches(
        self,
        words: Sequence[str],
        enough: Callable[[Scored], bool] = may_answer_question,
        limit: int = RESULTS_MAX,
    ) -> list[MemoryMatch]:
        """The best first; synonyms are looked for where the words themselves find nothing."""
        if not words:
            return []
        means = enough is not concerns
        wanted = {word: self._variants(word, means=means) for word in words}
        found = self._ranked(wanted, enough, limit)
        if found:
            return found
        widened = {word: widened_by(synonyms(word), self._near) | of for word, of in wanted.items()}
        return self._ranked(widened, enough, limit)

    def sharing(self, subject: Subject, limit: int) -> Iterator[DecisionOrRecord]:
        """The decisions in force that have a word of a subject or of its topics, the best first."""
        wanted = {
            word: {term: counts for term, counts in self._variants(word).items() if counts >= PART}
            for word in subject.words
        }
        wanted[_TOPICS] = dict.fromkeys(subject.called(), SAME)
        for match in self._ranked(wanted, lambda _: True, limit):
            if one := self._in_force(match.uid, match.session_id):
                yield one

    def naming(self, value: str) -> Iterator[DecisionOrRecord]:
        """The decisions in force with a word of a value in what they chose, say or turned down.

        The newest first, at most `NAMING_MAX`.
        """
        terms = {
            name for word in collect_search_words(value) for name in (word, *also_called(word))
        }
        rows = [
            row
            for row in self._rows(tuple(terms))
            if row["superseded_at"] is None and VALUE <= row["field"] <= OPTION
        ]
        rows.sort(key=itemgetter("accepted_at"), reverse=True)
        sessions = {row["uid"]: row["session_id"] for row in rows}
        for uid, session_id in islice(sessions.items(), NAMING_MAX):
            if one := self._in_force(uid, session_id):
                yield one

    def _in_force(self, uid: str, session_id: str) -> DecisionOrRecord | None:
        if self.records and (row := self.records.of.get(uid)):
            return DecisionOrRecord(row, chosen=self.records.chosen[uid]) if row.is_held else None
        found = decided_in_force(self.process, session_id)
        return DecisionOrRecord(found, session_id) if found else None

    def _ranked(
        self, wanted: Mapping[str, Variants], enough: Callable[[Scored], bool], limit: int
    ) -> list[MemoryMatch]:
        terms = tuple(dict.fromkeys(term for of in wanted.values() for term in of))
        of_trade = [*filter(is_of_trade, wanted)]
        rows = self._rows(terms)
        return ranked(rows, wanted, self._corpus, of_trade=of_trade, enough=enough, limit=limit)

    @cached_property
    def _corpus(self) -> Corpus:
        count, length = self._log.documents(self.process.project)
        if self.records is None:
            return Corpus(count, length)
        return Corpus(count + len(self.records.of), length + self.records.length)

    def _rows(self, terms: Sequence[str]) -> Iterator[dict[str, Any]]:
        process = self.process
        for first in range(0, len(terms), TERMS_MAX):
            page = {"terms": tuple(terms[first : first + TERMS_MAX])}
            rows = process.projector.rows("memory", process.project, "named", INT_MAX, **page)
            yield from rows
        if self.records is not None:
            yield from self.records.rows(terms)

    def _variants(self, word: str, *, means: bool = False) -> Variants:
        return find_variants(word, self._near, lambda: self._there, means=means)

    def _near(self, word: str) -> list[str]:
        begin = word[:BEGIN]
        return self._between(begin, begin + LAST)

    def _between(self, first: str, last: str) -> list[str]:
        found = self._log.words(self.process.project, first, last, WORDS_READ)
        return found if self.records is None else [*found, *self.records.words(first, last)]

    @cached_property
    def _there(self) -> tuple[str, ...]:
        return tuple(self._between("!", LAST))


def logs_of_decisions(request: Request) -> Iterator[Process]:
    """The log, and session files that say more than it, where it lacks the session of one."""
    process = request.process
    yield process
    if _lacks_session(process) and (filed := request.reading.filed) is not None:
        yield filed


def _lacks_session(process: Process) -> bool:
    """Whether a session lies beside the records that the log has not; told by names alone."""
    try:
        names = [name for one in process.session_folders.of_records for name in one.names()]
    except Unreadable:
        return False  # what reads the files says so
    if not names:
        return False
    heads = process.store.heads(process.project)
    return not {one.removesuffix(ENDING) for one in names} <= {
        decision_uid(head.session_id) for head in heads
    }


def rank_matching_decisions(
    request: Request, query: str, *, is_task: bool = False
) -> dict[str, int]:
    """By uid of a decision, and by path of a record: its rank among those that match a text.

    Args:
        is_task: whether the text is what an agent is about to do, and no question.
    """
    enough = concerns if is_task else may_answer_question
    words = rules.search_words((query,))
    found = [
        match
        for process in request.reading.logs
        for match in MemorySearch(process, records_beside(process)).matches(
            words, enough, NEAR_MAX if is_task else MATCHES_MAX
        )
    ]
    found.sort(key=lambda one: -one.score)
    return {uid: n for n, uid in enumerate(dict.fromkeys(one.uid for one in found))}


def group_equal_scopes(scopes: Iterable[str]) -> dict[str, str]:
    """For each scope the first one that says the same, by stems of one language."""
    first: dict[tuple[int, frozenset[str]], str] = {}
    found = {}
    for scope in scopes:
        keys = [*enumerate(stems(scope))]
        place = next((first[key] for key in keys if key in first), scope)
        found[scope] = place
        for key in keys:
            first.setdefault(key, place)
    return found


def decided_in_force(process: Process, session_id: str) -> DecidedPatch | None:
    """The decision of a session, where it is in force."""
    columns = process.following.columns("decisions")
    for row in process.following.kept("decisions", session_id).rows:
        one = decode_patch_row(dict(zip(columns, row, strict=True))).decided
        if is_in_force(one):
            return one
    return None


def read_session_patches(
    process: Process, session_id: str
) -> tuple[Sequence[DecidedPatch], SourceSession | None]:
    """What a session of this project decided, and as what it was read; nothing of one erased.

    It stands in the projection, unless the session moved since.
    """
    head = process.store.head(session_id)
    if head is None or head.project != process.project:
        return (), None
    kept = process.following.kept(DECISIONS.name, session_id)
    if (kept.of, kept.complete, kept.mark, kept.waits) == (DECISIONS.version, 1, head.version, 0):
        names = process.following.columns(DECISIONS.name)
        rows = (dict(zip(names, row, strict=True)) for row in kept.rows)
        source = SourceSession(session_id, head.version, head.hash.hex())
        return [decode_patch_row(row).decided for row in rows], source
    try:
        read = process.projector.reader.read(process.following.stream(head))
    except PreflightsError:
        return (), None  # a newer version of this program wrote in it
    last = read.stored[-1]
    return read.patches, SourceSession(last.session_id, last.version, last.hash.hex())


def is_in_force(one: DecidedPatch) -> bool:
    """Whether a person accepted it, and nothing took its place."""
    return one.standing == "accepted" and one.superseded_by is None


FIRST: Final = 2  # words of a text that say what it is about
OWN_MIN: Final = 2  # words of a title beside its value that are a subject
REST_MIN: Final = 3  # letters of the other part of a compound


class Titled(msgspec.Struct, frozen=True):
    """What is looked at of a decision."""

    title: str
    values: tuple[str, ...]
    scope: str = ""
    category: str = ""
    chosen: str = ""
    """What the text of a record of another tool says was chosen."""


def subject_words(text: str) -> tuple[str, ...]:
    """The words of a text that may be its subject, in its order."""
    return tuple(word for word in collect_search_words(text) if not is_of_trade(word))


def is_of_trade(word: str) -> bool:
    """Whether most texts of our trade may have a word, or it is a number."""
    return word.isdecimal() or _is_one(word, "trade")


def _is_one(word: str, kind: str) -> bool:
    """Whether a word is a form of a small one of a kind; German forms are listed, one by one."""
    return english_stem(word) in read_small_stems()[kind]


@cache
def read_small_stems() -> dict[str, frozenset[str]]:
    """The stems of small words, by their kind: to find them takes longer than a search."""
    rows = map(str.split, own_file(__spec__, "data/small_stems.txt").decode().splitlines())
    return {kind: frozenset(stems) for kind, *stems in rows}


def stems_of_subject(title: str, values: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The stems of a title without its values; none where it lacks one of them."""
    rest = fold_letters(title)
    for value in map(fold_letters, values):
        before, found, after = rest.partition(value)
        if not found:
            return ()
        rest = f"{before} {after}"
    return stems(" ".join(subject_words(rest)))


class Subject:
    """What a text is about, and how decisions stand to it."""

    def __init__(self, text: str, found: TopicsFound, scope: str = "", inlined: str = "") -> None:
        """Args:
        found: what the rules find in the text.
        scope: what the text is for, where that is known.
        inlined: the text of the team's own pack.
        """
        self._text = text
        self.words = subject_words(f"{text} {scope}")
        self._words = subject_words(text)
        self._full = tuple(word for word in self._words if not _is_one(word, "loose"))
        self._is_german = language_of(text) == "de"
        heads = {*_heads(text, is_german=self._is_german)}
        self._first = tuple(word for word in self._full[:FIRST] if word in heads)
        self._inlined = inlined
        self._asked = {*found.topics, topic_named(text)[0]} - {""}
        named = (*found.stated, *found.mentioned, *found.replaced)
        self._values = [stems(one.value) for one in named]
        self._named = {(one.topic, canonical(one.value)) for one in named if one.topic}

    def called(self) -> frozenset[str]:
        """The words of the topics that it asks about or names a value of, and of their values."""
        ids = {*self._asked, *(topic for topic, _ in self._named)}
        found: list[str] = []
        for topic in load_pack(self._inlined).topics:
            if topic.id in ids:
                found += (*topic.words, *topic.matters, *topic.values)
                found += (*topic.options, *topic.options_de, *chain(*topic.spellings.values()))
        own = subject_words(" ".join(found))
        return frozenset(name for word in own for name in (word, *also_called(word)))

    def is_of(self, one: Titled) -> bool:
        """Whether it chose a value that the text names, or decides a topic that is asked about or
        of which another value is named; or the text has all words of what it is for, or of its
        title beside the value.
        """
        if self._names_choice_of(one):
            return True
        topics, values = self._decided(one)
        others = (topic for topic, value in self._named if value not in values)
        if not topics.isdisjoint((*self._asked, *others)) or self._has_all(_purpose(one)):
            return True
        said = _FORM.fullmatch(one.title)
        chosen = one.values or ((said["en"] or said["de"],) if said else ())
        value = {word for text in chosen for word in collect_search_words(text)}
        return self._has_all(one.title, value.difference(collect_search_words(one.scope)))

    def _names_choice_of(self, one: Titled) -> bool:
        """Whether the text names a value, and the title or value has all its words; or has one."""
        texts = (one.title, *one.values) if self._values else ()
        own = [stems(text) for text in texts]
        if any(
            named <= has
            for value in self._values
            for text in own
            for named, has in zip(value, text, strict=False)
        ):
            return True
        # One that no pack knows counts as it is written: "Nightly" is no name in "nightly jobs".
        written = (one for one in one.values if not one.islower() and one in self._text)
        named = (one for one in written if canonical(one) not in GENERIC and subject_words(one))
        return any(rules.text_holds_value(self._text, value) for value in named)

    def _decided(self, one: Titled) -> tuple[set[str], set[str]]:
        """Topics of its title, else of its values, else of its scope; and the first value that its
        title and each value names.

        A title that says a value of no pack, as "Use session cookies for login", says its topic by
        what that is for.
        """
        known = lexicon(self._inlined)
        named = [known.mentions(words_of(text)) for text in (one.title, *one.values, one.chosen)]
        of_values = (known.topic_of(value, []) for of in named for value in of)
        topics = {_topic_of_head(one.title)} - {""} or {topic.id for topic in of_values if topic}
        said = _FORM.fullmatch(one.title)
        if not topics or (said and not any(named[:-1])):
            topics |= {topic.id for topic in known.topics(words_of(_purpose(one)))}
        return topics, {canonical(of[0]) for of in named if of}

    def _has_all(self, title: str, value: Collection[str] = ()) -> bool:
        """Whether it has all words of a title beside its value; it begins with a single one."""
        terms = [word for word in subject_words(title) if word not in value]
        if len({*terms}) < OWN_MIN:
            is_whole = len(collect_search_words(title)) == 1
            return is_whole and any(_is_one_name(w, term) for w in self._first for term in terms)
        return all(any(self._is_same(word, term) for word in self._words) for term in terms)

    def _is_same(self, word: str, term: str) -> bool:
        if _is_one_name(word, term):
            return True
        return self._is_german and (_has_part(word, term) or _has_part(term, word))


def _purpose(one: Titled) -> str:
    """What it is for: its scope, or what its title says."""
    said = None if one.scope else _FORM.fullmatch(one.title)
    return (said[2] or said[4]) if said else one.scope


def _topic_of_head(title: str) -> str:
    """The topic that a title ends with before a preposition: `sign-in` of "Customer sign-in"."""
    found, small = title.split(), read_small_words("prepositions") | read_small_words("definite")
    ends = (at for at, word in enumerate(found) if at and fold_letters(word) in small)
    noun = found[: next(ends, len(found))]
    topics = (topic_named(" ".join(noun[at:]))[0] for at in range(len(noun)))
    return next(filter(None, topics), "")


def _is_one_name(word: str, term: str) -> bool:
    """Whether two words are forms of one, or names of one product."""
    return word == term or is_form(word, term) or term in also_called(word)


def _heads(text: str, *, is_german: bool) -> Iterator[str]:
    """Words before a preposition that no noun follows: not `ticket` of "the ticket page"."""
    found = [*_WORD.finditer(text)]
    for one, then in zip_longest(found, found[1:]):
        if fold_letters(one[0]) in read_small_words("prepositions"):
            return
        is_apart = then is None or text[one.end() : then.start()] not in (" ", "-")
        if is_apart or not subject_words(then[0]) or (is_german and then[0].islower()):
            yield fold_letters(one[0])


_WORD: Final = late_pattern(r"[^\W_]+")
_FORM: Final = late_pattern(
    r"(?i:(?:we )?(?:use|adopt|choose|prefer) (?P<en>.+?) (?:for|as) (.+)"
    r"|(?P<de>\S+) f\u00fcr (.+))"
)
"""Titles that say a value even where it is no name, and what it is for."""


def _has_part(word: str, part: str) -> bool:
    """Whether a German compound begins or ends with a word."""
    stem = part.removesuffix("e").removesuffix("en")
    if len(stem) < PART_MIN or len(word) - len(stem) < REST_MIN:
        return False
    return word.startswith(stem) or word.endswith((stem, part))
