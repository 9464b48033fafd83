"""An intention becomes an acknowledged decision in one or two questions (seed 0)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "clarification",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="use.results:clarification_refusal",
    start="use.sessions:start_clarification",
    accept="use.sessions:accept_clarification",
    bank="domain.simulation:BANK",
    shown="display:SHOWN",
    tools="tools:TOOLS",
    commands={
        "start": (
            "commands:start_command",
            "Say what you want to build, and answer one or two questions.",
        ),
        "accept": (
            "commands:accept_command",
            "Accept what is proposed: only then is it a decision.",
        ),
        "admin renumber": (
            "commands:renumber_command",
            "Give records whose numbers collide new numbers.",
        ),
    },
    offers={
        "said": "use.knowing:read_title_statement",
        "observe": "use.observed:record_observed_question",
        "asked_again": "use.results:asked_again",
        "keep": "use.sessions:keep_known_decision",
        "dismiss_topic": "use.sessions:dismiss_topic",
        "file_task": "use.sessions:file_task",
        "with_gate": "use.gate:with_gate",
        "replace_known": "use.sessions:replace_known",
    },
)
