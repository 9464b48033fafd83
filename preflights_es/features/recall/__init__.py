"""A question becomes queries that find what was decided (the domain of seed 1)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "recall",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="use:recall_refusal",
    start="use:start_recall",
    resumed="use:looked_up",
    shown="commands:SHOWN",
    tools="tools:TOOLS",
    commands={"recall": ("commands:recall_command", "Ask what was decided about something.")},
    offers={
        "recall": "use:recall",
        "places": "decision_search:group_equal_scopes",
        "ranks": "decision_search:rank_matching_decisions",
    },
)
