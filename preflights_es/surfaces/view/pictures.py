"""Where things stand in a picture, as numbers; templates draw them as SVG: a session as a timeline
of lanes and marks, days with decisions, and decisions with what they replace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from operator import attrgetter
from typing import Any, Final, Literal, get_args

import msgspec

from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.events import Event
from preflights_es.kernel.lead import ResponseRejected
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import one_line, shortened
from preflights_es.projections import usage
from preflights_es.projections.audit import LoggedStep, TrailActor, steps
from preflights_es.projections.projection import Read
from preflights_es.projections.session_story import call_costs
from preflights_es.projections.usage import Price, ProviderCall
from preflights_es.store.stored_events import erased
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import EXCEPTION, Related, list_superseded
from preflights_es.words.event_names import NO_MODELS, event_in_words
from preflights_es.words.questions import Refusal
from preflights_es.words.workflow import Cost

Lane = Literal["person", "rules", "model", "agent", "files"]
LANES: Final[tuple[Lane, ...]] = get_args(Lane)
"""From the top: who asked or answered, what followed, and what was asked of the outside."""


# 1. A session: marks -------------------------------------------------------------------------

PART: Final = 200  # events of a part

TOP: Final = 30  # units above the lanes, for spans of gaps
ROW: Final = 34  # units of a lane
FOOT: Final = 40  # units below the lanes, for times
MIDDLES: Final[Mapping[Lane, int]] = {
    lane: TOP + ROW * n + ROW // 2 for n, lane in enumerate(LANES)
}
"""Where each lane has its marks, in units from the top."""

STEP: Final = 18.0  # units between marks of one moment; a unit is a pixel
EDGE: Final = 24.0  # units before the first mark and behind the last
CALL: Final = 150.0  # units of the longest call
PIXEL: Final = 1.0  # units of the shortest
FOLD: Final = 64.0  # units of a gap that is folded
TICK: Final = 84.0  # units between two times that are written
LONG_MS: Final = (2_000, 120_000)
"""The longest call of a part counts as at least and at most so long."""


class TimelineMark(msgspec.Struct, frozen=True, kw_only=True):
    """One event."""

    version: int
    lane: Lane
    name: str
    """Its tag without the workflow and the number."""
    is_input: bool
    follows: int | None
    """Of a Decision: the version of the Input that it follows from."""
    actor: TrailActor | None
    at: int | None
    """Microseconds since 1970 UTC; None where a damaged database has no time."""
    x: float
    width: float = 0.0
    """Of a call: how long it took; 0.0 of everything else."""
    call: ProviderCall | None = None
    """What a request of a model came to."""
    costs: tuple[Cost, ...] = ()
    is_open: bool = False
    """Whether a call has no outcome yet."""
    is_bad: bool = False
    """Whether a call failed, or its response or what a person said was refused."""
    gone: Literal["", "erased", "gone", "damaged"] = ""
    """Why there is no payload to read."""


class Gap(msgspec.Struct, frozen=True):
    """A time in which nothing happened, drawn shorter than it was."""

    x: float
    width: float
    seconds: float


class Tick(msgspec.Struct, frozen=True):
    """A time that is written below the lanes."""

    x: float
    at: int
    since: int | None
    """Microseconds since the last time that is written whole; None where this one is: seconds alone
    would repeat it."""
    is_new_day: bool


class TimelinePart(msgspec.Struct, frozen=True, kw_only=True):
    """At most `PART` events, in their order."""

    first: int
    last: int
    width: float
    marks: tuple[TimelineMark, ...]
    gaps: tuple[Gap, ...]
    ticks: tuple[Tick, ...]
    top: int = TOP
    """Where the first lane begins."""
    bottom: int = TOP + ROW * len(LANES)
    """Where the last lane ends."""
    height: int = TOP + ROW * len(LANES) + FOOT


def part_of(version: int) -> int:
    """The first event of the part in which an event stands."""
    return (max(version, 1) - 1) // PART * PART + 1


Only = Literal["model", "person", "refused"]
ONLY: Final[tuple[Only, ...]] = get_args(Only)
"""Which events of a long session can be shown alone."""


class OverviewBar(msgspec.Struct, frozen=True):
    """Events of a long session that follow each other: which share of them is of a kind."""

    model: float
    person: float
    refused: float


class SessionTimeline(msgspec.Struct, frozen=True):
    """Events of a session, of which parts are drawn."""

    steps: Sequence[LoggedStep]
    calls: Mapping[int, ProviderCall]
    """By the version of the request."""
    erased: frozenset[int]
    """Versions of the events whose payloads an erasure took."""

    @classmethod
    def of(cls, read: Read) -> SessionTimeline:
        """Those of a session."""
        calls = {call.version: call for call in usage.list_session_calls(read) if call.attempt}
        return cls([*steps(read)], calls, frozenset(erased(read.stored)))

    def only(self, which: Only) -> SessionTimeline:
        """Those of its events that are of a kind."""
        kept = [step for step in self.steps if self._is_of(step, which)]
        return msgspec.structs.replace(self, steps=kept)

    def _is_of(self, step: LoggedStep, which: Only) -> bool:
        call = self.calls.get(step.stored.version)
        if which == "refused":
            return _is_bad(step.event, call)
        return _lane_of_step(step, call) == which

    def overview(self) -> list[OverviewBar]:
        """All of it, in at most `PART` bars."""
        count = -(-len(self.steps) // PART)
        parts = (self.steps[n : n + count] for n in range(0, len(self.steps), count))
        return [OverviewBar(*(self._share(part, which) for which in ONLY)) for part in parts]

    def _share(self, part: Sequence[LoggedStep], which: Only) -> float:
        return sum(self._is_of(step, which) for step in part) / len(part)

    def part(self, first: int, prices: Sequence[Price] = ()) -> TimelinePart:
        """The events from a place on, which begin at 1."""
        told = self.steps[first - 1 : first - 1 + PART]
        places, gaps = _place_timeline_events(told, self.calls)
        width = (places[-1] if places else 0.0) + EDGE
        widths = _width_of_calls(told, places, self.calls)
        marks = []
        for step, x in zip(told, places, strict=True):
            version = step.stored.version
            call, room = self.calls.get(version), widths.get(version, 0.0)
            marks.append(self._mark(step, call, x, room, prices=prices))
        return TimelinePart(
            first=told[0].stored.version if told else 0,
            last=told[-1].stored.version if told else 0,
            width=width,
            marks=tuple(marks),
            gaps=tuple(gaps),
            ticks=tuple(_ticks(told, places, gaps)),
        )

    def _mark(
        self,
        step: LoggedStep,
        call: ProviderCall | None,
        x: float,
        width: float,
        prices: Sequence[Price],
    ) -> TimelineMark:
        return TimelineMark(
            version=step.stored.version,
            lane=_lane_of_step(step, call),
            name=event_in_words(step.stored.type, step.model.provider if step.model else ""),
            is_input=step.role == "input",
            follows=step.follows,
            actor=_writer_of_step(step),
            at=_recorded_moment(step.stored),
            x=x,
            width=width,
            call=call,
            costs=call_costs((call,), prices) if call else (),
            is_open=call is not None and call.outcome == "open",
            is_bad=_is_bad(step.event, call),
            gone=self._gone(step),
        )

    def _gone(self, step: LoggedStep) -> Literal["", "erased", "gone", "damaged"]:
        if step.event is not None:
            return ""
        if step.stored.data is not None:
            return "damaged"
        return "erased" if step.stored.version in self.erased else "gone"


def _lane_of_step(step: LoggedStep, call: ProviderCall | None) -> Lane:
    """Who wrote the answer of a call, where no model did."""
    lane: Lane = "model" if call else lane_of(step.stored)
    who = NO_MODELS.get(step.model.provider) if step.model and lane == "model" else None
    return next((one for one in LANES if one == who), lane)


def _writer_of_step(step: LoggedStep) -> TrailActor | None:
    """As the log says, but for an answer that no model wrote: of it only an agent has a name."""
    said = step.actor
    if not (said and said.kind == "model" and step.model and step.model.provider in NO_MODELS):
        return said
    is_named = step.model.provider == "agent" and said.name != "unknown"
    return TrailActor("agent", said.name) if is_named else None


def lane_of(one: Stored) -> Lane:
    """Who is at work in an event, by its envelope: it says enough where the payload is gone."""
    tag = str(one.type)
    if tag.startswith("completion."):
        return "model"
    if tag.startswith("artifact."):
        return "files"
    match one.actor_kind:
        case None:
            return "rules"
        case "user":
            return "person"
        case _:
            return "agent"


def _is_bad(event: Event | None, call: ProviderCall | None) -> bool:
    if isinstance(event, CompletionFailed | ResponseRejected | Refusal):
        return True
    if call is None:
        return False
    return call.outcome not in ("open", "received", "late") or call.judged not in ("", "accepted")


def _recorded_moment(one: Stored) -> int | None:
    """When it was recorded: a database keeps what it is given."""
    at: Any = one.recorded_at
    return at if isinstance(at, int) else None


def _outcomes(
    told: Sequence[LoggedStep], places: Sequence[float]
) -> dict[str, tuple[float, int | None]]:
    """Where and when the outcome of a call stands, by the call."""
    found: dict[str, tuple[float, int | None]] = {}
    for step, x in zip(told, places, strict=True):
        if isinstance(step.event, CompletionReceived | CompletionFailed):
            found.setdefault(step.event.call, (x, _recorded_moment(step.stored)))
    return found


def _width_of_calls(
    told: Sequence[LoggedStep], places: Sequence[float], calls: Mapping[int, ProviderCall]
) -> dict[int, float]:
    """How wide the bar of each call is, by version: by one scale, that of the axis where it is
    closest; one whose time is not known goes to its outcome.
    """
    ends = _outcomes(told, places)
    took, rooms, scales = dict[int, int | None](), dict[int, float](), list[float]()
    for step, x in zip(told, places, strict=True):
        version = step.stored.version
        if (call := calls.get(version)) is None:
            continue
        behind = places[-1] + EDGE / 2 if call.outcome == "open" else x + STEP / 2
        end, outcome = ends.get(call.call, (behind, None))
        took[version], rooms[version] = call.latency_ms, end - x
        if call.latency_ms and outcome is not None:
            passed = (outcome - (_recorded_moment(step.stored) or outcome)) / 1_000
            scales.append((end - x) / max(passed, call.latency_ms))
    scale = min(scales, default=0.0)
    known = {version: ms for version, ms in took.items() if ms is not None}
    return rooms | {version: max(round(ms * scale, 1), PIXEL) for version, ms in known.items()}


# 2. A session: times -------------------------------------------------------------------------


def _place_timeline_events(
    told: Sequence[LoggedStep], calls: Mapping[int, ProviderCall]
) -> tuple[list[float], list[Gap]]:
    """Where each event stands: by its time, beside those of the same moment, long gaps folded.

    What takes longer than one and a half times the longest call is a wait of people.
    """
    asked = (calls.get(step.stored.version) for step in told)
    took = [call.latency_ms or 0 for call in asked if call]
    longest = min(max([LONG_MS[0], *took]), LONG_MS[1])
    a_millisecond = CALL / longest
    places, gaps = list[float](), list[Gap]()
    x, before = EDGE - STEP, None
    for step in told:
        at = _recorded_moment(step.stored)
        passed = 0.0
        if at is not None and before is not None:
            passed = max((at - before) / 1_000, 0.0)
        if passed > 1.5 * longest:
            gaps.append(Gap(x + STEP / 2, FOLD, passed / 1_000))
            x += FOLD + STEP
        else:
            x += max(passed * a_millisecond, STEP)
        places.append(round(x, 1))
        before = before if at is None else at
    return places, gaps


def _ticks(
    told: Sequence[LoggedStep], places: Sequence[float], gaps: Sequence[Gap]
) -> Iterable[Tick]:
    """Times below the lanes: of the first event, of each behind a gap, and of others with room."""
    behind = {round(gap.x + gap.width + STEP / 2, 1) for gap in gaps}
    free, day, whole, told_at = 0.0, -1, -1, -1
    for step, x in zip(told, places, strict=True):
        at = _recorded_moment(step.stored)
        if at is None or (x < free and x not in behind):
            continue
        is_repeated = at // 1_000_000 == whole // 1_000_000
        if is_repeated and at // 1_000 <= told_at // 1_000:  # it would say the same again
            continue
        today = at // 86_400_000_000
        yield Tick(x, at, at - whole if is_repeated else None, is_new_day=today != day)
        free, day, told_at, whole = x + TICK, today, at, whole if is_repeated else at


# 3. Days with decisions ----------------------------------------------------------------------

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
    first, last = counted[0][0], counted[-1][0]
    return Bars(drawn, width, first, last=last, count=len(counted), span=span, at=at)


# 4. How decisions stand to each other --------------------------------------------------------

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
    rows = sorted(shown.values(), key=attrgetter("moved_at"))
    pairs = [(one, old, kind) for one in rows for old, kind in _related_older_decisions(one)]
    if not pairs:
        return None
    # Two that stay beside each other name each other: one line, from the older to the newer.
    pairs = [*{(pair[2], frozenset((pair[0].uid, pair[1].uid))): pair for pair in pairs}.values()]
    drawn: dict[str, tuple[str, str, str, bool]] = {}
    for new, old, _ in pairs:
        older = _drawn_decision(shown[old.uid]) if old.uid in shown else _ghost(old)
        for node in (older, _drawn_decision(new)):
            if len(drawn) < NODES_MAX:
                drawn.setdefault(node[0], node[1])
    more = len({uid for new, old, _ in pairs for uid in (new.uid, old.uid)}) - len(drawn)
    uids = ((old.uid, new.uid, kind) for new, old, kind in pairs if old.uid != new.uid)
    ends = [(old, new, kind) for old, new, kind in uids if old in drawn and new in drawn]
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
