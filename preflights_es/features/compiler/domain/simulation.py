"""What answers in place of a model that plans: the stub, the smallest artifact that meets its
schema (specification, 6), and the simulator, which varies around the stub by seed: counts, further
parts, code fences. It also draws failure objects, and payloads that meet the schema and that only
the final checks refuse.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from preflights_es.features.compiler.domain.events import BASE, PASSES, PassName
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import canonical_json
from preflights_es.words.simulation import Bank, Draws, References, Route, write_json_reply

Payload = dict[str, Any]

UNWRITTEN: Final = "No model wrote this."
TARGET: Final = "src/stub.txt"  # where the request names none


class RequestedPass(msgspec.Struct, frozen=True):
    """What an artifact repeats of its request."""

    target: str = ""
    goal: str = ""


def parse_pass_request(request: CompletionRequested) -> RequestedPass:
    """What a request says; nothing where its user message is not that of a pass."""
    said = next((one.content for one in request.messages if one.role == "user"), "{}")
    try:
        return msgspec.json.decode(said, type=RequestedPass)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return RequestedPass()


def smallest(name: PassName, said: RequestedPass) -> Payload:
    """The least that the schema of a pass takes, and that its final checks do not refuse."""
    match name:
        case "project":
            return {
                "domains": [{"name": "Stub", "responsibility": UNWRITTEN}],
                "modules": [{"name": "stub", "domain": "Stub"}],
                "constraints": {"architecture": "custom", "languages": ["unspecified"]},
            }
        case "architecture":
            return {"layers": ["stub"], "rules": []}
        case "scaffold":
            return {"files": [{"path": TARGET, "description": UNWRITTEN, "kind": "source"}]}
        case "test":
            return {"tests": [{"id": "stub", "target": TARGET, "assertions": [UNWRITTEN]}]}
        case "implementation":
            return {"target": said.target or TARGET, "steps": [UNWRITTEN], "related_tests": []}
        case "refactor":
            stays = {"type": "enforce_dependency", "from": "stub", "to": "stub"}
            return {"goal": said.goal or UNWRITTEN, "operations": [stays]}


def _answer_smallest_artifact(name: PassName, request: CompletionRequested) -> str:
    return canonical_json(smallest(name, parse_pass_request(request))).decode()


REFERENCES: Final[References] = {
    one.schema: partial(_answer_smallest_artifact, one.name) for one in PASSES.values()
}

__all__ = ["BANK", "REFERENCES"]

_KINDS: Final = ("plan", "refused", "missing_information", "invalid_request")
_WEIGHTS: Final = (16, 3, 2, 1)
_LACKS: Final = (
    "The glossary does not say what an account is. What is it?",
    "Two constraints contradict each other. Which one holds?",
    "A limit has no number. How many are allowed?",
)
_REFUSALS: Final = (
    "The documents do not describe software.",
    "The goal is a new feature, and no refactoring.",
)
_WORDS: Final = (
    "Says why where it refuses.",
    "Keeps what was there before.",
    "Leaves the rest to other files.",
    "Works within the limits of the constraints.",
)
_GUESSED: Final = ("Accounts", "Orders", "Billing", "Search", "Reports")


def vary_pass_response(name: PassName, draws: Draws, request: CompletionRequested) -> str:
    """A response to a pass."""
    kind = draws.weighted(_KINDS, _WEIGHTS)
    is_answered = sum(one.role == "user" for one in request.messages) > 1
    if kind == "missing_information" and not is_answered:
        return write_json_reply(draws, {"error": kind, "details": draws.pick(_LACKS)})
    if kind == "invalid_request":
        return write_json_reply(draws, {"error": kind, "details": draws.pick(_REFUSALS)})
    list_, parts, bad = _PARTS[name]
    payload = smallest(name, parse_pass_request(request))
    more = draws.sample(parts, draws.below(len(parts) + 1))
    broken = [draws.pick(bad)] if kind == "refused" else []
    return write_json_reply(draws, {**payload, list_: [*payload[list_], *more, *broken]})


def base(draws: Draws, _request: CompletionRequested) -> str:
    """The rules alone name no pass."""
    said = {"error": "invalid_request", "details": "The request names no pass."}
    return write_json_reply(draws, said)


# 1. Plans ------------------------------------------------------------------------------------


def _simulated_file_entry(path: str) -> Payload:
    return {"path": path, "description": _WORDS[0], "kind": "source"}


def _tested(id_: str, target: str = "src/stub.txt") -> Payload:
    return {"id": id_, "target": target, "assertions": [_WORDS[1]]}


_PARTS: Final[dict[PassName, tuple[str, tuple[Any, ...], tuple[Any, ...]]]] = {
    "project": (
        "modules",
        tuple({"name": name.lower(), "domain": "Stub"} for name in _GUESSED),
        ({"name": "stub", "domain": "Stub"}, {"name": "more", "domain": "Unheard of"}),
    ),
    "architecture": ("layers", ("domain", "application", "adapters", "shared"), ("stub", " ")),
    "scaffold": (
        "files",
        tuple(_simulated_file_entry(f"src/{name.lower()}.txt") for name in _GUESSED),
        tuple(
            _simulated_file_entry(path)
            for path in ("SRC/STUB.TXT", "../outside.md", "src\\x", "a//b")
        ),
    ),
    "test": (
        "tests",
        tuple(_tested(name.lower()) for name in _GUESSED),
        (_tested("stub"), _tested("elsewhere", "../x")),
    ),
    "implementation": ("steps", _WORDS, (" ", "\u200b")),
    "refactor": (
        "operations",
        (
            {"type": "rename_symbol", "symbol": "Order", "to": "Purchase", "from": None},
            {"type": "move_file", "from_path": "src/a.txt", "to_path": "src/b.txt"},
            {"type": "extract_interface", "symbol": "Order", "to_path": "src/ports.txt"},
        ),
        (
            {"type": "move_file", "from_path": "src/x"},
            {"type": "rename_symbol", "symbol": None, "to": "x"},
            {"type": "enforce_dependency", "from": "", "to": "domain"},
            {"type": "move_file", "from_path": "src/x", "to_path": "../x"},
        ),
    ),
}
"""By pass: the list that varies, its further parts, and parts that the final checks refuse."""


# 2. The table --------------------------------------------------------------------------------

BANK: Final[Bank] = {
    **{one.schema: Route(partial(vary_pass_response, one.name)) for one in PASSES.values()},
    **{
        one.prompt: Route(partial(vary_pass_response, one.name), (one.prompt.replace("_", " "),))
        for one in PASSES.values()
    },
    BASE: Route(base, ("artifact builder",)),
}
"""By contract, which is looked at first, since every request names the base prompt; by prompt
file."""
