"""The projections: each module of this folder that declares one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from preflights_es import projections as folder
from preflights_es.projections.projection import Projection


@cache
def declared() -> tuple[Projection, ...]:
    """All, by name; this imports the whole folder."""
    from pkgutil import iter_modules

    names = (f"{folder.__name__}.{one.name}" for one in iter_modules(folder.__path__))
    found = (getattr(import_module(name), "PROJECTION", None) for name in names)
    return tuple(one for one in found if isinstance(one, Projection))


def named(names: Iterable[str]) -> tuple[Projection, ...]:
    """Some of them, each in the module of its name; no other module is imported."""
    return tuple(import_module(f"{folder.__name__}.{name}").PROJECTION for name in names)
