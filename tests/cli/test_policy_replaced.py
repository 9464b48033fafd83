"""What a signed decision takes the place of: the claimed one, as its person read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from tests.cli.clones import session_file
from tests.cli.signing import LOGIN, Team
from tests.store.given import resealed

pytestmark = pytest.mark.needs("ssh-keygen")

Forged = Callable[[list[Stored], Any], list[Stored]]


@pytest.fixture
def team(template: Path, home: Path, tmp_path: Path) -> Team:
    made = Team(template, home, tmp_path)
    made.has_policy()
    return made


def begun(team: Team) -> str:
    """Chosen as the session begins: the way of `start --supersedes`."""
    found = team.accept("MongoDB", "--supersedes", "ADR-0002")
    return str(found["session_id"])


def accepted(team: Team) -> str:
    """Chosen with the acceptance."""
    ready = team.call(
        "start", "Store orders in a database", "--answer", "db_type=MongoDB", "--json"
    )
    words = ("--supersedes", "ADR-0002", "--by", "Ada", "--sign", "--again", "--json")
    done = team.call("accept", ready.json["session_id"], *words)
    assert done.code == 0, done.err
    return str(done.json["session_id"])


def proposal(team: Team, session: str) -> Any:
    (act,) = [one["data"] for one in team.events(session) if "signature" in (one["data"] or {})]
    return json.loads(act["signature"]["proposal"])


@pytest.mark.parametrize("way", [begun, accepted])
def test_a_signature_names_what_it_replaces_as_it_was_read(
    team: Team, way: Callable[[Team], str]
) -> None:
    team.accept("PostgreSQL")
    old = team.accept("MySQL", "--supersedes", "ADR-0001", sign=False)
    before = team.events(old["session_id"])
    (other,) = proposal(team, way(team))["others"]
    assert (other["choice"], other["session"]) == ("supersedes", old["session_id"])
    assert other["uid"] == old["uid"]
    assert other["hash"] == before[other["version"] - 1]["hash"]
    assert other["version"] == len(before), [one["type"] for one in before]


def from_files(team: Team) -> Team:
    """As a clone sees it: without a log."""
    for one in team.log.parent.glob("log.db*"):
        one.unlink()
    return team


def changed(team: Team, session: str, work: Callable[[list[Stored]], list[Stored]]) -> None:
    """Another session file, hashed anew."""
    file = session_file(team, session)
    events = [*jsonl.stored(file.read_bytes().splitlines(keepends=True), "it")]
    file.write_bytes(jsonl.lines(resealed(work(events))))


def put(one: Stored, data: Any, **more: Any) -> Stored:
    return replace(one, data=json.dumps(data, separators=(",", ":")).encode(), **more)


def at(events: list[Stored], type_: str) -> int:
    return max(place for place, one in enumerate(events) if one.type.endswith(f"{type_}.v1"))


def as_was(events: list[Stored], _: Any) -> list[Stored]:
    return events


def rewritten(events: list[Stored], related: Any) -> list[Stored]:
    """It was begun to replace another one."""
    first = json.loads(events[0].data or b"")
    return [put(events[0], {**first, "supersedes": related}), *events[1:]]


def extended(events: list[Stored], related: Any) -> list[Stored]:
    """One more acceptance behind what was read, which replaces another one."""
    act = at(events, "decision_acknowledged")
    new = json.loads(events[act].data or b"")
    finding: dict[str, Any] = {"related": related, "category": "Authentication", "fields": []}
    finding |= {"accepted_at": 1, "evolution": "contradict", "by": "rules"}
    finding["source"] = {"session_id": related["session_id"], "version": 1, "hash": "00"}
    new["resolved"] = [{"finding": finding, "choice": "supersedes", "reason": ""}]
    id_ = f"{(events[act].input_id or '')[:-6]}abcdef"
    return [*events, put(events[act], new, input_id=id_), events[act + 1]]


@pytest.mark.parametrize("way", [begun, accepted])
@pytest.mark.parametrize(
    ("forged", "is_replaced"), [(as_was, True), (extended, True), (rewritten, False)]
)
def test_what_a_claimed_one_says_since_it_was_read_takes_no_signed_one_out(
    team: Team, way: Callable[[Team], str], forged: Forged, is_replaced: bool
) -> None:
    """Eve writes the file of the claimed one, and marks the signed one as superseded by it."""
    team.accept("PostgreSQL")
    claimed = team.accept("MySQL", "--supersedes", "ADR-0001", sign=False)
    way(team)
    other = team.accept("OAuth", intention=LOGIN)
    from_files(team)
    if forged is not as_was:
        marks = {"uid": claimed["uid"], "title": "x", "session_id": claimed["session_id"]}
        actor = {"kind": "user", "name": "Ada"}

        def mark(events: list[Stored]) -> list[Stored]:
            act = events[at(events, "decision_acknowledged")]
            told = {"at": 1_900_000_000_000_000, "actor": actor, "by": marks}
            tag, id_ = "clarification.decision_superseded.v1", f"{(act.input_id or '')[:-6]}fedcba"
            mark_ = events[act.version]
            ended = "clarification.decision_marked_superseded.v1"
            return [*events, put(act, told, type=tag, input_id=id_), put(mark_, {}, type=ended)]

        changed(team, other["session_id"], mark)
    related = {"uid": other["uid"], "title": "x", "session_id": other["session_id"]}
    changed(team, claimed["session_id"], lambda events: forged(events, related))
    rows = {
        row["number"]: row for row in team.call("decisions", "--all", "--json").json["decisions"]
    }
    expected = "superseded" if forged is not as_was else "accepted"
    assert rows[4]["standing"] == expected, "the forgery is told by the log"
    assert rows[4]["signature"]["verdict"] == "signed"
    prompt = team.prompt()
    assert "MongoDB (ADR-3" in prompt
    assert "OAuth (ADR-4" in prompt, "what a person signed"
    assert ("PostgreSQL" in prompt) is not is_replaced
