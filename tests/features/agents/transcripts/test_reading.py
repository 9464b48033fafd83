"""What came of a question is read off both formats, and no silence becomes a person's answer."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from preflights_es.features.agents.transcripts.importing import READERS
from preflights_es.features.agents.transcripts.reader import Agent, AskedQuestion, Findings, Project
from preflights_es.kernel.questions import ANSWERED
from tests.each import each
from tests.features.agents.transcripts.cases import CASES, PG
from tests.features.agents.transcripts.writing import (
    HERE,
    QUESTION,
    Case,
    claude_asks,
    claude_edits,
    claude_result,
    codex_asks,
    codex_begins,
    codex_edits,
    codex_line,
    codex_output,
    question,
    text_of,
    transcript,
)

Lines = Sequence[Mapping[str, Any]]


def read(agent: Agent, *transcripts: bytes | Lines) -> Findings:
    """What is found in transcripts, the first of which is the oldest."""
    found, project = Findings(), Project(Path(HERE))
    for one in transcripts:
        reader = READERS[agent](project, found)
        for line in (one if isinstance(one, bytes) else text_of(one)).splitlines(keepends=True):
            reader.take(line)
        reader.end()
    return found


def only(found: Findings) -> AskedQuestion:
    """The one question."""
    (asked,) = found.asked()
    return asked


def test_there_are_sixty_conversations_over_all_outcomes() -> None:
    assert len(CASES) >= 60
    assert len({(case.agent, case.name) for case in CASES}) == len(CASES)
    for agent, known in (("claude", 8), ("codex", 6)):
        assert len({case.outcome for case in CASES if case.agent == agent}) >= known - 1


@each("case", CASES)
def test_what_came_of_a_question_is_read(case: Case) -> None:
    found = read(case.agent, transcript(case))
    asked = only(found)
    assert (asked.outcome, asked.answers) == (case.outcome, case.answers)
    assert asked.is_answered == bool(case.answers) == (case.outcome in ANSWERED)
    assert (asked.question, asked.header) == (QUESTION, "Database")
    assert asked.asked_at is not None
    assert asked.answered_at is not None
    assert asked.answered_at > asked.asked_at
    assert asked.files == ["orders.py"]
    assert (found.tally.unknown, found.tally.damaged, found.tally.elsewhere) == (0, 0, 0)


def test_no_silence_is_ever_a_persons() -> None:
    """Whatever a transcript says besides, one of these signs is enough."""
    silent = (
        {"result": {"answers": {QUESTION: PG}, "afkTimeoutMs": 1}},
        {"text": "No response after 60s", "result": {"answers": {QUESTION: PG}}},
        {"asks": {"answers": {QUESTION: PG}}},
        {"line": {"entrypoint": "sdk-ts"}},
        {"is_error": True},
    )
    for case in (one for one in CASES if one.agent == "claude"):
        for sign in silent:
            asked = only(read("claude", transcript(case._replace(**sign))))
            assert not asked.is_answered, (case.name, sign)
            assert asked.answers == ()


@each("case", CASES[::4])
def test_a_transcript_may_be_cut_anywhere(case: Case) -> None:
    text = text_of(transcript(case))
    for length in range(0, len(text), 7):
        found = read(case.agent, text[:length])
        for asked in found.asked():
            whole = (case.outcome, case.answers)
            assert (asked.outcome, asked.answers) in (whole, ("unattended", ()))
        assert found.tally.damaged <= 1


def test_several_questions_of_a_call_are_several_decisions() -> None:
    two = (question(), question("Which cache?", id="cache"))
    said = {"answers": {QUESTION: PG, "Which cache?": "none"}}
    found = read(
        "claude",
        [claude_asks(1, "t1", *two, asks={}), claude_result(2, "t1", said)],
    ).asked()
    assert [(one.call, one.answers) for one in found] == [("t1", (PG,)), ("t1/2", ("none",))]
    told = {"answers": {"db": {"answers": [PG]}, "cache": {"answers": []}}}
    lines = [*codex_begins(), codex_asks(2, "c1", *two), codex_output(3, "c1", told)]
    assert [one.outcome for one in read("codex", lines).asked()] == ["answered", "empty"]


def test_older_versions_tell_several_answers_in_a_sentence() -> None:
    two = (question(), question("Which cache?"))
    said = f'Your questions have been answered: "{QUESTION}"="a, b", "Which cache?"="no". Go on.'
    lines = [claude_asks(1, "t1", *two, asks={}), claude_result(2, "t1", None, said)]
    assert [one.answers for one in read("claude", lines).asked()] == [("a, b",), ("no",)]


def test_what_is_still_open_at_the_end_has_no_answer() -> None:
    for agent, lines in (
        ("claude", [claude_asks(1, "t1", question(), asks={})]),
        ("codex", [*codex_begins(), codex_asks(2, "c1", question())]),
    ):
        assert only(read(agent, lines)).outcome == "unattended"  # type: ignore[arg-type]


# Conversations that go on elsewhere ----------------------------------------------------------


def test_a_conversation_that_was_resumed_or_forked_counts_once() -> None:
    first = transcript(CASES[0])
    forked = [{**line, "sessionId": "c2"} for line in first]
    more = claude_edits(9, "toolu_9", f"{HERE}/later.py")
    found = read("claude", first, first, [*forked, *more])
    asked = only(found)
    assert (asked.conversation, asked.origins) == ("c1", ["c2"])
    assert asked.files == ["orders.py", "later.py"]
    assert found.tally.repeated == 2


def test_an_answer_in_a_fork_counts_where_the_origin_has_none() -> None:
    first = transcript(CASES[0])
    for transcripts in ((first[:2], first), (first, first[:2])):
        assert only(read("claude", *transcripts)).answers == (PG,)


def test_a_fork_of_codex_keeps_its_own_beginning() -> None:
    case = next(case for case in CASES if case.agent == "codex")
    origin = transcript(case)
    fork = [*codex_begins(id="x2"), *origin]
    found = read("codex", origin, fork)
    assert (only(found).conversation, only(found).origins) == ("x1", ["x2"])
    assert found.tally.repeated == 1
    alone = only(read("codex", fork))
    assert (alone.conversation, alone.origins) == ("x2", ["x1"])


def test_without_its_first_line_a_rollout_shows_no_person() -> None:
    case = next(case for case in CASES if case.agent == "codex")
    assert only(read("codex", transcript(case)[1:])).outcome == "unattended"


def test_a_fork_of_claude_names_its_origin() -> None:
    fork = [
        {**line, "sessionId": "c2", "forkedFrom": {"sessionId": "c1", "messageUuid": "u"}}
        for line in transcript(CASES[0])
    ]
    assert only(read("claude", fork)).origins == ["c1"]


def test_questions_come_in_the_order_of_time() -> None:
    late, early = transcript(CASES[0]), transcript(CASES[1])
    early = json.loads(json.dumps(early).replace("toolu_1", "t0").replace("2026-", "2025-"))
    found = read("claude", late, early)
    assert [one.call for one in found.asked()] == ["t0", "toolu_1"]


# Other projects, other agents ----------------------------------------------------------------


def test_only_this_project_counts() -> None:
    for folder, is_here in (
        (HERE, True),
        (f"{HERE}/src", True),
        (f"{HERE}/src/../..", False),
        (f"{HERE}-2", False),
        ("/work", False),
        ("shop", False),
        ("", False),
        ("/work/shop\0", False),
    ):
        lines = [{**line, "cwd": folder} for line in transcript(CASES[0])]
        found = read("claude", lines)
        assert (len(found.asked()), found.tally.elsewhere) == ((1, 0) if is_here else (0, 1))
        case = next(case for case in CASES if case.agent == "codex")
        found = read("codex", transcript(case._replace(line={"cwd": folder})))
        assert (len(found.asked()), found.tally.elsewhere) == ((1, 0) if is_here else (0, 1))


def test_subagents_are_counted_and_passed_over() -> None:
    lines = [{**line, "isSidechain": True} for line in transcript(CASES[0])]
    found = read("claude", lines)
    assert (found.asked(), found.tally.subagents) == ([], len(lines))
    case = next(case for case in CASES if case.agent == "codex")
    found = read("codex", transcript(case._replace(line={"source": {"subagent": "review"}})))
    assert found.asked() == []
    assert found.tally.subagents > 0


# Files ---------------------------------------------------------------------------------------


def test_files_of_the_project_that_were_edited_next_are_named() -> None:
    asked = transcript(CASES[0])[:3]
    lines = [
        *claude_edits(0, "e0", f"{HERE}/before.py"),
        *asked,
        *claude_edits(10, "e1", f"{HERE}/src/a.py", "Write"),
        *claude_edits(12, "e2", "src/../b.py", "MultiEdit"),
        *claude_edits(14, "e3", f"{HERE}/src/a.py"),
        *claude_edits(16, "e4", "/etc/passwd"),
        *claude_edits(18, "e5", "../../etc/passwd"),
        *claude_edits(20, "e6", HERE),
        claude_edits(22, "e7", f"{HERE}/refused.py")[0],
        claude_result(23, "e7", "Error", "The user refused", is_error=True),
        claude_edits(24, "e8", f"{HERE}/no-result.py")[0],
        claude_asks(30, "t2", question("Next?"), asks={}),
        *claude_edits(31, "e9", f"{HERE}/after-the-next-question.py"),
    ]
    assert read("claude", lines).asked()[0].files == ["src/a.py", "b.py"]


def test_a_patch_of_codex_names_its_files() -> None:
    case = next(case for case in CASES if case.agent == "codex")
    patch = (
        "*** Begin Patch\n*** Add File: src/a.py\n+x\n*** Update File: b.py\n*** Move to: c.py\n"
        "*** Delete File: /etc/passwd\n*** Update File: ../../d.py\n*** End Patch"
    )
    shell = {"type": "function_call", "name": "shell", "call_id": "s1"}
    lines = [
        *transcript(case)[:4],
        codex_line(
            5,
            "response_item",
            {**shell, "arguments": json.dumps({"command": ["apply_patch", patch]})},
        ),
        codex_output(6, "s1", {"output": "Done", "metadata": {"exit_code": 0}}),
        *codex_edits(7, "p2", "failed.py", "apply_patch verification failed: no match"),
        *codex_edits(9, "p3", "broken.py", '{"output":"","metadata":{"exit_code":1}}'),
    ]
    assert only(read("codex", lines)).files == ["src/a.py", "b.py", "c.py"]


# Hostile lines -------------------------------------------------------------------------------

HOSTILE = (
    b"\x00" * 1_000,
    b"\xff\xfe{",
    b"[" * 10_000,
    b'{"type":"user","message":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    b'{"type":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
    b'{"type":"assistant","message":{"content":[{"type":"tool_use","name":"AskUserQuestion"}]}}',
    b'{"type":"assistant","message":{"content":"\\ud800"}}',
    b'{"type":"assistant","message":{"content":[1]}}',
    b'{"type":7}',
    b'{"type":"user","cwd":7}',
    b'{"type":"response_item","payload":[]}',
    b'{"type":"session_meta","payload":{"id":1}}',
    b'{"type":"response_item","payload":{"type":"function_call","name":"request_user_input"}}',
    b"null",
    b"7",
    b'"text"',
    b"{}",
)


@pytest.mark.parametrize("agent", READERS)
def test_no_line_stops_the_reading(agent: Agent) -> None:
    case = next(case for case in CASES if case.agent == agent)
    lines = text_of(transcript(case)).splitlines()
    for hostile in HOSTILE:
        found = read(agent, b"\n".join((hostile, *lines[:-3], hostile, *lines[-3:], b"", hostile)))
        assert only(found).answers == case.answers, hostile[:60]
        assert found.tally.damaged + found.tally.unknown == 3, hostile[:60]


VALUES: tuple[Any, ...] = (
    *(None, 0, True, "", "x", [], {}, [None], ["x"], {"answers": 1}, 10**40, "\ud800", "\0"),
    *('{"answers":[]}', '{"answers":{"db":3}}', {"answers": {"db": {"answers": {}}}}),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where each part of a value stands."""
    listed = value if isinstance(value, list) else ()
    for key, part in value.items() if isinstance(value, dict) else enumerate(listed):
        yield (*at, key)
        yield from places(part, (*at, key))


def test_any_part_may_be_something_else() -> None:
    chance = random.Random(16)
    for _ in range(800):
        case = chance.choice(CASES)
        lines = json.loads(json.dumps(transcript(case)))
        *way, last = chance.choice(list(places(lines)))
        part: Any = lines
        for key in way:
            part = part[key]
        part[last] = chance.choice(VALUES)
        for asked in read(case.agent, lines).asked():
            assert asked.is_answered == bool(asked.answers)


@pytest.mark.parametrize("agent", READERS)
def test_a_newer_format_is_counted_and_passed_over(agent: Agent) -> None:
    case = next(case for case in CASES if case.agent == agent)
    new = {"type": "something-new", "timestamp": "?", "payload": {"type": "x"}}
    lines = [new, *({**line, "newField": {"a": [1]}} for line in transcript(case)), new]
    found = read(agent, lines)
    assert only(found).answers == case.answers
    assert (found.tally.unknown, found.tally.damaged) == (2, 0)


def test_texts_and_lists_are_bounded() -> None:
    many = question("Q" * 9_000, options=[{"label": f"{n}" * 5_000} for n in range(200)])
    lines = [
        claude_asks(1, "t1", many, asks={}),
        claude_result(2, "t1", {"answers": {"Q" * 9_000: "a" * 9_000}}),
        *(line for n in range(200) for line in claude_edits(3, f"e{n}", f"{HERE}/{n}.py")),
    ]
    asked = only(read("claude", lines))
    assert len(asked.question) == len(asked.answers[0]) == 4_000
    assert (len(asked.options), len(asked.files)) == (50, 50)


def test_no_line_takes_time_that_grows_faster_than_the_line() -> None:
    """Each of these takes minutes where its square counts."""
    many = [question(f"{n}?") for n in range(20_000)]
    long = question(several=True, options=["a", "b" * 100_000])
    patch = "*** Begin Patch\n*** Add File: " + " " * 1_000_000 + "x"
    lines = [
        claude_asks(1, "t1", *many, asks={}),
        claude_result(2, "t1", None, '"1?"="' * 100_000),
        claude_asks(3, "t2", long, asks={}),
        claude_result(4, "t2", {"answers": {QUESTION: "a, c, " * 500_000}}),
    ]
    asked = read("claude", lines).asked()
    assert (len(asked), asked[-1].outcome) == (21, "several")
    case = next(case for case in CASES if case.agent == "codex")
    more = [*codex_edits(5, "p1", "\n".join(["a.py", *[f"*** Add File: {patch}"] * 3]))]
    assert only(read("codex", [*transcript(case)[:4], *more])).files[0] == "a.py"


def test_open_calls_are_bounded() -> None:
    lines = [claude_asks(1, f"t{n}", question(), asks={}) for n in range(1_100)]
    found, project = Findings(), Project(Path(HERE))
    reader = READERS["claude"](project, found)
    for line in text_of(lines).splitlines():
        reader.take(line)
    assert len(reader.calls) == 1_000
    reader.end()
    assert len(found.asked()) == 1_100


@each(
    ("said", "is_known"),
    [
        ("2026-11-23T10:00:00.000Z", True),
        ("2026-11-23T10:00:00+01:00", True),
        ("2026-11-23T10:00:00", False),
        ("0001-01-01T00:00:00+23:00", True),
        ("yesterday", False),
        ("", False),
        (None, False),
    ],
)
def test_a_time_that_is_none_is_left_out(said: str | None, is_known: bool) -> None:
    lines = [{**line, "timestamp": said} for line in transcript(CASES[0])]
    assert (only(read("claude", lines)).asked_at is not None) == is_known


def test_a_project_is_known_by_each_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    project = Project(tmp_path / "link")
    for name in ("real", "link"):
        assert project.holds(str(tmp_path / name / "src"))
    assert not project.holds(str(tmp_path))
    assert project.relative(["a/b.py", "", "."], str(tmp_path / "real")) == ["a/b.py"]
