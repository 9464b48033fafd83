"""An intention becomes an acknowledged decision in one or two questions (seed 0)."""

from collections.abc import Mapping
from typing import Any

from preflights_es.features.clarification.domain.events import (
    EVENTS,
    AnswersGiven,
    AnswersRelayed,
    AnswersRevised,
    DecisionAcknowledged,
    RationaleGiven,
)
from preflights_es.features.clarification.domain.evolve import evolve
from preflights_es.features.clarification.domain.history import behind, decided, quotes
from preflights_es.features.clarification.domain.reasons import fixed
from preflights_es.features.clarification.domain.rules import POLICY, PROMPTS
from preflights_es.features.clarification.domain.state import State, is_terminal
from preflights_es.features.clarification.domain.views import (
    answerable,
    reached,
    record,
    related,
    view,
)
from preflights_es.kernel.decisions import Accepting
from preflights_es.kernel.events import ArtifactDue, Decision, Input, SessionAbandoned, Signable
from preflights_es.kernel.ports import SettingsTable
from preflights_es.kernel.session import Workflow
from preflights_es.kernel.signing import read_input_content

# Imported late: a command that only shows a session does without.


def _decide(state: State, new: Input) -> tuple[Decision, ...]:
    from preflights_es.features.clarification.domain.decide import decide

    return decide(state, new)


def _abandoned(state: State, new: SessionAbandoned) -> tuple[ArtifactDue, ...]:
    from preflights_es.features.clarification.domain.decide import abandoned

    return abandoned(state, new)


def _accepting(state: State, said: Mapping[str, Any]) -> Accepting:
    from preflights_es.features.clarification.domain.decide import accepting

    return accepting(state, said)


def _proposal(state: State, new: Signable) -> Mapping[str, Any]:
    if not isinstance(new, DecisionAcknowledged):
        return read_input_content(new)  # an erasure
    from preflights_es.features.clarification.domain.reasons import proposal

    return proposal(state, new)


def _settings() -> SettingsTable:
    from preflights_es.features.clarification.domain.pack import SETTINGS

    return SETTINGS


WORKFLOW: Workflow[State] = Workflow(
    name="clarification",
    package="preflights_es.features.clarification",
    decider="clarification/1",
    events=EVENTS,
    initial=State(),
    decide=_decide,
    evolve=evolve,
    is_terminal=is_terminal,
    view=view,
    statuses=("needs_answers", "ready", "stopped", "proposed", "accepted", "superseded"),
    settled=("stopped", "accepted", "superseded"),
    number=lambda state: state.number,
    folder=lambda state: state.folder,
    acknowledges=DecisionAcknowledged,
    accepting=_accepting,
    abandoned=_abandoned,
    proposal=_proposal,
    fixed=fixed,
    record=record,
    decided=decided,
    reached=reached,
    behind=behind,
    related=related,
    quotes=quotes,
    answerable=answerable,
    answers=AnswersGiven,
    revisions=AnswersRevised,
    relayed=AnswersRelayed,
    written=True,
    reasons=RationaleGiven,
    lead=lambda state: state.led.lead,
    settings=_settings,
    policy=POLICY,
    prompts=tuple(PROMPTS.items()),
)
