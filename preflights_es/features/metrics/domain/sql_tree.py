"""Whether a syntax tree is one query that reads the tables of a catalogue, and nothing else.

Nodes, functions, types and bare texts are of closed lists. Imports sqlglot: `sql_check` imports
this room where it is installed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from sqlglot import exp

from preflights_es.features.metrics.domain.sql_columns import Columns
from preflights_es.features.metrics.domain.sql_words import (
    FUNCTIONS,
    NODES,
    QUOTED_MAX,
    RAW,
    TYPES,
    VALUES,
)
from preflights_es.features.metrics.domain.values import Dialect, Table
from preflights_es.kernel.text import late_pattern, shortened

WEIGHT_MAX: Final = 2_000_000
"""Nodes of nested subqueries in FROM, multiplied: a planner copies inner ones into outer ones."""
ARGUMENT_MAX: Final = 20  # characters that may be looked for: the time is the product of both texts
_OF_TYPE: Final = ("this", "expressions")
_DIGITS: Final = late_pattern(r"[0-9]{1,5}")
_NUMBER: Final = late_pattern(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPAN: Final = late_pattern(r"[0-9A-Za-z .:+-]*")
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
HEAVY: Final = "its subqueries in FROM are too large: name them in WITH"
NO_QUERY: Final = "expected a query (SELECT)"
NO_COLUMNS: Final = "the query selects no column"
RECURSIVE: Final = "WITH RECURSIVE is not allowed"
INNER_WITH: Final = "WITH is allowed at the beginning of the query only"
NOT_A_TABLE: Final = "a function may not stand in place of a table"
PART: Final = "one of its parts is not allowed in a query"
TYPE: Final = "one of its types is not allowed"
FUNCTION: Final = "one of its functions is not allowed"
ARGUMENT: Final = f"what is looked for in a text is no literal of {ARGUMENT_MAX} characters"
NO_COLUMN: Final = "one of its names is computed by the database, and no column"
IN_ORDER: Final = (
    *(
        RECURSIVE,
        INNER_WITH,
        NO_COLUMNS,
        NOT_A_TABLE,
        PART,
        TYPE,
        FUNCTION,
        ARGUMENT,
        NO_COLUMN,
        HEAVY,
    ),
)


def columns(tree: exp.Expr, tables: Collection[Table], dialect: Dialect) -> Columns:
    """What its columns are said to be."""
    read = Columns(_known(tables), lambda part: _identifier(part, dialect))
    read.read(tree)
    return read


def _known(tables: Collection[Table]) -> dict[str, tuple[str, ...]]:
    """By the names as a database compares them, quoted or not."""
    return {".".join(map(_folded, one.name.split("."))): one.columns for one in tables}


def of_tree(tree: exp.Expr, tables: Collection[Table], dialect: Dialect) -> set[str]:
    """All that is wrong; columns are looked at where nothing else is."""
    if found := set(_of_parts(tree, set(_known(tables)), dialect)):
        return found
    unknown = columns(tree, tables, dialect).unknown
    return {f"the column {_quoted(name)} is not known" for name in unknown}


def _of_parts(tree: exp.Expr, tables: set[str], dialect: Dialect) -> Iterator[str]:
    if not isinstance(tree, exp.Select | exp.SetOperation):
        yield NO_QUERY
        return
    for node in tree.walk():
        yield from _of_kind(node, tree)
        yield from _of_use(node)
        yield from _of_texts(node)
        if dialect == "postgres" and _is_computed(node):
            yield NO_COLUMN
    parts = (tree, *(one.this for one in tree.find_all(exp.CTE)))
    if any(_weight(one)[1] > WEIGHT_MAX for one in parts):
        yield HEAVY
    defined: list[str] = []
    clause = tree.args.get("with_")
    for one in clause.expressions if clause is not None else ():
        yield from _of_tables(one, {*tables, *defined}, dialect)
        if (name := defined_name(one, dialect)) in tables:
            yield f"WITH may not take the name of the table {_quoted(name)}"
        defined.append(name)
    yield from _of_tables(tree, {*tables, *defined}, dialect, clause)


def _of_kind(node: exp.Expr, root: exp.Expr) -> Iterator[str]:
    """What is no kind of node that a query may have."""
    match node:
        case exp.With():
            yield from _of_with(node, root)
        case exp.Anonymous():
            if _folded(str(node.this)) not in FUNCTIONS:
                yield FUNCTION
        case exp.DataType():
            if not _is_type(node):
                yield TYPE
        case _:
            if type(node).__name__ not in NODES:
                yield FUNCTION if isinstance(node, exp.Func) else PART


def _of_use(node: exp.Expr) -> Iterator[str]:
    """How a kind of node may not be used."""
    match node:
        case exp.Select() if not node.expressions:
            yield NO_COLUMNS
        case exp.Table() if not isinstance(node.this, exp.Identifier):
            yield NOT_A_TABLE
        case exp.Table() if (alias := node.args.get("alias")) and alias.args.get("columns"):
            yield PART  # what it renames is no column any more
        case exp.Star() if not _is_listed(node):  # a whole row
            yield PART
        case exp.In(args={"field": exp.Expr()}):  # SQLite reads the table of that name
            yield PART
        case exp.Identifier() if not (node.args.get("quoted") or node.name.isidentifier()):
            yield PART
        case exp.Replace() | exp.StrPosition() | exp.SplitPart():
            yield from _of_searched(node)


def _is_type(node: exp.DataType) -> bool:
    """Whether a type is one of the list, with nothing but plain numbers in its brackets."""
    sizes = [
        one.this
        for one in node.expressions
        if isinstance(one, exp.DataTypeParam) and not one.args.get("expression")
    ]
    return (
        isinstance(node.this, exp.DType)
        and node.this.value in TYPES
        and not any(value for name, value in node.args.items() if name not in _OF_TYPE)
        and len(sizes) == len(node.expressions)
        and all(isinstance(one, exp.Literal) and _DIGITS.fullmatch(one.name) for one in sizes)
        and not any(one.is_string for one in sizes)
    )


def _of_texts(node: exp.Expr) -> Iterator[str]:
    """Texts in a tree that are written out without quotes, and are of no closed list."""
    for name, value in node.args.items():
        for one in value if isinstance(value, list) else (value,):
            if not isinstance(one, str):
                continue
            match node, name:
                case (exp.Identifier() | exp.Anonymous(), "this") | (exp.DataType(), _):
                    continue  # looked at as a whole
                case exp.Literal(), "this" if node.is_string or _NUMBER.fullmatch(one):
                    continue
                case exp.JSONPathKey(), "this" if not set("'\"\\") & set(one):
                    continue
            if one.upper() not in RAW.get((type(node).__name__, name), ()):
                yield PART
    if isinstance(node, exp.Interval):
        span = node.args.get("this")
        if not (isinstance(span, exp.Literal) and _SPAN.fullmatch(span.name)):
            yield PART


def _is_computed(node: exp.Expr) -> bool:
    """Whether PostgreSQL reads a name as a function without brackets."""
    if not isinstance(node, exp.Identifier) or node.args.get("quoted"):
        return False
    within = node.parent
    is_label = isinstance(within, exp.Alias) and within.args["alias"] is node
    is_part = isinstance(within, exp.Column) and within.args.get("table") and within.this is node
    return _folded(node.name) in VALUES and not is_label and not is_part


def _is_listed(node: exp.Star) -> bool:
    """Whether `*` stands for columns, and not for a row that a function takes."""
    part = node.parent if isinstance(node.parent, exp.Column) else node
    within = part.parent
    return isinstance(within, exp.Count) or (
        isinstance(within, exp.Select) and part.arg_key == "expressions"
    )


def _of_searched(node: exp.Expr) -> Iterator[str]:
    for name, value in node.args.items():
        is_literal = isinstance(value, exp.Literal) and len(value.name) <= ARGUMENT_MAX
        if name != "this" and isinstance(value, exp.Expr) and not is_literal:
            yield ARGUMENT


def _weight(node: exp.Expr) -> tuple[int, int]:
    """Nodes outside of subqueries in FROM, and the same multiplied by the heaviest of these."""
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


def _of_tables(
    part: exp.Expr, known: set[str], dialect: Dialect, apart: exp.Expr | None = None
) -> Iterator[str]:
    """Tables that are not known.

    Args:
        apart: what of the part is looked at elsewhere.
    """
    for one in part.walk(prune=lambda node: node is apart):
        if isinstance(one, exp.Table) and (name := table_name(one, dialect)) not in known:
            yield f"the table {_quoted(name)} is not in the catalogue"


def table_name(table: exp.Table, dialect: Dialect) -> str:
    """As the database compares it, with its schema."""
    parts = (table.args.get("catalog"), table.args.get("db"), table.this)
    return ".".join(_identifier(part, dialect) for part in parts if part)


def defined_name(one: exp.CTE, dialect: Dialect) -> str:
    """The name that a WITH gives."""
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
