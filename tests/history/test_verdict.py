"""The verdict against published tables, other programs, brute force, laws and simulation."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.features.regress.cases import majority
from preflights_es.features.regress.change import RunChange
from preflights_es.features.regress.regress import explained_cases
from preflights_es.features.regress.results import Case, Outcome, RunMeasures
from preflights_es.features.regress.verdict import (
    MARGIN,
    compute_verdict,
    count_measure_pairs,
    describe_power,
    holm,
    incomplete_beta,
    judge_counts,
    loss_bound,
    mcnemar,
    p_while_judging,
    pairs_needed,
    score,
    smallest_loss,
    tango,
)
from preflights_es.testing import ScriptedProvider
from preflights_es.words.pairs import PairCounts
from tests.each import each
from tests.features.extraction.cases import EMAIL
from tests.features.regress.sessions import judged
from tests.features.regress.test_children import OTHER, done_note

SLOW: Final = pytest.mark.slow("sizes")
NOISES: Final = [(0.05, 1), (0.2, 1), (0.05, 3), (0.2, 3)]
"""Chance that a model errs, and how often each side is asked."""
SPECIFICATION: Final = Path(__file__).parents[2] / "docs/specs/verdict.md"


def table(column: str) -> list[list[str]]:
    """The rows of the table in the specification that has such a column."""
    found: list[list[str]] = []
    for line in SPECIFICATION.read_text("utf-8").replace("\u2212", "-").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if found and not line.startswith("|"):
            return found[2:]
        if found or column in cells:
            found.append(cells)
    return found[2:]


COUNTS: Final = st.integers(1, 60).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n)).flatmap(
        lambda w: st.tuples(st.just(w[0]), st.integers(0, n - w[0]), st.just(n))
    )
)
"""Triples of worse, better and all pairs."""


def side(*, right: bool | None, valid: bool | None = True) -> RunMeasures:
    return RunMeasures(
        *(), valid=valid, agrees=right, result=None, questions=0, turns=0, fallbacks=0, calls=0,
        tokens=0, cost=None,
    )  # fmt: skip


def case(before: RunMeasures | None, after: RunMeasures | None, outcome: Outcome = "same") -> Case:
    return Case(
        session_id="s", workflow="toy", source="log", head="", outcome=outcome,
        recorded=before, candidate=after,
    )  # fmt: skip


def cases(worse: int, better: int, total: int) -> list[Case]:
    """Valid on both sides, so that agreement alone differs."""
    right, wrong = side(right=True), side(right=False)
    return [
        *[case(right, wrong, "failed")] * worse,
        *[case(wrong, right, "fixed")] * better,
        *[case(right, right)] * (total - worse - better),
    ]


@each("row", table("published by"))
def test_the_bounds_are_those_of_published_tables(row: list[str]) -> None:
    worse, better, total = map(int, row[:3])
    level, lower, upper = map(float, row[3:6])
    digits = len(row[4].partition(".")[2])
    assert round(_tango(worse, better, total, level), digits) == upper
    assert round(-_tango(better, worse, total, level), digits) == lower


def _tango(worse: int, better: int, total: int, level: float) -> float:
    return 1.0 if worse == total else tango(worse, better, total, level)


SIZES: Final = (*range(1, 201), *range(260, 2_001, 60))
"""Each up to 200, and thirty above."""


def passing(size: int) -> list[int]:
    """By pairs that got better: the most that may be worse for a pass, -1 where none passes."""
    found: list[int] = []
    worse = -1
    for better in range(size + 1):
        while worse + better < size and loss_bound(worse + 1, better, size) < MARGIN:
            worse += 1
        found.append(worse)
        if better > 0.2 * size + 20:  # of so many, one of 10 % gets better never
            break
    return found


def passes(size: int, most: list[int], share_better: float) -> float:
    """Exact chance of a pass where the true loss is the margin."""
    from scipy import stats  # type: ignore[import-untyped]  # a second, which collecting spares

    counts = np.arange(len(most))
    weights = stats.binom.pmf(counts, size, share_better)
    share_worse = (share_better + MARGIN) / (1 - share_better)
    return float(weights @ stats.binom.cdf(most, size - counts, share_worse))


@pytest.mark.slow("sizes")
def test_a_loss_at_the_margin_passes_as_rarely_as_is_said() -> None:
    assert len(SIZES) == 230
    largest = dict.fromkeys((0.0, 0.01, 0.05, 0.10), 0.0)
    for size in SIZES:
        most = passing(size)
        for share in largest:
            largest[share] = max(largest[share], passes(size, most, share))
    assert 0.045 < largest[0.0] <= 0.05
    assert max(largest.values()) <= 0.0611, "6.1 %: 44 pairs, of which 5 % got better"


@each("row", table("verdict"))
def test_the_verdicts_are_those_of_the_specification(row: list[str]) -> None:
    worse, better, total = map(int, row[:3])
    right, wrong = side(right=True, valid=None), side(right=False, valid=None)
    found = compute_verdict(
        [case(right, wrong)] * worse
        + [case(wrong, right)] * better
        + [case(right, right)] * (total - worse - better),
        MARGIN,
    )
    (agreement,) = found.tests
    assert [found.word, str(agreement.pairs_needed)] == [row[5], row[7]]
    assert agreement.p == float(row[3])
    assert round(agreement.loss_bound, 4) == float(row[4])
    assert round(agreement.smallest_loss, 4) == float(row[6])


@each(
    ("raw", "adjusted"),
    [  # statsmodels' multipletests(method="holm") 0.15
        ((0.01, 0.04), (0.02, 0.04)),
        ((0.03, 0.02), (0.04, 0.04)),
        ((0.03, 0.04), (0.06, 0.06)),
        ((0.01, 0.04, 0.03, 0.005), (0.03, 0.06, 0.06, 0.02)),
        ((0.6, 0.9), (1.0, 1.0)),
        ((), ()),
    ],
)
def test_holm_is_as_other_programs_say(raw: tuple[float, ...], adjusted: tuple[float, ...]) -> None:
    assert holm(raw) == pytest.approx(adjusted)


@each("differing", range(9))
def test_mcnemar_counts_what_chance_alone_does(differing: int) -> None:
    tosses = [sum(one) for one in itertools.product((0, 1), repeat=differing)]
    for worse in range(differing + 1):
        by_hand = sum(found >= worse for found in tosses) / len(tosses)
        assert mcnemar(worse, differing - worse) == pytest.approx(by_hand)


@given(COUNTS, st.integers(-99, 99).map(lambda percent: percent / 100))
def test_a_bound_is_where_the_test_turns_and_the_score_is_symmetric_and_monotonic(
    counts: tuple[int, int, int], loss: float
) -> None:
    worse, better, total = counts
    bound = _tango(worse, better, total, 0.95)
    assert (worse - better) / total <= bound <= loss_bound(worse, better, total) <= 1.0
    if bound < 1.0 - 1e-9:
        assert score(worse, better, total, bound) == pytest.approx(-1.6448536, abs=1e-4)
    mirrored = -score(better, worse, total, -loss)
    assert score(worse, better, total, loss) == pytest.approx(mirrored, rel=1e-6, abs=1e-6)
    if worse + better < total:
        assert mcnemar(worse + 1, better) <= mcnemar(worse, better)
        assert mcnemar(worse, better + 1) >= mcnemar(worse, better)
        assert loss_bound(worse + 1, better, total) >= loss_bound(worse, better, total)
        assert loss_bound(worse, better + 1, total) <= loss_bound(worse, better, total) + 1e-9


@given(st.integers(0, 30), st.integers(1, 200))
def test_the_smallest_loss_is_where_the_test_begins_to_show_it(better: int, total: int) -> None:
    better = min(better, total)
    loss = smallest_loss(better, total, 0.025)
    worse = round(loss * total) + better
    if loss < 1.0:
        assert mcnemar(worse, better) <= 0.025 < mcnemar(worse - 1, better)
    elif better:
        assert mcnemar(total - better, better) > 0.025


def test_as_many_pairs_as_are_needed_do() -> None:
    assert pairs_needed(0, 0, MARGIN) == pairs_needed(0, 20, MARGIN) == 149
    assert loss_bound(0, 0, 149) < MARGIN <= loss_bound(0, 0, 148)
    size = pairs_needed(15, 300, MARGIN)
    found = random.Random(13)
    passes = 0
    for _ in range(400):
        differ = sum(found.random() < 0.05 for _ in range(size))
        worse = sum(found.random() < 0.5 for _ in range(differ))
        passes += loss_bound(worse, differ - worse, size) < MARGIN
    assert 0.74 <= passes / 400 <= 0.86  # 0.8, three standard errors around


def test_twenty_pairs_with_a_loss_of_five_points_never_pass() -> None:
    for better in range(10):
        found = compute_verdict(cases(better + 1, better, 20), MARGIN)
        assert found.word == "INCONCLUSIVE"
        assert found.tests[0].loss == 0.05
    assert all(
        compute_verdict(cases(worse, better, 20), MARGIN).word != "PASS"
        for worse in range(21)
        for better in range(21 - worse)
    )


def measured(
    noise: float, loss: float, sessions: int, runs: int, repeat: int
) -> list[tuple[str, int]]:
    """Verdicts on a model that errs by chance, and how many sessions have a cause.

    Each side is asked in each way that it can err; runs draw from what a real run came to.

    Args:
        loss: chance that the changed side errs in addition.
    """
    cases: dict[tuple[bool, ...], Case] = {}
    found, events = random.Random(20261124), done_note()

    def case(errs: tuple[bool, ...]) -> Case:
        if errs not in cases:
            script = ScriptedProvider(*(OTHER if one else EMAIL for one in errs))
            change = RunChange(model="b")
            cases[errs] = judged(events, change, models=lambda _: script, repeat=repeat)
        return cases[errs]

    def run() -> tuple[str, int]:
        chances = [noise + loss] * repeat + [noise] * repeat
        drawn = [case(tuple(found.random() < one for one in chances)) for _ in range(sessions)]
        came_to = compute_verdict(drawn, MARGIN)
        return came_to.word, sum(bool(one.causes) for one in explained_cases(drawn, came_to))

    return [run() for _ in range(runs)]


@pytest.mark.parametrize(
    ("noise", "repeat", "runs"),
    [(0.05, 1, 20), *(pytest.param(*row, 200, marks=SLOW) for row in NOISES)],
)
def test_a_model_against_itself_is_seldom_blocked_and_no_cause_is_named(
    noise: float, repeat: int, runs: int
) -> None:
    found = measured(noise, 0, 200, runs, repeat)
    assert [word for word, _ in found].count("BLOCK") <= 0.085 * runs
    assert not any(named for _, named in found)


@pytest.mark.slow("sizes")
def test_a_model_against_itself_passes_in_most_runs_of_two_thousand_sessions() -> None:
    assert [word for word, _ in measured(0.05, 0, 2_000, 100, 1)].count("PASS") >= 80


@pytest.mark.parametrize("runs", [5, pytest.param(100, marks=SLOW)])
def test_a_loss_of_ten_points_is_blocked_and_its_cause_named(runs: int) -> None:
    found = measured(0.05, 0.1, 400, runs, 3)
    assert [word for word, _ in found].count("BLOCK") >= 0.9 * runs
    assert sum(named > 0 for _, named in found) >= 0.6 * runs


@each(
    ("agrees", "most"),
    [
        ((True,), True),
        ((False,), False),
        ((None,), None),
        ((True, False, True), True),
        ((False, False, True), False),
        ((True, None, None), None),
        ((True, False, None), None),
    ],
)
def test_a_session_is_right_by_majority(agrees: tuple[bool | None, ...], most: bool | None) -> None:
    found = majority([side(right=one) for one in agrees])
    assert found is not None
    assert found.agrees is most


def test_a_loss_that_is_shown_blocks_and_says_of_what() -> None:
    found = compute_verdict(cases(12, 2, 300), MARGIN)
    assert (found.word, found.why) == (
        "BLOCK",
        (
            "The change is worse: keep what you have. Of 300 pairs, 12 no longer give what "
            "people accepted, and 2 got better."
        ),
    )
    assert found.figures == "Worse: agreement in 12 of 300 pairs, better in 2 (p = 0.013)."
    agreement, validity = found.tests
    assert (agreement.p, agreement.p_adjusted) == (
        0.00646972656,
        0.0129394531,
    )  # Holm: two measures
    assert (validity.worse, validity.p_adjusted) == (0, 1.0)


def test_few_losses_are_looked_at_and_holm_keeps_chance_in_one_measure_from_a_block() -> None:
    found = compute_verdict(cases(2, 0, 300), MARGIN)
    assert found.word == "INCONCLUSIVE"
    assert found.why.endswith("worse. 2 of 300 pairs got worse: look at them.")
    assert mcnemar(5, 0) < 0.05
    assert compute_verdict(cases(5, 0, 300), MARGIN).word == "INCONCLUSIVE"


def test_no_loss_in_enough_pairs_passes() -> None:
    found = compute_verdict(cases(1, 1, 400), MARGIN)
    assert (found.word, found.why) == (
        "PASS",
        (
            "The change can land: it is not worse than what you have. 400 pairs were compared, "
            "enough to exclude that more than 2 in 100 get worse."
        ),
    )
    bounds = "agreement at most 0.9 points, validity at most 0.8 points."
    assert found.figures == f"With 95 % confidence, the loss is below 2 points: {bounds}"


def test_too_few_pairs_are_inconclusive_and_say_how_many_would_do() -> None:
    found = compute_verdict(cases(0, 0, 40), MARGIN)
    assert (found.word, f"{found.why} {found.figures}") == (
        "INCONCLUSIVE",
        (
            "This run cannot tell whether the change is worse. 40 pairs were compared; to tell, "
            "it takes about 150 such pairs. Agreement may be 7.3 points worse: "
            "40 pairs can show a loss of 15 points or more, and a change that loses nothing passes "
            "with 149 pairs; validity may be 7.3 points worse: 40 pairs can show a loss of 15 "
            "points or more, and a change that loses nothing passes with 149 pairs."
        ),
    )
    assert (
        "3 pairs can show no loss, and a change that loses nothing passes with 149 pairs"
        in compute_verdict(cases(0, 0, 3), MARGIN).figures
    )


def test_what_got_worse_or_better_is_counted_of_the_same_sessions() -> None:
    right = side(right=True, valid=True)
    fixed = case(side(right=None, valid=False), side(right=None, valid=True))
    found = compute_verdict([*[case(right, right)] * 6, *[fixed] * 9], MARGIN)
    assert [(one.measure, one.pairs) for one in found.tests] == [("agreement", 6), ("validity", 15)]
    assert "15 pairs were compared, of which 9 got worse or better" in found.why


def test_without_anything_accepted_nothing_passes_and_rules_by_agreement_alone() -> None:
    valid = case(side(right=None), side(right=None))
    found = compute_verdict([valid] * 5_000, MARGIN)
    assert (found.word, found.tests[0].pairs_needed) == ("INCONCLUSIVE", 149)
    assert found.why.endswith("No session could be compared with what a person accepted.")
    assert found.figures == "A change that loses nothing passes with 149 pairs."
    assert compute_verdict([], MARGIN).word == "INCONCLUSIVE"
    right = side(right=True, valid=None)
    found = compute_verdict([case(right, right)] * 200, MARGIN)
    assert [one.measure for one in found.tests] == ["agreement"]
    assert found.word == "PASS"


def test_undecided_pairs_count_as_worse_for_the_bound_alone() -> None:
    unknown, right = side(right=None, valid=None), side(right=True, valid=None)
    waits = [
        replace(case(*both), is_undecided=True) for both in [(unknown, unknown), (right, unknown)]
    ]
    found = compute_verdict([*[case(right, right)] * 400, *waits * 20], 0.05)
    assert (found.word, found.tests[0].worse, found.tests[0].unknown) == ("INCONCLUSIVE", 0, 40)
    assert "passes with" not in found.figures, "it has more pairs than that"
    assert compute_verdict([*[case(right, right)] * 400, *waits], 0.05).word == "PASS"


@each(
    ("counts", "word"),
    [
        ((0, 0, 100, 0, 100, 0), "PASS"),
        ((0, 0, 100, 10, 100, 10), "INCONCLUSIVE"),
        ((0, 0, 100, 0, 0, 0), "INCONCLUSIVE"),
        ((7, 0, 100, 3, 100, 0), "BLOCK"),
        ((7, 0, 100, 3, 100, 3), "INCONCLUSIVE"),
        ((8, 0, 100, 3, 100, 3), "BLOCK"),
        ((0, 0, 0, 5, 0, 5), "INCONCLUSIVE"),
    ],
)
def test_counts_have_the_verdict_of_their_pairs(
    counts: tuple[int, int, int, int, int, int], word: str
) -> None:
    assert judge_counts(PairCounts(*counts), 0.05) == word
    assert judge_counts(PairCounts(*counts), 0.001) == word.replace("PASS", "INCONCLUSIVE")


def test_who_stops_at_the_first_block_is_seldom_wrong() -> None:
    """All ways in which so many pairs, worse or better by chance alone, are judged one by one."""
    some = range(100)
    early = {(b, n - b) for n in some for b in range(n + 1) if p_while_judging(b, n - b) <= 0.05}
    for differing in some:
        blocked, going = 0.0, [1.0]  # the chance of each number of pairs that are worse
        for number in range(1, differing + 1):
            going = [(a + b) / 2 for a, b in zip([0.0, *going], [*going, 0.0], strict=True)]
            for worse in range(number + 1):
                counts = (worse, number - worse)
                is_last = number == differing
                if mcnemar(*counts) <= 0.05 if is_last else counts in early:
                    blocked, going[worse] = blocked + going[worse], 0.0
        assert blocked <= 0.056, differing
    assert p_while_judging(7, 0) > 0.05 >= p_while_judging(8, 0)
    assert p_while_judging(5, 5) == 1.0


def test_a_run_can_say_before_it_begins_what_it_could_find() -> None:
    assert describe_power(300, 0.05) == (
        "300 pairs can at best show a loss of 1.7 points or more, or that the loss is below 1"
        " point; the margin is 5 points"
    )
    assert describe_power(3, 0.05).startswith("3 pairs can at best show no loss, or that the")


def test_sessions_without_a_result_cannot_pass_and_do_not_block() -> None:
    lost = [case(side(right=True), None, "open")] * 100
    found = compute_verdict([*cases(0, 0, 900), *lost], MARGIN)
    assert found.word == "INCONCLUSIVE"
    assert "(100 without a result count as worse)" in found.figures
    assert count_measure_pairs(lost, "agreement") == PairCounts(0, 0, 0, 100)
    assert "100 pairs came to no result" in compute_verdict(lost, MARGIN).figures
    assert count_measure_pairs([case(side(right=False), None)], "agreement") == PairCounts(0, 0, 0)


@each(
    ("pairs_", "word", "said"),
    [  # by side: whether a call was answered, and whether the result was right
        ((((1, False), (1, False)), 30), "could not run", "no call was answered"),
        ((((1, False), (0, True)), 30), "could not run", "no call of the changed side"),
        ((((0, True), (1, False)), 30), "could not run", "no call of the unchanged side"),
        ((((0, False), (0, False)), 300), "INCONCLUSIVE", "no session gives what people accepted"),
    ],
)
def test_a_provider_that_is_dead_passes_nothing(
    pairs_: tuple[tuple[tuple[int, bool], ...], int], word: str, said: str
) -> None:
    def asked(failed: int, right: bool) -> RunMeasures:
        known = side(right=None if failed else right, valid=None if failed else True)
        return replace(known, asked=1, unanswered=failed, failure="401: refused" * failed)

    changed, unchanged = (asked(*one) for one in pairs_[0])
    found = compute_verdict([case(unchanged, changed)] * pairs_[1], MARGIN)
    assert (found.word, said in found.why) == (word, True), found
    assert "below" not in found.figures, "of what has nothing to lose, no loss is excluded"
    some = compute_verdict([*cases(0, 0, 400), case(unchanged, changed)], MARGIN)
    assert ("; the first: 401: refused" in f"{found.figures}{some.figures}") == (word[0] == "c")


def test_a_strict_run_says_same_or_different() -> None:
    def found(*outcomes: Outcome) -> tuple[str, str]:
        said = compute_verdict([case(None, None, one) for one in outcomes], None)
        return said.word, said.why

    assert found("same", "same") == ("same", "No difference in 2 sessions.")
    assert found("same", "damaged") == ("same", "No difference in 1 session; 1 damaged.")
    assert found("same", "changed", "faulted") == ("different", "2 of 3 sessions differ.")


@each(
    ("a", "b", "x"),
    [
        *itertools.product((0.5, 1, 3.25, 40, 700, 30_000), (1, 8, 450, 29_000), (0.02, 0.5, 0.97)),
        *((w + 1, n - w, w / n) for w, n in ((1, 3), (5, 300), (499, 1_000), (20_500, 40_000))),
    ],
)
def test_the_incomplete_beta_function_is_that_of_scipy(a: float, b: float, x: float) -> None:
    from scipy import special

    assert incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-12)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30), st.randoms())
def test_the_order_is_no_matter(sides: Iterable[tuple[bool, bool]], found: random.Random) -> None:
    one = [case(side(right=a), side(right=b)) for a, b in sides]
    other = list(one)
    found.shuffle(other)
    assert compute_verdict(one, MARGIN) == compute_verdict(other, MARGIN)
