"""What was decided, on the command line."""

from typing import Final

COMMANDS: Final = {
    "recall": ("workflows.recall.recall", "Ask what was decided about something."),
}
"""Module and one line of help."""
