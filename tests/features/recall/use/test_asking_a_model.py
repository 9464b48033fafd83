"""A model rewrites a question, over the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import preflights_es
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


def uid_of(log: Any) -> str:
    return str(log.decisions().decisions[0].uid)


def test_a_model_rewrites_a_question(asked: Any, api: FakeAPI) -> None:
    api.script(*said(["authentication", "anmeldung"]))
    result = asked.recall("how do people get in?")
    assert (result.source, result.queries) == ("model", ("authentication", "anmeldung"))
    assert [one.uid for one in result.results] == [uid_of(asked)]
