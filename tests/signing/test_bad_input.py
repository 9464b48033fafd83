"""What stands in the way of a signature: one line with the cure, nothing appended."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import preflights_es
from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.kernel.errors import Refused
from preflights_es.settings.load import load_settings
from preflights_es.use.signer import Signer
from tests.cli.program import RAW, Result
from tests.cli.signing import FILE
from tests.cli.terminal import WAIT_S, terminal
from tests.each import each
from tests.signing.forgeries import large
from tests.signing.house import READY, Signing
from tests.signing.keys import (
    Key,
    armoured,
    generated,
    hardware,
    instead_of_signing,
    program,
    public,
)
from tests.signing.test_signing import SIGN, path

pytestmark = pytest.mark.needs("ssh-keygen")

Broken = Callable[[Signing], dict[str, str] | None]
"""Breaks something, and returns the environment for it."""


def keyed(house: Signing, key: Path | str) -> None:
    house.git("config", "--global", "user.signingkey", str(key))


def wrapped(script: str) -> Callable[[Signing], dict[str, str]]:
    """Another program signs."""

    def work(house: Signing) -> dict[str, str]:
        file = '\neval "file=\\${$#}"\n'  # the last word
        return path(program(house.home / "bin", instead_of_signing(f"{file}{script}")))

    return work


def touched(script: str) -> Broken:
    """The same of a key of hardware."""

    def work(house: Signing) -> dict[str, str] | None:
        _, key = hardware(house.home / "sk", "ada")
        keyed(house, key)
        return wrapped(script)(house)

    return work


def signed_otherwise(house: Signing, namespace: str, message: bytes) -> dict[str, str]:
    """A good signature, of something else."""
    file = house.home / "other.sig"
    file.write_text(armoured(Key("ada").signed(message, namespace)))
    return wrapped(f'cp {file} "$file.sig"')(house)


def without_ssh(house: Signing) -> dict[str, str]:
    folder = house.home / "few"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git") or "")
    return {"PATH": str(folder)}


def in_the_repository(house: Signing) -> dict[str, str]:
    program(house.folder / "bin", f"touch {house.home}/ran; exit 0")
    return {"PATH": f"bin{os.pathsep}.{os.pathsep}{without_ssh(house)['PATH']}"}


def gone(house: Signing) -> None:
    keyed(house, house.home / "gone")


def public_alone(house: Signing) -> None:
    key = generated(house.home / "half")
    key.unlink()
    keyed(house, f"{key}.pub")


def a_folder(house: Signing) -> None:
    keyed(house, house.home)


def no_key(house: Signing) -> None:
    (house.home / "text").write_text("hello\n")
    (house.home / "text").chmod(0o600)
    keyed(house, house.home / "text")


def read_by_others(house: Signing) -> None:
    key = generated(house.home / "open")
    key.chmod(0o644)
    keyed(house, key)


def unknown_to_git(house: Signing) -> None:
    house.git("config", "--global", "--unset", "user.signingkey")


def by_openpgp(house: Signing) -> None:
    house.git("config", "--global", "gpg.format", "openpgp")


def of_the_repository(house: Signing) -> None:
    """What the repository's own configuration says is a stranger's word."""
    unknown_to_git(house)
    house.git("config", "user.signingkey", str(house.key))


def signers(work: Callable[[Path], object]) -> Broken:
    def broken(house: Signing) -> None:
        house.signers.unlink()
        work(house.signers)

    return broken


PRESENCE: Final = 'echo "Confirm user presence for key ED25519-SK SHA256:x" >&2\n'
TABLE: Final[list[tuple[str, Broken, str]]] = [
    ("no ssh-keygen", without_ssh, "install OpenSSH"),
    ("one of the repository alone", in_the_repository, "install OpenSSH"),
    ("a key that is gone", gone, "is not there: name another one"),
    ("a key whose private part is gone", public_alone, "add it with ssh-add"),
    ("a folder", a_folder, "is not there: name another one"),
    ("a file that is no key", no_key, "it is no key of OpenSSH"),
    ("a key that others read", read_by_others, "`chmod 600` it"),
    ("no key in git", unknown_to_git, "git has no user.signingkey: set it"),
    ("a key of the repository's", of_the_repository, "git has no user.signingkey: set it"),
    ("OpenPGP in git", by_openpgp, "git's gpg.format is 'openpgp', expected 'ssh'"),
    ("a relative path", lambda house: keyed(house, "id.pub"), "expected an absolute path"),
    ("no settings", lambda house: house.settings(""), "set `key` of [sign]"),
    (
        "a touch that did not come",
        touched(f'{PRESENCE}echo "Couldn\'t sign message: invalid format" >&2; exit 255'),
        "was not touched in time: try again",
    ),
    (
        "hardware that is not there",
        touched(f'{PRESENCE}echo "Couldn\'t sign message: device not found" >&2; exit 255'),
        "is not plugged in",
    ),
    (
        "an agent that refuses",
        wrapped('echo "Couldn\'t sign message: agent refused operation" >&2; exit 255'),
        "ssh-agent refused: unlock the key",
    ),
    ("words that are not known", wrapped('echo "\x1b[2Jwhat" >&2; exit 1'), "did not sign: "),
    ("no word", wrapped("exit 1"), "ssh-keygen made no signature"),
    ("nothing signed", wrapped("exit 0"), "ssh-keygen made no signature"),
    ("garbage", wrapped('head -c 300 /dev/urandom > "$file.sig"'), "nothing was signed"),
    ("an empty file", wrapped(': > "$file.sig"'), "nothing was signed"),
    (
        "half a signature",
        wrapped(
            'printf -- "-----BEGIN SSH SIGNATURE-----\\nU1NI\\n'
            '-----END SSH SIGNATURE-----\\n" > "$file.sig"'
        ),
        "nothing was signed",
    ),
    (
        "a signature of something else",
        lambda house: signed_otherwise(house, "preflights-acceptance", b"hello"),
        "does not verify: nothing is recorded",
    ),
    (
        "a signature for something else",
        lambda house: signed_otherwise(house, "preflights-erasure", b"hello"),
        "does not verify: nothing is recorded",
    ),
    ("signers that are a folder", signers(Path.mkdir), "it is no regular file: name a file"),
    ("signers that are a pipe", signers(os.mkfifo), "it is no regular file: name a file"),
    ("signers of 100 MB", signers(large), "it has more than 1,000,000 bytes: name a file"),
    ("signers that are gone", signers(lambda _: None), "No such file or directory: name a file"),
]


@pytest.mark.parametrize(("broken", "cure"), [pytest.param(*row[1:], id=row[0]) for row in TABLE])
def test_nothing_is_recorded_without_a_signature(house: Signing, broken: Broken, cure: str) -> None:
    id_ = house.ready()
    before = house.events(id_)
    done = house.call("accept", id_, *SIGN, env=broken(house))
    refused(done, cure)
    assert house.events(id_) == before
    assert not (house.home / "ran").exists()


def refused(done: Result, cure: str) -> None:
    """It says nothing but why, in one line."""
    assert (done.out, done.code) in (("", 1), ("", 2)), done
    (line,) = (one for one in done.err.splitlines() if "touch your" not in one)
    assert line.startswith("preflights: ")
    assert cure in line, line
    assert not RAW & set(line)


def test_a_passphrase_is_asked_for_at_no_other_place_than_a_terminal(house: Signing) -> None:
    keyed(house, generated(house.home / "locked", passphrase="correct horse"))
    id_ = house.ready()
    before = house.events(id_)
    # It leads a group of processes, so that no terminal of the tests is its own.
    with house.started("accept", id_, *SIGN, leads=True) as process:
        out, err = process.communicate()
    cure = "asked for at a terminal; or add it to ssh-agent"
    refused(Result(process.returncode, out.decode(), err.decode()), cure)
    assert house.events(id_) == before


def test_a_key_that_never_answers_is_given_up(house: Signing) -> None:
    id_ = house.ready()
    env = wrapped("sleep 60")(house)
    with house.surroundings(env), preflights_es.open(house.folder) as log:
        request = log.request(actor="Ada", kind="user")
        settings = load_settings(house.folder, os.environ)
        request.inputs.signer = Signer(settings, os.environ, timeout_s=0.3)
        with pytest.raises(Refused, match=r"did not end within .* try again"):
            clarifications_of(request).accept(id_)
    assert house.show(id_)["status"] == "ready"


def test_a_person_who_interrupts_signs_nothing(house: Signing) -> None:
    id_ = house.ready()
    env = wrapped(f"touch {house.home}/asked; sleep 60")(house)
    with terminal(house, "accept", id_, "--sign", env=env) as t:
        deadline = time.monotonic() + WAIT_S
        while not (house.home / "asked").exists():
            assert time.monotonic() < deadline, "it never asked for a signature"
            time.sleep(0.02)
        t.interrupt()
        assert t.code() == 130
    assert house.show(id_)["status"] == "ready"


@each(
    "work",
    [
        Path.mkdir,
        os.mkfifo,
        large,
        lambda file: file.symlink_to(file.parent / "other"),
        lambda file: file.write_bytes(b"\xff"),
    ],
)
def test_what_a_repository_brings_stops_no_signature(
    house: Signing, work: Callable[[Path], object]
) -> None:
    file = house.folder / FILE
    file.parent.mkdir(exist_ok=True)
    (file.parent / "other").write_text("ada@example.org ssh-ed25519 AAAA\n")
    work(file)
    id_ = house.signed()
    house.signers.write_text("")
    assert house.show(id_)["signature"]["verdict"] == "unknown_signer"
    house.signers.write_text(f"ada@example.org {public(house.key)}\n")
    file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()


def test_a_session_that_start_began_waits_and_none_begins_without_a_key(house: Signing) -> None:
    words = ("start", *READY, "--accept", *SIGN)
    done = house.call(*words, env=wrapped("exit 1")(house))
    (id_,) = (one["session_id"] for one in house.call("sessions", "--json").json["sessions"])
    assert "nothing is recorded" not in done.err
    assert f"; session {id_[-8:]} waits: `preflights accept {id_[-8:]} --sign`\n" in done.err
    assert house.call("accept", id_[-8:], *SIGN).code == 0
    gone(house)
    assert house.call(*words, "--again").code == 1
    house.settings("")
    assert house.call(*words, "--again").code == 2
    assert len(house.call("sessions", "--json").json["sessions"]) == 1
