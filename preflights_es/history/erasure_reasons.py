"""What the reason of an erasure must not repeat: the words and the names of the erased session.

The payloads are read as JSON and not as events, so that a session that cannot be folded is
searched as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.json import decoded
from preflights_es.kernel.ports import Stored

QUOTE_MIN: Final = 8  # characters; a shorter text of a program's stands in many sentences by chance
TYPED_MIN: Final = 3  # characters of what a person typed: "no" and "10" stand in many as well
NAME_MIN: Final = 2  # characters of a whole name; of a part of one as many as of a typed text

QuoteKind = Literal["name", "typed", "offered", "said"]
"""`typed` by a person, `offered` as an option, `said` by a model, or derived from either."""

_OFFERED: Final = frozenset(("options", "menu"))
_DERIVED: Final = frozenset(("title", "content", "value", "other"))
"""The fields of Decisions that hold words of people and models, perhaps in another form."""
_NOT_WORDS: Final = frozenset(
    (
        *("at", "call", "folder", "key", "kind", "language", "lead", "mark", "message", "model"),
        *("noted_at", "pass_type", "path", "project", "prompts", "redacted", "request_id", "setup"),
        *("sha256", "standing", "status", "stop_reason", "text_base64", "time_zone", "type", "uid"),
        *("layout", "left_out", "stale"),
        # Words of other sessions, which are not erased with this one.
        *("by", "decisions", "hash", "known", "plans", "session_id", "supersedes"),
    )
)
"""The fields of Inputs that no person types and no model says; every other field is compared."""
_FROM_A_MODEL: Final = tuple(
    tag.rpartition(".")[0] + "." for tag in (CompletionReceived.tag, CompletionFailed.tag)
)
_WORD: Final = re.compile(r"[^\W_]+")
_UNSEEN: Final = ("Mn", "Cf")  # accents, and what has no width: another spelling of one word


class Reason:
    """The words of a reason, in a form in which texts are looked up."""

    def __init__(self, text: str) -> None:
        self._words = _words(text)

    def repeats(self, stored: Iterable[Stored]) -> bool:
        """Whether it holds a text or a name of a session, in any case, spacing and punctuation."""
        found = [pair for one in stored for pair in _of_event(one)]
        offered = {_words(text) for kind, text in found if kind == "offered"}
        return any(
            self.quotes(line, "offered" if _words(line) in offered else kind)
            for kind, text in found
            if kind != "offered"
            for line in text.splitlines()
        )

    def quotes(self, text: str, kind: QuoteKind) -> bool:
        """Whether it holds a text as whole words; of a name also a part of it."""
        if kind == "name":
            parts = _words(text).split()
            return self._holds(text, NAME_MIN) or any(self._holds(p, TYPED_MIN) for p in parts)
        return self._holds(text, TYPED_MIN if kind == "typed" else QUOTE_MIN)

    def _holds(self, text: str, least: int) -> bool:
        words = _words(text)
        bare = words.strip()
        if len(bare) < (NAME_MIN if _is_unspaced(bare) else least):
            return False
        return (bare if _is_unspaced(bare) else words) in self._words


def _words(text: str) -> str:
    """Words in lower case between single blanks, with a blank around: a whole word is ` word `."""
    letters = unicodedata.normalize("NFKD", text).replace("\u02bc", "'")
    seen = "".join(one for one in letters if unicodedata.category(one) not in _UNSEEN)
    return f" {' '.join(_WORD.findall(seen.casefold()))} "


def _is_unspaced(text: str) -> bool:
    """Whether it holds letters of a script without case, such as Chinese: words may lack blanks."""
    return any(unicodedata.category(character) == "Lo" for character in text)


def _of_event(one: Stored) -> Iterator[tuple[QuoteKind, str]]:
    if one.data is None:
        return
    try:
        payload = decoded(one.data)
    except (ValueError, RecursionError):  # none of ours: it is compared as one text
        yield "said", one.data.decode(errors="replace")
        return
    if one.input_id is None:
        yield from _decided(payload)
    elif str(one.type).startswith(_FROM_A_MODEL):
        yield from _spoken(payload)
    else:
        yield from _typed(payload)


def _typed(value: Any) -> Iterator[tuple[QuoteKind, str]]:
    """The texts of an Input of a person's, the names in it, and the options that it carries."""
    match value:
        case {"kind": str(), "name": str(name)} if len(value) == 2:
            yield "name", name
        case dict():
            yield from _offered(value.get("heuristics"))
            for key, part in value.items():
                if key == "fields":
                    yield from _fields(part)
                elif key not in _NOT_WORDS and key != "heuristics":
                    yield from _typed(part)
        case list():
            for part in value:
                yield from _typed(part)
        case str():
            yield "typed", value


def _fields(pairs: Any) -> Iterator[tuple[QuoteKind, str]]:
    """Pairs of field and value; a short value is mostly a word of ours, such as `high`."""
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, list) and pair and isinstance(pair[-1], str):
            yield "said", pair[-1]


def _spoken(payload: Any) -> Iterator[tuple[QuoteKind, str]]:
    """What a model said; where that is JSON, each of its texts."""
    for key in ("text", "received"):
        text = payload.get(key) or ""
        yield "said", text
        with_braces = text[text.find("{") : text.rfind("}") + 1]
        try:
            value = msgspec.json.decode(with_braces)
        except (ValueError, RecursionError):  # prose, or a response that was cut off
            continue
        yield from _texts(value)


def _texts(value: Any) -> Iterator[tuple[QuoteKind, str]]:
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield "said", text
            case dict() as some:
                left += some.values()
            case list() as some:
                left += some


def _decided(value: Any, key: str = "") -> Iterator[tuple[QuoteKind, str]]:
    match value:
        case dict():
            yield from _offered(value)
            for name, part in value.items():
                yield from _decided(part, name)
        case list():
            for part in value:
                yield from _decided(part, key)
        case str() if key in _DERIVED:
            yield "said", value


def _offered(value: Any) -> Iterator[tuple[QuoteKind, str]]:
    match value:
        case dict():
            for key, part in value.items():
                if key in _OFFERED and isinstance(part, list):
                    yield from (("offered", text) for text in part if isinstance(text, str))
                else:
                    yield from _offered(part)
        case list():
            for part in value:
                yield from _offered(part)
