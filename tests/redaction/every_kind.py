"""Redaction of every kind of secret, as where the setting `redact` names all of them."""

from __future__ import annotations

from functools import partial

from preflights_es.redaction import masking
from preflights_es.redaction.patterns import KINDS

redact = partial(masking.redact, kinds=KINDS)
redact_hidden = partial(masking.redact_hidden, kinds=KINDS)
response_redacted = partial(masking.response_redacted, kinds=KINDS)
label_redacted = partial(masking.label_redacted, kinds=KINDS)
