"""How the program speaks of a session: in English, or in German where its intention is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from preflights_es.words.workflow import View

Say = Callable[..., str]
"""Takes an English sentence of ours and what stands in its braces."""

GERMAN: Final = {
    "This is about {topic}, as the intention says.": "Die Absicht nennt das Thema: {topic}.",
    "There is no option {text}: give 1 to {most}, or the answer in words.": (
        "Es gibt keine Auswahl {text}: gib 1 bis {most} an, oder die Antwort in Worten."
    ),
    "Give a number from 1 to {most}, or the answer in your own words. "
    "An empty line leaves it for later.": (
        "Gib eine Zahl von 1 bis {most} an, oder die Antwort in eigenen Worten. "
        "Eine leere Zeile lässt sie für später."
    ),
    "Give the answer in your own words. An empty line leaves it for later.": (
        "Gib die Antwort in eigenen Worten. Eine leere Zeile lässt sie für später."
    ),
    "  Enter takes {option}.": "  Enter nimmt {option}.",
    "In your own words: ": "In eigenen Worten: ",
    "Not about this: preflights answer {id} --not-this": (
        "Darum geht es nicht: preflights answer {id} --not-this"
    ),
    "n: it is not about this.": "n: darum geht es nicht.",
    "t: it is a task, without a decision.": "t: eine Aufgabe, ohne Entscheidung.",
    "Nothing was decided; accepting files a task without a decision.": (
        "Nichts ist entschieden; die Annahme legt eine Aufgabe ohne Entscheidung ab."
    ),
    "This becomes an architecture decision record:": "Daraus wird ein Architekturentscheid (ADR):",
    "This becomes a task:": "Daraus wird eine Aufgabe:",
    "Stops nothing: it is for {scope} and names no files; `--path`, or e at a terminal, names "
    "them.": (
        "Verhindert nichts: Es gilt für {scope} und nennt keine Dateien; `--path`, am Terminal e, "
        "nennt sie."
    ),
    "Stops nothing: it is for {scope} and names no files; `--path`, or e at a terminal, names "
    "them, such as {folders}.": (
        "Verhindert nichts: Es gilt für {scope} und nennt keine Dateien; `--path`, am Terminal e, "
        "nennt sie, etwa {folders}."
    ),
    "Will be stopped: {names}, in {paths}": "Wird verhindert: {names}, in {paths}",
    "Will be stopped: {names}, in every file": "Wird verhindert: {names}, in jeder Datei",
    "Stops nothing: another decision in force has {names}.": (
        "Verhindert nichts: Eine andere geltende Entscheidung hat {names}."
    ),
    "Stops nothing: no package is called {names}.": "Verhindert nichts: Kein Paket heißt {names}.",
    "[a]ccept, [r]evise, [e]dit, [d]ecline, [?] help, [l]eave? ": (
        "[a]nnehmen, [r]evidieren, [e]ditieren, ablehnen [d], [?] Hilfe, [l]assen? "
    ),
    "a accepts it and writes the record. r changes an answer. e opens the reasons, the scope and "
    "the files in your editor. d declines it: the session is abandoned, with your reason. "
    "l leaves it for later.": (
        "a nimmt an und schreibt das Dokument. r ändert eine Antwort. e öffnet Gründe, Bereich und "
        "Dateien im Editor. d lehnt ab: die Sitzung wird aufgegeben, mit deinem Grund. "
        "l lässt es für später."
    ),
    "The keys are a, r, e, d and l; ? says what each does.": (
        "Die Tasten sind a, r, e, d und l; ? sagt, was jede tut."
    ),
    "Why is it declined? (Enter: no reason) ": "Warum abgelehnt? (Enter: kein Grund) ",
    "Which answer?": "Welche Antwort?",
    "Give 1 to {most}.": "Gib 1 bis {most} an.",
    "In force:": "In Kraft:",
    "Other (specify)": "Anderes (in eigenen Worten)",
    "Category": "Thema",
    "recommended by {by}: {reason}": "empfohlen von {by}: {reason}",
    "{by} reads it in the intention: \u201c{quote}\u201d": (
        "{by} liest es in der Absicht: \u201e{quote}\u201c"
    ),
    "named in the intention": "in der Absicht genannt",
    "{package} is in {path}": "{package} steht in {path}",
    "see {places}": "siehe {places}",
    "against: {text}": "dagegen: {text}",
    "contradicts": "widerspricht",
    "related": "verwandt",
    "turned {value} down": "lehnt {value} ab",
    "contradicts, turned {value} down": "widerspricht, lehnt {value} ab",
    "says the same": "sagt dasselbe",
    "k 1 keeps what is in force, r 1 replaces it; r and Enter changes an answer.": (
        "k 1 behält, was in Kraft ist, r 1 ersetzt es; r und Enter ändert eine Antwort."
    ),
    "k keeps the first and decides nothing new; r replaces it. k 2 and r 2 mean the second.": (
        "k behält die erste, und nichts Neues wird entschieden; r ersetzt sie. "
        "k 2 und r 2 meinen die zweite."
    ),
    "k keeps it and decides nothing new; r replaces it.": (
        "k behält sie, und nichts Neues wird entschieden; r ersetzt sie."
    ),
    "{name} is replaced once you accept.": "{name} wird mit der Annahme ersetzt.",
    "replaces {name}": "ersetzt {name}",
    "stays in force beside it: {name}": "bleibt daneben in Kraft: {name}",
    "because: {text}": "weil: {text}",
    "for: {text}": "für: {text}",
    "follows: {text}": "daraus folgt: {text}",
    "not {text}": "nicht {text}",
    "holds for {text}": "gilt für {text}",
    "Decision: ": "Entscheidung: ",
    "Not taken: {text} is no decision. Say it in your own words.": (
        "Nicht angenommen: {text} ist keine Entscheidung. Sag sie in eigenen Worten."
    ),
    "Not taken: {text} alone says nothing. Say it in your own words; Enter goes on.": (
        "Nicht angenommen: {text} allein sagt nichts. Sag es in eigenen Worten; Enter geht weiter."
    ),
    "Type {text} again if it is your answer; Ctrl-C leaves it for later.": (
        "Gib {text} noch einmal ein, wenn das die Antwort ist; Strg-C lässt es für später."
    ),
    "Decision": "Entscheidung",
    "Because: ": "Weil: ",
    "Instead of: ": "Statt: ",
    "Because": "Weil",
    "Instead of": "Statt",
    "{label}: may stay empty; {how}": "{label}: darf leer bleiben; {how}",
    "Instead of ({names}; - for nothing): ": "Statt ({names}; - für nichts): ",
    "In your own words; Enter goes on.": "In eigenen Worten; Enter geht weiter.",
    "[e]xception to it, [r]eplace it, [l]eave? ": "[e] Ausnahme davon, e[r]setzen, [l]assen? ",
    "[r]eplace it, [k]eep both, [l]eave? ": "e[r]setzen, beides behalten [k], [l]assen? ",
    "Why do both stay in force? ": "Warum gelten beide weiter? ",
    "{reason} is a placeholder.": "{reason} ist ein Platzhalter.",
    "Nothing was changed.": "Nichts ist geändert.",
    "Saved. Go on with: preflights resume {id}": "Gespeichert. Weiter mit: preflights resume {id}",
    "from the intention": "aus der Absicht",
    "stated in the intention": "in der Absicht gesagt",
    "chosen": "gewählt",
    "in own words": "in eigenen Worten",
    "read by the model": "vom Modell gelesen",
    "by a person": "von einer Person",
    "by an agent": "von einem Agenten",
    "by a script": "von einem Skript",
    ", relayed by {who}": ", überbracht von {who}",
    "  (by an agent)": "  (von einem Agenten)",
    "  (by a script)": "  (von einem Skript)",
    "  (offered by the model)": "  (vom Modell angeboten)",
    "agents: {text}": "Agenten: {text}",
    # The summary
    "  session {id}, {stands}, {percent} %": "  Sitzung {id}, {stands}, {percent} %",
    "accepted": "angenommen",
    "ready": "bereit",
    "proposed": "vorgeschlagen",
    "proposed by {who}": "vorgeschlagen von {who}",
    "stopped": "beendet",
    "abandoned": "aufgegeben",
    "needs answers": "wartet auf eine Antwort",
    "waiting": "wartet auf das Modell",
    "superseded": "ersetzt",
    "a person": "einer Person",
    "an agent": "einem Agenten",
    "a script": "einem Skript",
    "written to {path}": "geschrieben nach {path}",
    "replaced by {name}": "ersetzt durch {name}",
    "exception to {name}": "Ausnahme von {name}",
    "kept beside {name}": "bleibt neben {name}",
    "{name} says the same: {title}": "{name} sagt dasselbe: {title}",
    "{name} is kept: {title}": "{name} bleibt: {title}",
    "{stands} {name} of {date}: {what}": "{stands} {name} vom {date}: {what}",
    "Updates": "Ändert",
    "Contradicts": "Widerspricht",
    "Is an exception to": "Ist eine Ausnahme von",
    "Has the same value as": "Hat denselben Wert wie",
    "Extends": "Erweitert",
    "Speaks of": "Spricht von",
    "Stated in the intention: {said}. `preflights revise {id} {key}=...` changes it.": (
        "In der Absicht gesagt: {said}. `preflights revise {id} {key}=...` ändert es."
    ),
    "The intention also states: {said}. Start a decision for each.": (
        "Die Absicht sagt auch: {said}. Beginne für jedes eine Entscheidung."
    ),
    "Nothing is accepted yet. Replace what differs, or keep it and say why:": (
        "Noch ist nichts angenommen. Ersetze, was abweicht, oder behalte es und sag warum:"
    ),
    "Or revise an answer: preflights revise {id} KEY=VALUE": (
        "Oder ändere eine Antwort: preflights revise {id} KEY=VALUE"
    ),
    "To record your reasons, start again with --supersedes {name}.": (
        "Damit deine Gründe festgehalten werden, beginne noch einmal mit --supersedes {name}."
    ),
    "Nothing new is recorded, so {name} stays in force. To replace it, record a decision: start "
    "again with --supersedes {name} --again, and keep none.": (
        "Nichts Neues ist festgehalten, {name} gilt weiter. Ersetzen kann es nur eine neue "
        "Entscheidung: beginne noch einmal mit --supersedes {name} --again, und behalte keine."
    ),
    "Nothing new is recorded.": "Nichts Neues ist festgehalten.",
    "Nothing new is recorded. `--again` records a decision once more.": (
        "Nichts Neues ist festgehalten. `--again` hält eine Entscheidung noch einmal fest."
    ),
    "Look at it with: preflights show {id}": "Ansehen mit: preflights show {id}",
    "Accepting records nothing new, since {name} says the same (or: --again).": (
        "Die Annahme hält nichts Neues fest, denn {name} sagt dasselbe (oder: --again)."
    ),
    "Accept with: preflights accept {id}": "Annehmen mit: preflights accept {id}",
    "Nothing was decided. File it as a task with: preflights accept {id}": (
        "Nichts ist entschieden. Als Aufgabe ablegen mit: preflights accept {id}"
    ),
    "A person confirms it at a terminal with: preflights accept {id}": (
        "Eine Person bestätigt es am Terminal mit: preflights accept {id}"
    ),
    "Brief an agent with: preflights prompt {id}": (
        "Einem Agenten mitgeben mit: preflights prompt {id}"
    ),
    "Look at the newer one with: preflights show {id}": (
        "Die neuere ansehen mit: preflights show {id}"
    ),
    "Answer with: preflights answer {id} VALUE": "Antworten mit: preflights answer {id} VALUE",
    "It is closed.": "Sie ist geschlossen.",
    # What is not taken
    "Not taken: {why}": "Nicht angenommen: {why}",
    "Not done: {why}": "Nicht getan: {why}",
    "is answered already": "ist schon beantwortet",
    "was given no value": "hat keinen Wert",
    "was given a placeholder, which decides nothing: give an option, its number or your own "
    "words": "hat einen Platzhalter, der nichts entscheidet: gib eine Auswahl, ihre Nummer oder "
    "eigene Worte an",
    "was left undecided: the question stays open": "ist unentschieden: die Frage bleibt offen",
    "is no question of this session": "ist keine Frage dieser Sitzung",
    "takes one value: put quotes around words that belong together": (
        "nimmt einen Wert: setze Wörter, die zusammengehören, in Anführungszeichen"
    ),
    "was answered 'Other (specify)' without the text": "braucht zu 'Other (specify)' einen Text",
    "has more than 120 characters": "hat mehr als 120 Zeichen",
    "cannot be answered any more: the decision is accepted": (
        "nimmt keine Antwort mehr: die Entscheidung ist angenommen"
    ),
    "nothing is proposed yet: a question, or a call of the model, is open": (
        "noch ist nichts vorgeschlagen: eine Frage oder ein Aufruf des Modells ist offen"
    ),
    "it is proposed already: a person has to accept it": (
        "es ist schon vorgeschlagen: ein Mensch muss es annehmen"
    ),
    "the session moved on since the patch was shown": "die Sitzung ist inzwischen weiter",
    "one of the paths is no pattern of a path": "einer der Pfade ist kein Muster",
    "a decision in force was kept instead": "eine geltende Entscheidung wurde behalten",
    "it does not fit the session as it stands": "es passt nicht zum Stand der Sitzung",
    "it is accepted already": "es ist schon angenommen",
    "no reason was given": "kein Grund ist genannt",
    "a reason is a placeholder, which says nothing": "ein Grund ist ein Platzhalter",
    ": change it with `preflights revise`": ": ändere es mit `preflights revise`",
    ": give an option, its number or your own words, or go on later with `preflights resume`": (
        ": gib eine Auswahl, ihre Nummer oder eigene Worte an, oder mach später weiter mit "
        "`preflights resume`"
    ),
    # The text of the editor
    "# Lines that begin with # are left out.": "# Zeilen, die mit # beginnen, zählen nicht.",
    "# What it is for, such as: the orders. Empty: the whole project.": (
        "# Wofür es gilt, etwa: die Bestellungen. Leer: das ganze Projekt."
    ),
    "# - NAME: why not": "# - NAME: warum nicht",
    "# The files that it holds for. None: all files.": (
        "# Die Dateien, für die es gilt. Keine: alle Dateien."
    ),
    "# Before an agent edits one of them: tell (the agent is told of it),": (
        "# Bevor ein Agent eine davon ändert: tell (der Agent erfährt davon),"
    ),
    "# ask (a person is asked), deny (the edit is refused).": (
        "# ask (eine Person wird gefragt), deny (die Änderung wird abgelehnt)."
    ),
    "For:": "Für:",
    "Because:": "Weil:",
    "Agents:": "Agenten:",
    "Instead of:": "Statt:",
    "Consequences:": "Folgen:",
    "Files:": "Dateien:",
}
"""Each English sentence of a dialogue, and the same in German."""


NOTICES: Final = {
    "folder_found": "Dokumente liegen in {folder}; `decisions` in preflights.toml ändert das",
    "sessions_kept": (
        "Sitzungen liegen neben den Dokumenten, für dein Team: {path}. "
        "`[records] sessions = false` schaltet das ab."
    ),
    "contradicts": (
        "Jetzt gelten beide: {name}, und {path} {title}. `preflights start ABSICHT --accept "
        "--supersedes {session} --supersedes {path}` ersetzt beide; `preflights start ABSICHT "
        "--accept --supersedes {session} --keep {path}=GRUND` behält beide"
    ),
}
"""By their codes, what is said at a terminal while a German session goes on."""


def spoken(session: View) -> Say:
    """How a dialogue about a session speaks: as its questions do."""
    is_german = getattr(session, "language", None) == "de"

    def say(text: str, /, **fields: Any) -> str:
        return english(GERMAN.get(text, text) if is_german else text, **fields)

    return say


def english(text: str, /, **fields: Any) -> str:
    """A sentence with what stands in its braces; the words of others may hold some."""
    return text.format(**fields) if fields else text
