"""Artifacts by what a person types: the beginning of an id, the end of a session's, or `last`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from preflights_es.features.compiler.use.standing import PlanRow, Standings
from preflights_es.kernel import ids
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.text import one_line, shown
from preflights_es.runtime.sessions import LAST
from preflights_es.use.request import Request

DIGITS: Final = frozenset("0123456789abcdef-")
NAMED_MAX: Final = 5  # artifacts that a message names


def plan_named(request: Request, typed: str) -> str:
    """The session of the artifact that is meant, which the log must have.

    Raises:
        Refused: none or several are, or it is a report.
    """
    row = row_named(Standings(request).rows, typed)
    if row.file is not None:
        message = f"only {row.file} has the {row.planned.type} {short_id(row.planned.id)}"
        raise Refused(message, code="only_in_file", path=row.file)
    if row.planned.type == "FailureReport":
        message = f"{short_id(row.planned.id)} is a FailureReport: nothing of it can be approved"
        raise Refused(message, code="is_report", id=row.planned.id)
    return row.session_id


def row_named(rows: Iterable[PlanRow], typed: str) -> PlanRow:
    """The artifact whose id is, or begins with, what was typed; `last` is the newest.

    The id of its session, or the end of that, means it as well: `inbox` and `sessions` show those.

    Raises:
        Refused: none or several.
    """
    wanted, rows = typed.strip().lower(), tuple(rows)
    if wanted == LAST and rows:
        return rows[-1]
    fits = len(wanted) >= ids.TYPED_MIN and set(wanted) <= DIGITS
    found = [row for row in rows if fits and row.planned.id.startswith(wanted)]
    found = found or [row for row in rows if fits and row.session_id.endswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        message = f"no artifact matches {shown(one_line(typed))!r}"
        message = "this project has no artifact" if wanted == LAST else message
        raise Refused(message, code="unknown_artifact", typed=typed)
    named = ", ".join(f"{row.planned.id} ({row.planned.type})" for row in found[:NAMED_MAX])
    more = f" and {len(found) - NAMED_MAX} more" if len(found) > NAMED_MAX else ""
    message = f"{wanted!r} matches {len(found)} artifacts: {named}{more}"
    raise Refused(message, code="ambiguous_artifact", typed=typed)


def short_id(id_: str) -> str:
    """The beginning of an id, by which people call an artifact."""
    return id_[: ids.SHORT]
