"""The recorded calls of a session as a regression run asks them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET

from preflights_es.features.calls.cleaning import digest_request
from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.asking import AskedCall
from preflights_es.features.calls.domain.calls import AnsweredCalls, WholeCall, join_calls
from preflights_es.features.calls.domain.dialects import json_text, read_answer, without_fields
from preflights_es.features.calls.domain.state import CallsState
from preflights_es.features.calls.judging import collect_judgements
from preflights_es.kernel.events import Event
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.ports import Head
from preflights_es.kernel.session import fold
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.use.request import Request

RUNS_MAX: Final = 20  # runs whose conversations are held at once: they may be recorded in parallel


def read_asked_calls(request: Request, session_id: str) -> list[AskedCall]:
    """The calls of a session of the log.

    Raises:
        PreflightsError: it is gone, erased or damaged.
    """
    runner = request.process.runner
    reader = CallReader(request.process.settings.of(WORKFLOW).ignore)
    return [*reader.read(session_id, read_call_events(runner, runner.load(session_id)))]


def read_call_events(runner: Runner, at: Handle | Head) -> list[Event]:
    """The events of a session of calls that are kept, up to a version."""
    codec = runner.codec(WORKFLOW)
    stored = runner.store.read(at.session_id)[: at.version]
    return [codec.decode(one) for one in stored if one.data is not None]


class CallReader:
    """Reads the calls of sessions whose request is kept, with what people said of answers to them.

    Sessions of one run are read in order: a conversation may begin in an earlier one.
    """

    def __init__(self, ignored: Sequence[str]) -> None:
        """Args:
        ignored: JSON Pointers to what makes no difference between two requests of a run.
        """
        self._ignored = ignored
        self._runs: dict[str, _Conversations] = {}

    def read(self, session_id: str, events: Sequence[Event]) -> Iterator[AskedCall]:
        """The calls of one session."""
        state: CallsState = fold(WORKFLOW.decider, events).state
        judged = collect_judgements(state)
        run = None
        if state.opened is not None and state.opened.source == "record":
            name = state.opened.conversation
            run = self._runs[name] = self._runs.pop(name, _Conversations(self._ignored))
            if len(self._runs) > RUNS_MAX:
                del self._runs[next(iter(self._runs))]
        for call in join_calls(events):
            begun_in, first = run.find_first(session_id, call) if run else (session_id, 0)
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
                conversation=first,
                goes_on=begun_in != session_id,
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

    def __init__(self, ignored: Sequence[str]) -> None:
        self._ignored = ignored
        self._answered = AnsweredCalls()
        self._by_digest: dict[str, str] = {}

    def find_first(self, session_id: str, call: WholeCall) -> tuple[str, int]:
        """The first call of its conversation: its session, and its number there."""
        sent, answer = call.recorded.request, call.recorded.answer
        digest = sent.digest
        if self._ignored and call.request is not None:
            body = canonical_json(without_fields(call.request, self._ignored))
            digest = digest_request(sent.method, sent.path, body)
        name = self._by_digest.get(digest) or self._answered.find_earlier(call.request)
        name = self._by_digest[digest] = name or f"{session_id} {call.number}"
        self._answered.add(call.request, read_answer(call.dialect, answer.type, answer.text), name)
        begun_in, _, number = name.rpartition(" ")
        return begun_in, int(number)
