"""Passes and plans on the command line."""

from typing import Final

_PLAN: Final = "workflows.compiler.plan"

COMMANDS: Final = {
    "plan": ("workflows.compiler.group", "Make structured plans from documents, pass by pass."),
    "plan project": (_PLAN, "Plan domains and modules from the documents."),
    "plan architecture": (_PLAN, "Plan layers and rules."),
    "plan scaffold": (_PLAN, "Plan the files."),
    "plan tests": (_PLAN, "Plan the tests."),
    "plan impl": (_PLAN, "Plan the implementation of a file."),
    "plan refactor": (_PLAN, "Plan a refactoring."),
}
"""Module and one line of help."""
