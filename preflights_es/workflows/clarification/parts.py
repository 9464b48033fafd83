"""The part that each value of a text plays: wanted, replaced, asked about, or only there.

docs/specs/clarification.md, section 12.1.
"""

from __future__ import annotations

from bisect import bisect
from itertools import pairwise
from typing import Final, Literal

from preflights_es.workflows.clarification.index import ROLES, Finder
from preflights_es.workflows.clarification.mentions import LIKELY, NEAR, Mention, Seen, around
from preflights_es.workflows.clarification.terms import ENDS, START, Text, ends_of
from preflights_es.workflows.clarification.values import Named

LABEL: Final = 3  # words from a topic's name to an everyday word that is its value
DESCRIBED: Final = 3  # words of a value that describe a way, and are no name
SKIPPED_MAX: Final = 3  # words between a value and the word that takes it away

Part = Literal["wanted", "replaced", "asked", "present"]

_Spans = list[tuple[int, int]]
_BEFORE, _AFTER, LINKS, PRESENT, _REQUEST = range(5)
_SOURCE, _MOVING, _BEATS, USING, _SERVING, _WISHED, _BESIDE, _THINGS, TAKING = range(5, len(ROLES))


def parts_of(text: Text, seen: Seen, finder: Finder) -> list[tuple[Mention, Part]]:
    """Every value that is named, with the part it plays."""
    if not seen.mentions:
        return []
    parts: list[tuple[Mention, Part]] = []
    sentences = _sentences(text.words, seen.mentions)
    gone = {m for m in seen.mentions if _is_taken_away(m, text.words, seen, finder.skipped)}
    gone |= {
        m
        for m, sentence in zip(seen.mentions, sentences, strict=True)
        if _is_left(m, sentence, text.words, seen, finder.skipped, gone)
    }
    taken_over = _taken_over(text.words, seen, gone)
    for mention, sentence in zip(seen.mentions, sentences, strict=True):
        if mention in taken_over:
            part: Part = taken_over[mention]
        elif mention in gone:
            part = "replaced"
        elif _is_offered(mention, text.words) or (
            text.words[sentence.stop : sentence.stop + 1] == ["?"]
            and not _has(seen.roles[_REQUEST], sentence)
        ):
            part = "asked"
        else:
            is_there = _is_there(mention, sentence, text, seen, finder)
            part = "present" if is_there else "wanted"
        parts.append((mention, part))
    return _gone_everywhere(_instead(parts)) if finder.joined else _instead(parts)


def _is_there(mention: Mention, sentence: range, text: Text, seen: Seen, finder: Finder) -> bool:
    """Whether a value is there today, as far as its sentence says."""
    if _has(seen.roles[PRESENT], sentence) and not _is_headline(mention, text.words, seen):
        return True
    if _is_behind(_back(mention, text.words, finder.skipped), seen.roles[_BESIDE]):
        return True
    is_task = seen.scores[len(finder.ids)] >= LIKELY and not any(
        at in sentence for at in seen.asked
    )
    is_part = is_task and any(at == mention.end for at, _ in seen.roles[_THINGS])
    if mention.is_loose or is_part or _is_known(mention, text.words, finder):
        return not _is_wished(mention, sentence, text, seen, finder)
    return False


def _is_headline(mention: Mention, words: list[str], seen: Seen) -> bool:
    """Whether a text begins with a value and what it is for: `Redis for sessions`."""
    return words[mention.start - 1] == START and any(
        0 <= at - mention.end <= 1 for at, _ in seen.roles[_SERVING]
    )


def is_chosen(mention: Mention, words: list[str], seen: Seen) -> bool:
    """Whether a wanted value is more than a detail of a task: `we take Cloudflare`."""
    return not mention.is_loose and (
        mention.end - mention.start >= DESCRIBED
        or _is_headline(mention, words, seen)
        or _is_behind(mention.start, seen.roles[TAKING])
    )


def _is_known(mention: Mention, words: list[str], finder: Finder) -> bool:
    """Whether a value is part of a thing that the text takes as known: `the Redis client`."""
    behind = words[mention.end]
    return (
        words[mention.start - 1] in finder.known
        and behind.isalnum()
        and behind not in finder.english
        and behind not in finder.german
    )


def _is_wished(mention: Mention, sentence: range, text: Text, seen: Seen, finder: Finder) -> bool:
    """Whether words around an everyday word say that it is a value."""
    if not finder.joined:
        return False
    start = _back(mention, text.words, finder.skipped)
    return (
        _is_behind(start, seen.roles[USING])
        or _has(seen.roles[_WISHED], sentence)
        or any(topic == mention.topic and 0 < start - at <= LABEL for at, topic in seen.called)
        or (
            any(at == mention.end for at, _ in seen.roles[_SERVING])
            and mention.topic in around(mention.end, seen.hits, finder.speaks)
        )
    )


def _instead(parts: list[tuple[Mention, Part]]) -> list[tuple[Mention, Part]]:
    """A value beside a replaced one of its topic is wanted, whatever its sentence says."""
    gone = {mention.topic for mention, part in parts if part == "replaced"}
    return [(m, "wanted" if part == "present" and m.topic in gone else part) for m, part in parts]


def _gone_everywhere(parts: list[tuple[Mention, Part]]) -> list[tuple[Mention, Part]]:
    """A value that is replaced in one place is not wanted in another."""
    gone = {(mention.topic, mention.value) for mention, part in parts if part == "replaced"}
    return [(m, "replaced" if (m.topic, m.value) in gone else part) for m, part in parts]


def _sentences(words: list[str], mentions: list[Mention]) -> list[range]:
    """The sentence of each value."""
    ends = [-1, *ends_of(words), len(words)]
    places = [bisect(ends, mention.start) for mention in mentions]
    return [range(ends[place - 1] + 1, ends[place]) for place in places]


def _has(spans: _Spans, sentence: range) -> bool:
    return any(start in sentence for start, _ in spans)


def _taken_over(words: list[str], seen: Seen, gone: set[Mention]) -> dict[Mention, Part]:
    """Neighbours of one topic where the second takes the first's place: `MySQL to PostgreSQL`."""
    parts: dict[Mention, Part] = {}
    beaten = {end for _, end in seen.roles[_BEATS]}
    for one, other in pairwise(seen.mentions):
        if one.topic != other.topic or one.value == other.value or other.start - one.end > NEAR:
            continue
        if not ENDS.isdisjoint(words[one.end : other.start]):
            continue
        links = [
            end for at, end in seen.roles[LINKS] if one.end <= at < other.start and at not in beaten
        ]
        if links and (other not in gone or one in gone or other.start in links):
            parts |= {one: "replaced", other: "wanted"}
        elif _has(seen.roles[_BEATS], range(one.end, other.start)):
            parts |= {one: "wanted", other: "replaced"}
    return parts


def _is_taken_away(mention: Mention, words: list[str], seen: Seen, skipped: frozenset[str]) -> bool:
    start = _back(mention, words, skipped)
    return _is_behind(start, seen.roles[_BEFORE]) or any(
        begin == mention.end for begin, _ in seen.roles[_AFTER]
    )


def _is_left(
    mention: Mention,
    sentence: range,
    words: list[str],
    seen: Seen,
    skipped: frozenset[str],
    gone: set[Mention],
) -> bool:
    """Whether something moves away from a value, and does not just come from it."""
    if not _is_behind(_back(mention, words, skipped), seen.roles[_SOURCE]):
        return False
    others = {m.value for m in seen.mentions if m.topic == mention.topic and m not in gone}
    is_moved = _has(seen.roles[_MOVING], sentence)
    return is_moved or len(others) > 1


def _back(mention: Mention, words: list[str], skipped: frozenset[str]) -> int:
    """Where a value begins, with the articles before it."""
    start = mention.start
    while start and words[start - 1] in skipped and mention.start - start < SKIPPED_MAX:
        start -= 1
    return start


def _is_behind(start: int, spans: _Spans) -> bool:
    return start in [end for _, end in spans]


def _is_offered(mention: Mention, words: list[str]) -> bool:
    """Whether `or` stands beside a value: what it names is one way of several."""
    return not _OR.isdisjoint((words[mention.start - 1], *words[mention.end : mention.end + 1]))


_OR: Final = frozenset(("or", "oder"))


def taken(
    parts: list[tuple[Mention, Part]], words: list[str], joined: frozenset[str]
) -> list[tuple[Mention, Part]]:
    """Of several wanted values of a topic the first, and what `and` joins to it."""
    asked = {mention.topic for mention, part in parts if part == "asked"}
    wanted = [mention for mention, part in parts if part == "wanted"]
    firm = {mention.topic for mention in wanted if not mention.is_loose}
    firsts: dict[int, Mention] = {}
    for mention in wanted:
        first = firsts.get(mention.topic)
        if first is None and not (mention.is_loose and mention.topic in firm):
            firsts[mention.topic] = mention
        elif first and joined.issuperset(words[first.end : mention.start]):
            values = dict.fromkeys((*first.value.split(", "), mention.value))
            firsts[mention.topic] = first._replace(end=mention.end, value=", ".join(values))
    kept: list[tuple[Mention, Part]] = [(m, p) for m, p in parts if p != "wanted"]
    kept += [(m, "wanted") for m in wanted if m.topic in asked]
    return kept + [(m, "wanted") for topic, m in firsts.items() if topic not in asked]


def named_by(parts: list[tuple[Mention, Part]], wanted: Part, finder: Finder) -> tuple[Named, ...]:
    named = (Named(finder.ids[one.topic], one.value) for one, part in parts if part == wanted)
    return tuple(dict.fromkeys(named))


def between_of(parts: list[tuple[Mention, Part]]) -> dict[int, tuple[str, ...]]:
    """Topics of which several values are wanted or asked about, with these values."""
    named: dict[int, dict[str, None]] = {}
    for mention, part in parts:
        if part in ("wanted", "asked"):
            named.setdefault(mention.topic, {})[mention.value] = None
    return {topic: tuple(values) for topic, values in named.items() if len(values) > 1}
