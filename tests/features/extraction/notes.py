"""Notes and what a sensible person finds in them; written as `told` writes an item.

Each row is a note and its items: type, title, `@` start and end, `~` minutes, `!` importance.
"""

from __future__ import annotations

from typing import Final

from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

Row = tuple[str, ...]

SEED: Final[tuple[Row, ...]] = tuple(FILED["SEED"])
"""What the seed and the commands' own examples say."""

LISTS: Final[tuple[Row, ...]] = tuple(FILED["LISTS"])

TIMES: Final[tuple[Row, ...]] = tuple(FILED["TIMES"])

RANGES: Final[tuple[Row, ...]] = tuple(FILED["RANGES"])

DEADLINES: Final[tuple[Row, ...]] = (
    ("Bericht bis 14 Uhr", "task: Bericht bis 14 Uhr"),
    ("Bericht bis um 14 Uhr", "task: Bericht bis um 14 Uhr"),
    ("Abgabe vor 12:00", "task: Abgabe vor 12:00"),
    ("spätestens 17 Uhr losfahren", "task: spätestens 17 Uhr losfahren"),
    ("Report by 2 pm", "task: Report by 2 pm"),
    ("send the report before 5pm", "task: send the report before 5pm"),
    ("Bericht dringend bis 14 Uhr", "task: Bericht bis 14 Uhr !high"),
    ("Steuererklärung bis Montag", "task: Steuererklärung bis Montag"),
)
"""Something is due by then: it does not happen then."""

DURATIONS: Final[tuple[Row, ...]] = tuple(FILED["DURATIONS"])

URGENCY: Final[tuple[Row, ...]] = tuple(FILED["URGENCY"])

IDEAS: Final[tuple[Row, ...]] = (
    ("Idee: Podcast", "idea: Podcast"),
    ("Idee - Podcast", "idea: Podcast"),
    ("idea: sell tea", "idea: sell tea"),
    ("Gedanke: mehr Schlaf", "idea: mehr Schlaf"),
    ("Vielleicht einen Podcast machen", "idea: Vielleicht einen Podcast machen"),
    ("maybe a podcast", "idea: maybe a podcast"),
    ("What if we sold tea?", "idea: What if we sold tea?"),
    ("Idee", "task: Idee"),
    ("Ideen sammeln", "task: Ideen sammeln"),
    ("Idee-Sammlung anlegen", "task: Idee-Sammlung anlegen"),
)

NUMBERS: Final[tuple[Row, ...]] = tuple(FILED["NUMBERS"])
"""No price, version, number or date is a time; none is lost."""

WORDS: Final[tuple[Row, ...]] = tuple(FILED["WORDS"])
"""Words that hold a keyword, or stand beside one."""

LETTERS: Final[tuple[Row, ...]] = tuple(FILED["LETTERS"])
"""Other forms of the same letters and digits, other scripts, and pictures."""

NOTHING: Final[tuple[Row, ...]] = (
    ("...",),
    ("- - -\n-",),
    (",,,;;;",),
    ("?!",),
    ("()",),
    ("\u200b",),
    ("\n\n",),
    ("\u2026 \u2014",),
)
"""What says nothing."""

LED_BY_TIMES: Final[tuple[Row, ...]] = tuple(FILED["LED_BY_TIMES"])
"""What a time that opens the note leads to, and ranges to a word."""

NOT_LED: Final[tuple[Row, ...]] = (
    ("Meeting, 14 Uhr, Arzt", "event: Meeting @14:00", "event: Arzt"),
    ("14 Uhr, Idee: Podcast", "event: 14 Uhr @14:00", "idea: Podcast"),
    ("14 Uhr\nMilch kaufen", "event: 14 Uhr @14:00", "task: Milch kaufen"),
    ("bis 14 Uhr, Steuer", "task: bis 14 Uhr", "task: Steuer"),
    ("Bericht bis Mittag", "task: Bericht bis Mittag"),
    ("workshop from 8 until midnight", "event: workshop from 8 until midnight"),
    ("14 Uhr, Meeting 15 Uhr", "event: 14 Uhr @14:00", "event: Meeting @15:00"),
)
"""To whom the time belongs, or which half of the day, is unknown."""

EVERY: Final = (
    *(*SEED, *LISTS, *TIMES, *RANGES, *DEADLINES, *DURATIONS),
    *(*URGENCY, *IDEAS, *NUMBERS, *WORDS, *LETTERS, *NOTHING, *LED_BY_TIMES, *NOT_LED),
)
