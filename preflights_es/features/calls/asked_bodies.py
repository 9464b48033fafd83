"""Asks recorded requests again: so many at once, with retries, within a limit of calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from preflights_es.features.calls.domain.asking import AskedCall
from preflights_es.features.calls.domain.dialects import ReadAnswer, read_answer, words_of_answer
from preflights_es.features.calls.kept_answers import KeptAnswer
from preflights_es.kernel.errors import LLMError, LLMRequestRejectedError
from preflights_es.kernel.lead import BACKOFF_MS, WAIT_MAX_MS
from preflights_es.providers.capabilities import CONCURRENCY, Api
from preflights_es.providers.http_body import decode_body_text
from preflights_es.providers.remote import RemoteProvider
from preflights_es.redaction.answers import redact_answer
from preflights_es.redaction.patterns import SECRETS
from preflights_es.system.kept_lines import KeptLines
from preflights_es.use.leads import Leads
from preflights_es.words.pairs import PairsAsked

RETRIES: Final = 1  # of a call that brought nothing: as a step of our own workflows has
EMPTY: Final = "the answer holds no words and calls no tool"


class BodyToAsk(NamedTuple):
    """One side of a call."""

    call: AskedCall
    body: dict[str, Any]
    provider: str
    key: str
    """Of its answer."""
    is_changed: bool
    """Whether it has the change."""


class AskedAnswer(NamedTuple):
    """What came of one side."""

    answer: ReadAnswer | None
    """None where it brought nothing, or was not asked."""
    asked: int = 0
    """Calls of a model that were made for this run."""
    unanswered: int = 0
    failure: str = ""


class BodyAsker:
    """Asks the bodies of one run, and keeps what was paid for."""

    def __init__(self, leads: Leads, kept: KeptLines[KeptAnswer], run: PairsAsked) -> None:
        self._leads = leads
        self._kept = kept
        self._kinds = (*SECRETS, *leads.settings.redact_calls)
        self._left = run.calls_max
        self._run = run
        self._providers: dict[tuple[str, Api], RemoteProvider] = {}

    def ready(self, bodies: Iterable[BodyToAsk]) -> None:
        """See that all of them can be asked, before anything is paid.

        Raises:
            SettingsError: something that a provider needs is missing.
        """
        for one in bodies:
            self._provider(one)

    def ask_all(
        self, bodies: Iterable[BodyToAsk], done: Callable[[BodyToAsk, AskedAnswer], None]
    ) -> None:
        """Args:
        done: takes each as it is answered.
        """
        waiting = iter(bodies)

        async def work() -> None:
            for one in waiting:
                done(one, await self._ask(one))

        async def all_of_them() -> None:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(CONCURRENCY):
                        group.create_task(work())
            finally:
                for provider in self._providers.values():
                    await provider.aclose()

        asyncio.run(all_of_them())

    async def _ask(self, one: BodyToAsk) -> AskedAnswer:
        asked, failure = 0, ""
        while asked <= RETRIES and self._left != 0:
            self._left = None if self._left is None else self._left - 1
            asked += 1
            try:
                got = await self._provider(one).send_body(one.body)
            except LLMError as error:
                failure = str(error)
                wait_ms = error.retry_after_ms or BACKOFF_MS
                if isinstance(error, LLMRequestRejectedError) or wait_ms > WAIT_MAX_MS:
                    break
                if asked <= RETRIES:
                    await asyncio.sleep(wait_ms / 1_000)
                continue
            text = redact_answer(decode_body_text(got.body)[0], got.content_type, self._kinds).text
            kept = KeptAnswer(
                session=one.call.session_id,
                call=one.call.call,
                is_changed=one.is_changed,
                key=one.key,
                content_type=got.content_type,
                answer=text.encode("utf-8", "replace").decode(),
                margin=self._run.margin,
                resuming=self._run.resuming,
            )
            read = answer_of_kept(one.call, kept)
            if read.answer is None:
                failure = EMPTY
                break
            self._kept.keep(kept)
            return read._replace(asked=asked, unanswered=asked - 1)
        return AskedAnswer(None, asked, asked, failure)

    def _provider(self, one: BodyToAsk) -> RemoteProvider:
        api: Api = "responses" if one.call.dialect == "openai-responses" else "chat"
        key = (one.provider, api)
        if key not in self._providers:
            self._providers[key] = self._leads.provider_of_bodies(*key)
        return self._providers[key]


def answer_of_kept(call: AskedCall, kept: KeptAnswer) -> AskedAnswer:
    """An answer that was paid for before; a run that goes on counts its call as its own."""
    return _whole_answer(read_answer(call.dialect, kept.content_type, kept.answer), asked=1)


def recorded_answer(call: AskedCall) -> AskedAnswer:
    """The recorded answer of a call."""
    return _whole_answer(read_answer(call.dialect, call.content_type, call.answer))


def _whole_answer(read: ReadAnswer, asked: int = 0) -> AskedAnswer:
    if words_of_answer(read).strip() or read.tools:
        return AskedAnswer(read, asked)
    return AskedAnswer(None, asked, asked, EMPTY)
