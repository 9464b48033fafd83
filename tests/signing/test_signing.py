"""Signing what a person accepts, by the real `ssh-keygen` and `ssh-agent`, and by hardware."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.compiler.planning import documented, planned
from tests.cli.terminal import terminal
from tests.each import each
from tests.postgres import SECOND_ENGINE
from tests.signing.house import ADA, AGENT, Signing
from tests.signing.keys import (
    ROOT,
    generated,
    hardware,
    instead_of_signing,
    program,
    public,
    touches,
)

pytestmark = pytest.mark.needs("ssh-keygen")

BY: Final = ("--by", "Ada")
SIGN: Final = (*BY, "--sign")


def path(*folders: str) -> dict[str, str]:
    """An environment with programs of one's own first on PATH."""
    return {
        "PATH": os.pathsep.join((*folders, str(Path(sys.executable).parent), os.environ["PATH"]))
    }


def accepted(house: Signing, *words: str, env: Any = None, session: str = "") -> Any:
    """A session as JSON, after its acceptance."""
    done = house.call("accept", session or house.ready(), "--again", "--json", *words, env=env)
    assert done.code == 0, done.err
    return done.json


def last(house: Signing, kind: str, session: str = "") -> Any:
    """The payload of the last Input of a kind."""
    return [one["data"] for one in house.events(session) if one["type"].endswith(f"{kind}.v1")][-1]


def test_the_first_signature_names_the_repository_once(house: Signing, tmp_path: Path) -> None:
    file = house.folder / ".preflights" / "repository"
    file.unlink()
    done = house.call("accept", house.ready(), *SIGN)
    assert done.err.count(".preflights/repository names this repository in what you sign") == 1
    made = file.read_text()
    assert (house.verdict("last"), len(made.splitlines())) == ("signed", 1)
    accepted(house, *SIGN)
    assert file.read_text() == made
    for is_link in (False, True):
        file.unlink()
        aside = tmp_path / "aside"
        aside.write_text("no id\n")
        file.symlink_to(aside) if is_link else file.write_text("no id\n")
        done = house.call("accept", house.ready(), *SIGN, "--again")
        assert (done.code, "does not name this repository" in done.err) == (2, True), done
        assert aside.read_text() == "no id\n"


# 1. With which key ---------------------------------------------------------------------------


def test_a_signed_acceptance_is_shown_everywhere_as_one(house: Signing) -> None:
    id_ = house.ready()
    found = accepted(house, *SIGN, session=id_)["signature"]
    fingerprint = found["key"]
    assert found == {
        "verdict": "signed",
        "key": fingerprint,
        "by": ADA,
        "is_touched": False,
        "why": "",
    }
    said = f"signed by {ADA} ({fingerprint})"
    for words in (("show", id_), ("why", id_), ("audit", "trail", "--session", id_)):
        told = " ".join(house.call(*words).out.split())
        assert said in told, words
    assert "(signed)" in " ".join(house.call("decisions").out.split())
    (row,) = house.call("decisions", "--json").json["decisions"]
    assert (row["signature"], house.show(id_)["signature"]) == (found, found)
    (record,) = (house.folder / "docs" / "decisions").glob("*.md")
    assert f"Bears a signature of the key {fingerprint}" in record.read_text()
    assert "a comment" not in house.recorded().decode("utf-8", "replace")
    assert house.call("replay", id_).code == 0


def test_only_who_says_so_signs(house: Signing) -> None:
    assert accepted(house, *BY)["signature"] is None
    assert "signature" not in last(house, "acknowledged")
    house.settings('key = "git"\nalways = true')
    assert accepted(house, *BY)["signature"]["verdict"] == "signed"
    assert accepted(house, *BY, "--no-sign")["signature"] is None
    words = ("start", "Add SSO", "--answer", "auth_strategy=OAuth", "--accept", "--again", "--json")
    assert house.call(*words, *BY).json["signature"]["verdict"] == "signed"
    assert house.call(*words, *BY, "--no-sign").json["signature"] is None


@each("words", [("-t", "ed25519"), ("-t", "ecdsa"), ("-t", "rsa", "-b", "2048")])
def test_the_path_of_a_key_of_any_kind(house: Signing, words: tuple[str, ...]) -> None:
    key = generated(house.home / f"key-{words[1]}", *words)
    house.settings(f'key = "~/{key.name}"\nsigners = "~/mine"')
    (house.home / "mine").write_text(f"# mine\n\nada,bob@example.org {public(key)}\n")
    found = accepted(house, *SIGN)["signature"]
    assert (found["verdict"], found["by"]) == ("signed", "ada")
    (house.home / "mine").write_text("")
    assert house.verdict(house.newest()) == "unknown_signer"


@pytest.fixture
def agent(house: Signing, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a real `ssh-agent` that alone has Ada's key."""
    socket = Path("/tmp") / f"pf-agent-{os.getpid()}"  # the path of a socket has at most 107 bytes
    words = ("ssh-agent", "-a", str(socket))
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (pid,) = re.findall(r"SSH_AGENT_PID=(\d+)", told)
    env = {"SSH_AUTH_SOCK": str(socket)}
    try:
        added = ("ssh-add", "-q", str(house.key))
        subprocess.run(added, env={**os.environ, **env}, check=True, capture_output=True)
        yield env
    finally:
        subprocess.run(("ssh-agent", "-k"), env={**os.environ, **env, "SSH_AGENT_PID": pid})


def test_a_key_file_whose_private_part_only_ssh_agent_holds(
    house: Signing, agent: dict[str, str]
) -> None:
    (house.home / "half.pub").write_text(public(house.key))
    house.git("config", "--global", "user.signingkey", str(house.home / "half"))
    assert accepted(house, *SIGN, env=agent)["signature"]["verdict"] == "signed"


@each("prefix", ["", "key::"])
def test_a_public_key_whose_private_part_ssh_agent_holds(
    house: Signing, agent: dict[str, str], prefix: str
) -> None:
    house.git("config", "--global", "user.signingkey", f"{prefix}{public(house.key)} Ada's")
    assert accepted(house, *SIGN, env=agent)["signature"]["verdict"] == "signed"
    house.call("accept", house.ready(), "--again", *SIGN).refused(1, "add it with ssh-add")


def test_a_passphrase_is_asked_for_at_the_terminal(house: Signing) -> None:
    key = generated(house.home / "locked", passphrase="correct horse")
    house.git("config", "--global", "user.signingkey", str(key))
    house.signers.write_text(f"{ADA} {public(key)}\n")
    id_ = house.ready()
    with terminal(house, "accept", id_, "--sign") as t:
        t.expect("passphrase")
        t.type("wrong")
        assert t.code() == 1
    assert house.show(id_)["status"] == "ready"
    with terminal(house, "accept", id_, "--sign") as t:
        t.expect("passphrase")
        t.type("correct horse")
        assert t.code() == 0
    assert house.verdict(id_) == "signed"
    assert "correct horse" not in house.recorded().decode("utf-8", "replace")


def test_a_person_who_has_no_key_is_not_asked_first(house: Signing) -> None:
    house.settings("")
    with terminal(house, "start", "Add OAuth login", "--sign") as t:
        assert "set `key` of [sign]" in " ".join(t.rest().split())
    assert house.call("sessions", "--json").json["sessions"] == []


# 2. What else is signed ----------------------------------------------------------------------


def test_approvals_rejections_erasures_and_each_of_the_inbox_are_signed(house: Signing) -> None:
    documented(house)
    plans = planned(house, "project")
    done = house.call("approve", plans["artifact"]["id"], *SIGN, "--json")
    assert (done.code, done.json["signature"]["verdict"]) == (0, "signed"), done.err
    assert last(house, "plan_approved")["signature"]["proposal"].startswith("{")
    again = planned(house, "project")
    done = house.call("reject", again["artifact"]["id"], "--reason", "too wide", *SIGN, "--json")
    assert done.code == 0, done.err
    session = again["session_id"]
    assert '"reason":"too wide"' in last(house, "plan_rejected", session)["signature"]["proposal"]
    trail = house.call("audit", "trail", "--session", session, "--json").out
    assert trail.count('"verdict":"signed"') == 1
    id_ = house.signed()
    words = ("admin", "erase", id_, "--reason", "GDPR", "--yes", "--sign")
    done = house.call(*words)
    assert done.code == 0, done.err
    done = house.call("audit", "trail", "--session", id_, "--json")
    assert done.code == 0, done.err
    assert done.out.count('"verdict":"signed"') == 1, "that of the acceptance went"
    (new,) = (one["data"] for one in house.events(id_) if one["data"] and "at" in one["data"])
    assert new["signature"]["proposal"] == '{"by":"script","reason":"GDPR"}'
    assert house.call("audit", "verify").code == 0
    first, second = house.ready(), house.ready("Add a database", "--answer", "db_type=MySQL")
    for id_ in (first, second):
        assert house.call("accept", id_).code == 0  # by a script: a person confirms it
    done = house.call("inbox", "--all", *SIGN)
    assert (done.code, done.out.splitlines()[-1]) == (0, "Confirmed 2 of 2 proposals."), done
    assert (house.verdict(first), house.verdict(second)) == ("signed", "signed")


# 3. Once, and of what was seen ---------------------------------------------------------------


@pytest.fixture
def sk(house: Signing) -> dict[str, str]:
    """Ada's key is hardware; a person touches it at once."""
    folder, key = hardware(house.home / "sk", "ada")
    house.git("config", "--global", "user.signingkey", str(key))
    house.signers.write_text(f"{ADA} {public(key)}\n")
    return path(folder)


def test_a_touch_is_told_of_and_shown(house: Signing, sk: dict[str, str]) -> None:
    done = house.call("accept", house.ready(), *SIGN, env=sk)
    assert done.code == 0, done.err
    assert "touch your hardware key now" in done.err
    found = house.show()["signature"]
    assert (found["verdict"], found["is_touched"]) == ("signed", True)
    assert ", hardware key)" in house.call("show", house.newest()).out


def test_a_key_that_is_used_again_signs_nothing_more(house: Signing, sk: dict[str, str]) -> None:
    id_ = house.ready()
    words = ("--key", "k1", *SIGN)
    before = accepted(house, *words, session=id_, env=sk)
    again = accepted(house, *words, session=id_, env=sk)
    assert before["version"] == again["version"]
    assert touches(house.home / "sk") == 1
    unsigned = accepted(house, "--key", "k1", *BY, session=id_)
    assert unsigned["signature"] == before["signature"], "the same Input, without its signature"


def meanwhile(house: Signing, *words: str) -> dict[str, str]:
    """What happens to the log while a person looks for the key."""
    flag = house.home / "done"
    told = " ".join(f"'{word}'" for word in words)
    script = f"test -e {flag} || {{ touch {flag}; ({told}) </dev/null >{flag}.log 2>&1; }}"
    keygen = 'exec "$REAL" "$@"'
    real = subprocess.run(("which", "ssh-keygen"), capture_output=True, text=True).stdout.strip()
    lines = (f"echo touch >> {house.home}/touches", script, keygen)
    return {**path(program(house.home / "bin", instead_of_signing("\n".join(lines)))), "REAL": real}


def moves(house: Signing, session: str, database: str = "") -> dict[str, str]:
    """Another program lets a session move."""
    there = f"cd {ROOT} && {sys.executable} -m tests.signing.mover"
    return meanwhile(house, "sh", "-c", f'{there} {house.folder} "{database}" {session}')


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def database(request: pytest.FixtureRequest, house: Signing) -> tuple[str, ...]:
    """Words of the log: its file, or a server."""
    if request.param == "sqlite":
        return ()
    house.named()
    return ("--db", str(request.getfixturevalue("postgres")))


class Log:
    """A house whose log lies where the words say."""

    def __init__(self, house: Signing, words: tuple[str, ...]) -> None:
        self.house, self.words = house, words

    def call(self, *words: str, env: Any = None) -> Any:
        return self.house.call(*words, *self.words, env=env)

    def ready(self) -> str:
        words = ("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", "--json")
        return str(self.call(*words).json["session_id"])

    def show(self, session: str) -> Any:
        return self.call("show", session, "--json").json


def test_a_session_that_moved_while_it_was_signed_is_as_it_was(
    house: Signing, database: tuple[str, ...]
) -> None:
    log = Log(house, database)
    id_ = log.ready()
    env = moves(house, id_, *database[1:])
    before = log.show(id_)["version"]
    done = log.call("accept", id_, *SIGN, env=env)
    assert done.code == 1, done
    assert f"session {id_[-8:]} is at version {before + 2}, not {before}" in done.err
    assert done.err.count("\n") == 1 + done.err.count("signs")
    found = log.show(id_)
    assert (found["version"], found["status"]) == (before + 2, "ready")
    done = log.call("accept", id_, *SIGN, env=env)
    assert done.code == 0, done.err
    assert log.show(id_)["signature"]["verdict"] == "signed"


def test_an_older_decision_that_moved_is_named(house: Signing, database: tuple[str, ...]) -> None:
    log = Log(house, database)
    older = log.call(
        "start", "Add login", "--answer", "auth_strategy=Magic Link", "--accept", *BY, "--json"
    ).json
    id_ = log.ready()
    env = moves(house, older["session_id"], *database[1:])
    words = ("accept", id_, *SIGN, "--supersedes", older["uid"])
    before = log.show(id_)["version"]
    log.call(*words, env=env).refused(1, f"session {older['session_id'][-8:]} is at version")
    found = log.show(id_)
    assert (found["version"], found["status"]) == (before, "ready")
    assert log.call(*words, env=env).code == 0
    assert log.show(id_)["signature"]["verdict"] == "signed"
    assert log.show(older["session_id"])["status"] == "superseded"


def test_a_number_that_was_taken_meanwhile_needs_no_second_touch(
    house: Signing, database: tuple[str, ...]
) -> None:
    log = Log(house, database)
    id_ = log.ready()
    words = ("start", "Add a database", "--answer", "db_type=MySQL", "--accept", "--by", "Bob")
    env = meanwhile(house, "preflights", *words, *database)
    done = log.call("accept", id_, *SIGN, "--json", env=env)
    assert done.code == 0, done.err
    assert (done.json["number"], done.json["signature"]["verdict"]) == (2, "signed")
    assert touches(house.home) == 1
    assert log.call("audit", "verify").code == 0
    assert log.call("replay", id_).code == 0


# 4. Within an agent's environment ------------------------------------------------------------


def stands(house: Signing, env: dict[str, str], *words: str) -> tuple[str, str, str | None]:
    """Status, who acknowledged it, and what the signature proves, of what an agent accepts."""
    found = accepted(house, "--sign", *words, env={**env, **AGENT})
    by = last(house, "acknowledged", found["session_id"])
    return found["status"], by["actor"]["kind"], house.verdict(found["session_id"])


def test_an_ordinary_key_leaves_what_an_agent_accepts_a_proposal(house: Signing) -> None:
    assert stands(house, {}) == ("proposed", "agent", None)
    assert '"by":"agent"' in last(house, "acknowledged")["signature"]["proposal"]
    house.call("accept", house.ready(), "--again", *SIGN, env=AGENT).refused(1, "a person accepts")


def test_a_touched_key_of_a_signer_makes_it_a_persons(house: Signing, sk: dict[str, str]) -> None:
    assert stands(house, sk) == ("accepted", "user", "signed")
    new = last(house, "acknowledged")
    assert new["relayed_by"]["kind"] == "agent"
    assert new["evidence"]["variables"], "what showed that an agent was there"
    assert touches(house.home / "sk") == 1
    assert stands(house, sk, "--by", "Grace") == ("accepted", "user", "signed")
    assert last(house, "acknowledged")["actor"]["name"] == "Grace"


def test_no_other_key_of_hardware_does(house: Signing, sk: dict[str, str]) -> None:
    house.signers.write_text("")
    assert stands(house, sk) == ("proposed", "agent", None), "of no signer"
    assert touches(house.home / "sk") == 1
    assert "signature" not in last(house, "acknowledged"), "the person's is not the agent's"
    folder, key = hardware(house.home / "lazy", "ada", flags=0)
    house.signers.write_text(f"{ADA} {public(key)}\n")
    house.git("config", "--global", "user.signingkey", str(key))
    assert stands(house, path(folder)) == ("proposed", "agent", None), "made without a touch"
