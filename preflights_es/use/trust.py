"""Settings files of repositories that a person trusts."""

from __future__ import annotations

from preflights_es.settings.trust import State, Trusted
from preflights_es.use.results import Result


class TrustedFile(Result, frozen=True):
    """A file on the list, as it is now."""

    path: str
    state: State


class Trust(Result, frozen=True, tag_field="format", tag="trust/1"):
    """The user's list, by path."""

    files: tuple[TrustedFile, ...]


def trust(trusted: Trusted) -> Trust:
    """The list as it stands."""
    return Trust(files=tuple(TrustedFile(path=p, state=s) for p, s in trusted.states()))
