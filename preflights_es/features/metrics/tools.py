"""Asking about data: the answer is one checked query, which is not run."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from preflights_es.features.metrics.domain.state import AnswerView
from preflights_es.features.metrics.use import follow_up, start_metrics
from preflights_es.kernel.ids import short_session
from preflights_es.surfaces.mcp_calls import ToolCall
from preflights_es.surfaces.mcp_rounds import Arguments, Tool, ToolResult, mine
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession


class AskArguments(Arguments, frozen=True):
    """Of `ask`."""

    question: str
    session: Annotated[str, Meta(description="of an earlier question, to go on with it")] = ""


class Query(ToolResult, frozen=True, kw_only=True):
    """A query, names to choose from, or a question back."""

    session: str
    sql: str = ""
    read_as: str = ""
    candidates: tuple[str, ...] = ()
    text: str = ""


async def _answer_data_question(call: ToolCall, given: AskArguments) -> Query:
    def asked(request: Request) -> Query:
        if given.session:
            found = follow_up(request, given.question, mine(request, given.session).session_id)
        else:
            found = start_metrics(request, NewSession(given.question))
        assert isinstance(found, AnswerView), "what a question about data comes to"
        id_ = short_session(found.session_id)
        return Query(
            session=id_,
            sql=found.sql,
            read_as=found.read_as,
            candidates=found.candidates,
            text=found.text,
            notices=(*found.warnings, *(one.message for one in found.refusals)),
        )

    return await call.run(asked)


TOOLS: Final = (
    Tool(
        name="ask",
        description="An SQL query about the log: METRIC by DIMENSION, last week.",
        run=_answer_data_question,
    ),
)
