"""A model's response without keys, tokens and e-mail addresses; its JSON stays JSON.

A string of JSON is read as its reader reads it: `\\u0040` is an @, and `\\n` is no letter. JSON in
it is read the same way. It is written anew only where something goes. Passwords, cards, accounts
and phone numbers stay: the rules for them judge a person's prose, and a false alarm in a response
changes what is decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.hidden import plain_form, redact_hidden
from preflights_es.redaction.masking import mentions, worth_a_look
from preflights_es.redaction.patterns import Kind, compiled

KINDS_OF_RESPONSES: Final[tuple[Kind, ...]] = ("key", "token", "email")
LABEL_MAX: Final = 100  # characters in front of a string that may name what it holds
DEPTH_MAX: Final = 8  # JSON in a string of JSON; each level doubles the backslashes of the next
SECRET_MIN: Final = 6  # characters; a shorter string is no secret and no address

# A string at a place of JSON: a quotation in prose is seldom between such signs.
_STRING: Final = (
    r"(?:[{\[,:]|\A)\s*+\"(?P<body>(?:[^\"\\\x00-\x1f]|\\[^\x00-\x1f])*+)\"(?=\s*+(?:[,:}\]]|\Z))"
)
_PUNCTUATION: Final = ' \t\r\n",:{}[]'
_PAIRED: Final = r"\"\s*:\s*\""


def response_redacted(text: str) -> str:
    """The response as it is recorded; doing it again changes nothing."""
    if not worth_a_look(plain_form(text)) and "\\" not in text:
        return text
    return "".join(_pieces(text, DEPTH_MAX))


def label_redacted(text: str) -> str:
    """A provider's name or id as it is recorded.

    An id looks as random as a key does, so only a form that a vendor documents goes.
    """
    return redact_hidden(text, KINDS_OF_RESPONSES, by_form=True).text


def _pieces(text: str, depth: int) -> Iterator[str]:
    name, done = "", 0
    for found in compiled(_STRING).finditer(text):
        start, end = found.span("body")
        gap, body = text[done:start], found["body"]
        label = f'"{name}{gap}' if compiled(_PAIRED).fullmatch(gap) else gap
        yield _plain(gap)
        yield _string(body, label[-LABEL_MAX:], depth)
        name, done = _decoded(body)[-LABEL_MAX:], end
    yield _plain(text[done:])


def _plain(text: str) -> str:
    if len(text.strip(_PUNCTUATION)) < SECRET_MIN:
        return text
    return redact_hidden(text, KINDS_OF_RESPONSES).text


def _string(body: str, label: str, depth: int) -> str:
    """What stands between the quotes, redacted by itself or by what stands before it."""
    if len(body) < SECRET_MIN:
        return body
    plain = _decoded(body)
    redacted = redact_hidden(plain, KINDS_OF_RESPONSES)
    safe = redacted.text if redacted.kinds else plain
    if depth and '"' in safe:
        safe = "".join(_pieces(safe, depth - 1))
    if safe != plain:
        import json

        return json.dumps(safe)[1:-1]
    word = plain_form(plain)
    if not (compiled(r"[^\s\"\\]+").fullmatch(word) and mentions(plain_form(label))):
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
