"""Which files or commands bring in what a decision in force turned down, and which of them a
proposal will stop once a person accepts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from preflights_es.features.govern.domain import products
from preflights_es.features.govern.domain.imports import UsedName
from preflights_es.use.decisions import log_decisions
from preflights_es.use.foreign import ForeignRow, read_foreign_records
from preflights_es.use.holding import is_superseded, list_holding_decisions
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, KeptOut
from preflights_es.use.turned_down import (
    Fields,
    TurnedDown,
    binds,
    chosen_in,
    describe_turned_down,
    former_of,
    of_records,
    turned_down,
    turned_down_by,
    values_of,
)
from preflights_es.use.work_tree import WorkTree
from preflights_es.words.decisions import NotChosen, Related

Row = DecisionRow | ForeignRow


class Barred(NamedTuple):
    """What a decision in force keeps out of the files that it binds."""

    row: Row
    what: TurnedDown

    @property
    def name(self) -> str:
        """What people call the decision."""
        return self.row.name


def barred(in_force: Sequence[Row], others: Iterable[Row]) -> list[Barred]:
    """What the decisions in force turned down, as far as they bind files.

    Args:
        others: what was superseded.
    """
    every = [*in_force, *others]
    former = former_of(row for row in every if isinstance(row, DecisionRow))
    own = [row for row in in_force if isinstance(row, DecisionRow)]
    found = [Barred(row, what) for row in own for what in turned_down_by(row, former)]
    records = [row for row in every if isinstance(row, ForeignRow)]
    known = {(one.name, one.what.name) for one in found}
    more = (Barred(*pair) for pair in of_records(records, own))
    found += [one for one in more if (one.name, one.what.name) not in known]
    return [one for one in found if binds(one.row)]


def find_barred_uses(
    found: Sequence[Barred], used: Iterable[UsedName], in_force: Iterable[Row]
) -> Iterator[tuple[Barred, list[UsedName]]]:
    """What of the names that are used each of them keeps out.

    A value that another decision in force has is kept out of the first one's paths alone.
    """
    # First what they are at all: most of many names are nothing that was turned down.
    met = products.group_uses_by_option([one.what.name for one in found], used, ())
    near = [one for one in found if met.get(one.what.name)]
    options = [one.what.name for one in near if not one.row.paths]
    names = dict.fromkeys(name for option in options for name in met[option])
    everywhere = products.group_uses_by_option(options, names, values_of(in_force if names else ()))
    for one in near:
        here = everywhere
        if one.row.paths:
            own = values_of([one.row])
            here = products.group_uses_by_option([one.what.name], met[one.what.name], own)
        if names_met := here.get(one.what.name):
            yield one, names_met


def list_kept_out(request: Request, path: str) -> tuple[KeptOut, ...]:
    """What decisions in force keep out of a file.

    Args:
        path: as `project_path` gives it.
    """
    every = [*list_holding_decisions(request, everything=True)]
    in_force = [one for one in every if not is_superseded(one)]
    tree = WorkTree(request.process.settings.root)
    return tuple(
        KeptOut(one.what.name, one.name, describe_turned_down(one.row, one.what))
        for one in barred(in_force, filter(is_superseded, every))
        if not one.row.paths or tree.matched(one.row.paths, path)
        if products.is_product(one.what.name)
        and not products.is_chosen(
            one.what.name, values_of([one.row] if one.row.paths else in_force)
        )
    )


def is_let_in(what: Barred, name: str, in_force: Iterable[Row]) -> bool:
    """Whether another decision in force has it, or a product with a package of that name."""
    values = [*values_of([what.row] if what.row.paths else in_force)]
    is_other = any(name in products.package_names(value) for value in values)
    return is_other or products.is_chosen(what.what.name, values)


def stopped(
    process: Process,
    fields: Fields,
    named: Iterable[NotChosen],
    superseded: Sequence[Related],
    *,
    has_paths: bool,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Products that a proposal will stop, and those that another decision in force has."""
    every = [*log_decisions(process, everything=True)]
    replaced = [old.uid or old.path for old in superseded]
    found = turned_down(fields, named, superseded, former_of(every))
    names = [what.name for what in found if products.is_product(what.name)]
    if not names or has_paths:
        return tuple(names), ()
    rows = (row for row in every if row.standing == "accepted" and row.uid not in replaced)
    records = (
        row
        for row in read_foreign_records(process, everything=False).rows
        if row.path not in replaced
    )
    values = [*values_of(chain(rows, records)), *chosen_in(fields, found)]
    kept = tuple(name for name in names if products.is_chosen(name, values))
    return tuple(name for name in names if name not in kept), kept
