"""Which answers are right, and what a session of calls comes to."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from preflights_es.features.calls.domain.asking import (
    AskedCall,
    CallPair,
    SidesAgreement,
    agreement_of_sides,
    digest_answer,
    is_right,
    parse_assertions,
    value_of_answer,
)
from preflights_es.features.calls.domain.dialects import ReadAnswer
from preflights_es.features.regress.results import Case, Verdict
from preflights_es.features.regress.verdict import PAIRS_MARGIN, compute_verdict
from preflights_es.kernel.errors import Refused
from tests.features.calls.asked import asked_call
from tests.features.regress.given_reports import case, side

A, B, C = (ReadAnswer(text=text) for text in ("refund", "order", "other"))
JSON: Final = ReadAnswer(text='{"kind": "refund", "days": 14.0}', tokens_out=20)


def sides(
    *pairs: tuple[ReadAnswer | None, ReadAnswer | None], toml: str = "", **fields: Any
) -> SidesAgreement:
    asked = [CallPair(asked_call(n, **fields), *pair) for n, pair in enumerate(pairs, 1)]
    return agreement_of_sides(asked, parse_assertions(toml.encode()))


def judgements(*said: tuple[ReadAnswer, bool]) -> tuple[tuple[str, bool], ...]:
    return tuple((digest_answer(answer), right) for answer, right in said)


def test_equal_answers_need_no_judgement() -> None:
    spaced = ReadAnswer(text='{"days":14,\n "kind":"refund"}')
    for other in (JSON, spaced):
        assert sides((JSON, other)) == (True, True)
    assert digest_answer(spaced) == digest_answer(JSON) != digest_answer(A)
    tool = ReadAnswer(tools=(("look_up", '{"id":1}'),))
    assert sides((tool, replace(tool, text="")), (A, A)) == (True, True)
    assert sides((tool, ReadAnswer(tools=(("look_up", '{"id":2}'),)))) == (None, None)


def test_equal_answers_that_are_known_to_be_wrong_are_wrong_on_both_sides() -> None:
    assert sides((A, A), expected="order") == (False, False)
    assert sides((A, A), judged=judgements((A, False))) == (False, False)
    assert sides((A, A), toml='[[assertions]]\nequals = "order"') == (False, False)


def test_what_differs_is_unknown_until_something_says_which_is_right() -> None:
    assert sides((A, B)) == (None, None)
    assert sides((A, B)).is_undecided
    assert sides((A, B), expected="refund") == (True, False)
    assert sides((A, B), judged=judgements((A, True))) == (True, None)
    assert sides((A, B), judged=judgements((A, True))).is_undecided
    assert sides((A, B), judged=judgements((A, False))) == (False, None)
    assert not sides((A, B), judged=judgements((A, False))).is_undecided
    assert sides((A, B), judged=judgements((A, True), (B, True))) == (True, True)


def test_a_call_that_brought_nothing_is_unknown() -> None:
    for pair in ((A, None), (None, A), (None, None)):
        assert sides(pair).is_undecided
    assert sides((A, None), expected="refund") == (True, None)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ('pointer = "/kind"\nequals = "refund"', True),
        ('pointer = "/kind"\nequals = "order"', False),
        ('pointer = "/days"\nequals = 14', True),
        ('pointer = "/days"\nless = 15\nmore = 13.5', True),
        ('pointer = "/days"\nless = 14', False),
        ('pointer = "/kind"\nless = 15', False),
        ('pointer = "/kind"\none_of = ["order", "refund"]', True),
        ('pointer = "/kind"\none_of = ["order"]', False),
        ('pointer = "/absent"\nequals = "refund"', False),
        ('contains = "refund"', True),
        ('contains = "Refund"', False),
        ('pointer = "/kind"\ncontains = "fun"', True),
        ("tokens_at_most = 20", True),
        ("tokens_at_most = 19", False),
        ('where = "Mail 1"\ncontains = "refund"', True),
        ('where = "Mail 2"\ncontains = "order"', None),
    ],
)
def test_an_assertion_says_what_an_answer_has_to_be(line: str, right: bool | None) -> None:
    assertions = parse_assertions(f"[[assertions]]\n{line}".encode())
    assert is_right(asked_call(), JSON, assertions) is right


def test_the_arguments_of_a_tool_are_part_of_the_answer() -> None:
    answer = ReadAnswer(text="I look.", tools=(("look_up", '{"id":7}'),))
    assert value_of_answer(answer) == {
        "tools": [{"name": "look_up", "arguments": {"id": 7}}],
        "text": "I look.",
    }
    assertions = parse_assertions(b'[[assertions]]\npointer="/tools/0/arguments/id"\nequals=7')
    assert is_right(asked_call(), answer, assertions)
    assert is_right(asked_call(expected='{"id": 7}'), answer, ())
    assert not is_right(asked_call(expected='{"id": 8}'), answer, ())


@pytest.mark.parametrize(
    ("text", "expected", "right"),
    [
        (" refund\n", '"refund"', True),
        ('"refund"', '"refund"', True),
        ("refund", "refund", True),
        ('{"b":1,"a":2}', '{"a": 2.0, "b": 1}', True),
        ("14", "14", True),
        ("Refund", '"refund"', False),
    ],
)
def test_a_known_value_is_json_or_a_text(text: str, expected: str, right: bool) -> None:
    assert is_right(asked_call(expected=expected), ReadAnswer(text=text), ()) is right


def test_a_known_value_goes_before_assertions_and_a_failed_one_before_a_person() -> None:
    holds, fails = (
        parse_assertions(f'[[assertions]]\ncontains = "{word}"'.encode())
        for word in ("refund", "order")
    )
    assert is_right(asked_call(expected="refund"), A, fails)
    assert not is_right(asked_call(judged=judgements((A, True))), A, fails)
    assert not is_right(asked_call(judged=judgements((A, False))), A, holds)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[[assertions]]", "assertion 1: expected where, pointer, and one or more of equals"),
        ("[[assertions]]\nequal = 1", "unknown field `equal`.*; expected where, pointer"),
        ("x = 1", "expected where"),
        ("[[", "expected where"),
        ('[[assertions]]\npointer="a"\nless=1', "found the pointer 'a', expected a JSON Pointer"),
    ],
)
def test_a_file_of_assertions_that_says_nothing_clear_is_refused(toml: str, said: str) -> None:
    with pytest.raises(Refused, match=f"regress/assertions.toml.*{said}"):
        parse_assertions(toml.encode())


# The verdict of a simulated run ----------------------------------------------------------------

SESSIONS: Final = 500
JUDGED_MAX: Final = 100  # pairs that a person looks at
RUNS: Final = 20


def simulated_verdict(
    seed: int, *, loss: float = 0.0, noise: float = 0.03, calls: int = 1, dead: float = 0.0
) -> Verdict:
    """Sessions whose right answer a person knows, and says for some of those that differ.

    Args:
        loss: share of the sessions in which the changed side alone is wrong.
        noise: chance of another answer, of each side and session.
        dead: chance that a call of the provider brings nothing.
    """
    rng = random.Random(seed)
    cases: list[Case] = []
    judged = 0
    for number in range(SESSIONS):
        lost = rng.random() < loss
        pairs = []
        for n in range(calls):
            wrong = [rng.random() < noise / calls, rng.random() < noise / calls or (lost and not n)]
            answers = [
                None
                if rng.random() < dead
                else ReadAnswer(text=f"wrong {rng.random()}" if w else "right")
                for w in wrong
            ]
            pairs.append(CallPair(asked_call(n + 1), answers[0], answers[1]))
        found = agreement_of_sides(pairs, ())
        if found.is_undecided and judged < JUDGED_MAX:
            judged += 1
            found = agreement_of_sides(map(judged_by_a_person, pairs), ())
        cases.append(
            case(
                number,
                recorded=side(valid=None, agrees=found.unchanged),
                candidate=side(valid=None, agrees=found.changed),
                is_undecided=found.is_undecided,
            )
        )
    return compute_verdict(cases, PAIRS_MARGIN)


def judged_by_a_person(pair: CallPair) -> CallPair:
    said = [one for one in (pair.unchanged, pair.changed) if one is not None]
    known: AskedCall = replace(
        pair.call, judged=judgements(*((one, one.text == "right") for one in said))
    )
    return pair._replace(call=known)


def words(**of: Any) -> list[str]:
    return [simulated_verdict(seed, **of).word for seed in range(RUNS)]


@pytest.mark.slow("sizes")
@pytest.mark.parametrize("calls", [1, 2])
def test_a_loss_of_ten_points_blocks_and_none_passes(calls: int) -> None:
    assert words(loss=0.1, calls=calls).count("BLOCK") == RUNS
    without = words(calls=calls)
    assert without.count("PASS") >= RUNS - 1
    assert without.count("BLOCK") <= 3


@pytest.mark.slow("sizes")
def test_a_provider_that_is_dead_or_half_dead_never_passes() -> None:
    for dead in (1.0, 0.5, 0.1):
        assert "PASS" not in words(dead=dead)


@pytest.mark.slow("sizes")
def test_answers_that_differ_and_that_no_person_looked_at_never_pass() -> None:
    assert "PASS" not in words(noise=0.3)
