"""Calls of models that any program made: taken in, shown, asked again, judged."""

from preflights_es.kernel.feature import Feature

FEATURE = Feature(
    "calls",
    __name__,
    offers={"erased": "kept_answers:erase_kept_answers"},
)
