"""The text and its markers: finds the secrets rule by rule and puts a marker in their place.

The rules themselves are imported for the first text that is worth a look, not before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from preflights_es.redaction.patterns import KINDS, OPAQUE, SecretKind, Span, compiled

ROUNDS_MAX: Final = 8  # searches of one text; a further one sees what replacements laid open
SHAPE_MIN: Final = 12  # characters of the shortest credential known by its shape


class Redacted(NamedTuple):
    """A text that may be recorded."""

    text: str
    kinds: tuple[str, ...]
    """What was replaced, in order of appearance, one entry a replacement."""


def redact(text: str, kinds: tuple[SecretKind, ...] = KINDS, *, by_form: bool = False) -> Redacted:
    """The text with `[redacted:kind]` in place of each secret of these kinds.

    Redacting it again changes nothing and reports no kinds.

    Args:
        by_form: only what is known by its own form, such as `ghp_...`, and no place or label.
    """
    if not worth_a_look(text):
        return Redacted(text, ())
    from preflights_es.redaction.rules import RULES, SHAPED

    masked = _masked(text)
    for _ in range(ROUNDS_MAX):
        count = len(masked.marks)
        for spans in SHAPED if by_form else RULES:
            found = (span for span in spans(masked.text) if span[2] in kinds)
            masked = _replaced(masked, tuple(found))
        if len(masked.marks) == count:
            break
    return _unmasked(masked)


# What any rule needs at the least; a short text without it costs a few microseconds.
_DIGITS: Final = (
    r"\+[1-9]|[0-9](?:[ .\u00a0\u202f\u2011\u2013-]?[0-9]){8}|\b00[1-9]"  # of a number of any kind
)
_TRIGGERS: Final = (
    "@|%40|(at)|[at]|(ät)|[ät]|://|pass|kennwort|codewort|losung|pwd|pw:|pw=|pw |p/w|pin:|pin=|"
    'pin |otp|psk|secr|geheim|token|jwt|key|schl|sess|sid=|sid:|sid"|authorization|bearer|basic|'
    "mdp|contrase|clave|clé|cle|llave|jeton|identifiant|cuenta|compte|"
    "code|digo|nip|connexion|conexi|accè|acces|"
    "login|log in|sign in|connect as|cred|zugang|anmelde|account|konto|sig=|identified by|"
    " -p|openssl|mysql|mariadb| -a| -hp| -u| -w|--user|hooks.|/webhook|tcp(|echo|net user|sqlplus|"
    "masterauth|securestring"
)
_EACH: Final = tuple(_TRIGGERS.split("|"))


def worth_a_look(text: str) -> bool:
    return (
        mentions(text)
        or compiled(_DIGITS).search(text) is not None
        or any(len(word) >= SHAPE_MIN and not _is_prose(word) for word in text.split())
    )


def mentions(text: str) -> bool:
    """Whether a label or a sign stands in it, beside which a secret could stand."""
    low = text.lower()
    return any(map(low.__contains__, _EACH))


def _is_prose(word: str) -> bool:
    bare = word.strip(".,;:!?()\"'")
    return bare.isalpha() and not bare.isupper()


class _Mark(NamedTuple):
    shown: str
    kind: SecretKind | None  # None: it stood in the text already


class _Masked(NamedTuple):
    """A text in which each marker is one opaque character, so that no rule reads a marker."""

    text: str
    marks: tuple[_Mark, ...]


_MARKER: Final = rf"\[redacted:(?:{'|'.join(KINDS)})\]|{OPAQUE}"


def _masked(text: str) -> _Masked:
    marks = tuple(_Mark(shown, None) for shown in compiled(_MARKER).findall(text))
    return _Masked(compiled(_MARKER).sub(OPAQUE, text) if marks else text, marks)


def _replaced(masked: _Masked, spans: tuple[Span, ...]) -> _Masked:
    if not spans:
        return masked
    pieces: list[str] = []
    marks: list[_Mark] = []
    position = seen = 0
    for start, end, kind in spans:
        kept = masked.text[position:start]
        before = seen + kept.count(OPAQUE)
        pieces += (kept, OPAQUE)
        marks += (*masked.marks[seen:before], _Mark(f"[redacted:{kind}]", kind))
        position, seen = end, before
    pieces.append(masked.text[position:])
    return _Masked("".join(pieces), (*marks, *masked.marks[seen:]))


def _unmasked(masked: _Masked) -> Redacted:
    first, *rest = masked.text.split(OPAQUE)
    shown = (mark.shown + piece for mark, piece in zip(masked.marks, rest, strict=True))
    kinds = tuple(mark.kind for mark in masked.marks if mark.kind is not None)
    return Redacted("".join((first, *shown)), kinds)
