"""What the simulator and the reference answer in place of a model that extracts.

The simulator varies around the reference by seed: durations, importances and confidences that
the note does not give, other titles, prose and properties that a contract drops, a question too
many. It stays within the contract, so that it finds our bugs and not its own.
"""

from __future__ import annotations

import re
from typing import Any

from preflights_es.features.extraction.domain import reading
from preflights_es.features.extraction.domain.values import TITLE_MAX
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import RETRY
from preflights_es.kernel.questions import Language
from preflights_es.kernel.simulation import Bank, Draws, References, Route

_NOTE = re.compile(
    r"\ANoted at: (?P<noted>[^\n]*)\nLanguage: (?P<language>[a-z]+)\n\nNote:\n(?P<note>.*)\Z",
    re.DOTALL,
)
_MORE = {"en": "What matters most of it?", "de": "Was davon ist am wichtigsten?"}
_PROSE = ("Here is what I found:\n", "Hier ist das Ergebnis:\n", "")


def extraction(request: CompletionRequested) -> str:
    """What the rules read out of the note, and of the answer where there is one."""
    return encoded(_read(request)).decode()


def varied(draws: Draws, request: CompletionRequested) -> str:
    """An `extraction.v1` around what the rules read."""
    payload = _read(request)
    payload["items"] = [_varied(draws, item) for item in payload["items"]]
    if draws.chance(0.1) and "question" not in payload and not _answer(request):
        payload["question"] = {"question": _MORE[_parts(request)[0]], "field": "importance"}
    if draws.chance(0.1):
        payload["mood"] = draws.pick(("busy", "calm"))  # a property that no contract knows yet
    text = encoded(payload).decode()
    if draws.chance(0.15):
        return draws.pick(_PROSE) + text
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


def _varied(draws: Draws, item: dict[str, Any]) -> dict[str, Any]:
    item = {**item, "confidence": draws.between(30, 100) / 100}
    if item["type"] == "task":
        if "duration_min" not in item and draws.chance(0.5):
            low = 5 * draws.between(1, 12)
            item |= {"duration_min": low, "duration_max": low + 5 * draws.below(13)}
        if "importance" not in item and draws.chance(0.4):
            item["importance"] = draws.pick(("low", "normal", "high"))
    if item["type"] == "idea" and draws.chance(0.3):
        item["content"] = item["title"]
    if draws.chance(0.2):
        item["title"] = (item["title"][:1].upper() + item["title"][1:])[:TITLE_MAX]
    return item


def _read(request: CompletionRequested) -> dict[str, Any]:
    language, note, noted = _parts(request)
    return reading.extracted(note, language, _answer(request), noted)


def _parts(request: CompletionRequested) -> tuple[Language, str, str]:
    """The language of the question, the note and its day, as the request says them."""
    said = [m.content for m in request.messages if m.role == "user"]
    text = said[0] if said else ""
    found = _NOTE.match(text)
    if found is None:
        return "en", text, ""
    language: Language = "de" if found["language"] == "de" else "en"
    return language, found["note"], found["noted"][:10]


def _answer(request: CompletionRequested) -> str:
    """The person's answer: what follows the accepted reply, but for the sentence of a retry."""
    spoken = [m.content for m in request.messages if m.role != "system"]
    if request.attempt > 1 and spoken[-1].startswith(RETRY):
        del spoken[-2:]
    return spoken[2] if len(spoken) > 2 else ""


BANK: Bank = {
    "extraction": Route(varied, ("extract items",), ("extract|extraction", "note")),
}
REFERENCES: References = {"extraction": extraction}
