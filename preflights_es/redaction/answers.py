"""Answers as their programs got them: JSON, a stream of server-sent events, or any text.

What is no secret stays byte for byte. A stream gives a text in pieces: the pieces of one text are
joined, redacted, and written anew where something went.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from preflights_es.redaction.bodies import (
    BodyString,
    JsonText,
    parse_json_text,
    redact_json,
    redact_string,
    redact_until_stable,
)
from preflights_es.redaction.masking import MARKER, Redacted
from preflights_es.redaction.patterns import SECRETS, SecretKind, compile_pattern

_LINE: Final = r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z"
_DATA: Final = r"(data: ?)([^\r\n]*)([\r\n]*)"
_STREAMS: Final = ("text/event-stream", "application/x-ndjson", "application/jsonl")
_STREAM: Final = r"[\ufeff\s]*(?:event|data|id|retry)?:"


def redact_answer(
    text: str, content_type: str | None, kinds: tuple[SecretKind, ...] = SECRETS
) -> Redacted:
    """The answer as it may be recorded, also where it is cut off; doing it again changes nothing.

    Args:
        content_type: of its header. A text that begins as a stream is one, whatever its type.
    """
    named = (content_type or "").partition(";")[0].strip().lower()
    is_stream = named in _STREAMS or compile_pattern(_STREAM).match(text)

    def redact_once(text: str) -> Redacted:
        if is_stream:
            return _redact_stream(text, kinds)
        return redact_json(text, kinds) or redact_string(BodyString(text), kinds)

    return Redacted(*redact_until_stable(text, redact_once))


# 1. A stream -------------------------------------------------------------------------------------


def _redact_stream(text: str, kinds: tuple[SecretKind, ...]) -> Redacted:
    blocks = [*_blocks_of(compile_pattern(_LINE).findall(text))]
    payloads = [_payload(block) for block in blocks]
    parsed = [parse_json_text(payload, in_stream=True) for payload in payloads]
    pairs = zip(payloads, parsed, strict=True)
    strings = [found.strings if found else [BodyString(payload)] for payload, found in pairs]
    texts = [[string.text for string in block] for block in strings]
    told = list[str]()
    for places in _texts_of(strings):
        pieces = [texts[block][number] for block, number in places]
        first = strings[places[0][0]][places[0][1]]
        redacted = redact_string(first._replace(text="".join(pieces)), kinds)
        told += redacted.kinds
        new = _spread(pieces, redacted.text) if len(pieces) > 1 else [redacted.text]
        for (block, number), piece in zip(places, new, strict=True):
            texts[block][number] = piece
    parts = zip(blocks, payloads, parsed, texts, strict=True)
    written = (_write_block(*one) for one in parts)
    return Redacted("".join(written), tuple(told))


def _blocks_of(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines of an event's data, and those between events."""
    for _, group in groupby(lines, key=lambda line: line.startswith("data:")):
        block = list(group)
        if len(block) > 1 and parse_json_text(_payload(block)) is None:
            alone = [parse_json_text(_payload([line])) for line in block]
            # Some servers leave out the empty line between events; others send lines of JSON.
            if any(found and not found.ending for found in alone):
                yield from ([line] for line in block)
                continue
        yield block


def _payload(block: Sequence[str]) -> str:
    """What the lines of one event say; other lines stay as they are."""
    if not block[0].startswith("data:"):
        return "".join(block)
    found = (compile_pattern(_DATA).fullmatch(line) for line in block)
    return "\n".join(line[2] for line in found if line)


def _texts_of(strings: Sequence[Sequence[BodyString]]) -> Iterator[list[tuple[int, int]]]:
    """The places (block, number of the string) of each text, in order of its first piece."""
    texts = dict[object, list[tuple[int, int]]]()
    for block, found in enumerate(strings):
        for number, string in enumerate(found):
            texts.setdefault(string.channel or (block, number), []).append((block, number))
    yield from texts.values()


def _write_block(
    block: Sequence[str], payload: str, found: JsonText | None, texts: Sequence[str]
) -> str:
    new = found.written(texts) if found else texts[0]
    if new == payload:
        return "".join(block)
    if not block[0].startswith("data:"):
        return new
    # A secret of several lines leaves fewer of them.
    lines = [compile_pattern(_DATA).fullmatch(line) for line in block]
    said = new.split("\n")
    kept = [*lines[: len(said) - 1], lines[-1]]
    return "".join(f"{line[1]}{one}{line[3]}" for line, one in zip(kept, said, strict=True) if line)


# 2. Pieces of a text ---------------------------------------------------------------------------


def _spread(pieces: Sequence[str], new: str) -> list[str]:
    """A redacted text as pieces: a marker is where its secret began, all else where it was."""
    old = "".join(pieces)
    if new == old:
        return list(pieces)
    changes = _changes(old, new)
    spread, start = list[str](), 0
    for piece in pieces:
        end = start + len(piece)
        kept, done = list[str](), start
        for first, last, marker in changes:
            if first >= end or last <= start:
                continue
            kept.append(old[done : max(first, done)])
            kept += [marker] if first >= start else []
            done = min(last, end)
        spread.append("".join((*kept, old[done:end])))
        start = end
    return spread


def _changes(old: str, new: str) -> list[tuple[int, int, str]]:
    """What became of which stretch of the old text, in order: start, end, and the new text."""
    kept = compile_pattern(MARKER).split(new)
    markers = compile_pattern(MARKER).findall(new)
    changes, position = list[tuple[int, int, str]](), len(kept[0])
    if old.startswith(kept[0]) and old.endswith(kept[-1]):
        for number, (marker, text) in enumerate(zip(markers, kept[1:], strict=True), 1):
            is_last = number == len(markers)
            start = len(old) - len(text) if is_last else old.find(text, position + 1)
            if start <= position:
                break
            changes.append((position, start, marker))
            position = start + len(text)
        else:
            return changes
    # Also the letters were written anew: the middle goes where it began.
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    return [(start, len(old) - end, new[start : len(new) - end])]


def _common(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
