"""The one JSON value of a response: strict inside, tolerant of white space and fences outside.

The whole text is tried first; only what fails is unwrapped, and only what still fails is searched.
An inner object of a damaged value is never taken: whatever opens a bracket is followed to its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import msgspec

from preflights_es.judging import bracket_matching
from preflights_es.judging.json_errors import CUT, NOTHING, UNBALANCED, flaw
from preflights_es.kernel.text import shortened
from preflights_es.kernel.verdict import (
    EXCERPT_MAX,
    Rejected,
    excerpt,
    rejected,
)

LENGTH_MAX: Final = 20_000_000  # characters of a response; no provider sends a tenth of it
FENCES_MAX: Final = 8  # code fences around one value; beyond, they are text
GROUPS_MAX: Final = 1_000  # bracketed groups looked at; beyond, the response is no answer

# Unicode's white space, and what has no width: U+FEFF at the beginning is the byte order mark.
_BLANK: Final = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202f\u205f\u2060"
    "\u2061\u2062\u2063\u2064\u3000\ufeff"
)
# A fence and its tag, which is one word (or, as Pandoc writes it, a word in braces).
_FENCE: Final = re.compile(
    rf"[{_BLANK}]*+(?:`{{3,}}+|~{{3,}}+)[ \t]*+"
    r"(?:[^\s`~{}\[\]\"]++|\{\.?[a-zA-Z]\w*+\})?+"
)
_FENCE_LINE: Final = re.compile(r"^[ \t]*+(?:`{3,}+|~{3,}+)\S*+[ \t]*+$", re.MULTILINE)
_MARK: Final = re.compile(
    r"[{}\[\]]|<(?P<closing>/?)(?:think|thinking|thought|reasoning|reflection|scratchpad)>",
    re.IGNORECASE,
)
_THOUGHT_ENDS: Final = re.compile(
    r"</(?:think|thinking|thought|reasoning|reflection|scratchpad)>", re.IGNORECASE
)
_ATTEMPT: Final = re.compile(r"[\[\s]*+\{\s*+[\"']")
_SURROGATE: Final = "a character is half of one (a lone surrogate)"


class Extracted(msgspec.Struct, frozen=True):
    """One value, and the beginning of what stood around it."""

    value: Any
    prose: str = ""


def extracted(raw: str, *, drop_prose: bool, arrays: bool) -> Extracted | Rejected:
    """The one value of a response.

    `arrays`: a top level array is as welcome as an object. Where it is not, one without objects is
    taken for text, such as a footnote's mark.
    """
    if not isinstance(raw, str):
        return rejected("invalid_json", f"it is no text, but {type(raw).__name__}")
    if len(raw) > LENGTH_MAX:
        return rejected(
            "invalid_json", f"it is longer than {LENGTH_MAX:,} characters", excerpt(raw)
        )
    try:
        return Extracted(_parser()(raw.encode()))
    except UnicodeEncodeError as error:
        return rejected("invalid_json", _SURROGATE, excerpt(raw, error.start - 40))
    except ValueError:
        return _unwrapped(raw, drop_prose=drop_prose, arrays=arrays)


@cache
def _parser() -> Callable[[bytes], Any]:
    """Refuses duplicate keys, lone surrogates, NaN and integers of more than 4,300 digits."""
    import jiter

    return partial(jiter.from_json, allow_inf_nan=False, catch_duplicate_keys=True)


def _unwrapped(raw: str, *, drop_prose: bool, arrays: bool) -> Extracted | Rejected:
    text = _without_fences(raw)
    if len(text) != len(raw):
        try:
            return Extracted(_parser()(text.encode()))
        except ValueError:
            pass
    return _Search(text, drop_prose=drop_prose, arrays=arrays).result()


def _without_fences(raw: str) -> str:
    """The text inside white space and code fences; a fence need not be closed, but opened."""
    start = fences = 0
    while fences < FENCES_MAX and (opened := _FENCE.match(raw, start)):
        start = opened.end()
        fences += 1
    text = raw[start:].strip(_BLANK)
    for _ in range(fences):
        mark = text[-1:]
        inner = text.rstrip(mark)
        if mark not in ("`", "~") or len(text) - len(inner) < 3:
            break
        text = inner.rstrip(_BLANK)
    return text


def words(raw: str) -> str:
    """A response in words, stripped; empty where the response has another form.

    What opens with a bracket or a fence, or holds the beginning of an object, is a cut or damaged
    value. What a model thought before is not its answer.
    """
    if len(raw) > LENGTH_MAX or any("\ud800" <= mark <= "\udfff" for mark in raw):
        return ""
    thoughts = list(_THOUGHT_ENDS.finditer(raw))
    text = raw[thoughts[-1].end() if thoughts else 0 :].strip(_BLANK)
    opens = text.startswith(("{", "[", "`" * 3, "~" * 3, "<"))
    return "" if opens or _ATTEMPT.search(text) else text


class _Search:
    """Goes through a text that is no JSON as a whole, from bracket to bracket."""

    def __init__(self, text: str, *, drop_prose: bool, arrays: bool) -> None:
        self.text = text
        self.drop_prose = drop_prose
        self.arrays = arrays
        self.found: tuple[int, int, Any] | None = None
        self.damaged: tuple[int, int] | None = None
        self.endless = False

    def result(self) -> Extracted | Rejected:
        """The value, when there is one and nothing else that counts."""
        return self._failure() or self._verdict()

    def _failure(self) -> Rejected | None:
        """Whatever makes the response unusable, in the order of the text."""
        at = groups = 0
        while mark := _MARK.search(self.text, at):
            start, bracket = mark.start(), mark.group()
            if bracket in "}]":
                return self._invalid(UNBALANCED, start)
            if bracket[0] == "<":
                at = self._after_thought(mark)
                if at < 0:
                    return self._invalid(CUT, start)
                continue
            groups += 1
            at, problem = bracket_matching.end(self.text, start)
            if problem or groups > GROUPS_MAX:
                return self._invalid(problem or bracket_matching.TOO_MANY, start)
            if failure := self._group(start, at):
                return failure
        return None

    def _after_thought(self, mark: re.Match[str]) -> int:
        """Where a model's thoughts end; what it drafts in them is not its answer."""
        if mark["closing"]:
            self.found = self.damaged = None
            return mark.end()
        closed = None if self.endless else _THOUGHT_ENDS.search(self.text, mark.end())
        if closed:
            return closed.end()
        self.endless = True
        return -1 if self.drop_prose else mark.end()

    def _group(self, start: int, end: int) -> Rejected | None:
        group = self.text[start:end]
        try:
            value = _parser()(group.encode())
        except ValueError:
            if _ATTEMPT.match(group):
                return self._invalid(*_located(group, start))
            self.damaged = self.damaged or (start, end)
            return None
        if not self._counts(value):
            return None
        if self.found is not None:
            return rejected(
                "multiple_artifacts", "a second JSON value begins here", excerpt(self.text, start)
            )
        self.found = (start, end, value)
        return None

    def _counts(self, value: Any) -> bool:
        """Whether a bracketed value is an answer, and not a mark in the text."""
        return self.arrays or isinstance(value, dict) or any(isinstance(v, dict) for v in value)

    def _verdict(self) -> Extracted | Rejected:
        if self.found is None:
            if self.damaged is None:
                return rejected("invalid_json", NOTHING, excerpt(self.text))
            start, end = self.damaged
            return self._invalid(*_located(self.text[start:end], start))
        start, end, value = self.found
        before, after = self.text[:start].strip(_BLANK), self.text[end:].strip(_BLANK)
        if not self.drop_prose:
            return _refused(before, after)
        return Extracted(value, _prose(before, after))

    def _invalid(self, why: str, at: int) -> Rejected:
        """The excerpt shows the end of a cut response, and the place of any other flaw."""
        at = max(at, len(self.text) - EXCERPT_MAX) if why is CUT else at - 40
        return rejected("invalid_json", why, excerpt(self.text, at))


def _located(group: str, start: int) -> tuple[str, int]:
    why, offset = flaw(group)
    return why, start + offset


def _refused(before: str, after: str) -> Rejected:
    """What stands around the value is more values, or text."""
    for part in (before, after):
        bare = _FENCE_LINE.sub("", part).strip(_BLANK + ",;")
        if bare and _is_json(f"[{bare}]"):
            return rejected("multiple_artifacts", "there is another JSON value", excerpt(bare))
    where = "before" if before else "behind"
    return rejected(
        "explanatory_text", f"there is text {where} the value", excerpt(before or after)
    )


def _is_json(text: str) -> bool:
    try:
        _parser()(text.encode())
    except ValueError:
        return False
    return True


def _prose(before: str, after: str) -> str:
    """The beginning of what stood before and behind, without fences."""
    looks = (excerpt(_FENCE_LINE.sub("", part[: 4 * EXCERPT_MAX])) for part in (before, after))
    return shortened(" … ".join(look for look in looks if look), EXCERPT_MAX)
