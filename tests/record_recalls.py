"""Golden recalls: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from collections.abc import Callable

from preflights_es.core.lead import Lead, Setup
from preflights_es.core.source import Source
from preflights_es.core.views import Language
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sessions import Sessions
from preflights_es.workflows.recall import WORKFLOW
from preflights_es.workflows.recall.events import DecisionsFound, RecallAsked
from preflights_es.workflows.recall.values import Found
from tests.record_goldens import Recorder, desk, sim


def recalls(r: Recorder) -> Sessions:
    """The recalls of the project."""
    return Sessions(desk(r))


def decision(uid: str, title: str, score: int, *, is_old: bool = False) -> Found:
    """A decision that matches."""
    return Found(
        uid=uid,
        title=title,
        standing="superseded" if is_old else "accepted",
        category="Authentication",
        fields=(("Strategy", title.split()[1]),),
        accepted_at=1_795_000_000_000_000,
        number=7,
        words=("login", "oauth"),
        score=score,
        source=Source("01a0c450-6c01-7000-8000-00003f9a12c4", 9, "ab" * 32),
    )


def asked(
    r: Recorder, question: str, lead: Lead | None = None, language: Language = "en"
) -> Handle:
    """A question, as far as its lead rewrites it."""
    provider = lead.provider if lead else "mock"
    setup = Setup("0.2.0", "recall/1", provider, WORKFLOW.prompts if lead else (), lead)
    said = {"question": question, "language": language}
    step = recalls(r).opened(WORKFLOW, RecallAsked, said, setup)
    r.order.append(step.handle.session_id)
    return step.handle


def told(r: Recorder, handle: Handle, *found: Found) -> Handle:
    """The same with what was found."""
    return recalls(r).submitted(handle, DecisionsFound, {"found": found}).handle


def the_rules_rewrite_a_question(r: Recorder) -> None:
    one, other = decision("bb", "Use OAuth for login", 20), decision("aa", "Use LDAP", 20)
    told(r, asked(r, "what do we use for login?"), decision("cc", "Use SAML", 4), one, other)
    told(r, asked(r, "Welche Datenbank nehmen wir?", language="de"))
    told(r, asked(r, "the?"))


def superseded_decisions_are_asked_for(r: Recorder) -> None:
    handle = asked(r, "login, mail to ada@example.org")
    handle = told(r, handle, decision("aa", "Use LDAP", 20, is_old=True))
    told(r, handle)


def a_model_rewrites_a_question(r: Recorder) -> None:
    for seed in range(4):
        told(r, asked(r, "what do we use for login?", sim(seed)))


def the_rules_stand_in(r: Recorder) -> None:
    told(r, asked(r, "what do we use for login?", sim(1, "malformed=1")))
    told(r, asked(r, "what do we use for login?", sim(5, "malformed=0.5")))


def a_strict_recall_waits_and_is_resumed(r: Recorder) -> None:
    handle = asked(r, "caching", sim(2, "error=1", strict=True))
    recalls(r).resume(handle)


GOLDENS: tuple[Callable[[Recorder], None], ...] = (
    the_rules_rewrite_a_question,
    superseded_decisions_are_asked_for,
    a_model_rewrites_a_question,
    the_rules_stand_in,
    a_strict_recall_waits_and_is_resumed,
)
