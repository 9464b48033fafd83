"""How a project stands: what waits in it (proposals, questions, notes to file, models to ask
again), and its brief, read off projections and cut to few tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from operator import attrgetter
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.ids import short_session
from preflights_es.records.project_brief import (
    BriefDecision,
    DecisionConflict,
    Open,
    UnclearRecord,
    compose_project_brief,
    list_decisions_in_force,
)
from preflights_es.records.record_list import record_files
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.runtime.runner import Step
from preflights_es.use.decisions import list_decisions, records_beside
from preflights_es.use.filed_sessions import FiledSession
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, Result, session_of
from preflights_es.use.turned_down import value_in
from preflights_es.words.decisions import OPEN_FIELD, Related, list_superseded
from preflights_es.words.language import canonical, collect_search_words, cut_word_beginnings
from preflights_es.words.signing import IN_SHORT
from preflights_es.words.workflow import View

LISTED: Final = 50  # sessions that an inbox names; the others are counted
CLOSED: Final = ("abandoned", "erased", "damaged")
"""Statuses of any workflow in which nothing waits; `audit verify` looks into damage."""
APART: Final = ("beyond", "diverged", "restored")
"""How session files compare with the log that a person has to look at."""
PROPOSED: Final = "proposed"
"""As `words.decisions.Standing` has it: a person confirms it."""

Kind = Literal["proposal", "question", "by_hand", "model", "faulted"]
"""What waits: a `proposal` to confirm, a `question` to answer, something to file `by_hand`, a
`model` to ask again, or a `faulted` session whose last Input has no Decision."""


class Waiting(Result, frozen=True):
    """A session that waits."""

    session_id: str
    workflow: str
    status: str
    kind: Kind
    intention: str
    to_do: str
    """What a person has to do, in a few words; empty of what waits for a model or a mend."""
    question: str | None
    """What is asked."""
    origin: str
    """Who asked it elsewhere, and what came of it; empty where it began here."""
    file: str | None = None
    """Path of the session file, where only that has the session."""


class Inbox(Result, frozen=True, tag_field="format", tag="inbox/1"):
    """All that waits in a project, newest first."""

    project: str
    waiting: tuple[Waiting, ...]
    more: int
    """Older sessions that may wait as well, and were not looked at."""
    files: tuple[FiledSession, ...] = ()
    """Session files in which a colleague went on, erased, or did otherwise."""


def inbox(request: Request, *, deciding: bool = False) -> Inbox:
    """What waits for a person, or for a model; also what only session files have.

    Args:
        deciding: only sessions of workflows that decide.
    """
    process = request.process
    found, log = _read_log_inbox(process, deciding=deciding), process.file_log
    files = [file for file in (*log.files.values(), *log.others) if file.compared in APART]
    filed = () if log.is_empty else _read_log_inbox(log, deciding=deciding).waiting
    new = (
        replace(one, file=file.path)
        for one in filed
        if (file := log.files[one.session_id]).compared == "new"
    )
    waiting = sorted((*found.waiting, *new), key=lambda one: one.session_id, reverse=True)
    return replace(found, waiting=tuple(waiting), files=tuple(files))


def _read_log_inbox(process: Process, *, deciding: bool = False) -> Inbox:
    found, more = _open_sessions(process, deciding=deciding)
    waiting = tuple(one for session in found if (one := waiting_of(session)) is not None)
    return Inbox(project=process.project, waiting=waiting, more=more)


def acceptable(request: Request) -> tuple[Waiting, ...]:
    """What can be accepted now, newest first."""
    return _those(request, lambda one: one.kind == "proposal")


def resumable(request: Request) -> tuple[Waiting, ...]:
    """What can go on, newest first: questions, models, faults, and what is ready to be accepted."""
    return _those(request, lambda one: one.kind != "by_hand" and one.status != PROPOSED)


def list_proposed_sessions(request: Request) -> list[View]:
    """What agents and scripts proposed, the oldest first: a person confirms it."""
    process = request.process
    found: list[View] = []
    for head, kept in process.projector.newest(process.project):
        status = kept["status"] if kept and kept["version"] == head.version else PROPOSED
        if status != PROPOSED:
            continue
        with suppress(PreflightsError):  # `sessions` and `audit verify` name what cannot be read
            found.append(session_of(Step(process.runner.load(head.session_id), ())))
    found = [one for one in found if one.status == PROPOSED and one.can_accept]
    return sorted(found, key=lambda one: one.session_id)


def _those(request: Request, is_meant: Callable[[Waiting], bool]) -> tuple[Waiting, ...]:
    found = _read_log_inbox(request.process)
    if found.more:
        message = f"more than {LISTED} sessions are open: name the one that you mean"
        raise Refused(message, code="too_many_wait")
    return tuple(filter(is_meant, found.waiting))


def waiting_of(session: View) -> Waiting | None:
    """What waits in a session; None where nothing does."""
    kind = _session_waiting_kind(session)
    if kind is None:
        return None
    return Waiting(
        session_id=session.session_id,
        workflow=session.workflow,
        status=session.status,
        kind=kind,
        intention=session.intention,
        to_do=session.to_do or ("confirm the proposal" if kind == "proposal" else ""),
        question=session.questions[0].question if session.questions else None,
        origin=session.origin,
    )


def _session_waiting_kind(session: View) -> Kind | None:
    if session.status == "waiting":
        return "model"
    if session.status == "faulted":
        return "faulted"
    if session.can_accept and (session.to_do or session.status == PROPOSED):
        return "proposal"
    if not session.to_do:
        return None
    return "question" if session.questions else "by_hand"


def _open_sessions(process: Process, *, deciding: bool) -> tuple[list[View], int]:
    """The newest sessions that are not settled, and how many older ones there are.

    Which are settled is read off the projection `sessions`, so that few sessions are folded.
    """
    found: list[View] = []
    more = 0
    for session_id in _unsettled(process, deciding=deciding):
        if len(found) == LISTED:
            more += 1
            continue
        try:
            found.append(session_of(Step(process.runner.load(session_id), ())))
        except PreflightsError:
            continue  # `sessions` and `audit verify` name what cannot be read
    return found, more


def _unsettled(process: Process, *, deciding: bool) -> Iterator[str]:
    for head, kept in process.projector.newest(process.project):
        status = kept["status"] if kept and kept["version"] == head.version else ""
        if status in CLOSED or (workflow := WORKFLOWS.get(head.workflow)) is None:
            continue
        is_left_out = deciding and workflow.filed.decided is None
        if status not in workflow.shown.settled and not is_left_out:
            yield head.session_id


PENDING: Final = ("ready", "proposed")
"""Standings of a patch that a person may still accept."""


OTHER: Final = "Other"
"""The category of what has no topic: it says nothing, and its values say nothing of each other."""


TOLD_MAX: Final = 100  # decisions that a brief may have room for: a line has five tokens or more
DAY: Final = 10  # characters of a date such as 2026-11-22


class ProjectBrief(Result, frozen=True, kw_only=True, tag_field="format", tag="brief/1"):
    """What a coding agent has to know of a project."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    near: int
    """How many of the decisions, the first ones, concern the task."""
    decisions: tuple[BriefDecision, ...]
    """In force, ours and those of other tools: those near the task, then the newest first."""
    conflicts: tuple[DecisionConflict, ...]
    """Newest first, as the other lists are."""
    unclear: tuple[UnclearRecord, ...]
    """Records of other tools whose status is not understood."""
    proposed: tuple[BriefDecision, ...]
    open: tuple[Open, ...]
    left_out: Mapping[str, int]
    """By list: how many more there are."""
    prompt: str
    """All of it, in fewer than 500 tokens."""


def compose_brief(request: Request, task: str = "") -> ProjectBrief:
    """The decisions in force, what collides, and what is proposed or open.

    Args:
        task: what the agent is about to do; decisions that concern it come first, with reasons.
    """
    waiting = inbox(request, deciding=True)
    rows = _list_newest_decisions(request)
    accepted = [row for row in rows if row.standing == "accepted"]
    foreign, unclear = _foreign_records_in_force(request, rows)
    others, clashes = _parted([*accepted, *foreign])
    in_force, near, count = _select_brief_decisions(request, others, rows, task)
    in_conflict = [_conflict(place) for place in clashes]
    proposed = [_quote_decision_row(row) for row in rows if row.standing in PENDING]
    asked = [
        Open(short_session(one.session_id), one.intention, one.question)
        for one in waiting.waiting
        if one.question is not None
    ]
    found = compose_project_brief(
        in_force,
        in_conflict,
        proposed,
        asked,
        total=count,
        more_open=waiting.more,
        near=near,
        unclear=unclear,
    )
    return ProjectBrief(
        project=request.process.project,
        behind=bool(request.process.projector.behind),
        near=min(near, found.decisions),
        decisions=tuple(in_force[: found.decisions]),
        conflicts=tuple(in_conflict[: found.conflicts]),
        unclear=unclear[: found.unclear],
        proposed=tuple(proposed[: found.proposed]),
        open=tuple(asked[: found.open]),
        left_out={
            "decisions": count - found.decisions,
            "conflicts": len(in_conflict) - found.conflicts,
            "unclear": len(unclear) - found.unclear,
            "proposed": len(proposed) - found.proposed,
            "open": len(asked) + waiting.more - found.open,
        },
        prompt=found.text,
    )


def list_decisions_beside_session(request: Request, session_id: str, task: str, room: float) -> str:
    """The decisions in force for the brief of a session, without its own, and what collides.

    Empty without any.

    Args:
        task: what the session is about.
        room: estimated tokens that they may have.
    """
    rows = _list_newest_decisions(request)
    accepted = [row for row in rows if row.standing == "accepted"]
    others, clashes = _parted([*accepted, *_foreign_records_in_force(request, rows)[0]])
    others = [r for r in others if r.session_id != session_id]
    found, near, count = _select_brief_decisions(request, others, rows, task)
    if not (found or clashes):
        return ""
    conflicts = [*map(_conflict, clashes)]
    return list_decisions_in_force(found, count, room, near, conflicts=conflicts)[0]


def _list_newest_decisions(request: Request) -> list[DecisionRow]:
    rows = list_decisions(request, everything=True)
    return sorted(rows, key=attrgetter("moved_at"), reverse=True)


def _parted(
    in_force: Sequence[DecisionRow | ForeignRow],
) -> tuple[list[DecisionRow | ForeignRow], list[list[_Valued]]]:
    """What is in force without what collides, and that."""
    clashes = [*colliding(in_force)]
    apart = {one.row.uid for place in clashes for one in place}
    return [row for row in in_force if row.uid not in apart], clashes


def _select_brief_decisions(
    request: Request,
    holding: Iterable[DecisionRow | ForeignRow],
    rows: Iterable[DecisionRow],
    task: str,
) -> tuple[list[BriefDecision], int, int]:
    """The decisions and records in force that a brief may tell, those near a task first.

    Also how many of them are near, and how many are in force.

    Args:
        rows: all decisions, also those that were superseded.
    """
    found = {row.uid: row for row in holding}
    order: dict[str, int] = {}
    if found and task.strip():
        order = FEATURES.port("ranks")(request, task, is_task=True)
    first = [found[uid] for uid in sorted(order.keys() & found.keys(), key=order.__getitem__)]
    others = [one for uid, one in found.items() if uid not in order]
    chosen = [*first, *sorted(others, key=_brief_row_day, reverse=True)][:TOLD_MAX]
    by_uid = {row.uid: row for row in rows if row.standing in ("accepted", "superseded")}
    made = [
        _quote_foreign_row(row) if isinstance(row, ForeignRow) else _quote_decision_row(row, by_uid)
        for row in chosen
    ]
    return made, min(len(first), TOLD_MAX), len(found)


def _brief_row_day(row: DecisionRow | ForeignRow) -> str:
    return (row.date if isinstance(row, ForeignRow) else row.moved_at)[:DAY]


def _foreign_records_in_force(
    request: Request, rows: Iterable[DecisionRow]
) -> tuple[tuple[ForeignRow, ...], tuple[UnclearRecord, ...]]:
    """Records of other tools in force, and those whose status is not understood.

    They are read only where a file lies there that no session here wrote.
    """
    process = request.process
    there = record_files(process.settings.root, process.record_places.folders)
    if {file.path for file in there} <= {row.artifact for row in rows}:
        return (), ()
    found = records_beside(request, everything=False)
    unknown = (row for row in found.doubtful if row.status == "unknown")
    return (
        tuple(sorted(found.rows, key=lambda row: row.path, reverse=True)),
        tuple(UnclearRecord(row.path, row.title, row.status_text) for row in unknown),
    )


def _quote_foreign_row(row: ForeignRow) -> BriefDecision:
    is_known = row.value and (row.scope or row.category)
    # A number that only the title has may be another record's.
    is_numbered = is_known and str(row.number or "-") in row.path.rpartition("/")[2]
    return BriefDecision(
        name=f"ADR-{row.number}" if is_numbered else row.path,
        title=row.title,
        category=row.category,
        scope=row.scope,
        fields=(("", row.value),) if row.value else (),
        date=row.date,
        path=row.path,
        tool=row.tool,
    )


def _brief_decision_name(number: int | None, uid: str) -> str:
    return short_session(uid) if number is None else f"ADR-{number}"


def _beside_name(one: Related) -> str:
    return _brief_decision_name(one.number, one.uid) if one.uid else one.path or one.title


def _quote_decision_row(
    row: DecisionRow, by_uid: Mapping[str, DecisionRow] = MappingProxyType({})
) -> BriefDecision:
    return BriefDecision(
        name=_brief_decision_name(row.number, row.uid),
        title=row.title,
        category="" if row.category == OTHER else row.category,
        scope=row.scope,
        fields=row.fields,
        because=row.reason,
        excludes=tuple(dict.fromkeys(_excluded(row, by_uid))),
        beside=tuple((_beside_name(one.related), one.reason) for one in row.kept),
        date=_brief_row_day(row),
        path=row.artifact or "",
        file=row.file or "",
        signature=IN_SHORT[row.signature.verdict] if row.signature else "",
    )


def _excluded(row: DecisionRow, by_uid: Mapping[str, DecisionRow]) -> Iterable[str]:
    """What it was chosen over, and the values that it replaced."""
    yield from (one.name for one in row.alternatives)
    for replaced in list_superseded(row):
        former = by_uid.get(replaced.uid)
        if former is None:  # of another tool or clone, or erased
            value = value_in(replaced.title)
            if value and canonical(value) not in (canonical(own) for _, own in row.fields):
                yield value
            continue
        yield from (value for name, value in former.fields if (name, value) not in row.fields)


class _Valued(NamedTuple):
    """A value of a decision or a record, and where it stands."""

    row: DecisionRow | ForeignRow
    category: str
    field: str
    scope: str
    value: str

    @property
    def name(self) -> str:
        if isinstance(self.row, ForeignRow):
            return self.row.path
        return _brief_decision_name(self.row.number, self.row.uid) + (
            " (file)" if self.row.file else ""
        )


def conflicts(rows: Iterable[DecisionRow | ForeignRow]) -> Iterator[DecisionConflict]:
    """What has two values in force at one place, which no person kept on purpose."""
    yield from map(_conflict, colliding(rows))


def _conflict(place: Sequence[_Valued]) -> DecisionConflict:
    first = next((one for one in place if one.field), place[0])
    named = tuple((one.value, one.name) for one in place)
    return DecisionConflict(first.category, first.scope, first.field, named)


def colliding(rows: Iterable[DecisionRow | ForeignRow]) -> Iterator[list[_Valued]]:
    """The same, with one decision or record for each value."""
    alike: dict[tuple[str, str, frozenset[str]], list[_Valued]] = {}
    for row in rows:
        begin = cut_word_beginnings(row.scope) if row.scope else frozenset[str]()
        for (category, field), said in _valued(row):
            alike.setdefault((category, field, begin), []).append(said)
    for (_, key, _), having in alike.items():
        for place in _group_values_by_scope(having, by_subject=not key) if len(having) > 1 else ():
            values: dict[str, _Valued] = {}
            for one in place:
                values.setdefault(canonical(one.value), one)
            differing = [*values.values()]
            if any(not _are_kept(one.row, other.row) for one, other in combinations(differing, 2)):
                yield differing


def _valued(row: DecisionRow | ForeignRow) -> Iterator[tuple[tuple[str, str], _Valued]]:
    """The values of a decision or a record, behind what two of one topic have in common."""
    fields = row.fields
    # A label of a person's own is no topic: it names no place.
    is_own = bool(fields) and fields[0][0] == OPEN_FIELD
    has_topic = row.category not in ("", OTHER) and not is_own
    for at, (field, value) in enumerate(fields):
        if has_topic:  # a record of another tool says what is first
            said = "" if isinstance(row, ForeignRow) else field
            key = row.category, f"{field if at else 1}"
            yield key, _Valued(row, row.category, said, row.scope, value=value)
        elif not at and (about := _subject_beside_value(row.title, value, row.scope)):
            yield ("", ""), _Valued(row, about, field="", scope=row.scope, value=value)


def _subject_beside_value(title: str, value: str, scope: str) -> str:
    """What a title says beside its value; empty where that is no more than what it is for.

    "Use Kotlin for the app" and "Use Koin for the app" do not contradict each other.
    """
    before, found, after = title.casefold().partition(value.casefold())
    about = " ".join(f"{before} {after}".split()) if found else ""
    return about if {*collect_search_words(about)} - {*collect_search_words(scope)} else ""


def _group_values_by_scope(
    having: Sequence[_Valued], *, by_subject: bool
) -> Iterable[list[_Valued]]:
    """Those of one scope together, and where no topic says it of one subject."""
    if len({one.scope for one in having}) == 1 and not by_subject:
        return [[*having]]
    same = FEATURES.port("places")
    scopes = same(dict.fromkeys(one.scope for one in having))
    subjects = same(dict.fromkeys(one.category for one in having)) if by_subject else {}
    places: dict[tuple[str, str], list[_Valued]] = {}
    for one in having:
        place = scopes[one.scope], subjects.get(one.category, "")
        places.setdefault(place, []).append(one)
    return places.values()


def _are_kept(one: DecisionRow | ForeignRow, other: DecisionRow | ForeignRow) -> bool:
    """Whether a person kept both, for a reason."""
    if isinstance(one, ForeignRow) or isinstance(other, ForeignRow):
        # No session says it of two records: what another tool wrote is left to its writers.
        own = [row for row in (one, other) if isinstance(row, DecisionRow)]
        records = [row for row in (one, other) if isinstance(row, ForeignRow)]
        return not own or _is_beside(own[0], records[0].path)
    return _is_beside(one, other.uid)


def _is_beside(one: DecisionRow, key: str) -> bool:
    return any(key in (beside.related.uid, beside.related.path) for beside in one.kept)
