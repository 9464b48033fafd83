"""A catalogue: its files `metrics/*.yaml` and `snippets/*.sql`, saved questions, and known values.

Each error names file, line and key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from preflights_es.features.metrics.domain.composing import literal, query, source
from preflights_es.features.metrics.domain.events import (
    CATALOGUE_MAX,
    END_DAY,
    FIRST_DAY,
    METRICS_MAX,
    NAME_MAX,
    VALUE_MAX,
    VALUES_MAX,
    Catalogue,
    Dialect,
    Matched,
    Metric,
    Saved,
    Table,
)
from preflights_es.features.metrics.domain.question import content, plain, stems, tokens
from preflights_es.features.metrics.domain.sql_check import NoExtra, findings, tables_of
from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.text import late_pattern, one_line, problem, visible
from preflights_es.redaction.masking import redact
from preflights_es.redaction.patterns import KINDS
from preflights_es.store.guarded_query import Limits, Rows
from preflights_es.system.files import Unreadable, opened, read_cache, regular, write_cache

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node

# 1. Files ------------------------------------------------------------------------------------

Folders = tuple[Path, Path]
"""Of metrics and of snippets."""

_SHIPPED: Final = Path(__file__).parent / "data" / "catalogue"
BUILT_IN: Final[Folders] = (_SHIPPED / "metrics", _SHIPPED / "snippets")
_KEYS: Final = (
    *("name", "aliases", "description", "sql", "snippet", "dimensions", "date"),
    *("unit", "words", "values", "numbers"),
)
DIMENSIONS: Final = "dimensions.yaml"
"""Beside the metrics: `words` and `values` of dimensions, for all metrics that have these."""
_SHARED: Final = ("words", "values")
DEPTH_MAX: Final = 4  # names of a value of a dimension, below `values`
QUESTION: Final = "-- question: "
"""How a snippet begins that a person saved: one line with the question, then its query."""
SAVED_MAX: Final = 500  # snippets
PARTS_MAX: Final = 1_000  # keys and texts of a file
_ODD: Final = set("[]{}<>`")
_PARAMETERS: Final = (FIRST_DAY, END_DAY)
_PARAMETER: Final = late_pattern(r"(?<![:\w]):[A-Za-z_]\w*")
Check = Callable[[str], tuple[str, ...]]
"""Finds what is wrong with a query."""


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
    budget = _Budget()
    found: dict[str, Metric] = {}
    paths = [one for one in (*files.glob("*.yaml"), *files.glob("*.yml")) if one.name != DIMENSIONS]
    shared = _shared(files / DIMENSIONS, budget)
    for path in sorted(paths):
        read = _File(path, budget)
        metric = _with_shared(read.metric(snippets, check), shared)
        if metric.name.casefold() in found:
            raise read.wrong(read.keys["name"], "name", f"{metric.name!r} stands in another file")
        found[metric.name.casefold()] = metric
    if not 0 < len(found) <= METRICS_MAX:
        raise _wrong(f"{files} has {len(found)} metrics, expected 1 to {METRICS_MAX}")
    return tuple(found.values())


def _shared(path: Path, budget: _Budget) -> _Shared:
    return _File(path, budget, _SHARED).shared() if path.exists() else _Shared()


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


class _Budget:
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


class _File:
    """One metric, or what is said of dimensions, with the place of each key."""

    def __init__(self, path: Path, budget: _Budget, known: tuple[str, ...] = _KEYS) -> None:
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
            numbers=self._named(self._pairs("numbers"), "numbers"),
        )
        for found in check(query(metric.sql, None)):
            others = [one for one in _PARAMETER.findall(metric.sql) if one not in _PARAMETERS]
            why = f"found {others[0]}, expected {FIRST_DAY} or {END_DAY}" if others else found
            raise self.wrong(self._values[key], key, why)
        return metric

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

    def _named(
        self, pairs: list[tuple[str, Node]], key: str = "words"
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((one, self._texts(key, node)) for one, node in pairs)

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


def saved_questions(folder: Path) -> tuple[Saved, ...]:
    """The questions that a person saved in a folder of snippets, by name; none where it is not.

    Raises:
        Refused: a file cannot be read.
    """
    budget = _Budget()
    found = []
    for path in sorted(folder.glob("*.sql"))[:SAVED_MAX] if folder.is_dir() else ():
        head, _, sql = budget.text(path).partition("\n")
        if head.startswith(QUESTION) and sql.strip():
            text = one_line(head.removeprefix(QUESTION)).strip()
            found.append(Saved(name=path.stem, question=text, sql=sql.strip()))
    return tuple(found)


def _wrong(message: str) -> Refused:
    return Refused(message, code="bad_catalogue")


def check_for(dialect: Dialect, tables: tuple[Table, ...] | None) -> Check:
    """The check of a metric's SQL.

    Args:
        tables: None where the SQL itself says which there are.
    """

    def check(sql: str) -> tuple[str, ...]:
        if tables is not None:
            return findings(sql, dialect, tables)
        read = [Table(one) for one in tables_of(sql, dialect) if not is_system(one)]
        return findings(sql, dialect, read)

    return check


def is_system(table: str) -> bool:
    """Whether a table is the database's own: it holds its users and their passwords."""
    schema, _, name = table.casefold().rpartition(".")
    own = schema.startswith("pg_") or schema == "information_schema"
    return own or name.startswith(("pg_", "sqlite_"))


def own_catalogue(folders: Folders, dialect: Dialect) -> Catalogue:
    """A catalogue whose SQL says which tables there are; errors as `metrics`."""
    held = metrics_of(folders, check_for(dialect, None))
    read = dict.fromkeys(name for one in held for name in tables_of(query(one.sql, None), dialect))
    return Catalogue(dialect=dialect, metrics=held, tables=tuple(map(Table, read)))


# 2. Saved questions --------------------------------------------------------------------------

NEAREST_MAX: Final = 3
SHARED_MIN: Final = 2  # words that a near question shares with another
_NAME: Final = late_pattern(r"[a-z0-9][a-z0-9_-]{0,63}")


def nearest(text: str, saved: Sequence[Saved]) -> tuple[Saved, ...]:
    """The saved questions that share the most words with a text; none that holds a secret."""
    words = content(text)
    shared = {one.name: len(words & content(one.question)) for one in saved}
    near = [one for one in saved if shared[one.name] >= SHARED_MIN]
    near = [one for one in near if not redact(f"{one.question} {one.sql}").kinds]
    return tuple(sorted(near, key=lambda one: -shared[one.name])[:NEAREST_MAX])


def checked_name(name: str) -> str:
    """A name under which a question may be saved.

    Raises:
        Refused: a file could not be called so.
    """
    if _NAME.fullmatch(name) is None:
        message = f"found {name!r} as the name of a question, expected such as orders-by-month"
        raise Refused(message, code="bad_name")
    return name


def save(folder: Path, name: str, question: str, sql: str) -> Path:
    """Write a question and its query as a snippet, whole or not at all; where it lies.

    Raises:
        Refused: a snippet has the name, or the folder cannot be written.
    """
    path = folder / f"{checked_name(name)}.sql"
    text = f"{QUESTION}{one_line(question)}\n{sql.strip()}\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with opened(folder) as place, place.new(path.name) as file:
            file.write(text.encode())
    except FileExistsError as error:
        message = f"{path} exists: choose another name, or remove the file"
        raise Refused(message, code="name_taken") from error
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise Refused(message, code="unwritable") from error
    return path


# 3. Values of dimensions that the database holds ---------------------------------------------

SECONDS: Final = 1.0  # for all queries together
ROWS_MAX: Final = 3_000
AGE_MAX_S: Final = 3_600
TOGETHER: Final = 40  # columns of one query: SQLite takes 50 parts of a UNION here
CACHE_MAX: Final = 4_000_000  # bytes
Read = Callable[[str, Limits], Rows]
"""Runs one query within limits."""


class _Kept(msgspec.Struct, frozen=True):
    """What a database held, and when it was read."""

    at: int
    """Seconds since 1970 UTC."""
    values: tuple[Matched, ...]


def matched(text: str, values: Sequence[Matched]) -> tuple[Matched, ...]:
    """The values whose words stand in a text; none that looks like a secret or names a person."""
    words = [one.stem for one in tokens(plain(text))]

    def stands(value: str) -> bool:
        own = list(stems(value))
        return bool(own) and any(words[n : n + len(own)] == own for n in range(len(words)))

    return tuple(one for one in values if stands(one.value) and not redact(one.value, KINDS).kinds)


def known_values(
    catalogue: Catalogue, read: Read, *, named: str = "", cache: Path | None = None, now_s: int = 0
) -> tuple[Matched, ...]:
    """The first values of each dimension; none where the database gives none in a second.

    Args:
        named: the database and its catalogue, under which values are kept; empty keeps none.
        now_s: seconds since 1970 UTC.
    """
    queries = list(_value_queries(catalogue))
    digest = sha256("\0".join((named, *queries)).encode(errors="surrogatepass")).hexdigest()
    name = f"{digest[:32]}.json"
    kept = read_cache(cache / name, CACHE_MAX, _Kept) if cache and named else None
    if kept is not None and 0 <= now_s - kept.at < AGE_MAX_S:
        return kept.values
    try:
        rows = [row for one in _within(SECONDS, queries, read) for row in one.rows]
    except PreflightsError:
        return ()  # the question is asked without them: a value is then a word not known
    found = tuple(
        Matched(column=str(column), value=value)
        for column, value in dict.fromkeys((row[0], row[1]) for row in rows)
        if isinstance(value, str) and 0 < len(value) <= VALUE_MAX
    )
    if cache and named:
        write_cache(cache / name, _Kept(now_s, found))
    return found


def _within(seconds: float, queries: Sequence[str], read: Read) -> Iterator[Rows]:
    """What queries bring, all in so many seconds.

    Raises:
        QueryFailed: they take longer.
    """
    until = monotonic() + seconds
    for sql in queries:
        yield read(sql, Limits(ROWS_MAX, max(until - monotonic(), 0.01)))


def _value_queries(catalogue: Catalogue) -> Iterator[str]:
    """Queries that bring pairs of a column and a value."""
    parts: dict[tuple[str, str], str] = {}
    for metric in catalogue.metrics:
        read = source(metric.sql)
        for column in metric.dimensions if read else ():
            named = literal(column)
            parts[(column, str(read))] = (
                f"SELECT {named} AS k, q.v AS v FROM (SELECT DISTINCT CAST({column} AS TEXT) AS v "  # noqa: S608  checked below
                f"FROM {read}\nLIMIT {VALUES_MAX}) AS q"
            )
    fit = [sql for sql in parts.values() if not findings(sql, catalogue.dialect, catalogue.tables)]
    for at in range(0, len(fit), TOGETHER):
        yield "\nUNION ALL\n".join(fit[at : at + TOGETHER])
