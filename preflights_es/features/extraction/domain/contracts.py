"""What a model must answer that extracts (docs/specs/extraction.md, section 4).

Imports pydantic, and so is imported only where a response is judged.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from preflights_es.features.extraction.domain.events import (
    CONTENT_MAX,
    DURATION_MAX,
    ITEMS_MAX,
    POLICY,
    QUESTION_MAX,
    TITLE_MAX,
)
from preflights_es.judging.contract import Contract
from preflights_es.kernel.completions import Violation
from preflights_es.kernel.text import visible

_LINE = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0][^\x00-\x1f\x7f-\x9f]*$"
"""One line that is not blank."""

Title = Annotated[str, StringConstraints(min_length=1, max_length=TITLE_MAX, pattern=_LINE)]
Minutes = Annotated[int, Field(ge=1, le=DURATION_MAX)]
Clock = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
Day = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
Confidence = Annotated[float, Field(ge=0, le=1)]


def _absent() -> Any:
    """A property that may be absent; null is not absent, so its type is not widened."""
    return Field(default_factory=lambda: None)


class _ExtractionModel(BaseModel):
    # A newer contract may add properties: they are dropped, and kept in the log.
    model_config = ConfigDict(extra="ignore", frozen=True)


class TaskItem(_ExtractionModel):
    """Something to do."""

    type: Literal["task"]
    title: Title
    confidence: Confidence
    duration_min: Minutes = _absent()
    duration_max: Minutes = _absent()
    importance: Literal["low", "normal", "high"] = _absent()


class EventItem(_ExtractionModel):
    """Something at a time of day."""

    type: Literal["event"]
    title: Title
    confidence: Confidence
    start_time: Clock = _absent()
    end_time: Clock = _absent()
    date: Day = _absent()


class IdeaItem(_ExtractionModel):
    """Something to keep."""

    type: Literal["idea"]
    title: Title
    confidence: Confidence
    content: Annotated[str, StringConstraints(max_length=CONTENT_MAX)] = _absent()


class Asked(_ExtractionModel):
    """The one question."""

    question: Annotated[
        str, StringConstraints(min_length=1, max_length=QUESTION_MAX, pattern=_LINE)
    ]
    field: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{0,39}$")] = _absent()


AnyItem = Annotated[TaskItem | EventItem | IdeaItem, Field(discriminator="type")]


class Extraction(_ExtractionModel):
    """What a note holds."""

    items: Annotated[list[AnyItem], Field(max_length=ITEMS_MAX)]
    question: Asked = _absent()


def find_extraction_violations(payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What the schema cannot say of an extraction, whatever the session."""
    found = []
    if "question" in payload and not visible(payload["question"]["question"]):
        found.append(Violation("/question/question", "expected words"))
    for i, item in enumerate(payload["items"]):
        if not visible(item["title"]):
            found.append(Violation(f"/items/{i}/title", "expected words"))
        if "date" in item and not _is_day(item["date"]):
            found.append(Violation(f"/items/{i}/date", "expected a day that there is"))
        low, high = item.get("duration_min"), item.get("duration_max")
        if low is not None and high is not None and high < low:
            found.append(Violation(f"/items/{i}/duration_max", f"expected at least {low}"))
        if item["type"] == "event" and "start_time" not in item and "question" not in payload:
            message = "expected a time, or a question that asks it"
            found.append(Violation(f"/items/{i}/start_time", message))
    return tuple(found)


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


EXTRACTION = Contract(
    name="extraction",
    version=1,
    model=Extraction,
    prose="drop",
    unknown="drop",
    failure=False,
    code=False,
    checks=find_extraction_violations,
    policy=POLICY,
)
