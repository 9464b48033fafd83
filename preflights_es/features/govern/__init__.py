"""What decisions in force say of code that is edited, and of a change as a whole."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "govern",
    __name__,
    commands={"check": ("commands:check_command", "Check a change against what was decided.")},
    offers={
        "edited_records": "edited_records:edited_records",
        "edit_concerns": "concerns:edit_concerns",
        "installs": "concerns:installs",
        "kept_out": "gate:list_kept_out",
        "stopped": "gate:stopped",
    },
)
