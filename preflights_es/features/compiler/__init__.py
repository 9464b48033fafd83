"""Approved documents become structured plans, pass by pass (seed 2)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "compiler",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="use.results:pass_refusal",
    accept="use.approval:accept_pass",
    bank="domain.simulation:BANK",
    references="domain.simulation:REFERENCES",
    shown="commands.display:SHOWN",
    commands={
        "plan": (
            "commands.plan:plan_command",
            "Make structured plans from documents, pass by pass.",
        ),
        "plan project": (
            "commands.plan:project_command",
            "Plan domains and modules from the documents.",
        ),
        "plan architecture": ("commands.plan:architecture_command", "Plan layers and rules."),
        "plan scaffold": ("commands.plan:scaffold_command", "Plan the files."),
        "plan tests": ("commands.plan:tests_command", "Plan the tests."),
        "plan impl": ("commands.plan:impl_command", "Plan the implementation of a file."),
        "plan refactor": ("commands.plan:refactor_command", "Plan a refactoring."),
        "artifacts": (
            "commands.artifacts:artifacts_command",
            "List artifacts and their standing, show one.",
        ),
        "artifacts list": (
            "commands.artifacts:list_command",
            "List artifacts: the default, `list` can be left out.",
        ),
        "artifacts show": ("commands.artifacts:show_command", "Show an artifact."),
        "approve": ("commands.approve:approve_command", "Approve an artifact."),
        "reject": ("commands.approve:reject_command", "Reject an artifact."),
        "lock": ("commands.approve:lock_command", "Lock the approved TestPlan."),
        "lock tests": (
            "commands.approve:lock_tests_command",
            "Lock the approved TestPlan.",
        ),
    },
    offers={"approve": "use.approval:approve"},
)
