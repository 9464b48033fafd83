"""Sessions that only a model can go on with: it is asked in this process, and counted before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from preflights_es.core.completions import CompletionRequested
from preflights_es.core.lead import Lead
from preflights_es.core.ports import Provider
from preflights_es.replay.regress.change import Change
from preflights_es.replay.regress.engine import Regression
from preflights_es.replay.regress.results import Case, Noise, Side
from preflights_es.runtime.registry import WORKFLOWS
from preflights_es.services.leads import Leads
from preflights_es.services.regression.kept_results import KeptResults
from preflights_es.services.regression.reading import Read
from preflights_es.services.regression.run import Run
from preflights_es.services.replays import own_code
from preflights_es.services.usage import price


class Announced(msgspec.Struct, frozen=True):
    """What models will be asked, at most."""

    sessions: int
    calls: int
    cost: float | None
    """As the recorded calls cost, in the currency of the settings; None where no price is set."""
    currency: str


Announce = Callable[[Announced], None]


class Live:
    """Asks models what the recording does not say."""

    def __init__(
        self,
        leads: Leads,
        change: Change,
        calls_max: int | None,
        runs: int,
        *,
        is_live: bool,
    ) -> None:
        """Args:
        runs: of the unchanged side, for the noise of a provider.
        """
        self._leads = leads
        self._change = change
        self._is_live = is_live
        self._runs = runs
        prices = [price(table) for table in leads.settings.prices]
        models = self._model if is_live else None
        self.unchanged: dict[tuple[str, str], Side] = {}
        """By source and session: what the unchanged side came to when it was asked anew.

        A change that is asked is compared with this: people accept what a model said once, and
        what it says again differs from that by chance, with the change or without.
        """
        self._regression = Regression(
            *(WORKFLOWS, own_code(), change, prices, models, calls_max), anew=runs > 0
        )

    def judged(
        self, run: Run, announce: Announce, kept: KeptResults, *, resumes: bool
    ) -> Noise | None:
        """Judge again what is open for want of a model, and run the unchanged side.

        Args:
            kept: what came of sessions when a model was asked.
            resumes: whether that does, in place of asking again.
        """
        with self._regression:
            waiting = [case for case in run.cases if case.calls_needed]
            reads = list(run.again(waiting)) if self._is_live else []
            known = kept.known([one.digest for _, one in reads]) if resumes else {}
            asked = [(case, one) for case, one in reads if one.digest not in known]
            told = self._announced(run.cases, [case for case, _ in asked])
            if self._is_live and told.calls:
                announce(told)
            sources = ((known.get(one.digest), one.source) for _, one in reads)
            run.instead(replace(case, source=source) for case, source in sources if case)
            run.instead(self._asked(kept, [one for _, one in asked]))
            changed = {(one.source, one.session_id) for one in waiting}
            return self._noise(run, changed) if self._runs else None

    def _asked(self, kept: KeptResults, sessions: Iterable[Read]) -> Iterator[Case]:
        for one in sessions:
            case = self._regression.case(one.events, one.head, one.source)
            if isinstance(case, Case):
                kept.keep([(one.digest, case)])
                yield case

    def _announced(self, cases: Sequence[Case], waiting: Sequence[Case]) -> Announced:
        sides = [case.recorded for case in cases if case.recorded is not None]
        calls = sum(case.calls_needed for case in waiting)
        calls += self._runs * sum(side.calls for side in sides)
        known = [side for side in sides if side.cost is not None and side.calls]
        made = sum(side.calls for side in known)
        cost = sum(side.cost or 0.0 for side in known) / made * calls if made else None
        currencies = {table.currency for table in self._leads.settings.prices}
        again = {id(case) for case in cases if self._runs and case.recorded and case.recorded.calls}
        sessions = len(again | set(map(id, waiting)))
        return Announced(sessions, calls, cost, "/".join(sorted(currencies)))

    def _noise(self, run: Run, asked: Collection[tuple[str, str]]) -> Noise | None:
        """How often two runs of the same do not come to the same."""
        judged = [case for case in run.cases if case.candidate is not None]
        runs = {
            (case.source, case.session_id): self._regression.sides(o.events, o.head, self._runs)
            for case, o in run.again(judged)
        }
        self.unchanged = {key: sides[0] for key, sides in runs.items() if sides and key in asked}
        pairs = [pair for sides in runs.values() for pair in pairwise(sides)]
        if not pairs:
            return None
        return Noise(
            runs=self._runs,
            agreement=_share(pairs, lambda side: side.result),
            validity=_share(pairs, lambda side: side.valid),
        )

    def _model(self, request: CompletionRequested) -> Provider:
        leads, provider = self._leads, request.provider
        address = self._change.address if provider == self._change.provider else ""
        address = address or leads.address_for(None, provider)
        lead = Lead(provider, request.model, request.parameters, address=address)
        return leads.provider_for(lead)


def _share(pairs: Sequence[tuple[Side, Side]], of: Callable[[Side], object]) -> float:
    return sum(of(one) != of(other) for one, other in pairs) / len(pairs)
