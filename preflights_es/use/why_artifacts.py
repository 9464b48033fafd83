"""Where an artifact came from: what its session read, the response, and who decided on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any, Final, Literal

from msgspec.structs import replace

from preflights_es.kernel.errors import ErasedSession, Refused
from preflights_es.kernel.events import UNSEEN, Input
from preflights_es.kernel.ids import SHORT, short
from preflights_es.kernel.json import decoded
from preflights_es.kernel.plan_record import Planned
from preflights_es.kernel.questions import Answers
from preflights_es.kernel.times import iso
from preflights_es.projections.artifacts import plan, plans
from preflights_es.projections.folding import Read
from preflights_es.records.files import found_hash
from preflights_es.use.imported import ImportedBy, imports_of
from preflights_es.use.looking import looking, with_files
from preflights_es.use.request import Request
from preflights_es.use.results import WaivedFinding, Who
from preflights_es.use.why import answer_of, response_of
from preflights_es.use.why_results import FileRead, RecordRead, Said, Stood, WhyArtifact

ID_MIN: Final = 4  # characters by which an artifact can be named
_ID: Final = re.compile(r"[0-9a-f]{4}[0-9a-f-]{0,32}")


def named(request: Request, what: str, field: str = "") -> tuple[WhyArtifact, ...]:
    """The artifact whose id begins so, in the log or a session file; nothing where none does.

    Args:
        field: of its payload, as `of_session` takes it.

    Raises:
        Refused: several do, or it has no such field.
    """
    typed = what.strip().lower()
    if not _ID.fullmatch(typed):
        return ()
    rows = with_files(
        request,
        lambda at: map(plan, at.process.projector.rows("artifacts", at.process.project)),
    )
    found = {one.planned.id: one.session_id for one in rows if one.planned.id.startswith(typed)}
    if len(found) > 1:
        ids = ", ".join(found)
        raise Refused(f"several artifacts begin with {what!r}: {ids}", code="ambiguous_artifact")
    for id_, session_id in found.items():
        at = looking(request, session_id)
        return of_session(at, at.process.history(session_id), id_, field)
    return ()


def of_session(at: Request, read: Read, id_: str = "", field: str = "") -> tuple[WhyArtifact, ...]:
    """The artifacts of a session, or that one of them.

    Args:
        field: of the payload: a name, or the way to it (`modules.0.name`); empty for the whole.

    Raises:
        ErasedSession: what it made is gone.
        Refused: it has none, none of them has the field, or it could not be folded.
    """
    session_id = read.head.session_id
    if read.trouble == "erased":
        raise ErasedSession(session_id)
    if read.trouble:
        message = f"session {short(session_id)} is {read.trouble}: {read.why}"
        raise Refused(message, code="decision_unknown", session=short(session_id))
    found = [one for one in plans(read) if id_ in ("", one.id)]
    if not found:
        message = f"session {short(session_id)} has no artifact"
        raise Refused(message, code="no_artifact", session=short(session_id))
    came = imports_of(at.process, read)
    root = at.process.settings.root
    if not field:
        return tuple(_why(root, read, one, came) for one in found)
    told, known = [], dict[str, None]()
    for one in found:
        payload = _payload(read, one)
        known |= dict.fromkeys(payload if isinstance(payload, dict) else ())
        with suppress(LookupError, ValueError, TypeError):
            value = reduce(_inner, field.strip("/").replace("/", ".").split("."), payload)
            told.append(replace(_why(root, read, one, came), field=field, value=value))
    if not told:
        one = found[-1]
        has = f"it has {', '.join(known)}"
        message = f"the {one.type} {one.id[:SHORT]} has no field {field!r}: {has}"
        raise Refused(message, code="no_such_field", session=short(session_id))
    return tuple(told)


def _payload(read: Read, one: Planned) -> Any:
    return decoded(getattr(read.folded[one.version - 1], "payload", "{}").encode())


def _inner(value: Any, name: str) -> Any:
    """What an object or a list holds under a name or a number."""
    return value[int(name)] if isinstance(value, list) else value[name]


def _why(root: Path, read: Read, one: Planned, came: tuple[ImportedBy, ...]) -> WhyArtifact:
    first, before = read.folded[0], list(enumerate(read.folded[: one.version], 1))
    assert isinstance(first, Input), "a session begins with an Input"
    inputs = [(version, event) for version, event in before if isinstance(event, Input)]
    return WhyArtifact(
        session_id=read.head.session_id,
        id=one.id,
        type=one.type,
        subject=one.subject,
        standing=one.standing,
        version=one.version,
        created_at=iso(one.created_at),
        created_by=one.created_by,
        begun=Said(version=1, by=Who.of(first.actor), at=iso(first.at)),
        stale=getattr(first, "stale", ()),
        files=tuple(
            FileRead(path=file.path, sha256=file.sha256, now=_now(root, file.path, file.sha256))
            for file in one.files
        ),
        records=tuple(RecordRead(kind=r.kind, id=r.id, source=r.source) for r in one.records),
        answers=tuple(answer_of(e, version) for version, e in inputs if isinstance(e, Answers)),
        response=response_of(read, inputs[-1][0]),
        standings=tuple(_standings(read, one)),
        reason=one.reason,
        findings=one.findings,
        waived=tuple(map(WaivedFinding.of, one.waived)),
        superseded_by=one.superseded_by,
        path=one.path,
        imported=came,
    )


def _now(root: Path, path: str, sha256: str) -> Literal["same", "changed", "gone"]:
    """How a file compares with what was read; links are followed inside the project."""
    top = root.resolve()
    try:
        real = (top / path).resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can bear
        return "changed"
    return "same" if real.is_relative_to(top) and found_hash(real) == sha256 else "changed"


def _standings(read: Read, one: Planned) -> Iterator[Stood]:
    """Every change of its standing, with the Input that it followed from."""
    assert read.workflow.planned is not None, "it made an artifact"
    before, new = "", None
    for version, event in enumerate(read.folded, 1):
        if isinstance(event, Input):
            new = event
        made = read.workflow.planned(read.folded[:version], read.sessions[:version])
        now = next((plan.standing for plan in made if plan.id == one.id), "")
        if before and now != before and new is not None:
            yield Stood(
                version=version,
                by=Who.of(new.actor),
                relayed_by=Who.of(getattr(new, "relayed_by", None)),
                evidence=getattr(new, "evidence", UNSEEN),
                at=iso(new.at),
                standing=now,
                stale=getattr(new, "stale", ()),
            )
        before = now
