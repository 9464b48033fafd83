"""Preflights: architecture decisions made explicit, recorded and replayable.

The public API; each name is imported when it is first used, so that importing the package costs
almost nothing.
"""

# ruff: noqa: I001  each name is exported under its own

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from preflights_es.kernel import __version__ as __version__

if TYPE_CHECKING:
    from preflights_es.surfaces.api import (
        Preflights as Preflights,
        open as open,  # noqa: A004  as `gzip.open`
    )
    from preflights_es.surfaces.async_api import (
        AsyncPreflights as AsyncPreflights,
        open_async as open_async,
    )
    from preflights_es.judging.contract import (
        Contract as Contract,
        OutputValidator as OutputValidator,
        judge as judge,
    )
    from preflights_es.kernel.errors import (
        CodeInOutputError as CodeInOutputError,
        CommitUnknown as CommitUnknown,
        Conflict as Conflict,
        ExplanatoryTextError as ExplanatoryTextError,
        InvalidJSONError as InvalidJSONError,
        LLMAPIError as LLMAPIError,
        LLMEmptyError as LLMEmptyError,
        LLMError as LLMError,
        LLMInvalidRequestError as LLMInvalidRequestError,
        LLMLostError as LLMLostError,
        LLMMissingInformationError as LLMMissingInformationError,
        LLMOutputError as LLMOutputError,
        LLMRateLimitError as LLMRateLimitError,
        LLMRefusedError as LLMRefusedError,
        LLMRequestRejectedError as LLMRequestRejectedError,
        LLMTimeoutError as LLMTimeoutError,
        LLMTruncatedError as LLMTruncatedError,
        LLMUnfinishedError as LLMUnfinishedError,
        LogDamaged as LogDamaged,
        LogFromFuture as LogFromFuture,
        MultipleArtifactsError as MultipleArtifactsError,
        PreflightsError as PreflightsError,
        Refused as Refused,
        RoundsExhausted as RoundsExhausted,
        SchemaViolationError as SchemaViolationError,
        SessionFaulted as SessionFaulted,
        SettingsError as SettingsError,
        StoreUnavailable as StoreUnavailable,
        UnreadableEvent as UnreadableEvent,
    )
    from preflights_es.words.questions import Question as Question
    from preflights_es.providers.apis import AnthropicProvider as AnthropicProvider
    from preflights_es.providers.base import LLMProvider as LLMProvider
    from preflights_es.providers.faults import (
        FaultConfig as FaultConfig,
        FaultyProvider as FaultyProvider,
        FaultyStore as FaultyStore,
    )
    from preflights_es.providers.apis import OpenAIProvider as OpenAIProvider
    from preflights_es.providers.simulator import (
        FaultInjector as FaultInjector,
        PromptRouter as PromptRouter,
        ResponseBank as ResponseBank,
    )
    from preflights_es.providers.simulator import SimLLMProvider as SimLLMProvider
    from preflights_es.redaction.masking import redact as redact
    from preflights_es.history.replayer import Replay as Replay, Replayer as Replayer
    from preflights_es.features.compiler.adapters import (
        BASE_SYSTEM_PROMPT as BASE_SYSTEM_PROMPT,
        ArtifactType as ArtifactType,
        ClaudeAdapter as ClaudeAdapter,
        CompilerContext as CompilerContext,
        CompilerPassType as CompilerPassType,
        CompilerResult as CompilerResult,
        LLMPort as LLMPort,
        OpenAIAdapter as OpenAIAdapter,
        PromptManager as PromptManager,
        StubLLMAdapter as StubLLMAdapter,
    )
    from preflights_es.features.compiler.building import (
        ArchitecturePlannerPass as ArchitecturePlannerPass,
        ArtifactBuilder as ArtifactBuilder,
        CompilerPass as CompilerPass,
        CompilerPassRegistry as CompilerPassRegistry,
        ContextBuilder as ContextBuilder,
        FailureReportPayload as FailureReportPayload,
        ImplementationPlannerPass as ImplementationPlannerPass,
        ProjectPlannerPass as ProjectPlannerPass,
        RefactorPlannerPass as RefactorPlannerPass,
        ScaffoldPlannerPass as ScaffoldPlannerPass,
        TestDesignerPass as TestDesignerPass,
    )
    from preflights_es.features.metrics.adapter import (
        Agent as Agent,
        LLMClient as LLMClient,
        PromptBuilder as PromptBuilder,
        parse_response as parse_response,
    )
    from preflights_es.features.clarification.domain.rules import (
        ADR_CATEGORIES as ADR_CATEGORIES,
        ADR_LEANING_CATEGORIES as ADR_LEANING_CATEGORIES,
        CATEGORY_FIELD_MAP as CATEGORY_FIELD_MAP,
        TASK_CATEGORIES as TASK_CATEGORIES,
        MockLLMAdapter as MockLLMAdapter,
        compute_hint as compute_hint,
        compute_progress as compute_progress,
        extract_decision_patch as extract_decision_patch,
        resolve_value as resolve_value,
    )
    from preflights_es.features.clarification.domain.values import (
        DecisionPatch as DecisionPatch,
        HeuristicsConfig as HeuristicsConfig,
        LLMContext as LLMContext,
        LLMResponse as LLMResponse,
        SessionSnapshot as SessionSnapshot,
    )

_HOME = {
    name: home
    for home, names in {
        "surfaces.api": "Preflights open",
        "surfaces.async_api": "AsyncPreflights open_async",
        "judging.contract": "Contract OutputValidator judge",
        "kernel.errors": """
            CodeInOutputError CommitUnknown Conflict ExplanatoryTextError InvalidJSONError
            LLMAPIError LLMEmptyError LLMError LLMInvalidRequestError LLMLostError
            LLMMissingInformationError LLMOutputError LLMRateLimitError LLMRefusedError
            LLMRequestRejectedError LLMTimeoutError LLMTruncatedError LLMUnfinishedError LogDamaged
            LogFromFuture MultipleArtifactsError PreflightsError Refused RoundsExhausted
            SchemaViolationError SessionFaulted SettingsError StoreUnavailable UnreadableEvent
        """,
        "words.questions": "Question",
        "providers.apis": "AnthropicProvider OpenAIProvider",
        "providers.base": "LLMProvider",
        "providers.faults": "FaultConfig FaultyProvider FaultyStore",
        "providers.simulator": "FaultInjector PromptRouter ResponseBank SimLLMProvider",
        "redaction.masking": "redact",
        "history.replayer": "Replay Replayer",
        "features.compiler.adapters": """
            ArtifactType BASE_SYSTEM_PROMPT ClaudeAdapter CompilerContext CompilerPassType
            CompilerResult LLMPort OpenAIAdapter PromptManager StubLLMAdapter
        """,
        "features.compiler.building": """
            ArchitecturePlannerPass ArtifactBuilder CompilerPass CompilerPassRegistry
            ContextBuilder FailureReportPayload ImplementationPlannerPass ProjectPlannerPass
            RefactorPlannerPass ScaffoldPlannerPass TestDesignerPass
        """,
        "features.metrics.adapter": "Agent LLMClient PromptBuilder parse_response",
        "features.clarification.domain.rules": """
            ADR_CATEGORIES ADR_LEANING_CATEGORIES CATEGORY_FIELD_MAP MockLLMAdapter
            TASK_CATEGORIES compute_hint compute_progress extract_decision_patch resolve_value
        """,
        "features.clarification.domain.values": """
            DecisionPatch HeuristicsConfig LLMContext LLMResponse SessionSnapshot
        """,
    }.items()
    for name in names.split()
}
"""The module of each public name."""

__all__ = sorted((*_HOME, "__version__"))  # noqa: PLE0605  the imports above say it to checkers


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
