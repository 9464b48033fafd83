"""A question becomes queries that find what was decided (the domain of seed 1)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "recall",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="use.sessions:recall_refusal",
    start="use.sessions:start_recall",
    resumed="use.sessions:looked_up",
    shown="commands:SHOWN",
    tools="tools:TOOLS",
    commands={
        "recall": ("commands:recall_command", "Ask what was decided about something."),
    },
    offers={
        "recall": "use.sessions:recall",
        "places": "use.searching:group_equal_scopes",
        "ranks": "use.searching:rank_matching_decisions",
    },
)
