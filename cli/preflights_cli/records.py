"""Records without a session, as people see them: every word of theirs is data."""

from __future__ import annotations

from collections.abc import Iterable

from preflights_cli.common import Voice
from preflights_cli.table import streamed
from preflights_es.core.text import one_line, shown
from preflights_es.services.records import Foreign, ForeignRow, ForeignShown


def say_foreign(voice: Voice, found: Foreign) -> None:
    """A table below that of decisions, and what could not be read on stderr."""
    for one in found.unread:
        voice.warn(f"the record {one.path!r} is left out: {one.why}")
    if not found.rows or voice.as_json:
        return
    voice.say("Records without a session (foreign, quoted):")
    streamed(("record", "status", "date", "title"), _rows(found.rows))


def _rows(found: Iterable[ForeignRow]) -> Iterable[list[str]]:
    for row in found:
        record = row.path if row.number is None else f"ADR-{row.number:04}"
        yield [record, _status(row), row.date, one_line(row.title)]


def _status(row: ForeignRow) -> str:
    return f"{row.status} by {row.superseded_by}" if row.superseded_by else row.status


def say_record(voice: Voice, record: ForeignShown) -> None:
    """One record, each of its texts on a line."""
    voice.say(voice.bold(shown(record.title)))
    voice.say(shown(f"  record      {record.path}, foreign ({record.tool}), without a session"))
    voice.say(shown(f"  status      {_status(record)}"))
    texts = {
        "date": record.date,
        "context": record.context,
        "chosen": record.chosen,
        "because": record.because,
        "considered": "; ".join(record.considered),
        "supersedes": ", ".join(record.supersedes),
    }
    for name, text in texts.items():
        if text:
            voice.say(shown(f'  {name:<10}  "{one_line(text)}"'))
