"""A team that signs checkpoints, and an attacker who can write the repository."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from tests.cli.clones import SESSIONS
from tests.cli.conftest import GIT_CONFIG, REFERENCE
from tests.cli.program import Project

ADA: Final = "ada@example.org"
FOLDER: Final = SESSIONS / "checkpoints"
NAMESPACE: Final = "preflights-checkpoint"


def key_in(folder: Path, name: str) -> Path:
    """A new key without a passphrase."""
    path = folder / name
    words = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path))
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path


def public(key: Path) -> str:
    """A public key as a line of signers has it."""
    return " ".join(key.with_suffix(".pub").read_text().split()[:2])


class Team(Project):
    """A project whose user signs, and knows one signer."""

    @property
    def key(self) -> Path:
        """Ada's."""
        return self.home / "ada"

    @property
    def checkpoints(self) -> list[Path]:
        """The signed checkpoints, by their names."""
        return sorted((self.folder / FOLDER).glob("*.jsonl"))

    def sign(self, *args: str) -> Path:
        """A new checkpoint."""
        done = self.call("audit", "checkpoint", "--sign", "--json", *args)
        assert done.code == 0, done.err
        return self.folder / str(done.json["file"])

    def held(self, *args: str) -> Any:
        """What `audit verify` finds of checkpoints."""
        return self.call("audit", "verify", "--json", *args).json["checkpoints"]

    def settings(self, **sign: str) -> None:
        """The user's own table `sign`."""
        said = "\n".join(f"{name} = {json.dumps(value)}" for name, value in sign.items())
        file = self.home / ".config" / "preflights" / "settings.toml"
        file.write_text(f"{REFERENCE}\n[sign]\n{said}\n")

    def session_files(self) -> list[Path]:
        """Of all sessions beside the records."""
        return sorted((self.folder / SESSIONS).glob("*.jsonl"))


def made_team(top: Path) -> Team:
    """A repository, and a home with a key."""
    home = top / "home"
    (home / ".config" / "preflights").mkdir(parents=True)
    (home / ".gitconfig").write_text(GIT_CONFIG)
    team = Team(top / "house", home)
    team.folder.mkdir()
    (home / "signers").write_text(f"{ADA} {public(key_in(home, 'ada'))}\n")
    key_in(home, "eve")
    team.settings(key=str(team.key), signers=str(home / "signers"))
    team.git("init", "--quiet", "--template=")
    return team


def copied(team: Team, top: Path) -> Team:
    """The same in another folder, with a home of its own."""
    shutil.copytree(team.folder, top / "house")
    shutil.copytree(team.home, top / "home")
    made = Team(top / "house", top / "home")
    made.settings(key=str(made.key), signers=str(made.home / "signers"))
    return made


def cloned_team(team: Team, name: str = "clone") -> Team:
    """A clone without a log."""
    made = Team(team.folder.parent / name, team.home)
    team.git("clone", "--quiet", ".", str(made.folder))
    return made


def damaged_team(team: Team) -> Team:
    """The same, with a decision whose file is gone, and a checkpoint that is empty."""
    team.decided()
    signed = team.sign()
    team.session_files()[0].unlink()
    signed.with_name(f"{'0' * 64}.jsonl").write_bytes(b"")
    return team


# What an attacker writes ---------------------------------------------------------------------


def written(
    team: Team,
    tips: Sequence[tuple[str, int, str]],
    *,
    key: str = "ada",
    namespace: str = NAMESPACE,
    name: str = "",
    **scope: Any,
) -> Path:
    """A signed checkpoint in the folder, made without the program.

    Args:
        key: which key of the home signs.
        name: of the file; by default its root.
        scope: what the first line says in another way than it should.
    """
    first = {
        "signed_checkpoint": 1,
        "project": "house",
        "parents": [],
        "by": "Ada",
        "at": 1_790_000_000_000_000,
        **scope,
    }
    body = line(first) + b"".join(
        line({"session_id": one[0], "version": one[1], "hash": one[2]}) for one in tips
    )
    root = sha256(body).hexdigest()
    message = body + line({"sessions": len(tips), "root": root})
    path = team.folder / FOLDER / (name or f"{root}.jsonl")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(message + line(signature(team.home / key, namespace, message)))
    return path


def line(value: Any) -> bytes:
    """As the page writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def signature(key: Path, namespace: str, message: bytes) -> dict[str, str]:
    """The last line of a checkpoint."""
    words = ("ssh-keygen", "-Y", "sign", "-q", "-f", str(key), "-n", namespace)
    done = subprocess.run(words, input=message, capture_output=True, check=True)
    sshsig = "".join(done.stdout.decode().split("\n")[1:-2])
    return {"key": public(key).split()[1], "sshsig": sshsig}


def tips_of(team: Team) -> list[tuple[str, int, str]]:
    """Session, version and hash of the last event of each session file."""
    found = []
    for path in team.session_files():
        last = json.loads(path.read_text().splitlines()[-1])
        found.append((last["session_id"], last["version"], last["hash"]))
    return sorted(found)
