"""What coding agents ask and are told by their own hooks, files and conversations."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "agents",
    __name__,
    commands={
        "transcripts": (
            "commands.transcripts:transcripts_command",
            "Propose what was decided in an agent's old conversations.",
        ),
        "hook": ("commands.hook:hook_command", "Answer an event of a coding agent."),
        "init": (
            "commands.init:init_command",
            "Write files for coding agents, for a CI, or for plans.",
        ),
    },
    offers={"forget": "hooks.memory:forget"},
)
