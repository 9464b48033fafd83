"""Given, when, then for a clarification: Inputs as a sentence, and what follows from them."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    AnswersRevised,
    ClarificationAnswersGiven,
    ClarificationQuestionAsked,
    DecisionAcknowledged,
    DecisionRenumbered,
    DecisionSuperseded,
    IntentionDeclared,
    RationaleGiven,
    ReferenceRenumbered,
)
from preflights_es.features.clarification.domain.state import ClarificationState
from preflights_es.features.clarification.domain.values import (
    DecisionPatch,
    HeuristicsConfig,
    Mark,
    PackRef,
)
from preflights_es.kernel import session as kernel
from preflights_es.kernel.events import Actor, ArtifactDue, ArtifactWritten, Decision, Event, Input
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.session import Session
from preflights_es.words.decisions import RejectedAlternative, Related
from preflights_es.words.questions import GivenAnswer, Language
from tests.fixed import NOON, PROJECT

ADA: Final = Actor("user", "Ada Lovelace")
SCRIPT: Final = Actor("script", "nightly")
AGENT: Final = Actor("agent", "copilot")
UID: Final = "0123456789ab"
FOLDER: Final = "docs/decisions"
CONFIG: Final = HeuristicsConfig()
FORMER: Final = Related("cafe00000001", "Use sessions", 1, "s-1")
LATER: Final = Related("cafe00000002", "Use passkeys", 9, "s-9")

OAUTH: Final = DecisionPatch("Authentication", (("Strategy", "OAuth"),))


# Inputs --------------------------------------------------------------------------------------


def declared(
    intention: str = "Improve things",
    *,
    heuristics: HeuristicsConfig = CONFIG,
    actor: Actor = ADA,
    mark: Mark = "",
    supersedes: Related | None = None,
    redacted: tuple[str, ...] = (),
    pack: PackRef | None = None,
    language: Language | None = None,
) -> IntentionDeclared:
    return IntentionDeclared(
        at=NOON,
        actor=actor,
        intention=intention,
        project=PROJECT,
        uid=UID,
        setup=Setup("0.1.0", WORKFLOW.decider.version),
        heuristics=heuristics,
        pack=pack,
        language=language,
        mark=mark,
        supersedes=supersedes,
        redacted=redacted,
    )


def _given(answers: dict[str, str | tuple[str, ...]]) -> tuple[GivenAnswer, ...]:
    return tuple(GivenAnswer(k, (v,) if isinstance(v, str) else v) for k, v in answers.items())


def answered(actor: Actor = ADA, /, **answers: str | tuple[str, ...]) -> ClarificationAnswersGiven:
    return ClarificationAnswersGiven(at=NOON, actor=actor, answers=_given(answers))


def revised(actor: Actor = ADA, /, **answers: str | tuple[str, ...]) -> AnswersRevised:
    return AnswersRevised(at=NOON, actor=actor, answers=_given(answers))


def acknowledged(
    patch: DecisionPatch | None = OAUTH,
    *,
    actor: Actor = ADA,
    number: int | None = 7,
    mark: Mark = "",
    folder: str = FOLDER,
) -> DecisionAcknowledged:
    return DecisionAcknowledged(
        at=NOON, actor=actor, patch=patch, folder=folder, number=number, mark=mark
    )


def reasoned(
    because: str = "",
    *consequences: str,
    actor: Actor = ADA,
    replaces: bool = False,
    **alternatives: str,
) -> RationaleGiven:
    named = tuple(RejectedAlternative(name, why) for name, why in alternatives.items())
    return RationaleGiven(
        at=NOON,
        actor=actor,
        because=because,
        consequences=consequences,
        alternatives=named,
        replaces=replaces,
    )


def superseded(by: Related = LATER) -> DecisionSuperseded:
    return DecisionSuperseded(at=NOON, actor=ADA, by=by)


def renumbered(number: int) -> DecisionRenumbered:
    return DecisionRenumbered(at=NOON, actor=ADA, number=number)


def reference_renumbered(uid: str, number: int) -> ReferenceRenumbered:
    return ReferenceRenumbered(at=NOON, actor=ADA, uid=uid, number=number)


def written(
    call: str = "artifact-1",
    path: str = "docs/decisions/0007-use-oauth-for-authentication.md",
    *,
    beside: bool = False,
) -> ArtifactWritten:
    return ArtifactWritten(at=NOON, actor=SCRIPT, call=call, path=path, sha256="00", beside=beside)


# Decisions -----------------------------------------------------------------------------------


def asked(category: str, turn: int) -> ClarificationQuestionAsked:
    """The primary question of a category; the generic one for none, the description for Other."""
    if not category:
        return ClarificationQuestionAsked(question=CONFIG.category_question(), turn=turn)
    primary = (CONFIG.named(category) or CONFIG.other()).primary
    assert primary is not None, "every category of the default asks"
    return ClarificationQuestionAsked(question=primary.asked(), turn=turn)


def due(name: str, kind: str = "adr", call: str = "artifact-1") -> ArtifactDue:
    """The document of that file name."""
    return ArtifactDue(call=call, template=f"{kind}.v1", path=f"{FOLDER}/{name}")


# Given, when, then ---------------------------------------------------------------------------


def log(*inputs: Input) -> list[Event]:
    """The Inputs with the Decisions that follow from each."""
    session: Session[ClarificationState] = kernel.begin(WORKFLOW.decider)
    events: list[Event] = []
    for new in inputs:
        batch = (new, *kernel.decide(WORKFLOW.decider, session, new))
        for event in batch:
            session = kernel.evolve(WORKFLOW.decider, session, event)
        events += batch
    return events


def after(*inputs: Input) -> ClarificationState:
    """The state that the Inputs and what follows from them fold to."""
    return kernel.fold(WORKFLOW.decider, log(*inputs)).state


def check(*given: Input, when: Input, then: tuple[Decision, ...]) -> None:
    """What follows from one more Input, after those given."""
    session = kernel.fold(WORKFLOW.decider, log(*given))
    assert kernel.decide(WORKFLOW.decider, session, when) == then


def config_of(*categories: Any) -> HeuristicsConfig:
    """The tables with other categories, all of them on the menu."""
    return HeuristicsConfig(categories=categories, menu=tuple(c.name for c in categories))
