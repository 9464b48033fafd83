"""Bodies of requests and answers: JSON, of which each string is read by itself.

A string is read as a person's prose, as a response, and behind its name (`"pin": "4711"`); JSON in
a string stays JSON. Conversations repeat their turns, so what was read is remembered. Not looked
into: numbers, ids of calls, media in base64, and what a provider has signed or encrypted.
"""

from __future__ import annotations

import json
import re
from binascii import a2b_base64
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from preflights_es.kernel.errors import Refused
from preflights_es.redaction.classifier import is_noise
from preflights_es.redaction.masking import (
    DEPTH_MAX,
    LABEL_MAX,
    MARKER,
    ROUNDS_MAX,
    Redacted,
    find_json_strings,
    holds_escapes,
    mentions,
    plain_form,
    redact_hidden,
    response_redacted,
)
from preflights_es.redaction.patterns import OPAQUE, SECRETS, VALUE_MAX, SecretKind, compile_pattern

# 1. A body -------------------------------------------------------------------------------------

T = TypeVar("T")
LEVELS_MAX: Final = 200  # objects and lists within each other


def redact_body(value: Any, kinds: tuple[SecretKind, ...] = SECRETS) -> tuple[Any, tuple[str, ...]]:
    """A parsed body as it may be recorded, and the kinds of secrets that were taken out.

    The value itself stays as it is. Doing it again changes nothing.

    Raises:
        Refused: it is nested too deep.
    """
    try:
        return redact_until_stable(value, lambda body: _redact_body_once(body, kinds))
    except RecursionError as error:
        found = f"the body is nested more than {LEVELS_MAX} levels deep"
        raise Refused(f"{found}: leave it out", code="body_too_deep") from error


def redact_until_stable(
    value: T, redact_once: Callable[[T], tuple[T, tuple[str, ...]]]
) -> tuple[T, tuple[str, ...]]:
    """Redacted again until it stays: what goes may lay open more, such as a name of a value."""
    told = list[str]()
    for _ in range(ROUNDS_MAX):
        before = value
        value, kinds = redact_once(before)
        told += kinds
        if value == before:
            break
    return value, tuple(told)


def _redact_body_once(value: Any, kinds: tuple[SecretKind, ...]) -> tuple[Any, tuple[str, ...]]:
    strings = list[BodyString]()
    _collect_strings(value, strings, BodyPlace())
    redacted = [redact_string(one, kinds) for one in strings]
    if all(one.text == string.text for one, string in zip(redacted, strings, strict=True)):
        return value, ()
    texts = iter([one.text for one in redacted])
    return _write_value(value, texts), tuple(kind for one in redacted for kind in one.kinds)


def _write_value(value: Any, texts: Iterator[str]) -> Any:
    match value:
        case str():
            return next(texts)
        case list() | tuple():
            return [_write_value(item, texts) for item in value]
        case dict():
            written = dict[str, Any]()
            for item in value.values():
                key = next(texts)
                while key in written:  # two names hide behind one marker
                    key += "'"
                written[key] = _write_value(item, texts)
            return written
        case _:
            return value


class JsonPairs(list[tuple[str, Any]]):
    """An object of JSON as it stands in the text: a name may come twice."""


class BodyString(NamedTuple):
    """A string of a body, a name or a value."""

    text: str
    label: str = ""
    """The name in front of it."""
    channel: tuple[object, ...] | None = None
    """What says of which text of a stream it is a piece; None: it is whole."""
    is_sealed: bool = False
    """A provider signed or encrypted it: it is sent back as it is."""


class BodyPlace(NamedTuple):
    """Where a value stands."""

    label: str = ""
    level: int = 0
    ids: tuple[tuple[str, str], ...] = ()
    """Of a stream: which choice, block, item or call it belongs to."""
    in_stream: bool = False
    in_delta: bool = False


def _collect_strings(value: Any, found: list[BodyString], place: BodyPlace) -> None:
    """All strings, in the order of the text."""
    if place.level > LEVELS_MAX:
        raise RecursionError
    match value:
        case str():
            found.append(BodyString(value, place.label))
        case JsonPairs():
            _collect_of_object(value, dict(value), found, place)
        case dict():
            _collect_of_object(value.items(), value, found, place)
        case list() | tuple():
            inner, before = place._replace(level=place.level + 1), ""
            for item in value:
                # A name and its value in a list: ["api key", "9f8e7d6c..."]
                paired = before and isinstance(item, str) and is_noise(item.rpartition(" ")[2])
                _collect_strings(item, found, inner._replace(label=before) if paired else inner)
                before = item if isinstance(item, str) else ""


_IDS: Final = ("index", "item_id", "output_index", "content_index", "summary_index")
_DELTAS: Final = frozenset({"delta", "content_block", "choices", "candidates", "message"})
_WHOLE_DELTAS: Final = ("delta", "response")  # of OpenAI's Responses; of Ollama
_PIECES: Final = frozenset(
    {"content", "reasoning_content", "reasoning", "refusal", "arguments", "text", "thinking"}
    | {"partial_json"}
)


def _collect_of_object(
    pairs: Any, fields: Mapping[str, Any], found: list[BodyString], place: BodyPlace
) -> None:
    if place.in_stream:
        said = ((one, fields.get(one)) for one in _IDS)
        own = tuple((one, str(held)) for one, held in said if isinstance(held, int | str))
        place = place._replace(ids=place.ids + own)
    before = ""
    for name, item in pairs:
        found.append(BodyString(name))
        label = before if before and name.lower() == "value" else name
        if not isinstance(item, str):
            in_delta = place.in_stream and (place.in_delta or name in _DELTAS)
            inner = place._replace(label=label, level=place.level + 1, in_delta=in_delta)
            _collect_strings(item, found, inner)
            continue
        channel = None
        if place.in_stream and name in _WHOLE_DELTAS:  # the event says of what
            channel = (*place.ids, str(fields.get("type")))
        elif place.in_delta and name in _PIECES:
            channel = (*place.ids, name)
        sealed = _is_sealed(name, fields.get("type"), item)
        found.append(BodyString(item, label, channel, sealed))
        before = item


def _is_sealed(name: str, kind: object, text: str) -> bool:
    """The signature of a thought, or encrypted reasoning, as the dialects write it."""
    named = (
        name == "encrypted_content"
        or (name == "signature" and kind in ("thinking", "signature_delta"))
        or (name == "data" and kind == "redacted_thinking")
    )
    return named and compile_pattern(r"[A-Za-z0-9+/=_-]*").fullmatch(text) is not None


# 2. JSON as text -------------------------------------------------------------------------------

_HALVES: Final = "[\ud800-\udfff]"  # of a surrogate pair: UTF-8 does not have them
_STRING: Final = r'"(?:[^"\\]|\\.)*+"'


class JsonText(NamedTuple):
    """A text that is JSON, perhaps cut off at its end."""

    text: str
    strings: list[BodyString]
    ending: str = ""
    """What completes a text that was cut off."""
    broken: str = ""
    """The beginning of an escape or a number at the cut."""

    def written(self, texts: Sequence[str]) -> str:
        """The same text with other strings; only those that differ are written anew."""
        pieces, done = list[str](), 0
        tokens = compile_pattern(_STRING, re.DOTALL).finditer(self.text)
        for token, old, new in zip(tokens, self.strings, texts, strict=True):
            if new != old.text:
                is_ascii = token.group().isascii() or compile_pattern(_HALVES).search(new)
                piece = json.dumps(new, ensure_ascii=bool(is_ascii))
                pieces += (self.text[done : token.start()], piece)
                done = token.end()
        whole = "".join((*pieces, self.text[done:]))
        return whole[: len(whole) - len(self.ending)] + self.broken


def parse_json_text(text: str, *, in_stream: bool = False) -> JsonText | None:
    """An object or a list with strings, whole or cut off at its end; None for any other text."""
    if not compile_pattern(r"\s*[{\[]").match(text):
        return None
    for whole, ending, broken in _completions(text):
        try:
            value = json.loads(whole, object_pairs_hook=JsonPairs, strict=False)
            strings = list[BodyString]()
            _collect_strings(value, strings, BodyPlace(in_stream=in_stream))
        except ValueError:
            continue
        except RecursionError:
            return None
        if not strings:  # numbers, perhaps a card's: a text as any other
            return None
        return JsonText(whole, strings, ending, broken)
    return None


_CUT_WORD: Final = r"(?:-?[0-9][0-9.eE+-]{0,20}|-|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?)\Z"


def _completions(text: str) -> Iterator[tuple[str, str, str]]:
    """The text, and what it may have been before it was cut off."""
    yield text, "", ""
    opened, in_string = list[str](), False
    for token in compile_pattern(rf'{_STRING}|[{{}}\[\]"]', re.DOTALL).finditer(text):
        match sign := token.group():
            case "{" | "[":
                opened.append("}" if sign == "{" else "]")
            case "}" | "]" if opened:
                opened.pop()
            case '"':
                in_string = True
                break
    closing = "".join(reversed(opened))
    broken = r"\\(?:u[0-9A-Fa-f]{0,3})?\Z" if in_string else _CUT_WORD
    cut = compile_pattern(rf"(?<!\\)(?:\\\\)*+({broken})").search(text, max(0, len(text) - 40))
    kept = text[: cut.start(1)] if cut else text
    for ending in ('"', '":0') if in_string else ("", "0", ":0", '"":0'):
        yield kept + ending + closing, ending + closing, text[len(kept) :]


def redact_json(
    text: str, kinds: tuple[SecretKind, ...], depth: int = DEPTH_MAX
) -> Redacted | None:
    """JSON with its strings redacted once, all else byte for byte. None if it is no JSON."""
    found = parse_json_text(text)
    if found is None:
        return None
    redacted = [redact_string(one, kinds, depth) for one in found.strings]
    written = found.written([one.text for one in redacted])
    return Redacted(written, tuple(kind for one in redacted for kind in one.kinds))


# 3. A string -----------------------------------------------------------------------------------

_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_ID: Final = (
    r"(?:(?:call|toolu|srvtoolu|msg(?:_bdrk|_vrtx)?|resp|req|rs|fc|ctc|item|run|thread|asst|batch|fp|"
    r"evt|event)_|(?:chatcmpl|cmpl|file|batch|req|call|tool)-)"
    rf"(?:[A-Za-z0-9]{{6,80}}|{_UUID})"
)
_DIGEST: Final = r"[0-9a-f]{64}"
_NAMES_AN_ID: Final = r"(?:^|[_-])id$|[a-z]Id$"


def redact_string(
    string: BodyString, kinds: tuple[SecretKind, ...], depth: int = DEPTH_MAX
) -> Redacted:
    """A string of a body as it may be recorded; doing it again changes nothing."""
    text, label = string.text, string.label[-LABEL_MAX:]
    if len(text) < _SHORTEST or string.is_sealed:
        return Redacted(text, ())
    key = (label, text, kinds, depth)
    if (known := _SEEN.redacted(key)) is None:
        known = Redacted(text, ())
        if not _is_id(text, label):
            named = plain_form(label).lower()
            tells = mentions(f"{named}:") or "cookie" in named or "auth" in named
            label = label if tells else ""
            once = partial(_redact_once, label=label, kinds=kinds, depth=depth)
            known = Redacted(*redact_until_stable(text, once))
        _SEEN.remember(key, known)
        if known.kinds:  # what is redacted is read once more, with all that is around it
            _SEEN.remember((key[0], known.text, *key[2:]), Redacted(known.text, ()))
    return known


def _is_id(text: str, label: str) -> bool:
    if compile_pattern(_DIGEST).fullmatch(text):
        return compile_pattern(_NAMES_AN_ID).search(label) is not None
    return compile_pattern(_ID).fullmatch(text) is not None


_SHORTEST: Final = 4  # characters: a PIN


def _redact_once(text: str, label: str, kinds: tuple[SecretKind, ...], depth: int) -> Redacted:
    found = redact_json(text, kinds, depth - 1) if depth else None
    return found or _redact_around_media(text, label, kinds)


def _redact_around_media(text: str, label: str, kinds: tuple[SecretKind, ...]) -> Redacted:
    bare, media = _take_media_out(text)
    redacted = _redact_text(bare, label, kinds)
    first, *rest = redacted.text.split(OPAQUE)
    if len(rest) != len(media):  # what was taken out has gone: it is read as any text
        return _redact_text(text, label, kinds)
    shown = (run + piece for run, piece in zip(media, rest, strict=True))
    return redacted._replace(text="".join((first, *shown)))


def _redact_text(text: str, label: str, kinds: tuple[SecretKind, ...]) -> Redacted:
    found = redact_hidden(text, kinds)
    if label:
        found = _redact_behind(label, found, kinds)
    text = found.text
    if next(find_json_strings(text), None) or holds_escapes(text):
        read = response_redacted(text, kinds, is_read=True)
        marks = compile_pattern(MARKER)
        more = Counter(marks.findall(read)) - Counter(marks.findall(text))
        told = (mark.removeprefix("[redacted:").rstrip("]") for mark in more.elements())
        found = Redacted(read, (*found.kinds, *told))
    return found


def _redact_behind(label: str, found: Redacted, kinds: tuple[SecretKind, ...]) -> Redacted:
    """Where nothing went: the value that its label gives away."""
    word = plain_form(found.text)
    quote = next((one for one in "\"'`" if one not in word), "")
    is_one_value = "\n" not in word and (len(word) <= VALUE_MAX or " " not in word)
    if found.kinds or not quote or not is_one_value or word.startswith("[redacted:"):
        return found
    front = f"{plain_form(label)}: {quote}"
    read = redact_hidden(f"{front}{word}{quote}", kinds)
    inner = read.text.removeprefix(front).removesuffix(quote)
    same_frame = read.text == f"{front}{inner}{quote}"
    return Redacted(inner, read.kinds) if read.kinds and same_frame and inner != word else found


MEDIA_MIN: Final = 4096  # characters of base64: a shorter run is read as text
_MEDIA: Final = (
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF....(?:WAVE|WEBP)|OggS|ID3[\x02-\x04]"
    rb"|\xff[\xfb\xf3\xf2]|fLaC|%PDF-"
)


def _take_media_out(text: str) -> tuple[str, list[str]]:
    """The text with one sign, which no rule reads, for each image, sound and PDF in base64."""
    if len(text) < MEDIA_MIN:
        return text, [OPAQUE] * text.count(OPAQUE)
    taken = list[str]()

    def replaced(found: Any) -> str:
        run = str(found.group())
        if run != OPAQUE and not _is_media(run):
            return run
        taken.append(run)
        return OPAQUE

    pattern = rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{{MEDIA_MIN},}}+={{0,2}}|{OPAQUE}"
    return compile_pattern(pattern).sub(replaced, text), taken


def _is_media(run: str) -> bool:
    return re.match(_MEDIA, a2b_base64(run[:16]), re.DOTALL) is not None


class SeenStrings:
    """What was redacted lately: two generations, of which the older one is forgotten as a whole."""

    def __init__(self, entries_max: int = 20_000, characters_max: int = 4_000_000) -> None:
        self._entries_max = entries_max
        self._characters_max = characters_max
        self._young: dict[tuple[object, ...], Redacted] = {}
        self._old: dict[tuple[object, ...], Redacted] = {}
        self._characters = 0

    def redacted(self, key: tuple[object, ...]) -> Redacted | None:
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.remember(key, found)
        return found

    def remember(self, key: tuple[object, ...], redacted: Redacted) -> None:
        size = 2 * len(redacted.text)
        if size > self._characters_max:
            return
        self._characters += size
        if self._characters > self._characters_max or len(self._young) >= self._entries_max:
            self._old, self._young, self._characters = self._young, {}, size
        self._young[key] = redacted


_SEEN: Final = SeenStrings()
