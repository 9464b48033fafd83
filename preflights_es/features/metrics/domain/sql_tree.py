"""Whether a syntax tree is one query that reads the tables of a catalogue, and nothing else.

Nodes, functions, types and bare texts are of closed lists. A function stands there if it computes a
value from its arguments alone, or from today's date, and if its result is not much longer than its
arguments. Where PostgreSQL finds no column it calls a function: `orders.bump` is `bump(orders)`,
and a table's name alone is its whole row. So each name must be one that its source gives.
Imports sqlglot: `sql_check` imports this room where it is installed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from sqlglot import exp

from preflights_es.features.metrics.domain.events import QUOTED_MAX, Dialect, Table
from preflights_es.kernel.text import late_pattern, shortened

# 1. What a query may be made of --------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODES: Final = _words(
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
FUNCTIONS: Final = _words(
    """
    date time datetime julianday strftime unixepoch ifnull iif nullif total instr likely ltrim rtrim
    round to_char date_part age make_date
    """
)
TYPES: Final = _words(
    """
    TEXT VARCHAR CHAR NVARCHAR NCHAR INT BIGINT SMALLINT TINYINT FLOAT DOUBLE DECIMAL BIGDECIMAL
    BOOLEAN DATE TIME TIMESTAMP TIMESTAMPTZ TIMETZ DATETIME INTERVAL
    """
)
UNITS: Final = _words(
    """
    MICROSECOND MICROSECONDS MILLISECOND MILLISECONDS SECOND SECONDS MINUTE MINUTES HOUR HOURS
    DAY DAYS WEEK WEEKS MONTH MONTHS QUARTER QUARTERS YEAR YEARS DECADE CENTURY MILLENNIUM
    DOW ISODOW DOY ISOYEAR EPOCH JULIAN TIMEZONE TIMEZONE_HOUR TIMEZONE_MINUTE
    """
)
"""Of times: sqlglot writes them out as they came, without quotes."""
_COLLATIONS: Final = _words("NOCASE BINARY RTRIM")
_ENDS: Final = frozenset(("CURRENT ROW", "UNBOUNDED"))
_SIDES: Final = _words("PRECEDING FOLLOWING")
RAW: Final = {
    ("Var", "this"): UNITS | _COLLATIONS | {"TIES", "GROUP", "CURRENT ROW", "NO OTHERS"},
    ("Join", "kind"): _words("CROSS INNER OUTER"),
    ("Join", "side"): _words("LEFT RIGHT FULL"),
    ("Join", "method"): _words("NATURAL"),
    ("Trim", "position"): _words("LEADING TRAILING BOTH"),
    ("Window", "over"): _words("OVER"),
    ("WindowSpec", "kind"): _words("ROWS RANGE GROUPS"),
    ("WindowSpec", "start"): _ENDS,
    ("WindowSpec", "end"): _ENDS,
    ("WindowSpec", "start_side"): _SIDES,
    ("WindowSpec", "end_side"): _SIDES,
}
"""By node and argument: each text that is no node, and may be one of these alone."""
VALUES: Final = _words(
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
    read = Columns(_known(tables), dialect)
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


# 3. Whether the columns of a query are columns -----------------------------------------------


class Source(NamedTuple):
    """What stands in FROM, or what a query gives."""

    names: frozenset[str]
    """Its columns, as far as the query and the catalogue say them."""
    tables: frozenset[str] = frozenset()
    """Tables whose columns the catalogue does not say: another name may be one of theirs."""
    has_unnamed: bool = False
    """Whether it has columns that only the database names."""


Scope = dict[str, Source]
NOTHING = Source(frozenset())


class Unproven(NamedTuple):
    """A name that only the database can tell from a function's."""

    tables: frozenset[str]
    """One of them must have it."""
    column: str


class Columns:
    """Reads a query whose nodes and tables are allowed."""

    def __init__(self, tables: Mapping[str, Iterable[str]], dialect: Dialect) -> None:
        self._tables, self._dialect = tables, dialect
        self._defined: Scope = {}
        self.unknown: list[str] = []
        self.unproven: list[Unproven] = []

    def read(self, tree: exp.Expr) -> None:
        """The whole query, with its definitions."""
        clause = tree.args.get("with_")
        for one in clause.expressions if clause is not None else ():
            made = self._named(self._query(one.this, ()), one.args.get("alias"))
            self._defined[self._name(one.args["alias"].this)] = made
        self._query(tree, ())

    def _query(self, node: exp.Expr, outer: tuple[Scope, ...]) -> Source:
        """What a query gives; what is wrong in it is noted."""
        match node:
            case exp.Select():
                return self._select(node, outer)
            case exp.SetOperation():
                made = self._query(node.this, outer)
                self._query(node.expression, outer)
            case exp.Subquery():
                made = self._query(node.this, outer)
            case _:
                return NOTHING
        for one in node.iter_expressions():
            is_part = one is node.this or one is node.args.get("expression")
            if not is_part and not isinstance(one, exp.With | exp.TableAlias):
                self._look(one, ({"": made}, *outer), made.names)
        return made

    def _select(self, node: exp.Select, outer: tuple[Scope, ...]) -> Source:
        scope: Scope = {}
        joined = [one for one in (node.args.get("from_"),) if one]
        joined += [*(node.args.get("joins") or ()), *(node.args.get("laterals") or ())]
        for one in joined:
            of = one if isinstance(one, exp.Lateral) else one.this
            if of is not None:  # `FROM SELECT only`
                self._relation(of, scope, outer)
        aliases = frozenset(
            self._name(one.args["alias"]) for one in node.expressions if isinstance(one, exp.Alias)
        )
        for one in node.iter_expressions():
            if isinstance(one, exp.Join):
                self._joined(one, scope, outer)
            elif not isinstance(one, exp.From | exp.Lateral | exp.With):
                own = frozenset[str]() if one.arg_key == "expressions" else aliases
                self._look(one, (scope, *outer), own)
        return self._given(node, scope)

    def _joined(self, node: exp.Join, scope: Scope, outer: tuple[Scope, ...]) -> None:
        for one in (node.args.get("on"), *(node.args.get("using") or ())):
            self._look(one, (scope, *outer), frozenset())

    def _relation(self, node: exp.Expr, scope: Scope, outer: tuple[Scope, ...]) -> None:
        """Add what stands in FROM or JOIN to what a query sees."""
        alias = node.args.get("alias")
        match node:
            case exp.Table():
                made = self._table(node)
                written = self._name(node.this)
                if alias is None and node.args.get("db"):
                    scope[f"{self._name(node.args['db'])}.{written}"] = made
            case exp.Lateral():
                made, written = self._query(node.this, (scope, *outer)), ""
            case exp.Subquery() if isinstance(node.this, exp.Select | exp.SetOperation):
                made, written = self._query(node, outer), ""
            case exp.Values():
                rows = node.expressions[0].expressions if node.expressions else ()
                names = frozenset(f"column{n}" for n, _ in enumerate(rows, 1))
                made, written = Source(names), ""
                self._look_within(node, (scope, *outer), frozenset())
            case _:  # a join in brackets
                if isinstance(node.this, exp.Expr):
                    self._relation(node.this, scope, outer)
                made, written = NOTHING, ""
        called = self._name(alias.this) if alias is not None and alias.this else written
        if called or made is not NOTHING:
            scope[called or f"({len(scope)})"] = self._named(made, alias)
        joins = node.args.get("joins") or ()
        for one in joins:
            self._relation(one.this, scope, outer)
        for one in joins:
            self._joined(one, scope, outer)

    def _name(self, part: exp.Expr) -> str:
        return _identifier(part, self._dialect)

    def _table(self, node: exp.Table) -> Source:
        name = table_name(node, self._dialect)
        if name in self._defined:
            return self._defined[name]
        names = frozenset(self._tables.get(name, ()))
        return Source(names) if names else Source(names, frozenset((name,)))

    def _named(self, made: Source, alias: exp.Expr | None) -> Source:
        """With the columns renamed that an alias renames; any other has lost its place."""
        columns = alias.args.get("columns") if alias is not None else None
        return Source(frozenset(map(self._name, columns)), has_unnamed=True) if columns else made

    def _given(self, node: exp.Select, scope: Scope) -> Source:
        names: set[str] = set()
        starred: list[Source] = []
        has_unnamed = False
        for one in node.expressions:
            if isinstance(one, exp.Star):
                starred += scope.values()
            elif isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
                starred.append(scope.get(self._table_of(one), NOTHING))
            elif isinstance(one, exp.Alias):
                names.add(self._name(one.args["alias"]))
            elif isinstance(one, exp.Column):
                names.add(self._name(one.this))
            else:
                has_unnamed = True
        return Source(
            frozenset(names).union(*(one.names for one in starred)),
            frozenset[str]().union(*(one.tables for one in starred)),
            has_unnamed or any(one.has_unnamed for one in starred),
        )

    def _look(self, node: exp.Expr | None, scopes: tuple[Scope, ...], own: frozenset[str]) -> None:
        """Note the names in an expression that are no columns.

        Args:
            own: names that the query gives its own columns, and that it may order by.
        """
        match node:
            case None:
                pass
            case exp.Select() | exp.SetOperation() | exp.Subquery():
                self._query(node, scopes)
            case exp.Column():
                self._column(node, scopes, own)
            case _:
                self._look_within(node, scopes, own)

    def _look_within(self, node: exp.Expr, scopes: tuple[Scope, ...], own: frozenset[str]) -> None:
        for one in node.iter_expressions():
            if not isinstance(one, exp.TableAlias):
                self._look(one, scopes, own)

    def _column(self, node: exp.Column, scopes: tuple[Scope, ...], own: frozenset[str]) -> None:
        if isinstance(node.this, exp.Star):
            return
        name, table = self._name(node.this), self._table_of(node)
        if table:
            found = next((scope[table] for scope in scopes if table in scope), NOTHING)
            is_column, tables = name in found.names, found.tables
        else:
            seen = [one for scope in scopes for one in scope.values()]
            is_row = any(name in scope for scope in scopes)
            tables = frozenset[str]().union(*(one.tables for one in seen))
            is_own = name in own and (
                not is_row or isinstance(node.parent, exp.Ordered | exp.Group)
            )
            is_column = is_own or any(name in one.names for one in seen)
            is_column |= not is_row and bool(tables or any(one.has_unnamed for one in seen))
        if not is_column and tables:
            self.unproven.append(Unproven(tables, name))
        elif not is_column:
            self.unknown.append(f"{table}.{name}" if table else name)

    def _table_of(self, node: exp.Column) -> str:
        parts = (node.args.get("catalog"), node.args.get("db"), node.args.get("table"))
        return ".".join(self._name(part) for part in parts if part)
