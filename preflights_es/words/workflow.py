"""What a workflow declares besides its decider, and the view of a session.

A workflow derives the view from the state, and the house adds the rest. A view is what `--json`
prints and what the Python API returns; it is stored nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, Self

import msgspec
from msgspec.structs import force_setattr, replace

from preflights_es.kernel.completions import CompletionRequested, Policy
from preflights_es.kernel.errors import Notice, WorkflowMissing
from preflights_es.kernel.events import (
    Actor,
    Event,
    Filing,
    Growing,
    Input,
    Quoted,
    S,
    Signable,
    Value,
    WrittenFile,
)
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.ports import Numbered, SettingsTable
from preflights_es.kernel.session import Decider, Session
from preflights_es.words.decisions import Accepting, DecidedPatch, Record, Relations
from preflights_es.words.items import KeptItem, Planned
from preflights_es.words.questions import Answers, OriginDetails, Question, Reached
from preflights_es.words.signing import Signed, read_input_content


class RefusedAnswer(Value, frozen=True, kw_only=True):
    """An answer that was recorded and does not count; the question is still open."""

    key: str
    reason: str
    """As in `words.questions.RefusalReason`."""
    message: str
    """The same in words."""

    @property
    def code(self) -> str:
        """The reason, by the name that every refusal has for it."""
        return self.reason


class NotDone(Value, frozen=True, kw_only=True):
    """What a call asked for and the session did not do; it is recorded all the same."""

    code: str
    message: str
    key: str | None = None
    """Of an answer: what it should have answered."""
    expected: tuple[str, ...] = ()
    """Keys that would be taken, where the key was the trouble."""


class ErasedBy(Value, frozen=True, kw_only=True):
    """When, by whom and why a session was erased."""

    at: int
    by: Actor
    reason: str


class View(Value, frozen=True, kw_only=True):
    """How a session stands; a workflow adds the fields of its own.

    `shape` is what `--json` prints: `HEAD`, what the workflow adds, and `TAIL`.
    """

    FORMAT: ClassVar[str] = "any-session/1"
    """The name and version of its JSON; a view that gives none has `ANY` of it printed."""
    SHAPE: ClassVar[tuple[str, ...]] = ()
    """What the workflow adds to the JSON; the fields that its class declares where it is empty."""
    UNCOMPARED: ClassVar[frozenset[str]] = frozenset()
    """Fields that say nothing of what a session comes to: no report compares them."""

    # From the state
    status: str
    """One word of the workflow's own for where it stands; the house has others for all sessions."""
    intention: str
    """What the session is about."""
    scope: str = ""
    """What it is for, where that is said beside the intention; empty for the whole project."""
    topic: str = ""
    """The category that the intention leads to, where a pack knows it; empty without one."""
    questions: tuple[Question, ...] = ()
    """What is asked, the first of them now."""
    progress: float = 0.0
    """0.0 to 1.0."""
    written: WrittenFile | None = None
    """The document as it was written last."""
    hashes: tuple[str, ...] = ()
    """SHA-256 of every document that was written for the session, in hexadecimal."""
    warnings: tuple[str, ...] = ()
    """What a person has to know of the session."""
    to_do: str = ""
    """What a person has to do next, in a few words; empty where nothing waits for a person."""
    can_accept: bool = False
    """Whether a person can accept what is proposed."""
    ended: str = ""
    """Why nothing can be answered any more, and what to do instead; empty while it can."""
    origin: str = ""
    """Who asked elsewhere, and what came of it, in a few words; empty where it began here."""

    # From the house
    session_id: str = ""
    workflow: str = ""
    project: str = ""
    version: int = 0
    """How many events it has."""
    labels: tuple[tuple[str, str], ...] = ()
    """Pairs of key and label, of what is asked; a label works wherever its key does."""
    number: int | None = None
    """Of its record."""
    refusals: tuple[NotDone, ...] = ()
    """What this call asked for and was not done, the refused answers among it."""
    notices: tuple[Notice, ...] = ()
    """What a person has to know of this call."""
    asking: str = ""
    """Who asks the provider meanwhile, where that is another process."""
    is_recalled: bool = False
    """Whether the call was made before, under the same key, and the session went on since."""
    erased: ErasedBy | None = None
    """Only of an erased session that is looked at."""
    signature: Signed | None = None
    """What the signature of a person's acceptance proves; None without one."""

    @property
    def format(self) -> str:
        """The name and version of its JSON."""
        return self.FORMAT

    @property
    def view(self) -> Self:
        """Itself, for programs that ask a session for its view."""
        return self

    @property
    def document(self) -> str | None:
        """Path of its document, relative to the project's root."""
        return self.written.path if self.written else None

    @property
    def refused(self) -> tuple[RefusedAnswer, ...]:
        """Of the answers of this call."""
        return tuple(
            RefusedAnswer(key=one.key, reason=one.code, message=one.message)
            for one in self.refusals
            if one.key is not None
        )

    @property
    def not_done(self) -> bool:
        """Whether something that this call asked for was not done."""
        return bool(self.refusals)

    @property
    def failed(self) -> bool:
        """Whether it ended without what it was for."""
        return False

    def shape(self) -> dict[str, Any]:
        """The versioned JSON."""
        kind = type(self)
        own = ANY if kind.FORMAT == View.FORMAT else kind.SHAPE or tuple(kind.__annotations__)
        return {name: getattr(self, name) for name in (*HEAD, *own, *TAIL)}


HEAD: Final = ("format", "session_id", "workflow", "project", "version", "status", "questions")
ANY: Final = ("intention", "progress")
TAIL: Final = ("refused", "warnings")


def taken_out(kinds: Growing[str]) -> tuple[str, ...]:
    """The warning about secrets that were not recorded; nothing where there were none."""
    if not kinds:
        return ()
    what = "1 secret was" if len(kinds) == 1 else f"{len(kinds)} secrets were"
    return (f"{what} taken out before recording ({', '.join(dict.fromkeys(kinds))})",)


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


class MadeCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a model that another program made, and that an event records."""

    call: str
    """Unique within its session."""
    provider: str
    model: str
    made_at: int | None
    """In microseconds since 1970 UTC; None where that is not known."""
    is_answered: bool
    input_tokens: int | None
    output_tokens: int | None


class Cost(msgspec.Struct, frozen=True):
    """A sum in one currency."""

    currency: str
    amount: str
    """Decimal: no sum of money is rounded on its way."""


class AnswerJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """What the actor of an Input says of the answer to a call."""

    place: int
    """Of the Input among the events, from 0."""
    by: Actor
    at: int
    is_right: bool | None
    """Whether the answer is; None where the actor judged another answer to the same call."""
    expected: str
    """The right value as JSON; empty where it is not said."""
    why: str


class SpokenCall(msgspec.Struct, frozen=True, kw_only=True):
    """Such a call as people read it."""

    kept: int
    """How many first messages an earlier call of the session sent as well."""
    messages: tuple[tuple[str, str], ...]
    """Pairs of role and text, of the others."""
    answer: str
    tools: tuple[tuple[str, str], ...] = ()
    """Pairs of name and arguments of the tools that the model called."""
    ended: str = ""
    """Why it has no answer, or not a whole one; empty where it has."""
    judged: tuple[AnswerJudgement, ...] = ()


class ShownPart(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """How a session stands, for people and programs.

    A state whose fields are called like those of a `ResultView` needs none of it.
    """

    view: Callable[[S], View] = plain_view
    statuses: tuple[str, ...] = ()
    """All that a view may say of where a session stands, besides those of every workflow."""
    settled: tuple[str, ...] = ()
    """Those of them in which nothing waits for a person or a model, besides `done`, `accepted` and
    `superseded`."""
    reached: Callable[[S], Reached] = lambda state: Reached(
        result=getattr(state, "result", None) or None
    )
    """What a session comes to, in any state, and what of it a person accepted; by default the
    state's field `result`."""
    proposal: Callable[[S, Signable], Mapping[str, Any]] = lambda _state, new: read_input_content(
        new
    )
    """What an actor sees of what is signed, in the state before; by default what the Input says."""
    fixed: Callable[[S], Any] = lambda _state: None
    """What is shown beside an acceptance, and what no event behind it changes."""
    aside: bool = False
    """Whether its sessions are no decisions: they are `last` for commands that take any session,
    and a list of sessions has them where it is asked for them."""
    newest_waits: bool = False
    """Whether a question waits for an answer only in the newest session: who asks anew goes on."""
    made_calls: Callable[[Sequence[Event | None]], Iterable[tuple[int, MadeCall]]] | None = None
    """Pairs of an event's place and the call of a model that it records, where another program made
    it; None where only this program asks models."""
    spoken_calls: Callable[[Sequence[Event | None]], Iterable[tuple[int, SpokenCall]]] | None = None
    """Pairs of the same places and the words of those calls."""

    def __post_init__(self) -> None:
        if self.view is plain_view and not self.statuses:
            force_setattr(self, "statuses", ("needs_answers", "done"))


class FiledPart(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """The document of a session, its rows in projections, and the sessions that it names."""

    record: Callable[[S], Record] | None = None
    """The content of the session's document in any state; None without a document."""
    number: Callable[[S], int | None] = lambda _state: None
    """The record number that a session holds; None while it holds none."""
    folder: Callable[[S], str] = lambda _state: ""
    """Of its record, relative to the project's root: no other record there has that number."""
    filing: Filing | None = None
    """The files that it owes and that are no records; None without any."""
    decided: Callable[[Sequence[Event], Sequence[Session[S]]], tuple[DecidedPatch, ...]] | None = (
        None
    )
    """The patches of a session, from its events and how it stood after each; None without any."""
    behind: Callable[[Event], OriginDetails] = lambda _event: OriginDetails()
    """What an event says of where a decided value came from."""
    related: Callable[[S], Relations] | None = None
    """The decisions that it takes the place of, in any state; None where none replaces another."""
    items: Callable[[S], tuple[KeptItem, ...]] | None = None
    """What a session holds that others go on with, in any state; None where it holds nothing."""
    planned: Callable[[Sequence[Event], Sequence[Session[S]]], tuple[Planned, ...]] | None = None
    """The artifacts of a session, from its events and how it stood after each; None without any."""
    quotes: Callable[[Event], tuple[Quoted, ...]] | None = None
    """Other sessions that an Input names without a `Source`; None where no Input does."""


class LedPart(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """How a model may lead a session; by default the rules lead, and no model is asked."""

    lead: Callable[[S], Lead | None] = lambda _state: None
    """Who leads a session, as it stands; None for the rules."""
    policy: Policy = Policy()
    """That of its contracts; of several, the one with the most calls."""
    package: str = ""
    """The feature's, below which its prompts lie in `data/prompts`."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of prompt name and the version that a new session uses."""
    always: bool = False
    """The reference, too, answers as a provider: no step is decided without a response."""
    temperature: float | None = None
    """Sent by default where the model takes one and the settings say neither it nor `top_p`."""


class AskedPart(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """What people say to a session, and by which Inputs."""

    opens: type[Input] | None = None
    """Begins a session with the first of its typed fields; None where it takes more."""
    written: bool = False
    """Whether the actor may write the question that a session begins with."""
    settings: Callable[[], SettingsTable] | None = None
    """The table of a settings file that it reads; imported where a file has one."""
    answerable: Callable[[S], Sequence[tuple[str, Question]]] = lambda _state: ()
    """Pairs of a field's label and its question, of all that an answer may have as its key; the
    label is empty where another field of the same label comes first."""
    answers: type[Answers] | None = None
    """What answers a question: by default the one event that does; None where nothing is asked."""
    revisions: type[Answers] | None = None
    """What changes an answer; None where none can be changed."""
    relayed: type[Answers] | None = None
    """What answers in a person's words, by an agent or script; None where none passes them on."""
    reasons: type[Input] | None = None
    """What takes `words.decisions.StatedReasons`, by field; None where no reason is recorded."""
    acknowledges: type[Input] | None = None
    """By which a person accepts what is proposed; None where nothing is."""
    accepting: Callable[[S, Mapping[str, Any]], Accepting] = lambda _state, _said: Accepting()
    """What an acceptance takes, in any state, with the fields that the caller said."""


class Workflow(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """A decider, and how its sessions are shown, filed, led and asked.

    Only the decider must be said: each other part has defaults.
    """

    decider: Decider[S]
    shown: ShownPart[S] = ShownPart()
    filed: FiledPart[S] = FiledPart()
    led: LedPart[S] = LedPart()
    asked: AskedPart[S] = AskedPart()

    def __post_init__(self) -> None:
        answering = [kind for kind in self.decider.events if issubclass(kind, Answers)]
        if self.asked.answers is None and len(answering) == 1:
            force_setattr(self, "asked", replace(self.asked, answers=answering[0]))

    @property
    def name(self) -> str:
        """That of its decider."""
        return self.decider.name

    def is_terminal(self, state: S) -> bool:
        """Whether nothing more is decided."""
        by_decider = self.decider.is_terminal
        return by_decider(state) if by_decider else bool(self.shown.view(state).ended)


def numbered(workflow: Workflow[S], state: S) -> Numbered | None:
    """The number that a session holds, in the folder of its record; None while it holds none."""
    number = workflow.filed.number(state)
    return None if number is None else Numbered(workflow.filed.folder(state), number)


STATUSES: Final = ("waiting", "abandoned", "faulted", "erased")
"""Of sessions of every workflow."""


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
    return (view or workflow.shown.view(session.state)).status


def is_stalled(workflow: Workflow[S], session: Session[S]) -> bool:
    """Whether a strict session waits to be asked again: no call is open, and none is answered."""
    if session.version == 0 or any(isinstance(c, CompletionRequested) for c in session.calls):
        return False
    return compute_session_status(workflow, session) == "waiting"


UNKNOWN: Final = "unknown"
"""The status of a session whose code is not here, or cannot read it."""


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
