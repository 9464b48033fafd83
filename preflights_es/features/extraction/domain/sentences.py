"""What a person reads of an extraction, in the language that the note was taken in (seed 3)."""

from __future__ import annotations

from typing import Final

from preflights_es.kernel.questions import Language

UNPROCESSED: Final[dict[Language, str]] = {
    "en": "Could not process this. Please create it by hand.",
    "de": "Konnte nicht verarbeiten. Bitte manuell erstellen.",
}
WHEN_ONE: Final[dict[Language, str]] = {
    "en": "When is {}?",
    "de": "Wann findet {} statt?",
}
WHEN_MANY: Final[dict[Language, str]] = {
    "en": "When are {}?",
    "de": "Wann finden {} statt?",
}
QUOTED: Final[dict[Language, str]] = {"en": "“{}”", "de": "„{}“"}
