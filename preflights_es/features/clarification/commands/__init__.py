"""Clarifications on the command line."""

from typing import Final

COMMANDS: Final = {
    "start": (
        "workflows.clarification.start",
        "Say what you want to build, and answer one or two questions.",
    ),
    "accept": (
        "workflows.clarification.accept",
        "Accept what is proposed: only then is it a decision.",
    ),
    "transcripts": (
        "workflows.clarification.transcripts",
        "Propose what was decided in an agent's old conversations.",
    ),
    "admin renumber": (
        "workflows.clarification.renumber",
        "Give records whose numbers collide new numbers.",
    ),
}
"""Module and one line of help."""
