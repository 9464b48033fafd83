"""A decision beside others that differ: what counts, what the records say, who quotes whom."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    ClarificationChangeRefused,
    DecisionAcknowledged,
    DecisionKeptBeside,
    DecisionMarkedKept,
)
from preflights_es.features.clarification.domain.history import quotes
from preflights_es.features.clarification.domain.record_content import record_from_state
from preflights_es.features.clarification.domain.views import related
from preflights_es.kernel.events import Input, Quoted, SourceSession
from preflights_es.records import render
from preflights_es.words.decisions import Choice, KeptDecision, OlderDecision, Related, Resolution
from tests.each import each
from tests.features.clarification.cases import (
    ADA,
    FORMER,
    LATER,
    SCRIPT,
    acknowledged,
    after,
    answered,
    check,
    declared,
    due,
    reference_renumbered,
    superseded,
)
from tests.fixed import NOON

READY: Final = (declared("Add OAuth"), answered(auth_strategy="OAuth"))
ACCEPTED: Final = (*READY, acknowledged())
OLD: Final = Related("0ld000000001", "Use SAML for authentication", 3, "s-old")
OLDER: Final = Related("0ld000000002", "Use LDAP for authentication", 2, "s-older")
WHY: Final = "The partners have SAML alone"


def resolution(related: Related, choice: Choice, reason: str = "") -> Resolution:
    finding = OlderDecision(
        related=related,
        category="Authentication",
        fields=(("Strategy", "SAML"),),
        accepted_at=NOON,
        evolution="contradict",
        source=SourceSession(related.session_id, 9, "00"),
    )
    return Resolution(finding=finding, choice=choice, reason=reason)


def choosing(*resolved: Resolution, **more: object) -> DecisionAcknowledged:
    return replace(acknowledged(**more), resolved=resolved)  # type: ignore[arg-type]  # as it takes them


def refused(change: str, reason: str) -> tuple[ClarificationChangeRefused]:
    return (ClarificationChangeRefused(change=change, reason=reason),)  # type: ignore[arg-type]  # of a table


def kept(by: Related = LATER, reason: str = WHY) -> DecisionKeptBeside:
    return DecisionKeptBeside(at=NOON, actor=ADA, by=by, reason=reason)


def test_what_a_person_chooses_counts_with_the_acceptance() -> None:
    state = after(*READY, choosing(resolution(OLD, "keeps", WHY), resolution(OLDER, "supersedes")))
    assert (state.standing.supersedes, state.standing.also_supersedes) == (OLDER, ())
    assert state.standing.kept == (KeptDecision(OLD, WHY),)
    said = related(state)
    assert (said.supersedes, said.kept) == ((OLDER,), (OLD,))


def test_several_are_superseded_beside_the_one_that_was_named_first() -> None:
    chosen = choosing(resolution(OLD, "supersedes"), resolution(OLDER, "supersedes"))
    state = after(*READY, chosen)
    assert (state.standing.supersedes, state.standing.also_supersedes) == (OLD, (OLDER,))
    named = (declared("Add OAuth", supersedes=FORMER), *READY[1:])
    state = after(*named, chosen)
    assert (state.standing.supersedes, state.standing.also_supersedes) == (FORMER, (OLD, OLDER))
    assert related(state).supersedes == (FORMER, OLD, OLDER)
    text = render.render_document("adr.v1", record_from_state(state))
    links = [line for line in text.splitlines() if line.startswith("* Supersedes")]
    assert [line[: len("* Supersedes [ADR-0000")] for line in links] == [
        f"* Supersedes [ADR-{one.number:04}" for one in (FORMER, OLD, OLDER)
    ]


def test_a_choice_in_a_proposal_counts_for_nothing() -> None:
    chosen = (resolution(OLD, "supersedes"), resolution(OLDER, "keeps", WHY))
    proposed = after(*READY, choosing(*chosen, actor=SCRIPT))
    assert (proposed.standing.supersedes, proposed.standing.kept) == (None, ())
    assert related(proposed).supersedes == ()


@each(("reason", "why"), [("", "blank"), ("  ", "blank"), ("tbd", "placeholder")])
def test_both_are_kept_for_a_reason_alone(reason: str, why: str) -> None:
    chosen = choosing(resolution(OLD, "keeps", reason))
    check(*READY, when=chosen, then=refused("acknowledgement", why))
    assert after(*READY, chosen).standing.acknowledgement is None


def test_the_older_decision_says_beside_what_it_stays_by_the_reason_of_its_acceptance() -> None:
    again = due("0007-use-oauth-for-authentication.md", call="artifact-2")
    check(*ACCEPTED, when=kept(), then=(DecisionMarkedKept(), again))
    state = after(*ACCEPTED, kept())
    assert (state.standing.kept, state.standing.superseded_by) == (
        (KeptDecision(LATER, WHY),),
        None,
    )
    text = render.render_document("adr.v1", record_from_state(state))
    assert f"\n* Kept beside [ADR-{LATER.number:04}, " in text
    assert text.rstrip().endswith(f": {WHY}")
    other = after(*ACCEPTED, kept(), kept(reason="Another one"), kept(OLD))
    assert other.standing.kept == (KeptDecision(LATER, "Another one"), KeptDecision(OLD, WHY))
    state = after(*READY, choosing(resolution(OLD, "keeps", WHY)), kept(OLD, "Eve"), kept(LATER))
    assert state.standing.kept == (KeptDecision(OLD, WHY), KeptDecision(LATER, WHY))


@each("reason", ["# Heading", "a | b", "[x](javascript:1)", "<b>\u202e"])
def test_a_reason_forges_nothing(reason: str) -> None:
    text = render.render_document(
        "adr.v1", record_from_state(after(*ACCEPTED, kept(reason=reason)))
    )
    assert render.inline(reason) in text
    assert "\u202e" not in text


@each("given", [(declared("Add OAuth"),), READY])
def test_only_an_accepted_decision_is_kept(given: tuple[Input, ...]) -> None:
    check(*given, when=kept(), then=refused("keeping", "not_accepted"))
    check(*ACCEPTED, superseded(), when=kept(), then=refused("keeping", "already_superseded"))


def test_a_new_number_of_a_related_record_is_written() -> None:
    chosen = choosing(
        resolution(OLD, "supersedes"),
        resolution(OLDER, "supersedes"),
        resolution(FORMER, "keeps", WHY),
    )
    state = after(
        *(*READY, chosen), *(reference_renumbered(one.uid, 40) for one in (OLD, OLDER, FORMER))
    )
    assert state.standing.supersedes == replace(OLD, number=40)
    assert state.standing.also_supersedes == (replace(OLDER, number=40),)
    assert state.standing.kept == (KeptDecision(replace(FORMER, number=40), WHY),)


def test_each_side_quotes_the_other() -> None:
    chosen = choosing(resolution(OLD, "supersedes"), resolution(OLDER, "keeps", WHY))
    assert quotes(chosen) == (Quoted("supersedes", "s-old"), Quoted("kept", "s-older"))
    assert quotes(kept()) == (Quoted("kept", LATER.session_id),)
    assert quotes(acknowledged()) == ()
