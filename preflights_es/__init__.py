"""Preflights: architecture decisions made explicit, recorded and replayable.

The public API; each name is imported when it is first used, so that importing the package costs
almost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from preflights_es.core.version import __version__

if TYPE_CHECKING:
    from preflights_es.api import (
        AsyncPreflights,
        Preflights,
        open,  # noqa: A004  as `gzip.open`
        open_async,
    )
    from preflights_es.contracts.contract import Contract, OutputValidator, judge
    from preflights_es.core.errors import (
        CodeInOutputError,
        ExplanatoryTextError,
        InvalidJSONError,
        LLMAPIError,
        LLMError,
        LLMInvalidRequestError,
        LLMLostError,
        LLMMissingInformationError,
        LLMOutputError,
        LLMRateLimitError,
        LLMRefusedError,
        LLMTimeoutError,
        LLMTruncatedError,
        LLMUnfinishedError,
        LogDamaged,
        LogFromFuture,
        MultipleArtifactsError,
        PreflightsError,
        Refused,
        SchemaViolationError,
        SessionFaulted,
        SettingsError,
    )
    from preflights_es.core.views import Question
    from preflights_es.providers.anthropic import AnthropicProvider
    from preflights_es.providers.base import LLMProvider
    from preflights_es.providers.faults import FaultConfig, FaultyProvider, FaultyStore
    from preflights_es.providers.openai import OpenAIProvider
    from preflights_es.providers.simulated.parts import FaultInjector, PromptRouter, ResponseBank
    from preflights_es.providers.simulated.provider import SimLLMProvider
    from preflights_es.redaction import redact
    from preflights_es.replay.replayer import Replay, Replayer
    from preflights_es.workflows.clarification.adapter import (
        ADR_CATEGORIES,
        ADR_LEANING_CATEGORIES,
        CATEGORY_FIELD_MAP,
        TASK_CATEGORIES,
        MockLLMAdapter,
        compute_hint,
        compute_progress,
        extract_decision_patch,
        resolve_value,
    )
    from preflights_es.workflows.clarification.values import (
        DecisionPatch,
        HeuristicsConfig,
        LLMContext,
        LLMResponse,
        SessionSnapshot,
    )

_HOME = {
    "AsyncPreflights": "api",
    "Preflights": "api",
    "open": "api",
    "open_async": "api",
    "LLMLostError": "core.errors",
    "LLMRefusedError": "core.errors",
    "LLMTruncatedError": "core.errors",
    "LLMUnfinishedError": "core.errors",
    "FaultyStore": "providers.faults",
    "FaultyProvider": "providers.faults",
    "OpenAIProvider": "providers.openai",
    "AnthropicProvider": "providers.anthropic",
    "Contract": "contracts.contract",
    "OutputValidator": "contracts.contract",
    "judge": "contracts.contract",
    "CodeInOutputError": "core.errors",
    "ExplanatoryTextError": "core.errors",
    "InvalidJSONError": "core.errors",
    "LLMInvalidRequestError": "core.errors",
    "LLMMissingInformationError": "core.errors",
    "LLMOutputError": "core.errors",
    "MultipleArtifactsError": "core.errors",
    "SchemaViolationError": "core.errors",
    "LLMAPIError": "core.errors",
    "LLMError": "core.errors",
    "LLMRateLimitError": "core.errors",
    "LLMTimeoutError": "core.errors",
    "LogDamaged": "core.errors",
    "LogFromFuture": "core.errors",
    "PreflightsError": "core.errors",
    "Refused": "core.errors",
    "SessionFaulted": "core.errors",
    "SettingsError": "core.errors",
    "Question": "core.views",
    "LLMProvider": "providers.base",
    "FaultConfig": "providers.faults",
    "SimLLMProvider": "providers.simulated.provider",
    "FaultInjector": "providers.simulated.parts",
    "PromptRouter": "providers.simulated.parts",
    "ResponseBank": "providers.simulated.parts",
    "Replay": "replay.replayer",
    "Replayer": "replay.replayer",
    "redact": "redaction",
    "ADR_CATEGORIES": "workflows.clarification.adapter",
    "ADR_LEANING_CATEGORIES": "workflows.clarification.adapter",
    "CATEGORY_FIELD_MAP": "workflows.clarification.adapter",
    "MockLLMAdapter": "workflows.clarification.adapter",
    "TASK_CATEGORIES": "workflows.clarification.adapter",
    "compute_hint": "workflows.clarification.adapter",
    "compute_progress": "workflows.clarification.adapter",
    "extract_decision_patch": "workflows.clarification.adapter",
    "resolve_value": "workflows.clarification.adapter",
    "DecisionPatch": "workflows.clarification.values",
    "HeuristicsConfig": "workflows.clarification.values",
    "LLMContext": "workflows.clarification.values",
    "LLMResponse": "workflows.clarification.values",
    "SessionSnapshot": "workflows.clarification.values",
}

__all__ = [
    "ADR_CATEGORIES",
    "ADR_LEANING_CATEGORIES",
    "CATEGORY_FIELD_MAP",
    "TASK_CATEGORIES",
    "AnthropicProvider",
    "AsyncPreflights",
    "CodeInOutputError",
    "Contract",
    "DecisionPatch",
    "ExplanatoryTextError",
    "FaultConfig",
    "FaultInjector",
    "FaultyProvider",
    "FaultyStore",
    "HeuristicsConfig",
    "InvalidJSONError",
    "LLMAPIError",
    "LLMContext",
    "LLMError",
    "LLMInvalidRequestError",
    "LLMLostError",
    "LLMMissingInformationError",
    "LLMOutputError",
    "LLMProvider",
    "LLMRateLimitError",
    "LLMRefusedError",
    "LLMResponse",
    "LLMTimeoutError",
    "LLMTruncatedError",
    "LLMUnfinishedError",
    "LogDamaged",
    "LogFromFuture",
    "MockLLMAdapter",
    "MultipleArtifactsError",
    "OpenAIProvider",
    "OutputValidator",
    "Preflights",
    "PreflightsError",
    "PromptRouter",
    "Question",
    "Refused",
    "Replay",
    "Replayer",
    "ResponseBank",
    "SchemaViolationError",
    "SessionFaulted",
    "SessionSnapshot",
    "SettingsError",
    "SimLLMProvider",
    "__version__",
    "compute_hint",
    "compute_progress",
    "extract_decision_patch",
    "judge",
    "open",
    "open_async",
    "redact",
    "resolve_value",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
