"""Documents as the log has them, and as they lie on this disk."""

from __future__ import annotations

from typing import Literal

from preflights_es.use.request import Request
from preflights_es.use.results import Result


class Rendered(Result, frozen=True, tag_field="format", tag="render/1"):
    """The document of a session."""

    session_id: str
    path: str
    """Of the document, or of the `.new` file beside it; relative to the project's root."""
    outcome: Literal["written", "same", "beside", "missing", "differs", "printed"]
    text: str | None
    """Where it is only printed."""


class InItsPlace(Result, frozen=True):
    """A document of another session that lies where this one belongs."""

    path: str
    session_id: str


def render(
    request: Request, session: str, *, write: bool = True, prints: bool = False
) -> tuple[Rendered, InItsPlace | None]:
    """Rebuild the document of a session, byte for byte.

    Args:
        write: else the file is only compared.
        prints: whether only its text is wanted.

    Raises:
        Refused: there is none, or it belongs to another project.
    """
    documents = request.process.documents
    handle = request.sessions.load(session)
    id_ = handle.session_id
    if prints:
        due, text = documents.text(id_)
        return Rendered(session_id=id_, path=due.path, outcome="printed", text=text), None
    request.sessions.refuse_elsewhere(handle)
    made = documents.rebuilt(handle, write=write)
    due, _ = documents.text(id_)
    is_record = handle.workflow.filing is None  # no other file says whose it is
    other = documents.other_at(id_, due.path) if is_record else ""
    found = InItsPlace(path=due.path, session_id=other) if other else None
    return Rendered(session_id=id_, path=made.path, outcome=made.outcome, text=None), found
