"""The recorded calls of a session as a regression run asks them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.asking import AskedCall
from preflights_es.features.calls.domain.calls import AnsweredCalls, WholeCall, join_calls
from preflights_es.features.calls.domain.dialects import json_text, read_answer
from preflights_es.features.calls.domain.state import CallsState
from preflights_es.features.calls.judging import collect_judgements
from preflights_es.kernel.events import Event
from preflights_es.kernel.ports import Head
from preflights_es.kernel.session import fold
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.use.request import Request


def read_asked_calls(request: Request, session_id: str) -> list[AskedCall]:
    """The calls of a session of the log.

    Raises:
        PreflightsError: it is gone, erased or damaged.
    """
    runner = request.process.runner
    return [*list_asked_calls(session_id, read_call_events(runner, runner.load(session_id)))]


def read_call_events(runner: Runner, at: Handle | Head) -> list[Event]:
    """The events of a session of calls that are kept, up to a version."""
    codec = runner.codec(WORKFLOW)
    stored = runner.store.read(at.session_id)[: at.version]
    return [codec.decode(one) for one in stored if one.data is not None]


def list_asked_calls(session_id: str, events: Sequence[Event]) -> Iterator[AskedCall]:
    """The calls of a session whose request is kept, with what people said of answers to them."""
    state: CallsState = fold(WORKFLOW.decider, events).state
    judged = collect_judgements(state)
    conversations = _Conversations()
    is_run = state.opened is not None and state.opened.source == "record"
    for call in join_calls(events):
        conversation = conversations.first_call(call) if is_run else 0
        if not isinstance(call.request, dict):
            continue
        of_call = judged.get(call.number)
        expected = None
        if of_call is not None and of_call.expected is not UNSET:
            value = of_call.expected
            expected = value if isinstance(value, str) else json_text(value)
        yield AskedCall(
            session_id=session_id,
            call=call.number,
            conversation=conversation,
            dialect=call.dialect,
            route=call.recorded.request.route,
            model=call.kept.model,
            request=call.request,
            status=call.kept.status,
            content_type=call.recorded.answer.type,
            answer=call.recorded.answer.text,
            expected=expected,
            judged=tuple(of_call.right.items()) if of_call else (),
            disputed=of_call.disputed if of_call else 0,
        )


class _Conversations:
    """Those of a run, by the rule of an import; an equal request is of the same one."""

    def __init__(self) -> None:
        self._answered = AnsweredCalls()
        self._by_digest: dict[str, str] = {}

    def first_call(self, call: WholeCall) -> int:
        """The number of the first call of its conversation."""
        answer = call.recorded.answer
        digest = call.recorded.request.digest
        name = self._by_digest.get(digest) or self._answered.find_earlier(call.request)
        name = self._by_digest[digest] = name or str(call.number)
        self._answered.add(call.request, read_answer(call.dialect, answer.type, answer.text), name)
        return int(name)
