"""What an agent's event is answered with: the brief, a question to the person, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from preflights_es.features.agents.hooks.agents import (
    HookEvent,
    Kind,
    Output,
    asking,
    begun,
    is_attended,
    named,
)
from preflights_es.features.agents.transcripts.reader import Question
from preflights_es.kernel.errors import LogBusy, PreflightsError
from preflights_es.kernel.questions import Observed, call_of
from preflights_es.kernel.text import one_line
from preflights_es.use.brief import brief
from preflights_es.use.request import Request

UNNAMED: Final = "agent"
"""The agent that neither the command nor its environment names."""
WAITS_MAX: Final = 3  # of one event, each a quarter of a second for a process that writes


def told(request: Request, agent: str, event: str) -> Output:
    """The brief, where anything is decided, proposed or open."""
    found = brief(request)
    if not (found.decisions or found.proposed or found.open):
        return {}
    return begun(agent, event, found.prompt)


def looked_at(
    request: Request,
    agent: str,
    event: HookEvent,
    folder: Path,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Output:
    """A question to the person where an edit contradicts a decision.

    It is asked once in a conversation, and again as long as the file lacks the lines.
    """
    from preflights_es.features.agents.hooks.edits import edits  # the beginning needs none of it

    found = [one for one in edits(event.tool_name, event.tool_input) if one.added]
    if not found:
        return {}
    from preflights_es.features.agents.hooks.contradicted import contradictions
    from preflights_es.features.agents.hooks.memory import agreed, has_asked, remember, remembered

    memory = remembered(folder)
    before = dict(memory.turned)
    conversation = event.conversation or agent
    asked = agreed(memory, conversation, request.process.settings.root, event.tool_use_id)
    against = contradictions(request, found, memory, asked)
    if against:
        added = {one.path: one.added for one in found}
        about = ((one.rule.uid, one.file, added[one.file]) for one in against)
        has_asked(memory, conversation, about, event.tool_use_id)
    if against or memory.turned != before:
        remember(folder, memory)
    if not against:
        return {}
    name = against[0].rule.name
    reasons = " ".join(one.reason for one in against)
    reason = f"{reasons} `preflights why {name}` says why it was decided."
    return asking(agent, reason, attended=is_attended(event, environment))


def recorded(request: Request, agent: str, event: HookEvent, kind: Kind) -> list[str]:
    """Record what the agent asked its person; what could not be recorded, a line each."""
    with request.process.store.database.hurried():  # the agent waits
        return [*_recorded(request, agent, event, kind)]


def _recorded(request: Request, agent: str, event: HookEvent, kind: Kind) -> Iterator[str]:
    from preflights_es.features.agents.hooks.asked import choices, questions

    asked = questions(event)
    environment = request.process.settings.agent
    name = named(agent) or environment or UNNAMED
    waits: list[LogBusy] = []
    for place, (one, (outcome, answers)) in enumerate(
        zip(asked, choices(event, kind, asked), strict=True)
    ):
        if one.is_secret:
            yield "a question whose answer is hidden is not recorded"
            continue
        observed = Observed(
            channel="hook",
            agent=name,
            agent_version=event.cursor_version or _version(environment, name),
            conversation=event.conversation,
            call=call_of(event.tool_use_id, place),
            outcome=outcome,
        )
        try:
            _observe(request, one, answers, observed, waits)
        except PreflightsError as error:
            yield one_line(str(error))


def _observe(
    request: Request,
    asked: Question,
    answers: Sequence[str],
    observed: Observed,
    waits: list[LogBusy],
) -> None:
    """Record a question; a try that met another process's lock goes on where it stopped.

    Args:
        waits: those of the event so far; they are added to.
    """
    from preflights_es.use.sessions import observe

    while len(waits) < WAITS_MAX:
        try:
            observe(request, asked.question, asked.options, answers, observed, topic=asked.header)
        except LogBusy as error:
            waits.append(error)
        else:
            return
    raise waits[-1]


def _version(environment: str, name: str) -> str:
    """What stands behind the agent's name in its environment, such as `claude-code/2.1.300`."""
    return environment.removeprefix(name).strip("/@ ") if environment.startswith(name) else ""
