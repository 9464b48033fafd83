"""Recorded sessions as regression tests of code, prompts and models."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "regress",
    __name__,
    commands={
        "regress": (
            "commands:regress_command",
            "Run recorded sessions with today's code, or a change, and judge.",
        )
    },
    offers={
        "reports": "pages:reports",
        "report": "pages:read_report_page",
        "report_policy": "pages:policy",
        "judge_counts": "verdict:judge_counts",
    },
)
