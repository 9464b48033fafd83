"""Sessions of any workflow for hypothesis: likely ones, and whatever the types allow.

A session is drawn as moves. A move is an Input, or makes one from the session as it stands, so
that it can answer the open question or the open call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.errors import ProviderMissing
from preflights_es.kernel.events import (
    SESSION_EVENTS,
    Actor,
    ArtifactDue,
    ArtifactWritten,
    Event,
    Input,
    InputQuarantined,
    SessionAbandoned,
)
from preflights_es.kernel.session import Session
from preflights_es.testing.played import NOON, SessionMove
from preflights_es.words.questions import Answers, GivenAnswer
from preflights_es.words.workflow import Workflow

try:
    from hypothesis import given, settings
    from hypothesis import strategies as st
    from hypothesis.errors import FlakyFailure
    from hypothesis.strategies import SearchStrategy
except ImportError as error:
    raise ProviderMissing(
        f"generated sessions need hypothesis ({error}): `pip install 'preflights-es[testing]'`"
    ) from error

TEXT: Final = st.text(st.characters(codec="utf-8"), max_size=12)
"""What can be recorded: no lone surrogates, which are refused before."""
TIMES: Final = st.integers(0, 253_402_300_799_999_999)  # microseconds, to the end of year 9999
ACTORS: Final = st.sampled_from((Actor("user", "Ada"), Actor("agent"), Actor("script", "ci")))
CALLS: Final = st.sampled_from(("artifact-1", "artifact-2", "c-1", ""))


def try_sessions(
    sessions: SearchStrategy[Sequence[SessionMove]],
    check: Callable[[Sequence[SessionMove]], None],
    chosen: settings | None = None,
) -> None:
    """Check many sessions; of those that fail, the shortest that was found.

    Raises:
        AssertionError: `check` raised it.
    """

    @settings(chosen or settings(), deadline=None, report_multiple_bugs=False)
    @given(sessions)
    def tried(moves: Sequence[SessionMove]) -> None:
        check(moves)

    try:
        tried()
    except FlakyFailure as flaky:  # a workflow that remembers fails the first time alone
        raise flaky.exceptions[0] from flaky


# 1. Whatever the types allow -----------------------------------------------------------------


@cache
def of_type(cls: type[Any], text: SearchStrategy[str] = TEXT) -> SearchStrategy[Any]:
    """Any instance of a Struct, by the types of its fields."""
    fields = msgspec.structs.fields(cls)
    return st.builds(cls, **{f.name: _field(f.name, f.type, text) for f in fields})


def _field(name: str, annotation: Any, text: SearchStrategy[str]) -> SearchStrategy[Any]:
    if name in {"at", "recorded_at"}:
        return TIMES
    return _build_type_strategy(msgspec.inspect.type_info(annotation), text)


_PLAIN: Final[dict[type[msgspec.inspect.Type], SearchStrategy[Any]]] = {
    msgspec.inspect.FloatType: st.floats(allow_nan=False, allow_infinity=False),
    msgspec.inspect.BoolType: st.booleans(),
    msgspec.inspect.NoneType: st.none(),
}


def _build_type_strategy(
    info: msgspec.inspect.Type, text: SearchStrategy[str]
) -> SearchStrategy[Any]:
    match info:
        case msgspec.inspect.StrType(pattern=str(pattern)):
            return st.from_regex(pattern, fullmatch=True, alphabet=st.characters(codec="utf-8"))
        case msgspec.inspect.StrType():
            return text
        case msgspec.inspect.IntType(ge=least, le=most):
            return _whole_number_strategy(
                -(2**63) if least is None else int(least), int(most or 2**63 - 1)
            )
        case msgspec.inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case msgspec.inspect.EnumType(cls=cls):
            return st.sampled_from(cls)
        case _ if type(info) in _PLAIN:
            return _PLAIN[type(info)]
        case _:
            return _of_several(info, text)


def _of_several(info: msgspec.inspect.Type, text: SearchStrategy[str]) -> SearchStrategy[Any]:
    match info:
        case msgspec.inspect.UnionType(types=types):
            return st.one_of(*(_build_type_strategy(one, text) for one in types))
        case msgspec.inspect.VarTupleType(item_type=item):
            return st.lists(_build_type_strategy(item, text), max_size=3).map(tuple)
        case msgspec.inspect.TupleType(item_types=items):
            return st.tuples(*(_build_type_strategy(item, text) for item in items))
        case msgspec.inspect.DictType(value_type=value):
            return st.dictionaries(text, _build_type_strategy(value, text), max_size=3)
        case msgspec.inspect.StructType(cls=cls):
            return of_type(cls, text)
        case _:
            raise TypeError(f"no values are known of {info}: give `check_laws` your own `sessions`")


def _whole_number_strategy(least: int, most: int) -> SearchStrategy[int]:
    return st.integers(max(least, -3), min(most, 12_000)) | st.integers(least, most)


def _inputs(workflow: Workflow[Any]) -> list[type[Event]]:
    kernel = (CompletionReceived, CompletionFailed, ArtifactWritten)
    found: dict[type[Event], None] = dict.fromkeys((*workflow.decider.events, *kernel))
    return [cls for cls in found if issubclass(cls, Input)]


def any_input(workflow: Workflow[Any], text: SearchStrategy[str] = TEXT) -> SearchStrategy[Input]:
    """An Input of any type that the workflow may meet, with anything in it."""
    return st.one_of(*(of_type(cls, text) for cls in _inputs(workflow)))


def any_event(workflow: Workflow[Any]) -> SearchStrategy[Event]:
    """An event of any type that a log of the workflow may hold."""
    found = dict.fromkeys(
        (*workflow.decider.events, *SESSION_EVENTS, CompletionReceived, CompletionFailed)
    )
    return st.one_of(*map(of_type, found))


# 2. Moves ------------------------------------------------------------------------------------


def outcomes() -> SearchStrategy[SessionMove]:
    """An outcome of the oldest open call that fits it; of some call where none is open."""

    def move(text: str, call: str, failed: bool) -> SessionMove:
        def outcome(session: Session[Any]) -> Input:
            opened = session.calls[0] if session.calls else None
            named, actor = opened.call if opened else call, Actor("script")
            if opened is None or isinstance(opened, ArtifactDue):
                path = opened.path if isinstance(opened, ArtifactDue) else text
                return ArtifactWritten(
                    at=NOON, actor=actor, call=named, path=path, sha256="00", beside=failed
                )
            if failed:
                return CompletionFailed(
                    at=NOON, actor=actor, call=named, kind="timeout", message=text
                )
            return CompletionReceived(at=NOON, actor=actor, call=named, text=text)

        return outcome

    return st.builds(move, TEXT, CALLS, st.booleans())


def build_answer_strategy(
    workflow: Workflow[Any], text: SearchStrategy[str] = TEXT
) -> SearchStrategy[SessionMove]:
    """One of the options of an open question, or a text; some answer where none is open."""
    assert workflow.asked.answers is not None, "it asks"

    def move(new: Answers, said: str, place: int) -> SessionMove:
        def answer(session: Session[Any]) -> Input:
            questions = workflow.shown.view(session.state).questions
            if not questions:
                return new
            question = questions[place % len(questions)]
            options = (said, *question.options)
            value = options[place % len(options)]
            return replace(new, answers=(GivenAnswer(question.id, (value,)),))

        return answer

    return st.builds(move, of_type(workflow.asked.answers, text), text, st.integers(0, 9))


def endings() -> SearchStrategy[SessionMove]:
    """The session is abandoned."""
    return of_type(SessionAbandoned) | of_type(InputQuarantined)


def weighted(*choices: tuple[int, SearchStrategy[Any]]) -> SearchStrategy[Any]:
    """One of several strategies by weight; `one_of` would weigh the alternatives inside of them."""
    repeated = [strategy for weight, strategy in choices for _ in range(weight)]
    return st.sampled_from(repeated).flatmap(lambda strategy: strategy)


def _any_move(
    workflow: Workflow[Any], likely: SearchStrategy[SessionMove] | None, text: SearchStrategy[str]
) -> SearchStrategy[SessionMove]:
    """What may come next: mostly what is likely, or else an answer or an acceptance."""
    anything = any_input(workflow, text)
    if likely is None:
        choices: list[tuple[int, SearchStrategy[SessionMove]]] = [(1, anything)]
        choices += [(3, build_answer_strategy(workflow, text))] if workflow.asked.answers else []
        accepts = workflow.asked.acknowledges
        choices += [(1, of_type(accepts, text))] if accepts else []
        likely = weighted(*choices)
    return weighted((8, likely), (2, outcomes()), (1, anything))


def _meeting(texts: Sequence[str]) -> SearchStrategy[str]:
    return st.sampled_from(texts) | TEXT if texts else TEXT


def likely_sessions(
    workflow: Workflow[Any],
    opening: SearchStrategy[SessionMove] | None = None,
    moves: SearchStrategy[SessionMove] | None = None,
    *,
    texts: Sequence[str] = (),
) -> SearchStrategy[Sequence[SessionMove]]:
    """A whole session: an opening, moves, and sometimes an end with some more after it.

    Args:
        opening: what begins it; by default the Input that `opens`.
        moves: what is likely then; by default an answer to the open question, or an acceptance.
        texts: that its rules look at, where they are generated.
    """
    text = _meeting(texts)
    if opening is None:
        opens = workflow.asked.opens
        opening = of_type(opens, text) if opens else any_input(workflow, text)
    move = _any_move(workflow, moves, text)
    body = st.lists(move, min_size=2, max_size=10)
    ended = st.tuples(endings(), st.lists(move, max_size=2))
    tail = weighted((4, st.just([])), (1, ended.map(lambda end: [end[0], *end[1]])))
    return st.builds(lambda first, rest, end: [first, *rest, *end], opening, body, tail)


def wild_sessions(
    workflow: Workflow[Any],
    opening: SearchStrategy[SessionMove] | None = None,
    moves: SearchStrategy[SessionMove] | None = None,
    *,
    texts: Sequence[str] = (),
) -> SearchStrategy[Sequence[SessionMove]]:
    """The same, and sessions that begin with anything; takes what `likely_sessions` takes."""
    text = _meeting(texts)
    anything = any_input(workflow, text)
    move = weighted((4, _any_move(workflow, moves, text)), (2, anything), (1, endings()))
    likely = likely_sessions(workflow, opening, moves, texts=texts)
    return weighted((3, likely), (1, st.lists(move, min_size=1, max_size=8)))
