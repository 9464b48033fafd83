"""The payload of a FailureReport, for programs that write or read one (seed 2, section 7.2).

Imports pydantic, and so is imported only where the name is used.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from preflights_es.features.compiler.domain.reports import CATEGORY, RECOVERY
from preflights_es.features.compiler.domain.values import PassName
from preflights_es.kernel.errors import LLMDeclinedError, LLMError, LLMOutputError
from preflights_es.kernel.ids import iso

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

    @classmethod
    def of(cls, error: LLMError, pass_name: PassName, at: int, raw: str | None = None) -> Self:
        """What became of a pass that failed.

        Args:
            at: microseconds since 1970 UTC.
        """
        kind = CATEGORY.get(error.kind, "api_error")
        details: dict[str, Any] = {"kind": error.kind, "pass": pass_name}
        if isinstance(error, LLMOutputError) and error.violations:
            details["violations"] = [
                {"pointer": v.pointer, "message": v.message} for v in error.violations
            ]
        if isinstance(error, LLMDeclinedError) and error.details:
            details["said"] = error.details
        return cls.model_validate(
            {
                "phase": "planning",
                "category": kind,
                "summary": str(error) or error.kind,
                "details": details,
                "blocking": True,
                "recovery_action": RECOVERY[kind],
                "timestamp": iso(at),
                "raw_response": raw,
            }
        )
