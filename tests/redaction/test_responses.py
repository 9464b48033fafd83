"""What is recorded of a model's response: no keys, tokens and addresses, and JSON stays JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.each import each
from tests.redaction.every_kind import label_redacted, response_redacted

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
TAGGED = "".join(chr(0xE0000 + ord(c)) for c in GITHUB)
NOISE = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
RESPONSES += [
    (r'{"question":"mail ada\u0040example.org an', '{"question":"mail [redacted:email] an'),
    (r"{'q': 'mail ada\u0040example.org'}", "{'q': 'mail [redacted:email]'}"),
    (r"mail ada\x40example.org or", "mail [redacted:email] or"),
    (r"mail ada\u{40}example.org or", "mail [redacted:email] or"),
    (r'{"a":"{\"b\":\"ada\\u0040example.org', r'{"a":"{\"b\":\"[redacted:email]'),
    (r'{"a": "\x ada\u0040example.org"}', r'{"a": "\x [redacted:email]"}'),
    (r'{"a": "\x ada@example.org"}', r'{"a": "\x [redacted:email]"}'),
    ("ada&#64;example.org", "[redacted:email]"),
    ('{"a": "ada&#x40;example.org"}', '{"a": "[redacted:email]"}'),
    ("ada&commat;example.org", "[redacted:email]"),
    (TAGGED, "[redacted:token]"),
    (f'{{"a": "use {TAGGED}"}}', '{"a": "use [redacted:token]"}'),
    (f'{{"name":"api_key","value":"{NOISE}"}}', '{"name":"api_key","value":"[redacted:key]"}'),
    (f'{{"key": "token", "value": "{NOISE}"}}', '{"key": "token", "value": "[redacted:token]"}'),
    (f'["api key","{NOISE}"]', '["api key","[redacted:key]"]'),
]
UNTOUCHED = [
    '{"name": "api_key", "value": "required"}',
    '{"name": "theme", "value": "api-key-2"}',
    '["api key", "oauth2"]',
    '["API key", "JWT-RS256", "session-cookies"]',
    f'["sha256", "{NOISE}"]',
    r"a\u0062c &amp; d &#233; \ud800 \u0022",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
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


@each(("response", "recorded"), RESPONSES)
def test_a_secret_in_a_response_is_not_recorded(response: str, recorded: str) -> None:
    assert response_redacted(response) == recorded
    assert response_redacted(recorded) == recorded


@each("response", UNTOUCHED)
def test_a_response_without_keys_tokens_and_addresses_stays(response: str) -> None:
    assert response_redacted(response) == response


NAMES = """
gpt-4o-2024-08-06|claude-sonnet-4-5-20250929|claude-3-5-sonnet-v2@20241022|o1-preview-2024-09-12
us.anthropic.claude-sonnet-4-20250514-v1:0|@cf/meta/llama-3.1-8b-instruct-fast|simllm-1|end_turn
models/gemini-2.5-pro-preview-05-06|hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M|content_filter
ft:gpt-4o-mini-2024-07-18:acme-corp:support-v2:A1b2C3d4|ft:gpt-3.5-turbo-0613:openai::7qTVM5AR
arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-3-5-sonnet-20241022-v2:0
arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6|token_limit
projects/123456789012/locations/us-central1/publishers/google/models/gemini-1.5-pro@001|api-key-model
accounts/fireworks/models/llama-v3p1-405b-instruct|qwen2.5-coder:32b-instruct-q4_K_M|stop_sequence
req_011CSHoEeqs5C35K2UUqR7Fy|req_9f8e7d6c5b4a39281706f5e4d3c2b1a0|msg_01XFDUDYJgAACzvnptvVoYEL
chatcmpl-9f8eA7b6C5d4E3f2A1b0C9d8E7f6A|cmpl-6a7b8c9d0e1f2a3b4c5d6e7f|gen-1734567890-aB3dE5fG7hI9jK1lM3nO
resp_68a1b2c3d4e5f6789012345678901234567890abcdef1234|req_01jabc9xyze8ktq6v5m2n3p4r5
f47ac10b-58cc-4372-a567-0e02b2c3d479|0195e7f2-7b1c-7d3e-9a4b-5c6d7e8f9a0b|8f7c2a1e9b3d4c5f-FRA
Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1|CHs5Z7mWKbyh1PIPgNfW0Q8
a1b2c3d4e5f64788a1b2c3d4e5f64788|01JQ8Z5X7Y3W2V1T0S9R8Q7P6N|20250115103045a1b2c3d4e5f67890
batch_67f0a1b2c3d48190a1b2c3d4e5f60718|toolu_01A09q90qw90lq917835lq9|fp_44709d6fcb|token=a1b2c3d4e5f6
"""


@each("name", NAMES.strip().replace("\n", "|").split("|"))
def test_an_ordinary_name_or_id_of_a_provider_stays(name: str) -> None:
    assert label_redacted(name) == name


@each(
    ("name", "recorded"),
    [
        (f"gpt-x {GITHUB}", "gpt-x [redacted:token]"),
        (f"req-{OPENAI}", "req-[redacted:key]"),
        (f"{GITHUB[:6]}\u200b{GITHUB[6:]}", "[redacted:token]"),
        (JWT, "[redacted:token]"),
        ("llama of ada@example.com", "llama of [redacted:email]"),
        *(
            (f"https://{front}{rest}", f"https://{front}[redacted:token]")
            for front, rest in (
                ("hooks.slack.com/services/", "T01ABCDEF/B01ABCDEF/" + "a1B2c3D4e5F6"),
                ("discord.com/api/webhooks/", "123456789012345678/" + "a1B2c3D4e5F6"),
                ("a.webhook.office.com/webhookb2/", "0a1b2c3d-9a1e@4b7c/IncomingWebhook/x1/y2"),
                ("a.logic.azure.com/workflows/1/invoke?sp=x&sig=", "a1B2c3D4e5F6a1B2c3D4e5F6"),
            )
        ),
    ],
)
def test_a_credential_or_an_address_in_a_name_goes(name: str, recorded: str) -> None:
    assert label_redacted(name) == recorded


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


@pytest.mark.slow("sizes")
@each(
    "unit",
    [
        '{"',
        '":"',
        "\\u",
        "&#",
        "\\u{",
        "\\ud800",
        '"key","',
        '"a":"b",',
        "\\",
        '\\"',
        ":  ",
        '"\\u0040"',
        "[[",
        '"{\\"',
        '\\\\\\"a',
    ],
)
def test_a_long_response_takes_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    assert response_redacted(text) == text
