"""A session that a model led, driven again in plain dicts and the standard library.

As `floor.py`: what a team would write by hand for this one course of things (a question, an answer,
a revision; every response is JSON or cut off). Builds each request anew, judges each response.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.benchmarks.floor import P, parsed, verify

PROMPTS = (
    Path(__file__).parents[2] / "preflights_es" / "features" / "clarification" / "data" / "prompts"
)
TEXTS = {name: (PROMPTS / f"{name}.md").read_text() for name in ("clarify.v1", "decide.v1")}
HASHES = {name: sha256(text.encode()).hexdigest() for name, text in TEXTS.items()}
INVALID = "Your previous response was invalid JSON. Please respond ONLY with valid JSON."
OTHER = "Other (specify)"

Decided = list[tuple[str, dict[str, Any]]]


def replay(lines: list[bytes]) -> int:
    """How many sessions were parsed, verified, driven again and found equal."""
    sessions = parsed(lines)
    for events in sessions.values():
        verify(events)
        drive(events)
    return len(sessions)


def drive(events: list[dict[str, Any]]) -> None:
    state: dict[str, Any] = {"said": [], "steps": 0, "answers": {}}
    i = 0
    while i < len(events):
        new = events[i]
        computed = decided(state, new["type"], new["data"])
        for j, (tag, data) in enumerate(computed, i + 1):
            assert events[j]["type"] == tag, (events[j], tag)
            assert events[j]["data"] == data, (events[j], data)
        i += 1 + len(computed)


def decided(state: dict[str, Any], tag: str, data: dict[str, Any]) -> Decided:
    if tag == P + "intention_declared.v1":
        categories = {c["name"]: c for c in data["heuristics"]["categories"]}
        state.update(data=data, lead=data["setup"]["lead"], categories=categories)
        return [_request(state, "clarify")]
    if tag == "completion.received.v1":
        return _judged(state, data["text"])
    assert tag in (P + "answers_given.v1", P + "answers_revised.v1"), tag
    return [_answer(state, given) for given in data["answers"]] + [_request(state, "decide")]


def _request(state: dict[str, Any], step: str) -> tuple[str, dict[str, Any]]:
    heuristics = state["data"]["heuristics"]
    menu = (state["categories"][name] for name in heuristics["menu"])
    lines = ["Intention:", state["data"]["intention"], "", "Topics and their fields:"]
    lines += [f"* {category['name']}: {', '.join(_fields(category))}" for category in menu]
    prompt = dict(state["data"]["setup"]["prompts"])[step]
    said = [("system", TEXTS[prompt]), ("user", "\n".join(lines)), *state["said"]]
    if step == "decide":
        fields = ", ".join(_fields(state["category"]))
        said.append(("user", f"Category: {state['category']['name']}\nFields: {fields}"))
    state["steps"] += 1
    state["request"] = {
        "call": f"{step}-{state['steps']}.1",
        "provider": state["lead"]["provider"],
        "model": state["lead"]["model"],
        "messages": [{"role": role, "content": content} for role, content in said],
        "parameters": state["lead"]["parameters"],
        "contract": prompt,
        "prompts": [[prompt, HASHES[prompt]]],
        "attempt": 1,
        "wait_ms": 0,
    }
    return "completion.requested.v1", state["request"]


def _fields(category: dict[str, Any]) -> list[str]:
    return [field["name"] for field in (category["primary"], *category["secondary"])]


def _judged(state: dict[str, Any], text: str) -> Decided:
    request = state["request"]
    accepted = {"call": request["call"], "contract": request["contract"]}
    try:
        payload = json.loads(text)
    except ValueError:
        return _once_more(state, text)
    state["said"].append(("assistant", text))
    found = ("led.response_accepted.v1", {**accepted, "prose": "", "dropped": []})
    if request["contract"] == "clarify.v1":
        return [found, *_suggested(state, payload)]
    return [found, _patched(state, payload)]


def _once_more(state: dict[str, Any], text: str) -> Decided:
    request = state["request"]
    rejected = {
        "call": request["call"],
        "contract": request["contract"],
        "kind": "invalid_json",
        "violations": [{"pointer": "", "message": "it ends before its JSON value does"}],
        "excerpt": text[-200:],
        "details": "",
    }
    said = [{"role": "assistant", "content": text}, {"role": "user", "content": INVALID}]
    state["request"] = {
        **request,
        "call": request["call"][:-1] + "2",
        "messages": [*request["messages"], *said],
        "attempt": 2,
    }
    return [("led.response_rejected.v1", rejected), ("completion.requested.v1", state["request"])]


def _suggested(state: dict[str, Any], payload: Any) -> Decided:
    parts = {"outcome", "topic", "question", "why", "options", "recommended", "scope", "more"}
    assert set(payload) == parts, payload
    assert payload["outcome"] == "ask", "a question"
    assert all(isinstance(payload[one], str) for one in ("question", "why")), "text"
    assert 0 < len(payload["question"]) <= 200, "one question"
    labels = [option["label"] for option in payload["options"]]
    assert all(isinstance(label, str) and len(label) <= 80 for label in labels)
    assert len(set(labels)) == len(labels), "different ones"
    assert payload["recommended"] is None, "no recommendation"
    category = state["categories"][payload["topic"]]
    primary = category["primary"]
    state.update(category=category, options=labels)
    kind, options = "single_choice", [*labels, OTHER]
    field = {
        "name": primary["name"],
        "id": primary["id"],
        "question": payload["question"],
        "options": labels,
        "type": kind,
    }
    question = {
        "id": primary["id"],
        "type": kind,
        "question": payload["question"],
        "options": options,
        "optional": False,
    }
    suggested = {
        "category": category["name"],
        "field": field,
        "why": payload["why"],
        "offered": payload["options"],
        "recommended": None,
        "quote": "",
        "more": False,
        "consequences": [],
        "evidence": [],
    }
    return [
        (P + "question_suggested.v1", suggested),
        (P + "question_asked.v1", {"question": question, "turn": 1}),
    ]


def _answer(state: dict[str, Any], given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    primary, value = state["category"]["primary"], given["values"][0].strip()
    assert given["key"] == primary["id"], "the question that was asked"
    match = next((o for o in state["options"] if o.casefold() == value.casefold()), None)
    state["answers"][primary["name"]] = match or value
    state["said"].append(("user", f"{primary['name']}: {match or value}"))
    return P + "answer_accepted.v1", {
        "key": given["key"],
        "answer": value,
        "field": primary["name"],
        "value": match or value,
        "source": "chosen" if match else "custom",
        "other": None,
    }


def _patched(state: dict[str, Any], payload: Any) -> tuple[str, dict[str, Any]]:
    category = state["category"]
    known = _fields(category)
    assert set(payload) == {"category", "fields"}, payload
    assert payload["category"] == category["name"], "the session's category"
    read = {}
    for entry in payload["fields"]:
        assert set(entry) == {"name", "value"}, entry
        assert entry["name"] in known, entry
        assert state["answers"].get(entry["name"], entry["value"]) == entry["value"], entry
        read[entry["name"]] = entry["value"]
    values = {**read, **state["answers"]}
    fields = [[name, values[name]] for name in known if name in values]
    hint = "task" if category["scope"] == "local" else "adr"
    return P + "patch_proposed.v1", {
        "patch": {"category": category["name"], "fields": fields},
        "hint": hint,
    }
