"""The fold that every workflow shares: which Input is undecided, which calls are open, what closed.

`decide` and `evolve` of a workflow stand inside these two, which keep the grammar of the log and
answer what belongs to no workflow: abandoning, quarantine, and outcomes that come too late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec.structs import force_setattr

from preflights_es.kernel.completions import CompletionRequested, Policy
from preflights_es.kernel.errors import WorkflowBug, WorkflowMissing
from preflights_es.kernel.events import (
    Actor,
    ArtifactDue,
    Decision,
    Event,
    Filing,
    Input,
    InputIgnored,
    InputQuarantined,
    Outcome,
    OutsideRequest,
    Quoted,
    ResponseIgnored,
    SessionAbandoned,
    SessionClosed,
    SessionErased,
    Signable,
)
from preflights_es.kernel.json import decoder
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.ports import Numbered, SettingsTable, Stored
from preflights_es.words.decisions import Accepting, DecidedPatch, Record, Relations
from preflights_es.words.items import KeptItem, Planned
from preflights_es.words.questions import Answers, OriginDetails, Question, Reached
from preflights_es.words.signing import read_input_content
from preflights_es.words.workflow import View

S = TypeVar("S")
Upcaster = tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]
"""The tag of the newer version, and the function from an old payload to a new one."""


def _none(_state: object) -> None:
    return None


def _no_folder(_state: object) -> str:
    return ""


class ResultView(View, frozen=True, kw_only=True):
    """What is shown of a workflow without a view of its own: `result/1` (docs/api.md)."""

    FORMAT = "result/1"
    SHAPE = ("intention", "progress", "result")

    result: str = ""
    """What the session came to; empty until then."""


def plain_view(state: object) -> ResultView:
    """What a state says in fields that are called like a view's, the rest as most sessions are.

    The progress is 0.0 until there is a result; of a state without that field, until it is begun.
    """
    said = {name: getattr(state, name) for name in VIEWED if hasattr(state, name)}
    is_reached = bool(said.get("result", said.get("intention")))
    plain: dict[str, Any] = {"intention": "", "status": "done", "progress": float(is_reached)}
    if said.get("questions"):
        plain |= {"status": "needs_answers", "progress": 0.0, "to_do": "answer the question"}
    elif said.get("intention"):
        plain["ended"] = "is done: start a new one"
    return ResultView(**plain | said)


VIEWED: Final = ResultView.__struct_fields__


def _as_said(_state: object, new: Signable) -> Mapping[str, Any]:
    return read_input_content(new)


def _as_its_view(_state: object) -> bool:
    raise AssertionError("replaced as a Workflow is made")


def _its_result(state: object) -> Reached:
    return Reached(result=getattr(state, "result", None) or None)


STATUSES: Final = ("waiting", "abandoned", "faulted", "erased")
"""Of sessions of every workflow."""

KERNEL_INPUTS = (SessionAbandoned, InputQuarantined)


class Workflow(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """A decider and what it needs to be run, stored, shown and filed.

    Only what has no default must be said. A state whose fields are called like those of a
    `ResultView` needs no view, no statuses and no result.
    """

    name: str
    decider: str = ""
    """Version of the rules, `name/N`; recorded with every batch. The first where it is empty."""
    events: tuple[type[Event], ...]
    """All it may record or read besides the kernel's own."""
    initial: S
    decide: Callable[[S, Input], tuple[Decision, ...]]
    """Total and never empty."""
    evolve: Callable[[S, Event], S]
    """Never fails."""
    is_terminal: Callable[[S], bool] = _as_its_view
    """Whether nothing more is decided; by default where the view says why it `ended`."""
    view: Callable[[S], View] = plain_view
    opens: type[Input] | None = None
    """Begins a session with the first of its typed fields; None where it takes more."""
    statuses: tuple[str, ...] = ()
    """All that a view may say of where a session stands, besides those of every workflow."""
    settled: tuple[str, ...] = ()
    """Those of them in which nothing waits for a person or a model."""
    number: Callable[[S], int | None] = _none
    """The record number that a session holds; None while it holds none."""
    folder: Callable[[S], str] = _no_folder
    """Of its record, relative to the project's root: no other record there has that number."""
    acknowledges: type[Input] | None = None
    """By which a person accepts what is proposed; None where nothing is."""
    accepting: Callable[[S, Mapping[str, Any]], Accepting] = lambda _state, _said: Accepting()
    """What an acceptance takes, in any state, with the fields that the caller said."""
    abandoned: Callable[[S, SessionAbandoned], tuple[ArtifactDue, ...]] = lambda _state, _new: ()
    """The documents that a session still owes once it is abandoned; without any the Input reaches
    no workflow."""
    proposal: Callable[[S, Signable], Mapping[str, Any]] = _as_said
    """What an actor sees of what is signed, in the state before; by default what the Input says."""
    fixed: Callable[[S], Any] = _none
    """What is shown beside an acceptance, and what no event behind it changes."""
    record: Callable[[S], Record] | None = None
    """The content of the session's document in any state; None without a document."""
    decided: Callable[[Sequence[Event], Sequence[Session[S]]], tuple[DecidedPatch, ...]] | None = (
        None
    )
    """The patches of a session, from its events and how it stood after each; None without any."""
    items: Callable[[S], tuple[KeptItem, ...]] | None = None
    """What a session holds that others go on with, in any state; None where it holds nothing."""
    planned: Callable[[Sequence[Event], Sequence[Session[S]]], tuple[Planned, ...]] | None = None
    """The artifacts of a session, from its events and how it stood after each; None without any."""
    filing: Filing | None = None
    """The files that it owes and that are no records; None without any."""
    reached: Callable[[S], Reached] = _its_result
    """What a session comes to, in any state, and what of it a person accepted; by default the
    state's field `result`."""
    behind: Callable[[Event], OriginDetails] = lambda _event: OriginDetails()
    """What an event says of where a decided value came from."""
    related: Callable[[S], Relations] | None = None
    """The decisions that it takes the place of, in any state; None where none replaces another."""
    quotes: Callable[[Event], tuple[Quoted, ...]] | None = None
    """Other sessions that an Input names without a `Source`; None where no Input does."""
    answerable: Callable[[S], Sequence[tuple[str, Question]]] = lambda _state: ()
    """Pairs of a field's label and its question, of all that an answer may have as its key; the
    label is empty where another field of the same label comes first."""
    answers: type[Answers] | None = None
    """What answers a question: by default the one event that does; None where nothing is asked."""
    revisions: type[Answers] | None = None
    """What changes an answer; None where none can be changed."""
    relayed: type[Answers] | None = None
    """What answers in a person's words, by an agent or script; None where none passes them on."""
    written: bool = False
    """Whether the actor may write the question that a session begins with."""
    reasons: type[Input] | None = None
    """What takes `words.decisions.StatedReasons`, by field; None where no reason is recorded."""
    lead: Callable[[S], Lead | None] = _none
    """Who leads a session, as it stands; None for the rules."""
    policy: Policy = Policy()
    """That of its contracts; of several, the one with the most calls."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of prompt name and the version that a new session uses."""
    always_led: bool = False
    """The reference, too, answers as a provider: no step is decided without a response."""
    temperature: float | None = None
    """Sent by default where the model takes one and the settings say neither it nor `top_p`."""
    aside: bool = False
    """Whether its sessions are no decisions: they are `last` for its own commands alone, and a list
    of sessions has them where it is asked for them."""
    upcasters: dict[str, Upcaster] = {}
    settings: Callable[[], SettingsTable] | None = None
    """The table of a settings file that it reads; imported where a file has one."""
    package: str = ""
    """The feature's, below which its prompts lie in `data/prompts`."""

    def __post_init__(self) -> None:
        if not self.decider:
            force_setattr(self, "decider", f"{self.name}/1")
        if self.is_terminal is _as_its_view:
            force_setattr(self, "is_terminal", lambda state: bool(self.view(state).ended))
        if self.view is plain_view and not self.statuses:
            force_setattr(self, "statuses", ("needs_answers", "done"))
            force_setattr(self, "settled", ("done",))
        answering = [kind for kind in self.events if issubclass(kind, Answers)]
        if self.answers is None and len(answering) == 1:
            force_setattr(self, "answers", answering[0])


def numbered(workflow: Workflow[S], state: S) -> Numbered | None:
    """The number that a session holds, in the folder of its record; None while it holds none."""
    number = workflow.number(state)
    return None if number is None else Numbered(workflow.folder(state), number)


class Session(msgspec.Struct, Generic[S], frozen=True, gc=False):
    """What a log folds to; nothing in it can refer back to it."""

    state: S
    version: int = 0
    """Number of events folded."""
    calls: tuple[OutsideRequest, ...] = ()
    """Open requests, oldest first."""
    undecided: Input | None = None
    """The last Input, while no Decision follows it; not yet part of `state`."""
    closed: str = ""
    """`abandoned`, `erased`, or empty."""


def begin(workflow: Workflow[S]) -> Session[S]:
    """A session without events."""
    return Session(state=workflow.initial)


def decide(workflow: Workflow[S], session: Session[S], new: Input) -> tuple[Decision, ...]:
    """The Decisions that follow from an Input; at least one, for any Input in any session."""
    if isinstance(new, InputQuarantined) and session.undecided is None:
        return (InputIgnored(reason="not_undecided"),)
    if isinstance(new, SessionErased):
        return (SessionClosed(status="erased"),)
    if isinstance(new, KERNEL_INPUTS) and session.closed != "erased":
        closed = SessionClosed(status="abandoned")
        if session.closed or isinstance(new, InputQuarantined):
            return (closed,)
        return (*workflow.abandoned(session.state, new), closed)
    if isinstance(new, Outcome) and not any(
        _is_answer_to_call(new, call) for call in session.calls
    ):
        return (ResponseIgnored(call=new.call, reason="closed" if session.closed else "not_open"),)
    if session.closed and not isinstance(new, Outcome):
        return (InputIgnored(reason="closed"),)
    given: Any = workflow.decide(session.state, new)  # the code of others keeps no promise
    is_tuple = isinstance(given, tuple) and given
    if not (is_tuple and all(isinstance(one, Decision) for one in given)):
        raise _no_decisions(workflow, new, given)
    decisions: tuple[Decision, ...] = given
    return decisions


def _no_decisions(workflow: Workflow[Any], new: Input, given: object) -> WorkflowBug:
    all_given = given if isinstance(given, tuple) else (given,)
    what = ", ".join(type(one).__name__ for one in all_given) or "nothing"
    message = f"{workflow.name}.decide answered {new.tag} with {what}"
    return WorkflowBug(f"{message}, expected a tuple of Decisions", workflow.decide)


def _is_answer_to_call(outcome: Outcome, call: OutsideRequest) -> bool:
    return call.call == outcome.call and isinstance(call, outcome.answers)


def evolve(workflow: Workflow[S], session: Session[S], event: Event) -> Session[S]:
    """The session after one more event.

    An Input becomes part of the state with its first Decision, so that one which is quarantined,
    ignored or still undecided leaves no trace there.
    """
    return _AFTER[type(event)](workflow, session, event)


def _evolve_after_input(_: Workflow[S], session: Session[S], new: Input) -> Session[S]:
    version = session.version + 1
    assert session.undecided is None or isinstance(new, InputQuarantined), (
        f"event {version} follows an undecided Input"
    )
    return Session(session.state, version, session.calls, new, session.closed)


def _after_erasure(workflow: Workflow[S], session: Session[S], new: SessionErased) -> Session[S]:
    return Session(workflow.initial, session.version + 1, (), new, session.closed)


def _after_closing(_: Workflow[S], session: Session[S], event: SessionClosed) -> Session[S]:
    """The calls are closed as well, but for documents where the closing asked for one."""
    is_owed = session.undecided is None
    calls = tuple(call for call in session.calls if is_owed and isinstance(call, ArtifactDue))
    return Session(session.state, session.version + 1, calls, None, event.status)


def _after_ignoring(_: Workflow[S], session: Session[S], __: Decision) -> Session[S]:
    return Session(session.state, session.version + 1, session.calls, None, session.closed)


def _after_decision(workflow: Workflow[S], session: Session[S], event: Decision) -> Session[S]:
    state, calls, before = session.state, session.calls, session.undecided
    if before is not None:
        state = workflow.evolve(state, before)
        if calls and isinstance(before, Outcome):
            calls = tuple(call for call in calls if not _is_answer_to_call(before, call))
    state = workflow.evolve(state, event)
    return Session(state, session.version + 1, calls, None, session.closed)


def _after_request(workflow: Workflow[S], session: Session[S], event: OutsideRequest) -> Session[S]:
    after = _after_decision(workflow, session, event)
    return Session(after.state, after.version, (*after.calls, event), None, after.closed)


After = Callable[[Workflow[Any], Session[Any], Any], Session[Any]]


class _Dispatch(dict[type[Event], After]):
    """By class: a fold of a million events finds out once which each is."""

    def __missing__(self, kind: type[Event]) -> After:
        after: After = _after_decision
        if issubclass(kind, SessionErased):
            after = _after_erasure
        elif issubclass(kind, Input):
            after = _evolve_after_input
        elif issubclass(kind, OutsideRequest):
            after = _after_request
        self[kind] = after
        return after


_AFTER: Final = _Dispatch(
    {
        SessionClosed: _after_closing,
        ResponseIgnored: _after_ignoring,
        InputIgnored: _after_ignoring,
    }
)
"""The kernel's own Decisions reach no workflow."""


def fold(workflow: Workflow[S], events: Iterable[Event]) -> Session[S]:
    """The session that a whole log folds to."""
    session = begin(workflow)
    for event in events:
        session = evolve(workflow, session, event)
    return session


def compute_session_status(
    workflow: Workflow[S], session: Session[S], view: View | None = None
) -> str:
    """`abandoned`, `erased`, `faulted`, `waiting`, or what the workflow's own view says.

    Args:
        view: where there is one already.
    """
    if session.closed:
        return session.closed
    if session.undecided is not None:
        return "faulted"
    if any(isinstance(call, CompletionRequested) for call in session.calls):
        return "waiting"
    return (view or workflow.view(session.state)).status


def is_stalled(workflow: Workflow[S], session: Session[S]) -> bool:
    """Whether a strict session waits to be asked again: no call is open, and none is answered."""
    if session.version == 0 or any(isinstance(c, CompletionRequested) for c in session.calls):
        return False
    return compute_session_status(workflow, session) == "waiting"


SETS_ASIDE: Final = (InputQuarantined, SessionErased)
"""What may follow an Input that is undecided."""


def misplaced(session: Session[Any], event: Event, one: Stored) -> str | None:
    """Why an event cannot stand behind what a session holds; None where it can."""
    input_id = one.input_id
    if "\0" in one.decider or "\0" in one.project or (input_id and "\0" in input_id):
        return "its envelope holds NUL, which PostgreSQL does not take"
    if session.closed == "erased":
        return "it follows an erasure, which nothing can follow"
    if isinstance(event, Input):
        if input_id is None:
            return "an Input without an id"
        if one.actor_kind != event.actor.kind:
            return "its envelope names another actor than its payload"
        if session.undecided is not None and not isinstance(event, SETS_ASIDE):
            return "an Input after one that is undecided"
    elif input_id is not None:
        return "a Decision with the id of an Input"
    elif session.version == 0:
        return "a Decision that follows from no Input"
    return None


UNKNOWN: Final = "unknown"
"""The status of a session whose code is not here, or cannot read it."""


class _ActorPayload(msgspec.Struct, frozen=True):
    """What the payload of every Input has."""

    actor: Actor


_acted: Final = decoder(_ActorPayload)


def actor_in(data: bytes | None) -> Actor:
    """Who made an Input, by its payload.

    Raises:
        ValueError, RecursionError: the payload is gone or damaged.
    """
    return _acted(data or b"").actor


def find_known_workflow(workflows: Mapping[str, Workflow[Any]], name: str) -> Workflow[Any]:
    """The workflow of that name.

    Raises:
        WorkflowMissing: its code is not here.
    """
    try:
        return workflows[name]
    except WorkflowMissing:
        raise
    except KeyError:
        raise WorkflowMissing(name, "upgrade preflights") from None
