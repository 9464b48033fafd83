"""What decisions in force say of the code that is edited."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "govern",
    __name__,
    offers={
        "edit_concerns": "concerns:edit_concerns",
        "installs": "concerns:installs",
    },
)
