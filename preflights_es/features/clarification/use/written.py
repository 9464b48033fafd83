"""Beginning with a question that the actor wrote: judged first, then recorded as its response."""

from __future__ import annotations

from hashlib import sha256

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.values import Heuristics, HeuristicsConfig
from preflights_es.features.clarification.domain.written import response, tables_of, trouble
from preflights_es.kernel import __version__
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.kernel.questions import WrittenQuestion
from preflights_es.kernel.text import ANSWER_MAX
from preflights_es.redaction import redact, response_redacted
from preflights_es.runtime.sanitizing import cleaned, name_cleaned
from preflights_es.use.request import Request

UNNAMED = "unknown"
"""The model of an agent that does not say its name."""


def asking(
    request: Request, written: WrittenQuestion, chosen: Heuristics | HeuristicsConfig
) -> Setup:
    """What a session records of the writer; the request gives the question when it is asked.

    Raises:
        Refused: the question cannot be asked; nothing is recorded yet.
    """
    said = written.texts()
    for text in said:
        cleaned("the question", text, ANSWER_MAX)
    text = response(written)
    kinds = {kind for one in said for kind in redact(one).kinds}
    if kinds or response_redacted(text) != text:
        held = f" ({', '.join(sorted(kinds))})" if kinds else ""
        message = f"the question cannot be asked: it holds what looks like a secret{held}"
        raise Refused(message, code="secret_in_question")
    if found := trouble(text, tables_of(chosen)):
        raise Refused(found, code="question_refused")
    request.leads.written = text
    actor = request.actor
    is_person = actor.kind == "user"
    named = name_cleaned(actor.name) if actor.kind == "agent" else ""
    lead = Lead(
        "person" if is_person else "agent",
        "" if is_person else named or UNNAMED,
        # The same key with another question is another command.
        (("sha256", sha256(text.encode()).hexdigest()),),
    )
    return Setup(__version__, WORKFLOW.decider, lead.provider, (), lead)
