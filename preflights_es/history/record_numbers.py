"""The numbers of a project's records: which of them count when the next one is chosen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from preflights_es.records.record_names import NUMBER_DIGITS_MAX

NUMBER_MAX: Final = 10**NUMBER_DIGITS_MAX - 1  # the last that a document's name can bear
FAR: Final = 1_000
"""Numbers beyond the highest known one that may be missing.

Branches, erased sessions and records that were removed leave some out. A file that says more of
them can be forged, and each such file could take away most of the numbers that a project has.
"""


def highest(given: Iterable[int], filed: Iterable[int] = ()) -> int:
    """The highest number that counts; 0 without any.

    Args:
        given: those that the log has given out.
        filed: those that files bear; one far beyond all before it does not count.
    """
    found = max((number for number in given if number <= NUMBER_MAX), default=0)
    for number in sorted(filed):
        if number > found + FAR:
            break
        found = max(found, number)
    return found
