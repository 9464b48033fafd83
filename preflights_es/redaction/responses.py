"""A model's response without keys, tokens and e-mail addresses; its JSON stays JSON.

A string of JSON is read as its reader reads it: `\\u0040` is an @, and `\\n` is no letter. JSON in
it is read the same way. It is written anew only where something goes. Passwords, cards, accounts
and phone numbers stay: the rules for them judge a person's prose, and a false alarm in a response
changes what is decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.entropy import is_noise
from preflights_es.redaction.hidden import plain_form, readings, redact_hidden
from preflights_es.redaction.masking import Redacted, mentions, worth_a_look
from preflights_es.redaction.patterns import SecretKind, compiled

KINDS_OF_RESPONSES: Final[tuple[SecretKind, ...]] = ("key", "token", "email")
LABEL_MAX: Final = 100  # characters in front of a string that may name what it holds
DEPTH_MAX: Final = 8  # JSON in a string of JSON; each level doubles the backslashes of the next
SECRET_MIN: Final = 6  # characters; a shorter string is no secret and no address

# A string at a place of JSON: a quotation in prose is seldom between such signs.
_STRING: Final = (
    r"(?:[{\[,:]|\A)\s*+\"(?P<body>(?:[^\"\\\x00-\x1f]|\\[^\x00-\x1f])*+)\"(?=\s*+(?:[,:}\]]|\Z))"
)
_PUNCTUATION: Final = ' \t\r\n",:{}[]'
_PAIRED: Final = r"\"\s*:\s*\""
_LISTED: Final = r"\"\s*,\s*\""


def response_redacted(text: str) -> str:
    """The response as it is recorded; doing it again changes nothing."""
    forms = (text, *readings(text))
    if not any(sign in text for sign in "\\&") and not any(map(worth_a_look, forms)):
        return text
    return "".join(_pieces(text, DEPTH_MAX))


def label_redacted(text: str) -> str:
    """A provider's name or id as it is recorded.

    An id looks as random as a key does, so only a form that a vendor documents goes.
    """
    return redact_hidden(text, KINDS_OF_RESPONSES, by_form=True).text


def _pieces(text: str, depth: int) -> Iterator[str]:
    holder = name = ""
    done = 0
    for found in compiled(_STRING).finditer(text):
        start, end = found.span("body")
        gap, body = text[done:start], found["body"]
        plain = _decoded(body)
        label = _label(holder, name, gap, plain)
        yield _plain(gap)
        yield _string(body, label[-LABEL_MAX:], depth)
        holder, name, done = name, plain[-LABEL_MAX:], end
    yield _plain(text[done:])


def _plain(text: str) -> str:
    if len(text.strip(_PUNCTUATION)) < SECRET_MIN:
        return text
    return _redacted(text).text


def _label(holder: str, name: str, gap: str, value: str) -> str:
    """What stands before a string and may name it: a name, or a field that holds the name."""
    if compiled(_PAIRED).fullmatch(gap):
        return f'"{holder if name.lower() == "value" else name}": "'
    if compiled(_LISTED).fullmatch(gap) and is_noise(value):
        return f'"{name}": "'
    return gap


def _redacted(text: str) -> Redacted:
    """Also where characters are spelled as escapes; the text is written so only then."""
    found = redact_hidden(text, KINDS_OF_RESPONSES)
    if (spelled := _unescaped(text)) != text:
        seen = redact_hidden(spelled, KINDS_OF_RESPONSES)
        if len(seen.kinds) > len(found.kinds):
            return seen
    return found


# Outside a whole string of JSON: one cut off, in single quotes, with an escape that is invalid.
_ESCAPE: Final = (
    r"(?<!\\)\\++(?:u(?P<high>d[89ab][0-9a-f]{2})\\++u(?P<low>d[c-f][0-9a-f]{2})|u(?P<four>[0-9a-f]{4})"
    r"|u\{(?P<braced>[0-9a-f]{1,6})\}|x(?P<two>[0-9a-f]{2}))"
    r"|&#(?:x(?P<hex>[0-9a-f]{1,6})|(?P<decimal>[0-9]{1,7}));|&(?P<at>commat);"
)


def _unescaped(text: str) -> str:
    if "\\" not in text and "&" not in text:
        return text
    return compiled(_ESCAPE, re.IGNORECASE).sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    """What it stands for; a quote, a backslash and a control character stay escaped."""
    if escape["high"]:
        code = (
            0x10000 + ((int(escape["high"], 16) & 0x3FF) << 10) + (int(escape["low"], 16) & 0x3FF)
        )
    elif escape["at"]:
        code = ord("@")
    else:
        code = int(escape["decimal"] or 0)
        for group in ("four", "braced", "two", "hex"):
            code = int(escape[group], 16) if escape[group] else code
    odd = code < 0x20 or 0xD800 <= code < 0xE000 or code > 0x10FFFF
    return escape.group() if odd or chr(code) in "\"\\'" else chr(code)


def _string(body: str, label: str, depth: int) -> str:
    """What stands between the quotes, redacted by itself or by what stands before it."""
    if len(body) < SECRET_MIN:
        return body
    plain = _decoded(body)
    nested = depth and '"' in plain  # its own strings are read then
    redacted = redact_hidden(plain, KINDS_OF_RESPONSES) if nested else _redacted(plain)
    safe = redacted.text if redacted.kinds else plain
    if depth and '"' in safe:
        safe = "".join(_pieces(safe, depth - 1))
    if safe != plain:
        if not _is_string(body):
            return safe
        import json

        return json.dumps(safe)[1:-1]
    word = plain_form(plain)
    if word.startswith("[redacted:") or not (
        compiled(r"[^\s\"\\]+").fullmatch(word) and mentions(plain_form(label))
    ):
        return body
    labelled = redact_hidden(f'{label}{word}"', KINDS_OF_RESPONSES).text
    found = compiled(r"(?<=\")\[redacted:\w+\](?=\"\Z)").search(labelled)
    return found.group() if found else body


def _decoded(body: str) -> str:
    if "\\" not in body:
        return body
    import json

    try:
        return str(json.loads(f'"{body}"'))
    except ValueError:  # no string of JSON, whatever it is
        return body


def _is_string(body: str) -> bool:
    return "\\" not in body or _decoded(body) != body
