"""`projections`, `decisions`, `why`, `usage` and `audit trail`."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pexpect  # type: ignore[import-untyped]  # it has no stubs
import pytest

from preflights_es.store.sql import SqlStore
from tests.cli import tampering
from tests.cli.compiler.planning import asked
from tests.cli.compiler.planning import documented as documents
from tests.cli.program import Project, environment
from tests.cli.tampering import tampered
from tests.cli.terminal import WAIT_S
from tests.cli.test_decisions import led, listed
from tests.cli.test_docs import check
from tests.cli.test_model_output import HOSTILE, said
from tests.cli.test_trail import trail
from tests.each import each
from tests.features.compiler.cases import PAYLOADS
from tests.filed_cases import filed_cases
from tests.fixed import Clock, salt
from tests.observing import accepted_in_browser
from tests.projections.given import recorded
from tests.projections.recording import golden
from tests.providers.server import FakeAPI
from tests.scripted import asks

FILED = filed_cases(__file__)

SIM = ("--provider", "sim", "--seed", "3")
ON_FILE = ("--path", "src/app.py")
COMMANDS = (
    ("decisions",),
    ("decisions", "--all"),
    ("usage",),
    ("admin", "projections", "status"),
    ("admin", "projections", "rebuild"),
    ("audit", "trail"),
)


# 1. All of them ------------------------------------------------------------------------------


@each("words", COMMANDS)
def test_of_an_empty_log_every_command_says_so(house: Project, words: tuple[str, ...]) -> None:
    done = house.call(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out
    assert house.call(*words, "--json").code == 0


@pytest.mark.slow("whole runs")
def test_the_json_of_every_command_is_what_is_documented(house: Project, api: FakeAPI) -> None:
    former = house.decided()
    why = ("--because", "It fits", "--consequence", "One more", "--alternative", "SAML: slow")
    later = house.decided("Add SSO", "--supersedes", former["uid"], *why)
    beside = ("--answer", "auth_strategy=SAML", "--keep", f"{later['uid']}=Partners need it")
    kept = house.call("start", "Add login", *beside, "--accept", "--by", "Ada", "--json").json
    both = ("--supersedes", later["uid"], "--supersedes", kept["session_id"])
    link = ("--answer", "auth_strategy=Magic Link", *both, "--accept", "--by", "Ada")
    assert house.call("start", "Add login", *link).code == 0
    house.call("start", "Deploy it somewhere", "--answer", "hosting=Cloud", "--accept")
    house.call("note", "Call the dentist", *SIM)
    open_ = house.call("start", "Improve the orders", *SIM, "--no-input", "--json").json
    option = open_["questions"][0]["options"][0]
    house.call("answer", open_["session_id"], option, "--relayed")
    (house.folder / "preflights.toml").write_text(
        "[[prices]]\nprovider = 'sim'\nmodel = 'simllm/1'\nfrom = 2020-01-01\n"
        "input_per_million = 1\noutput_per_million = 2.5\ncurrency = 'EUR'\n"
    )
    foreign = "# 9. Use Redis\n\n## Status\n\nAccepted\n"
    (house.folder / "docs/decisions/0009-use-redis.md").write_text(foreign)
    differing = house.folder / "docs/decisions/0010-use-oauth.md"
    differing.write_text("# 10. Use OAuth\n\n## Status\n\nAccepted\n")
    several = (
        house.call("decisions", *words, "--json").json for words in (("--all",), (), ON_FILE)
    )
    check("decisions/1", *several)
    differing.unlink()
    check("record/1", house.call("show", "ADR-0009", "--json").json)
    whys = [
        house.call("why", s, "--json") for s in (former["uid"], later["uid"], open_["session_id"])
    ]
    assert [done.code for done in whys] == [0, 0, 0]
    env = asked(house, api, PAYLOADS["project"])
    project = house.newest()
    assert house.call("answer", project, "Orders, Stock", env=env).code == 3
    assert house.call("accept", project, "--by", "Ada").code == 0
    documents(house, requirements="# Shop\n\n## Stock\n")
    draft = house.call("plan", "architecture", "--json").json["artifact"]["id"]
    assert house.call("approve", draft, "--by", "Ada").code == 0
    recalled = house.call("recall", "SSO", "--json").json["session_id"]
    whys += [house.call("why", session, "--json") for session in (project, draft, recalled)]
    check("usage/1", house.call("usage", "--json").json)
    check("trail/1", *trail(house), opaque="data")
    check("projections/1", house.call("admin", "projections", "status", "--json").json)
    check("projections-rebuild/1", house.call("admin", "projections", "rebuild", "--json").json)
    foreign = _asked_again(house, "Use Redis", "docs/decisions/0009-use-redis.md")
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    house.call("start", "Use PostgreSQL", "--no-input")
    assert house.call("accept", "last", "--by", "Ada").code == 0
    uid = house.show()["uid"]
    whys.append(house.call("why", foreign, "--json"))
    _asked_again(house, "Use PostgreSQL 17", "1")
    whys.append(house.call("why", uid, "--json"))
    browsed = house.call("start", "Host it", "--answer", "hosting=Cloud", "--json").json[
        "session_id"
    ]
    accepted_in_browser(house.folder, browsed)
    whys.append(house.call("why", browsed, "--json"))
    check("why/1", *(done.json for done in whys), opaque="values[].supersedes")


def _asked_again(house: Project, text: str, typed: str) -> str:
    """Keep a decision in force instead of deciding."""
    done = house.call("start", text, "--keep-known", typed, "--by", "Ada")
    assert done.code == 0, (done.out, done.err)
    return typed


def test_a_damaged_session_hides_no_other_and_stops_no_command(house: Project) -> None:
    broken = house.decided()["session_id"]
    whole = house.decided("Add SSO")["session_id"]
    tampered(house, broken, tampering.flipped)
    for words in COMMANDS:
        done = house.call(*words)
        assert done.code == 0, (words, done)
    assert [one["session_id"] for one in listed(house)] == [whole]
    warned = house.call("audit", "trail")
    assert f"warning: damaged log: session {broken}, event 2" in warned.err
    assert broken[-8:] in warned.out
    steps = trail(house, "--session", broken)
    assert all("its payload was changed" in step["damage"] for step in steps)
    assert house.call("why", broken).code == 4


def test_what_was_erased_is_told_by_no_command(house: Project) -> None:
    session_id = house.decided("Add login for Zaphod")["session_id"]
    assert listed(house)
    assert house.call("admin", "erase", session_id, "--yes").code == 0
    for words in COMMANDS:
        for done in (house.call(*words), house.call(*words, "--json")):
            assert done.code == 0
            assert "Zaphod" not in done.out + done.err
            assert "Lovelace" not in done.out + done.err
    assert listed(house, "--all") == []
    assert house.call("why", session_id).code == 1
    steps = trail(house, "--session", session_id)
    assert any(step["erased"] and step["data"] is None for step in steps)
    assert "erased" in house.call("audit", "trail", "--session", session_id).out


@each("text", HOSTILE[:2])
def test_what_a_model_said_is_shown_and_not_obeyed(house: Project, api: FakeAPI, text: str) -> None:
    question = asks("Authentication", text, text, "OAuth")
    patch = {"category": "Authentication", "fields": [{"name": "Strategy", "value": text}]}
    api.script(*said(question, patch))
    assert led(house, api, "start", "Add login", "--no-input").code == 3
    led(house, api, "answer", "last", "1")
    for words in (*COMMANDS, ("why", "last"), ("audit", "trail", "--json")):
        done = house.call(*words)
        assert done.code in (0, 1), done
        assert done.is_safe(), words


@each("words", FILED["what_makes_no_sense_is_one_clear_line"])
def test_what_makes_no_sense_is_one_clear_line(house: Project, words: tuple[str, ...]) -> None:
    done = house.call(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("preflights: ")
    assert done.err.count("\n") == 1
    assert done.is_safe()


@each("words", [("usage",), ("audit", "trail")])
def test_a_time_that_ends_before_it_begins_is_refused_with_both_ends(
    house: Project, words: tuple[str, ...]
) -> None:
    done = house.call(*words, "--since", "2026-11-23", "--until", "2026-11-22")
    assert done.code == 2
    assert done.err.startswith(
        "preflights: found --since 2026-11-23T00:00:00.000000Z after --until "
        "2026-11-22T23:59:59.999999Z: expected an earlier time"
    )
    same = ("--since", "2026-11-22", "--until", "2026-11-22")
    assert house.call(*words, *same).code == 0


# 2. Projections ------------------------------------------------------------------------------


def states(house: Project) -> dict[str, str]:
    found = house.call("admin", "projections", "status", "--json").json["projections"]
    return {one["name"]: one["state"] for one in found}


def test_nothing_is_folded_before_a_command_asks(house: Project) -> None:
    house.call("note", "Call Bob tomorrow")
    assert set(states(house).values()) == {"never built"}
    assert house.call("admin", "projections", "status", "--json").json["waiting"] > 0
    listed(house)
    assert set(states(house).values()) == {"complete"}
    assert house.call("admin", "projections", "status", "--json").json["waiting"] == 0


def test_one_projection_is_rebuilt_and_all_where_none_is_named(house: Project) -> None:
    house.decided()
    done = house.call("admin", "projections", "rebuild", "usage", "usage")
    assert done.out == "Rebuilt usage from 1 session (11 events).\n"
    assert states(house)["usage"] == "complete"
    assert house.call("admin", "projections", "rebuild", "--json").json["rebuilt"] == [
        *("artifacts", "decisions", "items"),
        *("memory", "sessions", "usage"),
    ]


def test_at_a_terminal_a_bar_shows_how_far_it_is(house: Project) -> None:
    with closing(SqlStore(str(house.log), Clock(), salt)) as store:
        recorded(store, golden("keyword_skips_the_generic_question") * 250)
    child = pexpect.spawn(
        "preflights",
        ["admin", "projections", "rebuild"],
        cwd=str(house.folder),
        env=environment(house.home),
        timeout=WAIT_S,
    )
    child.expect(r"Rebuilding .*100%")
    child.expect(r"Rebuilt artifacts, decisions, items, memory, sessions, usage from 250 sessions")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_projection_of_a_newer_program_is_refused_with_what_to_do(house: Project) -> None:
    house.decided()
    listed(house)

    def kept_by_a_newer_one(log: Any, _session_id: str) -> None:
        log.execute("UPDATE projections SET version = 99 WHERE name = 'decisions'")

    tampered(house, "", kept_by_a_newer_one)
    done = house.call("decisions")
    assert done.code == 4
    assert "a newer version of preflights keeps the projection 'decisions'" in done.err
    assert states(house)["decisions"] == "of another version"
