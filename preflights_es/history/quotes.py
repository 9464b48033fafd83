"""What sessions say of each other, in words that an erasure of one does not reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from preflights_es.kernel.errors import PreflightsError, SessionFaulted
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Head, Stored
from preflights_es.kernel.session import Session
from preflights_es.kernel.source import How, Quoted, has_sources, sources
from preflights_es.runtime.runner import Runner


class Quote(msgspec.Struct, frozen=True):
    """A session that holds words of another one."""

    session_id: str
    """Whose log holds them."""
    quoted: str
    """The session whose words they are."""
    how: How
    documents: tuple[str, ...] = ()
    """Paths of the quoting session's documents on this disk that name the other one."""


class Quotes(msgspec.Struct, frozen=True):
    """All that could be found."""

    found: tuple[Quote, ...]
    unread: tuple[str, ...]
    """Sessions that could not be looked at: damaged, of a newer version or an absent workflow."""


def quotes_of(runner: Runner, project: str, quoted: Collection[str]) -> Quotes:
    """The sessions of a project that quote others of it.

    Args:
        quoted: ids of those others.
    """
    of_uid = {decision_uid(session_id): session_id for session_id in quoted}
    found: dict[Quote, None] = {}
    unread: list[str] = []
    for head in runner.store.heads(project):
        try:
            held = () if head.session_id in quoted else tuple(_held(runner, head))
        except PreflightsError:
            unread.append(head.session_id)
            continue
        for one in held:
            named = of_uid.get(one.session_id, one.session_id)
            if named in quoted:
                found[Quote(head.session_id, named, one.how)] = None
    return Quotes(tuple(found), tuple(unread))


def _held(runner: Runner, head: Head) -> Iterator[Quoted]:
    """What the Inputs of a session name of others."""
    workflow = runner.workflow(head.workflow)
    classes = {cls.tag: cls for cls in workflow.events}
    quotes = workflow.quotes or (lambda _: ())
    for one in runner.store.read(head.session_id):
        cls = classes.get(one.type)
        may_name = workflow.quotes is not None or cls is None or has_sources(cls)
        if one.input_id is None or one.data is None or not may_name:
            continue
        event = runner.codec(workflow).decode(one)
        named = quotes(event)
        yield from named
        known = {quoted.session_id for quoted in named}
        for source in sources(event):
            if source.session_id not in known:
                yield Quoted("known" if one.version == 1 else "named", source.session_id)


def folded_so_far(runner: Runner, stored: Sequence[Stored]) -> Session[Any]:
    """A session as far as it can be folded: a bug holds no erasure up."""
    workflow = runner.workflow_or_opaque(stored[0].workflow)
    try:
        return runner.folded(workflow, stored)
    except SessionFaulted as fault:
        return runner.folded(workflow, stored[: fault.version - 1])
