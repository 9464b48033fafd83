"""What sessions say of each other, in words that an erasure of one does not reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

import msgspec

from preflights_es.core.errors import PreflightsError
from preflights_es.core.ports import Head
from preflights_es.runtime.runner import Runner
from preflights_es.workflows.clarification.events import DecisionSuperseded, IntentionDeclared

QUOTING = (IntentionDeclared.tag, DecisionSuperseded.tag)


class Quote(msgspec.Struct, frozen=True):
    """A session that holds words of another one."""

    session_id: str
    """Whose log holds them."""
    quoted: str
    """The session whose words they are."""
    how: Literal["known", "supersedes", "superseded_by"]
    """`known`: its title and what it decided, as a model was told of them."""
    documents: tuple[str, ...] = ()
    """Paths of the quoting session's documents on this disk that name the other one."""


class Quotes(msgspec.Struct, frozen=True):
    """All that could be found."""

    found: tuple[Quote, ...]
    unread: tuple[str, ...]
    """Sessions that could not be looked at: damaged, or of a newer version."""


def quotes_of(runner: Runner, project: str, titles: Mapping[str, str]) -> Quotes:
    """The sessions of a project that quote others of it.

    Args:
        titles: of those others, by session id.
    """
    found: list[Quote] = []
    unread: list[str] = []
    for head in runner.store.heads(project):
        if head.session_id in titles:
            continue
        try:
            found += dict.fromkeys(_in(runner, head, titles))
        except PreflightsError:
            unread.append(head.session_id)
    return Quotes(tuple(found), tuple(unread))


def _in(runner: Runner, head: Head, titles: Mapping[str, str]) -> Iterator[Quote]:
    for one in runner.store.read(head.session_id):
        if one.type not in QUOTING or one.data is None:
            continue
        match runner.codec(runner.workflow(head.workflow)).decode(one):
            case IntentionDeclared(known=known, supersedes=former):
                told = {decision.title for decision in known}
                for session_id, title in titles.items():
                    if title in told:
                        yield Quote(head.session_id, session_id, "known")
                if former is not None and _is_one(former.session_id, titles):
                    yield Quote(head.session_id, former.session_id, "supersedes")
            case DecisionSuperseded(by=by) if _is_one(by.session_id, titles):
                yield Quote(head.session_id, by.session_id, "superseded_by")


def _is_one(session_id: str, titles: Collection[str]) -> bool:
    return bool(session_id) and session_id in titles
