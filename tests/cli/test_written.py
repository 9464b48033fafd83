"""A question that an agent or a person wrote: judged first, shown with its recommendation."""

from __future__ import annotations

from typing import Any

from tests.cli.program import Project
from tests.cli.terminal import ANSWER, terminal
from tests.each import each

AGENT = {"CLAUDECODE": "1"}
CACHE = ("--question", "Which cache?", "--option", "Redis", "--option", "Memcached")
WHY = ("--recommend", "redis: sessions use it", "--topic", "Caching")


def started(house: Project, *more: str, **env: str) -> Any:
    """A session with the written question."""
    done = house.call("start", "Speed up the search", *CACHE, *more, "--json", env={**AGENT, **env})
    assert done.code == 3, done.err
    return done.json


def test_an_agent_asks_and_relays_what_a_person_answers(house: Project) -> None:
    asked = started(house, *WHY)
    (question,) = asked["questions"]
    assert question["id"] == "custom.caching"
    assert question["options"] == ["Redis", "Memcached", "Other (specify)"]
    agent = {"kind": "agent", "name": "claude-code"}
    best = {"option": "Redis", "reason": "sessions use it"}
    assert (asked["offer"]["recommended"], asked["offer"]["by"]) == (best, "claude-code")
    assert asked["offer"]["kind"] == "agent"
    id_ = asked["session_id"]
    assert "1. Redis (recommended by claude-code: sessions use it)" in house.call("show", id_).out
    done = house.call("answer", id_, "2", "--relayed", "--json", env=AGENT).json
    assert done["patch"] == {"category": "Other", "fields": [["Caching", "Memcached"]]}
    assert (done["kind"], done["status"]) == ("adr", "ready")
    _, value = done["provenance"]
    assert (value["by"], value["relayed_by"]) == ("user", agent)
    assert "by a person, relayed by claude-code" in house.call("show", id_).out
    why = house.call("why", id_, "Caching").out
    assert "relayed by an agent (claude-code)" in why
    assert done["alternatives"] == []  # the others were merely offered
    chosen = house.call("revise", id_, "custom.caching=redis", "--json", env=AGENT).json
    assert chosen["because"] == {"text": "sessions use it", "by": "agent"}
    assert chosen["alternatives"] == []
    own = house.call("answer", id_, "--because", "We run it", "--json", env=AGENT).json
    assert own["because"]["text"] == "We run it"
    relayed = house.call("answer", id_, "--because", "We run it", "--relayed", env=AGENT)
    assert "--relayed takes an answer" in relayed.err
    assert "writer     agent (claude-code) with clarify.v1 worded the question" in why
    accepted = house.call("accept", id_, "--json", env=AGENT).json
    assert accepted["status"] == "proposed", "a relayed answer accepts nothing"
    assert "answered by an agent" in (house.folder / accepted["artifacts"][0]).read_text()
    assert house.call("replay", id_).code == 0


def test_an_agents_own_topic_stays_the_decisions(house: Project) -> None:
    topic = ("--topic", "Search cache", "--scope", "search")
    first = started(house, *topic)["session_id"]
    assert "Other  (" not in house.call("show", first).out
    house.call("answer", first, "1", "--relayed", env=AGENT)
    house.call("accept", first, "--by", "Ada")
    (decision,) = house.call("decisions", "--json").json["decisions"]
    assert (decision["category"], decision["fields"]) == (
        "Search cache",
        [["Search cache", "Redis"]],
    )
    second = started(house, *topic)
    assert second["known"][0]["same_place"]
    house.call("answer", second["session_id"], "2", "--relayed", env=AGENT)
    waits = house.call("accept", second["session_id"], "--by", "Ada")
    assert waits.code == 3
    assert "Contradicts" in waits.out
    assert ": Search cache: Redis" in waits.out


def test_a_recommendation_is_recorded_where_a_model_takes_over(house: Project) -> None:
    id_ = started(house, *WHY)["session_id"]
    house.call("resume", id_, "--provider", "sim", "--seed", "3")
    done = house.call("answer", id_, "1", "--json").json
    assert done["because"] == {"text": "sessions use it", "by": "agent"}
    assert "model" in {one["by"] for one in done["alternatives"]}
    other = house.call("revise", id_, "custom.caching=Memcached", "--json").json
    assert "agent" not in {one["by"] for one in other["alternatives"]}
    assert house.call("replay", id_).code == 0


@each(
    ("words", "found"),
    [
        (("--question", "TBD", "--option", "A"), "/options expected none, or 2 to 6 that differ"),
        (("--question", "TBD", "--option", "A"), "/question expected a question"),
        (("--question", "Which?", "--option", "A", "--option", "a"), "2 to 6 that differ"),
        (("--question", "Which?", *(f"--option={n}" for n in range(7))), "2 to 6 that differ"),
        (("--question", "x" * 201), "/question"),
        (("--question", "Which?", "--option", "A", "--option", "n/a"), "no placeholder"),
        (("--question", "Which?", "--topic", "Category"), "/topic expected a topic of the list"),
        (
            (*CACHE, "--recommend", "Hazelcast: fast"),
            "/recommended/option expected one of the options",
        ),
        ((*CACHE, "--recommend", "Redis: TBD"), "/recommended/reason expected a reason"),
        ((*CACHE, "--recommend", "Redis: password=hunter2hunter2"), "looks like a secret"),
    ],
)
def test_what_cannot_be_asked_leaves_no_session(
    house: Project, words: tuple[str, ...], found: str
) -> None:
    done = house.call("start", "Speed up the search", *words, env=AGENT)
    assert done.code == 1
    assert found in done.err
    assert done.err.count("\n") == 1
    assert house.call("sessions", "--json").json["sessions"] == []


@each(
    ("words", "found"),
    [
        (("--option", "A"), "give --question too"),
        ((*CACHE, "--recommend", "Redis"), "expected OPTION: TEXT"),
        ((*CACHE, "--strict"), "leave --strict and the provider's options out"),
        ((*CACHE, "--provider", "sim"), "leave --strict and the provider's options out"),
        ((*CACHE, "--workflow", "extraction"), "leave it out with --workflow"),
    ],
)
def test_what_does_not_go_together_is_a_slip(
    house: Project, words: tuple[str, ...], found: str
) -> None:
    done = house.call("start", "Speed up the search", *words, env=AGENT)
    assert (done.code, found in done.err) == (2, True), done.err


def test_a_recommendation_is_recorded_once_under_its_key(house: Project) -> None:
    first = started(house, *WHY, "--key", "k")
    again = started(house, *WHY, "--key", "k")
    assert again["session_id"] == first["session_id"]
    assert again["version"] == first["version"]
    words = ("start", "Speed up the search", "--key", "k")
    other = house.call(*words, "--question", "Which store?", env=AGENT)
    assert other.code == 1
    assert "was used for something else" in other.err
    asked = started(house, "--as", "agent:claude-code 2.1")
    log = house.call("log", asked["session_id"], "--json").out
    assert '"provider":"agent","model":"claude-code 2.1"' in log
    assert '"contract":"written.v1"' in log
    assert log.count("completion.requested") == 1
    assert '"key":"change_category","field":"Category","value":"Other","source":"chosen"' in (
        house.call("show", asked["session_id"], "--json").out
    )


def test_an_option_may_hold_a_colon_and_is_described_once(house: Project) -> None:
    words = ("--question", "Which?", "--option", "a: b", "--option", "a")
    done = house.call(
        "start", "Speed up", *words, "--recommend", "a: b: why not", "--json", env=AGENT
    )
    assert done.json["offer"]["recommended"]["option"] == "a: b"
    twice = ("--describe", "Redis: fast", "--describe", "redis: slow")
    done = house.call("start", "Speed up the search", *CACHE, *twice)
    assert (done.code, "'Redis' is given twice" in done.err) == (2, True), done
    asked = started(house, "--topic", "database")
    assert asked["questions"][0]["id"] == "db_type"
    done = house.call("answer", asked["session_id"], "Redis", "--json", env=AGENT).json
    assert done["patch"] == {"category": "Database", "fields": [["Type", "Redis"]]}
    assert house.call("replay", asked["session_id"]).code == 0
    id_ = started(house)["session_id"]
    with terminal(house, "answer", id_, "1", "--relayed") as t:
        assert "a person answers here: nothing is relayed" in t.rest()
        assert t.code() == 1


def test_a_person_writes_a_question_answers_it_and_hears_what_it_lacks(house: Project) -> None:
    with terminal(house, "start", "Speed up the search", *CACHE, *WHY) as t:
        assert "(recommended by Ada: sessions use it)" in t.expect(ANSWER)
        t.type("1")
        t.proposal()
        t.press("a")
        assert t.code() == 0
    done = house.call("show", "--json").json
    assert (done["status"], done["patch"]["fields"]) == ("accepted", [["Caching", "Redis"]])
    assert done["because"] == {"text": "sessions use it", "by": "user"}
    assert '"provider":"person","model":""' in house.call("log", "--json").out
    assert house.call("replay", "last").code == 0
    told = house.call("start", "Speed up the search", *CACHE, env=AGENT).err
    assert "The question lacks: why it matters: what depends on the answer; a description" in told
    full = ("--matters", "Every page waits for it", "--scope", "search", "--evidence", "a.py:1")
    each = [("--describe", f"{one}: a server", "--against", f"{one}: RAM") for one in CACHE[3::2]]
    whole = (*WHY, *full, *(text for pair in each for text in pair))
    done = house.call("start", "Speed up the search", *CACHE, *whole, env=AGENT)
    assert (done.code, "lacks" in done.err) == (3, False), done


@each(
    ("place", "why"),
    [
        ("b.py:1-x", "expected PATH, PATH:12 or PATH:12-40"),
        ("b.py:\n12", "expected PATH, PATH:12 or PATH:12-40"),
        ("b.py:40-12", "the first line first"),
        ("b.py:0", "the first line first"),
        ("../b.py:1", "below the project's root"),
        ("/etc/passwd", "below the project's root"),
    ],
)
def test_a_place_that_is_none_is_refused(house: Project, place: str, why: str) -> None:
    done = house.call("start", "Speed up the search", *CACHE, "--evidence", place)
    assert (done.code, why in done.err) == (1, True), done
    assert house.call("sessions", "--all", "--json").json["sessions"] == []
