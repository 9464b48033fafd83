"""What a simulator is made of: draws that follow from a key, and the routes that use them.

A draw is taken from SHA-256 in counter mode over a length-prefixed key, never from a running
generator: what is drawn depends on nothing but the key, in any order of calls, on any platform and
under any version of Python. Providers and workflows both import this module, so that a workflow can
hand its generators to a simulator that knows no workflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count
from struct import Struct
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from preflights_es.kernel.completions import CompletionRequested, Message
from preflights_es.kernel.json import canonical_json

if TYPE_CHECKING:
    from hashlib import _Hash


T = TypeVar("T")

GENERATION: Final = "simllm/1"
"""Part of every key. A change to what an old key draws needs a new generation."""

BELOW_MAX: Final = 1 << 32  # options of one draw; keeps its bias below 2**-32

_FOUR = Struct(">4Q").unpack
_LENGTH = Struct(">Q").pack
_UNIT: Final = 2.0**-53


# 1. Keys -------------------------------------------------------------------------------------


def framed(*parts: str) -> bytes:
    """Each part behind its length, so that no two lists of parts have one encoding.

    Lone surrogates are kept as their own three bytes.
    """
    frames: list[bytes] = []
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        frames += (_LENGTH(len(data)), data)
    return b"".join(frames)


def begin_draw_key(domain: str, seed: int) -> _Hash:
    """The beginning of every key of a seed in one domain: copy it, add what is drawn for.

    The seed is written in hexadecimal with its sign, which has no limit of digits.

    Raises:
        ValueError: the seed is not a whole number; `True` is refused too.
    """
    given: object = seed
    if not isinstance(given, int) or isinstance(given, bool):
        raise ValueError(f"the seed is {given!r}, expected an int")
    return sha256(framed(GENERATION, domain, f"{given:x}"))


def prompt_of(messages: Sequence[Message]) -> bytes:
    """A conversation as the prompt of a key.

    The words of a person alone are one frame; anything else is role and content of each message, in
    turn. So `complete(text)` and a request with that one message are one prompt.
    """
    if len(messages) == 1 and messages[0].role == "user":
        return framed(messages[0].content)
    return framed(*(part for m in messages for part in (m.role, m.content)))


# 2. Draws ------------------------------------------------------------------------------------


def _numbers(root: _Hash) -> Iterator[int]:
    """Numbers of 64 bits, four a digest."""
    for block in count():
        hashed = root.copy()
        hashed.update(_LENGTH(block))
        yield from _FOUR(hashed.digest())


class Draws:
    """Chance that a key decides: the same key, the same draws."""

    __slots__ = ("_next",)

    def __init__(self, root: _Hash) -> None:
        self._next = _numbers(root).__next__

    @classmethod
    def of(cls, *parts: str) -> Draws:
        """Draws of their own, for a key made of these parts."""
        return cls(sha256(framed(GENERATION, *parts)))

    def below(self, options: int) -> int:
        """0 up to, and without, the number of options.

        Raises:
            ValueError: there is nothing to choose from, or too much.
        """
        if not 0 < options <= BELOW_MAX:
            raise ValueError(f"found {options!r} options, expected 1 to {BELOW_MAX:,}")
        return self._next() * options >> 64

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + self.below(high - low + 1)

    def unit(self) -> float:
        """At least 0.0 and less than 1.0."""
        return (self._next() >> 11) * _UNIT

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens: never at 0.0, always at 1.0."""
        return self.unit() < probability

    def pick(self, options: Sequence[T]) -> T:
        """One of them."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[T], weights: Sequence[int]) -> T:
        """One of them, each as often as its weight says; those of weight 0 never."""
        at = self.below(sum(weights))
        for option, weight in zip(options, weights, strict=True):
            at -= weight
            if at < 0:
                return option
        raise ValueError("weights are not negative")

    def sample(self, options: Sequence[T], size: int) -> list[T]:
        """So many different ones, in the order they were drawn; all where there are fewer."""
        left = list(options)
        drawn: list[T] = []
        for _ in range(min(size, len(left))):
            at = self.below(len(left))
            drawn.append(left[at])
            left[at] = left[-1]
            left.pop()
        return drawn

    def hex(self) -> str:
        """Sixteen hexadecimal digits."""
        return f"{self._next():016x}"


def write_json_reply(draws: Draws, payload: object, prose: Sequence[str] = ()) -> str:
    """A payload as a model writes it: at times behind one of `prose`, or in a fence."""
    text = canonical_json(payload).decode()
    if prose and draws.chance(0.15):
        return draws.pick(prose) + text
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


# 3. Routes -----------------------------------------------------------------------------------

Generator = Callable[[Draws, CompletionRequested], str]
"""Writes the response to a request, as text; pure, and total over every request."""


class Route(msgspec.Struct, frozen=True):
    """A kind of prompt: what it says, and what answers it."""

    generate: Generator
    phrases: tuple[str, ...] = ()
    """One of these in a prompt is enough; words, in lower case, of ASCII."""
    keywords: tuple[str, ...] = ()
    """All of these, in any order and inflection; `a|b` where a word has forms of its own."""


Bank = Mapping[str, Route]
"""Routes by name, in the order in which they are tried.

A request whose contract or prompt file bears the name of a route, with or without its version, goes
there whatever it says.
"""


Reference = Callable[[CompletionRequested], str]
"""Writes what the rules answer to a request; pure, and total over whatever it holds."""

References = Mapping[str, Reference]
"""By the contract's name, without its version."""
