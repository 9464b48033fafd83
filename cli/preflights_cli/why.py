"""`why`: the answer, question, intention, response and person behind a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from preflights_cli.common import Voice, finish_pending, reading
from preflights_cli.dates import minute
from preflights_cli.decisions import KINDS, who
from preflights_cli.rendering import shown_of
from preflights_es.core.ids import short
from preflights_es.core.lead import WRITERS
from preflights_es.core.rationale import alternative_text
from preflights_es.core.text import one_line, shortened, shown
from preflights_es.services.request import Request
from preflights_es.services.results import Who
from preflights_es.services.why import Acknowledged, Response, Said, Why, why

RESPONSE_MAX: Final = 300  # characters of a provider's response, in words for people

SPEAKERS: Final = {**{kind: f"by {who}" for kind, who in KINDS.items()}, "model": "by a model"}


@click.command()
@click.argument("what", metavar="UID|FIELD", default="last")
@click.argument("field", required=False)
@reading
def why_command(what: str, field: str | None, app: Request, voice: Voice) -> int:
    """Show where a value came from: the answer, question, intention, model and person behind it.

    Name a decision by its uid or its session. Name a field of the decisions in force by its name,
    alone or after its category.

    \b
    Examples:
      preflights why
      preflights why 3f9a12c4 Strategy
      preflights why Database.Type --json
    """
    finish_pending(app, voice)
    found, workflows = why(app, what, field)
    voice.json(found)
    if not voice.as_json:
        for value, workflow in zip(found.values, workflows, strict=True):
            _say_why(voice, value, shown_of(workflow).sources)
    return 0


def _say_why(voice: Voice, value: Why, sources: Mapping[str, str]) -> None:
    """The chain behind one value, its end first."""
    name = f"{value.category}.{value.field}"
    voice.say(voice.bold(shown(f"{name}: {one_line(value.value)}")))
    voice.say(f"  decision   {value.uid[-8:]}, {value.standing}")
    intention = value.intention
    voice.say(f"  intention  {_quoted(intention.text)}, {_by_at(intention)}")
    if value.keyword is not None:
        voice.say(f"  keyword    {shown(value.keyword)}, a word of the intention")
    if (question := value.question) is not None:
        voice.say(f"  question   {_quoted(question.text)} (event {question.version})")
    if (answer := value.answer) is not None:
        said = ", ".join(map(one_line, answer.values))
        source = sources.get(value.source, value.source)
        relayed = f", relayed by {_by(answer.relayed_by)}" if answer.relayed_by else ""
        voice.say(f"  answer     {_quoted(said)}, {source}, {_by_at(answer)}{relayed}")
    if (response := value.response) is not None:
        did = "read the value" if value.answer is None else "worded the question"
        who_said = "writer" if response.provider in WRITERS else "model"
        voice.say(f"  {who_said:<10} {shown(_model(response))} {did} (event {response.version})")
        text = shortened(one_line(response.text or ""), RESPONSE_MAX)
        voice.say(f"             {shown(text)}")
    _say_reasons(voice, value)
    if value.read:
        read = (f"{short(one.session_id)} (to event {one.version})" for one in value.read)
        voice.say(f"  read       sessions {', '.join(read)}")
    if (done := value.acknowledged) is not None:
        word = "accepted" if done.by is not None and done.by.kind == "user" else "proposed"
        relayed = f", passed on by {_by(done.relayed_by)}" if done.relayed_by else ""
        voice.say(f"  {word:<10} {_by_at(done)}{relayed}")
    if (later := value.superseded_by) is not None:
        voice.say(f"  superseded by {later.uid[-8:]}: {shown(one_line(later.title))}")


def _say_reasons(voice: Voice, value: Why) -> None:
    if (because := value.because) is not None:
        voice.say(f"  because    {_quoted(because.text)}, {SPEAKERS[because.by]}")
    for one in value.consequences:
        voice.say(f"  follows    {_quoted(one.text)}, {SPEAKERS[one.by]}")
    for other in value.alternatives:
        voice.say(f"  not        {_quoted(alternative_text(other))}, {SPEAKERS[other.by]}")


def _quoted(text: str) -> str:
    return f'"{shown(one_line(text))}"'


def _by_at(said: Said | Acknowledged) -> str:
    return f"by {_by(said.by)}, {minute(said.at)} (event {said.version})"


def _by(actor: Who | None) -> str:
    return shown(who(actor)) if actor else ""


def _model(response: Response) -> str:
    model = response.model
    prompts = ", ".join(response.prompts)
    of = f" ({model})" if model else ""
    return f"{response.provider}{of}{f' with {prompts}' if prompts else ''}"
