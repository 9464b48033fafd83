"""A workflow that is as small as one can be, and may have a bug.

Said    -> Heard                                what two sessions do at once
Asked   -> CompletionRequested                  what a provider is needed for
        <- CompletionReceived -> Answered
        <- CompletionFailed   -> CompletionRequested, or GaveUp after the second try
Wanted  -> ArtifactDue                          what a file is needed for
        <- ArtifactWritten    -> Filed
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.completions import (
    COMPLETION_EVENTS,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
)
from preflights_es.kernel.events import (
    ARTIFACT_EVENTS,
    Actor,
    ArtifactDue,
    ArtifactWritten,
    Decision,
    Event,
    Input,
    S,
    Typed,
    WrittenFile,
)
from preflights_es.kernel.session import Decider
from preflights_es.words.decisions import Record
from preflights_es.words.questions import Reached
from preflights_es.words.workflow import FiledPart, ShownPart, View, Workflow

CALLS_MAX: Final = 2  # one try, one retry
ADA: Final = Actor("user", "Ada")

# 1. Events -----------------------------------------------------------------------------------


class Said(Input, frozen=True):
    tag: ClassVar[str] = "toy.said.v1"
    typed: ClassVar[Mapping[str, Typed]] = {"text": Typed(20_000, "say something")}
    text: str


class Asked(Input, frozen=True):
    tag: ClassVar[str] = "toy.asked.v1"
    text: str


class Wanted(Input, frozen=True):
    tag: ClassVar[str] = "toy.wanted.v1"
    path: str
    template: str = "task.v1"


class Heard(Decision, frozen=True):
    tag: ClassVar[str] = "toy.heard.v1"
    text: str
    count: int


class Answered(Decision, frozen=True):
    tag: ClassVar[str] = "toy.answered.v1"
    text: str | None


class GaveUp(Decision, frozen=True):
    tag: ClassVar[str] = "toy.gave_up.v1"
    kind: str


class Filed(Decision, frozen=True):
    tag: ClassVar[str] = "toy.filed.v1"
    path: str


# 2. State ------------------------------------------------------------------------------------


class State(msgspec.Struct, frozen=True):
    said: tuple[str, ...] = ()
    asked: str = ""
    calls: int = 0
    attempts: int = 0
    answers: tuple[str | None, ...] = ()
    written: WrittenFile | None = None


def evolve(state: State, event: Event) -> State:
    match event:
        case Said(text=text):
            return replace(state, said=(*state.said, text))
        case Asked(text=text):
            return replace(state, asked=text, attempts=0)
        case CompletionRequested(attempt=attempt):
            return replace(state, calls=state.calls + 1, attempts=attempt)
        case ArtifactDue():
            return replace(state, calls=state.calls + 1)
        case Answered(text=text):
            return replace(state, answers=(*state.answers, text))
        case ArtifactWritten(path=path, sha256=sha256, beside=False):
            return replace(state, written=WrittenFile(path, sha256))
        case _:
            return state


# 3. Decisions --------------------------------------------------------------------------------


def decide(state: State, new: Input) -> tuple[Decision, ...]:
    match new:
        case Said(text=text):
            return (Heard(text=text, count=len(state.said) + 1),)
        case Asked(text=text):
            return (_request(state, text, 1),)
        case Wanted(path=path, template=template):
            call = f"artifact-{state.calls + 1}"
            return (ArtifactDue(call=call, template=template, path=path),)
        case CompletionReceived(text=text):
            return (Answered(text=text),)
        case CompletionFailed(kind=kind):
            if state.attempts < CALLS_MAX:
                return (_request(state, state.asked, state.attempts + 1),)
            return (GaveUp(kind=kind),)
        case ArtifactWritten(path=path):
            return (Filed(path=path),)
        case _:
            return (GaveUp(kind="unknown"),)


def _request(state: State, text: str, attempt: int) -> CompletionRequested:
    return CompletionRequested(
        call=f"completion-{state.calls + 1}",
        provider="echo",
        model="echo-1",
        messages=(Message("user", text),),
        attempt=attempt,
    )


# 4. Views ------------------------------------------------------------------------------------


def view(state: State) -> View:
    return View(status="done", intention="".join(state.said[:1]), written=state.written)


def record(state: State) -> Record:
    text = " ".join(state.said)
    return Record(uid="toy", session_id="", title=text, intention=text, status="open")


def reached(state: State) -> Reached:
    result = {"answers": state.answers} if state.answers else None
    return Reached(result=result, accepted=result if state.written else None)


# 5. The workflow and its bugs ----------------------------------------------------------------

Bug = Literal["", "decide", "evolve", "empty", "surrogate", "unreadable", "endless"]


class Broken(RuntimeError):
    """What a bug raises."""


def workflow(bug: Bug = "", at: str = "!", heard: str = "") -> Workflow[State]:
    """The toy; with a bug, it fails wherever the text is `at`; an endless one asks for ever.

    Args:
        heard: put in front of what is heard; another text is another version of the rules.
    """

    def faulty_decide(state: State, new: Input) -> tuple[Decision, ...]:
        if isinstance(new, Said) and new.text == at:
            match bug:
                case "decide":
                    raise Broken(f"cannot decide {new.text}")
                case "empty":
                    return ()
                case "surrogate":
                    return (Heard(text="\ud800", count=1),)
                case "unreadable":
                    return (Heard(text=new.text, count="one"),)  # type: ignore[arg-type]  # the bug
        if bug == "endless" and isinstance(new, CompletionReceived):
            return (_request(state, state.asked, 1),)
        decisions = decide(state, new)
        return tuple(
            replace(event, text=heard + event.text) if isinstance(event, Heard) else event
            for event in decisions
        )

    def faulty_evolve(state: State, event: Event) -> State:
        if bug == "evolve" and isinstance(event, Heard) and event.text == at:
            raise Broken(f"cannot fold {event.text}")
        return evolve(state, event)

    return Workflow(
        decider=Decider(
            name="toy",
            version="toy/1",
            events=(
                *(Said, Asked, Wanted, Heard, Answered, GaveUp, Filed),
                *COMPLETION_EVENTS,
                *ARTIFACT_EVENTS,
            ),
            initial=State(),
            decide=faulty_decide,
            evolve=faulty_evolve,
            is_terminal=lambda state: False,
        ),
        shown=ShownPart(view=view, statuses=("needs_answers", "done"), reached=reached),
        filed=FiledPart(record=record),
    )


WORKFLOW: Final = workflow()


def altered(workflow: Workflow[S], **changes: Any) -> Workflow[S]:
    """A workflow with other fields of its parts."""
    for name, field in changes.items():
        of = next(of for of in workflow.__struct_fields__ if hasattr(getattr(workflow, of), name))
        part: Any = replace(getattr(workflow, of), **{name: field})
        workflow = replace(workflow, **{of: part})
    return workflow


def said(text: str, at: int = 1) -> Said:
    """Ada says something."""
    return Said(at=at, actor=ADA, text=text)


def asked(text: str, at: int = 1) -> Asked:
    """Ada asks something."""
    return Asked(at=at, actor=ADA, text=text)


def wanted(path: str, template: str = "task.v1", at: int = 1) -> Wanted:
    """Ada wants a file."""
    return Wanted(at=at, actor=ADA, path=path, template=template)
