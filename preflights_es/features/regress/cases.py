"""A case and the causes of what differs: of a strict replay, and of a child beside its recording,
with the measures of both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.regress.change import ChangePart, RunChange, split_change, touches
from preflights_es.features.regress.children import ChildRun, Runs, questions
from preflights_es.features.regress.results import (
    Case,
    Cause,
    CauseKind,
    Drift,
    Measure,
    Noise,
    Outcome,
    RunMeasures,
    ValueDifference,
)
from preflights_es.history.child import Divergence, Fault, causes, fault_of
from preflights_es.history.recording import Recording
from preflights_es.history.replayer import Replay, Replayer, changes, describe_session_outcome
from preflights_es.history.whatif import Otherwise, calls_max
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import SessionFaulted
from preflights_es.kernel.events import Event
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.ports import Stored
from preflights_es.store.stored_events import erased_before
from preflights_es.words.questions import Question

Made = Callable[..., Case]
"""A case of one session: all that stays to be said is what came of it."""
DIFFERENCES_MAX: Final = 10  # of one session that a report shows; the rest are counted
ERASED: Final = "erased"
CANNOT_READ: Final = "this code cannot read "
"""Begins why a session is left out whose workflow's code does not take one of its events."""
UNDECIDED: Final = "its last Input is not decided"
REQUESTED: Final = CompletionRequested.tag
RESPONSES: Final = frozenset((CompletionReceived.tag, CompletionFailed.tag))

_KINDS: Final[dict[str, CauseKind]] = {
    "prompts": "prompt",
    "provider": "provider",
    "model": "model",
    "parameters": "parameter",
}
"""By the field of a request."""


def begin_session_case(stored: Sequence[Stored], source: str) -> Made:
    """A case of a session, without what came of it."""
    if not stored:
        return partial(Case, session_id="", workflow="", source=source, head="")
    last = stored[-1]
    return partial(
        Case,
        session_id=last.session_id,
        workflow=last.workflow,
        source=source,
        head=last.hash.hex(),
    )


# 1. A strict replay ----------------------------------------------------------------------------


def strict_case(replay: Replay, stored: Sequence[Stored], made: Made) -> Case:
    """What a strict replay comes to."""
    if replay.status == "identical" and not replay.undecided:
        return made(outcome="same")
    causes = strict_causes(replay.divergences, stored)
    shown = tuple(
        ValueDifference(
            version=one.version,
            type=one.type,
            pointer=one.pointer,
            place=one.place,
            expected=one.recorded,
            actual=one.computed,
        )
        for one in replay.divergences
    )
    outcome: Outcome
    if replay.fault is not None:
        message = fault_words(replay.fault)
        if not replay.fault.recorded:
            kinds = {one.kind for one in causes}
            causes += () if "code or data" in kinds else (code_or_data(message),)
        outcome = "faulted"
    elif replay.divergences:
        outcome, message = "changed", ""
    else:
        outcome, message = "open", UNDECIDED
        causes = (code_or_data(UNDECIDED),)
    return made(
        outcome=outcome,
        causes=causes,
        differences=shown[:DIFFERENCES_MAX],
        difference_count=len(shown),
        message=message,
        rest_digest=rest_digest(shown[DIFFERENCES_MAX:]),
    )


def value_differences(before: dict[str, Any], after: dict[str, Any]) -> tuple[ValueDifference, ...]:
    """Of what two sides of a session come to."""
    return tuple(
        ValueDifference(
            version=0,
            type="",
            pointer=one.pointer,
            place=one.place,
            expected=one.recorded,
            actual=one.child,
        )
        for one in changes(before, after)
    )


def rest_digest(rest: Sequence[ValueDifference]) -> str:
    """Of the differences that no report shows; empty where there are none."""
    return sha256(canonical_json(rest)).hexdigest() if rest else ""


def fault_words(fault: Fault) -> str:
    """One line: the exception and its place."""
    place = f"{fault.file.rpartition('/')[2]}:{fault.line}"
    said = " ".join(f"{fault.error}: {fault.message}".split())
    return f"event {fault.version}: {said} ({place})"


def code_or_data(detail: str) -> Cause:
    """What the rules decide otherwise: a run cannot tell today's code from an edited log."""
    return Cause(kind="code or data", detail=detail)


def strict_causes(divergences: Sequence[Divergence], stored: Sequence[Stored]) -> tuple[Cause, ...]:
    """Of a strict replay: what the requests say of themselves; all else is code or data.

    A response that code of ours would not give differs with its request, where that differs.
    """
    prompted = {one.version for one in divergences if one.pointer.startswith("/prompts/")}
    found: dict[CauseKind, Cause] = {}
    explained: set[str] = set()
    rest: list[Divergence] = []
    for one in divergences:
        kind = (
            _cause_kind_at(one.pointer, one.version in prompted) if one.type == REQUESTED else None
        )
        if kind is not None:
            said = one.cause.split(", ")
            detail = detail_of(kind, said) or one.cause
            found.setdefault(kind, Cause(kind=kind, detail=detail))
            explained.add(_call(stored, one.version))
        elif one.type in RESPONSES and _call(stored, one.version) in explained:
            continue
        else:
            rest.append(one)
    if rest:
        found["code or data"] = code_or_data(rest[0].cause or _describe_divergence(rest[0]))
    return tuple(found.values())


def _cause_kind_at(pointer: str, prompted: bool) -> CauseKind | None:
    """The words of a prompt that differs are a message too: the first."""
    field = pointer.split("/", 2)[1] if pointer else ""
    return "prompt" if prompted and pointer == "/messages/0/content" else _KINDS.get(field)


def detail_of(kind: CauseKind, said: Sequence[str]) -> str:
    """Of what requests differ in, the part of a kind; empty where none is."""
    return next((part for part in said if part.startswith(f"{kind} ")), "")


def _describe_divergence(one: Divergence) -> str:
    return f"event {one.version}, {one.type}: {one.place}"


def _call(stored: Sequence[Stored], version: int) -> str:
    data = stored[version - 1].data if version <= len(stored) else None
    return str(decode_plain_json(data).get("call", "")) if data is not None else ""


# 2. A child ----------------------------------------------------------------------------------


def request_causes(recorded: Sequence[Event], child: Sequence[Event]) -> tuple[str, ...]:
    """What the first request that differs differs in; empty where none does."""
    before, after = _requests(recorded), _requests(child)
    for call in {**before, **after}:
        if call not in before or call not in after:
            return ("a request is gone" if call in before else "a request is new",)
        if found := causes(before[call], after[call]):
            return found
    return ()


def _requests(events: Sequence[Event]) -> dict[str, CompletionRequested]:
    return {event.call: event for event in events if isinstance(event, CompletionRequested)}


UNTOUCHED: Final = "the change does not touch who leads it"


def judge_changed_session(
    runs: Runs, replayer: Replayer, stored: Sequence[Stored], head: bytes | None, made: Made
) -> Case | str:
    """As `Regression.case`, of a run with a change; or why it is left out."""
    if stored and erased_before(stored):
        return ERASED
    try:
        recorded = runs.recording(stored, head)
    except SessionFaulted as faulted:
        message = fault_words(fault_of(faulted.version, faulted.error, recorded=False))
        cause = code_or_data(message)
        return made(outcome="faulted", causes=(cause,), message=message)
    inputs = [turn.input for turn in recorded.turns]
    if not touches(inputs, runs.change, recorded.workflow):
        return UNTOUCHED
    before = runs.calls
    case = _Judging(runs, replayer, recorded).case(made)
    return replace(case, live_calls=runs.calls - before)


def calls_of(runs: Runs, recorded: Recording) -> int:
    """Calls of a model that all runs make at most: both sides, and each change alone."""
    alone = len(touching_of(runs.change, recorded))
    sides = runs.repeat * (1 if runs.keeps_recording else 2)
    return calls_max(recorded, 0, Otherwise()) * (sides + (alone if alone > 1 else 0))


def touching_of(change: RunChange, recorded: Recording) -> Sequence[ChangePart]:
    """The changes that are something to who leads the session."""
    found = split_change(change)
    if len(found) == 1:
        return found
    inputs = [turn.input for turn in recorded.turns]
    return [one for one in found if touches(inputs, one.change, recorded.workflow)]


class _Judging:
    """One session, judged."""

    def __init__(self, runs: Runs, replayer: Replayer, recorded: Recording) -> None:
        self._runs = runs
        self._replayer = replayer
        self._recorded = recorded
        workflow, state = recorded.workflow, recorded.session.state
        self._label = workflow.shown.reached(state)
        self._before = runs.side(recorded, self._label)
        self._asked = questions(recorded.events)

    @cached_property
    def _asks(self) -> tuple[str, ...]:
        """Keys of the questions that the recording leaves open."""
        recorded = self._recorded
        view = recorded.workflow.shown.view(recorded.session.state)
        return tuple(question.id for question in view.questions)

    def case(self, made: Made) -> Case:
        """What came of it: each side is what most of its runs come to."""
        runs = self._runs
        changed = self._played(runs.change, runs.repeat)
        asks_both = runs.asks_both and not changed[-1].needed
        unchanged = self._played(RunChange(), runs.repeat) if asks_both else []
        after = majority([one.side for one in changed]) or changed[0].side
        if needed := next((one for one in (*changed, *unchanged) if one.needed), None):
            most = calls_of(runs, self._recorded)
            return made(
                outcome="open",
                message=f"{needed.child.stopped}; the session takes at most {most} calls",
                recorded=self._before,
                candidate=replace(after, valid=None, agrees=None),
                assumed=changed[0].assumed,
                calls_needed=most,
            )
        base, ran = _usual(unchanged) if unchanged else None, _usual(changed)
        before = majority([one.side for one in unchanged]) or self._before
        found, word, message = self._outcome(base, ran, before, after)
        noise = noise_of([one.side for one in unchanged if not lacks_answer(one.side)])
        if noise and (noise.agreement or noise.validity) and word not in ("open", "faulted"):
            word = "flaky"
        case = made(
            outcome=word,
            measures=found,
            message=message,
            recorded=before,
            candidate=after,
            drift=self._drift(base, ran),
            noise=noise,
            assumed=changed[0].assumed,
        )
        if word == "same" or lacks_answer(before) or lacks_answer(after):
            return case
        shown = self._differences(base, ran)
        return replace(
            case,
            causes=() if word == "flaky" else self._causes(base, ran),
            differences=shown[:DIFFERENCES_MAX],
            difference_count=len(shown),
            rest_digest=rest_digest(shown[DIFFERENCES_MAX:]),
        )

    def _played(self, change: RunChange, runs: int) -> list[ChildRun]:
        """Runs of one side; one that no model may answer is the last."""
        found: list[ChildRun] = []
        while len(found) < runs and not (found and found[-1].needed):
            ran = self._runs.ran(self._recorded, change, self._label)
            ends = ran.child.fault is not None or self._is_open(ran)
            side = replace(ran.side, valid=None, agrees=None) if ends else ran.side
            found.append(ran._replace(side=side))
        return found

    def _is_open(self, ran: ChildRun) -> bool:
        asks = bool(ran.child.questions()) and not self._asks
        return bool(ran.child.stopped) or asks

    def _outcome(
        self, base: ChildRun | None, ran: ChildRun, before: RunMeasures, after: RunMeasures
    ) -> tuple[tuple[Measure, ...], Outcome, str]:
        child = ran.child
        if child.fault is not None:
            return (), "faulted", fault_words(child.fault)
        for side, name in ((after, "the changed side"), (before, "the unchanged side")):
            if lacks_answer(side):
                return (), "open", f"{name} had no response: {side.failure}"
        if child.stopped:
            return (), "open", child.stopped
        if self._is_open(ran):
            asks = ", ".join(question.id for question in child.questions())
            return (), "open", f"the log has no answer to {asks}"
        asked, whole = (self._asked, self._before) if base is None else (base.questions, base.side)
        found = measures(whole, ran.side, asked, ran.questions)
        return found, outcome(before, after, found), ""

    def _drift(self, base: ChildRun | None, ran: ChildRun) -> Drift:
        """Of two sides that were asked, those that differ from the recording.

        By result and validity first: the words of a question differ more often.
        """
        if base is None or not base.side.asked or lacks_answer(base.side) or lacks_answer(ran.side):
            return ""
        sides = [
            measures(self._before, one.side, self._asked, one.questions) for one in (base, ran)
        ]
        for kinds in (("validity", "result"), BUT_COST):
            unchanged, changed = (any(one in kinds for one in side) for side in sides)
            if unchanged != changed:
                return "unchanged" if unchanged else "changed"
            if unchanged:
                return "both"
        return ""

    def _differences(self, base: ChildRun | None, ran: ChildRun) -> tuple[ValueDifference, ...]:
        workflow = self._recorded.workflow
        session = self._recorded.session if base is None else base.child.handle.session
        events = self._recorded.events if base is None else base.events
        before = describe_session_outcome(workflow, session, events)
        after = describe_session_outcome(workflow, ran.child.handle.session, ran.events)
        return value_differences(before, after)

    # Causes ----------------------------------------------------------------------------------

    def _causes(self, asked: ChildRun | None, ran: ChildRun) -> tuple[Cause, ...]:
        """First what today's code does of itself, then each change alone, then all together.

        Args:
            asked: the unchanged side, where a model was asked for it.
        """
        base = self._unchanged()
        causes: list[Cause] = []
        if base is not None and self._differs(None, base):
            causes.append(code_or_data("without the change it differs, too"))
        base = asked or base
        if not self._differs(base, ran):
            return tuple(causes)
        touching = touching_of(self._runs.change, self._recorded)
        if len(touching) == 1:
            return (*causes, self._cause(touching[0], base, ran))
        return (*causes, *self._of_several(touching, base))

    def _of_several(self, touching: Sequence[ChangePart], base: ChildRun | None) -> list[Cause]:
        found, unknown = [], False
        for part in touching:
            alone = self._runs.ran(self._recorded, part.change, self._label)
            if alone.needed:
                unknown = True
            elif self._differs(base, alone):
                found.append(self._cause(part, base, alone))
        if unknown:
            what = "each change alone was not run: a model would have to be asked"
            return [*found, Cause(kind="unexplained", detail=what)]
        return found or [Cause(kind=p.kind, detail=p.words, together=True) for p in touching]

    def _cause(self, part: ChangePart, base: ChildRun | None, ran: ChildRun) -> Cause:
        """The change, where the requests show it."""
        before = base.events if base is not None else self._recorded.events
        said = request_causes(before, ran.events)
        if not said:
            return Cause(kind="unexplained", detail=f"{part.words}: the requests are the same")
        return Cause(kind=part.kind, detail=detail_of(part.kind, said) or part.words)

    def _unchanged(self) -> ChildRun | None:
        """The unchanged session by today's code; None where that is what was recorded."""
        replay = self._replayer.replay(self._recorded.stored)
        is_recorded = replay.status == "identical" and not (replay.undecided or replay.generation)
        if is_recorded:
            return None
        return self._runs.ran(self._recorded, RunChange(), self._label, hears=True)

    def _differs(self, base: ChildRun | None, ran: ChildRun) -> bool:
        """Whether a run comes to something else than another; None stands for the recording."""
        if base is None:
            found = measures(self._before, ran.side, self._asked, ran.questions)
            return bool(found) or ran.ended != (False, False, self._asks)
        is_other = bool(measures(base.side, ran.side, base.questions, ran.questions))
        return is_other or base.ended != ran.ended


# Several of them ------------------------------------------------------------------------------

BUT_COST: Final = ("validity", "questions", "turns", "result", "fallback")
"""All measures but what a run costs."""


def lacks_answer(side: RunMeasures) -> bool:
    """Whether nothing is known of a side, since a model was asked and brought nothing."""
    return bool(side.failure) and (side.agrees, side.valid) == (None, None)


def _usual_of(sides: Sequence[RunMeasures]) -> int:
    """The place of the first run with the most frequent result."""
    keys = [(one.agrees, one.valid, one.result) for one in sides]
    return keys.index(max(keys, key=keys.count))


def _usual(runs: Sequence[ChildRun]) -> ChildRun:
    return runs[_usual_of([one.side for one in runs])]


def majority(sides: Sequence[RunMeasures]) -> RunMeasures | None:
    """What more than half of the runs of one side say of each measure; None without runs."""
    if not sides:
        return None
    return replace(
        sides[_usual_of(sides)],
        agrees=_majority_of_runs([one.agrees for one in sides]),
        valid=_majority_of_runs([one.valid for one in sides]),
        asked=sum(one.asked for one in sides),
        unanswered=sum(one.unanswered for one in sides),
        failure=next((one.failure for one in sides if one.failure), ""),
    )


def _majority_of_runs(said: Sequence[bool | None]) -> bool | None:
    return next((one for one in (True, False) if 2 * said.count(one) > len(said)), None)


def noise_of(sides: Sequence[RunMeasures]) -> Noise | None:
    """How often two runs of one side, one after the other, differ; None of one run."""
    pairs = [*pairwise(sides)]
    if not pairs:
        return None
    return Noise(
        runs=len(sides),
        agreement=sum(one.result != other.result for one, other in pairs) / len(pairs),
        validity=sum(one.valid != other.valid for one, other in pairs) / len(pairs),
    )


# Two of them ---------------------------------------------------------------------------------


def measures(
    before: RunMeasures, after: RunMeasures, asked: Sequence[Question], asks: Sequence[Question]
) -> tuple[Measure, ...]:
    """What differs between two runs; what one of them does not know does not differ.

    Args:
        asked: the questions of the one run.
        asks: those of the other.
    """
    found: dict[Measure, bool] = {
        "validity": _both_differ(before.valid, after.valid),
        "questions": list(asked) != list(asks),
        "turns": before.turns != after.turns,
        "result": before.result != after.result,
        "fallback": before.fallbacks != after.fallbacks,
        "tokens": _both_differ(before.tokens, after.tokens),
        "cost": _both_differ(before.cost, after.cost),
    }
    return tuple(name for name, differs in found.items() if differs)


def _both_differ(before: float | None, after: float | None) -> bool:
    return None not in (before, after) and before != after


def outcome(before: RunMeasures, after: RunMeasures, changed: Sequence[Measure]) -> Outcome:
    """`same`, `changed`, `failed` or `fixed`; one that is both lost and won has failed."""
    pairs = ((before.agrees, after.agrees), (before.valid, after.valid))
    if any(was is True and now is False for was, now in pairs):
        return "failed"
    if any(was is False and now is True for was, now in pairs):
        return "fixed"
    return "changed" if changed else "same"
