"""`decisions` and `why`: what is decided, now or as it stood on another day, and the answer,
question, response and person behind a value or an artifact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from preflights_cli.advice import error_with_advice
from preflights_cli.common import (
    Voice,
    count_in_words,
    reading_command,
    require_option_value,
    tell_behind,
)
from preflights_cli.dialogue import shown_of
from preflights_cli.table import DAY_LENGTH, Moment, minute, streamed
from preflights_es.kernel.errors import RecordWithoutSession
from preflights_es.kernel.events import UNSEEN, Actor, SourceSession
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import WRITERS
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.records.record_list import UnreadRecord
from preflights_es.use.archives import ImportedBy
from preflights_es.use.decisions import DecisionListing, LostSession, listing, notice_clashes
from preflights_es.use.foreign import ForeignRow, show_foreign_record
from preflights_es.use.holding import Held, HoldsHere, Unused, file_meant, holding_for, unused
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, Who
from preflights_es.use.why import trace_origins
from preflights_es.use.why_results import (
    Acknowledged,
    AskedAgain,
    Why,
    WhyArtifact,
    WhyInput,
    WhyResponse,
    WhySession,
)
from preflights_es.use.work_tree import project_path
from preflights_es.words.decisions import HELD, alternative_text
from preflights_es.words.questions import asked_elsewhere
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
    streamed(("record", "status", "date", "title"), _foreign_record_rows(rows))


def _foreign_record_rows(found: Sequence[ForeignRow]) -> Iterable[list[str]]:
    """Where records lie in several folders, or two bear one number, the path names each."""
    labels = Counter(row.label for row in found)
    are_apart = len({row.path.rpartition("/")[0] for row in found}) > 1
    for row in found:
        label = row.path if are_apart or labels[row.label] > 1 else row.label
        yield [label, _foreign_status_in_words(row), row.date, one_line(row.title)]


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
            voice.say(escaped_text(f'  {name:<10}  "{one_line(text)}"'))


KINDS: Final = {"user": "a person", "agent": "an agent", "script": "a script"}
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
    "--category", metavar="NAME", callback=require_option_value, help="Only this category."
)
@click.option(
    "--query",
    metavar="TEXT",
    callback=require_option_value,
    help="Only what matches, the best first.",
)
@click.option(
    "--path", metavar="FILE", callback=require_option_value, help="Only what holds for this file."
)
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
        message = "--all and --at exclude each other: leave one out"
        raise click.UsageError(message)
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
        how: dict[str, Any] = {"everything": everything, "query": query, "path": file}
        _say_decisions(voice, found.rows, found.head.foreign, **how)
    say_foreign(voice, found.head.foreign, found.unread, found.doubtful)
    if found.head.everywhere and not voice.as_json:
        count = found.head.everywhere
        voice.say(
            f"{count_in_words(count, 'decision')} {'names' if count == 1 else 'name'} no files."
        )
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
    if found.erased and looks_back and not voice.quiet:
        were = "was" if found.erased == 1 else "were"
        what = f"{count_in_words(found.erased, 'session')} of this project {were} erased"
        click.echo(f"{what}: what may have been decided there is not told.", err=True)


def _lost_session_warning(one: LostSession) -> str:
    id_ = short_session(one.session_id)
    if not one.is_mended:
        return f"session {id_} is {one.status}: what it decided is not told"
    again = "`preflights admin projections rebuild` folds it again"
    return (
        f"session {id_} was {one.status} when it was folded, what it decided is not told: {again}"
    )


def _say_decisions(
    voice: Voice,
    found: Iterable[DecisionRow],
    others: Sequence[ForeignRow],
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
        "category": lambda decided: decided.category + _suggested_value_mark(decided, CATEGORY),
        "decided": _decision_values_cell,
        "title": lambda decided: one_line(decided.title),
    }
    are_some = streamed(tuple(columns), ([cell(one) for cell in columns.values()] for one in found))
    if are_some:
        voice.hint("Ask why with: preflights why UID")
    elif path:
        voice.say(escaped_text(f"No decision says that it holds for {path}."))
    elif query:
        voice.say("No decision matches.")
    elif not others:
        voice.say("Nothing is decided here." if everything else "Nothing is in force here.")


def _decision_standing_cell(decided: DecisionRow) -> str:
    """Where it stands, and what took its place."""
    later = decided.superseded_by
    return (
        decided.standing if later is None else f"{decided.standing} by {short_session(later.uid)}"
    )


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


ODD_NAME: Final = re.compile(r"(?i)[(),:]|signed")
"""A name that could pass for what the program says of a signature."""


def who(actor: Actor | Who) -> str:
    """A person by name; an agent, script or model is never shown as a person."""
    if actor.kind == "user" and ODD_NAME.search(actor.name):
        return '"{}"'.format(actor.name.replace('"', "'"))
    if actor.kind == "user":
        return actor.name or "a person"
    return f"{KINDS[actor.kind]}{f' ({actor.name})' if actor.name else ''}"


def _decision_values_cell(decided: DecisionRow) -> str:
    return ", ".join(
        f"{name}: {one_line(value)}{_suggested_value_mark(decided, name)}"
        for name, value in decided.fields
    )


def _suggested_value_mark(decided: DecisionRow, field: str) -> str:
    """A mark for a model's reading: it is never shown as a person's word."""
    is_suggested = any(o.field == field and o.source == "suggested" for o in decided.provenance)
    return " (model)" if is_suggested else ""


DIGEST: Final = 12  # characters of a SHA-256, in words for people
RESPONSE_MAX: Final = 300  # characters of a provider's response, in words for people

SPEAKERS: Final = {**{kind: f"by {who}" for kind, who in KINDS.items()}, "model": "by a model"}


@click.command()
@click.argument("what", metavar="UID|FIELD|ARTIFACT|FILE", default="last")
@click.argument("field", required=False)
@click.option("--all", "everything", is_flag=True, help="Of a file: also replaced decisions.")
@reading_command
def why_command(what: str, field: str | None, everything: bool, app: Request, voice: Voice) -> int:
    """Show where a value came from: the answer, question, intention, model and person behind it.

    Name a decision by its uid or its session. Name a field of the decisions in force by its name,
    alone or after its category. Name an artifact by its id or its session; FIELD is then a name in
    its payload, such as `modules` or `modules.0.name`.

    Name a file, and the decisions in force follow that hold for it.

    \b
    Examples:
      preflights why
      preflights why 3f9a12c4 Strategy
      preflights why Database.Type --json
      preflights why src/db/orders.py
    """
    app.finish_pending()
    if field is None and (path := file_meant(app, what, Path.cwd())):
        return _say_holding(app, voice, holding_for(app, path, everything=everything))
    if everything:
        message = "--all is about a file: name one, or leave it out"
        raise click.UsageError(message)
    found, workflows = trace_origins(app, what, field)
    voice.json(found)
    if not voice.as_json:
        for value, workflow in zip(found.values, workflows, strict=True):
            _say_why(voice, value, shown_of(workflow).sources)
        for artifact in found.artifacts:
            _say_artifact(voice, artifact)
        for session in found.sessions:
            _say_session(voice, session)
        for record in found.records:
            voice.say(voice.bold(escaped_text(record.path)))
            _say_again(voice, record.asked_again)
    return 0


def _say_holding(app: Request, voice: Voice, found: HoldsHere) -> int:
    """What holds for a file, the most specific pattern first."""
    tell_behind(app, voice)
    voice.json(found)
    if voice.as_json:
        return 0
    if not found.decisions:
        voice.say(escaped_text(f"No decision in force says that it holds for {found.path}."))
    for one in (*found.decisions, *found.superseded):
        voice.say(voice.bold(escaped_text(f"{one.name} {one_line(one.title)}")))
        for name, text in _of_held(one):
            if text:
                voice.say(escaped_text(f"  {name:<11} {text}"))
    if found.everywhere:
        which = "decision names" if found.everywhere == 1 else "decisions name"
        more = "more " if found.decisions else ""
        voice.say(f"{found.everywhere} {more}{which} no files: preflights decisions")
    return 0


def _of_held(one: Held) -> Iterator[tuple[str, str]]:
    """What is said of a decision that holds: names and texts, empty where there is nothing."""
    day, by = one.accepted_at[:DAY_LENGTH], one.accepted_by
    yield "decided", ", ".join(f"{name}: {one_line(value)}" for name, value in one.fields)
    yield "because", one_line(one.because)
    yield "not", ", ".join(map(one_line, one.instead_of))
    yield ("accepted", f"{day} by {_actor_in_words(by)}") if by else ("dated", day)
    yield "signature", str(one.signature) if one.signature else ""
    yield "holds for", one.pattern
    yield "hold", "" if one.hold == "tell" else HELD[one.hold]
    yield "superseded", f"by {one_line(one.superseded_by)}" if one.superseded_by else ""


def _say_why(voice: Voice, value: Why, sources: Mapping[str, str]) -> None:
    """The chain behind one value, its end first."""
    name = f"{value.category}.{value.field}"
    voice.say(voice.bold(escaped_text(f"{name}: {one_line(value.value)}")))
    voice.say(f"  decision   {value.uid[-8:]}, {value.standing}")
    intention = value.intention
    voice.say(f"  intention  {_quote_shown_line(intention.text)}, {_by_at(intention)}")
    if value.task is not None:
        voice.say(f"  task       {value.task}")
    if value.observed is not None:
        origin = escaped_text(asked_elsewhere(value.observed))
        voice.say(f"  origin     {origin} ({value.observed.channel})")
    if value.keyword is not None:
        voice.say(f"  keyword    {escaped_text(value.keyword)}, a word of the intention")
    if (question := value.question) is not None:
        voice.say(f"  question   {_quote_shown_line(question.text)} (event {question.version})")
    if (answer := value.answer) is not None:
        said = ", ".join(map(one_line, answer.values))
        source = sources.get(value.source, value.source)
        relayed = f", relayed by {_actor_in_words(answer.relayed_by)}" if answer.relayed_by else ""
        voice.say(f"  answer     {_quote_shown_line(said)}, {source}, {_by_at(answer)}{relayed}")
    if (response := value.response) is not None:
        did = "read the value" if value.answer is None else "worded the question"
        who_said = "writer" if response.provider in WRITERS else "model"
        model_label = escaped_text(_response_model_label(response))
        voice.say(f"  {who_said:<10} {model_label} {did} (event {response.version})")
        text = shortened(one_line(response.text or ""), RESPONSE_MAX)
        voice.say(f"             {escaped_text(text)}")
    _say_reasons(voice, value)
    _say_read(voice, value.read)
    if (done := value.acknowledged) is not None:
        word = "accepted" if done.by is not None and done.by.kind == "user" else "proposed"
        relayed = f", passed on by {_actor_in_words(done.relayed_by)}" if done.relayed_by else ""
        filed = _as_filed(value.imported, done.version)
        voice.say(f"  {word:<10} {_by_at(done)}{relayed}{filed}{_evidence_and_signature(done)}")
    _say_imported(voice, value.imported)
    _say_others(voice, value)
    _say_again(voice, value.asked_again)


def _say_again(voice: Voice, asked: Sequence[AskedAgain]) -> None:
    """When it was asked again, and kept."""
    for one in asked:
        relayed = f", passed on by {_actor_in_words(one.relayed_by)}" if one.relayed_by else ""
        source_session = f"session {short_session(one.session_id)}"
        kept = f"kept by {_actor_in_words(one.by)}, {minute(one.at)}{relayed} ({source_session})"
        voice.say(f"  again      {_quote_shown_line(one.intention)}, {kept}")


def _as_filed(imported: Sequence[ImportedBy], version: int) -> str:
    """What an event of a file is worth: its chain says that it is whole, not who wrote it."""
    return ", as the file says" if any(one.brought(version) for one in imported) else ""


def _say_imported(voice: Voice, imported: Sequence[ImportedBy]) -> None:
    for one in imported:
        voice.say(escaped_text(f"  file       {one.told}"))
        voice.say(f"             {minute(one.at)}, from {escaped_text(one.source)}")


def _say_others(voice: Voice, value: Why) -> None:
    """What replaced it, and what stays in force beside it."""
    if (later := value.superseded_by) is not None:
        voice.say(f"  replaced by {later.uid[-8:]}: {escaped_text(one_line(later.title))}")
    for one in value.kept:
        what = f"{one_line(one.related.title)}: {one_line(one.reason)}"
        voice.say(f"  beside     {one.related.uid[-8:]}, {escaped_text(what)}")


def _say_reasons(voice: Voice, value: Why) -> None:
    if (because := value.because) is not None:
        voice.say(f"  because    {_quote_shown_line(because.text)}, {SPEAKERS[because.by]}")
    for one in value.consequences:
        voice.say(f"  follows    {_quote_shown_line(one.text)}, {SPEAKERS[one.by]}")
    for other in value.alternatives:
        voice.say(
            f"  not        {_quote_shown_line(alternative_text(other))}, {SPEAKERS[other.by]}"
        )


def _say_artifact(voice: Voice, one: WhyArtifact) -> None:
    """What it was made from, and who decided on it."""
    of = f" of {one_line(one.subject)}" if one.subject else ""
    voice.say(voice.bold(escaped_text(f"{one.type}{of}: {one.id}")))
    if one.field:
        value = shortened(canonical_json(one.value).decode(), RESPONSE_MAX)
        voice.say(escaped_text(f"  {one_line(one.field):<10} {value}"))
    voice.say(f"  standing   {one.standing}")
    if one.reason:
        voice.say(f"  reason     {_quote_shown_line(one.reason)}")
    voice.say(f"  session    {short_session(one.session_id)}, begun {_by_at(one.begun)}")
    for file in one.files:
        voice.say(escaped_text(f"  document   {file.path}, SHA-256 {file.sha256[:DIGEST]}"))
    for record in one.records:
        word = "artifact" if record.kind == "plan" else record.kind
        of_session = (
            f"session {short_session(record.source.session_id)}, to event {record.source.version}"
        )
        voice.say(escaped_text(f"  {word:<10} {record.id}, {of_session}"))
    for answer in one.answers:
        answer_values = ", ".join(map(one_line, answer.values))
        voice.say(f"  answer     {_quote_shown_line(answer_values)}, {_by_at(answer)}")
    if (response := one.response) is not None:
        model_label = escaped_text(_response_model_label(response))
        voice.say(f"  model      {model_label} answered (event {response.version})")
        voice.say(
            f"             {escaped_text(shortened(one_line(response.text or ''), RESPONSE_MAX))}"
        )
    for change in one.standings:
        relayed = (
            f", passed on by {_actor_in_words(change.relayed_by)}" if change.relayed_by else ""
        )
        filed = _as_filed(one.imported, change.version)
        seen = _evidence_and_signature(change)
        voice.say(f"  {change.standing:<10} {_by_at(change)}{relayed}{filed}{seen}")
    _say_imported(voice, one.imported)
    if one.superseded_by:
        voice.say(escaped_text(f"  replaced   by {one.superseded_by}"))
    if one.path:
        voice.say(escaped_text(f"  file       {one.path}"))


def _say_session(voice: Voice, one: WhySession) -> None:
    """What a session that decides nothing began with, and read."""
    voice.say(voice.bold(escaped_text(one_line(one.begun.text))))
    status = one.status.replace("_", " ")
    voice.say(
        escaped_text(f"  session    {short_session(one.session_id)} of {one.workflow}, {status}")
    )
    voice.say(f"  begun      {_by_at(one.begun)}")
    _say_read(voice, one.read)


def _say_read(voice: Voice, sources: Sequence[SourceSession]) -> None:
    if sources:
        read = (f"{short_session(one.session_id)} (to event {one.version})" for one in sources)
        voice.say(f"  read       sessions {', '.join(read)}")


def _quote_shown_line(text: str) -> str:
    return f'"{escaped_text(one_line(text))}"'


def _by_at(said: WhyInput | Acknowledged) -> str:
    return f"by {_actor_in_words(said.by)}, {minute(said.at)} (event {said.version})"


def _evidence_and_signature(done: Acknowledged) -> str:
    seen = f", seen: {escaped_text(str(done.evidence))}" if done.evidence != UNSEEN else ""
    return f"{seen}, {escaped_text(str(done.signature))}" if done.signature else seen


def _actor_in_words(actor: Actor | Who | None) -> str:
    return escaped_text(who(actor)) if actor else ""


def _response_model_label(response: WhyResponse) -> str:
    model = response.model
    prompts = ", ".join(response.prompts)
    of = f" ({model})" if model else ""
    return f"{response.provider}{of}{f' with {prompts}' if prompts else ''}"
