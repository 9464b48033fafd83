"""A question about data becomes one checked query, with questions back where it needs them."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "metrics",
    __name__,
    workflow="domain:WORKFLOW",
    session="use.results:SESSION",
    start="use.sessions:start",
    bank="domain.simulation:BANK",
    references="domain.simulation:REFERENCES",
    shown="commands.display:SHOWN",
    tools="tools:TOOLS",
    commands={
        "ask": ("commands.ask:ask_command", "Ask a question about data; the answer is a query."),
    },
)
