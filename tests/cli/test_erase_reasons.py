"""The reason of an erasure repeats nothing of what is erased, and no name."""

from __future__ import annotations

import pytest

from tests.cli.clones import ERASED, SESSIONS
from tests.cli.program import Project
from tests.cli.test_trail import kept, newest
from tests.each import each
from tests.projections.recording import golden

REFUSED = (
    "preflights: the reason repeats a text, an answer or a name that is to be erased: "
    "say it in other words\n"
)
INTENTION = "Let the clients of Quimby in by a login"


def decided(house: Project) -> str:
    """A session with a listed answer, a custom one, and one that a model never saw."""
    answers = ("--answer", "auth_library=Zauth", "--answer", "auth_strategy=Magic Link")
    done = house.call(
        *("start", INTENTION, *answers, "--accept", "--by", "Grace van Hopper", "--json"),
        env={"PREFLIGHTS_ACTOR": "script:Robin"},
    )
    assert done.code == 0, done.err
    return str(done.json["session_id"])


@pytest.mark.parametrize(
    "reason",
    [
        f"it said: {INTENTION.upper()}!",
        "it said: let the clients of  Quimby in by a login",
        "the clients chose zauth",
        "the clients chose  MAGIC\tlink",
        "asked for by Grace van Hopper",
        "asked for by “van Hopper, Grace”",
        "asked for by Hopper",
        "Grace: please",
        "robin's mistake",
    ],
)
def test_a_reason_that_repeats_a_text_an_answer_or_a_name_is_refused(
    house: Project, reason: str
) -> None:
    session_id = decided(house)
    done = house.call("admin", "erase", session_id, "--yes", "--reason", reason)
    assert (done.code, done.err) == (1, REFUSED)
    assert house.show(session_id)["status"] == "accepted"


@each(
    "reason",
    [
        "",
        "requested by the customer",
        "a gracious request",
        "hoppers and vans are no names",
        "retention of 365 days is over; accepted sessions are not kept",
    ],
)
def test_a_reason_in_other_words_is_recorded(house: Project, reason: str) -> None:
    session_id = decided(house)
    done = house.call("admin", "erase", session_id, "--yes", "--reason", reason)
    path = f"{SESSIONS}/{session_id[-12:]}.jsonl"
    assert (done.code, done.err) == (0, ERASED.format(path))
    assert house.events(session_id)[-2]["data"]["reason"] == reason


def test_what_a_person_said_or_was_offered_is_not_repeated(house: Project) -> None:
    house.call("start", "Add login", "--answer", "auth_strategy=Kerberos")
    house.call("revise", "last", "auth_strategy=OAuth")
    house.call("answer", "last", "no_such_question=Zebra")
    for said in ("Kerberos", "zebra"):
        done = house.call("admin", "erase", "last", "--yes", "--reason", f"no more {said}")
        assert (done.code, done.err) == (1, REFUSED)
    house.call("note", "Call Erika Mustermann\nBuy milk and bread")
    for said in ("call Erika  Mustermann", "we buy milk and bread"):
        done = house.call("admin", "erase", house.newest(), "--yes", "--reason", said)
        assert (done.code, done.err) == (1, REFUSED)
    house.call("start", "Add login", env={"PREFLIGHTS_ACTOR": "script:王芳"})
    done = house.call("admin", "erase", newest(house), "--yes", "--reason", "因为王芳要求")
    assert (done.code, done.err) == (1, REFUSED)
    house.decided("Let clients in by a login")  # answered with OAuth
    done = house.call("admin", "erase", "last", "--yes", "--reason", "OAuth is not used any more")
    assert (done.code, done.err.count("\n")) == (0, 1)


def test_what_a_model_said_is_not_repeated_and_each_session_is_compared(house: Project) -> None:
    kept(house, *golden("a_model_words_the_question_and_reads_a_second_field"))
    session_id = newest(house)
    said = next(
        event["data"]["question"]["question"]
        for event in house.events(session_id)
        if event["type"] == "clarification.question_asked.v1"
    )
    done = house.call("admin", "erase", session_id, "--yes", "--reason", f"it asked: {said}")
    assert (done.code, done.err) == (1, REFUSED)
    house.decided("Keep orders in a database", key="db_type=PostgreSQL")
    decided(house)
    house.decided("Keep carts in a database", key="db_type=PostgreSQL")
    ids = [one["session_id"] for one in house.call("sessions", "--json").json["sessions"]]
    old = ("admin", "erase", *ids, "--yes")
    assert house.call(*old, "--reason", "Zauth is not used").err == REFUSED
    assert house.call(*old, "--reason", "retention is over").code == 0
