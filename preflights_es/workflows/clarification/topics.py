"""What an intention is about: the values that it states, the topics that it leaves open.

A pure function of a text and a pack (docs/specs/clarification.md, sections 11 and 12).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final, Literal, NamedTuple

import msgspec

from preflights_es.core.events import Value
from preflights_es.core.views import Language
from preflights_es.workflows.clarification.pack import Pack, index_file, loaded
from preflights_es.workflows.clarification.terms import (
    ENDS,
    Hit,
    Tables,
    Terms,
    Text,
    read,
    tables_of,
)
from preflights_es.workflows.clarification.values import Named, PackRef

WEIGHTS: Final = {"names": 2, "strong": 3, "likely": 2, "weak": 1, "against": -3}
SURE: Final = 3
"""A task or a decision is found from this score on."""
OPEN: Final = 4
"""A topic is open from this score on: one word alone is not enough."""
LIKELY: Final = 2
BESIDE: Final = 3  # words between a name and a word that asks or begins
CALLED: Final = 2  # what a name is worth more beside a word that asks or begins
CLEAR: Final = 10
"""A topic is asked about from this score on even where a value of another one is stated."""
TOPICS_MAX: Final = 4  # topics that a session names
NEAR: Final = 6  # words between two values of which one takes the other's place
LABEL: Final = 3  # words from a topic's name to an everyday word that is its value
OWN_MAX: Final = 3  # words of a name that no pack knows
SKIPPED_MAX: Final = 3  # words between a value and the word that takes it away

Kind = Literal["choice", "stated", "none", "open"]
Part = Literal["wanted", "replaced", "asked", "present"]


class Found(Value, frozen=True):
    """What an intention is about."""

    kind: Kind
    language: Language
    topics: tuple[str, ...] = ()
    """Those left open, the one to ask about first."""
    stated: tuple[Named, ...] = ()
    replaced: tuple[Named, ...] = ()
    between: tuple[str, ...] = ()
    """The values between which the first topic's question is; empty for the pack's options."""


# 1. The index --------------------------------------------------------------------------------


class _Meaning(NamedTuple):
    """What a term stands for."""

    group: int
    """A topic, then `_GROUPS`, then `_ROLES`; `_NOTHING` for a value that is none here."""
    weight: int
    is_name: bool = False
    value: str = ""
    is_loose: bool = False
    is_shared: bool = False


_GROUPS: Final = ("task", "decision", "vague", "begin")
_ROLES: Final = (
    "before", "after", "links", "present", "request",
    "source", "moving", "beats", "using", "serving", "wished",
)  # fmt: skip
_NOTHING: Final = -1


class Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The terms of a pack, ready for many intentions; a shipped pack's lies beside it as a file."""

    ids: list[str]
    meanings: list[tuple[_Meaning, int]]
    """Each with the number of terms that have it, in the order of the terms."""
    tables: Tables


def indexed(pack: Pack) -> Index:
    """The index of a pack."""
    listed = list(_listed(pack))
    terms = chain.from_iterable(terms for terms, _ in listed)
    meanings = [(meaning, len(terms)) for terms, meaning in listed if terms]
    return Index([topic.id for topic in pack.topics], meanings, tables_of(terms))


def _listed(pack: Pack) -> Iterator[tuple[tuple[str, ...], _Meaning]]:
    groups = [topic.words for topic in pack.topics] + [getattr(pack, name) for name in _GROUPS]
    for group, words in enumerate(groups):
        for name, weight in WEIGHTS.items():
            yield getattr(words, name), _Meaning(group, weight, name == "names")
    for group, role in enumerate(_ROLES, len(groups)):
        yield getattr(pack.roles, role), _Meaning(group, 0)
    for group, topic in enumerate(pack.topics):
        for name in ("values", "loose", "shared"):
            for value, spellings in getattr(topic, name).items():
                is_loose, is_shared = name == "loose", name == "shared"
                yield spellings, _Meaning(group, 0, False, value, is_loose, is_shared)
    yield pack.nothing, _Meaning(_NOTHING, 0, False, "-")


def terms_of(pack: Pack) -> list[str]:
    """Every term of a pack."""
    return [term for terms, _ in _listed(pack) for term in terms]


class Finder:
    """What `find` needs of a pack."""

    def __init__(self, pack: Pack, index: Index) -> None:
        self.ids = index.ids
        self.skipped = frozenset(pack.roles.skipped)
        self.joined = frozenset(pack.roles.joined) | self.skipped if pack.roles.joined else None
        self.english = frozenset(pack.languages["en"])
        self.german = frozenset(pack.languages["de"])
        self.meanings: list[_Meaning] = []
        self.weights: list[int] = []
        self.speaks: list[int] = []
        """The group that a term speaks for; for others `_NOTHING`."""
        for meaning, count in index.meanings:
            self.meanings += [meaning] * count
            self.weights += [meaning.weight] * count
            self.speaks += [meaning.group if meaning.weight > 0 else _NOTHING] * count
        self.terms = Terms(index.tables)


@lru_cache(maxsize=4)
def finder_of(ref: PackRef, inlined: str = "") -> Finder:
    """The finder of a session's pack, made once a process."""
    pack = loaded(ref, inlined)
    data = b"" if inlined else index_file(ref)
    return Finder(pack, msgspec.json.decode(data, type=Index) if data else indexed(pack))


# 2. Weighing ---------------------------------------------------------------------------------


class _Mention(NamedTuple):
    """A value, from its first word to before the word `end`."""

    start: int
    end: int
    topic: int
    value: str
    is_loose: bool
    is_shared: bool = False


class _Seen(NamedTuple):
    """What the terms of a text say, before it is weighed."""

    scores: list[int]
    """Of each topic, then of each group."""
    called: list[tuple[int, int]]
    """Where a topic is called by a name, and which."""
    asked: list[int]
    """Where words ask for a decision or begin something."""
    mentions: list[_Mention]
    roles: list[list[tuple[int, int]]]
    """By role: the first word of each term, and the word behind its last."""
    hits: list[Hit]


def find(intention: str, finder: Finder, language: Language | None = None) -> Found:
    """What an intention is about; `language` where a person or a setting said it."""
    text = read(intention)
    tongue = language or _language(text, finder)
    seen = _seen(text, finder)
    scores, count = seen.scores, len(finder.ids)
    task, decision, vague, begin = scores[count:]
    decision += LIKELY * ("?" in text.present)
    task += SURE * _is_upgrade(text)
    parts = _parts(text, seen, finder)
    if finder.joined and "?" not in text.present and decision < SURE:
        parts = _taken(parts, text.words, finder.joined)
    wanted = {mention.topic for mention, part in parts if part == "wanted"}
    is_moved = any(mention.topic in wanted for mention, part in parts if part == "replaced")
    if task >= SURE > decision and max(scores[:count]) < 2 * task and not is_moved:
        return Found("none", tongue)
    between = _between(parts)
    called = {topic for at, topic in seen.called if _is_near(at, seen.asked)}
    _count_in(parts, wanted, called, scores)
    least = OPEN if begin or decision >= LIKELY else OPEN + 1 + task
    sure = [t for t in range(count) if scores[t] >= least and t not in wanted]
    sure.sort(key=lambda topic: -scores[topic])
    left = [*between, *(t for t in sure if t not in between)][:TOPICS_MAX]
    if finder.joined and not between and decision < SURE:
        if own := _own_name(text, seen, parts, left, finder, tongue):
            parts.append((own, "wanted"))
            left = [topic for topic in left if topic != own.topic]
    topics = tuple(finder.ids[topic] for topic in left)
    stated = tuple(n for n in _named(parts, "wanted", finder) if n.topic not in topics)
    replaced = _named(parts, "replaced", finder)
    is_clear = max((scores[topic] for topic in left[:1]), default=0) >= CLEAR
    if topics and (between or not stated or decision >= SURE or is_clear):
        return Found("choice", tongue, topics, stated, replaced, between.get(left[0], ()))
    if stated:
        return Found("stated", tongue, topics, stated, replaced)
    if task >= LIKELY > decision or (task and not decision and not vague):
        return Found("none", tongue)
    return Found("open", tongue, replaced=replaced)


def _count_in(
    parts: list[tuple[_Mention, Part]], wanted: set[int], called: set[int], scores: list[int]
) -> None:
    """Add to the scores what values say, and names beside words that ask."""
    for mention, part in parts:
        scores[mention.topic] += _HINTS[part] * (mention.topic not in wanted)
    for topic in called:
        scores[topic] += CALLED


_HINTS: Final[dict[Part, int]] = {"wanted": 0, "replaced": 3, "asked": 3, "present": 1}
"""What a value says for its topic, where none of the topic is wanted."""


def _is_near(at: int, others: list[int], most: int = BESIDE) -> bool:
    return any(abs(at - other) <= most for other in others)


def _language(text: Text, finder: Finder) -> Language:
    words = text.present
    lean = len(words & finder.german) - len(words & finder.english)
    return "de" if lean > 0 or (not lean and _has_umlaut(text)) else "en"


def _has_umlaut(text: Text) -> bool:
    return any(letter in "\u00e4\u00f6\u00fc\u00df" for word in text.typed for letter in word)


def _seen(text: Text, finder: Finder) -> _Seen:
    scores = [0] * (len(finder.ids) + len(_GROUPS))
    weights, meanings = finder.weights, finder.meanings
    hits = finder.terms.found(text)
    others = [hit for hit in hits if not weights[hit[2]]]
    firsts = {number: start for start, _, number in reversed(hits) if weights[number]}
    called: list[tuple[int, int]] = []
    asked: list[int] = []
    asking = (len(scores) - 1, len(scores) - 3)
    for number, start in firsts.items():
        group, weight, is_name, *_ = meanings[number]
        scores[group] += weight
        if is_name:
            called.append((start, group))
        elif group in asking:
            asked.append(start)
    mentions: list[_Mention] = []
    roles: list[list[tuple[int, int]]] = [[] for _ in _ROLES]
    around: dict[int, set[int]] = {}
    for start, end, number in others:
        group, _, _, value, is_loose, is_shared = meanings[number]
        if not value:
            roles[group - len(scores)].append((start, end))
        else:
            if is_shared and start not in around:
                around[start] = _around(start, hits, finder.speaks)
            if not is_shared or group in around[start]:
                mentions.append(_Mention(start, end, group, value, is_loose, is_shared))
    return _Seen(scores, called, asked, _kept(_fitting(mentions, scores), scores), roles, hits)


def _around(at: int, hits: list[Hit], speaks: list[int]) -> set[int]:
    """What words near a place speak for."""
    first, last = at - NEAR, at + NEAR
    return {speaks[number] for start, _, number in hits if first <= start <= last}


def _fitting(mentions: list[_Mention], scores: list[int]) -> list[_Mention]:
    """Without shared values of topics that the text does not name more than their own topic."""
    spans = {(m.start, m.end): scores[m.topic] for m in mentions if not m.is_shared}
    return [
        m for m in mentions if not m.is_shared or scores[m.topic] > spans.get((m.start, m.end), 0)
    ]


def _kept(mentions: list[_Mention], scores: list[int]) -> list[_Mention]:
    """The longest of those that overlap, and an everyday word only where its topic is named too."""
    firm = {mention.topic for mention in mentions if not mention.is_loose}
    kept: list[_Mention] = []
    end = 0
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end, m.is_loose, not m.is_shared)):
        if mention.start < end:
            continue
        if not mention.is_loose or mention.topic in firm or scores[mention.topic] >= LIKELY:
            end = mention.end
            if mention.topic != _NOTHING:
                kept.append(mention)
    return kept


def _is_upgrade(text: Text) -> bool:
    """Whether a number is followed by another: a new version is no decision between options."""
    words = text.words if any(map(str.isdecimal, text.present)) else []
    for at in [at for at, word in enumerate(words) if word in _TO]:
        if words[at - 1].isdecimal() and at > 2:
            return any(near.isdecimal() for near in words[at + 1 : at + 3])
    return False


_TO: Final = frozenset(("to", "auf", "->", "=>", "\u2192"))


# 3. Values -----------------------------------------------------------------------------------

_Spans = list[tuple[int, int]]
_BEFORE, _AFTER, _LINKS, _PRESENT, _REQUEST = range(5)
_SOURCE, _MOVING, _BEATS, _USING, _SERVING, _WISHED = range(5, len(_ROLES))


def _parts(text: Text, seen: _Seen, finder: Finder) -> list[tuple[_Mention, Part]]:
    """Every value that is named, with the part it plays."""
    parts: list[tuple[_Mention, Part]] = []
    gone = {m for m in seen.mentions if _is_taken_away(m, text.words, seen, finder.skipped)}
    gone |= {m for m in seen.mentions if _is_left(m, text.words, seen, finder.skipped, gone)}
    taken_over = _taken_over(text.words, seen, gone)
    for mention in seen.mentions:
        sentence = _sentence(text.words, mention.start)
        if mention in taken_over:
            part: Part = taken_over[mention]
        elif mention in gone:
            part = "replaced"
        elif _is_offered(mention, text.words) or (
            text.words[sentence.stop :][:1] == ["?"] and not _has(seen.roles[_REQUEST], sentence)
        ):
            part = "asked"
        else:
            is_there = _has(seen.roles[_PRESENT], sentence) or (
                mention.is_loose and not _is_wished(mention, sentence, text, seen, finder)
            )
            part = "present" if is_there else "wanted"
        parts.append((mention, part))
    return _instead(parts)


def _is_wished(mention: _Mention, sentence: range, text: Text, seen: _Seen, finder: Finder) -> bool:
    """Whether words around an everyday word say that it is a value."""
    if not finder.joined:
        return False
    start = _back(mention, text.words, finder.skipped)
    return (
        _is_behind(start, seen.roles[_USING])
        or _has(seen.roles[_WISHED], sentence)
        or any(topic == mention.topic and 0 < start - at <= LABEL for at, topic in seen.called)
        or (
            any(at == mention.end for at, _ in seen.roles[_SERVING])
            and mention.topic in _around(mention.end, seen.hits, finder.speaks)
        )
    )


def _instead(parts: list[tuple[_Mention, Part]]) -> list[tuple[_Mention, Part]]:
    """A value beside a replaced one of its topic is wanted, whatever its sentence says."""
    gone = {mention.topic for mention, part in parts if part == "replaced"}
    return [(m, "wanted" if part == "present" and m.topic in gone else part) for m, part in parts]


def _sentence(words: list[str], at: int) -> range:
    start, stop = at, at
    while start and words[start - 1] not in ENDS:
        start -= 1
    while stop < len(words) and words[stop] not in ENDS:
        stop += 1
    return range(start, stop)


def _has(spans: _Spans, sentence: range) -> bool:
    return any(start in sentence for start, _ in spans)


def _taken_over(words: list[str], seen: _Seen, gone: set[_Mention]) -> dict[_Mention, Part]:
    """Neighbours of one topic where the second takes the first's place: `MySQL to PostgreSQL`."""
    parts: dict[_Mention, Part] = {}
    for one, other in pairwise(seen.mentions):
        if one.topic != other.topic or one.value == other.value or other.start - one.end > NEAR:
            continue
        if not ENDS.isdisjoint(words[one.end : other.start]):
            continue
        links = [end for at, end in seen.roles[_LINKS] if one.end <= at < other.start]
        if links and (other not in gone or one in gone or other.start in links):
            parts |= {one: "replaced", other: "wanted"}
        elif _has(seen.roles[_BEATS], range(one.end, other.start)):
            parts |= {one: "wanted", other: "replaced"}
    return parts


def _is_taken_away(
    mention: _Mention, words: list[str], seen: _Seen, skipped: frozenset[str]
) -> bool:
    start = _back(mention, words, skipped)
    return _is_behind(start, seen.roles[_BEFORE]) or any(
        begin == mention.end for begin, _ in seen.roles[_AFTER]
    )


def _is_left(
    mention: _Mention, words: list[str], seen: _Seen, skipped: frozenset[str], gone: set[_Mention]
) -> bool:
    """Whether something moves away from a value, and does not just come from it."""
    if not _is_behind(_back(mention, words, skipped), seen.roles[_SOURCE]):
        return False
    others = {m.value for m in seen.mentions if m.topic == mention.topic and m not in gone}
    is_moved = _has(seen.roles[_MOVING], _sentence(words, mention.start))
    return is_moved or len(others) > 1


def _back(mention: _Mention, words: list[str], skipped: frozenset[str]) -> int:
    """Where a value begins, with the articles before it."""
    start = mention.start
    while start and words[start - 1] in skipped and mention.start - start < SKIPPED_MAX:
        start -= 1
    return start


def _is_behind(start: int, spans: _Spans) -> bool:
    return any(end == start for _, end in spans)


def _is_offered(mention: _Mention, words: list[str]) -> bool:
    """Whether `or` stands beside a value: what it names is one way of several."""
    return not _OR.isdisjoint((words[mention.start - 1], *words[mention.end : mention.end + 1]))


_OR: Final = frozenset(("or", "oder"))


def _own_name(
    text: Text,
    seen: _Seen,
    parts: list[tuple[_Mention, Part]],
    left: list[int],
    finder: Finder,
    tongue: Language,
) -> _Mention | None:
    """A name that no pack knows, where a sentence uses it for a topic or in place of a value."""
    for role in (_LINKS, _USING):
        for _, at in seen.roles[role]:
            end = at
            while end - at < OWN_MAX and _is_name(text.typed[end], tongue):
                end += 1
            if end == at or any(start in range(at, end) for start, _, _ in seen.hits):
                continue
            gone = [m.topic for m, part in parts if part == "replaced" and -1 < at - m.end <= NEAR]
            around = _around(at, seen.hits, finder.speaks)
            named = [*left, *(topic for _, topic in seen.called)]
            topics = gone if role == _LINKS else [topic for topic in named if topic in around]
            wanted = {mention.topic for mention, part in parts if part == "wanted"}
            for topic in [topic for topic in topics if topic not in wanted][:1]:
                return _Mention(at, end, topic, " ".join(text.typed[at:end]), False)
    return None


def _is_name(typed: str, tongue: Language) -> bool:
    """Whether a word is written as a name; German writes every noun with a capital letter."""
    if typed.islower() or typed.isupper() or not typed[0].isalpha():
        return False
    return (tongue == "en" and typed[0].isupper()) or any(not c.islower() for c in typed[1:])


def _taken(
    parts: list[tuple[_Mention, Part]], words: list[str], joined: frozenset[str]
) -> list[tuple[_Mention, Part]]:
    """Of several wanted values of a topic the first, and what `and` joins to it."""
    asked = {mention.topic for mention, part in parts if part == "asked"}
    firm = {m.topic for m, part in parts if part == "wanted" and not m.is_loose}
    firsts: dict[int, _Mention] = {}
    taken: list[tuple[_Mention, Part]] = []
    for mention, part in parts:
        if part == "wanted" and mention.is_loose and mention.topic in firm:
            part = "present"
        elif part == "wanted" and mention.topic not in asked:
            first = firsts.setdefault(mention.topic, mention)
            if first.value != mention.value and mention.value not in first.value.split(", "):
                part = "present"
                if joined.issuperset(words[first.end : mention.start]):
                    both = f"{first.value}, {mention.value}"
                    firsts[mention.topic] = first._replace(end=mention.end, value=both)
        taken.append((mention, part))
    return [
        (firsts[mention.topic] if part == "wanted" and mention.topic in firsts else mention, part)
        for mention, part in taken
    ]


def _named(parts: list[tuple[_Mention, Part]], wanted: Part, finder: Finder) -> tuple[Named, ...]:
    named = (Named(finder.ids[one.topic], one.value) for one, part in parts if part == wanted)
    return tuple(dict.fromkeys(named))


def _between(parts: list[tuple[_Mention, Part]]) -> dict[int, tuple[str, ...]]:
    """Topics of which several values are wanted or asked about, with these values."""
    named: dict[int, dict[str, None]] = {}
    for mention, part in parts:
        if part in ("wanted", "asked"):
            named.setdefault(mention.topic, {})[mention.value] = None
    return {topic: tuple(values) for topic, values in named.items() if len(values) > 1}
