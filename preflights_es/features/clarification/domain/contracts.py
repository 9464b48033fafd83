"""What a model must answer that leads a clarification (docs/specs/clarification.md, section 10).

Imports pydantic, and so is imported only where a response is judged.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from preflights_es.features.clarification.domain.rules import POLICY
from preflights_es.judging.contract import Contract
from preflights_es.kernel.text import SCOPE_MAX

Line = StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
Short = StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
MaybeLine = StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")
MaybeShort = StringConstraints(max_length=80, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")
MaybeScope = StringConstraints(max_length=SCOPE_MAX, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")
OFFERED_MAX = 5  # consequences, and alternatives, of one answer
EVIDENCE_MAX = 10  # places of one question


class _ClarificationAnswerPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OfferedOption(_ClarificationAnswerPart):
    """One of the answers that exclude each other."""

    label: Annotated[str, Short]
    description: Annotated[str, MaybeLine] = ""
    against: Annotated[str, MaybeLine] = ""


class Recommendation(_ClarificationAnswerPart):
    """The option that fits best, and why."""

    option: Annotated[str, Short]
    reason: Annotated[str, Line]


class Clarify(_ClarificationAnswerPart):
    """The next question, a value that the intention says, or that there is nothing to ask.

    One flat object: native structured output takes no union at the top. What an outcome needs, the
    session's own check says.
    """

    outcome: Literal["ask", "said", "nothing"]
    topic: Annotated[str, MaybeShort] = ""
    question: Annotated[str, MaybeLine] = ""
    why: Annotated[str, MaybeLine] = ""
    options: list[OfferedOption] = []
    recommended: Recommendation | None = None
    scope: Annotated[str, MaybeScope] = ""
    more: bool = False
    value: Annotated[str, MaybeShort] = ""
    quote: Annotated[str, MaybeLine] = ""
    reason: Annotated[str, MaybeLine] = ""


class EvidencePlace(_ClarificationAnswerPart):
    """Lines of a file."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    lines: Annotated[str, StringConstraints(pattern=r"^([0-9]{1,7}(-[0-9]{1,7})?)?$")] = ""


class Written(Clarify):
    """A question of an agent or a person, who know the code."""

    consequences: Annotated[list[Annotated[str, Line]], Field(max_length=OFFERED_MAX)] = []
    evidence: Annotated[list[EvidencePlace], Field(max_length=EVIDENCE_MAX)] = []


class PatchField(_ClarificationAnswerPart):
    """One value, in the person's words."""

    name: Annotated[str, Short]
    value: Annotated[str, StringConstraints(min_length=1, max_length=2000)]


class Alternative(_ClarificationAnswerPart):
    """What was not chosen, and why."""

    name: Annotated[str, Short]
    why_not: Annotated[str, Line]


class Decide(_ClarificationAnswerPart):
    """What was decided, by the person, and why as the model sees it."""

    category: Annotated[str, Short]
    fields: list[PatchField]
    because: Annotated[str, Line] | None = None
    consequences: Annotated[list[Annotated[str, Line]], Field(max_length=OFFERED_MAX)] = []
    alternatives: Annotated[list[Alternative], Field(max_length=OFFERED_MAX)] = []
    paths: Annotated[list[Annotated[str, Line]], Field(max_length=OFFERED_MAX)] = []


CLARIFY = Contract(
    name="clarify", version=1, model=Clarify, unknown="drop", failure=False, policy=POLICY
)
WRITTEN = Contract(
    name="written", version=1, model=Written, unknown="refuse", failure=False, policy=POLICY
)
DECIDE = Contract(
    name="decide", version=1, model=Decide, unknown="drop", failure=False, code=False, policy=POLICY
)
CONTRACTS = {contract.id: contract for contract in (CLARIFY, WRITTEN, DECIDE)}
"""By the id that a request names."""
