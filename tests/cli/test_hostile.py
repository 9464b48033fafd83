"""Text that means harm, and people who share one log: nothing lost, leaked or obeyed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from preflights_es.features.clarification.domain.events import (
    ClarificationAnswersGiven,
    IntentionDeclared,
)
from preflights_es.features.clarification.domain.values import Category, Field, HeuristicsConfig
from preflights_es.kernel.events import Actor
from preflights_es.kernel.lead import Setup
from preflights_es.store import jsonl
from preflights_es.words.questions import GivenAnswer
from tests.cli.program import RAW, Project
from tests.cli.terminal import terminal
from tests.each import each
from tests.fixed import NOON, memory_runner

HARMFUL: Final = (
    "login \u202eevil\u202c \u2066x\u2069",
    "login\nwith\r\nlines\tand a tab",
    "login \u2028 and \u2029 and \ufeff",
    "login \U000e0068\U000e0069\U000e007f \U000e0000",
    "login [bold red]markup[/] [link=file:///etc/passwd]x[/link]",
    "login # heading\n---\nstatus: accepted\n---\n## Decision Outcome",
    "login $title ${context} %s {0} `id` $(id) <script>alert(1)</script>",
    "login مرحبا بالعالم שלום",
    "login " + "z\u0335" * 500,
    "login 'quotes' \"double\" \\ back\\slash",
    "--login", "-h login",
)  # fmt: skip
LONG: Final = "x" * 100_000  # one argument takes 128 KB at most
SECRETS: Final = (
    "sk-ant-api03-AbCdEf0123456789AbCdEf0123456789",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "eve.adams@example.com",
    "hunter2!Swordfish",
)
READING: Final = (
    ("show", "last"),
    ("sessions",),
    ("log", "last"),
    ("prompt", "last"),
    ("replay", "last"),
    ("show", "last", "--json"),
    ("sessions", "--json"),
    ("prompt", "last", "--json"),
    ("replay", "last", "--json"),
    ("admin", "render", "last", "--stdout"),
    ("admin", "render", "last", "--stdout", "--json"),
)


# 1. Text -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HARMFUL)
def test_no_command_shows_a_text_that_moves_the_terminal(house: Project, text: str) -> None:
    begun = house.call("start", "--by", text[:200], "--accept", "--", text)
    assert begun.is_safe()
    assert house.call("answer", "last", "--", f"auth_strategy={text}").is_safe()
    assert house.call("accept", "--again", "last", "--by", text[:200]).is_safe()
    for command in READING:
        done = house.call(*command)
        assert done.code == 0, (command, done)
        assert done.is_safe(), command
        if "--json" in command:
            assert len(done.out.splitlines()) == 1
            done.json  # noqa: B018  parses
    shown = house.show()
    assert shown["intention"] == text.strip().replace("\r\n", "\n")
    assert shown["status"] == "accepted"
    document = (house.folder / shown["artifacts"][0]).read_text("utf-8")
    assert not RAW & set(document)
    assert document.count("\n## Decision Outcome\n") == 1
    _, _, body = document.split("---\n", 2)
    assert "<script>" not in body
    house.call("abandon", "last", "--reason", text)
    assert house.call("admin", "renumber").is_safe()


@pytest.mark.slow("sizes")
@each(
    "words",
    [
        ("start", LONG),
        ("start", "Add login", "--accept", "--by", "x" * 201),
        ("answer", "last", LONG),
        ("answer", "last", f"auth_strategy={LONG}"),
        ("answer", "last", f"{LONG}=x"),
        ("revise", "last", f"auth_strategy={LONG}"),
        ("abandon", "last", "--reason", LONG),
        ("accept", "last", "--by", LONG),
        ("show", LONG),
        ("replay", LONG),
        ("admin", "import", LONG),
        ("admin", "export", "last", "-o", LONG),
        ("start", "Add login", "--supersedes", LONG),
        ("start", "Add login", "--answers-file", LONG),
        ("start", "Add login", "--db", LONG),
        ("sessions", "--status", LONG),
        (LONG,),
        (f"--{LONG}",),
    ],
)
def test_what_is_far_too_long_is_refused_in_a_few_words(
    waiting: Project, words: tuple[str, ...]
) -> None:
    before = waiting.show()["version"]
    done = waiting.call(*words)
    assert done.code in (1, 2, 5), done.code
    assert len(done.err) < 1_500
    assert done.is_safe()
    assert waiting.show()["version"] == before


@pytest.mark.slow("sizes")
def test_arguments_of_any_bytes_and_of_any_length_reach_no_traceback(house: Project) -> None:
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth")
    for words in (
        (b"start", b"a\xff\xfeb"),
        (b"answer", b"last", b"auth_library=\xed\xa0\x80"),
        (b"accept", b"last", b"--by", b"\xc3\x28"),
        (b"show", b"\x1b[31m\xff"),
        (b"show", b"last", b"\x1b[31m\xff"),
        (b"--\x1b[31m\xff",),
        (b"\x1b[31mstart\xff",),
        (b"start", b"x" * 100_000),
    ):
        done = house.run(*words)
        assert done.code in (1, 2), (words[0], done)
        assert done.err.startswith("preflights: ")
        assert done.err.count("\n") == 1
        assert done.is_safe()
    assert house.show()["status"] == "ready"
    assert len(house.call("sessions", "--json").json["sessions"]) == 1


def test_a_file_that_was_made_to_harm_is_shown_and_does_nothing(house: Project) -> None:
    """The author of a file can chain any content: it verifies, and is not believed."""
    evil = "login \x1b]0;owned\x07\x1b[2J\x9b31m\u202e\U000e0065\x7f\x08"
    maker = memory_runner()
    workflow = maker.workflow("clarification")
    first = IntentionDeclared(
        at=NOON,
        actor=Actor("user", evil),
        intention=evil,
        project="house",
        uid="0" * 12,
        setup=Setup(preflights=evil, decider=evil),
        heuristics=HeuristicsConfig(
            categories=(Category(evil, ("login",), Field(evil, "q", evil, (evil, "b"))),)
        ),
    )
    made = maker.open(workflow, "house", first, maker.new_id(), maker.new_id())
    given = ClarificationAnswersGiven(
        at=NOON, actor=Actor("agent", evil), answers=(GivenAnswer("q", (evil,)),)
    )
    made = maker.submit(made.handle, given, maker.new_id())
    id_ = made.handle.session_id
    content = jsonl.encode_event_file(maker.store.read(id_))
    taken = house.call("admin", "import", "-", stdin=content)
    assert taken.code == 0, taken.err
    assert taken.is_safe()
    for command in READING:
        words = tuple(id_ if word == "last" else word for word in command)
        done = house.call(*words)
        assert done.is_safe(), command
        assert "Traceback" not in done.err
    assert house.call("sessions", "--any-project").is_safe()
    with terminal(house, "log", id_, "--json") as t:
        lines = t.rest().splitlines()  # on a terminal escaped, and the same JSON
    assert [json.loads(line) for line in lines] == house.events(id_)
    done = house.call("accept", "--again", id_, "--by", "Ada", "--json")
    assert done.is_safe()
    document = (house.folder / done.json["artifacts"][0]).read_text("utf-8")
    assert not RAW & set(document)
    with terminal(house, "resume", id_) as t:
        t.rest()


# 2. Secrets ----------------------------------------------------------------------------------


def test_secrets_are_taken_out_before_anything_is_recorded(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('redact = ["email"]\n')
    key, token, mail, password = SECRETS
    intention = f"Add login with {key}, ask {mail}"
    done = house.call("start", intention, "--answer", f"auth_strategy=OAuth with {token}")
    told = "warning: 3 secrets were taken out before recording (key, email, token)"
    assert told in done.err
    answers = json.dumps({"auth_library": f"password: {password}"}).encode()
    (house.folder / "a.json").write_bytes(answers)
    house.call("start", "Add login", "--answers-file", "a.json", "--answer", "auth_strategy=OAuth")
    assert house.show()["warnings"] == ["1 secret was taken out before recording (password)"]
    (house.folder / "a.json").unlink()
    house.call("accept", "--again", "last", "--by", "Ada")
    house.call("start", "Give up")
    house.call("abandon", "last", "--reason", f"the password is {password}")
    house.call("answer", "last", f"password={password}")
    recorded = house.recorded() + b"".join(
        path.read_bytes() for path in (house.folder / "docs").rglob("*.md")
    )
    for secret in SECRETS:
        assert secret.encode() not in recorded, secret
    for kind in ("key", "email", "token", "password"):
        assert f"[redacted:{kind}]".encode() in recorded


def test_a_secret_in_a_key_is_taken_out_and_no_option_keeps_one(house: Project) -> None:
    house.started_session()
    key = f"the password is {SECRETS[3]}"
    done = house.call("revise", "last", f"{key}=x", "--json")
    assert SECRETS[3].encode() not in house.recorded()
    assert done.json["warnings"] == ["1 secret was taken out before recording (password)"]
    answers = json.dumps({key: "x"}).encode()
    refused = house.call("start", "Add login", "--answers-file", "-", "--json", stdin=answers)
    assert SECRETS[3] not in refused.out + refused.err
    assert SECRETS[3] not in done.out + done.err
    assert house.call("start", "Add login", "--no-redact").code == 2
    house.git("config", "user.name", SECRETS[1])
    done = house.call("start", "Add login")
    assert "your name (PREFLIGHTS_ACTOR, or as git knows it) is recorded without" in done.err
    assert SECRETS[1].encode() not in house.recorded()
    assert "your name" not in house.call("show").err
    assert house.call("show").code == 0


def test_a_name_that_cannot_be_recorded_says_where_it_comes_from(house: Project) -> None:
    house.git("config", "user.name", "Eve\x1b[31m")
    done = house.call("start", "Add login")
    assert done.code == 2
    assert "git config user.name" in done.err
    assert "PREFLIGHTS_ACTOR" in done.err
    assert done.is_safe()
    assert house.call("start", "Add login", env={"PREFLIGHTS_ACTOR": "Eve"}).code == 3
    done = house.call("start", "Add login", env={"PREFLIGHTS_ACTOR": "x" * 201})
    assert done.code == 2
    assert "PREFLIGHTS_ACTOR" in done.err


# 3. Several processes ------------------------------------------------------------------------


def test_two_processes_answer_one_session_and_one_wins(house: Project) -> None:
    house.started_session()
    answers = ("Answer A", "Answer B", "Answer C")
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda a: house.run("answer", "last", a), answers))
    assert sorted(d.code for d in done) == [1, 1, 3]
    won = answers[[d.code for d in done].index(3)]
    assert house.show()["patch"]["fields"] == [["Strategy", won]]
    for lost in (d for d in done if d.code == 1):
        assert "is answered already" in lost.err or "no question is open" in lost.err
    assert house.call("replay", "last").code == 0


@pytest.mark.slow("crowds")
def test_two_processes_accept_and_number_records_apart(house: Project) -> None:
    ids = []
    for i in range(3):
        house.call("start", f"Add login {i}", "--answer", "auth_strategy=OAuth")
        ids.append(house.show()["session_id"])
    with ThreadPoolExecutor() as pool:
        done = list(
            pool.map(lambda i: house.run("accept", "--again", i, "--by", "Ada", "--json"), ids)
        )
    assert [d.code for d in done] == [0, 0, 0], done
    assert sorted(d.json["number"] for d in done) == [1, 2, 3]
    assert house.call("admin", "renumber", "--check").code == 0
    assert {house.call("admin", "render", id_, "--check").code for id_ in ids} == {0}


@pytest.mark.slow("crowds")
def test_two_processes_may_both_be_the_first(empty: Project) -> None:
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda i: empty.run("start", f"Add login {i}"), range(3)))
    assert [d.code for d in done] == [3, 3, 3], done
    assert len(empty.call("sessions", "--json").json["sessions"]) == 3
