"""Records without a session, as people see them: every word of theirs is data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from preflights_cli.common import Voice
from preflights_cli.table import streamed
from preflights_es.kernel.errors import RecordWithoutSession
from preflights_es.kernel.text import one_line, shown
from preflights_es.records.record_list import Unread
from preflights_es.use.decisions import ForeignRow, record
from preflights_es.use.process import Process


def say_foreign(voice: Voice, rows: Sequence[ForeignRow], unread: Iterable[Unread]) -> None:
    """A table below that of decisions, and what could not be read on stderr."""
    for one in unread:
        voice.warn(f"the record {one.path!r} is left out: {one.why}")
    if not rows or voice.as_json:
        return
    voice.say("Records without a session (foreign, quoted):")
    streamed(("record", "status", "date", "title"), _rows(rows))


def _rows(found: Iterable[ForeignRow]) -> Iterable[list[str]]:
    for row in found:
        record = row.path if row.number is None else f"ADR-{row.number:04}"
        yield [record, _status(row), row.date, one_line(row.title)]


def _status(row: ForeignRow) -> str:
    return f"{row.status} by {row.superseded_by}" if row.superseded_by else row.status


def say_record(voice: Voice, process: Process, named: RecordWithoutSession) -> None:
    """One record, each of its texts on a line."""
    shape = record(process, named)
    voice.json(shape)
    if voice.as_json:
        return
    voice.say(voice.bold(shown(shape.title)))
    voice.say(shown(f"  record      {shape.path}, foreign ({shape.tool}), without a session"))
    voice.say(shown(f"  status      {_status(shape)}"))
    texts = {
        "date": shape.date,
        "context": shape.context,
        "chosen": shape.chosen,
        "because": shape.because,
        "considered": "; ".join(shape.considered),
        "supersedes": ", ".join(shape.supersedes),
    }
    for name, text in texts.items():
        if text:
            voice.say(shown(f'  {name:<10}  "{one_line(text)}"'))
