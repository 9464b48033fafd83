"""Which decisions hold for a file: by the patterns that they, or records of other tools, say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Final

from preflights_es.kernel.errors import AmbiguousSession, RecordWithoutSession, UnknownSession
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.use.decisions import list_decisions, records_beside
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, Result, Who
from preflights_es.use.turned_down import former_of, turned_down_by
from preflights_es.use.work_tree import WorkTree, project_path
from preflights_es.words.decisions import Hold
from preflights_es.words.path_patterns import specificity
from preflights_es.words.signing import Signed


class Held(Result, frozen=True, kw_only=True):
    """A decision, and the pattern by which it holds for a file; times are ISO 8601, UTC."""

    name: str
    """`ADR-0007`, its uid, or the path of a record of another tool."""
    pattern: str
    """Empty where it holds everywhere."""
    hold: Hold
    title: str
    category: str
    fields: tuple[tuple[str, str], ...]
    """Pairs of field and value; of a record of another tool what its title states."""
    because: str
    instead_of: tuple[str, ...]
    """What was turned down."""
    accepted_at: str
    accepted_by: Who | None
    """None for a record of another tool."""
    standing: str
    superseded_by: str
    """Name of the decision that replaced it."""
    session_id: str
    uid: str
    record: str
    """Its document's path; empty where there is none."""
    file: str | None
    """The session file that says so, where the log does not."""
    signature: Signed | None = None
    """What the signature of its acceptance proves; None without one."""


class HoldsHere(Result, frozen=True, tag_field="format", tag="holds/1"):
    """What holds for one file."""

    path: str
    """Relative to the repository's root."""
    decisions: tuple[Held, ...]
    """Those with a pattern that matches, the most specific pattern first."""
    superseded: tuple[Held, ...]
    """Those that did, where they were asked for."""
    everywhere: int
    """How many decisions hold without a pattern."""


class UnusedPattern(Result, frozen=True):
    """A pattern of a decision in force that matches no file any more."""

    name: str
    title: str
    pattern: str
    session_id: str


class Unused(Result, frozen=True, tag_field="format", tag="unused/1"):
    """Patterns that match no file."""

    patterns: tuple[UnusedPattern, ...]


def file_meant(request: Request, typed: str, cwd: Path | None = None) -> str:
    """The file that is meant, as patterns name it; empty where a session or field is.

    A file has a `/`, or lies here.

    Raises:
        Refused: it lies outside of the project.
    """
    root = request.process.settings.root
    if not ("/" in typed or os.sep in typed or os.path.lexists((cwd or root) / typed)):
        return ""
    try:
        request.sessions.resolved(typed)
    except (AmbiguousSession, RecordWithoutSession):
        return ""
    except UnknownSession:
        return project_path(root, typed, cwd)
    return ""


def holding_for(request: Request, path: str, *, everything: bool = False) -> HoldsHere:
    """The decisions in force that hold for a file.

    Args:
        path: as `project_path` gives it.
        everything: also those that were superseded.
    """
    tree = WorkTree(request.process.settings.root)
    found, former, everywhere = list[Held](), list[Held](), 0
    every = [*list_holding_decisions(request, everything=True)]
    replaced = former_of(one for one in every if isinstance(one, DecisionRow))
    for one in every:
        is_over = is_superseded(one)
        if is_over and not everything:
            continue
        if not one.paths:
            everywhere += not is_over
        elif pattern := tree.matched(one.paths, path):
            (former if is_over else found).append(as_held(one, pattern, replaced))
    return HoldsHere(
        path=path,
        decisions=tuple(sorted(found, key=_by_pattern)),
        superseded=tuple(sorted(former, key=_by_pattern)),
        everywhere=everywhere,
    )


def list_holding_decisions(
    request: Request, *, everything: bool = False
) -> Iterator[DecisionRow | ForeignRow]:
    """The decisions and records that hold somewhere, oldest first.

    Args:
        everything: also those that were superseded.
    """
    yield from filter(is_counted, list_decisions(request, everything=everything))
    yield from filter(is_counted, records_beside(request, everything=everything).rows)


def is_counted(row: DecisionRow | ForeignRow) -> bool:
    """Whether it is or was in force: what was superseded still says what is turned down."""
    if isinstance(row, ForeignRow):
        return row.is_held or row.status == "superseded"
    return row.standing in ("accepted", "superseded") and bool(row.accepted_at)


def is_superseded(row: DecisionRow | ForeignRow) -> bool:
    """Whether another one took its place."""
    return (row.status if isinstance(row, ForeignRow) else row.standing) == "superseded"


def unused(request: Request) -> Iterator[UnusedPattern]:
    """Patterns of decisions in force that match no file of the work tree."""
    return unused_of(list_holding_decisions(request), WorkTree(request.process.settings.root))


def unused_of(
    rows: Iterable[DecisionRow | ForeignRow], tree: WorkTree, compared_max: float = inf
) -> Iterator[UnusedPattern]:
    """The patterns of these that match no file.

    Args:
        compared_max: how often patterns are held against paths; what is beyond is left out.
    """
    most = tree.compared + compared_max
    for one in rows:
        for pattern in one.paths:
            if tree.compared > most:
                return
            if not tree.has_match(pattern):
                yield UnusedPattern(
                    name=one.name, title=one.title, pattern=pattern, session_id=one.session_id
                )


def as_held(
    one: DecisionRow | ForeignRow,
    pattern: str,
    former: Mapping[str, DecisionRow] = MappingProxyType({}),
) -> Held:
    """A decision or a record, as it holds by a pattern.

    Args:
        former: decisions that were superseded, by uid.
    """
    names = ("name", "hold", "title", "category", "fields", "session_id", "file")
    same = {name: getattr(one, name) for name in names}
    if isinstance(one, ForeignRow):
        return Held(
            **same,
            pattern=pattern,
            because="",
            instead_of=(),
            accepted_at=one.date,
            accepted_by=None,
            standing="superseded" if one.status == "superseded" else "accepted",
            superseded_by=one.superseded_by,
            uid="",
            record=one.path,
        )
    later = one.superseded_by
    return Held(
        **same,
        pattern=pattern,
        because=one.reason,
        instead_of=tuple(other.name for other in turned_down_by(one, former)),
        accepted_at=one.accepted_at or "",
        accepted_by=one.acknowledged_by,
        standing=one.standing,
        superseded_by=later.name if later else "",
        uid=one.uid,
        record=one.artifact or "",
        signature=one.signature,
    )


def describe_holding_decision(one: Held) -> str:
    """`ADR-0007: Type: PostgreSQL, because ...; not MongoDB`, on one line."""
    values = ", ".join(f"{field}: {one_line(value)}" for field, value in one.fields) or one.title
    said = f"{one.name}: {values}"
    if one.because:
        said += f", because {one_line(one.because)}"
    if one.instead_of:
        said += f"; not {', '.join(map(one_line, one.instead_of))}"
    return escaped_text(shortened(said, LINE_MAX))


LINE_MAX: Final = 240  # characters of a decision that an agent is told of


def _by_pattern(one: Held) -> tuple[int, str]:
    return -specificity(one.pattern), one.accepted_at
