"""What the services return, as typed values; `--json` prints the same fields in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from preflights_es.core.artifacts import Related
from preflights_es.core.decision_record import Decided, Origin
from preflights_es.core.events import Actor, Decision
from preflights_es.core.questions import AnswerRefusal, Refusal
from preflights_es.core.times import iso, iso_or_none
from preflights_es.core.views import Question, View
from preflights_es.runtime.runner import Handle, Step

if TYPE_CHECKING:
    from preflights_es.projections.decisions import Decision as Patch


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Root of the results."""


class RefusedAnswer(Result, frozen=True):
    """An answer that was recorded and does not count; the question is still open."""

    key: str
    code: str
    """As in `core.questions.RefusalReason`."""
    expected: tuple[str, ...] = ()
    """Keys that would be taken, where the key was the trouble."""


class Session(Result, frozen=True):
    """A session as it stands after a call."""

    session_id: str
    workflow: str
    project: str
    version: int
    """How many events it has."""
    status: str
    intention: str
    questions: tuple[Question, ...]
    """What is asked, the first of them now."""
    progress: float
    to_do: str
    """What a person has to do next, in a few words; empty where nothing waits for a person."""
    can_accept: bool
    refused: tuple[RefusedAnswer, ...]
    """Of the answers of this call."""
    not_done: bool
    """Whether something that this call asked for was not done."""
    warnings: tuple[str, ...]
    number: int | None
    """Of its record."""
    document: str | None
    """Path of its document, relative to the project's root."""
    view: View
    """All that its workflow shows of it, with the fields of its own."""

    @classmethod
    def of(cls, step: Step) -> Self:
        """The session of a step, and what the step refused."""
        handle, decisions = step.handle, step.decisions
        view, status = handle.view, handle.status
        is_open = not handle.session.closed and handle.session.undecided is None
        return cls(
            session_id=handle.session_id,
            workflow=handle.workflow.name,
            project=handle.project,
            version=handle.version,
            status=status,
            intention=view.intention,
            questions=view.questions if is_open else (),
            progress=view.progress,
            to_do=view.to_do if is_open else "",
            can_accept=is_open and status != "waiting" and view.can_accept,
            refused=refused(decisions),
            not_done=any(isinstance(one, Refusal) for one in decisions),
            warnings=view.warnings,
            number=handle.workflow.number(handle.session.state),
            document=view.written.path if view.written else None,
            view=view,
        )


def session_of(handle: Handle) -> Session:
    """A session as it stands."""
    return Session.of(Step(handle, ()))


def refused(decisions: tuple[Decision, ...]) -> tuple[RefusedAnswer, ...]:
    """The answers that do not count."""
    return tuple(
        RefusedAnswer(key=one.key, code=one.reason, expected=one.expected)
        for one in decisions
        if isinstance(one, AnswerRefusal)
    )


class Who(Result, frozen=True):
    """Who said or did something; of the kind `model` where a provider's response said it."""

    kind: str
    name: str

    @classmethod
    def of(cls, actor: Actor | None) -> Who | None:
        """An actor; None of none."""
        return None if actor is None else cls(kind=actor.kind, name=actor.name)

    @classmethod
    def said(cls, origin: Origin) -> Who | None:
        """Who said a value."""
        return cls(kind="model", name="") if origin.source == "suggested" else cls.of(origin.by)


class Provenance(Result, frozen=True):
    """Where a decided value came from; numbers are versions of the session's events."""

    key: str
    field: str
    value: str
    source: str
    by: Who | None
    at: str
    version: int
    input: int
    asked: int | None
    response: int | None

    @classmethod
    def of(cls, origin: Origin) -> Self:
        """As a projection keeps it."""
        return cls(
            key=origin.key,
            field=origin.field,
            value=origin.value,
            source=origin.source,
            by=Who.said(origin),
            at=iso(origin.at),
            version=origin.version,
            input=origin.input,
            asked=origin.asked,
            response=origin.response,
        )


class DecisionRow(Result, frozen=True):
    """A patch and what became of it; times are ISO 8601, UTC."""

    session_id: str
    version: int
    uid: str
    title: str
    standing: str
    kind: str
    number: int | None
    category: str
    fields: tuple[tuple[str, str], ...]
    provenance: tuple[Provenance, ...]
    response: int | None
    proposed_at: str
    acknowledged_at: str | None
    acknowledged_by: Who | None
    relayed_by: Who | None
    accepted_at: str | None
    superseded_at: str | None
    supersedes: Related | None
    superseded_by: Related | None
    artifact: str | None
    sha256: str | None

    @classmethod
    def of(cls, one: Patch) -> Self:
        """As the projection `decisions` keeps it."""
        from preflights_es.projections.decisions import accepted_at

        decided: Decided = one.decided
        return cls(
            session_id=one.session_id,
            version=decided.version,
            uid=decided.uid,
            title=decided.title,
            standing=decided.standing,
            kind=decided.kind,
            number=decided.number,
            category=decided.category,
            fields=decided.fields,
            provenance=tuple(map(Provenance.of, decided.origins)),
            response=decided.response,
            proposed_at=iso(decided.proposed_at),
            acknowledged_at=iso_or_none(decided.acknowledged_at),
            acknowledged_by=Who.of(decided.acknowledged_by),
            relayed_by=Who.of(decided.relayed_by),
            accepted_at=iso_or_none(accepted_at(decided)),
            superseded_at=iso_or_none(decided.superseded_at),
            supersedes=decided.supersedes,
            superseded_by=decided.superseded_by,
            artifact=decided.written.path if decided.written else None,
            sha256=decided.written.sha256 if decided.written else None,
        )
