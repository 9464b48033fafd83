"""Which decisions count where acceptances have to be signed: a verdict beside the log.

What is in force in the log does not change by it. Briefs and hooks leave out what is only claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.decisions import KeptDecision, Related
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import Signable, Source, sources
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.signing import Counted, Signed
from preflights_es.projections.projection import Read
from preflights_es.runtime.runner import EventReader
from preflights_es.settings.load import Settings, surroundings
from preflights_es.settings.signing import BEFORE, Before, Untrusted, before_of
from preflights_es.use.results import DecisionRow
from preflights_es.use.signatures import OTHERS, Signatures

Histories = Callable[[DecisionRow], Read | None]
"""Gives the session of a decision; None where it cannot be read."""


class Policy(msgspec.Struct, frozen=True):
    """What counts, by signatures and by what was decided before they were asked for."""

    signatures: Signatures
    before: Before

    @classmethod
    def of(cls, settings: Settings, signatures: Signatures) -> Policy:
        """That of the settings, which ask for signatures."""
        return cls(signatures, before_of(settings, surroundings()))

    @property
    def untrusted(self) -> tuple[Untrusted, ...]:
        """Why files of the repository do not count."""
        return tuple(filter(None, (self.signatures.signers.untrusted, self.before.untrusted)))

    @property
    def keeps_none(self) -> str:
        """Says that there is no list of older decisions; empty where one lies there."""
        what = "no decision of before the policy counts without a signature"
        return "" if self.before.lies_there else f"{BEFORE} is not there: {what}"

    def counted(
        self, reader: EventReader, session_id: str, recorded: int, signature: Signed | None
    ) -> Counted:
        """Whether an accepted decision counts, whatever supersedes it.

        Args:
            recorded: version of the event by which its acceptance counts.
        """
        if signature is not None and signature.verdict == "signed":
            return "signed"
        try:
            upto = self.was_before(session_id, recorded, reader.store.read)
            is_before = upto > 0 and _is_as_it_was(reader, session_id, recorded, upto)
        except PreflightsError:
            is_before = False
        return "before_policy" if is_before else "claimed"

    def was_before(
        self, session_id: str, recorded: int, read: Callable[[str], Sequence[Stored]]
    ) -> int:
        """How many events of a session stood there then, if a decision was accepted by them.

        0 where it was not, or the session no longer begins as it did.

        Args:
            read: gives the events of a session.
        """
        ends = [one for one in self.before.ends if one[0] == session_id and one[1] >= recorded > 0]
        stored = read(session_id) if ends else ()
        return max(
            (
                version
                for _, version, hash_ in ends
                if version <= len(stored) and stored[version - 1].hash.hex() == hash_
            ),
            default=0,
        )


def _is_as_it_was(reader: EventReader, session_id: str, recorded: int, upto: int) -> bool:
    """Whether what was added to a session since then makes no other decision of it.

    Anyone can add it: neither the list nor a signature covers that.
    """
    stored = reader.store.read(session_id)
    if upto == len(stored):
        return True
    workflow = reader.workflow(stored[0].workflow)
    decoded = map(reader.codec(workflow).decode, reversed(stored[: recorded - 1]))
    new = next((one for one in decoded if isinstance(one, Signable)), None)
    if new is None:
        return False
    shown = []
    for some in (stored[:upto], stored):
        state = reader.folded(workflow, some).state
        said = workflow.proposal(state, new)
        shown.append((workflow.fixed(state), {n: said[n] for n in said if n != OTHERS}))
    return shown[0] == shown[1]


def with_staying(rows: Iterable[DecisionRow], history: Histories) -> tuple[DecisionRow, ...]:
    """Every decision of a project, with those marked that only a claimed one supersedes."""
    every = _keeping(tuple(rows), history)
    gone = replaced(every, history)
    return tuple(
        replace(row, policy="stays")
        if row.standing == "superseded" and row.is_proved and row.uid not in gone
        else row
        for row in every
    )


def _keeping(rows: tuple[DecisionRow, ...], history: Histories) -> tuple[DecisionRow, ...]:
    """The same, beside which no decision stays but by an acceptance of one of both that counts.

    What was added to their sessions since says nothing: anyone can add it.
    """
    proved = {row.uid: row for row in rows if row.is_proved}

    @cache
    def chosen(uid: str) -> frozenset[tuple[str, str]]:
        read = history(proved[uid]) if uid in proved else None
        upto = read.patches[-1].recorded if read else None
        if read is None or upto is None or read.workflow.decided is None:
            return frozenset()
        accepted = read.workflow.decided(read.folded[:upto], read.sessions[:upto])[-1]
        return frozenset((one.related.uid, one.reason) for one in accepted.kept)

    def kept(row: DecisionRow) -> tuple[KeptDecision, ...]:
        own, named = row.uid, ((one, one.related.uid, one.reason) for one in row.kept)
        return tuple(
            one for one, uid, why in named if (uid, why) in chosen(own) or (own, why) in chosen(uid)
        )

    return tuple(replace(row, kept=kept(row)) if row.is_proved else row for row in rows)


def replaced(rows: Sequence[DecisionRow], history: Histories) -> frozenset[str]:
    """The uids of what a proved decision supersedes, by its own word.

    It also takes the place of what a claimed one superseded before, as the person read that one:
    what was added to its session since does not count. The older session's own word does not count
    either: anyone can add it there.
    """
    # A forged session can bear the uid of another one, which a signed decision does supersede.
    its_own = (row for row in rows if row.uid == decision_uid(row.session_id))
    claimed = {row.uid: row for row in its_own if row.policy == "claimed"}
    found, followed = set[str](), set[Source]()
    todo: list[tuple[Read | None, int, Sequence[Related]]] = []
    for row in rows:
        if row.is_proved:
            named = [one for one in (row.supersedes, *row.also_supersedes) if one]
            by = history(row) if any(one.uid in claimed for one in named) else None
            todo.append((by, (by.patches[-1].recorded or 1) - 1 if by else 0, named))
    while todo:
        by, upto, olds = todo.pop()  # so many events of a session, and what it supersedes by them
        found |= {one.uid for one in olds}
        for old in (claimed[one.uid] for one in olds if one.uid in claimed):
            seen = _seen(by, upto, old.session_id) if by else None
            if seen is None or seen in followed:
                continue
            followed.add(seen)
            read = history(old)
            if read is not None and _is_as(read, seen):
                todo.append((read, seen.version, _superseding(read, seen.version)))
    return frozenset(found)


def _seen(read: Read, upto: int, session_id: str) -> Source | None:
    """Another session, as it was read last in the first events of one."""
    named = (one for event in read.folded[:upto] for one in sources(event))
    return next((one for one in reversed([*named]) if one.session_id == session_id), None)


def _is_as(read: Read, seen: Source) -> bool:
    """Whether a session still begins as it was read."""
    is_there = 0 < seen.version <= len(read.stored)
    return is_there and read.stored[seen.version - 1].hash.hex() == seen.hash


def _superseding(read: Read, version: int) -> tuple[Related, ...]:
    """What a decision superseded by then."""
    related = read.workflow.related
    return related(read.sessions[version - 1].state).supersedes if related else ()
