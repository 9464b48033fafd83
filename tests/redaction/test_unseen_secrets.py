"""Secrets by an author who had not seen the rules; 33 of 35 were found at the first run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from preflights_es.redaction import masking
from tests.redaction.every_kind import redact_hidden

SECRETS: Final = json.loads(Path(__file__).with_name("unseen_secrets.json").read_text())
"""Pairs of a text and the secret in it."""
MISSED: Final = "define('AUTH_KEY'"
"""A name that ends with KEY names many things; the value has signs that no token has."""


def test_all_but_one_are_found() -> None:
    missed = [text for text, secret in SECRETS if secret in redact_hidden(text).text]

    assert [text[: len(MISSED)] for text in missed] == [MISSED]


INNOCENT: Final = Path(__file__).with_name("unseen_innocent.txt")
PLACEHOLDERS: Final = ("glpat-xxxx", "AKIAXXXX", "AKIAIOSFODNN7EXAMPLE", "gpg: key ")
"""Lines that have the shape of a key, or its label, and none: they are redacted."""


def test_lines_without_a_secret_stay_but_for_placeholders() -> None:
    lines = INNOCENT.read_text("utf-8").splitlines()
    changed = [line for line in lines if masking.redact_hidden(line).text != line]
    assert len(lines) == 200
    assert [line for line in changed if not any(one in line for one in PLACEHOLDERS)] == []


HEADERS: Final = Path(__file__).with_name("unseen_headers.jsonl")
"""Of another such author: headers, codes and signatures in addresses, and what looks so. At the
first run 63 of 70 secrets were found, and 3 of 70 innocent lines were changed."""
SIGNED: Final = ("Digest ", "AWS4-HMAC", "PVEAPIToken", "OAuth oauth_", "hmac username")
"""Signatures of one request, useless for another one; and a scheme that is written with `=`."""


def test_headers_and_addresses_lose_their_secrets_and_nothing_else() -> None:
    cases = [json.loads(line) for line in HEADERS.read_text("utf-8").splitlines()]
    assert len(cases) == 140
    missed = [
        case["text"]
        for case in cases
        if case["secret"] and case["secret"] in masking.redact(case["text"]).text
    ]
    assert all(any(one in text for one in SIGNED) for text in missed), missed
    innocent = [case["text"] for case in cases if not case["secret"]]
    assert [text for text in innocent if masking.redact(text).text != text] == []
