"""The frozen files of SQLite, written anew: `make freeze`, or `python -m tests.store.freeze`."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import TextWrapper
from typing import Any, Final

import msgspec
from alembic.script import ScriptDirectory
from sqlalchemy import BigInteger, Float, LargeBinary, Text
from sqlalchemy import Column as CoreColumn
from sqlalchemy import String as CoreString
from sqlalchemy.dialects import sqlite

import preflights_es
from preflights_es.store import core_tables, frozen, migrate
from preflights_es.store.core_statements import compile_statement, rooms
from preflights_es.store.frozen import FrozenColumn, FrozenStatement, SqlStatement, ValueKind
from preflights_es.store.opening import database_at
from preflights_es.store.urls import parse_log_address

PAGE = Path(preflights_es.__file__).parents[1] / "docs" / "specs" / "log.md"
_PROJECTED = re.compile(
    r"^(?P<before>\| `(?P<table>projected_\w+)` \|[^|]*\| )(?P<columns>[^|]*) \|$", re.MULTILINE
)
COLUMNS: Final = 100
_WRAPPER: Final = TextWrapper(COLUMNS - 8, break_long_words=False, break_on_hyphens=False)
_CLAUSE: Final = re.compile(
    r"(?<!DELETE) (?=(?:FROM|WHERE|ORDER BY|LIMIT|VALUES|SET|UNION|ON CONFLICT) )"
)
_KINDS: dict[type, ValueKind] = {
    BigInteger: "whole",
    Float: "real",
    LargeBinary: "bytes",
    CoreString: "text",
    Text: "text",
}


def statements() -> str:
    """The file of statements, as Core compiles them today, in lines of about 100 columns."""
    dialect = sqlite.dialect()
    made = {
        "schema": ScriptDirectory.from_config(migrate.config()).get_current_head(),
        "tables": {
            str(name): [_column(column) for column in table.c]
            for name, table in core_tables.metadata.tables.items()
        },
        "rooms": {
            room: {
                name: _wrapped(compile_statement(one, dialect)) for name, one in elements.items()
            }
            for room, elements in rooms("sqlite").items()
        },
    }
    return _json_lines(msgspec.to_builtins(made)) + "\n"


def _wrapped(statement: SqlStatement) -> FrozenStatement:
    """Each clause begins a line."""
    clauses = _CLAUSE.split(statement.sql)
    lines = (line for clause in clauses for line in _WRAPPER.wrap(clause))
    return FrozenStatement(tuple(lines), statement.names, statement.fixed)


def _column(column: CoreColumn[object]) -> FrozenColumn:
    return FrozenColumn(str(column.name), _KINDS[type(column.type)], bool(column.nullable))


def _json_lines(value: Any, indent: str = "", before: str = "") -> str:
    """JSON on one line where that is short, else a line for each of its members."""
    whole = before + json.dumps(value)
    if not isinstance(value, dict | list | tuple) or len(indent + whole) < COLUMNS:
        return whole
    inner = f"{indent} " if before else indent  # the members of the whole are not indented
    if isinstance(value, dict):
        lines = [_json_lines(one, inner, f"{json.dumps(key)}: ") for key, one in value.items()]
    elif " " not in "".join(map(str, value)):  # names of columns
        lines = [line.rstrip(",") for line in _WRAPPER.wrap(whole[len(before) + 1 : -1])]
    else:
        lines = [_json_lines(item, inner) for item in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{before}{begin}\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}{end}"


def new_tables() -> str:
    """The file of tables: what the migrations make in an empty file, and the row of their own."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "log.db")
        migrate.upgrade(database_at(parse_log_address(str(path))))
        with closing(sqlite3.connect(path)) as log:
            rows = log.execute("SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL")
            made = [_lines_of(text, bare=kind == "table") for kind, text in rows]
            (revision,) = log.execute("SELECT version_num FROM alembic_version").fetchone()
    made.append(f"INSERT INTO alembic_version (version_num) VALUES ('{revision}')")
    return "\n\n".join(made) + "\n"


def _lines_of(text: str, *, bare: bool) -> str:
    """A statement; that of a table without indents, so that the schema stays on one page."""
    lines = text.strip().splitlines()
    return "\n".join(line.strip() if bare else line.rstrip() for line in lines)


def page(text: str) -> str:
    """The page of the log, with the columns of each projection as they are; what it says stays."""
    return _PROJECTED.sub(_columns, text)


def _columns(row: re.Match[str]) -> str:
    table = core_tables.metadata.tables.get(row["table"])
    if table is None:
        return row[0]
    said = {cell.split("`")[1]: cell for cell in row["columns"].split(", ")}
    return row["before"] + ", ".join(said.get(c.name, f"`{c.name}`") for c in table.c) + " |"


def main() -> None:
    """Write both files, and the columns on the page."""
    frozen.STATEMENTS.write_text(statements(), "utf-8")
    frozen.TABLES.write_text(new_tables(), "utf-8")
    if PAGE.exists():
        PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
