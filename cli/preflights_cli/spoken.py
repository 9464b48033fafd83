"""The sentences of a dialogue in the language of its questions: English, or German."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from preflights_es.use.results import Session

Say = Callable[..., str]
"""Takes an English sentence of ours and what stands in its braces."""

GERMAN: Final = {
    "This is about {topic}, as the intention says.": "Es geht um {topic}, wie die Absicht sagt.",
    "An answer is needed; Ctrl-D leaves it for later.": (
        "Es fehlt eine Antwort; Strg-D lässt sie für später."
    ),
    "There is no option {text}: give 1 to {most}, or the answer in words.": (
        "Es gibt keine Auswahl {text}: gib 1 bis {most} an, oder die Antwort in Worten."
    ),
    "Give a number from 1 to {most}, or the answer in your own words. "
    "Ctrl-D leaves it for later.": (
        "Gib eine Zahl von 1 bis {most} an, oder die Antwort in eigenen Worten. "
        "Strg-D lässt sie für später."
    ),
    "Give the answer in your own words. Ctrl-D leaves it for later.": (
        "Gib die Antwort in eigenen Worten. Strg-D lässt sie für später."
    ),
    "  Enter takes {option}.": "  Enter nimmt {option}.",
    "In your own words: ": "In eigenen Worten: ",
    "Why? (Enter to skip) ": "Warum? (Enter überspringt) ",
    "Give the reason in your own words; Enter goes on without one.": (
        "Gib den Grund in eigenen Worten; Enter geht ohne einen weiter."
    ),
    "Nothing was decided; accepting files a task without a decision.": (
        "Nichts ist entschieden; die Annahme legt eine Aufgabe ohne Entscheidung ab."
    ),
    "This becomes an architecture decision record:": "Daraus wird ein Architekturentscheid (ADR):",
    "This becomes a task:": "Daraus wird eine Aufgabe:",
    "[a]ccept, [r]evise, [e]dit the reasons, [l]eave? ": (
        "[a]nnehmen, [r]evidieren, Gründe [e]ditieren, [l]assen? "
    ),
    "Which answer?": "Welche Antwort?",
    "Give 1 to {most}.": "Gib 1 bis {most} an.",
    "In force:": "In Kraft:",
    "[k]eep it, [r]eplace it, [o]ther scope? Enter asks the question: ": (
        "behalten [k], e[r]setzen, für etwas anderes [o]? Enter stellt die Frage: "
    ),
    "For what? ": "Wofür? ",
    "It is at another place: begin again with --supersedes {name}.": (
        "Sie gilt an anderer Stelle: von vorn mit --supersedes {name}."
    ),
    "k keeps the first, k 2 the second; r replaces it; o asks what the new one is for; "
    "Enter asks the question.": (
        "k behält die erste, k 2 die zweite; r ersetzt sie; o fragt, wofür die neue gilt; "
        "Enter stellt die Frage."
    ),
    "Give k, r, o or Enter; a number from 1 to {most} follows k and r.": (
        "k, r, o oder Enter; hinter k und r darf eine Zahl von 1 bis {most} stehen."
    ),
    "t makes it a task, n says that there is nothing to decide.": (
        "t macht eine Aufgabe daraus, n sagt, dass nichts zu entscheiden ist."
    ),
    "Decision: ": "Entscheidung: ",
    "Decision": "Entscheidung",
    "Because: ": "Weil: ",
    "Instead of: ": "Statt: ",
    "Because": "Weil",
    "Instead of": "Statt",
    "{label}: may stay empty; {how}": "{label}: darf leer bleiben; {how}",
    "In your own words; Enter leaves it empty.": ("In eigenen Worten; Enter lässt die Zeile leer."),
    "For what? (Enter: the whole project) ": "Wofür? (Enter: das ganze Projekt) ",
    "[e]xception to it, [s]upersede it, [l]eave? ": "[e] Ausnahme davon, er[s]etzen, [l]assen? ",
    "[s]upersede it, [k]eep both, [l]eave? ": "er[s]etzen, beides behalten [k], [l]assen? ",
    "Why do both stay in force? ": "Warum gelten beide weiter? ",
    "{reason} is a placeholder.": "{reason} ist ein Platzhalter.",
    "Nothing was changed.": "Nichts ist geändert.",
    "Saved. Go on with: preflights resume {id}": "Gespeichert. Weiter mit: preflights resume {id}",
    "named by the intention": "in der Absicht genannt",
    "stated in the intention": "in der Absicht gesagt",
    "chosen": "gewählt",
    "in own words": "in eigenen Worten",
    "read by the model": "vom Modell gelesen",
    "by a person": "von einer Person",
    "by an agent": "von einem Agenten",
    "by a script": "von einem Skript",
    ", relayed by {who}": ", überbracht von {who}",
}
"""Each English sentence of a dialogue, and the same in German."""


def spoken(session: Session) -> Say:
    """How a dialogue about a session speaks: as its questions do."""
    is_german = getattr(session.view, "language", None) == "de"

    def say(text: str, /, **fields: Any) -> str:
        return (GERMAN.get(text, text) if is_german else text).format(**fields)

    return say
