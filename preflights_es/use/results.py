"""What the use cases return, as typed values; `--json` prints the same fields in the same order.

A session is returned as the `View` that its workflow makes, with what the house knows of it; on the
way a service tells how far it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final, Self, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import Notice
from preflights_es.kernel.events import Actor, Decision
from preflights_es.kernel.ids import decision_name, iso, iso_or_none
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.runner import AskedElsewhere, Handle, RecalledStep, Step
from preflights_es.words.decisions import (
    AttributedReason,
    DecidedPatch,
    Hold,
    KeptDecision,
    NotChosen,
    Origin,
    Related,
    named_instead,
)
from preflights_es.words.questions import AnswerRefusal, Question, Refusal
from preflights_es.words.signing import Signed
from preflights_es.words.workflow import Cost, NotDone, View

if TYPE_CHECKING:
    from preflights_es.projections.decisions import PatchRow


NOT_EXPECTED: Final = "it does not fit the session as it stands"
"""Of an Input that a workflow takes at another time, or never."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Root of the results."""


# 1. A session --------------------------------------------------------------------------------


def session_of(step: Step, notices: list[Notice] | None = None) -> View:
    """The session of a step, and what the step refused."""
    handle = step.handle
    view, status, closed = handle.view, handle.status, handle.session.closed
    is_open = not closed and handle.session.undecided is None
    asked = () if closed else view.questions
    found = replace(
        view,
        session_id=handle.session_id,
        workflow=handle.workflow.name,
        project=handle.project,
        version=handle.version,
        status=status,
        questions=asked,
        labels=_asked_question_labels(handle, {one.id for one in asked}),
        number=handle.workflow.filed.number(handle.session.state),
        to_do=view.to_do if is_open else "",
        can_accept=is_open and status != "waiting" and view.can_accept,
        refusals=refusals(
            handle.workflow.name,
            step.decisions,
            lambda: handle.workflow.asked.answerable(handle.session.state),
        ),
        notices=tuple(notices or ()),
        asking=step.asking if isinstance(step, AskedElsewhere) else "",
        is_recalled=isinstance(step, RecalledStep),
    )
    feature = FEATURES.get(handle.workflow.name)
    if feature is None or not feature.adds:
        return found
    more: View = feature.loaded(feature.adds)(handle, found)
    return more


def _asked_question_labels(handle: Handle, keys: Collection[str]) -> tuple[tuple[str, str], ...]:
    if not keys:
        return ()
    asked = handle.workflow.asked.answerable(handle.session.state)
    return tuple((one.id, label) for label, one in asked if label and one.id in keys)


def refusals(
    workflow: str,
    decisions: Iterable[Decision],
    asked: Callable[[], Sequence[tuple[str, Question]]],
) -> tuple[NotDone, ...]:
    """What of the decisions refuses something, in words.

    Args:
        asked: pairs of label and question, of all that could be answered.
    """
    found = []
    for one in decisions:
        if not isinstance(one, Refusal):
            continue
        code, message = _explain_refusal(workflow, one)
        if not isinstance(one, AnswerRefusal):
            found.append(NotDone(code=code, message=message))
            continue
        if one.expected:
            labels = {question.id: label for label, question in asked()}
            taken = (f"{key} ({labels[key]})" if labels.get(key) else key for key in one.expected)
            message += f": it takes {', '.join(taken)}"
        found.append(NotDone(code=code, message=message, key=one.key, expected=one.expected))
    return tuple(found)


def _explain_refusal(workflow: str, decision: Refusal) -> tuple[str, str]:
    """Why something was not done, as a code and in words: the feature's own, where it has them."""
    feature = FEATURES.get(workflow)
    if feature is not None and feature.refusal:
        said: tuple[str, str] = feature.loaded(feature.refusal)(decision)
        return said
    if not isinstance(decision, AnswerRefusal):
        return "not_allowed", "the session does not allow it now"
    why = f"was refused: {decision.reason.replace('_', ' ')}"
    return decision.reason, answer_refused(decision, why)


def answer_refused(decision: AnswerRefusal, why: str) -> str:
    """Why an answer does not count."""
    return f"{decision.key!r} {why}" if decision.key else "no answer was given"


class SessionRow(Result, frozen=True):
    """One session of a list; a damaged one has no progress, and its damage as the intention."""

    session_id: str
    age_seconds: int
    workflow: str
    status: str
    progress: float | None
    intention: str
    began_at: str = ""
    """ISO 8601, UTC."""
    models: tuple[str, ...] = ()
    """That were asked, in the order of their first call."""
    calls: int = 0
    """Of models."""
    costs: tuple[Cost, ...] = ()
    """One cost for each currency; calls without a known price add nothing."""


class AgentPrompt(Result, frozen=True, kw_only=True):
    """The brief for a coding agent."""

    format: str = "prompt/1"
    session_id: str
    prompt: str


# 2. A decision -------------------------------------------------------------------------------


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


class ShownOrigin(Result, frozen=True):
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
        said = {"by": Who.said(origin), "at": iso(origin.at)}
        return cls(**msgspec.structs.asdict(origin) | said)


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
    scope: str
    """What it is for; empty for the whole project."""
    fields: tuple[tuple[str, str], ...]
    provenance: tuple[ShownOrigin, ...]
    response: int | None
    proposed_at: str
    acknowledged_at: str | None
    acknowledged_by: Who | None
    relayed_by: Who | None
    accepted_at: str | None
    superseded_at: str | None
    supersedes: Related | None
    superseded_by: Related | None
    also_supersedes: tuple[Related, ...]
    kept: tuple[KeptDecision, ...]
    artifact: str | None
    sha256: str | None
    because: AttributedReason | None
    consequences: tuple[AttributedReason, ...]
    alternatives: tuple[NotChosen, ...]
    replaced: tuple[str, ...]
    """What the intention replaces or rules out."""
    paths: tuple[str, ...]
    """Patterns of the files that it holds for; it holds everywhere where there are none."""
    hold: Hold
    file: str | None = None
    """The session file that says so, where the log does not."""
    signature: Signed | None = None
    """What the signature of its acceptance proves; None without one."""

    @property
    def name(self) -> str:
        """What people call it."""
        return decision_name(self.number, self.uid)

    @property
    def moved_at(self) -> str:
        """When it was accepted, or else proposed."""
        return self.accepted_at or self.proposed_at

    @property
    def reason(self) -> str:
        """Why it is taken; empty where that is not said."""
        return self.because.text if self.because else ""

    @property
    def turned_down(self) -> tuple[NotChosen, ...]:
        """What was named under *Instead of*."""
        return named_instead(self.alternatives)

    @classmethod
    def of(cls, one: PatchRow) -> Self:
        """As the projection `decisions` keeps it."""
        from preflights_es.projections.decisions import accepted_at

        decided: DecidedPatch = one.decided
        told = {name: getattr(decided, name) for name in _TOLD}
        return cls(
            **told,
            session_id=one.session_id,
            scope=decided.scope or "",
            replaced=decided.replaced or (),
            provenance=tuple(map(ShownOrigin.of, decided.origins)),
            proposed_at=iso(decided.proposed_at),
            acknowledged_at=iso_or_none(decided.acknowledged_at),
            acknowledged_by=Who.of(decided.acknowledged_by),
            relayed_by=Who.of(decided.relayed_by),
            accepted_at=iso_or_none(accepted_at(decided)),
            superseded_at=iso_or_none(decided.superseded_at),
            artifact=decided.written.path if decided.written else None,
            sha256=decided.written.sha256 if decided.written else None,
            paths=decided.reach.paths if decided.reach else (),
            hold=decided.reach.hold if decided.reach else "tell",
            **msgspec.structs.asdict(decided.rationale),
        )


class KeptOut(Result, frozen=True):
    """What a decision in force turned down, and keeps out of a file."""

    name: str
    """Of the product."""
    decision: str
    line: str
    """Who turned it down, when and why."""


_TOLD: Final = """
    version uid title standing kind number category fields response supersedes superseded_by
    also_supersedes kept
    """.split()  # noqa: SIM905  a table
"""What a row says as the projection keeps it, under the same name."""

T = TypeVar("T")

Update = Callable[[int], object]
"""Is told how many steps more are done."""
Drawn = Callable[[int], AbstractContextManager[Update]]
"""Makes the bar of a length."""


def undrawn(_length: int) -> AbstractContextManager[Update]:
    """No bar."""
    return nullcontext(lambda _steps: None)


def ticking(items: Iterable[T], update: Update) -> Iterator[T]:
    """The same items, each a step."""
    for item in items:
        yield item
        update(1)
