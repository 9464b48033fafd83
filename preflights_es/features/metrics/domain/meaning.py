"""What a question asks of one metric; every word of it is used, or it is named.

A silently wrong answer is the worst outcome, so nothing is guessed: a word that is neither of the
catalogue, nor a time, nor of `question_words.py` is left over, and so is a word of an operation
that fits nothing around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Final

from msgspec.structs import replace

from preflights_es.features.metrics.domain import question_words as known
from preflights_es.features.metrics.domain.composing import (
    Comparison,
    Group,
    Meant,
    Top,
    aggregate,
    has_aggregate,
    lists_day,
    measure,
)
from preflights_es.features.metrics.domain.events import END_DAY, FIRST_DAY, Matched, Metric
from preflights_es.features.metrics.domain.question import (
    Chunk,
    Token,
    Walk,
    chunks,
    content,
    lexicon_of,
    names_of,
    plain,
    times,
    tokens,
    without_group,
)
from preflights_es.features.metrics.domain.ranges import OddRange, Range
from preflights_es.kernel.questions import Language
from preflights_es.kernel.text import late_pattern

_YEAR: Final = late_pattern("(?:19|20)[0-9]{2}")
ADDED_UP: Final = ("sum", "count", "total")  # aggregates of which a part has a share


def meaning(
    text: str,
    metric: Metric,
    matched: Iterable[Matched] = (),
    today: date | None = None,
    *,
    goes_on: bool = False,
    language: Language = "en",
) -> Meant:
    """What a text asks of a metric.

    Args:
        matched: values of the database that are words of the text.
        today: None where no day is known; then words of time are left over.
        goes_on: whether days were named before: then "the previous month" may count from those.
        language: how numbers are written.
    """
    text = plain(text)
    words = tokens(text)
    lexicon = lexicon_of(metric, matched)
    try:
        found = times(text, words, lexicon, today)
    except OddRange:
        meant = _Reading(metric, words, chunks(words, lexicon, (), language)).meant()
        return replace(meant, asks_days=True, left=meant.left or (text,))
    if goes_on:
        found = [one for one in found if not _counts_from_others(words[one[1] : one[2] + 1])]
    return _Reading(metric, words, chunks(words, lexicon, found, language)).meant()


def _counts_from_others(words: Sequence[Token]) -> bool:
    """Whether days may count from those of before: the previous month, the week before."""
    is_behind = words[-1].text in ("before", "davor") and len(words) > 1
    return is_behind or any(one.text.startswith(known.BEFORE_THAT) for one in words)


class _Reading(Walk):
    """Binds the chunks of a text to one metric; what no rule takes is left over."""

    def __init__(self, metric: Metric, words: Sequence[Token], chunks: list[Chunk]) -> None:
        super().__init__(words, chunks)
        self._metric = metric
        self._name_more_words()
        self._is_list = not has_aggregate(metric.sql)
        self._include: dict[str, list[str]] = {}
        self._exclude: dict[str, list[str]] = {}
        self._doubtful: list[tuple[str, tuple[str, ...]]] = []

    def meant(self) -> Meant:
        """All rules, the narrow ones first."""
        compared, over = self._comparisons()
        groups = self._by()
        top, of_top = self._top(groups)
        groups = groups or of_top
        if over and not groups:
            groups = self._bare(("dimension",))
            over = over if groups else self._undone()
        freed = self._freed()
        lacking = self._lacking(groups)
        newest = self._newest() if self._is_list else None
        compares = self._operations("compare")
        self._values_left_out()
        share = self._share(groups)
        self._values_wanted(compares)
        days = self._days(compares)
        groups = self._compared_values(compares, days, groups)
        is_average = self._average(groups)
        is_total = False
        for n in self._operations("in all"):
            # `in Denmark and in total` asks two things.
            if not self._joins(n - 1, known.JOINS):
                self._used.add(n)
                is_total = True
        if aggregate(self._metric.sql) in ADDED_UP:
            self._all_at(("sum",))
        if aggregate(self._metric.sql) == "count":
            self._all_at(("number of",))
        if self._is_list or top or over or share or newest:
            self._all_at(("which",))
        self._name_what_adds_nothing()
        return Meant(
            include={column: tuple(values) for column, values in self._include.items()},
            exclude={column: tuple(values) for column, values in self._exclude.items()},
            compared=tuple(compared),
            over=tuple(over),
            groups=tuple(dict.fromkeys(groups)),
            top=top,
            share=share,
            is_average=is_average,
            days=days,
            is_total=is_total,
            freed=freed,
            lacking=lacking,
            newest=newest,
            left=tuple(self._left()),
            asks_days=any(
                one.kind == "time" and n not in self._used for n, one in enumerate(self._chunks)
            ),
            is_empty=not any(one.kind for one in self._chunks),
            says_all=any(
                self._is(n, "metric") and n and self._words_of(n - 1)[0].text in known.ALL
                for n, _ in enumerate(self._chunks)
            ),
            names_metric=any(one.kind == "metric" for one in self._chunks),
            doubtful=tuple(self._doubtful),
        )

    # Groups ---------------------------------------------------------------------------------

    def _bare(self, kinds: tuple[str, ...]) -> list[Group]:
        """Dimensions and steps that stand alone; each is used by who asks."""
        found = [
            n for n, one in enumerate(self._chunks) if n not in self._used and one.kind in kinds
        ]
        found = [n for n in found if not self._is_beside_value(n) and not self._is_counted(n)]
        if len(found) != 1:
            return []
        self._used.add(found[0])
        group = self._group(found[0])
        return [group] if group else []

    def _group(self, n: int) -> Group | None:
        chunk = self._chunks[n]
        if chunk.kind == "dimension":
            return Group(chunk.what[0]) if len(chunk.what) == 1 else None
        if chunk.kind in ("step", "each") and self._metric.date:
            return Group("", chunk.what[0])
        return None

    # Rules ----------------------------------------------------------------------------------

    def _name_more_words(self) -> None:
        """`decisions that were accepted` says the name `accepted decisions` as well."""
        there = {
            word.stem: n
            for n, one in enumerate(self._chunks)
            if one.kind in ("word", "metric", "unit", "operation")
            for word in self._words_of(n)
        }
        names = (without_group(one, self._metric) for one in names_of(self._metric))
        phrases = [content(one) for one in names]
        whole = [one for one in phrases if one <= there.keys()]
        said = [{word.stem for word in self._words_of(n)} for n in self._used]
        for phrase in whole:
            is_said = any(phrase <= words for words in said)
            if not is_said and not any(phrase < other for other in whole):
                self._used.update(there[one] for one in phrase)

    def _comparisons(self) -> tuple[list[Comparison], list[Comparison]]:
        rows: list[Comparison] = []
        groups: list[Comparison] = []
        for n, chunk in enumerate(self._chunks):
            if chunk.kind != "number" or n in self._used:
                continue
            sign, marks, behind = self._sign(n)
            if not sign:
                continue
            found = self._bound(min(marks, default=n), behind, marks)
            if found is None:
                continue
            column, used = found
            numbers = [str(self._chunks[one].what) for one in used if self._is(one, "number")]
            low, high = numbers[0], numbers[-1]
            made = (
                [Comparison(column, ">=", low), Comparison(column, "<=", high)]
                if sign == "between"
                else [Comparison(column, sign, low)]
            )
            (rows if column else groups).extend(made)
            self._used.update(used)
        return rows, groups

    def _sign(self, n: int) -> tuple[str, list[int], int]:
        """The sign in front of or behind a number, the chunks that say both, and what is behind."""
        before = n - 1
        unit_before = [before] if self._is(before, "unit") else []  # above €500
        before -= len(unit_before)
        for name in (">", ">=", "<", "<=", "="):
            if self._is(before, "operation", name):
                if unit_before:
                    return name, [before, n], before + 1
                return name, [before, n], n + 1
        if (
            self._is(before, "operation", "between")
            and self._is(n + 1, "")
            and self._is(n + 2, "number")
        ):
            return "between", [before, n, n + 2], n + 3
        unit = n + 1 if self._is(n + 1, "unit") else n
        for name in (">=", "<="):
            if self._is(unit + 1, "operation", f"{name} behind"):
                return name, [n, unit + 1], n + 1
        return "", [], n + 1

    def _bound(self, first: int, behind: int, marks: list[int]) -> tuple[str, list[int]] | None:
        """The column that a number is compared with, empty for the metric; and what says so."""
        before = self._before(first)
        named = [one for one in self._columns(before) if one]
        if self._is(behind, "unit"):
            columns = set(self._columns(behind))
            used = [*marks, behind]
            if len(named) == 1 and named[0] in columns:
                return named[0], [*used, before]
            if len(columns) > 1 and self._operations("top", "most", "least"):
                return None
            if self._is(before, "metric") and "" in columns and self._has_groups():
                return "", used
            if not self._has_groups():
                columns.discard("")  # a single number has nothing to be left out of
            return (columns.pop(), used) if len(columns) == 1 else None
        if len(named) == 1:
            return named[0], [*marks, before]
        # `orders over 100`: 100 of them, or of 100 each.
        is_unclear = aggregate(self._metric.sql) == "count" and bool(self._metric.numbers)
        is_named = self._is(before, "metric") and not is_unclear
        return ("", marks) if self._is(behind, "metric") or is_named else None

    def _has_groups(self) -> bool:
        """Whether anything stands there that could be a group."""
        kinds = ("dimension", "each", "step")
        return any(
            one.kind in kinds and not self._is_beside_value(n) for n, one in enumerate(self._chunks)
        )

    def _undone(self) -> list[Comparison]:
        """A comparison of groups where there are none: its words are left over."""
        signs = (">", ">=", "<", "<=", "=", "between", ">= behind", "<= behind")
        self._used.difference_update(
            n for n in [*self._used] if self._is(n, "number") or self._is(n, "operation", *signs)
        )
        return []

    def _by(self) -> list[Group]:
        groups: list[Group] = []
        said = [n for n, one in enumerate(self._chunks) if one.kind]
        is_answer = all(
            self._chunks[n].kind in ("dimension", "step") and not self._is_counted(n) for n in said
        )
        if said and is_answer and not any(word.text in known.ALL for word in self._words):
            # The answer to the question back.
            answered = [group for n in said if (group := self._group(n))]
            self._used.update(said if len(answered) == len(said) else ())
            return answered if len(answered) == len(said) else []
        for n, chunk in enumerate(self._chunks):
            if chunk.kind == "each" and n not in self._used and self._metric.date:
                self._used.add(n)
                groups.append(Group("", chunk.what[0]))
        for n in self._operations("by"):
            at = n + 1
            listed: list[int] = []
            while self._is(at, "dimension") or self._is(at, "step"):
                if self._group(at) is None or self._is(at + 1, "value"):
                    break
                listed.append(at)
                at = at + 2 if self._joins(at + 1, known.JOINS) else at + 1
            if listed:
                self._used.update((n, *listed))
                groups += [group for one in listed if (group := self._group(one))]
            elif self._is(self._next(n), "value") and not self._is(
                self._next(n) - 1, "operation", "not"
            ):
                # accepted by Ada; `nach Dänemark` could be something else
                self._used.update((n,) if self._words_of(n)[0].text == "by" else ())
        return groups

    def _top(self, groups: Sequence[Group]) -> tuple[Top | None, list[Group]]:
        found = self._operations("top", "most", "least")
        if len(found) != 1:
            return None, []
        (n,) = found
        count = self._count_beside(n)
        if count is None:  # which three markets had the most
            count = next(
                (
                    one
                    for one, _ in enumerate(self._chunks)
                    if self._is_count(one) and one not in self._used
                    if self._is(one + 1, "dimension") or self._is(one + 1, "step")
                    if self._is(one - 1, "operation", "which") or self._is(one - 1, "")
                ),
                None,
            )
        is_top = self._is(n, "operation", "top")
        if is_top and (count is None or count < n):
            return None, []
        if groups:
            return None, []  # the first of each group, or the first groups
        subject = self._bare(("dimension", "step"))
        if not subject or measure(self._metric.sql) is None:
            return None, []
        self._used.update((n, *(() if count is None else (count,))))
        for by in self._operations("by"):
            if self._is(self._next(by), "metric"):
                self._used.add(by)
        return Top(self._places(count), not self._is(n, "operation", "least")), subject

    def _freed(self) -> tuple[str, ...]:
        """`all markets` says that no filter holds."""
        found = [
            n
            for n, one in enumerate(self._chunks)
            if one.kind == "dimension" and len(one.what) == 1 and n not in self._used
            if self._is(n - 1, "") and self._words_of(n - 1)[0].text in known.ALL
        ]
        self._used.update(found)
        return tuple(self._chunks[n].what[0] for n in found)

    def _lacking(self, groups: Sequence[Group]) -> tuple[str, ...]:
        """`without a reason`: dimensions that are empty."""
        found: list[str] = []
        for n in self._operations("not", "none"):
            at = n + 1
            while self._is(at, "") and self._words_of(at)[0].text in known.ARTICLES:
                at += 1
            is_bare = self._is(at, "dimension") and not self._is_beside_value(at)
            is_bare = is_bare and self._words_of(n)[0].text in known.WITHOUT
            if is_bare and self._chunks[at].what[0] in {one.column for one in groups}:
                continue  # without the group, or without a value
            if is_bare and len(self._chunks[at].what) == 1 and at not in self._used:
                self._used.update((n, at))
                found.append(self._chunks[at].what[0])
        return tuple(found)

    def _newest(self) -> Top | None:
        """`the last 5 decisions`, `the oldest decision`."""
        found = self._operations("newest", "oldest")
        if len(found) != 1 or not lists_day(self._metric):
            return None
        (n,) = found
        count = self._count_beside(n)
        if count is None and self._words_of(n)[0].text in known.NEEDS_NUMBER:
            return None
        self._used.update((n, *(() if count is None else (count,))))
        return Top(self._places(count), self._is(n, "operation", "newest"))

    def _values_left_out(self) -> None:
        for n in self._operations("not"):
            at = n + 1
            while self._is(at, "") and self._words_of(at)[0].text not in known.NARROWED:
                at += 1
            if (
                self._is(at, "dimension")
                and self._is_beside_value(at)
                and self._is(at + 1, "value")
            ):
                self._used.add(at)
                at += 1
            listed = self._list_of_values(at)
            # `without Denmark and web`: whether the second is left out is not clear.
            goes_on = listed and self._joins(listed[-1] + 1, known.JOINS)
            goes_on = goes_on and self._is(listed[-1] + 2, "value")
            goes_on = goes_on or (listed and self._is(listed[-1] + 1, "value"))
            if listed and not goes_on:
                self._used.update((n, *listed))
                for one in listed:
                    self._take(one, self._exclude)

    def _list_of_values(self, at: int) -> list[int]:
        """Values of one column from a place on: `Denmark, Sweden and Norway`."""
        listed: list[int] = []
        while self._is(at, "value") and at not in self._used:
            columns = {column for column, _ in self._chunks[at].what}
            if listed and columns.isdisjoint(c for c, _ in self._chunks[listed[0]].what):
                break
            listed.append(at)
            at = (
                at + 2 if self._joins(at + 1, known.JOINS) and self._is(at + 2, "value") else at + 1
            )
        return listed

    def _take(self, n: int, into: dict[str, list[str]]) -> None:
        """A value, of the one column that it can be of."""
        self._used.add(n)
        what = self._chunks[n].what
        columns = dict.fromkeys(column for column, _ in what)
        said_of = [
            one
            for one in (self._before(n), n + 1)
            if self._is(one, "dimension") and not columns.keys().isdisjoint(self._chunks[one].what)
        ]
        if not said_of:  # how many did Ada, since March, accept
            elsewhere = [
                one
                for one, chunk in enumerate(self._chunks)
                if chunk.kind == "dimension" and one not in self._used
                if not columns.keys().isdisjoint(chunk.what)
            ]
            said_of = elsewhere if len(elsewhere) == 1 and len(columns) > 1 else []
        if said_of:
            self._used.add(said_of[0])
            columns = {c: None for c in columns if c in self._chunks[said_of[0]].what}
        if len(columns) > 1:
            text = " ".join(one.raw for one in self._words_of(n))
            self._doubtful.append((text, tuple(columns)))
            return
        for column, value in what:
            if column in columns and value not in into.setdefault(column, []):
                into[column].append(value)

    def _share(self, groups: Sequence[Group]) -> dict[str, tuple[str, ...]] | None:
        found = self._operations("share")
        if len(found) != 1 or aggregate(self._metric.sql) not in ADDED_UP:
            return None
        (n,) = found
        at = self._next(n)
        if self._is(at, "dimension") and self._is_beside_value(at):
            at += 1
        listed = self._list_of_values(at)
        free = [
            m for m, one in enumerate(self._chunks) if one.kind == "value" and m not in self._used
        ]
        if groups:
            if listed or free:
                return None
            self._used.add(n)
            return {}
        numerator = listed or free
        if set(free) - set(numerator):
            return None  # of two values, either may be the part
        part: dict[str, list[str]] = {}
        for one in numerator:
            self._take(one, part)
        if len(part) != 1:
            self._used.difference_update((n, *numerator))
            return None
        self._used.add(n)
        return {column: tuple(values) for column, values in part.items()}

    def _values_wanted(self, compares: list[int]) -> None:
        """Values of one column stand in one list, or are compared; any other is left over."""
        n = 0
        while n < len(self._chunks):
            listed = self._list_of_values(n)
            columns = {column for one in listed for column, _ in self._chunks[one].what}
            is_new = columns.isdisjoint(self._include) and columns.isdisjoint(self._exclude)
            if listed and (is_new or compares):
                for one in listed:
                    self._take(one, self._include)
            n = max([n, *listed]) + 1
        for n, chunk in enumerate(self._chunks):
            if chunk.kind == "operation" and self._joins(n, known.JOINS):
                beside = (n - 1, n + 1)
                if all(self._is(one, "value") and one in self._used for one in beside):
                    of = [{column for column, _ in self._chunks[m].what} for m in beside]
                    self._used.update((n,) if of[0] & of[1] else ())

    def _days(self, compares: list[int]) -> tuple[Range, ...]:
        times = [n for n, one in enumerate(self._chunks) if one.kind == "time"]
        is_dated = FIRST_DAY in self._metric.sql or END_DAY in self._metric.sql
        is_pair = len(times) == 2 and bool(compares) and not self._is_unclear(times)
        is_pair = is_pair and not self._is_on_both_sides(compares)
        if not is_dated or (len(times) > 1 and not is_pair):
            return ()
        self._used.update(times)
        if is_pair:
            self._used.update(compares)
        for n in times:
            before = self._before(n)
            is_over = self._is(before, "operation", ">")
            is_ago = self._words_of(n)[-1].text == "ago" or self._words_of(n)[0].text == "vor"
            if is_over and not is_ago and self._words_of(before)[0].text in ("over", "über"):
                self._used.add(before)
        return tuple(self._chunks[n].what for n in times)

    def _is_on_both_sides(self, compares: Sequence[int]) -> bool:
        """Whether values of one column are compared as well: Denmark in May with Sweden in June."""
        values = [n for n, one in enumerate(self._chunks) if one.kind == "value"]
        columns = {n: {column for column, _ in self._chunks[n].what} for n in values}
        times = [n for n, one in enumerate(self._chunks) if one.kind == "time"]
        return any(
            columns[a] & columns[b]
            and a < times[-1]
            and any(a < t < b for t in (*times, *compares))
            for a in values
            for b in values
            if a < b
        )

    def _is_unclear(self, times: Sequence[int]) -> bool:
        """Whether one of two ranges counts from today and the other does not."""
        texts = [" ".join(one.text for one in self._words_of(n)) for n in times]
        years = [any(_YEAR.fullmatch(one.text) for one in self._words_of(n)) for n in times]
        if any(years) and not all(years):  # October and November 2025
            return not texts[years.index(False)].startswith(known.COUNTED)
        counted = [text.startswith(known.BEFORE_NOW) for text in texts]
        return any(counted) and not any(text.startswith(known.OF_NOW) for text in texts)

    def _compared_values(
        self, compares: list[int], days: Sequence[Range], groups: list[Group]
    ) -> list[Group]:
        if not compares or len(days) == 2:
            return groups
        several = [column for column, values in self._include.items() if len(values) > 1]
        if len(several) == 1 and self._stand_together(several[0]):
            self._used.update(compares)
            return [*groups, Group(several[0])]
        return groups

    def _stand_together(self, column: str) -> bool:
        """Whether no value of another column stands between those that are compared."""
        of = [
            {one for one, _ in chunk.what} if chunk.kind == "value" else set[str]()
            for chunk in self._chunks
        ]
        at = [n for n, columns in enumerate(of) if column in columns]
        return all(not of[n] or column in of[n] for n in range(at[0], at[-1] + 1))

    def _average(self, groups: Sequence[Group]) -> bool:
        found = self._operations("average")
        if not found:
            return False
        if aggregate(self._metric.sql) == "avg":
            self._used.update(found)
            return False
        adds_up = aggregate(self._metric.sql) in ADDED_UP
        if len(groups) == 1 and adds_up and measure(self._metric.sql) is not None:
            self._used.update(found)
            return True
        return False

    def _name_what_adds_nothing(self) -> None:
        """`caused by ice` says no more than `ice`, and `revenue in euro` what the metric is in."""
        for n in self._operations("of value"):
            if self._is(self._next(n), "value"):
                self._used.add(n)
        for n, _ in enumerate(self._chunks):
            if self._is(n, "unit", "") and n and self._words_of(n - 1)[0].text == "in":
                self._used.add(n)

    def _left(self) -> Iterator[str]:
        """Words that no rule took, those that stand together in one text."""
        run: list[str] = []
        last = -2
        for n, _ in enumerate(self._chunks):
            # A list does not say how many there are.
            is_count = self._is_list and self._words_of(n)[0].text in known.HOW_MANY
            if n in self._used and not is_count:
                continue
            words = " ".join(one.raw for one in self._words_of(n))
            if n == last + 1 and self._is(n, "word") and self._is(last, "word"):
                run.append(words)
            else:
                if run:
                    yield " ".join(run)
                run = [words]
            last = n
        if run:
            yield " ".join(run)
