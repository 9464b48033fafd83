"""A clarification as services return it: `session/1` (docs/api.md), and what was asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    ChangeRefused,
    DecisionKept,
    Differing,
    KnownLine,
)
from preflights_es.features.clarification.domain.reasons import RATIONALE_MAX
from preflights_es.features.clarification.domain.state import State, asked_by
from preflights_es.features.clarification.domain.values import (
    OTHER_OPTION,
    DecisionPatch,
    Hint,
    Named,
    Provenance,
)
from preflights_es.features.clarification.domain.views import ClarificationView, StatedValue
from preflights_es.kernel.decisions import (
    KeptDecision,
    NotChosen,
    OlderDecision,
    Reason,
    Related,
    Speaker,
)
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import Actor, Decision, Evidence
from preflights_es.kernel.ids import iso
from preflights_es.kernel.questions import (
    AnswerRefusal,
    Language,
    Observed,
    Option,
    Place,
    Recommended,
)
from preflights_es.kernel.reach import PATTERNS_MAX, Hold
from preflights_es.kernel.text import SCOPE_MAX
from preflights_es.runtime.runner import Handle
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, Result, Session, Who, answer_refused

if TYPE_CHECKING:
    from preflights_es.use.why_results import AskedAgain

REFUSED: Final = {
    "unknown_question": "is no question of this session",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which decides nothing: give an option, its number "
    "or your own words",
    "undecided": "was left undecided: the question stays open",
    "several_values": "takes one value: put quotes around words that belong together",
    "other_needs_text": f"was answered {OTHER_OPTION!r} without the text",
    "too_long": f"has more than {SCOPE_MAX} characters",
    "closed": "cannot be answered any more: the decision is accepted",
}
_CHANGES: Final = {
    "question_open": "a question is still open",
    "already_accepted": "it is accepted already",
    "already_proposed": "it is proposed already: a person has to accept it",
    "patch_changed": "the session moved on since the patch was shown",
    "number_missing": "the record has no number",
    "not_accepted": "it is not accepted",
    "already_superseded": "it was superseded before",
    "not_related": "it has nothing to do with this session",
    "blank": "no reason was given",
    "placeholder": "a reason is a placeholder, which says nothing",
    "unfit_pattern": "one of the paths is no pattern of a path",
    "too_many_patterns": f"a decision holds for at most {PATTERNS_MAX} patterns of paths",
    "too_many": f"a decision has at most {RATIONALE_MAX} consequences and alternatives each",
    "kept": "a decision in force was kept instead",
    "nothing_to_decide": "there is nothing to decide, as was said before",
    "not_expected": NOT_EXPECTED,
}


class ShownValue(Result, frozen=True):
    """How one value came about, and by whom: a model's reading is not an agent's word."""

    key: str
    field: str
    value: str
    source: str
    by: str
    relayed_by: Actor | None = None

    @classmethod
    def of(cls, one: Provenance) -> ShownValue:
        """As the session has it."""
        by = "model" if one.source == "suggested" else one.by
        return cls(**{**msgspec.structs.asdict(one), "by": by})


class Offer(Result, frozen=True):
    """The open question as a model, an agent or a person wrote it."""

    by: str
    """Name of the agent, person or model."""
    kind: str
    """`agent`, `user`, `script` or `model`."""
    why: str
    """Why it matters."""
    options: tuple[Option, ...]
    recommended: Recommended | None
    quote: str
    """Words of the intention in which a model reads the first option as said."""
    evidence: tuple[Place, ...]

    @property
    def default(self) -> str:
        """The option that Enter takes; empty where there is none."""
        if self.recommended is not None:
            return self.recommended.option
        return self.options[0].label if self.quote and self.options else ""


class KnownDecision(Result, frozen=True):
    """A decision in force that is said before anything is asked."""

    line: str
    session_id: str
    """Empty for a record of another tool."""
    uid: str
    number: int | None
    path: str
    """Of a record of another tool; else empty."""
    same_place: bool

    @classmethod
    def of(cls, one: KnownLine) -> KnownDecision:
        """As the session has it."""
        old = one.kept
        return cls(
            line=one.line,
            session_id=old.session_id,
            uid=old.uid,
            number=old.number,
            path=one.path,
            same_place=one.is_here,
        )


class AskedField(Result, frozen=True):
    """One of the lines of a record that are asked for, where no topic covers the intention."""

    key: str
    label: str
    required: bool
    how: str = ""
    """The words that give it at the command line; empty elsewhere."""


class RelatedDecision(Result, frozen=True):
    """A decision in force, and how the one that is accepted stands to it."""

    uid: str
    session_id: str
    date: str
    """Of its acceptance, ISO 8601, UTC."""
    number: int | None
    title: str
    category: str
    values: tuple[tuple[str, str], ...]
    """Pairs of field and value."""
    evolution: str
    by: str
    """`rules` or `model`."""

    @classmethod
    def of(cls, one: OlderDecision) -> RelatedDecision:
        """As it was found."""
        old = one.related
        return cls(
            uid=old.uid,
            session_id=old.session_id,
            date=iso(one.accepted_at)[: len("2026-11-23")],
            number=old.number,
            title=old.title,
            category=one.category,
            values=one.fields,
            evolution=one.evolution,
            by=one.by,
        )

    @property
    def needs_choice(self) -> bool:
        """Whether a person has to choose: it has another value."""
        return self.evolution in ("update", "contradict", "exception")


class Clarification(Session, frozen=True, kw_only=True):
    """`session/1`."""

    FORMAT = "session/1"

    labels: tuple[tuple[str, str], ...]
    intention: str
    missing_info: tuple[str, ...]
    decision_hint: Hint
    progress: float
    patch: DecisionPatch | None
    scope: str
    provenance: tuple[ShownValue, ...]
    stated: tuple[StatedValue, ...]
    topics: tuple[str, ...]
    replaced: tuple[Named, ...]
    language: Language | None
    observed: Observed | None
    kind: str
    uid: str
    number: int | None
    turn: int
    acknowledged_by: Actor | None
    relayed_by: Actor | None
    evidence: Evidence | None
    supersedes: Related | None
    superseded_by: Related | None
    also_supersedes: tuple[Related, ...]
    kept: tuple[KeptDecision, ...]
    keeps: Related | None
    known: tuple[KnownDecision, ...]
    fields: tuple[AskedField, ...]
    perhaps: tuple[Differing, ...]
    beside: tuple[tuple[str, str], ...]
    related: tuple[RelatedDecision, ...]
    artifacts: tuple[str, ...]
    offer: Offer | None
    title: str
    because: Reason | None
    consequences: tuple[Reason, ...]
    alternatives: tuple[NotChosen, ...]
    paths: tuple[str, ...]
    paths_by: Speaker | Literal[""]
    """Who named them; empty where there are none."""
    hold: Hold

    @classmethod
    def more(cls, handle: Handle) -> dict[str, Any]:
        view, state = handle.view, handle.session.state
        assert isinstance(view, ClarificationView), "the caller checked the workflow"
        done = state.acknowledgement
        return {
            "provenance": tuple(map(ShownValue.of, view.provenance)),
            "acknowledged_by": done.actor if done else None,
            "relayed_by": done.relayed_by if done else None,
            "evidence": done.evidence if done else None,
            "supersedes": state.supersedes,
            "superseded_by": state.superseded_by,
            "also_supersedes": state.also_supersedes,
            "kept": state.kept,
            "keeps": state.keeps.kept if state.keeps else None,
            "known": tuple(map(KnownDecision.of, state.told)),
            "fields": _fields(state),
            "perhaps": done.perhaps if done else (),
            "related": (),
            "offer": _offer(state),
            "artifacts": (view.written.path,) if view.written else (),
            **msgspec.structs.asdict(view.rationale),
            "paths": view.reach.paths,
            "paths_by": view.reach.by if view.reach.paths else "",
            "hold": view.reach.hold,
        }

    @classmethod
    def refusal(cls, decision: Decision) -> tuple[str, str]:
        if isinstance(decision, ChangeRefused):
            return decision.reason, _CHANGES[decision.reason]
        assert isinstance(decision, AnswerRefusal), "the only other refusal"
        return decision.reason, answer_refused(decision, REFUSED[decision.reason])


def _fields(state: State) -> tuple[AskedField, ...]:
    """The lines of a record, where the rules ask about what no topic of their pack covers."""
    asked = state.question
    if asked is None or asked.id != state.heuristics.description.id:
        return ()
    if state.topics is None or state.framed is not None:
        return ()
    return (
        AskedField(key=asked.id, label="Decision", required=True),
        AskedField(key="because", label="Because", required=False),
        AskedField(key="alternatives", label="Instead of", required=False),
    )


def _offer(state: State) -> Offer | None:
    """What the writer of the open question says with it."""
    asked = asked_by(state, state.question.id) if state.question is not None else None
    if asked is None:
        return None
    writer, lead = state.writer, state.led.lead
    kind = writer.kind if writer else "model"
    return Offer(
        by=(writer.name if writer else lead.model if lead else "") or kind,
        kind=kind,
        why=asked.why,
        options=asked.offered or tuple(map(Option, asked.field.options)),
        recommended=asked.recommended,
        quote=asked.quote,
        evidence=asked.evidence,
    )


def asked_again(request: Request) -> dict[str, tuple[AskedAgain, ...]]:
    """Oldest first, by the session of the decision, or by the path of another tool's record."""
    from preflights_es.use.why_results import AskedAgain  # only `why` asks

    process, found = request.process, dict[str, list[AskedAgain]]()
    for row in process.projector.rows("sessions", process.project):
        if (row["workflow"], row["status"]) != (WORKFLOW.name, "stopped"):
            continue
        session_id = row["session_id"]
        try:
            if all(one.type != DecisionKept.tag for one in process.store.read(session_id)):
                continue  # nothing of it has to be folded
            state: State = process.runner.load(session_id).session.state
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        if (kept := state.keeps) is None:
            continue
        again = AskedAgain(
            session_id=session_id,
            intention=state.intention,
            by=Who.of(kept.actor),
            relayed_by=Who.of(kept.relayed_by),
            at=iso(kept.at),
        )
        found.setdefault(kept.kept.session_id or kept.path, []).append(again)
    return {key: tuple(sorted(those, key=lambda one: one.at)) for key, those in found.items()}
