"""The text and its markers: finds the secrets rule by rule and puts a marker in their place.

The rules themselves are imported for the first text that is worth a look, not before. Secrets are
also found behind characters without width, or in another form of the same letters. A model's
response loses keys and tokens, e-mail addresses if they go, and its JSON stays JSON: a string of it
is read as its reader reads it (`\\u0040` is an @, and `\\n` is no letter), and JSON in it likewise.
It is written anew only where something goes. Passwords, cards, accounts and phone numbers stay in
it: the rules for them judge a person's prose, and a false alarm changes what is decided.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from preflights_es.kernel.text import TAGS
from preflights_es.redaction.classifier import is_noise
from preflights_es.redaction.patterns import (
    KINDS,
    OPAQUE,
    SECRETS,
    SecretKind,
    Span,
    compile_pattern,
)

# 1. What is found -------------------------------------------------------------------------------

ROUNDS_MAX: Final = 8  # searches of one text; a further one sees what replacements laid open
REMEMBERED_MAX: Final = 20  # texts
REMEMBERED_LENGTH: Final = 1_000_000  # characters of each
SHAPE_MIN: Final = 12  # characters of the shortest credential known by its shape


class Redacted(NamedTuple):
    """A text that may be recorded."""

    text: str
    kinds: tuple[str, ...]
    """What was replaced, in order of appearance, one entry a replacement."""


def redact(
    text: str, kinds: tuple[SecretKind, ...] = SECRETS, *, by_form: bool = False
) -> Redacted:
    """The text with `[redacted:kind]` in place of each secret of these kinds.

    Redacting it again changes nothing and reports no kinds.

    Args:
        by_form: only what is known by its own form, such as `ghp_...`, and no place or label.
    """
    if not worth_a_look(text):
        return Redacted(text, ())
    from preflights_es.redaction.places import choose_rules

    masked = _Masked(text, ())
    if OPAQUE in text or "[redacted:" in text:
        marks = tuple(_RedactionMarker(one, None) for one in compile_pattern(MARKER).findall(text))
        masked = _Masked(compile_pattern(MARKER).sub(OPAQUE, text), marks)
    for _ in range(ROUNDS_MAX):
        count, searched = len(masked.marks), (masked.text, kinds, by_form)
        if searched in _WITHOUT_SECRETS:
            break
        for spans in choose_rules(kinds, by_form=by_form):
            found = (span for span in spans(masked.text) if span[2] in kinds)
            masked = _replace_spans(masked, tuple(found))
        if len(masked.marks) == count:
            if len(_WITHOUT_SECRETS) >= REMEMBERED_MAX:
                _WITHOUT_SECRETS.clear()
            if len(masked.text) <= REMEMBERED_LENGTH:
                _WITHOUT_SECRETS[searched] = None
            break
    first, *rest = masked.text.split(OPAQUE)
    shown = (mark.shown + piece for mark, piece in zip(masked.marks, rest, strict=True))
    kinds = tuple(mark.kind for mark in masked.marks if mark.kind is not None)
    return Redacted("".join((first, *shown)), kinds)


_WITHOUT_SECRETS: Final[dict[tuple[str, tuple[SecretKind, ...], bool], None]] = {}
"""Texts that were searched lately in vain: what is redacted is searched once more."""


# What any rule needs at the least; a short text without it costs a few microseconds.
_DIGITS: Final = (
    # of a number of any kind
    r"[+0-9](?:(?<=\+)[1-9]|(?<!\+)(?:[ .\u00a0\u202f\u2011\u2013-]?[0-9]){8}|(?<!\w0)(?<=0)0[1-9])"
)
_TRIGGERS: Final = (
    # the most frequent ones first
    "@|code|key|pass|token|sess|account|://|%40|(at)|[at]|(ät)|[ät]|kennwort|losung|pwd|pw:|pw=|"
    'pw |p/w|pin:|pin=|pin |otp|psk|secr|geheim|jwt|schl|sid=|sid:|sid"|authorization|bearer|basic|'
    "mdp|contrase|clave|clé|cle|llave|jeton|identifiant|cuenta|compte|"
    "digo|nip|connexion|conexi|accè|acces|"
    "login|log in|sign in|connect as|cred|zugang|anmelde|konto|sig=|identified by|"
    " -p|openssl|mysql|mariadb| -a| -hp| -u| -w|--user|hooks.|/webhook|tcp(|echo|net user|sqlplus|"
    "masterauth|securestring|seed|mnemonic|phrase|bip"
)
_EACH: Final = tuple(_TRIGGERS.split("|"))


def worth_a_look(text: str) -> bool:
    """Whether a secret could stand in it: most texts are left out by this cheap question."""
    return (
        mentions(text)
        or compile_pattern(_DIGITS).search(text) is not None
        or any(len(word) >= SHAPE_MIN and not _is_prose(word) for word in text.split())
    )


def mentions(text: str) -> bool:
    """Whether a label or a sign stands in it, beside which a secret could stand."""
    low = text.lower()
    return any(map(low.__contains__, _EACH))


def _is_prose(word: str) -> bool:
    bare = word.strip(".,;:!?()\"'")
    return bare.isalpha() and not bare.isupper()


class _RedactionMarker(NamedTuple):
    shown: str
    kind: SecretKind | None  # None: it stood in the text already


class _Masked(NamedTuple):
    """A text in which each marker is one opaque character, so that no rule reads a marker."""

    text: str
    marks: tuple[_RedactionMarker, ...]


MARKER: Final = rf"\[redacted:(?:{'|'.join(KINDS)})\]|{OPAQUE}"


def _replace_spans(masked: _Masked, spans: tuple[Span, ...]) -> _Masked:
    if not spans:
        return masked
    pieces: list[str] = []
    marks: list[_RedactionMarker] = []
    position = seen = 0
    for start, end, kind in spans:
        kept = masked.text[position:start]
        before = seen + kept.count(OPAQUE)
        pieces += (kept, OPAQUE)
        marks += (*masked.marks[seen:before], _RedactionMarker(f"[redacted:{kind}]", kind))
        position, seen = end, before
    pieces.append(masked.text[position:])
    return _Masked("".join(pieces), (*marks, *masked.marks[seen:]))


# 2. What is hidden ------------------------------------------------------------------------------

_WITHOUT_WIDTH: Final = (
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    f"\ufe00-\ufe0f\ufeff{TAGS}]"
)
_TAG: Final = 0xE0000
_ODD: Final = r"[\x00-\x7f]?[^\x00-\x7f]+"  # an accent may belong to the letter before it


def redact_hidden(
    text: str, kinds: tuple[SecretKind, ...] = SECRETS, *, by_form: bool = False
) -> Redacted:
    """What `redact` returns, or another reading of the text where more is found in that."""
    found = redact(text, kinds, by_form=by_form)
    for form in readings(text):
        seen = redact(form, kinds, by_form=by_form)
        more = len(seen.kinds) - len(found.kinds)
        # As many secrets, but more of one: a character within it had hidden its end.
        if more > 0 or (more == 0 and found.kinds and len(seen.text) < len(plain_form(found.text))):
            found = seen
    return found


def readings(text: str) -> tuple[str, ...]:
    """What else the text says: without invisible characters, and with the tags read as ASCII."""
    if text.isascii():
        return ()
    odd = "".join(compile_pattern(_ODD).findall(text))
    if plain_form(odd) == odd:
        return ()
    tags = compile_pattern(f"[{TAGS}]")
    read = plain_form(tags.sub(lambda tag: chr(ord(tag.group()) - _TAG), text))
    return tuple({form: None for form in (plain_form(text), read) if form != text})


def plain_form(text: str) -> str:
    """The text as a reader takes it: no characters without width, one form of each letter."""
    if text.isascii():
        return text
    return compile_pattern(_WITHOUT_WIDTH).sub("", unicodedata.normalize("NFKC", text))


# 3. Responses -----------------------------------------------------------------------------------

OF_RESPONSES: Final[tuple[SecretKind, ...]] = ("key", "token", "email")
"""What goes from a response, of the kinds that go at all."""
LABEL_MAX: Final = 100  # characters in front of a string that may name what it holds
DEPTH_MAX: Final = 8  # JSON in a string of JSON; each level doubles the backslashes of the next
SECRET_MIN: Final = 6  # characters; a shorter string is no secret and no address

_STRING: Final = r"\s*+\"(?P<body>(?:[^\"\\\x00-\x1f]|\\[^\x00-\x1f])*+)\"(?=\s*+(?:[,:}\]]|\Z))"
_PUNCTUATION: Final = ' \t\r\n",:{}[]'
_PAIRED: Final = r"\"\s*:\s*\""
_LISTED: Final = r"\"\s*,\s*\""


def response_redacted(
    text: str, kinds: tuple[SecretKind, ...] = SECRETS, *, is_read: bool = False
) -> str:
    """The response as it is recorded; doing it again changes nothing.

    Args:
        is_read: it was read as prose already: only escapes and labels may tell more.
    """
    forms = (text, *readings(text))
    if not any(sign in text for sign in "\\&") and not any(map(worth_a_look, forms)):
        return text
    reading = _Reading(_of_responses(kinds), is_read)
    return "".join(_redacted_json_pieces(text, reading, DEPTH_MAX))


class _Reading(NamedTuple):
    kinds: tuple[SecretKind, ...]
    is_read: bool


def label_redacted(text: str, kinds: tuple[SecretKind, ...] = SECRETS) -> str:
    """A provider's name or id as it is recorded.

    An id looks as random as a key does, so only a form that a vendor documents goes.
    """
    return redact_hidden(text, _of_responses(kinds), by_form=True).text


def _of_responses(kinds: tuple[SecretKind, ...]) -> tuple[SecretKind, ...]:
    return tuple(one for one in OF_RESPONSES if one in kinds)


def find_json_strings(text: str) -> Iterator[re.Match[str]]:
    """Strings at a place of JSON: a quotation in prose is seldom between such signs."""
    if '"' in text:
        first = compile_pattern(_STRING).match(text)
        done = first.end() if first else 0
        rest = compile_pattern(rf"[{{\[,:]{_STRING}").finditer(text, done)
        yield from chain((first,), rest) if first else rest


def _redacted_json_pieces(text: str, reading: _Reading, depth: int) -> Iterator[str]:
    holder = name = ""
    done = 0
    for found in find_json_strings(text):
        start, end = found.span("body")
        gap, body = text[done:start], found["body"]
        plain = _decode_json_string(body)
        label = _label_of_string(holder, name, gap, plain)
        yield _redact_plain_text(gap, reading)
        # What stands there as it is was read with the text.
        is_known = _is_known(body, reading) and text.endswith(label, 0, start)
        yield body if is_known else _string(body, label[-LABEL_MAX:], reading, depth)
        holder, name, done = name, plain[-LABEL_MAX:], end
    yield _redact_plain_text(text[done:], reading)


def _redact_plain_text(text: str, reading: _Reading) -> str:
    is_known = _is_known(text, reading) or (reading.is_read and not holds_escapes(text))
    if is_known or len(text.strip(_PUNCTUATION)) < SECRET_MIN:
        return text
    return _redacted(text, reading.kinds, is_read=reading.is_read).text


def _is_known(text: str, reading: _Reading) -> bool:
    """Whether it was read already as it stands: it holds no escape."""
    return reading.is_read and "\\" not in text and "&" not in text


def _label_of_string(holder: str, name: str, gap: str, value: str) -> str:
    """What stands before a string and may name it: a name, or a field that holds the name."""
    if not gap.startswith('"'):
        return gap
    if compile_pattern(_PAIRED).fullmatch(gap):
        return f'"{holder if name.lower() == "value" else name}": "'
    if compile_pattern(_LISTED).fullmatch(gap) and is_noise(value):
        return f'"{name}": "'
    return gap


def _redacted(text: str, kinds: tuple[SecretKind, ...], *, is_read: bool = False) -> Redacted:
    """Also where characters are spelled as escapes; the text is written so only then."""
    found = Redacted(text, ()) if is_read else redact_hidden(text, kinds)
    if "\\" not in text and "&" not in text:
        return found
    spelled = compile_pattern(ESCAPE, re.IGNORECASE).sub(_character, text)
    seen = redact_hidden(spelled, kinds) if spelled != text else found
    return seen if len(seen.kinds) > len(found.kinds) else found


# Outside a whole string of JSON: one cut off, in single quotes, with an escape that is invalid.
ESCAPE: Final = (
    r"(?<!\\)\\++(?:u(?P<high>d[89ab][0-9a-f]{2})\\++u(?P<low>d[c-f][0-9a-f]{2})|u(?P<four>[0-9a-f]{4})"
    r"|u\{(?P<braced>[0-9a-f]{1,6})\}|x(?P<two>[0-9a-f]{2}))"
    r"|&#(?:x(?P<hex>[0-9a-f]{1,6})|(?P<decimal>[0-9]{1,7}));|&(?P<at>commat);"
)


def holds_escapes(text: str) -> bool:
    """Whether a character is spelled by its number."""
    is_likely = "\\" in text or "&" in text
    return is_likely and compile_pattern(ESCAPE, re.IGNORECASE).search(text) is not None


def _character(escape: re.Match[str]) -> str:
    """What it stands for; a quote, a backslash and a control character stay escaped."""
    if escape["high"]:
        high, low = (int(escape[half], 16) & 0x3FF for half in ("high", "low"))
        code = 0x10000 + (high << 10) + low
    elif escape["at"]:
        code = ord("@")
    else:
        code = int(escape["decimal"] or 0)
        for group in ("four", "braced", "two", "hex"):
            code = int(escape[group], 16) if escape[group] else code
    odd = code < 0x20 or 0xD800 <= code < 0xE000 or code > 0x10FFFF
    return escape.group() if odd or chr(code) in "\"\\'" else chr(code)


def _string(body: str, label: str, reading: _Reading, depth: int) -> str:
    """What stands between the quotes, redacted by itself or by what stands before it."""
    if len(body) < SECRET_MIN:
        return body
    plain, kinds = _decode_json_string(body), reading.kinds
    nested = depth and '"' in plain  # its own strings are read then
    is_known = _is_known(body, reading)
    read = redact_hidden if nested else _redacted
    redacted = Redacted(plain, ()) if is_known else read(plain, kinds)
    safe = redacted.text if redacted.kinds else plain
    if depth and '"' in safe:
        safe = "".join(_redacted_json_pieces(safe, reading, depth - 1))
    if safe != plain:
        if "\\" in body and plain == body:  # no string of JSON
            return safe
        import json

        return json.dumps(safe)[1:-1]
    word = plain_form(plain)
    if word.startswith("[redacted:") or not compile_pattern(r"[^\s\"\\]+").fullmatch(word):
        return body
    if not mentions(plain_form(label)):
        return body
    labelled = redact_hidden(f'{label}{word}"', kinds).text
    found = compile_pattern(r"(?<=\")\[redacted:\w+\](?=\"\Z)").search(labelled)
    return found.group() if found else body


def _decode_json_string(body: str) -> str:
    if "\\" not in body:
        return body
    import json

    try:
        return str(json.loads(f'"{body}"'))
    except ValueError:  # no string of JSON, whatever it is
        return body
