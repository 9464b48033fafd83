"""Passes and plans on the command line."""

from typing import Final

_PLAN: Final = "workflows.compiler.plan"
_ARTIFACTS: Final = "workflows.compiler.artifacts"
_APPROVE: Final = "workflows.compiler.approve"
_CHECK: Final = "workflows.compiler.check"
_LOCK: Final = "workflows.compiler.lock"

COMMANDS: Final = {
    "plan": ("workflows.compiler.group", "Make structured plans from documents, pass by pass."),
    "plan project": (_PLAN, "Plan domains and modules from the documents."),
    "plan architecture": (_PLAN, "Plan layers and rules."),
    "plan scaffold": (_PLAN, "Plan the files."),
    "plan tests": (_PLAN, "Plan the tests."),
    "plan impl": (_PLAN, "Plan the implementation of a file."),
    "plan refactor": (_PLAN, "Plan a refactoring."),
    "plan check": (_CHECK, "Compare the plans in force with each other and with decisions."),
    "artifacts": (_ARTIFACTS, "List artifacts and their standing, show one, compare two."),
    "artifacts list": (_ARTIFACTS, "List artifacts: the default, `list` can be left out."),
    "artifacts show": (_ARTIFACTS, "Show an artifact."),
    "artifacts diff": (_ARTIFACTS, "Show where two artifacts differ."),
    "approve": (_APPROVE, "Approve an artifact."),
    "reject": (_APPROVE, "Reject an artifact."),
    "lock": (_LOCK, "Lock the tests of a TestPlan, or verify them."),
    "lock tests": (_LOCK, "Lock the approved TestPlan with its test files."),
    "lock verify": (_LOCK, "Name each locked test file that changed."),
}
"""Module and one line of help."""
