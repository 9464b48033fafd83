"""The id of an artifact: it follows from all that was read, and from its number in the session."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from preflights_es.features.compiler.domain.events import PassBegun
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import Setup

_NO_SETUP: Final = Setup("", "")


def plan_id(begun: PassBegun, number: int) -> str:
    """The id of the artifact with a number of a session: a UUID of version 8 (RFC 9562).

    Another model or prompt changes no id: a child of a regression run is compared by it. The texts
    of documents stand there as their hashes.
    """
    documents = tuple([replace(one, text="") for one in begun.documents])
    read = encoded(replace(begun, setup=_NO_SETUP, documents=documents))
    digest = sha256(read + b"\0" + str(number).encode()).digest()[:16]
    value = int.from_bytes(digest, "big")
    value = value & ~(0xF << 76) | 0x8 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def payload_hash(payload: str) -> str:
    """The SHA-256 of a payload's canonical JSON, as an approval names it."""
    return sha256(payload.encode()).hexdigest()
