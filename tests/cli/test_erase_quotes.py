"""`erase` and the sessions that quote: which they are, and that they are shown before they go."""

from __future__ import annotations

import re

import pytest

from tests.cli.program import House, Project
from tests.cli.terminal import terminal

QUESTION = r"Erase 1 session for good\? \[y/N\]: "
OLD = "docs/decisions/0001-use-oauth-for-authentication.md"
NEW = "docs/decisions/0002-use-oauth-for-authentication.md"


def erased(house: Project, *args: str) -> None:
    done = house.call("admin", "erase", *args, "--yes")
    assert done.code == 0, done


def led(house: Project, intention: str = "B login") -> str:
    """A session whose model was told of what is in force."""
    done = house.call("start", intention, "--provider", "sim", "--no-input", "--json")
    return str(done.json["session_id"])


@pytest.fixture
def pair(house: House) -> tuple[str, str]:
    """A decision, and the one that replaced it."""
    return house.made(replaced)


def replaced(house: Project) -> tuple[str, str]:
    old = house.decided()["session_id"]
    return old, house.decided("Add SSO", "--supersedes", old)["session_id"]


# 1. Who quotes -------------------------------------------------------------------------------


def test_a_session_that_was_never_accepted_is_quoted_by_none_that_is_older(house: Project) -> None:
    decided = house.decided("A login")["session_id"]
    told = led(house)
    last = house.started_session("A login")
    dry = house.call("admin", "erase", last, "--dry-run", "--quoting")
    assert (dry.code, "quotes" in dry.out) == (0, False), dry
    erased(house, last, "--quoting")
    assert house.show(told)["status"] != "erased"
    (quote,) = house.call("admin", "erase", decided, "--dry-run", "--json").json["quotes"]
    assert (quote["session_id"], quote["quoted"], quote["how"]) == (told, decided, "known")


# 2. What is shown ----------------------------------------------------------------------------


def test_a_dry_run_shows_all_that_would_go_and_a_successor_is_named(
    house: Project, pair: tuple[str, str]
) -> None:
    old, new = (session_id[-8:] for session_id in pair)
    alone = house.call("admin", "erase", old, "--dry-run").out.splitlines()
    both = house.call("admin", "erase", old, "--dry-run", "--quoting").out.splitlines()
    assert re.fullmatch(rf"{old}  superseded, \d+ events, [\d-]+  Add OAuth login", both[0])
    assert re.fullmatch(rf"{new}  accepted, \d+ events, [\d-]+  Add SSO", both[2])
    document = f"  its document stays: {NEW}"
    assert both == [
        *(both[0], f"  its document stays: {OLD}"),
        *(both[2], document),
        f"{new}  quotes {old}: it replaces it",
        "Nothing was erased: this is a dry run.",
    ]
    assert alone == [*both[:2], both[4], f"  its document names it, and stays: {NEW}", both[5]]
    _, new = pair
    done = house.call("start", "Add passkeys: login", "--supersedes", "adr-1")
    assert done.err == (
        f"preflights: 'adr-1' was replaced by {new[-12:]} already: replace that one\n"
    )
    old, new = pair
    read = house.call("why", new, "--json").json["values"][0]["read"]
    erased(house, new, "--reason", f"retention is over, like {old} at {read[0]['hash']}")


def test_what_goes_with_it_is_not_repeated_without_a_question(
    house: Project, pair: tuple[str, str]
) -> None:
    old, new = pair
    done = house.call("admin", "erase", old, "--quoting", "--yes")
    assert re.search(rf"^{new[-8:]}  accepted, \d+ events, [\d-]+$", done.out, re.MULTILINE)
    assert "Add SSO" not in done.out


def test_a_person_is_asked_about_what_they_have_seen(house: Project, pair: tuple[str, str]) -> None:
    old, new = pair
    with terminal(house, "admin", "erase", old) as t:
        assert "Add SSO" not in t.expect(QUESTION)
        t.type("y")
        said = t.expect(r"Also erase the session that quotes it\? \[y/N\]: ")
        assert re.search(rf"{new[-8:]}  accepted, \d+ events, [\d-]+  Add SSO\n", said)
        assert f"  its document stays: {NEW}\n" in said
        t.type("n")
        assert f"Not erased, though it quotes: {new[-8:]}." in t.rest()
    assert house.show(new)["status"] == "accepted"


def test_several_that_quote_are_asked_about_in_the_plural(
    house: Project, pair: tuple[str, str]
) -> None:
    old, new = pair
    told = led(house, "Add a cache")
    with terminal(house, "admin", "erase", new) as t:
        t.expect(QUESTION)
        t.type("y")
        said = t.expect(r"Also erase the 2 sessions that quote it\? \[y/N\]: ")
        assert "Add a cache" in said
        assert "Add OAuth login" in said
        t.type("n")
        t.rest()
    assert {house.show(one)["status"] for one in (old, told)} == {"superseded", "needs_answers"}


def test_what_quotes_several_is_asked_about_as_such(house: Project) -> None:
    first, second = house.decided()["session_id"], house.decided("Add SSO")["session_id"]
    told = led(house, "Add a cache")
    with terminal(house, "admin", "erase", first, second) as t:
        t.expect(r"Erase 2 sessions for good\? \[y/N\]: ")
        t.type("y")
        t.expect(r"Also erase the session that quotes them\? \[y/N\]: ")
        t.type("y")
        assert f"Erased {told[-8:]}." in t.rest()
        assert t.code() == 0
    assert house.events(first)[-2]["actor_kind"] == "user"


def test_one_question_is_enough_where_all_that_goes_was_named(
    house: Project, pair: tuple[str, str]
) -> None:
    old, _ = pair
    with terminal(house, "admin", "erase", old, "--quoting") as t:
        said = t.expect(r"Erase 2 sessions for good\? \[y/N\]: ")
        assert "Add OAuth login" in said
        assert "Add SSO" in said
        t.type("n")
        assert "Nothing was erased." in t.rest()
        assert t.code() == 1
    assert house.show(old)["status"] == "superseded"


# 3. What is left of a decision whose successor is gone ---------------------------------------


def test_a_decision_whose_successor_was_erased_is_no_dead_end(
    house: Project, pair: tuple[str, str]
) -> None:
    old, new = pair
    waiting = house.call("start", "Add passkeys: login", "--supersedes", new, "--json").json
    erased(house, new)
    done = house.call("start", "Add magic links: login", "--supersedes", "adr-1")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"preflights: 'adr-1' was replaced by {new[-12:]}, which was erased: start without "
        "--supersedes, or replace a decision that is in force (`preflights decisions`)\n"
    )
    # What it says can be done.
    later = house.decided("Add magic links: login")
    assert house.decided("Add keys: login", "--supersedes", later["uid"])["supersedes"]
    assert house.show(old)["status"] == "superseded"
    # And what was to replace the one that is gone is accepted all the same.
    house.call("answer", waiting["session_id"], "auth_strategy=OAuth")
    assert house.call("accept", waiting["session_id"], "--by", "Ada").code == 0
