"""An answer as services return it: `answer/1` (docs/api.md)."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from preflights_es.features.metrics.domain.events import NotTaken
from preflights_es.features.metrics.domain.views import AnswerView
from preflights_es.kernel.events import Decision
from preflights_es.kernel.questions import AnswerRefusal
from preflights_es.runtime.runner import Handle
from preflights_es.use.results import NOT_EXPECTED, Result, Session, answer_refused

_REFUSED: Final = {
    "unknown_question": "is no open question of this session",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "several_values": "takes one value: put quotes around words that belong together",
}
_NOT_TAKEN: Final = {
    "question_open": "a question is open: answer it first",
    "asking": "the model has not answered yet",
    "not_expected": NOT_EXPECTED,
    "blank": "the follow-up is empty",
}


class Ran(Result, frozen=True):
    """The rows of a query; values are as JSON has them, others as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    """Whether there are more than the limit."""


class Answer(Session, frozen=True, kw_only=True):
    """`answer/1`."""

    FORMAT = "answer/1"

    intention: str
    type: str
    sql: str
    """One statement, as it may be run; empty where there is none."""
    candidates: tuple[str, ...]
    text: str
    calls: int
    sentence: str = ""
    """What the query brings, made from the query; empty where there is none."""
    not_in_query: tuple[str, ...] = ()
    """Words of the question without a counterpart in a model's query."""
    result: Ran | None = None
    """What the query brought, where it was run."""

    @property
    def failed(self) -> bool:
        return self.status == "stopped"

    @classmethod
    def more(cls, handle: Handle) -> dict[str, Any]:
        view = handle.view
        assert isinstance(view, AnswerView), "the caller checked the workflow"
        return {"sql": shown_sql(handle, view.sql), "result": None, **_told(handle, view.sql)}

    @classmethod
    def refusal(cls, decision: Decision) -> tuple[str, str]:
        if isinstance(decision, NotTaken):
            return decision.reason, _NOT_TAKEN[decision.reason]
        assert isinstance(decision, AnswerRefusal), "the only other refusal"
        return decision.reason, answer_refused(decision, _REFUSED[decision.reason])


def _told(handle: Handle, sql: str) -> dict[str, Any]:
    """What a query says, and what of the question it lacks."""
    from preflights_es.features.metrics.domain.sql_check import NoExtra, findings

    state = handle.session.state
    catalogue = state.catalogue
    if not sql or catalogue is None:
        return {}
    try:
        if findings(sql, catalogue.dialect, catalogue.tables):
            return {}
    except NoExtra:
        return {}
    from preflights_es.features.metrics.use.sentence import sentence
    from preflights_es.features.metrics.use.unused_words import unused

    by_rules = state.led.lead is not None and state.led.lead.provider == "mock"
    said = [one.content for one in state.led.said if one.role == "user"]
    left = () if by_rules else unused(said, sql, catalogue, state.matched, _day(state.asked_at))
    return {"sentence": sentence(sql, catalogue, state.language), "not_in_query": left}


def _day(asked_at: str) -> date | None:
    try:
        return date.fromisoformat(asked_at[: len("2026-11-22")])
    except ValueError:  # a log of other hands
        return None


def shown_sql(handle: Handle, sql: str) -> str:
    """The query as one clean statement; as it is recorded where SQL cannot be read here."""
    from preflights_es.features.metrics.domain.sql_check import NoExtra, findings, rendered

    catalogue = handle.session.state.catalogue
    if not sql or catalogue is None:
        return sql
    try:
        # A log of other hands may hold what no check has seen: then it is shown as it is.
        return (
            sql
            if findings(sql, catalogue.dialect, catalogue.tables)
            else rendered(sql, catalogue.dialect)
        )
    except NoExtra:
        return sql


SESSION: Final = Answer
