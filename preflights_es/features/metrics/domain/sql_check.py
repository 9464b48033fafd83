"""Whether a text is one query that reads the tables of a catalogue, and nothing else (seed 4).

Everything is refused that is not known to be harmless: nodes of the syntax tree and functions are
allow-lists, since a parser learns new ones. The text that is rendered from a tree is what is shown
and run, so it is read and judged again: sqlglot writes some names and texts out as raw SQL.
Findings are in our own words, in an order of our own, and quote the query alone: what sqlglot says
changes with its version, and a log keeps findings.
Imports sqlglot, and so is imported only where a query is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from preflights_es.features.metrics.domain.events import (
    END_DAY,
    FIRST_DAY,
    QUOTED_MAX,
    SQL_MAX,
    Dialect,
    Table,
)
from preflights_es.kernel.errors import WorkflowMissing
from preflights_es.kernel.text import late_pattern, shortened

if TYPE_CHECKING:
    from sqlglot import exp

NESTED_MAX: Final = 40  # brackets inside brackets; a parser takes long for more
SQUARE_MAX: Final = 100  # square brackets, which take a parser longer still
LEVELS_MAX: Final = 200  # of the syntax tree
FINDINGS_MAX: Final = 5
UNREADABLE: Final = "this is not readable as SQL"
NESTED: Final = f"it nests brackets deeper than {NESTED_MAX}"
DEEP: Final = f"it has more than {LEVELS_MAX} levels"
LONG: Final = f"it is longer than {SQL_MAX:,} characters"
EMPTY: Final = "there is no statement"
SEVERAL: Final = "expected one statement, found several"
REWRITTEN: Final = "it would be written out as another query: use plainer SQL"
_QUIET: Final = NullHandler()
P = ParamSpec("P")
T = TypeVar("T")
_KEYWORDS: Final = frozenset(
    """
    select from join where having on using in and or not as over filter by when then else case
    exists any all some values union intersect except distinct with between like is limit
    """.split()  # noqa: SIM905  one word a comma would fill the screen
)
"""Words before a bracket that are no functions."""
_CALLED: Final = late_pattern(r"([A-Za-z_][A-Za-z0-9_]*)\s*\(")


class NoExtra(WorkflowMissing):
    """The packages that read SQL and YAML are not installed."""

    def __init__(self) -> None:
        # A log that lacks the package names the workflow; a question that is put names the extra.
        needed = "need the extra `metrics`"
        super().__init__("metrics", f"its sessions {needed}")
        self.args = (f"questions about data {needed}",)
        self.fields = {"extra": "metrics"}


def _on_a_stack_of_its_own(judged: Callable[P, T]) -> Callable[P, T]:
    """What is too deep for a parser must not depend on the depth of its caller: a log keeps it."""

    @wraps(judged)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(judged, *args, **kwargs).result()

    return called


@_on_a_stack_of_its_own
def findings(sql: str, dialect: Dialect, tables: Collection[Table]) -> tuple[str, ...]:
    """What is wrong with a query; nothing where its rendered text may be shown and run."""
    tree = _parse_query_statement(sql, dialect)
    if isinstance(tree, str):
        return (tree,)
    from preflights_es.features.metrics.domain.sql_tree import FUNCTION, IN_ORDER, of_tree

    if found := of_tree(tree, tables, dialect):
        known = [one for one in IN_ORDER if one in found]
        calls = _list_called_functions(sql) if FUNCTION in found else ""
        ours = (f"{one}{calls}" if one is FUNCTION else one for one in known)
        return (*ours, *sorted(found.difference(IN_ORDER)))[:FINDINGS_MAX]
    return () if _is_fixed(tree, dialect, tables) else (REWRITTEN,)


@_on_a_stack_of_its_own
def render_checked_query(sql: str, dialect: Dialect) -> str:
    """A checked query as it is shown and run: one statement, without comments.

    Its own definitions are computed once each: a planner would copy them into one another.
    """
    tree = _parse_query_statement(sql, dialect)
    assert not isinstance(tree, str), "the query passed the check"
    return _render_query_tree(tree, dialect)


def bound(text: str, views: str) -> str:
    """A rendered query with definitions in front of it.

    Args:
        views: one or more parts of a WITH clause, `name AS (SELECT ...)`.
    """
    if not views:
        return text
    own = text.removeprefix("WITH ")
    return f"WITH {views}{' ' if own == text else ', '}{own}"


@_on_a_stack_of_its_own
def tables_of(sql: str, dialect: Dialect) -> tuple[str, ...]:
    """The tables that a query reads, without those that it defines; none of what is no query."""
    tree = _parse_query_statement(sql, dialect)
    if isinstance(tree, str):
        return ()
    from sqlglot import exp

    from preflights_es.features.metrics.domain.sql_tree import defined_name, table_name

    own = {defined_name(one, dialect) for one in tree.find_all(exp.CTE)}
    names = (table_name(one, dialect) for one in tree.find_all(exp.Table))
    return tuple(dict.fromkeys(name for name in names if name and name not in own))


@_on_a_stack_of_its_own
def odd_parameter(sql: str, dialect: Dialect = "sqlite") -> str:
    """How the SQL of a metric leaves out the first day of a range, or takes the day after it.

    Empty where it does not, and of what cannot be read.
    """
    texts = {name: f"'{name}'" for name in (FIRST_DAY, END_DAY)}
    for name, text in texts.items():
        sql = sql.replace(name, text)
    if texts[FIRST_DAY] in sql and texts[END_DAY] not in sql:
        return f"{FIRST_DAY} stands without {END_DAY}: the end of a range would not count"
    tree = _parse_query_statement(sql, dialect)
    if isinstance(tree, str):
        return ""
    from preflights_es.features.metrics.domain.sql_tree import compared_with, literals

    for name, allowed in ((FIRST_DAY, (">=", "<")), (END_DAY, ("<", ">="))):
        if sql.count(texts[name]) != len(literals(tree, name)):
            return f"found {name} in a comment: a range would not count"
        if wrong := [sign for sign in compared_with(tree, name) if sign not in allowed]:
            why = f"found {name} with {wrong[0]}, expected {allowed[0]} {name}"
            return f"{why}: {END_DAY} is the day after the last one"
    return ""


def _parse_query_statement(sql: str, dialect: Dialect) -> exp.Expr | str:
    """The tree of the one statement; a finding where there is none."""
    if len(sql) > SQL_MAX:
        return LONG
    if _depth(sql) > NESTED_MAX or sql.count("[") > SQUARE_MAX:
        return NESTED
    return _tree(sql, dialect)


def _tree(sql: str, dialect: Dialect) -> exp.Expr | str:
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ModuleNotFoundError as error:
        raise NoExtra from error

    # It logs the statements that it does not know, and Python prints what has no handler.
    getLogger("sqlglot").addHandler(_QUIET)
    try:
        statements: list[Any] = [one for one in sqlglot.parse(sql, read=dialect) if one is not None]
    except (SqlglotError, RecursionError, ValueError):
        return UNREADABLE
    if len(statements) != 1:
        return SEVERAL if statements else EMPTY
    tree: exp.Expr = statements[0]
    return DEEP if _levels(tree) > LEVELS_MAX else tree


def _levels(tree: exp.Expr) -> int:
    levels, row = 0, [tree]
    while row and levels <= LEVELS_MAX:
        levels, row = levels + 1, [child for node in row for child in node.iter_expressions()]
    return levels


def _depth(sql: str) -> int:
    """How deep brackets nest; quotes are not looked at: what is too deep in them is refused too."""
    deepest = depth = 0
    for mark in sql:
        if mark in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in ")]":
            depth -= 1
    return deepest


def _is_fixed(tree: exp.Expr, dialect: Dialect, tables: Collection[Table]) -> bool:
    """Whether the rendered text passes, is rendered as itself, and says what the query says."""
    from preflights_es.features.metrics.domain.sql_tree import of_tree

    said = _count_tree_names(tree)
    try:
        text = _render_query_tree(tree, dialect)
        again = _tree(text, dialect)
        if isinstance(again, str) or of_tree(again, tables, dialect):
            return False
        if _count_tree_names(again) != said:
            return False
        return _render_query_tree(again, dialect) == text
    except RecursionError:
        return False


def _render_query_tree(tree: exp.Expr, dialect: Dialect) -> str:
    """The text of a tree, which is of no use afterwards."""
    from sqlglot import exp

    for one in tree.find_all(exp.CTE):
        one.set("materialized", True)
    return str(tree.sql(dialect=dialect, comments=False, pretty=True, copy=False))


def _count_tree_names(tree: exp.Expr) -> Counter[tuple[str, ...]]:
    """Names, texts and queries, which stay: sqlglot may write another function or type."""
    from sqlglot import exp

    bare = (exp.Anonymous, exp.Var)
    kept = (*bare, exp.Identifier, exp.Query, exp.Table, exp.Column)
    return Counter(
        (type(one).__name__, one.name.upper() if isinstance(one, bare) else one.name)
        for one in tree.walk()
        if isinstance(one, kept) or (isinstance(one, exp.Literal) and one.is_string)
    )


def _list_called_functions(sql: str) -> str:
    """The words of the query that may be functions, as it writes them."""
    words = (found[1].lower() for found in _CALLED.finditer(sql))
    names = list(dict.fromkeys(word for word in words if word not in _KEYWORDS))
    return f": {shortened(', '.join(names), QUOTED_MAX)}" if names else ""
