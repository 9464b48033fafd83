"""A team whose repository brings its signers, and people who sign or only claim."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.cli.program import Project

ADA: Final = "ada@example.org"
FILE: Final = ".preflights/allowed_signers"
"""The signers that a repository brings."""
STORE: Final = "Store orders in a database"
LOGIN: Final = "Add OAuth login"


class Team(Project):
    """A repository, and Ada's home, whose key signs."""

    def __init__(self, template: Path, home: Path, top: Path) -> None:
        super().__init__(top / "shop", top / "home")
        shutil.copytree(template, self.folder)
        shutil.copytree(home, self.home)
        self.own = self.home / ".config" / "preflights" / "settings.toml"
        text = self.own.read_text().replace(str(home), str(self.home))  # of a team that is copied
        sign = f'[sign]\nkey = "{self.key("ada")}"\n'
        self.own.write_text(text if "[sign]" in text else text + sign)

    def key(self, name: str) -> Path:
        """The path of a person's key, made where there is none."""
        path = self.home / name
        if not path.exists():
            words = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path))
            subprocess.run(words, check=True, capture_output=True)
        return path

    def public(self, name: str) -> str:
        """`ssh-ed25519 AAAA...`"""
        return " ".join(Path(f"{self.key(name)}.pub").read_text().split()[:2])

    def line(self, name: str = "ada", options: str = "") -> str:
        """Of a file of signers."""
        return f"{name}@example.org {options}{' ' if options else ''}{self.public(name)}\n"

    def brings(self, name: str, text: str) -> Path:
        """A file of the repository."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def lists(self, text: str) -> None:
        """The signers of the repository, whom Ada's own settings name."""
        file = self.brings(FILE, text)
        own = self.own.read_text()
        if "signers = " not in own:
            self.own.write_text(own.replace("[sign]\n", f'[sign]\nsigners = "{file}"\n'))

    def accept(
        self, value: str, *words: str, sign: bool = True, intention: str = STORE
    ) -> dict[str, Any]:
        """An accepted decision, signed by Ada or not signed."""
        field = "db_type" if intention == STORE else "auth_strategy"
        said = ("--answer", f"{field}={value}", "--accept", "--again", "--by", "Ada", "--json")
        done = self.call("start", intention, *said, *(("--sign",) if sign else ()), *words)
        assert done.code == 0, done.err
        found: dict[str, Any] = done.json
        assert found["status"] == "accepted"
        return found
