"""`note` and its commands, as people and scripts meet them."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

import pytest

from preflights_es.features.extraction.commands import item_line
from preflights_es.features.extraction.domain.events import ItemAdded, NoteItem
from preflights_es.features.extraction.domain.state import ShownItem
from preflights_es.kernel.events import Actor
from preflights_es.store import jsonl
from preflights_es.system import clock_ids
from tests.cli.program import RAW, Project
from tests.cli.terminal import ANSWER, terminal
from tests.each import each
from tests.filed_cases import filed_cases
from tests.fixed import NOON, memory_runner

FILED = filed_cases(__file__)

CHEF = "Email an Chef\nMeeting @2031-11-24T14:00\nPräsentation fertig"
UNDATED = "Arzt @14:00"
FAILING = ("--provider", "sim", "--faults", "malformed=1")
SECRETS = (
    "sk-ant-api03-Zb9Qv1xT7LmPo3Rk5Ys8Wd2Hf4Jg6NcAeUiXyBv0MnQpRsTuVwXyZa1B",
    "ada@example.org",
    "hunter2hunter2",
)


def titles(found: Any) -> list[str]:
    return [item["title"] for item in found["items"]]


def taken(house: Project, note: str = CHEF, *args: str) -> Any:
    return house.call("note", note, "--json", *args).json


# 1. Taking a note ----------------------------------------------------------------------------


def test_a_note_becomes_items_that_can_be_named(house: Project) -> None:
    done = house.call("note", CHEF)
    assert done.code == 0, done.err
    session, *items = [line.strip() for line in done.out.splitlines()[1:5]]
    id_ = session.split()[1].rstrip(",")
    assert session == f"note {id_}, processed"
    assert items == [
        f"{id_}.1  task   Email an Chef",
        f"{id_}.2  event  Meeting  (Mon 24 Nov 2031 14:00)",
        f"{id_}.3  task   Präsentation fertig",
    ]
    assert done.err == ""
    assert done.out.splitlines()[-1].startswith(f"Wrong? preflights note cancel {id_}.N, then")


def test_a_note_as_json_has_every_field(house: Project) -> None:
    found = taken(house, "Arzt @14:00\nMilch ~30m !high due:2026-12-04", "--language", "de")
    id_ = found["session_id"][-8:]
    assert found["format"] == "note/1"
    assert (found["workflow"], found["status"], found["note_status"]) == (
        "extraction",
        "needs_answers",
        "pending",
    )
    assert (found["question"], found["calls"], found["language"]) == (
        "An welchem Tag: „Arzt“?",
        0,
        "de",
    )
    assert (found["warnings"], found["refused"]) == ([], [])
    both = {"status": "open", "source": "extracted", "confidence": 1.0}
    event = {"id": f"{id_}.1", "type": "event", "title": "Arzt", "start_time": "14:00"}
    task = {"id": f"{id_}.2", "type": "task", "title": "Milch", "importance": "high"}
    more = {"duration_min": 30, "duration_max": 30, "due": "2026-12-04"}
    assert found["items"] == [{**both, **event}, {**both, **task, **more}]
    assert [question["id"] for question in found["questions"]] == ["date"]


@each(
    ("args", "stdin"),
    [
        (("-",), b"milk\r\nbread"),
        ((), b"milk\nbread\n"),
        (("--file", "-"), b"\xef\xbb\xbfmilk\rbread"),
        (("--file", "list.txt"), b""),
        (("take", "milk\nbread"), b""),
    ],
)
def test_a_note_comes_from_words_a_file_or_a_pipe(
    house: Project, args: tuple[str, ...], stdin: bytes
) -> None:
    (house.folder / "list.txt").write_bytes(b"\xef\xbb\xbf- milk\n- bread\n")
    done = house.call("note", *args, "--json", stdin=stdin)
    assert done.code == 0, done.err
    assert titles(done.json) == ["milk", "bread"]
    assert "\r" not in done.json["note"]


@each(
    ("args", "note"),
    [
        (("--json", "--", "- Milch"), "- Milch"),
        (("take", "--json", "--", "- Milch"), "- Milch"),
        (("--json", "--no-input", "--", "- Milch\n- Brot"), "- Milch\n- Brot"),
        (("--json", "--", "-5 Grad am Montag"), "-5 Grad am Montag"),
        (("--json", "--", "--file"), "--file"),
        (("--json", "--", "done"), "done"),
        (("take", "--json", "cancel"), "cancel"),
        (("--json", "list the apples"), "list the apples"),
        (("--json", "- Milch"), "- Milch"),
    ],
)
def test_what_begins_with_a_dash_or_names_a_command_may_be_the_note(
    house: Project, args: tuple[str, ...], note: str
) -> None:
    done = house.call("note", *args)
    assert done.code == 0, done.err
    assert done.json["note"] == note


@each(
    ("words", "meant"),
    [("lst", "list"), ("lsit", "list"), ("lists", "list"), ("cancl", "cancel"), ("Dona", "done")],
)
def test_a_slip_of_a_command_is_no_note(house: Project, words: str, meant: str) -> None:
    for typed in ((words,), (words, "--json"), ("--json", words)):
        done = house.call("note", *typed)
        assert (done.code, done.out) == (2, "")
        assert f"did you mean `note {meant}`? To take it as a note: preflights note -- " in done.err
    assert house.call("note", "--json", "--", words).json["note"] == words


@each("word", ["milk", "lost+found", "listing", "do", "a list", "cake", "lsit"])
def test_another_word_is_a_note(house: Project, word: str) -> None:
    assert house.call("note", "take", word, "--json").json["note"] == word
    if word != "lsit":
        assert house.call("note", word, "--json").json["note"] == word


def test_a_title_with_a_dash_is_filed_and_no_surroundings_keep_a_note_out(house: Project) -> None:
    done = house.call("note", "add", "--json", "task", "--", "- Milch")
    assert done.code == 0, done.err
    assert titles(done.json) == ["- Milch"]
    for zone in ("Europe/Berlin", "\udcff", "x\ny", "x" * 5_000):
        done = house.call("note", UNDATED, "--json", env={"TZ": zone})
        assert done.code == 3, done.err
        assert titles(done.json) == ["Arzt"]


@each(
    ("args", "content", "code", "told"),
    [
        (("",), b"", 1, "the note is empty"),
        ((" \n\t ",), b"", 1, "the note is empty"),
        ((), b"", 1, "the note is empty"),
        (("a", "b"), b"", 2, "the note has 2 parts"),
        (("a", "--file", "list.txt"), b"", 2, "not both"),
        (("--file", ""), b"", 2, "it is empty"),
        (("--file", "missing.txt"), b"", 1, "missing.txt cannot be read"),
        (("--file", "."), b"", 1, ". cannot be read"),
        (("--file", "list.txt"), b"a\xffb", 1, "list.txt is not UTF-8, at byte 2"),
        (("--file", "list.txt"), b"\xff" * 100_000, 1, "list.txt is too long"),
        (("--file", "list.txt"), "ä".encode() * 50_000, 1, "list.txt is too long"),
        (("--file", "list.txt"), b"a" * 20_001, 1, "20,001 characters, at most 20,000"),
        (("--file", "list.txt"), b"a" * 1_000_000, 1, "at most 20,000"),
        (("--file", "list.txt"), b"a\0b", 1, "control character U+0000"),
        (("a\x1b[31mb",), b"", 1, "control character U+001B"),
        (
            ("milk\nx due:someday",),
            b"",
            1,
            "line 2, 'x due:someday': found 'due:someday', expected",
        ),
        (("x @25:00",), b"", 1, "found '@25:00', expected @14:00, @fri-14:00 or"),
        (("x" * 201,), b"", 1, "found a title of 201 characters, expected 1 to 200"),
        (("x\n" * 51,), b"", 1, "line 51, 'x': found one line too many, expected at most 50"),
        (("x @14:00\ny @15:00",), b"", 1, "found a second time without a day"),
        (("x", "--provider", "nope"), b"", 2, "expected one of mock, sim"),
        (("x", "--language", "fr"), b"", 2, "expected en or de"),
        (("x", "--provider", "anthropic"), b"", 5, "ANTHROPIC_API_KEY"),
    ],
)
def test_what_is_no_note_is_refused_before_it_is_recorded(
    house: Project, args: tuple[str, ...], content: bytes, code: int, told: str
) -> None:
    (house.folder / "list.txt").write_bytes(content)
    done = house.call("note", *args)
    assert (done.code, told in done.err) == (code, True), done
    assert done.is_safe()
    assert house.call("sessions", "--json").json["sessions"] == []


@each(
    ("args", "env", "question"),
    [
        ((), {}, "On which day: “Arzt”?"),
        (("--language", "de"), {}, "An welchem Tag: „Arzt“?"),
        ((), {"LC_ALL": "", "LANG": "de_DE.UTF-8"}, "An welchem Tag: „Arzt“?"),
        ((), {"LC_ALL": "de_AT"}, "An welchem Tag: „Arzt“?"),
        ((), {"PREFLIGHTS_LANGUAGE": "de"}, "An welchem Tag: „Arzt“?"),
        (("--language", "en"), {"PREFLIGHTS_LANGUAGE": "de"}, "On which day: “Arzt”?"),
        ((), {"LC_ALL": "de_DE", "PREFLIGHTS_LANGUAGE": "en"}, "On which day: “Arzt”?"),
    ],
)
def test_the_person_is_asked_in_their_language(
    house: Project, args: tuple[str, ...], env: dict[str, str], question: str
) -> None:
    done = house.call("note", UNDATED, *args, env=env)
    assert done.code == 3
    assert question in done.out


# 2. The question -----------------------------------------------------------------------------


def test_the_question_is_answered_once_by_its_value_also_at_a_terminal(house: Project) -> None:
    taken(house, f"{UNDATED}\nMilch kaufen")
    done = house.call("answer", house.newest(), "2026-12-01", "--json")
    assert done.code == 0
    assert done.json["question"] is None
    assert done.json["items"][0]["date"] == "2026-12-01"
    assert (done.json["status"], done.json["calls"]) == ("done", 0)
    assert "is answered already" in house.call("answer", house.newest(), "date=sat").err
    assert "'x' is no question of this note" in house.call("answer", house.newest(), "x=15").err
    assert "no question is open" in house.call("answer", house.newest(), "15").err
    with terminal(house, "note", UNDATED) as t:
        assert "On which day: “Arzt”?" in t.expect(ANSWER)
        t.type("2031-11-24")
        said = t.rest()
        assert "Arzt  (Mon 24 Nov 2031 14:00)" in said
        assert "processed" in said
        assert t.code() == 0


@each(
    ("words", "told"),
    [
        (("x=1",), "'x' is no question of this note: it takes date"),
        (("",), "'date' was given no value"),
        (("soon",), "'date' takes a day such as fri, tomorrow or 2026-12-01"),
        (("fri", "sat"), "takes one value: put quotes around words that belong together"),
    ],
)
def test_an_answer_that_is_none_says_why(house: Project, words: tuple[str, ...], told: str) -> None:
    taken(house, UNDATED)
    done = house.call("answer", house.newest(), *words)
    assert (done.code, told in done.err) == (1, True), done
    assert house.show()["status"] == "needs_answers"


@pytest.mark.slow("whole runs")
def test_a_question_that_is_left_waits(house: Project) -> None:
    with terminal(house, "note", UNDATED) as t:
        t.expect(ANSWER)
        t.end()
        assert "Go on with: preflights resume" in t.rest()
        assert t.code() == 3
    with terminal(house, "resume") as t:
        t.expect(ANSWER)
        t.type("2031-11-24")
        assert "(Mon 24 Nov 2031 14:00)" in t.rest()


# 3. What no model could read -----------------------------------------------------------------


@each(
    ("language", "sentence"),
    [
        ("en", "Could not process this. Please create it by hand."),
        ("de", "Konnte nicht verarbeiten. Bitte manuell erstellen."),
    ],
)
def test_a_note_that_no_model_could_read_is_kept_and_filed_by_hand(
    house: Project, language: str, sentence: str
) -> None:
    done = house.call("note", CHEF, *FAILING, "--language", language)
    assert done.code == 3
    assert f"warning: {sentence}" in done.err
    assert "File it by hand: preflights note add task TITLE --note" in done.out
    found = house.show()
    assert (found["note"], found["note_status"], found["items"]) == (CHEF, "unprocessed", [])
    assert found["calls"] == 2
    done = house.call("note", "add", "task", "Email an Chef", "--note", "last")
    assert done.code == 0
    assert house.show()["note_status"] == "processed"


def test_a_strict_note_waits_for_a_model_and_another_may_read_what_one_could_not(
    house: Project,
) -> None:
    done = house.call("note", "Milch", *FAILING, "--strict")
    assert (done.code, "resume asks it again" in done.err) == (5, True), done
    assert house.call("resume", house.newest()).code == 5
    done = house.call("resume", house.newest(), "--provider", "mock", "--json")
    assert (done.code, titles(done.json)) == (0, ["Milch"])
    assert house.call("replay", house.newest()).code == 0
    house.call("note", "Milch", *FAILING)
    done = house.call("resume", house.newest(), "--provider", "mock", "--json")
    assert (done.code, titles(done.json), done.json["warnings"]) == (0, ["Milch"], [])


# 4. By hand ----------------------------------------------------------------------------------


def test_items_filed_by_hand_have_all_that_they_can_have(house: Project) -> None:
    task = ("--minutes", "10-20", "--importance", "high", "--due", "2031-01-31")
    assert house.call("note", "add", "task", "Call", *task, "--energy", "admin").code == 0
    event = ("--start", "9:30", "--end", "10:00", "--date", "2031-01-31")
    assert house.call("note", "add", "event", "Arzt", *event).code == 0
    assert house.call("note", "add", "idea", "Podcast", "--content", "about\nlogs").code == 0
    listed = " ".join(house.call("note", "list").out.split())
    assert "Call (10-20 min, high importance, due Fri 31 Jan 2031, admin)" in listed
    assert "Arzt (Fri 31 Jan 2031 09:30-10:00)" in listed
    assert "Podcast: about logs" in listed
    item = house.call("note", "add", "task", "Call", "--due", "morgen", "--json").json["items"][0]
    day = clock_ids.local_day(clock_ids.now()).day
    assert date.fromisoformat(item["due"]) - date.fromisoformat(day) == timedelta(days=1)


@each(
    ("minutes", "said"),
    [("30", "30 min"), ("10-20", "10-20 min"), ("10-", "at least 10 min"), ("-20", "up to 20 min")],
)
def test_minutes_may_be_open_at_one_end(house: Project, minutes: str, said: str) -> None:
    assert house.call("note", "add", "task", "x", f"--minutes={minutes}").code == 0
    assert f"({said})" in house.call("note", "list").out


WRONG = [
    (("task", "x", "--minutes", "a"), 1, "1 to 480 minutes"),
    (("task", "x", "--minutes", "20-10"), 1, "at least the shortest"),
    (("task", "x", "--minutes", "1-2-3"), 1, "1 to 480 minutes"),
    (("task", "x", "--due", "31.1.2027"), 1, "a day such as fri, tomorrow or 2026-12-01"),
    (("task", "x", "--start", "10:00"), 1, "an item of this type has no start time"),
    (("event", "x", "--start", "25:00"), 1, "a time such as 14:30"),
    (("event", "x", "--start", "10:00"), 1, "the day is missing: give a day such as fri"),
    (("event", "x", "--date", "fri"), 1, "the start time is missing: give a time such as 14:30"),
    (("event", "x", "--minutes", "5"), 1, "an item of this type has no duration"),
    (("idea", " "), 1, "1 to 200 characters on one line"),
    (("idea", "x" * 201), 1, "1 to 200 characters on one line"),
    (("idea", "x" * 2_001), 1, "the title has 2,001 characters"),
    (("idea", "a\x1bb"), 1, "control character U+001B"),
    (("task", "x", "--importance", "HIGH"), 2, "is not one of"),
    (("note", "x"), 2, "is not one of"),
    (("task",), 2, "Missing argument"),
    (("task", "x", "--note", ""), 2, "it is empty"),
    (("task", "x", "--note", "9999"), 1, "no session matches"),
]


@each(("args", "code", "told"), WRONG)
def test_a_wrong_value_is_refused_and_opens_no_session(
    house: Project, args: tuple[str, ...], code: int, told: str
) -> None:
    done = house.call("note", "add", *args)
    assert (done.code, told in done.err) == (code, True), done
    assert done.is_safe()
    assert house.call("sessions", "--json").json["sessions"] == []


def test_a_wrong_value_is_recorded_in_a_note_and_only_a_note_takes_items(house: Project) -> None:
    taken(house, "Milch")
    done = house.call("note", "add", "task", "x", "--due", "soon", "--note", "last")
    assert (done.code, "Not done: the due" in done.err) == (1, True)
    assert house.events()[-1]["type"] == "extraction.change_refused.v1"
    house.started_session()
    other = house.show()["session_id"]
    refusal = "is of the workflow clarification; this command is for notes"
    done = house.call("note", "add", "task", "x", "--note", other)
    assert (done.code, refusal in done.err) == (1, True)
    done = house.call("note", "done", f"{other}.1")
    assert (done.code, refusal in done.err) == (1, True)


# 5. Tasks ------------------------------------------------------------------------------------


def test_a_task_is_done_once_and_named_by_any_end_of_its_session(house: Project) -> None:
    taken(house)
    assert house.call("note", "done", "last.1").code == 0
    done = house.call("note", "done", "last.1")
    assert (done.code, done.err) == (1, "Not done: it is done or cancelled already\n")
    assert house.call("note", "cancel", "last.3").code == 0
    assert house.call("note", "cancel", "last.2").code == 0
    assert house.call("note", "list").out == "Nothing is open here.\n"
    listed = house.call("note", "list", "--all", "--json").json
    assert listed["format"] == "items/1"
    assert [item["status"] for item in listed["items"]] == ["done", "cancelled", "cancelled"]
    id_ = taken(house)["session_id"]
    for typed in (f"{id_}.1", f"{id_[-8:]}.3"):
        assert house.call("note", "done", typed).code == 0
    assert house.call("note", "done", " last.2 ").err == "Not done: it is no task\n"


@each(("typed", "told"), FILED["what_names_no_task_is_refused"])
def test_what_names_no_task_is_refused(house: Project, typed: str, told: str) -> None:
    taken(house)
    done = house.call("note", "done", typed)
    assert done.code in (1, 2), done
    assert told in done.err
    assert done.is_safe()


def test_the_list_is_of_this_project_and_of_what_was_not_given_up(house: Project) -> None:
    taken(house, "Milch\nMeeting @2026-12-01T14:00\nIdee: Podcast")
    taken(house, "Brot")
    listed = house.call("note", "list", "--json").json
    assert titles(listed) == ["Milch", "Meeting", "Podcast", "Brot"]
    house.call("abandon", house.newest())
    assert titles(house.call("note", "list", "--json").json) == ["Milch", "Meeting", "Podcast"]
    elsewhere = {"PREFLIGHTS_PROJECT": "other"}
    assert house.call("note", "list", "--json", env=elsewhere).json["items"] == []


# 6. As any session ---------------------------------------------------------------------------


def test_a_note_is_moved_like_any_session_and_takes_nothing_once_given_up(house: Project) -> None:
    id_ = taken(house)["session_id"]
    before = house.show()
    assert "Email an Chef" in house.call("show", house.newest()).out
    assert "The items were extracted" in house.call("log", house.newest()).out
    assert "identical" in house.call("replay", house.newest()).out
    exported = house.call("admin", "export", house.newest()).out.encode()
    other = house.folder / "other.db"
    assert house.call("admin", "import", "-", "--db", str(other), stdin=exported).code == 0
    moved = house.call("show", id_, "--db", str(other), "--json").json
    assert moved == before
    taken(house, f"{UNDATED}\nMilch")
    assert house.call("abandon", house.newest(), "--reason", "not mine").code == 0
    found = house.show()
    assert (found["status"], found["question"], found["questions"]) == ("abandoned", None, [])
    assert ", abandoned" in house.call("show", house.newest()).out
    for command in (("note", "done", "last.2"), ("note", "add", "task", "x", "--note", "last")):
        done = house.call(*command)
        assert (done.code, "was abandoned" in done.err) == (1, True)


@each(
    ("command", "told"),
    [
        (("accept", "NOTE", "--by", "Ada"), "workflow extraction: it proposes nothing to accept"),
        (("prompt", "NOTE"), "no brief for agents"),
        (("admin", "render", "NOTE"), "write no documents"),
        (("revise", "NOTE", "date=fri"), "its answers cannot be changed"),
    ],
)
def test_what_is_not_for_notes_is_refused_clearly(
    house: Project, command: tuple[str, ...], told: str
) -> None:
    taken(house)
    before = house.show()
    done = house.call(*(before["session_id"] if word == "NOTE" else word for word in command))
    assert (done.code, told in done.err) == (1, True), done
    assert house.show() == before


# 7. What was made to harm --------------------------------------------------------------------


def test_titles_are_shown_as_they_are_and_do_nothing(house: Project) -> None:
    odd = ("a\u2028b", "\ufeffx", "{0} %s", "x\U000e0041")
    for title in ("[bold]x[/bold]", "\u202eevil\u2066", ":smile: x", *odd):
        assert house.call("note", "add", "task", title).code == 0
        assert house.call("note", f"{title}, Arzt").code == 0
    for command in ("note list", "sessions --all-workflows"):
        done = house.call(*command.split())
        assert done.code == 0
        assert done.is_safe(), command
    out = house.call("note", "list").out
    assert "[bold]x[/bold]" in out
    assert "\\u202eevil\\u2066" in out
    assert ":smile: x" in out


FORGED = re.compile(" {0,4}ffffffff")
"""How a line begins that could be an item of its own; a cell that goes on stands further in."""


def test_no_title_forges_a_line_and_a_number_to_call_stays(house: Project) -> None:
    house.call("note", "add", "task", "x\nffffffff.1   forged\r\nffffffff.2   forged")
    house.call("note", "x\u2028ffffffff.3 forged")
    for command in ("note list", "sessions", "show"):
        lines = house.call(*command.split()).out.splitlines()
        assert not any(map(FORGED.match, lines)), command
    for title in ("Call Kim at 555 0100 tomorrow", "Call Kim at +1 212 555 0100", "Mail k@kim.org"):
        done = house.call("note", "add", "task", title, "--json")
        assert (titles(done.json), done.err) == ([title], "")


def test_a_file_that_was_made_to_harm_is_shown_and_does_nothing(house: Project) -> None:
    """The author of a file can chain any content, a model's titles among it."""
    evil = "x\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\nffffffff.1  forged"
    maker = memory_runner()
    item = NoteItem(
        number=1, type="task", title=evil, source="extracted", importance="high", due=evil
    )
    first = ItemAdded(
        at=NOON, actor=Actor("user", evil), type="idea", title="x", fields=(("content", evil),)
    )
    made = maker.open(maker.workflow("extraction"), "house", first, maker.new_id(), maker.new_id())
    changed = ItemAdded(at=NOON, actor=Actor("agent", evil), type="task", title=evil)
    made = maker.submit(made.handle, changed, maker.new_id())
    id_ = made.handle.session_id
    taken_over = house.call(
        "admin", "import", "-", stdin=jsonl.encode_event_file(maker.store.read(id_))
    )
    assert taken_over.code == 0, taken_over.err
    reading = (("show", id_), ("log", id_), ("note", "list"), ("sessions",))
    for command in reading:
        done = house.call(*command)
        assert (done.code, done.is_safe()) == (0, True), command
        assert not any(map(FORGED.match, done.out.splitlines())), command
    assert not RAW & set(item_line(ShownItem.of(made.handle.session_id, item)))


def test_secrets_are_taken_out_of_notes_titles_and_fields(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('redact = ["email"]\n')
    key, mail, password = SECRETS
    done = house.call("note", f"mail {mail}, key {key}")
    assert "warning: 2 secrets were taken out before recording" in done.err
    house.call("note", "add", "idea", f"ask {mail}", "--content", f"password: {password}")
    house.call("note", "add", "task", "x", "--due", f"password: {password}", "--note", "last")
    house.call("note", UNDATED)
    house.call("answer", house.newest(), f"fri, password: {password}")
    recorded = house.recorded()
    for secret in SECRETS:
        assert secret.encode() not in recorded, secret
    for kind in ("key", "email", "password"):
        assert f"[redacted:{kind}]".encode() in recorded
