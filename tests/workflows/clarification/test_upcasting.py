"""Events of a clarification as older versions recorded them."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from preflights_es.core.errors import LogDamaged
from preflights_es.core.ports import Stored
from preflights_es.replay.replayer import Replayer
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.store.codec import Codec
from preflights_es.store.memory import MemoryStore
from preflights_es.workflows.clarification import WORKFLOW
from preflights_es.workflows.clarification.events import DecisionAcknowledged
from tests.fixed import Clock, Ids, salt
from tests.projections.recording import golden

OLD: Final = "clarification.decision_acknowledged.v1"


def acknowledged() -> tuple[tuple[Stored, ...], Stored]:
    """A session from before the relayer was recorded, and its acknowledgement."""
    stored = tuple(golden("keyword_skips_the_generic_question")[0])
    (old,) = [one for one in stored if one.type == OLD]
    return stored, old


def test_an_old_acknowledgement_names_no_relayer() -> None:
    _, old = acknowledged()
    event = Codec(WORKFLOW).decode(old)
    assert isinstance(event, DecisionAcknowledged)
    assert event.relayed_by is None
    today = Codec(WORKFLOW).draft(event, old.input_id)
    assert Codec(WORKFLOW).upcast(old) == (today.type, today.data)
    assert today.type == "clarification.decision_acknowledged.v2"


def test_a_session_with_an_old_acknowledgement_replays_and_folds() -> None:
    stored, _ = acknowledged()
    assert Replayer(WORKFLOWS).replay(stored).status == "identical"
    store = MemoryStore(Clock(), salt)
    store.insert(stored)
    runner = Runner(store, WORKFLOWS, Clock(), Ids())
    state = runner.load(stored[0].session_id).session.state
    assert state.acknowledgement.actor.name == "Ada Lovelace"
    assert state.acknowledgement.relayed_by is None


@pytest.mark.parametrize("added", [b',"relayed_by":null}', b',"more":7}'])
def test_what_was_no_acknowledgement_of_its_time_is_damage(added: bytes) -> None:
    _, old = acknowledged()
    assert old.data is not None
    with pytest.raises(LogDamaged, match=r"not a clarification\.decision_acknowledged\.v"):
        Codec(WORKFLOW).decode(replace(old, data=old.data[:-1] + added))
