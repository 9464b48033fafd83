"""Sessions run again: with a change, as they are, or against models that may be asked."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from preflights_es.features.regress.engine.candidate import Answerer, Budget, Playing
from preflights_es.features.regress.engine.change import Change, simulated, words
from preflights_es.features.regress.engine.results import Side
from preflights_es.features.regress.engine.sides import questions, side_of
from preflights_es.history.child import Child
from preflights_es.history.recording import Code, Reasking, Recording, driven, recording
from preflights_es.history.whatif import Misused
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.events import Event
from preflights_es.kernel.ports import Provider, Stored
from preflights_es.kernel.questions import Question, Reached
from preflights_es.kernel.session import Workflow

if TYPE_CHECKING:
    import asyncio

    from preflights_es.history.recording import Models
    from preflights_es.projections.usage import Price

T = TypeVar("T")


class Ran(NamedTuple):
    """One run of a session."""

    side: Side
    events: Sequence[Event]
    questions: Sequence[Question]
    child: Child
    assumed: tuple[str, ...]
    """Keys of questions that were answered with what was accepted."""
    needed: bool
    """Whether only a model could go on."""

    @property
    def ended(self) -> tuple[bool, bool, tuple[str, ...]]:
        """How it ended: with a fault, for want of a response, or with questions."""
        asks = tuple(question.id for question in self.child.questions())
        return self.child.fault is not None, bool(self.child.stopped), asks


class Runs:
    """Runs sessions, one after the other."""

    def __init__(
        self,
        workflows: Mapping[str, Workflow[Any]],
        code: Code,
        change: Change,
        prices: Sequence[Price],
        models: Models | None,
        most: int | None,
        *,
        repeat: int = 1,
        keeps_recording: bool = False,
    ) -> None:
        self.change = change
        self.repeat = repeat
        self.keeps_recording = keeps_recording
        self._workflows = workflows
        self._reasking = Reasking(code)
        self._prices = prices
        self._models = models
        self._budget = Budget(most)
        self._providers: dict[tuple[object, ...], Provider] = {}
        self._loop: asyncio.Runner | None = None
        try:
            code.made(simulated(change))
        except LogDamaged as error:  # what the simulator does not take is no session's fault
            raise Misused(str(error)) from error

    @property
    def calls(self) -> int:
        """Of models, so far."""
        return self._budget.made

    @property
    def asks_both(self) -> bool:
        """Whether a model is asked for both sides, also what it answered already."""
        return self._models is not None and not self.keeps_recording

    def recording(self, stored: Sequence[Stored], head: bytes | None) -> Recording:
        """As `replay.recording`."""
        return recording(self._workflows, stored, head)

    def ran(
        self, recorded: Recording, change: Change, label: Reached, *, hears: bool = False
    ) -> Ran:
        """A child with a change; none is the unchanged side.

        Args:
            hears: whether it hears what was recorded, and no model is asked.
        """
        unchanged = change == Change()
        anew = self.asks_both and not hears
        answerer = Answerer(
            recorded,
            self._reasking,
            None if hears or self._models is None else self._asked,
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
        assumed = tuple(playing.assumed)
        return Ran(side, events, questions(events), child, assumed, answerer.needed)

    def child(self, stored: Sequence[Stored], head: bytes | None) -> tuple[Stored, ...]:
        """As `Regression.child`."""
        recorded = recording(self._workflows, stored, head)
        label = recorded.workflow.reached(recorded.session.state)
        return self.ran(recorded, self.change, label).child.stored

    def side(self, recorded: Recording, label: Reached) -> Side:
        """What a recorded session comes to."""
        session, events = recorded.session, recorded.events
        return side_of(recorded.workflow, session, events, label, self._prices)

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
