"""An intention becomes an acknowledged decision in one or two questions (seed 0)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "clarification",
    __name__,
    workflow="domain:WORKFLOW",
    session="use.results:SESSION",
    start="use.sessions:start",
    accept="use.sessions:accept",
    bank="domain.simulation:BANK",
    shown="commands.display:SHOWN",
    tools="tools:TOOLS",
    commands={
        "start": (
            "commands.start:start_command",
            "Say what you want to build, and answer one or two questions.",
        ),
        "accept": (
            "commands.accept:accept_command",
            "Accept what is proposed: only then is it a decision.",
        ),
        "admin renumber": (
            "commands.renumber:renumber_command",
            "Give records whose numbers collide new numbers.",
        ),
    },
    offers={
        "said": "use.titles:said",
        "observe": "use.observed:record",
        "asked_again": "use.kept_again:asked_again",
    },
)
