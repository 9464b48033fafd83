"""Pairs that another feature offers, such as calls of any program: their cases, and what a report
of them must not hold. `children.py` has the pairs of our own workflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from preflights_es.features.regress.batches import ReadSession
from preflights_es.features.regress.cases import (
    DIFFERENCES_MAX,
    ERASED,
    Made,
    begin_session_case,
    rest_digest,
    value_differences,
)
from preflights_es.features.regress.regression import judge_or_say_why
from preflights_es.features.regress.results import (
    Case,
    Cause,
    Outcome,
    Report,
    RunMeasures,
    SessionLeftOut,
)
from preflights_es.features.regress.selection import PAIRS
from preflights_es.history.recording import recording
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.store.stored_events import erased_before
from preflights_es.use.request import Request
from preflights_es.words.pairs import PairsAsked, PairSide, SessionPair, SessionPairs

COPY: Final = "a copy of another session"
WORDS_LEFT_OUT: Final = "(words are left out)"


class PairedRun:
    """Judges sessions by the pairs that the feature of their workflow offers."""

    def __init__(self, request: Request, workflow: str, asked: PairsAsked) -> None:
        """Raises:
        Refused, SettingsError: the change cannot be made.
        """
        feature = FEATURES[workflow]
        self._workflow = workflow
        self._waiting: list[Made] = []
        self.pairs: SessionPairs = feature.loaded(feature.offers[PAIRS])(request, asked)

    def read(self, sessions: Iterable[ReadSession | Case]) -> Iterator[Case | SessionLeftOut]:
        """Take the sessions whose pairs are asked for, and give what comes of all others."""
        seen: set[tuple[str, bytes]] = set()
        for one in sessions:
            if isinstance(one, Case):
                yield one
                continue
            made, last = begin_session_case(one.events, one.source), one.events[-1]
            is_copy = (last.session_id, last.hash) in seen
            seen.add((last.session_id, last.hash))
            taking = partial(self._taken, one.events, one.head)
            found = COPY if is_copy else judge_or_say_why(taking, made)
            if isinstance(found, Case):
                yield found
            elif found:
                yield SessionLeftOut(session_id=last.session_id, source=one.source, why=found)
            else:
                self._waiting.append(made)

    def judged(self, update: Callable[[int], object]) -> Iterator[Case]:
        """What comes of the sessions that were taken.

        Args:
            update: takes how many more are done.
        """
        for pair in self.pairs.judged(update):
            yield self._case(self._waiting[pair.taken], pair)

    def _taken(self, stored: Sequence[Stored], head: bytes | None) -> str:
        if erased_before(stored):
            return ERASED
        read = recording(WORKFLOWS, stored, head)
        if read.workflow.name != self._workflow:
            return f"it is of another workflow than {self._workflow}"
        last = stored[-1]
        return self.pairs.take(last.session_id, read.events)

    def _case(self, made: Made, pair: SessionPair) -> Case:
        before, after = pair.unchanged, pair.changed
        shown = value_differences({"calls": before.differing}, {"calls": after.differing})
        named = self.pairs.changes if shown else ()
        return made(
            call=pair.call,
            outcome=_outcome_of_pair(pair),
            measures=("result",) if shown else (),
            causes=tuple(Cause(kind=k, detail=d, together=len(named) > 1) for k, d in named),
            differences=shown[:DIFFERENCES_MAX],
            difference_count=len(shown),
            rest_digest=rest_digest(shown[DIFFERENCES_MAX:]),
            message=_why_pair_is_open(pair),
            recorded=_measures_of(before),
            candidate=_measures_of(after),
            drift=pair.drift,
            live_calls=before.asked + after.asked,
            calls_needed=pair.calls_needed,
            is_undecided=pair.is_undecided,
            intention=pair.title if shown else "",
        )

    def finished(self, report: Report) -> Report:
        """The report, with what a reader has to know; the run is over."""
        self.pairs.end(is_decided=report.verdict.word in ("PASS", "BLOCK"))
        return replace(report, notes=self.pairs.notes())


def _outcome_of_pair(pair: SessionPair) -> Outcome:
    sides = (pair.unchanged.agrees, pair.changed.agrees)
    if sides in ((True, False), (False, True)):
        return "failed" if pair.unchanged.agrees else "fixed"
    if _why_pair_is_open(pair):
        return "open"
    return "changed" if pair.changed.differing else "same"


def _why_pair_is_open(pair: SessionPair) -> str:
    for side, name in ((pair.changed, "the changed side"), (pair.unchanged, "the unchanged side")):
        if side.failure:
            return f"{name} had no response: {side.failure}"
    if not pair.calls_needed:
        return ""
    return f"a model would have to be asked, calls: {pair.calls_needed}"


def _measures_of(side: PairSide) -> RunMeasures:
    return RunMeasures(
        valid=None,
        agrees=side.agrees,
        result=side.result,
        questions=0,
        turns=0,
        fallbacks=0,
        calls=side.calls,
        tokens=side.tokens,
        cost=side.cost,
        asked=side.asked,
        unanswered=side.unanswered,
        failure=side.failure,
    )


def report_without_words(report: Report) -> Report:
    """A report of pairs that names calls, and holds no word that was sent to a model or came back.

    What a provider says of a failure may repeat a request, so it goes, too.
    """
    failures = {
        side.failure
        for case in report.cases
        for side in (case.recorded, case.candidate)
        if side is not None and side.failure
    }

    def without_failures(text: str) -> str:
        for failure in sorted(failures, key=len, reverse=True):
            text = text.replace(failure, WORDS_LEFT_OUT)
        return text

    def without_failure(side: RunMeasures | None) -> RunMeasures | None:
        return side and replace(side, failure=without_failures(side.failure))

    cases = tuple(
        replace(
            case,
            intention="",
            message=without_failures(case.message),
            differences=tuple(
                replace(one, expected=_size_of(one.expected), actual=_size_of(one.actual))
                for one in case.differences
            ),
            recorded=without_failure(case.recorded),
            candidate=without_failure(case.candidate),
        )
        for case in report.cases
    )
    verdict = replace(report.verdict, figures=without_failures(report.verdict.figures))
    return replace(report, cases=cases, verdict=verdict)


def _size_of(value: object) -> str:
    """How long an answer is, to a power of two: of `yes` and `no` the length says which."""
    size = len(str(value))
    return f"less than {2 ** max(5, math.ceil(math.log2(size + 1)))} characters"
