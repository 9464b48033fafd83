"""Values of dimensions that stand in a question, read from the database that it is about.

Only columns that the catalogue calls dimensions are read. What was read is kept in the user's cache
with its age; a session records the values alone that its question matched.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from preflights_es.features.metrics.domain.composing import literal
from preflights_es.features.metrics.domain.metric_sql import source
from preflights_es.features.metrics.domain.question import plain, stems, tokens
from preflights_es.features.metrics.domain.sql_check import findings
from preflights_es.features.metrics.domain.values import VALUE_MAX, VALUES_MAX, Catalogue, Matched
from preflights_es.kernel.errors import PreflightsError
from preflights_es.redaction.masking import redact
from preflights_es.store.guarded_query import Limits, Rows
from preflights_es.system import files as atomic_file
from preflights_es.system.files import Unreadable, regular

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
    """The values whose words stand in a text; none that looks like a secret."""
    words = [one.stem for one in tokens(plain(text))]

    def stands(value: str) -> bool:
        own = list(stems(value))
        return bool(own) and any(words[n : n + len(own)] == own for n in range(len(words)))

    return tuple(one for one in values if stands(one.value) and not redact(one.value).kinds)


def known_values(
    catalogue: Catalogue, read: Read, *, named: str = "", cache: Path | None = None, now_s: int = 0
) -> tuple[Matched, ...]:
    """The first values of each dimension; none where the database gives none in a second.

    Args:
        named: the database and its catalogue, under which values are kept; empty keeps none.
        now_s: seconds since 1970 UTC.
    """
    queries = list(_queries(catalogue))
    digest = sha256("\0".join((named, *queries)).encode(errors="surrogatepass")).hexdigest()
    name = f"{digest[:32]}.json"
    kept = _kept(cache / name) if cache and named else None
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
        _keep(cache, name, _Kept(now_s, found))
    return found


def _within(seconds: float, queries: Sequence[str], read: Read) -> Iterator[Rows]:
    """What queries bring, all in so many seconds.

    Raises:
        QueryFailed: they take longer.
    """
    until = monotonic() + seconds
    for sql in queries:
        yield read(sql, Limits(ROWS_MAX, max(until - monotonic(), 0.01)))


def _queries(catalogue: Catalogue) -> Iterator[str]:
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


def _kept(path: Path) -> _Kept | None:
    with contextlib.suppress(OSError, Unreadable, msgspec.DecodeError):
        return msgspec.json.decode(regular(path, CACHE_MAX), type=_Kept)
    return None


def _keep(cache: Path, name: str, content: _Kept) -> None:
    """Keep it, where the folder can be written."""
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (
            atomic_file.opened(cache) as folder,
            folder.new(name, replacing=True, mode=0o600) as file,
        ):
            file.write(msgspec.json.encode(content))
