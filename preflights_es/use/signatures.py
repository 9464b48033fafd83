"""What signatures of acts in the log prove, by the signers of who looks.

Never more is said than was checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from preflights_es.kernel.errors import AnotherVersion, LogDamaged, SessionFaulted, SettingsError
from preflights_es.kernel.events import (
    Input,
    InputIgnored,
    ResponseIgnored,
    SessionClosed,
    SessionErased,
    Signable,
    Signature,
)
from preflights_es.kernel.ports import Head, Stored
from preflights_es.kernel.session import Session, begin
from preflights_es.runtime.runner import EventReader, steps
from preflights_es.settings.load import Settings, cached, surroundings
from preflights_es.settings.signing import Signers, repository_here, signers_of
from preflights_es.store.stored_events import GENESIS, erased_before, verified
from preflights_es.system import ssh
from preflights_es.system.files import read_cache, write_cache
from preflights_es.words import signing
from preflights_es.words.decisions import DecidedPatch, Reach
from preflights_es.words.questions import Refusal
from preflights_es.words.signing import (
    NoSignature,
    Signed,
    SignedStatement,
    bears_signature,
    namespace,
    read_input_content,
)
from preflights_es.words.workflow import Workflow

TITLE: Final = "title"
"""The one part of a proposal that a later program may word in another way."""
OTHERS: Final = "others"
"""The one part that changes with the act itself: a decision that it replaces is its own then."""
CACHE: Final = "signatures.json"
CACHE_FORMAT: Final = "signatures of acts, 3"
CACHE_MAX: Final = 10_000  # sessions that are kept
CACHE_BYTES_MAX: Final = 8_000_000


class SignedAct(msgspec.Struct, frozen=True):
    """A signature in a session, and what was found of it."""

    version: int
    """Of the Input that bears it."""
    type: str
    signed: Signed
    decides: str
    """Digest of the decision that was signed; empty where none was."""
    is_persons: bool
    """Whether a person is its actor; what an agent signed is a proposal, whatever stands there."""
    is_refused: bool
    """Whether a Decision behind it refuses it: nothing follows from it, whatever stands there."""

    @property
    def counts(self) -> bool:
        """Whether a person's word follows from it."""
        return self.is_persons and not self.is_refused


class Signatures:
    """Checks signatures for one process; what was found is kept in the user's folder.

    Such a memory is as safe as the user's account: `audit verify` checks each anew.
    """

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str] | None = None,
        *,
        remembers: bool = True,
        signers: Signers | None = None,
        repository: str | None = None,
        since_s: int = 0,
    ) -> None:
        """Args:
        remembers: whether what was found before is taken from the user's folder.
        signers: instead of those that the settings name.
        repository: the id for which acts must be signed, instead of the one in the root.
        since_s: when a key must still count, in seconds since 1970, whatever time it claims; no
            certificate has to.
        """
        self._since_s = since_s
        self._env = surroundings() if env is None else env
        self.trouble = ""
        """Why it is not known whose signatures count; empty where it is."""
        self.repository, self.signers = repository or "", signers or Signers()
        try:
            if repository is None:
                self.repository = repository_here(settings.root)
            if signers is None:
                self.signers = signers_of(settings, self._env)
        except SettingsError as error:
            self.trouble = str(error)
        self._about = sha256(self.repository.encode() + self.signers.content).digest()
        self._folder = cached("signatures", settings.root) if remembers else None
        self._kept: dict[str, list[SignedAct]] | None = None
        self._is_new = False

    # 1. A session ----------------------------------------------------------------------------

    def of(
        self, reader: EventReader, session_id: str, version: int | None = None
    ) -> tuple[SignedAct, ...]:
        """The signed acts of a session, oldest first.

        Args:
            version: of the only act that is looked at.

        Raises:
            LogDamaged: the session does not verify.
        """
        kept, head = self._known(), reader.store.head(session_id)
        if head is not None and (key := self._name(head)) in kept:
            return _those(kept[key], version)
        found = reader.store.stream(session_id)
        if found is None:
            return ()
        head, stored = found
        verified(stored, head.hash)
        acts = list(self.checked(reader, stored))
        if all(act.signed.verdict != "not_checked" for act in acts):
            kept[self._name(head)] = acts
            self._is_new = True
        return _those(acts, version)

    def _name(self, head: Head) -> str:
        """Of what was found: it covers the session, and whose signatures count."""
        return sha256(head.hash + self._about).hexdigest()

    def of_decision(
        self, reader: EventReader, session_id: str, decided: DecidedPatch
    ) -> Signed | None:
        """What the signature of a decision's acceptance proves; None without one.

        A session that is damaged stops no list: it is not checked, and `audit verify` names it.
        """
        if decided.key is UNSET or decided.recorded is None:
            return None
        try:
            acts = self.of(reader, session_id, decided.recorded - 1)
        except (LogDamaged, AnotherVersion, SessionFaulted) as error:
            key = signing.fingerprint(decided.key)
            return Signed(verdict="not_checked", key=key, why=str(error))
        if not acts or not acts[0].counts:
            return None
        if acts[0].decides not in ("", _decides(*_patch_of(decided))):
            why = "the list says another decision than the one that was signed"
            return replace(acts[0].signed, verdict="not_checked", by="", why=why)
        return acts[0].signed

    def of_acceptance(self, reader: EventReader, session_id: str) -> Signed | None:
        """What the signature proves of a person's acceptance that counts; None without one.

        Raises:
            LogDamaged: the session does not verify.
        """
        found = reader.store.stream(session_id)
        if found is None or not any(map(bears_signature, found[1])):
            return None
        head, stored = found
        workflow = reader.workflow(head.workflow)
        accepts = workflow.asked.acknowledges
        codec, tag = reader.codec(workflow), accepts and accepts.tag
        # The last one is shown, though it may be forged behind the first.
        refused = list[bool]()
        for one in reversed(stored):
            if one.data is None:
                return None
            event = codec.decode(one)
            if not isinstance(event, Input):
                refused.append(isinstance(event, Refusal))
                continue
            if (one.type, one.actor_kind) == (tag, "user") and refused and not all(refused):
                acts = () if any(refused) else self.of(reader, session_id, one.version)
                return acts[0].signed if acts else None
            refused.clear()
        return None

    def checked(self, reader: EventReader, stored: Sequence[Stored]) -> Iterator[SignedAct]:
        """The same of events whose chain was verified, without a memory.

        What was signed for another repository is unsigned here.
        """
        if not any(map(bears_signature, stored)):
            return
        workflow = reader.workflow(stored[0].workflow)
        codec = reader.codec(workflow)
        gone = erased_before(stored)
        before: Session[Any] = begin(workflow.decider)
        if gone:
            before = Session(before.state, version=gone - 1)
        acts: list[tuple[Signable, Stored, Mapping[str, Any], Any]] = []
        refused: set[int] = set()
        heard = 0
        for one, (event, after) in zip(
            stored[before.version :], steps(codec, stored[before.version :], before), strict=True
        ):
            if isinstance(event, Input):
                heard = one.version
            elif isinstance(event, Refusal):
                refused.add(heard)
            if isinstance(event, Signable) and self._is_for_here(event.signature):
                shown = _proposal_shown_to_actor(workflow, before, event)
                acts.append((event, one, shown, workflow.shown.fixed(before.state)))
            before = after
        for event, one, seen, fixed in acts:
            is_persons, is_refused = one.actor_kind == "user", one.version in refused
            shown = seen
            if is_persons and not is_refused:  # it is the last word
                shown = _in_the_end(workflow, before, event, seen, fixed=fixed)
            last = stored[one.version - 2].hash if one.version > 1 else GENESIS
            found = self._signed(event, one, last, shown)
            decides = ""
            if found.verdict == "signed" and shown.get("patch"):
                decides = _decides(*(shown[name] for name in ("patch", "scope", "paths", "hold")))
            yield SignedAct(
                one.version, one.type, found, decides, is_persons=is_persons, is_refused=is_refused
            )

    def _is_for_here(self, made: Signature | UnsetType) -> bool:
        return isinstance(made, Signature) and made.repository == self.repository != ""

    def _signed(self, new: Signable, one: Stored, last: bytes, shown: Mapping[str, Any]) -> Signed:
        made = new.signature
        assert isinstance(made, Signature), "the caller looked"
        statement = SignedStatement(
            repository=made.repository,
            session_id=one.session_id,
            version=one.version - 1,
            hash=last,
            proposal=made.proposal,
            name=new.actor.name,
            at=new.at,
        )
        if found := first_differing_part(made.proposal, signing.proposal_text(new, shown)):
            key = signing.fingerprint(made.key)
            why = f"the part {found!r} is not the one that was signed"
            return Signed(verdict="does_not_verify", key=key, why=why)
        at_s = new.at // signing.US_PER_S
        return self.verdict(made, namespace(new.act), statement.encoded(), at_s)

    def verdict(self, made: Signature, name: str, message: bytes, at_s: int) -> Signed:
        """What a signature of a message proves.

        Args:
            name: the namespace that it must have.
            at_s: when it was made, as it says, in seconds since 1970.
        """
        key = signing.fingerprint(made.key)

        def found(verdict: signing.Verdict, why: str = "", by: str = "") -> Signed:
            return Signed(verdict=verdict, key=key, by=by, is_touched=touched, why=why)

        touched = False
        try:
            parts = signing.parse_signature_blob(signing.decode_strict_base64(made.sshsig))
            if signing.encode_base64_text(parts.key) != made.key:
                return found("does_not_verify", "another key made it")
            if parts.namespace != name:
                return found("does_not_verify", f"it was made for {parts.namespace[:60]!r}")
            armoured = signing.armoured(made.sshsig)
            touched = parts.is_touched
            # A certificate may count for hours, and its authority gives a new one.
            is_brief = signing.kind_of(made.key).endswith(signing.CERTIFICATE)
            times = {at_s} if is_brief else {at_s, max(at_s, self._since_s)}
            by = self._principal(armoured, name, message, times)
            if by is not None:
                return found("signed", by=by)
            if ssh.is_made_by(armoured, name, message, self._env):
                if self.trouble:
                    return found("not_checked", self.trouble)
                return found("unknown_signer")
        except (NoSignature, ValueError) as error:
            return found("does_not_verify", f"the signature is damaged: {error}")
        except ssh.SshFailed as error:
            return found("not_checked", str(error))
        touched = False
        return found("does_not_verify", "the key did not sign this")

    def _principal(
        self, armoured: str, name: str, message: bytes, times: Iterable[int]
    ) -> str | None:
        """The signer whose key it is, at each of these times."""
        by, known = None, self.signers
        for at_s in times if known.are_known else ():
            by = ssh.principal(
                armoured, name, message, signers=known.content, at_s=at_s, env=self._env
            )
            if by is None:
                return None
        return by

    # 2. Memory -------------------------------------------------------------------------------

    def _known(self) -> dict[str, list[SignedAct]]:
        if self._kept is None:
            path = self._folder / CACHE if self._folder else None
            kept = read_cache(path, CACHE_BYTES_MAX, _SignatureCache) if path else None
            self._kept = kept.found if kept and kept.format == CACHE_FORMAT else {}
        return self._kept

    def keep(self) -> None:
        """Remember what was found; where that cannot be written, it is found again."""
        if self._folder is None or not self._is_new or self._kept is None:
            return
        newest = dict(list(self._kept.items())[-CACHE_MAX:])
        write_cache(self._folder / CACHE, _SignatureCache(CACHE_FORMAT, newest))
        self._is_new = False


def acceptances(reader: EventReader, stored: Sequence[Stored]) -> Iterator[Stored]:
    """The Inputs by which a person accepts, where that counted; of erased ones nothing is known.

    Also those of an agent or a script that are recorded as accepted, which no rule decides.
    """
    if not stored:
        return
    workflow = reader.workflow(stored[0].workflow)
    if workflow.asked.acknowledges is None:
        return
    codec, tag = reader.codec(workflow), workflow.asked.acknowledges.tag
    # As the kernel folds: what is ignored leaves no trace, and what was heard before it stands.
    undecided: Stored | None = None
    heard: Stored | None = None
    for one in stored:
        event = codec.decode(one) if one.data is not None else None
        if isinstance(event, Input):
            undecided = one
        elif isinstance(event, (SessionClosed, ResponseIgnored, InputIgnored)):
            undecided = None
        else:
            if undecided is not None:
                heard, undecided = undecided if undecided.type == tag else None, None
            if (
                heard is not None
                and not isinstance(event, Refusal)
                and (heard.actor_kind == "user" or getattr(event, "status", "") == "accepted")
            ):
                yield heard
                heard = None


def _proposal_shown_to_actor(
    workflow: Workflow[Any], session: Session[Any], new: Signable
) -> Mapping[str, Any]:
    """What the actor saw of an Input; of an erasure, which no workflow knows, what it says."""
    if isinstance(new, SessionErased):
        return read_input_content(new)
    return workflow.shown.proposal(session.state, new)


def _in_the_end(
    workflow: Workflow[Any], last: Session[Any], new: Signable, seen: Mapping[str, Any], fixed: Any
) -> Mapping[str, Any]:
    """What was seen of an Input, read once more from all events.

    What follows an Input is not in the hash that was signed: forged Decisions could make another
    decision of an acceptance.
    """
    changed = {} if workflow.shown.fixed(last.state) == fixed else {"answers": "changed behind it"}
    others = {name: seen[name] for name in seen if name == OTHERS}
    return {**_proposal_shown_to_actor(workflow, last, new), **others, **changed}


def _decides(patch: object, scope: str, paths: Sequence[str], hold: str) -> str:
    said = signing.canonical({"patch": patch, "scope": scope, "paths": paths, "hold": hold})
    return sha256(said.encode()).hexdigest()


def _patch_of(decided: DecidedPatch) -> tuple[object, str, Sequence[str], str]:
    """The same of a decision as it is kept in a derived table, which no chain covers."""
    patch = {"category": decided.category, "fields": decided.fields}
    reach = decided.reach or Reach()
    return patch, decided.scope or "", reach.paths, reach.hold


class _SignatureCache(msgspec.Struct, frozen=True):
    format: str
    found: dict[str, list[SignedAct]]


def _those(acts: Sequence[SignedAct], version: int | None) -> tuple[SignedAct, ...]:
    return tuple(act for act in acts if version in (None, act.version))


def first_differing_part(signed: str, shown: str) -> str:
    """The part of a proposal in which what was signed is not what stands in the log; else empty."""
    try:
        was, now = msgspec.json.decode(signed), msgspec.json.decode(shown)
        if not isinstance(was, dict) or signing.canonical(was) != signed:
            return "text"  # of which two readers might take different parts
    except (msgspec.DecodeError, RecursionError):
        return "text"
    names = sorted({*was, *now} - {TITLE})
    return next((name for name in names if was.get(name) != now.get(name)), "")
