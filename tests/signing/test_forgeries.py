"""What an attacker makes of a session that Ada signed is never called signed."""

from __future__ import annotations

import shutil
from typing import Final

import pytest

from preflights_es.kernel.errors import LogDamaged, UnreadableEvent
from preflights_es.kernel.ports import Arrival
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.settings.load import load_settings
from preflights_es.store import jsonl
from preflights_es.store.memory import MemoryStore
from preflights_es.use.signatures import Signatures
from preflights_es.words.signing import Signed
from tests.cli.program import environment
from tests.cli.signing import FILE
from tests.each import each
from tests.fixed import Clock, Ids, salt
from tests.signing.forgeries import (
    DAMAGED,
    FORGERIES,
    HONEST,
    OF_A_PLAN,
    OF_AN_AGENT,
    Forged,
    before,
    behind,
    both,
)
from tests.signing.forging import Recorded, Scene
from tests.signing.house import Signing, name_repository

pytestmark = pytest.mark.needs("ssh-keygen")


def seen(house: Signing, scene: Scene) -> Signed | str | None:
    """What the signature of the acceptance proves to who has the scene's signers."""
    house.signers.write_text(scene.signers)
    scene.prepare(house)
    env = environment(house.home)
    store = MemoryStore(Clock(), salt)
    reader = Runner(store, WORKFLOWS, Clock(), Ids())
    assert store.insert_new([Arrival(tuple(scene.events))])
    signatures = Signatures(load_settings(house.folder, env), env, remembers=False)
    session_id = scene.events[0].session_id
    try:
        acts = signatures.of(reader, session_id)
        found = signatures.of_acceptance(reader, session_id)
    except (LogDamaged, UnreadableEvent):
        return DAMAGED
    finally:
        cleaned(house)
    assert found is None or [found] == [act.signed for act in acts]
    return found


def cleaned(house: Signing) -> None:
    """Take away what a scene left."""
    name_repository(house)
    for file in (house.signers, house.folder / FILE, house.home / "elsewhere"):
        if file.is_dir():
            file.rmdir()
        else:
            file.unlink(missing_ok=True)


def said(found: Signed | str | None) -> str | None:
    return found.verdict if isinstance(found, Signed) else found


def test_the_table_has_more_than_fifty_forgeries_each_another() -> None:
    assert len({forged for _, forged, _ in FORGERIES}) == len(FORGERIES) > 50
    assert "signed" not in {verdict for _, _, verdict in FORGERIES}


@each(("what", "honest"), HONEST)
def test_what_was_signed_is_called_signed(
    house: Signing, recorded: Recorded, what: str, honest: Forged
) -> None:
    scene = Scene(recorded.newer, recorded.older)
    honest(scene)
    found = seen(house, scene)
    assert isinstance(found, Signed)
    assert (found.verdict, found.is_touched) == ("signed", what == "by hardware"), found


@each(("what", "forged", "verdict"), FORGERIES)
def test_no_forgery_is_called_signed(
    house: Signing, recorded: Recorded, what: str, forged: Forged, verdict: str | None
) -> None:
    scene = Scene(recorded.newer, recorded.older)
    forged(scene)
    found = seen(house, scene)
    assert said(found) == verdict, f"{what}: {found}"
    if isinstance(found, Signed):
        assert not found.is_touched
        assert not found.by
        assert found.why or verdict == "unknown_signer", "it says why"


@each(("what", "forged", "verdict"), OF_AN_AGENT)
def test_what_an_agent_signed_is_no_persons(
    house: Signing, recorded: Recorded, what: str, forged: Forged, verdict: str | None
) -> None:
    scene = Scene(recorded.proposed, recorded.older)
    forged(scene)
    found = seen(house, scene)
    assert said(found) == verdict, f"{what}: {found}"


def plan(recorded: Recorded) -> Scene:
    return Scene(recorded.approved, (), "compiler.plan_approved.v1", "preflights-approval")


def test_an_approval_that_was_signed_is_called_signed(house: Signing, recorded: Recorded) -> None:
    scene = plan(recorded)
    assert said(seen(house, scene)) == "signed"


@each(("what", "forged", "verdict"), OF_A_PLAN)
def test_no_forged_approval_is_called_signed(
    house: Signing, recorded: Recorded, what: str, forged: Forged, verdict: str | None
) -> None:
    scene = plan(recorded)
    forged(scene)
    found = seen(house, scene)
    assert said(found) == verdict, f"{what}: {found}"


@pytest.mark.parametrize(
    ("act", "forged"),
    [
        ("approved", before("standing_changed.v1", standing="locked")),
        ("approved", before("standing_changed.v1", standing="rejected")),
        ("approved", before("standing_changed.v1", standing="superseded")),
        ("approved", behind(1, "change_refused", reason="other_payload")),
        ("rejected", before("standing_changed.v1", standing="approved")),
        ("rejected", behind(1, "change_refused", reason="not_a_draft")),
        ("approved", None),
        ("rejected", None),
    ],
)
def test_no_standing_that_does_not_follow_is_signed(
    house: Signing, recorded: Recorded, act: str, forged: Forged | None
) -> None:
    events = recorded.approved if act == "approved" else recorded.rejected
    scene = Scene(events, (), f"compiler.plan_{act}.v1", f"preflights-{NOUNS[act]}")
    (forged or both())(scene)
    house.signers.write_text(scene.signers)
    file = house.folder / "forged.jsonl"
    file.write_bytes(jsonl.encode_event_file(scene.events))
    assert house.call("admin", "import", str(file)).code == 0
    session_id = scene.events[0].session_id
    told = house.call("show", session_id, "--json").out
    told += house.call("why", session_id, "--json").out
    assert ('"verdict":"signed"' in told) is (forged is None)


NOUNS: Final = {"approved": "approval", "rejected": "rejection"}


@pytest.mark.slow("hostile clones")
@each(("what", "forged", "verdict"), FORGERIES[::3])  # commands say what was tested above
def test_no_command_calls_a_forged_file_signed(
    house: Signing, recorded: Recorded, what: str, forged: Forged, verdict: str | None
) -> None:
    scene = Scene(recorded.newer, recorded.older)
    forged(scene)
    house.signers.write_text(scene.signers)
    scene.prepare(house)
    shutil.copy(house.log, house.folder / "kept")
    file = house.folder / "forged.jsonl"
    file.write_bytes(jsonl.encode_event_file(scene.events))
    done = house.call("admin", "import", str(file), "--json")
    session_id = scene.events[0].session_id
    # A trail shows what was refused as well: that was signed.
    told = house.told(session_id, trail=verdict is not None)
    at = told.find('"verdict":"signed"')
    assert at < 0, told[max(at - 500, 0) : at + 100]
    assert verdict == DAMAGED or done.code == 0, done
    for one in house.log.parent.glob("log.db*"):
        one.unlink()
    shutil.move(house.folder / "kept", house.log)
    cleaned(house)
