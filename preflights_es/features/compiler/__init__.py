"""Approved documents become structured plans, pass by pass (seed 2)."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "compiler",
    __name__,
    workflow="domain:WORKFLOW",
    refusal="passes:pass_refusal",
    accept="artifacts:accept_pass",
    bank="domain.simulation:BANK",
    references="domain.simulation:REFERENCES",
    shown="commands:SHOWN",
    commands={
        "plan": ("commands:plan_command", "Make structured plans from documents, pass by pass."),
        "plan project": (
            "commands:project_command",
            "Plan domains and modules from the documents.",
        ),
        "plan architecture": ("commands:architecture_command", "Plan layers and rules."),
        "plan scaffold": ("commands:scaffold_command", "Plan the files."),
        "plan tests": ("commands:tests_command", "Plan the tests."),
        "plan impl": ("commands:impl_command", "Plan the implementation of a file."),
        "plan refactor": ("commands:refactor_command", "Plan a refactoring."),
        "artifacts": ("commands:artifacts_command", "List artifacts and their standing, show one."),
        "artifacts list": (
            "commands:list_command",
            "List artifacts: the default, `list` can be left out.",
        ),
        "artifacts show": ("commands:show_command", "Show an artifact."),
        "approve": ("commands:approve_command", "Approve an artifact."),
        "reject": ("commands:reject_command", "Reject an artifact."),
        "lock": ("commands:lock_command", "Lock the approved TestPlan."),
        "lock tests": ("commands:lock_tests_command", "Lock the approved TestPlan."),
    },
    offers={"approve": "artifacts:approve"},
)
