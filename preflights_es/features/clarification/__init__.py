"""An intention becomes an acknowledged decision in one or two questions (seed 0)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "clarification",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="use:clarification_refusal",
    start="use:start_clarification",
    accept="use:accept_clarification",
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
        "said": "known_decisions:read_title_statement",
        "observe": "observed_questions:record_observed_question",
        "asked_again": "use:asked_again",
        "contradictions": "contradictions:find_contradicting_records",
        "keep": "use:keep_known_decision",
        "dismiss_topic": "use:dismiss_topic",
        "file_task": "use:file_task",
        "with_gate": "clarifications:with_gate",
        "replace_known": "use:replace_known",
    },
)
