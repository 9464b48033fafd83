"""Where a plan says what the team decided against (docs/specs/compiler.md, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from preflights_es.features.compiler.domain.values import DecidedField, ReadDecision
from preflights_es.kernel.completions import quoted
from preflights_es.kernel.statements import (
    Placed,
    Statement,
    against,
    names_another,
    stated_against,
)
from preflights_es.kernel.words import words

VALUES: Final = ("/constraints/languages/", "/constraints/architecture")
"""Beginnings of places of which a whole text is a value: standing there states it."""
_ENDINGS: Final = ("en", "es", "e", "n", "s")


def contradictions(
    texts: Iterable[Placed], decisions: Iterable[ReadDecision]
) -> Iterator[tuple[str, str]]:
    """Pairs of a place that states another value than a decision in force has, and what it says.

    Each option of a decision is found once, where it is stated first.
    """
    placed = tuple(texts)
    for decision, field in _fields(decisions):
        seen = set[str]()
        for pointer, text in placed:
            value = _stated(pointer, text, field, decision.scope)
            if value and value not in seen:
                seen.add(value)
                yield pointer, _message("states", value, decision, field)


def mentions(
    texts: Iterable[Placed], decisions: Iterable[ReadDecision]
) -> Iterator[tuple[str, str]]:
    """Pairs of a place that names another option and states nothing of it, and what it says.

    It is told and never blocks. Of a decision whose own value is named nothing is.
    """
    placed = tuple(texts)
    whole = "\n".join(text for _, text in placed).casefold()
    for decision, field in _fields(decisions):
        stating = {at for at, text in placed if _stated(at, text, field, decision.scope)}
        for option, pointer in against(placed, whole, field):
            if pointer not in stating:
                yield pointer, _message("names", option, decision, field)


def _fields(decisions: Iterable[ReadDecision]) -> Iterator[tuple[ReadDecision, DecidedField]]:
    return ((decision, field) for decision in decisions for field in decision.fields)


def _message(says: str, value: str, decision: ReadDecision, field: DecidedField) -> str:
    scope = f" of {quoted(decision.scope)}" if decision.scope else ""
    return (
        f"{says} {quoted(value)}, but the decision {decision.uid} "
        f"has {quoted(field.value)} for {quoted(field.name)}{scope}"
    )


def _stated(pointer: str, text: str, field: DecidedField, scope: str) -> str:
    """The other value that a text states where the decision holds; empty where none."""
    if pointer.startswith(VALUES):
        return text if not scope and names_another(text, field) else ""
    said = stated_against(text, field)
    return said.value if said is not None and _holds(scope, said) else ""


def _holds(scope: str, said: Statement) -> bool:
    """Whether a decision of a scope says something of a statement; one of all does of any.

    What replaces the decided value, and says not where, replaces it there too.
    """
    if not scope or (said.replaced and not said.scope):
        return True
    return _stems(scope) == _stems(said.scope)


def _stems(scope: str) -> frozenset[str]:
    """Words of a scope without their endings. Where that is wrong, it is told as a mention."""
    return frozenset(map(_stem, words(scope)))


def _stem(word: str) -> str:
    return next((word.removesuffix(end) for end in _ENDINGS if word.endswith(end)), word)
