"""`why`: the answer, question, intention, response and person behind a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

from preflights_cli.common import Voice, finish_pending, reading, tell_behind
from preflights_cli.dates import iso, minute
from preflights_cli.decisions import (
    actor_json,
    refuse_undecided,
    related_json,
    value_json,
    who,
)
from preflights_cli.rendering import Behind, shown_of
from preflights_es.core.completions import CompletionReceived, CompletionRequested
from preflights_es.core.decision_record import Decided, Origin
from preflights_es.core.errors import PreflightsError, Refused, UnknownSession
from preflights_es.core.events import Actor, Event, Input
from preflights_es.core.ids import short
from preflights_es.core.questions import Answers
from preflights_es.core.text import one_line, shortened, shown
from preflights_es.projections.decisions import in_force, patches
from preflights_es.projections.folding import Read
from preflights_es.services.request import Request

RESPONSE_MAX: Final = 300  # characters of a provider's response, in words for people

Traced = tuple[dict[str, Any], Mapping[str, str]]
"""A value with the events behind it, and its workflow's words for how a value came about."""


@click.command()
@click.argument("what", metavar="UID|FIELD", default="last")
@click.argument("field", required=False)
@reading
def why_command(what: str, field: str | None, app: Request, voice: Voice) -> int:
    """Say where a value came from: the answer, question, intention, model and person behind it.

    A decision is named by its uid or its session; a field by its name, alone or with its category
    in front, among the decisions that are in force.

    \b
    Examples:
      preflights why
      preflights why 3f9a12c4 Strategy
      preflights why Database.Type --json
    """
    finish_pending(app, voice)
    found = _found(app, voice, what, field)
    values = [value for value, _ in found]
    voice.json({"format": "why/1", "behind": bool(app.process.projector.behind), "values": values})
    if not voice.as_json:
        for value, sources in found:
            _say_why(voice, value, sources)
    return 0


def _found(app: Request, voice: Voice, what: str, field: str | None) -> list[Traced]:
    try:
        session_id = app.sessions.resolved(what)
    except UnknownSession:
        if field is not None:
            raise
        return _in_force(app, voice, what)
    read = app.process.history(session_id)
    found = patches(read)
    if not found:
        refuse_undecided(read, "`preflights decisions --all` lists what is decided here")
    decided = found[-1]
    origins = [o for o in decided.origins if field is None or _named(o, decided, field)]
    if not origins:
        known = ", ".join(origin.field for origin in decided.origins)
        raise Refused(f"session {short(session_id)} has no field {field!r}: it has {known}")
    return [_why(read, decided, origin) for origin in origins]


def _in_force(app: Request, voice: Voice, what: str) -> list[Traced]:
    """A field, wherever a decision that is in force has it; the newest first."""
    rows = app.process.projector.rows("decisions", app.process.project, "in_force")
    having = [
        one
        for one in in_force(rows)
        if any(_named(origin, one.decided, what) for origin in one.decided.origins)
    ]
    tell_behind(app, voice)
    values = []
    for one in reversed(having):
        try:
            read = app.process.history(one.session_id)
        except PreflightsError as error:
            voice.warn(str(error))  # it hides no other decision
            continue
        # A row says where to look; what is so is what the session's own log folds to.
        if one.decided not in patches(read):
            voice.warn(
                f"the projection 'decisions' keeps of session {short(one.session_id)} what its "
                "log does not say: `preflights audit verify` looks into it"
            )
        for decided in patches(read):
            named = [o for o in decided.origins if _named(o, decided, what)]
            if decided.standing == "accepted":
                values += [_why(read, decided, origin) for origin in named]
    if not values:
        raise Refused(
            f"no session, and no field that is in force, matches {what!r}: "
            "`preflights decisions` lists what is decided here"
        )
    return values


def _named(origin: Origin, decided: Decided, field: str) -> bool:
    names = (origin.field, origin.key, f"{decided.category}.{origin.field}")
    return field.casefold() in (name.casefold() for name in names)


def _why(read: Read, decided: Decided, origin: Origin) -> Traced:
    """One value, with the events behind it."""
    value = {
        "session_id": read.head.session_id,
        "uid": decided.uid,
        "standing": decided.standing,
        "category": decided.category,
        **value_json(origin),
        "keyword": _behind(read, origin.version).keyword,
        "intention": _intention(read, decided),
        "question": _question(read, origin),
        "answer": _answer(read, origin),
        "response": _response(read, origin.response),
        "acknowledged": _acknowledged(decided),
        "superseded_by": related_json(decided.superseded_by),
    }
    return value, shown_of(read.workflow.name).sources


def _event(read: Read, version: int | None) -> Event | None:
    return None if version is None else read.events[version - 1]


def _behind(read: Read, version: int | None) -> Behind:
    event = _event(read, version)
    return Behind() if event is None else shown_of(read.workflow.name).behind(event)


def _said(version: int, new: Input) -> dict[str, Any]:
    return {"version": version, "by": actor_json(new.actor), "at": iso(new.at)}


def _intention(read: Read, decided: Decided) -> dict[str, Any]:
    first = read.events[0]
    assert isinstance(first, Input), "a session begins with an Input"
    return {**_said(1, first), "text": _behind(read, 1).intention or decided.title}


def _question(read: Read, origin: Origin) -> dict[str, Any] | None:
    asked = _behind(read, origin.asked).question
    if asked is None:
        return None
    return {"version": origin.asked, "text": asked.question, "options": list(asked.options)}


def _answer(read: Read, origin: Origin) -> dict[str, Any] | None:
    event = _event(read, origin.input)
    if not isinstance(event, Answers):
        return None
    values = [v for given in event.answers if _is_for(given.key, origin) for v in given.values]
    return {**_said(origin.input, event), "values": values}


def _is_for(key: str, origin: Origin) -> bool:
    return key in (origin.key, f"{origin.key}__other")


def _response(read: Read, version: int | None) -> dict[str, Any] | None:
    event = _event(read, version)
    if not isinstance(event, CompletionReceived):
        return None
    requests = (e for e in read.events if isinstance(e, CompletionRequested))
    request = next((r for r in requests if r.call == event.call), None)
    return {
        "version": version,
        "call": event.call,
        "provider": request.provider if request else "",
        "model": event.model or (request.model if request else ""),
        "prompts": [name for name, _ in request.prompts] if request else [],
        "text": event.text,
    }


def _acknowledged(decided: Decided) -> dict[str, Any] | None:
    if decided.acknowledged_at is None or decided.recorded is None:
        return None
    return {
        "version": decided.recorded,
        "by": actor_json(decided.acknowledged_by),
        "relayed_by": actor_json(decided.relayed_by),
        "at": iso(decided.acknowledged_at),
    }


def _say_why(voice: Voice, value: dict[str, Any], sources: Mapping[str, str]) -> None:
    """The chain behind one value, its end first."""
    name = f"{value['category']}.{value['field']}"
    voice.say(voice.bold(shown(f"{name}: {one_line(value['value'])}")))
    voice.say(f"  decision   {value['uid'][-8:]}, {value['standing']}")
    intention = value["intention"]
    voice.say(f"  intention  {_quoted(intention['text'])}, {_by_at(intention)}")
    if value["keyword"] is not None:
        voice.say(f"  keyword    {shown(value['keyword'])}, a word of the intention")
    if (question := value["question"]) is not None:
        voice.say(f"  question   {_quoted(question['text'])} (event {question['version']})")
    if (answer := value["answer"]) is not None:
        said = ", ".join(map(one_line, answer["values"]))
        source = sources.get(value["source"], value["source"])
        voice.say(f"  answer     {_quoted(said)}, {source}, {_by_at(answer)}")
    if (response := value["response"]) is not None:
        did = "read the value" if value["answer"] is None else "worded the question"
        voice.say(f"  model      {shown(_model(response))} {did} (event {response['version']})")
        text = shortened(one_line(response["text"] or ""), RESPONSE_MAX)
        voice.say(f"             {shown(text)}")
    if (done := value["acknowledged"]) is not None:
        word = "accepted" if done["by"]["kind"] == "user" else "proposed"
        relayed = f", passed on by {_by(done['relayed_by'])}" if done["relayed_by"] else ""
        voice.say(f"  {word:<10} {_by_at(done)}{relayed}")
    if (later := value["superseded_by"]) is not None:
        voice.say(f"  superseded by {later['uid'][-8:]}: {shown(one_line(later['title']))}")


def _quoted(text: str) -> str:
    return f'"{shown(one_line(text))}"'


def _by_at(said: dict[str, Any]) -> str:
    return f"by {_by(said['by'])}, {minute(said['at'])} (event {said['version']})"


def _by(actor: dict[str, Any]) -> str:
    return shown(who(Actor(actor["kind"], actor["name"])))


def _model(response: dict[str, Any]) -> str:
    model = response["model"]
    prompts = ", ".join(response["prompts"])
    of = f" ({model})" if model else ""
    return f"{response['provider']}{of}{f' with {prompts}' if prompts else ''}"
