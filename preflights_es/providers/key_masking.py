"""What of a server's words may be shown and recorded: short, on one line, and without the key."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from preflights_es.kernel.secret import Secret
from preflights_es.kernel.text import one_line, shortened, shown
from preflights_es.providers import http_body

LOOKED_AT_MAX: Final = 20_000  # characters of an error that are searched for secrets
KEY_IN_ERROR_MIN: Final = 4  # characters; a shorter key would garble every message
KEY_IN_TEXT_MIN: Final = 12  # characters; a shorter key is a placeholder such as "ollama"
REDACTED: Final = "[redacted:key]"


class Discretion:
    """Knows the key of a provider, and keeps it."""

    def __init__(self, key: Secret, redact: Callable[[str], str]) -> None:
        self._key = key.reveal()
        self._redact = redact

    def said(self, text: str, limit: int) -> str:
        """A server's message, shortened.

        The key goes first and the cut comes last: half a key would not be recognised.
        """
        for form in _forms(self._key):
            text = text.replace(form, REDACTED)
        return shortened(shown(one_line(self._redact(text[:LOOKED_AT_MAX]))), limit)

    def text(self, text: str) -> str:
        """A response; only the key itself is taken out, everything else is the response's."""
        return text.replace(self._key, REDACTED) if len(self._key) >= KEY_IN_TEXT_MIN else text

    def word(self, value: object) -> str:
        """A name; see `http_body.word`."""
        return http_body.word(self.text(value) if isinstance(value, str) else value)

    def __repr__(self) -> str:
        return "Discretion()"


def _forms(key: str) -> tuple[str, ...]:
    """A key as it is, and as JSON, Python and a URL write it."""
    if len(key) < KEY_IN_ERROR_MIN:
        return ()
    return tuple(dict.fromkeys((key, json.dumps(key)[1:-1], repr(key)[1:-1], quote(key, safe=""))))
