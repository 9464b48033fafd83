"""Which acceptances of a change bear no signature of a signer whom the base lists.

The base is the trust that is given: signers whom a change brings do not judge it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from preflights_es.features.govern.base_side import BaseSide
from preflights_es.features.govern.changes import (
    ChangeSet,
    at_commit,
    content_of,
    objects,
)
from preflights_es.features.govern.session_changes import SessionChanges, events_of
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import SessionErased
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.runner import EventReader
from preflights_es.settings.load import Settings, surroundings
from preflights_es.settings.signing import REPOSITORY, Signers, repository_id
from preflights_es.system.files import Unreadable
from preflights_es.use.request import Request
from preflights_es.use.signatures import Signatures, acceptances

SIGNERS: Final = ".preflights/allowed_signers"
"""The signers that a repository brings, relative to its root."""
CURES: Final = {
    SIGNERS: "commit the signers there first",
    REPOSITORY: "commit the file there first that an act with --sign makes",
}


class Unsigned(NamedTuple):
    """An acceptance that no signer of the base signed."""

    path: str
    what: str
    """What the file does, in words, and what is known of its signature."""


def signatures_at(settings: Settings, commit: str, base: str) -> tuple[Signatures | None, str]:
    """What proves an act, by signers and repository of a revision; else why that is not known."""
    said = dict[str, bytes]()
    for file in (SIGNERS, REPOSITORY):
        try:
            content = at_commit(settings.root, commit, file, follows=False) if commit else None
        except Unreadable as error:
            return None, f"signatures: {file} of {base!r} cannot be read: {error}"
        if content is None:
            return None, f"signatures: {base!r} has no {file}: {CURES[file]}"
        said[file] = content
    if not (repository := repository_id(said[REPOSITORY])):
        return None, f"signatures: {REPOSITORY} of {base!r} holds no id: {CURES[REPOSITORY]}"
    given = Signers(said[SIGNERS])
    env = surroundings()
    return (
        Signatures(settings, env, remembers=False, signers=given, repository=repository),
        "",
    )


def unsigned_acceptances(
    request: Request,
    signatures: Signatures,
    base: BaseSide,
    changes: SessionChanges,
    alone: Sequence[str],
) -> Iterator[Unsigned]:
    """The acceptances that are new in a change, and that no signer of the base signed.

    Args:
        base: what it has accepted already.
        alone: paths of records of no session that say that they are accepted.
    """
    reader = request.process.runner
    known = {
        one.hash
        for was in base.sessions.values()
        for one in _readable_acceptances(reader, was.events)
    }
    for one, content in changes.contents():
        if content is None:
            yield Unsigned(one.path, "is too large or no file, and no signature in it was checked")
            continue
        for event, why in _unsigned(reader, signatures, events_of(content)):
            if event.hash not in known:
                yield Unsigned(one.path, f"accepts a decision in event {event.version}, {why}")
    held = {one.path for one in base.records if one.is_held}
    for path in sorted({*alone} - held):
        yield Unsigned(path, "becomes accepted, and is the record of no session")


def _unsigned(
    reader: EventReader, signatures: Signatures, stored: Sequence[Stored]
) -> Iterator[tuple[Stored, str]]:
    """The acceptances of a session that no signer signed, and what is known of each."""
    try:
        acts = [*signatures.checked(reader, stored)]
    except PreflightsError:
        return  # what does not verify is a finding of its own
    found = {one.version: one.signed for one in acts if one.counts}
    for one in _readable_acceptances(reader, stored):
        signed = found.get(one.version)
        if signed is None or signed.verdict != "signed":
            yield one, str(signed or "without a signature for this repository")


def _readable_acceptances(reader: EventReader, stored: Sequence[Stored]) -> Sequence[Stored]:
    """The acceptances of a session that counted; none of one that cannot be read."""
    try:
        return [*acceptances(reader, stored)]
    except PreflightsError:
        return ()


def is_erasure_signed(
    reader: EventReader, signatures: Signatures, stored: Sequence[Stored]
) -> bool:
    """Whether a signer signed that a session is erased."""
    try:
        acts = [*signatures.checked(reader, stored)]
    except PreflightsError:
        return False
    return any(
        one.type == SessionErased.tag and not one.is_refused and one.signed.verdict == "signed"
        for one in acts
    )


# The signers of a change ---------------------------------------------------------------------


def signers_changed(root: Path, change: ChangeSet) -> str:
    """What a change does to the signers of the base, in words; empty where it leaves them."""
    one = next((one for one in change.files if one.path == SIGNERS), None)
    if one is None or not one.old:
        return ""
    now = None if one.is_gone or not one.is_text else content_of(root, one)
    if now is None:
        return f"the list of signers is {'deleted' if one.is_gone else 'no file any more'}"
    was = _signer_lines(objects(root, [one.old]).get(one.old, b"") if one.old else b"")
    counts = (
        (len(_signer_lines(now) - was), "added"),
        (len(was - _signer_lines(now)), "taken out"),
    )
    said = " and ".join(f"{count} {does}" for count, does in counts if count)
    return f"lines of the list of signers: {said or 'only comments'}"


def repository_changed(root: Path, change: ChangeSet) -> str:
    """What a change does to the id of the repository, in words; empty where it is the same."""
    one = next((one for one in change.files if one.path == REPOSITORY), None)
    was = repository_id(objects(root, [one.old]).get(one.old, b"")) if one and one.old else ""
    if one is None or not was:
        return ""
    now = None if one.is_gone or not one.is_text else content_of(root, one)
    return "" if repository_id(now or b"") == was else "the id of the repository is another one"


def _signer_lines(content: bytes) -> frozenset[bytes]:
    # No other white space: to ssh-keygen, a # behind a form feed begins a signer.
    lines = (line.strip(b" \t\r") for line in content.split(b"\n"))
    return frozenset(line for line in lines if line and not line.startswith(b"#"))
