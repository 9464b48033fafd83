"""What is signed, to the byte, and signatures of OpenSSH read from hostile bytes."""

from __future__ import annotations

import json
from base64 import b64encode
from contextlib import suppress
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.kernel.events import Act, Actor, SessionErased, Signature
from preflights_es.words import signing
from preflights_es.words.signing import NoSignature, SignedStatement, Sshsig
from tests.each import each
from tests.signing.keys import PLAIN, SK, Key, armoured, text

MADE = Key("ada", SK).signed(b"hello", "preflights-approval")
TEXTS = st.text(max_size=40)
STATEMENTS = st.builds(
    SignedStatement,
    session_id=TEXTS,
    version=st.integers(0, 2**63 - 1),
    hash=st.binary(min_size=32, max_size=32),
    proposal=TEXTS,
    name=TEXTS,
    at=st.integers(-(2**63), 2**63 - 1),
)


# 1. What is signed ---------------------------------------------------------------------------


@given(one=STATEMENTS, other=STATEMENTS)
def test_two_statements_have_the_same_bytes_only_where_they_are_the_same(
    one: SignedStatement, other: SignedStatement
) -> None:
    assert (one.encoded() == other.encoded()) == (one == other)


def test_no_act_has_the_namespace_of_another() -> None:
    names = [signing.namespace(act) for act in get_args(Act)]
    assert len({*names}) == len(names)


@given(value=st.dictionaries(TEXTS, st.none() | st.booleans() | st.integers(-9, 9) | TEXTS))
def test_a_proposal_is_the_same_text_in_any_order_it_was_made(value: dict[str, object]) -> None:
    backwards = dict(reversed(value.items()))
    told = signing.canonical(value)
    assert signing.canonical(backwards) == told
    assert json.loads(told) == value
    assert list(json.loads(told)) == sorted(value)


def test_an_input_says_all_of_itself_but_who_and_when() -> None:
    made = Signature("{}", "A" * 16, "A" * 16)
    new = SessionErased(at=1, actor=Actor("user", "Ada"), reason="GDPR", signature=made)
    assert signing.read_input_content(new) == {"reason": "GDPR"}
    assert (
        signing.proposal_text(new, signing.read_input_content(new))
        == '{"by":"user","reason":"GDPR"}'
    )


# 2. What OpenSSH made ------------------------------------------------------------------------


@each(
    ("kind", "flags", "is_touched"),
    [(SK, 1, True), (SK, 5, True), (SK, 0, False), (SK, 4, False), (PLAIN, 1, False)],
)
def test_the_parts_of_a_signature(kind: str, flags: int, is_touched: bool) -> None:
    key = Key("ada", kind)
    made = key.signed(b"hello", "preflights-approval", flags=flags)
    assert signing.parse_signature_blob(made) == Sshsig(key.blob, "preflights-approval", is_touched)


@given(raw=st.binary(max_size=300))
def test_any_bytes_are_a_signature_or_refused(raw: bytes) -> None:
    for hostile in (raw, MADE[:10] + raw):
        with pytest.raises(NoSignature):
            signing.parse_signature_blob(hostile)


@given(cut=st.integers(0, len(MADE) - 1), more=st.binary(min_size=1, max_size=20))
def test_one_that_is_cut_or_goes_on_is_refused(cut: int, more: bytes) -> None:
    # The flags are the last that is read of it; whether the rest is whole is OpenSSH's to say.
    for hostile in (MADE[:cut], MADE + more):
        with pytest.raises(NoSignature):
            signing.parse_signature_blob(hostile)


@given(at=st.integers(0, len(MADE) - 1), byte=st.integers(0, 255))
def test_one_with_another_byte_is_read_or_refused(at: int, byte: int) -> None:
    hostile = MADE[:at] + bytes([byte]) + MADE[at + 1 :]
    with suppress(NoSignature):
        assert signing.parse_signature_blob(hostile).key in hostile


@given(raw=st.binary(min_size=1, max_size=300))
def test_armour_is_put_on_and_taken_off(raw: bytes) -> None:
    made = signing.armoured(signing.encode_base64_text(raw))
    assert made == armoured(raw)
    assert signing.dearmoured(made) == raw
    assert signing.dearmoured(made.replace("\n", "\r\n")) == raw


@each(
    "hostile",
    [
        *("", "hello", "-----BEGIN SSH SIGNATURE-----", "\n\n\n"),
        armoured(MADE).replace("SSH", "PGP"),
        armoured(MADE).replace("-----END SSH SIGNATURE-----", ""),
        armoured(MADE).replace("U", "!"),
        armoured(MADE).replace("U", "\u00fc"),
        armoured(MADE).replace("\n", "\n=\n", 2),
        f"{armoured(MADE)}more",
    ],
)
def test_other_lines_are_no_armour(hostile: str) -> None:
    with pytest.raises(NoSignature):
        signing.dearmoured(hostile)


@given(raw=st.binary(max_size=60), at=st.integers(0, 80), more=st.sampled_from("=\n A+-_\u00fc"))
def test_bytes_have_one_base64(raw: bytes, at: int, more: str) -> None:
    base64 = b64encode(raw).decode()
    assert signing.decode_strict_base64(base64) == raw
    other = base64[:at] + more + base64[at:]
    try:
        assert signing.decode_strict_base64(other) != raw
    except NoSignature:
        assert other != base64


@given(key=st.text(max_size=60))
def test_any_text_has_a_fingerprint_and_none_is_hardware_by_chance(key: str) -> None:
    assert signing.fingerprint(key)
    assert not signing.is_hardware(key)


def test_a_key_of_hardware_is_known_by_its_kind() -> None:
    for kind in (SK, PLAIN):
        key = Key("ada", kind)
        assert signing.is_hardware(signing.encode_base64_text(key.blob)) == (kind == SK)
        made = Signature(
            "{}", signing.encode_base64_text(key.blob), signing.encode_base64_text(key.signed(b""))
        )
        hardware = ", hardware key" if kind == SK else ""
        assert signing.made_with(made) == f"{signing.fingerprint(made.key)}{hardware}"
    assert not signing.is_hardware(signing.encode_base64_text(text(PLAIN)))
    assert signing.made_with(Signature("{}", "A" * 16, "A" * 16)).startswith("SHA256:")
