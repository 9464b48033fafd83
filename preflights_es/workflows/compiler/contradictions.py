"""Where a plan names what the team decided against (docs/specs/compiler.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterable

from preflights_es.core.contradictions import Placed, against
from preflights_es.core.verdict import VIOLATIONS_MAX, Violation, quoted
from preflights_es.workflows.compiler.values import ReadDecision


def contradictions(
    texts: Iterable[Placed], decisions: Iterable[ReadDecision]
) -> tuple[Violation, ...]:
    """Where texts name another option of a decided question, and its decided value nowhere.

    Each option is found once, where it is named first; at most `VIOLATIONS_MAX`.
    """
    decided = tuple(decisions)
    placed = tuple(texts) if decided else ()
    whole = "\n".join(text for _, text in placed).casefold()
    found: list[Violation] = []
    for decision in decided:
        for field in decision.fields:
            for option, pointer in against(placed, whole, field):
                message = (
                    f"names {quoted(option)}, but the decision {decision.uid} "
                    f"has {quoted(field.value)} for {quoted(field.name)}"
                )
                found.append(Violation(pointer, message))
            if len(found) >= VIOLATIONS_MAX:
                return tuple(found[:VIOLATIONS_MAX])
    return tuple(found)
