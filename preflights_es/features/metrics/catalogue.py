"""A catalogue: its files `metrics/*.yaml` and `snippets/*.sql`, and the tables that questions about
a log may read (docs/metrics.md promises their columns). Each error names file, line and key.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from msgspec.structs import replace

from preflights_es.features.metrics.domain.closed_form import normalize_catalogue_phrase
from preflights_es.features.metrics.domain.composing import literal, query
from preflights_es.features.metrics.domain.events import (
    CATALOGUE_MAX,
    END_DAY,
    FIRST_DAY,
    METRICS_MAX,
    NAME_MAX,
    Catalogue,
    Dialect,
    Metric,
    Table,
)
from preflights_es.features.metrics.domain.sql_check import (
    NoExtra,
    findings,
    odd_parameter,
    tables_of,
)
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import ACTOR_WORDS
from preflights_es.kernel.text import late_pattern, one_line, problem, visible
from preflights_es.store.frozen import PROJECTED
from preflights_es.system.files import Unreadable, regular

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node


# 1. Files ------------------------------------------------------------------------------------

Folders = tuple[Path, Path]
"""Of metrics and of snippets."""

_SHIPPED: Final = Path(__file__).parent / "data" / "catalogue"
BUILT_IN: Final[Folders] = (_SHIPPED / "metrics", _SHIPPED / "snippets")
_KEYS: Final = tuple(
    """
    name aliases description sql snippet dimensions date unit words values kind
    """.split()  # noqa: SIM905  a table
)
DIMENSIONS: Final = "dimensions.yaml"
"""Beside the metrics: `words` and `values` of dimensions, for all metrics that have these."""
_SHARED: Final = ("words", "values")
DEPTH_MAX: Final = 4  # names of a value of a dimension, below `values`
PARTS_MAX: Final = 1_000  # keys and texts of a file
_ODD: Final = set("[]{}<>`")
_PARAMETERS: Final = (FIRST_DAY, END_DAY)
_PARAMETER: Final = late_pattern(r"(?<![:\w]):[A-Za-z_]\w*")
Check = Callable[[str], tuple[str, ...]]
"""Finds what is wrong with the SQL of a metric."""


def need_extra() -> None:
    """Look for the packages that read SQL and YAML, without loading them.

    Raises:
        NoExtra: one is not installed.
    """
    from importlib.util import find_spec

    if not (find_spec("sqlglot") and find_spec("yaml")):
        raise NoExtra


def metrics_of(folders: Folders, check: Check) -> tuple[Metric, ...]:
    """All metrics of a catalogue, in the order of their files.

    Raises:
        Refused: a file cannot be read, or says what no catalogue says.
        NoExtra: YAML cannot be read here.
    """
    files, snippets = folders
    need_extra()
    if not files.is_dir():
        raise _wrong(f"{files} is no folder: a catalogue has its metrics in `metrics/*.yaml`")
    budget = _CatalogueBudget()
    found: dict[str, Metric] = {}
    read_from: dict[str, _CatalogueFile] = {}
    paths = [one for one in (*files.glob("*.yaml"), *files.glob("*.yml")) if one.name != DIMENSIONS]
    common = files / DIMENSIONS
    shared = _CatalogueFile(common, budget, _SHARED).shared() if common.exists() else _Shared()
    for path in sorted(paths):
        read = _CatalogueFile(path, budget)
        metric = _with_shared(read.metric(snippets, check), shared)
        if normalize_catalogue_phrase(metric.name) in found:
            raise read.wrong(read.keys["name"], "name", f"{metric.name!r} stands in another file")
        found[normalize_catalogue_phrase(metric.name)] = metric
        read_from[metric.name] = read
    if not 0 < len(found) <= METRICS_MAX:
        raise _wrong(f"{files} has {len(found)} metrics, expected 1 to {METRICS_MAX}")
    for metric in found.values():
        for alias in metric.aliases:
            if found.get(normalize_catalogue_phrase(alias), metric) is not metric:
                why = f"{alias!r} is the name of another metric"
                read = read_from[metric.name]
                raise read.wrong(read.keys["aliases"], "aliases", why)
    return tuple(found.values())


def _with_shared(metric: Metric, shared: _Shared) -> Metric:
    """A metric with what is said of its dimensions for all metrics; its own word counts."""
    own = {column for column, _ in metric.words}, {column for column, *_ in metric.values}
    words = (one for one in shared.words if one[0] in metric.dimensions and one[0] not in own[0])
    values = (one for one in shared.values if one[0] in metric.dimensions and one[0] not in own[1])
    return replace(metric, words=(*metric.words, *words), values=(*metric.values, *values))


class _Shared(NamedTuple):
    """What a catalogue says of dimensions once."""

    words: tuple[tuple[str, tuple[str, ...]], ...] = ()
    values: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


def _loader() -> Any:
    """PyYAML's reader in C, where it was built; it takes a tenth of the time."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _CatalogueBudget:
    """What is left of the bytes that a catalogue may have."""

    def __init__(self) -> None:
        self.left = CATALOGUE_MAX

    def text(self, path: Path) -> str:
        try:
            raw = regular(path, self.left)
            self.left -= len(raw)
            return raw.decode("utf-8-sig")
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _wrong(f"{path} is not there") from error
        except Unreadable as error:
            message = f"{path}: {error}; a catalogue has at most {CATALOGUE_MAX:,} bytes in all"
            raise _wrong(message) from error
        except UnicodeDecodeError as error:
            raise _wrong(f"{path} is not UTF-8, at byte {error.start + 1}") from error


class _CatalogueFile:
    """One metric, or what is said of dimensions, with the place of each key."""

    def __init__(
        self, path: Path, budget: _CatalogueBudget, known: tuple[str, ...] = _KEYS
    ) -> None:
        self.path, self._budget, self._known = path, budget, known
        self.keys: dict[str, Node] = {}
        self._values: dict[str, Node] = {}
        self._read(budget.text(path))

    def _read(self, text: str) -> None:
        import yaml

        try:
            self._refuse_odd(text)
            root = yaml.compose(text, Loader=_loader())
        except (yaml.YAMLError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            where = f", line {mark.line + 1}" if mark else ""
            said = one_line(str(getattr(error, "problem", "") or "it nests too deep"))
            raise _wrong(f"{self.path}{where}: no YAML of one document: {said}") from error
        if not isinstance(root, yaml.MappingNode):
            raise _wrong(f"{self.path}, line 1: expected keys such as `name:` and `sql:`")
        self._take(root)

    def _refuse_odd(self, text: str) -> None:
        """Aliases, and what nests: a reader takes long for much of either."""
        import yaml

        depth = 0
        for count, event in enumerate(yaml.parse(text, Loader=_loader())):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent):
                raise _wrong(f"{self.path}, line {line}: YAML aliases are not read here")
            if depth > DEPTH_MAX or count > PARTS_MAX:
                raise _wrong(f"{self.path}, line {line}: expected a few keys, and lists of texts")

    def _take(self, root: MappingNode) -> None:
        for key, value in root.value:
            name = str(getattr(key, "value", ""))
            if name not in self._known:
                raise self.wrong(key, name, f"is no key here: {', '.join(self._known)}")
            if name in self.keys:
                raise self.wrong(key, name, "stands twice")
            self.keys[name], self._values[name] = key, value
        self._root = root

    def wrong(self, node: Node, key: str, why: str) -> Refused:
        """What is wrong, with file, line and key."""
        line = node.start_mark.line + 1
        return _wrong(f"{self.path}, line {line}, key {key!r}: {why}")

    def metric(self, snippets: Path, check: Check) -> Metric:
        if "name" not in self.keys:
            raise self.wrong(self._root, "name", "is missing")
        if ("sql" in self.keys) == ("snippet" in self.keys):
            raise self.wrong(self._root, "sql", "expected either `sql` or `snippet`")
        key = "sql" if "sql" in self.keys else "snippet"
        metric = Metric(
            name=self._name("name", self._one("name")),
            aliases=tuple(self._name("aliases", one) for one in self._several("aliases")),
            description=self._one("description"),
            sql=(self._one("sql") if key == "sql" else self._snippet(snippets)).strip(),
            dimensions=tuple(self._several("dimensions")),
            date=self._one("date"),
            unit=tuple(self._several("unit")),
            words=self._named(self._of_dimension("words")),
            values=self._called(self._of_dimension("values")),
            kind=self._kind(),
        )
        for found in check(metric.sql):
            others = [one for one in _PARAMETER.findall(metric.sql) if one not in _PARAMETERS]
            why = f"found {others[0]}, expected {FIRST_DAY} or {END_DAY}" if others else found
            raise self.wrong(self._values[key], key, why)
        return metric

    def _kind(self) -> Literal["", "ratio"]:
        kind = self._one("kind")
        if kind and kind != "ratio":
            raise self.wrong(self._values["kind"], "kind", f"found {kind!r}, expected ratio")
        return "ratio" if kind else ""

    def _snippet(self, folder: Path) -> str:
        name = self._one("snippet")
        if name != Path(name).name or not name.endswith(".sql"):
            raise self.wrong(self._values["snippet"], "snippet", "expected a name such as day.sql")
        try:
            return self._budget.text(folder / name)
        except Refused as error:
            raise self.wrong(self._values["snippet"], "snippet", str(error)) from error

    def _one(self, key: str) -> str:
        node = self._values.get(key)
        return "" if node is None else self._text(key, node)

    def _several(self, key: str) -> list[str]:
        node = self._values.get(key)
        return [] if node is None else list(self._texts(key, node))

    def _pairs(self, key: str) -> list[tuple[str, Node]]:
        node = self._values.get(key)
        return [] if node is None else self._mapping(key, node)

    def shared(self) -> _Shared:
        """Words and values of dimensions, whatever metric has these."""
        return _Shared(self._named(self._pairs("words")), self._called(self._pairs("values")))

    def _named(self, pairs: list[tuple[str, Node]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((one, self._texts("words", node)) for one, node in pairs)

    def _called(
        self, pairs: list[tuple[str, Node]]
    ) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        return tuple(
            (one, value, self._texts("values", names))
            for one, node in pairs
            for value, names in self._mapping("values", node)
        )

    def _of_dimension(self, key: str) -> list[tuple[str, Node]]:
        """Pairs whose keys are dimensions of this metric."""
        dimensions = self._several("dimensions")
        pairs = self._pairs(key)
        for name, node in pairs:
            if name not in dimensions:
                known = ", ".join(dimensions) or "none"
                raise self.wrong(node, key, f"{name!r} is no dimension; there are: {known}")
        return pairs

    def _mapping(self, key: str, node: Node) -> list[tuple[str, Node]]:
        import yaml

        if not isinstance(node, yaml.MappingNode):
            raise self.wrong(node, key, "expected names with lists of texts")
        return [(self._text(key, name), value) for name, value in node.value]

    def _texts(self, key: str, node: Node) -> tuple[str, ...]:
        import yaml

        if not isinstance(node, yaml.SequenceNode):
            raise self.wrong(node, key, "expected a list of texts")
        return tuple(self._text(key, one) for one in node.value)

    def _text(self, key: str, node: Node) -> str:
        import yaml

        if not isinstance(node, yaml.ScalarNode):
            raise self.wrong(node, key, "expected a text")
        text: str = node.value
        if why := problem(text, CATALOGUE_MAX):
            raise self.wrong(node, key, f"the text {why}")
        if not visible(text):
            raise self.wrong(node, key, "it is empty")
        return text

    def _name(self, key: str, text: str) -> str:
        if len(text) > NAME_MAX or text != one_line(text) or _ODD & set(text):
            why = f"expected 1 to {NAME_MAX} characters on one line, without brackets"
            raise self.wrong(self._values[key], key, why)
        return text


def _wrong(message: str) -> Refused:
    return Refused(message, code="bad_catalogue")


def check_for(dialect: Dialect, tables: tuple[Table, ...] | None) -> Check:
    """The check of a metric's SQL.

    Args:
        tables: None where the SQL itself says which there are.
    """

    def check(sql: str) -> tuple[str, ...]:
        text, odd = query(sql), odd_parameter(sql, dialect)
        read = tables
        if read is None:
            own = (one for one in tables_of(text, dialect) if not is_system(one))
            read = tuple(map(Table, own))
        return findings(text, dialect, read) or ((odd,) if odd else ())

    return check


def is_system(table: str) -> bool:
    """Whether a table is the database's own: it holds its users and their passwords."""
    schema, _, name = table.casefold().rpartition(".")
    own = schema.startswith("pg_") or schema == "information_schema"
    return own or name.startswith(("pg_", "sqlite_"))


def own_catalogue(folders: Folders, dialect: Dialect) -> Catalogue:
    """A catalogue whose SQL says which tables there are; errors as `metrics`."""
    held = metrics_of(folders, check_for(dialect, None))
    read = dict.fromkeys(name for one in held for name in tables_of(query(one.sql), dialect))
    return Catalogue(dialect=dialect, metrics=held, tables=tuple(map(Table, read)))


_DAY: Final[dict[Dialect, str]] = {
    "sqlite": "date({} / 1000000 + {}, 'unixepoch')",
    "postgres": "to_char(to_timestamp({} / 1000000 + {}) AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
}
"""The day of a time in microseconds, where the clock is so many seconds before UTC."""

_DAYS: Final[dict[Dialect, str]] = {
    "sqlite": "CAST(julianday({}) - julianday({}) AS INTEGER)",
    "postgres": "({}::date - {}::date)",
}
"""How many days lie between one day and an earlier one."""

_SCHEMA: Final[dict[Dialect, str]] = {"sqlite": "main.", "postgres": ""}
"""In front of a table: in SQLite a later WITH of the same name would take its place."""

_DECIDED: Final[dict[Dialect, str]] = {
    "sqlite": "decided",
    "postgres": r"replace(decided, '\u0000', '\ufffd')::json",
}
"""The JSON of a decision; no text of PostgreSQL has a NUL."""

_VALUES: Final[dict[Dialect, str]] = {
    "sqlite": "(SELECT group_concat(json_extract(value, '$[1]'), ', ')"
    " FROM main.json_each({}, '$.fields'))",
    "postgres": "(SELECT string_agg(field.pair ->> 1, ', ' ORDER BY field.place)"
    " FROM json_array_elements({} -> 'fields') WITH ORDINALITY AS field(pair, place))",
}
"""The values of a decision's fields: each is a pair of name and value."""


def queryable_log_tables() -> tuple[Table, ...]:
    """What a query may read: those whose projection this log has."""
    columns = _columns(_Sql("sqlite"))
    return tuple(Table(name, tuple(of)) for name, of in columns.items() if name in PROJECTED)


def projected_table_names() -> frozenset[str]:
    """The tables of the database behind them."""
    return frozenset(PROJECTED[one.name] for one in queryable_log_tables())


def definitions(dialect: Dialect, project: str | None, ahead_s: int = 0, today: str = "") -> str:
    """Each table in front of a query, with the rows of one project alone.

    Args:
        project: None for the rows of all projects.
        ahead_s: seconds by which the clock of its days is before UTC.
        today: YYYY-MM-DD, up to which ages count; nothing has an age where it is no day.
    """
    columns = _columns(_Sql(dialect, ahead_s, today))
    where = "" if project is None else f" WHERE project = {literal(project)}"
    made = []
    for one in queryable_log_tables():
        selected = ", ".join(f"{was} AS {column}" for column, was in columns[one.name].items())
        rows = f"{_SCHEMA[dialect]}{PROJECTED[one.name]}{where}"
        made.append(f"{one.name} AS (SELECT {selected} FROM {rows})")  # noqa: S608  ours alone
    return ", ".join(made)


class _Sql:
    """Writes what stands in a column in the SQL of a dialect."""

    def __init__(self, dialect: Dialect, ahead_s: int = 0, today: str = "") -> None:
        self._dialect, self._ahead_s, self._today = dialect, ahead_s, today

    def day(self, time: str) -> str:
        """The day of a time in microseconds."""
        return _DAY[self._dialect].format(time, self._ahead_s)

    def age(self, time: str) -> str:
        """How many days ago that was."""
        today = self._day_of_question()
        return _DAYS[self._dialect].format(today, self.day(time)) if today else "NULL"

    def days_until(self, day: str) -> str:
        """In how many days a day is; less than 0 where it is over."""
        today = self._day_of_question()
        return _DAYS[self._dialect].format(day, today) if today else "NULL"

    def _day_of_question(self) -> str:
        try:
            return literal(date.fromisoformat(self._today).isoformat())
        except ValueError:
            return ""

    def decided(self, *path: str) -> str:
        """A part of a decision as text; `last` is that of a list."""
        whole = _DECIDED[self._dialect]
        if self._dialect == "sqlite":
            inner = "".join("[#-1]" if one == "last" else f".{one}" for one in path)
            return f"json_extract({whole}, '${inner}')"
        inner = ",".join("-1" if one == "last" else one for one in path)
        return f"({whole} #>> '{{{inner}}}')"

    def number(self, *path: str) -> str:
        """The same of a whole number."""
        return f"CAST({self.decided(*path)} AS bigint)"

    def actor(self, *path: str) -> str:
        """A name, or what kind of actor it is that has none."""
        name, kind = self.decided(*path, "name"), self.decided(*path, "kind")
        without = " ".join(f"WHEN '{one}' THEN '{told}'" for one, told in ACTOR_WORDS.items())
        return f"coalesce(nullif({name}, ''), CASE {kind} {without} END)"

    def kind(self, *path: str) -> str:
        """What kind of actor it is."""
        kind = self.decided(*path, "kind")
        return f"CASE {kind} WHEN 'user' THEN 'person' ELSE {kind} END"

    def values(self) -> str:
        """All that was decided, in one text."""
        return _VALUES[self._dialect].format(_DECIDED[self._dialect])


def _columns(sql: _Sql) -> dict[str, dict[str, str]]:
    """By table: each column, and what it is of the projection's."""
    later = sql.decided("superseded_by", "title"), sql.decided("superseded_by", "uid")
    return {
        "sessions": {
            **_unrenamed_columns("session_id workflow status progress turns provider model"),
            **_unrenamed_columns("fell_back intention"),
            "began_on": sql.day("began_at"),
            "moved_on": sql.day("moved_at"),
        },
        "decisions": {
            **_unrenamed_columns("uid session_id standing"),
            "kind": sql.decided("kind"),
            "record": sql.number("number"),
            "title": sql.decided("title"),
            "value": sql.values(),
            "scope": sql.decided("scope"),
            "category": "category",
            "topic": "category",
            "reason": sql.decided("rationale", "because", "text"),
            "asked_by": sql.actor("asked_by"),
            "asked_by_kind": sql.kind("asked_by"),
            "decided_by": sql.actor("origins", "last", "by"),
            "decided_by_kind": sql.kind("origins", "last", "by"),
            "accepted_by": f"CASE WHEN accepted_at IS NOT NULL"
            f" THEN {sql.actor('acknowledged_by')} END",
            "proposed_on": sql.day(sql.number("proposed_at")),
            "accepted_on": sql.day("accepted_at"),
            "age_days": sql.age("accepted_at"),
            "superseded_on": sql.day("superseded_at"),
            "superseded_by": f"coalesce(nullif({later[0]}, ''), {later[1]})",
        },
        "usage": {
            **_unrenamed_columns("session_id workflow provider model prompt attempt outcome"),
            **_unrenamed_columns("judged fell_back input_tokens output_tokens latency_ms"),
            "called_on": sql.day('"at"'),
        },
        "items": {
            **_unrenamed_columns("session_id number type status title importance energy"),
            "due_in_days": sql.days_until("due"),
            **_unrenamed_columns("due duration_min duration_max start_time end_time"),
            "noted_on": "CASE WHEN noted_at <> '' THEN substr(noted_at, 1, 10)"
            f" ELSE {sql.day('began_at')} END",
            "filed": "CASE source WHEN 'added' THEN 'by hand' ELSE 'from a note' END",
        },
    }


def _unrenamed_columns(names: str) -> dict[str, str]:
    return {name: name for name in names.split()}
