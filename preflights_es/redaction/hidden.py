"""Secrets behind characters without width, or in another form of the same letters."""

from __future__ import annotations

import unicodedata
from typing import Final

from preflights_es.kernel.text import TAGS
from preflights_es.redaction.masking import Redacted, redact
from preflights_es.redaction.patterns import KINDS, SecretKind, compiled

_WITHOUT_WIDTH: Final = (
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    f"\ufe00-\ufe0f\ufeff{TAGS}]"
)
_TAG: Final = 0xE0000


def redact_hidden(
    text: str, kinds: tuple[SecretKind, ...] = KINDS, *, by_form: bool = False
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
    read = plain_form(compiled(f"[{TAGS}]").sub(lambda tag: chr(ord(tag.group()) - _TAG), text))
    return tuple({plain_form(text): None, read: None})


def plain_form(text: str) -> str:
    """The text as a reader takes it: no characters without width, one form of each letter."""
    if text.isascii():
        return text
    return compiled(_WITHOUT_WIDTH).sub("", unicodedata.normalize("NFKC", text))
