"""Whatever a session file holds, the run goes on: each session becomes a case or is left out."""

from __future__ import annotations

from random import Random

import msgspec

from preflights_es.features.regress.change import Change, PromptChange
from preflights_es.features.regress.regression import Regression
from preflights_es.kernel.events import InputQuarantined
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import jsonl
from preflights_es.use.replays import own_code
from tests import fuzzing
from tests.each import each
from tests.features.regress.sessions import chained, judged, place
from tests.store.given import resealed

CHANGES = (
    None,
    Change(provider="sim", seed=3),
    Change(prompts=(PromptChange("clarify", "", "x"), PromptChange("extract", "", "y")), seed=4),
    Change(provider="mock"),
)


@each("change", CHANGES)
def test_no_session_ends_the_run(change: Change | None) -> None:
    regression = Regression(WORKFLOWS, own_code(), change)
    rng = Random(13)
    for _ in range(150):
        events = fuzzing.session(rng)
        for _ in range(rng.choice((1, 1, 3))):
            events = rng.choice(fuzzing.KEEPING)(rng, events) or events
        found = regression.case(resealed(events))
        assert msgspec.json.decode(msgspec.json.encode(found))["session_id"]


def test_two_inputs_of_one_id_are_damaged_data() -> None:
    """Of which one was set aside: the others of its id would be found, and not recorded twice."""
    name = "an_input_that_could_not_be_decided.jsonl"
    lines = (fuzzing.REPLAYS / "clarification" / name).read_bytes().splitlines()
    events = list(jsonl.stored(lines, name))
    at = place(events, InputQuarantined.tag) - 1
    events[at] = msgspec.structs.replace(events[at], input_id=events[0].input_id)
    case = judged(chained(events), Change(provider="sim"))
    assert (case.outcome, case.causes[0].kind) == ("damaged", "data")
