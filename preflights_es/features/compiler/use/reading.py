"""Plans and decisions in force and the layout of the repository, as a pass reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

from preflights_es.features.compiler.domain.decide import IN_FORCE
from preflights_es.features.compiler.domain.values import (
    PASSES,
    REQUEST_MAX,
    DecidedField,
    Needed,
    Pass,
    ReadDecision,
    ReadPlan,
)
from preflights_es.features.compiler.domain.views import envelope
from preflights_es.features.compiler.use.artifacts import plans_in_force, row_named
from preflights_es.features.compiler.use.documents import PATH_MAX
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import late_pattern, problem
from preflights_es.projections.artifacts import PlanRow
from preflights_es.runtime.runner import Handle
from preflights_es.settings.load import surroundings
from preflights_es.system import git
from preflights_es.use.decisions import list_decisions
from preflights_es.use.request import Request

_ID: Final = late_pattern(r"[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]{0,27}")
_WHOLE: Final = 36  # characters of an id


# 1. Plans ----------------------------------------------------------------------------------


def plans(
    request: Request, pass_: Pass, rows: Sequence[PlanRow], use: Iterable[str]
) -> tuple[ReadPlan, ...]:
    """The plans that a pass needs, in the order of its table, and those that the caller adds.

    Args:
        use: their ids.

    Raises:
        Refused: one that it needs is not in force.
    """
    in_force = plans_in_force(rows)
    wanted = [
        *(_require_plan_in_force(in_force, one, pass_) for one in pass_.plans),
        *(_find_approved_plan(rows, id_) for id_ in use),
    ]
    once = {row.planned.id: row for row in wanted}
    for row in once.values():
        if row.file is not None:
            one, by = row.planned, row.planned.changed_by
            who = f"{by.kind} {by.name}".rstrip() if by and by.kind != "user" else by and by.name
            text = f"uses the {one.type} {one.id[:8]}: approved by {who or 'a person'}"
            request.notice("plan_of_file", f"{text}, as {row.file} says", path=row.file)
    return tuple(read_plan(request, row) for row in once.values())


def find_current_plan(rows: Iterable[PlanRow], type_: str) -> PlanRow | None:
    """The plan of a type that counts: the one that is locked, else the one approved last."""
    of_type = [row for row in rows if row.planned.type == type_]
    locked = [row for row in of_type if row.planned.standing == "locked"]
    return next(iter(reversed(locked or of_type)), None)


def split_ids_and_paths(rows: Sequence[PlanRow], use: Iterable[str]) -> tuple[list[str], list[str]]:
    """What the caller adds: ids of plans, and paths of files."""
    named = list(dict.fromkeys(use))
    ids = [one for one in named if _is_id(one, rows)]
    return ids, [one for one in named if one not in ids]


def _is_id(typed: str, rows: Sequence[PlanRow]) -> bool:
    if _ID.fullmatch(typed.lower()) is None:
        return False
    return len(typed) == _WHOLE or any(row.planned.id.startswith(typed.lower()) for row in rows)


def _require_plan_in_force(rows: Sequence[PlanRow], needed: Needed, pass_: Pass) -> PlanRow:
    found = find_current_plan(rows, needed.type)
    fields = {
        "type": needed.type,
        "name": next(one.command for one in PASSES.values() if one.writes == needed.type),
    }
    if found is None:
        message = f"the pass `{pass_.command}` needs an approved {needed.type}, and none is"
        raise Refused(message, code="plan_missing", **fields)
    if needed.standing == "locked" and found.planned.standing != "locked":
        message = f"the pass `{pass_.command}` needs a locked {needed.type}, and it is not locked"
        raise Refused(message, code="plan_not_locked", **fields)
    return found


def _find_approved_plan(rows: Sequence[PlanRow], typed: str) -> PlanRow:
    row = row_named(rows, typed)
    if row.planned.standing in IN_FORCE:
        return row
    message = (
        f"the {row.planned.type} {row.planned.id[:8]} is {row.planned.standing}: a pass reads only "
        "artifacts that are approved"
    )
    raise Refused(message, code="not_in_force", id=row.planned.id)


def read_plan(request: Request, row: PlanRow) -> ReadPlan:
    """A plan as a pass reads it."""
    handle = request.reading.load(row)
    told = envelope(handle.session.state)
    assert told["id"] == row.planned.id, "a session has one artifact that counts"
    return ReadPlan(
        id=row.planned.id,
        type=told["artifact_type"],
        standing=told["status"],
        source=handle.source,
        payload=canonical_json(told["payload"]).decode(),
    )


# 2. Decisions ------------------------------------------------------------------------------


def decisions_in_force(request: Request) -> tuple[ReadDecision, ...]:
    """What people decided and nothing replaced, the newest first."""
    handles = [request.reading.load(row) for row in list_decisions(request)]
    return tuple(one for one in map(_read_session_decision, reversed(handles)) if one is not None)


def _read_session_decision(handle: Handle) -> ReadDecision | None:
    if handle.workflow.filed.record is None:
        return None
    record = handle.workflow.filed.record(handle.session.state)
    because = record.rationale.because
    return ReadDecision(
        uid=record.uid,
        title=record.title,
        source=handle.source,
        fields=tuple(DecidedField(one.name, one.value) for one in record.fields),
        because=because.text if because else "",
        scope=record.scope,
    )


LISTED_S: Final = 30  # for git to list a repository of a million files
LAYOUT_MAX: Final = 2 * REQUEST_MAX  # characters of all paths; what is beyond fits no request
OWN: Final = ".preflights/"  # documents and plans, which a pass reads where it needs them
_TAG: Final = 2  # characters in front of each path: git's letter for it, and a blank
_NO_UTF8: Final = "\ufffd"


def layout(root: Path) -> tuple[tuple[str, ...], int]:
    """The paths of a repository but those of plans, sorted, and how many are left out already.

    None of them where git lists none. Left out are those whose name is no text, and those that
    would fit no request.
    """
    said = git.read_git_text(("ls-files", "-z", "-t"), root, surroundings(), LISTED_S)
    named = {entry[_TAG:] for entry in (said or "").split("\0") if entry}
    named = {path for path in named if not path.startswith(OWN)}
    fit = sorted(
        path
        for path in named
        if _NO_UTF8 not in path and "\n" not in path and problem(path, PATH_MAX) is None
    )
    ends = accumulate(len(path) + 1 for path in fit)
    kept = tuple(path for path, end in zip(fit, ends, strict=True) if end <= LAYOUT_MAX)
    return kept, len(named) - len(kept)
