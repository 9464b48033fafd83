"""Several decisions of one topic, and questions by a stranger to the rules."""

from __future__ import annotations

from typing import Final

from tests.features.recall.recalls import Case
from tests.filed_cases import filed_cases

FILED: Final = filed_cases(__file__)
CROWDED: Final = tuple(Case(*row) for row in FILED["CROWDED"])
QUESTIONS: Final = tuple((question, tuple(values)) for question, *values in FILED["QUESTIONS"])
"""Pairs of a question and the values that answer it."""
