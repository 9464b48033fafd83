"""The terms of a pack and what each stands for, ready for many intentions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from preflights_es.workflows.clarification.pack import Pack, index_file, loaded
from preflights_es.workflows.clarification.terms import Tables, Terms, tables_of
from preflights_es.workflows.clarification.values import PackRef

WEIGHTS: Final = {"names": 2, "strong": 3, "likely": 2, "weak": 1, "against": -3}


class Meaning(NamedTuple):
    """What a term stands for."""

    group: int
    """A topic, then `GROUPS`, then `ROLES`; `NOTHING` for a value that is none here."""
    weight: int
    is_name: bool = False
    value: str = ""
    is_loose: bool = False
    is_shared: bool = False


GROUPS: Final = ("task", "decision", "vague", "begin")
ROLES: Final = (
    "before", "after", "links", "present", "request",
    "source", "moving", "beats", "using", "serving", "wished",
    "beside", "things",
)  # fmt: skip
NOTHING: Final = -1


class Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The terms of a pack, ready for many intentions; a shipped pack's lies beside it as a file."""

    ids: list[str]
    meanings: list[tuple[Meaning, int]]
    """Each with the number of terms that have it, in the order of the terms."""
    tables: Tables


def indexed(pack: Pack) -> Index:
    """The index of a pack."""
    listed = list(_listed(pack))
    terms = chain.from_iterable(terms for terms, _ in listed)
    meanings = [(meaning, len(terms)) for terms, meaning in listed if terms]
    return Index([topic.id for topic in pack.topics], meanings, tables_of(terms))


def _listed(pack: Pack) -> Iterator[tuple[tuple[str, ...], Meaning]]:
    groups = [topic.words for topic in pack.topics] + [getattr(pack, name) for name in GROUPS]
    for group, words in enumerate(groups):
        for name, weight in WEIGHTS.items():
            yield getattr(words, name), Meaning(group, weight, name == "names")
    for group, role in enumerate(ROLES, len(groups)):
        yield getattr(pack.roles, role), Meaning(group, 0)
    for group, topic in enumerate(pack.topics):
        for name in ("values", "loose", "shared"):
            for value, spellings in getattr(topic, name).items():
                is_loose, is_shared = name == "loose", name == "shared"
                yield spellings, Meaning(group, 0, False, value, is_loose, is_shared)
    yield pack.nothing, Meaning(NOTHING, 0, False, "-")


def terms_of(pack: Pack) -> list[str]:
    """Every term of a pack."""
    return [term for terms, _ in _listed(pack) for term in terms]


class Finder:
    """What `find` needs of a pack."""

    def __init__(self, pack: Pack, index: Index) -> None:
        self.ids = index.ids
        self.skipped = frozenset(pack.roles.skipped)
        self.joined = frozenset(pack.roles.joined) | self.skipped if pack.roles.joined else None
        self.known = frozenset(pack.roles.known)
        self.english = frozenset(pack.languages["en"])
        self.german = frozenset(pack.languages["de"])
        self.meanings: list[Meaning] = []
        self.weights: list[int] = []
        self.speaks: list[int] = []
        """The group that a term speaks for; for others `NOTHING`."""
        for meaning, count in index.meanings:
            self.meanings += [meaning] * count
            self.weights += [meaning.weight] * count
            self.speaks += [meaning.group if meaning.weight > 0 else NOTHING] * count
        self.terms = Terms(index.tables)


@lru_cache(maxsize=4)
def finder_of(ref: PackRef, inlined: str = "") -> Finder:
    """The finder of a session's pack, made once a process."""
    pack = loaded(ref, inlined)
    data = b"" if inlined else index_file(ref)
    return Finder(pack, msgspec.json.decode(data, type=Index) if data else indexed(pack))
