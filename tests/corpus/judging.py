"""How good the questions of pack `standard.v2` are on the labelled intentions.

`python -m tests.corpus.judging` prints the result on the four fifths that words are written with;
with `--held-out` that on the rest, which is looked at once (README.md).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Final

from preflights_es.workflows.clarification.index import finder_of
from preflights_es.workflows.clarification.pack import STANDARD, WordedTopic, worded
from preflights_es.workflows.clarification.terms import folded
from preflights_es.workflows.clarification.topics import Found, find
from tests.corpus.test_corpus import HERE, Intention, intentions

TOPICS: Final = {topic.id: topic for topic in worded(STANDARD).topics}


def judged(one: Intention, found: Found) -> set[str]:
    """What is true of a reaction.

    `right`: one of those that the label accepts. `useful`: right, or one open question where a
    choice is open. `fits`: a menu of a labelled topic. `irrelevant`: a menu of another one, or
    where none is right. `asked_again`: a question about a value that the intention states.
    """
    expected = {one.expect, *one.also}
    asked = found.topics[0] if found.kind == "choice" else ""
    said = {named.topic: named.value for named in found.stated}
    verdict = set()
    match found.kind:
        case "choice":
            verdict.add("fits" if asked in one.topics else "irrelevant")
            is_right = "choice" in expected and asked in one.topics
        case "stated":
            is_right = "stated" in expected and any(
                _is_same(TOPICS[topic], value, one.stated.get(topic, ""))
                for topic, value in said.items()
            )
        case _:
            is_right = found.kind in expected
    if asked in one.stated:
        verdict.add("asked_again")
    if is_right:
        verdict.add("right")
    if is_right or (found.kind == "open" and one.expect == "choice"):
        verdict.add("useful")
    return verdict


def _is_same(topic: WordedTopic, value: str, labelled: str) -> bool:
    tables = (topic.values, topic.loose, topic.shared)
    parts = value.split(", ")
    spellings = [value, *parts, *chain.from_iterable(t.get(v, ()) for t in tables for v in parts)]
    plain = _plain(labelled)
    return bool(plain) and any(plain in _plain(one) or _plain(one) in plain for one in spellings)


def _plain(text: str) -> str:
    return "".join(letter for letter in folded(text) if letter.isalnum())


def counted(lines: Iterable[Intention]) -> Counter[str]:
    """How many lines there are, also of each class, and of how many each verdict is true."""
    counts: Counter[str] = Counter()
    index = finder_of(STANDARD)
    for one in lines:
        verdict = judged(one, find(one.text, index))
        counts.update(("lines", one.expect, *verdict))
        counts.update(f"{one.expect} {name}" for name in verdict)
    return counts


def is_held_out() -> frozenset[str]:
    """Ids of the lines that words are not written with."""
    return frozenset((HERE / "held_out.txt").read_text(encoding="utf-8").split())


if __name__ == "__main__":
    held_out = is_held_out()
    wanted = "--held-out" in sys.argv
    counts = counted(one for one in intentions() if (one.id in held_out) == wanted)
    for name, count in sorted(counts.items()):
        print(f"{name:<24}{count:>5}")
