"""What a proposal will stop, once a person accepts it."""

from __future__ import annotations

from itertools import chain
from typing import Protocol

from preflights_es.features.govern.domain import products
from preflights_es.features.govern.gate import values_of
from preflights_es.use.decisions import log_decisions
from preflights_es.use.foreign import read_foreign_records
from preflights_es.use.process import Process
from preflights_es.use.turned_down import Deciding, former_of, turned_down
from preflights_es.words.decisions import list_superseded


class ProposalWithPaths(Deciding, Protocol):
    """A proposal, and where it holds."""

    @property
    def paths(self) -> tuple[str, ...]: ...


def stopped(process: Process, one: ProposalWithPaths) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Products that it will stop, and those that it will not, since another decision has them."""
    every = [*log_decisions(process, everything=True)]
    replaced = [old.uid or old.path for old in list_superseded(one)]
    names = [what.name for what in turned_down(one, former_of(every))]
    named = [name for name in names if products.is_product(name)]
    if not named or one.paths:
        return tuple(named), ()
    rows = (row for row in every if row.standing == "accepted" and row.uid not in replaced)
    records = (
        row
        for row in read_foreign_records(process, everything=False).rows
        if row.path not in replaced
    )
    values = [
        *values_of(chain(rows, records)),
        *(value for _, value in one.fields),
    ]
    kept = tuple(name for name in named if products.is_chosen(name, values))
    return tuple(name for name in named if name not in kept), kept
