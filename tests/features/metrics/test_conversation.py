"""Conversations of seed 4: what is sent, what counts of the replies, and what ends one."""

from __future__ import annotations

from preflights_es.features.metrics.domain.decide import resolve_candidate_number
from preflights_es.kernel.errors import LLMAPIError
from preflights_es.kernel.lead import INVALID, ResponseAccepted, ResponseRejected
from tests.each import each
from tests.features.metrics.cases import AMBIGUOUS, SQL, Asked
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

DOWN = LLMAPIError("down")


def of_kind(asked: Asked, kind: type) -> list[object]:
    codec = asked.runner.codec(asked.handle.workflow)
    stored = asked.runner.store.read(asked.handle.session_id)
    return [one for one in map(codec.decode, stored) if isinstance(one, kind)]


# 1. The history ------------------------------------------------------------------------------


def test_each_answer_is_sent_behind_the_question_and_the_reply() -> None:
    asked = Asked("Which market?", "Which date range?", SQL, text="Ads Gross Rev")
    assert (asked.status, asked.view.type) == ("needs_answers", "text")
    assert asked.view.text == "Which market?"
    asked.answer("ID").answer("Nov 2025")
    assert asked.sent == [
        ("user", "Ads Gross Rev"),
        ("assistant", "Which market?"),
        ("user", "ID"),
        ("assistant", "Which date range?"),
        ("user", "Nov 2025"),
    ]
    assert asked.status == "done"
    assert asked.replayed() == "identical"


def test_a_failed_call_leaves_no_trailing_message_of_the_person() -> None:
    asked = Asked(SQL, "[1, 2]", "[1, 2]", SQL)
    asked.follow_up("and in Berlin?")
    assert asked.status == "stopped"
    assert "--follow-up" in asked.view.to_do
    asked.follow_up("in Hamburg?")
    assert [text for role, text in asked.sent if role == "user"] == ["DAU?", "in Hamburg?"]
    assert asked.status == "done"
    assert asked.replayed() == "identical"


def test_a_call_that_brings_nothing_waits_and_is_asked_again() -> None:
    asked = Asked(DOWN, DOWN, SQL)
    assert asked.status == "waiting"
    asked.retry()
    assert (asked.status, asked.sent) == ("done", [("user", "DAU?")])


# 2. What a reply is --------------------------------------------------------------------------


@each(
    "reply",
    [
        '{"type": "sql", "sql": "SELECT count(u) FROM visits"}',
        '```json\n{"type": "sql", "sql": "SELECT count(u) FROM visits"}\n```',
        'Here it is:\n{"type": "sql", "sql": "SELECT count(u) FROM visits"}\nDone.',
        '{"type": "sql", "sql": "SELECT count(u) FROM visits", "confidence": 1}',
    ],
)
def test_one_object_is_the_answer_fenced_or_not_and_prose_is_logged(reply: str) -> None:
    asked = Asked(reply)
    assert asked.view.sql == "SELECT count(u) FROM visits"
    (accepted,) = of_kind(asked, ResponseAccepted)
    assert isinstance(accepted, ResponseAccepted)
    assert accepted.prose.startswith("Here it is:") == reply.startswith("Here")


@each(
    "reply",
    [
        "Which market do you need?",
        "Which one: [1] or [2]?",
        "Do you mean {market} or a date :]",
        "<think>Let me see {</think>Which market?",
    ],
)
def test_words_are_a_question_to_the_person(reply: str) -> None:
    asked = Asked(reply)
    assert (asked.view.type, asked.status) == ("text", "needs_answers")
    assert asked.view.text == reply.rpartition("</think>")[2]


@each("reply", FILED["any_other_json_or_a_cut_reply_is_asked_again_once"])
def test_any_other_json_or_a_cut_reply_is_asked_again_once(reply: str) -> None:
    asked = Asked(reply, SQL)
    assert (len(of_kind(asked, ResponseRejected)), asked.status) == (1, "done")
    assert asked.script.requests[1].attempt == 2
    assert Asked('{"type": "sq', SQL).sent[-1] == ("user", INVALID), "of one that is cut"
    failed = Asked(reply, reply)
    assert (failed.status, failed.view.sql) == ("stopped", "")
    assert failed.view.warnings
    assert failed.replayed() == "identical"


def test_a_query_that_the_catalogue_does_not_allow_is_asked_again_with_the_finding() -> None:
    asked = Asked({"type": "sql", "sql": "DELETE FROM visits"}, SQL)
    assert "/sql expected a query (SELECT)" in asked.sent[-1][1]
    (rejected,) = of_kind(asked, ResponseRejected)
    assert isinstance(rejected, ResponseRejected)
    assert [one.message for one in rejected.violations] == ["expected a query (SELECT)"]
    assert asked.replayed() == "identical"


# 3. Choosing ---------------------------------------------------------------------------------


@each(
    ("typed", "meant"),
    [
        *(("1", "A"), ("2.", "B"), ("2)", "B"), ("02", "B")),
        *(("0", "0"), ("3", "3"), ("٢", "٢"), ("²", "²"), ("1 .", "1 ."), ("99999", "99999")),
        *(("the second", "the second"), ("-1", "-1"), ("1.)", "1.)"), (".", ".")),
    ],
)
def test_a_number_in_ascii_chooses_and_any_other_text_is_text(typed: str, meant: str) -> None:
    assert resolve_candidate_number(typed, ("A", "B")) == meant


def test_a_choice_is_sent_as_the_candidate() -> None:
    asked = Asked(AMBIGUOUS, SQL, text="rev?")
    assert asked.view.candidates == ("Ads Gross Rev", "Net Ads Rev")
    asked.answer("2)")
    assert asked.sent[-1] == ("user", "Net Ads Rev")


# 4. Limits -----------------------------------------------------------------------------------


def test_after_three_clarifications_the_person_is_told_what_is_open_until_a_follow_up() -> None:
    asked = Asked("one?", "two?", AMBIGUOUS, "four?", "5?", "6?", "7?", SQL)
    asked.answer("a").answer("b").answer("1")
    assert asked.status == "stopped"
    assert asked.view.text == "four?"
    assert any("four?" in warning for warning in asked.view.warnings)
    asked.follow_up("DAU of today")
    assert (asked.status, asked.state.turns) == ("needs_answers", 0)
    asked.answer("d").answer("e").answer("f")
    assert asked.status == "done"
    assert asked.replayed() == "identical"


@each("text", ["", " \u200b "])
def test_an_empty_answer_and_a_wrong_key_do_not_count(text: str) -> None:
    asked = Asked("Which?")
    assert asked.answer(text).status == "needs_answers"
    assert asked.answer("x", key="nothing").status == "needs_answers"
    assert asked.answer("x", "y").status == "needs_answers"
    assert len(asked.script.requests) == 1


# 5. The rules --------------------------------------------------------------------------------


def test_the_rules_offer_what_one_name_means_and_take_the_choice() -> None:
    asked = Asked(text="rev?", by_rules=True)
    assert asked.view.candidates == ("Ads Gross Rev", "Net Ads Rev")
    asked.answer("1")
    assert "sum(a)" in asked.view.sql
    asked.follow_up("November 2026")
    assert "sum(a)" in asked.view.sql
    assert "2026-11-01" in asked.view.sql
    assert asked.replayed() == "identical"
