"""A child beside its recording: the measures of both, the outcome, and causes of a difference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from preflights_es.features.regress.change import Change, Part, parts, touches
from preflights_es.features.regress.children import NO_MORE, Ran, Runs, questions
from preflights_es.features.regress.results import (
    Case,
    Cause,
    Difference,
    Measure,
    Noise,
    Outcome,
    Side,
)
from preflights_es.features.regress.strict import (
    DIFFERENCES_MAX,
    ERASED,
    Made,
    code_or_data,
    detail_of,
    fault_words,
    request_causes,
)
from preflights_es.history.child import fault_of
from preflights_es.history.recording import Recording
from preflights_es.history.replayer import Replayer
from preflights_es.history.report import changes, told
from preflights_es.history.whatif import Otherwise, calls_max
from preflights_es.kernel.errors import SessionFaulted
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.questions import Question
from preflights_es.store.chain import erased_before

UNTOUCHED: Final = "the change does not touch who leads it"


def judged(
    runs: Runs,
    replayer: Replayer,
    stored: Sequence[Stored],
    head: bytes | None,
    made: Made,
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


def touching_of(change: Change, recorded: Recording) -> Sequence[Part]:
    """The changes that are something to who leads the session."""
    found = parts(change)
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
        self._label = workflow.reached(state)
        self._before = runs.side(recorded, self._label)
        self._asked = questions(recorded.events)

    @cached_property
    def _asks(self) -> tuple[str, ...]:
        """Keys of the questions that the recording leaves open."""
        recorded = self._recorded
        view = recorded.workflow.view(recorded.session.state)
        return tuple(question.id for question in view.questions)

    def case(self, made: Made) -> Case:
        """What came of it; where a model is asked, each side is what most of its runs come to."""
        case, after = self._once(made)
        if case.calls_needed or not (self._runs.asks_both or self._runs.repeat > 1):
            return case
        sides = [after, *self._sides(self._runs.change, self._runs.repeat - 1)]
        unchanged = self._sides(Change(), self._runs.repeat) if self._runs.asks_both else []
        if None in sides or None in unchanged:
            most = self._most()
            return replace(
                case,
                outcome="open",
                message=f"{NO_MORE}, at most {most} calls",
                candidate=replace(after, valid=None, agrees=None),
                calls_needed=most,
            )
        before, after = majority(unchanged) or self._before, majority(sides) or after
        word = case.outcome
        if word != "faulted" and (after.agrees, after.valid) != (None, None):
            word = outcome(before, after, case.measures)
        return replace(
            case, outcome=word, recorded=before, candidate=after, noise=noise_of(unchanged)
        )

    def _sides(self, change: Change, runs: int) -> list[Side | None]:
        """What runs come to; None, which ends them, where no more calls may be made."""
        found: list[Side | None] = []
        while len(found) < runs and None not in found:
            ran = self._runs.ran(self._recorded, change, self._label)
            found.append(None if ran.needed else self._side(ran, self._outcome(ran)[1]))
        return found

    def _side(self, ran: Ran, word: Outcome) -> Side:
        """Of a run that did not end, nothing is known."""
        is_whole = word not in ("open", "faulted")
        return ran.side if is_whole else replace(ran.side, valid=None, agrees=None)

    def _once(self, made: Made) -> tuple[Case, Side]:
        """One run with the change, beside the recording."""
        ran = self._runs.ran(self._recorded, self._runs.change, self._label)
        found, word, message = self._outcome(ran)
        after = self._side(ran, word)
        case = made(
            outcome=word,
            measures=found,
            message=message,
            recorded=self._before,
            candidate=after,
            assumed=ran.assumed,
            calls_needed=self._most() if ran.needed else 0,
        )
        if word == "same" or ran.needed:
            return case, after
        shown = self._differences(ran)
        case = replace(
            case,
            causes=self._causes(ran),
            differences=shown[:DIFFERENCES_MAX],
            difference_count=len(shown),
        )
        return case, after

    def _outcome(self, ran: Ran) -> tuple[tuple[Measure, ...], Outcome, str]:
        child = ran.child
        found = measures(self._before, ran.side, self._asked, ran.questions)
        if child.fault is not None:
            return (), "faulted", fault_words(child.fault)
        if ran.needed:
            return (), "open", f"{child.stopped}, at most {self._most()} calls"
        if child.stopped:
            return (), "open", child.stopped
        asks = [question.id for question in child.questions()]
        if asks and not self._asks:
            return (), "open", f"the log has no answer to {', '.join(asks)}"
        return found, outcome(self._before, ran.side, found), ""

    def _most(self) -> int:
        return calls_of(self._runs, self._recorded)

    def _differences(self, ran: Ran) -> tuple[Difference, ...]:
        recorded, workflow = self._recorded, self._recorded.workflow
        before = told(workflow, recorded.session, recorded.events)
        after = told(workflow, ran.child.handle.session, ran.events)
        return tuple(
            Difference(
                version=0, type="", pointer=one.pointer, expected=one.recorded, actual=one.child
            )
            for one in changes(before, after)
        )

    # Causes ----------------------------------------------------------------------------------

    def _causes(self, ran: Ran) -> tuple[Cause, ...]:
        """First what today's code does of itself, then each change alone, then all together."""
        base = self._unchanged()
        causes: list[Cause] = []
        if base is not None and self._differs(None, base):
            causes.append(code_or_data("without the change it differs, too"))
        if not self._differs(base, ran):
            return tuple(causes)
        touching = touching_of(self._runs.change, self._recorded)
        if len(touching) == 1:
            return (*causes, self._cause(touching[0], base, ran))
        return (*causes, *self._of_several(touching, base))

    def _of_several(self, touching: Sequence[Part], base: Ran | None) -> list[Cause]:
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

    def _cause(self, part: Part, base: Ran | None, ran: Ran) -> Cause:
        """The change, where the requests show it."""
        before = base.events if base is not None else self._recorded.events
        said = request_causes(before, ran.events)
        if not said:
            return Cause(kind="unexplained", detail=f"{part.words}: the requests are the same")
        return Cause(kind=part.kind, detail=detail_of(part.kind, said) or part.words)

    def _unchanged(self) -> Ran | None:
        """The unchanged session by today's code; None where that is what was recorded."""
        replay = self._replayer.replay(self._recorded.stored)
        is_recorded = replay.status == "identical" and not (replay.undecided or replay.generation)
        if is_recorded:
            return None
        return self._runs.ran(self._recorded, Change(), self._label, hears=True)

    def _differs(self, base: Ran | None, ran: Ran) -> bool:
        """Whether a run comes to something else than another; None stands for the recording."""
        if base is None:
            found = measures(self._before, ran.side, self._asked, ran.questions)
            return bool(found) or ran.ended != (False, False, self._asks)
        is_other = bool(measures(base.side, ran.side, base.questions, ran.questions))
        return is_other or base.ended != ran.ended


# Several of them ------------------------------------------------------------------------------


def majority(sides: Sequence[Side | None]) -> Side | None:
    """What more than half of the runs of one side say of each measure; None without runs."""
    known = [one for one in sides if one is not None]
    if not known:
        return None
    agrees, valid = _most([s.agrees for s in known]), _most([s.valid for s in known])
    usual = next((s for s in known if (s.agrees, s.valid) == (agrees, valid)), known[0])
    return replace(usual, agrees=agrees, valid=valid)


def _most(said: Sequence[bool | None]) -> bool | None:
    return next((one for one in (True, False) if 2 * said.count(one) > len(said)), None)


def noise_of(sides: Sequence[Side | None]) -> Noise | None:
    """How often two runs of one side, one after the other, differ; None of one run."""
    pairs = [(one, other) for one, other in pairwise(sides) if one and other]
    if not pairs:
        return None
    return Noise(
        runs=len(sides),
        agreement=sum(one.result != other.result for one, other in pairs) / len(pairs),
        validity=sum(one.valid != other.valid for one, other in pairs) / len(pairs),
    )


# Two of them ---------------------------------------------------------------------------------


def measures(
    before: Side, after: Side, asked: Sequence[Question], asks: Sequence[Question]
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
        "tokens": before.tokens != after.tokens,
        "cost": _both_differ(before.cost, after.cost),
    }
    return tuple(name for name, differs in found.items() if differs)


def _both_differ(before: float | None, after: float | None) -> bool:
    return None not in (before, after) and before != after


def outcome(before: Side, after: Side, changed: Sequence[Measure]) -> Outcome:
    """`same`, `changed`, `failed` or `fixed`; one that is both lost and won has failed."""
    pairs = ((before.agrees, after.agrees), (before.valid, after.valid))
    if any(was is True and now is False for was, now in pairs):
        return "failed"
    if any(was is False and now is True for was, now in pairs):
        return "fixed"
    return "changed" if changed else "same"
