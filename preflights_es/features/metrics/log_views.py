"""The tables that questions about a log may read; docs/metrics.md promises their columns."""

from __future__ import annotations

from datetime import date
from typing import Final

from preflights_es.features.metrics.domain.composing import literal
from preflights_es.features.metrics.domain.events import Dialect, Table
from preflights_es.store.frozen import PROJECTED

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


def definitions(
    dialect: Dialect,
    project: str | None,
    ahead_s: int = 0,
    today: str = "",
) -> str:
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
        kinds = {"user": "a person", "agent": "an agent", "script": "a script"}
        without = " ".join(f"WHEN '{one}' THEN '{told}'" for one, told in kinds.items())
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
