"""Which generator a prompt goes to: by name, else by its instruction, else by its data."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.simulation import Bank, Route
from preflights_es.providers.simulated.words import WORD, instruction_of

CACHED: Final = 256  # instructions whose route is remembered
CACHED_MAX: Final = 16_384  # characters of an instruction that is remembered

ROUTE: Final = "route"
"""The parameter of a request by which a caller names a route."""

_ENDINGS = "s|es|d|ed|ing|er|ers|or|ors|ion|ions"
_Matcher = Callable[[str], bool]


class Router:
    """The first route of a table that a prompt asks for."""

    def __init__(self, bank: Bank, default: str) -> None:
        self._bank = bank
        self._default = default
        self._table = [(name, matcher(route)) for name, route in bank.items()]
        self._remembered = lru_cache(maxsize=CACHED)(self._said)

    def route(self, request: CompletionRequested) -> str:
        """The name of the route.

        Raises:
            ValueError: the caller names one that does not exist.
        """
        if request.parameters or request.contract or request.prompts:
            named = self._named(request)
            if named is not None:
                return named
        instruction, data = instruction_of(request)
        if len(instruction) > CACHED_MAX:
            found = self._said(instruction)
        else:
            found = self._remembered(instruction)
        return found or (self._said(data) if data else None) or self._default

    def _named(self, request: CompletionRequested) -> str | None:
        for parameter, value in request.parameters:
            if parameter == ROUTE:
                if value not in self._bank:
                    message = f"no route {value!r}: expected one of {', '.join(self._bank)}"
                    raise ValueError(message)
                return value
        for name in (request.contract, *(prompt for prompt, _ in request.prompts)):
            for candidate in (name, unversioned(name)):
                if candidate in self._bank:
                    return candidate
        return None

    def _said(self, text: str) -> str | None:
        lowered = text.lower()
        return next((name for name, asks in self._table if asks(lowered)), None)


def unversioned(name: str) -> str:
    """`clarify` for `clarify.v1`."""
    bare, dot, version = name.rpartition(".v")
    return bare if dot and version.isdigit() else name


def matcher(route: Route) -> _Matcher:
    """Whether a text in lower case asks for a route; whole words alone count.

    Each pattern has a guard, a piece of text that is in every match: finding it is several times
    as fast as the pattern.
    """
    phrases = [(_guard(p.split()[0]), _whole(_phrase(p))) for p in map(str.lower, route.phrases)]
    keywords = [
        (tuple(_guard(form) for form in keyword.split("|")), _whole(_family(keyword)))
        for keyword in map(str.lower, route.keywords)
    ]

    def asks(text: str) -> bool:
        for guard, pattern in phrases:
            if guard in text and pattern.search(text):
                return True
        if not keywords:
            return False
        for guards, _ in keywords:
            if not any(guard in text for guard in guards):
                return False
        return all(pattern.search(text) for _, pattern in keywords)

    return asks


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?<![{WORD}])(?:{pattern})(?![{WORD}])")


def _phrase(phrase: str) -> str:
    """Its words, with blanks, hyphens or underscores between them."""
    return r"[\s_-]+".join(re.escape(word) for word in phrase.split())


def _family(keyword: str) -> str:
    """Every form of a word: `rewrite` with rewrites, rewriting; `query` with queries."""
    return "|".join(_inflected(form) for form in keyword.split("|"))


def _inflected(word: str) -> str:
    if word.endswith("e"):
        return f"{re.escape(word[:-1])}(?:e|{_ENDINGS})"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{re.escape(word[:-1])}(?:y|ys|ies|ied|ier|iers|ying)"
    return f"{re.escape(word)}(?:{_ENDINGS})?"


def _guard(word: str) -> str:
    return word[:-1] if word.endswith(("e", "y")) else word
