"""Signing how far the session files came: one more signed checkpoint.

Source: docs/specs/log.md, section 15.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence

from preflights_es.history import verification
from preflights_es.history.verification import Broken
from preflights_es.kernel import signing
from preflights_es.kernel.errors import LogDamaged, Refused
from preflights_es.kernel.events import Signature
from preflights_es.kernel.ids import iso
from preflights_es.kernel.signing import Signed, namespace
from preflights_es.records.session_files import CHECKPOINT_SIZE_MAX, CHECKPOINTS_MAX
from preflights_es.settings.load import surroundings
from preflights_es.store.checkpoint import (
    KeySignature,
    SignedScope,
    Tip,
    signed_content,
    to_sign,
)
from preflights_es.use.checkpoints import US_PER_S, CheckpointCheck, HeldUpTo, unheld
from preflights_es.use.progress import Drawn, ticking, undrawn
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.use.signing import Signer


class CheckpointSigned(Result, frozen=True, tag_field="format", tag="audit-checkpoint-signed/1"):
    """A signed checkpoint that was written."""

    file: str
    project: str
    sessions: int
    events: int
    root: str
    parents: tuple[str, ...]
    """Roots of the checkpoints that it names as its beginnings."""
    by: str
    at: str
    signature: Signed


def sign_checkpoint(request: Request, *, drawn: Drawn = undrawn) -> CheckpointSigned:
    """Sign how far each session file came, behind all checkpoints of the folder.

    Raises:
        Refused: there is nothing to sign, or no key signed.
        LogDamaged: a session file, a checkpoint or the log is not what was signed before.
        ArtifactOutside, StoreUnavailable: the file cannot be written.
    """
    process = request.process
    signer = Signer(process.settings, surroundings(), request.tell)
    is_agent = request.actor.kind == "agent"
    if is_agent and not signer.is_hardware:
        request.sessions.refuse_agent("sign a checkpoint with this key")
    with CheckpointCheck(process, signs=True) as check:
        heads = process.store.heads(process.project)
        with drawn(len(heads)) as update:
            walked = verification.walked(process.store, ticking(heads, update), folded=check.look)
        check.look_at_rest()
        found = check.result()
        _refuse_unheld(found, walked.broken, check.apart)
        if not (tips := check.tips):
            raise Refused("there is no session file here: nothing was signed")
        if len(parents := check.roots) >= CHECKPOINTS_MAX:
            raise Refused(
                f"{len(parents):,} checkpoints lie here, and one more is too many: keep a copy of "
                "the newest one elsewhere, remove all from the folder, and sign anew"
            )
    for one in found.checkpoints:
        if one.signature and one.signature.verdict != "signed":
            request.notice("checkpoint_not_signed", f"{one.file}: {one.signature}", path=one.file)
    actor, at = request.inputs.actor, process.runner.now()
    scope = SignedScope(1, process.project, tuple(parents), actor.name, at)
    message, root = to_sign(scope, (Tip(*tip) for tip in tips))
    sshsig = signer.sign("checkpoint", message)
    parts = signing.parsed(b64decode(sshsig))
    if is_agent and not parts.is_touched:
        request.sessions.refuse_agent("sign a checkpoint without a touch of the key")
    made = KeySignature(signing.bare(parts.key), sshsig)
    folder, content = process.session_folders.checkpoints(), signed_content(message, made)
    if len(content) > CHECKPOINT_SIZE_MAX:
        raise Refused(f"a checkpoint has at most {CHECKPOINT_SIZE_MAX:,} bytes, and this one more")
    folder.write(f"{root}.jsonl", content)
    signature = Signature(proposal="", key=made.key, sshsig=sshsig)
    name = namespace("checkpoint")
    return CheckpointSigned(
        file=f"{folder.path}/{root}.jsonl",
        project=process.project,
        sessions=len(tips),
        events=sum(version for _, version, _ in tips),
        root=root,
        parents=tuple(parents),
        by=actor.name,
        at=iso(at),
        signature=process.signatures.verdict(signature, name, message, at // US_PER_S),
    )


def _refuse_unheld(found: HeldUpTo, broken: Sequence[Broken], apart: dict[str, int]) -> None:
    """Raises:
    LogDamaged: something is not as it was when it was signed; names the first.
    """
    for one in found.differences[:1]:
        raise LogDamaged(f"session {one.session_id}", 0, f"{unheld(one)}; nothing was signed")
    for hurt in found.damage[:1]:
        raise LogDamaged(hurt.file, 0, f"{hurt.found}; nothing was signed")
    for bad in broken[:1]:
        where = f"session {bad.session_id}"
        raise LogDamaged(where, bad.version, f"{bad.found}; nothing was signed")
    for session_id, version in [*apart.items()][:1]:
        why = f"its file and the log hold different events from version {version} on"
        raise LogDamaged(f"session {session_id}", 0, f"{why}; nothing was signed")
