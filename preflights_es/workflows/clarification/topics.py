"""What an intention is about: the values that it states, the topics that it leaves open.

A pure function of a text and a pack (docs/specs/clarification.md, sections 11 and 12).
"""

from __future__ import annotations

from typing import Final, Literal

from preflights_es.core.events import Value
from preflights_es.core.views import Language
from preflights_es.workflows.clarification.index import Finder
from preflights_es.workflows.clarification.means import described, is_precise
from preflights_es.workflows.clarification.mentions import (
    LIKELY,
    NEAR,
    Mention,
    Seen,
    around,
    seen_in,
    starting,
)
from preflights_es.workflows.clarification.parts import (
    LINKS,
    USING,
    Part,
    between_of,
    is_chosen,
    named_by,
    parts_of,
    taken,
)
from preflights_es.workflows.clarification.terms import Text, read
from preflights_es.workflows.clarification.values import Named

SURE: Final = 3
"""A task or a decision is found from this score on."""
OPEN: Final = 4
"""A topic is open from this score on: one word alone is not enough."""
BESIDE: Final = 3  # words between a name and a word that asks or begins
CALLED: Final = 2  # what a name is worth more beside a word that asks or begins
CLEAR: Final = 10
"""A topic is asked about from this score on even where a value of another one is stated."""
LONG: Final = 22  # words of a text in which one word alone names no topic, with its two ends
TOPICS_MAX: Final = 4  # topics that a session names
OWN_MAX: Final = 3  # words of a name that no pack knows

Kind = Literal["choice", "stated", "none", "open"]


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


def find(intention: str, finder: Finder, language: Language | None = None) -> Found:
    """What an intention is about; `language` where a person or a setting said it."""
    text = read(intention)
    tongue = language or _language(text, finder)
    seen = seen_in(text, finder)
    scores, count = seen.scores, len(finder.ids)
    task, decision, vague, begin = scores[count:]
    decision += LIKELY * ("?" in text.present)
    task += SURE * _is_upgrade(text)
    parts = parts_of(text, seen, finder)
    if finder.joined and "?" not in text.present and decision < SURE:
        parts = taken(parts, text.words, finder.joined)
    wanted = {mention.topic for mention, part in parts if part == "wanted"}
    is_moved = any(mention.topic in wanted for mention, part in parts if part == "replaced")
    is_moved = is_moved or (
        bool(finder.joined)
        and any(is_chosen(m, text.words, seen) for m, part in parts if part == "wanted")
    )
    if task >= SURE > decision and max(scores[:count]) < 2 * task and not is_moved:
        return Found("none", tongue)
    between = between_of(parts)
    called = {topic for at, topic in seen.called if _is_near(at, seen.asked)}
    _count_in(parts, wanted, called, scores, _HINTS_2 if finder.joined else _HINTS)
    least = OPEN if begin or decision >= LIKELY else OPEN + 1 + task
    sure = [t for t in range(count) if scores[t] >= least and t not in wanted]
    sure.sort(key=lambda topic: -scores[topic])
    said = seen.said if finder.joined else []
    if said and _is_doubtful(
        sure, scores, said, task * (task > decision), wanted, called, parts, text
    ):
        sure = []
    left = [*between, *(t for t in sure if t not in between)][:TOPICS_MAX]
    may_name = finder.joined and not between and decision < SURE
    if may_name and (own := _own_name(text, seen, parts, left, finder, tongue)):
        parts.append((own, "wanted"))
        left = [topic for topic in left if topic != own.topic]
    ways: dict[int, Mention | None] = {}
    if may_name:
        ways = described(left, intention, text, seen, parts, finder)
        parts += [(way, "wanted") for way in ways.values() if way]
        left = [topic for topic in left if topic not in ways]
    topics = tuple(finder.ids[topic] for topic in left)
    stated = tuple(n for n in named_by(parts, "wanted", finder) if n.topic not in topics)
    replaced = named_by(parts, "replaced", finder)
    is_clear = max((scores[topic] for topic in left[:1]), default=0) >= CLEAR
    if topics and (between or not stated or decision >= SURE or is_clear):
        return Found("choice", tongue, topics, stated, replaced, between.get(left[0], ()))
    if stated:
        return Found("stated", tongue, topics, stated, replaced)
    is_task = not ways and _is_task((task, decision, vague), said, intention, text, finder)
    return Found("none" if is_task else "open", tongue, replaced=() if is_task else replaced)


def _is_task(
    heard: tuple[int, int, int], said: list[int], intention: str, text: Text, finder: Finder
) -> bool:
    """Whether a text without a menu is a small task, and asks for no decision."""
    task, decision, vague = heard
    least = max(LIKELY, vague) if finder.joined else LIKELY
    if (task >= least and decision < LIKELY) or (task and not decision and not vague):
        return not (said and task < max(said) >= SURE)
    return bool(said) and decision < SURE and is_precise(intention, text, finder)


def _count_in(
    parts: list[tuple[Mention, Part]],
    wanted: set[int],
    called: set[int],
    scores: list[int],
    hints: dict[Part, int],
) -> None:
    """Add to the scores what values say, and names beside words that ask."""
    for mention, part in parts:
        scores[mention.topic] += hints[part] * (mention.topic not in wanted)
    for topic in called:
        scores[topic] += CALLED


def _is_doubtful(
    sure: list[int],
    scores: list[int],
    said: list[int],
    task: int,
    wanted: set[int],
    called: set[int],
    parts: list[tuple[Mention, Part]],
    text: Text,
) -> bool:
    """Whether a menu may be wrong: words say as much for another topic, or too little in all."""
    if not sure or (len(sure) > 1 and called.issuperset(sure[:2])):
        return False
    first = sure[0]
    if len(sure) > 1 and scores[first] == scores[sure[1]]:
        return True
    if any(m.topic == first and part in ("replaced", "asked") for m, part in parts):
        return False
    if said[first] <= SURE and len(text.words) > LONG:
        return True
    others = said.copy()
    for topic in (first, *wanted):
        others[topic] = 0
    return said[first] + (first in called) <= max(*others, task - 1)


_HINTS: Final[dict[Part, int]] = {"wanted": 0, "replaced": 3, "asked": 3, "present": 1}
_HINTS_2: Final[dict[Part, int]] = _HINTS | {"replaced": 5}
"""What a value says for its topic, where none of the topic is wanted."""


def _is_near(at: int, others: list[int], most: int = BESIDE) -> bool:
    return any(abs(at - other) <= most for other in others)


def _language(text: Text, finder: Finder) -> Language:
    words = text.present
    lean = len(words & finder.german) - len(words & finder.english)
    return "de" if lean > 0 or (not lean and _has_umlaut(text)) else "en"


def _has_umlaut(text: Text) -> bool:
    return not _UMLAUTS.isdisjoint(text.line)


_UMLAUTS: Final = frozenset("\u00e4\u00f6\u00fc\u00df")


def _is_upgrade(text: Text) -> bool:
    """Whether a number is followed by another: a new version is no decision between options."""
    if _TO.isdisjoint(text.present) or not any(map(str.isdecimal, text.present)):
        return False
    words = text.words
    for at in [at for at, word in enumerate(words) if word in _TO]:
        if words[at - 1].isdecimal() and at > 2:
            return any(near.isdecimal() for near in words[at + 1 : at + 3])
    return False


_TO: Final = frozenset(("to", "auf", "->", "=>", "\u2192"))


def _own_name(
    text: Text,
    seen: Seen,
    parts: list[tuple[Mention, Part]],
    left: list[int],
    finder: Finder,
    tongue: Language,
) -> Mention | None:
    """A name that no pack knows, where a sentence uses it for a topic or in place of a value."""
    typed = text.typed
    for role in (LINKS, USING):
        for _, at in seen.roles[role]:
            if text.words[at - 1] == "by":
                continue  # a person does it
            end = at
            while end - at < OWN_MAX and _is_name(typed[end], tongue):
                end += 1
            if end == at or starting(at, end, seen.hits):
                continue
            gone = [m.topic for m, part in parts if part == "replaced" and -1 < at - m.end <= NEAR]
            near = around(at, seen.hits, finder.speaks)
            named = [*left, *(topic for _, topic in seen.called)]
            topics = gone if role == LINKS else [topic for topic in named if topic in near]
            wanted = {mention.topic for mention, part in parts if part == "wanted"}
            for topic in [topic for topic in topics if topic not in wanted][:1]:
                return Mention(at, end, topic, " ".join(typed[at:end]), False)
    return None


def _is_name(typed: str, tongue: Language) -> bool:
    """Whether a word is written as a name; German writes every noun with a capital letter."""
    if typed.islower() or typed.isupper() or not typed[0].isalpha():
        return False
    return (tongue == "en" and typed[0].isupper()) or any(not c.islower() for c in typed[1:])
