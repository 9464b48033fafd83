"""4,000 queries of every node that is allowed, with hostile texts in every argument."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from random import Random
from typing import Any, Final

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from preflights_es.features.metrics.domain.events import Dialect, Table
from preflights_es.features.metrics.domain.sql_check import findings, render_checked_query
from preflights_es.features.metrics.domain.sql_tree import FUNCTIONS, NODES, RAW, TYPES

QUERIES: Final = 2_000  # of each dialect
TABLES: Final = (Table("orders"),)
STOLEN: Final = "(SELECT token FROM secret)"
TEXTS: Final = (
    *("", "a", "day", "YEAR", "%Y-%m", "2026-11-23", "1 day", "10", "UTC", "$.a", "a.b[0]"),
    *(f"a, {STOLEN}", f"year FROM now()), {STOLEN}, extract(year", f"10)), {STOLEN}, ((a"),
    *(f"', {STOLEN}, '", f'", {STOLEN}, "', f"\\', {STOLEN}, \\'", f"''', {STOLEN}, '''"),
    *(f"day') + {STOLEN} + ('", f"a] || {STOLEN} || [", f"`, {STOLEN}, `", f"$$, {STOLEN}, $$"),
    *(f"a -- {STOLEN}", f"a */ , {STOLEN} /*", "a; SELECT * FROM secret; --", "\\", "'", '"', "''"),
    *("__SQLGLOT__LB__", "a\nb", "\x00", "\u2028", "%s", ":a", "?", "$1", "{a}", "user", "Ä"),
    *(f"x AS TEXT), {STOLEN}, CAST(a", "a FROM secret UNION SELECT a", f"w), {STOLEN} OVER (w"),
)
WRITTEN_AS_OTHERS: Final = {"SafeConcat", "MakeDate"}
"""Names of older versions of sqlglot."""
_QUOTED: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", re.DOTALL)


class Made:
    """Trees of allowed nodes, whose arguments are hostile."""

    def __init__(self, dialect: Dialect, seed: int) -> None:
        self._dialect, self._random = dialect, Random(seed)
        self._classes = [found for name in sorted(NODES) if (found := getattr(exp, name, None))]

    def text(self) -> str:
        """One, or two together."""
        one = self._random.choice(TEXTS)
        return one + self._random.choice(TEXTS) if self._random.random() < 0.1 else one

    def part(self) -> exp.Expr:
        """What stands in an argument."""
        text, chosen = self.text(), self._random.randrange(12)
        match chosen:
            case 0 | 1:
                return exp.Literal.string(text)
            case 2:
                return exp.Literal(this=text, is_string=False)
            case 3 | 4:
                return exp.column(exp.to_identifier(text, quoted=True))
            case 5:
                return exp.Var(this=self._random.choice((text, *sorted(RAW["Var", "this"]))))
            case 6:
                return exp.Identifier(this=text, quoted=self._random.random() < 0.7)
            case 7:
                return exp.Interval(this=exp.Literal.string(text), unit=exp.Var(this=self.text()))
            case 8:
                return exp.Cast(this=exp.column("a"), to=self.sized())
            case 9:
                name = self._random.choice(sorted(FUNCTIONS))
                return exp.Anonymous(this=name, expressions=[self.part()])
            case _:
                return exp.column("a")

    def sized(self) -> exp.DataType:
        """With something in its brackets."""
        kind = exp.DType[self._random.choice(sorted(TYPES))]
        made = exp.DataType(this=kind)
        if self._random.random() < 0.7:
            size = self.part() if self._random.random() < 0.5 else exp.Literal.number(10)
            made.append("expressions", exp.DataTypeParam(this=size))
        return made

    def node(self) -> exp.Expr:
        """A node of the list; each string that is no node's is one, too."""
        found = self._random.choice(self._classes)
        args: dict[str, Any] = {}
        for name, is_needed in found.arg_types.items():
            if is_needed or self._random.random() < 0.25:
                args[name] = self._argument(found, name)
        if found is exp.DataType:
            return self.sized()
        if found is exp.Literal or found is exp.Identifier:
            return self.part()
        made: exp.Expr = found(**args)
        return made

    def _argument(self, found: type[exp.Expr], name: str) -> Any:
        if raw := RAW.get((found.__name__, name)):
            return self._random.choice((self.text(), *sorted(raw)))
        if name in ("expressions", "joins", "laterals", "order", "partition_by"):
            return [self.part() for _ in range(self._random.randrange(3))]
        if name == "to":
            return self.sized()
        if name in ("quoted", "distinct", "desc", "negate", "is_string", "safe", "typed"):
            return self._random.random() < 0.5
        return self.text() if self._random.random() < 0.2 else self.part()

    def queries(self) -> Iterator[tuple[str, str]]:
        """The name of a node, and a query that holds it."""
        while True:
            try:
                made = self.node()
                tree = exp.select(exp.alias_(made, "v")).from_("orders")
                if self._random.random() < 0.2:
                    tree = tree.where(exp.EQ(this=self.part(), expression=exp.column("a")))
                yield type(made).__name__, tree.sql(dialect=self._dialect, copy=False)
            except (SqlglotError, AttributeError, TypeError, ValueError, KeyError, IndexError):
                continue  # no tree that a parser makes


def read_by_sqlite(database: sqlite3.Connection, text: str) -> set[str]:
    """The tables that SQLite itself reads for a query; none where it does not take it."""
    found: set[str] = set()

    def seen(action: int, first: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ and first:
            found.add(first)
        return sqlite3.SQLITE_OK

    database.set_authorizer(seen)
    try:
        database.execute(f"EXPLAIN {text}")
    except (sqlite3.Error, ValueError):
        return set()
    return found


@pytest.mark.slow("fuzzing")
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_what_passes_is_rendered_as_what_was_judged(dialect: Dialect) -> None:
    made: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    read = 0
    queries = Made(dialect, seed=24).queries()
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE orders (a, day)")
        database.execute("CREATE TABLE secret (token)")
        for _ in range(QUERIES):
            name, sql = next(queries)
            made[name] += 1
            if findings(sql, dialect, TABLES):
                continue
            passed[name] += 1
            text = render_checked_query(sql, dialect)
            assert not findings(text, dialect, TABLES), sql
            one, two = (sqlglot.parse_one(found, read=dialect) for found in (sql, text))
            assert texts(one) == texts(two), sql
            assert two.sql(dialect, pretty=True, comments=False, copy=False) == text, sql
            assert "secret" not in _QUOTED.sub("", text), sql
            if dialect == "sqlite":
                found = read_by_sqlite(database, text)
                assert found <= {"orders", ""}, sql
                read += bool(found)
    missing = NODES - made.keys() - WRITTEN_AS_OTHERS
    assert not missing, missing
    assert passed.total() > QUERIES / 3, passed
    assert len(passed) > 100, passed
    assert dialect == "postgres" or read > QUERIES / 10


def texts(tree: exp.Expr) -> list[str]:
    """What a query holds in quotes."""
    return sorted(one.name for one in tree.find_all(exp.Literal) if one.is_string)
