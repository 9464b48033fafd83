"""What the simulator knows of the domain: words, and what they point at. Data, no rules."""

from __future__ import annotations

from typing import Final

from preflights_es.providers.simulated.schemas import CATEGORIES, ENTITY_TYPES, EVOLUTIONS


def _each(table: dict[str, str]) -> dict[str, str]:
    """The row of each word."""
    return {word: row for row, listed in table.items() for word in listed.split()}


def _index(table: dict[str, str], rows: tuple[str, ...]) -> dict[str, int]:
    """The number of each word's row."""
    return {word: rows.index(row) for word, row in _each(table).items()}


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# 1. Names ------------------------------------------------------------------------------------

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

# 2. Evolution --------------------------------------------------------------------------------

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

# 3. Categories -------------------------------------------------------------------------------

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

# 4. Queries ----------------------------------------------------------------------------------

ANGLES: Final = (
    *("{0}", "{0} {1}", "{1} {0}", "what is known about {0}", "facts about {0} and {1}"),
    *("{0} preferences", "when was {0} mentioned", "latest on {0}", "history of {0}"),
    *("{0} related to {1}", "who knows {0}", "where is {0}", "{0} details", "why {0}"),
    *("how does {0} concern {1}", "changes to {0}", "{0} or {1}", "recent {0} {1}"),
)
"""Ways to ask, for two words of the data."""

WORDLESS: Final = (
    *("recent memories", "important facts", "what was said before", "open questions"),
    *("known preferences", "latest changes", "people mentioned", "things to remember"),
)
"""What is asked where the data has no words."""

# 5. Words that say nothing -------------------------------------------------------------------

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
