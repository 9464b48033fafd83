"""docs/specs/log.md: its vectors, made again without the program's code, and its tables."""

from __future__ import annotations

import json
import re
import struct
from base64 import b64decode
from hashlib import sha256, sha512
from pathlib import Path
from typing import Any, get_args

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec.structs import replace

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import DecisionAcknowledged
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.events import (
    ARTIFACT_EVENTS,
    SESSION_EVENTS,
    Act,
    Actor,
    Decision,
    Event,
    Input,
    Outcome,
    OutsideRequest,
    Signature,
)
from preflights_es.kernel.ports import AppendBatch, Draft, Stored
from preflights_es.store import audit_evidence, core_tables, jsonl, stored_events
from preflights_es.store.sqlite import BUSY_TIMEOUT_MS, PAGE_SIZE
from preflights_es.store.stored_events import sealed, verified
from preflights_es.words import imports, signing
from tests import markdown
from tests.markdown import ticked

SPECIFICATION = Path(__file__).parents[2] / "docs" / "specs" / "log.md"
ENVELOPE = (
    *("format", "session_id", "project", "workflow", "version"),
    *("type", "recorded_at", "input_id", "actor_kind", "decider"),
)

TABLES = markdown.tables("docs/specs/log.md")
KINDS: dict[str, type[Event]] = {
    "Input": Input,
    "Decision": Decision,
    "Request": OutsideRequest,
    "Outcome": Outcome,
}

Rows = dict[str, tuple[bytes, Any]]


def vectors() -> list[Rows]:
    """For each event, bytes and meaning by name, as the page gives them."""
    text = SPECIFICATION.read_text("utf-8")
    blocks = re.findall(r"^Event \d+:\n\n```text\n(.*?)```$", text, re.DOTALL | re.MULTILINE)
    return [dict(map(_row, block.splitlines())) for block in blocks]


def _row(line: str) -> tuple[str, tuple[bytes, Any]]:
    name, hexadecimal, *meaning = line.split(maxsplit=2)
    return name, (bytes.fromhex(hexadecimal), json.loads(meaning[0]) if meaning else None)


def lines() -> bytes:
    """The session as it travels, as the page gives it."""
    text = SPECIFICATION.read_text("utf-8")
    (block,) = re.findall(r"^```jsonl\n(.*?)```$", text, re.DOTALL | re.MULTILINE)
    return str(block).encode()


def encoded(name: str, value: Any) -> bytes:
    """Section 5, written once more."""
    if value is None:
        return b"\xff\xff\xff\xff"
    if isinstance(value, int):
        return struct.pack(">Q" if name == "version" else ">q", value)
    raw = str(value).encode("utf-8")
    return struct.pack(">I", len(raw)) + raw


def test_the_page_gives_several_events_with_every_kind_of_field() -> None:
    found = vectors()
    assert len(found) >= 3
    assert all({*ENVELOPE, "previous", "salt", "payload", "digest", "hash"} == {*v} for v in found)
    ids = [v["input_id"][1] for v in found]
    assert None in ids
    assert "" in ids
    assert any(v["recorded_at"][1] < 0 for v in found)
    assert any(not v["project"][0].isascii() for v in found)


def test_every_field_is_encoded_as_the_page_says() -> None:
    for rows in vectors():
        for name in ENVELOPE:
            raw, meaning = rows[name]
            assert raw == encoded(name, meaning), name


def test_digests_and_hashes_follow_from_the_bytes_of_the_page() -> None:
    previous = bytes(32)
    for rows in vectors():
        assert rows["previous"][0] == previous
        assert len(rows["salt"][0]) == 16
        assert rows["digest"][0] == sha256(rows["salt"][0] + rows["payload"][0]).digest()
        envelope = b"".join(rows[name][0] for name in ENVELOPE)
        previous = sha256(previous + envelope + rows["digest"][0]).digest()
        assert rows["hash"][0] == previous


def _stored(rows: Rows) -> Stored:
    """The event that the page describes, sealed by the program."""
    session_id, project, workflow, decider, tag, input_id, actor_kind, recorded_at, version = (
        rows[name][1]
        for name in (
            *("session_id", "project", "workflow", "decider", "type"),
            *("input_id", "actor_kind", "recorded_at", "version"),
        )
    )
    batch = AppendBatch(
        session_id=session_id,
        project=project,
        workflow=workflow,
        expected_version=version - 1,
        expected_hash=rows["previous"][0] if version > 1 else b"",
        events=(Draft(tag, rows["payload"][0], decider, input_id, actor_kind),),
    )
    (event,) = sealed(batch, recorded_at, lambda: rows["salt"][0])
    return event


def test_the_program_seals_the_same_events() -> None:
    for rows in vectors():
        event = _stored(rows)
        assert (event.digest, event.hash) == (rows["digest"][0], rows["hash"][0])


def test_the_program_writes_the_same_lines() -> None:
    events = [_stored(rows) for rows in vectors()]
    events[0] = replace(events[0], data=None, salt=None)
    assert verified(events) is events
    assert jsonl.encode_event_file(events) == lines()
    assert list(jsonl.stored(lines().splitlines(), "log.md")) == events


def test_the_lines_say_what_the_vectors_say() -> None:
    first, *events = lines().decode().splitlines()
    assert first == jsonl.FIRST.decode().strip()
    for line, rows in zip(events, vectors(), strict=True):
        found = json.loads(line)
        assert list(found) == [
            *("session_id", "project", "workflow", "version", "type", "recorded_at"),
            *("input_id", "actor_kind", "decider", "data", "salt", "digest", "hash"),
        ]
        assert all(found[name] == rows[name][1] for name in ENVELOPE if name != "format")
        assert found["digest"] == rows["digest"][0].hex()
        assert found["hash"] == rows["hash"][0].hex()
        if found["salt"] is None:
            assert found["data"] is None
        else:
            assert found["salt"] == rows["salt"][0].hex()
            assert found["data"] == json.loads(rows["payload"][0])


# What the page says of names is held against the code, so that neither can change alone.


def test_the_page_lists_every_event_of_the_kernel_with_its_fields() -> None:
    classes = {cls.tag: cls for cls in (*SESSION_EVENTS, *COMPLETION_EVENTS, *ARTIFACT_EVENTS)}
    rows = {ticked(row["Tag"])[0]: row for row in TABLES["2. Events of the kernel"]}
    assert {*rows} == {*classes}
    for tag, cls in classes.items():
        assert ticked(rows[tag]["Fields"]) == tuple(
            field for field in cls.__struct_fields__ if field not in ("at", "actor")
        )
        assert issubclass(cls, KINDS[rows[tag]["Is"]])


def test_the_page_lists_the_fields_of_a_line_in_their_order() -> None:
    names = [name for row in TABLES["8. JSON Lines"] for name in ticked(row["Field"])]
    assert tuple(names) == jsonl.EventLine.__struct_fields__


def test_the_page_lists_the_tables_with_their_columns() -> None:
    said = {
        ticked(row["Table"])[0]: set(ticked(row["Columns"]))
        for heading in ("9.1 The log", "9.2 Operational")
        for row in TABLES[heading]
    }
    assert said.pop("alembic_version") == {"version_num"}
    assert said == {
        name: {column.name for column in table.columns}
        for name, table in core_tables.metadata.tables.items()
    }


def test_the_page_names_the_limits_that_the_code_has() -> None:
    text = SPECIFICATION.read_text("utf-8")
    assert f"text: `{stored_events.FORMAT}`" in text
    assert f"{jsonl.LINE_MAX:,} bytes" in text
    assert f"at most {jsonl.BLANK_MAX:,} of them" in text
    settings = {ticked(row["Setting"]): row["Value"] for row in TABLES["10. SQLite"]}
    assert settings["busy_timeout",] == f"{BUSY_TIMEOUT_MS:,} ms"
    assert settings["page_size",] == str(PAGE_SIZE)


# Section 13 ----------------------------------------------------------------------------------


def test_the_root_of_the_page_is_the_hash_of_the_lines_above_it() -> None:
    *lines, last = checkpoint_lines().splitlines(keepends=True)
    root = json.loads(last)
    assert root == {"sessions": len(lines) - 1, "root": sha256(b"".join(lines)).hexdigest()}
    (tip,) = [json.loads(line) for line in lines if vectors()[0]["session_id"][1].encode() in line]
    assert (tip["version"], tip["hash"]) == (len(vectors()), vectors()[-1]["hash"][0].hex())


def test_the_program_reads_and_writes_the_checkpoint_of_the_page() -> None:
    found = audit_evidence.parse_checkpoint(checkpoint_lines(), "log.md")
    assert audit_evidence.encode_checkpoint(found) == checkpoint_lines()


def test_the_page_lists_the_fields_of_a_checkpoint_in_their_order() -> None:
    classes = (audit_evidence.Scope, audit_evidence.Tip, audit_evidence.Root)
    for row, cls in zip(TABLES["13. Checkpoint"], classes, strict=True):
        assert ticked(row["Fields"]) == cls.__struct_fields__


def checkpoint_lines() -> bytes:
    """The checkpoint that the page gives."""
    text = SPECIFICATION.read_text("utf-8")
    (block,) = re.findall(r"^```json\n(.*?)```$", text, re.DOTALL | re.MULTILINE)
    return str(block).encode()


def test_the_page_lists_the_events_of_imports_with_their_fields() -> None:
    rows = {ticked(row["Tag"])[0]: row for row in TABLES["8.2 Events of imports"]}
    assert {*rows} == {cls.tag for cls in imports.WORKFLOW.decider.events}
    for cls in imports.WORKFLOW.decider.events:
        own = (field for field in cls.__struct_fields__ if field not in ("at", "actor"))
        assert ticked(rows[cls.tag]["Fields"]) == tuple(own)
        assert issubclass(cls, KINDS[rows[cls.tag]["Is"]])
    named = {name for row in TABLES["8.1 Imports"] for name in ticked(row["Field"])}
    assert named == {*imports.TakenSession.__struct_fields__}


# Section 14 ----------------------------------------------------------------------------------


def of_the_act() -> tuple[Rows, str, dict[str, bytes]]:
    """The fields of the message, the proposal, and key and signature, as the page gives them."""
    text = SPECIFICATION.read_text("utf-8")
    (section,) = re.findall(r"^### 14\.5 .*?\n(.*?)(?=^##? |\Z)", text, re.DOTALL | re.MULTILINE)
    message, proposal, made = re.findall(r"^```\w+\n(.*?)\n```$", section, re.DOTALL | re.MULTILINE)
    names = (line.split() for line in made.splitlines())
    return (
        dict(map(_row, message.splitlines())),
        str(proposal),
        {name: b64decode(value, validate=True) for name, value in names},
    )


def parts(raw: bytes) -> list[bytes]:
    """Fields of OpenSSH's, each with its length before it."""
    found = []
    while raw:
        (size,) = struct.unpack(">I", raw[:4])
        found.append(raw[4 : 4 + size])
        raw = raw[4 + size :]
    return found


def test_the_message_of_an_act_follows_from_the_bytes_of_the_page() -> None:
    rows, proposal, _ = of_the_act()
    assert list(rows) == [row["Field"] for row in TABLES["14.1 The message"]]
    for name in ("format", "session", "version", "name", "time"):
        assert rows[name][0] == encoded(name, rows[name][1]), name
    assert rows["hash"][0] == vectors()[rows["version"][1] - 1]["hash"][0]
    assert rows["proposal"][0] == sha256(proposal.encode()).digest()
    read = json.loads(proposal)
    again = json.dumps(read, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert again == proposal
    assert not proposal.isascii()


def test_the_signature_of_the_page_is_one_of_its_message() -> None:
    rows, _, made = of_the_act()
    sshsig = made["sshsig"]
    assert sshsig[:10] == b"SSHSIG" + struct.pack(">I", 1)
    key, namespace, reserved, algorithm, signature = parts(sshsig[10:])
    assert (key, reserved, algorithm) == (made["key"], b"", b"sha512")
    kind, point = parts(key)
    assert parts(signature)[0] == kind == b"ssh-ed25519"
    message = b"".join(raw for raw, _ in rows.values())
    signed = b"SSHSIG" + b"".join(
        struct.pack(">I", len(one)) + one
        for one in (namespace, reserved, algorithm, sha512(message).digest())
    )
    Ed25519PublicKey.from_public_bytes(point).verify(parts(signature)[1], signed)


def test_the_program_makes_the_same_message_and_reads_the_same_signature() -> None:
    rows, proposal, made = of_the_act()
    statement = signing.SignedStatement(
        repository=rows["repository"][1],
        session_id=rows["session"][1],
        version=rows["version"][1],
        hash=rows["hash"][0],
        proposal=proposal,
        name=rows["name"][1],
        at=rows["time"][1],
    )
    assert statement.encoded() == b"".join(raw for raw, _ in rows.values())
    assert rows["format"][1] == signing.FORMAT
    assert signing.canonical(json.loads(proposal)) == proposal
    found = signing.parse_signature_blob(made["sshsig"])
    assert (found.key, found.namespace) == (made["key"], signing.namespace("acceptance"))


def test_the_page_names_what_can_be_signed_and_what_is_signed_of_a_decision() -> None:
    rows = {ticked(row["Namespace"])[0]: row["Input"] for row in TABLES["14.2 Namespaces"]}
    assert list(rows) == [signing.namespace(act) for act in get_args(Act)]
    names = [name for row in TABLES["14. Signatures of acts"] for name in ticked(row["Field"])]
    assert names == list(Signature.__struct_fields__)
    new = DecisionAcknowledged(at=1, actor=Actor("user"), patch=None, folder="")
    shown = json.loads(
        signing.proposal_text(new, WORKFLOW.shown.proposal(WORKFLOW.decider.initial, new))
    )
    told = {name for row in TABLES["14.3 The proposal"] for name in ticked(row["Name"])}
    assert {*shown} == {*told, "by"}
    assert {*json.loads(of_the_act()[1])} == {*shown}
