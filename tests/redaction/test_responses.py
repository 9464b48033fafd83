"""What is recorded of a model's response: no keys, tokens and addresses, and JSON stays JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.redaction import response_redacted

MIX = "a1B2" * 12  # 48 characters
AWS = "AKIA" + "IOSFODNN7" + "EXAMPLE"
OPENAI = "sk-" + "proj-" + MIX
GITHUB = "ghp_" + "a1" * 18
JWT = ".".join(("eyJhbGciOi" + "JIUzI1NiJ9", "eyJzdWIi" + "OiIxMjMifQ", MIX))

RESPONSES = [
    ("Ask ada@example.com.", "Ask [redacted:email]."),
    (f"Use {OPENAI} for it", "Use [redacted:key] for it"),
    ("The API key is abcd1234efgh5678", "The API key is [redacted:key]"),
    ('Set the API key: "abcd1234efgh5678", then go', 'Set the API key: "[redacted:key]", then go'),
    ('{"question": "Mail ada@example.com?"}', '{"question": "Mail [redacted:email]?"}'),
    (f'```json\n{{"a": ["{GITHUB}"]}}\n```', '```json\n{"a": ["[redacted:token]"]}\n```'),
    (f'Here: ada@example.com {{"a":"{JWT}"}}', 'Here: [redacted:email] {"a":"[redacted:token]"}'),
    (r'{"a": "\nada@example.com"}', r'{"a": "\n[redacted:email]"}'),
    (r'{"a": "ada\u0040example.com"}', '{"a": "[redacted:email]"}'),
    (rf'{{"a": "s\u006b\u002d{OPENAI[3:]}"}}', '{"a": "[redacted:key]"}'),
    (r'{"a": "\"ada lovelace\"@example.com"}', '{"a": "[redacted:email]"}'),
    (r'{"a": "für \"ada@example.com\""}', r'{"a": "f\u00fcr \"[redacted:email]\""}'),
    ('{"api_key": "abcd1234efgh5678"}', '{"api_key": "[redacted:key]"}'),
    ('{"x": 1, "api_key" : "abcd1234efgh5678"}', '{"x": 1, "api_key" : "[redacted:key]"}'),
    ('{"token": "abc123def456ghi", "n": 1}', '{"token": "[redacted:token]", "n": 1}'),
    ('{"ada@example.com": 1}', '{"[redacted:email]": 1}'),
    ('"ada@example.com"', '"[redacted:email]"'),
    ('{"a": "ask ada@example.com', '{"a": "ask [redacted:email]'),
    (f'{{"a": "use AKIA\u200b{AWS[4:]}"}}', '{"a": "use [redacted:key]"}'),
    (rf'{{"a": "use AKIA\u200b{AWS[4:]}"}}', '{"a": "use [redacted:key]"}'),
    (f"AKIA\u200d{AWS[4:]} is the key", "[redacted:key] is the key"),
    (f'{{"a": "{GITHUB[:8]}\ufe0f{GITHUB[8:]}"}}', '{"a": "[redacted:token]"}'),
    ('{"a": "bob\uff20corp.com"}', '{"a": "[redacted:email]"}'),
    (r'{"a": "bob\uff20corp.com"}', '{"a": "[redacted:email]"}'),
    ("Mail bob\uff20corp.com", "Mail [redacted:email]"),
    (r'{"to\u006ben": "abc123def456ghi"}', r'{"to\u006ben": "[redacted:token]"}'),
    ('{"\uff54oken": "abc123def456ghi"}', '{"\uff54oken": "[redacted:token]"}'),
    ('{"to\u200bken": "abc\u200b123def456ghi"}', '{"to\u200bken": "[redacted:token]"}'),
    *(
        (json.dumps({"a": inner}), json.dumps({"a": recorded}))
        for inner, recorded in (
            ('{"token": "abc123def456ghi"}', '{"token": "[redacted:token]"}'),
            ('["ada\\u0040example.com"]', '["[redacted:email]"]'),
            (r'{"to\u006ben": "abc123def456ghi"}', r'{"to\u006ben": "[redacted:token]"}'),
            (json.dumps({"b": f'["{JWT}"]'}), json.dumps({"b": '["[redacted:token]"]'})),
        )
    ),
    (r'{"a": "\ud800 ada@example.com"}', r'{"a": "\ud800 [redacted:email]"}'),
]
UNTOUCHED = [
    "",
    "{}",
    '{"category": "Authentication", "question": "Email/Password or OAuth?"}',
    '{"options": ["JWT tokens", "Session cookies", "API key", "Magic link"]}',
    '{"token": 12345678901234, "key": true}',
    '{"type": "sql", "sql": "SELECT key, token FROM t WHERE name = \'x\' AND \\"id\\" > 1"}',
    '{"a": "DB_PASSWORD=swordfish"}',
    '{"a": "call +49 30 901820, pay 4111 1111 1111 1111"}',
    '{"slug": "api-key", "field": "API_Key", "value": "HMAC-SHA256"}',
    r'{"a": "C:\\new\\table \u00fc \n\t"}',
    '{"key": "[redacted:key]", "mail": "[redacted:email]"}',
    '{"b": "\\x", "a": "',
    '{"a": "👩\u200d💻 für \u200bdich, \uff46ull"}',
    json.dumps({"a": json.dumps({"token": "JWT", "key": json.dumps({"name": "api-key"})})}),
    r'{"a": "{\"a\": \"\\u00fc\", \"mail\": \"required\"}"}',
    '{"to\u200bken": "opaque", "bob\uff20corp": 1}',
    '"',
]


@pytest.mark.parametrize(("response", "recorded"), RESPONSES)
def test_a_secret_in_a_response_is_not_recorded(response: str, recorded: str) -> None:
    assert response_redacted(response) == recorded
    assert response_redacted(recorded) == recorded


@pytest.mark.parametrize("response", UNTOUCHED)
def test_a_response_without_keys_tokens_and_addresses_stays(response: str) -> None:
    assert response_redacted(response) == response


PIECES = st.sampled_from(
    [
        *(
            "ada@example.com",
            OPENAI,
            GITHUB,
            JWT,
            "api_key",
            "token",
            "token: ",
            "key=",
            "abcd1234",
        ),
        *('"', "\\", "\n", "\t", " ", "{", "}", "[", "]", ",", ":", "/", "é", "\u2028", "\ud800"),
        *("[redacted:key]", "n", "u0040", "@", "x.de", "123456789012345678", "://a:b@", "Bearer "),
        *("\u200b", "\uff20", "\ufe0f", '{"token": "', '{"a": "ada\\u0040example.com"}'),
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
VALUES = st.recursive(
    TEXTS | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """The value without its strings: what a reader of JSON relies on."""
    match value:
        case dict():
            return [shape(inner) for inner in value.values()]
        case list():
            return [shape(inner) for inner in value]
        case str():
            return ""
        case _:
            return value


def pairs_of(pairs: list[tuple[str, Any]]) -> dict[int, Any]:
    """An object whose names do not count: two may hide behind one marker."""
    return {i: value for i, (_, value) in enumerate(pairs)}


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_json_stays_json_of_the_same_shape(value: Any, ascii_only: bool, indent: int) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    recorded = response_redacted(text)
    found = json.loads(recorded, object_pairs_hook=pairs_of)
    assert shape(found) == shape(json.loads(text, object_pairs_hook=pairs_of))
    assert response_redacted(recorded) == recorded


@given(TEXTS)
def test_a_response_is_redacted_once(text: str) -> None:
    once = response_redacted(text)
    assert response_redacted(once) == once


@pytest.mark.parametrize(
    "unit", ['{"', '":"', '"a":"b",', "\\", '\\"', ":  ", '"\\u0040"', "[[", '"{\\"', '\\\\\\"a']
)
def test_a_response_of_a_million_characters_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert response_redacted(text) == text
