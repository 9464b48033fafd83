"""Sessions that run again with a change, each beside its recording."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import replace

from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import LogDamaged, SessionFaulted
from preflights_es.core.ports import Provider, Stored
from preflights_es.core.session import Workflow
from preflights_es.core.views import Reached
from preflights_es.replay.child import Child
from preflights_es.replay.faults import fault_of
from preflights_es.replay.recompute import Code, Reasking, driven
from preflights_es.replay.recording import Recording, recording
from preflights_es.replay.regress.attribution import code_or_data
from preflights_es.replay.regress.candidate import Answerer, Budget, Playing
from preflights_es.replay.regress.change import Change, simulated, touches, words
from preflights_es.replay.regress.judging import Judging, Ran
from preflights_es.replay.regress.results import Case, Side
from preflights_es.replay.regress.sides import questions, side_of
from preflights_es.replay.regress.strict import ERASED, Made, fault_words
from preflights_es.replay.replayer import Replayer
from preflights_es.replay.whatif_plan import Misused
from preflights_es.store.chain import erased_before

if TYPE_CHECKING:
    import asyncio

    from preflights_es.projections.usage import Price
    from preflights_es.replay.responders import Models

T = TypeVar("T")

UNTOUCHED: Final = "the change is nothing to who leads it"


class Children:
    """Runs children of sessions, and says what became of them."""

    def __init__(
        self,
        workflows: Mapping[str, Workflow[Any]],
        code: Code,
        change: Change,
        replayer: Replayer,
        prices: Sequence[Price],
        models: Models | None,
        most: int | None,
    ) -> None:
        self.change = change
        self.replayer = replayer
        self._workflows = workflows
        self._reasking = Reasking(code)
        self._prices = prices
        self._models = models
        self._budget = Budget(most)
        self._providers: dict[tuple[object, ...], Provider] = {}
        self._loop: asyncio.Runner | None = None
        self._see_that_it_fits(code)

    def _see_that_it_fits(self, code: Code) -> None:
        """Make the simulator that it asks for: what it does not take is no session's fault.

        Raises:
            Misused: it takes no such seed or faults.
        """
        lead = simulated(self.change)
        try:
            code.made(lead)
        except LogDamaged as error:
            raise Misused(str(error)) from error

    # 1. One session --------------------------------------------------------------------------

    def case(
        self, stored: Sequence[Stored], head: bytes | None, made: Made, recorded_by: bool | None
    ) -> Case | str:
        """As `Regression.case`, of a run with a change; or why it is left out."""
        if stored and erased_before(stored):
            return ERASED
        try:
            recorded = recording(self._workflows, stored, head)
        except SessionFaulted as faulted:
            message = fault_words(fault_of(faulted.version, faulted.error, recorded=False))
            cause = code_or_data(recorded_by, message)
            return made(outcome="faulted", causes=(cause,), message=message)
        inputs = [turn.input for turn in recorded.turns]
        if not touches(inputs, self.change, recorded.workflow):
            return UNTOUCHED
        before = self._budget.made
        case = Judging(self, recorded, recorded_by).case(made)
        return replace(case, live_calls=self._budget.made - before)

    # 2. Running ------------------------------------------------------------------------------

    def ran(
        self, recorded: Recording, change: Change, label: Reached, *, anew: bool = False
    ) -> Ran:
        """A child with a change; none is the unchanged side, on what was recorded."""
        unchanged = change == Change()
        answerer = Answerer(
            recorded,
            self._reasking,
            self._asked if self._models and (anew or not unchanged) else None,
            self._budget,
            by_call=unchanged,
            anew=anew,
        )
        child = Child(recorded, 0, answerer, f"regress {words(change)}")
        playing = Playing(child, change, label)
        self._driven(child.run(playing.play()))
        codec = child.runner.codec(recorded.workflow)
        events = tuple(codec.decode(one) for one in child.stored)
        side = side_of(recorded.workflow, child.handle.session, events, label, self._prices)
        return Ran(side, events, questions(events), child, playing, answerer.needed)

    def child(self, stored: Sequence[Stored], head: bytes | None) -> tuple[Stored, ...]:
        """As `Regression.child`."""
        recorded = recording(self._workflows, stored, head)
        label = recorded.workflow.reached(recorded.session.state)
        return self.ran(recorded, self.change, label).child.stored

    def side(self, recorded: Recording, label: Reached) -> Side:
        """What a recorded session comes to."""
        session, events = recorded.session, recorded.events
        return side_of(recorded.workflow, session, events, label, self._prices)

    def sides(self, stored: Sequence[Stored], head: bytes | None, runs: int) -> tuple[Side, ...]:
        """As `Regression.sides`."""
        if not stored or erased_before(stored):
            return ()
        recorded = recording(self._workflows, stored, head)
        label = recorded.workflow.reached(recorded.session.state)
        found: list[Side] = []
        for _ in range(runs):
            one = self.ran(recorded, Change(), label, anew=True)
            if one.needed or one.child.fault:
                break
            found.append(one.side)
        return tuple(found)

    def _driven(self, running: Coroutine[Any, Any, T]) -> T:
        if self._models is None:
            return driven(running)
        if self._loop is None:
            import asyncio

            self._loop = asyncio.Runner()
        return self._loop.run(running)

    def _asked(self, request: CompletionRequested) -> Provider:
        assert self._models is not None, "looked at before"
        key = (request.provider, request.model, request.parameters)
        if key not in self._providers:
            self._providers[key] = self._models(request)
        return self._providers[key]

    def close(self) -> None:
        """Give back what models hold."""
        if self._loop is None:
            return
        for provider in self._providers.values():
            close = getattr(provider, "aclose", None)  # not part of the port
            if close is not None:
                self._loop.run(close())
        self._loop.close()
