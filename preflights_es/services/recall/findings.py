"""How what is proposed stands to older decisions: what the rules find, and what a model says."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec.structs import replace

from preflights_es.core.artifacts import Related
from preflights_es.core.errors import PreflightsError
from preflights_es.core.evolution import Finding
from preflights_es.core.json import encoded
from preflights_es.core.lead import Lead, Setup
from preflights_es.core.source import Source
from preflights_es.core.version import __version__
from preflights_es.runtime.idempotency import Once
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sessions import Sessions
from preflights_es.services.process import Process
from preflights_es.services.request import Request
from preflights_es.workflows.clarification.state import State
from preflights_es.workflows.clarification.stated import language_of
from preflights_es.workflows.clarification.titles import title_of
from preflights_es.workflows.recall import WORKFLOW
from preflights_es.workflows.recall.events import ComparisonAsked
from preflights_es.workflows.recall.evolution import Decision, evolution, is_related
from preflights_es.workflows.recall.state import State as RecallState
from preflights_es.workflows.recall.values import PAIRS_MAX

if TYPE_CHECKING:
    from preflights_es.services.recall.comparing import Older


def finding(process: Process, state: State, old: Older) -> Finding | None:
    """How the one stands to the other, perhaps `none`.

    None where the two are not compared, or the older one cannot be read any more.
    """
    assert state.patch is not None, "only a patch is compared"
    new = Decision(
        category=state.patch.category, fields=state.patch.fields, intention=state.intention
    )
    former = Decision(category=old.category, fields=old.fields, uid=old.uid, number=old.number)
    if not is_related(new, former):
        return None
    try:
        read = process.runner.load(old.session_id)
    except PreflightsError:
        return None
    return Finding(
        related=Related(old.uid, old.title, old.number, old.session_id),
        category=old.category,
        fields=old.fields,
        accepted_at=max(old.acknowledged_at, 0),
        evolution=evolution(new, former),
        by="rules",
        source=_source(read),
    )


def judged(
    request: Request, handle: Handle, lead: Lead, compared: tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """What a model says of the comparison, in a session of its own; else what the rules found.

    The same comparison is asked for once: it is read again where its session is there.
    """
    state: State = handle.session.state
    assert state.patch is not None, "only a patch is compared"
    asked, others = compared[:PAIRS_MAX], compared[PAIRS_MAX:]
    said = {
        "decision": state.uid,
        "title": title_of(state),
        "intention": state.intention,
        "category": state.patch.category,
        "fields": state.patch.fields,
        "older": asked,
        "language": language_of(state),
    }
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
            *(WORKFLOW, ComparisonAsked, said, setup), beside=lambda: {"source": _source(handle)}
        )
        read = process.runner.load(step.handle.session_id)
        if read.session.calls or read.session.undecided:
            read = own.resume(read).handle
    except PreflightsError as error:
        request.notice("not_compared", f"the rules alone compared the decisions: {error}")
        return compared
    found: RecallState = read.session.state
    if found.findings is None:
        return compared  # another process asks the model now
    source = _source(read)
    return *(replace(one, compared=source) for one in found.findings), *others


def _source(read: Handle) -> Source:
    return Source(read.session_id, read.version, read.hash.hex())
