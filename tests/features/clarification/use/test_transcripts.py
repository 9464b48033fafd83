"""What a person decided in old conversations of an agent is proposed, once, and nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from preflights_es.features.agents.transcripts.importing import Transcripts, imported
from preflights_es.features.agents.transcripts.reader import Agent
from preflights_es.features.clarification.domain.views import ClarificationView
from preflights_es.features.clarification.use.observed import record
from preflights_es.kernel.errors import LogBusy
from preflights_es.kernel.questions import ANSWERED, Observed
from preflights_es.use import sessions
from preflights_es.use.bootstrap import Opened, opened_process
from preflights_es.use.inbox import inbox
from preflights_es.use.replays import replay
from tests.features.agents.transcripts.cases import CASES, PG
from tests.features.agents.transcripts.writing import (
    HERE,
    OPTIONS,
    QUESTION,
    claude_asks,
    claude_result,
    codex_asks,
    codex_begins,
    codex_output,
    question,
    text_of,
    transcript,
)
from tests.observing import busy_log

KEY = "sk-ant-api03-" + "a1B2c3D4" * 10
AGENTS: tuple[Agent, ...] = ("claude", "codex")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Opened]:
    """A process in an empty folder."""
    (tmp_path / "shop").mkdir()
    opened = opened_process(tmp_path / "shop", database=str(tmp_path / "log.db"))
    yield opened
    opened.process.close()


def here(house: Opened, text: bytes) -> bytes:
    """A transcript of this project."""
    return text.replace(HERE.encode(), str(house.process.settings.root).encode())


def laid(house: Opened, agent: Agent, name: str = "t.jsonl", text: bytes | None = None) -> Path:
    """A folder with all conversations of an agent, or a transcript of this text."""
    if text is None:
        folder = house.process.settings.root.parent / agent
        folder.mkdir()
        for number, case in enumerate(case for case in CASES if case.agent == agent):
            one = text_of(transcript(case))
            for begins in (b"toolu_", b"call_"):
                one = one.replace(b': "' + begins, b': "%s%d_' % (begins, number))
            (folder / f"{number:03}.jsonl").write_bytes(here(house, one))
        return folder
    path = house.process.settings.root.parent / name
    path.write_bytes(here(house, text))
    return path


def taken(house: Opened, agent: Agent, path: Path, *, is_dry: bool = False) -> Transcripts:
    return imported(house.request(), agent, path, is_dry=is_dry)


def shown(house: Opened, session_id: str | None) -> ClarificationView:
    assert session_id
    found = sessions.show(house.request(), session_id)
    assert isinstance(found, ClarificationView)
    return found


@pytest.mark.parametrize("agent", AGENTS)
def test_only_what_a_person_answered_is_proposed(house: Opened, agent: Agent) -> None:
    folder = laid(house, agent)
    cases = [case for case in CASES if case.agent == agent]
    dry = taken(house, agent, folder, is_dry=True)
    assert not house.process.store.heads(None)
    found = taken(house, agent, folder)
    assert [(one.outcome, one.answers) for one in found.questions] == [
        (case.outcome, case.answers) for case in cases
    ]
    assert [one.came for one in found.questions] == [one.came for one in dry.questions]
    assert sum(found.outcomes.values()) == len(cases)
    for one in found.questions:
        assert (one.came == "new") == (one.outcome in ANSWERED) == (one.session_id is not None)
    heads = house.process.store.heads(None)
    assert {head.session_id for head in heads} == {one.session_id for one in found.those("new")}
    for one in found.those("new")[::5]:
        session = shown(house, one.session_id)
        assert session.status == "proposed"
        assert session.observed is not None
        assert session.observed.channel == "transcript"
        assert session.observed.files == ("orders.py",)
        assert replay(house.request(), session.session_id).status == "identical"
    again = taken(house, agent, folder)
    assert again.those("new", "refused") == []
    assert [one.session_id for one in again.questions] == [o.session_id for o in found.questions]
    assert len(house.process.store.heads(None)) == len(heads)


def test_a_session_holds_what_was_asked_and_answered(house: Opened) -> None:
    path = laid(house, "claude", text=text_of(transcript(CASES[0])))
    (one,) = taken(house, "claude", path).questions
    session = shown(house, one.session_id)
    assert session.intention == QUESTION
    assert session.patch is not None
    assert session.patch.fields[0][1] == PG
    value = session.provenance[-1]
    assert (value.by, value.relayed_by and value.relayed_by.name) == ("user", "claude-code")
    assert session.acknowledged_by is not None
    assert session.acknowledged_by.kind == "agent"
    (waiting,) = inbox(house.request()).waiting
    assert waiting.origin == "asked by claude-code 2.1.300, answered there"


def test_sessions_come_in_the_order_of_the_conversations(house: Opened) -> None:
    lines = transcript(CASES[0])
    texts = [
        json.dumps(lines).replace("toolu_", f"t{day}_").replace("2026-11-23", f"2026-11-{day:02}")
        for day in range(1, 8)
    ]
    random.Random(7).shuffle(texts)
    path = laid(house, "claude", text=b"".join(text_of(json.loads(text)) for text in texts))
    found = taken(house, "claude", path).questions
    assert [one.call for one in found] == [f"t{day}_1" for day in range(1, 8)]
    ids = [one.session_id for one in found]
    assert ids == sorted(ids, key=str)


def test_what_a_hook_has_told_is_known(house: Opened) -> None:
    told = Observed(
        channel="hook", agent="claude-code", conversation="c1", call="toolu_1", outcome="answered"
    )
    first = record(house.request(), QUESTION, OPTIONS, (PG,), told)
    path = laid(house, "claude", text=text_of(transcript(CASES[0])))
    (one,) = taken(house, "claude", path).questions
    assert (one.came, one.session_id) == ("known", first.session_id)


@pytest.mark.parametrize("busy_at", range(1, 6))
def test_an_import_that_broke_off_is_done_by_the_next(house: Opened, busy_at: int) -> None:
    path = laid(house, "claude", text=text_of(transcript(CASES[0])))
    busy_log(house, busy_at)
    with pytest.raises(LogBusy):
        taken(house, "claude", path)
    (one,) = taken(house, "claude", path).questions
    assert shown(house, one.session_id).status == "proposed"
    assert len(house.process.store.heads(None)) == 1


@pytest.mark.parametrize("agent", AGENTS)
def test_a_fork_is_known_also_where_its_origin_is_gone(house: Opened, agent: Agent) -> None:
    origin = text_of(transcript(next(case for case in CASES if case.agent == agent)))
    fork = {
        "claude": origin.replace(b'"c1"', b'"c2", "forkedFrom": {"sessionId": "c1"}'),
        "codex": text_of(codex_begins(id="x2")) + origin,
    }
    (first,) = taken(house, agent, laid(house, agent, text=origin)).questions
    path = laid(house, agent, "fork.jsonl", fork[agent])
    (again,) = taken(house, agent, path).questions
    assert (again.came, again.session_id) == ("known", first.session_id)


def test_no_secret_of_a_transcript_is_recorded_or_shown(house: Opened) -> None:
    asked = question(f"Use {KEY} here?", options=[{"label": "Yes"}, {"label": KEY}])
    said = {"answers": {f"Use {KEY} here?": f"Yes, {KEY}"}}
    lines = [claude_asks(1, "t1", asked, asks={}), claude_result(2, "t1", said)]
    found = taken(house, "claude", laid(house, "claude", text=text_of(lines)))
    hidden = [
        *codex_begins(),
        codex_asks(2, "c1", question("Which password?", isSecret=True)),
        codex_output(3, "c1", {"answers": {"db": {"answers": ["hunter2-horse"]}}}),
    ]
    more = taken(house, "codex", laid(house, "codex", text=text_of(hidden)))
    assert (more.questions[0].came, more.questions[0].answers) == ("refused", ())
    heads = house.process.store.heads(None)
    log = b"".join(
        event.data or b"" for head in heads for event in house.process.store.read(head.session_id)
    )
    for secret in (KEY, "hunter2"):
        assert secret not in str(found) + str(more)
        assert secret.encode() not in log


def test_what_cannot_be_recorded_is_named_and_stops_nothing(house: Opened) -> None:
    lines = [
        claude_asks(1, "t1", question("?"), asks={}),
        claude_result(2, "t1", {"answers": {"?": "yes"}}),
        *json.loads(json.dumps(transcript(CASES[0])).replace("toolu_", "later_")),
    ]
    found = taken(house, "claude", laid(house, "claude", text=text_of(lines)))
    assert [one.came for one in found.questions] == ["refused", "new"]
    assert "cannot be asked" in found.questions[0].why


def test_what_was_erased_stays_erased(house: Opened) -> None:
    path = laid(house, "claude", text=text_of(transcript(CASES[0])))
    (one,) = taken(house, "claude", path).questions
    assert one.session_id
    house.request().erasure.erase(one.session_id, "asked to")
    (again,) = taken(house, "claude", path).questions
    assert (again.came, again.session_id) == ("known", None)
    assert "erased" in again.why
