"""The calls of a session, each whole, as its events hold them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from preflights_es.features.calls.domain import dialects
from preflights_es.features.calls.domain.asking import digest_answer, is_expected
from preflights_es.features.calls.domain.dialects import Dialect
from preflights_es.features.calls.domain.events import CallJudged, CallKept, CallRecorded
from preflights_es.kernel.events import Event
from preflights_es.kernel.json import decode_plain_json
from preflights_es.words.workflow import AnswerJudgement, MadeCall, SpokenCall

PROVIDERS: Final[dict[Dialect, str]] = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
}
"""Whose dialect it is: the provider, as settings name it."""


def read_kept_body(text: str) -> Any:
    """A body as it is kept, read from its JSON; None where it is no JSON."""
    try:
        return decode_plain_json(text.encode())
    except (ValueError, RecursionError):
        return None


class WholeCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call with all its turns, as it was sent."""

    number: int
    made_at: int | None
    kept: CallKept
    recorded: CallRecorded
    request: Any
    """What was sent, read from its JSON; None where it was left out."""

    @property
    def dialect(self) -> Dialect:
        """How request and answer are written."""
        return self.kept.dialect


def join_calls(events: Iterable[Event]) -> Iterator[WholeCall]:
    """The calls that a session keeps, each with the turns that it shares with an earlier one."""
    turns: list[list[Any]] = []
    recorded: CallRecorded | None = None
    for event in events:
        if isinstance(event, CallRecorded):
            recorded = event
        elif isinstance(event, CallKept) and recorded is not None:
            request, like = recorded.request, recorded.request.like
            before = turns[like - 1][: request.keeps] if like else []
            whole = dialects.join_request(read_kept_body(request.body), before)
            turns.append(dialects.turns_of_request(whole))
            yield WholeCall(
                number=event.call,
                made_at=recorded.made_at,
                kept=event,
                recorded=recorded,
                request=whole,
            )


CONVERSATION_NAMES: Final = (
    "conversation_id",
    "conversation",
    "thread_id",
    "session_id",
    "session",
    "trace_id",
)
"""Under which a line of a log, or the `metadata` of a request, names its conversation."""
ANSWERED_MAX: Final = 20_000  # what a later call may be found by, if nothing else names its session


class AnsweredCalls:
    """The latest calls that a later one may go on from: docs/specs/calls.md, section 1."""

    def __init__(self) -> None:
        self._conversations: dict[Hashable, str] = {}
        self._forms: dict[bytes, bytes] = {}
        """What is known of turns: conversations repeat theirs."""

    def add(self, request: object, answer: dialects.ReadAnswer, conversation: str) -> None:
        """A call, and the name of its conversation."""
        turns = dialects.turns_of_request(request)
        answered = dialects.digest_answered(turns, answer, self._forms)
        for key in filter(None, (answered, answer.id, _name_in_request(request))):
            self._conversations.pop(key, None)
            self._conversations[key] = conversation
        while len(self._conversations) > ANSWERED_MAX:
            del self._conversations[next(iter(self._conversations))]

    def find_earlier(self, request: object) -> str:
        """The conversation that a request goes on with; empty where there is none."""
        turns = dialects.turns_of_request(request)
        previous = dialects.json_mapping(request).get("previous_response_id")
        named = (_name_in_request(request), dialects.json_string(previous))
        keys = chain(filter(None, named), dialects.digest_beginnings(turns, self._forms))
        return next((self._conversations[key] for key in keys if key in self._conversations), "")


def _name_in_request(request: object) -> tuple[str, str] | None:
    """What a request calls its conversation, and under which name."""
    body = dialects.json_mapping(request)
    metadata, whole = dialects.json_mapping(body.get("metadata")), body.get("conversation")
    found = [(name, dialects.read_word(metadata.get(name))) for name in CONVERSATION_NAMES]
    id_ = dialects.read_word(dialects.json_mapping(whole).get("id", whole))
    return next((one for one in (("", id_), *found) if one[1]), None)


def find_provider_name(recorded: CallRecorded, kept: CallKept) -> str:
    """As the source has it, else by the dialect; empty where neither says it."""
    return recorded.request.route or PROVIDERS.get(kept.dialect, "")


def list_made_calls(events: Sequence[Event | None]) -> Iterator[tuple[int, MadeCall]]:
    """Each call that was kept, with the place of its Decision among the events."""
    recorded: CallRecorded | None = None
    for place, event in enumerate(events):
        if isinstance(event, CallRecorded):
            recorded = event
        elif isinstance(event, CallKept) and recorded is not None:
            yield (
                place,
                MadeCall(
                    call=str(event.call),
                    provider=find_provider_name(recorded, event),
                    model=event.model,
                    made_at=recorded.made_at,
                    is_answered=200 <= event.status < 300,
                    input_tokens=event.input_tokens,
                    output_tokens=event.output_tokens,
                ),
            )


CUT: Final = ("length", "max_tokens", "max_output_tokens", "incomplete")
"""What dialects call an answer that met the limit of its length."""


def list_spoken_calls(events: Sequence[Event | None]) -> Iterator[tuple[int, SpokenCall]]:
    """The same places, with what was said."""
    places = (place for place, _ in list_made_calls(events))
    told = (spoken for _, spoken in tell_whole_calls(events))
    return zip(places, told, strict=True)


def tell_whole_calls(events: Sequence[Event | None]) -> Iterator[tuple[WholeCall, SpokenCall]]:
    """Each call with what was said; turns that the call before sent are counted alone."""
    said = [(n, one) for n, one in enumerate(events) if isinstance(one, CallJudged)]
    number, said_first = 0, list[tuple[str, str]]()
    for call in join_calls(filter(None, events)):
        sent, answer = call.recorded.request, call.recorded.answer
        body = dialects.json_mapping(call.request)
        told = [
            {"role": "system", "content": body.get(name)} for name in ("system", "instructions")
        ]
        first = [pair for pair in dialects.words_of_turns(told) if pair[1]]
        goes_on = 0 < sent.like == number and first == said_first
        turns = dialects.turns_of_request(call.request)[sent.keeps if goes_on else 0 :]
        read = dialects.read_answer(call.dialect, answer.type, answer.text)
        status = call.kept.status  # 0 where no answer began
        failed = f"status {status}" if status and not 200 <= status < 300 else ""
        cut = f"cut off ({call.kept.stop})" if call.kept.stop in CUT else ""
        yield (
            call,
            SpokenCall(
                kept=sent.keeps + len(first) if goes_on else 0,
                messages=(*([] if goes_on else first), *dialects.words_of_turns(turns)),
                answer=dialects.words_of_answer(read),
                tools=read.tools,
                ended="; ".join(filter(None, (failed, cut, answer.ended, read.error))),
                judged=tuple(
                    judge_answer(place, one, read) for place, one in said if one.call == call.number
                ),
            ),
        )
        number, said_first = call.number, first


def judge_answer(place: int, said: CallJudged, answer: dialects.ReadAnswer) -> AnswerJudgement:
    """What a judgement says of the answer that the call got."""
    is_right = said.is_right if said.digest == digest_answer(answer) else None
    if said.expected is not None:
        is_right = is_expected(answer, said.expected)
    return AnswerJudgement(
        place=place,
        by=said.actor,
        at=said.at,
        is_right=is_right,
        expected=said.expected or "",
        why=said.why,
    )
