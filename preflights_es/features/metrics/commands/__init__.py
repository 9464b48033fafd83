"""Questions about data on the command line."""

from typing import Final

COMMANDS: Final = {
    "ask": ("workflows.metrics.ask", "Ask a question about data; the answer is a query."),
}
"""Module and one line of help."""
