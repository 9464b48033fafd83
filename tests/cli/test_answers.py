"""`start`, `answer` and `revise` without a terminal: what is taken, and in which words."""

from __future__ import annotations

import json

from tests.cli.program import Project
from tests.each import each
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

AUTH_KEYS = "change_category (Category), auth_strategy (Strategy), auth_library (Library)"


def test_a_session_is_begun_answered_and_accepted_step_by_step(house: Project) -> None:
    begun = house.call("start", "Add OAuth login")
    assert begun.code == 3
    assert begun.out.splitlines()[2:7] == [
        "  Category (change_category)  Authentication  (from the intention)",
        "",
        "Which authentication approach?  (Strategy, auth_strategy)",
        "  1. OAuth",
        "  2. Email/Password",
    ]
    id_ = house.show()["session_id"][-8:]
    assert f"Answer with: preflights answer {id_} VALUE" in begun.out
    answered = house.call("answer", id_, "2")
    assert (answered.code, answered.err) == (3, "")
    assert "Strategy (auth_strategy)    Email/Password  (chosen, by a script)" in answered.out
    accepted = house.call("accept", id_, "--by", "Ada Lovelace")
    assert accepted.code == 0
    assert "accepted, 100 %\n  Category  Authentication" in accepted.out
    assert "written to docs/decisions/0001-use-email-password-for-authentication.md" in accepted.out


@each(("given", "value", "source"), FILED["an_answer_is_a_number_a_text_or_a_key_and_its_value"])
def test_an_answer_is_a_number_a_text_or_a_key_and_its_value(
    house: Project, given: tuple[str, ...], value: str, source: str
) -> None:
    house.started_session()
    done = house.call("answer", "last", *given, "--json")
    assert done.code == 3, done.err
    assert done.json["status"] == "ready"
    assert done.json["patch"]["fields"] == [["Strategy", value]]
    assert done.json["provenance"][1]["source"] == source


@each(
    ("given", "message"),
    [
        (("9",), "there is no option 9: give 1 to 4, or auth_strategy=9"),
        (("nosuch=1",), f"'nosuch' is no question of this session: it takes {AUTH_KEYS}"),
        ((" ",), "'auth_strategy' was given no value"),
        (("tbd",), "'auth_strategy' was given a placeholder"),
        (("Magic", "Link"), "takes one value: put quotes around words that belong together"),
        (("4",), "'auth_strategy' was answered 'Other (specify)' without the text"),
        (("x" * 2_001,), "the answer to 'auth_strategy' has 2,001 characters, at most 2,000"),
        (("a" * 101 + "=b",), "the key of an answer has 101 characters, at most 100 are taken"),
        (tuple(f"k{i}=v" for i in range(51)), "too many answers at once: at most 50 are taken"),
        (("a\x07b",), "holds the control character U+0007 at character 2"),
    ],
)
def test_an_answer_that_does_not_count_leaves_the_question_open(
    waiting: Project, given: tuple[str, ...], message: str
) -> None:
    done = waiting.call("answer", "last", *given)
    assert done.code == 1
    assert message in done.err
    assert done.is_safe()
    assert waiting.show()["status"] == "needs_answers"


def test_answers_in_advance_leave_nothing_to_ask_and_are_the_scripts(house: Project) -> None:
    done = house.call(
        *("start", "Rework it", "--json"),
        *("--answer", "change_category=Database", "--answer", "db_type=PostgreSQL"),
        *("--answer", "db_orm=SQLAlchemy"),
    )
    assert done.code == 3
    assert done.json["patch"] == {
        "category": "Database",
        "fields": [["Type", "PostgreSQL"], ["ORM", "SQLAlchemy"]],
    }
    assert done.json["missing_info"] == []
    done = house.call("start", "Add login", "--answer", "auth_strategy=OAuth", "--json")
    assert {p["by"] for p in done.json["provenance"]} == {"script"}
    env = {"PREFLIGHTS_ACTOR": "agent:claude"}
    done = house.call("start", "Add login", "--answer", "auth_strategy=OAuth", "--json", env=env)
    assert {p["by"] for p in done.json["provenance"]} == {"agent"}
    actors = [e["data"]["actor"] for e in house.events(done.json["session_id"]) if e["input_id"]]
    assert actors == [{"kind": "agent", "name": "claude"}] * 2


def test_nothing_is_accepted_while_a_question_is_open_or_something_refused(house: Project) -> None:
    words = ("start", "Add login", "--accept", "--by", "Ada", "--answer", "auth_strategy=OAuth")
    house.call(*words, "--answer", "nosuch=1").refused(1, "'nosuch' is no question")
    assert not list((house.folder / "docs").glob("*/*"))
    done = house.call("start", "Add login", "--accept", "--by", "Ada", "--no-input", "--json")
    assert (done.code, done.json["status"]) == (3, "needs_answers")


@each(
    ("words", "code", "message"),
    [
        (
            ("--answer", "nosuch=1"),
            1,
            f"'nosuch' is no question of this session: it takes {AUTH_KEYS}",
        ),
        (("--answer", "auth_strategy=tbd"), 1, "was given a placeholder"),
        (("--answer", "Strategy=idk"), 1, "'auth_strategy' was left undecided"),
        (("--supersedes", "1234"), 1, "no session matches '1234'"),
        (("--provider", "openai"), 5, "the provider openai needs a key"),
        (("--provider", "sim", "--answer", "nosuch=1"), 1, "'nosuch' is no question"),
        (("--accept", "--by", "Ada", "--answer", "Strategy=1"), 5, "is no folder"),
    ],
)
def test_a_start_that_is_refused_leaves_no_session(
    house: Project, words: tuple[str, ...], code: int, message: str
) -> None:
    (house.folder / "docs").write_text("in the way")
    done = house.call("start", "Add OAuth login", *words)
    assert done.code == code, done
    assert message in done.err
    assert house.call("sessions", "--json").json["sessions"] == []


def test_what_is_stated_is_not_told_again_and_a_key_names_no_other_category(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    assert "tated" in (told := house.call("start", "Use OAuth for the login")).out + told.err
    said = house.call("start", "Use OAuth for the login", "--answer", "auth_strategy=SAML")
    assert "tated" not in said.out + said.err
    house.call("start", "Improve things")
    assert house.call("answer", "last", "Flutter", "--json").json["progress"] == 1.0
    done = house.call("answer", "last", "auth_library=OAuth", "--json")
    assert done.code == 1
    assert (done.json["refused"][0]["reason"], done.json["progress"]) == ("unknown_question", 1.0)


def test_a_label_works_as_its_key_and_a_number_is_the_option_of_any(house: Project) -> None:
    done = house.call("start", "Add OAuth login", "--answer", "Strategy=Magic Link", "--json")
    assert done.json["patch"]["fields"] == [["Strategy", "Magic Link"]]
    done = house.call("answer", "last", "library=Authlib", "--json")
    assert done.json["patch"]["fields"] == [["Strategy", "Magic Link"], ["Library", "Authlib"]]
    done = house.call("revise", "last", "Strategy=1", "--json")
    assert done.json["patch"]["fields"][0] == ["Strategy", "OAuth"]
    done = house.call("revise", "last", "strategy__other=Passkeys", "--json")
    assert done.json["patch"]["fields"][0] == ["Strategy", "Passkeys"]
    done = house.call("revise", "last", "Category=Database", "Type=2", "--json")
    assert done.json["patch"] == {"category": "Database", "fields": [["Type", "MySQL"]]}
    words = ("--answer", "change_category=3", "--answer", "db_type=2")
    done = house.call("start", "Rework it", *words, "--json")
    assert done.json["patch"] == {"category": "Database", "fields": [["Type", "MySQL"]]}


@each("text", ["-1", "?", "I don't know", "idk", "weiß nicht", "Keine Ahnung!"])
def test_an_answer_that_says_nothing_leaves_the_question_open(waiting: Project, text: str) -> None:
    done = waiting.call("answer", "last", "--", text)
    assert done.code == 1
    assert "Not taken: 'auth_strategy' was" in done.err
    if text != "?":
        assert "the question stays open: give an option, its number or your own words" in done.err
    assert waiting.show()["status"] == "needs_answers"
    assert waiting.events()[-1]["type"] == "clarification.answer_refused.v1"


def test_a_file_of_answers_is_an_object_of_texts_each_key_once(house: Project) -> None:
    (house.folder / "a.json").write_text('{"auth_strategy": ["OAuth"], "auth_library": "Authlib"}')
    done = house.call("start", "Add login", "--answers-file", "a.json", "--json")
    assert done.json["patch"]["fields"] == [["Strategy", "OAuth"], ["Library", "Authlib"]]
    text = b'\xef\xbb\xbf{"auth_strategy": "Other (specify)", "auth_strategy__other": "Passkeys"}'
    done = house.call("start", "Add login", "--answers-file", "-", "--json", stdin=text)
    assert done.json["patch"]["fields"] == [["Strategy", "Passkeys"]]
    text = b'{"auth_strategy": "OAuth", "auth_strategy": "Magic Link"}'
    done = house.call("start", "Add login", "--answers-file", "-", "--json", stdin=text)
    assert done.code == 1
    assert json.loads(done.err.splitlines()[-1])["code"] == "several_values"


@each(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b'{"auth_strategy": "OAuth"', "is not JSON"),
        (b'{"auth_strategy": NaN}', "is not JSON"),
        (b'\xff\xfe{"a": 1}', "is not JSON"),
        (b'{"auth_strategy": "\\ud800"}', "is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'["OAuth"]', 'expected an object such as {"auth_strategy": "OAuth"}'),
        (b"null", "expected an object"),
        (
            b'{"auth_strategy": 1}',
            "the answer to 'auth_strategy' is neither a text nor a list of texts",
        ),
        (b'{"auth_strategy": null}', "is neither a text nor a list of texts"),
        (b'{"auth_strategy": ["OAuth", 1]}', "is neither a text nor a list of texts"),
        (b'{"auth_strategy": {"a": "b"}}', "is neither a text nor a list of texts"),
        (b'{"auth_strategy": "' + b"x" * 1_000_000 + b'"}', "has more than 1,000,000 bytes"),
        (b'{"auth_strategy": "' + b"x" * 900_000 + b'"}', "has 900,000 characters"),
    ],
)
def test_a_file_that_holds_anything_else_is_refused(
    house: Project, content: bytes, message: str
) -> None:
    (house.folder / "a.json").write_bytes(content)
    for name, stdin in (("a.json", b""), ("-", content)):
        done = house.call("start", "Add login", "--answers-file", name, stdin=stdin)
        assert done.code == 1
        assert message in done.err
        assert done.is_safe()


@each(("name", "message"), [("nosuch.json", "nosuch.json cannot be read"), (".", "cannot be read")])
def test_a_file_that_cannot_be_read_is_refused(house: Project, name: str, message: str) -> None:
    house.call("start", "Add login", "--answers-file", name).refused(1, message)
    assert house.call("sessions", "--json").json["sessions"] == []


def test_a_revision_is_in_the_log_and_a_new_category_drops_former_answers(house: Project) -> None:
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth")
    done = house.call("revise", "last", "auth_strategy=Magic Link", "--json")
    assert done.json["patch"]["fields"] == [["Strategy", "Magic Link"]]
    values = [a["values"] for e in house.events() for a in e["data"].get("answers", ())]
    assert values == [["OAuth"], ["Magic Link"]]
    done = house.call("revise", "last", "change_category=Database", "--json")
    assert done.code == 3
    assert [q["id"] for q in done.json["questions"]] == ["db_type"]
    assert [p["field"] for p in done.json["provenance"]] == ["Category"]
    done = house.call("answer", "last", "MySQL", "--json")
    assert done.json["patch"] == {"category": "Database", "fields": [["Type", "MySQL"]]}
    assert [p["field"] for p in done.json["provenance"]] == ["Category", "Type"]
    done = house.call("accept", "last", "--by", "Ada", "--json")
    assert "OAuth" not in (house.folder / done.json["artifacts"][0]).read_text()


def test_a_word_without_a_key_is_no_revision_and_needs_an_open_question(house: Project) -> None:
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth")
    for word in ("Magic Link", "=OAuth"):
        done = house.call("revise", "last", word)
        assert done.code == 2
        assert f"found {word!r}, expected KEY=VALUE such as auth_strategy=OAuth" in done.err
    done = house.call("answer", "last", "OAuth")
    assert done.code == 1
    assert "no question is open that 'OAuth' could answer: give KEY=VALUE" in done.err
    done = house.call("answer", "last", "auth_library=Authlib", "--json")
    assert done.json["patch"]["fields"] == [["Strategy", "OAuth"], ["Library", "Authlib"]]


@each(("words", "message"), FILED["words_that_are_no_command_record_nothing"])
def test_words_that_are_no_command_record_nothing(
    house: Project, words: tuple[str, ...], message: str
) -> None:
    done = house.call(*words)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1, "one line"
    assert "--help`)" in done.err, "and where to read on"
    assert house.call("sessions", "--json").json == {
        "format": "sessions/1",
        "sessions": [],
        "more": False,
    }


def test_no_intention_is_recorded_that_is_refused_nor_a_second_answer(house: Project) -> None:
    for intention, message in (
        ("", "the intention is empty"),
        (" \n\t", "the intention is empty"),
        ("x" * 4_001, "has 4,001 characters, at most 4,000 are taken: shorten it"),
        ("a\x1bb", "holds the control character U+001B at character 2"),
        ("a\x9b31mb", "holds the control character U+009B"),
        ("a\udcffb", "is not valid Unicode (a lone surrogate at character 2)"),
    ):
        done = house.call("start", intention)
        assert done.code == 1
        assert message in done.err
        assert done.is_safe()
    assert house.call("sessions", "--json").json["sessions"] == []
    house.decided()
    for command in ("answer", "revise"):
        done = house.call(command, "last", "auth_strategy=Magic Link")
        assert done.code == 1
        assert "is accepted and takes no answers any more, also where that was" in done.err
    house.started_session()
    house.call("abandon", "last", "--reason", "not needed")
    house.call("answer", "last", "OAuth").refused(1, "was abandoned: start a new one")
    assert house.call("resume").out.endswith("It is closed.\n")


@each("secret", ["AKIA\uff29OSFODNN7EXAMPLE", "s\u200bk-ant-api03-" + "a1B2" * 10])
def test_a_secret_that_hides_is_found(house: Project, secret: str) -> None:
    started = house.call("start", f"Add login, ask {secret}", "--json").json
    assert "[redacted:" in started["intention"]
