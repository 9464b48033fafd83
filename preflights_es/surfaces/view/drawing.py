"""Where things stand in a picture; templates draw them as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from operator import attrgetter
from typing import Final, Literal

import msgspec

from preflights_es.kernel.text import one_line, shortened
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import EXCEPTION, Related, list_superseded

# 1. Days -------------------------------------------------------------------------------------

WIDTH: Final = 1_000
BAR_MIN: Final = 2.5
BAR_MAX: Final = 24.0
BARS_MAX: Final = 366  # a longer time is drawn in parts of several days each


class DecisionDayBar(msgspec.Struct, frozen=True):
    """A day, or a few days, on which something was decided."""

    day: str
    """The last of them."""
    count: int
    x: float
    height: float
    """Share of the highest, 0.0 to 1.0."""
    is_before: bool
    """Whether it is not after the day that is shown."""


class Bars(msgspec.Struct, frozen=True):
    """The time of a project, from the first decision to the last."""

    bars: tuple[DecisionDayBar, ...]
    width: float
    """Of each."""
    first: str
    last: str
    count: int
    """Of days on which something was decided."""
    span: int
    """Days from the first to the last; one more step is now."""
    at: int
    """How many days after the first the one that is shown is; the span for now."""


def bars(counted: Sequence[tuple[str, int]], day: str) -> Bars:
    """A bar for each day of the project on which something was decided.

    Args:
        counted: pairs of day and number, oldest first.
        day: the one that is shown; empty for now.
    """
    days = [date.fromisoformat(one) for one, _ in counted]
    span = (days[-1] - days[0]).days + 1
    step = -(-span // BARS_MAX)
    parts: dict[int, tuple[str, int]] = {}
    for then, (name, count) in zip(days, counted, strict=True):
        place = (then - days[0]).days // step
        parts[place] = name, parts.get(place, ("", 0))[1] + count
    places, highest = span // step + 1, max(count for _, count in parts.values())
    width = min(max(BAR_MIN, WIDTH / places * 0.7), BAR_MAX)
    drawn = tuple(
        DecisionDayBar(
            name,
            count,
            (WIDTH - width) * place / (places - 1),
            count / highest,
            is_before=name <= (day or name),
        )
        for place, (name, count) in parts.items()
    )
    at = min(max((date.fromisoformat(day) - days[0]).days, 0), span) if day else span
    return Bars(
        drawn, width, counted[0][0], last=counted[-1][0], count=len(counted), span=span, at=at
    )


# 2. How decisions stand to each other --------------------------------------------------------

NODES_MAX: Final = 120
NODE: Final = (220, 46)  # width and height
GAP: Final = (56, 14)
TITLE_MAX: Final = 30  # characters

Kind = Literal["supersedes", "exception", "beside"]
_VERBS: Final[dict[Kind, str]] = {"supersedes": "replaces"}
"""`beside`: both stay in force, although their values differ."""


class Node(msgspec.Struct, frozen=True):
    """A decision in the picture."""

    uid: str
    name: str
    title: str
    beside: str
    """Its day, or that it is not listed."""
    x: int
    y: int
    is_former: bool
    """Whether another one took its place."""


class Edge(msgspec.Struct, frozen=True):
    """From a newer decision to an older one."""

    kind: Kind
    path: str
    """As `d` of an SVG path, from the older one to the newer."""
    label: str


class Graph(msgspec.Struct, frozen=True):
    """What superseded, contradicts or is an exception of what; only decisions that do."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: int
    height: int
    more: int
    """Decisions that are not drawn."""


def graph(rows: Iterable[DecisionRow]) -> Graph | None:
    """The picture of some decisions, time from left to right; None where none is about another."""
    shown = {one.uid: one for one in rows}
    pairs = [
        (one, old, kind)
        for one in sorted(shown.values(), key=attrgetter("moved_at"))
        for old, kind in _related_older_decisions(one)
    ]
    if not pairs:
        return None
    drawn: dict[str, tuple[str, str, str, bool]] = {}
    for new, old, _ in pairs:
        for node in (
            _ghost(old) if old.uid not in shown else _drawn_decision(shown[old.uid]),
            _drawn_decision(new),
        ):
            if len(drawn) < NODES_MAX:
                drawn.setdefault(node[0], node[1])
    more = len({uid for new, old, _ in pairs for uid in (new.uid, old.uid)}) - len(drawn)
    ends = [
        (old.uid, new.uid, kind)
        for new, old, kind in pairs
        if old.uid in drawn and new.uid in drawn and old.uid != new.uid
    ]
    places = _place_decision_nodes(drawn, ends)
    nodes = tuple(
        Node(uid, name, title, beside, x=places[uid][0], y=places[uid][1], is_former=former)
        for uid, (name, title, beside, former) in drawn.items()
    )
    edges = tuple(
        Edge(
            kind,
            _edge_curve(places[old], places[new]),
            f"{drawn[new][0]} {_VERBS.get(kind, kind)} {drawn[old][0]}",
        )
        for old, new, kind in ends
    )
    width = max(x for x, _ in places.values()) + NODE[0] + 2
    height = max(y for _, y in places.values()) + NODE[1] + 2
    return Graph(nodes, edges, width, height, more=more)


def _related_older_decisions(one: DecisionRow) -> list[tuple[Related, Kind]]:
    """The older decisions that one is about; a record without a session has no uid."""
    replaced = [(old, "supersedes") for old in list_superseded(one)]
    kept = [(two.related, "exception" if two.reason == EXCEPTION else "beside") for two in one.kept]
    found: list[tuple[Related, Kind]] = [*replaced, *kept]  # type: ignore[list-item]  # literals
    return [(old, kind) for old, kind in found if old.uid]


def _drawn_decision(one: DecisionRow) -> tuple[str, tuple[str, str, str, bool]]:
    name, title = one.name, shortened(one_line(one.title), TITLE_MAX)
    day = one.moved_at.partition("T")[0]
    return one.uid, (name, title, day, one.superseded_by is not None)


def _ghost(old: Related) -> tuple[str, tuple[str, str, str, bool]]:
    title = shortened(one_line(old.title), TITLE_MAX)
    return old.uid, (old.name, title, "", True)


def _place_decision_nodes(
    drawn: Mapping[str, object], ends: Sequence[tuple[str, str, Kind]]
) -> dict[str, tuple[int, int]]:
    """Newer ones right of older ones, in the line of the first that they are about."""
    older: dict[str, list[str]] = {}
    for old, new, _ in ends:
        older.setdefault(new, []).append(old)
    layers: dict[str, int] = {}

    def layer(uid: str, seen: frozenset[str]) -> int:
        if uid not in layers:
            before = [one for one in older.get(uid, ()) if one not in seen]
            layers[uid] = max((layer(one, seen | {uid}) + 1 for one in before), default=0)
        return layers[uid]

    lines: dict[str, int] = {}
    taken: set[tuple[int, int]] = set()
    lowest = 0
    for uid in sorted(drawn, key=lambda one: layer(one, frozenset((one,)))):
        line = next((lines[one] for one in older.get(uid, ()) if one in lines), lowest)
        while (layers[uid], line) in taken:
            line += 1
        taken.add((layers[uid], line))
        lines[uid] = line
        lowest = max(lowest, line + 1)
    across, down = NODE[0] + GAP[0], NODE[1] + GAP[1]
    return {uid: (1 + layers[uid] * across, 1 + lines[uid] * down) for uid in drawn}


def _edge_curve(old: tuple[int, int], new: tuple[int, int]) -> str:
    """A curve from the right side of the older one to the left side of the newer one."""
    x, y = old[0] + NODE[0], old[1] + NODE[1] // 2
    end, to = new[0], new[1] + NODE[1] // 2
    bend = max((end - x) // 2, GAP[0] // 2)
    return f"M{x} {y}C{x + bend} {y} {end - bend} {to} {end} {to}"
