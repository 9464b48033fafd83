"""What a model must answer that plans a day (docs/specs/planning.md, section 4).

Imports pydantic, and so is imported only where a response is judged.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from preflights_es.features.planning.domain.events import MINIS_MAX, REASONING_MAX
from preflights_es.judging.contract import Contract

ID_MAX = 60  # characters


def _absent() -> Any:
    """A property that may be absent; null is not absent, so its type is not widened."""
    return Field(default_factory=lambda: None)


Id = Annotated[str, StringConstraints(min_length=1, max_length=ID_MAX)]


class ModelPlan(BaseModel):
    """What to do today."""

    # A newer contract may add properties: they are dropped, and kept in the log.
    model_config = ConfigDict(title="DayPlan", extra="ignore", frozen=True)

    focus_task_id: Id | None
    mini_task_ids: Annotated[list[Id], Field(max_length=MINIS_MAX)] = _absent()
    buffer_minutes: Annotated[float, Field(ge=0)] = _absent()
    reasoning: Annotated[str, StringConstraints(max_length=REASONING_MAX)]


PLANNING = Contract(
    name="planning",
    version=1,
    model=ModelPlan,
    prose="drop",
    unknown="drop",
    failure=False,
    code=False,
)
