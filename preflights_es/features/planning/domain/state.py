"""What the log of a day plan folds to."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from preflights_es.features.planning.domain.events import (
    BlockClosed,
    ChangeRefused,
    PlanAsked,
    PlanAskedAgain,
    PlanMade,
)
from preflights_es.features.planning.domain.values import Plan, Situation
from preflights_es.kernel import lead as leading
from preflights_es.kernel.events import Event, Input
from preflights_es.kernel.lead import Led
from preflights_es.kernel.questions import Language


class State(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    situation: Situation | None = None
    """That of the newest plan that was asked for."""
    language: Language = "en"
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: Led = Led()
    plan: Plan | None = None
    suggested: Plan | None = None
    """As the rules or a model made it, before a person chose otherwise."""
    done: frozenset[str] = frozenset()
    """Ids of tasks that were finished in this session."""
    replans: int = 0


def is_terminal(state: State) -> bool:  # noqa: ARG001  the same shape in every workflow
    """Never: a block can be done, and the day planned again."""
    return False


def evolve(state: State, event: Event) -> State:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _after_input(state, event)
    match event:
        case ChangeRefused():
            return state
        case PlanMade(plan=plan):
            suggested = state.suggested if plan.source == "person" else plan
            return replace(counted(state), plan=plan, suggested=suggested)
        case BlockClosed(task_id=task_id):
            return replace(state, done=state.done | {task_id})
        case _:
            now = counted(state)
            led = leading.after(now.led, state.input, event)
            return now if led is now.led else replace(now, led=led)


def counted(state: State) -> State:
    """With the situation and the lead of a replan, which count once something follows from it."""
    new = state.input
    if not isinstance(new, PlanAskedAgain):
        return state
    was = state.led
    led = Led(new.lead, new.prompts, was.candidates, steps=was.steps, calls=was.calls)
    replans = state.replans + (not new.changed)
    # What was planned before follows from another situation.
    return replace(state, situation=new.situation, input=None, led=led, plan=None, replans=replans)


def _after_input(state: State, new: Input) -> State:
    if isinstance(new, PlanAsked) and state.situation is None:
        return replace(
            state,
            situation=new.situation,
            language=new.language,
            input=new,
            led=leading.opened(new.setup),
        )
    return replace(state, input=new)
