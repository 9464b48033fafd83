"""What gathers the inputs of a pass and runs it, under the names of seed 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from preflights_es.features.compiler.domain.adapter import CompilerPassRegistry
from preflights_es.features.compiler.domain.compiler_types import (
    CompilerContext,
    CompilerPassType,
    CompilerResult,
    LLMPort,
    begun,
)
from preflights_es.features.compiler.domain.identity import plan_id
from preflights_es.features.compiler.domain.values import VERSION
from preflights_es.features.compiler.domain.views import envelope
from preflights_es.features.compiler.use import sessions
from preflights_es.features.compiler.use.adapters import Adapter, StubLLMAdapter
from preflights_es.kernel.errors import (
    LLMError,
    LLMInvalidRequestError,
    LLMMissingInformationError,
    Refused,
)
from preflights_es.kernel.ids import iso
from preflights_es.kernel.json import decoded
from preflights_es.system import clock_ids
from preflights_es.use.leads import Leads
from preflights_es.use.request import Request


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
        wanted = sessions.Wanted(pass_type.value, target_file, goal, use)
        read = sessions.reading(self._project.request(), wanted)
        return CompilerContext(
            pass_type=pass_type,
            project_files={one.path: one.text for one in read.documents},
            artifacts={
                one.id: {
                    "artifact_type": one.type,
                    "id": one.id,
                    "status": one.standing,
                    "payload": decoded(one.payload.encode()),
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
            message = (
                f"a session records who answers: found {type(llm).__name__}, expected an adapter"
            )
            raise ValueError(message)
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
            return self._recorded(self._project.request(), pass_type, target_file, goal, use)
        if context is None:
            raise Refused("name the context, or a project", code="input_missing", input="context")
        return self._in_memory(pass_type, context)

    def _recorded(
        self,
        request: Request,
        pass_type: CompilerPassType,
        target: str,
        goal: str,
        use: Sequence[str],
    ) -> dict[str, Any]:
        if isinstance(self._llm, Adapter):
            request.leads = Leads(self._llm.settings)
        session = sessions.plan(request, sessions.Wanted(pass_type.value, target, goal, use))
        return envelope(request.sessions.load(session.session_id).session.state)

    def _in_memory(self, pass_type: CompilerPassType, context: CompilerContext) -> dict[str, Any]:
        from preflights_es.features.compiler.domain.failure_report import FailureReportPayload

        assert self._llm is not None, "there is no project"
        made, now = CompilerPassRegistry().get(pass_type), clock_ids.now()
        try:
            result = made.compile(context, self._llm)
            if result.success:
                by = "system" if isinstance(self._llm, StubLLMAdapter) else "llm"
                return _draft(context, now, made.output_artifact_type.value, by, result.payload)
            failed, raw = _declined(result), result.raw_response
        except LLMError as error:
            failed, raw = error, None
        report = FailureReportPayload.of(failed, pass_type.value, now, raw)
        payload = report.model_dump(mode="json", exclude_none=True)
        return _draft(context, now, "FailureReport", "system", payload)


def _declined(result: CompilerResult) -> LLMError:
    kinds = {one.kind: one for one in (LLMMissingInformationError, LLMInvalidRequestError)}
    kind = kinds.get(result.error_type or "", LLMInvalidRequestError)
    details = result.error_details or ""
    return kind(details or kind.kind, details=details)


def _draft(context: CompilerContext, now: int, type_: str, by: str, payload: Any) -> dict[str, Any]:
    return {
        "artifact_type": type_,
        "artifact_version": VERSION,
        "id": plan_id(begun(context), 1),
        "status": "draft",
        "created_at": iso(now),
        "created_by": by,
        "depends_on": [*context.artifacts],
        "payload": payload,
    }
