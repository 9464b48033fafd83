"""Where a log lies: its address, read and shown.

SQLAlchemy reads addresses of servers, and those of files that say more than a path.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import late_pattern

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

POSTGRES: Final = "postgresql+psycopg"

_EXPECTED: Final = "expected sqlite:///PATH or a path, or postgresql://USER@HOST/DATABASE"
_POSTGRES_NAMES: Final = frozenset({"postgres", "postgresql", POSTGRES})
_READ_ONLY: Final = {"mode": "ro"}
_SECRET: Final = late_pattern(r"(?i)pass|pwd|secret|scram_\w*key|^key$")
"""Names of parameters whose values are not shown: libpq's, and those a person may mistype."""

_HALF_A_URL: Final = late_pattern(r"(?i)postgres\w*:|postgres\w*//|[^/\\]*:[^/\\]+@|.*password=")
"""What a person meant as a URL, and may hold a password: taken for a path it would be shown."""

_FILE: Final = "sqlite:///"


class SqliteFile(msgspec.Struct, frozen=True):
    """The address of a log in a file of SQLite."""

    name: str
    """The path of the file."""
    is_read_only: bool = False


Address: TypeAlias = "SqliteFile | URL"


def parse_log_address(url: str) -> Address:
    """The address of a log; a plain path is a SQLite file.

    Raises:
        SettingsError: it names no engine that this version supports, or no file or database, or
            asks of a file what it cannot be asked.
    """
    if "\0" in url:
        raise SettingsError(f"the database URL holds a NUL character: {_EXPECTED}")
    if "://" not in url:
        if _HALF_A_URL.match(url):
            raise SettingsError(f"the database is neither a path nor a URL: {_EXPECTED}")
        # A path is taken as it is: one with `?` or `%` in it would mean something in a URL.
        return _build_file_address(url)
    if url.startswith(_FILE) and not set("?%") & set(url):
        return _build_file_address(url.removeprefix(_FILE))
    return _of_url(url)


def _build_file_address(name: str, *, is_read_only: bool = False) -> SqliteFile:
    if name in ("", ":memory:"):
        raise SettingsError(f"a log cannot live in memory: {_EXPECTED}")
    return SqliteFile(name, is_read_only)


def _of_url(url: str) -> Address:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    try:
        found = make_url(url)
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
        engine = f"the database engine {found.drivername!r}"
        raise SettingsError(f"{engine} is not supported: {_EXPECTED}")
    if found.host is not None:
        raise SettingsError(f"the database URL names a host before its file: {_EXPECTED}")
    try:
        found.get_dialect().import_dbapi()
    except (NoSuchModuleError, ImportError) as error:
        raise SettingsError(f"the database driver is missing: {error}") from error
    return _parse_file_url(found)


def _parse_file_url(url: URL) -> SqliteFile:
    """A file's address; `file:PATH?uri=true`, as SQLite itself would say it, becomes a path.

    Raises:
        SettingsError: it asks for what would be passed over without a word.
    """
    asked = dict(url.query)
    name = _build_file_address(url.database or "").name
    if asked.get("uri") == "true" and name.startswith("file:"):
        from urllib.parse import unquote

        del asked["uri"]
        name = unquote(name.removeprefix("file:"))
    if asked and asked != _READ_ONLY:
        shown = {k: "***" if _SECRET.search(k) else value for k, value in asked.items()}
        found = ", ".join(f"{key}={value}" for key, value in shown.items() if key != "mode")
        found = found or f"mode={asked['mode']}"
        raise SettingsError(f"the database URL: found {found!r}, a file takes only mode=ro")
    return SqliteFile(name, is_read_only=bool(asked))


def address(url: Address) -> str:
    """What `parsed` reads as this again, a password among it: for another process of ours."""
    if isinstance(url, SqliteFile):
        return f"{_FILE}{url.name}?mode=ro" if url.is_read_only else url.name
    return url.render_as_string(hide_password=False)


def may_create(url: Address) -> bool:
    """Whether a log that is not there may be made: not where it is only to be read."""
    return not (isinstance(url, SqliteFile) and url.is_read_only)


def shown_url(url: Address) -> str:
    """Without a password."""
    if isinstance(url, SqliteFile):
        return str(Path(url.name))
    hidden = {k: "***" for k, v in url.query.items() if _SECRET.search(f"{k}\n{v}")}
    shown = url.set(drivername=url.get_backend_name()).update_query_dict(hidden)
    return shown.render_as_string(hide_password=True)


def without_secrets(url: URL, text: str) -> str:
    """A text without the passwords of an address, as they stand in it or as a URL writes them."""
    from urllib.parse import quote, quote_plus

    values = [url.password, *(v for k, v in url.query.items() if _SECRET.search(k))]
    for value in values:
        for secret in (value,) if isinstance(value, str) else value or ():
            for form in (secret, quote(secret, safe=""), quote_plus(secret)):
                text = text.replace(form, "***") if form else text
    return text


def file_of(url: Address) -> Path | None:
    """The file of a SQLite log; None where it lies elsewhere."""
    return Path(url.name) if isinstance(url, SqliteFile) else None
