"""What coding agents ask and are told by their own hooks and files."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "agents",
    __name__,
    commands={
        "hook": ("hook_command:hook_command", "Answer an event of a coding agent."),
        "init": (
            "init_command:init_command",
            "Write files for coding agents, for a CI, or for plans.",
        ),
    },
    offers={"agent_setup": "init_command:agent_setup"},
)
