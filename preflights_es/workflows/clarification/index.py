"""The terms of a pack and what each stands for, ready for many intentions."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, chain
from typing import Final, NamedTuple, TypeVar

import msgspec

from preflights_es.workflows.clarification.pack import WordedPack, index_file, worded
from preflights_es.workflows.clarification.terms import Tables, Terms, tables_of
from preflights_es.workflows.clarification.values import PackRef

Item = TypeVar("Item")

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
    "beside", "things", "taking",
)  # fmt: skip
NOTHING: Final = -1
_NO_TERM: Final = Meaning(NOTHING, 0)  # the first: terms are numbered from 1


class Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The terms of a pack, ready for many intentions; a shipped pack's lies beside it as a file."""

    ids: list[str]
    skipped: tuple[str, ...]
    joined: tuple[str, ...]
    known: tuple[str, ...]
    through: tuple[str, ...]
    english: tuple[str, ...]
    german: tuple[str, ...]
    meanings: list[Meaning]
    counts: list[int]
    """Of each meaning the number of terms that have it, in the order of the terms."""
    tables: Tables
    doubts: tuple[str, ...]
    """The terms of trouble that are one word: most long texts have one."""
    trouble: Tables
    means: Tables
    enough: Tables


def indexed(pack: WordedPack) -> Index:
    """The index of a pack."""
    listed = [(terms, meaning) for terms, meaning in _listed(pack) if terms]
    terms = chain.from_iterable(terms for terms, _ in listed)
    roles, languages = pack.roles, pack.languages
    return Index(
        [topic.id for topic in pack.topics],
        roles.skipped,
        roles.joined,
        roles.known,
        roles.through,
        languages["en"],
        languages["de"],
        [_NO_TERM, *(meaning for _, meaning in listed)],
        [1, *(len(terms) for terms, _ in listed)],
        tables_of(terms),
        tuple(term for term in roles.trouble if term.isalpha()),
        tables_of(roles.trouble),
        tables_of(roles.means),
        tables_of(roles.enough),
    )


def _listed(pack: WordedPack) -> Iterator[tuple[tuple[str, ...], Meaning]]:
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


def terms_of(pack: WordedPack) -> list[str]:
    """Every term of a pack."""
    ways = (*pack.roles.trouble, *pack.roles.means, *pack.roles.enough)
    return [*(term for terms, _ in _listed(pack) for term in terms), *ways]


class _ByTerm(dict[int, Item]):
    """What terms have by their number, found where a text has the term."""

    def __init__(self, values: list[Item], starts: list[int]) -> None:
        super().__init__()
        self._values, self._starts = values, starts

    def __missing__(self, number: int) -> Item:
        found = self[number] = self._values[bisect(self._starts, number) - 1]
        return found


class Finder:
    """What `find` needs of a pack."""

    def __init__(self, index: Index) -> None:
        self.ids = index.ids
        self.skipped = frozenset(index.skipped)
        self.joined = self.skipped.union(index.joined) if index.joined else None
        self.known = frozenset(index.known)
        self.through = frozenset(index.through)
        self.english, self.german = frozenset(index.english), frozenset(index.german)
        meanings = index.meanings
        starts = [*accumulate(index.counts, initial=0)]
        self.first_role = starts[1 + sum(1 for meaning in meanings if meaning.weight)]
        """The first term that weighs nothing: those of roles come next, then those of values."""
        self.first_value = starts[sum(1 for meaning in meanings if not meaning.value)]
        things = len(index.ids) + len(GROUPS)
        speaks = [meaning.group if meaning.weight > 0 else NOTHING for meaning in meanings]
        self.meanings = _ByTerm([(*meaning,) for meaning in meanings], starts)
        """Without names: Python takes a plain tuple apart in a third of the time."""
        self.roles = _ByTerm([meaning.group - things for meaning in meanings], starts)
        """The place in `ROLES` of a term that has one."""
        self.speaks = _ByTerm(speaks, starts)
        """The group that a term speaks for; for others `NOTHING`."""
        self.terms = Terms(index.tables)
        self.doubts, self.trouble = frozenset(index.doubts), Terms(index.trouble)
        self.means, self.enough = Terms(index.means), Terms(index.enough)


@lru_cache(maxsize=4)
def finder_of(ref: PackRef, inlined: str = "") -> Finder:
    """The finder of a session's pack, made once a process."""
    data = b"" if inlined else index_file(ref)
    return Finder(msgspec.json.decode(data, type=Index) if data else indexed(worded(ref, inlined)))
