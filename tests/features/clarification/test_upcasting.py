"""Events of a clarification as older versions recorded them."""

from __future__ import annotations

from typing import Final

import msgspec
import pytest
from msgspec.structs import replace

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    DecisionAcknowledged,
    IntentionDeclared,
    Known,
)
from preflights_es.features.clarification.domain.values import DecisionPatch
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.store.codec import Codec
from preflights_es.store.memory import MemoryStore
from tests.fixed import Clock, Ids, salt
from tests.projections.recording import golden

OLD: Final = "clarification.decision_acknowledged.v1"


DECLARED: Final = "clarification.intention_declared.v1"
TOLD: Final = [
    {"title": "Add a login", "patch": {"category": "Authentication", "fields": [["Strategy", "x"]]}}
]
PATCH: Final = DecisionPatch("Authentication", (("Strategy", "x"),))


def declared() -> Stored:
    """An intention of the time when what a model was told named no source."""
    first = golden("an_abandoned_session")[0][0]
    assert first.type == DECLARED
    today = msgspec.json.decode(Codec(WORKFLOW).draft(Codec(WORKFLOW).decode(first)).data)
    for later in ("supersedes_source", "pack", "inlined", "language", "supersedes_file"):
        del today[later]
    return replace(first, data=msgspec.json.encode({**today, "known": TOLD}))


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


def test_an_old_intention_was_told_of_decisions_without_a_source() -> None:
    old = declared()
    event = Codec(WORKFLOW).decode(old)
    assert isinstance(event, IntentionDeclared)
    assert event.known == (Known("Add a login", PATCH, source=None),)
    assert (event.supersedes, event.supersedes_source) == (None, None)
    today = Codec(WORKFLOW).draft(event, old.input_id)
    assert Codec(WORKFLOW).upcast(old) == (today.type, today.data)
    assert today.type == "clarification.intention_declared.v2"


def test_an_intention_from_before_decisions_were_told_has_none() -> None:
    stored = golden("one_decision_supersedes_another")[1]
    event = Codec(WORKFLOW).decode(stored[0])
    assert isinstance(event, IntentionDeclared)
    assert event.supersedes is not None
    assert (event.known, event.supersedes_source) == ((), None)
    assert Replayer(WORKFLOWS).replay(stored).status == "identical"


@pytest.mark.parametrize(
    ("was", "forged"),
    [
        (b'"known":[{', b'"known":[{"source":null,'),
        (b'"known":[', b'"known":[7,'),
        (b'{"at"', b'{"supersedes_source":null,"at"'),
    ],
)
def test_what_was_no_intention_of_its_time_is_damage(was: bytes, forged: bytes) -> None:
    old = declared()
    assert old.data is not None
    assert was in old.data
    with pytest.raises(LogDamaged, match=r"not a clarification\.intention_declared\.v1"):
        Codec(WORKFLOW).decode(replace(old, data=old.data.replace(was, forged, 1)))
