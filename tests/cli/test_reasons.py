"""Why something is decided: options, the question at a terminal, and the person's editor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from preflights_cli import EXIT_WAITING
from preflights_cli.options import alternative
from preflights_es.features.clarification.reasons_text import (
    Unparsable,
    format_reasons_text,
    parse_reasons_text,
)
from preflights_es.words.decisions import RejectedAlternative, StatedReasons
from tests.cli.program import Project
from tests.cli.terminal import ANSWER, BECAUSE, INSTEAD, KEY, terminal

WHYS: Final = (
    *("--because", "We know it", "--consequence", "One login", "--alternative", "SAML: slow"),
)
ALL: Final = {
    "because": {"text": "We know it", "by": "user"},
    "consequences": [{"text": "One login", "by": "user"}],
    "alternatives": [{"name": "SAML", "why_not": "slow", "by": "user"}],
}
START: Final = ("start", "Add login", "--answer", "auth_strategy=OAuth", "--no-input")


def told(shape: dict[str, object]) -> dict[str, object]:
    return {name: shape[name] for name in ALL}


def by_script() -> dict[str, object]:
    return {
        "because": {"text": "We know it", "by": "script"},
        "consequences": [{"text": "One login", "by": "script"}],
        "alternatives": [{"name": "SAML", "why_not": "slow", "by": "script"}],
    }


# 1. Options ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["start", "answer", "revise", "accept"])
def test_every_command_that_decides_takes_reasons(house: Project, command: str) -> None:
    given = ("auth_strategy=OAuth",) if command == "revise" else ()
    if command == "start":
        house.call(*START, *WHYS)
    else:
        house.call(*START)
        assert house.call(command, "last", *given, *WHYS).code in (0, EXIT_WAITING)
    assert told(house.show()) == by_script()
    assert house.call("accept", "last", "--by", "Ada").code == 0
    text = (house.folder / house.show()["artifacts"][0]).read_text()
    assert "because we know it (offered by a script, accepted by Ada)." in text
    (why, _) = house.call("why", "last", "--json").json["values"]
    assert told(why) == by_script()
    (row,) = house.call("decisions", "--json").json["decisions"]
    assert (told(row), row["title"]) == (by_script(), "Use OAuth for authentication")
    assert 'because    "We know it", by a script' in house.call("why").out
    assert "rationale given" in house.call("audit", "trail").out
    assert house.call("replay", "last").code == 0


def test_a_reason_that_does_not_count_accepts_nothing_and_one_is_recorded_once(
    house: Project,
) -> None:
    house.call(*START)
    done = house.call("accept", "last", "--by", "Ada", "--because", "TBD")
    assert (done.code, "a reason is a placeholder" in done.err) == (1, True)
    assert house.show()["status"] == "ready"
    house.call("accept", "last", "--by", "Ada")
    late = house.call("answer", "last", "--because", "Late")
    assert (late.code, "is accepted" in late.err) == (1, True)
    note = house.call("start", "Buy milk", "--workflow", "extraction", "--because", "Thirst")
    assert (note.code, "takes no reasons" in note.err) == (1, True)
    assert house.call("answer", "last").code == 2
    house.call(*START)
    version = str(house.show()["version"])
    accept = ("accept", "last", "--by", "Ada", *WHYS, "--key", "k", "--expect", version)
    first, again = house.call(*accept), house.call(*accept)
    assert (first.code, again.code) == (0, 0)
    assert house.call("log", "last").out.count("  Ada gave reasons") == 1


def test_reasons_beside_an_answer_that_is_not_taken_are_recorded(house: Project) -> None:
    house.call("start", "Add login", "--no-input")
    done = house.call("answer", "last", "tbd", *WHYS, "--path", "src/**")
    assert (done.code, "was given a placeholder" in done.err) == (1, True)
    found = house.show()
    assert (told(found), found["paths"]) == (by_script(), ["src/**"])
    given = ("--answer", "auth_strategy=tbd", "--scope", "the shop", *WHYS)
    with terminal(house, "start", "Add login", *given) as t:
        assert "was given a placeholder" in t.expect(ANSWER)
        t.end()
        t.rest()
    assert (house.show()["scope"], house.show()["because"]["text"]) == ("the shop", "We know it")


def test_an_alternative_is_a_name_and_a_reason_and_a_text_as_it_was_written() -> None:
    assert alternative("SAML: too: slow") == RejectedAlternative("SAML", "too: slow")
    assert alternative("SAML:") == RejectedAlternative("SAML", "")
    assert alternative("C++") == RejectedAlternative("C++", "")
    said = StatedReasons(
        "Because: of it",
        ("- one", "# two", "Instead of:"),
        (RejectedAlternative("A: b", "c: d"), RejectedAlternative("E", "")),
        replaces=True,
    )
    assert parse_reasons_text(format_reasons_text(said, "the shop"), said) == (said, "the shop")
    empty = StatedReasons(replaces=True)
    assert parse_reasons_text(format_reasons_text(empty), empty) == (empty, "")
    text = "Because: one\n  two\nConsequences:\n- three\n  four\n* five\n"
    assert parse_reasons_text(text, StatedReasons())[0] == StatedReasons(
        "one two", ("three four", "five"), replaces=True
    )
    with pytest.raises(Unparsable, match="line 2 belongs to no part: 'lost'"):
        parse_reasons_text("Files:\nlost\n", StatedReasons())


# 2. At a terminal ----------------------------------------------------------------------------


def test_what_may_be_meant_for_the_program_is_taken_where_it_is_typed_again(house: Project) -> None:
    with terminal(house, "start", "Add login", "--answer", "auth_strategy=OAuth") as t:
        t.expect(BECAUSE)
        for word in ("Quit", "exit"):
            t.type(word)
            assert f"Type {word} again if it is your answer" in t.expect(BECAUSE)
        t.type("exit")
        for word in ("A", "R", "R"):
            t.expect(INSTEAD)
            t.type(word)
        told = t.expect(KEY)
        assert "because: exit" in told
        assert "not R" in told
        t.press("l")
        t.rest()


def test_a_person_is_asked_once_why(house: Project) -> None:
    with terminal(house, "start", "Add login") as t:
        t.expect(ANSWER)
        t.type("1")
        t.expect(BECAUSE)
        t.type("l")
        assert "Not taken: l alone says nothing." in t.expect(BECAUSE)
        t.type("We know it")
        t.expect(INSTEAD)
        t.type("")
        assert "because: We know it" in t.expect(KEY)
        t.press("l")
        assert t.code() == 3
    with terminal(house, "resume") as t:
        assert "Instead of" not in t.expect(KEY)
        t.press("a")
        assert t.code() == 0
    assert house.show()["because"] == {"text": "We know it", "by": "user"}


def test_reasons_that_a_script_gives_with_an_acceptance_are_the_persons(house: Project) -> None:
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth", *WHYS)
    assert house.show()["because"]["by"] == "script"
    house.call("accept", "last", "--by", "Grace", "--because", "We chose it")
    given = house.events()[-5]["data"]
    assert given["actor"] == {"kind": "user", "name": "Grace"}
    assert given["relayed_by"]["kind"] == "script"
    found = house.show()
    assert found["because"] == {"text": "We chose it", "by": "user"}
    assert found["consequences"][0]["by"] == "script"
    assert "because we chose it.\n" in (house.folder / found["artifacts"][0]).read_text()
    started = ("start", "Add SSO", "--answer", "auth_strategy=OAuth", "--because", "It is asked")
    accepted = house.call(*started, "--accept", "--by", "Grace", "--json").json
    assert accepted["because"] == {"text": "It is asked", "by": "user"}
    waiting = ("start", "Add SSO", "--because", "It is asked", "--accept", "--by", "Grace")
    assert house.call(*waiting, "--json").json["because"]["by"] == "script"
    assert house.call("replay", "last").code == 0


def test_what_a_model_offers_bears_its_name_and_that_of_who_accepted_it(house: Project) -> None:
    led = ("--provider", "sim", "--seed", "1")
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth", "--accept", *led)
    record = house.folder / house.show()["artifacts"][0]
    assert "(offered by simllm/1).\n" in record.read_text()
    assert "(offered by the model)" in house.call("show").out
    house.call("accept", "last", "--by", "Ada")
    found = house.show()
    assert found["because"]["by"] == "model"
    assert "(offered by simllm/1, accepted by Ada).\n" in record.read_text()
    assert f"{found['because']['text']}  (offered by the model)" in house.call("show").out
    assert "by a model" in house.call("why", "last").out


def editing(house: Project, body: str) -> dict[str, str]:
    """An editor that is a script of Python, with an argument of its own."""
    script = house.home / "edit.py"
    script.write_text(f"import os, sys\npath = sys.argv[2]\ntext = open(path).read()\n{body}\n")
    return {"VISUAL": f"python {script} --wait"}


def test_what_a_model_offers_is_edited_and_is_the_persons_then(house: Project) -> None:
    body = (
        "assert os.stat(path).st_mode & 0o777 == 0o600\n"
        "open(path, 'w').write('For: the shop\\nBecause: We know it\\n\\n"
        "Consequences:\\n- One login\\n"
        "Instead of:\\n- SAML: slow\\n')"
    )
    led = ("start", "Add login", "--provider", "sim", "--seed", "3")
    with terminal(house, *led, env=editing(house, body)) as t:
        t.expect(ANSWER)
        t.type("1")
        assert "(offered by the model)" in t.proposal()
        t.press("e")
        assert "because: We know it\r\n" in t.expect(KEY).replace("\n", "\r\n").replace(
            "\r\r", "\r"
        )
        t.press("a")
        assert t.code() == 0
    assert (told(house.show()), house.show()["scope"]) == (ALL, "the shop")
    assert house.call("replay", "last").code == 0


def test_a_text_that_says_nothing_is_kept_for_another_try(house: Project) -> None:
    body = (
        "new = text.replace('Because: lost?', 'Because: found') if 'lost' in text "
        "else 'what is this\\nBecause: lost?\\n'\n"
        "open(path, 'w').write(new.replace('what is this\\n', '') if 'found' in new else new)"
    )
    with terminal(house, "start", "Add login", env=editing(house, body)) as t:
        t.expect(ANSWER)
        t.type("1")
        t.proposal()
        t.press("e")
        assert "Not taken: line 1 belongs to no part: 'what is this'" in t.expect(KEY)
        t.press("e")
        assert "because: found" in t.expect(KEY)
        t.press("l")
        assert t.code() == EXIT_WAITING
    assert house.show()["because"]["text"] == "found"


@pytest.mark.parametrize("editor", ["false", "no-such-editor", "'"])
def test_an_editor_that_fails_changes_nothing(house: Project, editor: str) -> None:
    with terminal(house, "start", "Add login", env={"EDITOR": editor}) as t:
        t.expect(ANSWER)
        t.type("1")
        t.proposal()
        t.press("e")
        assert "Not taken: " in t.expect(KEY)
        t.press("a")
        assert t.code() == 0
    assert house.show()["because"] is None


# 3. The text ---------------------------------------------------------------------------------


def test_the_file_is_gone_once_the_editor_ended(house: Project) -> None:
    body = f"open({str(house.home / 'seen')!r}, 'w').write(path)"
    with terminal(house, "start", "Add login", env=editing(house, body)) as t:
        t.expect(ANSWER)
        t.type("1")
        t.proposal()
        t.press("e")
        assert "Nothing was changed." in t.expect(KEY)
        t.press("l")
        assert t.code() == EXIT_WAITING
    assert not os.path.exists(Path((house.home / "seen").read_text()).parent)
