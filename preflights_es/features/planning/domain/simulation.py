"""What the simulator answers in place of a model that plans.

It varies around the schedule by seed, within the rules: another focus that fits, fewer minis,
another buffer, prose and properties that a contract drops.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from preflights_es.features.planning.domain import schedule, sentences
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.questions import Language
from preflights_es.kernel.simulation import Bank, Draws, References, Route

_DAY = re.compile(
    r"^Language: (?P<language>en|de)\n.*?^Day:\n(?P<day>\{.*)\Z", re.DOTALL | re.MULTILINE
)
_PROSE = ("Here is a plan:\n", "Hier ist der Plan:\n", "")
_NOTHING = Day("", 0, 0, None, (), ())


def planning(request: CompletionRequested) -> str:
    """The plan of the rules, as a model would answer it."""
    day, language = _parts(request)
    return encoded(_payload(day, language)).decode()


def varied(draws: Draws, request: CompletionRequested) -> str:
    """A `planning.v1` around the plan of the rules."""
    day, language = _parts(request)
    payload = _payload(day, language)
    others = [task for task, _ in schedule.focuses(day) if schedule.can_be_focus(day, task)]
    fitting = [task for task in others if schedule.fits(day, task)]
    if fitting and draws.chance(0.3):
        focus = draws.pick(tuple(fitting))
        payload["focus_task_id"] = focus.id
        payload["mini_task_ids"] = [task.id for task in schedule.minis(day, focus)]
        payload["reasoning"] = sentences.CHOSEN[language]
    if payload["mini_task_ids"] and draws.chance(0.3):
        fewer = payload["mini_task_ids"][:-1]
        named = [task for task in day.tasks if task.id in (payload["focus_task_id"], *fewer)]
        payload["mini_task_ids"] = payload["mini_task_ids"] if schedule.unmet(day, named) else fewer
    if draws.chance(0.4):
        payload["buffer_minutes"] = draws.between(10, 30)
    if draws.chance(0.1):
        payload["mood"] = draws.pick(("busy", "calm"))  # a property that no contract knows yet
    text = encoded(payload).decode()
    if draws.chance(0.15):
        return draws.pick(_PROSE) + text
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


def _payload(day: Day, language: Language) -> dict[str, Any]:
    plan = schedule.planned(day, language)
    return {
        "focus_task_id": plan.focus_task_id,
        "mini_task_ids": list(plan.mini_task_ids),
        "buffer_minutes": plan.buffer_minutes,
        "reasoning": plan.reasoning or sentences.WARNINGS["no_room"][language],
    }


def _parts(request: CompletionRequested) -> tuple[Day, Language]:
    """The day and the language, as the request says them; nothing where it says none."""
    said = next((m.content for m in request.messages if m.role == "user"), "")
    found = _DAY.search(said)
    if found is None:
        return _NOTHING, "en"
    try:
        day = msgspec.json.decode(found["day"], type=Day)
    except msgspec.MsgspecError:
        return _NOTHING, "en"
    return day, "de" if found["language"] == "de" else "en"


BANK: Bank = {
    "planning": Route(varied, ("plan a day",)),
}
REFERENCES: References = {"planning": planning}
