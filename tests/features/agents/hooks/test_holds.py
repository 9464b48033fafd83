"""A decision with paths concerns each edit of a file that they match, as strongly as it holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from preflights_es.features.agents.hook_edits import FILE, Memory, before_edit
from preflights_es.features.agents.hook_events import HookEvent
from preflights_es.kernel.events import Actor
from preflights_es.use.bootstrap import Opened, opened_process
from tests.features.agents.hooks.edit_cases import decide, edit, patch, run

BOT = Actor("agent", "claude-code")
UNATTENDED = {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}


@pytest.fixture(name="house")
def _house(tmp_path: Path) -> Iterator[Opened]:
    opened = opened_process(tmp_path, database=str(tmp_path / "log.db"))
    yield opened
    opened.process.close()


def said(house: Opened, call: dict[str, Any], agent: str = "claude", **more: Any) -> Any:
    event = msgspec.convert({"session_id": "c", **call}, HookEvent)
    root = house.process.settings.root
    return before_edit(house.request(), agent, event, root, more.get("environment", {}))


def told(answer: Any) -> str:
    text: str = answer["hookSpecificOutput"]["additionalContext"]
    return text


def test_the_agent_is_told_once_in_a_conversation_and_of_nothing_elsewhere(house: Opened) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), "src/events/**")
    answer = said(house, edit("src/events/a.py", "x = 1"))
    assert answer.keys() == {"hookSpecificOutput"}
    assert "permissionDecision" not in answer["hookSpecificOutput"]
    line = "for src/events/**: Broker: NATS, because it is known here; not Kafka."
    assert line in told(answer)
    assert said(house, edit("src/events/b.py", "x = 1")) == {}
    other = {**edit("src/events/b.py", "x = 1"), "session_id": "d"}
    assert line in told(said(house, other))
    decide(house, "Broker", ("NATS", "Kafka"), "src/**", hold="deny", by=BOT)
    assert said(house, edit("src/web/a.py", "import kafka")) == {}
    assert said(house, run("pip install kafka-python")) == {}
    assert said(house, edit("/elsewhere/src/events/a.py", "import kafka")) == {}


def test_a_link_within_the_repository_is_followed(house: Opened, tmp_path: Path) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), "src/events/**", hold="ask")
    (tmp_path / "src" / "events").mkdir(parents=True)
    (tmp_path / "src" / "events" / "a.py").write_text("x = 1\n")
    (tmp_path / "notes").symlink_to("src/events/a.py")
    (tmp_path / "lib").symlink_to("src/events")
    (tmp_path / "out").symlink_to("/tmp")
    for path in ("notes", "lib/new.py"):
        answer = said(house, edit(path, "import kafka"))["hookSpecificOutput"]
        assert answer["permissionDecision"] == "ask", path
        assert "for src/events/**: Broker: NATS" in answer["permissionDecisionReason"]
    assert said(house, edit("out/a.py", "import kafka")) == {}


def test_the_person_is_asked_at_each_edit(house: Opened) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), "src/**", hold="ask")
    for name in ("a", "a", "b"):
        answer = said(house, edit(f"src/{name}.py", "x = 1"))["hookSpecificOutput"]
        assert answer["permissionDecision"] == "ask"
    call = {**edit("src/a.py", "x = 1"), "tool_use_id": "toolu_1"}
    assert said(house, call) != {}
    assert said(house, call) == {}, "the hooks of two agents ask about one call once"


def test_without_a_person_or_a_client_that_can_ask_the_agent_is_told(house: Opened) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), "src/**", hold="ask")
    answer = said(house, edit("src/a.py", "x = 1"), environment=UNATTENDED)
    assert "No person is there to ask" in told(answer)
    assert "permissionDecision" not in answer["hookSpecificOutput"]
    for agent in ("codex", "cursor", "gemini"):
        call = {**edit("src/a.py", "x = 1"), "session_id": agent}
        text = str(said(house, call, agent))
        assert "Ask the person before you go on." in text
        assert "deny" not in text


def test_an_edit_is_refused_where_the_client_can_whatever_the_memory_holds(house: Opened) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), "src/**", hold="deny")
    call = {**edit("src/a.py", "x = 1"), "tool_use_id": "toolu_1"}
    for agent in ("claude", "codex", "vscode"):
        for _ in range(2):
            answer = said(house, call, agent, environment=UNATTENDED)["hookSpecificOutput"]
            assert answer["permissionDecision"] == "deny"
            assert "NATS" in answer["permissionDecisionReason"]
    assert said(house, call, "cursor")["permission"] == "deny"
    assert said(house, call, "gemini")["decision"] == "deny"
    memory = house.process.settings.root / FILE
    for content in (b"", b'{"files":"\xff"}', b'{"files":1}', b"[" * 9_999):
        memory.write_bytes(content)
        answer = said(house, edit("src/a.py", "x = 1"))["hookSpecificOutput"]
        assert answer["permissionDecision"] == "deny"
        assert msgspec.json.decode(memory.read_bytes(), type=Memory).asked, "it is written anew"


def test_what_refuses_comes_first_then_the_most_specific_pattern(house: Opened) -> None:
    for number, pattern in enumerate(("*.py", "src/", "src/a/**", "src/a/b.py", "src/a/b*", "**")):
        decide(house, f"Part{number}", (f"One{number}", "Two"), pattern)
    decide(house, "Whole", ("Three", "Four"), "*", hold="deny")
    answer = said(house, edit("src/a/b.py", "x = 1"))["hookSpecificOutput"]
    found = answer["permissionDecisionReason"].splitlines()
    assert [one.partition(" for ")[2].partition(":")[0] for one in found] == [
        *("*", "src/a/b.py", "src/a/b*", "src/a/**", "src/")
    ]


def test_a_patch_concerns_each_of_its_files_also_one_that_goes(house: Opened) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), "src/b.py", hold="deny")
    call = patch("src/a.py", "+x = 1", "*** Delete File: src/b.py")
    assert said(house, call)["hookSpecificOutput"]["permissionDecision"] == "deny"
    listed = {"tool_name": "editFiles", "tool_input": {"files": ["src/a.py", "src/b.py"]}}
    assert said(house, listed, "vscode")["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_relative_path_begins_where_the_agent_works(house: Opened) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), "/src/web/**", hold="deny")
    folder = house.process.settings.root / "src"
    call = {**edit("web/a.py", "x = 1"), "cwd": str(folder)}
    assert said(house, call) != {}
    assert said(house, edit("web/a.py", "x = 1")) == {}


def test_what_a_decision_without_paths_refuses_is_refused_at_its_import(house: Opened) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), hold="deny")
    assert said(house, edit("src/a.py", "x = 1")) == {}
    for _ in range(2):
        answer = said(house, edit("src/a.py", "import kafka"))["hookSpecificOutput"]
        assert answer["permissionDecision"] == "deny"


def test_a_decision_that_only_a_session_file_holds_counts(house: Opened) -> None:
    decide(house, "Broker", ("NATS", "Kafka"), "src/**", hold="deny")
    decide(house, "Cache", ("Redis", "Memcached"))
    root = house.process.settings.root
    clone = opened_process(root, database=str(root / "other.db"))
    for _ in range(2):
        refused = said(clone, edit("src/a.py", "x = 1"))["hookSpecificOutput"]
        assert "(file) for src/**: Broker: NATS" in refused["permissionDecisionReason"]
    asked = said(clone, edit("b.py", "import pymemcache"))["hookSpecificOutput"]
    assert "(file): on " in asked["permissionDecisionReason"]
    clone.process.close()
