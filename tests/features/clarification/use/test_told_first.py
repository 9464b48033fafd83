"""A model is told of the answers that a session begins with, in its first request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import preflights_es
from preflights_es import Preflights, Refused
from tests.providers.server import FakeAPI, text
from tests.scripted import asks

QUESTION = asks("Database", "Which one?", "SQLite", "MySQL")
CUSTOM = asks("Retention", "How long?", "A week", "A year")


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAPI]:
    with FakeAPI() as made:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("PREFLIGHTS_BASE_URL", made.openai)
        monkeypatch.setenv("PREFLIGHTS_OPENAI_API_KEY", "sk-not-a-real-key")
        made.script(text(json.dumps(QUESTION)))
        yield made


@pytest.fixture
def log(tmp_path: Path, api: FakeAPI) -> Iterator[Preflights]:
    folder = tmp_path / "shop"
    folder.mkdir()
    with preflights_es.open(folder, provider="openai", model="a-model") as opened:
        yield opened


def told(api: FakeAPI) -> list[str]:
    """All that each request says, as text."""
    return [json.dumps(one.body) for one in api.requests]


@pytest.mark.parametrize("key", ["change_category", "Category"])
def test_a_model_is_told_the_category_first_and_no_secret(
    api: FakeAPI, log: Preflights, key: str
) -> None:
    session = log.start("Keep what customers order", answers={key: "database"})
    (only,) = told(api)
    assert "Topic: Database (chosen by" in only
    assert [one.question for one in session.questions] == ["Which one?"]
    assert not session.refused
    secret = "sk-abcdefghijklmnopqrstuvwx1234"
    said = {key: "Database", "db_type": f"our own, key: {secret}"}
    session = log.start("Keep what customers order", answers=said)
    assert secret not in "".join(told(api))
    assert secret.encode() not in log.export(session.session_id)


def test_the_same_command_under_its_key_goes_on_and_another_answer_is_refused(
    api: FakeAPI, log: Preflights
) -> None:
    said = {"change_category": "Database"}
    first = log.start("Keep what customers order", answers=said, key="once")
    assert log.start("Keep what customers order", answers=said, key="once").session_id == (
        first.session_id
    )
    with pytest.raises(Refused, match="was used for something else"):
        log.start("Keep what customers order", answers={"change_category": "Infra"}, key="once")
    assert len(told(api)) == 1


def test_why_shows_the_answer_that_the_session_began_with(log: Preflights) -> None:
    session = log.start("Keep what customers order", answers={"db_type": "SQLite"})
    (value,) = log.why(session.session_id, "Type")
    assert value.answer is not None
    assert (value.answer.version, value.answer.values) == (1, ("SQLite",))


def test_an_answer_to_a_question_of_the_models_waits_for_it(api: FakeAPI, log: Preflights) -> None:
    api.script(text(json.dumps(CUSTOM)))
    session = log.start("Keep what customers order", answers={"custom.retention": "A week"})
    assert len(told(api)) >= 1
    assert "A week" not in told(api)[0]
    assert not session.refused
