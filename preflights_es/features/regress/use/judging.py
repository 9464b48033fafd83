"""Batches judged, in this process or in another one: what a worker runs."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from preflights_es.features.regress.engine.change import Change
from preflights_es.features.regress.engine.engine import Regression, begun
from preflights_es.features.regress.engine.results import Case, LeftOut
from preflights_es.features.regress.engine.strict import ERASED, strict_case
from preflights_es.features.regress.use.batches import Batch
from preflights_es.features.regress.use.kept_results import Judged, code_digest
from preflights_es.features.regress.use.reading import Read, damaged, read
from preflights_es.features.regress.use.revisions import Revision
from preflights_es.history.replayer import Replay
from preflights_es.kernel.errors import LogDamaged, SettingsError
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.prices import PriceTable
from preflights_es.store.chain import verified
from preflights_es.store.projection_feed import SqlFollowing
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.system.interpreter import collecting_seldom
from preflights_es.use.replays import own_code
from preflights_es.use.usage import price

UNREAD: Final = "cannot read it"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """All that a worker needs besides its batches."""

    change: Change | None = None
    prices: tuple[PriceTable, ...] = ()
    database: str = ""
    """Of the log; empty where a worker reads none."""
    revision: Revision | None = None
    """Whose code decides; None for ours."""
    code: bytes = b""
    """Digest of our code, which a worker elsewhere must have too."""


class Judge:
    """Judges batches; what is damaged is named, and the rest goes on."""

    def __init__(self, job: Job, log: SqlFollowing | None = None) -> None:
        """Args:
        log: the log, where it is open already.

        Raises:
            SettingsError: another version of this program runs here.
        """
        if job.code and job.code != code_digest():
            raise SettingsError(
                "a worker runs other code than this: install the same version there"
            )
        prices = [price(table) for table in job.prices]
        self._regression = Regression(WORKFLOWS, own_code(), job.change, prices)
        self._revision = job.revision
        self._database = job.database
        self._log = log

    def judged(self, batch: Batch) -> list[Judged]:
        """What comes of each session, in the order of the batch."""
        if self._revision is not None:
            return judged_by(self._revision, list(read(batch, self._opened)))
        case = self._regression.case
        return [
            (b"", one)
            if isinstance(one, Case)
            else (one.digest, case(one.events, one.head, one.source))
            for one in read(batch, self._opened)
        ]

    def _opened(self) -> SqlFollowing:
        if self._log is None:
            self._log = SqlFollowing(
                SqlStore(self._database, clock_ids.now, clock_ids.salt, creates=False, hurries=True)
            )
        return self._log


def judged_by(revision: Revision, found: Sequence[Read | Case]) -> list[Judged]:
    """What the code of another revision makes of sessions; those that do not verify are damaged."""
    whole = list(map(_verified, found))
    replays = iter(revision.replays([one.events for one in whole if isinstance(one, Read)]))
    return [
        (b"", one) if isinstance(one, Case) else (one.digest, _said(one, next(replays), revision))
        for one in whole
    ]


def _verified(one: Read | Case) -> Read | Case:
    if isinstance(one, Case):
        return one
    try:
        verified(one.events, one.head)
    except LogDamaged as error:
        return damaged(one.events[0].session_id, one.source, str(error), one.events[-1])
    return one


def _said(one: Read, said: Mapping[str, Any] | None, revision: Revision) -> Case | LeftOut:
    session_id = one.events[0].session_id
    if said is None:
        why = f"the code of {revision.name} {UNREAD}"
        return LeftOut(session_id=session_id, source=one.source, why=why)
    replay = msgspec.convert(said, Replay)
    if replay.status == "erased":
        return LeftOut(session_id=session_id, source=one.source, why=ERASED)
    return strict_case(replay, one.events, begun(one.events, one.source), None)


# In a process of its own -----------------------------------------------------------------------


@lru_cache(maxsize=1)
def judge(job: bytes) -> Judge:
    """Of a job that traveled; made once a process."""
    return Judge(msgspec.msgpack.decode(job, type=Job))


def judged_elsewhere(job: bytes, batch: Batch) -> bytes:
    """As `Judge.judged`, by a worker: pickled, since Dask looks into every list that it passes."""
    with collecting_seldom():
        return pickle.dumps(judge(job).judged(batch))
