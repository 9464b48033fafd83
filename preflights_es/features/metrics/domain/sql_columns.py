"""Whether the columns of a query are columns: where PostgreSQL finds none, it calls a function.

`orders.bump` is `bump(orders)` where the table has no column of that name, and a table's name alone
is its whole row. So each name must be one that its source gives. Imported where SQL is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from sqlglot import exp

Name = Callable[[exp.Expr], str]
"""A part of a name, as the database compares it."""


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

    def __init__(self, tables: Mapping[str, Iterable[str]], name: Name) -> None:
        self._tables, self._name = tables, name
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

    def _table(self, node: exp.Table) -> Source:
        parts = (node.args.get("catalog"), node.args.get("db"), node.this)
        name = ".".join(self._name(part) for part in parts if part)
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
            seen = list(_seen(scopes))
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


def _seen(scopes: Iterable[Scope]) -> Iterator[Source]:
    for scope in scopes:
        yield from scope.values()
