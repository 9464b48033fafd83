"""Open tasks become the plan of a day (seed 3)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "planning",
    __name__,
    workflow="domain:WORKFLOW",
    session="use.results:SESSION",
    bank="domain.simulation:BANK",
    references="domain.simulation:REFERENCES",
    shown="commands.display:SHOWN",
    tools="tools:TOOLS",
    commands={
        "today": ("commands.today:today_command", "Plan today from the open tasks."),
    },
)
