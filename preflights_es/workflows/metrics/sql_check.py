"""Whether a text is one query that reads the tables of a catalogue, and nothing else (seed 4).

Everything is refused that is not known to be harmless: nodes of the syntax tree and functions are
allow-lists, since a parser learns new ones. Findings are in our own words, in an order of our own,
and quote the query alone: what sqlglot says changes with its version, and a log keeps findings.
Imports sqlglot, and so is imported only where a query is judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Any, Final

from preflights_es.core.errors import WorkflowMissing
from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.text import shortened
from preflights_es.workflows.metrics.sql_words import FUNCTIONS, KEYWORDS, NODES, TYPES
from preflights_es.workflows.metrics.values import SQL_MAX, Dialect

if TYPE_CHECKING:
    from sqlglot import exp

NESTED_MAX: Final = 40  # brackets inside brackets; a parser takes long for more
SQUARE_MAX: Final = 100  # square brackets, which take a parser longer still
LEVELS_MAX: Final = 200  # of the syntax tree
WEIGHT_MAX: Final = 2_000_000
"""Nodes of nested subqueries in FROM, multiplied: a planner copies inner ones into outer ones."""
ARGUMENT_MAX: Final = 20  # characters that may be looked for: the time is the product of both texts
FINDINGS_MAX: Final = 5
QUOTED_MAX: Final = 60  # characters of a name that a finding quotes

_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

UNREADABLE: Final = "this is not readable as SQL"
NESTED: Final = f"it nests brackets deeper than {NESTED_MAX}"
DEEP: Final = f"it has more than {LEVELS_MAX} levels"
HEAVY: Final = "its subqueries in FROM are too large: name them in WITH"
LONG: Final = f"it is longer than {SQL_MAX:,} characters"
EMPTY: Final = "there is no statement"
SEVERAL: Final = "expected one statement, found several"
NO_QUERY: Final = "expected a query (SELECT)"
NO_COLUMNS: Final = "the query selects no column"
RECURSIVE: Final = "WITH RECURSIVE is not allowed"
INNER_WITH: Final = "WITH is allowed at the beginning of the query only"
NOT_A_TABLE: Final = "a function may not stand in place of a table"
PART: Final = "one of its parts is not allowed in a query"
TYPE: Final = "one of its types is not allowed"
FUNCTION: Final = "one of its functions is not allowed"
ARGUMENT: Final = f"what is looked for in a text is no literal of {ARGUMENT_MAX} characters"
IN_ORDER: Final = (
    *(RECURSIVE, INNER_WITH, NO_COLUMNS, NOT_A_TABLE, PART, TYPE, FUNCTION, ARGUMENT, HEAVY),
)
_QUIET: Final = NullHandler()
_CALLED: Final = late_pattern(r"([A-Za-z_][A-Za-z0-9_]*)\s*\(")


class NoExtra(WorkflowMissing):
    """The packages that read SQL and YAML are not installed."""

    def __init__(self) -> None:
        needed = "need the extra `metrics`: `pip install 'preflights-es[metrics]'`"
        super().__init__("metrics", f"its sessions {needed}")
        self.args = (f"questions about data {needed}",)


def findings(sql: str, dialect: Dialect, tables: Collection[str]) -> tuple[str, ...]:
    """What is wrong with a query; nothing where it may be shown and run."""
    tree = _parsed(sql, dialect)
    if isinstance(tree, str):
        return (tree,)
    known = {".".join(map(_folded, name.split("."))) for name in tables}
    found = set(_of_tree(tree, known, dialect))
    ours = [f"{one}{_calls(sql)}" if one is FUNCTION else one for one in IN_ORDER if one in found]
    return (*ours, *sorted(found.difference(IN_ORDER)))[:FINDINGS_MAX]


def rendered(sql: str, dialect: Dialect) -> str:
    """A checked query as it is shown and run: one statement, without comments."""
    tree = _parsed(sql, dialect)
    assert not isinstance(tree, str), "the query passed the check"
    return str(tree.sql(dialect=dialect, comments=False, pretty=True))


def bound(sql: str, dialect: Dialect, views: str) -> str:
    """A checked query with definitions in front of it.

    Its own definitions are computed once each: a planner would copy them into one another.

    Args:
        views: one or more parts of a WITH clause, `name AS (SELECT ...)`.
    """
    from sqlglot import exp

    tree = _parsed(sql, dialect)
    assert not isinstance(tree, str), "the query passed the check"
    for one in tree.find_all(exp.CTE):
        one.set("materialized", True)
    text = str(tree.sql(dialect=dialect, comments=False))
    if not views:
        return text
    rest = f", {text.removeprefix('WITH ')}" if tree.args.get("with_") else f" {text}"
    return f"WITH {views}{rest}"


def tables_of(sql: str, dialect: Dialect) -> tuple[str, ...]:
    """The tables that a query reads, without those that it defines; none of what is no query."""
    tree = _parsed(sql, dialect)
    if isinstance(tree, str):
        return ()
    from sqlglot import exp

    own = {_defined(one, dialect) for one in tree.find_all(exp.CTE)}
    names = (_table_name(one, dialect) for one in tree.find_all(exp.Table))
    return tuple(dict.fromkeys(name for name in names if name and name not in own))


def _parsed(sql: str, dialect: Dialect) -> exp.Expr | str:
    """The tree of the one statement; a finding where there is none."""
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ModuleNotFoundError as error:
        raise NoExtra from error

    # It logs the statements that it does not know, and Python prints what has no handler.
    getLogger("sqlglot").addHandler(_QUIET)
    if len(sql) > SQL_MAX:
        return LONG
    if _depth(sql) > NESTED_MAX or sql.count("[") > SQUARE_MAX:
        return NESTED
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


def _of_tree(tree: exp.Expr, tables: set[str], dialect: Dialect) -> Iterator[str]:
    from sqlglot import exp

    if not isinstance(tree, exp.Select | exp.SetOperation):
        yield NO_QUERY
        return
    for node in tree.walk():
        yield from _of_kind(node, tree)
        yield from _of_use(node)
    parts = (tree, *(one.this for one in tree.find_all(exp.CTE)))
    if any(_weight(one)[1] > WEIGHT_MAX for one in parts):
        yield HEAVY
    defined: list[str] = []
    clause = tree.args.get("with_")
    for one in clause.expressions if clause is not None else ():
        yield from _of_tables(one, {*tables, *defined}, dialect)
        if (name := _defined(one, dialect)) in tables:
            yield f"WITH may not take the name of the table {_quoted(name)}"
        defined.append(name)
    yield from _of_tables(tree, {*tables, *defined}, dialect, clause)


def _of_kind(node: exp.Expr, root: exp.Expr) -> Iterator[str]:
    """What is no kind of node that a query may have."""
    from sqlglot import exp

    match node:
        case exp.With():
            yield from _of_with(node, root)
        case exp.Anonymous():
            if _folded(str(node.this)) not in FUNCTIONS:
                yield FUNCTION
        case exp.DataType():
            if str(node.this).rpartition(".")[2].upper() not in TYPES:
                yield TYPE
        case _:
            if type(node).__name__ not in NODES:
                yield FUNCTION if isinstance(node, exp.Func) else PART


def _of_use(node: exp.Expr) -> Iterator[str]:
    """How a kind of node may not be used."""
    from sqlglot import exp

    match node:
        case exp.Select() if not node.expressions:
            yield NO_COLUMNS
        case exp.Table() if not isinstance(node.this, exp.Identifier):
            yield NOT_A_TABLE
        case exp.In(args={"field": exp.Expr()}):  # SQLite reads the table of that name
            yield PART
        case exp.Identifier() if not (node.args.get("quoted") or node.name.isidentifier()):
            yield PART
        case exp.Replace() | exp.StrPosition() | exp.SplitPart():
            yield from _of_searched(node)


def _of_searched(node: exp.Expr) -> Iterator[str]:
    from sqlglot import exp

    for name, value in node.args.items():
        is_literal = isinstance(value, exp.Literal) and len(value.name) <= ARGUMENT_MAX
        if name != "this" and isinstance(value, exp.Expr) and not is_literal:
            yield ARGUMENT


def _weight(node: exp.Expr) -> tuple[int, int]:
    """Nodes outside of subqueries in FROM, and the same multiplied by the heaviest of these."""
    from sqlglot import exp

    own, inner = 1, 1
    for child in node.iter_expressions():
        size, product = _weight(child)
        if isinstance(child, exp.With):
            continue
        if isinstance(child, exp.Subquery) and isinstance(node, exp.From | exp.Join | exp.Lateral):
            inner = max(inner, product)
        else:
            own, inner = own + size, max(inner, product // size)
    return own, own * inner


def _of_with(node: exp.With, root: exp.Expr) -> Iterator[str]:
    if node.args.get("recursive"):
        yield RECURSIVE
    if node.parent is not root:
        yield INNER_WITH


def _calls(sql: str) -> str:
    """The words of the query that may be functions, as it writes them."""
    words = (found[1].lower() for found in _CALLED.finditer(sql))
    names = list(dict.fromkeys(word for word in words if word not in KEYWORDS))
    return f": {shortened(', '.join(names), QUOTED_MAX)}" if names else ""


def _of_tables(
    part: exp.Expr, known: set[str], dialect: Dialect, apart: exp.Expr | None = None
) -> Iterator[str]:
    """Tables that are not known.

    Args:
        apart: what of the part is looked at elsewhere.
    """
    from sqlglot import exp

    for one in part.walk(prune=lambda node: node is apart):
        if isinstance(one, exp.Table) and (name := _table_name(one, dialect)) not in known:
            yield f"the table {_quoted(name)} is not in the catalogue"


def _table_name(table: exp.Table, dialect: Dialect) -> str:
    parts = (table.args.get("catalog"), table.args.get("db"), table.this)
    return ".".join(_identifier(part, dialect) for part in parts if part)


def _defined(one: exp.CTE, dialect: Dialect) -> str:
    alias = one.args.get("alias")
    return _identifier(alias.this, dialect) if alias is not None else ""


def _identifier(part: exp.Expr, dialect: Dialect) -> str:
    """As the database compares it: PostgreSQL keeps the case of a quoted name."""
    name = part.name
    return name if dialect == "postgres" and part.args.get("quoted") else _folded(name)


def _folded(name: str) -> str:
    """Lower case of ASCII alone: neither database takes the Kelvin sign for a k."""
    return name.translate(_LOWER)


def _quoted(name: str) -> str:
    return f"“{shortened(' '.join(name.split()), QUOTED_MAX)}”"
