"""Who answers a pass, under the names of seed 2; each asks as a session of these settings does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.adapter import PromptManager
from preflights_es.features.compiler.domain.compiler_types import (
    CompilerContext,
    CompilerPassType,
    CompilerResult,
    LLMPort,
)
from preflights_es.features.compiler.domain.prompting import schema_of
from preflights_es.judging.contract import OutputValidator
from preflights_es.judging.schema import shape
from preflights_es.kernel.completions import CompletionRequested, Message
from preflights_es.kernel.errors import LLMDeclinedError
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.text import Secret
from preflights_es.providers.base import DIRECT, text_of
from preflights_es.settings.load import Options, Settings, load_settings
from preflights_es.system.event_loop import ran
from preflights_es.use.leads import Leads

TOP_P: Final = 0.3  # sent only where the model takes it and no temperature is sent (seed 2, 8.1)


class Adapter(LLMPort):
    """A provider of the settings."""

    provider: ClassVar[str]

    def __init__(
        self,
        api_key: str = "",
        model: str = "",
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Asks nothing yet; what is left out is as the settings say.

        Args:
            timeout: seconds for one call, all of it.

        Raises:
            SettingsError: a value is out of its limits, or the settings are wrong.
        """
        said = {
            "model": model or None,
            "temperature": temperature,
            "top_p": top_p,
            "max_tokens": max_tokens,
            "timeout_s": timeout,
        }
        typed = {name: str(value) for name, value in said.items() if value is not None}
        found = load_settings(Path.cwd(), options=Options(provider=self.provider, **typed))
        if api_key:
            found = replace(found, keys={**found.keys, found.provider: Secret(api_key)})
        if found.top_p is None:
            said_none = found.temperature is None
            heat = WORKFLOW.temperature if said_none else found.temperature
            found = replace(found, temperature=heat, top_p=TOP_P)
        self.settings: Settings = found

    @property
    def model(self) -> str:
        """The one that is asked."""
        return self.settings.model

    @property
    def temperature(self) -> float | None:
        """As wanted; sent where the model takes it."""
        return self.settings.temperature

    @property
    def top_p(self) -> float | None:
        """As wanted; sent where the model takes it and no temperature is sent."""
        return self.settings.top_p

    @property
    def max_tokens(self) -> int:
        """That a response may have."""
        return self.settings.max_tokens

    @property
    def timeout(self) -> float:
        """Seconds for one call."""
        return self.settings.timeout_s

    def generate(
        self, pass_type: CompilerPassType, context: CompilerContext, schema: dict[str, Any]
    ) -> CompilerResult:
        """The payload of an artifact that meets a schema, or why the model gives none.

        Raises:
            LLMError: no response came, or one that cannot be used.
            SettingsError: a key or a package is missing.
            ValueError: the schema is invalid.
        """
        shape(schema)  # an invalid one costs no call
        text = ran(lambda: self._said(self._request(pass_type, context, schema)))
        try:
            payload = OutputValidator().validate(text, schema)
        except LLMDeclinedError as error:
            return CompilerResult(
                success=False,
                error_type=error.kind,
                error_details=error.details,
                raw_response=text,
            )
        return CompilerResult(success=True, payload=payload, raw_response=text)

    def _request(
        self, pass_type: CompilerPassType, context: CompilerContext, schema: dict[str, Any]
    ) -> tuple[Lead, CompletionRequested]:
        leads, prompts = Leads(self.settings), PromptManager()
        lead = leads.configured(WORKFLOW)
        assert lead is not None, "the workflow is always led"
        system = prompts.get_system_prompt(pass_type, schema)
        said = (
            Message("system", system),
            Message("user", prompts.get_user_prompt(context, pass_type)),
        )
        return lead, CompletionRequested(
            call=DIRECT,
            provider=lead.provider,
            model=lead.model,
            messages=said,
            parameters=lead.parameters,
            contract=schema_of(pass_type.value),
        )

    async def _said(self, asked: tuple[Lead, CompletionRequested]) -> str:
        lead, request = asked
        async with Leads(self.settings).provider_for(lead) as provider:
            return text_of(await provider.respond(request))


class ClaudeAdapter(Adapter):
    """Claude, by Anthropic's API."""

    provider = "anthropic"


class OpenAIAdapter(Adapter):
    """GPT, and every server that imitates it."""

    provider = "openai"


class StubLLMAdapter(Adapter):
    """The reference: a pure function of what it is asked; no model, no key, no network."""

    provider = "mock"
