"""Writes the files that sessions owe, and finishes what a crash left undone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from preflights_es.artifacts import files, render
from preflights_es.core.artifacts import ArtifactDue, ArtifactWritten, Written
from preflights_es.core.errors import (
    ArtifactOutside,
    ErasedSession,
    PreflightsError,
    Refused,
    UnknownSession,
)
from preflights_es.core.ports import Stored
from preflights_es.runtime.performer import PROGRAM
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.store.chain import verified


class Rebuilt(msgspec.Struct, frozen=True):
    """What came of rebuilding a document."""

    path: str
    outcome: Literal["written", "same", "beside", "missing", "differs"]


class Documents:
    """The performer of `ArtifactDue`, below one root and inside the configured folders."""

    def __init__(self, runner: Runner, root: Path, folders: tuple[str, ...]) -> None:
        self._runner = runner
        self.root = root
        self._folders = folders

    def check_folders(self) -> None:
        """Refuse a folder outside the project before anything is recorded.

        Raises:
            ArtifactOutside: one of them leads outside.
        """
        for folder in self._folders:
            files.checked_folder(self.root, folder)

    def finish(self, handle: Handle) -> Handle:
        """Write every document that is due, oldest first, and record each.

        Raises:
            ArtifactOutside: the log names a path outside the configured folders.
            StoreUnavailable: the disk refuses; the next command tries again.
        """
        with files.alone(self.root):
            # What is due may have been written while this process waited for its turn.
            handle = self._runner.refreshed(handle)
            for due in handle.session.calls:
                if isinstance(due, ArtifactDue):
                    handle = self._written(handle, due).handle
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
                finished.append(self.finish(self._runner.load(session_id)))
            except PreflightsError as error:
                trouble = trouble or error
        if trouble is not None:
            raise trouble
        return finished

    def text(self, session_id: str, call: str = "") -> tuple[ArtifactDue, str]:
        """A document as its last request (or that of one call) asked for it, byte for byte.

        Raises:
            UnknownSession: nothing is recorded under the id.
            Refused: no document was ever asked for in this session.
        """
        runner = self._runner
        stored = verified(runner.store.read(session_id))
        if not stored:
            raise UnknownSession(session_id)
        workflow = runner.workflow(stored[0].workflow)
        if workflow.record is None:
            raise Refused(f"sessions of the workflow {workflow.name} write no documents")
        due, upto = self._last_due(stored, call)
        if due is None:
            raise Refused(
                f"session {session_id[-8:]} has no document: it is written when the decision is "
                f"accepted (`preflights accept {session_id[-8:]}`)"
            )
        record = workflow.record(runner.folded(workflow, stored[:upto]).state)
        return due, render.document(due.template, replace(record, session_id=session_id))

    def brief(self, handle: Handle) -> str:
        """What a coding agent has to know, as the session stands.

        Raises:
            ErasedSession: nothing is known of it any more.
            Refused: sessions of this workflow brief nobody.
        """
        if handle.session.closed == "erased":
            raise ErasedSession(handle.session_id)
        if handle.workflow.record is None:
            raise Refused(
                f"session {handle.session_id[-8:]} is of the workflow {handle.workflow.name}, "
                "which briefs no agent: name a clarification"
            )
        record = handle.workflow.record(handle.session.state)
        return render.brief(replace(record, session_id=handle.session_id))

    def numbers_used(self) -> set[int]:
        """The numbers that files of the configured folders bear, whoever wrote them."""
        return {
            number
            for folder in self._folders
            for number in files.numbered(files.checked_folder(self.root, folder))
        }

    def rebuilt(self, handle: Handle, *, write: bool) -> Rebuilt:
        """Put the document back where it belongs, or only say how its file compares."""
        due, text = self.text(handle.session_id)
        target = self.target(due.path)
        lies = files.found_hash(target)
        if lies == files.hash_of(text):
            return Rebuilt(due.path, "same")
        if not write:
            return Rebuilt(due.path, "missing" if lies is None else "differs")
        view = handle.workflow.view(handle.session.state)
        with files.alone(self.root):
            written, beside = files.filed(
                self.root, target, due.path, text, view.written, wrote=view.hashes
            )
        return Rebuilt(written.path, "beside" if beside else "written")

    def target(self, path: str) -> Path:
        """Where a path of a document lies on this machine.

        Raises:
            ArtifactOutside: outside the configured folders.
        """
        return files.checked_path(self.root, self._folders, path)

    def _last_due(self, stored: Sequence[Stored], call: str) -> tuple[ArtifactDue | None, int]:
        for one in reversed(stored):
            if one.type == ArtifactDue.tag:
                codec = self._runner.codec(self._runner.workflow(one.workflow))
                due = codec.decode(one)
                assert isinstance(due, ArtifactDue), "its tag says so"
                if call in ("", due.call):
                    return due, one.version
        return None, 0

    def _written(self, handle: Handle, due: ArtifactDue) -> Step:
        target = self.target(due.path)
        _, text = self.text(handle.session_id, due.call)
        view = handle.workflow.view(handle.session.state)
        former = self._former(view.written, due.path)
        written, beside = files.filed(
            self.root, target, due.path, text, view.written, former, view.hashes
        )
        outcome = ArtifactWritten(
            at=self._runner.now(),
            actor=PROGRAM,
            call=due.call,
            path=written.path,
            sha256=written.sha256,
            beside=beside,
        )
        return self._runner.submit(handle, outcome, self._runner.new_id())

    def _former(self, before: Written | None, path: str) -> Path | None:
        if before is None or before.path == path:
            return None
        try:
            return self.target(before.path)
        except ArtifactOutside:
            return None  # its folder is no longer ours to touch
