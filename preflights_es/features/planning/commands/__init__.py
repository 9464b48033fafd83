"""The day plan on the command line."""

from typing import Final

COMMANDS: Final = {
    "today": ("workflows.planning.today", "Plan today from the open tasks."),
}
"""Module and one line of help."""
