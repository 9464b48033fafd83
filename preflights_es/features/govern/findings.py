"""What a check says of a change and its base, one finding at a time: what is lost, decided
otherwise, without a signature, or converted by git. The base is the trust that is given: signers
whom a change brings do not judge it. `check` puts the findings in order.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, get_args
from unicodedata import category, normalize

from preflights_es.features.govern.base_side import path_with_parents
from preflights_es.features.govern.changes import (
    ENCODING,
    ChangedFile,
    ChangeSet,
    SessionChanges,
    at_commit,
    committed_at,
    content_of,
    contents,
    converted,
    events_of,
    files_at,
    objects,
    printable,
)
from preflights_es.features.govern.decision_changes import (
    BothSides,
    DecisionChange,
    decision_changes,
)
from preflights_es.features.govern.domain.imports import is_loaded, may_import
from preflights_es.kernel.errors import PreflightsError, SettingsError
from preflights_es.kernel.events import SessionErased
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import escaped_text, late_pattern
from preflights_es.records.record_folder import ADR_DIR, LOG4BRAINS, folder_of
from preflights_es.records.record_names import is_page
from preflights_es.runtime.runner import EventReader
from preflights_es.settings.file import (
    FILE,
    PYPROJECT,
    FileSettings,
    parse_project_settings,
    read_project_settings,
)
from preflights_es.settings.load import Settings, surroundings
from preflights_es.settings.signing import REPOSITORY, SIGNERS, Signers, repository_id
from preflights_es.system.files import Unreadable
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.use.signatures import Signatures, SignedAct, acceptances

Rule = Literal[
    "holds",
    "turned-down",
    "unread-file",
    "denied",
    "decision-changed",
    "record-lost",
    "record-differs",
    "number-clash",
    "unverified-session",
    "contradiction",
    "unclear-record",
    "unused-pattern",
    "unread-record",
    "unsigned-acceptance",
    "signers-changed",
    "gate-changed",
]
Level = Literal["error", "warning", "note"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)

NAMED_MAX: Final = 5  # files that a message names


class Finding(Result, frozen=True, kw_only=True):
    """One thing that a check has to say."""

    rule: Rule
    level: Level
    message: str
    """What it is, why it matters and what to do."""
    file: str = ""
    """The first file that it is about, relative to the root, as it can be shown; empty of none."""
    line: int | None = None
    files: tuple[str, ...] = ()
    """All files that it is about."""
    decision: str = ""
    """`ADR-0007`, a uid, or the path of a record of another tool."""
    session_id: str = ""


def finding(
    rule: Rule, level: Level, message: str, paths: Sequence[str] = (), **more: Any
) -> Finding:
    """Args:
    paths: of files, with surrogates for what is no UTF-8; the first one is where it is shown.
    """
    files = tuple(map(printable, paths))
    return Finding(
        rule=rule, level=level, message=message, file=files[0] if files else "", files=files, **more
    )


def files_said(paths: Sequence[str]) -> str:
    named = ", ".join(map(printable, paths[:NAMED_MAX]))
    more = len(paths) - NAMED_MAX
    return f"{named} and {more:,} more" if more > 0 else named


NEWER: Final = "accept a decision that replaces {}"

RESTORE = "Restore it: a decision is replaced, and never taken out"


# 1. What is lost -----------------------------------------------------------------------------


def lost_findings(sides: BothSides) -> Iterator[Finding]:
    """Session files that do not verify, and what of the base the change takes away."""
    for file in sides.troubled:
        text = f"{escaped_text(file.told)}. Restore the file as it was committed"
        own = {"session_id": file.session_id}
        yield finding("unverified-session", "error", text, [file.path], **own)
    said, lost = {one.path for one in sides.troubled}, defaultdict[str, list[str]](list)
    for path in sorted({one.path for one in sides.lost} - said):
        lost[path.rpartition("/")[0]].append(path)
    for paths in lost.values():
        more = f"or where no session is read; what people decided there still counts. {RESTORE}"
        text = f"{files_said(paths)}: deleted, with other events than before, {more}"
        yield finding("unverified-session", "error", text, paths)
    for record in sides.lost_records:
        text = f"{escaped_text(record.path)} is no record here any more; it still counts. {RESTORE}"
        yield finding("record-lost", "error", text, [record.path], decision=record.path)


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
    base, rows, records = sides.base, sides.rows, sides.records
    named = {**sides.added_records, **paths}
    edited = sides.is_edited
    found = decision_changes(base, rows, records, named, is_signed=proves, is_edited=edited)
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
            return not sides.is_on_neither_side(session_id)
        events, reader = sides.events(session_id), request.process.runner
        is_erased = any(one.data is None for one in events)
        acts = _signed_acts(reader, signatures, events) if is_erased else ()
        return not is_erased or any(_erases(x) and x.signed.verdict == "signed" for x in acts)

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
    reader = request.process.runner
    told = (one.events for one in sides.base.sessions.values())
    known = {one.hash for events in told for one in _readable_acceptances(reader, events)}
    unsigned = list[tuple[str, str]]()
    for file, content in sessions.contents():
        if content is None:
            why = "is too large or no file, and no signature in it was checked"
            unsigned.append((file.path, why))
            continue
        for event, signed in _unsigned(reader, signatures, events_of(content)):
            if event.hash not in known:
                why = f"accepts a decision in event {event.version}, {signed}"
                unsigned.append((file.path, why))
    held = {one.path for one in sides.base.records if one.is_held}
    why = "becomes accepted, and is the record of no session"
    unsigned += [(path, why) for path in sorted({*alone} - held)]
    for path, why in unsigned:
        todo = "A signer of the base has to sign it: accept it again with --sign, in a new session"
        text = f"{printable(path)} {escaped_text(why)}. {todo}"
        yield finding("unsigned-acceptance", "error", text, [path])


def signer_findings(change: ChangeSet, *, is_required: bool) -> Iterator[Finding]:
    """Changes of the signers and of the id for which they sign: they judge what comes later."""
    for one in change.files if change.base else ():
        if one.path in (SIGNERS, REPOSITORY):
            is_judge = is_required and one.old  # else it judges nothing
            level: Level = "error" if is_judge else "warning"
            todo = "look whose keys count then, and for which repository"
            text = f"{one.path}: later acceptances are held against it: {todo}"
            yield finding("signers-changed", level, text, [one.path])


def gate_findings(request: Request, change: ChangeSet, *, is_required: bool) -> Iterator[Finding]:
    """Edits of what runs this check, and of what later sessions are kept and redacted by."""
    root = request.process.settings.root
    level: Level = "error" if is_required else "warning"
    if edited := _edited_runners(root, change):
        more = "or whom the host asks: see that it still does"
        text = f"{files_said(edited)}: the change edits what runs this check or the hook, {more}"
        yield finding("gate-changed", level, text, edited)
    settings = [one.path for one in change.files if one.path in (FILE, PYPROJECT)]
    if keys := _changed_settings(root, change) if settings else ():
        why = "sessions are found, kept and redacted by that"
        text = f"{settings[0]}: the change sets {' and '.join(keys)} otherwise: {why}"
        yield finding("gate-changed", level, text, settings)
    inner = [one for one in change.files if one.folder and one.name in (FILE, PYPROJECT)]
    before = objects(root, [one.old for one in inner])
    texts = ((one, before.get(one.old, b"") + (text or b"")) for one, text in contents(root, inner))
    if paths := [one.path for one, text in texts if one.name == FILE or b"preflights" in text]:
        text = f"{files_said(paths)}: commands in that folder go by these settings from now on"
        yield finding("gate-changed", level, text, paths)


_RUNS: Final = late_pattern(r"\.(?:ya?ml|sh|mk)$|(?:^|/)(?:Makefile|Jenkinsfile|justfile)$")
_SOURCE: Final = late_pattern(
    r"\.(?:pyi?|ipynb|[mc]?[jt]sx?|vue|svelte|astro|go|rs|java|kt|scala|cs|php|swift|rb)$"
)
_COMMAND: Final = late_pattern(rb"\bpreflights(?:-es)?[\"', ]+(?:check|hook)\b")
_LINE: Final = late_pattern(rb"^.*\bpreflights(?:-es\b|[\"', ]+(?:check|hook)\b).*$", re.MULTILINE)
"""Of a program, or of a list from which it is installed."""
_SAYS: Final = late_pattern(rb"\bpreflights\b")
_ASKED: Final = "CODEOWNERS"
_MADE: Final = ("Makefile", "makefile", "GNUmakefile")


def _edited_runners(root: Path, change: ChangeSet) -> list[str]:
    """Files of the base that run the check or a hook, or say whence it comes; what `make` reads
    before one; owners. Of a program, the lines that do count: others name the command, too.
    """
    known = [one for one in change.files if one.old and is_loaded(one.path)]
    known.sort(key=lambda one: _RUNS.search(one.path) is None)  # the others may be too many
    stored = objects(root, [one.old for one in known])
    found = [one.path for one in change.files if change.base and one.name == _ASKED]
    for one in known:
        was, form = stored.get(one.old, b""), _SAYS if _RUNS.search(one.path) else _COMMAND
        if b"preflights" not in was:
            continue
        is_whole = form.search(was) and not _SOURCE.search(one.path)
        kept = () if is_whole else _LINE.findall(content_of(root, one) or b"")
        found += [one.path] if is_whole or not {*kept}.issuperset(_LINE.findall(was)) else []
    for one in change.files:
        others = [ChangedFile(one.path.removesuffix(one.name) + name) for name in _MADE]
        if one.name in _MADE and not one.old:
            texts = (text or b"" for _, text in contents(root, others))
            found += [one.path] if any(map(_SAYS.search, texts)) else []
    return found


def _changed_settings(root: Path, change: ChangeSet) -> list[str]:
    """Keys that say which sessions count, become files, and are redacted how, that differ."""

    def before(name: str) -> str | None:
        with suppress(Unreadable):
            content = at_commit(root, change.base, name) if change.base else None
            return None if content is None else content.decode("utf-8", "replace")
        return None

    was = _kept_by_settings(lambda: parse_project_settings(root, before))
    now = _kept_by_settings(lambda: read_project_settings(root, root))
    return [key for key in was if was[key] != now[key]]


def _kept_by_settings(read: Callable[[], FileSettings | None]) -> dict[str, Any]:
    try:
        found = read()
    except SettingsError:
        found = None
    return {key: found.values.get(key) if found else None for key in _KEPT}


_KEPT: Final = ("project", "decisions", "tasks", "records", "redact")

# 4. Acceptances that no signer of the base signed --------------------------------------------

CURES: Final = {
    SIGNERS: "commit the signers there first",
    REPOSITORY: "commit the file there first that an act with --sign makes",
}


def signatures_at(settings: Settings, commit: str, base: str) -> tuple[Signatures | None, str]:
    """What proves an act, by signers and repository of a revision; else why that is not known."""
    said = dict[str, bytes]()
    for file in (SIGNERS, REPOSITORY):
        try:
            content = at_commit(settings.root, commit, file) if commit else None
        except Unreadable as error:
            return None, f"signatures: {file} of {base!r} cannot be read: {error}"
        if content is None:
            return None, f"signatures: {base!r} has no {file}: {CURES[file]}"
        said[file] = content
    if not (repository := repository_id(said[REPOSITORY])):
        return None, f"signatures: {REPOSITORY} of {base!r} holds no id: {CURES[REPOSITORY]}"
    found = Signatures(
        settings,
        surroundings(),
        remembers=False,
        signers=Signers(said[SIGNERS]),
        repository=repository,
        since_s=committed_at(settings.root, commit),
    )
    return found, ""


def _unsigned(
    reader: EventReader, signatures: Signatures, stored: Sequence[Stored]
) -> Iterator[tuple[Stored, str]]:
    """The acceptances of a session that no signer signed, and what is known of each."""
    found = {one.version: one.signed for one in _signed_acts(reader, signatures, stored)}
    for one in _readable_acceptances(reader, stored):
        signed = found.get(one.version)
        if signed is None or signed.verdict != "signed":
            yield one, str(signed or "without a signature for this repository")


def _signed_acts(
    reader: EventReader, signatures: Signatures, stored: Sequence[Stored]
) -> Sequence[SignedAct]:
    """Those that count; what does not verify is a finding of its own."""
    try:
        acts = [*signatures.checked(reader, stored)]
    except PreflightsError:
        return ()
    return [one for one in acts if not one.is_refused and (one.is_persons or _erases(one))]


def _erases(one: SignedAct) -> bool:
    return one.type == SessionErased.tag


def _readable_acceptances(reader: EventReader, stored: Sequence[Stored]) -> Sequence[Stored]:
    """The acceptances of a session that counted; none of one that cannot be read."""
    try:
        return [*acceptances(reader, stored)]
    except PreflightsError:
        return ()


# 5. Files whose names are others' elsewhere ---------------------------------------------------


def alias_findings(root: Path, change: ChangeSet, level: Level) -> Iterator[Finding]:
    """New files that are other ones, or lie in other folders, where a system tells no case apart.

    Patterns, and all that is looked for by its path, take them for what they are called.
    """
    added = [one.path for one in change.files if change.tip and not (one.old or one.is_gone)]
    if not added:
        return
    gone = {one.path for one in change.files if one.is_gone}
    there = files_at(root, change.tip).keys() - gone
    parts = {part for path in there for part in path_with_parents(path)}
    known = {_alias_key(part): part for part in sorted(parts)}
    every = ((path, part) for path in added for part in path_with_parents(path))
    keyed = ((path, part, _alias_key(part)) for path, part in every if part not in parts)
    others = {path: (part, known[key]) for path, part, key in keyed if key in known}
    if others:
        paths = sorted(others)
        one, other = map(printable, others[paths[0]])
        more = "and is not looked at as that here. Call it as that"
        text = f"{files_said(paths)}: on a file system without case {one} is {other}, {more}"
        yield finding("unread-file", level, text, paths)


def _alias_key(path: str) -> str:
    if path.isascii():
        return path.lower()
    folded = normalize("NFC", path).casefold()
    return "".join(one for one in folded if category(one) != "Cf")  # some systems leave these out


# 6. Files that git converts ------------------------------------------------------------------


def converted_findings(request: Request, change: ChangeSet) -> Iterator[Finding]:
    """Files of settings, signers and sessions that git keeps in another form than is read here.

    All are looked at where attributes change, else those that the change touches. Of records, a
    filter or encoding counts: here it may say what git does not have.
    """
    if not change.base:
        return
    process = request.process
    root, places = process.settings.root, [*process.session_folders]
    folders = tuple(f"{one.path}/" for one in places)
    paths = [one.path for one in change.files if one.path.startswith(folders)]
    if any(one.name == ATTRIBUTES for one in change.files):
        for place in places:
            with suppress(Unreadable):  # it is a finding of its own
                paths += [f"{place.path}/{name}" for name in place.names()]
    source = process.settings.source
    paths += [SIGNERS, REPOSITORY, ADR_DIR, LOG4BRAINS]
    paths += [os.path.relpath(source, root).replace(os.sep, "/")] if source else []
    there = [path for path in dict.fromkeys(paths) if os.path.lexists(root / path)]
    in_records = process.record_places.folders
    pages = [one for one in _named(root, change) if is_page(one) and folder_of(one, in_records)]
    attributes = {**converted(root, pages, (ENCODING, "filter")), **converted(root, there)}
    for path, attribute in attributes.items():
        todo = f"take its attribute {attribute} away"
        text = f"{printable(path)}: git may keep other bytes of it than are checked: {todo}"
        yield finding("unverified-session", "error", text, [path])


ATTRIBUTES = ".gitattributes"


def converted_sources(root: Path, change: ChangeSet) -> Iterable[str]:
    """Files that can import, and that git keeps in another form than a program reads: all where
    attributes change.
    """
    gone = {one.path for one in change.files if one.is_gone}
    paths = [*filter(may_import, _named(root, change))] if change.base else []
    return converted(root, [one for one in paths if one not in gone], (ENCODING, "filter"))


def _named(root: Path, change: ChangeSet) -> Iterable[str]:
    if any(one.name == ATTRIBUTES for one in change.files):
        return {**files_at(root, "HEAD"), **files_at(root, change.tip)}
    return (one.path for one in change.files)
