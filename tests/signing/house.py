"""The program, where its user has a key to sign with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from preflights_es.kernel.ports import Stored
from preflights_es.store import jsonl
from tests.cli.conftest import REFERENCE
from tests.cli.program import Project
from tests.signing.keys import public

ADA: Final = "ada@example.org"
AGENT: Final = {"CLAUDECODE": "1"}
REPOSITORY: Final = "01981234-0000-7abc-8def-0123456789ab"
READY: Final = ("Add OAuth login", "--answer", "auth_strategy=OAuth")


def name_repository(project: Project, repository: str = REPOSITORY) -> None:
    """The id of its repository, which all clones of one share."""
    folder = project.folder / ".preflights"
    folder.mkdir(exist_ok=True)
    (folder / "repository").write_text(f"{repository}\n")


class Signing(Project):
    """A project of a person whom git knows, with a key and a file of signers."""

    def __init__(self, folder: Path, home: Path, key: Path) -> None:
        super().__init__(folder, home)
        self.key = key
        self.signers = home / "signers"
        with (home / ".gitconfig").open("a") as file:  # soon, where it is done for each test
            file.write(f'[gpg]\nformat = ssh\n[user]\nsigningkey = "{key}"\n')
            file.write('[gpg "ssh"]\nallowedSignersFile = ~/signers\n')
        self.settings('key = "git"')
        self.signers.write_text(f"{ADA} {public(key)}\n")

    def settings(self, sign: str) -> None:
        """The table `sign` of the person's own settings."""
        file = self.home / ".config" / "preflights" / "settings.toml"
        file.write_text(f"{REFERENCE}\n[sign]\n{sign}\n")

    @contextmanager
    def surroundings(self, env: Mapping[str, str]) -> Iterator[None]:
        """This process in its folder, with its environment."""
        with self._surroundings(env):
            yield

    def ready(self, *words: str) -> str:
        """The id of a session whose patch waits to be accepted."""
        done = self.call("start", *(words or READY), "--json")
        assert done.json["status"] == "ready", done
        return str(done.json["session_id"])

    def signed(self, *words: str) -> str:
        """The id of a session that Ada accepted with her key."""
        said = ("--accept", "--again", "--by", "Ada", "--sign", "--json")
        done = self.call("start", *(words or READY), *said)
        assert done.code == 0, done.err
        assert done.json["signature"]["verdict"] == "signed", done.json["signature"]
        return str(done.json["session_id"])

    def acts(self, session: str) -> list[Any]:
        """The signatures in a session's events."""
        return [one["data"]["signature"] for one in self.events(session) if _bears(one["data"])]

    def verdict(self, session: str) -> str | None:
        """What is said of the acceptance in `show`."""
        found = self.show(session)["signature"]
        return str(found["verdict"]) if found else None

    def exported(self, session: str) -> tuple[Stored, ...]:
        """A session's events, as a file of sessions brings them."""
        told = self.call("admin", "export", session).out.encode()
        return tuple(jsonl.stored(told.splitlines(keepends=True), "the export"))

    def told(self, session: str, *, trail: bool = True) -> str:
        """All that commands say of a session, as JSON."""
        named: list[tuple[str, ...]] = [("show", session), ("decisions", "--all"), ("why", session)]
        if trail:
            named.append(("audit", "trail", "--session", session))
        found = [self.call(*words, "--json") for words in named]
        assert all(one.is_safe() for one in found), found
        return "".join(one.out + one.err for one in found)


def _bears(data: Any) -> bool:
    return bool(data) and "signature" in data
