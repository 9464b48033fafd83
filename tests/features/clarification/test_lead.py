"""A model that leads a clarification: what it contributes, and what stays the rules'."""

from __future__ import annotations

import json
from typing import Any

from preflights_es.features.clarification.domain import WORKFLOW, lead, rules
from preflights_es.features.clarification.domain.events import (
    AnswersRevised,
    ClarificationAnswersGiven,
    DecisionForModel,
    IntentionDeclared,
)
from preflights_es.features.clarification.domain.record_content import record_from_state
from preflights_es.features.clarification.domain.simulation import BANK
from preflights_es.features.clarification.domain.state import ClarificationState
from preflights_es.features.clarification.domain.values import (
    OTHER_OPTION,
    DecisionPatch,
    HeuristicsConfig,
)
from preflights_es.kernel.completions import CompletionRequested, Message, prompt
from preflights_es.kernel.errors import (
    LLMAPIError,
    LLMError,
    LLMRateLimitError,
    LLMRequestRejectedError,
    LLMTimeoutError,
)
from preflights_es.kernel.events import Actor, SourceSession
from preflights_es.kernel.lead import (
    AROUND,
    INVALID,
    FellBack,
    Lead,
    ResponseRejected,
    Setup,
    StepStalled,
)
from preflights_es.providers.faults import FaultConfig
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.testing import Reply
from preflights_es.words.decisions import AttributedReason
from preflights_es.words.questions import GivenAnswer, Option, Recommended, is_placeholder
from tests.each import each
from tests.features.clarification.cases import ADA, OAUTH, UID
from tests.fixed import PROJECT
from tests.scripted import asks
from tests.scripted_session import ScriptedSession

GOOD = asks("Authentication", "How do people sign in?", "Passkeys", "OAuth")
NOTHING = {"outcome": "nothing", "reason": "The answer settles it."}


SOURCE = SourceSession("01a0c450-6c00-7000-8000-000000000001", 1, "00" * 32)


def labels(*names: str) -> dict[str, Any]:
    """Other options."""
    return {"options": [{"label": name} for name in names]}


class Led(ScriptedSession[ClarificationState]):
    """A session that a provider leads."""

    workflow = WORKFLOW

    def __init__(
        self,
        *replies: Reply,
        intention: str = "Add login",
        strict: bool = False,
        simulator: SimLLMProvider | None = None,
        actor: Actor = ADA,
    ) -> None:
        super().__init__(*replies, provider=simulator)
        self.actor = actor
        patch = DecisionPatch("Database", (("Type", "MySQL"),))
        asked = Lead("script", "model-1", strict=strict)
        self.open(
            IntentionDeclared(
                at=self.runner.now(),
                actor=actor,
                intention=intention,
                project=PROJECT,
                uid=UID,
                setup=Setup("0", WORKFLOW.decider.version, "script", lead=asked),
                heuristics=HeuristicsConfig(),
                known=(DecisionForModel("Choose a database", patch, SOURCE),),
            )
        )

    def answer(self, **answers: str) -> None:
        for key, value in answers.items():
            self.answer_one(key, value)

    def answer_one(self, key: str, value: str) -> None:
        given = (GivenAnswer(key, (value,)),)
        now = self.runner.now()
        self.submit(ClarificationAnswersGiven(at=now, actor=self.actor, answers=given))


def decided(*fields: tuple[str, str], category: str = "Authentication") -> dict[str, Any]:
    return {"category": category, "fields": [{"name": n, "value": v} for n, v in fields]}


# 1. What a model contributes -----------------------------------------------------------------


def test_the_models_wording_and_options_are_asked_under_the_rules_key_or_its_own_category() -> None:
    led = Led(GOOD)
    question = led.state.turns.question
    assert question is not None
    assert (question.id, question.question) == ("auth_strategy", "How do people sign in?")
    assert question.options == ("Passkeys", "OAuth", OTHER_OPTION)
    assert led.status == "needs_answers"
    led = Led({**GOOD, "topic": "Infra"}, intention="Make it nice")
    (category,) = led.state.turns.provenance
    assert (category.value, category.source, category.by) == ("Infra", "suggested", "model")
    assert led.state.turns.question is not None
    assert led.state.turns.question.id == "hosting"


def test_a_question_of_its_own_gets_a_key_and_a_field_of_its_own() -> None:
    own = {**GOOD, "topic": "Tenancy", "options": []}
    led = Led(own, decided(("Tenancy", "one each"), category="Other"))
    assert led.state.turns.question is not None
    assert (led.state.turns.question.id, led.state.turns.question.type) == (
        "custom.tenancy",
        "free_text",
    )
    led.answer_one("custom.tenancy", "one each")
    assert led.state.offer.patch == DecisionPatch("Other", (("Tenancy", "one each"),))
    assert led.replayed() == "identical"


def test_the_answer_stands_as_given_and_the_model_may_read_more_out_of_what_was_said() -> None:
    led = Led(
        GOOD,
        decided(("Strategy", "OAuth"), ("Library", "Authlib")),
        intention="Add login with Authlib",
    )
    led.answer(auth_strategy="oauth")
    assert led.state.offer.patch == DecisionPatch(
        "Authentication", (("Strategy", "OAuth"), ("Library", "Authlib"))
    )
    sources = {p.field: (p.source, p.by) for p in led.state.turns.provenance}
    assert sources["Strategy"] == ("chosen", "user")
    assert sources["Library"] == ("suggested", "model")


def test_the_conversation_is_derived_from_the_log() -> None:
    led = Led(GOOD, decided(("Strategy", "OAuth")))
    led.answer(auth_strategy="OAuth")
    first, second = led.script.requests
    assert [m.role for m in first.messages] == ["system", "user"]
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "user", "user"]
    assert first.messages[0].content == prompt(lead.PACKAGE, "clarify.v1").text
    assert "Add login" in first.messages[1].content
    assert "Choose a database (Database, Type: MySQL)" in first.messages[1].content
    assert second.messages[2].content == json.dumps(GOOD)
    assert second.messages[3].content == "Strategy: OAuth"
    assert first.prompts == (("clarify.v1", prompt(lead.PACKAGE, "clarify.v1").sha256),)


def test_a_recommendation_is_the_first_option_and_its_reason_the_models() -> None:
    offered = {
        "why": "Every customer signs in.",
        "options": [
            {"label": "Passkeys", "description": "Nothing to remember.", "against": "New here."},
            {"label": "OAuth", "description": "", "against": "A third party."},
        ],
        "recommended": {"option": "oauth", "reason": "The team has it."},
    }
    led = Led({**GOOD, **offered}, decided(("Strategy", "OAuth")))
    framed = led.state.found.framed
    assert framed is not None
    assert framed.field.options == ("OAuth", "Passkeys")
    assert framed.recommended == Recommended("OAuth", "The team has it.")
    assert framed.offered[1] == Option("Passkeys", "Nothing to remember.", "New here.")
    led.answer(auth_strategy="OAuth")
    rationale = led.state.offer.rationale
    assert rationale.because == AttributedReason("The team has it.", "model")
    assert rationale.alternatives == ()
    record = record_from_state(led.state)
    assert record.considered == ("OAuth", "Passkeys")
    assert record.shown[0].options[1].against == "New here."
    assert led.replayed() == "identical"


def test_what_the_model_reads_as_said_is_the_first_option_and_is_not_taken() -> None:
    said = {
        "outcome": "said",
        "topic": "Database",
        "value": "PostgreSQL",
        "quote": "postgres it is",
        "scope": "orders",
    }
    led = Led(said, intention="For the orders, Postgres it is, I think")
    question, framed = led.state.turns.question, led.state.found.framed
    assert question is not None
    assert framed is not None
    assert (question.id, question.options[0]) == ("db_type", "PostgreSQL")
    assert question.options.count("PostgreSQL") == 1
    assert framed.quote == "postgres it is"
    assert (led.state.turns.answers, led.state.offer.scope) == ({}, "orders")


def test_a_model_that_sees_nothing_to_decide_ends_the_session() -> None:
    led = Led(NOTHING, intention="Make it nice")
    assert led.status == "stopped"
    assert led.state.offer.stopped == "nothing_to_ask"
    assert led.replayed() == "identical"


def test_further_questions_depend_on_answers_and_have_fields_of_their_own() -> None:
    more = {**asks("Database", "Which?", "PostgreSQL", "MySQL"), "more": True}
    tenancy = {**asks("Tenancy", "One schema each?", "Yes", "No"), "more": True}
    patch = decided(
        ("Type", "PostgreSQL"), ("Tenancy", "Yes"), ("ORM", "SQLAlchemy"), category="Database"
    )
    orm = asks("ORM", "Which library?", "SQLAlchemy", "none")
    led = Led(more, tenancy, orm, patch, intention="Keep the orders")
    progress = [rules_progress(led)]
    for key, value in (
        ("db_type", "PostgreSQL"),
        ("custom.tenancy", "yes"),
        ("db_orm", "SQLAlchemy"),
    ):
        assert led.state.turns.question is not None
        assert led.state.turns.question.id == key
        led.answer_one(key, value)
        progress.append(rules_progress(led))
    assert progress == [0.5, 0.5, 0.5, 1.0]
    assert led.state.offer.patch == DecisionPatch(
        "Database", (("Type", "PostgreSQL"), ("Tenancy", "Yes"), ("ORM", "SQLAlchemy"))
    )
    assert led.replayed() == "identical"


def rules_progress(led: Led) -> float:
    return WORKFLOW.shown.view(led.state).progress


def test_another_first_answer_drops_what_was_asked_because_of_the_old_one() -> None:
    more = {**asks("Database", "Which?", "PostgreSQL", "MySQL"), "more": True}
    tenancy = asks("Tenancy", "One schema each?", "Yes", "No")
    first = decided(("Type", "PostgreSQL"), ("Tenancy", "Yes"), category="Database")
    last = decided(("Type", "MySQL"), category="Database")
    led = Led(more, tenancy, first, NOTHING, last, intention="Keep the orders")
    led.answer_one("db_type", "PostgreSQL")
    led.answer_one("custom.tenancy", "Yes")
    given = (GivenAnswer("db_type", ("MySQL",)),)
    led.submit(AnswersRevised(at=led.runner.now(), actor=ADA, answers=given))
    assert led.state.offer.patch == DecisionPatch("Database", (("Type", "MySQL"),))
    assert led.replayed() == "identical"


@each("replies", [(NOTHING, decided(("Strategy", "OAuth"))), ("no", "no")])
def test_where_no_further_question_is_needed_the_answers_count(replies: tuple[Reply, ...]) -> None:
    led = Led({**GOOD, "more": True}, *replies)
    led.answer(auth_strategy="OAuth")
    assert led.state.offer.patch == OAUTH
    assert led.replayed() == "identical"


def test_three_questions_are_the_most_that_a_model_asks() -> None:
    asked = [{**asks(f"Topic {n}", "Which?", "a", "b"), "more": True} for n in range(3)]
    values = [(f"Topic {n}", "a") for n in range(3)]
    led = Led(*asked, decided(*values, category="Other"), intention="Make it nice")
    for n in range(3):
        led.answer_one(f"custom.topic_{n}", "a")
    assert led.state.offer.patch == DecisionPatch("Other", tuple(values))
    assert led.replayed() == "identical"


# 2. What stays the rules' --------------------------------------------------------------------


@each(
    ("change", "pointer"),
    [
        ({"topic": ""}, "/topic"),
        ({"topic": "Category"}, "/topic"),
        (labels("TBD", "OAuth"), ""),
        (labels("One"), "/options"),
        (labels("a", "A"), "/options"),
        (labels(*(f"option {n}" for n in range(7))), "/options"),
        ({"recommended": {"option": "SAML", "reason": "safe"}}, "/recommended/option"),
        ({"recommended": {"option": "OAuth", "reason": "n/a"}}, "/recommended/reason"),
        ({"recommended": {"option": "OAuth"}}, "/recommended/reason"),
        ({"question": "two\nlines"}, "/question"),
        ({"question": ""}, "/question"),
        ({"question": 7}, "/question"),
        ({"why": 7}, "/why"),
        ({"scope": "tbd"}, "/scope"),
        ({"outcome": "perhaps"}, "/outcome"),
        ({"outcome": "nothing"}, "/reason"),
        ({"outcome": "said", "value": "OAuth", "quote": "with OAuth"}, "/quote"),
        ({"outcome": "said", "value": "OAuth", "quote": "Add login"}, "/value"),
        ({"outcome": "said", "value": "", "quote": "Add login"}, "/value"),
    ],
)
def test_an_answer_that_breaks_a_rule_is_asked_again(change: dict[str, Any], pointer: str) -> None:
    led = Led({**GOOD, **change}, GOOD)
    (rejected,) = led.events(ResponseRejected)
    assert rejected.kind == "schema_violation"
    assert [v.pointer for v in rejected.violations] == [pointer]
    assert "did not match the schema:" in led.script.requests[1].messages[-1].content
    assert led.script.requests[1].attempt == 2
    assert led.state.turns.question is not None
    assert led.state.turns.question.question == GOOD["question"]


@each(
    "answer",
    [
        decided(("Strategy", "SAML")),
        decided(("Strategy", "OAuth"), ("Library", "Auth0")),
        decided(("Strategy", "OAuth"), ("ORM", "login")),
        decided(("Strategy", "OAuth"), ("Strategy", "OAuth")),
        decided(("Strategy", "OAuth"), ("Library", "TBD")),
        decided(("Type", "OAuth"), category="Database"),
    ],
)
def test_only_what_the_person_said_becomes_a_value(answer: dict[str, Any]) -> None:
    led = Led(GOOD, answer, answer)
    led.answer(auth_strategy="OAuth")
    assert len(led.events(ResponseRejected)) == 2
    assert led.state.offer.patch == OAUTH
    assert led.state.led.fell_back == "schema_violation"


@each(
    ("actor", "chooser"),
    [
        (Actor("user", "Ada"), "the person"),
        (Actor("agent", "claude"), "an agent"),
        (Actor("script"), "a script"),
    ],
)
def test_a_category_that_was_chosen_is_not_the_models_to_change(actor: Actor, chooser: str) -> None:
    replies = (GOOD, {**GOOD, "topic": "Infra"}, {**GOOD, "topic": "Database"})
    led = Led(*replies, actor=actor)
    led.answer(change_category="Database")
    assert led.state.turns.question is not None
    assert led.state.turns.question.id == "db_type"
    assert (
        led.script.requests[1]
        .messages[1]
        .content.endswith(
            f"Topic: Database (chosen by {chooser})\n\nIn force:\n"
            "* Choose a database (Database, Type: MySQL)"
        )
    )
    (rejected,) = led.events(ResponseRejected)
    expected = f"expected Database, which {chooser} chose, or a name of your own"
    assert rejected.violations[0].message == expected
    assert expected in led.script.requests[2].messages[-1].content


def test_the_option_to_specify_another_is_always_last_and_only_once() -> None:
    led = Led({**GOOD, **labels("OAuth", "Passkeys", "Other", "other (specify)")})
    assert led.state.turns.question is not None
    assert led.state.turns.question.options == ("OAuth", "Passkeys", OTHER_OPTION)


def test_the_budget_of_turns_holds_for_a_model_too() -> None:
    led = Led(GOOD, decided(("Strategy", "OAuth")), *[{**GOOD, "topic": c} for c in "xx"])
    led.answer(auth_strategy="OAuth")
    assert led.state.turns.turn == 2
    assert led.state.turns.turn <= rules.TURNS_MAX


# 3. When it cannot be used -------------------------------------------------------------------


@each(
    ("reply", "sentence"),
    [
        ("I would use OAuth.", INVALID),
        (f"<think>{json.dumps(GOOD)}", INVALID),
        (f"I would ask: {json.dumps(GOOD)}", AROUND),
    ],
)
def test_no_json_and_prose_are_asked_again_with_their_sentences(reply: str, sentence: str) -> None:
    led = Led(reply, GOOD)
    assert led.script.requests[1].messages[-1].content == sentence
    assert led.script.requests[1].messages[-2].content == reply
    assert led.status == "needs_answers"


@each(
    ("error", "wait", "kind"),
    [
        (LLMTimeoutError("slow"), 1.0, "timeout"),
        (LLMAPIError("down"), 1.0, "api_error"),
        (LLMRateLimitError("busy", retry_after_ms=2_500), 2.5, "rate_limit"),
        (LLMRateLimitError("busy", retry_after_ms=30_000), 30.0, "rate_limit"),
        (LLMRateLimitError("busy", retry_after_ms=30_001), None, "rate_limit"),
    ],
)
def test_a_failed_call_is_made_once_more_after_a_pause_then_the_rules_go_on(
    error: LLMError, wait: float | None, kind: str
) -> None:
    """Beyond the limit of a wait, there is no second call."""
    led = Led(error, error)
    assert led.waits == ([] if wait is None else [wait])
    (fell,) = led.events(FellBack)
    assert (fell.contract, fell.reason) == ("clarify.v1", kind)
    assert led.state.turns.question is not None
    assert led.state.turns.question.question == "Which authentication approach?"
    assert kind.replace("_", " ") in WORKFLOW.shown.view(led.state).warnings[0]
    led.answer(auth_strategy="OAuth")
    assert led.state.offer.patch == OAUTH
    assert len(led.script.requests) == (1 if wait is None else 2)
    assert led.replayed() == "identical"


def test_a_rejected_request_is_not_sent_again_and_the_warning_says_why() -> None:
    led = Led(LLMRequestRejectedError("openai: the key in OPENAI_API_KEY was refused"))
    assert (led.waits, len(led.script.requests)) == ([], 1)
    (warning,) = WORKFLOW.shown.view(led.state).warnings
    assert warning == (
        "no usable answer from the model (request rejected: openai: the key in OPENAI_API_KEY was "
        "refused): the rules went on"
    )
    assert led.replayed() == "identical"


def test_a_strict_session_waits_accepts_nothing_and_asks_again_when_it_is_retried() -> None:
    led = Led("no", "no", GOOD, strict=True)
    (stalled,) = led.events(StepStalled)
    assert stalled.reason == "invalid_json"
    assert led.status == "waiting"
    assert led.retry().status == "needs_answers"
    assert led.replayed() == "identical"
    led = Led(GOOD, LLMAPIError("down"), LLMAPIError("down"), strict=True)
    led.answer(auth_strategy="OAuth")
    assert led.state.offer.patch is None
    assert led.status == "waiting"


# 4. The simulator in its place ---------------------------------------------------------------


@each("id_", sorted(rules.PROMPTS.values()))
def test_every_prompt_file_routes_to_its_own_generator(id_: str) -> None:
    simulator = SimLLMProvider(1, bank=BANK)
    text = prompt(lead.PACKAGE, id_).text
    assert (
        simulator.route(simulator.asked([Message("system", text)])) == id_.split(".", maxsplit=1)[0]
    )


@each("seed", range(40))
def test_any_seed_and_fault_ends_valid_or_resumable_and_replays(seed: int) -> None:
    intention = ("Add OAuth login", "Do a thing", "Orders in postgres", "A new UI")[seed % 4]
    faults = FaultConfig(llm_timeout=0.1, llm_error=0.1, llm_malformed=0.2, llm_rate_limit=0.1)
    simulator = SimLLMProvider(seed, faults, BANK)
    led = Led(intention=intention, strict=seed % 5 == 0, simulator=simulator)
    while question := led.state.turns.question:
        option = question.options[0] if question.options and seed % 3 else "My own way"
        led.answer_one(question.id, option)
    assert led.status in ("ready", "waiting")
    assert led.replayed() == "identical"
    assert all(request.attempt <= 2 for request in led.events(CompletionRequested))
    if patch := led.state.offer.patch:
        assert patch.fields
        assert not any(is_placeholder(value) for _, value in patch.fields)
