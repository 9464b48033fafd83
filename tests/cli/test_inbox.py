"""`inbox`, and the commands that take what waits where no session is named."""

from __future__ import annotations

from tests.cli.program import Project
from tests.cli.terminal import terminal

READY = ("--answer", "auth_strategy=OAuth", "--no-input")
FAILING = ("--provider", "sim", "--faults", "malformed=1")


def _opened(house: Project, intention: str, *more: str) -> str:
    """A session, by its id."""
    found: str = house.call("start", intention, *more, "--no-input", "--json").json["session_id"]
    return found


def test_nothing_waits_in_an_empty_project_but_a_note_that_no_model_read(house: Project) -> None:
    assert house.call("inbox").out == "Nothing waits.\n"
    found = house.call("inbox", "--json").json
    assert (found["format"], found["waiting"], found["more"]) == ("inbox/1", [], 0)
    note = house.call("note", "Chef", *FAILING, "--json").json
    assert note["note_status"] == "unprocessed"
    (row,) = house.call("inbox", "--json").json["waiting"]
    assert (row["workflow"], row["kind"]) == ("extraction", "by_hand")
    assert row["command"] == f"preflights note add task TITLE --note {note['session_id'][-8:]}"


def test_the_inbox_names_what_waits_and_the_command_that_settles_it(house: Project) -> None:
    house.decided("Add OAuth login")  # settled
    house.call("abandon", _opened(house, "Add a login page"))
    ready = _opened(house, "Add login", *READY)
    asked = _opened(house, "Store orders in a database")
    proposed = _opened(house, "Add a login form", *READY)
    assert house.call("accept", proposed).code == 0  # by a script: a person confirms it
    rows = house.call("inbox", "--json").json["waiting"]
    assert [(row["session_id"], row["kind"], row["command"]) for row in rows] == [
        (proposed, "proposal", f"preflights accept {proposed[-8:]}"),
        (asked, "question", f"preflights answer {asked[-8:]} VALUE"),
        (ready, "proposal", f"preflights accept {ready[-8:]}"),
    ]
    assert rows[1]["question"] == "Which database type?"
    assert rows[0]["to_do"] == "confirm the proposal"
    assert f"preflights answer {asked[-8:]}" in house.call("inbox").out


def test_a_question_about_data_waits_until_another_is_asked(house: Project) -> None:
    misspelt = house.call("ask", "decisons", "--json").json["session_id"]
    (waiting,) = house.call("inbox", "--json").json["waiting"]
    assert (waiting["session_id"], waiting["kind"]) == (misspelt, "question")
    assert house.call("ask", "decisions").code == 0
    assert house.call("inbox").out == "Nothing waits.\n"
    assert house.show(misspelt)["status"] == "needs_answers"


def test_an_answer_without_a_value_asks_the_question_at_a_terminal(house: Project) -> None:
    asked = _opened(house, "Store orders in a database")
    house.call("answer", "last").refused(2, "give an answer")
    with terminal(house, "answer", "last") as t:
        t.expect("Which database type")
        t.type("PostgreSQL")
        t.proposal()
        t.press("a")
        t.rest()
    assert house.show(asked)["status"] == "accepted"


def test_what_waits_moves_no_terminal_and_a_key_accepts_what_is_named(house: Project) -> None:
    _opened(house, "Add login \u202e**b** \U000e0041", *READY)
    assert house.call("inbox").is_safe()
    assert house.call("inbox", "--json").is_safe()
    _opened(house, "Add login", *READY)
    assert "--key needs a session" in house.call("accept", "--key", "k1").err


def test_accept_takes_the_only_proposal_that_waits_and_lists_several(house: Project) -> None:
    house.call("accept").refused(1, "no proposal waits to be accepted: `preflights inbox`")
    first = _opened(house, "Add login", *READY)
    _opened(house, "Store orders in a database")  # a question is no proposal
    done = house.call("accept", "--by", "Ada", "--json")
    assert (done.json["session_id"], done.json["status"]) == (first, "accepted")
    assert house.call("accept").code == 1
    one, two = (_opened(house, text, *READY) for text in ("Add login", "Add a login form"))
    done = house.call("accept", "--by", "Ada")
    assert done.code == 2
    assert f"preflights accept {one[-8:]}" in done.out
    assert f"2 sessions wait ({two[-8:]}, {one[-8:]}): name the one to accept" in done.err
    assert house.call("show", one, "--json").json["status"] == "ready"


def test_resume_takes_the_only_session_that_waits_or_the_last(house: Project) -> None:
    asked = _opened(house, "Store orders in a database")
    house.decided("Add OAuth login")
    assert house.call("resume", "--json").json["session_id"] == asked
    other = _opened(house, "Add login", *READY)
    house.call("resume", "--json").refused(2, asked[-8:], other[-8:])
    for one in (asked, other):
        house.call("abandon", one)
    assert house.call("resume", "--json").json["session_id"] == other


def _proposed(house: Project, intention: str, value: str = "OAuth") -> str:
    """A decision that a script proposes."""
    answer = f"auth_strategy={value}"
    session = _opened(house, intention, "--answer", answer, "--no-input")
    assert house.call("accept", session).code == 0
    return session


def test_all_proposals_are_confirmed_after_a_look(house: Project) -> None:
    _proposed(house, "Add login")
    _proposed(house, "Add a login form")
    assert house.call("inbox", "--all").code == 2
    assert house.call("inbox", "--by", "Ada").code == 2
    done = house.call("inbox", "--all", "--by", "Ada")
    assert (done.code, done.out.splitlines()[-1]) == (0, "Confirmed 2 of 2 proposals.")
    assert "Strategy  OAuth" in done.out
    assert house.call("inbox", "--all", "--by", "Ada").out == "No proposal waits.\n"
    done = house.call("inbox", "--all", "--by", "Ada", "--json")
    assert (done.code, done.json["format"], done.json["waiting"]) == (0, "inbox/1", [])


def test_a_proposal_that_contradicts_a_decision_waits_for_a_choice(house: Project) -> None:
    _proposed(house, "Add login")
    later = _proposed(house, "Add login again", "Magic Link")
    done = house.call("inbox", "--all", "--by", "Ada")
    assert (done.code, done.out.splitlines()[-1]) == (3, "Confirmed 1 of 2 proposals.")
    assert done.err.count("is not confirmed") == 1
    assert f"preflights accept {later[-8:]}" in done.err


def test_a_person_confirms_proposals_one_by_one(house: Project) -> None:
    _proposed(house, "Add login")
    later = _proposed(house, "Add login again", "Magic Link")
    with terminal(house, "inbox") as t:
        t.expect("Look at 2 proposals of agents and scripts now, one by one")
        t.type("y")
        before = t.proposal()
        assert "1 of 2:\nAdd login" in before
        assert "proposed by " in before
        assert "OAuth" in before
        t.press("a")
        t.expect("2 of 2:")
        t.proposal()
        t.press("l")
        assert t.code() == 0
    assert "OAuth" in house.call("decisions").out
    (waiting,) = house.call("inbox", "--json").json["waiting"]
    assert waiting["session_id"] == later
    with terminal(house, "inbox", "--all") as t:
        assert "Magic Link" in t.expect("Confirm 1 proposal")
        t.end()
        assert t.code() == 3


def test_a_plan_is_read_and_approved_there(house: Project) -> None:
    assert house.call("init", "--plans").code == 0
    requirements = house.folder / ".preflights" / "requirements.md"
    requirements.write_text(f"{requirements.read_text()}\nCustomers pay by invoice.\n")
    house.call("plan", "project")
    house.call("approve", "last")
    with terminal(house, "inbox") as t:
        t.expect("one by one")
        t.type("y")
        assert '"domains"' in t.expect("Approve it")
        t.type("y")
        assert t.code() == 0
    (plan,) = house.call("artifacts", "--json").json["artifacts"]
    assert plan["standing"] == "approved"
