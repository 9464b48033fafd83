"""Files of other tools: what is a call, what is named by its line, what they look like."""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.features.calls.domain.dialects import ReadAnswer, read_answer, recognize_dialect
from preflights_es.features.calls.source_calls import (
    SourceCall,
    SourceForm,
    UnreadLine,
    microseconds_of,
)
from preflights_es.features.calls.sources import (
    LINE_MAX,
    TAKEN,
    SourceFile,
    read_source_calls,
    recognize_source,
)
from preflights_es.kernel.errors import Refused
from tests.each import each
from tests.features.calls.test_dialects import continues

FILES = Path(__file__).parent / "sources"
POINTERS = {"request": "/request", "response": "/response"}
SYSTEM = {"role": "system", "content": "Answer with one word."}
FRANCE = {"role": "user", "content": "Capital of France?"}
MICROSECONDS = 1_000_000


def found_in(
    *paths: Path, form: SourceForm = "jsonl", pointers: dict[str, str] | None = None
) -> tuple[list[SourceCall], list[UnreadLine]]:
    with ExitStack() as stack:
        sources = [stack.enter_context(SourceFile(str(path))) for path in paths]
        found = list(read_source_calls(sources, form, pointers or POINTERS))
    calls = [one for one in found if isinstance(one, SourceCall)]
    return calls, [one for one in found if isinstance(one, UnreadLine)]


def written(path: Path, *lines: Any, end: str = "\n") -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_bytes("".join(f"{text}{end}" for text in texts).encode())
    return path


def answer_of(call: SourceCall) -> ReadAnswer:
    dialect = recognize_dialect(call.path, call.request)
    return read_answer(dialect, call.content_type, call.answer)


def one_line_call(number: int) -> dict[str, Any]:
    return {"request": f"question {number}", "response": f"answer {number}"}


# --- JSON Lines by pointers ---


def test_pointers_say_where_things_stand(tmp_path: Path) -> None:
    line = {
        "a/b": {"q~1": [{"body": json.dumps({"model": "m", "messages": [FRANCE]})}]},
        "out": {"object": "response", "output": []},
        "meta": {"chat id": 7, "at": 1760000001, "who": "u1"},
    }
    pointers = {
        "request": "/a~1b/q~01/0/body",
        "response": "/out",
        "session": "/meta/chat id",
        "time": "/meta/at",
        "user": "/meta/who",
    }
    (call,), unread = found_in(written(tmp_path / "a.jsonl", line), pointers=pointers)
    assert replace(call, entry="") == SourceCall(
        line=1,
        session="7",
        at=1760000001 * MICROSECONDS,
        users=("u1",),
        request={"model": "m", "messages": [FRANCE]},
        answer='{"object":"response","output":[]}',
    )
    assert unread == []


@each(
    ("request", "expected"),
    [
        ("Capital of France?", {"messages": [FRANCE]}),
        ("[draft] what?", {"messages": [{"role": "user", "content": "[draft] what?"}]}),
        ([FRANCE], {"messages": [FRANCE]}),
        ({"model": "m", "input": "hi"}, {"model": "m", "input": "hi"}),
        ([1, 2], {"messages": [{"role": "user", "content": "[1,2]"}]}),
        ("[]", {"messages": [{"role": "user", "content": "[]"}]}),
    ],
)
def test_a_text_alone_is_one_turn_of_the_user(request: Any, expected: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        line = {"request": request, "response": "Paris"}
        (call,), _ = found_in(written(Path(folder, "a.jsonl"), line))
    assert call.request == expected
    assert answer_of(call).text == "Paris"


@each(
    ("response", "content_type", "text"),
    [
        ("Paris", "text/plain", "Paris"),
        ("", "text/plain", ""),
        ('{"capital": "Paris"}', "text/plain", '{"capital": "Paris"}'),
        ({"capital": "Paris"}, "application/json", '{"capital":"Paris"}'),
        ('{"choices": [{"message": {"content": "Paris"}}]}', "application/json", "Paris"),
        (
            'data: {"choices": [{"delta": {"content": "Paris"}}]}\r\n\r\ndata: [DONE]\r\n\r\n',
            "text/event-stream",
            "Paris",
        ),
    ],
)
def test_an_answer_is_bytes_or_json_or_words(response: Any, content_type: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        line = {"request": "Capital of France?", "response": response}
        (call,), _ = found_in(written(Path(folder, "a.jsonl"), line))
    assert call.content_type == content_type
    assert answer_of(call).text == text
    if isinstance(response, str):
        assert call.answer == response, "byte for byte"


@each(
    ("pointers", "message"),
    [
        ({"request": "/q"}, "say where the response stands: --response /PTR"),
        ({"request": "q", "response": "/a"}, "'q' is no JSON Pointer: write /q"),
    ],
)
def test_a_wrong_pointer_is_refused(pointers: dict[str, str], message: str) -> None:
    with pytest.raises(Refused) as caught:
        found_in(FILES / "litellm.jsonl", pointers=pointers)
    assert str(caught.value) == message


# --- What each tool writes ---


def test_lines_of_a_batch_are_joined_in_any_order_and_number_of_files(tmp_path: Path) -> None:
    asked, answered = FILES / "openai-batch-requests.jsonl", FILES / "openai-batch-answers.jsonl"
    calls, unread = found_in(asked, answered, form="openai-batch")
    assert [(call.line, call.id, call.status) for call in calls] == [
        (1, "batch_req_2", 200),
        (2, "batch_req_1", 200),
        (3, "batch_req_3", 0),
    ]
    paris = calls[1]
    assert paris.request["messages"] == [SYSTEM, FRANCE]
    assert (paris.path, paris.request["user"], paris.at) == (
        "/v1/chat/completions",
        "u1",
        1760000001000000,
    )
    read = answer_of(paris)
    assert (read.text, read.stop, read.tokens_in, read.tokens_out) == ("Paris", "stop", 22, 2)
    assert calls[2].ended.startswith("This request could not be executed")
    assert unread == [
        UnreadLine(4, "no answer with custom_id 'request-4'"),
        UnreadLine(4, "no request with custom_id 'request-9'"),
    ]
    assert found_in(answered, asked, form="openai-batch")[0] == [calls[1], calls[0], calls[2]]
    alone = found_in(asked, form="openai-batch")[1][0]
    assert alone.why == "no answer with custom_id 'request-1': give the file of the answers, too"
    whole = tmp_path / "both.jsonl"
    whole.write_bytes(asked.read_bytes() + answered.read_bytes() + asked.read_bytes()[:-1])
    again, unread = found_in(whole, form="openai-batch")
    assert [call.answer for call in again] == [call.answer for call in calls]
    assert UnreadLine(9, "a second line with custom_id 'request-1'") in unread


def test_payloads_of_litellm_and_rows_of_its_proxy(tmp_path: Path) -> None:
    calls, unread = found_in(FILES / "litellm.jsonl", form="litellm")
    first, failed, vector, row = calls
    line = json.loads((FILES / "litellm.jsonl").read_text().splitlines()[0])
    path = written(tmp_path / "a.jsonl", {"standard_logging_object": line})
    assert found_in(path, form="litellm") == ([first], [])
    pointers = {name: f"/standard_logging_object/{name}" for name in ("messages", "response")}
    pointers["request"] = pointers.pop("messages")
    assert found_in(path, pointers=pointers)[0][0].request == {"messages": [SYSTEM, FRANCE]}
    assert first.request == {
        "model": "gpt-4.1-mini",
        "messages": [SYSTEM, FRANCE],
        "temperature": 0,
        "max_tokens": 50,
    }
    assert (first.id, first.session) == ("chatcmpl-B1", "trace-1")
    assert first.users == ("customer-7", "customer-9")
    assert (first.at, first.route) == (1760000001250000, "openai")
    assert answer_of(first).text == "Paris"
    assert (failed.status, failed.users, answer_of(failed).text) == (429, ("customer-8",), "")
    assert "Rate limit" in failed.ended
    assert "Rate limit" in answer_of(failed).error
    assert recognize_dialect(vector.path, vector.request) == "other"
    assert row.request["messages"][0]["content"] == "Capital of Peru?"
    assert (row.session, row.at, answer_of(row).text) == ("session-5", 1760000006500000, "Lima")
    assert unread == [
        UnreadLine(5, "no request in /proxy_server_request or /messages"),
        UnreadLine(6, "LiteLLM cut off a text of it"),
    ]


def test_generations_of_langfuse(tmp_path: Path) -> None:
    trace_row = {"id": "tr-1", "timestamp": "2025-10-09", "input": "q", "output": "a"}
    calls, unread = found_in(FILES / "langfuse.jsonl", form="langfuse")
    assert (unread, [call.id for call in calls]) == ([], ["obs-1", "obs-3", "obs-4"])
    first, failed, structured = calls
    assert first.request["messages"] == [SYSTEM, FRANCE]
    assert (first.request["temperature"], first.session) == (0, "chat-1")
    assert first.users == ("customer-7",)
    assert first.at == 1760000001250000
    assert answer_of(first) == ReadAnswer(
        text="Paris", model="gpt-4.1-mini", tokens_in=22, tokens_out=2
    )
    assert (failed.ended, failed.session) == ("Rate limit reached", "tr-2")
    assert answer_of(structured).text == '{"capital": "Lima"}'
    (call,), (trace,) = found_in(
        FILES / "langfuse-trace.json", written(tmp_path / "a", trace_row), form="langfuse"
    )
    why = "no observation of Langfuse: it has neither type nor model"
    assert trace.why == f"{why}, in {tmp_path / 'a'}", "of several files it is named"
    assert (call.session, call.users, len(call.request["tools"])) == ("chat-1", ("customer-7",), 1)
    assert answer_of(call).tools == (("lookup", '{"id":3}'),)


def test_spans_of_every_draft_hold_the_same_call() -> None:
    calls, unread = found_in(FILES / "otel.jsonl", form="otel")
    assert [call.line for call in calls] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert unread == [UnreadLine(8, "no request in a span of it: its messages were not captured")]
    for call in calls[:7]:
        assert answer_of(call) == ReadAnswer(
            "Paris", (), "stop", "gpt-4.1-mini-2025-04-14", tokens_in=22, tokens_out=2
        )
        assert (call.route, call.request["temperature"], call.request["max_tokens"]) == (
            "openai",
            0.0,
            50,
        )
    assert [calls[at].request["messages"] for at in (0, 1, 3)] == [[SYSTEM, FRANCE]] * 3
    assert calls[4].request["messages"] == [FRANCE]
    asked = [{"role": "user", "content": "Where is order 3?"}]
    called = ReadAnswer(tools=(("lookup", '{"id":3}'),))
    result = {"role": "tool", "tool_call_id": "c1", "content": "sent"}
    for call in calls[2], calls[5], calls[6]:
        turns = [turn for turn in call.request["messages"] if turn != SYSTEM]
        assert continues(turns, asked, called)
        assert turns[-1] == result
    assert (calls[6].session, calls[6].users) == ("conv-5", ("customer-7",))
    assert calls[2].session == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert (calls[0].at, calls[0].id[-17:]) == (1760000003123456, "/00f067aa0ba902b3")
    assert (calls[7].status, answer_of(calls[7]).error) == (0, "Rate limit reached")


def test_words_that_look_like_json_stay_words_in_spans(tmp_path: Path) -> None:
    lines = (FILES / "otel.jsonl").read_text().replace("Capital of France?", "[1, 2]").splitlines()
    calls, _ = found_in(written(tmp_path / "a.jsonl", *lines), form="otel")
    for call in calls[0], calls[1], calls[3], calls[4]:
        assert call.request["messages"][-1] == {"role": "user", "content": "[1, 2]"}


def test_answers_that_failed_or_lack_in_spans_are_told(tmp_path: Path) -> None:
    line = json.loads((FILES / "otel.jsonl").read_text().splitlines()[5])
    span = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    span["attributes"] = [
        one for one in span["attributes"] if one["key"] != "gen_ai.output.messages"
    ]
    span["attributes"].append({"key": "gen_ai.request.seed", "value": {"intValue": "-7"}})
    path = written(tmp_path / "a.jsonl", line)
    why = "no response in a span of it: its messages were not captured"
    assert found_in(path, form="otel") == ([], [UnreadLine(1, why)])
    span["status"] = {"code": "STATUS_CODE_ERROR"}
    (call,), _ = found_in(written(path, line), form="otel")
    assert (call.ended, call.request["seed"]) == ("the span failed", -7)


def llm_database(folder: Path) -> Path:
    path = folder / "logs of llm #1?.db"
    base = sqlite3.connect(path)
    base.executescript((FILES / "llm-0.36.sql").read_text())
    base.close()
    return path


def test_turns_of_llm(tmp_path: Path) -> None:
    path = llm_database(tmp_path)
    before = path.read_bytes()
    calls, unread = found_in(path, form="llm")
    assert (unread, [call.line for call in calls]) == ([], [1, 2, 3, 4])
    first, second, asking, told = calls
    assert first.request["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hello"},
    ]
    assert answer_of(first) == ReadAnswer("Echo: hello", model="echo", tokens_in=10, tokens_out=5)
    assert second.session == first.session
    assert continues(second.request["messages"], first.request["messages"], answer_of(first))
    words, image = second.request["messages"][-1]["content"]
    assert words["text"] == "A long novel.\n\nagain", "the text of its fragment, too"
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert answer_of(asking).tools == (("lookup", '{"id":3}'),)
    assert asking.request["tools"][0]["function"]["name"] == "lookup"
    assert continues(told.request["messages"], asking.request["messages"], answer_of(asking))
    assert told.request["messages"][-1]["content"] == "found 3"
    assert second.at is not None
    assert first.at is not None
    assert second.at > first.at
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path], "nothing is written beside it"


def test_messages_that_are_their_own_parents_end(tmp_path: Path) -> None:
    path = llm_database(tmp_path)
    base = sqlite3.connect(path)
    base.execute("UPDATE messages SET parent_hash = hash")
    base.execute("DELETE FROM turns WHERE rowid > 1")
    base.commit()
    base.close()
    assert len(found_in(path, form="llm")[0]) == 1


@each("content", [b"", b"words\n", b"SQLite format 3\0" + b"x" * 4096])
def test_a_file_that_is_no_database_of_llm_is_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "logs.db")
        path.write_bytes(content)
        with pytest.raises(Refused, match="database of llm"):
            found_in(path, form="llm")


# --- What a source looks like ---


@each(
    ("name", "form"),
    [
        ("openai-batch-requests.jsonl", "openai-batch"),
        ("openai-batch-answers.jsonl", "openai-batch"),
        ("litellm.jsonl", "litellm"),
        ("langfuse.jsonl", "langfuse"),
        ("langfuse-trace.json", "langfuse"),
        ("otel.jsonl", "otel"),
    ],
)
def test_a_source_is_recognized_by_its_first_object(name: str, form: str) -> None:
    with SourceFile(str(FILES / name)) as source:
        assert recognize_source(source).form == form


@each(
    ("line", "sentence"),
    [
        (
            {"input": "q", "output": "a", "ts": 1, "user_id": ""},
            "JSON Lines, read with --request /input --response /output --time /ts",
        ),
        (
            {"request": {"body": {"messages": []}}, "response": {"body": {"choices": []}}},
            "JSON Lines, read with --request /request/body --response /response/body",
        ),
        (
            {"q": "q", "llm": {"a": "a"}},
            "JSON with values at /q, /llm/a: say which is the --request and which the --response",
        ),
        ("no json", f"its first lines hold no JSON object: expected {TAKEN}"),
    ],
)
def test_it_is_said_what_another_source_looks_like(line: Any, sentence: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder, "a.jsonl"), line)
        with SourceFile(str(path)) as source:
            guess = recognize_source(source)
            assert guess.sentence == sentence
            assert (guess.form == "jsonl") is ("read with" in sentence)
            if guess.form:
                assert len(list(read_source_calls([source], guess.form, guess.pointers))) == 1


@each(
    ("named", "session"),
    [
        ({"conversation": ["x", "y", "x"]}, "/conversation"),
        ({"conversation_id": ["x", "y", "z"]}, "/conversation_id"),
        ({"session_id": ["x", "y", "z"], "trace_id": [1, 2, 1]}, "/trace_id"),
        ({"conversation": [["x"], ["y"], ["x"]]}, None),
        ({"thread_id": ["x", "x"]}, None),
    ],
)
def test_a_name_that_all_lines_hold_is_the_conversations(
    named: dict[str, list[Any]], session: str | None
) -> None:
    lines = [{"input": "q", "output": f"a{n}"} for n in range(3)]
    for name, values in named.items():
        for line, value in zip(lines, values, strict=False):
            line[name] = value
    with tempfile.TemporaryDirectory() as folder:
        for content in (lines, [lines]):
            with SourceFile(str(written(Path(folder, "a.jsonl"), *content))) as source:
                guess = recognize_source(source, {"user": "/who"})
                assert guess.pointers.get("session") == session
                assert len(list(read_source_calls([source], "jsonl", guess.pointers))) == 3


def test_a_header_line_is_no_call_and_the_lines_behind_it_are(tmp_path: Path) -> None:
    lines = [{"version": 1}, *({"input": "q", "output": n, "session": "s"} for n in "ab")]
    with SourceFile(str(written(tmp_path / "a.jsonl", *lines))) as source:
        guess = recognize_source(source)
        header, *calls = read_source_calls([source], "jsonl", guess.pointers)
    assert header == UnreadLine(1, "no request in /input")
    assert [one.session for one in calls if isinstance(one, SourceCall)] == ["s", "s"]


def test_a_database_is_recognized(tmp_path: Path) -> None:
    with SourceFile(str(llm_database(tmp_path))) as source:
        assert recognize_source(source).form == "llm"


# --- Files ---


def test_windows_line_ends_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", "", one_line_call(1), " ", one_line_call(2), end="\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    calls, unread = found_in(path)
    assert [(call.line, call.answer) for call in calls] == [(2, "answer 1"), (4, "answer 2")]
    assert unread == []


@each("depth", [1, None])
def test_one_json_value_is_its_entries(depth: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.json")
        path.write_text(json.dumps([one_line_call(1), 7, one_line_call(3)], indent=depth))
        calls, unread = found_in(path)
    assert [call.line for call in calls] == [1, 3]
    assert unread == [UnreadLine(2, "no JSON object: 7")]


@each("first", ["[1]", '{"request": [', '{"cut": "off", "messages": [{"role"'])
def test_a_first_line_that_is_cut_off_costs_one_line(first: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = first, *map(one_line_call, range(3)), first
        calls, unread = found_in(written(Path(folder, "a.jsonl"), *lines))
    assert [call.line for call in calls] == [2, 3, 4]
    assert [line.line for line in unread] == [1, 5]


def test_traces_on_several_lines_are_one_value(tmp_path: Path) -> None:
    first = json.loads((FILES / "otel.jsonl").read_text().splitlines()[0])
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(first, indent=2))
    with SourceFile(str(path)) as source:
        assert recognize_source(source).form == "otel"
        assert len(list(read_source_calls([source], "otel"))) == 1
    path.write_text(json.dumps(first, indent=2)[:-20])
    calls, unread = found_in(path, form="otel")
    assert calls == []
    assert unread[0].why.startswith("no whole JSON")


def test_gzip_and_standard_input(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", *map(one_line_call, range(3)))
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert found_in(packed) == found_in(path)
    code = (
        "import sys\n"
        "from preflights_es.features.calls.sources import *\n"
        "with SourceFile('-') as source:\n"
        "    guess = recognize_source(source)\n"
        "    print(len(list(read_source_calls([source], guess.form, guess.pointers))))\n"
        "print(sys.stdin.closed)\n"
    )
    for content in path.read_bytes(), packed.read_bytes():
        run = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True)
        assert (run.stdout.split(), run.stderr) == ([b"3", b"False"], b"")


def test_a_packed_file_that_is_cut_off_gives_what_came(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    lines = "".join(json.dumps(one_line_call(number)) + "\n" for number in range(5000))
    path.write_bytes(gzip.compress(lines.encode())[:-2000])
    calls, unread = found_in(path)
    assert 0 < len(calls) < 5000
    assert unread[-1].why.startswith("the file cannot be read further: ")


@each("name", ["nowhere.jsonl", "."])
def test_a_file_that_cannot_be_opened_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="cannot be read"):
        SourceFile(str(FILES / name))


# --- Hostile lines ---


@each(
    ("line", "why"),
    [
        (b'{"request": "q", "respo', "no whole JSON: "),
        (b'{"request": "\xff", "response": "a"}', "no UTF-8"),
        (b'{"request": "\\ud83d", "response": "a"}', "half of a surrogate pair"),
        (b'[1, "two"]', 'no JSON object: [1,"two"]'),
        (b'{"request": "q"}', "no response in /response"),
        (b'{"request": "q", "response": null}', "no response in /response"),
        (b'{"request": {}, "response": "a"}', "no request in /request"),
        (b"[" * 100_000, "nests deeper than 200 levels"),
        (b'{"request": ' + b"[" * 300 + b"]" * 300 + b"}", "nests deeper than 200 levels"),
        (b'{"a": "' + b"x" * LINE_MAX + b'"}', "longer than 64 MB"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_next_is_read(line: bytes, why: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        good = json.dumps(one_line_call(1)).encode()
        path.write_bytes(good + b"\n" + line + b"\n" + good)
        calls, unread = found_in(path)
        assert [call.line for call in calls] == [1, 3]
        assert [(one.line, one.why[: len(why)]) for one in unread] == [(2, why)]
        path.write_bytes(good + b"\n" + line)
        calls, unread = found_in(path)
        assert [call.line for call in calls] == [1]
        assert [(one.line, one.why[: len(why)]) for one in unread] == [(2, why)]


@pytest.mark.slow("sizes")
def test_a_line_is_never_held_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        for _ in range(300):
            file.write(b"x" * 1024 * 1024)
        file.write(b"\n" + json.dumps(one_line_call(1)).encode())
    tracemalloc.start()
    try:
        calls, unread = found_in(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert ([call.line for call in calls], unread) == ([2], [UnreadLine(1, "longer than 64 MB")])
    assert peak < 4 * LINE_MAX


BLANKS = st.sampled_from(["", " ", "\t"])
GOOD = st.builds(one_line_call, st.integers(0, 9)).map(json.dumps)
BAD = st.sampled_from(["{", "null", "[]", '"x"', '{"request": 1}', "\x00", '{"request": "q"'])


@given(
    st.lists(st.tuples(st.sampled_from(["good", "bad", "blank"]), GOOD, BAD, BLANKS), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_every_line_is_a_call_or_is_named(
    drawn: Sequence[tuple[str, str, str, str]], end: str, is_packed: bool
) -> None:
    kinds = ["good", *(kind for kind, *_ in drawn)]
    lines = [json.dumps(one_line_call(0))]
    lines += [{"good": good, "bad": bad, "blank": blank}[kind] for kind, good, bad, blank in drawn]
    data = end.join(lines).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_bytes(gzip.compress(data) if is_packed else data)
        calls, unread = found_in(path)
    numbered = list(enumerate(kinds, 1))
    assert [call.line for call in calls] == [at for at, kind in numbered if kind == "good"]
    assert [line.line for line in unread] == [at for at, kind in numbered if kind == "bad"]


@given(st.sampled_from(["otel", "litellm", "langfuse", "openai-batch"]), st.data())
def test_entries_of_any_shape_are_no_errors(form: SourceForm, data: st.DataObject) -> None:
    """Real entries with one value after the other replaced by one of another type."""
    path = next(FILES.glob(f"{form}*.jsonl"))
    entry = json.loads(data.draw(st.sampled_from(path.read_text().splitlines())))
    for _ in range(data.draw(st.integers(1, 4))):
        node: Any = entry
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if not isinstance(node[key], dict | list) or data.draw(st.integers(0, 4)) == 0:
                node[key] = data.draw(st.sampled_from([None, 7, "x", "[", "{}", [], [7], {}, 1.5]))
                break
            node = node[key]
    with tempfile.TemporaryDirectory() as folder:
        calls, unread = found_in(written(Path(folder, "a.jsonl"), entry), form=form)
    assert len(calls) + len(unread) <= 4
    for call in calls:
        answer_of(call)


@each(
    ("value", "expected"),
    [
        (1760000001, 1760000001000000),
        (1760000001.25, 1760000001250000),
        ("1760000001.25", 1760000001250000),
        (1760000001250, 1760000001250000),
        (1760000001250001, 1760000001250001),
        ("1760000001250001999", 1760000001250001),
        ("2025-10-09T08:53:21.250Z", 1760000001250000),
        ("2025-10-09T10:53:21.250001+02:00", 1760000001250001),
        ("2025-10-09 08:53:21.250000", 1760000001250000),
        ("2025-10-09", 1759968000000000),
        ("yesterday", None),
        ("1969-01-01", None),
        (-1, None),
        (True, None),
        (float("inf"), None),
        (None, None),
        ([], None),
        (10**30, None),
    ],
)
def test_times_in_any_unit(value: object, expected: int | None) -> None:
    assert microseconds_of(value) == expected
