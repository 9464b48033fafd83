"""Who answers a pass, and what a pass is given, under the names of seed 2 (docs/api.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain import lead as asking
from preflights_es.features.compiler.domain.events import (
    BASE,
    PACKAGE,
    PASSES,
    PROMPTS,
    Document,
    PassBegun,
    ReadDecision,
    ReadPlan,
    prompts_of,
    schema_of,
)
from preflights_es.features.compiler.domain.rules import load_compiler_schema
from preflights_es.judging.contract import OutputValidator
from preflights_es.judging.schema import compile_schema_shape
from preflights_es.kernel import __version__
from preflights_es.kernel.completions import CompletionRequested, Message, prompt
from preflights_es.kernel.errors import LLMDeclinedError, Refused
from preflights_es.kernel.events import Actor, SourceSession
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import Lead, LeadState, Setup, system_message
from preflights_es.kernel.text import Secret
from preflights_es.providers.base import DIRECT, LLMProvider, decode_completion_text
from preflights_es.settings.load import Options, Settings, load_settings
from preflights_es.system.interpreter import ran
from preflights_es.use.leads import Leads

TOP_P: Final = 0.3  # sent only where the model takes it and no temperature is sent (seed 2, 8.1)


# 1. Values -----------------------------------------------------------------------------------


class CompilerPassType(Enum):
    """The passes (seed 2, section 3.2)."""

    PROJECT = "project"
    ARCHITECTURE = "architecture"
    SCAFFOLD = "scaffold"
    TEST = "test"
    IMPLEMENTATION = "implementation"
    REFACTOR = "refactor"


class ArtifactType(Enum):
    """What passes write, and what becomes of a pass that fails."""

    PROJECT_PLAN = "ProjectPlan"
    ARCHITECTURE_PLAN = "ArchitecturePlan"
    SCAFFOLD_PLAN = "ScaffoldPlan"
    TEST_PLAN = "TestPlan"
    IMPLEMENTATION_PLAN = "ImplementationPlan"
    REFACTOR_PLAN = "RefactorPlan"
    FAILURE_REPORT = "FailureReport"


class CompilerContext(msgspec.Struct):
    """What a pass reads."""

    pass_type: CompilerPassType
    project_files: dict[str, str] = {}
    """Texts by path; documents, and the target file where it exists."""
    artifacts: dict[str, Any] = {}
    """By id: an envelope, or its payload alone, for whose standing the caller answers."""
    target_file: str | None = None
    """For the implementation pass."""
    goal: str = ""
    """For the refactor pass."""
    layout: tuple[str, ...] = ()
    """Paths of the repository."""
    decisions: tuple[ReadDecision, ...] = ()
    """In force, the newest first."""

    def path_of(self, name: str) -> str | None:
        """The path of a document by its name, in whatever folder it lies."""
        return next((p for p in self.project_files if p.rpartition("/")[2] == name), None)


class CompilerResult(msgspec.Struct):
    """What came of a pass."""

    success: bool
    payload: dict[str, Any] | None = None
    """Of the artifact."""
    error_type: str | None = None
    """`missing_information` or `invalid_request`."""
    error_details: str | None = None
    """In the model's words."""
    raw_response: str | None = None


@runtime_checkable
class LLMPort(Protocol):
    """Who answers a pass (seed 2, section 3.1)."""

    def generate(
        self, pass_type: CompilerPassType, context: CompilerContext, schema: dict[str, Any]
    ) -> CompilerResult:
        """The payload of an artifact that meets a schema, or why the model gives none.

        Raises:
            LLMError: no response came, or one that cannot be used.
        """


# 2. A context as the first Input of a session ------------------------------------------------


def first_input(
    context: CompilerContext, pass_type: CompilerPassType, lead: Lead | None = None
) -> PassBegun:
    """What a session of the pass begins with, cut to what a request may hold.

    Raises:
        Refused: what is required does not fit, or a text is no Unicode.
    """
    row = PASSES[pass_type.value]
    known = [context.path_of(f"{name}.md") for name in row.documents]
    paths = dict.fromkeys((*filter(None, known), *context.project_files))
    begun = PassBegun(
        at=0,
        actor=Actor("script"),
        pass_type=row.name,
        project="",
        uid="",
        setup=Setup(preflights=__version__, decider=WORKFLOW.decider.version, lead=lead),
        documents=tuple(
            Document(path=path, sha256="", text=context.project_files[path]) for path in paths
        ),
        plans=tuple(_plan_from_artifact(*pair) for pair in context.artifacts.items()),
        decisions=tuple(context.decisions),
        layout=tuple(context.layout),
        target=context.target_file or "" if row.target else "",
        goal=context.goal if row.goal else "",
    )
    try:
        found = asking.fitted(begun)
    except UnicodeEncodeError as error:
        message = "the context holds a lone surrogate, half of a character: decode it as UTF-8"
        raise Refused(message, code="document_unfit") from error
    if isinstance(found, asking.TooLarge):
        message = f"the request has {found.size:,} characters, at most {found.most:,} are sent"
        raise Refused(message, code="request_too_large", size=found.size, most=found.most)
    return found


def _plan_from_artifact(id_: str, held: Any) -> ReadPlan:
    type_, status, payload = unpack_artifact(held)
    standing = "locked" if status == "locked" else "approved"
    none = SourceSession(session_id="", version=0, hash="")
    return ReadPlan(id_, type_, standing, none, payload=canonical_json(payload).decode())  # type: ignore[arg-type]  # a type of any name is shown to the model


def unpack_artifact(held: Any) -> tuple[str, str, Any]:
    """Type, status and payload of an artifact; a payload alone has the type whose fields it has."""
    if not isinstance(held, Mapping):
        return "", "no artifact", held
    if "artifact_type" in held and "payload" in held:
        return str(held["artifact_type"]), str(held.get("status", "draft")), held["payload"]
    schemas = ((row.writes, load_compiler_schema(schema_of(row.name))) for row in PASSES.values())
    fitting = (type_ for type_, schema in schemas if {*schema["required"]} <= held.keys())
    return next(fitting, ""), "locked", held


# 3. Prompts ----------------------------------------------------------------------------------

BASE_SYSTEM_PROMPT: Final = prompt(PACKAGE, PROMPTS[BASE]).text
"""The rules of every pass (seed 2, section 5.1)."""


class PromptManager:
    """The prompts of today, as a session sends them."""

    def get_system_prompt(
        self, pass_type: CompilerPassType, schema: Mapping[str, Any] | bool | None = None
    ) -> str:
        """The system message: the rules, the pass's own prompt, and the schema in it.

        Args:
            schema: instead of the pass's own.
        """
        held = schema_of(pass_type.value) if schema is None else ""
        text = system_message(LeadState(), PACKAGE, prompts_of(pass_type.value), held)[1]
        return text if held else text.replace("{schema}", json.dumps(schema, indent=2))

    def get_user_prompt(
        self, context: CompilerContext, pass_type: CompilerPassType | None = None
    ) -> str:
        """The user message: all that is read, as one JSON object within its limit.

        Args:
            pass_type: instead of the context's.

        Raises:
            Refused: what is required does not fit, or a text is no Unicode.
        """
        return asking.user_message(first_input(context, pass_type or context.pass_type))


# 4. Adapters ---------------------------------------------------------------------------------


class Adapter(LLMPort):
    """A provider of the settings; it leads a session of a project, and one in memory."""

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
        said = {"model": model or None, "temperature": temperature, "top_p": top_p}
        said |= {"max_tokens": max_tokens, "timeout_s": timeout}
        typed = {name: str(value) for name, value in said.items() if value is not None}
        found = load_settings(Path.cwd(), options=Options(provider=self.provider, **typed))
        if api_key:
            found = replace(found, keys={**found.keys, found.provider: Secret(api_key)})
        if found.top_p is None:
            said_none = found.temperature is None
            heat = WORKFLOW.led.temperature if said_none else found.temperature
            found = replace(found, temperature=heat, top_p=TOP_P)
        self.settings: Settings = found
        self.model, self.max_tokens, self.timeout = found.model, found.max_tokens, found.timeout_s
        # As wanted: each is sent where the model takes it, `top_p` where no temperature is sent.
        self.temperature, self.top_p = found.temperature, found.top_p

    @property
    def lead(self) -> Lead:
        """As whom a session records it."""
        lead = Leads(self.settings).configured(WORKFLOW)
        assert lead is not None, "the workflow is always led"
        return lead

    def opened(self) -> LLMProvider:
        """Who is asked; to be closed.

        Raises:
            SettingsError: a key or a package is missing.
        """
        return Leads(self.settings).provider_for(self.lead)

    def generate(
        self, pass_type: CompilerPassType, context: CompilerContext, schema: dict[str, Any]
    ) -> CompilerResult:
        """One call, without a session: the payload for any schema, or why the model gives none.

        Raises:
            LLMError: no response came, or one that cannot be used.
            Refused: as `PromptManager.get_user_prompt`.
            SettingsError: a key or a package is missing.
            ValueError: the schema is invalid.
        """
        compile_schema_shape(schema)  # an invalid one costs no call
        prompts = PromptManager()
        request = CompletionRequested(
            call=DIRECT,
            provider=self.lead.provider,
            model=self.lead.model,
            messages=(
                Message("system", prompts.get_system_prompt(pass_type, schema)),
                Message("user", prompts.get_user_prompt(context, pass_type)),
            ),
            parameters=self.lead.parameters,
            contract=schema_of(pass_type.value),
        )

        async def responded() -> str:
            async with self.opened() as provider:
                return decode_completion_text(await provider.answered(request))

        text = ran(responded)
        try:
            payload = OutputValidator().validate(text, schema)
        except LLMDeclinedError as error:
            return CompilerResult(False, None, error.kind, error.details, raw_response=text)
        return CompilerResult(success=True, payload=payload, raw_response=text)


class ClaudeAdapter(Adapter):
    """Claude, by Anthropic's API."""

    provider = "anthropic"


class OpenAIAdapter(Adapter):
    """GPT, and every server that imitates it."""

    provider = "openai"


class StubLLMAdapter(Adapter):
    """The stub: the smallest artifact that meets its schema; no model, no key, no network."""

    provider = "mock"
