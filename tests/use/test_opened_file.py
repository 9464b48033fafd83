"""The sessions of a file as a log of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from preflights_es.kernel.errors import LogDamaged, Refused
from preflights_es.kernel.events import Actor
from preflights_es.store import jsonl
from preflights_es.use import session_lists, sessions
from preflights_es.use.archives import SessionFile, opened_file
from preflights_es.use.bootstrap import opened_process
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from tests.markdown import ROOT
from tests.projections.recording import golden


@pytest.fixture
def request_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Request]:
    """To a log without a session."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "shop"
    folder.mkdir()
    with closing(opened_process(folder).process) as process:
        yield Request(process, lambda: Actor("user", "Ada"))


def test_sessions_of_a_file_are_there_as_long_as_it_is_open(request_: Request) -> None:
    name = "one_decision_supersedes_another"
    file = ROOT / "replays" / "clarification" / f"{name}.jsonl"
    expected = [events[0].session_id for events in golden(name)]
    with opened_file(request_, SessionFile(str(file))) as (opened, newest):
        rows, _ = session_lists.list_session_rows(opened, all_workflows=True)
        assert sorted(row.session_id for row in rows) == sorted(expected)
        assert newest == max(expected)
        assert sessions.show(opened, newest).status == "accepted"
        root = opened.process.settings.root
        assert root.is_dir()
    assert not root.exists()
    assert request_.process.store.heads(None) == ()


def test_no_session_of_the_project_is_among_them(request_: Request) -> None:
    sessions.start_session(request_, NewSession("Add login"))
    file = ROOT / "replays" / "clarification" / "a_model_leads.jsonl"
    with opened_file(request_, SessionFile(str(file))) as (opened, _):
        rows, _ = session_lists.list_session_rows(opened, all_workflows=True)
        assert len([*rows]) == 1


def test_a_session_with_a_broken_chain_shows_damage(request_: Request, tmp_path: Path) -> None:
    events = list(golden("a_model_leads")[0])
    events[3] = replace(events[3], data=b"{}")
    file = tmp_path / "odd.jsonl"
    file.write_bytes(jsonl.encode_event_file(events))
    with opened_file(request_, SessionFile(str(file))) as (opened, newest):
        found = sessions.log(opened, newest)
    assert found.damage is not None
    assert found.damage.version == 4


def test_what_no_log_can_hold_is_refused(request_: Request, tmp_path: Path) -> None:
    events = golden("a_model_leads")[0]
    file = tmp_path / "odd.jsonl"
    again = tuple(replace(one, session_id=one.session_id[:-1] + "0") for one in events)
    for content, error in (
        (jsonl.encode_event_file([*events, *again]), LogDamaged),
        (b'{"format":1}\n', LogDamaged),
        (b"", LogDamaged),
    ):
        file.write_bytes(content)
        with pytest.raises(error), opened_file(request_, SessionFile(str(file))):
            pass
    with pytest.raises(Refused), opened_file(request_, SessionFile(str(tmp_path / "none"))):
        pass
