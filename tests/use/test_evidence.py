"""What was seen of who is at work, as each way into the program gathers it."""

from __future__ import annotations

from pathlib import Path

import pytest

import preflights_es
from preflights_es.kernel.events import UNSEEN, Actor, Evidence
from preflights_es.settings.agents import CI
from preflights_es.use.bootstrap import opened_process


def test_a_program_sees_variables_by_name_and_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with preflights_es.open(tmp_path) as log:
        assert log.request().evidence == UNSEEN
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("AI_AGENT", "claude-code/2.1 secret-of-the-value")
    with preflights_es.open(tmp_path) as log:
        assert log.request().evidence == Evidence(("AI_AGENT", "CLAUDECODE"))


def test_the_terminal_is_evidence_also_where_no_person_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in CI:
        monkeypatch.delenv(variable, raising=False)
    asked = opened_process(tmp_path, terminal=True).request()
    assert (asked.evidence, asked.actor.kind) == (Evidence(terminal=True), "user")
    unasked = opened_process(tmp_path, terminal=True, asks=False).request()
    assert (unasked.evidence, unasked.actor.kind) == (Evidence(terminal=True), "script")


def test_a_client_of_the_server_is_not_at_the_servers_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    server = opened_process(tmp_path, terminal=True).request()
    client = server.another(Actor("agent", "cline 3"), client="cline 3")
    assert client.evidence == Evidence(("CLAUDECODE",), client="cline 3")
