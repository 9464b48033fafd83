"""A certificate as the key to sign with, and an authority among the signers."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from preflights_es.words.signing import fingerprint
from tests.each import each
from tests.signing.house import ADA, Signing
from tests.signing.keys import generated, public

pytestmark = pytest.mark.needs("ssh-keygen")

SIGN = ("--by", "Ada", "--sign")


class Authority:
    """A key of a team that makes certificates."""

    def __init__(self, house: Signing) -> None:
        self.key = generated(house.home / "authority")
        self._house = house

    def certified(self, *words: str, key: Path | None = None) -> Path:
        """A certificate of Ada's key."""
        of = key or self._house.key
        named = words or ("-n", ADA, "-V", "-1d:+1d")
        command = ["ssh-keygen", "-q", "-s", str(self.key), "-I", "ada", *named, f"{of}.pub"]
        subprocess.run(command, check=True, capture_output=True)
        return of.with_name(f"{of.name}-cert.pub")

    def listed(self, options: str = "cert-authority", who: str = "*@example.org") -> None:
        """The only line of the file of signers."""
        self._house.signers.write_text(f"{who} {options} {public(self.key)}\n")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Ada's, of this test alone: its certificate lies beside it."""
    (tmp_path / "keys").mkdir()
    return generated(tmp_path / "keys" / "ada")


@pytest.fixture
def authority(house: Signing) -> Authority:
    made = Authority(house)
    house.settings(f'key = "{made.certified()}"')
    made.listed()
    return made


def verdict(house: Signing, *words: str) -> Any:
    """What is said of the last acceptance."""
    found = house.show(house.newest())["signature"]
    return found["verdict"], found["by"]


def accepted(house: Signing) -> str:
    done = house.call("accept", house.ready(), "--again", "--json", *SIGN)
    assert done.code == 0, done.err
    return str(done.json["session_id"])


def test_a_certificate_signs_and_its_authority_is_enough(
    house: Signing, authority: Authority
) -> None:
    session = accepted(house)
    assert verdict(house) == ("signed", ADA)
    plain = subprocess.run(
        ["ssh-keygen", "-lf", f"{house.key}.pub"], check=True, capture_output=True, text=True
    ).stdout.split()[1]
    assert f"signed by {ADA} ({plain})" in " ".join(house.call("show", session).out.split())
    (record,) = (house.folder / "docs" / "decisions").glob("*.md")
    assert plain in record.read_text()
    assert "1 act is signed by 1 signer." in house.call("audit", "verify").out
    assert house.call("replay", session).code == 0


@pytest.mark.parametrize("words", [("rsa", "-b", "2048"), ("ecdsa", "-b", "384"), ("ecdsa",)])
def test_a_certificate_is_named_by_its_key(
    house: Signing, authority: Authority, words: tuple[str, ...]
) -> None:
    key = generated(house.home / "other", "-t", *words)
    certificate = authority.certified(key=key)
    said = subprocess.run(
        ["ssh-keygen", "-lf", str(certificate)], check=True, capture_output=True, text=True
    ).stdout
    assert fingerprint(certificate.read_text().split()[1]) == said.split()[1]
    house.settings(f'key = "{certificate}"')
    accepted(house)
    assert verdict(house) == ("signed", ADA)


@each(
    "words",
    [
        ("-n", ADA, "-V", "20200101:20200201"),
        ("-n", ADA, "-V", "20900101:20910101"),
        ("-n", "ada@elsewhere.org"),
        ("-h", "-n", ADA),
    ],
)
def test_a_certificate_that_does_not_fit_names_no_signer(
    house: Signing, authority: Authority, words: tuple[str, ...]
) -> None:
    house.settings(f'key = "{authority.certified(*words)}"')
    accepted(house)
    assert verdict(house) == ("unknown_signer", "")


@each(
    "options",
    ['cert-authority,namespaces="git"', 'cert-authority,valid-before="20200101"', 'namespaces="*"'],
)
def test_an_authority_that_may_not_names_no_signer(
    house: Signing, authority: Authority, options: str
) -> None:
    authority.listed(options)
    accepted(house)
    assert verdict(house) == ("unknown_signer", "")


def test_the_key_itself_is_none_of_the_authoritys(house: Signing, authority: Authority) -> None:
    """What has a certificate beside it signs without it, unless it is named."""
    house.settings(f'key = "{house.key}"')
    accepted(house)
    assert verdict(house) == ("unknown_signer", "")


def test_a_certificate_whose_key_is_gone_is_one_line(house: Signing, authority: Authority) -> None:
    session = house.ready()
    house.key.rename(house.key.with_name("moved"))
    done = house.call("accept", session, "--again", *SIGN)
    assert (done.code, done.err.count("\n")) == (1, 1), done.err
    assert "ada-cert.pub did not sign: ssh-agent does not hold it: add it with ssh-add" in done.err
    assert house.show(session)["status"] == "ready"
