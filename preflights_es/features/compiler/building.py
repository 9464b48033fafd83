"""The passes of seed 2, and what builds artifacts by them (docs/api.md).

In a project, an artifact is built by a session of its log. Without one, by the same session on a
store in memory: there is no second way through a pass.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Annotated, Any, Final, Literal, Protocol

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from preflights_es.features.compiler import passes
from preflights_es.features.compiler.adapters import (
    Adapter,
    ArtifactType,
    CompilerContext,
    CompilerPassType,
    CompilerResult,
    LLMPort,
    PromptManager,
    first_input,
    unpack_artifact,
)
from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.decide import IN_FORCE
from preflights_es.features.compiler.domain.events import PASSES, Needed, Pass, schema_of
from preflights_es.features.compiler.domain.rules import (
    CONTRACTS,
    find_pass_violations,
    load_compiler_schema,
    why_forbidden,
)
from preflights_es.features.compiler.domain.state import CompilerState, envelope
from preflights_es.judging.contract import error_of
from preflights_es.kernel.completions import (
    Completion,
    CompletionReceived,
    CompletionRequested,
    Rejected,
)
from preflights_es.kernel.errors import (
    InvalidJSONError,
    LLMDeclinedError,
    LLMError,
    LLMInvalidRequestError,
    LLMMissingInformationError,
    LLMOutputError,
    Refused,
)
from preflights_es.kernel.events import Input
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.lead import (
    UNFINISHED,
    Lead,
    ResponseRejected,
    decode_response_text,
    judge_session_response,
)
from preflights_es.runtime.runner import Runner, Step
from preflights_es.store.memory import MemoryStore
from preflights_es.system import clock_ids
from preflights_es.system.interpreter import ran
from preflights_es.use.leads import Leads
from preflights_es.use.request import Request

# 1. A pass as a session in memory ------------------------------------------------------------


_DECLINED: Final = tuple(one.kind for one in (LLMMissingInformationError, LLMInvalidRequestError))


class _PassRun:
    """One session: a context is what it reads, an adapter or another port is its provider."""

    def __init__(self, made: CompilerPass, context: CompilerContext, llm: LLMPort) -> None:
        made.validate_context(context)
        self._made, self._context, self._llm = made, context, llm
        self._given: CompilerResult | None = None
        """What another port gave."""
        self._error: LLMError | None = None
        """Why the last call brought nothing."""
        lead = llm.lead if isinstance(llm, Adapter) else Lead("port", type(llm).__name__)
        first = first_input(context, made.pass_type, lead)
        self._step = ran(lambda: self._settled(first))
        self.state: CompilerState = self._step.handle.session.state

    async def _settled(self, first: Input) -> Step:
        store = MemoryStore(clock_ids.now, clock_ids.salt)
        workflows = {WORKFLOW.name: WORKFLOW}
        runner = Runner(store, workflows, clock_ids.now, clock_ids.new_id, sleep=asyncio.sleep)
        llm = self._llm
        async with llm.opened() if isinstance(llm, Adapter) else nullcontext() as self._provider:
            session_id, input_id = clock_ids.new_id(), clock_ids.new_id()
            step = runner.open(WORKFLOW, "", first, session_id, input_id=input_id)
            return await runner.settle(step.handle, self)

    async def respond(self, request: CompletionRequested) -> Completion:
        """The response of an adapter's provider, or the result of another port as a text."""
        self._error = None
        try:
            if self._provider is not None:
                return await self._provider.respond(request)
            text = await asyncio.to_thread(self._generated)
            return Completion(text=text, model=request.model)
        except LLMError as error:
            self._error = error
            is_judged = isinstance(error, LLMOutputError) and error.kind not in UNFINISHED
            # A port that judges by itself is not asked again for what it cannot use.
            raise LLMOutputError(str(error)) if is_judged else error from error

    def _generated(self) -> str:
        made = self._made
        try:
            found = self._llm.generate(made.pass_type, self._context, made.get_output_schema())
        except LLMDeclinedError as error:  # for a session, it is what the model says
            self._error = error
            found = CompilerResult(False, None, error.kind, error.details)
        self._given = found
        kind = found.error_type if found.error_type in _DECLINED else _DECLINED[-1]
        declined = {"error": kind, "details": found.error_details or ""}
        return _encode_port_result(found.payload if found.success else declined)

    @property
    def result(self) -> CompilerResult:
        """What came of the pass.

        Raises:
            LLMError: no response came, or one that cannot be used.
        """
        if self._error is not None:
            raise self._error
        new, plan = self.state.input, self.state.plan
        raw = decode_response_text(new) if isinstance(new, CompletionReceived) else None
        if plan is not None:
            payload = decode_plain_json(plan.payload.encode())
            return self._given or CompilerResult(True, payload, raw_response=raw)
        why = next(one for one in self._step.decisions if isinstance(one, ResponseRejected))
        if why.kind in _DECLINED:
            failed = CompilerResult(False, None, why.kind, why.details, raw_response=raw)
            return self._given or failed
        raise error_of(Rejected(why.kind, why.violations, why.excerpt, why.details))  # type: ignore[arg-type]  # the log keeps kinds as text


def _encode_port_result(value: Any) -> str:
    try:
        return canonical_json(value).decode()
    except (UnicodeEncodeError, RecursionError) as error:
        raise InvalidJSONError(f"the result of the port is not JSON: {error}") from error


# 2. Passes ------------------------------------------------------------------------------------

_FORBIDDEN: Final = {
    ("source", "tests"): ("source code", "tests"),
    ("source",): ("all other source files",),
    (): (),
}


class CompilerPass(ABC):
    """One row of the table of passes (seed 2, section 4)."""

    @property
    @abstractmethod
    def pass_type(self) -> CompilerPassType:
        """Which one."""

    @property
    def required_inputs(self) -> list[str]:
        """Types of artifacts, names of documents, and what else the pass cannot do without."""
        row = self._row
        more = {"target file": row.target, "repo layout": row.layout, "goal": row.goal}
        read = [one.type for one in row.plans] + [f"{name}.md" for name in row.documents]
        return read + [name for name, needed in more.items() if needed]

    @property
    def forbidden_inputs(self) -> list[str]:
        """In the words of the seed's table; no document of any pass is source code."""
        return [*_FORBIDDEN[self._row.forbidden]]

    @property
    def output_artifact_type(self) -> ArtifactType:
        """What it writes."""
        return ArtifactType(self._row.writes)

    def compile(self, context: CompilerContext, llm: LLMPort) -> CompilerResult:
        """Check what goes in, ask, and check what comes out.

        Raises:
            Refused: as `validate_context`, or the request is too large; nothing is asked.
            LLMError: no response came, at a second try either, or one that cannot be used.
        """
        result = _PassRun(self, context, llm).result
        if result.success:
            self.validate_output(result.payload)
        return result

    def validate_context(self, context: CompilerContext) -> None:
        """Refuse a context that the pass must not be given.

        Raises:
            Refused: a required input is missing, or a forbidden one is there.
        """
        target = context.target_file if self._row.target else None
        for path in context.project_files:
            if path != target and (why := why_forbidden(path)):
                message = f"{path} is no document of the pass {self._row.name}: {why}"
                raise Refused(message, code="forbidden_input", path=path)
        for name in self.required_inputs:
            if not _has(context, self._row, name):
                needed = _find_needed_plan(self._row, name)
                told = f"{name} ({needed.standing})" if needed else name
                message = f"the pass {self._row.name} needs {told}"
                raise Refused(message, code="input_missing", input=name)
        for id_, held in context.artifacts.items():
            if (status := unpack_artifact(held)[1]) not in IN_FORCE:
                message = f"the artifact {id_} is {status}: a pass reads only what is approved"
                raise Refused(message, code="not_in_force", id=id_)

    def build_prompt(self, context: CompilerContext) -> str:
        """All that a model is told: system message and user message."""
        prompts = PromptManager()
        system = prompts.get_system_prompt(self.pass_type)
        return f"{system}\n{prompts.get_user_prompt(context)}"

    def get_output_schema(self) -> dict[str, Any]:
        """The schema of the artifact's payload."""
        return load_compiler_schema(schema_of(self._row.name))

    def validate_output(self, payload: Any) -> None:
        """Judge a payload, but not whether it has the target or the goal that was asked for.

        Raises:
            LLMError: as `compile`.
        """
        asked = payload if isinstance(payload, dict) else {}
        target, goal = (str(asked.get(name, "")) for name in ("target", "goal"))
        text = _encode_port_result(payload)
        context = CompilerContext(self.pass_type, target_file=target, goal=goal)
        check = partial(find_pass_violations, first_input(context, self.pass_type))
        contract = CONTRACTS[schema_of(self._row.name)]
        if isinstance(verdict := judge_session_response(text, contract, check), Rejected):
            raise error_of(verdict)

    @property
    def _row(self) -> Pass:
        return PASSES[self.pass_type.value]


class ProjectPlannerPass(CompilerPass):
    """Documents become a ProjectPlan."""

    pass_type = CompilerPassType.PROJECT


class ArchitecturePlannerPass(CompilerPass):
    """A ProjectPlan becomes an ArchitecturePlan."""

    pass_type = CompilerPassType.ARCHITECTURE


class ScaffoldPlannerPass(CompilerPass):
    """Both become a ScaffoldPlan."""

    pass_type = CompilerPassType.SCAFFOLD


class TestDesignerPass(CompilerPass):
    """All three, and the requirements, become a TestPlan."""

    __test__ = False  # pytest would take it for a test
    pass_type = CompilerPassType.TEST


class ImplementationPlannerPass(CompilerPass):
    """The tests of one file become its ImplementationPlan."""

    pass_type = CompilerPassType.IMPLEMENTATION


class RefactorPlannerPass(CompilerPass):
    """A goal becomes a RefactorPlan."""

    pass_type = CompilerPassType.REFACTOR


class CompilerPassRegistry:
    """The passes by type; the six are there from the beginning."""

    def __init__(self) -> None:
        self._passes: dict[CompilerPassType, CompilerPass] = {}
        for kind in (
            ProjectPlannerPass,
            ArchitecturePlannerPass,
            ScaffoldPlannerPass,
            TestDesignerPass,
            ImplementationPlannerPass,
            RefactorPlannerPass,
        ):
            self.register(kind())

    def register(self, one: CompilerPass) -> None:
        """Take a pass, in place of the one of its type."""
        self._passes[one.pass_type] = one

    def get(self, pass_type: CompilerPassType) -> CompilerPass:
        """The pass of a type."""
        return self._passes[CompilerPassType(pass_type)]

    def list_passes(self) -> list[CompilerPassType]:
        """All types, in the order in which they are run."""
        return [*self._passes]


def _has(context: CompilerContext, row: Pass, name: str) -> bool:
    match name:
        case "target file":
            return bool(context.target_file)
        case "repo layout":
            return bool(context.layout)
        case "goal":
            return bool(context.goal.strip())
    if needed := _find_needed_plan(row, name):
        standings = ("locked",) if needed.standing == "locked" else IN_FORCE
        held = map(unpack_artifact, context.artifacts.values())
        return any(type_ == name and status in standings for type_, status, _ in held)
    path = context.path_of(name)
    return path is not None and bool(context.project_files[path].strip())


def _find_needed_plan(row: Pass, name: str) -> Needed | None:
    return next((one for one in row.plans if one.type == name), None)


# 3. Artifacts ---------------------------------------------------------------------------------


class Project(Protocol):
    """A log that is open, as `preflights_es.open` gives it."""

    def request(self) -> Request:
        """One request."""


class ContextBuilder:
    """Reads what a pass reads: documents, artifacts and decisions in force, the layout."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def build_context(
        self,
        pass_type: CompilerPassType,
        target_file: str = "",
        goal: str = "",
        use: Sequence[str] = (),
    ) -> CompilerContext:
        """The context of a pass, without secrets; nothing is recorded.

        Args:
            target_file: for the implementation pass.
            goal: for the refactor pass.
            use: ids of further artifacts, and paths of further documents.

        Raises:
            Refused: an input is missing, must not be read, or does not fit.
        """
        wanted = passes.WantedPass(pass_type.value, target_file, goal, use)
        read = passes.preview_pass_inputs(self._project.request(), wanted)
        return CompilerContext(
            pass_type=pass_type,
            project_files={one.path: one.text for one in read.documents},
            artifacts={
                one.id: {
                    "artifact_type": one.type,
                    "id": one.id,
                    "status": one.standing,
                    "payload": decode_plain_json(one.payload.encode()),
                }
                for one in read.plans
            },
            target_file=read.target or None,
            goal=read.goal,
            layout=read.layout,
            decisions=read.decisions,
        )


class ArtifactBuilder:
    """Runs a pass: as a session of a project, or in memory over a context."""

    def __init__(self, llm: LLMPort | None = None, project: Project | None = None) -> None:
        """Args:
        llm: who answers; in a project one of our adapters, else as its settings say.
        project: where the session is recorded.

        Raises:
            ValueError: neither is given, or the project cannot record who answers.
        """
        if llm is None and project is None:
            raise ValueError("name who answers, or a project")
        if project is not None and not isinstance(llm, Adapter | None):
            found = f"found {type(llm).__name__}, expected an adapter"
            raise ValueError(f"a session records who answers: {found}")
        self._llm, self._project = llm, project

    def build(
        self,
        pass_type: CompilerPassType,
        context: CompilerContext | None = None,
        *,
        target_file: str = "",
        goal: str = "",
        use: Sequence[str] = (),
    ) -> dict[str, Any]:
        """The envelope of the artifact, a draft; that of a FailureReport where the pass failed.

        Args:
            context: what is read, where there is no project; the rest is read in a project.

        Raises:
            Refused: an input is missing or forbidden; nothing is asked and nothing recorded.
        """
        if self._project is not None:
            request = self._project.request()
            if isinstance(self._llm, Adapter):
                request.leads = Leads(self._llm.settings)
            wanted = passes.WantedPass(pass_type.value, target_file, goal, use)
            session = passes.run_pass(request, wanted)
            return envelope(request.sessions.load(session.session_id).session.state)
        if context is None:
            raise Refused("name the context, or a project", code="input_missing", input="context")
        assert self._llm is not None, "there is no project"
        return envelope(_PassRun(CompilerPassRegistry().get(pass_type), context, self._llm).state)


Category = Literal[
    "missing_information",
    "invalid_request",
    "api_error",
    "timeout",
    "rate_limit",
    "validation_error",
    "internal_error",
]
Uuid = Annotated[
    str, StringConstraints(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
]
Recovery = Literal["human_input_required", "retry", "retry_after_delay", "abort", "fix_and_retry"]


class FailureReportPayload(BaseModel):
    """A blocking failure; what does not fit is a `ValueError`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    phase: str
    artifact_id: Uuid | None = None
    category: Category
    summary: Annotated[str, Field(min_length=1)]
    details: dict[str, Any] = {}
    blocking: bool
    recovery_action: Recovery
    timestamp: AwareDatetime
    raw_response: str | None = None
