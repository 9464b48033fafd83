"""Differences for the peers to find, planted in copies of recorded sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from exports import RECEIVED, REQUESTED, Session, lines_of
from msgspec.structs import replace

from preflights_es.kernel.json import canonical_json, decode_plain_json
from tests.features.regress.sessions import Events, Payload, chained, edited, place
from tests.features.regress.sessions import with_prompt as prompted

EDITED: Final = "an edited file, hashes left"
PATCH: Final = "clarification.patch_proposed.v1"
ACCEPTED: Final = "led.response_accepted.v1"


def planted(clean: list[Session], each: int) -> tuple[list[Session], dict[str, str]]:
    """All sessions, some with a difference; and the kind of difference by session id."""
    made, kinds = list(clean), {}
    for number, (kind, plant) in enumerate(KINDS.items()):
        for i in range(number * each, (number + 1) * each):
            made[i] = plant(clean[i])
            kinds[clean[i][0].session_id] = kind
    return made, kinds


def edited_lines(sessions: list[Session], kinds: dict[str, str]) -> list[bytes]:
    """The lines; of some sessions an edited one, with the hashes of before."""
    lines = lines_of(sessions)
    for i, line in enumerate(lines):
        event = decode_plain_json(line)
        if kinds.get(event["session_id"]) == EDITED and event["version"] == 1:
            lines[i] = line.replace(b'"name":"', b'"name":"not ', 1)
            assert lines[i] != line, "there is a name in it"
    return lines


def _in_requests(edit: Callable[[Payload], object]) -> Callable[[Events], Session]:
    def plant(events: Events) -> Session:
        return _in(events, REQUESTED, edit)

    return plant


def _in(events: Events, tag: str, edit: Callable[[Payload], object]) -> Session:
    def edited_data(data: bytes) -> bytes:
        payload = decode_plain_json(data)
        edit(payload)
        return canonical_json(payload)

    return chained(
        [
            replace(one, data=edited_data(one.data or b"")) if one.type == tag else one
            for one in events
        ]
    )


def _prompt(payload: Payload) -> None:
    prompted(payload["messages"][0]["content"] + "!")(payload)


def _other_step(events: Events) -> Session:
    """The first call was one of another step."""
    return edited(events, place(events, REQUESTED), lambda one: one.update(contract="decide.v1"))


def _one_more_call(events: Events) -> Session:
    at = max(i for i, one in enumerate(events) if one.type == RECEIVED)
    return chained([*events[: at + 1], events[at - 1], events[at], *events[at + 1 :]])


def _last(events: Events, tag: str) -> int:
    return max(i for i, one in enumerate(events) if one.type == tag)


def _response(events: Events) -> Session:
    def edit(payload: dict[str, Any]) -> None:
        payload["text"] = payload["text"].replace("SQLite", "DynamoDB")

    return edited(events, _last(events, RECEIVED), edit)


def _decision(events: Events) -> Session:
    at = place(events, "clarification.answer_accepted.v1")
    return edited(events, at, lambda one: one.update(source="custom"))


def _result(events: Events) -> Session:
    def edit(payload: dict[str, Any]) -> None:
        payload["patch"]["fields"][0][1] = "DynamoDB"

    return edited(events, _last(events, PATCH), edit)


def _swapped(events: Events) -> Session:
    at = place(events, ACCEPTED)
    return chained([*events[:at], events[at + 1], events[at], *events[at + 2 :]])


KINDS: Final[dict[str, Callable[[Events], Session]]] = {
    "a character of the prompt": _in_requests(_prompt),
    "another model": _in_requests(lambda one: one.update(model="claude-sonnet-5")),
    "another parameter": _in_requests(lambda one: one.update(parameters=[["max_tokens", "1"]])),
    "a call of another step": _other_step,
    "one more call": _one_more_call,
    "another response than before": _response,
    "another decision inside": _decision,
    "another result": _result,
    "two decisions swapped": _swapped,
    "the last decision gone": lambda events: chained(events[:-1]),
    EDITED: tuple,
}
