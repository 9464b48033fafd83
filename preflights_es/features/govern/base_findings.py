"""What a check has to say of a change and its base: what is lost, and what is decided otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from preflights_es.features.govern.both_sides import BothSides
from preflights_es.features.govern.changes import ChangeSet, printable
from preflights_es.features.govern.converted_files import converted_files
from preflights_es.features.govern.decision_changes import DecisionChange, decision_changes
from preflights_es.features.govern.findings import Finding, Level, finding
from preflights_es.features.govern.required_signatures import (
    SIGNERS,
    is_erasure_signed,
    repository_changed,
    signers_changed,
    unsigned_acceptances,
)
from preflights_es.features.govern.session_changes import SessionChanges
from preflights_es.kernel.text import escaped_text
from preflights_es.settings.signing import REPOSITORY
from preflights_es.use.request import Request
from preflights_es.use.signatures import Signatures, acceptances

RESTORE = "Restore it: a decision is replaced, and never taken out"


# 1. What is lost -----------------------------------------------------------------------------


def lost_findings(sides: BothSides, change: ChangeSet) -> Iterator[Finding]:
    """Session files that do not verify, and what of the base the change takes away."""
    for file in sides.troubled:
        text = f"{escaped_text(file.told)}. Restore the file as it was committed"
        own = {"session_id": file.session_id}
        yield finding("unverified-session", "error", text, [file.path], **own)
    said, gone = (
        {one.path for one in sides.troubled},
        {one.path for one in change.files if one.is_gone},
    )
    touched = {one.path for one in change.files}
    unread = defaultdict[str, list[str]](list)
    for lost in sides.lost:
        if lost.path not in touched and lost.path not in said:
            unread[lost.path.rpartition("/")[0]].append(lost.path)
        elif lost.path not in said:
            why = "is deleted" if lost.path in gone else "holds other events than before"
            text = (
                f"{printable(lost.path)} {why}; what people decided there still counts. {RESTORE}"
            )
            yield finding("unverified-session", "error", text, [lost.path])
    for folder, paths in unread.items():
        what = f"sessions there are read no more, the first is {printable(min(paths))}"
        text = f"{printable(folder)}/: {what}: move them along"
        yield finding("unverified-session", "error", text, [f"{folder}/"])
    for record in sides.lost_records:
        text = f"{escaped_text(record.path)} is no record here any more; it still counts. {RESTORE}"
        yield finding("record-lost", "error", text, [record.path], decision=record.path)


def converted_findings(request: Request, change: ChangeSet) -> Iterator[Finding]:
    """Files that git keeps in another form than is read here."""
    for one in converted_files(request, change) if change.base else ():
        text = (
            f"{printable(one.path)}: git may keep other bytes of it than are checked: take its "
            f"attribute {one.attribute} away"
        )
        yield finding("unverified-session", "error", text, [one.path])


# 2. What is decided otherwise ----------------------------------------------------------------


def change_findings(
    request: Request,
    sides: BothSides,
    sessions: SessionChanges,
    signatures: Signatures | None,
    unsigned: Sequence[str],
) -> Iterator[Finding]:
    """Decisions that the change adds, ends, or makes say otherwise.

    Args:
        signatures: what proves an act; None where none is asked for.
        unsigned: session files of the change with an acceptance that no signer of the base signed.
    """
    paths = {one.name.removesuffix(".jsonl"): one.path for one in sessions.now}
    proves = _proof(request, sides, paths, signatures, unsigned=unsigned)
    level: Level = "warning" if signatures is None else "error"
    found = decision_changes(sides.base, sides.rows, sides.records, paths, is_signed=proves)
    for one in found:
        yield _changed_decision_finding(one, level)
    for session in sides.abandoned:
        if any(acceptances(request.process.runner, session.events)):
            text = f"{printable(session.path)}: what was accepted there is abandoned, unsigned"
            yield finding("decision-changed", level, text, [session.path])
    for new in sides.new_records:
        text = f"{escaped_text(new.path)} ({escaped_text(new.title)}) is in force with this change"
        yield finding("decision-changed", "note", text, [new.path], decision=new.path)


def _proof(
    request: Request,
    sides: BothSides,
    paths: dict[str, str],
    signatures: Signatures | None,
    unsigned: Sequence[str],
) -> Callable[[str], bool]:
    """Whether signers of the base signed what a session brings; without signatures nothing is."""

    def is_signed(session_id: str) -> bool:
        path = paths.get(session_id[-12:])
        if signatures is None or path in unsigned:
            return False
        if path is None:
            return True  # of the base
        events, reader = sides.events(session_id), request.process.runner
        is_erased = any(one.data is None for one in events)
        return not is_erased or is_erasure_signed(reader, signatures, events)

    return is_signed


def _changed_decision_finding(one: DecisionChange, level: Level) -> Finding:
    name = one.row.name
    text = f"{escaped_text(name)} ({escaped_text(one.row.title)}) {escaped_text(one.what)}"
    if not one.was_decided:
        level = "note"  # an acceptance without a signature is a finding of its own
    elif one.is_signed:
        level = "warning"
    elif level == "error":
        text += ", and no signer of the base signed that"
    more = {"decision": name, "session_id": one.row.session_id}
    return finding("decision-changed", level, text, [one.path] if one.path else [], **more)


# 3. Signatures -------------------------------------------------------------------------------


def unsigned_findings(
    request: Request,
    signatures: Signatures,
    sides: BothSides,
    sessions: SessionChanges,
    alone: Sequence[str],
) -> Iterator[Finding]:
    """Acceptances of this change that no signer of the base signed.

    Args:
        alone: paths of records of no session that say that they are accepted.
    """
    for one in unsigned_acceptances(request, signatures, sides.base, sessions, alone=alone):
        text = (
            f"{printable(one.path)} {escaped_text(one.what)}. A signer of the base has to sign it: "
            "accept it again with --sign, in a new session"
        )
        yield finding("unsigned-acceptance", "error", text, [one.path])


def signer_findings(request: Request, change: ChangeSet, *, is_required: bool) -> Iterator[Finding]:
    """Changes of the signers and of the id for which they sign: they judge what comes later."""
    root = request.process.settings.root
    level: Level = "error" if is_required else "warning"
    if what := signers_changed(root, change):
        text = f"{SIGNERS}: {what}. Later changes are held against it: look whose keys they are"
        is_comment = what.endswith("only comments")
        yield finding("signers-changed", "warning" if is_comment else level, text, [SIGNERS])
    if what := repository_changed(root, change):
        text = f"{REPOSITORY}: {what}. What was signed for the former id is unsigned then"
        yield finding("signers-changed", level, text, [REPOSITORY])
