"""Names of products, what else they are called, and the packages that stand for them.

`names.txt` has one product a line: `Name | other names | packages`. Searching, comparing and the
facts of a repository read this one file.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from preflights_es.kernel.late_pattern import late_pattern
from preflights_es.kernel.words import folded

_VERSION = late_pattern(r" v?\d[\d.x]*$")


class Name(NamedTuple):
    """A product."""

    name: str
    aliases: tuple[str, ...]
    packages: tuple[str, ...]


@cache
def names() -> tuple[Name, ...]:
    """All of them, in the order of the file."""
    # The file is part of the program; importlib.resources costs more than all that is done with it.
    assert __spec__ is not None, "a module of a package"
    data = __spec__.loader.get_data(__file__.rpartition("names.")[0] + "names.txt")  # type: ignore[union-attr]
    text: str = data.decode()
    return tuple(_name(line) for line in text.splitlines())


def _name(line: str) -> Name:
    name, aliases, packages = (part.strip() for part in line.split("|"))
    return Name(name, _listed(aliases), _listed(packages))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (one.strip() for one in text.split(","))))


def canonical(value: str) -> str:
    """One spelling for all names and versions of a product, folded; of another value itself."""
    plain = " ".join(folded(value).split())
    return _canonical().get(plain) or _canonical().get(_VERSION.sub("", plain), plain)


@cache
def _canonical() -> dict[str, str]:
    return {called: folded(name) for called, name in _products().items()}


def product(value: str) -> str:
    """The product that a whole text names, as it is written; empty where it names none."""
    return _products().get(" ".join(folded(value).split()), "")


@cache
def _products() -> dict[str, str]:
    return {folded(called): one.name for one in names() for called in (one.name, *one.aliases)}


def aliases(value: str) -> tuple[str, ...]:
    """Other names of the product that a value names; none of another value."""
    of = canonical(value)
    return next((one.aliases for one in names() if folded(one.name) == of), ())


@cache
def _called() -> dict[str, tuple[str, ...]]:
    """By each name that is one word: the others that are."""
    found: dict[str, tuple[str, ...]] = {}
    for one in names():
        single = [folded(called) for called in (one.name, *one.aliases) if called.isalnum()]
        found |= {name: tuple(other for other in single if other != name) for name in single}
    return found


def also_called(word: str) -> tuple[str, ...]:
    """Other names of a product, where a folded word is one; those of one word."""
    return _called().get(word, ())
