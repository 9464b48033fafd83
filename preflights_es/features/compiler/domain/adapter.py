"""The names under which seed 2 describes the compiler: thin, over the parts that a session uses."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from preflights_es.features.compiler.domain import context as user_message
from preflights_es.features.compiler.domain.checks import violations
from preflights_es.features.compiler.domain.compiler_types import (
    ArtifactType,
    CompilerContext,
    CompilerPassType,
    CompilerResult,
    LLMPort,
    begun,
    opened,
    path_of,
)
from preflights_es.features.compiler.domain.contracts import loaded
from preflights_es.features.compiler.domain.findings import findings
from preflights_es.features.compiler.domain.forbidden import why_forbidden
from preflights_es.features.compiler.domain.passes import PASSES, Needed, Pass
from preflights_es.features.compiler.domain.prompting import (
    BASE,
    PACKAGE,
    PROMPTS,
    prompts_of,
    schema_of,
)
from preflights_es.judging.contract import OutputValidator, error_of
from preflights_es.kernel.completions import VIOLATIONS_MAX, Rejected, Violation, prompt
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import Led, system_message

# 1. Prompts ----------------------------------------------------------------------------------

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
        text = system_message(Led(), PACKAGE, prompts_of(pass_type.value), held)[1]
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
        try:
            found = user_message.fitted(begun(context, pass_type))
        except UnicodeEncodeError as error:
            message = "the context holds a lone surrogate, half of a character: decode it as UTF-8"
            raise Refused(message, code="document_unfit") from error
        if isinstance(found, user_message.TooLarge):
            message = f"the request has {found.size:,} characters, at most {found.most:,} are sent"
            fields = {"size": found.size, "most": found.most}
            raise Refused(message, code="request_too_large", **fields)
        return user_message.said(found)


# 2. Passes -----------------------------------------------------------------------------------

APPROVED: Final = ("approved", "locked")
"""Statuses of what a pass reads."""
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
        return [
            *(one.type for one in row.plans),
            *(f"{name}.md" for name in row.documents),
            *(name for name, needed in more.items() if needed),
        ]

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
            Refused: a required input is missing, or a forbidden one is there; nothing is asked.
            LLMError: no response came, or one that cannot be used.
        """
        self.validate_context(context)
        result = llm.generate(self.pass_type, context, self.get_output_schema())
        if result.success:
            self.validate_output(result.payload, context)
        return result

    def validate_context(self, context: CompilerContext) -> None:
        """Refuse a context that the pass must not be given.

        Raises:
            Refused: a required input is missing, or a forbidden one is there.
        """
        target = context.target_file if self._row.target else None
        for path, text in context.project_files.items():
            if path != target and (why := why_forbidden(path, text)):
                message = f"{path} is no document of the pass {self._row.name}: {why}"
                raise Refused(message, code="forbidden_input", path=path)
        for name in self.required_inputs:
            if not _has(context, self._row, name):
                message = f"the pass {self._row.name} needs {_wanted(self._row, name)}"
                raise Refused(message, code="input_missing", input=name)
        for id_, held in context.artifacts.items():
            if (status := opened(held)[1]) not in APPROVED:
                message = f"the artifact {id_} is {status}: a pass reads only what is approved"
                raise Refused(message, code="not_in_force", id=id_)

    def build_prompt(self, context: CompilerContext) -> str:
        """All that a model is told: system message and user message."""
        prompts = PromptManager()
        system = prompts.get_system_prompt(self.pass_type)
        return f"{system}\n{prompts.get_user_prompt(context)}"

    def get_output_schema(self) -> dict[str, Any]:
        """The schema of the artifact's payload."""
        return loaded(schema_of(self._row.name))

    def validate_output(self, payload: Any, context: CompilerContext) -> None:
        """Judge a payload, with the final checks and the findings of the pass.

        Raises:
            LLMOutputError: it cannot be used; where it disagrees, no log says who waives that.
        """
        found = OutputValidator().validate(encoded(payload).decode(), self.get_output_schema())
        first = begun(context, self.pass_type)
        disagreeing = (Violation(one.pointer, one.message) for one in findings(first, found))
        if wrong := (*violations(first, found), *disagreeing)[:VIOLATIONS_MAX]:
            raise error_of(Rejected("schema_violation", wrong))

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
    if needed := _needed(row, name):
        standings = ("locked",) if needed.standing == "locked" else APPROVED
        held = map(opened, context.artifacts.values())
        return any(type_ == name and status in standings for type_, status, _ in held)
    path = path_of(context, name)
    return path is not None and bool(context.project_files[path].strip())


def _needed(row: Pass, name: str) -> Needed | None:
    return next((one for one in row.plans if one.type == name), None)


def _wanted(row: Pass, name: str) -> str:
    needed = _needed(row, name)
    return f"{name} ({needed.standing})" if needed else name
