"""Which decisions count where acceptances have to be signed: a verdict beside the log.

What is in force in the log does not change by it. Briefs and hooks leave out what is only claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.signing import Counted, Signed
from preflights_es.runtime.runner import EventReader
from preflights_es.settings.load import Settings, surroundings
from preflights_es.settings.signing import Before, before_of
from preflights_es.use.results import DecisionRow
from preflights_es.use.signatures import Signatures


class Policy(msgspec.Struct, frozen=True):
    """What counts, by signatures and by what was decided before they were asked for."""

    signatures: Signatures
    before: Before

    @classmethod
    def of(cls, settings: Settings, signatures: Signatures) -> Policy:
        """That of the settings, which ask for signatures."""
        return cls(signatures, before_of(settings, surroundings()))

    @property
    def untrusted(self) -> tuple[str, ...]:
        """Which files of the repository do not count, and why."""
        return tuple(filter(None, (self.signatures.signers.untrusted, self.before.untrusted)))

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
            is_before = self.was_before(session_id, recorded, reader.store.read)
        except LogDamaged:
            is_before = False
        return "before_policy" if is_before else "claimed"

    def was_before(
        self, session_id: str, recorded: int, read: Callable[[str], Sequence[Stored]]
    ) -> bool:
        """Whether a decision was accepted by then, in a session that still begins as it did.

        Args:
            read: gives the events of a session.
        """
        ends = [one for one in self.before.ends if one[0] == session_id and one[1] >= recorded > 0]
        stored = read(session_id) if ends else ()
        return any(
            version <= len(stored) and stored[version - 1].hash.hex() == hash_
            for _, version, hash_ in ends
        )


def with_staying(rows: Iterable[DecisionRow]) -> tuple[DecisionRow, ...]:
    """Every decision of a project, with those marked that only a claimed one supersedes."""
    every = tuple(rows)
    gone = replaced(every)
    return tuple(
        replace(row, policy="stays")
        if row.standing == "superseded" and row.is_proved and row.uid not in gone
        else row
        for row in every
    )


def replaced(rows: Sequence[DecisionRow]) -> frozenset[str]:
    """The uids of what a proved decision supersedes, by its own word.

    It also takes the place of what a claimed one superseded before: the person who signed it saw
    that one's session. The older session's own word does not count: anyone can add it there.
    """
    # A forged session can bear the uid of another one, which a signed decision does supersede.
    its_own = (row for row in rows if row.uid == decision_uid(row.session_id))
    claimed = {row.uid: row for row in its_own if row.policy == "claimed"}
    found, todo = set[str](), [row for row in rows if row.is_proved]
    while todo:
        row = todo.pop()
        for one in filter(None, (row.supersedes, *row.also_supersedes)):
            if one.uid not in found:
                found.add(one.uid)
                if one.uid in claimed:
                    todo.append(claimed[one.uid])
    return frozenset(found)
