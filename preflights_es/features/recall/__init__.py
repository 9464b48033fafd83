"""A question becomes queries that find what was decided (the domain of seed 1)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "recall",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="use.sessions:refusal",
    start="use.sessions:start",
    resumed="use.sessions:looked_up",
    shown="commands:SHOWN",
    tools="tools:TOOLS",
    commands={
        "recall": ("commands:recall_command", "Ask what was decided about something."),
    },
    offers={
        "recall": "use.sessions:recall",
        "places": "use.searching:places",
        "ranks": "use.searching:ranks",
    },
)
