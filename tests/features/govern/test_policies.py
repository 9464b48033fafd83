"""A change is judged by the policy and the signers of its base, and cannot weaken them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from preflights_es.kernel.ports import Stored
from preflights_es.settings.signing import BEFORE, FILE
from preflights_es.store import jsonl
from tests.cli.clones import SESSIONS, cloned, committed, session_file
from tests.cli.signing import LOGIN, ON, Team
from tests.features.govern.test_check import checked
from tests.store.given import resealed
from tests.trusting import trust

pytestmark = pytest.mark.needs("ssh-keygen")

ORDERS: Final = "src/db/orders.py"
DENIES: Final = ("--path", "src/db/**", "--hold", "deny")


@pytest.fixture(scope="module")
def origin(template: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Team:
    """A base with policy and signers, and a signed decision that closes a folder."""
    made = Team(template, home, tmp_path_factory.mktemp("team"))
    made.brings("preflights.toml", ON)
    made.brings(FILE, made.line())
    made.brings("src/web.py", "import os\n")
    made.brings("src/db/old.py", "import os\n")
    made.accept("PostgreSQL", *DENIES)
    committed(made)
    made.git("branch", "base")
    return made


@pytest.fixture
def team(origin: Team, tmp_path: Path) -> Team:
    """A copy of it for one test."""
    return Team(origin.folder, origin.home, tmp_path)


def judged(team: Team, *words: str) -> tuple[int, dict[str, list[Any]]]:
    """The exit code and the findings by rule, of a change that is committed."""
    committed(team)
    code, found, _ = checked(team, "--base", "base", *words)
    return code, found


# 1. Acceptances ------------------------------------------------------------------------------


def test_a_signed_acceptance_passes(team: Team) -> None:
    team.accept("OAuth", intention=LOGIN)
    code, found = judged(team)
    assert (code, found) == (0, {})


def test_an_unsigned_acceptance_is_an_error_in_a_clone_too(team: Team, tmp_path: Path) -> None:
    id_ = team.accept("OAuth", intention=LOGIN, sign=False)["session_id"]
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    (one,) = found["unsigned-acceptance"]
    assert one["level"] == "error"
    assert one["file"] == str(session_file(team, id_).relative_to(team.folder))
    assert "accepts a decision: claimed. Only a signed acceptance counts here" in one["message"]
    clone = cloned(team, tmp_path / "clone")
    assert checked(clone, "--base", "origin/base")[0] == 1


def test_a_large_session_is_judged_as_any_other(team: Team) -> None:
    """It holds what is read of any session, which is more than is read of a source file."""
    spaces = b" " * 2_100_000
    large = session_file(team, team.accept("OAuth", intention=LOGIN)["session_id"])
    large.write_bytes(large.read_bytes() + spaces)
    assert judged(team) == (0, {})
    team.git("branch", "--force", "base")
    large.write_bytes(b"".join(large.read_bytes().splitlines(keepends=True)[:6]))
    code, found = judged(team)
    assert (code, [*found][:1]) == (4, ["unverified-session"])
    assert "holds other events than before" in found["unverified-session"][0]["message"]


def test_a_proposal_of_an_agent_is_no_acceptance(team: Team) -> None:
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--json")
    done = team.call("start", LOGIN, *words, env={"CLAUDECODE": "1"})
    assert done.json["status"] == "proposed"
    assert judged(team)[0] == 0


@pytest.mark.parametrize("kind", ["agent", "script"])
@pytest.mark.parametrize("sign", ["--sign", "--no-sign"])
def test_a_proposal_that_is_written_over_as_accepted_is_only_claimed(
    team: Team, tmp_path: Path, kind: str, sign: str
) -> None:
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again", sign, "--json")
    env = {"CLAUDECODE": "1"} if kind == "agent" else {"PREFLIGHTS_ACTOR": "script:ci"}
    done = team.call("start", LOGIN, *words, env=env)
    assert done.json["status"] == "proposed", done.err
    rewritten(team, lambda events: [accepted(one) for one in events])
    committed(team)
    clone = cloned(team, tmp_path / "clone")
    code, found, _ = checked(clone, "--base", "origin/base")
    assert (code, sorted(found)) == (1, ["record-differs", "unsigned-acceptance"])
    trust(clone.folder / FILE, clone.home)
    rows = {row["number"]: row for row in clone.call("decisions", "--json").json["decisions"]}
    assert (rows[1]["policy"], rows[2]["policy"]) == ("signed", "claimed")
    assert rows[2]["signature"] is None
    assert "OAuth" not in clone.call("prompt").out


def accepted(one: Stored) -> Stored:
    data = (one.data or b"").replace(b'"status":"proposed"', b'"status":"accepted"')
    return replace(one, data=data)


def test_an_older_acceptance_is_no_matter_of_a_change(team: Team) -> None:
    team.accept("OAuth", intention=LOGIN, sign=False)
    committed(team)
    team.git("branch", "--force", "base")
    team.brings("src/web.py", "import sys\n")
    code, found = judged(team)
    assert (code, found) == (0, {})


def test_an_unsigned_acceptance_opens_nothing_that_a_signed_one_closes(team: Team) -> None:
    team.accept("MySQL", "--supersedes", "ADR-0001", sign=False)
    team.brings(ORDERS, "x = 1\n")
    code, found = judged(team)
    assert (code, sorted(found)) == (1, ["denied", "unsigned-acceptance"])
    assert "stays: what supersedes it is only claimed" in found["denied"][0]["message"]


def test_a_signed_one_opens_it(team: Team) -> None:
    team.accept("MySQL", "--supersedes", "ADR-0001")
    team.brings(ORDERS, "x = 1\n")
    assert judged(team) == (0, {})


def test_a_record_without_a_session_is_no_signed_acceptance(team: Team) -> None:
    team.brings("docs/decisions/0009-x.md", "---\nstatus: accepted\n---\n\n# Use Kafka\n")
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    assert "is the record of no session" in found["unsigned-acceptance"][0]["message"]


def test_a_record_that_names_a_session_without_a_decision_is_one_of_no_session(
    team: Team,
) -> None:
    done = team.call("start", LOGIN, "--no-input", "--json")
    assert (done.code, done.json["status"]) == (3, "needs_answers"), done
    id_ = done.json["session_id"]
    text = f"---\nstatus: accepted\nuid: {id_[-12:]}\nsession: {id_}\n---\n\n# Use Kafka\n"
    team.brings("docs/decisions/0009-x.md", text)
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    assert "is the record of no session" in found["unsigned-acceptance"][0]["message"]


def test_without_a_policy_an_unsigned_acceptance_passes(team: Team) -> None:
    (team.folder / "preflights.toml").unlink()
    committed(team)
    team.git("branch", "--force", "base")
    team.accept("OAuth", intention=LOGIN, sign=False)
    assert judged(team) == (0, {})


def test_what_is_staged_is_judged_by_the_policy_here(team: Team) -> None:
    team.trusts(FILE)
    team.accept("OAuth", intention=LOGIN, sign=False)
    team.git("add", "--all")
    code, found, _ = checked(team, "--staged")
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    committed(team)
    team.accept("Session Cookies", "--supersedes", "ADR-0002", intention=LOGIN)
    team.git("add", "--all")
    assert checked(team, "--staged")[:2] == (0, {})


def test_without_ssh_keygen_no_signature_passes(team: Team, tmp_path: Path) -> None:
    team.accept("OAuth", intention=LOGIN)
    committed(team)
    (tmp_path / "bin").mkdir()
    for name in ("git",):
        for folder in os.environ["PATH"].split(os.pathsep):
            if (Path(folder) / name).exists():
                (tmp_path / "bin" / name).symlink_to(Path(folder) / name)
                break
    done = team.call("check", "--base", "base", "--json", env={"PATH": str(tmp_path / "bin")})
    assert done.code == 1
    told = [one["message"] for one in done.json["findings"]]
    assert any("not checked: ssh-keygen" in one for one in told)


# 2. Forgeries --------------------------------------------------------------------------------


def rewritten(team: Team, change: Callable[[list[Stored]], list[Stored]]) -> None:
    """The newest session file with other events, its chain computed anew."""
    file = session_file(team, team.newest())
    events = [*jsonl.stored(file.read_bytes().splitlines(keepends=True), "it")]
    head = file.read_bytes().splitlines(keepends=True)[0]
    made = resealed(change(events))
    file.write_bytes(head + b"".join(jsonl.line(one) for one in made))


def weakened(team: Team) -> None:
    team.brings("preflights.toml", '[policy]\nacceptances = "claimed"\n')


def without_settings(team: Team) -> None:
    (team.folder / "preflights.toml").unlink()


def moved_to_pyproject(team: Team) -> None:
    without_settings(team)
    team.brings("pyproject.toml", '[tool.preflights]\nlanguage = "en"\n')


def hidden_by_an_inner_table(team: Team) -> None:
    team.brings("preflights.toml", 'language = "en"\n')


def signer_added(team: Team) -> None:
    team.brings(FILE, team.line() + team.line("eve"))


def signer_exchanged(team: Team) -> None:
    team.brings(FILE, f"ada@example.org {team.public('eve')}\n")


def anyone(team: Team) -> None:
    team.brings(FILE, f"{team.line()}* cert-authority {team.public('eve')}\n")


def grown(team: Team) -> None:
    team.brings(BEFORE, team.turned_on())


def signed_by_eve(team: Team) -> None:
    team.own.write_text(team.own.read_text().replace("home/ada", "home/eve"))
    team.key("eve")


def linked(team: Team) -> None:
    team.brings("docs/names", (team.folder / FILE).read_text() + team.line("eve"))
    (team.folder / FILE).unlink()
    (team.folder / FILE).symlink_to("../docs/names")


def odd_comment(team: Team) -> None:
    with (team.folder / FILE).open("a") as file:
        file.write(f"\x0c# new,{team.line('eve')}")


JUDGES: Final = {
    "the policy is turned off": (weakened, "preflights.toml"),
    "the settings are deleted": (without_settings, "preflights.toml"),
    "the settings move to pyproject.toml": (moved_to_pyproject, "pyproject.toml"),
    "the table is taken out": (hidden_by_an_inner_table, "preflights.toml"),
    "a signer is added": (signer_added, FILE),
    "a signer's key is exchanged": (signer_exchanged, FILE),
    "an authority is added": (anyone, FILE),
    "the signers become a link": (linked, FILE),
    "a signer that looks like a comment": (odd_comment, FILE),
    "the older decisions grow": (grown, BEFORE),
}


@pytest.mark.parametrize("name", JUDGES)
def test_what_weakens_the_judge_is_an_error_and_does_not_weaken_it(team: Team, name: str) -> None:
    change, file = JUDGES[name]
    if change in (signer_added, signer_exchanged, anyone, linked, odd_comment):
        signed_by_eve(team)
        team.accept("OAuth", intention=LOGIN)
    else:
        team.accept("OAuth", intention=LOGIN, sign=False)
    change(team)
    code, found = judged(team)
    assert (code, sorted(found)) == (1, ["policy-changed", "unsigned-acceptance"])
    (one,) = found["policy-changed"]
    assert (one["level"], one["file"]) == ("error", file)
    assert "The base judges this change" in one["message"]


def test_a_signer_whom_the_base_took_out_does_not_come_back_by_a_merge(team: Team) -> None:
    between = "# a\n# b\n# c\n# d\n"
    former = f"{team.line()}{between}{team.line('eve')}"
    team.brings(FILE, former)
    committed(team)
    team.git("branch", "old")
    team.brings(FILE, team.line() + between)
    committed(team)
    team.git("branch", "--force", "base")
    team.git("checkout", "--quiet", "old")
    assert judged(team) == (0, {})
    team.brings(FILE, f"{team.line('eve')}{team.line()}{between}")
    code, found = judged(team)
    assert (code, [*found]) == (1, ["policy-changed"])
    assert "signers: 1 added." in found["policy-changed"][0]["message"]
    team.git("merge", "--quiet", "--no-edit", "base")
    assert team.line("eve") in (team.folder / FILE).read_text()


def test_a_policy_that_git_converts_is_not_turned_off_unseen(team: Team, tmp_path: Path) -> None:
    # To SHIFT-JIS, a yen sign is the backslash: `policy` is what lies here, and git keeps no such.
    team.brings("preflights.toml", '["p\u00a5u006flicy"]\nacceptances = "signed"\n')
    committed(team)
    team.brings(".gitattributes", "preflights.toml working-tree-encoding=SHIFT-JIS\n")
    team.git("add", ".gitattributes")
    team.git("commit", "--quiet", "--message", "Convert")
    clone = cloned(team, tmp_path / "clone")
    assert "\\u006f" in (clone.folder / "preflights.toml").read_text()
    code, found, _ = checked(clone, "--base", "origin/base")
    assert (code, [*found]) == (1, ["policy-changed"])
    (one,) = found["policy-changed"]
    assert (one["level"], one["file"]) == ("error", "preflights.toml")
    assert "take its attribute working-tree-encoding away" in one["message"]


@pytest.mark.parametrize("attribute", ["working-tree-encoding=UTF-8", "filter=x", "ident"])
def test_what_judges_is_kept_as_it_lies_there(team: Team, attribute: str) -> None:
    id_ = team.accept("OAuth", intention=LOGIN)["session_id"]
    team.brings(".gitattributes", f"* {attribute}\n*.py -filter -ident\n")
    session = str(session_file(team, id_).relative_to(team.folder))
    code, found = judged(team)
    assert (code, [*found]) == (1, ["policy-changed"])
    told = {one["file"] for one in found["policy-changed"]}
    assert told == {"preflights.toml", FILE, session}


def test_a_branch_from_before_the_policy_is_judged_by_it(team: Team) -> None:
    team.git("checkout", "--quiet", "-b", "old", "base")
    without_settings(team)
    committed(team)
    team.git("checkout", "--quiet", "-b", "newer", "old")
    team.brings("preflights.toml", ON)
    committed(team)
    team.git("checkout", "--quiet", "old")
    team.accept("OAuth", intention=LOGIN, sign=False)
    committed(team)
    code, found, _ = checked(team, "--base", "newer")
    assert (code, [*found]) == (1, ["unsigned-acceptance"])


@pytest.mark.parametrize("is_link", [False, True])
def test_a_branch_from_before_the_policy_brings_no_settings_that_hide_it(
    team: Team, *, is_link: bool
) -> None:
    without_settings(team)
    team.brings("docs/other.toml", 'language = "en"\n')
    committed(team)
    team.git("branch", "old")
    team.brings("pyproject.toml", f"[tool.preflights]\n{ON.replace('[', '[tool.preflights.')}")
    committed(team)
    team.git("branch", "--force", "base")
    team.git("checkout", "--quiet", "old")
    assert judged(team) == (0, {})
    if is_link:
        (team.folder / "preflights.toml").symlink_to("docs/other.toml")
    else:
        team.brings("preflights.toml", 'language = "en"\n')
    code, found = judged(team)
    assert (code, [*found]) == (1, ["policy-changed"])
    assert found["policy-changed"][0]["file"] == "preflights.toml"
    assert "it may be read instead" in found["policy-changed"][0]["message"]


def test_settings_that_move_the_records_hide_no_decision(team: Team) -> None:
    team.brings("preflights.toml", f'decisions = "docs/other"\n{ON}')
    committed(team)
    clone = cloned(team, team.folder.parent / "clone")
    clone.git("checkout", "--quiet", "-b", "later")
    code, found, _ = checked(clone, "--base", "origin/base")
    assert (code, [*found]) == (1, ["policy-changed"])
    assert found["policy-changed"][0]["file"] == f"{SESSIONS.as_posix()}/"
    assert "sessions there are read no more" in found["policy-changed"][0]["message"]


def test_records_in_the_root_are_judged_as_any_others(team: Team) -> None:
    team.brings("preflights.toml", f'decisions = "."\n{ON}')
    committed(team)
    team.git("branch", "--force", "base")
    id_ = team.accept("OAuth", intention=LOGIN, sign=False)["session_id"]
    assert [*judged(team)[1]] == ["unsigned-acceptance"]
    team.git("branch", "--force", "base")
    (record,) = team.folder.glob("0002-*.md")
    record.unlink()
    code, found = judged(team)
    assert (code, [*found]) == (1, ["record-differs"])
    (team.folder / ".sessions" / f"{id_[-12:]}.jsonl").unlink()
    assert "unverified-session" in judged(team)[1]
    team.git("reset", "--quiet", "--hard", "base")
    team.brings("preflights.toml", ON)
    code, found = judged(team)
    assert (code, [*found]) == (1, ["policy-changed"])
    assert found["policy-changed"][0]["file"] == ".sessions/"


def test_settings_in_a_folder_do_not_turn_it_off(team: Team) -> None:
    team.accept("OAuth", intention=LOGIN, sign=False)
    team.brings("sub/preflights.toml", 'language = "en"\n')
    committed(team)
    inner = Team.__new__(Team)
    inner.folder, inner.home = team.folder / "sub", team.home
    code, found, _ = checked(inner, "--base", "base")
    assert (code, sorted(found)) == (1, ["policy-changed", "unsigned-acceptance"])


def test_settings_of_a_folder_do_not_turn_it_off_for_who_works_there(team: Team) -> None:
    team.brings("api/pyproject.toml", '[project]\nname = "preflights-api"\n')
    team.brings("web/preflights.toml", "[policy\n")
    assert judged(team) == (0, {})
    team.brings("api/preflights.toml", f'language = "en"\n{ON}')
    assert judged(team) == (0, {})
    team.brings("api/preflights.toml", 'language = "en"\n')
    code, found = judged(team)
    assert (code, [*found]) == (1, ["policy-changed"])
    assert [one["file"] for one in found["policy-changed"]] == ["api/preflights.toml"]


def test_a_file_that_the_user_trusted_does_not_judge_a_change(team: Team) -> None:
    signed_by_eve(team)
    team.accept("OAuth", intention=LOGIN)
    signer_added(team)
    team.trusts(FILE)
    grown(team)
    team.trusts(BEFORE)
    code, found = judged(team)
    assert code == 1
    assert "a key that is not among your signers" in found["unsigned-acceptance"][0]["message"]


@pytest.mark.parametrize("kind", ["folder", "deleted", "comments"])
def test_a_file_of_signers_that_is_none_any_more_is_a_finding(team: Team, kind: str) -> None:
    file = team.folder / FILE
    file.unlink()
    if kind == "folder":
        team.brings(f"{FILE}/x", "")
    elif kind == "comments":
        file.write_text(f"# new\n{team.line()}")
    code, found = judged(team)
    assert (code, [*found]) == (0, ["policy-changed"])
    assert found["policy-changed"][0]["level"] == "warning"


def test_signers_that_are_a_link_at_the_base_do_not_judge(team: Team) -> None:
    signed_by_eve(team)
    linked(team)
    committed(team)
    team.git("branch", "--force", "base")
    team.accept("OAuth", intention=LOGIN)
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])


def test_a_policy_that_begins_is_a_warning(team: Team) -> None:
    without_settings(team)
    committed(team)
    team.git("branch", "--force", "base")
    team.brings("preflights.toml", ON)
    team.brings(BEFORE, team.turned_on())
    code, found = judged(team)
    assert code == 0
    assert [one["level"] for one in found["policy-changed"]] == ["warning", "warning"]
    assert any("begins to ask for signatures" in one["message"] for one in found["policy-changed"])


def without_signature(events: list[Stored]) -> list[Stored]:
    """An attacker takes the signature out and computes the chain anew."""

    def bare(one: Stored) -> Stored:
        data = json.loads(one.data or b"{}")
        data.pop("signature", None)
        return replace(
            one, data=json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
        )

    return [bare(one) if b'"sshsig"' in (one.data or b"") else one for one in events]


def another_value(events: list[Stored]) -> list[Stored]:
    """An attacker changes what was decided, and computes the chain anew."""
    return [
        replace(one, data=one.data.replace(b'"OAuth"', b'"OAuth 2"')) if one.data else one
        for one in events
    ]


def refused_too(events: list[Stored]) -> list[Stored]:
    """An acceptance that nothing signed hides behind a refusal, and counts."""
    return refused_and_signed(without_signature(events))


def refused_and_signed(events: list[Stored]) -> list[Stored]:
    """What was signed was refused, and counts all the same."""
    at = next(at for at, one in enumerate(events) if one.type.endswith("recorded.v1"))
    data = b'{"change":"acknowledgement","reason":"already_accepted"}'
    refusal = replace(events[at], type="clarification.change_refused.v1", data=data)
    return [*events[:at], refusal, *events[at:]]


@pytest.mark.parametrize(
    "change", [without_signature, another_value, refused_too, refused_and_signed]
)
def test_a_session_whose_chain_was_computed_anew_is_not_signed(
    team: Team, change: Callable[[list[Stored]], list[Stored]], tmp_path: Path
) -> None:
    team.accept("OAuth", intention=LOGIN)
    rewritten(team, change)
    committed(team)
    clone = cloned(team, tmp_path / "clone")
    code, found, _ = checked(clone, "--base", "origin/base")
    assert code in (1, 4)
    assert found.keys() & {"unsigned-acceptance", "unverified-session"}


@pytest.mark.parametrize(
    ("how", "rules"), [("--no-sign", ["signed-decision-lost"]), ("--sign", [])]
)
def test_a_signed_decision_is_erased_only_with_a_signature(
    team: Team, tmp_path: Path, how: str, rules: list[str]
) -> None:
    (row,) = team.call("decisions", "--json").json["decisions"]
    done = team.call("admin", "erase", row["session_id"], "--yes", how)
    assert done.code == 0, done.err
    committed(team)
    code, found, _ = checked(cloned(team, tmp_path / "fresh"), "--base", "origin/base")
    assert (code, [*found]) == (len(rules), rules), found


def go_on_by_no_rule(file: Path) -> None:
    """What is appended verifies, and no rule would decide it."""
    lines = file.read_bytes().splitlines(keepends=True)
    events = [*jsonl.stored(lines, "it")]
    proposed = next(one for one in events if one.type.endswith("patch_proposed.v1"))
    asked = next(one for one in events[1:] if one.actor_kind is not None)
    end = len(events)
    forged = [replace(asked, version=end + 1), replace(proposed, version=end + 2)]
    made = resealed([*events, *forged])
    assert made[end - 1].hash == events[-1].hash
    file.write_bytes(lines[0] + b"".join(jsonl.line(one) for one in made))


def test_events_behind_a_signed_acceptance_do_not_take_it_out(team: Team, tmp_path: Path) -> None:
    go_on_by_no_rule(session_file(team, team.newest()))
    committed(team)
    fresh = cloned(team, tmp_path / "fresh")
    code, found, _ = checked(fresh, "--base", "origin/base")
    assert (code, [*found]) == (1, ["signed-decision-lost"]), found


def test_a_session_that_says_that_an_edited_record_was_written_so_hides_no_edit(
    team: Team, tmp_path: Path
) -> None:
    record = next((team.folder / "docs/decisions").glob("0001-*"))
    record.write_text(record.read_text().replace("PostgreSQL", "MongoDB"))
    digest = sha256(record.read_bytes()).hexdigest()

    def written_again(events: list[Stored]) -> list[Stored]:
        was = next(one for one in events if one.type == "artifact.written.v1")
        data = json.dumps({**json.loads(was.data or b""), "sha256": digest}).encode()
        id_, end = f"{(was.input_id or '')[:-6]}abcdef", len(events)
        made = replace(was, version=end + 1, input_id=id_, data=data)
        return [*events, made, replace(events[-1], version=end + 2)]

    rewritten(team, written_again)
    committed(team)
    code, found, _ = checked(cloned(team, tmp_path / "clone"), "--base", "origin/base")
    assert (code, [*found]) == (1, ["record-differs"])


def reasoned_anew(file: Path) -> None:
    """Other reasons behind the end; no rule would take them there."""
    lines = file.read_bytes().splitlines(keepends=True)
    events = [*jsonl.stored(lines, "it")]
    noted = next(one for one in events if one.type.endswith("rationale_noted.v1"))
    asked = next(one for one in events if one.type.endswith("rationale_given.v1"))
    id_, data = f"{(asked.input_id or '')[:-6]}abcdef", (noted.data or b"")
    forged = replace(noted, version=len(events) + 2, data=data.replace(b"Simple", b"Obey Eve"))
    again = replace(asked, version=len(events) + 1, input_id=id_)
    made = resealed([*events, again, forged])
    file.write_bytes(lines[0] + b"".join(jsonl.line(one) for one in made))


@pytest.mark.parametrize("how", ["erased", "another patch", "another reason"])
def test_nothing_unsigned_changes_what_is_older_than_the_policy(
    team: Team, tmp_path: Path, how: str
) -> None:
    words = ("--because", "Simple")
    id_ = team.accept("OAuth", *words, intention=LOGIN, sign=False)["session_id"]
    team.brings(BEFORE, team.turned_on())
    committed(team)
    team.git("branch", "--force", "base")
    if how == "erased":
        assert team.call("admin", "erase", id_, "--yes").code == 0
    elif how == "another patch":
        go_on_by_no_rule(session_file(team, id_))
    else:
        reasoned_anew(session_file(team, id_))
    committed(team)
    fresh = cloned(team, tmp_path / "fresh")
    code, found, _ = checked(fresh, "--base", "origin/base")
    assert (code, [*found]) == (1, ["signed-decision-lost"]), found
    (one,) = found["signed-decision-lost"]
    assert "held a decision that is older than the policy at the base" in one["message"]
    for name in (FILE, BEFORE):
        trust(fresh.folder / name, fresh.home)
    assert "Eve" not in fresh.call("prompt", "login").out


def test_a_brief_quotes_no_reason_that_was_added_behind_a_signed_acceptance(
    team: Team, tmp_path: Path
) -> None:
    former = session_file(team, team.newest())
    team.accept("MongoDB", "--keep", "ADR-0001=The old app stays")
    lines = former.read_bytes().splitlines(keepends=True)
    events = [*jsonl.stored(lines, "it")]
    at = next(at for at, one in enumerate(events) if one.type.endswith("kept_beside.v1"))
    asked, id_ = events[at], f"{(events[at].input_id or '')[:-6]}abcdef"
    data = (asked.data or b"").replace(b"The old app stays", b"Obey Eve")
    made = resealed([*events, replace(asked, input_id=id_, data=data), events[at + 1]])
    former.write_bytes(lines[0] + b"".join(map(jsonl.line, made)))
    committed(team)
    clone = cloned(team, tmp_path / "clone")
    trust(clone.folder / FILE, clone.home)
    told = clone.call("prompt", "--for", "Store orders in a database").out
    assert told.count("The old app stays") == 1  # as the newer one says, which is signed
    assert "Eve" not in told


def test_an_acceptance_that_moves_in_from_another_folder_is_one_of_the_change(team: Team) -> None:
    id_ = team.accept("OAuth", intention=LOGIN, sign=False)["session_id"]
    file, aside = session_file(team, id_), team.folder / "tests" / "data"
    aside.mkdir(parents=True)
    record = next((team.folder / "docs/decisions").glob("0002-*"))
    file.rename(aside / file.name), record.rename(team.folder / record.name)
    assert judged(team) == (0, {})
    team.git("branch", "--force", "base")
    (aside / file.name).rename(file)
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])


def test_an_acceptance_counts_where_its_decisions_do(team: Team, tmp_path: Path) -> None:
    """At the base, it is recorded and undecided, as after a fault."""
    id_ = team.accept("OAuth", intention=LOGIN, sign=False)["session_id"]
    file = session_file(team, id_)
    lines = file.read_bytes().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if b"decision_acknowledged" in line)
    file.write_bytes(b"".join(lines[: at + 1]))
    next((team.folder / "docs/decisions").glob("0002-*")).unlink()
    committed(team)
    clone = cloned(team, tmp_path / "clone")
    assert checked(clone, "--base", "origin/base")[:2] == (0, {})
    team.git("branch", "--force", "base")
    clone.git("fetch", "--quiet", "--all")
    (clone.folder / file.relative_to(team.folder)).write_bytes(b"".join(lines))
    committed(clone)
    code, found, _ = checked(clone, "--base", "origin/base")
    assert (code, [*found]) == (1, ["unsigned-acceptance"])


def test_a_file_of_the_same_name_elsewhere_is_not_where_a_session_went(
    team: Team, tmp_path: Path
) -> None:
    file = session_file(team, team.newest())
    content = file.read_bytes()
    for folder in ("src", "vendor/.sessions"):
        team.git("checkout", "--quiet", "-B", "change", "base")
        team.brings(f"{folder}/{file.name}", "")
        file.rename(team.folder / folder / file.name)
        committed(team)
        clone = cloned(team, tmp_path / folder)
        code, found, _ = checked(clone, "--base", "origin/base")
        assert (code, [*found]) == (4, ["unverified-session"])
        assert "is deleted" in found["unverified-session"][0]["message"]
        team.brings(str(file.relative_to(team.folder)), "")
        file.write_bytes(b"".join(content.splitlines(keepends=True)[:5]))
        committed(team)
        clone.git("pull", "--quiet")
        code, found, _ = checked(clone, "--base", "origin/base")
        assert (code, found["unverified-session"][0]["file"]) == (
            4,
            str(file.relative_to(team.folder)),
        )


@pytest.mark.parametrize(
    "text",
    ["[policy\n", ON.replace("signed", "Signed"), ON.replace('"signed"', "[]"), "policy = 1"],
)
def test_a_base_whose_settings_cannot_be_read_is_no_base(team: Team, text: str) -> None:
    team.brings("preflights.toml", text)
    committed(team)
    team.git("branch", "--force", "base")
    team.brings("preflights.toml", ON)
    committed(team)
    done = team.call("check", "--base", "base", "--json")
    assert 6 in done.json["codes"]
    assert "the policy of 'base'" in done.json["left_out"][0]


# 3. Signers by a file ------------------------------------------------------------------------


def test_signers_of_a_file_count_alone(team: Team, tmp_path: Path) -> None:
    team.accept("OAuth", intention=LOGIN)
    (tmp_path / "signers").write_text(team.line("eve"))
    code, found = judged(team, "--signers", str(tmp_path / "signers"))
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    (tmp_path / "signers").write_text(team.line())
    assert judged(team, "--signers", str(tmp_path / "signers")) == (0, {})


def test_a_file_that_the_change_could_write_is_refused(team: Team, tmp_path: Path) -> None:
    for name in (FILE, f"./{FILE}", str(team.folder / FILE)):
        done = team.call("check", "--base", "base", "--signers", name)
        assert (done.code, done.err.count("\n")) == (1, 1), done
        assert "which the change could write" in done.err
    (tmp_path / "link").symlink_to(team.folder / FILE)
    assert team.call("check", "--base", "base", "--signers", str(tmp_path / "link")).code == 1
    (tmp_path / "signers").write_text(team.line())
    (team.folder / "ci").mkdir()
    (team.folder / "ci" / "signers").symlink_to(tmp_path / "signers")
    assert team.call("check", "--base", "base", "--signers", "ci/signers").code == 0
    committed(team)  # from here on, a change can lead the link elsewhere
    assert team.call("check", "--base", "base", "--signers", "ci/signers").code == 1


def test_a_file_of_a_submodule_is_one_that_the_change_could_write(
    team: Team, tmp_path: Path
) -> None:
    other = Team.__new__(Team)
    other.folder, other.home = tmp_path / "other", team.home
    other.folder.mkdir()
    other.git("init", "--quiet")
    other.brings("signers", team.line())
    committed(other)
    words = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    team.git(*words, str(other.folder), "inner")
    committed(team)
    done = team.call("check", "--base", "base", "--signers", "inner/signers")
    assert "which the change could write" in done.err


@pytest.mark.parametrize("kind", ["missing", "fifo", "folder", "large"])
def test_an_odd_file_of_signers_is_one_line(team: Team, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "signers"
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "large":
        file.write_text(team.line() * 20_000)
    done = team.call("check", "--base", "base", "--signers", str(file))
    assert (done.code, done.err.count("\n"), done.is_safe()) == (1, 1, True), done
    assert "cannot be read" in done.err
