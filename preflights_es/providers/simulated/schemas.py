"""What the simulator's own JSON routes answer, as JSON Schema 2020-12."""

from __future__ import annotations

from typing import Any, Final

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

ENTITY_TYPES: Final = ("person", "organization", "place", "technology", "date", "topic")
ENTITIES_MAX: Final = 12
QUERIES_MAX: Final = 5
EVOLUTIONS: Final = ("update", "extend", "derive", "contradict", "none")
CATEGORIES: Final = (
    *("preferences", "people", "work", "places", "events"),
    *("health", "finance", "learning", "technology", "facts"),
)
CATEGORIES_MAX: Final = 3

_CONFIDENCE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": 300}

SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "extract_entities": {
        "$schema": DIALECT,
        "type": "object",
        "required": ["entities"],
        "additionalProperties": False,
        "properties": {
            "entities": {
                "type": "array",
                "maxItems": ENTITIES_MAX,
                "items": {
                    "type": "object",
                    "required": ["name", "type", "confidence"],
                    "additionalProperties": False,
                    "properties": {
                        "name": _TEXT,
                        "type": {"enum": list(ENTITY_TYPES)},
                        "confidence": _CONFIDENCE,
                    },
                },
            }
        },
    },
    "rewrite_query": {
        "$schema": DIALECT,
        "type": "array",
        "minItems": 1,
        "maxItems": QUERIES_MAX,
        "uniqueItems": True,
        "items": _TEXT,
    },
    "detect_evolution": {
        "$schema": DIALECT,
        "type": "object",
        "required": ["type", "reason", "confidence"],
        "additionalProperties": False,
        "properties": {
            "type": {"enum": list(EVOLUTIONS)},
            "reason": _TEXT,
            "confidence": _CONFIDENCE,
        },
    },
    "categorize": {
        "$schema": DIALECT,
        "type": "array",
        "minItems": 1,
        "maxItems": CATEGORIES_MAX,
        "uniqueItems": True,
        "items": {"enum": list(CATEGORIES)},
    },
}
"""By the name of the route; `generic` answers text and has none."""
