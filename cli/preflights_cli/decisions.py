"""`decisions`: what is decided, now or as it stood on another day; records of other tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from preflights_cli.advice import error_with_advice
from preflights_cli.common import (
    Voice,
    reading_command,
    require_option_value,
    tell_behind,
    text_option,
)
from preflights_cli.names import Name
from preflights_cli.table import Moment, streamed
from preflights_es.kernel.errors import RecordWithoutSession
from preflights_es.kernel.events import Actor
from preflights_es.kernel.ids import DAY_LENGTH, short_session
from preflights_es.kernel.text import count_in_words, escaped_text, one_line
from preflights_es.records.record_list import UnreadRecord
from preflights_es.use.decisions import (
    BEST_MAX,
    DecisionListing,
    LostSession,
    listing,
    notice_clashes,
)
from preflights_es.use.foreign import ForeignRow, show_foreign_record
from preflights_es.use.holding import Unused, unused
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, Who
from preflights_es.use.work_tree import project_path
from preflights_es.words.decisions import OTHER, describe_conflict, field_label
from preflights_es.words.event_names import actor_in_words
from preflights_es.words.signing import IN_SHORT

DOUBTFUL_MAX: Final = 5  # records that are named each, where it is not understood what they say


def say_foreign(
    voice: Voice,
    rows: Sequence[ForeignRow],
    unread: Iterable[UnreadRecord],
    doubtful: Sequence[ForeignRow],
) -> None:
    """A table below that of decisions; what could not be read or understood on stderr."""
    for one in unread:
        voice.warn(f"the record {one.path!r} is left out: {one.why}")
    for row in doubtful[:DOUBTFUL_MAX]:
        voice.warn(f"{row.path}: {row.doubt}")
    if (more := len(doubtful) - DOUBTFUL_MAX) > 0:
        voice.warn(f"and {count_in_words(more, 'record')} more: `preflights check` names them all")
    if not rows or voice.as_json:
        return
    voice.say("Records of other tools, or written by hand:")
    _say_foreign_records(rows)


def _say_below(voice: Voice, heading: str, lines: Sequence[str]) -> None:
    if lines:
        voice.say(heading)
    for line in lines:
        voice.say(f"  {line}")


def _say_foreign_records(found: Sequence[ForeignRow]) -> None:
    """Of several folders each is named by its path, below its row; else by its number, unless two
    have it.
    """
    counts, names = Counter(row.label for row in found), ("status", "date", "title")
    cells = [[_foreign_status_in_words(row), row.date, one_line(row.title)] for row in found]
    if len({row.path.rpartition("/")[0] for row in found}) > 1:
        rows = ([*cell, row.path] for cell, row in zip(cells, found, strict=True))
        streamed((*names, ""), rows, whole=True)
        return
    labels = (row.label if counts[row.label] == 1 else row.path for row in found)
    rows = ([label, *cell] for label, cell in zip(labels, cells, strict=True))
    streamed(("record", *names), rows)


def _foreign_status_in_words(row: ForeignRow) -> str:
    if row.status == "unknown":
        return f"unknown: {row.status_text}"
    status = row.status.replace("_", " ")
    return f"{status} by {row.superseded_by}" if row.superseded_by else status


def say_record(voice: Voice, app: Request, named: RecordWithoutSession) -> None:
    """One record, each of its texts on a line."""
    shape = show_foreign_record(app.process, named)
    notice_clashes(app, shape.path)
    voice.json(shape)
    if voice.as_json:
        return
    voice.say(voice.bold(escaped_text(shape.title)))
    voice.say(escaped_text(f"  record      {shape.path} ({shape.tool}), without a session"))
    voice.say(escaped_text(f"  status      {_foreign_status_in_words(shape)}"))
    if shape.date:
        voice.say(escaped_text(f"  date        {shape.date}"))
    texts = {"context": shape.context, "chosen": shape.chosen, "because": shape.because}
    texts["considered"] = "; ".join(shape.considered)
    texts["supersedes"] = ", ".join(shape.supersedes)
    for name, text in texts.items():
        if text:
            voice.say(escaped_text(f'  {name:<10}  "{one_line(text)}"'))


CATEGORY: Final = "Category"  # the field under which its origin stands
LISTING: Final = "sessions --status damaged"
"""The command that lists what could not be folded; also what is faulted for that reason."""


@click.command()
@click.option(
    "--at",
    "at",
    type=Moment(is_end=True),
    metavar="DATE",
    help="Decisions in force at the end of this day, or at this time (UTC without an offset).",
)
@click.option(
    "--category",
    metavar="NAME",
    type=Name("topic"),
    callback=require_option_value,
    help="Only this category.",
)
@text_option("--query", metavar="TEXT", help="Only what matches, the best first.")
@text_option("--path", metavar="FILE", help="Only what holds for this file.")
@click.option(
    "--unused",
    "is_unused",
    is_flag=True,
    help="Patterns of files of decisions in force that match no file any more.",
)
@click.option("--all", "everything", is_flag=True, help="Every patch, also those not in force.")
@reading_command
def decisions_command(
    at: int | None,
    category: str | None,
    query: str | None,
    path: str | None,
    is_unused: bool,
    everything: bool,
    app: Request,
    voice: Voice,
) -> int:
    """List the decisions of this project that are in force: accepted, and not superseded.

    \b
    Examples:
      preflights decisions
      preflights decisions --at 2026-11-22 --json
      preflights decisions --category Database --all
      preflights decisions --query "why not Braintree"
      preflights decisions --path src/db/orders.py
      preflights decisions --unused
    """
    if everything and at is not None:
        raise click.UsageError("--all and --at exclude each other: leave one out")
    if is_unused and (everything or path or query or category or at is not None):
        message = "--unused is about all decisions in force: leave the other options out"
        raise click.UsageError(message)
    app.finish_pending()
    if is_unused:
        return _say_unused(app, voice)
    own: dict[str, Any] = {"at": at, "category": category, "everything": everything}
    file = project_path(app.process.settings.root, path, Path.cwd()) if path else ""
    found = listing(app, **own, query=query or "", path=file)
    if found.categories:
        there = ", ".join(found.categories)
        voice.warn(f"no decision here is of the category {category!r}: there are {there}")
    _tell_missing(voice, found, looks_back=everything or at is not None)
    tell_behind(app, voice)
    voice.listed(found.head, "decisions", found.rows)
    if not voice.as_json:
        others = (*found.head.foreign, *found.head.turned_down)
        how: dict[str, Any] = {"everything": everything, "query": query, "path": file}
        _say_decisions(voice, found.rows, others, **how)
    say_foreign(voice, found.head.foreign, found.unread, found.doubtful)
    kept_out = [one.line for one in found.head.turned_down]
    _say_below(voice, escaped_text(f"Turned down in {file}:"), kept_out)
    _say_below(voice, "In conflict:", [*map(describe_conflict, found.head.conflicts)])
    if (found.head.matches or 0) > BEST_MAX and not voice.as_json:
        voice.say(f"The best {BEST_MAX} of {found.head.matches:,} that match.")
    if found.head.everywhere and not voice.as_json:
        count = found.head.everywhere
        name = "names" if count == 1 else "name"
        voice.say(f"{count_in_words(count, 'decision')} {name} no files.")
    return 0


def _say_unused(app: Request, voice: Voice) -> int:
    found = tuple(unused(app))
    tell_behind(app, voice)
    voice.json(Unused(patterns=found))
    if not voice.as_json:
        rows = ([one.name, one.pattern, one.title] for one in found)
        if not streamed(("decision", "pattern", "title"), rows):
            voice.say("Every pattern matches a file.")
    return 0


def _tell_missing(voice: Voice, found: DecisionListing, *, looks_back: bool) -> None:
    """Say which sessions cannot be folded, and how many were erased: the list leaves them out."""
    if found.damage:
        voice.warn(error_with_advice(found.damage))
    for one in found.lost:
        voice.warn(_lost_session_warning(one))
    if found.more:
        more = count_in_words(found.more, "session")
        voice.warn(f"and {more} more: `preflights {LISTING}` lists them all")
    if found.undated:
        left_out = count_in_words(found.undated, "record")
        voice.warn(f"{left_out} in force of other tools without a day: left out")
    if found.erased and looks_back and not voice.quiet:
        were = "was" if found.erased == 1 else "were"
        what = f"{count_in_words(found.erased, 'session')} of this project {were} erased"
        click.echo(f"{what}: what may have been decided there is not told.", err=True)


def _lost_session_warning(one: LostSession) -> str:
    id_ = short_session(one.session_id)
    if not one.is_mended:
        return f"session {id_} is {one.status}: what it decided is not told"
    again = "what it decided is not told: `preflights admin projections rebuild` folds it again"
    return f"session {id_} was {one.status} when it was folded, {again}"


def _say_decisions(
    voice: Voice,
    found: Iterable[DecisionRow],
    others: Sequence[object],
    *,
    everything: bool,
    query: str | None,
    path: str,
) -> None:
    columns: dict[str, Callable[[DecisionRow], str]] = {
        "uid": lambda decided: short_session(decided.uid),
        **({"standing": _decision_standing_cell} if everything else {}),
        "record": _decision_record_cell,
        "by": _decision_acceptor_cell,
        "category": _decision_category_cell,
        "decided": _decision_values_cell,
        "title": lambda decided: one_line(decided.title),
    }
    are_some = streamed(tuple(columns), ([cell(one) for cell in columns.values()] for one in found))
    if are_some:
        voice.hint("Ask why with: preflights why UID")
    elif others:
        return
    elif path:
        voice.say(escaped_text(f"No decision says that it holds for {path}."))
    elif query:
        voice.say("No decision matches.")
    else:
        voice.say("Nothing is decided here." if everything else "Nothing is in force here.")


def _decision_standing_cell(decided: DecisionRow) -> str:
    """Where it stands, and what took its place."""
    later = decided.superseded_by
    return f"{decided.standing} by {short_session(later.uid)}" if later else decided.standing


def _decision_category_cell(decided: DecisionRow) -> str:
    """Empty of what no topic covers."""
    if decided.category == OTHER:
        return ""
    return decided.category + _suggested_value_mark(decided, CATEGORY)


def _decision_record_cell(decided: DecisionRow) -> str:
    record = "task" if decided.kind == "task" else ""
    if decided.number is not None:
        record = f"ADR-{decided.number:04}"
    return f"{record} {'(file)' if decided.file else ''}".strip()


def _decision_acceptor_cell(decided: DecisionRow) -> str:
    """Who acknowledged it, and the day on which it was accepted."""
    actor = decided.acknowledged_by
    if actor is None:
        return ""
    said = IN_SHORT[decided.signature.verdict] if decided.signature else ""
    signed = f" ({said})" if said else ""
    return f"{who(actor)} {(decided.accepted_at or '')[:DAY_LENGTH]}".rstrip() + signed


def who(actor: Actor | Who) -> str:
    """A person by name; an agent, script or model is never shown as a person."""
    return actor_in_words(actor.kind, actor.name)


def _decision_values_cell(decided: DecisionRow) -> str:
    return ", ".join(
        f"{field_label(name)}: {one_line(value)}{_suggested_value_mark(decided, name)}"
        for name, value in decided.fields
    )


def _suggested_value_mark(decided: DecisionRow, field: str) -> str:
    """A mark for a model's reading: it is never shown as a person's word."""
    is_suggested = any(o.field == field and o.source == "suggested" for o in decided.provenance)
    return " (model)" if is_suggested else ""
