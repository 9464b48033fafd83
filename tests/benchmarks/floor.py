"""Seed 0 in plain dicts and the standard library: parses, chains, re-drives, compares.

What a team would write by hand for this one workflow; it knows no other, no versions of events,
no upcasters, and reports no differences. It is the floor, not an example.
"""

from __future__ import annotations

import json
import re
import struct
from hashlib import sha256
from typing import Any

TOKEN = re.compile(r"[^\W_]+")
PLACEHOLDER = re.compile(
    r"tbd|tba|todo|n/a|to be (?:determined|decided|defined|confirmed)|placeholder|xxx+|\?+|-+"
)
P = "clarification."
FOR = {
    "auth_strategy": "authentication",
    "db_type": "the database",
    "frontend_framework": "the frontend",
    "api_style": "the API",
    "hosting": "hosting",
}


def replay(lines: list[bytes]) -> int:
    """How many sessions were parsed, verified, driven again and found equal."""
    sessions = parsed(lines)
    for events in sessions.values():
        verify(events)
        _drive(events)
    return len(sessions)


def parsed(lines: list[bytes]) -> dict[str, list[dict[str, Any]]]:
    """Events by session."""
    sessions: dict[str, list[dict[str, Any]]] = {}
    for line in lines[1:]:  # behind the format
        event = json.loads(line)
        sessions.setdefault(event["session_id"], []).append(event)
    return sessions


def _lp(text: str | None) -> bytes:
    if text is None:
        return b"\xff\xff\xff\xff"
    raw = text.encode()
    return struct.pack(">I", len(raw)) + raw


def verify(events: list[dict[str, Any]]) -> None:
    """Every payload and every link of the chain."""
    first = events[0]
    prefix = b"".join(
        map(_lp, ("preflights.event/1", first["session_id"], first["project"], first["workflow"]))
    )
    previous = bytes(32)
    for i, e in enumerate(events, 1):
        data = json.dumps(e["data"], separators=(",", ":"), ensure_ascii=False).encode()
        digest = sha256(bytes.fromhex(e["salt"]) + data).digest()
        assert e["version"] == i, "gap"
        assert digest.hex() == e["digest"], "payload"
        previous = sha256(
            previous
            + prefix
            + struct.pack(">Q", i)
            + _lp(e["type"])
            + struct.pack(">q", e["recorded_at"])
            + _lp(e["input_id"])
            + _lp(e["actor_kind"])
            + _lp(e["decider"])
            + digest
        ).digest()
        assert previous.hex() == e["hash"], "chain"


def _drive(events: list[dict[str, Any]]) -> None:
    state: dict[str, Any] = {}
    i = 0
    while i < len(events):
        new = events[i]
        computed = _decide(state, new["type"], new["data"])
        for j, (tag, data) in enumerate(computed, i + 1):
            assert events[j]["type"] == P + tag or events[j]["type"] == tag, (events[j], tag)
            assert events[j]["data"] == data, (events[j], data)
        i += 1 + len(computed)


def _decide(state: dict[str, Any], tag: str, data: dict[str, Any]) -> list[tuple[str, Any]]:
    if tag == P + "intention_declared.v1":
        return _open(state, data)
    if tag in (P + "answers_given.v1", P + "answers_revised.v1"):
        return _answer(state, data, revising="revised" in tag)
    assert tag == P + "decision_acknowledged.v1", tag
    return _accept(state, data)


def _open(state: dict[str, Any], data: dict[str, Any]) -> list[tuple[str, Any]]:
    words = [m.group().casefold() for m in TOKEN.finditer(data["intention"])]
    state.update(answers={}, turn=1, patch=None, question=None, data=data)
    for category in data["heuristics"]["categories"]:
        for word in words:
            if word in category["keywords"]:
                state["category"] = category
                found = {"category": category["name"], "keyword": word}
                return [("category_detected.v1", found), *_next(state)]
    message = "the recorded sessions all have a keyword"
    raise AssertionError(message)


def _question(field: dict[str, Any]) -> dict[str, Any]:
    options = [*field["options"], "Other (specify)"]
    return {
        "id": field["id"],
        "type": field["type"],
        "question": field["question"],
        "options": options,
        "optional": False,
    }


def _next(state: dict[str, Any]) -> list[tuple[str, Any]]:
    category = state["category"]
    primary = category["primary"]
    value = state["answers"].get(primary["id"])
    if value is None:
        question = _question(primary)
        if state["question"] == question:
            return []
        state["question"] = question
        return [("question_asked.v1", {"question": question, "turn": state["turn"]})]
    patch = {"category": category["name"], "fields": [[primary["name"], value]]}
    if patch == state["patch"]:
        return []
    state.update(patch=patch, question=None)
    hint = "task" if category["scope"] == "local" else "adr"
    return [("patch_proposed.v1", {"patch": patch, "hint": hint})]


def _answer(
    state: dict[str, Any], data: dict[str, Any], *, revising: bool
) -> list[tuple[str, Any]]:
    category = state["category"]
    fields = {f["id"]: f for f in (category["primary"], *category["secondary"])}
    out: list[tuple[str, Any]] = []
    for given in data["answers"]:
        key, value = given["key"], given["values"][0].strip()
        reason, expected = "", []
        if key not in fields:
            reason, expected = "unknown_question", ["change_category", *fields]
        elif key in state["answers"] and not revising:
            reason = "already_answered"
        elif not value:
            reason = "blank"
        elif PLACEHOLDER.fullmatch(value.casefold()):
            reason = "placeholder"
        if reason:
            refused = {"key": key, "reason": reason, "expected": expected}
            out.append(("answer_refused.v1", refused))
            continue
        field = fields[key]
        match = next((o for o in field["options"] if o.casefold() == value.casefold()), None)
        state["answers"][key] = match or value
        if state["question"] is not None:
            state["turn"] += 1
            state["question"] = None
        accepted = {
            "key": key,
            "answer": value,
            "field": field["name"],
            "value": match or value,
            "source": "chosen" if match else "custom",
            "other": None,
        }
        out.append(("answer_accepted.v1", accepted))
    return out + _next(state)


def _accept(state: dict[str, Any], data: dict[str, Any]) -> list[tuple[str, Any]]:
    assert data["patch"] == state["patch"], "the patch moved"
    number = data["number"]
    title = f"Use {state['patch']['fields'][0][1]} for {FOR[state['category']['primary']['id']]}"
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = f"{number:04d}"
    due = {
        "call": "artifact-1",
        "template": "adr.v1",
        "path": f"{data['folder']}/{name}-{'-'.join(words)}.md",
    }
    return [
        ("decision_recorded.v1", {"status": "accepted", "kind": "adr", "number": number}),
        ("artifact.due.v1", due),
    ]
