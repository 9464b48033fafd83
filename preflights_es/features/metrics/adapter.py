"""The names under which seed 4 describes a conversation about data: thin, synchronous.

Nothing is recorded unless a log is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, Protocol, cast

from preflights_es.features.metrics import use
from preflights_es.features.metrics.catalogue import Folders, own_catalogue
from preflights_es.features.metrics.domain import WORKFLOW
from preflights_es.features.metrics.domain.decide import (
    METRICS,
    render_catalogue,
    render_metrics_situation,
)
from preflights_es.features.metrics.domain.decide import compose_metrics_request as asked
from preflights_es.features.metrics.domain.events import (
    CONTRACT,
    PACKAGE,
    PROMPTS,
    Catalogue,
    Dialect,
)
from preflights_es.features.metrics.domain.state import MetricsState
from preflights_es.kernel.completions import Accepted, CompletionRequested, Message
from preflights_es.kernel.errors import LLMEmptyError
from preflights_es.kernel.lead import LeadState, system_message
from preflights_es.providers.base import DIRECT, decode_completion_text
from preflights_es.settings.load import Options, load_settings
from preflights_es.system import clock_ids
from preflights_es.system.interpreter import ran
from preflights_es.use.leads import Leads
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession

ROLES: Final = ("system", "user", "assistant")
Said = dict[str, str]
"""A message: `role` and `content`."""


class PromptBuilder:
    """The system message of a catalogue."""

    def __init__(
        self,
        metrics_dir: str | Path = "metrics",
        snippets_dir: str | Path = "snippets",
        dialect: Dialect = "sqlite",
    ) -> None:
        self._folders: Folders = (Path(metrics_dir), Path(snippets_dir))
        self._dialect: Dialect = dialect

    @property
    def catalogue(self) -> Catalogue:
        """The files as they are now.

        Raises:
            Refused: one says what no catalogue says.
            NoExtra: the extra `metrics` is not installed.
        """
        return own_catalogue(self._folders, self._dialect)

    def build(self) -> str:
        """The system message, as a session sends it; errors as `catalogue`."""
        when, zone = clock_ids.local(clock_ids.now())
        asked = MetricsState(asked_at=when, time_zone=zone)
        text = system_message(LeadState(), PACKAGE, tuple(PROMPTS.items()))[1]
        return f"{text}\n{render_catalogue(self.catalogue)}\n{render_metrics_situation(asked)}"


class LLMClient:
    """A provider of the settings, asked with a whole conversation."""

    def __init__(self, model: str = "", *, provider: str = "") -> None:
        """Asks nothing yet.

        Raises:
            SettingsError: the settings are wrong, or the provider takes no model.
        """
        options = Options(model=model or None, provider=provider or None)
        self._leads = Leads(load_settings(Path.cwd(), options=options), options)
        self._leads.configured(WORKFLOW)

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The response, stripped.

        Raises:
            LLMEmptyError: nothing came; a ValueError, too.
            ValueError: a message has no such role, or its content is no text.
            LLMError: the call failed.
            SettingsError: a key or a package is missing.
        """
        lead = self._leads.configured(WORKFLOW)
        assert lead is not None, "the workflow is always led"
        request = CompletionRequested(
            call=DIRECT,
            provider=lead.provider,
            model=lead.model,
            messages=tuple(map(_parse_chat_message, messages)),
            parameters=lead.parameters,
            contract=CONTRACT,
        )

        async def said() -> str:
            async with self._leads.provider_for(lead) as provider:
                return decode_completion_text(await provider.answered(request))

        text = ran(said).strip()
        if not text:
            raise LLMEmptyError("the model returned an empty response")
        return text


def _parse_chat_message(said: Mapping[str, str]) -> Message:
    role = said["role"]
    if role not in ROLES:
        raise ValueError(f"found the role {role!r}, expected one of {', '.join(ROLES)}")
    content: object = said["content"]
    if not isinstance(content, str):
        raise ValueError(f"found {content!r} as the content of a message, expected text")
    return Message(cast("Literal['system', 'user', 'assistant']", role), content)


class Log(Protocol):
    """A log of the Python API."""

    def request(self) -> Request:
        """One request."""


class Agent:
    """A conversation about a catalogue; `start` begins a new one."""

    def __init__(
        self,
        metrics_dir: str | Path = "metrics",
        snippets_dir: str | Path = "snippets",
        model: str = "",
        *,
        llm: LLMClient | None = None,
        log: Log | None = None,
    ) -> None:
        """Reads the catalogue; errors as `PromptBuilder.catalogue`.

        Args:
            llm: instead of a client of the settings with this model.
            log: records each conversation as a session; its settings say who answers.
        """
        self._folders: Folders = (Path(metrics_dir), Path(snippets_dir))
        self._model, self._log = model, log
        self.session_id = ""
        """Of the recorded conversation; empty where there is none."""
        self.system_prompt = PromptBuilder(*self._folders).build()
        self.llm = llm or LLMClient(model if log is None else "")
        self._said: tuple[tuple[str, str], ...] = ()

    @property
    def messages(self) -> list[Said]:
        """A copy of the conversation so far."""
        return [{"role": role, "content": content} for role, content in self._said]

    def start(self, question: str) -> str:
        """The reply to the first question of a new conversation.

        Raises:
            ValueError: nothing usable came; a recorded conversation can be gone on with.
            LLMError, SettingsError: as `LLMClient.chat`.
        """
        self._said, self.session_id = (), ""
        return self._replied((("system", self.system_prompt), ("user", question)))

    def follow_up(self, answer: str) -> str:
        """The reply to what the person says next.

        Raises:
            ValueError: no conversation was begun.
        """
        if not self._said:
            raise ValueError("no conversation was begun: call start first")
        return self._replied((*self._said, ("user", answer)))

    def _replied(self, said: tuple[tuple[str, str], ...]) -> str:
        if self._log is not None:
            return self._recorded(self._log.request(), said[-1][1])
        messages = [{"role": role, "content": content} for role, content in said]
        reply = self.llm.chat(messages=messages)
        self._said = (*said, ("assistant", reply))
        return reply

    def _recorded(self, request: Request, text: str) -> str:
        """The same as a session of the log, whose events say what was said."""
        if self._model:
            request.leads = request.leads.saying(Options(model=self._model)).over(None)
        if self.session_id:
            session = use.follow_up(request, text, self.session_id)
        else:
            session = use.start_metrics(request, NewSession(text), catalogue=self._folders)
        self.session_id = session.session_id
        state = request.process.runner.load(self.session_id).session.state
        self._said = tuple((one.role, one.content) for one in asked(state).messages)
        if session.not_done or self._said[-1][0] != "assistant":
            why = [*(one.message for one in session.refusals), *session.warnings]
            raise ValueError("; ".join(why))
        return self._said[-1][1]


def parse_response(raw: str) -> tuple[str, Any]:
    """What a response is: `sql`, `ambiguous`, `text` or `invalid`, and what it says.

    The object of the first two, the words of `text`, the response itself of `invalid`. The query is
    not checked here.
    """
    verdict = METRICS.judge(raw)
    if not isinstance(verdict, Accepted):
        return "invalid", raw
    found = verdict.payload
    return ("text", found) if isinstance(found, str) else (found["type"], found)
