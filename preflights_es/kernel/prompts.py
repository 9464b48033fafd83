"""Prompt files: versioned, frozen, named and hashed in every request."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

import msgspec

from preflights_es.kernel.json import encoded
from preflights_es.kernel.late_pattern import late_pattern

_ID: Final = late_pattern(r"[a-z][a-z_]*\.v[1-9][0-9]{0,3}")


class Prompt(msgspec.Struct, frozen=True):
    """One version of a prompt, as its file holds it."""

    id: str
    """`name.vN`, the file's name without its ending."""
    text: str
    sha256: str
    """The SHA-256 of the file's bytes, in hexadecimal."""


@lru_cache(maxsize=64)
def prompt(package: str, id_: str) -> Prompt:
    """A prompt of a workflow; the file is part of the program, read once.

    Raises:
        FileNotFoundError: there is no such version.
    """
    if not _ID.fullmatch(id_):
        raise FileNotFoundError(id_)
    from importlib.resources import files  # with a temporary folder, and what that needs

    data = (files(package) / "data" / "prompts" / f"{id_}.md").read_bytes()
    return Prompt(id_, data.decode(), sha256(data).hexdigest())


@lru_cache(maxsize=64)
def schema(package: str, id_: str) -> Prompt:
    """A schema file of a workflow, as it stands in a prompt."""
    from importlib.resources import files

    data = (files(package) / "data" / "schemas" / f"{id_}.json").read_bytes()
    return Prompt(id_, data.decode(), sha256(data).hexdigest())


_UNTAKEN: Final = frozenset(
    ("default", "maxItems", "maxLength", "minItems", "minLength", "pattern", "title")
)
"""Keywords that providers' structured output does not take; our own judging holds to them."""


@lru_cache(maxsize=64)
def native(package: str, id_: str) -> str:
    """A schema file as providers' structured output takes it: every property is required."""
    return encoded(_taken(msgspec.json.decode(schema(package, id_).text))).decode()


def _taken(value: Any) -> Any:
    if isinstance(value, list):
        return [_taken(one) for one in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for name, one in value.items():
        if name in ("properties", "$defs"):  # names of others' choice, which are no keywords
            found[name] = {key: _taken(inner) for key, inner in one.items()}
        elif name not in _UNTAKEN:
            found[name] = _taken(one)
    if "properties" in value:
        found |= {"required": [*value["properties"]], "additionalProperties": False}
    return found


def wanted(package: str, name: str, pairs: Iterable[tuple[str, str]], default: str) -> Prompt:
    """The version of a prompt that a session uses.

    A version that is not known here gives way to the default: deciding never fails for it, and a
    replay shows the difference.

    Args:
        pairs: of prompt name and version, as the session records them.
    """
    try:
        return prompt(package, dict(pairs).get(name, default))
    except FileNotFoundError:
        return prompt(package, default)


def tried(found: Prompt, candidates: Iterable[tuple[str, str]]) -> Prompt:
    """A prompt with the text that is tried in its place, where there is one.

    Args:
        candidates: pairs of `name.vN` and text.
    """
    text = dict(candidates).get(found.id)
    if text is None:
        return found
    return Prompt(found.id, text, sha256(text.encode()).hexdigest())


def versions(package: str, name: str) -> tuple[str, ...]:
    """Every version of a prompt that exists, the oldest first."""
    from importlib.resources import files

    found = (
        entry.name.removesuffix(".md") for entry in (files(package) / "data" / "prompts").iterdir()
    )
    ours = [id_ for id_ in found if _ID.fullmatch(id_) and id_.rpartition(".v")[0] == name]
    return tuple(sorted(ours, key=lambda id_: int(id_.rpartition(".v")[2])))
