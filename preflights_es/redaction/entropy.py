"""How mixed a value is: a safe password, a code, or noise that only chance writes."""

from __future__ import annotations

import re
from typing import Final

from preflights_es.redaction.patterns import compiled


def is_mixed(value: str) -> bool:
    """Letters with digits or signs: what people take for a safe password."""
    bare = value.rstrip("!")
    if not compiled(r"[^\W\d_]").search(bare):
        return False
    return compiled(r"\d|\w[@$!%^*#~&]|[@$!%^*#~&]\w").search(bare) is not None


def is_safe_mix(value: str) -> bool:
    """Mixed enough to stand out of prose."""
    mixed = r"[^\W\d_].*\d|\d.*[^\W\d_]|\w[@$!%^*]+\w"
    return len(value) >= 6 and compiled(mixed).search(value) is not None


def is_code(value: str) -> bool:
    """Letters and digits, or letters in a disorder that no name has."""
    if compiled(r"[A-Za-z]").search(value) and compiled(r"\d").search(value):
        return len(value) >= 6
    switches = len(compiled(r"[a-z](?=[A-Z+/])|[A-Z]{2}(?=[a-z])").findall(value))
    return len(value) >= 16 and switches * 5 >= len(value)


def is_base64(value: str) -> bool:
    """What follows `Basic`: base64 of a name and a password, and not a word."""
    switches = len(compiled(r"[a-z](?=[A-Z])").findall(value))
    marked = value.endswith("=") or switches >= (1 if is_code(value) else 2)
    fits = compiled(r"[A-Za-z0-9+/_-]{8,}={0,2}").fullmatch(value)
    return marked and fits is not None


_UUID: Final = r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def is_noise(value: str, length_min: int = 16) -> bool:
    """Long and random; a name with a number and a UUID are not."""
    if len(value) < length_min or not compiled(r"[\w+/=.~%:!-]+", re.ASCII).fullmatch(value):
        return False
    name = r"[a-z]*\d*(?:[-_./:](?:[a-z]+\d{0,2}|v?\d+))+"
    if compiled(_UUID).match(value) or compiled(name).fullmatch(value):
        return False
    digits, letters = compiled(r"\d").findall(value), compiled(r"[A-Za-z]").findall(value)
    turns = compiled(r"\d(?=[A-Za-z])|[A-Za-z](?=\d)|[a-z](?=[A-Z])").findall(value)
    return min(len(digits), len(letters)) >= 3 and len(turns) >= (2 if len(digits) > 8 else 4)
