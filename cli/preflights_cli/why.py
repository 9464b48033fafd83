"""`why`: the answer, question, intention, response and person behind a value or an artifact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from preflights_cli.common import Voice, reading_command, tell_behind
from preflights_cli.decisions import who
from preflights_cli.names import Name
from preflights_cli.rendering import shown_of
from preflights_cli.table import minute
from preflights_es.kernel.events import ACTOR_WORDS, UNSEEN, Actor, SourceSession
from preflights_es.kernel.ids import DAY_LENGTH, short_session
from preflights_es.kernel.lead import WRITERS
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.use.archives import ImportedBy
from preflights_es.use.holding import Held, HoldsHere, file_meant, holding_for
from preflights_es.use.request import Request
from preflights_es.use.results import Who
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
from preflights_es.words.decisions import HELD, OTHER, Related, alternative_text, field_label
from preflights_es.words.questions import asked_elsewhere

DIGEST: Final = 12  # characters of a SHA-256, in words for people
RESPONSE_MAX: Final = 300  # characters of a provider's response, in words for people

SPEAKERS: Final = {
    **{kind: f"by {who}" for kind, who in ACTOR_WORDS.items()},
    "model": "by a model",
}


@click.command()
@click.argument(
    "what",
    metavar="UID|FIELD|ARTIFACT|FILE",
    type=Name("session", "decision", "field"),
    default="last",
)
@click.argument("field", type=Name("field"), required=False)
@click.option("--all", "everything", is_flag=True, help="Of a file: also replaced decisions.")
@reading_command
def why_command(what: str, field: str | None, everything: bool, app: Request, voice: Voice) -> int:
    """Show where a value came from: the answer, question, intention, model and person behind it.

    Name a decision by its uid or its session. Name a field of the decisions in force by its name,
    alone or after its category, or by its value or what was turned down for it. Name an artifact by
    its id or its session; FIELD is then a name in its payload, such as `modules` or
    `modules.0.name`.

    Name a file, and the decisions in force follow that hold for it.

    \b
    Examples:
      preflights why
      preflights why 3f9a12c4 Strategy
      preflights why PostgreSQL
      preflights why Database.Type --json
      preflights why src/db/orders.py
    """
    app.finish_pending()
    if field is None and (path := file_meant(app, what, Path.cwd())):
        return _say_holding(app, voice, holding_for(app, path, everything=everything))
    if everything:
        raise click.UsageError("--all is about a file: name one, or leave it out")
    found, workflows = trace_origins(app, what, field)
    voice.json(found)
    if not voice.as_json:
        following = [*found.values, None][1:]
        for value, workflow, after in zip(found.values, workflows, following, strict=True):
            if value.value != OTHER:  # of no topic
                _say_why(voice, value, shown_of(workflow).sources)
            if after is None or after.uid != value.uid:
                _say_outcome(voice, value)
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
    yield "decided", ", ".join(f"{field_label(n)}: {one_line(v)}" for n, v in one.fields)
    yield "because", one_line(one.because)
    yield "not", ", ".join(map(one_line, one.instead_of))
    yield ("accepted", f"{day} by {_actor_in_words(by)}") if by else ("dated", day)
    yield "signature", str(one.signature) if one.signature else ""
    yield "holds for", one.pattern
    yield "hold", "" if one.hold == "tell" else HELD[one.hold]
    yield "superseded", f"by {one_line(one.superseded_by)}" if one.superseded_by else ""


def _say_why(voice: Voice, value: Why, sources: Mapping[str, str]) -> None:
    """The chain behind one value, its end first."""
    label = field_label(value.field)
    name = label if value.category == OTHER else f"{value.category}.{label}"
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
        said = _quote_shown_line(", ".join(map(one_line, answer.values)))
        said += f", {sources.get(value.source, value.source)}"
        said = said if answer.values else "another answer says it"
        relayed = f", relayed by {_actor_in_words(answer.relayed_by)}" if answer.relayed_by else ""
        voice.say(f"  answer     {said}, {_by_at(answer)}{relayed}")
    if (response := value.response) is not None:
        did = "read the value" if value.answer is None else "worded the question"
        who_said = "writer" if response.provider in WRITERS else "model"
        model_label = escaped_text(_response_model_label(response))
        voice.say(f"  {who_said:<10} {model_label} {did} (event {response.version})")
        _say_response_text(voice, response)


def _say_outcome(voice: Voice, value: Why) -> None:
    """What holds for all values of a decision: its reasons, who accepted it, what came of it."""
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
    """What it replaced, what replaced it, and what stays in force beside it."""
    for old in value.supersedes:
        voice.say(escaped_text(f"  replaces   {_other_name(old)}: {one_line(old.title)}"))
    if (later := value.superseded_by) is not None:
        voice.say(f"  replaced by {later.uid[-8:]}: {escaped_text(one_line(later.title))}")
    for one in value.kept:
        what = f"{one_line(one.related.title)}: {one_line(one.reason)}"
        voice.say(escaped_text(f"  beside     {_other_name(one.related)}, {what}"))


def _other_name(one: Related) -> str:
    """The end of a decision's uid, or the path of a record of another tool."""
    return one.uid[-8:] or one.path or ""


def _say_reasons(voice: Voice, value: Why) -> None:
    if (because := value.because) is not None:
        voice.say(f"  because    {_quote_shown_line(because.text)}, {SPEAKERS[because.by]}")
    for one in value.consequences:
        voice.say(f"  follows    {_quote_shown_line(one.text)}, {SPEAKERS[one.by]}")
    for other in value.alternatives:
        said = _quote_shown_line(alternative_text(other))
        voice.say(f"  not        {said}, {SPEAKERS[other.by]}")


def _say_artifact(voice: Voice, one: WhyArtifact) -> None:
    """What it was made from, and who decided on it."""
    of = f" of {one_line(one.subject)}" if one.subject else ""
    voice.say(voice.bold(escaped_text(f"{one.type}{of}: {one.id}")))
    if one.field:
        from preflights_es.projections.json_words import value_in_words

        value = shortened(value_in_words(one.value), RESPONSE_MAX)
        voice.say(escaped_text(f"  {one_line(one.field):<10} {value}"))
    voice.say(f"  standing   {one.standing}")
    if one.reason:
        voice.say(f"  reason     {_quote_shown_line(one.reason)}")
    voice.say(f"  session    {short_session(one.session_id)}, begun {_by_at(one.begun)}")
    for file in one.files:
        voice.say(escaped_text(f"  document   {file.path}, SHA-256 {file.sha256[:DIGEST]}"))
    for record in one.records:
        word = "artifact" if record.kind == "plan" else record.kind
        of = f"session {short_session(record.source.session_id)}, to event {record.source.version}"
        voice.say(escaped_text(f"  {word:<10} {record.id}, {of}"))
    for answer in one.answers:
        answer_values = ", ".join(map(one_line, answer.values))
        voice.say(f"  answer     {_quote_shown_line(answer_values)}, {_by_at(answer)}")
    if (response := one.response) is not None:
        model_label = escaped_text(_response_model_label(response))
        voice.say(f"  model      {model_label} answered (event {response.version})")
        _say_response_text(voice, response)
    for change in one.standings:
        relayed = change.relayed_by
        passed = f", passed on by {_actor_in_words(relayed)}" if relayed else ""
        filed = _as_filed(one.imported, change.version)
        seen = _evidence_and_signature(change)
        voice.say(f"  {change.standing:<10} {_by_at(change)}{passed}{filed}{seen}")
    _say_imported(voice, one.imported)
    if one.superseded_by:
        voice.say(escaped_text(f"  replaced   by {one.superseded_by}"))
    if one.path:
        voice.say(escaped_text(f"  file       {one.path}"))


def _say_session(voice: Voice, one: WhySession) -> None:
    """What a session that decides nothing began with, and read."""
    voice.say(voice.bold(escaped_text(one_line(one.begun.text))))
    what = f"{one.workflow}, {one.status.replace('_', ' ')}"
    voice.say(escaped_text(f"  session    {short_session(one.session_id)} of {what}"))
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


def _say_response_text(voice: Voice, response: WhyResponse) -> None:
    from preflights_es.projections.json_words import text_in_words

    text = text_in_words(response.text or "", RESPONSE_MAX)
    voice.say(f"             {escaped_text(text)}")


def _response_model_label(response: WhyResponse) -> str:
    model = response.model
    prompts = ", ".join(response.prompts)
    of = f" ({model})" if model else ""
    return f"{response.provider}{of}{f' with {prompts}' if prompts else ''}"
