"""Open tasks become the plan of a day (seed 3)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "planning",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="use:planning_refusal",
    bank="domain.schedule:BANK",
    shown="commands:SHOWN",
    tools="tools:TOOLS",
    commands={"today": ("commands:today_command", "Plan today from the open tasks.")},
)
