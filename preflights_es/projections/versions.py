"""Versions of projections that a command reads without the code that folds them."""

from __future__ import annotations

from typing import Final

DECISIONS: Final = 1
MEMORY: Final = 1
