"""`check --require-signed`: what a change accepts bears a signature of a signer of its base."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import run
from typing import Any, Final

import pytest
from msgspec.structs import replace

from preflights_es.kernel.ports import Stored
from preflights_es.settings.signing import REPOSITORY
from tests.cli.clones import SESSIONS, cloned, committed, session_file
from tests.cli.program import environment
from tests.cli.signing import FILE, LOGIN, Team
from tests.features.govern.forged import EVE, IGNORED, behind, rewritten
from tests.features.govern.test_check import checked

pytestmark = pytest.mark.needs("ssh-keygen")

RECORD: Final = "docs/decisions/0009-x.md"
CLOSED: Final = {"status": "abandoned"}


@pytest.fixture(scope="module")
def origin(template: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Team:
    """A base with signers, and a signed decision."""
    made = Team(template, home, tmp_path_factory.mktemp("team"))
    made.brings(FILE, made.line())
    made.accept("PostgreSQL")
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
    code, found, _ = checked(team, "--base", "base", "--require-signed", *words)
    return code, found


def signed_by_eve(team: Team) -> None:
    team.own.write_text(team.own.read_text().replace("home/ada", "home/eve"))
    team.key("eve")


# 1. Acceptances ------------------------------------------------------------------------------


def test_an_acceptance_that_a_signer_of_the_base_signed_passes(team: Team) -> None:
    team.accept("OAuth", intention=LOGIN)
    assert judged(team) == (0, {})


def test_what_only_the_log_holds_is_not_signed_by_the_base(team: Team) -> None:
    older = team.git("ls-files", "docs").split()
    id_ = team.accept("SQLite", "--supersedes", "ADR-0001", sign=False)["session_id"]
    session_file(team, id_).unlink()
    assert [*judged(team)[1]] == ["decision-changed"]
    team.git("checkout", "base", "--", *older)
    code, found = judged(team)
    assert (code, [one["level"] for one in found["decision-changed"]]) == (1, ["error"])


def test_an_unsigned_acceptance_is_an_error_in_a_clone_too(team: Team, tmp_path: Path) -> None:
    id_ = team.accept("OAuth", intention=LOGIN, sign=False)["session_id"]
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    (one,) = found["unsigned-acceptance"]
    assert (one["level"], one["file"]) == (
        "error",
        str(session_file(team, id_).relative_to(team.folder)),
    )
    said = "without a signature for this repository. A signer of the base has to sign it"
    assert said in one["message"]
    clone = cloned(team, tmp_path / "clone")
    assert checked(clone, "--base", "origin/base", "--require-signed")[0] == 1
    assert checked(clone, "--base", "origin/base")[0] == 0, "without the option nothing is asked"


def test_a_signer_whom_only_the_change_adds_signs_nothing(team: Team) -> None:
    signed_by_eve(team)
    team.brings(FILE, team.line() + team.line("eve"))
    team.accept("OAuth", intention=LOGIN)
    code, found = judged(team)
    assert (code, sorted(found)) == (1, ["signers-changed", "unsigned-acceptance"])
    assert "a key that is not among" in found["unsigned-acceptance"][0]["message"]


@pytest.mark.parametrize("kind", ["added", "deleted", "link"])
def test_a_change_of_the_signers_is_an_error(team: Team, kind: str) -> None:
    file = team.folder / FILE
    was = file.read_text()
    file.unlink()
    if kind == "added":
        file.write_text(was + team.line("eve"))
    elif kind == "link":
        team.brings("docs/names", was)
        file.symlink_to("../docs/names")
    code, found = judged(team)
    assert (code, [*found]) == (1, ["signers-changed"])
    (one,) = found["signers-changed"]
    assert (one["level"], one["file"]) == ("error", FILE)
    code, found, _ = checked(team, "--base", "base")
    assert (code, found["signers-changed"][0]["level"]) == (0, "warning")


def test_the_signers_are_those_at_the_tip_of_the_base(team: Team) -> None:
    team.git("checkout", "--quiet", "-b", "newer")
    team.brings(FILE, team.line("eve"))
    committed(team)
    team.git("checkout", "--quiet", "base")
    team.git("checkout", "--quiet", "-b", "change")
    team.accept("OAuth", intention=LOGIN)
    committed(team)
    code, found, _ = checked(team, "--base", "newer", "--require-signed")
    assert (code, [*found]) == (1, ["unsigned-acceptance"])


def test_a_key_whose_time_was_over_at_the_base_signs_nothing_new(team: Team) -> None:
    """It claims an earlier time."""
    team.brings(FILE, team.line("ada", 'valid-before="20500101"') + team.line("eve"))
    committed(team)
    team.git("branch", "--force", "base")
    team.accept("OAuth", intention=LOGIN)
    assert judged(team) == (0, {})
    team.git("checkout", "--quiet", "-B", "later", "base")
    later = {**environment(team.home), "GIT_COMMITTER_DATE": "2060-01-01T00:00:00Z"}
    words = ["git", "commit", "--quiet", "--allow-empty", "-m", "x"]
    run(words, cwd=team.folder, env=later, check=True)
    team.git("checkout", "--quiet", "main")
    code, found, _ = checked(team, "--base", "later", "--require-signed")
    assert (code, [*found]) == (1, ["unsigned-acceptance"])


def test_an_older_acceptance_is_no_matter_of_a_change(team: Team) -> None:
    team.accept("OAuth", intention=LOGIN, sign=False)
    committed(team)
    team.git("branch", "--force", "base")
    team.brings("src/web.py", "import sys\n")
    assert judged(team) == (0, {})


def test_a_proposal_of_an_agent_is_no_acceptance(team: Team) -> None:
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--json")
    done = team.call("start", LOGIN, *words, env={"CLAUDECODE": "1"})
    assert done.json["status"] == "proposed"
    assert judged(team) == (0, {})


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


def test_a_session_that_waits_in_another_folder_is_new_where_it_is_read(team: Team) -> None:
    id_ = team.accept("OAuth", intention=LOGIN, sign=False)["session_id"]
    file, aside = session_file(team, id_), team.folder / "vendor" / ".sessions"
    aside.mkdir(parents=True)
    file.rename(aside / file.name)
    committed(team)
    team.git("branch", "--force", "base")
    (aside / file.name).rename(file)
    code, found = judged(team)
    assert (code, "unsigned-acceptance" in found) == (1, True)


def test_a_session_that_settings_make_read_is_of_the_change(team: Team, tmp_path: Path) -> None:
    lies = team.folder / "docs" / "decisions"
    before = {path: path.read_bytes() for path in lies.rglob("*") if path.is_file()}
    team.accept("MySQL", "--supersedes", uid_of(team), sign=False)
    lies.rename(team.folder / "vendor")
    for path, content in before.items():
        team.brings(str(path.relative_to(team.folder)), content.decode())
        (team.folder / "vendor" / path.relative_to(lies)).unlink()
    committed(team)
    team.git("branch", "--force", "base")
    team.brings(".adr-dir", "vendor\n")
    committed(team)
    clone = cloned(team, tmp_path / "clone")
    code, found, shape = checked(clone, "--base", "origin/base", "--require-signed")
    assert (code, sorted(found)) == (1, ["decision-changed", "unsigned-acceptance"])
    assert "is decided in this change, and replaces ADR-0001" in str(shape["findings"])


@pytest.mark.parametrize("edits", [False, True])
def test_a_record_that_waits_in_another_folder_becomes_accepted(team: Team, edits: bool) -> None:
    text = "---\nstatus: accepted\n---\n\n# Use Kafka\n"
    team.brings("ideas/0001-a.md", text)
    assert judged(team) == (0, {})
    team.git("branch", "--force", "base")
    team.brings("ideas/0001-a.md", f"{text}\nA word more.\n" if edits else text)
    team.brings("ideas/0002-b.md", text.replace("accepted", "rejected"))
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    assert found["unsigned-acceptance"][0]["file"] == "ideas/0001-a.md"


def test_without_ssh_keygen_no_signature_passes(team: Team, tmp_path: Path) -> None:
    team.accept("OAuth", intention=LOGIN)
    committed(team)
    (tmp_path / "bin").mkdir()
    folders = map(Path, os.environ["PATH"].split(os.pathsep))
    git = next(folder / "git" for folder in folders if (folder / "git").exists())
    (tmp_path / "bin" / "git").symlink_to(git)
    env = {"PATH": str(tmp_path / "bin")}
    done = team.call("check", "--base", "base", "--require-signed", "--json", env=env)
    assert done.code == 1
    assert any("not checked: ssh-keygen" in one["message"] for one in done.json["findings"])


# 2. What ends a decision of the base ------------------------------------------------------------


def uid_of(team: Team) -> str:
    """Of the decision of the base."""
    record = next((team.folder / "docs/decisions").glob("0001-*")).read_text()
    return next(one.stem for one in (team.folder / SESSIONS).glob("*.jsonl") if one.stem in record)


def changes(found: dict[str, list[Any]]) -> list[str]:
    return [f"{one['level']}: {one['message']}" for one in found.get("decision-changed", ())]


@pytest.mark.parametrize("sign", [True, False])
def test_a_superseding_is_listed_and_has_to_be_signed(team: Team, sign: bool) -> None:
    team.accept("MySQL", "--supersedes", uid_of(team), sign=sign)
    code, found = judged(team)
    (line,) = changes(found)
    assert (code, "is replaced by ADR-0002" in line) == (int(not sign), True)
    assert line.startswith("warning: " if sign else "error: ")


@pytest.mark.parametrize("sign", [True, False])
def test_an_erasure_is_listed_and_has_to_be_signed(team: Team, sign: bool) -> None:
    words = ("--sign",) if sign else ("--no-sign",)
    done = team.call("admin", "erase", uid_of(team), "--yes", *words)
    assert done.code == 0, done.err
    code, found = judged(team)
    (line,) = changes(found)
    assert (code, "is erased" in line) == (int(not sign), True), found


@pytest.mark.parametrize("by", ["session.abandoned.v1", "clarification.topic_dismissed.v1"])
def test_a_forged_end_of_a_decision_is_listed_and_refused(team: Team, by: str) -> None:
    more = {"reason": ""} if "abandoned" in by else {}
    ended = ((by, {**EVE, **more}), ("session.closed.v1", CLOSED))
    rewritten(team, lambda events: behind(events, *ended))
    code, found = judged(team)
    (line,) = changes(found)
    assert (code, "is abandoned, unsigned" in line) == (1, True)
    assert checked(team, "--base", "base")[0] == 0


@pytest.mark.parametrize("is_named", [True, False])
def test_a_new_number_passes_where_no_record_names_the_old(team: Team, is_named: bool) -> None:
    by = "ADR-0001" if is_named else "ADR-0009"
    old = f"# Use Webpack\n\nStatus: superseded by {by}\n"
    team.brings("docs/decisions/0008-use-webpack.md", old)
    committed(team)
    team.git("branch", "--force", "base")
    team.brings("docs/decisions/0001-a.md", "# A\n\nStatus: rejected\n\nDate: 2000-01-01\n")
    committed(team)
    assert team.call("admin", "renumber").code == 0
    code, found = judged(team)
    (line,) = (one for one in changes(found) if "is called ADR-0009 now" in one)
    assert (code, line.startswith("error: ")) == (int(is_named), is_named)


# 3. Records without a session ----------------------------------------------------------------


def test_a_record_that_becomes_accepted_without_a_session_is_an_error(team: Team) -> None:
    text = "---\nstatus: {}\n---\n\n# Use Kafka\n"
    team.brings(RECORD, text.format("proposed"))
    assert judged(team) == (0, {})
    team.git("branch", "--force", "base")
    team.brings(RECORD, text.format("accepted"))
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    (one,) = found["unsigned-acceptance"]
    assert (one["file"], "is the record of no session" in one["message"]) == (RECORD, True)
    team.git("branch", "--force", "base")
    team.brings(RECORD, text.format("accepted") + "\nA word more.\n")
    code, found = judged(team)
    assert (code, [*found]) == (1, ["decision-changed"]), "what it says may stand in any sentence"


def test_a_record_that_names_a_session_without_a_decision_is_one_of_no_session(team: Team) -> None:
    done = team.call("start", LOGIN, "--no-input", "--json")
    assert (done.code, done.json["status"]) == (3, "needs_answers"), done
    id_ = done.json["session_id"]
    text = f"---\nstatus: accepted\nuid: {id_[-12:]}\nsession: {id_}\n---\n\n# Use Kafka\n"
    team.brings(RECORD, text)
    code, found = judged(team)
    assert (code, [*found]) == (1, ["unsigned-acceptance"])


def test_a_session_without_a_decision_takes_no_record_away(team: Team) -> None:
    done = team.call("start", LOGIN, "--no-input", "--json")
    id_ = done.json["session_id"]
    file = session_file(team, id_)
    file.write_text(team.call("admin", "export", id_).out)
    content = file.read_text()
    file.unlink()
    text = f"---\nstatus: accepted\nuid: {id_[-12:]}\nsession: {id_}\n---\n\n# Use Kafka\n"
    team.brings(RECORD, text)
    committed(team)
    team.git("branch", "--force", "base")
    team.brings(str(file.relative_to(team.folder)), content)
    committed(team)
    clone = cloned(team, team.folder.parent / "clone")
    code, found, _ = checked(clone, "--base", "origin/base", "--require-signed")
    assert (code, [*found]) == (1, ["record-lost"])
    assert found["record-lost"][0]["file"] == RECORD


# 4. The base ---------------------------------------------------------------------------------


def test_without_a_base_the_signers_are_those_of_head(team: Team) -> None:
    team.accept("OAuth", intention=LOGIN, sign=False)
    assert checked(team, "--require-signed")[0] == 1
    team.git("add", "--all")
    code, found, _ = checked(team, "--require-signed", "--staged")
    assert (code, [*found]) == (1, ["unsigned-acceptance"])
    committed(team)
    assert checked(team, "--require-signed")[:2] == (0, {})


def test_the_repository_is_the_one_that_the_base_names(team: Team) -> None:
    """What the change names is signed by a signer of the base, and for another repository."""
    (team.folder / REPOSITORY).write_text("01981233-0000-7abc-8def-0123456789ab\n")
    team.accept("OAuth", intention=LOGIN)
    code, found = judged(team)
    assert (code, "unsigned-acceptance" in found) == (1, True)


@pytest.mark.parametrize("kind", ["missing", "link"])
@pytest.mark.parametrize("file", [FILE, REPOSITORY])
def test_a_base_without_signers_or_an_id_leaves_it_open(team: Team, kind: str, file: str) -> None:
    was = (team.folder / file).read_text()
    (team.folder / file).unlink()
    if kind == "link":
        team.brings("docs/names", was)
        (team.folder / file).symlink_to("../docs/names")
    committed(team)
    team.git("branch", "--force", "base")
    (team.folder / file).unlink(missing_ok=True)
    team.brings(file, was)
    team.accept("OAuth", intention=LOGIN, sign=False)
    committed(team)
    code, found, shape = checked(team, "--base", "base", "--require-signed")
    assert (code, [*found], shape["codes"]) == (6, ["signers-changed"], [6])
    assert found["signers-changed"][0]["level"] == "warning"
    (left,) = shape["left_out"]
    assert file in left
    assert "'base'" in left
    done = team.call("check", "--base", "base", "--require-signed")
    assert done.err.startswith("warning: not checked: signatures: ")


def test_files_have_no_base(team: Team) -> None:
    done = team.call("check", FILE, "--require-signed")
    assert (done.code, done.out) == (2, "")
    assert "--require-signed is about a change: leave the files out" in done.err


# 5. Forgeries --------------------------------------------------------------------------------


def without_signature(events: list[Stored]) -> list[Stored]:
    """An attacker takes the signature out and computes the chain anew."""

    def bare(one: Stored) -> Stored:
        data = json.loads(one.data or b"{}")
        data.pop("signature", None)
        said = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        return replace(one, data=said.encode())

    return [bare(one) if b'"sshsig"' in (one.data or b"") else one for one in events]


def another_value(events: list[Stored]) -> list[Stored]:
    """An attacker changes what was decided, and computes the chain anew."""
    return [
        replace(one, data=one.data.replace(b'"OAuth"', b'"OAuth 2"')) if one.data else one
        for one in events
    ]


def refused_and_signed(events: list[Stored]) -> list[Stored]:
    """What was signed was refused, and counts all the same."""
    at = next(at for at, one in enumerate(events) if one.type.endswith("recorded.v1"))
    data = b'{"change":"acknowledgement","reason":"already_accepted"}'
    refusal = replace(events[at], type="clarification.change_refused.v1", data=data)
    return [*events[:at], refusal, *events[at:]]


def refused_too(events: list[Stored]) -> list[Stored]:
    """An acceptance that nothing signed hides behind a refusal, and counts."""
    return refused_and_signed(without_signature(events))


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
    code, found, _ = checked(clone, "--base", "origin/base", "--require-signed")
    assert code in (1, 4)
    assert found.keys() & {"unsigned-acceptance", "unverified-session"}


@pytest.mark.parametrize("kind", ["agent", "script"])
def test_a_proposal_that_is_written_over_as_accepted_is_not_signed(
    team: Team, tmp_path: Path, kind: str
) -> None:
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--sign", "--json")
    env = {"CLAUDECODE": "1"} if kind == "agent" else {"PREFLIGHTS_ACTOR": "script:ci"}
    done = team.call("start", LOGIN, *words, env=env)
    assert done.json["status"] == "proposed", done.err

    def accepted(events: list[Stored]) -> list[Stored]:
        was, now = b'"status":"proposed"', b'"status":"accepted"'
        return [replace(one, data=(one.data or b"").replace(was, now)) for one in events]

    rewritten(team, accepted)
    committed(team)
    clone = cloned(team, tmp_path / "clone")
    code, found, _ = checked(clone, "--base", "origin/base", "--require-signed")
    assert (code, sorted(found)) == (1, ["record-differs", "unsigned-acceptance"])


def test_no_ignored_input_hides_an_acceptance(team: Team) -> None:
    """What is refused and ignored leaves the word of the person who accepted as the last one."""
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--json")
    assert team.call("start", LOGIN, *words, env={"CLAUDECODE": "1"}).json["status"] == "proposed"
    committed(team)
    team.git("branch", "--force", "base")

    def accepted(events: list[Stored]) -> list[Stored]:
        said = {one.type: json.loads(one.data or b"{}") for one in events}
        word, counts = (
            "clarification.decision_acknowledged.v1",
            "clarification.decision_recorded.v1",
        )
        refused = {"change": "acknowledgement", "reason": "patch_changed"}
        return behind(
            events,
            (word, {**said[word], **EVE}),
            ("clarification.change_refused.v1", refused),
            ("clarification.topic_dismissed.v1", EVE),
            IGNORED,
            (counts, {**said[counts], "status": "accepted"}),
        )

    rewritten(team, accepted)
    code, found = judged(team)
    assert (code, "unsigned-acceptance" in found) == (1, True), found
