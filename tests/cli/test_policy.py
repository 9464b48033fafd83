"""`[policy] acceptances = "signed"`: what is only claimed is marked, and no agent is told of it."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp import Client

from preflights_es.settings.signing import BEFORE, FILE
from preflights_es.store import jsonl
from tests.cli.clones import SESSIONS, cloned, committed, session_file
from tests.cli.program import Project
from tests.cli.signing import LOGIN, ON, Team
from tests.cli.terminal import terminal
from tests.cli.test_hook import hook
from tests.store.given import resealed
from tests.surfaces.mcp.clients import talk, told

pytestmark = pytest.mark.needs("ssh-keygen")


@pytest.fixture
def team(template: Path, home: Path, tmp_path: Path) -> Team:
    return Team(template, home, tmp_path)


def edit(team: Project, path: str, conversation: str = "c-1") -> str:
    """What an agent is told as it edits a file; empty where nothing."""
    said = {
        "hook_event_name": "PreToolUse",
        "session_id": conversation,
        "tool_name": "Write",
        "tool_input": {"file_path": str(team.folder / path), "content": "x = 1\n"},
    }
    return json.dumps(hook(team, "PreToolUse", said))


# 1. What is shown ----------------------------------------------------------------------------


def test_what_is_claimed_is_marked_wherever_it_is_shown(team: Team) -> None:
    team.has_policy()
    id_ = team.accept("PostgreSQL", "--path", "src/**", sign=False)["session_id"]
    assert team.show(id_)["policy"] == "claimed"
    assert "\n  claimed, not signed\n" in team.call("show", id_).out
    assert "(claimed)" in team.call("decisions").out
    assert ", claimed\n" in team.call("why", id_).out
    assert "policy      claimed" in team.call("why", "src/x.py").out
    assert ", claimed" in team.call("audit", "trail", "--session", id_).out
    (row,) = team.call("decisions", "--json").json["decisions"]
    assert (row["standing"], row["policy"], row["signature"]) == ("accepted", "claimed", None)
    (value, *_) = team.call("why", id_, "--json").json["values"]
    assert value["acknowledged"]["policy"] == "claimed"
    (held,) = team.call("why", "src/x.py", "--json").json["decisions"]
    assert held["policy"] == "claimed"
    steps = team.call("audit", "trail", "--session", id_, "--json").out
    said = [json.loads(line) for line in steps.splitlines()]
    assert [one["policy"] for one in said if one["policy"]] == ["claimed"]


def test_what_is_signed_is_told_as_signed(team: Team) -> None:
    team.has_policy()
    id_ = team.accept("PostgreSQL", "--path", "src/**")["session_id"]
    assert team.show(id_)["policy"] == "signed"
    shown = team.call("show", id_).out
    assert "signed by ada@example.org (SHA256:" in shown
    assert "claimed" not in shown + team.call("decisions").out + team.call("why", id_).out
    assert "PostgreSQL (ADR-1, signed)" in team.prompt()


def test_without_a_policy_no_output_names_one(team: Team) -> None:
    team.trusts(FILE, team.line())
    id_ = team.accept("PostgreSQL", "--path", "src/**", sign=False)["session_id"]
    for words in (("show", id_), ("decisions",), ("why", id_), ("why", "src/x.py"), ("prompt",)):
        said = team.call(*words, "--json").out
        assert '"policy":"' not in said, words
    said = team.call("decisions").out + team.call("why", "src/x.py").out
    assert [word for word in said.split() if "claimed" in word] == ["(claimed)", "claimed"]
    assert "quote records, claimed and not signed.\n" in team.prompt()
    assert "PostgreSQL (ADR-1)" in team.prompt()


def test_a_brief_says_which_of_its_lines_are_signed(team: Team) -> None:
    team.trusts(FILE, team.line())
    team.accept("PostgreSQL")
    team.accept("OAuth", intention=LOGIN, sign=False)
    prompt = team.prompt()
    assert "quote records, claimed where it does not say signed.\n" in prompt
    assert "PostgreSQL (ADR-1, signed)" in prompt
    assert "OAuth (ADR-2)" in prompt
    told = team.call("prompt", "--json").json["decisions"]
    assert {one["name"]: one["signature"] for one in told} == {
        "ADR-1": "signed",
        "ADR-2": "claimed",
    }


def test_the_brief_of_a_session_says_it_as_well(team: Team) -> None:
    team.trusts(FILE, team.line())
    signed = team.accept("PostgreSQL")["session_id"]
    claimed = team.accept("OAuth", intention=LOGIN, sign=False)["session_id"]
    said = team.call("prompt", signed).out
    assert "\nIts acceptance: signed by ada@example.org (SHA256:" in said
    assert "\nWhat is in force is quoted from records, claimed and not signed.\n" in said
    said = team.call("prompt", claimed).out
    assert "\n## Decided, do not reconsider\n" in said
    assert "\nIts acceptance: claimed, not signed.\n" in said
    assert "PostgreSQL (ADR-1, signed)\n" in said
    team.has_policy()
    said = team.call("prompt", claimed).out
    assert "\n## Only claimed, ask before you follow it\n\n* Category: Authentication" in said
    assert "Decided, do not" not in said


def test_no_value_in_a_brief_passes_for_a_signature(team: Team) -> None:
    team.trusts(FILE, team.line())
    team.accept("PostgreSQL")
    team.accept("OAuth (ADR-1, signed)", intention=LOGIN, sign=False)
    assert "OAuth (ADR-1, signed) (ADR-2, claimed)\n" in team.prompt()


def test_a_trail_says_of_what_was_imported_how_it_counts(team: Team, tmp_path: Path) -> None:
    ids = [team.accept("PostgreSQL")["session_id"]]
    ids.append(team.accept("OAuth", intention=LOGIN, sign=False)["session_id"])
    file = tmp_path / "all.jsonl"
    team.call("admin", "export", "--all", "-o", str(file))
    team.has_policy()
    for one in team.log.parent.glob("log.db*"):
        one.unlink()
    assert team.call("admin", "import", str(file)).code == 0
    for id_, policy in zip(ids, ("signed", "claimed"), strict=True):
        told = team.call("audit", "trail", "--session", id_, "--json").out.splitlines()
        assert [one["policy"] for one in map(json.loads, told) if one["policy"]] == [policy]
        assert (
            ", claimed" in team.call("audit", "trail", "--session", id_).out or policy == "signed"
        )


def test_a_confirmation_says_that_it_signs_nothing(team: Team, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    id_ = team.accept("OAuth", intention=LOGIN, sign=False)["session_id"]
    team.call("admin", "export", "--all", "-o", str(file))
    team.has_policy()
    for one in team.log.parent.glob("log.db*"):
        one.unlink()
    done = team.call("admin", "import", str(file), env={"CLAUDECODE": "1"})
    assert done.code == 0, done.err
    done = team.call("accept", id_, "--by", "Ada", "--sign")
    assert (done.code, "claimed" in done.out) == (0, True), done
    assert "keeps its own signature, or has none: nothing was signed" in done.err


def test_an_agent_is_told_nothing_of_what_is_claimed(team: Team) -> None:
    team.has_policy()
    where = ("--path", "src/**", "--hold", "deny")
    claimed = team.accept("MySQL", *where, sign=False)["session_id"]
    assert "MySQL" not in team.prompt()
    assert "MySQL" not in json.dumps(hook(team, "SessionStart", {"source": "startup"}))
    assert edit(team, "src/x.py") == "{}"

    async def flow(client: Client) -> None:
        assert "MySQL" not in (await told(client, "brief", path="src/x.py"))["brief"]

    with team._surroundings({}):
        talk(team.folder, flow)
    assert "left out: 1 decision without a signature that counts" in team.call("prompt").err
    brief = team.call("prompt", "--json").json
    assert (brief["decisions"], brief["left_out"]["claimed"]) == ([], 1)
    other = team.started_session()
    assert "MySQL" not in team.call("prompt", other).out
    team.accept("OAuth", *where, intention=LOGIN)
    assert "OAuth" in edit(team, "src/x.py", "c-2")
    assert team.show(claimed)["status"] == "accepted", "the log stays as it is"


def test_no_unsigned_acceptance_takes_a_signed_decision_out(team: Team) -> None:
    team.has_policy()
    kept = team.accept("PostgreSQL", "--path", "src/**", "--hold", "deny")["session_id"]
    team.accept("MySQL", "--supersedes", "ADR-0001", sign=False)
    assert team.policies() == {"ADR-1": "stays", "ADR-2": "claimed"}
    assert team.show(kept)["policy"] == "stays"
    stays = "stays: what supersedes it is only claimed"
    assert f"\n  {stays}\n" in team.call("show", kept).out
    assert f", {stays}\n" in team.call("why", kept).out
    own = team.call("prompt", kept).out
    assert "\n## Decided, do not reconsider\n\n* Category: Database\n* Type: PostgreSQL\n" in own
    assert f", {stays}.\n" in own
    prompt = team.prompt()
    assert "PostgreSQL (ADR-1, signed, stays: what supersedes it is only claimed)" in prompt
    assert "MySQL" not in prompt
    said = edit(team, "src/x.py")
    assert '"deny"' in said
    assert "stays: what supersedes it is only claimed" in said
    (held,) = team.call("why", "src/x.py", "--json").json["decisions"]
    assert (held["policy"], held["standing"]) == ("stays", "superseded")


def test_a_recall_says_what_is_only_claimed(team: Team) -> None:
    team.accept("PostgreSQL")
    team.accept("OAuth", intention=LOGIN, sign=False)
    asked = ("recall", "which database, and what for the login?")
    assert all("policy" not in one for one in team.call(*asked, "--json").json["results"])
    assert "claimed" not in team.call(*asked).out
    team.has_policy()
    found = team.call(*asked, "--json").json["results"]
    assert {one["number"]: one["policy"] for one in found} == {1: "signed", 2: "claimed"}
    (line,) = (one for one in team.call(*asked).out.splitlines() if "claimed" in one)
    assert re.search(r"  accepted, claimed  .*\(ADR-0002, ", line)


def test_a_signed_decision_takes_the_place_of_what_a_claimed_one_superseded(team: Team) -> None:
    team.has_policy()
    team.accept("PostgreSQL")
    team.accept("MySQL", "--supersedes", "ADR-0001", sign=False)
    team.accept("MongoDB", "--supersedes", "ADR-0002")
    assert team.policies() == {"ADR-1": "signed", "ADR-2": "claimed", "ADR-3": "signed"}
    prompt = team.prompt()
    assert "MongoDB (ADR-3, signed)" in prompt
    assert "PostgreSQL" not in prompt
    assert "MySQL" not in prompt


def test_a_forged_session_by_the_uid_of_another_takes_nothing_out(team: Team) -> None:
    team.has_policy()
    old = team.accept("PostgreSQL")["session_id"]
    team.accept("SQLite", "--supersedes", "ADR-0001")
    team.accept("OAuth", intention=LOGIN)
    where = ("--supersedes", "ADR-0003")
    new = team.accept("Magic Link", *where, sign=False, intention="Add login")["session_id"]
    file, forged = session_file(team, new), f"{new[:-6]}{old[-6:]}"
    events = [*jsonl.stored(file.read_bytes().splitlines(keepends=True), "")]
    first = (events[0].data or b"").replace(new[-12:].encode(), old[-12:].encode())
    events = [msgspec.structs.replace(one, session_id=forged) for one in events]
    events = [
        msgspec.structs.replace(one, input_id=one.input_id and f"{one.input_id[:-6]}abcdef")
        for one in events
    ]
    events[0] = msgspec.structs.replace(events[0], data=first)
    session_file(team, forged).write_bytes(jsonl.lines(resealed(events)))
    rows = team.call("decisions", "--all", "--json").json["decisions"]
    assert len([row for row in rows if row["uid"] == old[-12:]]) == 2, "one is forged"
    assert "OAuth (ADR-3, signed, stays" in team.prompt()


def test_a_key_that_is_not_among_the_signers_claims(team: Team) -> None:
    team.has_policy("bob")
    team.accept("PostgreSQL")
    assert team.policies() == {"ADR-1": "claimed"}
    assert {"(unknown", "claimed)"} <= {*team.call("decisions").out.split()}
    assert "PostgreSQL" not in team.prompt()


def test_what_an_unknown_key_signed_is_not_called_unsigned(team: Team) -> None:
    team.has_policy("mallory")
    id_ = team.accept("PostgreSQL")["session_id"]
    said = team.call("show", id_).out
    assert "signed by a key that is not among your signers" in said
    assert "\n  claimed\n" in said


def test_a_record_of_another_tool_is_left_out_of_the_brief(team: Team) -> None:
    record = "---\nstatus: accepted\ndate: 2026-01-02\n---\n\n# Use Kafka for events\n"
    team.brings("docs/decisions/0009-use-kafka.md", record)
    assert "Kafka" in team.prompt()
    team.has_policy()
    assert "Kafka" not in team.prompt()
    assert "Kafka" in team.call("decisions").out


def test_the_policy_of_the_users_own_settings_counts_too(team: Team) -> None:
    team.trusts(FILE, team.line())
    team.accept("PostgreSQL", sign=False)
    team.own.write_text(team.own.read_text() + ON)
    team.brings("preflights.toml", '[policy]\nacceptances = "claimed"\n')
    assert team.policies() == {"ADR-1": "claimed"}, "a repository does not turn it off"


def test_signers_and_older_decisions_count_only_once_a_person_trusts_them(team: Team) -> None:
    team.brings("preflights.toml", ON)
    team.brings(FILE, team.line())
    team.accept("PostgreSQL")
    team.accept("OAuth", intention=LOGIN, sign=False)
    team.brings(BEFORE, team.turned_on())
    assert set(team.policies().values()) == {"claimed"}
    done = team.call("decisions")
    for name in (FILE, BEFORE):
        told = f"{name} is not trusted: look at it and trust it with `preflights trust`\n"
        assert told in done.err
    assert "PostgreSQL" not in json.dumps(hook(team, "SessionStart", {"source": "startup"}))
    assert edit(team, "src/x.py") == "{}"
    team.trusts(FILE)
    assert team.policies() == {"ADR-1": "signed", "ADR-2": "claimed"}
    team.trusts(BEFORE)
    assert team.policies() == {"ADR-1": "signed", "ADR-2": "before_policy"}
    team.brings(FILE, team.line() + team.line("eve"))
    assert f"{FILE} changed since you trusted it" in team.call("decisions").err
    assert team.policies() == {"ADR-1": "before_policy", "ADR-2": "before_policy"}


NONE_OLDER = (
    f"{BEFORE} is not there: no decision of before the policy counts without a signature "
    "(`preflights init --signed` writes it)\n"
)


def test_a_policy_without_a_list_of_older_decisions_says_so_in_one_line(team: Team) -> None:
    team.has_policy()
    team.accept("OAuth", intention=LOGIN)
    named = (("decisions",), ("decisions", "--all"), ("prompt",), ("check", "src/x.py"))
    team.brings("src/x.py", "import os\n")
    for words in named:
        assert BEFORE not in team.call(*words).err, "all are signed"
    team.accept("PostgreSQL", sign=False)
    for words in (*named, ("why", "src/x.py")):
        done = team.call(*words)
        assert done.err.count(NONE_OLDER) == 1, (words, done.err)
    committed(team)
    assert team.call("check", "--base", "HEAD").err.count(NONE_OLDER) == 1
    team.brings(BEFORE, "")
    assert f"{BEFORE} is not trusted" in team.call("decisions").err
    assert NONE_OLDER not in team.call("decisions").err, "one line"
    team.trusts(BEFORE)
    assert BEFORE not in team.call("decisions").err
    committed(team)
    assert BEFORE not in team.call("check", "--base", "HEAD").err


# 2. Turning it on ----------------------------------------------------------------------------


def test_a_person_turns_it_on_and_what_is_in_force_stays(team: Team) -> None:
    team.trusts(FILE, team.line())
    team.accept("PostgreSQL", sign=False)
    with terminal(team, "init", "--signed") as t:
        said = t.expect(r"Turn the policy on\? \[y/N\]: ")
        t.type("y")
        assert f"Wrote {BEFORE}." in t.rest()
        assert t.code() == 0
    assert "1 decision in force here would count without a signature" in said
    assert (team.folder / "preflights.toml").read_text() == ON
    assert team.policies() == {"ADR-1": "before_policy"}, "it is trusted: the person wrote it"
    assert {"(accepted", "policy)"} <= {*team.call("decisions").out.split()}
    assert "PostgreSQL (ADR-1)" in team.prompt()
    team.accept("OAuth", intention=LOGIN, sign=False)
    assert team.policies() == {"ADR-1": "before_policy", "ADR-2": "claimed"}
    with terminal(team, "init", "--signed") as t:
        t.expect(r"\[y/N\]: ")
        t.type("y")
        assert f"{BEFORE} is there, and stays as it is" in t.rest()
    assert team.policies() == {"ADR-1": "before_policy", "ADR-2": "claimed"}


def test_what_would_count_without_a_signature_is_named(team: Team) -> None:
    team.trusts(FILE, team.line())
    team.accept("PostgreSQL", sign=False)
    team.accept("OAuth", intention=LOGIN)
    with terminal(team, "init", "--signed") as t:
        said = t.expect(r"\[y/N\]: ")
        t.type("n")
        t.rest()
    assert "1 decision in force here would count without a signature" in said
    assert "  ADR-0001 Use PostgreSQL" in said
    assert "OAuth" not in said


def test_a_person_who_says_no_writes_nothing(team: Team) -> None:
    with terminal(team, "init", "--signed") as t:
        t.expect(r"\[y/N\]: ")
        t.type("n")
        assert "the policy stays as it is" in t.rest()
        assert t.code() == 1
    assert not (team.folder / "preflights.toml").exists()
    assert not (team.folder / BEFORE).exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"{ON}"),
        ('tasks = "work"\n', f'tasks = "work"\n\n{ON}'),
        ('tasks = "work"', f'tasks = "work"\n\n{ON}'),
        (ON, ON),
    ],
    ids=["empty", "a key", "no last line", "on already"],
)
def test_the_settings_file_keeps_what_it_says(team: Team, before: str, after: str) -> None:
    file = team.brings("preflights.toml", before)
    with terminal(team, "init", "--signed") as t:
        t.expect(r"\[y/N\]: ")
        t.type("y")
        t.rest()
        assert t.code() == 0
    assert file.read_text() == after
    assert team.call("decisions").code == 0


def test_the_table_stands_in_pyproject_where_the_settings_do(team: Team) -> None:
    file = team.brings("pyproject.toml", '[tool.preflights]\ntasks = "work"\n')
    with terminal(team, "init", "--signed") as t:
        t.expect(r"\[y/N\]: ")
        t.type("y")
        t.rest()
    assert '[tool.preflights.policy]\nacceptances = "signed"\n' in file.read_text()
    assert not (team.folder / "preflights.toml").exists()
    team.accept("PostgreSQL", sign=False)
    assert team.policies() == {"ADR-1": "claimed"}


def test_a_table_that_says_otherwise_is_left_to_the_person(team: Team) -> None:
    file = team.brings("preflights.toml", '[policy]\nacceptances = "claimed"\n')
    with terminal(team, "init", "--signed") as t:
        t.expect(r"\[y/N\]: ")
        t.type("y")
        assert "add this yourself" in t.rest()
        assert t.code() == 1
    assert file.read_text() == '[policy]\nacceptances = "claimed"\n'


def test_no_agent_and_no_script_turns_it_on(team: Team) -> None:
    assert "only a person at a terminal can" in team.call("init", "--signed").err
    with terminal(team, "init", "--signed", env={"CLAUDECODE": "1"}) as t:
        assert "so an agent (claude-code) is at work" in " ".join(t.rest().split())
        assert t.code() == 1
    assert not (team.folder / BEFORE).exists()
    done = team.call("init", "--signed", "--plans")
    assert (done.code, "--signed goes alone" in done.err) == (2, True)


# 3. What the list of older decisions proves ----------------------------------------------------


def older(team: Team) -> tuple[str, str, int, str]:
    """A decision of before the policy: its id, and the line that keeps it."""
    id_ = team.accept("PostgreSQL", sign=False)["session_id"]
    line = team.turned_on().splitlines()[-1]
    session, version, hash_ = line.split()
    assert session == id_
    return id_, line, int(version), hash_


def test_it_stays_when_its_session_goes_on(team: Team) -> None:
    _, line, version, _ = older(team)
    team.has_policy()
    team.trusts(BEFORE, line)
    team.accept("MySQL", "--supersedes", "ADR-0001", sign=False)
    assert len(team.events(line.split()[0])) > version
    assert team.policies() == {"ADR-1": "stays", "ADR-2": "claimed"}
    assert "PostgreSQL (ADR-1, stays" in team.prompt()


@pytest.mark.parametrize(
    "forged",
    [
        "{session} {version} " + "0" * 64,
        "{session} 3 {third}",
        "{session} 9999 {hash}",
        "{other} {version} {hash}",
        "{session} {version} {hash}x",
        "# {session} {version} {hash}",
        "",
    ],
    ids=["hash", "before it was accepted", "no such event", "session", "line", "comment", "empty"],
)
def test_a_line_that_does_not_fit_keeps_nothing(team: Team, forged: str) -> None:
    id_, _, version, hash_ = older(team)
    third = team.events(id_)[2]["hash"]
    other = f"{id_[:-1]}{'0' if id_[-1] != '0' else '1'}"
    team.has_policy()
    said = {"session": id_, "version": version, "hash": hash_, "third": third, "other": other}
    team.trusts(BEFORE, forged.format(**said) + "\n")
    assert team.policies() == {"ADR-1": "claimed"}
    assert team.call("decisions").is_safe()


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "large", "latin"])
def test_an_odd_list_keeps_nothing_and_is_one_line(team: Team, kind: str, tmp_path: Path) -> None:
    import os

    _, line, *_ = older(team)
    team.has_policy()
    file = team.folder / BEFORE
    if kind == "link":
        (tmp_path / "elsewhere").write_text(f"{line}\n")
        file.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        file.mkdir()
    elif kind == "fifo":
        os.mkfifo(file)
    elif kind == "large":
        file.write_text(f"{line}\n" * 20_000)
    else:
        file.write_bytes(b"\xff\n")
    assert team.policies() == {"ADR-1": "claimed"}
    done = team.call("decisions")
    assert (done.code, done.err.count("\n"), done.is_safe()) == (0, 1, True), done
    assert BEFORE in done.err


def test_a_clone_without_a_log_judges_session_files(team: Team, tmp_path: Path) -> None:
    team.has_policy()
    team.accept("PostgreSQL")
    team.accept("OAuth", intention=LOGIN, sign=False)
    committed(team)
    assert session_file(team, team.newest()).parent == team.folder / SESSIONS
    clone = cloned(team, tmp_path / "clone")
    rows = clone.call("decisions", "--json").json["decisions"]
    assert {row["policy"] for row in rows} == {"claimed"}, "its signers are not trusted there"
    from tests.trusting import trust

    trust(clone.folder / FILE, clone.home)
    rows = clone.call("decisions", "--json").json["decisions"]
    assert [row["policy"] for row in rows] == ["signed", "claimed"]
    prompt = clone.call("prompt").out
    assert "PostgreSQL" in prompt
    assert "OAuth" not in prompt


def test_a_policy_of_an_unknown_value_is_refused_with_its_line(team: Team) -> None:
    team.brings("preflights.toml", '[policy]\nacceptances = "maybe"\n')
    done: Any = team.call("decisions")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "preflights.toml, line 2: policy.acceptances" in done.err


def test_a_derived_table_that_says_otherwise_is_not_called_signed(team: Team) -> None:
    team.has_policy()
    id_ = team.accept("PostgreSQL")["session_id"]
    assert team.policies() == {"ADR-1": "signed"}
    with closing(sqlite3.connect(team.log)) as log, log:
        log.execute(
            "UPDATE projected_decisions SET decided = replace(decided, 'PostgreSQL', 'MySQL')"
        )
    (row,) = team.call("decisions", "--json").json["decisions"]
    assert (row["signature"]["verdict"], row["policy"]) == ("not_checked", "claimed")
    assert "MySQL" not in team.prompt()
    assert team.show(id_)["signature"]["verdict"] == "signed", "it is read off the events"


def test_no_name_passes_for_a_signature(team: Team) -> None:
    name = "Ada, signed by ada (SHA256:abc)"
    id_ = team.accept("PostgreSQL", "--by", name, sign=False)["session_id"]
    assert f'by "{name}", ' in team.call("why", id_).out
    assert '"Ada, signed' in team.call("decisions").out
