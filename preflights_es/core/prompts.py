"""Prompt files: versioned, frozen, named and hashed in every request."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

import msgspec


class Prompt(msgspec.Struct, frozen=True):
    """One version of a prompt, as its file holds it."""

    id: str
    """`name.vN`, the file's name without its ending."""
    text: str
    sha256: str
    """Of the file's bytes, in hexadecimal."""


@lru_cache(maxsize=64)
def prompt(package: str, id_: str) -> Prompt:
    """A prompt of a workflow; the file is part of the program, read once.

    Raises:
        FileNotFoundError: there is no such version.
    """
    data = (files(package) / "prompts" / f"{id_}.md").read_bytes()
    return Prompt(id_, data.decode(), sha256(data).hexdigest())
