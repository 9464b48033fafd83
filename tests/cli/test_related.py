"""Accepting beside decisions that differ: supersede, keep both, or leave; never by accident."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import preflights_es
from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain.events import DecisionAcknowledged
from preflights_es.features.clarification.use import Choosing
from preflights_es.runtime.runner import ProposedInput
from tests.cli.program import House, Project
from tests.cli.terminal import terminal
from tests.each import each

WHY = "The carts team runs MySQL"
KEY = r"\[l\]eave\? "


def decided(
    house: Project, type_: str, intention: str = "Keep orders in a database", *more: str
) -> Any:
    """The JSON of an acceptance by Ada, whatever came of it."""
    words = ("--answer", f"db_type={type_}", "--accept", "--by", "Ada", "--json")
    done = house.call("start", intention, *words, *more)
    return {**done.json, "code": done.code}


def disagreeing(house: Project) -> Any:
    """One database is in force; another was answered, and its acceptance waits for a choice."""
    decided(house, "PostgreSQL")
    return decided(house, "MySQL")


def kept_beside(house: Project) -> None:
    """Two databases are in force, for a reason."""
    decided(house, "PostgreSQL")
    decided(house, "MySQL", "Store carts in a database", "--keep", f"ADR-0001={WHY}")


@pytest.fixture
def new(house: House) -> Any:
    """The session that waits for a choice, as JSON."""
    return house.made(disagreeing)


@pytest.fixture
def both(house: House) -> Project:
    """A project in which two that differ are in force."""
    house.made(kept_beside)
    return house


def known(house: Project) -> list[str]:
    """The ids of all sessions."""
    found = house.call("sessions", "--all", "--json").json["sessions"]
    return [one["session_id"] for one in found]


def record(house: Project, number: int) -> str:
    (path,) = (house.folder / "docs" / "decisions").glob(f"{number:04}-*.md")
    return path.read_text("utf-8")


def test_nothing_is_accepted_without_a_word_about_what_differs(house: Project, new: Any) -> None:
    old = house.show("ADR-0001")
    assert (old["status"], old["related"]) == ("accepted", [])
    assert (new["code"], new["status"], new["number"]) == (3, "ready", None)
    (related,) = new["related"]
    assert (related["uid"], related["number"]) == (old["uid"], 1)
    assert (related["title"], related["category"]) == (
        "Use PostgreSQL for the database",
        "Database",
    )
    assert related["values"] == [["Type", "PostgreSQL"]]
    assert related["evolution"] == "contradict"
    assert (
        related["date"]
        == house.call("decisions", "--json").json["decisions"][0]["accepted_at"][:10]
    )
    told = house.call("accept", "last", "--by", "Ada")
    short, id_ = old["uid"][-8:], new["session_id"][-8:]
    assert told.code == 3
    line = f"  Contradicts {short}, ADR-0001 of {related['date']}: Database: PostgreSQL\n"
    assert line in told.out
    assert f"\n  preflights accept {id_} --by NAME --supersedes {short}\n" in told.out
    assert f"\n  preflights accept {id_} --by NAME --keep {short}=REASON\n" in told.out
    assert house.show(id_)["version"] == new["version"], "nothing is recorded"
    assert len(house.call("decisions", "--json").json["decisions"]) == 1


def test_both_stay_for_a_reason_that_both_records_show(house: Project, new: Any) -> None:
    old = house.show("ADR-0001")
    done = house.call("accept", "last", "--by", "Ada", "--keep", f"ADR-0001={WHY}", "--json")
    assert (done.code, done.json["status"]) == (0, "accepted")
    assert [one["reason"] for one in done.json["kept"]] == [WHY]
    assert "* Kept beside [ADR-0001, Use PostgreSQL for the database](" in record(house, 2)
    for number in (1, 2):
        assert record(house, number).rstrip().endswith(f": {WHY}")
        assert 'status: "accepted"' in record(house, number)
    rows = house.call("decisions", "--json").json["decisions"]
    beside = {row["uid"]: row["kept"][0]["related"]["uid"] for row in rows}
    assert beside == {old["uid"]: new["uid"], new["uid"]: old["uid"]}
    assert (
        f"kept beside {new['uid'][-8:]}, Use MySQL for the database: {WHY}"
        in house.call("show", "ADR-0001").out
    )
    assert f"  beside     {old['uid'][-8:]}, " in house.call("why", "ADR-0002", "Type").out
    brief = house.call("prompt", "--json").json
    assert brief["conflicts"] == [], "a person kept both on purpose"
    assert f"Beside ADR-0001: {WHY}" in house.call("prompt", "--for", "Move the database").out
    for id_ in ("ADR-0001", "ADR-0002"):
        assert house.call("replay", id_).code == 0
    assert house.call("audit", "verify").code == 0


def test_a_record_that_a_person_edited_stays_and_its_new_text_is_named(house: Project) -> None:
    decided(house, "PostgreSQL")
    (path,) = (house.folder / "docs" / "decisions").glob("0001-*.md")
    path.write_text(path.read_text("utf-8") + "A note of mine\n", "utf-8")
    decided(house, "MySQL")
    done = house.call("accept", "last", "--by", "Ada", "--keep", f"ADR-0001={WHY}")
    name = f"docs/decisions/{path.name}"
    assert (done.code, f"{name} was edited: its new text lies in {name}.new" in done.err) == (
        0,
        True,
    )
    assert "A note of mine" in record(house, 1)
    assert WHY in path.with_name(f"{path.name}.new").read_text("utf-8")


def test_several_are_superseded_at_once(house: Project) -> None:
    decided(house, "PostgreSQL")
    decided(house, "MySQL", "Store carts in a database", "--keep", f"ADR-0001={WHY}")
    update = "Replace PostgreSQL and MySQL by one database"
    new = decided(house, "SQLite", update)
    assert [one["evolution"] for one in new["related"]] == ["update", "update"]
    half = house.call("accept", "last", "--by", "Ada", "--supersedes", "ADR-0001", "--json")
    assert (half.code, half.json["status"]) == (3, "ready")
    replaced = ("--supersedes", "ADR-0001", "--supersedes", "ADR-0002")
    done = house.call("accept", "last", "--by", "Ada", *replaced, "--json").json
    assert (done["supersedes"]["number"], done["also_supersedes"][0]["number"]) == (1, 2)
    for number in (1, 2):
        assert 'status: "superseded by ADR-0003"' in record(house, number)
        assert f"* Supersedes [ADR-{number:04}, " in record(house, 3)
    (row,) = house.call("decisions", "--json").json["decisions"]
    assert row["uid"] == done["uid"]
    for number, title in ((1, "PostgreSQL"), (2, "MySQL")):
        old = house.show(f"ADR-{number:04}")["uid"][-8:]
        assert f"  replaces {old}: Use {title} for the database\n" in house.call("show").out
    told = house.call("recall", "which database?", "--all").out
    old = house.show("ADR-0001")["uid"][-8:]
    assert f" is kept beside {old} Use PostgreSQL for the database: {WHY}\n" in told
    links = (" replaces ", " is replaced by ", " is kept beside ")
    assert [told.count(link) for link in links] == [2, 0, 1], "each link once"
    assert "Not: PostgreSQL, MySQL" in house.call("prompt", "--for", "the database").out
    assert house.call("audit", "verify").code == 0


def test_start_says_it_in_advance(house: Project) -> None:
    decided(house, "PostgreSQL")
    named = decided(house, "MySQL", "Store carts in a database", "--supersedes", "ADR-0001")
    assert (named["code"], named["status"], named["related"]) == (0, "accepted", [])
    kept = decided(house, "SQLite", "Keep logs in a database", "--keep", f"ADR-0002={WHY}")
    assert (kept["code"], kept["kept"][0]["related"]["number"]) == (0, 2)
    both = ("--supersedes", "ADR-0002", "--supersedes", "ADR-0003")
    last = decided(house, "MongoDB", "Keep all in a database", *both)
    assert (last["code"], last["supersedes"]["number"]) == (0, 2)
    assert last["also_supersedes"][0]["number"] == 3
    done = house.call("start", "Add a database", "--keep", f"ADR-0004={WHY}", "--no-input")
    told = "--keep counts when the decision is accepted: add --accept, or give it to"
    assert (done.code, told in done.err) == (2, True)


@each(
    ("words", "said"),
    [
        (("--keep", "ADR-0001=tbd"), "the reason 'tbd' is a placeholder"),
        (("--keep", "ADR-0001= "), "the reason is blank"),
        (("--keep", "ADR-0001"), "expected DECISION=REASON"),
        (("--keep", "=why"), "expected DECISION=REASON"),
        (("--supersedes", " "), "it is empty"),
        (("--supersedes", "ffffffff"), "no session matches 'ffffffff'"),
        (("--supersedes", "ADR-0001", "--keep", "ADR-0001=Why not"), "is named twice"),
    ],
)
def test_a_choice_that_is_none_is_refused_in_one_line(
    house: Project, new: Any, words: tuple[str, ...], said: str
) -> None:
    done = house.call("accept", "last", "--by", "Ada", *words)
    assert done.code in (1, 2)
    assert said.replace("{id}", new["session_id"][-8:]) in done.err
    assert done.err.count("\n") == 1
    assert house.show()["version"] == new["version"]


def test_what_is_not_related_is_not_superseded(house: Project, new: Any) -> None:
    oauth = ("--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada")
    assert house.call("start", "Add OAuth login", *oauth).code == 0
    id_ = new["session_id"]
    done = house.call("accept", id_, "--by", "Ada", "--supersedes", "ADR-0002")
    assert "'ADR-0002' is not related to this decision" in done.err
    assert f"(`preflights accept {id_[-8:]}` without it says which" in done.err
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert house.show(id_)["version"] == new["version"]


@each("keep", ["ADR-0009=Why not", "ADR-0001=tbd"])
def test_a_choice_that_cannot_count_begins_no_session(house: Project, new: Any, keep: str) -> None:
    words = ("--answer", "db_type=MySQL", "--accept", "--by", "Ada", "--keep", keep)
    assert house.call("start", "Keep carts in a database", *words).code == 1
    assert house.newest() == new["session_id"]


@each(
    ("words", "said"),
    [
        (("ADR-0009",), "ADR-0009"),
        (("ADR-0001",), "'ADR-0001' was replaced by "),
        (("ADR-0002", "--supersedes", "ADR-0009"), "ADR-0009"),
        (("ADR-0002", "--supersedes", "ADR-0001"), "'ADR-0001' was replaced by "),
        (("ADR-0002", "--keep", "ADR-0002=Why not"), "'ADR-0002' is named twice"),
    ],
)
def test_what_cannot_be_replaced_is_refused_before_anything_is_asked(
    house: Project, words: tuple[str, ...], said: str
) -> None:
    if not known(house):
        decided(house, "PostgreSQL")
        decided(house, "MySQL", "Store carts in a database", "--supersedes", "ADR-0001")
    sessions = known(house)
    with terminal(house, "start", "Keep logs in a database", "--supersedes", *words) as t:
        told = t.rest()
        assert said in told.replace("\n", " ")
        assert t.code() == 1
    assert told.count("preflights:") == 1
    assert known(house) == sessions


def test_only_a_person_chooses(house: Project) -> None:
    decided(house, "PostgreSQL")
    answer = ("--answer", "db_type=MySQL")
    proposed = house.call("start", "Store carts in a database", *answer, "--accept", "--json")
    assert (proposed.code, proposed.json["status"]) == (0, "proposed")
    assert proposed.json["related"] == [], "a proposal is compared when a person confirms it"
    done = house.call(
        "start", "Store mails in a database", *answer, "--accept", "--keep", f"ADR-0001={WHY}"
    )
    assert (done.code, "only a person replaces a decision" in done.err) == (1, True)
    assert house.show()["session_id"] == proposed.json["session_id"], "no session is begun"
    id_ = proposed.json["session_id"]
    confirmed = house.call("accept", id_, "--by", "Ada", "--json")
    assert (confirmed.code, confirmed.json["status"]) == (3, "proposed")
    assert len(confirmed.json["related"]) == 1
    assert house.call("accept", id_, "--by", "Ada", "--keep", f"ADR-0001={WHY}").code == 0


def test_what_extends_a_decision_is_shown_and_asks_nothing(house: Project) -> None:
    decided(house, "PostgreSQL")
    done = decided(house, "PostgreSQL", "Keep carts in a database", "--answer", "db_orm=Prisma")
    assert (done["code"], done["status"]) == (0, "accepted")
    assert [one["evolution"] for one in done["related"]] == ["extend"]
    assert (done["supersedes"], done["kept"]) == (None, [])


@pytest.mark.usefixtures("new")
def test_the_same_key_records_the_choice_once(house: Project) -> None:
    words = ("accept", "last", "--by", "Ada", "--key", "k-1", "--keep", f"ADR-0001={WHY}", "--json")
    first, again = house.call(*words), house.call(*words)
    assert (first.code, again.code) == (0, 0)
    assert first.json["version"] == again.json["version"]
    other = house.call(*words[:-2], "ADR-0001=Another reason", "--json")
    assert (other.code, "was used for something else" in other.err) == (1, True)


@pytest.mark.usefixtures("new")
def test_a_secret_in_a_reason_is_not_recorded(house: Project) -> None:
    reason = "Ask with AKIAIOSFODNN7EXAMPLE"
    done = house.call("accept", "last", "--by", "Ada", "--keep", f"ADR-0001={reason}")
    assert "what looks like a secret" in done.err
    for number in (1, 2):
        assert "AKIAIOSFODNN7EXAMPLE" not in record(house, number)
    assert "AKIAIOSFODNN7EXAMPLE" not in house.call("log", "last", "--json").out


def test_an_erasure_and_a_new_number_are_told_to_both_sides(both: Project) -> None:
    for erased, quotes in (("ADR-0001", ["known", "kept"]), ("ADR-0002", ["kept"])):
        done = both.call("admin", "erase", erased, "--dry-run", "--json")
        assert [one["how"] for one in done.json["quotes"]] == quotes
    assert (
        "both were kept, with a reason" in both.call("admin", "erase", "ADR-0001", "--dry-run").out
    )
    folder = both.folder / "docs" / "decisions"
    (folder / "0002-older.md").write_text("---\ndate: 2020-01-01\n---\n# Older\n")
    assert both.call("admin", "renumber").code == 0
    assert "* Kept beside [ADR-0003, Use MySQL for the database](" in record(both, 1)


def test_a_file_that_only_one_side_says_is_not_imported(house: Project, tmp_path: Path) -> None:
    decided(house, "PostgreSQL")
    before = house.call("admin", "export", "ADR-0001").out
    decided(house, "MySQL", "Store carts in a database", "--keep", f"ADR-0001={WHY}")
    file = tmp_path / "one.jsonl"
    file.write_text(house.call("admin", "export", "ADR-0002").out)
    first = tmp_path / "first.jsonl"
    first.write_text(before)
    log = ("--db", str(house.folder / "other.db"))
    assert house.call("admin", "db", "upgrade", *log).code == 0
    assert house.call("admin", "import", str(first), *log).code == 0
    house.call("admin", "import", str(file), *log).refused(
        1, "is kept beside", "does not say so, neither here nor in the file"
    )
    both = tmp_path / "both.jsonl"
    both.write_text(house.call("admin", "export", "--all").out)
    assert house.call("admin", "import", str(both), "--yes", *log).code == 0


def test_python_programs_choose_too(house: Project) -> None:
    with preflights_es.open(house.folder) as log:

        def start(type_: str) -> str:
            intention = f"Keep orders in a database, {type_}"
            return log.start(intention, answers={"db_type": type_}).session_id

        old = log.accept(start("PostgreSQL"), by="Ada")
        new = log.accept(start("MySQL"), by="Ada")
        (related,) = new.related  # type: ignore[attr-defined]  # of a clarification
        assert (new.status, related.uid, bool(new.to_do)) == ("ready", old.shape()["uid"], True)
        done = log.accept(new.session_id, by="Ada", keep={related.uid: WHY})
        assert done.status == "accepted"
        third = log.accept(start("SQLite"), by="Ada", supersedes=["ADR-0001", "ADR-0002"])
        assert (third.status, third.number) == ("accepted", 3)


# At a terminal -------------------------------------------------------------------------------


def test_a_person_is_asked_about_each(both: Project) -> None:
    answer = ("--answer", "db_type=SQLite")
    with terminal(both, "start", "Keep logs in a database", *answer) as t:
        t.proposal()
        t.press("a")
        seen = t.expect(r"\[k\]eep both, \[l\]eave\? ")
        assert "Contradicts" in seen
        assert "Database: MySQL" in seen
        t.press("r\r")  # in one burst
        assert "Database: PostgreSQL" in t.expect(r"\[k\]eep both, \[l\]eave\? ")
        t.press("k")
        t.expect("stay in force\\? ")
        for blank in ("", "tbd"):
            t.type(blank)
            t.expect("stay in force\\? ")
        t.type("Orders are another service")
        assert "written to docs/decisions/0003-use-sqlite" in t.rest()
        assert t.code() == 0
    state = both.show()
    assert (state["supersedes"]["number"], state["kept"][0]["related"]["number"]) == (2, 1)


@pytest.mark.usefixtures("new")
def test_a_person_leaves_and_nothing_is_accepted(house: Project) -> None:
    with terminal(house, "accept", "last") as t:
        t.expect(r"\[k\]eep both, \[l\]eave\? ")
        t.press("l")
        assert t.code() == 3
    assert house.show()["status"] == "ready"


# Meanwhile -----------------------------------------------------------------------------------


def test_a_decision_that_is_accepted_meanwhile_is_compared_too(house: Project) -> None:
    with preflights_es.open(house.folder) as log:
        ready = [
            log.start("Keep orders in a database", answers={"db_type": type_}).session_id
            for type_ in ("PostgreSQL", "MySQL")
        ]
        request = log.request(actor="Ada", kind="user")
        choosing = Choosing(request)
        found = []

        def complete(first: ProposedInput) -> ProposedInput | None:
            made = choosing.completed(first)
            found.append(len(choosing.found))
            if len(found) == 1:  # nothing differs yet, and now something does
                log.accept(ready[0], by="Grace")
            return made

        step = clarifications_of(request).acknowledged(
            *(ready[1], DecisionAcknowledged, {"mark": ""}), by=None, expect=None, complete=complete
        )
        assert (found, step.decisions) == ([0, 1], ())
        assert log.show(ready[1]).status == "ready"


@pytest.mark.slow("sizes")
def test_of_many_that_differ_five_are_named_and_one_command_is_advised(house: Project) -> None:
    uids: list[str] = []
    for number in range(7):
        keeps = [word for uid in uids for word in ("--keep", f"{uid}={WHY}")]
        uids.append(
            decided(house, f"Database {number}", "Keep orders in a database", *keeps)["uid"]
        )
    decided(house, "MySQL")
    told = house.call("accept", "last", "--by", "Ada").out
    assert told.count("  Contradicts ") == 5
    id_ = house.show()["session_id"][-8:]
    assert f"  and 2 more: `preflights accept {id_} --json`\n" in told
    assert told.count("--keep") == 1
    assert f"  preflights accept {id_} --by NAME --supersedes UID --keep UID=REASON\n" in told
    every = house.call("accept", id_, "--by", "Ada", "--json").json["related"]
    assert {one["uid"] for one in every} == set(uids)
