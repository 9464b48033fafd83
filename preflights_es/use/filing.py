"""After a step: its documents are written, and the session is told as it stands."""

from __future__ import annotations

from preflights_es.kernel.artifacts import ArtifactDue
from preflights_es.kernel.errors import PreflightsError
from preflights_es.records.record_folder import USUAL
from preflights_es.runtime.runner import Step
from preflights_es.runtime.sessions import AskedElsewhere, recalled
from preflights_es.use.request import Request
from preflights_es.use.results import Session, session_of


def filed(request: Request, step: Step) -> Session:
    """The session after its documents were written, and those that its step left to others.

    Raises:
        PreflightsError: the document cannot be written; the decision stands all the same.
    """
    handle = step.handle
    is_due = any(isinstance(call, ArtifactDue) for call in handle.session.calls)
    is_due = is_due or bool(handle.view.hashes)  # the session's file goes on with it
    is_ours = handle.project == request.process.project  # else that project writes them
    if is_due and is_ours and not recalled(step) and not isinstance(step, AskedElsewhere):
        try:
            step = Step(request.process.documents.finish(handle), step.decisions)
        except PreflightsError:
            text = "it is recorded; the next command writes its document"
            request.notice("document_later", text)
            raise
        request.finish_pending()
        _notice_folder(request, step)
    return session_of(step, request.notices)


def _notice_folder(request: Request, step: Step) -> None:
    """Say with the first record where records were found, where no file says it."""
    settings, process = request.process.settings, request.process
    if settings.is_decisions_said or settings.decisions == USUAL[0]:
        return
    if list(process.store.numbers(process.project).values()) == [step.handle.session_id]:
        folder = settings.decisions
        text = f"records go to {folder!r}, as found in this project; the setting `decisions` says"
        request.notice("folder_found", f"{text} another folder", folder=folder)
