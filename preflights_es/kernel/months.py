"""How months are called in English and in German."""

from __future__ import annotations

from typing import Final

MONTHS: Final = (
    ("january", "januar", "jänner", "jan"),
    ("february", "februar", "feb"),
    ("march", "märz", "maerz", "mär", "mar"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "juni", "jun"),
    ("july", "juli", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oktober", "oct", "okt"),
    ("november", "nov"),
    ("december", "dezember", "dec", "dez"),
)
"""By month: its names in small letters, short ones too."""
NUMBER_OF: Final = {name: number for number, names in enumerate(MONTHS, 1) for name in names}
