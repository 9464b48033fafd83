"""How many tokens a text has, estimated without a tokenizer (decision 21).

The most frequent pieces of words of `o200k_base` lie beside this module, in the order in which its
tokenizer joins them. What they leave in several parts, all 200,000 would join further; by how much
is known on average.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Final

from preflights_es.kernel.late_pattern import late_pattern

ABOVE: Final = 1.015  # of the average: a whole brief is never below its count
FIRST: Final = 0.242  # of a word in parts
EACH: Final = 0.41  # and each of its parts
LONG: Final = 12  # letters of a word that is a compound,
LETTER: Final = 0.255  # of which each letter counts at least so much
SIGN: Final = 0.75  # each of several signs in a run
RANDOM: Final = ((5, 1.8), (3, 1.4))
"""From how many parts on a word is of no language that has fewer letters a part than this; all its
parts count, as they do of a word without a vowel, and of one with two capitals, as `APIs`."""
_VOWELS: Final = frozenset("aeiouyAEIOUY\u00e4\u00f6\u00fc\u00c4\u00d6\u00dc")
_WORDS: Final = """
ADR Ask Because Decisions Nothing Proposed anything conflict decide decisions force holds inbox
instructions lines quote reconsider records
"""
_OWN: Final = frozenset(_WORDS.split())
"""Words that stand in every brief, and are one token each."""

# Where the tokenizer parts a text before it joins anything: words at capitals, numbers at three.
_PIECE = late_pattern(
    r"(?:[^\w\r\n]|_)?(?:[A-Z\u00c4\u00d6\u00dc]*[a-z\u00e4\u00f6\u00fc\u00df]+|[A-Z\u00c4\u00d6\u00dc]+)"
    r"|[0-9]{1,3}| ?(?:[!-/:-@\[-`{-~])+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+|.",
    0,
)


def cost(text: str) -> float:
    """How many tokens a text has: 1.00 to 1.15 times the count of a whole brief."""
    return sum(map(_piece_cost, _PIECE.findall(text))) * ABOVE


@cache
def _piece_cost(piece: str) -> float:
    last = piece[-1]
    if last.isalpha() and (last.isascii() or last in "\u00e4\u00f6\u00fc\u00df\u00c4\u00d6\u00dc"):
        if piece[0] == " " or piece[0].isalpha():
            return _word_cost(piece)
        return _rare_cost(piece[0]) + _word_cost(piece[1:])
    if not piece.isascii():
        return _rare_cost(last)
    return 1.0 if piece.isdigit() else max(1.0, SIGN * len(piece.strip()))


def _rare_cost(sign: str) -> float:
    """The bytes of rare scripts are a token each; letters of common ones share some."""
    if sign.isascii():
        return 1.0
    return 1.15 if sign < "\u0250" else float(len(sign.encode()))


def _word_cost(word: str) -> float:
    bare = word.strip()
    if len(word) == 1 or bare in _OWN or (parts := _parts(word)) == 1:
        return 1.0
    least = next((letters for most, letters in RANDOM if parts >= most), 0.0)
    is_odd = bare[:2].isupper() and not bare.isupper()
    if is_odd or len(bare) < least * parts or _VOWELS.isdisjoint(bare):
        return float(parts)
    return max(1.0, FIRST + EACH * parts, LETTER * len(bare) if len(bare) >= LONG else 0.0)


def _parts(word: str) -> int:
    """In how many parts the pieces leave a word: those of the lowest rank are joined first."""
    ranks, parts = _ranks(), list(word)
    if word in ranks:
        return 1
    last = len(ranks)
    joined = [ranks.get(one + other, last) for one, other in pairwise(parts)]
    while joined and (least := min(joined)) < last:
        n = joined.index(least)
        parts[n : n + 2] = [parts[n] + parts[n + 1]]
        del joined[n]
        if n < len(joined):
            joined[n] = ranks.get(parts[n] + parts[n + 1], last)
        if n:
            joined[n - 1] = ranks.get(parts[n - 1] + parts[n], last)
    return len(parts)


@cache
def _ranks() -> dict[str, int]:
    """By piece of a word: its place among them."""
    # The file is part of the program; importlib.resources would cost as much as a whole brief.
    assert __spec__ is not None, "a module of a package"
    name = __file__.rpartition("token_")[0] + "token_pieces.txt"
    data: bytes = __spec__.loader.get_data(name)  # type: ignore[union-attr]
    return {piece: rank for rank, piece in enumerate(data.decode().splitlines())}
