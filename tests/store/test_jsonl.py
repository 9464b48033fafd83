"""A session as lines: what goes out comes back, and what is no event is named."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.kernel.errors import (
    LogDamaged,
    LogFromDevelopment,
    LogFromFuture,
    PreflightsError,
)
from preflights_es.kernel.ports import Draft, Stored
from preflights_es.store import jsonl
from preflights_es.store.jsonl import BLOCK, LINE_MAX
from preflights_es.store.stored_events import verified
from tests.each import each
from tests.store.given import INPUT, chain_of, conversation, erased, heard, said

FILE = "session.jsonl"


def read(text: bytes) -> list[Stored]:
    return list(jsonl.stored(text.splitlines(), FILE))


def part(*lines: bytes) -> list[Stored]:
    """The events of lines behind the format."""
    return list(jsonl.stored([jsonl.FIRST, *lines], FILE))


def one_line(**changes: Any) -> bytes:
    """The first line of a conversation, with other fields."""
    return json.dumps(
        {**json.loads(jsonl.encode_event_line(conversation()[0])), **changes}
    ).encode()


def without(field: str) -> bytes:
    found = json.loads(jsonl.encode_event_line(conversation()[0]))
    del found[field]
    return json.dumps(found).encode()


# 1. What goes out comes back -----------------------------------------------------------------


def test_blank_lines_and_windows_line_ends_mean_nothing_and_files_can_be_joined() -> None:
    events = conversation()
    text = jsonl.encode_event_file(events)
    assert read(text) == events
    assert read(text.replace(b"\n", b"\r\n")) == events
    assert read(b"\n  \n" + text.replace(b"\n", b"\n\n\t\n")) == events
    assert read(b"") == read(b"\n \n") == read(jsonl.FIRST) == []
    other = chain_of(said("one", "z"), heard("one"), number=2)
    assert read(text + b"\n" + jsonl.encode_event_file(other)) == [*events, *other]


def test_lines_are_read_back_as_the_events_they_were_and_written_again_byte_for_byte() -> None:
    text = jsonl.encode_event_file(conversation())
    assert jsonl.encode_event_file(read(text)) == text
    assert text.count(b"\n") == 1 + 6
    assert text.endswith(b"\n")
    assert b"\r" not in text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_in_a_payload_survives(text: str) -> None:
    data = json.dumps({"text": text}, ensure_ascii=False).encode()
    events = chain_of(Draft(INPUT, data, "toy/1", "a", "user"), heard("done"))
    found = read(jsonl.encode_event_file(events))
    assert found == events
    verified(found)


def test_a_payload_is_taken_as_it_stands_and_not_written_anew() -> None:
    data = b'{ "b" : 1.0, "a" : [1e2 , -0] ,"c":"\\u00e9"}'
    events = chain_of(Draft(INPUT, data, "toy/1", "a", "user"))
    assert read(jsonl.encode_event_file(events))[0].data == data
    verified(read(jsonl.encode_event_file(events)))


def test_an_erased_event_travels_without_payload_and_salt() -> None:
    events = chain_of(said("one", "a"), heard("one"), erased())
    events[0] = replace(events[0], data=None, salt=None)
    text = jsonl.encode_event_file(events)
    assert json.loads(text.splitlines()[1])["data"] is None
    assert json.loads(text.splitlines()[1])["salt"] is None
    assert read(text) == events
    verified(read(text))


def test_fields_may_stand_in_any_order_and_with_white_space() -> None:
    found = json.loads(jsonl.encode_event_line(conversation()[0]))
    turned = json.dumps(dict(reversed(found.items())), indent=None).encode()
    (event,) = part(b"  \t" + turned + b"  ")
    assert event.hash == conversation()[0].hash
    assert event.data == b'{"text": "one"}'


# 2. What is no event is named ----------------------------------------------------------------


ID = conversation()[0].session_id

WRONG: dict[str, tuple[Any, ...]] = {
    "session_id": (
        *("", "x", 7, None, "../../etc/passwd", "\x1b[2J"),
        *(f"{ID}\n", f" {ID}", ID.replace("7", "A"), ID.replace("-", "")),
    ),
    "project": (None, 7, ["house"]),
    "workflow": (None, 7),
    "version": ("1", None, 1.5, 2**63, -(2**70), True),
    "type": (None, 7),
    "recorded_at": ("now", None, 2**63, -(2**63) - 1, 1e30),
    "input_id": (7, ["a"]),
    "actor_kind": (7, {}),
    "decider": (None, 7),
    "salt": ("", "00", "zz" * 16, "00" * 17, "AB" * 16, "ab " * 10 + "ab", 7),
    "digest": (None, "", "00" * 31, "00" * 33, "zz" * 32, 7),
    "hash": (None, "", "00" * 31, "AB" * 32),
}


@each(
    "line",
    [
        *(b"hello", b"{", b"[]", b"null", b"1", b'"text"', b"{}", b"\x00"),
        *(one_line()[:-1], one_line() + b"}", one_line() + one_line(), one_line(surplus=1)),
        *(without(field) for field in json.loads(one_line())),
        *(one_line(**{field: value}) for field, values in WRONG.items() for value in values),
        one_line().replace(b'"one"', b'"\xff\xfe"'),
        one_line().replace(b'"user"', b'"\xff\xfe"'),
        one_line().replace(b'"user"', b'"\\ud800"'),
        one_line().replace(b'{"text": "one"}', b"[" * 100_000 + b"]" * 100_000),
        b"[" * 1_000_000,
        b'{"format":' * 200_000,
        b"\xef\xbb\xbf" + one_line(),
    ],
)
def test_a_line_that_is_no_event_is_named(line: bytes) -> None:
    good = jsonl.encode_event_line(conversation()[0])
    with pytest.raises(LogDamaged) as caught:
        part(good, b"", line, good)
    assert caught.value.where == f"{FILE}, line 4"
    assert re.search("not an event|expected the format", str(caught.value))


def test_a_payload_that_no_program_writes_so_deep_is_refused_by_every_python() -> None:
    first = conversation()[0]
    deep = replace(first, data=b'{"text":' + b"[" * 200 + b"]" * 200 + b"}")
    with pytest.raises(LogDamaged, match="nested deeper than 200 levels"):
        part(jsonl.encode_event_line(deep))
    assert part(
        jsonl.encode_event_line(replace(deep, data=b'{"text":' + b"[" * 199 + b"]" * 199 + b"}"))
    )


def test_what_stands_before_a_damaged_line_is_read() -> None:
    lines = jsonl.stored([jsonl.FIRST, *map(jsonl.encode_event_line, conversation()), b"{"], FILE)
    assert [next(lines).version for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(LogDamaged):
        next(lines)


def test_a_line_without_end_is_refused_by_its_length_and_comes_in_pieces() -> None:
    line = one_line() + b" " * 10
    with pytest.raises(LogDamaged) as caught:
        part(line[:-11] + b" " * jsonl.LINE_MAX + b"}")
    assert "16,777,216" in str(caught.value)
    pieces = [len(piece) for piece in jsonl.lines_in(BytesIO(b"x" * 3 * LINE_MAX), "file")]
    assert sum(pieces) == 3 * LINE_MAX
    assert max(pieces) <= LINE_MAX + BLOCK


@each("end", ["", "\n", "\r\n", "\n\n \n"])
def test_lines_are_found_wherever_a_block_ends(end: str) -> None:
    """Lines of any length, longer than what is read at once too."""
    lengths = [*range(1, 200), BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 1, *range(300, 1_500, 7)]
    texts = [b"x" * length for length in lengths]
    content = b"\n".join(texts) + end.encode()
    found = [line.strip() for line in jsonl.lines_in(BytesIO(content), "file")]
    assert [line for line in found if line] == texts


def test_a_message_does_not_repeat_what_a_line_holds() -> None:
    # It is shown on a terminal, and it may be the wrong file altogether.
    secret = "AKIA" + "Q" * 16
    with pytest.raises(LogDamaged) as caught:
        part(one_line(session_id=f"\x1b[2J{secret}"))
    assert secret not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_changed_line_is_read_and_found_by_the_chain() -> None:
    text = jsonl.encode_event_file(conversation()).replace(b'"two"', b'"TWO"')
    with pytest.raises(LogDamaged) as caught:
        verified(read(text))
    assert caught.value.version == 3


@given(st.binary(max_size=200))
def test_any_bytes_are_an_event_or_a_named_error(noise: bytes) -> None:
    if noise.strip():
        for lines in ([noise], [jsonl.FIRST, noise]):
            with pytest.raises(PreflightsError, match=FILE):
                list(jsonl.stored(lines, FILE))
    else:
        assert part(noise) == []


@given(st.data())
def test_any_byte_changed_in_a_line_is_found_or_changes_nothing(data: st.DataObject) -> None:
    events = conversation()
    raw = bytearray(jsonl.encode_event_line(events[0]).rstrip())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] = data.draw(st.integers(0, 255))
    try:
        found = part(bytes(raw))
        verified(found, events[0].hash)
    except PreflightsError:
        return
    assert found == events[:1]


# 3. Other formats ----------------------------------------------------------------------------


@each("line", [b'{"format":2}', b' {"format": 2}\r\n', b'{"format":99,"anything":{"else":[1,2]}}'])
def test_a_file_of_a_newer_version_is_refused_as_such(line: bytes) -> None:
    with pytest.raises(LogFromFuture) as caught:
        list(jsonl.stored([b"\n", line, b"anything"], FILE))
    found = json.loads(line)["format"]
    assert str(caught.value) == (
        f"{FILE} was written by a newer Preflights (format {found}, this version knows "
        f"{jsonl.FORMAT}): upgrade preflights"
    )


@each("line", [one_line(log=1), one_line(log=2), b'{"log":1}'])
def test_a_file_of_a_development_version_is_refused_as_such(line: bytes) -> None:
    with pytest.raises(LogFromDevelopment) as caught:
        list(jsonl.stored([b"\n", line], FILE))
    assert str(caught.value) == (
        f"{FILE} was written by a development version of Preflights (its first line says no "
        "format), which no release reads: delete it, or keep it elsewhere"
    )


@each(
    "line",
    [
        *(b"hello", b"{", b"[]", b"null", b"{}", one_line(), b'{"log":"1"}', b"\xff"),
        *(b'{"format":0}', b'{"format":-1}', b'{"format":"1"}', b'{"format":1.5}'),
        *(b'{"format":true}', b'{"format":null}', b"\xef\xbb\xbf" + jsonl.FIRST),
    ],
)
def test_a_file_that_says_no_format_is_damaged(line: bytes) -> None:
    with pytest.raises(LogDamaged) as caught:
        list(jsonl.stored([b"\n", line, *map(jsonl.encode_event_line, conversation())], FILE))
    assert caught.value.where == f"{FILE}, line 2"
    assert 'expected the format of the file, {"format":1}' in str(caught.value)
