"""Words of a question that no catalogue holds: what each asks for, in English and in German.

`COURTESY` says nothing, so an answer may leave it out. Every other word must be used, or it is
named: a word that might narrow an answer (new, still, open, early) never belongs there.
"""

from __future__ import annotations

from typing import Final


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(","))


_COURTESY: Final = """
    a an the of in on at for from to with as and is are was were be been did do does have has had
    there it that what how many much please pls show me tell give see find get we us our you
    your can could would want know need let hi hello hey thanks thank all any only just so
    during within via through came come comes happened happen occurred occur look looks
    generated brought ones

    der die das den dem des ein eine einen einem einer eines im in am an auf aus von vom zu zum zur
    bei beim für mit und sowie es gab gibt hat haben hatte hatten wurde wurden worden werden wird
    ist sind war waren wie viele vielen viel was zeig zeige gib nenne sag uns wir unser unsere
    unserem unseren unserer sie du bitte danke hallo kannst könntest können könnten mal denn davon
    alle aller allen alles nur gesamt durch möchte würde gern gerne wissen brauche brauchen
    kam kamen kommen betrug beträgt belief sich lag liegt erzielt sieht aus
"""
COURTESY: Final = frozenset(_COURTESY.split())
PHRASES_OF_COURTESY: Final = _phrases(
    """
    like to, i like, i want, i need, i would, can i, could i, may i, show me, tell me, give me,
    get me, zeig mir, zeige mir, gib mir, sag mir, nenne mir, ich möchte, ich brauche, ich will,
    ich hätte, kann ich, könnte ich, did we make, but only, aber nur, to date, hi team, hello team,
    hey team, of those, of these, of them, so far, bisher, instead, stattdessen, lieber, what about,
    how about, was ist mit, took place, same for, the same, dasselbe, das gleiche, and now,
    now the same for, now the same, und jetzt, und nun, how high, how large, wie hoch, wie groß
    """
)
"""Besides single words; `instead` stands in a follow-up, which replaces what it names anyway."""

OPERATIONS: Final[dict[str, tuple[str, ...]]] = {
    "by": _phrases(
        """
        by, per, for each, for every, each, every, in each, broken down by, split by, grouped by,
        break it down by, break that down by, split it by, split that by, nach, pro, je, jede,
        jeder, jedem, jeden, jedes, aufgeteilt nach, aufgeschlüsselt nach
        """
    ),
    "not": _phrases(
        """
        not, but not, but without, aber nicht, aber ohne, without, w/o, excluding, except,
        except for, other than, apart from, aside from, not counting, leaving out, everything but,
        anywhere but, everywhere but, überall außer, all but, ohne, außer, nicht
        """
    ),
    "none": _phrases("no, kein, keine, keinen, keinem"),
    "newest": _phrases("newest, latest, most recent, last, neueste, neuesten, letzten"),
    "oldest": _phrases("oldest, earliest, first, älteste, ältesten, ersten"),
    ">": _phrases(
        """
        >, above, over, more than, greater than, larger than, bigger than, higher than, longer than,
        older than, exceeding, über, mehr als, größer als, höher als, länger als, älter als
        """
    ),
    ">=": _phrases(">=, at least, no less than, mindestens, ab"),
    "<": _phrases(
        """
        <, below, under, less than, fewer than, smaller than, lower than, shorter than,
        younger than, newer than, unter, weniger als, kleiner als, kürzer als, jünger als
        """
    ),
    "<=": _phrases("<=, at most, no more than, höchstens, maximal"),
    "=": _phrases("=, exactly, equal to, genau"),
    ">= behind": _phrases("or more, oder mehr"),
    "<= behind": _phrases("or less, or fewer, oder weniger"),
    "between": _phrases("between, zwischen"),
    "top": _phrases("top"),
    "most": _phrases(
        """
        most, highest, largest, biggest, greatest, meiste, meisten, höchste, höchsten, höchster,
        höchstes, größte, größten, größter, größtes
        """
    ),
    "least": _phrases(
        """
        least, fewest, lowest, smallest, wenigsten, niedrigste, niedrigsten, kleinste, kleinsten,
        geringste, geringsten
        """
    ),
    "share": _phrases(
        """
        share, percentage, percent, proportion, anteil, prozentsatz, prozent
        """
    ),
    "average": _phrases(
        """
        average, avg, on average, durchschnitt, im durchschnitt, im schnitt, durchschnittlich,
        durchschnittliche, durchschnittlichen, durchschnittlicher
        """
    ),
    "compare": _phrases(
        """
        compare, compared, compared with, compared to, in comparison with, in comparison to, versus,
        vs, vergleiche, vergleich, verglichen mit, im vergleich zu, im vergleich zum,
        im vergleich zur, gegenüber, gegen
        """
    ),
    "of value": _phrases(
        """
        about, caused by, due to, because of, concerning, regarding, wegen, aufgrund, aufgrund von
        """
    ),
    "or": _phrases("or, oder"),
    "number of": _phrases("number, count, anzahl"),
    "sum": _phrases("total, sum, together, combined, summe, zusammen"),
    "instead of": _phrases("instead of, rather than, statt, anstatt, anstelle von"),
    "in all": _phrases("in total, overall, insgesamt"),
    "which": _phrases(
        """
        which, who, list, welche, welcher, welches, welchem, welchen, wer, liste
        """
    ),
}
"""By operation: how it is said. A word here that fits nothing around it is named.

`instead of` fits nothing: what it leaves out could be many things.
"""

STEPS: Final[dict[str, tuple[str, ...]]] = {
    "day": ("day", "days", "date", "tag", "tage", "tagen", "datum"),
    "week": ("week", "weeks", "calendar week", "woche", "wochen", "kalenderwoche"),
    "month": ("month", "months", "monat", "monats", "monate", "monaten"),
    "quarter": ("quarter", "quarters", "quartal", "quartals", "quartale", "quartalen"),
    "year": ("year", "years", "jahr", "jahres", "jahre", "jahren"),
}
EACH_STEP: Final[dict[str, tuple[str, ...]]] = {
    "day": ("daily", "täglich", "tageweise"),
    "week": ("weekly", "wöchentlich", "wochenweise"),
    "month": ("monthly", "monatlich", "monatsweise"),
    "quarter": ("quarterly", "vierteljährlich", "quartalsweise"),
    "year": ("yearly", "annually", "annual", "jährlich"),
}
"""Words that say `by` and the step at once."""

_NUMBERS: Final = (
    *("one", "two zwei", "three drei", "four vier", "five fünf", "six sechs", "seven sieben"),
    *("eight acht", "nine neun", "ten zehn"),
)
NUMBERS: Final = {word: n for n, words in enumerate(_NUMBERS, 1) for word in words.split()}
"""Small numbers in words."""

JOINS: Final = frozenset(("and", "und", "sowie", "or", "oder"))
"""Between values of one list."""
BEFORE_NOW: Final = (
    *("last", "past", "previous", "letzt", "vorig", "vergangen", "vormonat", "vorjahr"),
    *("vorletzt", "yesterday", "gestern", "vorgestern"),
)
"""How days begin that are counted from today: beside other days, it is not clear from when."""
OF_NOW: Final = ("this", "dies", "today", "heute", "yesterday", "gestern")
COUNTED: Final = (*OF_NOW, "last", "letzt", "current")
"""How days begin that have no year of their own: they count from today."""
BEFORE_THAT: Final = ("previous", "preceding", "vorig", "vorherig", "vormonat", "vorjahr")
"""How days begin that count from days that were named before, where there are such."""
PER: Final = frozenset(("per", "pro", "je", "each", "jede", "jeder", "jedem"))
HOW_MANY: Final = frozenset(("many", "viele", "vielen", "number", "anzahl", "count"))
OF_GROUPS: Final = ("top", "most", "least", "share", "average", "compare", "number of", "sum")
"""Operations that count or compare, and never list."""
_LISTING: Final = """
    which list show what was zeig zeige liste nenne name welche welcher welches welchem welchen
    why warum newest latest recent oldest earliest neueste neuesten älteste ältesten
"""
LISTING: Final = frozenset(_LISTING.split())
CODES: Final = frozenset(("no", "us", "it", "id"))
"""Words of sentences that are codes as well: in small letters it is asked which is meant."""
ALL: Final = ("all", "alle", "allen")
"""In front of a dimension: every value of it is meant."""
NEEDS_NUMBER: Final = frozenset(("last", "first", "letzten", "ersten"))
"""Of newest and oldest, the words that mean it only with a number: `the last 5 decisions`."""
ARTICLES: Final = frozenset(("a", "an", "any", "the", "ein", "eine", "einen", "einem", "einer"))
COMPARATIVES: Final = frozenset(
    (
        *("higher", "longer", "larger", "smaller", "greater", "faster", "slower", "older", "later"),
        *("younger", "stronger", "weaker", "cheaper", "cleaner", "shorter", "earlier", "better"),
    )
)
"""Words that lose their meaning with their ending."""
NARROWED: Final = frozenset(("only", "nur", "just", "all", "alle", "allen"))
"""Behind `not`: it does not leave out what follows."""
WITHOUT: Final = frozenset(("without", "w", "ohne", "no", "kein", "keine", "keinen", "keinem"))
"""In front of a dimension: rows where it is empty."""
