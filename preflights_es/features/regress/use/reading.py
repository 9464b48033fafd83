"""Sessions of a batch, read where they lie; one that cannot be read is a case already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import Final, NamedTuple

from preflights_es.features.regress.engine.results import Case, Cause
from preflights_es.features.regress.use.batches import (
    Batch,
    OfEvents,
    OfFiles,
    OfLog,
    Run,
    Sent,
    digest,
    runs,
)
from preflights_es.kernel.errors import AnotherVersion, LogDamaged
from preflights_es.kernel.ports import Head, Stored
from preflights_es.store import jsonl
from preflights_es.store.projection_feed import RANGE, SqlFollowing

LOG: Final = "log"
"""The source of a session of the log."""
UNREADABLE: Final = Cause(kind="data", detail="it does not verify, or cannot be read")


class Read(NamedTuple):
    """A session that was read, not verified."""

    digest: bytes
    """Under which its result is kept."""
    events: Sequence[Stored]
    head: bytes | None
    """The hash of its head, where the log says one."""
    source: str


def read(batch: Batch, log: Callable[[], SqlFollowing]) -> Iterator[Read | Case]:
    """The sessions of a batch, in its order.

    Args:
        log: opens the log, where the batch lies there.
    """
    match batch:
        case OfLog():
            yield from map(_of_log, read_together(log(), batch))
        case OfFiles():
            for piece in batch.pieces:
                yield from map(_of_run, runs(piece))
        case OfEvents():
            for one in batch.sent:
                yield _of_run(one) if isinstance(one, Run) else _of_log(one)


def _of_log(sent: Sent) -> Read | Case:
    head, events, trouble = sent
    if trouble or not events:
        return damaged(head.session_id, LOG, trouble or "it has no events", head)
    return Read(events[-1].hash, events, head.hash, LOG)


def _of_run(run: Run) -> Read | Case:
    if run.trouble:
        return damaged(run.session_id, run.source, run.trouble)
    try:
        return Read(digest(run.content), stored_of(run), None, run.source)
    except (LogDamaged, AnotherVersion) as error:
        return damaged(run.session_id, run.source, str(error))


def read_together(log: SqlFollowing, batch: OfLog) -> Iterator[Sent]:
    """Sessions of the log as they are stored, or why one cannot be read."""
    size = RANGE if batch.are_together else 1
    for at in range(0, len(batch.heads), size):
        some = batch.heads[at : at + size]
        try:
            yield from [Sent(head, events) for head, events in log.side_by_side(some)]
        except LogDamaged as error:
            if size == 1:
                yield Sent(some[0], (), str(error))
            else:
                yield from read_together(log, OfLog(some, are_together=False))


def sent(batch: Batch, log: SqlFollowing | None) -> Batch:
    """A batch for a worker that does not reach our files, nor the log where it is given."""
    match batch:
        case OfFiles():
            return OfEvents(tuple(run for piece in batch.pieces for run in runs(piece)))
        case OfLog() if log is not None:
            return OfEvents(tuple(read_together(log, batch)))
        case _:
            return batch


def stored_of(run: Run) -> list[Stored]:
    """The events of a session in a file.

    Raises:
        LogDamaged: a line is no event, or there is none.
        AnotherVersion: another version wrote it.
    """
    stored = [*jsonl.stored(BytesIO(run.content), run.source, run.line, is_part=True)]
    if not stored:
        raise LogDamaged(run.source, 0, "it holds no events")
    if any(one.session_id != stored[0].session_id for one in stored):
        raise LogDamaged(f"{run.source}, line {run.line}", 0, "its lines name several sessions")
    return stored


def damaged(session_id: str, source: str, found: str, head: Head | Stored | None = None) -> Case:
    """The case of a session that is not judged, for what was found."""
    return Case(
        session_id=session_id,
        workflow=head.workflow if head else "",
        source=source,
        head=head.hash.hex() if head else "",
        outcome="damaged",
        causes=(UNREADABLE,),
        message=found,
    )
