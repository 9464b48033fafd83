"""A session that Ada signed, in the hands of an attacker who can write files and hash anew.

Nothing here is shared with the program's code of signatures: the statement is made as
docs/specs/log.md, section 14, says it.
"""

from __future__ import annotations

import json
import struct
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from preflights_es.kernel.ports import Stored
from tests.signing.house import ADA, Signing
from tests.signing.keys import ACCEPTANCE, PLAIN, SK, Key, text
from tests.store.given import resealed

SIGNER: Final = Key("ada", PLAIN)
HARDWARE: Final = Key("ada", SK)
EVE: Final = Key("eve", PLAIN)
ACT: Final = "clarification.decision_acknowledged.v1"


def canonical(value: Any) -> str:
    """JSON as section 14 wants it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def statement(act: Stored, previous: bytes) -> bytes:
    """What is signed of an act, behind an event with that hash."""
    new = json.loads(act.data or b"")
    return b"".join(
        (
            text("preflights.signed/1"),
            text(new["signature"]["repository"]),
            text(act.session_id),
            struct.pack(">Q", act.version - 1),
            previous,
            sha256(new["signature"]["proposal"].encode()).digest(),
            text(new["actor"]["name"]),
            struct.pack(">q", new["at"]),
        )
    )


class Recorded(NamedTuple):
    """Sessions that were signed."""

    newer: tuple[Stored, ...]
    older: tuple[Stored, ...]
    proposed: tuple[Stored, ...]
    """By an agent."""
    approved: tuple[Stored, ...]
    """A plan."""
    rejected: tuple[Stored, ...]
    """Another one."""


class Scene:
    """A signed session and who looks at it; a forgery changes one of them."""

    def __init__(
        self,
        events: Sequence[Stored],
        older: Sequence[Stored] = (),
        tag: str = ACT,
        namespace: str = ACCEPTANCE,
    ) -> None:
        """Args:
        older: another session, which the same key signed.
        tag: of the act that is signed, in that namespace.
        """
        self.tag, self.namespace = tag, namespace
        self.made_by = tag.partition(".")[0]
        """The workflow."""
        self.events = list(events)
        self.older = older
        self.signers = f"{ADA} {SIGNER.public}\n"
        """The content of the file of signers."""
        self.prepare: Callable[[Signing], object] = lambda _: None
        """What else is done to the house of who looks."""
        self.by(SIGNER)

    # 1. Looking ------------------------------------------------------------------------------

    def place(self, type_: str) -> int:
        """Where the last event of a type stands."""
        return max(at for at, one in enumerate(self.events) if one.type.endswith(type_))

    @property
    def act(self) -> int:
        """Where the acceptance stands."""
        return self.place(self.tag)

    def data(self, at: int) -> Any:
        """What an event holds."""
        return json.loads(self.events[at].data or b"")

    @property
    def signature(self) -> Any:
        """Of the acceptance."""
        return self.data(self.act)["signature"]

    # 2. Changing -----------------------------------------------------------------------------

    def put(self, at: int, data: Any) -> None:
        """Another payload."""
        raw = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
        kind = data["actor"]["kind"] if "actor" in data else None
        self.events[at] = replace(self.events[at], data=raw, actor_kind=kind)
        self.chain()

    def change(self, type_: str, edit: Callable[[Any], object]) -> None:
        """Edit the last event of a type in place."""
        at = self.place(type_)
        data = self.data(at)
        edit(data)
        self.put(at, data)

    def say(self, **fields: Any) -> None:
        """Other fields of the acceptance."""
        self.change(self.tag, lambda new: new.update(fields))

    def sign(self, **fields: Any) -> None:
        """Other fields of the signature."""
        self.change(self.tag, lambda new: new["signature"].update(fields))

    def insert(self, at: int, type_: str, **data: Any) -> None:
        """A forged Decision."""
        raw = json.dumps(data, separators=(",", ":")).encode()
        made = replace(self.events[at - 1], type=f"{self.made_by}.{type_}.v1", data=raw)
        made = replace(made, input_id=None, actor_kind=None)
        self.events.insert(at, made)
        self.chain()

    def chain(self) -> None:
        """Every hash anew."""
        self.events = resealed(self.events)

    def by(self, key: Key, **options: Any) -> None:
        """Signed by a key as the acceptance stands now: what only who has the key can do."""
        previous = self.events[self.act - 1].hash
        options = {"namespace": self.namespace, **options}
        raw = key.signed(statement(self.events[self.act], previous), **options)
        named = options.get("named") or key.blob
        self.sign(key=b64encode(named).decode(), sshsig=b64encode(raw).decode())

    def raw(self, edit: Callable[[bytes], bytes]) -> None:
        """Other bytes of the signature."""
        made = edit(b64decode(self.signature["sshsig"]))
        self.sign(sshsig=b64encode(made).decode())

    def renamed(self, session_id: str) -> None:
        """The same events as another session."""
        self.events = [replace(one, session_id=session_id) for one in self.events]
        self.chain()

    def agrees(self) -> None:
        """Make the proposal say what the acceptance says of the decision."""
        new = self.data(self.act)
        told = json.loads(new["signature"]["proposal"])
        told |= {"patch": new["patch"], "scope": new.get("scope", ""), "mark": new.get("mark", "")}
        reach = new.get("reach", {})
        told |= {"paths": reach.get("paths", []), "hold": reach.get("hold", "tell")}
        self.sign(proposal=canonical(told))
