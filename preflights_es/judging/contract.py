"""Contracts: what a model must answer, and the judgement of what it did answer.

Providers hand over text; whether the text is an answer is decided here, by a pure function, in the
order of seed 2, section 6.1: extract, failure object, schema, code, final checks. The first
rejection wins. No library is imported before the first judgement.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from preflights_es.judging.code_search import found_code
from preflights_es.judging.extraction import Allowed, extracted, leaves, read_prose_response
from preflights_es.judging.schema import Shape, compile_schema_shape
from preflights_es.kernel import errors
from preflights_es.kernel.completions import (
    DETAILS_MAX,
    VIOLATIONS_MAX,
    Accepted,
    FlawKind,
    Policy,
    Rejected,
    Violation,
    excerpt,
    rejected,
)
from preflights_es.kernel.text import shortened

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Accepted", "Contract", "OutputValidator", "Rejected", "Violation", "judge"]

_FAILURES: Final[dict[str, Literal["missing_information", "invalid_request"]]] = {
    "missing_information": "missing_information",
    "invalid_request": "invalid_request",
}


class Contract(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """What a response must be, and which stages judge it; by default all of them."""

    name: str
    version: int
    schema: dict[str, Any] | bool | Callable[[], dict[str, Any]] | None = None
    """A JSON Schema, or what loads it at the first judgement; None: that of `model`, or any."""
    model: type[BaseModel] | Callable[[], type[BaseModel]] | None = None
    """A pydantic class, or what imports it; asked what a schema cannot say."""
    prose: Literal["refuse", "drop"] = "refuse"
    """Text around the one value: refused, or dropped and reported."""
    reasoning: Literal["refuse", "drop"] = "drop"
    """What the model thought before the value, between tags: likewise."""
    unknown: Literal["refuse", "drop"] = "refuse"
    """Properties the schema does not declare: refused if it says so, or dropped and reported."""
    failure: bool = True
    """Whether `{"error": "missing_information", ...}` is an answer of its own."""
    code: bool = True
    """Whether source code in values and keys is refused."""
    words: bool = False
    """Whether a reply in words, without JSON, is an answer: its payload is a `str`."""
    checks: Callable[[Any], tuple[Violation, ...]] | None = None
    """Final checks of a payload that meets the schema; pure, and never raising. Words have none."""
    policy: Policy = Policy()
    """What follows where a call brings nothing that meets it: which failures are asked again, how
    often, and what ends the step."""

    @property
    def id(self) -> str:
        """`name.vN`, as it stands in a `CompletionRequested`."""
        return f"{self.name}.v{self.version}"

    def judge(self, raw: str) -> Accepted | Rejected:
        """The payload of a response, or the first reason to reject it; never raises."""
        return judge(raw, self)

    @cached_property
    def shape(self) -> Shape:
        """The schema, compiled.

        Raises:
            ValueError: it is no valid JSON Schema: a bug of the contract's author.
        """
        schema: Any = self.schema
        model: Any = self.model
        if model is not None and not isinstance(model, type):
            model = model()
        if callable(schema):
            schema = schema()
        if schema is None:
            schema = True if model is None else model.model_json_schema()
        return compile_schema_shape(schema, model)


def judge(raw: str, contract: Contract) -> Accepted | Rejected:
    """The payload of a response, or the first reason to reject it; never raises for any text."""
    return _run_contract_stages(raw, contract, contract.shape)


def _run_contract_stages(raw: str, contract: Contract, shape: Shape) -> Accepted | Rejected:
    prose, reasoning = contract.prose == "drop", contract.reasoning == "drop"
    found = extracted(raw, Allowed(prose=prose, reasoning=reasoning, arrays=shape.arrays))
    if isinstance(found, Rejected):
        text = read_prose_response(raw) if contract.words and found.kind == "invalid_json" else ""
        return Accepted(text) if text else found
    value = found.value
    parts = leaves(value)
    if parts.flaw:
        return rejected("invalid_json", parts.flaw, excerpt(raw))
    if not shape.arrays and isinstance(value, list) and sum(isinstance(v, dict) for v in value) > 1:
        return rejected("multiple_artifacts", "it is an array of several objects", excerpt(raw))
    if contract.failure and isinstance(value, dict) and (failure := _find_declared_failure(value)):
        return failure
    dropped = shape.drop_unknown(value) if contract.unknown == "drop" else ()
    if violations := shape.violations(value, len(raw)):
        return Rejected("schema_violation", violations, excerpt(raw))
    if contract.code and (code := found_code(value, leaves(value) if dropped else parts)):
        return code
    if contract.checks and (violations := contract.checks(value)):
        return Rejected("schema_violation", tuple(violations[:VIOLATIONS_MAX]), excerpt(raw))
    return Accepted(value, found.prose, dropped)


def _find_declared_failure(value: dict[str, Any]) -> Rejected | None:
    """A model's own word that it cannot answer (docs/contracts.md)."""
    error = value.get("error")
    if not isinstance(error, str) or (kind := _FAILURES.get(error.strip().lower())) is None:
        return None
    details = value.get("details", "")
    text = details if isinstance(details, str) else msgspec.json.encode(details).decode()
    return Rejected(kind, details=shortened(text, DETAILS_MAX))


_OUTPUT_ERRORS: Final[dict[FlawKind, type[errors.LLMOutputError]]] = {
    "invalid_json": errors.InvalidJSONError,
    "schema_violation": errors.SchemaViolationError,
    "code_in_output": errors.CodeInOutputError,
    "multiple_artifacts": errors.MultipleArtifactsError,
    "explanatory_text": errors.ExplanatoryTextError,
}


def error_of(found: Rejected) -> errors.LLMError:
    """A rejection as an exception of the tree in `kernel.errors`."""
    if found.kind == "missing_information":
        return errors.LLMMissingInformationError(found.message, details=found.details)
    if found.kind == "invalid_request":
        return errors.LLMInvalidRequestError(found.message, details=found.details)
    return _OUTPUT_ERRORS[found.kind](
        found.message, violations=found.violations, excerpt=found.excerpt
    )


_ALL_STAGES: Final = Contract(name="output", version=1, reasoning="refuse")


class OutputValidator:
    """The judgement of seed 2, for any JSON Schema."""

    def validate(self, raw: str, schema: dict[str, Any] | bool) -> Any:
        """The payload of a response that meets a schema; all stages apply.

        Raises:
            LLMOutputError: the response breaks the contract; one of its subclasses.
            LLMMissingInformationError: the model lacks information.
            LLMInvalidRequestError: the model refuses the request.
            ValueError: the *schema* is no valid JSON Schema, or refers to another document:
                a mistake of the caller, said before the response is looked at.
        """
        verdict = _run_contract_stages(raw, _ALL_STAGES, compile_schema_shape(schema))
        if isinstance(verdict, Rejected):
            raise error_of(verdict)
        return verdict.payload
