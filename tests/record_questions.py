"""Golden questions: what each of them is, recorded by `python -m tests.record_goldens`."""

from __future__ import annotations

from preflights_es.features.metrics.domain import WORKFLOW
from preflights_es.features.metrics.domain.events import (
    Dialect,
    FollowUpPut,
    Metric,
    QuestionPut,
    Table,
)
from preflights_es.kernel.lead import Lead, Setup, StepRetried
from preflights_es.runtime.runner import Handle
from preflights_es.runtime.sessions import Sessions
from preflights_es.words.questions import Language
from tests.record_goldens import ADA, Recorder, inputs, sim

RANGE = "began_on >= :first_day AND began_on < :end_day"
METRICS = (
    Metric(
        name="sessions",
        aliases=("sitzungen",),
        description="How many sessions began.",
        sql=f"SELECT count(*) AS sessions FROM sessions WHERE {RANGE}",
        dimensions=("workflow",),
        date="began_on",
        unit=("sessions",),
        words=(("workflow", ("Ablauf",)),),
        values=(("workflow", "planning", ("day plans",)), ("workflow", "metrics", ())),
    ),
    Metric(
        name="fallbacks",
        aliases=("rückfälle",),
        sql=f"SELECT count(*) AS fallbacks FROM sessions WHERE fell_back <> '' AND {RANGE}",
        date="began_on",
    ),
    Metric(name="tokens", sql="SELECT sum(input_tokens) AS tokens FROM usage"),
    Metric(name="mean tokens", sql="SELECT avg(input_tokens) AS mean FROM usage", kind="ratio"),
)
TABLES = (
    Table("sessions", ("session_id", "workflow", "fell_back", "began_on")),
    Table("usage", ("session_id", "input_tokens")),
)
MOCK = Lead("mock", WORKFLOW.decider.version)


def questions(r: Recorder) -> Sessions:
    """The questions of the project."""
    return Sessions(inputs(r))


def put(
    r: Recorder,
    text: str,
    lead: Lead = MOCK,
    language: Language = "en",
    metrics: tuple[Metric, ...] = METRICS,
    dialect: Dialect = "sqlite",
) -> Handle:
    setup = Setup("0.1.0", WORKFLOW.decider.version, lead.provider, WORKFLOW.led.prompts, lead)
    said = {
        "text": text,
        "language": language,
        "dialect": dialect,
        "metrics": metrics,
        "tables": TABLES,
        "asked_at": "2026-11-23T09:30+01:00",
        "time_zone": "Europe/Berlin",
    }
    step = questions(r).opened(WORKFLOW, QuestionPut, said, setup)
    r.order.append(step.handle.session_id)
    return step.handle


def answer(r: Recorder, handle: Handle, text: str, key: str = "q1") -> Handle:
    return questions(r).answer(handle, [(key, (text,))]).handle


def follow_up(r: Recorder, handle: Handle, text: str) -> Handle:
    return questions(r).submitted(handle, FollowUpPut, {"text": text}, asks=True).handle


def a_question_names_a_metric_and_a_range(r: Recorder) -> None:
    put(r, "fallbacks last week?")
    put(r, "Rückfälle November 2026", language="de")
    put(r, "tokens")


def a_candidate_is_chosen_by_number(r: Recorder) -> None:
    handle = put(r, "sessions tokens")
    handle = answer(r, handle, "  ")
    handle = answer(r, handle, "1", "q7")
    handle = answer(r, handle, "2.")
    follow_up(r, handle, "sessions, last month")


def a_question_in_words_is_answered(r: Recorder) -> None:
    handle = put(r, "Wie läuft es?", language="de")
    handle = follow_up(r, handle, "Sitzungen gestern")
    answer(r, handle, "Sitzungen gestern")


def three_clarifications_bring_nothing(r: Recorder) -> None:
    handle = put(r, "what?")
    for n in range(1, 4):
        handle = answer(r, handle, "hm", f"q{n}")
    follow_up(r, handle, "sessions today")


def a_model_varies(r: Recorder) -> None:
    for seed in range(8):
        put(r, "sessions this year", sim(seed))


def a_model_is_asked_once_more(r: Recorder) -> None:
    put(r, "sessions", sim(5, "malformed=0.5"))


def a_bad_output_ends_the_step_and_a_follow_up_goes_on(r: Recorder) -> None:
    handle = put(r, "sessions", sim(1, "malformed=1"))
    handle = follow_up(r, handle, "tokens")
    questions(r).led_by(handle, MOCK, WORKFLOW.led.prompts)


def a_call_that_failed_is_made_again(r: Recorder) -> None:
    handle = put(r, "sessions", sim(2, "error=1"))
    handle = questions(r).resume(handle).handle
    questions(r).led_by(handle, MOCK, WORKFLOW.led.prompts)


def a_secret_in_a_question_is_not_recorded(r: Recorder) -> None:
    put(r, "sessions of ada@example.org, my password: hunter2hunter2")


def a_question_groups_by_a_dimension(r: Recorder) -> None:
    handle = put(r, "sessions by workflow last week")
    handle = follow_up(r, handle, "by day")
    handle = follow_up(r, handle, "by planet")
    answer(r, handle, "by Workflow top 2")
    put(r, "Sitzungen nach Ablauf", language="de")


def a_value_is_one_of_its_dimension(r: Recorder) -> None:
    handle = put(r, "sessions workflow=dreams last week")
    handle = answer(r, handle, 'workflow="Day plans"')
    follow_up(r, handle, "share of planning")


def a_query_that_is_not_allowed_is_never_an_answer(r: Recorder) -> None:
    hostile = (
        Metric(name="spy", sql="SELECT data, pg_read_file('x') FROM events -- all of it"),
        Metric(name="wipe", sql="DELETE FROM sessions"),
    )
    put(r, "spy", metrics=hostile)
    put(r, "wipe", metrics=hostile)


def the_rules_ask_which_days_are_meant(r: Recorder) -> None:
    handle = put(r, "sessions by workflow on Monday")
    handle = answer(r, handle, "letztes Quartal")
    follow_up(r, handle, "last 2 weeks")
    put(r, "Sitzungen 20. November 2026..heute", language="de")


def what_does_not_fit_is_refused(r: Recorder) -> None:
    handle = put(r, "sessions tokens", dialect="postgres")
    handle = follow_up(r, handle, "too early")
    handle = questions(r).answer(handle, [("q1", ("1", "2"))]).handle
    handle = questions(r).answer(handle, [("q1", ("1",)), ("q1", ("2",))]).handle
    handle = answer(r, handle, "sessions")
    waits = put(r, "sessions", sim(3, "timeout=1"))
    follow_up(r, waits, "too early")
    r.submitted(handle, FollowUpPut(at=r.runner.now(), actor=ADA, text=" "))
    r.submitted(handle, StepRetried(at=r.runner.now(), actor=ADA))
