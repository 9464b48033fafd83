"""Documents that sessions owe: written, recorded, and numbers that were lost on the way."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import (
    ArtifactOutside,
    LogFromFuture,
    PreflightsError,
    Refused,
    UnknownSession,
)
from preflights_es.kernel.events import (
    ArtifactDue,
    ArtifactRemoved,
    ArtifactWritten,
    Filing,
    WrittenFile,
)
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import late_pattern, slug
from preflights_es.records import files, render
from preflights_es.records.files import front_of
from preflights_es.records.record_folder import RecordFolder
from preflights_es.records.record_names import is_year, numbered_groups, of_own_folder, sequence_of
from preflights_es.records.render import check_template
from preflights_es.records.session_files import SessionFiles
from preflights_es.runtime.performer import PROGRAM
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.store.stored_events import shared_event, verified
from preflights_es.system.files import Unreadable
from preflights_es.words.decisions import Record, list_superseded
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    from preflights_es.records.record_names import RecordHeader


NAME: Final = late_pattern(
    r"(?:(?:[A-Za-z]{1,15}[-_ ]?){0,3}(?:\d{4}[-_])?\d{1,9}|\d{4}-\d\d-\d\d|[0-9a-f]{12})"
    r"(?:([-_ ])(.+))?\.(?:md|MD|markdown|adoc|asciidoc)",
    re.ASCII,
)
"""See `document_path`."""
FINISH_S: Final = 0.25  # seconds that a command waits for another one's documents before its own


class RebuiltDocument(msgspec.Struct, frozen=True):
    """What came of rebuilding a document."""

    path: str
    outcome: Literal["written", "same", "beside", "missing", "differs"]


class Documents:
    """The performer of `ArtifactDue`, below one root: records go into the configured folders, what
    a workflow files otherwise into the folder of its own.
    """

    def __init__(
        self,
        runner: Runner,
        root: Path,
        folders: tuple[str, ...],
        sessions: SessionFiles | None = None,
        is_tracked: Callable[[str], bool] = lambda _path: True,
        records: Callable[[], Sequence[RecordFolder]] | None = None,
    ) -> None:
        """Args:
        folders: of new records and tasks.
        sessions: writes a session beside the record that it wrote; None where none are kept.
        is_tracked: whether git knows a path, relative to the root, or cannot say.
        records: all folders of records, where older ones may lie; else only the first folder is.
        """
        self._runner = runner
        self.root = root
        self._folders = folders
        self._sessions = sessions
        self._is_tracked = is_tracked
        self._records = records or (lambda: (RecordFolder(folders[0], "settings"),))

    def check_folders(self, filing: Filing | None = None, *, writes: bool = False) -> None:
        """Refuse a folder before anything is recorded.

        Args:
            filing: of the workflow, where it files no records.
            writes: whether a document follows at once.

        Raises:
            ArtifactOutside: one of them leads outside the project.
            StoreUnavailable: one of them cannot be written.
        """
        for folder in self._folders if filing is None else (filing.folder,):
            found = files.checked_folder(self.root, folder)
            if writes:
                files.check_writable(found, folder)

    def is_record_folder(self, folder: str) -> bool:
        """Whether records of the project lie there, or may."""
        return folder == self._folders[0] or folder in (one.path for one in self._records())

    def finish(self, handle: Handle, at_most_s: float | None = None) -> Handle:
        """Write every document that is due, oldest first, and record each.

        Args:
            at_most_s: how long another process that writes documents is waited for.

        Raises:
            LogBusy: it goes on for longer.
            ArtifactOutside: the log names a path outside the configured folders.
            StoreUnavailable: the disk refuses; the next command tries again.
        """
        with files.alone(self.root, at_most_s):
            # What is due may have been written while this process waited for its turn.
            handle = self._runner.refreshed(handle)
            for due in handle.session.calls:
                if isinstance(due, ArtifactDue):
                    handle = self._written(handle, due).handle
            if self._sessions is not None and handle.view.hashes:  # it wrote a document
                self._sessions.end(handle.session_id)
        return handle

    def finish_pending(self, project: str) -> list[Handle]:
        """Whatever an earlier command of this project left open; one in trouble holds up no other.

        Raises:
            PreflightsError: the first trouble, once all were tried.
        """
        sessions = dict.fromkeys(
            session_id
            for session_id, call in self._runner.store.open_calls(project)
            if call.startswith("artifact-")
        )
        finished: list[Handle] = []
        trouble: PreflightsError | None = None
        for session_id in sessions:
            try:
                finished.append(self.finish(self._runner.load(session_id), FINISH_S))
            except PreflightsError as error:
                trouble = trouble or error
        if self._sessions is not None and trouble is None:
            with files.alone(self.root, FINISH_S):
                self._sessions.finish()
        if trouble is not None:
            raise trouble
        return finished

    def text(self, session_id: str, call: str = "", upto: int = 0) -> tuple[ArtifactDue, str]:
        """A document as its last request (or that of one call) asked for it, byte for byte.

        Args:
            upto: a version; what came later is not looked at. 0 means all.

        Raises:
            UnknownSession: nothing is recorded under the id.
            Refused: no document was ever asked for in this session.
        """
        stored = self._stored(session_id)[: upto or None]
        workflow = self._runner.workflow(stored[0].workflow)
        if workflow.filed.record is None and workflow.filed.filing is None:
            message = f"sessions of the workflow {workflow.name} write no documents"
            raise Refused(message, code="writes_no_documents", workflow=workflow.name)
        found = [one for one in self._asked(stored) if call in ("", one[0].call)]
        if not found:
            waits = ": it is written when the session is accepted"
            why, code = ("", "no_document")
            if workflow.asked.acknowledges is not None:
                why, code = (waits, "not_accepted_yet")
            id_ = session_id[-8:]
            raise Refused(f"session {id_} has no document{why}", code=code, session=id_)
        due, state = found[-1]
        return due, render_due_document(workflow, session_id, due, state)

    def paths(self, session_id: str) -> set[str]:
        """Where the log of a session asked for its documents."""
        return {due.path for due, _ in self._dues(self._stored(session_id))}

    def hashes(self, session_id: str) -> set[str]:
        """SHA-256 of every document that the log of a session gives.

        What the log says to have been written is a claim: it may come from elsewhere, and name
        the hash of a file that is not ours. A text that the log itself gives is ours.
        """
        return set(map(files.hash_of, self.texts(session_id)))

    def texts(self, session_id: str) -> Iterator[str]:
        """Every document that the log of a session gives, oldest first."""
        stored = self._stored(session_id)
        for due, state in self._asked(stored):
            workflow = self._runner.workflow(stored[0].workflow)
            with contextlib.suppress(LogFromFuture):  # a template of a newer version
                yield render_due_document(workflow, session_id, due, state)

    def record_paths(self) -> list[str]:
        """The pages of the folders of records by their names, relative to the root.

        Raises:
            ArtifactOutside: a folder that is named leads outside the project.
        """
        from preflights_es.records.record_list import list_record_paths

        return list_record_paths(self.root, self._records(), self._folders[0])

    def numbers_used(self, folder: str = "") -> set[int]:
        """The numbers in the names of records, also foreign ones.

        Args:
            folder: where only those count that a new record of it must not take.
        """
        paths = self.record_paths()
        if folder:
            taken = files.numbers_in(files.checked_folder(self.root, folder))
            return sequence_of(PurePosixPath(folder).as_posix(), paths) | taken
        return {number for _, _, number in numbered_groups(paths)}

    def rebuilt(self, handle: Handle, *, write: bool) -> RebuiltDocument:
        """Put the document back where it belongs, or only say how its file compares."""
        due, text = self.text(handle.session_id)
        target = self.target(due.path, handle.workflow.filed.filing)
        lies = files.found_hash(target)
        if lies == files.hash_of(text):
            return RebuiltDocument(due.path, "same")
        if not write:
            return RebuiltDocument(due.path, "missing" if lies is None else "differs")
        with files.alone(self.root):
            written, beside = self._filed(handle, due.path, text)
        return RebuiltDocument(written.path, "beside" if beside else "written")

    def other_at(self, session_id: str, path: str) -> str:
        """The session whose record lies at a path, where it is another one; else empty."""
        try:
            there = front_of(self.target(path)).session
        except (OSError, Unreadable):
            return ""
        if there == session_id or not there.isprintable():
            return ""
        return there if self._runner.store.head(there) is not None else ""

    def target(self, path: str, filing: Filing | None = None) -> Path:
        """Where a path of a document lies on this machine.

        Args:
            filing: of the workflow, where it is no record.

        Raises:
            ArtifactOutside: outside the configured folders, or under a name that no document has:
                other programs read files such as AGENTS.md by their names.
        """
        at = PurePosixPath(path)
        own = at if filing else of_own_folder(at)
        name = own.name if own == at else f"{own.name}.md"
        if not (re.fullmatch(filing.name, name) if filing else _is_document_name(name)):
            expected = "0007-title.md or 3f9a12c45d6e-title.md"
            such = filing.name if filing else f"such as {expected}"
            raise ArtifactOutside(
                f"the log names the document {path!r}: expected a name {such}; nothing was written"
            )
        folders, first = self._folders_of(filing), own
        if is_year(own.parent.name) and own.parent.as_posix() not in folders:
            first = own.parent
        found = files.checked_path(self.root, folders, str(first))
        return found.joinpath(at.relative_to(first))

    def _folders_of(self, filing: Filing | None) -> tuple[str, ...]:
        if filing is not None:
            return (filing.folder,)
        return (*self._folders, *(folder.path for folder in self._records()))

    def _stored(self, session_id: str) -> Sequence[Stored]:
        stored = verified(self._runner.store.read(session_id))
        if not stored:
            raise UnknownSession(session_id)
        return stored

    def _asked(self, stored: Sequence[Stored]) -> Iterator[tuple[ArtifactDue, Any]]:
        """The requests for documents, each with the state of the session at that event."""
        workflow = self._runner.workflows.get(stored[0].workflow)
        if workflow is None or (workflow.filed.record is None and workflow.filed.filing is None):
            return
        session = None
        for due, upto in self._dues(stored):
            session = self._runner.folded(workflow, stored[:upto], session)
            yield due, session.state

    def _dues(self, stored: Iterable[Stored]) -> Iterator[tuple[ArtifactDue, int]]:
        """The requests for documents, each with its version."""
        for line in stored:
            if line.type == ArtifactDue.tag:
                due = shared_event(line)
                assert isinstance(due, ArtifactDue), "its tag says so"
                yield due, line.version

    def _written(self, handle: Handle, due: ArtifactDue) -> Step:
        if (path := self._superfluous(handle)) and not self._is_tracked(path):
            return self._removed(handle, due, path)
        _, text = self.text(handle.session_id, due.call)
        former = self._former(handle, due.path)
        is_record = handle.workflow.filed.filing is None
        mend = partial(self._mended, handle, due) if is_record else None
        written, beside = self._filed(handle, due.path, text, former, mend=mend)
        if is_record:
            self._mark_replaced(handle, due)
        if self._sessions is not None:
            self._sessions.begin(handle.session_id)  # and ended when this call is answered
        outcome = ArtifactWritten(
            at=self._runner.now(),
            actor=PROGRAM,
            call=due.call,
            path=written.path,
            sha256=written.sha256,
            beside=beside,
        )
        return self._runner.submit(handle, outcome, self._runner.new_id())

    def _superfluous(self, handle: Handle) -> str:
        """Where the record of a rejected proposal lies as it was written; else empty."""
        if handle.workflow.filed.record is None:
            return ""
        written, record = handle.view.written, handle.workflow.filed.record(handle.session.state)
        if record.status != "rejected" or written is None or len(handle.session.calls) > 1:
            return ""
        try:
            lies = files.found_hash(self.target(written.path))
        except ArtifactOutside:
            return ""
        return written.path if lies in self.hashes(handle.session_id) else ""

    def _removed(self, handle: Handle, due: ArtifactDue, path: str) -> Step:
        """Remove the file, and the session's file where git does not know it either."""
        files.removed(self.root, self.target(path), self.hashes(handle.session_id))
        outcome = ArtifactRemoved(at=self._runner.now(), actor=PROGRAM, call=due.call, path=path)
        step = self._runner.submit(handle, outcome, self._runner.new_id())
        if self._sessions is not None:
            if self._is_tracked(self._sessions.path(handle.session_id)):
                self._sessions.end(handle.session_id)
            else:
                self._sessions.remove(handle.session_id)
        return step

    def _filed(
        self,
        handle: Handle,
        path: str,
        text: str,
        former: Path | None = None,
        mend: files.Mend | None = None,
    ) -> tuple[WrittenFile, bool]:
        ours = partial(self.hashes, handle.session_id)
        target = self.target(path, handle.workflow.filed.filing)
        return files.write_document(
            self.root, target, path, text=text, ours=ours, former=former, mend=mend
        )

    def foreign(self, path: str) -> RecordHeader | None:
        """The record of this path, relative to the root, if it does not say that it is ours.

        Raises:
            ArtifactOutside: a folder of records that is named leads outside.
        """
        from preflights_es.records.record_list import records_in

        found = records_in(self.root, self._records()).records
        return next((one for one in found if one.path == path and not one.session), None)

    def _mark_replaced(self, handle: Handle, due: ArtifactDue) -> None:
        """Give records without a session that an accepted decision replaces their new status.

        It is done before the document is recorded as written, so that a crash in between is made
        good by the next command; a second time changes nothing.
        """
        assert handle.workflow.filed.record is not None, "a document is due"
        record = handle.workflow.filed.record(handle.session.state)
        marked = [one.path for one in list_superseded(record) if not one.uid and one.path]
        if record.status != "accepted" or not marked:
            return
        from preflights_es.records.record_edits import NewStatus, with_status

        number = handle.workflow.filed.number(handle.session.state)
        name = f"task {record.uid}" if number is None else f"ADR-{number:04d}"
        for file in marked:
            found = self.foreign(file)
            if found is None:
                continue  # a person moved it
            old = PurePosixPath(found.path)
            link = "" if number is None else _relative(due.path, found.path)
            mark = partial(with_status, tool=found.tool, by=NewStatus(name, link))
            target = files.checked_folder(self.root, str(old.parent)) / old.name
            files.change_file_content(self.root, target, mark)

    def _mended(self, handle: Handle, due: ArtifactDue, content: bytes) -> bytes | None:
        """A person's edits with the status that the log gives; None where more has changed."""
        from preflights_es.records.record_edits import mend_record_status

        id_, before = handle.session_id, None
        for asked, state in self._asked(self._stored(id_)):
            after = _record_of_state(handle.workflow, id_, state)
            if asked.call == due.call:
                break
            before = after
        return None if before is None else mend_record_status(content, before, after)

    def _former(self, handle: Handle, path: str) -> Path | None:
        """Where the document lay before, when its log asked for it there."""
        before = handle.view.written
        if before is None or before.path == path:
            return None
        if before.path not in self.paths(handle.session_id):
            return None
        try:
            return self.target(before.path, handle.workflow.filed.filing)
        except ArtifactOutside:
            return None  # its folder is no longer ours to touch


def render_due_document(
    workflow: Workflow[Any], session_id: str, due: ArtifactDue, state: Any
) -> str:
    """What a file holds.

    Args:
        due: a request of the session for a document.
        state: of the session, behind that.

    Raises:
        LogFromFuture: this version has no such template.
    """
    if (filing := workflow.filed.filing) is None:
        record = _record_of_state(workflow, session_id, state)
        return render.render_document(due.template, replace(record, path=due.path))
    check_template(workflow, due.template)
    return filing.text(state)


def _record_of_state(workflow: Workflow[Any], session_id: str, state: Any) -> Record:
    assert workflow.filed.record is not None, "a record is due"
    return replace(workflow.filed.record(state), session_id=session_id)


def _relative(path: str, document: str) -> str:
    """A path of the project as a link of a document has it."""
    return os.path.relpath(path, PurePosixPath(document).parent).replace(os.sep, "/")


def _is_document_name(name: str) -> bool:
    """Whether a file's name is one that `document_path` gives, whatever log it stands in."""
    found = NAME.fullmatch(name)
    if found is None or not found[2]:
        return found is not None
    words = found[2].replace(found[1], "-")
    return slug(words) == words
