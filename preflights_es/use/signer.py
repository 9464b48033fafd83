"""Signs acts with the key that the user signs commits with, before an act is recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import Notice, Refused, SessionMoved
from preflights_es.kernel.events import Act, Actor, Signable, Signature
from preflights_es.settings.load import Settings
from preflights_es.settings.signing import REPOSITORY, repository_made, signers_of, signing_key
from preflights_es.system import ssh
from preflights_es.system.files import Unreadable, regular
from preflights_es.words import signing
from preflights_es.words.signing import NoSignature, SignedStatement, namespace

PUBLIC_MAX: Final = 20_000  # bytes of a file with a public key

Seen = tuple[str, int, bytes]
"""A session, the version of its last event, and that event's hash."""


class _Made(msgspec.Struct, frozen=True):
    """A signature of this command, and what it relies on."""

    statement: SignedStatement
    others: tuple[Seen, ...]
    signature: Signature


class Signer:
    """Signs the acts of one command; a person is asked once for each, however often it is tried."""

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        tell: Callable[[Notice], None] = lambda _: None,
        timeout_s: float = ssh.SIGN_TIMEOUT_S,
    ) -> None:
        """Args:
        tell: takes what a person has to do meanwhile.
        timeout_s: how long the key may take.
        """
        self._settings = settings
        self._env = env
        self._tell = tell
        self._timeout_s = timeout_s
        self._made: dict[str, _Made] = {}

    @cached_property
    def _key(self) -> str:
        return signing_key(self._settings, self._env)

    @cached_property
    def _repository(self) -> str:
        """The id of the repository for which it signs, made with the first signature."""
        found, is_new = repository_made(self._settings.root)
        if is_new:
            text = f"{REPOSITORY} names this repository in what you sign: commit it"
            self._tell(Notice("repository_named", text, {"path": REPOSITORY}))
        return found

    @cached_property
    def is_hardware(self) -> bool:
        """Whether the user's key is of hardware, which may prove that a person is there."""
        text = self._key
        if os.path.isabs(text):
            path = Path(text if text.endswith(".pub") else f"{text}.pub")
            try:
                text = regular(path, PUBLIC_MAX).decode("ascii", "replace")
            except (OSError, Unreadable):
                return False  # as for an ordinary key, the act stays the agent's
        words = text.split()
        return len(words) > 1 and signing.is_hardware(words[1])

    def check(self) -> None:
        """See that there is a key, and that the user's signers can be read.

        Raises:
            Refused: the key or ssh-keygen is not there.
            SettingsError: no key is configured, or the user's signers cannot be read.
        """
        key = self._key
        signers_of(self._settings, self._env)
        try:
            ssh.check_signing_key(key, self._env)
        except ssh.SshFailed as error:
            raise _not_signed(error) from error

    def person(self, by: str | None) -> Actor:
        """The person whose key it is, as the caller or the settings name them."""
        is_named = self._settings.actor_kind != "agent"
        return Actor("user", by or (self._settings.actor_name if is_named else ""))

    def signed(
        self, new: Signable, seen: Seen, proposal: str, others: tuple[Seen, ...] = ()
    ) -> Signable:
        """An Input with its signature.

        Args:
            seen: session, version and hash of the event behind which it is to be recorded.
            proposal: what the actor sees of it.
            others: the same of other sessions, which must not move until it is recorded.

        Raises:
            SessionMoved: a session moved since the person signed; nothing is recorded.
            Refused: nothing could be signed.
            SettingsError: no key is configured, or the repository has no id.
        """
        session_id, version, hash_ = seen
        statement = SignedStatement(
            repository=self._repository,
            session_id=session_id,
            version=version,
            hash=hash_,
            proposal=proposal,
            name=new.actor.name,
            at=new.at,
        )
        if (made := self._made.get(f"{session_id} {new.actor.kind}")) is None:
            made = _Made(statement, others, self._signature(new.act, statement))
            self._made[f"{session_id} {new.actor.kind}"] = made
        elif moved := _find_moved_session(
            (_seen_in_statement(made.statement), *made.others), (seen, *others)
        ):
            raise moved
        elif replace(statement, at=made.statement.at) != made.statement or made.others != others:
            found = "what was signed is not what would be recorded now"
            raise Refused(f"{found}: nothing is recorded: look at it again", code="not_signed")
        return replace(new, at=made.statement.at, signature=made.signature)

    def proves_person(self, signed: Signable) -> bool:
        """Whether a hardware key of an allowed signer was touched for an act of this command.

        No other key does: with an unlocked agent of SSH, a coding agent signs as well.
        """
        made = next((one for one in self._made.values() if one.signature == signed.signature), None)
        if (
            made is None
            or not signing.parse_signature_blob(
                signing.decode_strict_base64(made.signature.sshsig)
            ).is_touched
        ):
            return False
        signers = signers_of(self._settings, self._env)
        armoured = signing.armoured(made.signature.sshsig)
        at_s = made.statement.at // signing.US_PER_S
        name = namespace(signed.act)
        whole = made.statement.encoded()
        return bool(
            ssh.principal(armoured, name, whole, signers=signers.content, at_s=at_s, env=self._env)
        )

    def _signature(self, act: Act, statement: SignedStatement) -> Signature:
        sshsig = self.sign(act, statement.encoded())
        key = signing.parse_signature_blob(signing.decode_strict_base64(sshsig)).key
        return Signature(
            proposal=statement.proposal,
            key=signing.encode_base64_text(key),
            sshsig=sshsig,
            repository=statement.repository,
        )

    def sign(self, act: Act, message: bytes) -> str:
        """The signature of a message, as it stands in events; it was verified.

        Raises:
            Refused: nothing could be signed.
            SettingsError: no key is configured, or the user's signers cannot be read.
        """
        self.check()  # what is wrong is said before a touch
        if self.is_hardware:
            self._tell(Notice("touch_key", "touch your hardware key now: it signs", {}))
        try:
            armoured = ssh.sign(
                self._key, namespace(act), message, self._env, timeout_s=self._timeout_s
            )
            raw = signing.dearmoured(armoured)
            is_good = signing.parse_signature_blob(raw).namespace == namespace(
                act
            ) and ssh.is_made_by(armoured, namespace(act), message, self._env)
        except (ssh.SshFailed, NoSignature) as error:
            raise _not_signed(error) from error
        if not is_good:
            found = "ssh-keygen made a signature that does not verify: nothing is recorded"
            raise Refused(found, code="not_signed")
        return signing.encode_base64_text(raw)


def _not_signed(error: Exception) -> Refused:
    return Refused(f"nothing was signed, and nothing is recorded: {error}", code="not_signed")


def _seen_in_statement(statement: SignedStatement) -> Seen:
    return statement.session_id, statement.version, statement.hash


def _find_moved_session(before: Iterable[Seen], now: Iterable[Seen]) -> SessionMoved | None:
    """The first session that is at another version than when the person signed."""
    versions = {session_id: version for session_id, version, _ in now}
    for session_id, version, _ in before:
        if (found := versions.get(session_id, version)) != version:
            return SessionMoved(session_id, version, found)
    return None
