"""The rules in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from preflights_es.redaction.addresses import emails, escaped_emails
from preflights_es.redaction.contexts import cookies, headers, pairs, places
from preflights_es.redaction.keyword_rules import labels
from preflights_es.redaction.numbers import cards, ibans, phones
from preflights_es.redaction.options import options
from preflights_es.redaction.patterns import Span
from preflights_es.redaction.private_keys import private_keys
from preflights_es.redaction.token_formats import shapes, web_tokens

# The order is a priority: an exact shape before a place, a place before an address.
_SHAPES: Final = (private_keys, shapes, web_tokens)
_PLACES: Final = (options, places, ibans, cards, phones, headers, cookies, pairs, labels)
_ADDRESSES: Final = (emails, escaped_emails)
RULES: Final[tuple[Callable[[str], Iterator[Span]], ...]] = (*_SHAPES, *_PLACES, *_ADDRESSES)
SHAPED: Final = (*_SHAPES, *_ADDRESSES)
"""Rules that know a secret by its form alone."""
