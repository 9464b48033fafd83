"""Both sides of recorded calls are asked, by a server that imitates the providers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from preflights_es.features.calls.domain.asking import AskedCall, digest_answer
from preflights_es.features.calls.domain.dialects import ReadAnswer
from preflights_es.features.calls.domain.events import CallsBegun
from preflights_es.features.calls.kept_answers import (
    erase_kept_answers,
    folder_of_answers,
    read_last_run,
)
from preflights_es.features.calls.pairs import (
    FORM,
    FROZEN,
    RECORDED,
    REDACTED,
    REPEATED,
    UNTOUCHED,
    CallPairs,
)
from preflights_es.kernel.errors import Refused
from preflights_es.settings.load import Options
from preflights_es.use.bootstrap import opened_process
from preflights_es.use.request import Request
from preflights_es.words.pairs import PairsAsked, SessionPair
from tests.features.calls.asked import asked_call
from tests.providers import server
from tests.providers.server import FakeAPI, Reply

NEW: Final = PairsAsked(model="new", is_live=True)
Rule = Callable[[dict[str, Any]], str]


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as found:
        yield found


@contextmanager
def opened_request(
    folder: Path, provider: str, address: str, log: Path | None = None
) -> Iterator[Request]:
    options = Options(provider=provider, base_url=address)
    opened = opened_process(folder, options=options, database=str(log or folder / "log.db"))
    yield opened.request()
    opened.process.close()


@pytest.fixture
def request_(tmp_path: Path, api: FakeAPI) -> Iterator[Request]:
    with opened_request(tmp_path, "openai", api.openai) as found:
        yield found


def said(rule: Rule) -> Reply:
    """Answers by what is asked."""
    return lambda request: server.text(rule(request.body))(request)


def by_model(body: dict[str, Any]) -> str:
    """The new model finds an order in the second mail."""
    is_lost = body["model"] == "new" and "Mail 2" in str(body)
    return "order" if is_lost else "refund"


def taken(request: Request, asked: PairsAsked, *sessions: list[AskedCall]) -> CallPairs:
    named = {
        f"session {number}": [replace(call, session_id=f"session {number}") for call in calls]
        for number, calls in enumerate(sessions)
    }
    pairs = CallPairs(request, asked, lambda session_id, _events: named[session_id])
    for session_id in named:
        pairs.take(session_id, ())
    return pairs


def judged(request: Request, asked: PairsAsked, *sessions: list[AskedCall]) -> list[SessionPair]:
    pairs = taken(request, asked, *sessions)
    pairs.plan()
    return list(pairs.judged(lambda _: None))


def test_both_sides_are_asked_and_what_agrees_is_right(request_: Request, api: FakeAPI) -> None:
    api.script(said(by_model))
    pairs = taken(request_, NEW, [asked_call(1)], [asked_call(2), asked_call(3)])
    assert pairs.changes == (("model", "model new"),)
    plan = pairs.plan()
    assert (plan.pairs, plan.calls, plan.cost, len(api.requests)) == (2, 6, None, 0)
    done: list[int] = []
    one, two = pairs.judged(done.append)
    assert (sum(done), len(api.requests)) == (2, 6)
    assert sorted(r.body["model"] for r in api.requests) == ["new"] * 3 + ["old"] * 3
    assert not any("stream" in r.body for r in api.requests)
    assert (one.unchanged.agrees, one.changed.agrees, one.is_undecided) == (True, True, False)
    assert one.unchanged.result == one.changed.result != two.changed.result
    assert (two.unchanged.agrees, two.changed.agrees, two.is_undecided) == (None, None, True)
    assert two.unchanged.differing == {"2": "refund"}
    assert two.changed.differing == {"2": "order"}
    assert (two.title, two.drift, two.calls_needed) == ("Mail 2", "changed", 0)
    assert two.changed.tokens == 2 * (server.INPUT_TOKENS + server.OUTPUT_TOKENS)
    assert pairs.notes()[-2:] == (REDACTED, FROZEN)
    assert "1 pair with answers that differ" in pairs.notes()[0]
    assert "A person judges them" in pairs.notes()[0]
    pairs.end(is_decided=True)
    assert "A person judges them" not in pairs.notes()[0], "their answers are gone"


def test_of_conversations_that_are_recorded_twice_the_judged_one_is_a_pair(
    request_: Request, api: FakeAPI
) -> None:
    api.script(said(by_model))
    first, second = [asked_call(call, conversation=call) for call in (1, 2)]
    older = [first, replace(second, expected="refund"), asked_call(3, conversation=1)]
    pairs = taken(request_, NEW, older, [first, second], [asked_call(1)])
    plan = pairs.plan()
    assert (plan.pairs, plan.sessions) == (3, 3)
    newer, judged_, imported = pairs.judged(lambda _: None)
    assert [(one.taken, one.call) for one in (newer, judged_, imported)] == [(1, 1), (0, 2), (2, 0)]
    assert pairs.notes()[0] == f"3 calls left out: {REPEATED}."


@pytest.mark.parametrize("conversation", [0, 1])
def test_two_states_of_a_session_are_one_pair(request_: Request, conversation: int) -> None:
    calls = [asked_call(conversation=conversation)]
    pairs = CallPairs(request_, replace(NEW, is_live=False), lambda _, __: calls)
    for events in (2, 1):
        pairs.take("one", [CallsBegun()] * events)
    assert pairs.plan().pairs == 1
    (pair,) = pairs.judged(lambda _: None)
    assert pair.taken == 0, "the one with more events, whichever is read first"


def test_a_sample_is_of_pairs_and_a_larger_one_holds_a_smaller_one(request_: Request) -> None:
    run = [asked_call(call, conversation=call) for call in range(1, 21)]
    drawn = []
    for most in (5, 10, 40):
        pairs = taken(request_, replace(NEW, is_live=False, sample=most), run)
        assert pairs.plan().pairs == min(most, 20)
        drawn.append({one.call for one in pairs.judged(lambda _: None)})
    assert drawn[0] < drawn[1] < drawn[2]


@pytest.mark.parametrize(
    ("fields", "agrees"),
    [
        ({"expected": "refund"}, (True, False)),
        ({"expected": "order"}, (False, True)),
        ({"judged": ((digest_answer(ReadAnswer(text="order")), True),)}, (None, True)),
    ],
)
def test_what_differs_is_decided_by_what_is_known(
    request_: Request, api: FakeAPI, fields: dict[str, Any], agrees: tuple[bool | None, bool | None]
) -> None:
    api.script(said(by_model))
    (pair,) = judged(request_, NEW, [asked_call(2, **fields)])
    assert (pair.unchanged.agrees, pair.changed.agrees) == agrees


def test_assertions_of_the_repository_decide(
    request_: Request, api: FakeAPI, tmp_path: Path
) -> None:
    (tmp_path / "regress").mkdir()
    (tmp_path / "regress/assertions.toml").write_text('[[assertions]]\ncontains = "refund"\n')
    api.script(said(by_model))
    (pair,) = judged(request_, NEW, [asked_call(2)])
    assert (pair.unchanged.agrees, pair.changed.agrees) == (True, False)


@pytest.mark.parametrize(
    ("mail", "fields", "why"),
    [
        (1, {"expected": "order"}, "not the right value, which is compared with the whole answer"),
        (2, {}, "assertion 2 does not hold"),
        (1, {"judged": ((digest_answer(ReadAnswer(text="refund")), False),)}, "a person judged"),
    ],
)
def test_it_is_said_why_what_you_have_is_wrong(
    request_: Request, api: FakeAPI, tmp_path: Path, mail: int, fields: dict[str, Any], why: str
) -> None:
    (tmp_path / "regress").mkdir()
    rules = "".join(f'[[assertions]]\nwhere = "Mail {mail}"\nless = 1\n' for mail in ("none", "2"))
    (tmp_path / "regress/assertions.toml").write_text(rules)
    api.script(said(lambda _: "refund"))
    pairs = taken(request_, NEW, [asked_call(mail, **fields)], [asked_call(3)])
    pairs.plan()
    assert [pair.unchanged.agrees for pair in pairs.judged(lambda _: None)] == [False, True]
    told = f"The unchanged side is wrong in 1 pair, first in call {mail} of ession 0: "
    assert pairs.notes()[0].startswith(told)
    assert why in pairs.notes()[0]


@pytest.mark.parametrize("judged_by_a_person", [(), ("order",), ("order", "refund")])
def test_what_only_a_check_of_form_decides_is_counted(
    request_: Request, api: FakeAPI, tmp_path: Path, judged_by_a_person: tuple[str, ...]
) -> None:
    (tmp_path / "regress").mkdir()
    rule = '[[assertions]]\none_of = ["refund", "order"]\n'
    (tmp_path / "regress/assertions.toml").write_text(rule)
    api.script(said(by_model))
    right = tuple((digest_answer(ReadAnswer(text=one)), True) for one in judged_by_a_person)
    pairs = taken(request_, NEW, [asked_call(1)], [asked_call(2, judged=right)])
    pairs.plan()
    _, pair = pairs.judged(lambda _: None)
    assert (pair.unchanged.agrees, pair.changed.agrees) == (True, True)
    told = f"1 pair that differs was decided by assertions alone: {FORM}"
    assert (told in pairs.notes()) == (len(right) < 2)


def test_without_leave_nothing_is_asked(request_: Request, api: FakeAPI) -> None:
    pairs = taken(request_, PairsAsked(model="new"), [asked_call()])
    assert pairs.plan().calls == 2
    (pair,) = pairs.judged(lambda _: None)
    assert (pair.calls_needed, pair.is_undecided, len(api.requests)) == (2, True, 0)
    assert "--live" in pairs.notes()[0]


def test_the_recording_can_be_the_unchanged_side(request_: Request, api: FakeAPI) -> None:
    api.script(said(by_model))
    asked = PairsAsked(model="new", is_live=True, is_recorded=True)
    pairs = taken(request_, asked, [asked_call(1)], [asked_call(2)])
    assert pairs.plan().calls == 2
    found = list(pairs.judged(lambda _: None))
    assert {r.body["model"] for r in api.requests} == {"new"}
    assert [one.is_undecided for one in found] == [False, True]
    assert [one.unchanged.asked for one in found] == [0, 0]
    assert RECORDED in pairs.notes()


def test_another_model_can_stand_for_one_that_is_gone(request_: Request, api: FakeAPI) -> None:
    def gone(request: server.Request) -> server.Sent:
        reply = server.status(404) if request.body["model"] == "old" else server.text("refund")
        return reply(request)

    api.script(gone)
    pairs = taken(request_, NEW, [asked_call()])
    pairs.plan()
    (pair,) = pairs.judged(lambda _: None)
    assert (pair.unchanged.unanswered, pair.unchanged.asked) == (1, 1), "it is not asked again"
    assert "404" in pair.unchanged.failure
    assert pair.is_undecided
    assert any("--from-model" in note for note in pairs.notes())
    asked = PairsAsked(model="new", from_model="older", is_live=True)
    (pair,) = judged(request_, asked, [asked_call()])
    assert (pair.unchanged.agrees, pair.changed.agrees) == (True, True)


def test_words_of_a_prompt_change_and_calls_without_them_are_counted(
    request_: Request, api: FakeAPI, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.md", tmp_path / "new.md"
    old.write_bytes(b"Mail\r\n1\r\n")
    new.write_text("Letter 1\n")
    calls = [asked_call(n, request={"model": "m", "messages": [{"content": t}]})
             for n, t in enumerate(("A: Mail\n1!", "B"), 1)]  # fmt: skip
    asked = PairsAsked(prompts=((str(old), str(new)),), is_live=True)
    pairs = taken(request_, asked, calls, [calls[1]])
    assert pairs.plan().sessions == 1
    list(pairs.judged(lambda _: None))
    contents = {r.body["messages"][0]["content"] for r in api.requests}
    assert contents == {"A: Mail\n1!", "A: Letter 1!"}
    assert pairs.notes()[0] == f"2 calls left out: {UNTOUCHED}."


def test_one_text_takes_the_place_of_the_only_system_text(
    request_: Request, api: FakeAPI, tmp_path: Path
) -> None:
    new = tmp_path / "new.md"
    new.write_text("Be kind.")
    asked = PairsAsked(prompts=(("system", str(new)),), is_live=True)
    calls = [
        asked_call(n, dialect="openai-responses", request={"instructions": text, "input": "Hi"})
        for n, text in enumerate(("Be brief.", "Be brief.", "Be long."), 1)
    ]
    judged(request_, asked, calls[:2])
    assert {r.body["instructions"] for r in api.requests} == {"Be brief.", "Be kind."}
    assert {r.path for r in api.requests} == {server.RESPONSES}
    with pytest.raises(Refused, match="found 2 different system texts"):
        taken(request_, asked, calls).plan()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (PairsAsked(prompts=(("none.md", "none.md"),)), r"none\.md cannot be read"),
        (PairsAsked(values=(("temperature", "1"),)), "expected a JSON Pointer"),
        (PairsAsked(values=(("/stream", "true"),)), "expected a JSON Pointer"),
    ],
)
def test_a_change_that_cannot_be_read_is_refused(
    request_: Request, asked: PairsAsked, message: str
) -> None:
    with pytest.raises(Refused, match=message):
        taken(request_, asked)


def test_a_pair_of_an_agent_bears_the_words_of_its_user(request_: Request, api: FakeAPI) -> None:
    api.script(said(lambda body: body["model"]))
    result = {"type": "tool_result", "tool_use_id": "t", "content": "3 files"}
    turns = [{"role": "user", "content": one} for one in ("Mend the login", [result])]
    (pair,) = judged(request_, NEW, [asked_call(request={"model": "old", "messages": turns})])
    assert pair.title == "Mend the login"


def test_claude_is_asked_by_its_own_api_within_a_token_limit(tmp_path: Path, api: FakeAPI) -> None:
    call = asked_call(dialect="anthropic", route="")
    with opened_request(tmp_path, "anthropic", api.anthropic) as request:
        (pair,) = judged(request, PairsAsked(values=(("/top_k", "5"),), is_live=True), [call])
    assert (pair.unchanged.agrees, pair.changed.agrees) == (True, True)
    assert {r.path for r in api.requests} == {server.MESSAGES}
    assert [r.body.get("top_k") for r in sorted(api.requests, key=str)].count(5) == 1
    assert all(r.body["max_tokens"] for r in api.requests)


def test_calls_that_cannot_be_asked_are_left_out_and_counted(request_: Request) -> None:
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    calls = [
        asked_call(1, dialect="other"),
        asked_call(2, status=500),
        asked_call(3, model="", request={"messages": []}),
        asked_call(4, request={"model": "old", "messages": deep}),
    ]
    pairs = CallPairs(request_, NEW, lambda *_: calls)
    assert "nest too deep" in pairs.take("session 0", ())
    assert pairs.plan().sessions == 0
    assert [note.partition(":")[0] for note in pairs.notes()[:4]] == ["1 call left out"] * 4
    (nameless,) = [one for one in calls if one.call == 3]
    assert "--from-model" in CallPairs(request_, NEW, lambda *_: [nameless]).take("", ())


@pytest.mark.slow("clocks")
@pytest.mark.parametrize("reply", [server.status(500), server.text("  "), server.html()])
def test_a_provider_that_brings_nothing_leaves_the_pair_unknown(
    request_: Request, api: FakeAPI, reply: Reply
) -> None:
    api.script(reply)
    (pair,) = judged(request_, NEW, [asked_call(expected="refund")])
    for side in (pair.unchanged, pair.changed):
        assert (side.agrees, side.result, side.asked) == (None, None, side.unanswered)
        assert side.failure
    assert pair.is_undecided


def test_a_call_that_fails_is_asked_once_more(request_: Request, api: FakeAPI) -> None:
    api.script(server.status(503, retry_after_ms="1"), server.text("refund"))
    (pair,) = judged(request_, NEW, [asked_call()])
    assert (pair.unchanged.agrees, pair.changed.agrees) == (True, True)
    sides = (pair.unchanged, pair.changed)
    assert (sum(s.asked for s in sides), sum(s.unanswered for s in sides)) == (3, 1)
    assert not any(side.failure for side in sides)


def test_a_run_goes_on_where_its_calls_ended(request_: Request, api: FakeAPI) -> None:
    limited = PairsAsked(model="new", is_live=True, calls_max=3)
    calls = [asked_call(n) for n in (1, 2)]
    pairs = taken(request_, limited, [calls[0]], [calls[1]])
    assert pairs.plan().calls == 3
    found = list(pairs.judged(lambda _: None))
    assert (sum(one.calls_needed for one in found), len(api.requests)) == (1, 3)
    pairs.end(is_decided=False)

    folder = folder_of_answers(request_.process)
    assert folder is not None
    (file,) = folder.iterdir()
    assert [os.stat(one).st_mode & 0o777 for one in (folder, file)] == [0o700, 0o600]
    last = read_last_run(request_.process)
    assert {(one.session, one.call) for one in last} == {("session 0", 1), ("session 1", 2)}
    assert sum(one.is_changed for one in last) in (1, 2)
    pairs = taken(
        request_, PairsAsked(model="new", is_live=True, resumes=True), *[[c] for c in calls]
    )
    assert pairs.plan().calls == 1
    found = list(pairs.judged(lambda _: None))
    assert (sum(one.calls_needed for one in found), len(api.requests)) == (0, 4)
    assert [(one.unchanged.asked, one.changed.asked) for one in found] == [(1, 1)] * 2
    pairs.end(is_decided=True)
    assert not folder.exists()


def test_the_last_run_has_own_sessions_margin_and_command(request_: Request, api: FakeAPI) -> None:
    wide = replace(NEW, resuming="wide", margin=0.1)
    calls = [[asked_call(1)], [asked_call(2)]]
    judged(request_, wide, *calls)
    narrow = replace(wide, resuming="narrow", margin=0.2, resumes=True)
    judged(request_, narrow, calls[0])
    assert len(api.requests) == 4, "nothing is asked twice"
    last = read_last_run(request_.process)
    assert {(one.session, one.margin, one.resuming) for one in last} == {
        ("session 0", 0.2, "narrow")
    }
    judged(request_, replace(wide, resumes=True), *calls)
    assert (len(read_last_run(request_.process)), len(api.requests)) == (4, 4)


def test_answers_to_a_recording_that_is_compared_no_more_are_not_judged(
    request_: Request, api: FakeAPI
) -> None:
    run = [asked_call(1, conversation=1)]
    judged(request_, NEW, run)
    judged(request_, NEW, run, run)
    assert {one.session for one in read_last_run(request_.process)} == {"session 1"}


def test_projects_of_one_log_keep_their_answers_apart(
    request_: Request, api: FakeAPI, tmp_path: Path
) -> None:
    judged(request_, NEW, [asked_call(1)])
    other = tmp_path / "other"
    other.mkdir()
    with opened_request(other, "openai", api.openai, tmp_path / "log.db") as theirs:
        judged(theirs, NEW, [asked_call(2)])
    assert taken(request_, replace(NEW, resumes=True), [asked_call(1)]).plan().calls == 0


def test_kept_answers_go_with_their_session(request_: Request, api: FakeAPI) -> None:
    api.script(said(lambda _: "a secret"))
    judged(request_, NEW, [asked_call(1)], [asked_call(1)])
    folder = folder_of_answers(request_.process)
    assert folder is not None
    (file,) = folder.iterdir()
    assert file.read_text().count("a secret") == 4
    erase_kept_answers(request_.process, "session 0")
    assert file.read_text().count("a secret") == 2
    assert "session 0" not in file.read_text()
    assert os.stat(file).st_mode & 0o777 == 0o600
    erase_kept_answers(request_.process, "session 1")
    assert not file.exists()
