"""How what is proposed stands to older decisions, by the model that leads its session."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from preflights_es.features.clarification.domain.state import State as Clarification
from preflights_es.features.clarification.domain.stated import language_of
from preflights_es.features.clarification.domain.titles import title_of
from preflights_es.features.recall.domain import WORKFLOW
from preflights_es.features.recall.domain.events import ComparisonAsked
from preflights_es.features.recall.domain.state import State
from preflights_es.features.recall.domain.values import PAIRS_MAX
from preflights_es.kernel import __version__
from preflights_es.kernel.decisions import OlderDecision
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.runtime.idempotency import Once
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sessions import Sessions
from preflights_es.use.request import Request


def judged(
    request: Request, handle: Handle, lead: Lead, compared: tuple[OlderDecision, ...]
) -> tuple[OlderDecision, ...]:
    """What a model says of the comparison, in a session of its own; else what the rules found.

    The same comparison is asked for once: it is read again where its session is there.
    """
    asked, others = compared[:PAIRS_MAX], compared[PAIRS_MAX:]
    said = {**_told(handle.session.state), "older": asked}
    process = request.process
    setup = Setup(
        preflights=__version__,
        decider=WORKFLOW.decider,
        provider=lead.provider,
        prompts=WORKFLOW.prompts,
        lead=replace(lead, strict=False),
    )
    key = sha256(encoded((said, lead, request.actor))).hexdigest()
    once = Once(process.runner, process.project, f"comparison {key}", process.log_id)
    own = Sessions(replace(request.desk, once=once))
    try:
        request.leads.provider_for(lead)
        step = own.opened(
            *(WORKFLOW, ComparisonAsked, said, setup), beside=lambda: {"source": handle.source}
        )
        read = process.runner.load(step.handle.session_id)
        if read.session.calls or read.session.undecided:
            read = own.resume(read).handle
    except PreflightsError as error:
        request.notice("not_compared", f"the rules alone compared the decisions: {error}")
        return compared
    found: State = read.session.state
    if found.findings is None:
        return compared  # another process asks the model now
    return *(replace(one, compared=read.source) for one in found.findings), *others


def _told(new: Clarification) -> dict[str, Any]:
    """The new decision, as fields of a `ComparisonAsked`."""
    assert new.patch is not None, "only a patch is compared"
    return {
        "decision": new.uid,
        "title": title_of(new),
        "intention": new.intention,
        "category": new.patch.category,
        "fields": new.patch.fields,
        "language": language_of(new),
    }
