"""Signed checkpoints beside the session files: up to where they hold.

Source: docs/specs/log.md, section 15.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import ExitStack
from typing import Final, Literal, Self

import msgspec

from preflights_es.history.verification import Difference
from preflights_es.kernel import imports
from preflights_es.kernel.errors import (
    AnotherVersion,
    LogDamaged,
    PreflightsError,
    Refused,
    WorkflowMissing,
)
from preflights_es.kernel.events import Signature
from preflights_es.kernel.ids import decision_uid, iso
from preflights_es.kernel.ports import Head, Stored
from preflights_es.kernel.signing import Signed, namespace
from preflights_es.records.session_files import (
    CHECKPOINT_SIZE_MAX,
    SIZE_MAX,
    name_of,
)
from preflights_es.store import jsonl
from preflights_es.store.chain import verified
from preflights_es.store.checkpoint import (
    KeySignature,
    SignedCheckpoint,
    SignedScope,
    SignedTip,
    Tip,
    read_signed,
    signed_content,
    to_sign,
)
from preflights_es.store.codec import unambiguous
from preflights_es.system.files import Folder, Unreadable
from preflights_es.use.process import Process

US_PER_S: Final = 1_000_000
READ_MAX: Final = 256 * 1024 * 1024  # bytes of checkpoints that one command reads

ROOT_DIGITS: Final = 12

Place = Literal["file", "log"]


class FiledCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A signed checkpoint, and what its signature proves."""

    file: str
    """Relative to the project's root; of a copy that was named, as it was named."""
    root: str
    by: str
    """Who signed, as claimed."""
    at: str
    """When, as claimed."""
    sessions: int
    events: int
    """Of all these sessions up to it."""
    newest: bool
    """Whether no other one names it as a parent; of one by the reader's signers, no such one."""
    signature: Signed | None
    """None where one of the reader's signers signed a newer one that names it."""


class FileDamage(msgspec.Struct, frozen=True):
    """A checkpoint or a session file that does not hold, is missing or cannot be read."""

    file: str
    found: str


class Unheld(Difference, frozen=True, kw_only=True):
    """A session that is not what a signed checkpoint remembers of it."""

    place: Place
    """Where it differs: its file, or the log."""
    file: str
    """The checkpoint."""
    log_has: int = 0
    """The version that the log has, where the file is gone."""


class HeldUpTo(msgspec.Struct, frozen=True, kw_only=True):
    """What signed checkpoints hold of the session files."""

    checkpoints: tuple[FiledCheckpoint, ...]
    sessions: int
    """Of which events are signed by one of the reader's signers, and were verified."""
    events: int
    """Those."""
    later_sessions: int
    """Of which events were verified that no such signature covers."""
    later_events: int
    unfiled: int
    """Sessions of the log that have no file: no checkpoint is of them."""
    only_filed: int
    """Sessions that were verified and that only files have."""
    only_filed_events: int
    damage: tuple[FileDamage, ...]
    differences: tuple[Unheld, ...]

    @property
    def is_whole(self) -> bool:
        """Whether everything is as it was when it was signed."""
        return not self.damage and not self.differences


class NamedCopy(msgspec.Struct, frozen=True):
    """A signed checkpoint that lies elsewhere, and that the folder must have."""

    file: str
    said: SignedCheckpoint


class _Said(msgspec.Struct, frozen=True):
    """What a checkpoint of the folder, or the copy, says."""

    file: str
    scope: SignedScope
    root: str
    tips: tuple[SignedTip, ...]
    made: KeySignature


class _Seen(msgspec.Struct, frozen=True):
    """A session that was verified."""

    tip: SignedTip
    """Of its file."""
    length: int
    """How many events were verified, in the file or in the log."""
    remembered: list[SignedTip]
    """By checkpoints."""


class CheckpointCheck:
    """Compares session files, and the log, with the signed checkpoints of the folder."""

    def __init__(
        self, process: Process, copy: NamedCopy | None = None, *, signs: bool = False
    ) -> None:
        """Args:
        copy: one more checkpoint, which lies elsewhere.
        signs: whether another one follows, or files are all there is: session files are read even
            where none lies there.
        """
        self._process = process
        self._folder = process.session_folders.checkpoints()
        self._copy = copy
        self._signs = signs
        self._given_back = ExitStack()
        self._said: list[_Said] = []
        self._lying: set[str] = set()
        self._tips: dict[str, list[SignedTip]] = {}
        self._files: dict[tuple[str, str], Folder] = {}
        self._homes: dict[str, str] = {}
        self._seen: dict[str, _Seen] = {}
        self._damage: list[FileDamage] = []
        self._differences: list[tuple[Unheld, SignedTip]] = []
        self._unread: set[str] = set()
        self._only_filed: list[int] = []
        self._unfiled = 0
        self.lie_there = False
        """Whether there is any checkpoint, damaged or not."""
        self.of_others: set[str] = set()
        """Session files of other projects; where checkpoints are, they are damage."""
        self.apart: dict[str, int] = {}
        """Sessions whose file and log hold different events, and from which version on."""

    def __enter__(self) -> Self:
        """Read the checkpoints, and list the session files.

        Raises:
            Refused: the copy is of another project.
        """
        if self._copy is not None and (why := self._other(self._copy.said)):
            raise Refused(f"{self._copy.file} cannot be compared: {why}")
        for file, said in self._read():
            self._said.append(_Said(file, said.scope, said.root, said.tips, said.made))
        for tip in set().union(*(said.tips for said in self._said)):
            self._tips.setdefault(tip[0], []).append(tip)
        self.lie_there = bool(self._said or self._damage)
        if self.is_asked:
            self._list()
        return self

    def __exit__(self, *_: object) -> None:
        self._given_back.close()

    @property
    def is_asked(self) -> bool:
        """Whether there is any checkpoint to compare with."""
        return self._signs or bool(self._said or self._damage)

    @property
    def roots(self) -> list[str]:
        """Of the checkpoints, in ascending order."""
        return sorted(said.root for said in self._said)

    @property
    def tips(self) -> list[SignedTip]:
        """The last event of each session file that verifies."""
        return [one.tip for one in self._seen.values()]

    @property
    def newest(self) -> list[bytes]:
        """Files of the checkpoints that no other one names, by their roots."""
        named = {root for said in self._said for root in said.scope.parents}
        said = sorted(
            (one for one in self._said if one.root not in named), key=lambda one: one.root
        )
        return [
            signed_content(to_sign(one.scope, (Tip(*tip) for tip in one.tips))[0], one.made)
            for one in said
        ]

    @property
    def unread(self) -> list[FileDamage]:
        """Checkpoints of the folder that are damaged, or of another project."""
        beside = f"{self._folder.path}/"
        return [one for one in self._damage if f"{one.file}/".startswith(beside)]

    def _list(self) -> None:
        for place in self._process.session_folders:
            try:
                names = place.names()
            except Unreadable as error:
                self._hurt(place.path, str(error))
                continue
            folder = self._given_back.enter_context(place.reading()) if names else None
            self._files |= {(place.path, name): folder for name in names if folder}

    # Checkpoints

    def _read(self) -> Iterator[tuple[str, SignedCheckpoint]]:
        if self._copy is not None:
            yield self._copy.file, self._copy.said
        try:
            names = self._folder.names()
        except Unreadable as error:
            self._hurt(self._folder.path, str(error))
            return
        read, known = 0, dict[bytes, SignedTip]()
        with self._folder.reading() as folder:
            for name in names if folder else ():
                assert folder is not None, "names are of one that is there"
                path = f"{self._folder.path}/{name}"
                if read > READ_MAX:
                    self._hurt(path, f"those before it have {read:,} bytes: no more are read")
                    return
                try:
                    raw = folder.content(name, CHECKPOINT_SIZE_MAX)
                    read += len(raw)
                    said = read_signed(raw, path, known)
                    if f"{said.root}.jsonl" != name:
                        raise Unreadable(f"its root is {said.root}, and its name says another")
                    if why := self._other(said):
                        raise Unreadable(why)
                except (Unreadable, OSError, LogDamaged, AnotherVersion) as error:
                    self._hurt(path, _why(error, path))
                else:
                    self._lying.add(said.root)
                    if self._copy is None or said != self._copy.said:
                        yield path, said

    def _other(self, said: SignedCheckpoint) -> str:
        """Says of which other project it is; empty where it is of this one."""
        its, ours = said.scope.project, self._process.project
        return "" if its == ours else f"it is of the project {its!r}, and this is {ours!r}"

    def _verdicts(self) -> list[Signed | None]:
        """What each signature proves; None of one that a newer one by the reader's signers names.

        By its root, such a newer one covers every byte that counts of those that it names. So the
        newest are checked first, and as few as can be.
        """
        places: dict[str, list[int]] = {}
        for n, said in enumerate(self._said):
            places.setdefault(said.root, []).append(n)
        # No circle: a root covers the roots that it names.
        namers = Counter(root for said in self._said for root in said.scope.parents)
        ready = sorted(places.keys() - namers.keys())
        found: list[Signed | None] = [None] * len(self._said)
        covered = set[str]()
        while ready:
            for n in places[root := ready.pop()]:
                parents = self._said[n].scope.parents
                verdict = None if root in covered else self._verdict(self._said[n])
                if verdict is None or verdict.verdict == "signed":
                    covered.update(parents)
                found[n] = verdict
                namers.subtract(parents)
                ready += [one for one in parents if not namers[one] and one in places]
        return found

    def _verdict(self, said: _Said) -> Signed:
        message, _ = to_sign(said.scope, (Tip(*tip) for tip in said.tips))
        made = Signature(proposal="", key=said.made.key, sshsig=said.made.sshsig)
        at_s = said.scope.at // US_PER_S
        return self._process.signatures.verdict(made, namespace("checkpoint"), message, at_s)

    # Sessions

    def look(self, head: Head, stored: Sequence[Stored]) -> None:
        """Look at a session of the log whose chain verifies, and at its file."""
        if head.project != self._process.project or not self.is_asked:
            return
        if head.workflow == imports.WORKFLOW.name:
            return  # it says how sessions came into this log
        name = name_of(decision_uid(head.session_id))
        home = self._home(head.workflow) or next((h for h, n in self._files if n == name), "")
        folder = self._files.pop((home, name), None)
        log = [event.hash for event in stored]
        if folder is None:
            self._unfiled += 1
            self._gone(head.session_id, log)
            return
        path = f"{home}/{name}"
        try:
            content = folder.content(name, SIZE_MAX)
            # Equal bytes need no second look: most files are as the log is.
            same = content == jsonl.lines(stored)
            hashes = log if same else _hashes(self._verified(path, name, content))
        except (Unreadable, OSError, PreflightsError) as error:
            self._unread.add(head.session_id)
            self._hurt(path, _why(error, path))
        else:
            self._compare(head.session_id, hashes, log)

    def look_at_rest(self) -> None:
        """Look at the session files that the log does not have, and for those that are gone."""
        for (home, name), folder in self._files.items():
            path = f"{home}/{name}"
            try:
                events = self._verified(path, name, folder.content(name, SIZE_MAX))
            except (Unreadable, OSError, PreflightsError) as error:
                self._unread |= {id_ for id_ in self._tips if name_of(decision_uid(id_)) == name}
                self._hurt(path, _why(error, path))
            else:
                if self._process.store.head(events[0].session_id) is None:
                    self._only_filed.append(len(events))
                self._compare(events[0].session_id, _hashes(events), ())
        self._files = {}
        for session_id in [*self._tips.keys() - self._unread]:
            self._gone(session_id, ())

    def _verified(self, path: str, name: str, content: bytes) -> Sequence[Stored]:
        """The events of a session file; it holds one session, which belongs there."""
        events = verified(tuple(jsonl.stored(content.splitlines(keepends=True), path)))
        if not events:
            raise Unreadable("it holds no events")
        for event in events:
            unambiguous(event)
        first = events[0]
        if name != name_of(decision_uid(first.session_id)):
            raise Unreadable(f"it holds session {first.session_id}, and its name says another")
        if first.project != self._process.project:
            self.of_others.add(path)
            raise Unreadable(
                f"it is of the project {first.project!r}, and this is {self._process.project!r}"
            )
        home = self._home(first.workflow)
        if home and home != path.rpartition("/")[0]:
            raise Unreadable(f"its place is {home}")
        if first.session_id in self._seen:
            raise Unreadable(f"session {first.session_id} has another file")
        return events

    def _home(self, workflow: str) -> str:
        """Where sessions of a workflow lie; empty of one that is not known here."""
        if workflow not in self._homes:
            try:
                self._process.runner.workflow(workflow)
                self._homes[workflow] = self._process.session_home(workflow).path
            except WorkflowMissing:
                self._homes[workflow] = ""
        return self._homes[workflow]

    def _compare(self, session_id: str, file: Sequence[bytes], log: Sequence[bytes]) -> None:
        """Hold the chain of a file, and that of the log, against what is remembered."""
        remembered = self._tips.pop(session_id, [])
        for tip in remembered:
            _, version, hash_ = tip
            if version > len(file):
                self._differ(tip, "cut", len(file))
            elif file[version - 1].hex() != hash_:
                self._differ(tip, "recomputed", len(file))
            elif version <= len(log) and log[version - 1] != file[version - 1]:
                self._differ(tip, "recomputed", len(log), "log")
        pairs = enumerate(zip(log, file, strict=False), 1) if log is not file else ()
        if parts_at := next((version for version, (mine, its) in pairs if mine != its), 0):
            self.apart[session_id] = parts_at
        length = len(file) if parts_at else max(len(file), len(log))
        tip = (session_id, len(file), file[-1].hex())
        self._seen[session_id] = _Seen(tip, length, remembered)

    def _gone(self, session_id: str, log: Sequence[bytes]) -> None:
        """A session without a file."""
        for tip in self._tips.pop(session_id, []):
            self._differ(tip, "missing", 0, log_has=len(log))

    def _differ(
        self,
        tip: SignedTip,
        kind: Literal["missing", "cut", "recomputed"],
        version: int,
        place: Place = "file",
        log_has: int = 0,
    ) -> None:
        found = Unheld(tip[0], kind, tip[1], version, place=place, file="", log_has=log_has)
        self._differences.append((found, tip))

    def _hurt(self, file: str, found: str) -> None:
        self._damage.append(FileDamage(file, found))

    # What came of it

    def result(self) -> HeldUpTo:
        """What was found, once every session was looked at."""
        found = self._verdicts()
        verdicts = [one.verdict if one else None for one in found]
        good = {n for n, verdict in enumerate(verdicts) if verdict != "does_not_verify"}
        ours = {n for n, verdict in enumerate(verdicts) if verdict == "signed"}
        for n, said in enumerate(self._said):
            if n not in good:
                self._hurt(said.file, f"its signature {found[n]}")
        self._name_missing(good)
        differences = _one_each([*self._against(good)])
        differing = {one.session_id for one in differences}
        signed_tips = set[SignedTip]().union(*(self._said[n].tips for n in ours))
        covered = {
            session_id: (_covered(one.remembered, signed_tips), one.length)
            for session_id, one in self._seen.items()
            if session_id not in differing
        }
        later = [length - upto for upto, length in covered.values() if length > upto]
        return HeldUpTo(
            checkpoints=tuple(self._filed(found, good, ours)),
            sessions=sum(upto > 0 for upto, _ in covered.values()),
            events=sum(upto for upto, _ in covered.values()),
            later_sessions=len(later),
            later_events=sum(later),
            unfiled=self._unfiled,
            only_filed=len(self._only_filed),
            only_filed_events=sum(self._only_filed),
            damage=tuple(self._damage),
            differences=tuple(differences),
        )

    def _against(self, good: set[int]) -> Iterator[Unheld]:
        """What differs from checkpoints whose signature is one of their key; names the newest."""
        if not self._differences:
            return
        newest = sorted((self._said[n] for n in good), key=lambda said: said.scope.at)
        by = {tip: said.file for said in newest for tip in said.tips}
        for found, tip in self._differences:
            if tip in by:
                yield msgspec.structs.replace(found, file=by[tip])

    def _name_missing(self, good: set[int]) -> None:
        """Name the checkpoints that others name, and that are not in the folder."""
        place = self._folder.path
        hurt = {one.file for one in self._damage}
        gone: dict[str, str] = {}
        if self._copy is not None:
            gone[self._copy.said.root] = f"{self._copy.file} is a copy of it"
        for n in sorted(good):
            said = self._said[n]
            for root in said.scope.parents:
                gone.setdefault(root, f"{said.file} names it as a parent")
        for root, why in gone.items():
            path = f"{place}/{root}.jsonl"
            if root not in self._lying and path not in hurt:
                self._hurt(path, f"it is missing: {why}")

    def _filed(
        self, found: Sequence[Signed | None], good: set[int], ours: set[int]
    ) -> Iterator[FiledCheckpoint]:
        """The checkpoints that count, in the order of their times."""
        by_ours, by_any = (
            {root for n in some for root in self._said[n].scope.parents} for some in (ours, good)
        )
        for n in sorted(good, key=lambda n: (self._said[n].scope.at, self._said[n].root)):
            said = self._said[n]
            yield FiledCheckpoint(
                file=said.file,
                root=said.root,
                by=said.scope.by,
                at=iso(said.scope.at),
                sessions=len(said.tips),
                events=sum(version for _, version, _ in said.tips),
                newest=said.root not in (by_ours if n in ours else by_any),
                signature=found[n],
            )


def _covered(remembered: Sequence[SignedTip], signed: Container[SignedTip]) -> int:
    """The last version of a session that a signature of the reader's signers covers."""
    return max((tip[1] for tip in remembered if tip in signed), default=0)


def _one_each(differences: Sequence[Unheld]) -> list[Unheld]:
    """One of each session: the first event that was recomputed, else the last that is gone."""
    chosen: dict[str, Unheld] = {}

    def weight(one: Unheld) -> tuple[bool, int]:
        return (
            one.kind == "recomputed",
            -one.remembered if one.kind == "recomputed" else one.remembered,
        )

    for one in sorted(differences, key=weight):
        chosen[one.session_id] = one
    return [chosen[session_id] for session_id in sorted(chosen)]


def _hashes(events: Sequence[Stored]) -> list[bytes]:
    return [event.hash for event in events]


def _why(error: Exception, path: str) -> str:
    """What is wrong with a file, without its name."""
    match error:
        case LogDamaged():
            return error.found
        case AnotherVersion():
            return str(error).removeprefix(f"{path}: ").removeprefix(f"{path} ")
        case OSError():
            return error.strerror or str(error)
        case _:
            return str(error)


# In words ------------------------------------------------------------------------------------


def unheld(found: Unheld) -> str:
    """What became of a session that a signed checkpoint remembers, in words."""
    then, by = found.remembered, called(found.file)
    match found.kind:
        case "missing" if found.log_has:
            return f"has no file: {by} has it at version {then}, the log at {found.log_has}"
        case "missing":
            return f"is missing: {by} has it at version {then}"
        case "cut":
            return f"was cut: {by} has it at version {then}, its file at {found.version}"
        case _:
            where = " in the log" if found.place == "log" else ""
            return f"was recomputed{where}: {by} has another hash of event {then}"


def called(file: str) -> str:
    """A checkpoint in a sentence: one of the folder by the first digits of its root."""
    name = file.rpartition("/")[2]
    if not re.fullmatch(r"[0-9a-f]{64}\.jsonl", name):
        return file
    return f"checkpoint {name[:ROOT_DIGITS]}"
