"""Tags of the past, and what their payloads become."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from preflights_es.features.clarification.domain.events import (
    DecisionAcknowledged,
    IntentionDeclared,
)
from preflights_es.kernel.events import UNSEEN
from preflights_es.kernel.session import Upcaster


def declared_v2(old: dict[str, Any]) -> dict[str, Any]:
    """An intention recorded before there were packs of topics, and sources of what was read."""
    known = old.get("known", [])
    if (
        found := {"supersedes_source", "pack", "inlined", "language", "supersedes_file"}
        & old.keys()
    ):
        raise ValueError(f"a field that came later: {min(found)!r}")
    if any("source" in one for one in known):
        raise ValueError("a field that came later: 'source'")
    told = [{**one, "source": None} for one in known]
    later = {"supersedes_source": None, "pack": None, "inlined": "", "language": None}
    return {**old, "known": told, **later, "supersedes_file": ""}


def acknowledged_v2(old: dict[str, Any]) -> dict[str, Any]:
    """An acknowledgement recorded before the field for who passed a person's word on."""
    if found := {"relayed_by", "evidence"} & old.keys():
        raise ValueError(f"a field that came later: {min(found)!r}")
    return {**old, "relayed_by": None, "evidence": to_builtins(UNSEEN)}


UPCASTERS: dict[str, Upcaster] = {
    "clarification.intention_declared.v1": (IntentionDeclared.tag, declared_v2),
    "clarification.decision_acknowledged.v1": (DecisionAcknowledged.tag, acknowledged_v2),
}
"""Maps an old tag to the newer tag and to the function that converts the payload."""
