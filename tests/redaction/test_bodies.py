"""Bodies of requests and answers: secrets go from each string, and ids, media and numbers stay."""

from __future__ import annotations

import json
import random
import string
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given

from preflights_es.kernel.errors import Refused
from preflights_es.redaction.bodies import LEVELS_MAX, SeenStrings, redact_body
from preflights_es.redaction.masking import Redacted
from preflights_es.redaction.patterns import KINDS
from tests.each import each
from tests.redaction.test_redaction import GITHUB, JWT, OPENAI, PEM, SHAPES
from tests.redaction.test_responses import TEXTS, VALUES, shape

PHRASE = "correct horse battery staple"
BODIES = [
    (
        {"messages": [{"role": "user", "content": "Hi, the passphrase is xK7-mango-91. Thanks"}]},
        {
            "messages": [
                {"role": "user", "content": "Hi, the passphrase is [redacted:password]. Thanks"}
            ]
        },
    ),
    ({"password": "hunter2xyz"}, {"password": "[redacted:password]"}),
    ({"pin": "4711"}, {"pin": "[redacted:password]"}),
    ({"passphrase": PHRASE}, {"passphrase": "[redacted:password]"}),
    ({"db": {"dbPassword": 'a1"b2c3'}}, {"db": {"dbPassword": "[redacted:password]"}}),
    ({"authorization": "Bearer abcd1234efgh5678"}, {"authorization": "Bearer [redacted:token]"}),
    ({"content": [{"text": f"use {GITHUB}"}]}, {"content": [{"text": "use [redacted:token]"}]}),
    (
        {"name": "api_key", "value": "9f8e7d6c5b4a39281706"},
        {"name": "api_key", "value": "[redacted:key]"},
    ),
    (["api key", "9f8e7d6c5b4a39281706f5e4"], ["api key", "[redacted:key]"]),
    ({GITHUB: 1, JWT: 2}, {"[redacted:token]": 1, "[redacted:token]'": 2}),
    ({"text": f"a\n{PEM}\nb"}, {"text": "a\n[redacted:key]\nb"}),
    (
        {"text": 'run {"password": "hunter2xyz"}'},
        {"text": 'run {"password": "[redacted:password]"}'},
    ),
    ({"text": f"sk\\u002d{OPENAI[3:]}"}, {"text": "[redacted:key]"}),
    ("my password is hunter2xyz", "my password is [redacted:password]"),
]
PERSONAL = [
    ({"text": "mail ada@example.com"}, {"text": "mail [redacted:email]"}),
    ({"text": "pay 4111 1111 1111 1111"}, {"text": "pay [redacted:card]"}),
    ({"text": "[4111111111111111]"}, {"text": "[[redacted:card]]"}),
]
INNOCENT: list[Any] = [
    {"tools": [{"function": {"name": "login", "parameters": {"properties": {
        "password": {"type": "string", "description": "The password, at least 12 characters"}}},
        "required": ["password", "api_key"]}}]},
    {"usage": {"prompt_tokens": 123, "completion_tokens_details": {"reasoning_tokens": 0}}},
    {"embedding": [0.12, -0.5, 1e-9] * 100, "index": 0},
    {"logprobs": {"content": [{"token": "Hello", "logprob": -0.1, "bytes": [72, 101]}]}},
    {"text": "How do I reset a password? Use ${DB_PASSWORD} or <token>."},
    {"max_tokens": 4096, "stop": ["\n\n"], "stream": True, "metadata": None, "key": "required"},
    "{not json", "[1, 2", "", "[]", {"a": {}}, {"text": "\ufdd0 a noncharacter"},
]  # fmt: skip


@each(("body", "recorded"), BODIES)
def test_a_secret_goes_from_a_body(body: Any, recorded: Any) -> None:
    found, kinds = redact_body(body)
    assert found == recorded
    assert kinds
    assert redact_body(found) == (recorded, ())


@each(("body", "recorded"), PERSONAL)
def test_personal_data_go_where_they_are_asked_for(body: Any, recorded: Any) -> None:
    assert redact_body(body) == (body, ())
    assert redact_body(body, KINDS)[0] == recorded


@each("body", INNOCENT)
def test_a_body_without_a_secret_is_the_same_object(body: Any) -> None:
    found, kinds = redact_body(body, KINDS)
    assert found is body
    assert kinds == ()


def test_the_value_that_was_given_stays() -> None:
    body = {"a": [{"password": "hunter2xyz"}]}
    redact_body(body)
    assert body == {"a": [{"password": "hunter2xyz"}]}


@each(("secret", "kind"), SHAPES)
def test_a_credential_goes_from_a_message_and_from_arguments(secret: str, kind: str) -> None:
    arguments = json.dumps({"to": "x", "command": f"deploy {secret} now"})
    body = {"content": f"Use {secret} for it", "function": {"arguments": arguments}}
    found, kinds = redact_body(body)
    assert kinds == (kind, kind)
    assert json.loads(found["function"]["arguments"]) == {
        "to": "x",
        "command": f"deploy [redacted:{kind}] now",
    }
    assert found["content"] == f"Use [redacted:{kind}] for it"


# What stays ------------------------------------------------------------------------------------


def ids(chance: random.Random) -> list[dict[str, Any]]:
    """A value of each kind that providers and programs name things by."""

    def mixed(length: int) -> str:
        return "".join(chance.choices(string.ascii_letters + string.digits, k=length))

    def digits(length: int) -> str:
        return "".join(chance.choices("0123456789abcdef", k=length))

    def uuid() -> str:
        return "-".join(map(digits, (8, 4, 4, 4, 12)))

    seal = b64encode(chance.randbytes(300)).decode()
    return [
        {"id": f"call_{mixed(24)}", "type": "function"},
        {"tool_call_id": f"call_{mixed(24)}", "content": "12 C"},
        {"type": "tool_use", "id": f"toolu_01{mixed(22)}"},
        {"id": f"msg_01{mixed(22)}"},
        {"id": f"msg_{digits(48)}"},
        {"id": f"chatcmpl-{mixed(29)}", "system_fingerprint": f"fp_{digits(10)}"},
        {"id": f"chatcmpl-{uuid()}"},
        {"id": f"resp_{digits(48)}", "previous_response_id": f"resp_{digits(48)}"},
        {"call_id": f"call_{mixed(24)}", "id": f"fc_{digits(48)}"},
        {"request_id": f"req_{digits(32)}", "x-request-id": f"req_011{mixed(21)}"},
        {"session_id": uuid(), "trace_id": digits(32), "token_id": f"item_{mixed(20)}"},
        {"session_id": digits(64), "sha256": f"sha256:{digits(64)}"},
        {"metadata": {"user_id": f"user_{digits(64)}_account_{uuid()}_session_{uuid()}"}},
        {"content": f"commit {digits(40)} broke request req_{digits(32)} of {uuid()}"},
        {"prompt_cache_key": mixed(32), "user": f"user_{mixed(24)}"},
        {"type": "thinking", "thinking": "hm", "signature": seal},
        {"type": "redacted_thinking", "data": seal},
        {"type": "reasoning", "encrypted_content": b64encode(chance.randbytes(1_500)).decode()},
    ]


def test_ids_digests_and_signatures_stay() -> None:
    chance = random.Random(5)
    for _ in range(200):
        for body in ids(chance):
            assert redact_body(body, KINDS) == (body, ())


MAGIC = [
    *(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\x00\x01\x02\x03WEBP"),
    b"%PDF-1.7",
    *(b"RIFF\x00\x01\x02\x03WAVE", b"OggS", b"ID3\x03", b"\xff\xfb\x90", b"fLaC"),
]  # fmt: skip
HIDDEN = f"password=hunter2xyz {GITHUB} ".encode() * 80


@each("magic", MAGIC)
def test_media_in_base64_stay_and_what_is_beside_them_goes(magic: bytes) -> None:
    media = b64encode(magic + HIDDEN).decode()
    picture = {"source": {"data": media}, "url": f"data:image/png;base64,{media}"}
    text = f"![x](data:image/png;base64,{media}) the password is "
    found, kinds = redact_body(picture | {"text": f"{text}hunter2xyz"})
    assert kinds == ("password",)
    assert found == picture | {"text": f"{text}[redacted:password]"}


def test_base64_that_is_no_media_is_read() -> None:
    text = b64encode(HIDDEN).decode()
    assert redact_body({"data": text})[0] == {"data": "[redacted:token]"}
    short = b64encode(MAGIC[0]).decode() + "A" * 40
    assert redact_body({"data": f"{short} {GITHUB}"})[0] == {"data": f"{short} [redacted:token]"}


@each("field", ["signature", "data", "note"])
def test_a_signature_is_one_by_its_place_alone(field: str) -> None:
    body = {"type": "text", field: GITHUB}
    assert redact_body(body)[0] == {"type": "text", field: "[redacted:token]"}


# Laws ------------------------------------------------------------------------------------------


@given(VALUES)
def test_a_body_keeps_its_shape_and_is_redacted_once(value: Any) -> None:
    once, _ = redact_body(value, KINDS)
    assert shape(once) == shape(value)
    assert redact_body(once, KINDS) == (once, ())


@given(TEXTS)
def test_a_text_of_a_body_is_redacted_once(text: str) -> None:
    once, _ = redact_body(text, KINDS)
    assert redact_body(once, KINDS) == (once, ())


def test_a_body_that_is_nested_too_deep_is_refused() -> None:
    body: Any = "x"
    for _ in range(LEVELS_MAX):
        body = [body]
    assert redact_body(body) == (body, ())
    with pytest.raises(Refused, match=f"more than {LEVELS_MAX} levels"):
        redact_body([body])


# What is remembered ----------------------------------------------------------------------------


def test_what_was_seen_lately_is_remembered_within_bounds() -> None:
    seen = SeenStrings(entries_max=10, characters_max=1_000)
    for number in range(100):
        seen.remember(("", str(number)), Redacted(str(number), ()))
        assert seen.redacted(("", str(number))) == (str(number), ())
        assert seen.redacted(("", "0")) == ("0", ())  # what is asked for again stays
    assert seen.redacted(("", "50")) is None
    seen.remember(("", "long"), Redacted("x" * 2_000, ()))
    assert seen.redacted(("", "long")) is None
    for number in range(9):
        seen.remember(("", f"wide {number}"), Redacted("x" * 400, ()))
    assert seen.redacted(("", "wide 0")) is None
