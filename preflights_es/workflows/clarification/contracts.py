"""What a model must answer that leads a clarification (docs/specs/clarification.md, section 10).

Imports pydantic, and so is imported only where a response is judged.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from preflights_es.contracts.contract import Contract
from preflights_es.workflows.clarification.rules import POLICY

Line = StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
Short = StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
OFFERED_MAX = 5  # consequences, and alternatives, of one answer
Slug = StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,30}$")


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OwnField(_Answer):
    """A decision for which the category has no field."""

    slug: Annotated[str, Slug]
    field: Annotated[str, Short]


class Clarify(_Answer):
    """The next question."""

    category: Annotated[str, Short]
    question: Annotated[str, Line]
    options: list[Annotated[str, Short]]
    own: OwnField | None = None


class PatchField(_Answer):
    """One value, in the person's words."""

    name: Annotated[str, Short]
    value: Annotated[str, StringConstraints(min_length=1, max_length=2000)]


class Decide(_Answer):
    """What was decided, by the person."""

    category: Annotated[str, Short]
    fields: list[PatchField]


class Alternative(_Answer):
    """What was not chosen, and why."""

    name: Annotated[str, Short]
    why_not: Annotated[str, Line]


class DecideWhy(Decide):
    """What was decided, by the person, and why as the model sees it."""

    because: Annotated[str, Line] | None = None
    consequences: Annotated[list[Annotated[str, Line]], Field(max_length=OFFERED_MAX)] = []
    alternatives: Annotated[list[Alternative], Field(max_length=OFFERED_MAX)] = []


CLARIFY = Contract(
    name="clarify", version=1, model=Clarify, unknown="drop", failure=False, policy=POLICY
)
DECIDE_V1 = Contract(
    name="decide",
    version=1,
    model=Decide,
    unknown="drop",
    failure=False,
    code=False,
    policy=POLICY,
)
DECIDE = Contract(
    name="decide",
    version=2,
    model=DecideWhy,
    unknown="drop",
    failure=False,
    code=False,
    policy=POLICY,
)
CONTRACTS = {contract.id: contract for contract in (CLARIFY, DECIDE_V1, DECIDE)}
"""By the id that a request names."""
