"""Sessions of every workflow for hypothesis: likely ones, and whatever the types allow.

A workflow without moves of its own in `OPENINGS` and `MOVES` gets Inputs derived from its types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from preflights_es.features.clarification.domain.events import (
    AnswersRelayed,
    AnswersRevised,
    ClarificationAnswersGiven,
    DecisionAcknowledged,
    DecisionKeptBeside,
    DecisionRenumbered,
    DecisionSuperseded,
    FiledAsTask,
    IntentionDeclared,
    RationaleGiven,
    ReferenceRenumbered,
    ReplacementChosen,
    TopicDismissed,
)
from preflights_es.features.clarification.domain.pack import STANDARD
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    is_accepted_by_person,
)
from preflights_es.features.clarification.domain.values import (
    COMPANION,
    OTHER_OPTION,
    Category,
    Field,
    HeuristicsConfig,
    Mark,
    PackRef,
)
from preflights_es.features.compiler.domain import events as compiler_events
from preflights_es.features.extraction.domain import events as extraction_events
from preflights_es.features.extraction.domain import rules
from preflights_es.features.extraction.domain.events import ItemAdded, ItemClosed, NoteTaken
from preflights_es.features.metrics.domain import events as metrics_events
from preflights_es.features.planning.domain import events as planning_events
from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import Busy, OpenTask, PlanTask, Situation
from preflights_es.features.recall.domain import events as recall_events
from preflights_es.features.recall.domain.events import FoundDecision
from preflights_es.kernel.completions import CompletionReceived, CompletionRequested
from preflights_es.kernel.events import Actor, Input, SourceSession
from preflights_es.kernel.lead import Lead, LeadChanged, Setup, StepRetried
from preflights_es.kernel.session import Session
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.testing import SessionMove, generated
from preflights_es.testing.generated import ACTORS, TEXT, TIMES, likely_sessions, of_type, weighted
from preflights_es.words.decisions import OTHER, RejectedAlternative, Related
from preflights_es.words.questions import GivenAnswer
from preflights_es.words.workflow import Workflow
from tests import toy
from tests.features.compiler import cases as passes
from tests.features.metrics import cases as questions
from tests.fixed import NOON, PROJECT

Move = Callable[[Session[Any]], Input]

EVERY: Final[dict[str, Workflow[Any]]] = {**WORKFLOWS, toy.WORKFLOW.name: toy.WORKFLOW}
"""The toy among them: it asks a provider, and it has no moves of its own."""

ANY_TEXT: Final = st.text(st.characters(), max_size=12)


# 1. By workflow ------------------------------------------------------------------------------


@cache
def sessions(name: str) -> SearchStrategy[Sequence[SessionMove]]:
    """A whole session, as is likely for its workflow."""
    return likely_sessions(EVERY[name], *_own(EVERY[name]))


@cache
def wild_sessions(name: str) -> SearchStrategy[Sequence[SessionMove]]:
    """A session that may begin with anything and be configured in unusual ways."""
    return generated.wild_sessions(EVERY[name], *_own(EVERY[name]))


def _own(workflow: Workflow[Any]) -> Sequence[SearchStrategy[SessionMove]]:
    """Its opening and its moves; the toy has none."""
    found = (table.get(workflow.name) for table in (OPENINGS, MOVES))
    return [make(workflow) for make in found if make is not None]


# 2. Clarification ----------------------------------------------------------------------------

DEFAULT: Final = HeuristicsConfig()
_TEAM: Final = HeuristicsConfig(
    categories=(
        Category("Docs", ("docs",)),
        Category("Tools", ("tool", "db"), Field("Tool", "tool", "Which tool?"), filing="contract"),
        Category(
            "Places",
            ("place",),
            Field("Place", "place", "Where?", ("Here", "There"), "multi_choice"),
            (Field("Tool", "place_tool"),),
            "structural",
        ),
    ),
    menu=("Tools", "Places", "Docs"),
)
_CONFIGS: Final = st.sampled_from((DEFAULT, DEFAULT, DEFAULT, _TEAM, HeuristicsConfig((), ())))
_CATEGORIES: Final = (*DEFAULT.categories, *_TEAM.categories, DEFAULT.other())
_FIELDS: Final = [field for category in _CATEGORIES for field in category.fields()]
_NAMES: Final = [category.name for category in _CATEGORIES]
_Answers = type[ClarificationAnswersGiven] | type[AnswersRelayed] | type[AnswersRevised]
_MARKS: Final[SearchStrategy[Mark]] = st.sampled_from(("", "task", "adr"))

_WORDS: Final = st.sampled_from(
    (
        *("add", "the", "author", "guide", "log-in", "docs", "place", "CI/CD", "user_db", "?"),
        *(keyword for category in _CATEGORIES for keyword in category.keywords),
    )
)
INTENTIONS: Final = st.one_of(
    st.sampled_from(("Improve things", "Fix the build", "数据")),
    st.sampled_from(("Use Redis, not MySQL", "Add caching in Vue", "Which OAuth, SAML or JWT?")),
    st.lists(_WORDS, min_size=1, max_size=4).map(" ".join),
    TEXT,
)
VALUES: Final = st.one_of(
    st.sampled_from([option for field in _FIELDS for option in field.options]),
    st.sampled_from(_NAMES),
    st.sampled_from((OTHER, OTHER_OPTION, "other", "Passkeys", " custom ", "oauth")),
    st.sampled_from(("", " ", "\u200b", "TBD", "n/a", "???", "-", "to be decided", "(todo)")),
    TEXT,
)
SEVERAL: Final = st.one_of(
    VALUES.map(lambda value: (value,)), st.lists(VALUES, max_size=3).map(tuple)
)
KEYS: Final = st.one_of(
    st.sampled_from([DEFAULT.category.id, *(field.id for field in _FIELDS)]),
    st.sampled_from([DEFAULT.category.id + COMPANION, *(f.id + COMPANION for f in _FIELDS)]),
    TEXT,
)
GIVEN: Final = st.lists(st.builds(GivenAnswer, KEYS, SEVERAL), max_size=4).map(tuple)


def clarification_opening(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """An intention, with one of a few tables."""
    return st.builds(
        IntentionDeclared,
        at=TIMES,
        actor=ACTORS,
        intention=INTENTIONS,
        project=st.just(PROJECT),
        uid=st.just("0123456789ab"),
        setup=st.just(Setup("0.1.0", "clarification/1")),
        heuristics=_CONFIGS,
        pack=st.sampled_from((None, None, STANDARD, PackRef("ours", 1, "0" * 64))),
        inlined=st.sampled_from(("", "{not json")),
        language=st.sampled_from((None, "en", "de")),
        mark=_MARKS,
    )


def clarification_moves(workflow: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """The natural next step, answers to what is asked, answers to anything, and what else comes."""
    cls = st.sampled_from((ClarificationAnswersGiven, AnswersRelayed, AnswersRevised))
    nothing = st.sampled_from((TopicDismissed, FiledAsTask)).flatmap(
        lambda one: st.builds(one, at=TIMES, actor=ACTORS)
    )
    return weighted(
        (6, st.builds(_forward, ACTORS, st.integers(0, 9), st.integers(1, 12), _MARKS)),
        (1, nothing),
        (1, st.builds(_replacing, ACTORS, st.integers(1, 12))),
        (2, st.builds(_to_the_question, cls, ACTORS, SEVERAL, VALUES | st.none())),
        (2, st.builds(_of_any_key, cls, ACTORS, GIVEN)),
        (2, st.builds(_to_another_category, ACTORS, st.sampled_from(_NAMES))),
        (1, st.builds(_reasoned, ACTORS, TEXT, TEXT, TEXT, st.booleans())),
        (1, st.builds(_of_what_is_shown, ACTORS, st.none() | st.integers(1, 12), _MARKS)),
        (1, clarification_opening(workflow)),
    )


def wandering() -> SearchStrategy[Sequence[SessionMove]]:
    """A clarification by a person who answers what is asked and changes the category again.

    Mostly an agent, whose acceptance ends nothing.
    """
    actors = weighted((5, st.just(Actor("agent"))), (1, ACTORS))
    forward = st.builds(_forward, actors, st.integers(0, 9), st.integers(1, 12), _MARKS)
    another = st.builds(_to_another_category, ACTORS, st.sampled_from(_NAMES))
    extra = st.builds(_of_any_key, st.just(AnswersRevised), ACTORS, GIVEN)
    steps = st.lists(weighted((5, forward), (4, another), (1, extra)), min_size=6, max_size=14)
    opening = clarification_opening(EVERY["clarification"])
    return st.builds(lambda first, rest: [first, *rest], opening, steps)


def _forward(actor: Actor, place: int, number: int, mark: Mark) -> Move:
    """An option where one is asked for, an acceptance where one is due, else what follows those."""

    def move(session: Session[ClarificationState]) -> Input:
        state = session.state
        if state.turns.question is not None:
            return _with_an_option(ClarificationAnswersGiven, actor, place)(session)
        if not is_accepted_by_person(state):
            return _of_what_is_shown(actor, number, mark)(session)
        related = Related("cafe00000001", "Use passkeys", number, "s-1")
        uid = state.standing.superseded_by.uid if state.standing.superseded_by else "unknown"
        later: tuple[Input, ...] = (
            DecisionSuperseded(at=NOON, actor=actor, by=related),
            DecisionKeptBeside(at=NOON, actor=actor, by=related, reason="Both are needed"),
            DecisionRenumbered(at=NOON, actor=actor, number=number),
            ReferenceRenumbered(at=NOON, actor=actor, uid=uid, number=number),
        )
        return later[place % len(later)]

    return move


def _replacing(actor: Actor, number: int) -> Input:
    old = Related("cafe00000002", "Use cookies", number, "s-2")
    return ReplacementChosen(
        at=NOON, actor=actor, replaces=old, source=SourceSession("s-2", 5, "0" * 64)
    )


def _of_any_key(cls: _Answers, actor: Actor, given: tuple[GivenAnswer, ...]) -> Input:
    return cls(at=NOON, actor=actor, answers=given)


def _to_another_category(actor: Actor, name: str) -> Move:
    def move(session: Session[ClarificationState]) -> Input:
        key = session.state.found.heuristics.category.id
        return AnswersRevised(at=NOON, actor=actor, answers=(GivenAnswer(key, (name,)),))

    return move


def _to_the_question(
    cls: _Answers, actor: Actor, values: tuple[str, ...], text: str | None
) -> Move:
    def move(session: Session[ClarificationState]) -> Input:
        key = _open_key(session)
        companion = () if text is None else (GivenAnswer(key + COMPANION, (text,)),)
        return cls(at=NOON, actor=actor, answers=(GivenAnswer(key, values), *companion))

    return move


def _with_an_option(cls: _Answers, actor: Actor, place: int) -> Move:
    def move(session: Session[ClarificationState]) -> Input:
        question = session.state.turns.question
        options = (question.options if question else ()) or ("Flutter",)
        value = options[place % len(options)]
        return cls(at=NOON, actor=actor, answers=(GivenAnswer(_open_key(session), (value,)),))

    return move


def _open_key(session: Session[ClarificationState]) -> str:
    question = session.state.turns.question
    return question.id if question else session.state.found.heuristics.category.id


def _reasoned(actor: Actor, because: str, name: str, why_not: str, whole: bool) -> Input:
    return RationaleGiven(
        at=NOON,
        actor=actor,
        because=because,
        consequences=(because, why_not),
        alternatives=(RejectedAlternative(name, why_not), RejectedAlternative("SAML", why_not)),
        replaces=whole,
    )


def _of_what_is_shown(actor: Actor, number: int | None, mark: Mark) -> Move:
    return lambda session: DecisionAcknowledged(
        at=NOON,
        actor=actor,
        patch=session.state.offer.patch,
        folder="docs",
        number=number,
        mark=mark,
    )


# 3. Extraction -------------------------------------------------------------------------------

NOTES: Final = st.one_of(
    st.lists(
        st.sampled_from(
            (
                *("milk", "Zahnarzt", "Idee:", "idea:", "@ada", "-", "[ ]", "!!", "30 min"),
                *("due:fri", "due:tomorrow", "fällig:morgen", "due:2026-12-01", "due:soon"),
                *("@14:00", "@fri-14:00", "@2026-12-01T14:00", "@14:00-15:30", "@25:00", "@mo"),
                *("~30m", "~1.5h", "~9h", "!high", "!low", "!urgent", "\n", "\n- ", "\n[ ] "),
                *("fa\u0308llig:fr", "\u202e", "🎉", "数据", "x" * 210),
            )
        ),
        max_size=12,
    ).map(" ".join),
    TEXT,
)
"""Usual and unusual notes."""

_FILED: Final = st.lists(
    st.tuples(
        st.sampled_from(("date", "duration_min", "start_time", "importance", "due", "energy")),
        st.sampled_from(("", "30", "481", "low", "2027-01-31", "admin", "09:30", "2027-02-30")),
    ),
    max_size=2,
).map(tuple)


def extraction_opening(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """A note that a model leads, strict or not; sometimes without a lead."""
    leads = st.builds(Lead, st.just("script"), st.just("model-1"), strict=st.booleans())
    return st.builds(
        NoteTaken,
        at=TIMES,
        actor=ACTORS,
        note=NOTES,
        project=st.just(PROJECT),
        setup=st.builds(
            Setup,
            st.just("0.1.0"),
            st.just("extraction/1"),
            lead=weighted((9, leads), (1, st.none())),
        ),
        language=st.sampled_from(("en", "de")),
        noted_at=st.just("2026-11-22T09:30+01:00"),
        time_zone=st.just("Europe/Berlin"),
    )


def extraction_moves(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """What a model says, what a person answers, and what is done by hand."""
    added = st.builds(
        ItemAdded,
        at=TIMES,
        actor=ACTORS,
        type=st.sampled_from(("task", "event", "idea")),
        title=NOTES,
        fields=_FILED,
    )
    changes = of_type(ItemClosed)
    again = st.builds(StepRetried, at=TIMES, actor=ACTORS)
    leads = st.builds(Lead, st.just("script"), st.just("model-2"))
    changed = st.builds(LeadChanged, at=TIMES, actor=ACTORS, lead=leads | st.none())
    return weighted(
        (6, st.builds(_onward, ACTORS, NOTES, st.booleans(), changes)),
        (2, st.builds(_garbled, st.sampled_from(("", "{}", "no JSON", '{"items": [{}]}')))),
        (1, st.builds(_answering, ACTORS, NOTES)),
        (2, added),
        (1, changes),
        (1, (again | changed)),
    )


def _onward(actor: Actor, text: str, asks: bool, change: ItemClosed) -> Move:
    """A reply where a model is asked, an answer where a person is, else a task is changed."""

    def move(session: Session[Any]) -> Input:
        if session.calls:
            return _replied(asks)(session)
        if session.state.question is not None:
            return _answering(actor, text)(session)
        tasks = [item.number for item in session.state.items if item.type == "task"]
        return msgspec.structs.replace(change, number=tasks[0]) if tasks else change

    return move


def _garbled(text: str) -> Move:
    def move(session: Session[Any]) -> Input:
        call = session.calls[0].call if session.calls else "extract-1.1"
        return CompletionReceived(at=NOON, actor=Actor("script"), call=call, text=text)

    return move


def _replied(asks: bool) -> Move:
    """What the rules read, as the model's reply to the open call, and sometimes one more thing."""

    def move(session: Session[Any]) -> Input:
        request = session.calls[0]
        if not isinstance(request, CompletionRequested):
            return StepRetried(at=NOON, actor=Actor("script"))
        payload = json.loads(rules.answer_extraction_by_rules(request))
        if asks:
            payload["question"] = {"question": "What else?"}
            payload["items"].append({"type": "task", "title": "Email", "confidence": 0.5})
        text = json.dumps(payload)
        return CompletionReceived(at=NOON, actor=Actor("script"), call=request.call, text=text)

    return move


def _answering(actor: Actor, text: str) -> Move:
    def move(session: Session[Any]) -> Input:
        question = session.state.question
        key = question.id if question else "start_time"
        return extraction_events.NoteAnswersGiven(
            at=NOON, actor=actor, answers=(GivenAnswer(key, (text,)),)
        )

    return move


# 4. Passes -----------------------------------------------------------------------------------

_PASSES: Final = st.sampled_from((*passes.PAYLOADS, "test", "test"))
"""A TestPlan has one standing more."""
_SAID: Final = st.sampled_from(("", "no JSON", "{}", '{"error": "invalid_request"}', "[{}, {}]"))


def compiler_opening(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """A pass that a model leads, strict or not; sometimes without a lead."""
    leads = st.builds(Lead, st.sampled_from(("script", "mock")), st.just("m"), strict=st.booleans())
    setups = st.builds(
        Setup, st.just("0.1.0"), st.just("compiler/1"), lead=weighted((9, leads), (1, st.none()))
    )
    return st.builds(
        lambda name, at, actor, setup: passes.begun(name, at=at, actor=actor, setup=setup),
        _PASSES,
        TIMES,
        ACTORS,
        setups,
    )


def compiler_moves(workflow: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """What a model says, what a person answers, and what becomes of the artifact."""
    again = st.builds(StepRetried, at=TIMES, actor=ACTORS)
    leads = st.builds(Lead, st.just("script"), st.just("m-2"))
    changed = st.builds(LeadChanged, at=TIMES, actor=ACTORS, lead=leads | st.none())
    return weighted(
        (8, st.builds(_onward_in_a_pass, ACTORS, TEXT, st.integers(0, 9))),
        (2, st.builds(_said_of_a_pass, _SAID)),
        (3, st.builds(_of_the_plan, ACTORS, st.integers(0, 3), st.booleans())),
        (1, (again | changed)),
        (1, compiler_opening(workflow)),
    )


def _onward_in_a_pass(actor: Actor, text: str, chance: int) -> Move:
    """A reply where a model is asked, an answer where a person is, else another standing."""

    def move(session: Session[Any]) -> Input:
        state = session.state
        if session.calls and isinstance(session.calls[0], CompletionRequested):
            payload = passes.MISSING if chance < 3 else passes.PAYLOADS[state.begun.pass_type]
            return _said_of_a_pass(json.dumps(payload))(session)
        if state.question is not None:
            given = (GivenAnswer(state.question.id, (text,)),)
            return compiler_events.PassAnswersGiven(at=NOON, actor=actor, answers=given)
        if state.led.stalled:
            return StepRetried(at=NOON, actor=actor)
        order = {"": 0, "draft": 0, "proposed": 0, "approved": 2}
        return _of_the_plan(actor, order.get(state.standing, 3), known=True)(session)

    return move


def _said_of_a_pass(text: str) -> Move:
    def move(session: Session[Any]) -> Input:
        call = session.calls[0].call if session.calls else "plan-1.1"
        return CompletionReceived(at=NOON, actor=Actor("script"), call=call, text=text)

    return move


def _of_the_plan(actor: Actor, place: int, known: bool) -> Move:
    """It is approved, rejected, locked or superseded, by its id or by another one."""

    def move(session: Session[Any]) -> Input:
        fields = session.state.plan and EVERY["compiler"].asked.accepting(session.state, {}).fields
        named = {"id": "", "sha256": ""} if not fields or not known else dict(fields)
        if place == 0:
            return compiler_events.PlanApproved(at=NOON, actor=actor, **named)
        changed: dict[str, Any] = {"at": NOON, "actor": actor, "id": named["id"]}
        if place == 1:
            return compiler_events.PlanRejected(reason="no", **changed)
        if place == 2:
            return compiler_events.PlanLocked(**changed)
        return compiler_events.PlanSuperseded(by="another", session="s-2", **changed)

    return move


# 5. Planning ---------------------------------------------------------------------------------

_SHAPES: Final = (
    (90, 90, "high", None),
    (10, 20, "normal", "admin"),
    (15, 15, "low", "creative"),
    (30, 60, "normal", None),
    (60, 120, "normal", "deep_work"),
    (300, 300, "low", None),
    (10, 10, "high", None),
)
_IDS: Final = st.sampled_from(("s.1", "s.2", "s.3", "s.4", "?"))


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """A day of likely tasks; a few are odd."""
    shapes = draw(st.lists(st.sampled_from(_SHAPES), max_size=5))
    tasks = [
        PlanTask(
            id=f"s.{n}",
            title=draw(TEXT),
            duration_min=low,
            duration_max=high,
            importance=importance,  # type: ignore[arg-type]  # one of them
            energy=energy,  # type: ignore[arg-type]  # one of them
            due=draw(st.sampled_from((None, "2026-11-21", "2026-11-22"))),
        )
        for n, (low, high, importance, energy) in enumerate(shapes, 1)
    ]
    start = draw(st.integers(0, 1_100))
    return Situation(
        day="2026-11-22",
        now="2026-11-22T09:30+01:00",
        time_zone="Europe/Berlin",
        start=start,
        end=start + draw(st.integers(-60, 600)),
        minutes=draw(st.none() | st.integers(1, 200)),
        busy=tuple(draw(st.lists(st.builds(Busy, start=_TIMES, end=_TIMES), max_size=2))),
        tasks=tuple(
            OpenTask(one, n, SourceSession("s", 1, "00")) for n, one in enumerate(tasks, 1)
        ),
        focus=draw(weighted((3, st.none()), (1, _IDS))),
    )


_TIMES: Final = st.integers(0, 1_440)


def planning_opening(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """A day that a model or the rules plan."""
    leads = st.builds(Lead, st.just("script"), st.just("model-1"), strict=st.booleans())
    setup = st.builds(
        Setup, st.just("0.1.0"), st.just("planning/1"), lead=weighted((3, leads), (1, st.none()))
    )
    return st.builds(
        planning_events.PlanAsked,
        at=TIMES,
        actor=ACTORS,
        project=st.just(PROJECT),
        setup=setup,
        language=st.sampled_from(("en", "de")),
        situation=situations(),
    )


def planning_moves(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """What a model says, what a person chooses and finishes, and another plan."""
    leads = st.builds(Lead, st.just("script"), st.just("model-2"))
    by_hand = {"at": TIMES, "actor": ACTORS}
    again = st.builds(
        planning_events.PlanAskedAgain, situation=situations(), lead=leads | st.none(), **by_hand
    )
    changed = st.builds(LeadChanged, lead=leads | st.none(), **by_hand)
    retried = st.builds(StepRetried, **by_hand)
    replies = st.builds(
        _planned_by_a_model, st.none() | _IDS, st.lists(_IDS, max_size=2), st.booleans()
    )
    others = again | changed | retried
    return weighted((4, replies), (1, st.builds(_garbled, st.just("no JSON"))), (5, others))


def _planned_by_a_model(focus: str | None, minis: list[str], follows: bool) -> Move:
    """What the rules plan, or what a model likes, as the reply to the open call."""

    def move(session: Session[Any]) -> Input:
        request = session.calls[0] if session.calls else None
        if not isinstance(request, CompletionRequested):
            return StepRetried(at=NOON, actor=Actor("user"))
        said = {"focus_task_id": focus, "mini_task_ids": minis, "reasoning": "so"}
        text = schedule.answer_planning_by_rules(request) if follows else json.dumps(said)
        return CompletionReceived(at=NOON, actor=Actor("script"), call=request.call, text=text)

    return move


# 6. Recalls -----------------------------------------------------------------------------------

_QUESTIONS: Final = st.sampled_from(
    ("what do we use for login?", "Welche Datenbank?", "the", "caching and search", "?!", "x y z")
)


def recall_opening(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """A question, for a model or the rules."""
    leads = st.builds(Lead, st.just("script"), st.just("model-1"), strict=st.booleans())
    setup = st.builds(
        Setup, st.just("0.1.0"), st.just("recall/1"), lead=weighted((3, leads), (1, st.none()))
    )
    asked = {
        "at": TIMES,
        "actor": ACTORS,
        "project": st.just(PROJECT),
        "setup": setup,
        "language": st.sampled_from(("en", "de")),
    }
    return st.builds(
        recall_events.RecallAsked,
        question=weighted((4, _QUESTIONS), (1, TEXT)),
        everything=st.booleans(),
        **asked,
    )


def recall_moves(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """What a model says, what is found, and another lead."""
    leads = st.builds(Lead, st.just("script"), st.just("model-2"))
    by_hand = {"at": TIMES, "actor": ACTORS}
    found = st.builds(
        recall_events.DecisionsFound,
        found=st.lists(founds(), max_size=4, unique_by=lambda one: one.uid).map(tuple),
        **by_hand,
    )
    changed = st.builds(LeadChanged, lead=leads | st.none(), **by_hand)
    retried = st.builds(StepRetried, **by_hand)
    replies = st.builds(_said_by_a_model, st.lists(_QUESTIONS, max_size=4))
    others = found | changed | retried
    return weighted((4, replies), (1, st.builds(_garbled, st.just("no JSON"))), (5, others))


def founds() -> SearchStrategy[FoundDecision]:
    """A decision that matches."""
    return st.builds(
        FoundDecision,
        uid=st.sampled_from(("a", "b", "c", "d", "e")),
        title=TEXT,
        standing=st.sampled_from(("accepted", "superseded")),
        category=st.just("Database"),
        fields=st.just((("Type", "PostgreSQL"),)),
        accepted_at=TIMES,
        number=st.none() | st.integers(1, 99),
        words=st.just(("database",)),
        score=st.integers(0, 9),
        source=st.just(SourceSession("s", 1, "00")),
    )


def _said_by_a_model(payload: Any) -> Move:
    """A payload as the reply to the open call."""

    def move(session: Session[Any]) -> Input:
        request = session.calls[0] if session.calls else None
        if not isinstance(request, CompletionRequested):
            return recall_events.DecisionsFound(at=NOON, actor=Actor("user"), found=())
        text = json.dumps(payload)
        return CompletionReceived(at=NOON, actor=Actor("script"), call=request.call, text=text)

    return move


# 7. Metrics ----------------------------------------------------------------------------------

_ASKS: Final = st.sampled_from(("DAU last week", "rev?", "what?", "1", "2)", "November 2026", " "))
_REPLIES: Final = st.sampled_from(
    (
        *("Which market?", "42", '{"type": "sql", "sql": "SELEC', ""),
        '{"type": "sql", "sql": "SELECT count(u) FROM visits"}',
        '{"type": "sql", "sql": "DELETE FROM visits"}',
        '{"type": "ambiguous", "candidates": ["DAU", "Net Ads Rev"]}',
    )
)


def metrics_opening(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """A question that a model or nothing leads."""
    leads = st.builds(Lead, st.just("script"), st.just("model-1"), strict=st.booleans())
    lead = weighted((5, leads), (1, st.none()))
    setup = st.builds(Setup, st.just("0.1.0"), st.just("metrics/1"), lead=lead)
    return st.builds(questions.put, _ASKS, setup, st.sampled_from(("en", "de")))


def metrics_moves(_: Workflow[Any]) -> SearchStrategy[SessionMove]:
    """What a model replies, what a person answers, and follow-ups."""
    who = {"at": TIMES, "actor": ACTORS}
    followed = st.builds(metrics_events.FollowUpPut, text=_ASKS, **who)
    others = followed | st.builds(StepRetried, **who)
    return weighted(
        (5, st.builds(_garbled, _REPLIES)), (4, st.builds(_question_answered, _ASKS)), (2, others)
    )


def _question_answered(text: str) -> Move:
    def move(session: Session[Any]) -> Input:
        question = session.state.question
        given = (GivenAnswer(question.id if question else "q1", (text,)),)
        return metrics_events.MetricsAnswersGiven(at=NOON, actor=Actor("user"), answers=given)

    return move


# 8. Its table ------------------------------------------------------------------------------

Moves = Callable[[Workflow[Any]], SearchStrategy[SessionMove]]

OPENINGS: Final[dict[str, Moves]] = {
    "clarification": clarification_opening,
    "compiler": compiler_opening,
    "extraction": extraction_opening,
    "recall": recall_opening,
    "metrics": metrics_opening,
    "planning": planning_opening,
}
MOVES: Final[dict[str, Moves]] = {
    "clarification": clarification_moves,
    "compiler": compiler_moves,
    "extraction": extraction_moves,
    "recall": recall_moves,
    "metrics": metrics_moves,
    "planning": planning_moves,
}
