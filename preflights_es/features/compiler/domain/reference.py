"""The stub: without a model, the smallest artifact that meets its schema (specification, 6).

No model wrote it, and its words say so: it is for trying how the passes go together.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import msgspec

from preflights_es.features.compiler.domain.values import PASSES, PassName
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import canonical_json
from preflights_es.words.simulation import References

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
