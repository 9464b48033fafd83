"""Sessions that only a model can go on with: it is asked in this process, and counted before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.engine.change import Change
from preflights_es.features.regress.engine.engine import Regression
from preflights_es.features.regress.engine.results import Case
from preflights_es.features.regress.use.kept_results import KeptResults
from preflights_es.features.regress.use.reading import Read
from preflights_es.features.regress.use.run import Run
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.ports import Provider
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.use.leads import Leads
from preflights_es.use.replays import own_code
from preflights_es.use.usage import price


class Announced(msgspec.Struct, frozen=True):
    """What models will be asked, at most."""

    sessions: int
    calls: int
    cost: float | None
    """As the recorded calls cost, in the currency of the settings; None where no price is set."""
    currency: str


Announce = Callable[[Announced], None]


class Live:
    """Asks models what the recording does not say: of both sides, unless the recording is one."""

    def __init__(
        self,
        leads: Leads,
        change: Change,
        calls_max: int | None,
        repeat: int,
        *,
        keeps_recording: bool,
    ) -> None:
        """Args:
        repeat: how often each side is asked.
        """
        self._leads = leads
        self._change = change
        prices = [price(table) for table in leads.settings.prices]
        self._regression = Regression(
            *(WORKFLOWS, own_code(), change, prices, self._model, calls_max),
            repeat=repeat,
            keeps_recording=keeps_recording,
        )

    def judge(self, run: Run, announce: Announce, kept: KeptResults, *, resumes: bool) -> None:
        """Judge again what is open for want of a model.

        Args:
            kept: what came of sessions when a model was asked.
            resumes: whether that does, in place of asking again.
        """
        with self._regression:
            reads = list(run.again([case for case in run.cases if case.calls_needed]))
            known = kept.known([one.digest for _, one in reads]) if resumes else {}
            asked = [one for _, one in reads if one.digest not in known]
            told = self._announced(run.cases, asked)
            if told.calls:
                announce(told)
            sources = ((known.get(one.digest), one.source) for _, one in reads)
            run.instead(replace(case, source=source) for case, source in sources if case)
            run.instead(self._asked(kept, asked))

    def _asked(self, kept: KeptResults, sessions: Iterable[Read]) -> Iterator[Case]:
        for one in sessions:
            case = self._regression.case(one.events, one.head, one.source)
            if isinstance(case, Case):
                kept.keep([(one.digest, case)])
                yield case

    def _announced(self, cases: Sequence[Case], asked: Sequence[Read]) -> Announced:
        calls = sum(self._regression.calls(one.events, one.head) for one in asked)
        sides = [case.recorded for case in cases if case.recorded is not None]
        known = [side for side in sides if side.cost is not None and side.calls]
        made = sum(side.calls for side in known)
        cost = sum(side.cost or 0.0 for side in known) / made * calls if made else None
        currencies = {table.currency for table in self._leads.settings.prices}
        return Announced(len(asked), calls, cost, "/".join(sorted(currencies)))

    def _model(self, request: CompletionRequested) -> Provider:
        leads, provider = self._leads, request.provider
        address = self._change.address if provider == self._change.provider else ""
        address = address or leads.address_for(None, provider)
        lead = Lead(provider, request.model, request.parameters, address=address)
        return leads.provider_for(lead)
