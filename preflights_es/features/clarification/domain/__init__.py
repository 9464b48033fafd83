"""An intention becomes an acknowledged decision in one or two questions (seed 0)."""

from collections.abc import Mapping
from typing import Any

from preflights_es.features.clarification.domain.events import (
    EVENTS,
    AnswersRelayed,
    AnswersRevised,
    ClarificationAnswersGiven,
    DecisionAcknowledged,
    RationaleGiven,
)
from preflights_es.features.clarification.domain.evolve import evolve
from preflights_es.features.clarification.domain.history import (
    decided_in_sessions,
    quotes,
    sessions_behind,
)
from preflights_es.features.clarification.domain.reasons import fixed_values, proposal_for_signature
from preflights_es.features.clarification.domain.record_content import record_from_state
from preflights_es.features.clarification.domain.rules import POLICY, PROMPTS
from preflights_es.features.clarification.domain.state import ClarificationState, is_terminal
from preflights_es.features.clarification.domain.views import (
    answerable,
    clarification_reached,
    related,
    view,
)
from preflights_es.kernel.events import ArtifactDue, Decision, Input, SessionAbandoned, Signable
from preflights_es.kernel.ports import SettingsTable
from preflights_es.kernel.session import Decider
from preflights_es.words.decisions import Accepting
from preflights_es.words.signing import read_input_content
from preflights_es.words.workflow import AskedPart, FiledPart, LedPart, ShownPart, Workflow

# Imported late: a command that only shows a session does without.


def _decide_clarification(state: ClarificationState, new: Input) -> tuple[Decision, ...]:
    from preflights_es.features.clarification.domain.decide import decide

    return decide(state, new)


def _abandoned(state: ClarificationState, new: SessionAbandoned) -> tuple[ArtifactDue, ...]:
    from preflights_es.features.clarification.domain.decide import abandoned

    return abandoned(state, new)


def _clarification_acceptance(state: ClarificationState, said: Mapping[str, Any]) -> Accepting:
    from preflights_es.features.clarification.domain.decide import accepting_by_mark

    return accepting_by_mark(state, said)


def _clarification_proposal(state: ClarificationState, new: Signable) -> Mapping[str, Any]:
    if not isinstance(new, DecisionAcknowledged):
        return read_input_content(new)  # an erasure
    return proposal_for_signature(state, new)


def _settings() -> SettingsTable:
    from preflights_es.features.clarification.domain.pack import SETTINGS

    return SETTINGS


WORKFLOW: Workflow[ClarificationState] = Workflow(
    decider=Decider(
        name="clarification",
        version="clarification/1",
        events=EVENTS,
        initial=ClarificationState(),
        decide=_decide_clarification,
        evolve=evolve,
        is_terminal=is_terminal,
        abandoned=_abandoned,
    ),
    shown=ShownPart(
        view=view,
        statuses=("needs_answers", "ready", "stopped", "proposed", "accepted", "superseded"),
        settled=("stopped",),
        reached=clarification_reached,
        proposal=_clarification_proposal,
        fixed=fixed_values,
    ),
    filed=FiledPart(
        record=record_from_state,
        number=lambda state: state.filed.number,
        folder=lambda state: state.filed.folder,
        decided=decided_in_sessions,
        behind=sessions_behind,
        related=related,
        quotes=quotes,
    ),
    led=LedPart(
        lead=lambda state: state.led.lead,
        policy=POLICY,
        package="preflights_es.features.clarification",
        prompts=tuple(PROMPTS.items()),
    ),
    asked=AskedPart(
        written=True,
        settings=_settings,
        answerable=answerable,
        answers=ClarificationAnswersGiven,
        revisions=AnswersRevised,
        relayed=AnswersRelayed,
        reasons=RationaleGiven,
        acknowledges=DecisionAcknowledged,
        accepting=_clarification_acceptance,
    ),
)
