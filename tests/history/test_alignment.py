"""Two recorded sessions, aligned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from preflights_es.history.alignment import EventPair, align_sessions, aligned
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store.stored_events import Codec
from preflights_es.testing.laws import golden_sessions
from tests.each import each
from tests.history.test_goldens import FILES
from tests.projections.recording import golden
from tests.surfaces.view.given_sessions import resealed


def pairs(a: Sequence[Stored], b: Sequence[Stored], **more: Any) -> list[EventPair]:
    codec = Codec(WORKFLOWS[a[0].workflow].decider)
    return [*align_sessions(codec, a, b, **more)]


def places(found: list[EventPair]) -> list[tuple[int | None, int | None]]:
    return [(pair.a, pair.b) for pair in found]


@each("path", FILES)
def test_a_golden_session_is_the_same_as_itself_and_its_beginning_stands_alone(path: Path) -> None:
    for stream in golden_sessions(path):
        is_erased = any(one.data is None for one in stream)
        found = pairs(stream, stream, types_only=is_erased)
        assert places(found) == [(n, n) for n in range(1, len(stream) + 1)]
        assert not any(pair.differences for pair in found)
        cut = pairs(stream, stream[:-1], types_only=is_erased)
        assert [place for place in places(cut) if None in place] == [(len(stream), None)]


def test_what_is_equal_finds_itself_first_and_then_what_is_of_one_kind() -> None:
    found = [*aligned(["A", "b", "c"], ["b", "x", "C"], (str, str.lower))]
    assert found == [("A", None), ("b", "b"), (None, "x"), ("c", "C")]


def test_what_is_too_long_to_align_stands_side_by_side() -> None:
    many = [str(n) for n in range(4_000)]
    assert [*aligned(many, many[1:], (str,))][-2:] == [("3998", "3999"), ("3999", None)]


def test_time_makes_no_difference_and_a_refused_answer_stands_alone() -> None:
    (stream,) = golden("other_without_text_leaves_the_question_open")
    later = [replace(one, data=(one.data or b"").replace(b'"at":1', b'"at":2')) for one in stream]
    assert later != [*stream]
    assert not any(pair.differences for pair in pairs(stream, resealed(later)))
    refused = {3, 4}  # the answer, and its refusal
    without = resealed(one for n, one in enumerate(stream) if n not in refused)
    assert [pair.a for pair in pairs(stream, without) if pair.b is None] == [4, 5]
