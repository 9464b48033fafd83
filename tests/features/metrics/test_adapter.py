"""The names of seed 4: every test of it, rewritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from preflights_es import Agent
from preflights_es.features.metrics.adapter import LLMClient, PromptBuilder, Said, parse_response
from preflights_es.kernel.errors import LLMEmptyError, SettingsError
from tests.each import each
from tests.providers import server

SQL = '{"type": "sql", "sql": "SELECT 1"}'


class Told(LLMClient):
    """A client that says what it was told to, or fails."""

    def __init__(self, *replies: str | Exception) -> None:
        super().__init__()
        self.replies = list(replies)
        self.asked: list[list[Said]] = []

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        self.asked.append([dict(one) for one in messages])
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    metrics, snippets = tmp_path / "metrics", tmp_path / "snippets"
    metrics.mkdir()
    snippets.mkdir()
    (metrics / "dau.yaml").write_text("name: DAU\nsnippet: dau.sql\n")
    (snippets / "dau.sql").write_text("SELECT count(*) AS dau FROM visits")
    return metrics, snippets


# 1. The agent --------------------------------------------------------------------------------


def test_start_begins_a_new_history_with_the_system_message(folders: tuple[Path, Path]) -> None:
    llm = Told(SQL, "Which market?")
    agent = Agent(*folders, llm=llm)
    with pytest.raises(ValueError, match="call start first"):
        agent.follow_up("ID")
    assert agent.start("ID DAU Nov 2025") == SQL
    agent.start("DAU?")
    assert [[one["role"] for one in sent] for sent in llm.asked] == [["system", "user"]] * 2
    assert [sent[1]["content"] for sent in llm.asked] == ["ID DAU Nov 2025", "DAU?"]
    agent.messages[1]["content"] = "changed"
    agent.messages.clear()
    kept = ["DAU?", "Which market?"]
    assert [one["content"] for one in agent.messages[1:]] == kept, "what is given is a copy"


def test_follow_ups_append_to_the_history(folders: tuple[Path, Path]) -> None:
    llm = Told("Which market?", "Which date range?", SQL)
    agent = Agent(*folders, llm=llm)
    agent.start("Ads Gross Rev")
    agent.follow_up("ID")
    assert agent.follow_up("Nov 2025") == SQL
    assert llm.asked[1][1:] == [
        {"role": "user", "content": "Ads Gross Rev"},
        {"role": "assistant", "content": "Which market?"},
        {"role": "user", "content": "ID"},
    ]
    assert len(llm.asked[2]) == 6


def test_a_failed_call_leaves_the_history_as_it_was(folders: tuple[Path, Path]) -> None:
    agent = Agent(*folders, llm=Told("Which market?", ValueError("nothing came"), SQL))
    agent.start("DAU")
    before = agent.messages
    with pytest.raises(ValueError, match="nothing came"):
        agent.follow_up("ID")
    assert agent.messages == before
    assert agent.follow_up("ID") == SQL


def test_a_client_is_given_the_messages_by_name(folders: tuple[Path, Path]) -> None:
    class Named(Told):
        def chat(self, *unnamed: object, **named: list[Said]) -> str:  # type: ignore[override]  # as the seed's own tests look at it
            assert (unnamed, [*named]) == ((), ["messages"])
            return super().chat(named["messages"])

    assert Agent(*folders, llm=Named(SQL)).start("DAU?") == SQL


# 2. The client, by the rules -----------------------------------------------------------------


def test_chat_returns_the_stripped_response(folders: tuple[Path, Path]) -> None:
    system = PromptBuilder(*folders).build()
    said = [{"role": "system", "content": system}, {"role": "user", "content": "DAU?"}]
    kind, found = parse_response(LLMClient().chat(said))
    assert (kind, found["sql"]) == ("sql", "SELECT count(*) AS dau FROM visits")
    said[1]["content"] = "rev?"
    assert LLMClient().chat(said) == (
        "I do not know *rev*. Which metric do you mean? There are: DAU."
    )


def test_a_model_for_the_rules_and_a_role_that_is_none_are_refused() -> None:
    with pytest.raises(SettingsError, match="the provider mock takes none"):
        LLMClient("gpt-4o")
    with pytest.raises(ValueError, match="expected one of system, user, assistant"):
        LLMClient().chat([{"role": "tool", "content": "x"}])
    for content in (None, 3, ["text"]):
        with pytest.raises(ValueError, match=r"as the content of a message, expected text"):
            LLMClient(provider="mock").chat([{"role": "user", "content": content}])  # type: ignore[dict-item]


def test_no_text_is_a_value_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PREFLIGHTS_OPENAI_API_KEY", "sk-not-a-real-key")
    nothing = {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}
    with server.FakeAPI() as api:
        api.script(server.json_body(nothing), server.text("  "))
        monkeypatch.setenv("PREFLIGHTS_BASE_URL", api.openai)
        client = LLMClient("a-model", provider="openai")
        for _ in range(2):
            with pytest.raises(ValueError, match=r"empty|no text") as found:
                client.chat([{"role": "user", "content": "DAU?"}])
            assert found.type is LLMEmptyError


# 3. Responses --------------------------------------------------------------------------------


@each(
    ("raw", "kind", "found"),
    [
        (SQL, "sql", {"type": "sql", "sql": "SELECT 1"}),
        (f"```json\n{SQL}\n```", "sql", {"type": "sql", "sql": "SELECT 1"}),
        (
            '{"type": "ambiguous", "candidates": ["A", "B"]}',
            "ambiguous",
            {"type": "ambiguous", "candidates": ["A", "B"]},
        ),
        ("Which market do you need?", "text", "Which market do you need?"),
        ("42", "invalid", "42"),
        ('{"type": "need_info"}', "invalid", '{"type": "need_info"}'),
        ('{"type": "sql", "sql": "SEL', "invalid", '{"type": "sql", "sql": "SEL'),
    ],
)
def test_a_response_is_one_of_four(raw: str, kind: str, found: object) -> None:
    assert parse_response(raw) == (kind, found)


# 4. The prompt -------------------------------------------------------------------------------


def test_the_prompt_asks_for_words_where_something_is_missing(folders: tuple[Path, Path]) -> None:
    prompt = PromptBuilder(*folders).build()
    assert "ask in plain text" in prompt.lower()
    assert "need_info" not in prompt
    assert "SELECT count(*) AS dau FROM visits" in prompt
