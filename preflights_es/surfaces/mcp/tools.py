"""The tools that concern sessions of any workflow."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short
from preflights_es.kernel.text import shortened
from preflights_es.surfaces.mcp.call import Call
from preflights_es.surfaces.mcp.decided import Decided, Wanted, decisions
from preflights_es.surfaces.mcp.rounds import Came, accepted, asked, mine, shown
from preflights_es.surfaces.mcp.standing import Standing, standing
from preflights_es.surfaces.mcp.tool import Arguments, Given, Tool
from preflights_es.use import sessions
from preflights_es.use.request import Request
from preflights_es.use.results import Session

ROWS_MAX: Final = 20  # values of one `why`
CATEGORY: Final = "Category"  # a value that says nothing beside the others
TEXT_MAX: Final = 600  # characters of one text of a `why`

# 1. Deciding ---------------------------------------------------------------------------------


class AnswerGiven(Arguments, frozen=True):
    """Of `answer`."""

    session: str
    answer: Annotated[str, msgspec.Meta(description="empty: ask the person in a form")] = ""
    relayed: Annotated[bool, msgspec.Meta(description="true: the person's own words")] = False


async def _answer(call: Call, given: AnswerGiven) -> Came:
    if call.round is not None or not given.answer:
        at = call.round.session if call.round is not None else given.session
        return await asked(call, await call.run(lambda request: shown(request, at)))

    def answered(request: Request) -> Session:
        handle = mine(request, given.session)
        if not handle.view.questions:
            message = f"session {short(handle.session_id)} asks nothing: show says how it stands"
            raise Refused(message, code="nothing_asked")
        said = [("", (given.answer,))]
        return sessions.answer(request, handle.session_id, said, relays=given.relayed)

    return standing(await call.run(answered))


class Named(Arguments, frozen=True):
    """Of tools that take a session."""

    session: str


async def _accept(call: Call, given: Named) -> Came:
    return await accepted(call, given.session)


# 2. Looking ----------------------------------------------------------------------------------


class Asked(Arguments, frozen=True):
    """Of `why`."""

    what: Annotated[str, msgspec.Meta(description="a session, ADR-0007 or a field")]


class Reasons(Given, frozen=True, kw_only=True):
    """Where values came from: question, answer, person, model, reasons."""

    values: list[dict[str, Any]]
    more: int = 0


async def _why(call: Call, given: Asked) -> Reasons:
    def told(request: Request) -> Reasons:
        from preflights_es.use.why import why

        if request.knows(given.what):
            mine(request, given.what)
        whys = why(request, given.what)[0]
        fields = [one for one in whys.values if one.field != CATEGORY]
        found = [*(fields or whys.values), *whys.artifacts, *whys.sessions]
        kept = [_compact(msgspec.to_builtins(one)) for one in found[:ROWS_MAX]]
        return Reasons(values=kept, more=max(len(found) - ROWS_MAX, 0))

    return await call.run(told)


def _compact(value: Any) -> Any:
    """The same without what says nothing to an agent, and with long texts cut."""
    if isinstance(value, dict):
        return {
            name: _compact(one)
            for name, one in value.items()
            if one is not None and one not in ("", [], (), {}) and name != "hash"
        }
    if isinstance(value, list | tuple):
        return [_compact(one) for one in value]
    return shortened(value, TEXT_MAX) if isinstance(value, str) else value


class Task(Arguments, frozen=True):
    """Of `brief`."""

    task: str = ""


class Brief(Given, frozen=True, kw_only=True):
    """The brief."""

    brief: str


async def _brief(call: Call, given: Task) -> Brief:
    return Brief(brief=await call.run(lambda request: brief_of(request, given.task)))


def brief_of(request: Request, task: str = "") -> str:
    """What an agent has to know of the project, in fewer than 500 tokens."""
    from preflights_es.use.brief import brief

    return brief(request, task).prompt


async def _show(call: Call, given: Named) -> Standing:
    return standing(await call.run(lambda request: shown(request, given.session)))


TOOLS: Final = (
    Tool(
        name="answer",
        description="Answer the open question of a session, or have the person asked again.",
        takes=AnswerGiven,
        gives=Standing,
        run=_answer,
    ),
    Tool(
        name="accept",
        description="Propose the decision of a session. A person makes it final.",
        takes=Named,
        gives=Standing,
        run=_accept,
        repeats=True,
    ),
    Tool(
        name="decisions",
        description="Decisions in force, newest first. Look here before you choose anything.",
        takes=Wanted,
        gives=Decided,
        run=decisions,
        reads=True,
    ),
    Tool(
        name="why",
        description="Where a decided value came from: question, answer, person, reasons.",
        takes=Asked,
        gives=Reasons,
        run=_why,
        reads=True,
    ),
    Tool(
        name="brief",
        description="All that is in force, proposed or open, in short.",
        takes=Task,
        gives=Brief,
        run=_brief,
        reads=True,
    ),
    Tool(
        name="show",
        description="How a session stands, and what to do next.",
        takes=Named,
        gives=Standing,
        run=_show,
        reads=True,
    ),
)
