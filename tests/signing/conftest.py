"""Ada, who signs commits with a key of OpenSSH, in a repository of her own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.cli.compiler.planning import documented, planned
from tests.cli.conftest import GIT_CONFIG, REFERENCE
from tests.cli.program import Project
from tests.persons import git_repository
from tests.signing.forging import Recorded
from tests.signing.house import AGENT, READY, Signing, name_repository
from tests.signing.keys import generated

WHY: Final = ("--because", "we know it", "--consequence", "a secret to keep")
WHERE: Final = ("--path", "src/**", "--hold", "deny", "--alternative", "LDAP: too old")


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ada's key, without a passphrase."""
    return generated(tmp_path_factory.mktemp("keys") / "ada")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with an empty log."""
    top = tmp_path_factory.mktemp("template")
    (top / "home" / ".config" / "preflights").mkdir(parents=True)
    (top / "home" / ".config" / "preflights" / "settings.toml").write_text(REFERENCE)
    (top / "home" / ".gitconfig").write_text(GIT_CONFIG)
    made = Project(top / "house", top / "home")
    git_repository(made.folder)
    name_repository(made)
    assert made.call("admin", "db", "upgrade").code == 0
    return top


def copied(template: Path, to: Path, key: Path) -> Signing:
    """A house of its own; Ada's key signs, and is the only one that counts."""
    for name in ("house", "home"):
        shutil.copytree(template / name, to / name)
    return Signing(to / "house", to / "home", key)


@pytest.fixture
def house(tmp_path: Path, template: Path, key: Path) -> Signing:
    """One for one test."""
    return copied(template, tmp_path, key)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory, template: Path, key: Path) -> Recorded:
    """Sessions that were signed: a decision that keeps another one, that one, and an agent's."""
    made = copied(template, tmp_path_factory.mktemp("recorded"), key)
    older = made.signed("Add login", "--answer", "auth_strategy=Magic Link")
    newer = made.signed(*READY, *WHY, *WHERE, "--keep", f"{older[-8:]}=The old app stays")
    proposed = made.ready("Add SSO", "--answer", "auth_strategy=OAuth")
    assert made.call("accept", proposed, "--sign", "--again", env=AGENT).code == 0
    documented(made)
    plans = [planned(made, "project") for _ in range(2)]
    approved, rejected = (one["session_id"] for one in plans)
    ids = [one["artifact"]["id"] for one in plans]
    assert made.call("approve", ids[0], "--by", "Ada", "--sign").code == 0
    words = ("--reason", "too wide", "--by", "Ada", "--sign")
    assert made.call("reject", ids[1], *words).code == 0
    return Recorded(*map(made.exported, (newer, older, proposed, approved, rejected)))
