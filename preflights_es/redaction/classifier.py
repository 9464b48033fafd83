"""The judgement: is a value a secret, or what a specification says in its place?

Sees a value and its place, never the whole text.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from preflights_es.redaction.allowlist import refers, specifies
from preflights_es.redaction.allowlist_words import (
    IN_SENTENCES,
    LABEL_WORDS,
    NOTHING,
    VARIABLES,
    VOCABULARY,
    is_said,
    is_said_in_romance,
    is_technical,
)
from preflights_es.redaction.entropy import is_code, is_mixed, is_noise, is_safe_mix
from preflights_es.redaction.patterns import SecretKind, compiled, words

Need = Literal["word", "code", "mixed", "noise", "pin"]
Manner = Literal["=", ":", "is", "loose"]


class Place(NamedTuple):
    """What a label makes us expect behind it."""

    kind: SecretKind
    need: Need  # any word; a code; letters and digits; long and random; four digits and more
    literal: bool  # an environment file, a query, a flag: no variable can stand here
    flag: bool  # --password
    many: bool  # passwords
    caps: bool  # PASSWORD
    romance: bool  # mot de passe, contraseña


class PlacedValue(NamedTuple):
    """A value at its place."""

    value: str
    quote: str
    manner: Manner
    tight: bool  # `password=x`, without a blank
    ended: bool  # nothing follows that would make prose of it
    variable: bool  # it stands in a call or an object of a programming language


def gives_away(told: PlacedValue, place: Place) -> bool:
    value, literal = told.value, place.literal
    if place.need == "pin":
        return (
            told.ended
            and (told.manner != "loose" or place.caps)
            and compiled(r"\d{4,8}").fullmatch(value) is not None
        )
    if len(value) < 4 or refers(value, quoted=told.quote not in {"", "`"}):
        return False
    if told.manner == "loose" and _is_loosely_prose(told, place):
        return False
    if literal and told.manner == "=" and place.need == "word":
        if is_technical(value.lower()) or value.lower() in words(NOTHING):
            return False
    elif specifies(value):
        return False
    match place.need:
        case "noise":
            return _is_noise_told(told, place)
        case "code" | "mixed":
            return _is_code_told(told, place, literal=literal)
        case _:
            return _is_password_told(told, place)


def _is_loosely_prose(told: PlacedValue, place: Place) -> bool:
    """Next to a label, and neither `=` nor "is" between: a link, an index, a verb's object."""
    if "://" in told.value or "](" in told.value:
        return True
    if place.kind == "password" and place.need == "code":  # "pass utf8mb4 to the driver"
        return True
    return not told.quote and compiled(r"[()\[\]{}]").search(told.value) is not None


def _is_password_told(told: PlacedValue, place: Place) -> bool:
    value = told.value
    if told.quote and " " in value:
        return is_phrase(value)
    if is_mixed(value):
        if (told.variable or told.manner == "loose") and _is_numbered_name(value):
            return False
        return told.manner != "loose" or is_safe_mix(value)
    if value.isdigit():
        return (told.manner != "loose" or len(value) >= 6) and (
            told.ended or (told.tight and told.manner == "=")
        )
    return _is_word_told(told, place)


def _is_numbered_name(value: str) -> bool:
    return value.rstrip("0123456789").lower() in words(LABEL_WORDS)


def _is_word_told(told: PlacedValue, place: Place) -> bool:
    """A password without digit or sign: only its place tells it from prose."""
    word = told.value.rstrip("!")
    low = word.lower()
    if not compiled(r"[^\W\d_]+(?:[-_.'][^\W\d_]+)*").fullmatch(word):
        return False
    if place.literal:
        return told.tight or (told.ended and not word.isupper())
    if told.variable or _is_identifier(word):
        return False
    if told.quote:
        return told.manner != "loose"
    if place.romance and told.manner in {":", "is"}:
        named = told.manner == "is" and word[:1].isupper() and not word.isupper()
        if is_said_in_romance(low, named=named):
            return False
    match told.manner:
        case "=":
            named = low in words(VARIABLES) or ("_" in word and not told.tight)
            return (told.tight or told.ended) and not named
        case ":":
            return told.ended and not is_said(low.replace("secret", "").replace("geheim", ""))
        case "is":
            return told.ended and not is_said(low) and not low.endswith("ing")
        case _:
            return low.count("-") >= 3


def _is_identifier(word: str) -> bool:
    """A variable of a program that holds a secret: `db_password`, `userPassword`."""
    pieces = compiled(r"[A-Z]?[a-zäöüß]+|[A-Z]+").findall(word)
    several = len(pieces) > 1 and not word[:1].isupper()
    return several and any(piece.lower() in words(LABEL_WORDS) for piece in pieces)


def is_phrase(value: str) -> bool:
    """Several words in quotes: a passphrase has none that a message or a rule would have."""
    spoken = [word.strip(".,;:!?()").lower() for word in value.split()]
    ordinary = words(IN_SENTENCES) | words(VOCABULARY)
    return len(spoken) <= 12 and not any(word in ordinary or is_technical(word) for word in spoken)


def _is_code_told(told: PlacedValue, place: Place, *, literal: bool) -> bool:
    value, loose = told.value, told.manner == "loose"
    own = place.kind == "token" or place.need == "mixed"
    if " " in value or (own and not compiled(r"[A-Za-z0-9+_=~][\w.+/=~:%@-]*").fullmatch(value)):
        return False
    if is_code(value):
        name = compiled(r"[a-z]+\d?(?:[-_.](?:[a-z]+\d?|v?\d{1,4}))+").fullmatch(value)
        clear = bool(literal or told.quote or "secret" in value) and not loose
        return (clear or not name) and len(value) >= (8 if loose else 6)
    if loose or told.variable or place.need == "mixed":
        return False
    if value.isdigit():
        return len(value) >= 8 and told.ended and not value.startswith(("19", "20"))
    if not value.isalpha() or len(value) < 6:
        return False
    plain = value.islower() or value.isupper()
    quoted = bool(told.quote) and (literal or (len(value) >= 12 and plain))
    return quoted or (literal and told.tight)


def _is_noise_told(told: PlacedValue, place: Place) -> bool:
    if place.kind == "key" and told.manner == "is":
        return is_noise(told.value) or (told.value.isalnum() and is_noise(told.value, 10))
    return is_noise(told.value) and (told.manner != "loose" or place.kind == "key")
