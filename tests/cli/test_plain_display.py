"""Sessions of a workflow that shows nothing of its own on the command line."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import ClassVar, Final

import msgspec
import pytest

from preflights_cli import rendering
from preflights_cli.common import Voice
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.store.memory import MemoryStore
from preflights_es.use.results import session_of
from preflights_es.words.questions import AnswerRefusal, Question, Refusal
from preflights_es.words.workflow import View, plain_view
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.markdown import tables, ticked
from tests.toy import altered

ASKING: Final = View(
    status="needs_answers",
    intention="Say \x1b[31mhello",
    questions=(Question("tone", "single_choice", "In which tone?", ("kind", "short")),),
    progress=0.5,
    warnings=("it is late",),
    to_do="answer the question",
)


SESSION: Final = "00000001-0000-7000-8000-000000000001"


class ToneRefused(AnswerRefusal, frozen=True):
    tag: ClassVar[str] = "toy.tone_refused.v1"


class NotNow(Refusal, frozen=True):
    tag: ClassVar[str] = "toy.not_now.v1"


REFUSED: Final = (ToneRefused(key="tune", reason="unknown_question", expected=("tone",)), NotNow())


@pytest.fixture
def handle() -> Handle:
    """A session of the toy that asks something."""
    asking = altered(toy.WORKFLOW, view=lambda _state: ASKING)
    run = Runner(MemoryStore(Clock(), salt), {"toy": asking}, Clock(), Ids())
    return run.open(asking, PROJECT, toy.said("hello"), SESSION, "first").handle


def spoken(say: Callable[[Voice], int]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = say(Voice(as_json=False, quiet=False, verbose=False))
    return code, out.getvalue(), err.getvalue()


def test_it_is_shown_with_its_status_and_its_question(handle: Handle) -> None:
    assert "toy" not in WORKFLOWS
    code, out, err = spoken(
        lambda voice: rendering.say_session_result(voice, session_of(Step(handle, ())))
    )
    id_ = SESSION[-8:]
    assert code == 3
    assert out.splitlines() == [
        "Say \\x1b[31mhello",
        f"  session {id_}, needs answers",
        "",
        "In which tone?",
        "  1. kind",
        "  2. short",
        f"Answer with: preflights answer {id_} VALUE",
    ]
    assert err == "warning: it is late\n"


def test_what_is_refused_is_said_and_its_json_has_the_documented_fields(handle: Handle) -> None:
    code, _, err = spoken(
        lambda voice: rendering.say_session_result(voice, session_of(Step(handle, REFUSED)))
    )
    assert code == 1
    assert err.splitlines()[:2] == [
        "Not taken: 'tune' was refused: unknown question: it takes tone",
        "Not done: the session does not allow it now",
    ]
    shape = decode_plain_json(
        canonical_json(rendering.session_json(session_of(Step(handle, REFUSED))))
    )
    assert shape["format"] == "any-session/1"
    assert set(shape) == {ticked(row["field"])[0] for row in tables("docs/api.md")["any-session/1"]}
    assert shape["refused"] == [
        {
            "key": "tune",
            "reason": "unknown_question",
            "message": "'tune' was refused: unknown question: it takes tone",
        }
    ]


class Come(msgspec.Struct, frozen=True):
    """A state that the defaults show."""

    intention: str = ""
    questions: tuple[Question, ...] = ()
    result: str = ""


class Begun(msgspec.Struct, frozen=True):
    """One without a result."""

    intention: str = ""


@each(
    ("state", "progress"),
    [
        *((Come(), 0.0), (Come("Say hello"), 0.0), (Come("Say hello", ASKING.questions), 0.0)),
        *((Come("Say hello", (), "hello"), 1.0), (Begun(), 0.0), (Begun("Say hello"), 1.0)),
    ],
)
def test_the_progress_of_the_defaults_follows_from_the_result(
    state: object, progress: float
) -> None:
    assert plain_view(state).progress == progress


def test_every_workflow_has_a_display_and_json_what_the_session_came_to() -> None:
    for name in (name for name, one in FEATURES.items() if one.workflow):
        assert isinstance(rendering.shown_of(name), rendering.Shown)
        assert rendering.shown_of(name) is not rendering.PLAIN
    shape = decode_plain_json(
        canonical_json(rendering.session_json(plain_view(Come("Say hello", (), "hello"))))
    )
    assert shape["format"] == "result/1"
    assert set(shape) == {ticked(row["field"])[0] for row in tables("docs/api.md")["result/1"]}
    assert (shape["status"], shape["progress"], shape["result"]) == ("done", 1.0, "hello")
