"""Why something is decided, and what its record is called (specification, section 13)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.features.clarification.domain import lead, reasons, views
from preflights_es.features.clarification.domain.events import (
    ClarificationChangeRefused,
    QuestionSuggested,
    RationaleGiven,
    RationaleNoted,
    RationaleSuggested,
)
from preflights_es.features.clarification.domain.record_content import record_from_state
from preflights_es.features.clarification.domain.values import (
    TITLES,
    Category,
    Field,
    HeuristicsConfig,
)
from preflights_es.kernel.events import Actor, Input
from preflights_es.runtime.sanitizing import SECRETS_ALONE
from preflights_es.testing.generated import TEXT
from preflights_es.words.decisions import (
    AttributedReason,
    NotChosen,
    Rationale,
    RejectedAlternative,
)
from preflights_es.words.questions import Option, Recommended
from tests.each import each
from tests.features.clarification.cases import (
    AGENT,
    SCRIPT,
    acknowledged,
    after,
    answered,
    check,
    declared,
    due,
    reasoned,
    revised,
)
from tests.features.clarification.test_spec_tables import rows
from tests.markdown import ticked

READY = (declared("Add OAuth"), answered(auth_strategy="OAuth"))
DUE = "0007-use-oauth-for-authentication.md"


def refused(reason: str) -> tuple[ClarificationChangeRefused, ...]:
    return (ClarificationChangeRefused(change="rationale", reason=reason),)  # type: ignore[arg-type]  # any


# 1. What is given ----------------------------------------------------------------------------


def test_a_reason_counts_without_another_step_and_is_written_into_a_proposal() -> None:
    noted = RationaleNoted(
        because="We know it",
        consequences=("One login",),
        alternatives=(RejectedAlternative("SAML", ""),),
    )
    given = reasoned(" We know it ", "One login", "\u200b", SAML=" ")
    check(*READY, when=given, then=(noted,))
    check(declared("Add OAuth"), when=given, then=(noted,))
    noted = RationaleNoted(because="Why", consequences=(), alternatives=())
    proposed = (*READY, acknowledged(actor=SCRIPT))
    check(*proposed, when=reasoned("Why"), then=(noted, due(DUE, call="artifact-2")))


def test_what_is_given_adds_to_what_was_said() -> None:
    state = after(
        *READY,
        reasoned("Old", "One", SAML="slow"),
        reasoned("New", "One", "Two", actor=AGENT, saml="too slow", LDAP=""),
    )
    assert state.offer.rationale == Rationale(
        AttributedReason("New", "agent"),
        (AttributedReason("One", "agent"), AttributedReason("Two", "agent")),
        (NotChosen("saml", "too slow", "agent"), NotChosen("LDAP", "", "agent")),
    )
    whole = after(*READY, reasoned("Old", "One", SAML=""), reasoned("New", replaces=True))
    assert whole.offer.rationale == Rationale(AttributedReason("New", "user"))


@each(
    ("given", "new", "reason"),
    [
        ((*READY, acknowledged()), reasoned("Why"), "already_accepted"),
        (READY, reasoned("  ", "\u200b"), "blank"),
        (READY, reasoned("TBD"), "placeholder"),
        (READY, reasoned("", "n/a"), "placeholder"),
        (READY, reasoned("Fine", SAML="???"), "placeholder"),
        (READY, reasoned("", *map(str, range(21))), "too_many"),
    ],
)
def test_what_says_nothing_is_refused(
    given: tuple[Input, ...], new: RationaleGiven, reason: str
) -> None:
    check(*given, when=new, then=refused(reason))
    assert after(*given, new).offer.rationale == Rationale()


def test_secrets_are_taken_out_of_every_text() -> None:
    secret = "postgres://ada:s3cr3tpw@db.example/shop"
    fields = SECRETS_ALONE.cleaned_fields(
        RationaleGiven,
        {
            "because": secret,
            "consequences": (secret,),
            "alternatives": (RejectedAlternative(secret, secret),),
        },
    )
    assert "s3cr3tpw" not in repr(fields)
    assert len(fields["redacted"]) == 4


# 2. What it speaks of ------------------------------------------------------------------------


def test_a_reason_falls_with_the_value_that_it_speaks_of() -> None:
    given = (*READY, reasoned("We know it", "One login", SAML="slow", Passkeys="new"))
    state = after(*given, revised(auth_strategy="SAML"))
    assert state.offer.rationale == Rationale(alternatives=(NotChosen("Passkeys", "new", "user"),))
    assert record_from_state(state).considered == ("SAML", "Passkeys"), "OAuth was reworded"
    assert after(*given, revised(auth_library="authlib")).offer.rationale.because is not None
    assert after(*given, revised(change_category="Infra")).offer.rationale == Rationale()
    state = after(declared(), reasoned("We know it"), answered(change_category="Database"))
    assert state.offer.rationale.because == AttributedReason("We know it", "user")


# 3. What a model offers ----------------------------------------------------------------------


def test_a_model_never_takes_the_place_of_a_person() -> None:
    offer = RationaleSuggested(
        because="Fast",
        consequences=("One", "Two"),
        alternatives=(RejectedAlternative("saml", "slow"),),
    )
    found = reasons.merge_model_rationale(
        Rationale(
            AttributedReason("Ours", "user"),
            (AttributedReason("One", "user"), AttributedReason("Old", "model")),
            (NotChosen("SAML", "no", "user"),),
        ),
        offer,
    )
    assert found == Rationale(
        AttributedReason("Ours", "user"),
        (AttributedReason("One", "user"), AttributedReason("Two", "model")),
        (NotChosen("SAML", "no", "user"),),
    )
    assert reasons.merge_model_rationale(Rationale(), offer).by_model


@each(
    ("offer", "pointer"),
    [
        ({"because": "TBD"}, "/because"),
        ({"consequences": ["Fine", "?"]}, "/consequences/1"),
        ({"alternatives": [{"name": "oauth", "why_not": "slow"}]}, "/alternatives/0/name"),
        (
            {"alternatives": [{"name": n, "why_not": "slow"} for n in ("SAML", "saml")]},
            "/alternatives/1/name",
        ),
        ({"alternatives": [{"name": "SAML", "why_not": "n/a"}]}, "/alternatives/0/why_not"),
    ],
)
def test_an_offer_that_says_nothing_is_no_answer(offer: dict[str, object], pointer: str) -> None:
    payload = {"category": "Authentication", "fields": [{"name": "Strategy", "value": "OAuth"}]}
    found = lead.decide_violations(after(*READY), {**payload, **offer})
    assert [violation.pointer for violation in found] == [pointer]
    assert lead.decide_violations(after(*READY), payload) == ()


def test_a_recommendation_says_what_is_not_said_yet() -> None:
    field = Field("Caching", "custom.caching", "Which cache?", ("Redis", "Memcached", "None"))
    asked = QuestionSuggested(
        category="Other",
        field=field,
        offered=(Option("Redis"), Option("Memcached", "", "New here"), Option("None")),
        recommended=Recommended("Redis", "It is there"),
        consequences=("One server less",),
    )
    followed = reasons.offer_recommended_rationale(Rationale(), asked, "redis")
    assert followed is not None
    assert (followed.because, followed.consequences) == ("It is there", ("One server less",))
    assert followed.alternatives == (), "what is against it stands with the question"
    assert reasons.offer_recommended_rationale(Rationale(), asked, "Memcached") is None
    assert (
        reasons.offer_recommended_rationale(Rationale(), replace(asked, recommended=None), "None")
        is not None
    )


# 4. The title --------------------------------------------------------------------------------


def test_the_titles_are_those_of_the_specification() -> None:
    table = {word: row for row in rows("13.5 The title") for word in ticked(row["Patch"])}
    assert {key: ticked(table[key]["Title"])[0] for key in TITLES} == TITLES


@each(
    ("given", "title"),
    [
        ((declared("Add OAuth"),), "Add OAuth"),
        (READY, "Use OAuth for authentication"),
        ((declared(), answered(change_category="Other", description="a\nb")), "a b"),
        ((declared("db", mark="adr"), answered(db_orm="Prisma")), "db"),
    ],
)
def test_a_title_is_the_decision(given: tuple[Input, ...], title: str) -> None:
    assert views.view(after(*given)).title == title


def test_a_title_of_a_team_names_the_category() -> None:
    queues = Category("Queues", ("queue",), Field("Broker", "broker", "Which?", ("SQS",)))
    state = after(declared("A queue", heuristics=HeuristicsConfig((queues,))), answered(broker="x"))
    assert views.view(state).title == "Queues: x"


# 5. Laws -------------------------------------------------------------------------------------

SAID = st.builds(
    reasoned,
    TEXT,
    actor=st.sampled_from((Actor("user"), AGENT, SCRIPT)),
    replaces=st.booleans(),
    SAML=TEXT,
)


@given(st.lists(SAID, max_size=4))
def test_what_counts_is_never_blank_and_never_too_much(said: list[RationaleGiven]) -> None:
    state = after(*READY, *said)
    record = record_from_state(state)
    assert all(one.text.strip() for one in record.rationale.consequences)
    assert len(record.rationale.alternatives) <= reasons.RATIONALE_MAX
    assert record.considered[0] == "OAuth"
    assert len({one.casefold() for one in record.considered}) == len(record.considered)
