"""A question about data becomes one checked query, or a question back."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "metrics",
    __name__,
    workflow="domain:WORKFLOW",
    adds="use:in_words",
    refusal="use:metrics_refusal",
    start="use:start_metrics",
    bank="domain.reference:BANK",
    references="domain.reference:REFERENCES",
    shown="commands:SHOWN",
    tools="tools:TOOLS",
    commands={"ask": ("commands:ask_command", "Ask a question about data; the answer is a query.")},
)
