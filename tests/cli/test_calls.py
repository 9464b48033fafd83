"""`calls`: import, list, show, judge, erase; what of them other commands say."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from preflights_es.features.calls.cleaning import CallCleaner
from preflights_es.features.calls.source_calls import SourceCall
from preflights_es.redaction.patterns import KINDS
from tests.cli.program import Project

KEY = "sk-ant-api03-" + "Ab3dEf9h" * 11 + "-AAAAAAAA"


def call(*turns: str, answer: str = "Hi!", **more: Any) -> dict[str, Any]:
    """A line of a log; turns go in turn from the user and from the model."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": words} for n, words in enumerate(turns)]
    choice = {"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return {
        "request": {"model": "m1", "messages": messages},
        "response": {"choices": [choice], "usage": usage},
        **more,
    }


def write(house: Project, *lines: dict[str, Any] | str, name: str = "calls.jsonl") -> Path:
    path = house.folder / name
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), newline="\r\n")
    return path


def sessions(house: Project) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.call("calls", "--json").json["sessions"]
    return found


def imported(house: Project, *said: str) -> dict[str, Any]:
    found: dict[str, Any] = house.call("calls", "import", "calls.jsonl", *said, "--json").json
    return found


def test_two_customers_who_say_hello_are_two_and_an_answer_is_gone_on_from(empty: Project) -> None:
    write(empty, call("hello"), call("hello"), call("hello", "Hi!", "where is it?"))
    made = imported(empty)
    assert (made["added"], made["sessions"], made["new_sessions"]) == (3, 2, 2)
    assert sorted(one["calls"] for one in sessions(empty)) == [1, 2]
    shown = empty.call("calls", "show", "last").out
    assert "user: hello" in shown
    assert "assistant: Hi!\n  user: where is it?\n  answer: Hi!" in shown


def test_a_second_import_adds_none_and_a_longer_file_goes_on(empty: Project) -> None:
    lines = [call("a", id=1), call("a", "Hi!", "b")]
    write(empty, *lines)
    imported(empty)
    again = imported(empty)
    assert (again["added"], again["present"]) == (0, 2)
    said = empty.call("calls", "import", "calls.jsonl").out
    assert said == "No call was added.\n2 calls were in the log already.\n"
    write(empty, *lines, call("a", "Hi!", "b", "Hi!", "c"))
    more = imported(empty)
    assert (more["added"], more["sessions"], more["new_sessions"]) == (1, 1, 0)
    (one,) = sessions(empty)
    assert one["calls"] == 3


def test_conversations_that_the_source_names_are_sessions(empty: Project) -> None:
    write(
        empty,
        call("a", session="x", user="kim"),
        call("b", session="y", user="lee"),
        call("a", "Hi!", "c", session="x", user="kim"),
    )
    imported(empty)
    assert sorted((one["about"], one["calls"]) for one in sessions(empty)) == [("a", 2), ("b", 1)]
    log = b"".join(file.read_bytes() for file in empty.log.parent.glob("log.db*"))
    assert b"kim" not in log
    assert "answer: Hi!" in empty.call("calls", "show", "y").out
    assert empty.call("calls", "erase", "y", "--yes").code == 0
    empty.call("calls", "show", "y").refused(1, "was erased")
    empty.call("calls", "show", "z").refused(1, "no session matches 'z'")


def test_the_id_of_a_user_is_kept_as_a_hash_wherever_it_stands(empty: Project) -> None:
    first = [call("a", session=one, user="first-4711") for one in "12345"]
    later = [call("b", session=one) for one in "12345"]
    later[0]["request"]["user"] = later[0]["response"]["user"] = "kim-4711"
    later[1]["request"]["metadata"] = later[1]["response"]["metadata"] = {"user_id": "lee-4711"}
    later[2]["request"]["safety_identifier"] = "ann-4711"
    later[3]["user"] = 4711
    lines = [{**one, "request": {"body": one["request"]}} for one in (*first, *later)]
    lines[-1]["request"]["headers"] = {"Helicone-User-Id": ["bob-4711"], "X-Other": "4711"}
    write(empty, *lines)
    imported(empty)
    assert imported(empty)["present"] == 10
    log = b"".join(file.read_bytes() for file in empty.log.parent.glob("log.db*"))
    assert b"4711" not in log
    for id_ in ("kim-4711", "lee-4711", "ann-4711", "4711", "bob-4711"):
        erased = empty.call("calls", "erase", "--user", id_, "--yes", "--json").json
        assert len(erased["sessions"]) == 1, id_


def test_settings_say_where_the_parts_of_a_line_stand(empty: Project) -> None:
    line = {"asked": {"words": "hello"}, "told": "Hi!", "who": "kim", "chat": "x"}
    write(empty, line, {**line, "told": "Ho!"})
    settings = empty.folder / "preflights.toml"
    settings.write_text(
        '[calls]\nrequest = "/asked/words"\nresponse = "/told"\nsession = "/chat"\nuser = "/who"\n'
    )
    made = empty.call("calls", "import", "calls.jsonl")
    assert "--request /asked/words --response /told --session /chat --user /who" in made.err
    assert [one["calls"] for one in sessions(empty)] == [2]
    assert imported(empty, "--from", "jsonl")["present"] == 2
    assert imported(empty, "--session", "/who")["elsewhere"] == 2, "an option wins"
    settings.write_text('[calls]\nrequest = "asked"\n')
    refused = empty.call("calls", "import", "calls.jsonl")
    assert refused.code == 2
    assert "calls.request: found 'asked', expected a JSON Pointer" in refused.err


def test_calls_stay_in_their_sessions_whatever_pointers_come_later(empty: Project) -> None:
    chats = [call(words, chat="x", ts=n) for n, words in enumerate(("a", "b", "a"), 1)]
    write(empty, *chats)
    assert imported(empty)["new_sessions"] == 3
    again = empty.call("calls", "import", "calls.jsonl", "--session", "/chat")
    assert "--request /request --response /response --session /chat --time /ts\n" in again.err
    assert "3 calls are in the log in other sessions." in again.out
    (first, *_) = (one["session_id"] for one in sessions(empty))
    assert empty.call("calls", "erase", first, "--yes").code == 0
    made = imported(empty, "--session", "/chat")
    assert (made["added"], made["erased"], made["elsewhere"]) == (0, 1, 2)


def test_what_is_no_call_is_named_by_its_line(empty: Project) -> None:
    write(empty, call("a"), "{oops", "[]", "[]", call("b"))
    found = empty.call("calls", "import", "calls.jsonl")
    assert "2 calls added to 2 sessions" in found.out
    assert "line 2: no whole JSON" in found.err
    assert "lines 3, 4: no JSON object" in found.err
    write(empty, 'cut off"}', r'"half \ud83d"', call("c"))
    rotated = empty.call("calls", "import", "calls.jsonl")
    assert "1 call added" in rotated.out
    assert "line 1: no whole JSON" in rotated.err
    assert "line 2: half of a surrogate pair" in rotated.err
    write(empty, "{oops", name="more.jsonl")
    both = empty.call("calls", "import", "calls.jsonl", "more.jsonl")
    assert "line 1: no whole JSON" in both.err
    assert ", in more.jsonl" in both.err
    assert empty.call("calls", "import", "more.jsonl").code == 1


def test_secrets_and_other_peoples_addresses_are_taken_out(empty: Project) -> None:
    text = (
        f"the passphrase is hunter2-Xy7, key {KEY}, mail kim@example.com, card 4111 1111 1111 1111"
    )
    write(empty, call(text, answer=f"noted: {KEY}"))
    made = imported(empty)
    assert {"key", "email", "card"} <= made["redacted"].keys()
    log = b"".join(file.read_bytes() for file in empty.log.parent.glob("log.db*"))
    for secret in (KEY, "kim@example.com", "4111 1111", "hunter2-Xy7"):
        assert secret.encode() not in log
    assert KEY not in empty.call("admin", "export", "--all").out


RANDOM = "f3Qz8Lm2Xw7Rk9Tb4Vn6Yc1D"
CREDENTIAL = base64.b64encode(f"kim:{RANDOM}".encode()).decode()
HEADERS = [
    *(("Authorization", f"{scheme} {RANDOM}") for scheme in ("Bearer", "token", "Negotiate")),
    *(("Proxy-Authorization", f"{scheme} {CREDENTIAL}") for scheme in ("Basic", "basic")),
    ("Cookie", f"sid={RANDOM}; theme=dark"),
    ("Set-Cookie", f"session={RANDOM}; Path=/; HttpOnly"),
    *((name, RANDOM) for name in ("x-api-key", "api-key", "X-Goog-Api-Key", "X-Auth-Token")),
    *((name, RANDOM) for name in ("Ocp-Apim-Subscription-Key", "private-token", "X-Session-Id")),
]
QUERY = ("key", "access_token", "code", "sig", "X-Amz-Signature", "client_secret", "signature")
PLACES: list[dict[str, Any]] = [
    *({"extra_headers": {name: value}} for name, value in HEADERS),
    *({"headers": [[name, value]]} for name, value in HEADERS),
    *({"headers": [{"name": name, "value": value}]} for name, value in HEADERS),
    *({"input": f"HTTP/1.1 302\r\n{name}: {value}\r\n\r\n"} for name, value in HEADERS),
    *({"input": f"Location: https://a.example/b?x=1&{name}={RANDOM}&y=2"} for name in QUERY),
    *({"url": f"https://a.example/b#{name}={RANDOM}"} for name in QUERY),
    {"url": f"https://kim:{RANDOM}@a.example/"},
    {"user": RANDOM},
    *({"metadata": {name: RANDOM}} for name in ("user_id", "api_key", "auth", "session_token")),
    {"metadata": {f"token={RANDOM}": "x"}},
    {"tools": [{"type": "mcp", "authorization": RANDOM}]},
]


def test_no_credential_of_a_header_an_address_or_metadata_is_recorded(empty: Project) -> None:
    lines = [
        {"request": {"model": "m", "input": f"call {n}", **place}, "response": json.dumps(place)}
        for n, place in enumerate(PLACES)
    ]
    write(empty, *lines)
    assert imported(empty)["added"] == len(PLACES)
    log = b"".join(file.read_bytes() for file in empty.log.parent.glob("log.db*"))
    export = empty.call("admin", "export", "--all").out
    shown = [
        empty.call("calls", "show", one["session_id"]).out
        for one in empty.call("calls", "--all", "--json").json["sessions"]
    ]
    for secret in (RANDOM, CREDENTIAL):
        assert secret.encode() not in log
        assert secret not in "".join((export, *shown))


def test_headers_that_are_kept_hold_no_secret() -> None:
    headers = [
        ("x-request-id", f"Bearer {RANDOM}"),
        ("retry-after", f"1; password={RANDOM}"),
        ("location", f"../openai/v1/new?limit=1&sig={RANDOM}"),
        ("location", f"https://bucket.example/{RANDOM}"),
        *HEADERS,
        ("request-id", "req_011CSHoEeqs5C35K2UUqR7Fy"),
    ]
    assert tuple(CallCleaner("log", "record", ()).clean_headers(headers)) == (
        ("x-request-id", "Bearer [redacted:token]"),
        ("retry-after", "1; password=[redacted:password]"),
        ("location", "../openai/v1/new?limit=1"),
        ("request-id", "req_011CSHoEeqs5C35K2UUqR7Fy"),
    )


def test_an_id_of_a_conversation_that_is_taken_out_still_tells_it_from_others() -> None:
    def keep(*ids: str) -> list[Any]:
        cleaner = CallCleaner("log", "record", KINDS)
        bodies = [{"metadata": {"session_id": one, "note": one}} for one in ids]
        return [cleaner.clean(SourceCall(line=1, request=body), "").request for body in bodies]

    ours, again, theirs = (
        one["metadata"] for one in keep("kim@a.example", "kim@a.example", "+4915112345678")
    )
    assert ours == again != theirs
    assert "kim" not in str(ours)
    assert ours["note"] == "[redacted:email]"
    assert keep("sess-7") == [{"metadata": {"session_id": "sess-7", "note": "sess-7"}}]


def test_an_erased_session_stays_away(empty: Project) -> None:
    write(
        empty,
        call("a", user="kim", time="2026-01-01T00:00:00Z"),
        call("b", user="lee", time="2999-01-01T00:00:00Z"),
    )
    imported(empty)
    assert empty.call("calls", "erase", "--user", "kim").code == 2
    assert empty.call("calls", "erase").code == 2
    found = empty.call("calls", "erase", "--user", "kim", "--yes")
    assert "Erased 1 session." in found.out
    again = empty.call("calls", "import", "calls.jsonl").out
    assert "1 call was in the log already.\n1 call of erased sessions was left out." in again
    assert [one["about"] for one in sessions(empty)] == ["b"]
    rows = empty.call("calls", "--all", "--json").json["sessions"]
    (erased,) = [one for one in rows if one["status"] == "erased"]
    empty.call("calls", "show", erased["session_id"]).refused(1, "was erased")
    log = b"".join(file.read_bytes() for file in empty.log.parent.glob("log.db*"))
    assert b'"content":"a"' not in log
    assert empty.call("calls", "erase", "--older-than", "3d", "--yes").out == "No session fits.\n"
    assert "expected such as 30d" in empty.call("calls", "erase", "--older-than", "x").err


def test_the_log_of_calls_is_its_owners_alone(empty: Project) -> None:
    write(empty, call("a"))
    found = empty.call("calls", "import", "calls.jsonl")
    assert "which you alone can read" in found.err
    assert empty.log.stat().st_mode & 0o077 == 0
    assert "which you alone can read" not in empty.call("calls", "import", "calls.jsonl").err
    empty.call("start", "Add login")
    whole, copy = empty.folder / "all.jsonl", empty.folder / "copy.db"
    for only, is_private in (("calls", True), ("clarification", False)):
        said = ("admin", "export", "--workflow", only, "-o", f"out-{only}.jsonl")
        assert empty.call(*said).code == 0
        mode = (empty.folder / f"out-{only}.jsonl").stat().st_mode
        assert (mode & 0o077 == 0) is is_private
    empty.call("admin", "export", "--all", "-o", whole.name)
    assert empty.call("admin", "import", whole.name, "--db", str(copy)).code == 0
    assert {file.stat().st_mode & 0o077 for file in (whole, *empty.folder.glob("copy.db*"))} == {0}


def test_a_session_of_calls_is_found_by_the_day_on_which_they_were_made(empty: Project) -> None:
    write(empty, {**call("a"), "at": "2026-03-04T09:00:00Z"})
    imported(empty, "--time", "/at")
    for words in ((), ("--with", "calls")):
        found = [
            empty.call("sessions", "--all-workflows", "--json", *words, *at).json["sessions"]
            for at in (
                ("--since", "2026-03-04", "--until", "2026-03-04"),
                ("--since", "2026-03-05", "--until", "2026-03-06"),
            )
        ]
        assert [len(one) for one in found] == [1, 0]


def test_right_values_are_recorded_once_and_a_script_counts_for_nothing(empty: Project) -> None:
    write(empty, call("a"))
    imported(empty)
    (one,) = sessions(empty)
    id_ = one["session_id"]
    said = ("--expect", '{"a": 1}', "--by", "Ada")
    judged = empty.call("calls", "judge", id_, "1", *said, "--json").json
    assert (judged["judged"], judged["present"], judged["counting"]) == (1, 0, 1)
    table = empty.folder / "right.csv"
    table.write_text(f"\ufeffsession;call;expected;by;why\r\n{id_};1;cancel;Bo;said so\r\n")
    found = empty.call("calls", "judge", "--from", "right.csv")
    assert found.out.startswith("1 ")
    told = "no recorded answer is its right value: the first is 'Hi!', and 'cancel' is right"
    assert told in found.err
    again = empty.call("calls", "judge", "--from", "right.csv", "--json").json
    assert (again["judged"], again["present"]) == (0, 1)
    table.write_text(f"session,call,expected\n{id_},1,Hi!\n")
    assert empty.call("calls", "judge", "--from", "right.csv", "--by", "Bo").err == ""
    report = empty.call("regress", "--workflow", "calls", "--model", "m2").out
    assert "People judged an answer differently 1 time: the newer word counts." in report
    first, second, _ = empty.call("calls", "show", id_, "--json").json["calls"][0]["judged"]
    assert (first["by"]["name"], first["is_right"], second["why"]) == ("Ada", False, "said so")
    assert second["words"].startswith("Bo judged the answer wrong on 20")
    assert second["words"].endswith('; right is "cancel" ("said so")')
    assert f"  {second['words']}.\n" in empty.call("calls", "show", id_).out
    told = empty.call("show", id_).out
    assert "; Ada judged its answer wrong; Bo " in told
    assert f"Read them with: preflights calls show {id_[-8:]}\n" in told
    script = {"PREFLIGHTS_ACTOR": "script:ci"}
    for by in ((), ("--by", "Ada")):
        found = empty.call("calls", "judge", id_, "1", "--expect", f"x{by}", *by, env=script)
        assert "counts for nothing" in found.err
    assert sessions(empty)[0]["judged"] == 1


def test_a_table_with_a_line_for_no_call_is_refused_whole(empty: Project) -> None:
    write(empty, call("a"))
    imported(empty)
    id_ = sessions(empty)[0]["session_id"]
    table = empty.folder / "right.csv"
    for text, why in (
        (f"session,call,expected\n{id_},1,x\n{id_},2,y\n", "has no call 2: expected 1 to 1"),
        (f"session,call,expected\n{id_},one,x\n", "line 2: found the call 'one'"),
        (f"session,call,expected\n{id_},1,\n", "line 2: expected is empty"),
        (f"session,call\n{id_},1\n", "found the columns session, call, expected"),
        ('session,call,expected\n"', "line 2: "),
    ):
        table.write_text(text)
        found = empty.call("calls", "judge", "--from", "right.csv")
        assert found.code == 1, found
        assert why in found.err
    assert sessions(empty)[0]["judged"] == 0


def test_other_commands_leave_calls_out_or_count_them_apart(empty: Project) -> None:
    write(empty, call("a", time="2026-03-04T05:06:07Z"))
    imported(empty)
    assert empty.call("show", "last").code == 1
    assert empty.call("sessions").out.startswith("No sessions here yet.\n")
    usage = empty.call("usage", "--json").json
    assert usage["usage"] == []
    (row,) = usage["recorded"]
    assert (row["model"], row["calls"], row["input_tokens"]) == ("m1", 1, 3)
    assert empty.call("usage", "--until", "2026-03-03").out == "No call fits the filter.\n"
    assert "Calls of other programs" in empty.call("usage", "--since", "2026-03-04").out
    (one,) = sessions(empty)
    assert "identical" in empty.call("replay", one["session_id"]).out
    assert empty.call("audit", "verify").code == 0
    assert empty.call("recall", "a", "--no-input").code != 4


def test_a_run_takes_calls_by_their_time_and_their_model(empty: Project) -> None:
    lines = [
        call("a", time="2026-01-02T00:00:00Z", session="x"),
        call("a", "Hi!", "b", time="2026-02-02T00:00:00Z", session="x"),
        call("c", time="2026-01-03T00:00:00Z", session="y"),
    ]
    lines[0]["request"]["model"] = "big"
    write(empty, *lines)
    imported(empty)
    for said, found in (
        (("--led-by", "big"), 1),
        (("--led-by", "openai/m1"), 2),
        (("--since", "2026-01-03"), 2),
        (("--since", "2026-02-01"), 1),
    ):
        run = empty.call("regress", "--workflow", "calls", "--model", "m", "--json", *said)
        assert run.json["sessions"] == found, said
    both = ("--since", "2026-02-01", "--led-by", "big")
    empty.call("regress", "--workflow", "calls", *both).refused(1, "no session matches")


def observation(id_: str, trace: str, words: str) -> dict[str, Any]:
    """A generation as Langfuse exports it."""
    return {
        "type": "GENERATION",
        "id": id_,
        "traceId": trace,
        "model": "m1",
        "input": [{"role": "user", "content": words}],
        "output": {"role": "assistant", "content": "Hi!"},
    }


def test_of_two_calls_with_one_id_the_first_is_taken(empty: Project) -> None:
    write(
        empty,
        observation("1", "t1", "a"),
        observation("1", "t1", "b"),
        observation("2", "t2", "c"),
        observation("1", "t3", "d"),
        observation("2", "t3", "e"),
        observation("3", "t3", "f"),
    )
    made = imported(empty)
    assert (made["added"], made["present"], made["new_sessions"]) == (3, 0, 3)
    assert [(one["line"], one["why"]) for one in made["unread_lines"]] == [
        (line, f"the log has another call with its id '{id_}'")
        for line, id_ in ((2, 1), (4, 1), (5, 2))
    ]
    assert sorted((one["about"], one["calls"]) for one in sessions(empty)) == [
        ("a", 1),
        ("c", 1),
        ("f", 1),
    ]
    again = imported(empty)
    assert (again["present"], again["unread"]) == (3, 3)
    assert empty.call("audit", "verify").code == 0


def test_what_goes_on_from_an_erased_session_stays_away(empty: Project) -> None:
    lines = [call("a"), call("a", "Hi!", "b")]
    write(empty, *lines)
    imported(empty)
    (one,) = sessions(empty)
    empty.call("calls", "erase", one["session_id"], "--yes")
    write(empty, *lines, call("a", "Hi!", "b", "Hi!", "c"))
    again = imported(empty)
    assert (again["added"], again["present"], again["erased"]) == (0, 0, 3)


def test_ten_thousand_turns_are_gone_on_from(empty: Project) -> None:
    turns = ["q", "Hi!"] * 5_000
    write(empty, call(*turns, "x"), call(*turns, "x", "Hi!", "y"))
    made = imported(empty)
    assert (made["added"], made["sessions"]) == (2, 1)
    (one,) = sessions(empty)
    assert one["calls"] == 2


@pytest.mark.slow("sizes")
def test_what_is_too_large_is_named_by_its_size_and_hash(empty: Project) -> None:
    words = "x" * 9_000_000
    write(
        empty,
        call(words, answer="small", session="s"),
        call(words, "small", "more", answer="tiny", session="s"),
        call("b", answer=words, session="s"),
        call("b", answer="fits", session="s"),
    )
    made = imported(empty)
    assert (made["added"], made["left_out"], made["unread"]) == (4, 3, 0)
    (one,) = sessions(empty)
    assert (one["calls"], one["models"]) == (4, ["m1"])
    shown = empty.call("calls", "show", "last", "--json").json["calls"]
    assert [found["answer"] for found in shown] == ["small", "tiny", "", "fits"]
    for found, part in zip(shown[:3], ("request", "request", "answer"), strict=True):
        (told,) = found["left_out"]
        assert told.startswith(f"the {part}: 9,000,")
        assert "SHA-256" in told
    assert "identical" in empty.call("replay", one["session_id"]).out
    assert imported(empty)["present"] == 4


def test_no_secret_of_an_error_or_a_files_name_is_recorded(empty: Project) -> None:
    failed = observation("1", "t1", "a") | {"output": None}
    failed["statusMessage"] = "login failed, the password is hunter2-Xy7, ask kim@example.com"
    write(empty, failed, name=f"{KEY}.jsonl")
    made = empty.call("calls", "import", f"{KEY}.jsonl", "--json").json
    assert made["added"] == 1
    log = b"".join(file.read_bytes() for file in empty.log.parent.glob("log.db*"))
    for secret in (KEY, "hunter2-Xy7", "kim@example.com"):
        assert secret.encode() not in log
    assert "[redacted:password]" in empty.call("calls", "show", "last").out


def test_a_call_that_failed_is_no_answer_that_is_not_whole(empty: Project) -> None:
    asked = {"custom_id": "a", "body": call("a")["request"]}
    failed = {"status_code": 429, "body": {"error": {"message": "slow down"}}}
    write(empty, asked, {"custom_id": "a", "response": failed})
    imported(empty)
    assert "  failed: status 429; slow down\n" in empty.call("calls", "show", "last").out


@pytest.mark.slow("second engine")
def test_a_log_of_postgresql_holds_calls_as_a_file_does(empty: Project, postgres: str) -> None:
    log = {"PREFLIGHTS_DATABASE_URL": postgres, "PREFLIGHTS_PROJECT": "p"}
    write(empty, call("a", user="kim"), call("a", "Hi!", "b", user="kim"), call("c"))
    for added, present in ((3, 0), (0, 3)):
        made = empty.call("calls", "import", "calls.jsonl", "--json", env=log)
        assert (made.json["added"], made.json["present"], made.err.count("alone")) == (
            added,
            present,
            0,
        )
    listed = empty.call("calls", "--json", env=log).json["sessions"]
    assert sorted(one["calls"] for one in listed) == [1, 2]
    id_ = next(one["session_id"] for one in listed if one["calls"] == 2)
    assert empty.call("calls", "judge", id_, "2", "--expect", "x", "--by", "A", env=log).code == 0
    assert "identical" in empty.call("replay", id_, env=log).out
    assert "Erased 1 " in empty.call("calls", "erase", "--user", "kim", "--yes", env=log).out
    assert empty.call("calls", "import", "calls.jsonl", "--json", env=log).json["added"] == 0
    assert empty.call("audit", "verify", env=log).code == 0
