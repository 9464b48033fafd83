"""What follows from an intention by a pack: nothing is asked that it says."""

from __future__ import annotations

from preflights_es.features.clarification.domain.events import (
    AnswerAccepted,
    ClarificationStopped,
    IntentionDeclared,
    PatchProposed,
    QuestionAsked,
    TopicsFound,
)
from preflights_es.features.clarification.domain.pack import NO_TABLES, STANDARD
from preflights_es.features.clarification.domain.titles import title_of
from preflights_es.features.clarification.domain.values import (
    Category,
    DecisionPatch,
    Field,
    HeuristicsConfig,
    Named,
    Provenance,
)
from preflights_es.features.clarification.domain.views import view
from preflights_es.kernel.decisions import Reason
from tests.features.clarification.cases import after, answered, check, declared, log, revised

POSTGRES = DecisionPatch("Database", (("Type", "PostgreSQL"),))


def by_pack(intention: str, tables: HeuristicsConfig = NO_TABLES) -> IntentionDeclared:
    return declared(intention, heuristics=tables, pack=STANDARD)


def test_a_stated_value_is_the_answer() -> None:
    stated = (Named("database", "PostgreSQL"),)
    check(
        when=by_pack("Migrate from MySQL to PostgreSQL"),
        then=(
            TopicsFound(
                kind="stated",
                language="en",
                stated=stated,
                replaced=(Named("database", "MySQL"),),
            ),
            AnswerAccepted(
                key="db_type",
                answer="PostgreSQL",
                field="Type",
                value="PostgreSQL",
                source="stated",
            ),
            PatchProposed(patch=POSTGRES, hint="adr"),
        ),
    )


def test_a_stated_value_is_shown_as_stated_and_takes_no_turn() -> None:
    state = after(by_pack("Migrate from MySQL to PostgreSQL"))
    seen = view(state)
    assert seen.provenance == (
        Provenance("change_category", "Category", "Database", "detected", "user"),
        Provenance("db_type", "Type", "PostgreSQL", "stated", "user"),
    )
    assert (seen.status, seen.turn, seen.kind) == ("ready", 1, "adr")
    assert [one.value for one in seen.stated] == ["PostgreSQL"]


def test_an_answer_that_is_given_wins_and_is_no_revision() -> None:
    state = after(by_pack("Use PostgreSQL for orders"), answered(db_type="MySQL"))
    assert state.patch == DecisionPatch("Database", (("Type", "MySQL"),))
    again = log(by_pack("Use PostgreSQL"), answered(db_type="MySQL"), answered(db_type="MongoDB"))
    assert "already_answered" in repr(again)


def test_a_stated_value_can_be_revised() -> None:
    state = after(by_pack("Use PostgreSQL for orders"), revised(db_type="MongoDB"))
    assert state.patch == DecisionPatch("Database", (("Type", "MongoDB"),))


def test_work_without_a_decision_stops() -> None:
    check(
        when=by_pack("Upgrade React 17 to 19"),
        then=(
            TopicsFound(kind="none", language="en"),
            ClarificationStopped(reason="nothing_to_ask"),
        ),
    )


def test_a_category_can_be_named_after_the_stop() -> None:
    state = after(by_pack("Fix the typo"), answered(change_category="Caching"))
    assert state.question is not None
    assert state.question.id == "caching"


def test_what_no_topic_covers_gets_one_open_question() -> None:
    state = after(by_pack("Performance verbessern"))
    assert state.question is not None
    assert (state.question.id, state.question.type) == ("description", "free_text")
    assert state.question.question == "Was soll entschieden werden?"
    assert view(state).provenance == ()
    done = after(by_pack("Performance verbessern"), answered(description="Indexe pflegen"))
    assert done.patch == DecisionPatch("Other", (("Description", "Indexe pflegen"),))


def test_a_german_intention_is_asked_in_german() -> None:
    state = after(by_pack("Suche einbauen"))
    assert state.question is not None
    assert state.question.question == "Welche Suche?"
    assert state.question.options[0] == "PostgreSQL-Volltextsuche"


def test_values_that_are_named_are_the_first_options() -> None:
    state = after(by_pack("REST oder GraphQL f\u00fcr die H\u00e4ndler?"))
    assert state.question is not None
    assert state.question.options == ("REST", "GraphQL", "gRPC", "Other (specify)")


def test_a_value_that_is_named_is_never_taken() -> None:
    for text in ("no more Jenkins please", "We do not want to use Jenkins any more"):
        state = after(by_pack(text))
        assert (state.patch, state.question is None) == (None, False)
        assert state.question is not None
        assert state.question.options[0] == "Jenkins"


def test_the_scope_and_the_reason_of_a_statement_are_the_decisions() -> None:
    state = after(by_pack("Use Kafka for the domain events, because replay matters"))
    assert (state.scope, title_of(state)) == ("domain events", "Use Kafka for domain events")
    assert state.rationale.because == Reason("replay matters", "user")
    (proposed,) = [
        one for one in log(by_pack("Use Kafka for orders")) if type(one) is PatchProposed
    ]
    assert proposed.scope == "orders"


def test_a_stated_name_without_a_topic_is_the_description() -> None:
    state = after(by_pack("Use NebulaGraph for the fraud rings"))
    assert state.patch == DecisionPatch("Other", (("Description", "NebulaGraph"),))
    assert title_of(state) == "Use NebulaGraph for fraud rings"


def test_an_answer_names_its_category() -> None:
    for intention in ("Fix the typo", "Make it faster", "Add search", "Use Kafka"):
        state = after(by_pack(intention), answered(db_type="MySQL"))
        assert state.patch == DecisionPatch("Database", (("Type", "MySQL"),))
    refused = after(by_pack("Add search"), answered(db_type="TBD"))
    assert refused.question is not None
    assert refused.question.id == "search_engine"


def test_a_keyword_of_the_team_decides_before_a_topic() -> None:
    oven = Category("Oven", ("oven",), Field("Kind", "oven", "Which oven?", ("Gas", "Electric")))
    tables = HeuristicsConfig(categories=(oven,), menu=())
    state = after(by_pack("Add caching to the oven", tables))
    assert state.question is not None
    assert state.question.id == "oven"
    assert state.heuristics.named("Caching") is not None


def test_without_a_pack_nothing_is_found() -> None:
    found = [event for event in log(declared("Use PostgreSQL")) if isinstance(event, TopicsFound)]
    assert found == []
    asked = [event for event in log(declared("Use PostgreSQL")) if isinstance(event, QuestionAsked)]
    assert len(asked) == 1
