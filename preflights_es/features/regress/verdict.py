"""What the sessions of a run come to: `docs/specs/verdict.md` has the formulas and sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Final

from preflights_es.features.regress.results import (
    Case,
    Noise,
    Paired,
    PairedTest,
    RunMeasures,
    Verdict,
    VerdictWord,
)
from preflights_es.kernel.text import count_in_words
from preflights_es.words.pairs import PairCounts, count_pairs

ALPHA: Final = 0.05  # of BLOCK, and of the bound of PASS
MARGIN: Final = 0.02  # the loss that is too small to matter
PAIRS_MARGIN: Final = 0.05  # the same, of calls of other programs: most logs hold few sessions
POWER: Final = 0.8  # chance of PASS, at `pairs_needed`, of a change without loss
PAIRS_MAX: Final = 2**40  # more pairs than a log will hold: a search ends here
CHANCE: Final = (
    "Chance counts as loss: the recording is the other side, and it is right by construction."
)
"""Of a run with `--recorded`."""
NAMED: Final = 0.0005 / 5  # of a cause where a model was asked for both sides; five tests
HOLLOW: Final[dict[Paired, str]] = {
    "agreement": "no session gives what people accepted",
    "validity": "no session has a valid response",
}
"""What is so where a measure has nothing to lose."""
_BOUND_TOLERANCE: Final = 1e-12
_LAST_TERM: Final = 1e-15
_TERMS_MAX: Final = 100_000  # about the root of the pairs are needed
_DIGITS: Final = 9  # significant digits that are kept, so that a library's last bit does not show

_MEASURES: Final[dict[Paired, Callable[[RunMeasures], bool | None]]] = {
    "agreement": lambda side: side.agrees,
    "validity": lambda side: side.valid,
}


def compute_verdict(
    cases: Sequence[Case], margin: float | None, *, chance_is_loss: bool = False
) -> Verdict:
    """Of a change; of a strict run where `margin` is None.

    Args:
        chance_is_loss: whether a model was asked for the change alone.
    """
    if margin is None:
        return _strict(cases)
    counted = {measure: count_measure_pairs(cases, measure) for measure in _MEASURES}
    tests = _tests(
        {m: p for m, p in counted.items() if p.total + p.unknown or m == "agreement"}, margin
    )
    dead = [name for name, sides in _sides(cases).items() if _all_failed(sides)]
    if dead:
        of_which = f" of {dead[0]}" if len(dead) == 1 else ""
        why = f"The change was not judged: no call{of_which} was answered."
        return Verdict(
            word="could not run", why=why, figures=_describe_failed_calls(cases), margin=margin
        )
    hollow = [name for name, one in counted.items() if one.total and not one.right]
    word, figures = _judge_paired_tests(tests, margin, hollow)
    said = (figures, _describe_failed_calls(cases), CHANCE if chance_is_loss else "")
    return Verdict(
        word=word,
        why=_advice(word, tests, margin, hollow),
        figures=" ".join(filter(None, said)),
        margin=margin,
        tests=tests,
        noise=_noise(cases),
        chance_is_loss=chance_is_loss,
    )


def _advice(
    word: VerdictWord, tests: tuple[PairedTest, ...], margin: float, hollow: Sequence[Paired]
) -> str:
    """What it comes to, and what that rests on: two plain sentences."""
    agreement = tests[0]
    if word == "BLOCK":
        one = next(one for one in tests if _blocks(one))
        what = "no longer give what people accepted" if one is agreement else "became invalid"
        return (
            "The change is worse: keep what you have. "
            f"Of {count_in_words(one.pairs, 'pair')}, {one.worse:,} {what}, "
            f"and {one.better:,} got better."
        )
    if word == "PASS":
        return (
            "The change can land: it is not worse than what you have. "
            f"{count_in_words(agreement.pairs, 'pair')} were compared, enough to exclude that"
            f" more than {_rounded_up(margin)} in 100 get worse."
        )
    unclear = "This run cannot tell whether the change is worse."
    if not agreement.pairs:
        return f"{unclear} No session could be compared with what a person accepted."
    if hollow:
        return f"{unclear} Without the change, {HOLLOW[hollow[0]]}: nothing can be lost."
    if lacking := [one for one in tests if 0 < one.pairs < one.pairs_needed]:
        one = max(lacking, key=lambda one: one.pairs_needed)
        compared = f"{count_in_words(one.pairs, 'pair')} {'was' if one.pairs == 1 else 'were'}"
        differ = one.worse + one.better
        of_which = f", of which {differ:,} got worse or better" if differ else ""
        return (
            f"{unclear} {compared} compared{of_which}; to tell, it takes about"
            f" {math.ceil(one.pairs_needed / 10) * 10:,} such pairs."
        )
    one = max(tests, key=lambda one: one.worse + one.unknown)
    more = f", and {one.unknown:,} more came to no result" if one.unknown else ""
    pairs = count_in_words(one.pairs, "pair")
    return f"{unclear} {one.worse:,} of {pairs} got worse{more}: look at them."


def _sides(cases: Sequence[Case]) -> dict[str, list[RunMeasures]]:
    """Those of which a model was asked, by name."""
    unchanged = [case.recorded for case in cases if case.recorded and case.recorded.asked]
    changed = [case.candidate for case in cases if case.candidate and case.candidate.asked]
    return {"the unchanged side": unchanged, "the changed side": changed}


def _all_failed(sides: Sequence[RunMeasures]) -> bool:
    return bool(sides) and all(side.asked == side.unanswered for side in sides)


def _describe_failed_calls(cases: Sequence[Case]) -> str:
    """How many calls brought nothing, and what the first of them said; empty where none did."""
    sides = [side for some in _sides(cases).values() for side in some]
    first = next((side.failure for side in sides if side.failure), "")
    if not first:
        return ""
    failed, asked = sum(side.unanswered for side in sides), sum(side.asked for side in sides)
    return f"{failed:,} of {count_in_words(asked, 'call')} had no response; the first: {first}"


def _noise(cases: Sequence[Case]) -> Noise | None:
    found = [case.noise for case in cases if case.noise is not None]
    if not found:
        return None
    return Noise(
        runs=max(one.runs for one in found),
        agreement=_round_to_digits(sum(one.agreement for one in found) / len(found)),
        validity=_round_to_digits(sum(one.validity for one in found) / len(found)),
    )


def _strict(cases: Sequence[Case]) -> Verdict:
    damaged = sum(case.outcome == "damaged" for case in cases)
    judged = len(cases) - damaged
    differ = sum(case.outcome not in ("same", "damaged") for case in cases)
    also = f"; {damaged:,} damaged" if damaged else ""
    if not judged:
        return Verdict(word="INCONCLUSIVE", why=f"No session was judged{also}.")
    if differ:
        why = f"{differ:,} of {count_in_words(judged, 'session')} differ{also}."
        return Verdict(word="different", why=why)
    return Verdict(word="same", why=f"No difference in {count_in_words(judged, 'session')}{also}.")


def count_measure_pairs(cases: Sequence[Case], measure: Paired) -> PairCounts:
    """Of all sessions whose recorded side has the measure."""
    of = _MEASURES[measure]
    return count_pairs(
        (
            None if case.recorded is None else of(case.recorded),
            None if case.candidate is None else of(case.candidate),
            case.is_undecided and measure == "agreement",
            case.difference_count > 0,
        )
        for case in cases
    )


def _tests(counted: dict[Paired, PairCounts], margin: float) -> tuple[PairedTest, ...]:
    tested = sum(one.total > 0 for one in counted.values())
    level = ALPHA / max(1, tested)
    raw = {
        measure: (p_while_judging if one.waiting else mcnemar)(one.worse, one.better)
        for measure, one in counted.items()
        if one.total
    }
    adjusted = dict(zip(raw, holm(list(raw.values())), strict=True))
    return tuple(
        PairedTest(
            measure=measure,
            pairs=one.total,
            unknown=one.unknown,
            worse=one.worse,
            better=one.better,
            p=_round_to_digits(raw.get(measure, 1.0)),
            p_adjusted=_round_to_digits(adjusted.get(measure, 1.0)),
            loss=_round_to_digits((one.worse - one.better) / one.total if one.total else 0.0),
            loss_bound=_round_to_digits(
                loss_bound(one.worse + one.unknown, one.better, one.total + one.unknown)
            ),
            smallest_loss=_round_to_digits(smallest_loss(one.better, one.total, level)),
            pairs_needed=pairs_needed(one.worse + one.better, one.total, margin),
        )
        for measure, one in counted.items()
    )


def mcnemar(worse: int, better: int) -> float:
    """Chance of at least so many worse among the pairs that differ, were the change no loss.

    Source: McNemar 1947, exact and one-sided: a binomial tail.
    """
    if not worse:
        return 1.0
    return incomplete_beta(worse, better + 1, 0.5)


def p_while_judging(worse: int, better: int) -> float:
    """The same while a person judges, and may stop at each judgement: docs/specs/verdict.md, 3.

    Source: Ville 1939; Robbins 1970.
    """
    if worse <= better:
        return 1.0
    above = incomplete_beta(better + 1, worse + 1, 0.5)
    log_evidence = (worse + better + 1) * math.log(2) + _log_beta(worse + 1, better + 1)
    return min(1.0, 2 / above * math.exp(-log_evidence))


def holm(values: Sequence[float]) -> list[float]:
    """Adjusted for their number, in their own order.

    Source: Holm 1979.
    """
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, (len(values) - rank) * values[place])
        adjusted[place] = min(1.0, largest)
    return adjusted


def loss_bound(worse: float, better: float, total: int, level: float = 1 - ALPHA) -> float:
    """The largest loss that these pairs do not exclude; 1.0 without pairs.

    Where no pair got better, Tango's bound is too small: with 133 pairs, a loss at the margin
    passes in 6.8 % of all runs. Then a loss is a plain share, and Clopper and Pearson's is exact.

    Args:
        level: one-sided.
    """
    if not total or worse >= total:
        return 1.0
    found = tango(worse, better, total, level)
    if better:
        return found
    return max(found, clopper_pearson(worse, total, level))


def tango(worse: float, better: float, total: int, level: float) -> float:
    """The largest loss that the score test does not reject, of pairs that are not all worse.

    Source: Tango 1998, equations 8 and 16.
    """
    z = NormalDist().inv_cdf(level)
    return _crossing(
        lambda loss: score(worse, better, total, loss) <= -z, (worse - better) / total, 1.0
    )


def clopper_pearson(worse: float, total: int, level: float) -> float:
    """The largest share of which so few worse pairs are no surprise.

    Source: Clopper and Pearson 1934, the upper end.
    """
    return _crossing(
        lambda share: incomplete_beta(worse + 1, total - worse, share) >= level, 0.0, 1.0
    )


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function; of whole numbers, a tail of the binomial one.

    Source: Didonato and Morris 1992, equation 9, a continued fraction, summed by Lentz's method.
    """
    if x >= 1 or x <= 0:
        return float(x >= 1)
    if x > a / (a + b):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - _log_beta(a, b))
    numerator, denominator, fraction = 1.0, 0.0, 1.0
    for term in range(_TERMS_MAX):
        half = term // 2
        if term % 2:
            step = -(a + half) * (a + b + half) * x / ((a + term - 1) * (a + term))
        elif term:
            step = half * (b - half) * x / ((a + term - 1) * (a + term))
        else:
            step = 1.0
        denominator = 1 / (1 + step * denominator)
        numerator = 1 + step / numerator
        fraction *= numerator * denominator
        if abs(numerator * denominator - 1) < _LAST_TERM:
            break
    return front * (fraction - 1) / a


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _crossing(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Where something begins to hold between two numbers, at the second of which it does."""
    while high - low > _BOUND_TOLERANCE:
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def score(worse: float, better: float, total: int, loss: float) -> float:
    """Tango's statistic: how far the loss that was seen is above a supposed one, -1 < it < 1."""
    a = 2 * total
    b = (2 * total - worse + better) * loss - worse - better
    c = -better * loss * (1 - loss)
    share_better = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = total * (2 * share_better + loss * (1 - loss))
    distance = worse - better - total * loss
    if variance <= 0:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / math.sqrt(variance)


def smallest_loss(better: int, total: int, level: float) -> float:
    """The smallest loss that McNemar's test would show, with the pairs that got better as seen."""
    most = total - better
    if not total or mcnemar(most, better) > level:
        return 1.0
    return (
        _first_holding_number(lambda worse: mcnemar(worse, better) <= level, 0, most) - better
    ) / total


def pairs_needed(differing: int, total: int, margin: float) -> int:
    """Pairs with which a change without loss passes at this margin, in `POWER` of all runs.

    As many differ as among the pairs that were seen.
    """
    share = differing / total if total else 0.0
    spread = NormalDist().inv_cdf(POWER) * math.sqrt(share)

    def enough(size: int) -> bool:
        unlucky = min(spread * math.sqrt(size), share * size)
        worse, better = (share * size + unlucky) / 2, (share * size - unlucky) / 2
        return loss_bound(worse, better, size) < margin

    high = 1
    while high < PAIRS_MAX and not enough(high):
        high *= 2
    return _first_holding_number(enough, high // 2, high)


def judge_counts(counted: PairCounts, margin: float) -> VerdictWord:
    """The word of the verdict on pairs that are counted already, as of calls."""
    hollow: list[Paired] = ["agreement"] if counted.total and not counted.right else []
    word, _ = _judge_paired_tests(_tests({"agreement": counted}, margin), margin, hollow)
    return word


def describe_power(pairs: int, margin: float) -> str:
    """What so many pairs could find at best, of which none differs by chance."""
    shown, excluded = smallest_loss(0, pairs, ALPHA), loss_bound(0, 0, pairs)
    return (
        f"{count_in_words(pairs, 'pair')} can at best show {_describe_detectable_loss(shown)},"
        f" or that the loss is below {_points(excluded)}; the margin is {_points(margin)}"
    )


def _first_holding_number(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number for which it holds, of those up to `high`, for which it does."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _judge_paired_tests(
    tests: tuple[PairedTest, ...], margin: float, hollow: Sequence[Paired]
) -> tuple[VerdictWord, str]:
    """The word, and its figures."""
    if blocked := [one for one in tests if _blocks(one)]:
        return "BLOCK", "Worse: " + "; ".join(map(_is_worse, blocked)) + "."
    agreement = tests[0]
    if not agreement.pairs:
        lost = ""
        if agreement.unknown:
            lost = f"{count_in_words(agreement.unknown, 'pair')} came to no result; "
        return "INCONCLUSIVE", f"{lost}{_describe_needed(agreement)}.".capitalize()
    if hollow:
        return "INCONCLUSIVE", ""
    if all(one.loss_bound < margin for one in tests):
        bounds = ", ".join(f"{one.measure} at most {_points(one.loss_bound)}" for one in tests)
        said = f"With 95 % confidence, the loss is below {_points(margin)}: {bounds}."
        return "PASS", said
    return "INCONCLUSIVE", "; ".join(
        f"{one.measure} may be {_points(one.loss_bound)} worse{_unknown(one)}:"
        f" {count_in_words(one.pairs, 'pair')} can show"
        f" {_describe_detectable_loss(one.smallest_loss)}"
        + (f", and {_describe_needed(one)}" if one.pairs_needed > one.pairs else "")
        for one in tests
        if one.loss_bound >= margin
    ).capitalize() + "."


def _blocks(one: PairedTest) -> bool:
    return one.pairs > 0 and one.p_adjusted <= ALPHA


def shows_difference(cases: Sequence[Case]) -> bool:
    """Whether the change makes a difference that chance does not, so that a cause may be named.

    A change that makes none is taken for one in at most 5 of 10,000 runs.

    Source: docs/specs/regress.md, section 7.
    """
    drifts = [case.drift for case in cases]
    counts = [(drifts.count("changed"), drifts.count("unchanged"))]
    for measure in _MEASURES:
        one = count_measure_pairs(cases, measure)
        counts += [(one.worse, one.better), (one.better, one.worse)]
    return any(mcnemar(more, less) <= NAMED for more, less in counts)


def _is_worse(one: PairedTest) -> str:
    return (
        f"{one.measure} in {one.worse:,} of {count_in_words(one.pairs, 'pair')}"
        f", better in {one.better:,} (p = {one.p_adjusted:.2g})"
    )


def _unknown(one: PairedTest) -> str:
    return f" ({one.unknown:,} without a result count as worse)" if one.unknown else ""


def _describe_detectable_loss(smallest: float) -> str:
    return f"a loss of {_points(smallest)} or more" if smallest < 1.0 else "no loss"


def _describe_needed(one: PairedTest) -> str:
    return f"a change that loses nothing passes with {count_in_words(one.pairs_needed, 'pair')}"


def _points(share: float) -> str:
    """`1 point`, `2.5 points`: in percentage points."""
    rounded = _rounded_up(share)
    return f"{rounded} point" if rounded == "1" else f"{rounded} points"


def _rounded_up(share: float) -> str:
    """In 100, so that no bound looks better than it is."""
    return f"{math.ceil(share * 1000 - 1e-6) / 10:g}"


def _round_to_digits(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
