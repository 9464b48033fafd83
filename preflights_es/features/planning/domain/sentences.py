"""What a person reads of a plan, in the language of the session (seed 3)."""

from __future__ import annotations

from typing import Final, Literal

from preflights_es.features.planning.domain.values import LeftOut, Reason, Task, Warned
from preflights_es.kernel.questions import Language

Why = Literal["overdue", "important", "deep_work", "longest", "short", "part"]
"""The rule that found the focus."""

UNAVAILABLE: Final[dict[Language, str]] = {
    "en": "AI not available. Choose yourself?",
    "de": "KI nicht verfügbar. Selbst auswählen?",
}
CHOSEN: Final[dict[Language, str]] = {
    "en": "Chosen by hand.",
    "de": "Von Hand gewählt.",
}
MINIS_ALONE: Final[dict[Language, str]] = {
    "en": "No task is long enough for a focus: small ones fill the time.",
    "de": "Keine Aufgabe ist lang genug für einen Fokus: kleine füllen die Zeit.",
}
MINIS_FIRST: Final[dict[Language, str]] = {
    "en": "Small tasks fill the time: the longer ones come after others.",
    "de": "Kleine Aufgaben füllen die Zeit: die längeren kommen erst nach anderen.",
}
SPLIT: Final[dict[Language, str]] = {
    "en": "“{}” takes more than two hours: split it.",
    "de": "„{}“ dauert mehr als zwei Stunden: teile sie auf.",
}
QUOTED: Final[dict[Language, str]] = {"en": "“{}”", "de": "„{}“"}
WARNINGS: Final[dict[Warned, dict[Language, str]]] = {
    "no_tasks": {"en": "No open tasks.", "de": "Keine offenen Aufgaben."},
    "no_focus": {
        "en": "No task is long enough for a focus.",
        "de": "Keine Aufgabe ist lang genug für einen Fokus.",
    },
    "focus_waits": {
        "en": "Each task that is long enough for a focus comes after another.",
        "de": "Jede Aufgabe, die lang genug für einen Fokus ist, kommt erst nach einer anderen.",
    },
    "no_room": {
        "en": "No room for new tasks today.",
        "de": "Heute ist kein Platz für neue Aufgaben.",
    },
    "short_focus": {
        "en": "The focus takes less than an hour: no task of an hour fits.",
        "de": "Der Fokus dauert weniger als eine Stunde: keine Aufgabe von einer Stunde passt.",
    },
    "focus_cut": {
        "en": "Too little time: the focus is cut to an hour.",
        "de": "Zu wenig Zeit: der Fokus ist auf eine Stunde gekürzt.",
    },
    "mini_dropped": {
        "en": "Too little time: a small task is left out.",
        "de": "Zu wenig Zeit: eine kleine Aufgabe entfällt.",
    },
}
LEFT_OUT: Final[dict[Reason, dict[Language, str]]] = {
    "no_room": {
        "en": "{minutes} minutes do not fit into {room}",
        "de": "{minutes} Minuten passen nicht in {room}",
    },
    "no_time": {"en": "too little time", "de": "zu wenig Zeit"},
    "waits": {"en": "it comes after {other}", "de": "kommt erst nach {other}"},
    "too_short": {
        "en": "it takes less than 5 minutes",
        "de": "dauert weniger als 5 Minuten",
    },
    "between": {
        "en": "{minutes} minutes are too long for a small task, and too short for a focus",
        "de": "{minutes} Minuten sind zu lang für eine kleine Aufgabe und zu kurz für einen Fokus",
    },
    "important": {
        "en": "it is important, and too short for a focus",
        "de": "wichtig, und zu kurz für einen Fokus",
    },
    "one_focus": {"en": "a plan has one focus", "de": "ein Plan hat einen Fokus"},
    "two_minis": {
        "en": "a plan has two small tasks",
        "de": "ein Plan hat zwei kleine Aufgaben",
    },
    "no_focus": {
        "en": "nothing is planned where no focus fits",
        "de": "ohne Fokus wird nichts geplant",
    },
    "not_chosen": {"en": "it was not chosen", "de": "nicht ausgewählt"},
}
REASONS: Final[dict[Why, dict[Language, str]]] = {
    "overdue": {"en": "{} comes first: it is overdue.", "de": "{} zuerst: überfällig."},
    "important": {"en": "{} comes first: it is important.", "de": "{} zuerst: wichtig."},
    "deep_work": {
        "en": "{} comes first: it needs deep work.",
        "de": "{} zuerst: braucht Konzentration.",
    },
    "longest": {
        "en": "{} comes first: it is the longest that fits a focus.",
        "de": "{} zuerst: die längste Aufgabe, die in einen Fokus passt.",
    },
    "short": {
        "en": "{} comes first: no task takes an hour or more.",
        "de": "{} zuerst: keine Aufgabe dauert eine Stunde.",
    },
    "part": {
        "en": "A part of {}: every task is too long for one day.",
        "de": "Ein Teil von {}: jede Aufgabe ist zu lang für einen Tag.",
    },
}


def reasoning(language: Language, focus: Task, why: Why) -> str:
    """Why the rules chose the focus."""
    return REASONS[why][language].format(QUOTED[language].format(focus.title))


def left_out(language: Language, one: LeftOut, other: str) -> str:
    """Why a task is left out.

    Args:
        other: title of the task that goes before it.
    """
    named = QUOTED[language].format(other)
    told = {"minutes": one.minutes, "room": one.room, "other": named}
    return LEFT_OUT[one.reason][language].format(**told)


def split(language: Language, title: str) -> str:
    """The advice for a task that is too long."""
    return SPLIT[language].format(title)
