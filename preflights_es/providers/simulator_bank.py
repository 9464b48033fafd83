"""The five routes of seed 1, what they read in a prompt, and what they know of the domain.

A generator leans towards what the data says and strays from it by chance, within its schema: a
model that is always right finds no bugs. No outcome starves, whatever the data is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import canonical_json
from preflights_es.words.simulation import Draws, Route

# 1. What is answered --------------------------------------------------------------------------

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

ENTITY_TYPES: Final = ("person", "organization", "place", "technology", "date", "topic")
ENTITIES_MAX: Final = 12
QUERIES_MAX: Final = 5
EVOLUTIONS: Final = ("update", "extend", "derive", "contradict", "none")
CATEGORIES: Final = tuple(
    """
    preferences people work places events health finance learning technology facts
    """.split()  # noqa: SIM905  a table
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


def _each(table: dict[str, str]) -> dict[str, str]:
    """The row of each word."""
    return {word: row for row, listed in table.items() for word in listed.split()}


def _index(table: dict[str, str], rows: tuple[str, ...]) -> dict[str, int]:
    """The number of each word's row."""
    return {word: rows.index(row) for word, row in _each(table).items()}


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# 2. Words: names ------------------------------------------------------------------------------

_NAMES: Final = {
    "person": """
        Ada Adam Alan Alex Alice Amir Ana Anna Anne Barbara Ben Bob Carlos Carol Charlie Chen Clara
        Dana Daniel Dave David Diana Elena Emma Erik Eva Eve Felix Frank Grace Hana Hans Ivan Jan
        Jane Jim Joe John Julia Karin Kim Lena Leo Linus Lisa Lukas Maria Mark Marta Max Mia Mike
        Nina Nora Olga Omar Oscar Paul Peter Priya Rosa Sam Sara Sarah Sofia Sven Tim Tom Uma Yuki
    """,
    "organization": """
        Acme Amazon Anthropic Apple BMW Bosch GitHub Google IBM Intel Meta Microsoft Mozilla NASA
        Netflix Nvidia OpenAI Oracle SAP Siemens Spotify Stripe Tesla
    """,
    "place": """
        Amsterdam Austria Barcelona Berlin Boston Brazil Canada Chicago China Dublin Europe France
        Frankfurt Geneva Germany Hamburg India Italy Japan Lisbon London Madrid Munich Oslo Paris
        Prague Rome Seattle Spain Stockholm Switzerland Sydney Tokyo Toronto Vienna Zurich Köln
        München Wien Zürich
    """,
    "technology": """
        AWS Android Azure Docker Django FastAPI Git GraphQL Java JavaScript Kafka Kotlin Kubernetes
        Linux MongoDB MySQL Node.js OAuth PostgreSQL Postgres Python React Redis Rust SQLite Svelte
        Swift Terraform TypeScript Vue
    """,
    "date": """
        Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April June
        July August September October November December Montag Dienstag Mittwoch Donnerstag Freitag
        Samstag Sonntag Januar Februar März Mai Juni Juli Oktober Dezember Christmas Easter
    """,
}
KNOWN: Final = {
    **_each(_NAMES),
    **dict.fromkeys(("New York", "San Francisco", "Los Angeles", "Hong Kong"), "place"),
    **dict.fromkeys(("United States", "United Kingdom", "New Zealand"), "place"),
}
"""A name, or the first word of one, and its type."""

COMPANY: Final = _set(
    """
    AG Bank Co Company Corp Corporation Foundation GmbH Group Inc Institute LLC Labs Limited Ltd SE
    Software Systems Team University Universität Ventures
    """
)
"""The last word of an organization's name."""

LEANING: Final = _index(
    {
        "person": "met with mr mrs ms dr told asked called friend colleague herr frau mit",
        "organization": "at for joined left works founded bei",
        "place": "in near from to visited nach aus",
        "technology": "using use uses learn learned prefers",
        "date": "on since until during am seit",
    },
    ENTITY_TYPES,
)
"""The word in front of a name, and the type that it makes likely."""

# 3. Words: evolution --------------------------------------------------------------------------

SIGNS: Final = _index(
    {
        "update": "longer moved moving instead changed switched replaced became nicht jetzt",
        "extend": "additionally besides further plus extra außerdem auch",
        "derive": "therefore hence implies because means suggests deshalb",
        "contradict": "never contrary wrong false hates dislikes denies nie",
        "none": "unrelated unchanged identical gleich",
    },
    EVOLUTIONS,
)
"""A word of the data, and the type that it makes likely."""

REASONS: Final = {
    "update": (
        "The newer statement about {} replaces the older one.",
        "What was known of {} is out of date.",
        "The value for {} has changed.",
    ),
    "extend": (
        "The new statement adds detail on {}.",
        "Both statements hold, the newer one says more about {}.",
        "Nothing is taken back; {} is new.",
    ),
    "derive": (
        "What is said of {} follows from what was known.",
        "The older statement implies the one about {}.",
        "It can be concluded from both together: {}.",
    ),
    "contradict": (
        "The statements about {} cannot both be true.",
        "What is said of {} denies what was known.",
        "One of the two is wrong about {}.",
    ),
    "none": (
        "The statements do not concern each other; {} is new.",
        "Nothing changes for {}.",
        "What is said of {} was known already.",
    ),
}

# 4. Words: categories -------------------------------------------------------------------------

_SUBJECTS: Final = {
    "preferences": """
        prefer prefers preferred like likes liked love loves favorite favourite hate hates enjoy
        enjoys dislike dislikes wants taste lieber mag
    """,
    "people": """
        friend friends family mother father sister brother colleague colleagues boss met married
        wife husband partner neighbour freund chef kollegin
    """,
    "work": """
        work works worked job project projects deadline client customer team company manager career
        hired arbeit projekt kunde
    """,
    "places": """
        city country house home street lives live moved travel travelled trip office hotel visit
        visited stadt reise wohnt
    """,
    "events": """
        party wedding birthday conference concert meeting appointment festival celebrated
        anniversary tonight termin geburtstag
    """,
    "health": """
        doctor allergy allergic medicine sick ill pain sleep diet vegetarian vegan exercise gym
        running arzt krank schlaf
    """,
    "finance": """
        money bank salary budget invoice price paid pay pays cost costs euro dollar tax loan rent
        geld miete rechnung
    """,
    "learning": """
        learn learns learned learning study studies studied course school university book books
        read reading exam lernen buch kurs
    """,
    "technology": """
        python database software computer code deploy server app api docker postgresql react laptop
        linux bug datenbank
    """,
    "facts": "born height color colour number capital population distance year geboren",
}
ABOUT: Final = _index(_SUBJECTS, CATEGORIES)
"""A word of the data, and the category that it speaks of."""

# 5. Words: queries ----------------------------------------------------------------------------

ANGLES: Final = (
    "{0}",
    "{0} {1}",
    "{1} {0}",
    "what is known about {0}",
    "facts about {0} and {1}",
    "{0} preferences",
    "when was {0} mentioned",
    "latest on {0}",
    "history of {0}",
    "{0} related to {1}",
    "who knows {0}",
    "where is {0}",
    "{0} details",
    "why {0}",
    "how does {0} concern {1}",
    "changes to {0}",
    "{0} or {1}",
    "recent {0} {1}",
)
"""Ways to ask, for two words of the data."""

WORDLESS: Final = (
    "recent memories",
    "important facts",
    "what was said before",
    "open questions",
    "known preferences",
    "latest changes",
    "people mentioned",
    "things to remember",
)
"""What is asked where the data has no words."""

# 6. Words that say nothing --------------------------------------------------------------------

COMMON: Final = _set(
    """
    a about after again all also am an and any are as at be been before being but by can
    could did do does doing each for from get give given had has have he her here hers him his how i
    if in into is it its just let made make many may me might more most must my name new no not
    now of off on once one only or other our out over own please same say says shall she should so
    some such tell than that the their them then there these they thing this those through to too
    two under until up us use used very was we were what when where which while who whom whose why
    will with would yes yet you your
    aber als am an auf aus bei bin bis bist da das dass dem den der des die dir doch du ein eine
    einem einen einer er es für hat haben hatte ich ihr im in ist ja kann mein mich mir mit nach
    noch nur oder sein sich sie sind so über um und uns von vor war was wer wie wir wird wo zu zum
    zur
    below categories categorize entities entity evolution extract detect find following identify
    input json list memory note old output queries query question remember return rewrite search
    several statement text today tomorrow user yesterday
    """
)
"""In English, in German, and in instructions."""


# 7. What is read in a prompt ------------------------------------------------------------------

READ_MAX: Final = 1_000  # characters of the data that are looked at; the key takes all of them
WORDS_READ_MAX: Final = 300  # characters of it whose words are
WORDS_MAX: Final = 24  # words of the data that a response may be made of
NAMES_MAX: Final = 8  # names of the data that a response may hold
NAME_MAX: Final = 60  # characters; what is longer is no name
WORD_MAX: Final = 30  # characters; what is longer is no word

WORD: Final = (
    "0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u060b\u060d-\u061a\u061d\u061e\u0620-\u180d"
    "\u180f-\u1fff\u2c00-\u2dff\u3041-\ud7ff\uf900-\ufaff\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a"
    "\uff41-\uff5a\uff66-\uffdc\U00010000-\U0001cfff\U0001e000-\U0001efff\U00020000-\U0003ffff"
)
"""Letters, digits and marks, as the inside of a character class; no punctuation, nothing unseen."""

_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f\u0391-\u03a9\u0400-\u042f"
_PART = f"[{_UPPER}][{WORD}]*(?:['\u2019&.-][{WORD}]+)*"
_NAME = re.compile(
    f"[{_UPPER}](?<![{WORD}].)[{WORD}]*(?:['\u2019&.-][{WORD}]+)*(?: {_PART}){{0,3}}"
)
_COLON = re.compile(r":\s")
_LABEL = re.compile(
    r"\n[ \t]*+(?:(?:existing|new|old|user)[ \t]++)?+"
    r"(?:content|data|document|input|memory|message|query|question|statement|text):[ \t\n]",
    re.ASCII | re.IGNORECASE,
)
_TOKEN = re.compile(f"[{WORD}]+")


def instruction_of(request: CompletionRequested) -> tuple[str, str]:
    """What is to be done, and the data it is done with.

    The instruction is what the system says, else the first line of the first message that is not
    blank; the data is everything else that people said.
    """
    messages = request.messages
    if len(messages) == 1 and messages[0].role != "system":
        return _first_line(messages[0].content)
    system = [m.content for m in messages if m.role == "system"]
    said = "\n".join(m.content for m in messages if m.role == "user")
    return ("\n".join(system), said) if any(system) else _first_line(said)


def _first_line(text: str) -> tuple[str, str]:
    line, _, rest = text.lstrip().partition("\n")
    return line, rest


def data_of(request: CompletionRequested) -> str:
    """The last that a person said; behind a label such as `Text:`, or its first line's colon."""
    messages = request.messages
    if len(messages) > 1:
        said = next((m.content for m in reversed(messages) if m.role == "user"), "")
    else:
        said = messages[0].content
    text = said[: 2 * READ_MAX].lstrip()
    if label := _LABEL.search(text):
        return text[label.end() :][:READ_MAX]
    if len(messages) > 1 and any(m.role == "system" for m in messages):
        return text[:READ_MAX]
    colon = _COLON.search(text, 0, text.find("\n") + 1 or len(text))
    behind = text[colon.end() :] if colon else ""
    return (text if not behind or behind.isspace() else behind)[:READ_MAX]


def find_topic_words(text: str) -> list[str]:
    """The words that say what a text is about, in lower case, each once, in its order."""
    tokens = _TOKEN.findall(text[:WORDS_READ_MAX].lower())
    found = {t: None for t in tokens if t not in COMMON and 2 < len(t) <= WORD_MAX}
    return list(found)[:WORDS_MAX]


def find_data_names(text: str, most: int = NAMES_MAX) -> dict[str, int]:
    """The first names in a text, as whole words, and where each stands first."""
    found: dict[str, int] = {}
    for match in islice(_NAME.finditer(text), 2 * most):
        run, start = match.group(), match.start()
        for name, at in _split_capital_run(run, start) if " " in run else ((run, start),):
            if 2 <= len(name) <= NAME_MAX and name not in found and name.lower() not in COMMON:
                found[name] = at
                if len(found) == most:
                    return found
    return found


def _split_capital_run(run: str, start: int) -> Iterator[tuple[str, int]]:
    """A run of capitals without common words before it, a date of its own: `On Monday Alice`."""
    while run:
        first, _, rest = run.partition(" ")
        if first.lower() in COMMON:
            if " ".join(run.split(" ", 2)[:2]) in KNOWN:  # New York
                break
        elif rest and KNOWN.get(first) == "date":
            yield first, start
        else:
            break
        start, run = start + len(first) + 1, rest
    yield run, start


def word_before(text: str, start: int) -> str:
    """The word in front of a place, in lower case; empty where a sentence begins."""
    in_front = text[max(0, start - 16) : start].rstrip(" \t\"'(")
    if not in_front or in_front[-1] in ".!?:;\n":
        return ""
    return in_front[in_front.rfind(" ") + 1 :].lower()


WEIGHT_MAX: Final = 28  # weight of an outcome that the data speaks for; the others have 1 to 5

# 8. Entities ----------------------------------------------------------------------------------


def entities(draws: Draws, request: CompletionRequested) -> str:
    """The names in the data, typed; where there are none, its words as topics."""
    text = data_of(request)
    found: list[dict[str, str | float]] = []
    for name, at in find_data_names(text).items():
        kind = _find_name_type(name)
        if kind is not None:
            found.append(_entity(name, kind, 80 + draws.below(20)))
        elif draws.below(10):  # one name in ten is overlooked
            likely = LEANING.get(word_before(text, at))
            kind = draws.weighted(ENTITY_TYPES, _NO_GUESS if likely is None else _GUESSES[likely])
            found.append(_entity(name, kind, 40 + draws.below(56)))
    if not found or draws.below(2):
        topics = draws.sample(find_topic_words(text), draws.between(1, 2))
        named = {str(entity["name"]).lower() for entity in found}
        found += (_entity(t, "topic", draws.between(30, 80)) for t in topics if t not in named)
    return _encode_response_json({"entities": found})


def _entity(name: str, kind: str, percent: int) -> dict[str, str | float]:
    return {"name": name, "type": kind, "confidence": percent / 100}


def _find_name_type(name: str) -> str | None:
    if " " not in name:
        return KNOWN.get(name)
    parts = name.split(" ")
    if parts[-1] in COMPANY:
        return "organization"
    return KNOWN.get(" ".join(parts[:2])) or KNOWN.get(parts[0])


_GUESSES: Final = tuple(
    tuple(12 if i == likely else 1 for i in range(len(ENTITY_TYPES)))
    for likely in range(len(ENTITY_TYPES))
)
_NO_GUESS: Final = (4, 3, 2, 2, 1, 3)


# 9. Queries -----------------------------------------------------------------------------------


def queries(draws: Draws, request: CompletionRequested) -> str:
    """Ways to ask for what the data asks for, at most four, the first the nearest to it."""
    found = find_topic_words(data_of(request))
    if not found:
        return _encode_response_json(draws.sample(WORDLESS, draws.between(2, 4)))
    subjects = draws.sample(found, 3)
    made = [" ".join(found[:8])]
    for angle in draws.sample(ANGLES, draws.between(1, 3)):
        first = draws.pick(subjects)
        others = [subject for subject in subjects if subject != first]
        made.append(angle.format(first, draws.pick(others) if others else "details"))
    return _encode_response_json(list(dict.fromkeys(made)))


# 10. Evolution --------------------------------------------------------------------------------


def draw_evolution_response(draws: Draws, request: CompletionRequested) -> str:
    """How a new statement stands to an old one; signs in the data make their type likely."""
    text = data_of(request)
    found = find_topic_words(text)
    weights = [5, 4, 2, 2, 2]
    for word in found:
        if (at := SIGNS.get(word)) is not None:
            weights[at] = min(weights[at] + 12, WEIGHT_MAX)
    kind = draws.weighted(EVOLUTIONS, weights)
    subjects = list(find_data_names(text, 2)) or [word for word in found if word not in SIGNS]
    reason = draws.pick(REASONS[kind]).format(draws.pick(subjects or ["the subject"]))
    confidence = draws.between(50, 99) / 100
    return _encode_response_json({"type": kind, "reason": reason, "confidence": confidence})


# 11. Categories -------------------------------------------------------------------------------


def categories(draws: Draws, request: CompletionRequested) -> str:
    """One to three categories, those first that the data speaks of."""
    weights = [1] * len(CATEGORIES)
    for word in find_topic_words(data_of(request)):
        if (at := ABOUT.get(word)) is not None:
            weights[at] = min(weights[at] + 9, WEIGHT_MAX)
    chosen: list[str] = []
    for _ in range(draws.weighted(range(1, CATEGORIES_MAX + 1), (5, 3, 1))):
        category = draws.weighted(CATEGORIES, weights)
        weights[CATEGORIES.index(category)] = 0
        chosen.append(category)
    return _encode_response_json(chosen)


# 12. Everything else --------------------------------------------------------------------------


def generic(draws: Draws, _request: CompletionRequested) -> str:
    """Text that no other prompt gets."""
    return f"SimResponse[{draws.hex()}]"


def _encode_response_json(value: object) -> str:
    return canonical_json(value).decode()


# 13. The table --------------------------------------------------------------------------------

GENERIC: Final = "generic"

FIVE: Final[dict[str, Route]] = {
    "extract_entities": Route(entities, ("extract entities",), ("extract", "entity")),
    "rewrite_query": Route(queries, ("rewrite query",), ("rewrite|rewrote|rewritten", "query")),
    "detect_evolution": Route(
        draw_evolution_response, ("detect evolution",), ("detect", "evolve|evolution")
    ),
    "categorize": Route(
        categories, ("categorize",), ("categorize|categorise|categorization|categorisation",)
    ),
    GENERIC: Route(generic),
}
"""In the order of seed 1's table; what asks for none of the others is generic."""
