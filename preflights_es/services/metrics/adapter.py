"""The names under which seed 4 describes a conversation about data: thin, synchronous.

Nothing is recorded: `preflights_es.open` and `start(text, workflow=...)` record a conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

from preflights_es.core.completion_step import Led, system_message
from preflights_es.core.completions import CompletionRequested, Message
from preflights_es.core.verdict import Accepted
from preflights_es.providers.base import DIRECT, text_of
from preflights_es.services.leads import Leads
from preflights_es.services.metrics.catalogue_files import check_for, of_folders
from preflights_es.settings.load import Options, Settings, load_settings
from preflights_es.system import clock_ids
from preflights_es.system.event_loop import ran
from preflights_es.workflows.metrics import WORKFLOW
from preflights_es.workflows.metrics.contracts import METRICS
from preflights_es.workflows.metrics.lead import CONTRACT, PACKAGE, PROMPTS, known, situation
from preflights_es.workflows.metrics.reference import query
from preflights_es.workflows.metrics.state import State
from preflights_es.workflows.metrics.values import Catalogue, Dialect, Table

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
        self._metrics, self._snippets, self._dialect = (
            Path(metrics_dir),
            Path(snippets_dir),
            dialect,
        )

    @property
    def catalogue(self) -> Catalogue:
        """The files as they are now.

        Raises:
            Refused: one says what no catalogue says.
            NoExtra: the extra `metrics` is not installed.
        """
        from preflights_es.workflows.metrics.sql_check import tables_of

        held = of_folders(self._metrics, self._snippets, check_for(self._dialect, None))
        read = dict.fromkeys(
            name for one in held for name in tables_of(query(one, None), self._dialect)
        )
        return Catalogue(dialect=self._dialect, metrics=held, tables=tuple(map(Table, read)))

    def build(self) -> str:
        """The system message, as a session sends it; errors as `catalogue`."""
        when, zone = clock_ids.local(clock_ids.now())
        asked = State(asked_at=when, time_zone=zone)
        text = system_message(Led(), PACKAGE, tuple(PROMPTS.items()))[1]
        return f"{text}\n{known(self.catalogue)}\n{situation(asked)}"


class LLMClient:
    """A provider of the settings, asked with a whole conversation."""

    def __init__(self, model: str = "", *, provider: str = "") -> None:
        """Asks nothing yet.

        Raises:
            SettingsError: the settings are wrong.
        """
        options = Options(model=model or None, provider=provider or None)
        self.settings: Settings = load_settings(Path.cwd(), options=options)

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The response, stripped.

        Raises:
            ValueError: nothing came, or a message has no such role.
            LLMError: the call failed.
            SettingsError: a key or a package is missing.
        """
        lead = Leads(self.settings).configured(WORKFLOW)
        assert lead is not None, "the workflow is always led"
        request = CompletionRequested(
            call=DIRECT,
            provider=lead.provider,
            model=lead.model,
            messages=tuple(map(_message, messages)),
            parameters=lead.parameters,
            contract=CONTRACT,
        )

        async def said() -> str:
            async with Leads(self.settings).provider_for(lead) as provider:
                return text_of(await provider.respond(request))

        text = ran(said).strip()
        if not text:
            message = "the model returned an empty response"
            raise ValueError(message)
        return text


def _message(said: Mapping[str, str]) -> Message:
    role = said["role"]
    if role not in ROLES:
        message = f"found the role {role!r}, expected one of {', '.join(ROLES)}"
        raise ValueError(message)
    return Message(cast("Literal['system', 'user', 'assistant']", role), said["content"])


class Agent:
    """A conversation about a catalogue; `start` begins a new one."""

    def __init__(
        self,
        metrics_dir: str | Path = "metrics",
        snippets_dir: str | Path = "snippets",
        model: str = "",
        *,
        llm: LLMClient | None = None,
    ) -> None:
        """Reads the catalogue; errors as `PromptBuilder.catalogue`.

        Args:
            llm: instead of a client of the settings with this model.
        """
        self.system_prompt = PromptBuilder(metrics_dir, snippets_dir).build()
        self.llm = llm or LLMClient(model)
        self._said: tuple[tuple[str, str], ...] = ()

    @property
    def messages(self) -> list[Said]:
        """A copy of the conversation so far."""
        return [{"role": role, "content": content} for role, content in self._said]

    def start(self, question: str) -> str:
        """The reply to the first question of a new conversation; errors as `LLMClient.chat`."""
        self._said = ()
        return self._replied((("system", self.system_prompt), ("user", question)))

    def follow_up(self, answer: str) -> str:
        """The reply to what the person says next.

        Raises:
            ValueError: no conversation was begun.
        """
        if not self._said:
            message = "no conversation was begun: call start first"
            raise ValueError(message)
        return self._replied((*self._said, ("user", answer)))

    def _replied(self, said: tuple[tuple[str, str], ...]) -> str:
        reply = self.llm.chat([{"role": role, "content": content} for role, content in said])
        self._said = (*said, ("assistant", reply))
        return reply


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
