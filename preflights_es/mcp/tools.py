"""The tools that concern sessions of any workflow."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import msgspec

from preflights_es.core.errors import Refused
from preflights_es.core.ids import short
from preflights_es.core.text import shortened
from preflights_es.core.times import EPOCH
from preflights_es.mcp.call import Call
from preflights_es.mcp.rounds import Came, accepted, asked, mine, shown
from preflights_es.mcp.standing import Standing, standing
from preflights_es.mcp.tool import Arguments, Given, Nothing, Tool
from preflights_es.services import sessions
from preflights_es.services.foreign_row import ForeignRow
from preflights_es.services.request import Request
from preflights_es.services.results import DecisionRow, Session

ROWS_MAX: Final = 20  # decisions of one result, and values of one `why`
TEXT_MAX: Final = 600  # characters of one text of a `why`
VALUE_MAX: Final = 200  # characters of one value in a list of decisions

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


class Wanted(Arguments, frozen=True):
    """Of `decisions`."""

    query: Annotated[str, msgspec.Meta(description="words they contain")] = ""
    topic: str = ""
    as_of: Annotated[str, msgspec.Meta(description="a day, 2026-11-23")] = ""


class DecisionTold(Given, frozen=True, kw_only=True):
    """A decision in a list."""

    name: str
    session: str
    title: str
    topic: str
    decided: dict[str, str]
    because: str = ""
    instead_of: tuple[str, ...] = ()
    by: str
    """Kind and name of the person, agent or script that accepted it."""
    date: str
    record: str = ""


class Decided(Given, frozen=True, kw_only=True):
    """What is in force, newest first."""

    decisions: tuple[DecisionTold, ...]
    more: int = 0
    """How many others match."""


async def _decisions(call: Call, given: Wanted) -> Decided:
    at = _end_of(given.as_of) if given.as_of else None

    def listed(request: Request) -> Decided:
        from preflights_es.services.decisions import listing

        found = listing(request, at=at)
        told = [*map(_told, found.rows), *map(_foreign, found.head.foreign)]
        told.sort(key=lambda one: one.date)  # of one day they stay in the order of the log
        topic = given.topic.strip().casefold()
        about = [one for one in reversed(told) if not topic or _is_about(one, topic)]
        kept = [one for one in about if not given.query or _has(one, given.query)]
        if told and not about:
            there = shortened(", ".join(sorted(set().union(*map(_topics, told)))), TEXT_MAX)
            text = f"no decision in force is about {given.topic!r}; they are about: {there}"
            request.notice("no_topic", text)
        if unread := len(found.lost) + found.more + len(found.unread):
            text = f"{unread} sessions or records cannot be read, and are left out"
            request.notice("left_out", text)
        newest = tuple(map(_short, kept[:ROWS_MAX]))
        return Decided(decisions=newest, more=max(len(kept) - ROWS_MAX, 0))

    return await call.run(listed)


def _told(row: DecisionRow) -> DecisionTold:
    by = row.acknowledged_by
    return DecisionTold(
        name=f"ADR-{row.number:04}" if row.number else short(row.uid),
        session=short(row.session_id),
        title=row.title,
        topic=row.category,
        decided=dict(row.fields),
        because=row.because.text if row.because else "",
        instead_of=tuple(one.name for one in row.alternatives),
        by=" ".join(filter(None, (by.kind, by.name))) if by else "",
        date=(row.accepted_at or row.proposed_at)[:10],
        record=row.artifact or "",
    )


def _foreign(row: ForeignRow) -> DecisionTold:
    """A record without a session: another tool or a person wrote it."""
    return DecisionTold(
        name=row.path,
        session="",
        title=row.title,
        topic="",
        decided={},
        by="a record of another tool",
        date=row.date,
        record=row.path,
    )


def _short(one: DecisionTold) -> DecisionTold:
    """A decision with long texts cut: `why` gives more of them."""
    decided = {name: shortened(value, VALUE_MAX) for name, value in one.decided.items()}
    because = shortened(one.because, VALUE_MAX)
    return msgspec.structs.replace(one, decided=decided, because=because)


def _is_about(one: DecisionTold, topic: str) -> bool:
    return topic in map(str.casefold, _topics(one))


def _topics(one: DecisionTold) -> set[str]:
    """Its category and fields: an agent's own topic names a field where it is no category."""
    return {name for name in (one.topic, *one.decided) if name}


def _has(one: DecisionTold, query: str) -> bool:
    text = " ".join(_texts(msgspec.to_builtins(one))).casefold()
    return all(word in text for word in query.casefold().split())


def _texts(value: Any) -> Iterable[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from _texts([*value.values()])
        case list():
            for one in value:
                yield from _texts(one)


def _end_of(day: str) -> int:
    """The last microsecond of a day, UTC.

    Raises:
        Refused: it is no day.
    """
    try:
        begins = datetime.strptime(day.strip(), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        message = f"as_of: {day!r} is no day: expected 2026-11-23"
        raise Refused(message, code="no_day") from error
    return (begins - EPOCH + timedelta(days=1)) // timedelta(microseconds=1) - 1


class Asked(Arguments, frozen=True):
    """Of `why`."""

    what: Annotated[str, msgspec.Meta(description="a session, ADR-0007 or a field")]


class Reasons(Given, frozen=True, kw_only=True):
    """Where values came from: question, answer, person, model, reasons."""

    values: list[dict[str, Any]]
    more: int = 0


async def _why(call: Call, given: Asked) -> Reasons:
    def told(request: Request) -> Reasons:
        from preflights_es.services.why import why

        if request.knows(given.what):
            mine(request, given.what)
        whys = why(request, given.what)[0]
        found = [*whys.values, *whys.artifacts, *whys.sessions]
        kept = [_compact(msgspec.to_builtins(one)) for one in found[:ROWS_MAX]]
        return Reasons(values=kept, more=max(len(found) - ROWS_MAX, 0))

    return await call.run(told)


def _compact(value: Any) -> Any:
    """The same without what says nothing, and with long texts cut."""
    if isinstance(value, dict):
        return {
            name: _compact(one)
            for name, one in value.items()
            if one is not None and one not in ("", [], (), {})
        }
    if isinstance(value, list | tuple):
        return [_compact(one) for one in value]
    return shortened(value, TEXT_MAX) if isinstance(value, str) else value


class Brief(Given, frozen=True, kw_only=True):
    """The brief."""

    brief: str


async def _brief(call: Call, _: Nothing) -> Brief:
    return Brief(brief=await call.run(brief_of))


def brief_of(request: Request) -> str:
    """What an agent has to know of the project, in fewer than 500 tokens."""
    from preflights_es.services.brief import brief

    return brief(request).prompt


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
        run=_decisions,
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
        takes=Nothing,
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
