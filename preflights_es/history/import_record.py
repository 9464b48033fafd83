"""What an import writes down of itself, before it takes anything: `core.imports`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any, Final

import msgspec

from preflights_es.history.import_review import Review
from preflights_es.history.two_pass_reader import Source
from preflights_es.kernel import imports
from preflights_es.kernel.errors import LogDamaged, Refused
from preflights_es.kernel.events import Actor, Evidence, Input
from preflights_es.kernel.ids import IMPORTS, short
from preflights_es.kernel.imports import ProposalTaken, SessionsTaken, TakenSession
from preflights_es.kernel.ports import Archive, Stored
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.runtime.sanitizing import cleaned, name_cleaned

ANYONE: Final = "in a terminal of their own, a person can"


class Importer(msgspec.Struct, frozen=True):
    """Whose import it is."""

    project: str
    actor: Actor
    evidence: Evidence

    @property
    def is_agent(self) -> bool:
        """Whether acceptances that it brings are proposals."""
        return self.actor.kind == "agent"

    def refuse(self, review: Review, new_imports: Sequence[str]) -> None:
        """See that an agent changes no session that is held here.

        Args:
            new_imports: sessions of the file that are themselves streams of imports.

        Raises:
            Refused: it would; nothing is taken.
        """
        if not self.is_agent:
            return
        name = f"an agent ({self.actor.name})" if self.actor.name else "an agent"
        if review.changes:
            first = review.changes[0]
            does = "erase" if first.erases else "extend"
            id_ = first.session_id
            why = f"{name} cannot {does} session {short(id_)}: {ANYONE}"
            raise Refused(why, code="agent_cannot_extend", session=id_, why=why)
        if new_imports:
            one = new_imports[0]
            why = f"{name} cannot take over who imported what (session {short(one)}): {ANYONE}"
            raise Refused(why, code="agent_cannot_extend", session=one, why=why)


def refuse_reserved(events: Iterable[Stored]) -> None:
    """See that no other session bears an id by which imports are found.

    Raises:
        LogDamaged: one does.
    """
    for one in events:
        if one.workflow != imports.NAME and (one.input_id or "").startswith(IMPORTS):
            found = f"its Input has the id {one.input_id!r}, which only an import bears"
            raise LogDamaged(f"session {one.session_id}", one.version, found)


class Digest:
    """The lines of a file, and the SHA-256 of all of them once they were read to their end."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.hexdigest = ""

    def lines(self) -> Iterator[bytes]:
        """Another pass; the first whole one tells the digest."""
        if self.hexdigest:
            yield from self._source()
            return
        read = sha256()
        for line in self._source():
            read.update(line)
            yield line
        self.hexdigest = read.hexdigest()


class ImportRecord:
    """Records what is about to be taken: a crash behind it leaves nothing without its import."""

    def __init__(
        self, runner: Runner, archive: Archive, importer: Importer, source: str, digest: str
    ) -> None:
        self._runner = runner
        self._archive = archive
        self._importer = importer
        self._source = cleaned(
            "the name of the file", source[: imports.SOURCE_MAX], imports.SOURCE_MAX
        )[0]
        self._digest = digest
        self._handle: Handle | None = None

    def take(self, some: Sequence[Sequence[Stored]]) -> None:
        """Record that sessions are taken, each with its events in the file."""
        heads = self._archive.heads_of([events[0].session_id for events in some])
        taken = []
        for events in some:
            head, last = heads.get(events[0].session_id), events[-1]
            before = head.version if head else 0
            workflow = self._runner.workflow(last.workflow)
            accepted = imports.accepted_by(workflow, events) is not None
            hash_ = last.hash.hex()
            one = TakenSession(last.session_id, before, last.version, hash_, accepted)
            if accepted and self._importer.is_agent:
                self._propose(one)
            else:
                taken.append(one)
        rest = iter(taken)
        while portion := tuple(islice(rest, imports.TOGETHER)):
            self._record(SessionsTaken(**self._known(), sessions=portion), self._runner.new_id())

    def _propose(self, one: TakenSession) -> None:
        input_id = imports.proposed_id(one.session_id)
        if self._runner.store.session_of_input(input_id) is None:  # a former import may have ended
            self._record(ProposalTaken(**self._known(), session=one), input_id)

    def _known(self) -> dict[str, Any]:
        of = self._importer
        return {
            "at": self._runner.now(),
            "actor": Actor(of.actor.kind, name_cleaned(of.actor.name)),
            "evidence": of.evidence,
            "source": self._source,
            "digest": self._digest,
        }

    def _record(self, new: Input, input_id: str) -> None:
        runner, project = self._runner, self._importer.project
        if self._handle is None:
            session_id = runner.new_session_id(project)
            step = runner.open(imports.WORKFLOW, project, new, session_id, input_id)
        else:
            step = runner.submit(self._handle, new, input_id)
        self._handle = step.handle


def confirmed(runner: Runner, importer: Importer, handle: Handle) -> Handle:
    """Record that a person takes over what was accepted elsewhere; the session as it counts then.

    Raises:
        Refused: no person does.
    """
    if importer.actor.kind != "user":
        message = f"session {short(handle.session_id)} is proposed already: a person confirms it"
        raise Refused(message, code="proposed_already", session=short(handle.session_id))
    taken = TakenSession(handle.session_id, handle.version, handle.version, handle.hash.hex())
    new = imports.ProposalConfirmed(
        at=runner.now(),
        actor=Actor("user", name_cleaned(importer.actor.name)),
        evidence=importer.evidence,
        session=taken,
    )
    input_id = imports.confirmed_id(handle.session_id)
    runner.open(
        imports.WORKFLOW, importer.project, new, runner.new_session_id(importer.project), input_id
    )
    return runner.load(handle.session_id)
