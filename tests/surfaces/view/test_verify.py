"""The verifier in the reader's browser, against the specification, ssh-keygen and forgeries."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from preflights_es.surfaces.view import rendering
from tests.browser import Browser
from tests.signing.house import REPOSITORY
from tests.store.test_specification import SPECIFICATION, vectors
from tests.surfaces.view import sshsig

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.needs("ssh-keygen")]

SIZE_MAX: Final = 15_000  # bytes of the verifier
SPACE: Final = "preflights-acceptance"
AT: Final = 1_790_000_000_000_000  # 2026-09-21, in microseconds
MESSAGE: Final = b"what was accepted"

Proof = dict[str, Any]
Verdict = dict[str, Any]


@pytest.fixture(scope="module")
def browser(browser: Browser) -> Browser:
    script = rendering.read_static_file("verify.js").decode()
    browser.open(f"<!doctype html><title>Verifier</title><script>{script}</script>")
    return browser


Call = Callable[..., Any]


@pytest.fixture
def call(browser: Browser) -> Call:
    def called(body: str, *values: object) -> Any:
        """What an async function with this body returns, given `a`."""
        script = (
            "const [...a] = arguments; const done = a.pop();"
            f"(async () => {{ {body} }})().then(done, (error) => done('threw ' + error))"
        )
        return browser.driver.execute_async_script(script, *values)

    return called


# 1. The chain --------------------------------------------------------------------------------


def vectors_as_proof() -> Proof:
    """The session of the specification, with all payloads."""
    rows = vectors()
    names = ("version", "type", "input_id", "actor_kind", "decider")
    events = [
        {
            **{name: row[name][1] for name in names},
            "recorded_at": str(row["recorded_at"][1]),
            "data": row["payload"][0].decode(),
            **{name: row[name][0].hex() for name in ("salt", "digest", "hash")},
        }
        for row in rows
    ]
    first = rows[0]
    session = {name: first[name][1] for name in ("session_id", "project", "workflow")}
    return {"session": session, "events": events}


def without(proof: Proof, *versions: int) -> Proof:
    """The same, the payloads of some events not published."""
    found = deepcopy(proof)
    for version in versions:
        found["events"][version - 1].update(data=None, salt=None)
    return found


def test_the_verifier_is_small_and_verifies_the_vectors_of_the_specification(call: Call) -> None:
    assert len(rendering.read_static_file("verify.js")) <= SIZE_MAX
    whole = vectors_as_proof()
    found = call("return preflights.chain(a[0])", whole)
    assert found == {"events": 4, "payloads": 4, "trouble": None}
    found = call("return preflights.chain(a[0])", without(whole, 1, 3))
    assert found == {"events": 4, "payloads": 2, "trouble": None}


def test_each_field_that_was_changed_is_found(call: Call) -> None:
    whole = vectors_as_proof()
    changed: list[tuple[int, str, Proof]] = []
    for at, event in enumerate(whole["events"]):
        for name, value in event.items():
            for other in others(value):
                proof = deepcopy(whole)
                proof["events"][at][name] = other
                changed.append((at + 1, name, proof))
    for name, value in whole["session"].items():
        proof = deepcopy(whole)
        proof["session"][name] = f"{value} "
        changed.append((1, name, proof))
    assert len(changed) > 80
    body = "return Promise.all(a[0].map(preflights.chain))"
    answers = call(body, [proof for *_, proof in changed])
    for (version, name, _), found in zip(changed, answers, strict=True):
        assert found["trouble"] is not None, (version, name)
        assert found["trouble"]["version"] == version, (version, name)


def others(value: object) -> Iterator[object]:
    """What may stand in the place of a value: another one, one of another kind, none."""
    yield 7 if value is None else None
    if isinstance(value, int):
        yield from (value + 1, str(value), value + 0.5)
        return
    text = value if isinstance(value, str) else ""
    yield from (f"{text} ", f"0{text}", text[:-1] if text else "x")
    if text.strip("0123456789abcdef") == "":
        yield from (f"{text}00", f"{text[:-1]}{'0' if text.endswith('1') else '1'}")


def test_an_event_that_is_missing_twice_there_or_moved_is_found(call: Call) -> None:
    events = vectors_as_proof()["events"]
    for wrong, version in (
        (events[1:], 1),
        ([events[0], *events[2:]], 2),
        ([events[0], events[0], *events[1:]], 2),
        ([events[1], events[0], *events[2:]], 1),
    ):
        proof = {**vectors_as_proof(), "events": wrong}
        assert call("return preflights.chain(a[0])", proof)["trouble"]["version"] == version


# 2. Signatures -------------------------------------------------------------------------------

VERIFIED: Final = """
const signers = preflights.signersIn(a[0]);
const bytes = (one) => preflights.unhex(one, one.length / 2);
const one = ([space, message, made, at]) =>
  preflights.signature(space, bytes(message), bytes(made), signers, at);
return Promise.all(a[1].map(one));
"""
Try = tuple[str, bytes, bytes, int]


@pytest.fixture
def judged(call: Call) -> Callable[..., list[Verdict]]:
    def found(signers: str, *tries: Try) -> list[Verdict]:
        """Verdicts on namespace, message, signature and time each."""
        wanted = [(space, message.hex(), made.hex(), at) for space, message, made, at in tries]
        answer: list[Verdict] = call(VERIFIED, signers, wanted)
        assert isinstance(answer, list), answer
        return answer

    return found


Judged = Callable[..., list[Verdict]]


def test_what_ssh_keygen_signs_is_signed(judged: Judged, tmp_path: Path) -> None:
    key, public = sshsig.generated(tmp_path)
    tries = [
        (SPACE, MESSAGE, sshsig.signed(key, SPACE, MESSAGE, "-O", f"hashalg={name}"), AT)
        for name in ("sha256", "sha512")
    ]
    for found in judged(f"# a comment\n\nada@example.org {public} a comment\n", *tries):
        assert (found["verdict"], found["by"]) == ("signed", "ada@example.org"), found
        assert found["isTouched"] is False
        raw = sha256(_key(public)).digest()
        assert found["key"] == "SHA256:" + b64encode(raw).decode().rstrip("=")


def _key(public: str) -> bytes:
    from base64 import b64decode

    return b64decode(public.split()[1])


def test_a_hardware_key_says_whether_a_person_touched_it(judged: Judged) -> None:
    key = sshsig.HardwareKey()
    tries = [
        (SPACE, MESSAGE, key.signed(SPACE, MESSAGE, flags=flags, hash_name=name), AT)
        for flags in (1, 0, 5)
        for name in ("sha256", "sha512")
    ]
    found = judged(f"ada@example.org {key.line}", *tries)
    assert {one["verdict"] for one in found} == {"signed"}
    assert [one["isTouched"] for one in found] == [True, True, False, False, True, True]


def test_no_other_kind_of_key_or_certificate_is_checked(judged: Judged, tmp_path: Path) -> None:
    for kind in ("rsa", "ecdsa"):
        key, public = sshsig.generated(tmp_path, kind)
        made = sshsig.signed(key, SPACE, MESSAGE)
        (found,) = judged(f"ada@example.org {public}", (SPACE, MESSAGE, made, AT))
        assert found["verdict"] == "not_checked"
        assert "are not checked here" in found["why"]
    key, public = sshsig.generated(tmp_path)
    words = ("ssh-keygen", "-q", "-s", str(key), "-I", "ada", "-n", "ada@example.org", f"{key}.pub")
    subprocess.run(words, check=True)
    made = sshsig.signed(key.with_name(f"{key.name}-cert.pub"), SPACE, MESSAGE)
    (found,) = judged(f"* cert-authority {public}", (SPACE, MESSAGE, made, AT))
    assert (found["verdict"], found["key"]) == ("not_checked", "")
    assert "ssh-ed25519-cert-v01@openssh.com are not checked here" in found["why"]


def test_a_browser_without_ed25519_says_so(call: Call, tmp_path: Path) -> None:
    key, public = sshsig.generated(tmp_path)
    made = sshsig.signed(key, SPACE, MESSAGE)
    without = """
    const own = crypto.subtle.importKey;
    SubtleCrypto.prototype.importKey = async () => {
      throw new DOMException("Unrecognized name", "NotSupportedError");
    };
    const found = await (async () => { %s })();
    SubtleCrypto.prototype.importKey = own;
    return found;
    """
    tries = [(SPACE, MESSAGE.hex(), made.hex(), AT)]
    (found,) = call(without % VERIFIED, f"ada@example.org {public}", tries)
    assert (found["verdict"], found["why"]) == ("not_checked", "this browser has no Ed25519")


def test_no_changed_byte_is_called_signed(judged: Judged, tmp_path: Path) -> None:
    plain, public = sshsig.generated(tmp_path)
    hardware = sshsig.HardwareKey()
    signers = f"ada@example.org {public}\nada@example.org {hardware.line}\n"
    for made in (sshsig.signed(plain, SPACE, MESSAGE), hardware.signed(SPACE, MESSAGE)):
        tries: list[Try] = []
        for at in range(len(made)):
            for bit in (0, 7):
                raw = bytearray(made)
                raw[at] ^= 1 << bit
                tries.append((SPACE, MESSAGE, bytes(raw), AT))
        tries += [(SPACE, MESSAGE, made[:size], AT) for size in range(len(made))]
        tries += [(SPACE, MESSAGE, made + b"\0", AT), (SPACE, MESSAGE, b"", AT)]
        tries += [(SPACE, MESSAGE[:size], made, AT) for size in range(len(MESSAGE))]
        tries += [("preflights-approval", MESSAGE, made, AT), ("", MESSAGE, made, AT)]
        (true,) = judged(signers, (SPACE, MESSAGE, made, AT))
        assert true["verdict"] == "signed"
        found = judged(signers, *tries)
        assert {one["verdict"] for one in found} <= {"does_not_verify", "not_checked"}


SIGNERS: Final = (
    'ada@example.org namespaces="preflights-acceptance" KEY',
    'ada@example.org namespaces="git,preflights-*" KEY',
    'ada@example.org namespaces="git" KEY',
    'ada@example.org namespaces="preflights-*,!preflights-acceptance" KEY',
    'ada@example.org namespaces="preflights.acceptance" KEY',
    'ada@example.org Namespaces="preflights?acceptance",valid-after="20200101" KEY',
    'ada@example.org valid-after="20260921Z" KEY',
    'ada@example.org valid-after="20260922Z" KEY',
    'ada@example.org valid-before="20260921Z" KEY',
    'ada@example.org valid-before="20260922Z" KEY',
    'ada@example.org valid-after="20200101",valid-before="20300101123000Z" KEY a comment',
    'ada@example.org valid-before="20260921141319Z" KEY',
    'ada@example.org valid-before="20260921141320Z" KEY',
    'ada@example.org valid-after="20260921141320Z" KEY',
    'ada@example.org valid-after="20260921141321Z" KEY',
    "ada@example.org cert-authority KEY",
    "# ada@example.org KEY",
    '"ada@example.org" KEY',
    "bob@example.org,ada@example.org KEY",
    "ada@example.org OTHER",
    "ada@example.org OTHER\nada@example.org KEY",
    'ada@example.org namespaces="git" KEY\nada@example.org KEY',
    "\tada@example.org   KEY",
    "ada@example.org KEY\r",
    "ada@example.org\fKEY",
    "ada@example.org \f KEY",
    "ada@example.org touch-required KEY",
    'ada@example.org namespaces="*",nothing KEY',
    'ada@example.org namespaces="*", KEY',
    'ada@example.org valid-before="20300101Z",namespaces="*" KEY',
    'ada@example.org NAMESPACES="git,*",VALID-AFTER="20200101Z" KEY',
    "\f# ada@example.org KEY",
    "\u00a0ada@example.org KEY",
    "ada@example.org\u2028KEY",
    "",
)
"""AT is 14:13:20 on 2026-09-21, UTC."""


@pytest.mark.parametrize("lines", SIGNERS)
def test_signers_count_as_for_ssh_keygen(judged: Judged, tmp_path: Path, lines: str) -> None:
    key, public = sshsig.generated(tmp_path)
    other = sshsig.HardwareKey().line
    signers = tmp_path / "signers"
    signers.write_text(f"{lines.replace('KEY', public).replace('OTHER', other)}\n")
    made = sshsig.signed(key, SPACE, MESSAGE)
    when = "verify-time=20260921141320Z"
    expected = sshsig.verifies(str(signers), SPACE, MESSAGE, made, "-O", when)
    (found,) = judged(signers.read_text(), (SPACE, MESSAGE, made, AT))
    assert found["verdict"] in ("signed", "unknown_signer"), found
    assert ("ada@example.org" in found["by"].split(",")) is expected
    assert bool(found["why"]) is (found["verdict"] == "unknown_signer")


# 3. Acts ------------------------------------------------------------------------------------

PROPOSAL: Final = '{"by":"user","title":"Küche"}'


def accepted(key: sshsig.HardwareKey, **changes: Any) -> Proof:
    """The session of the specification with an acceptance behind it, signed as it was seen."""
    proof = vectors_as_proof()
    last, session = proof["events"][-1], proof["session"]
    proposal = changes.get("proposal", PROPOSAL)
    statement = b"".join(
        (
            sshsig.field("preflights.signed/1"),
            sshsig.field(REPOSITORY),
            sshsig.field(session["session_id"]),
            struct.pack(">Q", last["version"]),
            bytes.fromhex(last["hash"]),
            sha256(changes.get("accepted", proposal).encode()).digest(),
            sshsig.field(changes.get("name", "Ada")),
            struct.pack(">q", changes.get("at", AT)),
        )
    )
    signature = {
        "proposal": proposal,
        "key": b64encode(key.public).decode(),
        "sshsig": b64encode(key.signed(changes.get("space", SPACE), statement)).decode(),
        "repository": REPOSITORY,
    }
    said: dict[str, Any] = {"at": AT, "actor": {"kind": "user", "name": "Ada"}}
    said |= {"signature": {**signature, **changes.get("signature", {})}}
    event = {"version": 5, "act": "acceptance", "data": json.dumps(said, ensure_ascii=False)}
    proof["events"].append(event)
    return proof


ACTED: Final = "return preflights.act(a[0], a[0].events[4], preflights.signersIn(a[1]), a[2])"


def test_an_acceptance_is_signed_as_it_was_seen_and_told_apart_from_one_without(call: Call) -> None:
    key = sshsig.HardwareKey()
    found = call(ACTED, accepted(key), f"ada@example.org {key.line}", REPOSITORY)
    assert (found["verdict"], found["by"], found["isTouched"]) == (
        "signed",
        "ada@example.org",
        True,
    )
    proof = accepted(sshsig.HardwareKey())
    proof["events"][4]["data"] = json.dumps({"at": AT, "actor": {"kind": "user", "name": "Ada"}})
    assert call(ACTED, proof, "", REPOSITORY) is None
    assert call(ACTED, accepted(sshsig.HardwareKey()), "", REPOSITORY[::-1]) is None


def test_a_signature_of_anything_else_does_not_verify(call: Call) -> None:
    key, other = sshsig.HardwareKey(), sshsig.HardwareKey()
    signers = f"ada@example.org {key.line}"
    wrong = [
        accepted(key, accepted='{"by":"user","title":"Kuche"}'),
        accepted(key, proposal='{"by":"agent","title":"Küche"}'),
        accepted(key, name="Eve"),
        accepted(key, at=AT + 1),
        accepted(key, space="preflights-rejection"),
        accepted(key, signature={"proposal": PROPOSAL + " "}),
        accepted(key, signature={"key": b64encode(other.public).decode()}),
        accepted(key, signature={"sshsig": "AAAA"}),
        accepted(key, signature={"sshsig": "no base64!"}),
        accepted(key, signature={"sshsig": 7}),
    ]
    for field in ("hash", "version"):
        proof = accepted(key)
        proof["events"][3][field] = proof["events"][2][field]
        wrong.append(proof)
    moved = accepted(key)
    moved["session"]["session_id"] = "01981234-5678-7abc-8def-0123456789ac"
    wrong.append(moved)
    alone = accepted(key)
    alone["events"][4]["version"] = 1
    wrong.append(alone)
    for proof in wrong:
        found = call(ACTED, proof, signers, REPOSITORY)
        assert found["verdict"] == "does_not_verify", (proof["events"][4], found)
        assert found["why"]


def signed_by_the_page() -> tuple[Proof, str]:
    """The acceptance of the specification behind its third event, and the line of who signed it."""
    text = SPECIFICATION.read_text("utf-8")
    vector = text[text.index("### 14.5 Test vector") :]
    (proposal,) = re.findall(r"^\{.*\}$", vector, re.MULTILINE)
    key, made = (
        re.findall(rf"^{name} +(\S+)$", vector, re.MULTILINE)[0] for name in ("key", "sshsig")
    )
    proof = vectors_as_proof()
    said = {
        "at": AT + 1,
        "actor": {"kind": "user", "name": "Ada"},
        "signature": {"proposal": proposal, "key": key, "sshsig": made, "repository": REPOSITORY},
    }
    data = json.dumps(said, ensure_ascii=False)
    proof["events"][3:] = [{"version": 4, "act": "acceptance", "data": data}]
    return proof, f"ada@example.org ssh-ed25519 {key}"


def test_the_act_of_the_specification_is_signed_and_base64_written_in_one_way(call: Call) -> None:
    proof, signers = signed_by_the_page()
    body = ACTED.replace("events[4]", "events[3]")
    assert call(body, proof, signers, REPOSITORY)["verdict"] == "signed"
    proof["events"][3]["data"] = proof["events"][3]["data"].replace("LDAP", "Ldap")
    assert call(body, proof, signers, REPOSITORY)["verdict"] == "does_not_verify"
    body = ACTED.replace("events[4]", "events[3]")
    for before, after in (('OQU="', 'OQV="'), ('OQU="', 'OQU"'), ('OQU="', 'OQU= "')):
        changed = deepcopy(proof)
        assert before in changed["events"][3]["data"]
        changed["events"][3]["data"] = changed["events"][3]["data"].replace(before, after)
        assert call(body, changed, signers, REPOSITORY)["verdict"] == "does_not_verify"
