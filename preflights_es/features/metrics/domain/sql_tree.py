"""Whether a syntax tree is one query that reads the tables of a catalogue, and nothing else.

Nodes, functions, types and bare texts are of closed lists. A function stands there if it computes a
value from its arguments alone, or from today's date, and if its result is not much longer than its
arguments. Where PostgreSQL finds no column it calls a function: `orders.bump` is `bump(orders)`,
and a table's name alone is its whole row. So sqlglot must resolve each name to a column.
Imports sqlglot: `sql_check` imports this room where it is installed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from preflights_es.features.metrics.domain.events import QUOTED_MAX, Dialect, Table
from preflights_es.kernel.text import late_pattern, shortened

# 1. What a query may be made of --------------------------------------------------------------


def _split_sql_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODES: Final = _split_sql_words(
    """
    Select Union Intersect Except Subquery With CTE TableAlias Table From Join Lateral Where Group
    Having Order Ordered Limit Offset Fetch Distinct Star Column Identifier Alias Literal Null
    Boolean Paren Tuple Values Var DataType DataTypeParam Interval Case If Cast TryCast Window
    WindowSpec Filter Collate WithinGroup IgnoreNulls RespectNulls Anonymous Rollup Cube
    GroupingSets
    And Or Xor Not EQ NEQ GT GTE LT LTE Is In Between Like ILike NullSafeEQ NullSafeNEQ Exists Any
    All Add Sub Mul Div IntDiv Mod Neg Pow DPipe BitwiseAnd BitwiseOr BitwiseNot Concat ConcatWs
    SafeConcat Coalesce Nullif Greatest Least
    Count CountIf Sum Avg Min Max Median Stddev StddevPop StddevSamp Variance VariancePop
    PercentileCont PercentileDisc Quantile Mode GroupConcat LogicalAnd LogicalOr
    RowNumber Rank DenseRank PercentRank CumeDist Ntile Lag Lead FirstValue LastValue NthValue
    Abs Round Floor Ceil Trunc Sign Sqrt Ln Log Exp
    Lower Upper Trim Length Substring Left Right Replace StrPosition Initcap SplitPart
    CurrentDate CurrentTimestamp Date Extract DateTrunc TimestampTrunc DateAdd DateSub DateDiff
    TimeToStr StrToTime StrToDate TsOrDsToTimestamp TsOrDsToDate TsOrDsAdd UnixToTime UnixToStr
    Timestamp Time Datetime Year Month Day Week Quarter DayOfWeek DayOfMonth DayOfYear ToChar
    TimeStrToTime CurrentDatetime AtTimeZone JSONExtract JSONExtractScalar JSONPath JSONPathRoot
    JSONPathKey JSONPathSubscript MakeDate
    """
)
FUNCTIONS: Final = _split_sql_words(
    """
    date time datetime julianday strftime unixepoch ifnull iif nullif total instr likely ltrim rtrim
    round to_char date_part age make_date
    """
)
TYPES: Final = _split_sql_words(
    """
    TEXT VARCHAR CHAR NVARCHAR NCHAR INT BIGINT SMALLINT TINYINT FLOAT DOUBLE DECIMAL BIGDECIMAL
    BOOLEAN DATE TIME TIMESTAMP TIMESTAMPTZ TIMETZ DATETIME INTERVAL
    """
)
UNITS: Final = _split_sql_words(
    """
    MICROSECOND MICROSECONDS MILLISECOND MILLISECONDS SECOND SECONDS MINUTE MINUTES HOUR HOURS
    DAY DAYS WEEK WEEKS MONTH MONTHS QUARTER QUARTERS YEAR YEARS DECADE CENTURY MILLENNIUM
    DOW ISODOW DOY ISOYEAR EPOCH JULIAN TIMEZONE TIMEZONE_HOUR TIMEZONE_MINUTE
    """
)
"""Of times: sqlglot writes them out as they came, without quotes."""
_COLLATIONS: Final = _split_sql_words("NOCASE BINARY RTRIM")
_ENDS: Final = frozenset(("CURRENT ROW", "UNBOUNDED"))
_SIDES: Final = _split_sql_words("PRECEDING FOLLOWING")
RAW: Final = {
    ("Var", "this"): UNITS | _COLLATIONS | {"TIES", "GROUP", "CURRENT ROW", "NO OTHERS"},
    ("Join", "kind"): _split_sql_words("CROSS INNER OUTER"),
    ("Join", "side"): _split_sql_words("LEFT RIGHT FULL"),
    ("Join", "method"): _split_sql_words("NATURAL"),
    ("Trim", "position"): _split_sql_words("LEADING TRAILING BOTH"),
    ("Window", "over"): _split_sql_words("OVER"),
    ("WindowSpec", "kind"): _split_sql_words("ROWS RANGE GROUPS"),
    ("WindowSpec", "start"): _ENDS,
    ("WindowSpec", "end"): _ENDS,
    ("WindowSpec", "start_side"): _SIDES,
    ("WindowSpec", "end_side"): _SIDES,
}
"""By node and argument: each text that is no node, and may be one of these alone."""
VALUES: Final = _split_sql_words(
    """
    current_user session_user system_user user current_role current_catalog current_schema
    current_time localtime localtimestamp
    """
)
"""What PostgreSQL computes where a column could stand, without brackets."""

# 2. Nodes, tables and texts ------------------------------------------------------------------

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
COLUMN: Final = "one of its columns is unknown to its tables"
UNNAMED: Final = "\0"  # in no name: sqlglot would give a column without a name one of its own
IN_ORDER: Final = (
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
)


def of_tree(tree: exp.Expr, tables: Collection[Table], dialect: Dialect) -> set[str]:
    """All that is wrong; columns are looked at where nothing else is."""
    # By the names as a database compares them, quoted or not.
    known = {".".join(map(_lower_sql_name, one.name.split("."))): one.columns for one in tables}
    if found := set(_of_parts(tree, set(known), dialect)):
        return found
    return {f"{COLUMN}{_unlisted(tree, known)}"} if _has_unlisted(tree, known, dialect) else set()


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
            yield f"WITH may not take the name of the table {_quote_query_name(name)}"
        defined.append(name)
    yield from _of_tables(tree, {*tables, *defined}, dialect, clause)


def _of_kind(node: exp.Expr, root: exp.Expr) -> Iterator[str]:
    """What is no kind of node that a query may have."""
    match node:
        case exp.With():
            if node.args.get("recursive"):
                yield RECURSIVE
            if node.parent is not root:
                yield INNER_WITH
        case exp.Anonymous():
            if _lower_sql_name(str(node.this)) not in FUNCTIONS:
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
        case exp.Table() if any("." in part.name for part in node.parts):  # as a schema's table
            yield PART
        case exp.Table() if (alias := node.args.get("alias")) and alias.args.get("columns"):
            yield PART  # what it renames is no column any more
        case exp.Star() if not _is_listed(node):  # a whole row
            yield PART
        case exp.In(args={"field": exp.Expr()}):  # SQLite reads the table of that name
            yield PART
        case exp.Identifier() if not (node.args.get("quoted") or node.name.isidentifier()):
            yield PART
        case exp.Identifier() if UNNAMED in node.name:
            yield PART
        case exp.Replace() | exp.StrPosition() | exp.SplitPart():
            yield from _of_searched(node)


def _is_type(node: exp.DataType) -> bool:
    """Whether a type is one of the list, with nothing but plain numbers in its brackets."""
    parameters = (one for one in node.expressions if isinstance(one, exp.DataTypeParam))
    sizes = [one.this for one in parameters if not one.args.get("expression")]
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
    return _lower_sql_name(node.name) in VALUES and not is_label and not is_part


def _is_listed(node: exp.Star) -> bool:
    """Whether `*` stands for columns, and not for a row that a function takes."""
    part = node.parent if isinstance(node.parent, exp.Column) else node
    is_column = isinstance(part.parent, exp.Select) and part.arg_key == "expressions"
    return is_column or isinstance(part.parent, exp.Count)


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


def _of_tables(
    part: exp.Expr, known: set[str], dialect: Dialect, apart: exp.Expr | None = None
) -> Iterator[str]:
    """Tables that are not known.

    Args:
        apart: what of the part is looked at elsewhere.
    """
    for one in part.walk(prune=lambda node: node is apart):
        if isinstance(one, exp.Table) and (name := table_name(one, dialect)) not in known:
            yield f"the table {_quote_query_name(name)} is not in the catalogue"


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
    return name if dialect == "postgres" and part.args.get("quoted") else _lower_sql_name(name)


def _lower_sql_name(name: str) -> str:
    """Lower case of ASCII alone: neither database takes the Kelvin sign for a k."""
    return name.translate(_LOWER)


def _quote_query_name(name: str) -> str:
    return f"“{shortened(' '.join(name.split()), QUOTED_MAX)}”"


_SIGNS: Final[dict[type[exp.Expr], tuple[str, str]]] = {
    exp.LT: ("<", ">"),
    exp.LTE: ("<=", ">="),
    exp.GT: (">", "<"),
    exp.GTE: (">=", "<="),
    exp.EQ: ("=", "="),
    exp.NEQ: ("<>", "<>"),
}
"""By comparison: its sign, and the sign from right to left."""


def compared_with(tree: exp.Expr, text: str) -> Iterator[str]:
    """The comparisons in which a literal stands at the right, by their signs.

    In brackets, as another type and alone in a function it is the same; in arithmetic it is not.
    """
    for one in literals(tree, text):
        node = one
        while isinstance(node.parent, exp.Paren | exp.Cast | exp.Func) and _is_alone(node):
            node = node.parent
        match node.parent:
            case exp.Between() as between:
                yield ">=" if between.args["low"] is node else "BETWEEN"
            case exp.In():
                yield "IN"
            case exp.Binary() as pair if type(pair) in _SIGNS:
                yield _SIGNS[type(pair)][pair.this is node]


def literals(tree: exp.Expr, text: str) -> list[exp.Expr]:
    """Where a text stands in a query; not in a comment."""
    return [one for one in tree.find_all(exp.Literal) if one.name == text]


def _is_alone(node: exp.Expr) -> bool:
    """Whether what is around a node takes nothing else, but for the name of a type."""
    around = node.parent
    children = list(around.iter_expressions()) if around is not None else []
    return [one for one in children if not isinstance(one, exp.DataType)] == [node]


# 3. Whether the columns of a query are columns -----------------------------------------------


def _has_unlisted(tree: exp.Expr, tables: Mapping[str, Collection[str]], dialect: Dialect) -> bool:
    """Whether no table, subquery or WITH gives one of its columns, as sqlglot resolves names.

    False where a table's columns are not known: only the database can say then.
    """
    read = {table_name(one, dialect) for one in tree.find_all(exp.Table)} & tables.keys()
    if not all(tables[name] for name in read):
        return False
    fold = str.lower if dialect == "sqlite" else str
    listed: dict[str, object] = {
        name: dict.fromkeys(map(fold, tables[name]), "TEXT") for name in read
    }
    schema = MappingSchema(listed, dialect=dialect, normalize=False)
    resolved = _normalize_tree_names(tree.copy(), dialect)
    try:
        qualify(
            resolved,
            dialect=dialect,
            schema=schema,
            expand_alias_refs=dialect == "sqlite",
            quote_identifiers=False,
        )
        return not _is_reached(resolved)
    except Exception:  # sqlglot raises many kinds for what it cannot resolve: none is a proof
        return True


def _unlisted(tree: exp.Expr, tables: Mapping[str, Collection[str]]) -> str:
    """The names of columns that nothing gives, for the reader of a finding."""
    given = {_lower_sql_name(name) for columns in tables.values() for name in columns}
    given |= {_lower_sql_name(one.alias) for one in tree.find_all(exp.Alias)}
    names = dict.fromkeys(one.name for one in tree.find_all(exp.Column))
    found = [name for name in names if name and _lower_sql_name(name) not in given]
    return f": {_quote_query_name(', '.join(found))}" if found else ""


def _normalize_tree_names(tree: exp.Expr, dialect: Dialect) -> exp.Expr:
    """A query with the same names to resolve, where sqlglot resolves them as the database does."""
    _name_tables(tree, dialect)
    for part in tree.find_all(exp.Identifier):
        part.set("this", _identifier(part, dialect))
        part.set("quoted", True)
    for values in tree.find_all(exp.Values):
        _name_values(values)
    for select in tree.find_all(exp.Select):
        _take_aliases(select)
        for place, one in enumerate(select.expressions):
            if not isinstance(one, exp.Alias | exp.Column | exp.Star):
                one.replace(exp.alias_(one.copy(), f"{UNNAMED}{place}", quoted=True))
    return tree


def _name_tables(tree: exp.Expr, dialect: Dialect) -> None:
    """Write tables of a schema by one name; columns lose the schema where that is clear."""
    sources = Counter(one.alias_or_name for one in tree.find_all(exp.Table, exp.Subquery))
    written = {}
    for one in tree.find_all(exp.Table):
        if one.args.get("db"):
            name = table_name(one, dialect)
            if not one.alias:
                written[name] = one.name
                one.set("alias", exp.TableAlias(this=one.this.copy()))
            one.set("this", exp.to_identifier(name, quoted=True))
            one.set("db", None)
            one.set("catalog", None)
    for column in tree.find_all(exp.Column):
        if column.args.get("db"):
            *schema, table, _ = column.parts
            name = ".".join(_identifier(part, dialect) for part in (*schema, table))
            is_clear = sources[written.get(name, "")] == 1
            column.set("table", table if is_clear else exp.to_identifier(UNNAMED, quoted=True))
            column.set("db", None)
            column.set("catalog", None)


def _name_values(values: exp.Values) -> None:
    """PostgreSQL and SQLite call the columns of VALUES `column1` and so on."""
    alias = values.args.get("alias")
    row = values.expressions[0].expressions if values.expressions else ()
    if alias is not None and not alias.args.get("columns"):
        names = [exp.to_identifier(f"column{n}", quoted=True) for n, _ in enumerate(row, 1)]
        alias.set("columns", names)


def _take_aliases(select: exp.Select) -> None:
    """Take away items of GROUP BY, ORDER BY and DISTINCT ON that are an alias alone.

    Anywhere else PostgreSQL takes a name for a column of FROM, or for a whole row. So other items
    go where sqlglot looks for columns: into WHERE.
    """
    aliases = {one.alias for one in select.expressions if isinstance(one, exp.Alias)}

    def is_alias(item: exp.Expr) -> bool:
        return isinstance(item, exp.Column) and not item.table and item.name in aliases

    if group := select.args.get("group"):
        group.set("expressions", [one for one in group.expressions if not is_alias(one)])
    order, distinct = select.args.get("order"), select.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    items = [one.this for one in order.expressions] if order is not None else []
    items += on.expressions if on is not None else []
    select.set("order", None)
    if distinct is not None:
        distinct.set("on", None)
    for one in items:
        if not is_alias(one) and not isinstance(one, exp.Literal):
            select.where(one, copy=False)


def _is_reached(tree: exp.Expr) -> bool:
    """Whether sqlglot resolved every column of a SELECT, and what a UNION orders by has no table.

    There are places where it looks for none. What it made of a name must be allowed, too.
    """
    seen = {id(one) for scope in traverse_scope(tree) for one in (*scope.columns, *scope.stars)}
    for column in tree.find_all(exp.Column):
        within = column.find_ancestor(exp.Select, exp.SetOperation)
        is_of_union = isinstance(within, exp.SetOperation)
        is_ordered = isinstance(column.parent, exp.Ordered) and not column.table
        if not (is_ordered if is_of_union else id(column) in seen or is_ordered):
            return False
    return all(type(one).__name__ in NODES for one in tree.walk())
