"""Questions about data as sessions: at a keyboard, led by a server, erased, imported, replayed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import preflights_es
from preflights_es import Agent
from tests.cli.program import Project
from tests.cli.terminal import terminal
from tests.each import each
from tests.providers import server
from tests.providers.server import FakeAPI

pytestmark = pytest.mark.slow("whole runs")

KEYS = {"PREFLIGHTS_OPENAI_API_KEY": "sk-no-key", "PREFLIGHTS_ANTHROPIC_API_KEY": "sk-no-key"}
AMBIGUOUS = {"type": "ambiguous", "candidates": ["Ads Gross Rev", "Net Ads Rev"]}
SQL = "SELECT sum(a) AS rev FROM ads WHERE d >= '2025-11-01' AND d < '2025-12-01'"
ANSWER = {"type": "sql", "sql": SQL}
ASKED = r"Q: "


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A catalogue with two metrics that one alias names."""
    folder = tmp_path / "catalogue"
    (folder / "metrics").mkdir(parents=True)
    for name, column in (("Ads Gross Rev", "a"), ("Net Ads Rev", "n")):
        text = f"name: {name}\naliases: [rev]\nsql: SELECT sum({column}) AS rev FROM ads\n"
        (folder / "metrics" / f"{column}.yaml").write_text(text)
    return folder


# 1. At a keyboard ----------------------------------------------------------------------------


@each("last", [" Q ", "ctrl-c"])
def test_a_conversation_ends_without_a_traceback_and_can_be_gone_on_with(
    house: Project, last: str
) -> None:
    with terminal(house, "ask") as t:
        assert "or `quit`" in t.expect(ASKED)
        t.type("sessions tokens")
        told = t.expect(ASKED)
        assert "1. sessions\n  2. tokens\n" in told
        assert "preflights ask --follow-up" not in told, "the next line is the answer"
        if last == "ctrl-c":
            t.interrupt()
        else:
            t.type(last)
        assert "Answer later with: preflights ask --follow-up TEXT" in t.rest()
        assert t.code() == (130 if last == "ctrl-c" else 3), "a question is open"
    done = house.call("ask", "--follow-up", "1")
    assert done.code == 0, done.err
    assert "COUNT(*) AS sessions" in done.out
    assert house.call("replay", house.show()["session_id"]).code == 0


def test_a_question_back_is_a_menu_at_a_terminal(house: Project) -> None:
    with terminal(house, "ask", "sessions workflow=dreams", "--run") as t:
        told = t.expect(ASKED)
        assert "workflow has no *dreams*" in told
        assert "4. workflow=planning" in told
        t.type("4")
        assert "sessions workflow=planning all days" in t.rest()
        assert t.code() == 0
    with terminal(house, "ask", "what?") as t:
        told = t.expect(ASKED)
        assert "mean? There are:\n  1. abandoned" in told
        assert told.count("average age") == 1, "what a menu names stands in it alone"
        assert "28. tokens" in told
        t.type("28")
        assert "tokens all days" in t.rest()
        assert t.code() == 0


def test_enter_asks_for_each_part_by_a_menu(house: Project) -> None:
    with terminal(house, "ask") as t:
        t.expect(ASKED)
        t.type("")
        assert "24. sessions\n" in t.expect("Metric: ")
        t.type("24")
        assert "1. by workflow\n" in t.expect("By: ")
        t.type("1")
        assert "workflow=planning" in t.expect("Only: ")
        t.type("")
        assert "2. last week\n" in t.expect("Days: ")
        t.type("2026-11")
        assert "sessions by workflow 2026-11-01..2026-11-30" in t.expect(ASKED)
        t.type("")
        t.expect("Metric: ")
        t.type("quit")
        assert "question" not in t.rest()
        assert t.code() == 0


def test_the_log_shows_a_question_in_a_few_lines_and_not_the_whole_catalogue(
    house: Project,
) -> None:
    house.call("ask", "sessions?")
    told = house.call("log", house.newest()).out
    assert '"sessions?"' in told
    assert len(told.splitlines()) < 50, told


# 2. A model leads ----------------------------------------------------------------------------


@each("provider", ["anthropic", "openai"])
def test_the_smoke_test_of_the_seed(house: Project, shop: Path, provider: str) -> None:
    lines = b"rev?\n1\nall market Nov 2025\nquit\n"
    with FakeAPI() as api:
        replies = (json.dumps(AMBIGUOUS), "Which market and date?", f"Here:\n{json.dumps(ANSWER)}")
        api.script(*map(server.text, replies))
        base = getattr(api, provider)
        led = ("--provider", provider, "--base-url", base, "--catalog", str(shop))
        done = house.call("ask", "-", *led, stdin=lines, env=KEYS)
        bodies = [one.body for one in api.requests]
    assert done.code == 0, done.err
    assert done.is_safe()
    places = [
        done.out.index(part)
        for part in (
            "1. Ads Gross Rev",
            "2. Net Ads Rev",
            "Which market and date?",
            "SUM(a) AS rev",
        )
    ]
    assert places == sorted(places)
    said = [one for one in bodies[-1]["messages"] if one["role"] != "system"]
    assert [one["role"] for one in said] == ["user", "assistant"] * 2 + ["user"]
    assert "Ads Gross Rev" in str(said[2])
    assert not {"output_config", "response_format"} & set(bodies[0]), "words are allowed"
    assert house.call("replay", house.newest()).code == 0
    assert house.show()["sql"].startswith("SELECT\n  SUM(a)")


# 3. Kept, erased, moved ----------------------------------------------------------------------


def test_an_imported_question_goes_on_and_an_erased_one_is_gone(house: Project) -> None:
    found = house.call("ask", "sessions tokens", "--json").json
    (house.folder / "all.jsonl").write_text(house.call("admin", "export", found["session_id"]).out)
    there = ("--db", "copy.db")
    assert house.call("admin", "import", "all.jsonl", *there).code == 0
    assert house.call("replay", found["session_id"], *there).code == 0
    assert "AS tokens" in house.call("ask", "--follow-up", "2", *there).out
    found = house.call("ask", "sessions of Zacharias Quimby", "--json").json
    assert b"Quimby" in house.recorded()
    done = house.call("admin", "erase", found["session_id"], "--yes")
    assert done.code == 0, done.err
    assert b"Quimby" not in house.recorded()
    assert "AS tokens" in house.call("ask", "--follow-up", "tokens").out, "of the one before it"
    done = house.call("ask", "--session", found["session_id"], "--run")
    assert (done.code, "was erased: there is no query to run" in done.err) == (1, True)
    assert house.call("ask", "tokens", "--run").code == 0


def test_hostile_sql_of_a_model_is_refused_and_no_row_recorded(house: Project) -> None:
    house.call("start", "Let Zacharias Quimby in", "--no-input")
    before = house.recorded().count(b"Quimby")
    assert before
    with FakeAPI() as api:
        query = json.dumps({"type": "sql", "sql": "SELECT intention FROM sessions"})
        api.script(server.text(query))
        led = ("--provider", "openai", "--base-url", api.openai)
        done = house.call("ask", "what was begun?", "--run", *led, env=KEYS)
    assert "Zacharias Quimby" in done.out, done.err
    assert "Quimby" not in house.call("admin", "export", house.show()["session_id"]).out
    hostile = json.dumps({"type": "sql", "sql": "SELECT data FROM events -- \u202e"})
    with FakeAPI() as api:
        api.script(server.text(hostile))
        led = ("--provider", "openai", "--base-url", api.openai)
        done = house.call("ask", "sessions", "--run", *led, env=KEYS)
        assert len(api.requests) == 2
    assert (done.code, "SELECT" in done.out) == (1, False), done.out
    assert done.is_safe()


def test_without_the_extra_one_line_names_it(house: Project) -> None:
    found = house.call("ask", "sessions", "--json").json
    bare = (
        "import sys; sys.modules.update(sqlglot=None); "
        "from preflights_cli.main import run_command_line"
    )
    program = ("python", "-c", f"{bare}; sys.exit(run_command_line(sys.argv[1:]))")
    for words in (("replay", found["session_id"]), ("ask", "tokens"), ("ask", "--follow-up", "a")):
        done = house.run(*words, program=program)
        assert (done.code, done.err.count("\n")) == (5, 1), done
        assert re.search("extra `metrics`: `.* install .*metrics.*`$", done.err.strip())
    assert house.run("show", found["session_id"], program=program).code == 0
    assert house.call("replay", found["session_id"]).code == 0, "nothing was recorded"


# 4. The log ----------------------------------------------------------------------------------


def test_another_catalogue_never_reads_the_log_unless_it_is_named(
    house: Project, tmp_path: Path
) -> None:
    house.call("start", "Add login", "--no-input")
    metrics = tmp_path / "spy" / "metrics"
    metrics.mkdir(parents=True)
    (metrics / "a.yaml").write_text("name: spy\nsql: SELECT data FROM events\n")
    spy = ("spy", "--catalog", str(tmp_path / "spy"), "--run", "--on")
    done = house.call("ask", *spy, str(house.log))
    assert (done.code, "the table “events” is not in the catalogue" in done.err) == (1, True)
    (tmp_path / "hard.db").hardlink_to(house.log)
    done = house.call("ask", *spy, str(tmp_path / "hard.db"))
    assert (done.code, "is a log of Preflights" in done.err) == (1, True), done
    (metrics / "a.yaml").write_text("name: spy\nsql: SELECT count(*) AS n FROM sessions\n")
    done = house.call("ask", *spy, str(house.log), "--json", env={"PREFLIGHTS_PROJECT": "other"})
    assert done.json["result"]["rows"] == [[1]], "the rows of this project alone"
    (tmp_path / "text.db").write_text("no database")
    for name, why in (("new.db", "unable to open"), ("text.db", "is not a database")):
        there = str(tmp_path / name)
        done = house.call("ask", "--follow-up", "spy", "--run", "--on", there)
        assert (done.code, f"the database {there} cannot be read: " in done.err) == (5, True), done
        assert why in done.err
    assert not (tmp_path / "new.db").exists()


# 5. From Python ------------------------------------------------------------------------------


def test_an_agent_with_a_log_records_the_conversation(house: Project, shop: Path) -> None:
    folders = (shop / "metrics", shop / "snippets")
    with preflights_es.open(house.folder, database=str(house.log)) as log:
        agent = Agent(*folders, log=log)
        with pytest.raises(ValueError, match="call start first"):
            agent.follow_up("1")
        assert json.loads(agent.start("rev?")) == AMBIGUOUS
        assert [one["role"] for one in agent.messages] == ["system", "user", "assistant"]
        reply: Any = json.loads(agent.follow_up("1"))
        assert reply["sql"] == "SELECT sum(a) AS rev FROM ads"
        assert agent.messages[3] == {"role": "user", "content": "Ads Gross Rev"}
        agent.messages.clear()
        assert len(agent.messages) == 5
        first = agent.session_id
        assert log.replay(first).status == "identical"
        agent.start("what?")
        assert (len(agent.messages), agent.session_id != first) == (3, True)
    with preflights_es.open(house.folder, database=str(house.log)) as log:
        found = [one for one in log.sessions(workflow="metrics") if one.session_id == first]
        assert [one.status for one in found] == ["done"]


def test_an_agent_says_why_nothing_came_and_the_session_stays(house: Project, shop: Path) -> None:
    folders = (shop / "metrics", shop / "snippets")
    failing = house.folder / "preflights.toml"
    failing.write_text('provider = "sim"\nfaults = "malformed=1"\n')
    with preflights_es.open(house.folder, database=str(house.log)) as log:
        agent = Agent(*folders, log=log)
        with pytest.raises(ValueError, match="ask again in other words"):
            agent.start("rev?")
        assert [one["role"] for one in agent.messages] == ["system"]
        with pytest.raises(ValueError, match="ask again in other words"):
            agent.follow_up("rev?")
        assert log.show(agent.session_id).status == "stopped"
