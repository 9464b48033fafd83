"""A model rewrites a question, learns words and compares decisions, over the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

import preflights_es
from preflights_es.features.recall.use.comparing import findings
from preflights_es.kernel.decisions import OlderDecision
from tests.providers import server
from tests.providers.server import FakeAPI
from tests.scripted import asks

CLARIFY = asks("Authentication", "How?", "OAuth", "SAML")


def decide(value: str) -> object:
    return {"category": "Authentication", "fields": [{"name": "Strategy", "value": value}]}


def said(*payloads: object) -> list[server.Reply]:
    return [server.text(json.dumps(payload)) for payload in payloads]


@pytest.fixture
def asked(tmp_path: Path, api: FakeAPI) -> Iterator[Any]:
    """A log whose sessions are led by the server, with one decision."""
    with preflights_es.open(tmp_path, database=str(tmp_path / "log.db")) as log:
        api.script(*said(CLARIFY, decide("OAuth")))
        session = log.start("Add login", answers={"auth_strategy": "OAuth"})
        if session.status != "ready":
            session = log.answer(session.session_id, {session.questions[0].id: "OAuth"})
        log.accept(session.session_id, by="Ada")
        api.requests.clear()
        yield log


def ready(log: Any, api: FakeAPI, value: str = "SAML") -> Any:
    """A session whose patch waits to be accepted."""
    api.script(*said(CLARIFY, decide(value)))
    session = log.start("Add login for partners")
    session = log.answer(session.session_id, {session.questions[0].id: value})
    assert session.status == "ready"
    api.requests.clear()
    return session


def found(log: Any, session: Any) -> tuple[OlderDecision, ...]:
    request = log.request()
    return findings(request, request.sessions.load(session.session_id))


def evolutions(uid: str, kind: str) -> object:
    return {"evolutions": [{"uid": uid, "type": kind, "reason": "it is so"}]}


def uid_of(log: Any) -> str:
    return str(log.decisions().decisions[0].uid)


def test_a_model_rewrites_a_question(asked: Any, api: FakeAPI) -> None:
    api.script(*said(["authentication", "anmeldung"]))
    result = asked.recall("how do people get in?")
    assert (result.source, result.queries) == ("model", ("authentication", "anmeldung"))
    assert [one.uid for one in result.results] == [uid_of(asked)]


def test_a_model_names_more_words(asked: Any, api: FakeAPI) -> None:
    entities = {"entities": [{"name": "OpenID Connect", "type": "technology", "confidence": 0.9}]}
    api.script(*said(entities, ["security", "Login"]))
    result = asked.learn(uid_of(asked))
    assert result.learned == ("openid", "connect", "security")
    assert len(api.requests) == 2
    api.script(*said(["openid security"]))
    result = asked.recall("what of openid?")
    assert [one.learned for one in result.results] == [("openid", "security")]


def test_a_model_changes_the_type_of_a_finding(asked: Any, api: FakeAPI) -> None:
    session = ready(asked, api)
    api.script(*said(evolutions(uid_of(asked), "update")))
    (one,) = found(asked, session)
    assert (one.evolution, one.by) == ("update", "model")
    assert one.compared is not UNSET
    comparison = asked.show(one.compared.session_id)
    assert (comparison.asks, comparison.status, comparison.source) == (
        "comparison",
        "done",
        "model",
    )
    (told,) = comparison.evolution
    assert (told.evolution, told.by, told.other) == ("update", "model", uid_of(asked))
    assert asked.replay(one.compared.session_id).status == "identical"
    assert asked.show("last").session_id == session.session_id, "a comparison is never the last"
    # The same again is not asked again.
    assert found(asked, session) == (one,)
    assert len(api.requests) == 1


@pytest.mark.parametrize("kind", ["none", "extend"])
def test_a_model_hides_no_finding(asked: Any, api: FakeAPI, kind: str) -> None:
    session = ready(asked, api)
    api.script(*said(evolutions(uid_of(asked), kind)))
    (one,) = found(asked, session)
    assert (one.evolution, one.by) == ("contradict", "rules")


def test_the_rules_findings_stand_where_the_model_fails(asked: Any, api: FakeAPI) -> None:
    session = ready(asked, api)
    api.script(server.status(400))
    (one,) = found(asked, session)
    assert (one.evolution, one.by) == ("contradict", "rules")


def test_a_server_that_is_not_named_any_more_is_said_and_records_nothing(
    asked: Any, api: FakeAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = ready(asked, api)
    before = asked.process.following.counts()
    monkeypatch.delenv("PREFLIGHTS_BASE_URL")
    with preflights_es.open(tmp_path, database=str(tmp_path / "log.db")) as other:
        request = other.request()
        (one,) = findings(request, request.sessions.load(session.session_id))
    assert one.by == "rules"
    assert [notice.code for notice in request.notices] == ["not_compared"]
    assert asked.process.following.counts()["sessions"] == before["sessions"]


def test_no_session_is_opened_where_nothing_is_compared(asked: Any, api: FakeAPI) -> None:
    session = ready(asked, api, "OAuth")
    assert [one.evolution for one in found(asked, session)] == ["same"]
    assert api.requests == []
