"""Golden recalls: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from msgspec.structs import replace

from preflights_es.features.recall.domain import WORKFLOW
from preflights_es.features.recall.domain.events import (
    DecisionsFound,
    FoundDecision,
    FoundRecord,
    RecallAsked,
    Stands,
)
from preflights_es.kernel.events import SourceSession
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sessions import Sessions
from preflights_es.words.questions import Language
from tests.record_goldens import Recorder, inputs, sim


def recalls(r: Recorder) -> Sessions:
    """The recalls of the project."""
    return Sessions(inputs(r))


def decision(uid: str, title: str, score: int, *, is_old: bool = False) -> FoundDecision:
    """A decision that matches."""
    return FoundDecision(
        uid=uid,
        title=title,
        standing="superseded" if is_old else "accepted",
        category="Authentication",
        fields=(("Strategy", title.split()[1]),),
        accepted_at=1_795_000_000_000_000,
        number=7,
        words=("login", "oauth"),
        score=score,
        source=SourceSession("01a0c450-6c01-7000-8000-00003f9a12c4", 9, "ab" * 32),
    )


def asked(
    r: Recorder, question: str, lead: Lead | None = None, language: Language = "en"
) -> Handle:
    """A question, as far as its lead rewrites it."""
    provider = lead.provider if lead else "mock"
    setup = Setup(
        "0.2.0", WORKFLOW.decider.version, provider, WORKFLOW.led.prompts if lead else (), lead
    )
    said = {"question": question, "language": language}
    step = recalls(r).opened(WORKFLOW, RecallAsked, said, setup)
    r.order.append(step.handle.session_id)
    return step.handle


def told(r: Recorder, handle: Handle, *found: FoundDecision) -> Handle:
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


def a_result_says_how_it_stands_to_others(r: Recorder) -> None:
    one = decision("aa", "Use LDAP", 20, is_old=True)
    other = decision("bb", "Use OAuth for login", 20)
    newer = Stands(evolution="superseded_by", uid="bb", title=other.title)
    older = Stands(evolution="supersedes", uid="aa", title=one.title)
    kept = Stands(evolution="contradict", uid="cc", title="Use SAML", reason="partners need it")
    handle = asked(r, "what do we use for login?")
    one = replace(one, stands=(newer,), line="It reads LDAP for the login")
    told(r, handle, one, replace(other, stands=(older, kept)))


def records_of_other_tools_are_found(r: Recorder) -> None:
    handle = asked(r, "Welchen Zahlungsanbieter nehmen wir?", None, "de")
    record = FoundRecord(
        path="docs/adr/0003-zahlungen.md",
        title="Zahlungen \u00fcber Mollie",
        status="accepted",
        date="2026-03-02",
        words=("zahlungsanbieter",),
        score=88,
    )
    said = {"found": (decision("aa", "Use Stripe", 20),), "records": (record,)}
    recalls(r).submitted(handle, DecisionsFound, said)
    alone = asked(r, "how do we deploy?")
    recalls(r).submitted(alone, DecisionsFound, {"found": (), "records": (record,)})


def more_match_than_are_told(r: Recorder) -> None:
    said = {"found": (decision("aa", "Use OAuth for login", 20),), "matches": 37}
    recalls(r).submitted(asked(r, "what do we use for login?"), DecisionsFound, said)
