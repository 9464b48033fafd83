"""A day that was planned anew: each plan names who makes it, and a change reaches all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from preflights_es.features.regress.change import RunChange
from preflights_es.history.recording import recording
from preflights_es.history.whatif import Otherwise, simulate, what_if
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import decode_plain_json
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.ports import Stored
from preflights_es.projections.sessions import fold_session_rows
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.use import replays
from preflights_es.words.simulation import GENERATION
from tests.features.planning.cases import Planned
from tests.features.planning.test_lead import BOTH
from tests.features.regress.sessions import child_of
from tests.projections.recording import golden
from tests.projections.test_decisions import read

STORED: Final = next(
    [*one]
    for one in golden("the_rules_stand_in_for_one_plan", "planning")
    if one[0].workflow == "planning"
)
"""The simulator of seed 1 with faults, then that of seed 1 without."""


def seeds(child: Sequence[Stored]) -> list[str]:
    """Of the simulator, a request each."""
    asked = [decode_plain_json(e.data or b"") for e in child if e.type == CompletionRequested.tag]
    return [dict(one["parameters"])["seed"] for one in asked]


def test_the_simulator_makes_every_plan() -> None:
    leading = replays.simulating(5, None)
    found = recording(WORKFLOWS, STORED)
    _, child = asyncio.run(simulate(found, replays.own_code(), leading))
    assert {*seeds(child.stored)} == {"5"}


def test_another_lead_makes_every_plan() -> None:
    lead = Lead("sim", GENERATION, (("seed", "5"), ("faults", "none")))
    otherwise = Otherwise(lead=lambda _before: lead)
    found = recording(WORKFLOWS, STORED)
    _, child = asyncio.run(what_if(found, otherwise, replays.own_code()))
    assert {*seeds(child.stored)} == {"5"}


def test_a_regression_run_changes_who_makes_every_plan() -> None:
    assert {*seeds(child_of(STORED, RunChange(seed=5)))} == {"5"}


def test_the_list_of_sessions_says_who_made_the_last_plan() -> None:
    lead = Lead("script", "m-2")
    for plan in (Planned(BOTH, rules=True), Planned("no", "no", BOTH)):
        plan.again(lead=lead)
        stored = plan.runner.store.read(plan.handle.session_id)
        ((*_, provider, model, fell_back, _intention, _version, _began, _moved),) = (
            fold_session_rows(read(stored))
        )
        assert (provider, model, fell_back) == ("script", "m-2", "")
