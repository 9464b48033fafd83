"""What a file of sessions changes of those that are held here, found before any of it is taken.

A hash chain proves that nothing was changed since it was hashed. It does not prove who wrote a
session's last events: everyone who holds a copy can write more of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from preflights_es.kernel import session as kernel
from preflights_es.kernel.artifacts import Related, Relations
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short
from preflights_es.kernel.ports import Archive, Stored
from preflights_es.kernel.session import Session, Workflow
from preflights_es.kernel.text import NAME_MAX, one_line, shortened
from preflights_es.runtime.runner import Handle, Runner

Side = Literal["supersedes", "superseded_by", "kept"]

TITLE_MAX: Final = 200  # characters that are held of a title: it is shown on one line
ID_MAX: Final = 36  # characters of an id; a file may have anything in its place
SAYS: Final[dict[Side, str]] = {
    "supersedes": "supersedes",
    "superseded_by": "is superseded by",
    "kept": "is kept beside",
}
SAID_MAX: Final = 20  # kinds of Inputs that are held of a session: a tail may have a million


class Said(msgspec.Struct, frozen=True):
    """Inputs of one type by one actor."""

    type: str
    actor_kind: str
    actor_name: str
    """The name in the events; it is not verified."""
    events: int


class SessionChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a file does to one session that is held here."""

    session_id: str
    project: str
    title: str
    version: int
    """The version of the last event here."""
    new_events: int
    said: tuple[Said, ...]
    """The Inputs among the new events, `SAID_MAX` kinds of them at most."""
    status_before: str
    status_after: str
    closes: bool
    """Whether it takes no answers any more."""
    erases: bool
    superseded_by: str | None
    """The session that takes its place; null where that does not change."""


class Review(msgspec.Struct, frozen=True):
    """What a file changes here, the gravest first."""

    changes: tuple[SessionChange, ...] = ()
    warnings: tuple[str, ...] = ()
    """What its new sessions say of others, and those do not say."""

    @property
    def extended(self) -> tuple[SessionChange, ...]:
        """Those that go on, and are not erased."""
        return tuple(one for one in self.changes if not one.erases)

    @property
    def erased(self) -> tuple[SessionChange, ...]:
        """Those that are erased."""
        return tuple(one for one in self.changes if one.erases)


class Outline(msgspec.Struct, frozen=True):
    """What has to be held of a session that the file brings, and that is related to others."""

    relations: Relations
    is_new: bool
    """Whether nothing of it is here."""


def said_by(event: Stored) -> tuple[str, str] | None:
    """Kind and name of the actor of an Input; None for a Decision and where they are gone."""
    if event.input_id is None or event.data is None:
        return None
    try:
        actor = _actors.decode(event.data).actor
    except (ValueError, RecursionError):
        return event.actor_kind or "", ""
    return actor.kind, shortened(actor.name, NAME_MAX)


class _Actor(msgspec.Struct, frozen=True):
    kind: str = ""
    name: str = ""


class _Acted(msgspec.Struct, frozen=True):
    actor: _Actor = _Actor()


_actors: Final = msgspec.json.Decoder(_Acted)


def relations_of(workflow: Workflow[Any], session: Session[Any]) -> Relations | None:
    """What a session says of others; None where it says nothing."""
    if workflow.related is None:
        return None
    found = workflow.related(session.state)
    return found if found != Relations() else None


class Reviewing:
    """Holds the sessions of a file against those that are here."""

    def __init__(self, runner: Runner, archive: Archive) -> None:
        self._runner = runner
        self._archive = archive

    def change(self, events: Sequence[Stored]) -> SessionChange | None:
        """What the tail of a session does; None where it has none any more.

        Args:
            events: of the whole session, in the file.
        """
        before = self._runner.load(events[0].session_id)
        tail = events[before.version :]
        if not tail:
            return None
        workflow = before.workflow
        after = self._runner.folded(workflow, events)
        was = self._relations(before).superseded_by
        now = (relations_of(workflow, after) or Relations()).superseded_by
        counts = Counter((one.type, *actor) for one in tail if (actor := said_by(one)))
        return SessionChange(
            session_id=before.session_id,
            project=before.project,
            title=_title(before),
            version=before.version,
            new_events=len(tail),
            said=tuple(Said(*who, n) for who, n in counts.most_common(SAID_MAX)),
            status_before=kernel.status(workflow, before.session),
            status_after=kernel.status(workflow, after),
            closes=_is_closed(workflow, after) and not _is_closed(workflow, before.session),
            erases=after.closed == "erased" != before.session.closed,
            superseded_by=shortened(self._id(now), ID_MAX) if now and now != was else None,
        )

    # Relations ---------------------------------------------------------------------------------

    def one_sided(self, file: Mapping[str, Outline], erased: Collection[str]) -> Iterator[str]:
        """Warnings: what new sessions say of others, and those do not say.

        Args:
            file: the sessions that it brings something of and that are related to others, by id.
            erased: ids of the sessions that are erased in the file.

        Raises:
            Refused: a session that is held here would be superseded or kept beside another one, and
                only one side says so, or it does not say by which session.
        """
        for session_id, outline in file.items():
            now = outline.relations
            before = Relations() if outline.is_new else self._held(session_id) or Relations()
            known = [*_claims(before)]
            for named, back in (claim for claim in _claims(now) if claim not in known):
                other = self._id(named)
                if other in erased and self._archive.head(session_id) is not None:
                    yield (
                        f"{short(other)} is erased in the file: it cannot say whether it "
                        f"{SAYS[back]} {short(session_id)}"
                    )
                if other in erased:
                    continue
                theirs = file[other].relations if other in file else self._held(other)
                if theirs is None or session_id in map(self._id, _said(theirs, back)):
                    continue
                if back == "superseded_by" and theirs.superseded_by is not None:
                    first = short(self._id(theirs.superseded_by))
                    new, former = short(session_id), short(other)
                    yield f"{first} and {new} both supersede {former}: both are in force"
                    continue
                yield self._claim(session_id, other, back)

    def _claim(self, by: str, silent: str, back: Side) -> str:
        """What only one of two says.

        Args:
            by: the session of the file that says it.
            silent: the other one, which should say `back`; empty where it is not named.

        Raises:
            Refused: a decision that is held here would be out of force, or kept beside another.
        """
        first, second = (silent, by) if back == "supersedes" else (by, silent)
        if not silent:
            claim = f"the file does not name the other session that {short(by)} is related to"
        else:
            says = "is kept beside" if back == "kept" else "supersedes"
            claim = (
                f"the file says that {short(first)} {says} {short(second)}, and "
                f"{short(silent)} does not say so, neither here nor in the file"
            )
        touched = (first, second) if back == "kept" else (second,)
        if any(self._archive.head(one) is not None for one in touched if one):
            raise Refused(claim, code="other_session_missing", session=by, why=claim)
        return claim

    def _held(self, session_id: str) -> Relations | None:
        """What a session says here; None where it was erased, and cannot say anything."""
        if self._archive.head(session_id) is None:
            return Relations()
        handle = self._runner.load(session_id)
        return None if handle.session.closed == "erased" else self._relations(handle)

    def _relations(self, handle: Handle) -> Relations:
        return relations_of(handle.workflow, handle.session) or Relations()

    def _id(self, related: Related | None) -> str:
        """The session that is meant: by its id, or by the name of its decision in old logs."""
        if related is None or related.session_id:
            return related.session_id if related else ""
        return next(iter(self._archive.matching(related.uid)), related.uid)


def _claims(said: Relations) -> Iterator[tuple[Related, Side]]:
    """Sessions that one names, each with what that one has to say of it."""
    if said.superseded_by is not None:
        yield said.superseded_by, "supersedes"
    for one in said.supersedes:
        yield one, "superseded_by"
    for one in said.kept:
        yield one, "kept"


def _said(of: Relations, side: Side) -> tuple[Related, ...]:
    """The sessions that it names in one respect."""
    if side == "superseded_by":
        return () if of.superseded_by is None else (of.superseded_by,)
    return of.supersedes if side == "supersedes" else of.kept


def _is_closed(workflow: Workflow[Any], session: Session[Any]) -> bool:
    return bool(session.closed) or workflow.is_terminal(session.state)


def _title(handle: Handle) -> str:
    if handle.session.closed == "erased":
        return ""
    return shortened(one_line(handle.view.intention), TITLE_MAX)
