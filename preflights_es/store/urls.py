"""Where a log lies: its address, read, shown and opened."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import quote, quote_plus, unquote

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from preflights_es.core.errors import SettingsError
from preflights_es.store.database import Database

POSTGRES: Final = "postgresql+psycopg"

_EXPECTED: Final = "expected sqlite:///PATH or a path, or postgresql://USER@HOST/DATABASE"
_POSTGRES_NAMES: Final = frozenset({"postgres", "postgresql", POSTGRES})
_READ_ONLY: Final = {"mode": "ro"}
_SECRET: Final = re.compile(r"(?i)pass|pwd|secret|scram_\w*key|^key$")
"""Names of parameters whose values are not shown: libpq's, and those a person may mistype."""


_HALF_A_URL: Final = re.compile(r"(?i)postgres\w*:|postgres\w*//|[^/\\]*:[^/\\]+@|.*password=")
"""What a person meant as a URL, and may hold a password: taken for a path it would be shown."""


def parsed(url: str) -> URL:
    """The address of a log; a plain path is a SQLite file.

    Raises:
        SettingsError: it names no engine that this version supports, or no file or database, or
            asks of a file what it cannot be asked.
    """
    if "\0" in url:
        raise SettingsError(f"the database URL holds a NUL character: {_EXPECTED}")
    if "://" not in url and _HALF_A_URL.match(url):
        raise SettingsError(f"the database is neither a path nor a URL: {_EXPECTED}")
    try:
        # A path is taken as it is: one with `?` or `%` in it would mean something in a URL.
        found = make_url(url) if "://" in url else URL.create("sqlite", database=url)
    except (ArgumentError, ValueError) as error:
        raise SettingsError(f"the database URL cannot be read: {_EXPECTED}") from error
    if found.drivername in _POSTGRES_NAMES:
        if "@" in (found.host or ""):
            # Half of the password would count as the host, and be shown.
            raise SettingsError(f"the database URL has two @: write %40 for one: {_EXPECTED}")
        if not found.database:
            raise SettingsError(f"the database URL names no database: {_EXPECTED}")
        return found.set(drivername=POSTGRES)
    if found.get_backend_name() != "sqlite":
        raise SettingsError(
            f"the database engine {found.drivername!r} is not supported: {_EXPECTED}"
        )
    if found.host is not None:
        raise SettingsError(f"the database URL names a host before its file: {_EXPECTED}")
    if file_of(found) is None:
        raise SettingsError(f"a log cannot live in memory: {_EXPECTED}")
    return _file(found)


def _file(url: URL) -> URL:
    """A file's address; `file:PATH?uri=true`, as SQLite itself would say it, becomes a path.

    Raises:
        SettingsError: it asks for what would be passed over without a word.
    """
    asked = dict(url.query)
    name = url.database or ""
    if asked.get("uri") == "true" and name.startswith("file:"):
        del asked["uri"]
        name = unquote(name.removeprefix("file:"))
    if asked and asked != _READ_ONLY:
        shown = {k: "***" if _SECRET.search(k) else value for k, value in asked.items()}
        found = ", ".join(f"{key}={value}" for key, value in shown.items() if key != "mode")
        found = found or f"mode={asked['mode']}"
        raise SettingsError(f"the database URL: found {found!r}, a file takes only mode=ro")
    return url.set(database=name, query=asked)


def may_create(url: URL) -> bool:
    """Whether a log that is not there may be made: not where it is only to be read."""
    return url.query != _READ_ONLY


def shown_url(url: URL) -> str:
    """Without a password."""
    if path := file_of(url):
        return str(path)
    hidden = {k: "***" for k, v in url.query.items() if _SECRET.search(f"{k}\n{v}")}
    shown = url.set(drivername=url.get_backend_name()).update_query_dict(hidden)
    return shown.render_as_string(hide_password=True)


def without_secrets(url: URL, text: str) -> str:
    """A text without the passwords of an address, as they stand in it or as a URL writes them."""
    values = [url.password, *(v for k, v in url.query.items() if _SECRET.search(k))]
    for value in values:
        for secret in (value,) if isinstance(value, str) else value or ():
            for form in (secret, quote(secret, safe=""), quote_plus(secret)):
                text = text.replace(form, "***") if form else text
    return text


def file_of(url: URL) -> Path | None:
    """The file of a SQLite log; None where it lies elsewhere."""
    name = url.database
    if url.get_backend_name() != "sqlite" or not name or name == ":memory:":
        return None
    return Path(name)


def database(url: URL) -> Database:
    """The database at an address, not connected yet.

    Raises:
        SettingsError: its driver is missing, or does not know what the address asks for.
    """
    if path := file_of(url):
        from preflights_es.store.sqlite import SqliteDatabase

        return SqliteDatabase(url, path)
    from preflights_es.store.postgres import PostgresDatabase

    return PostgresDatabase(url)
