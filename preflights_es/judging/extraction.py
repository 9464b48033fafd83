"""The one JSON value of a response: strict inside, tolerant of white space and fences outside.

The whole text is tried first; only what fails is unwrapped, and only what still fails is searched.
An inner object of a damaged value is never taken: whatever opens a bracket is followed to its end.
Why a text is not strict JSON is said in words that stay the same whatever parser is installed.
"""

from __future__ import annotations

import contextlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.kernel.completions import EXCERPT_MAX, Path, Rejected, excerpt, rejected
from preflights_es.kernel.text import late_pattern, shortened

# 1. Why a text is not strict JSON ---------------------------------------------------------------

CUT: Final = "it ends before its JSON value does"
UNBALANCED: Final = "its brackets do not match"
NOTHING: Final = "there is no JSON value in it"

_WORDS: Final = {
    "string": "a text is not closed, or holds a control character or an unknown escape",
    "quote": "a text stands in single quotes",
    "comma": "there is a comma before a closing bracket",
    "comment": "there is a comment",
    "number": "a word stands where a number should",
    "python": "true, false and null are written otherwise",
    "key": "a key stands without quotes",
    "zeros": "a number is not written as JSON wants it",
    "long": "a number has too many digits",
    "space": "there is white space that JSON does not know",
    "word": "there is a word that is no value",
}
# Skips all that is right, in one go; what stands behind it is a flaw, or nothing.
_RIGHT: Final = late_pattern(
    r'(?:"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
    r"|(?<![\w.+-])-?(?:0|[1-9][0-9]{0,4299})(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+])"
    r"|(?<!\w)(?:true|false|null)(?!\w)"
    r"|[ \t\r\n{}\[\]:]++"
    r"|,(?!\s*+[}\]]))*+"
)
_FLAW: Final = late_pattern(
    r'(?P<string>")'
    r"|(?P<quote>')"
    r"|(?P<comma>,)"
    r"|(?P<comment>//|/\*|#)"
    r"|(?P<number>(?:NaN|-?Infinity)(?!\w))"
    r"|(?P<python>(?:True|False|None|TRUE|FALSE|NULL)(?!\w))"
    r"|(?P<key>[A-Za-z_$][\w$-]*+\s*+:)"
    r"|(?P<long>-?[0-9]{4300,}+)"
    r"|(?P<zeros>[-+.]?[0-9][\w.+-]*+|[-+.])"
    r"|(?P<space>[^\S \t\r\n]|[\u200b-\u200f\u2060-\u2064\ufeff])"
    r"|(?P<word>[^\s{}\[\]:,])"
)
_SURROGATE: Final = late_pattern(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_PAIR: Final = late_pattern(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def flaw(text: str) -> tuple[str, int]:
    """What is wrong with a balanced text that no strict parser takes, and at which character."""
    right = _RIGHT.match(text)
    found = _FLAW.match(text, right.end() if right else 0)
    if found and found.lastgroup:
        return _WORDS[found.lastgroup], found.start()
    if lone := _SURROGATE.search(_PAIR.sub("", text)):
        return "an escape is half of a character (a lone surrogate)", text.find(lone.group())
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return "a comma, a colon or a value is missing", 0
    return "an object has the same key twice", 0


# 2. One walk over a value, without recursion ----------------------------------------------------

DEPTH_MAX: Final = 200  # levels of arrays and objects (docs/contracts.md)
TOO_DEEP: Final = f"it is nested deeper than {DEPTH_MAX} levels"
TOO_LARGE: Final = "a number is too large to be one"
_TEXTS: Final = {str}
_INFINITE: Final = (float("inf"), float("-inf"))


class Leaves(msgspec.Struct, frozen=True):
    """What a value is made of, from the top level down."""

    texts: list[str]
    """The texts that are members of objects."""
    lists: list[list[Any]]
    """The arrays that have texts; a value that is nothing but a text counts as one of these."""
    words: list[list[str]]
    """The texts of each of these arrays."""
    keys: dict[str, Any]
    """Every key once; the values say nothing."""
    flaw: str
    """Why the value is out of bounds, in words; empty when it is not."""


def leaves(value: Any) -> Leaves:
    """Walk a value that a JSON parser made, level by level; linear in its size."""
    texts: list[str] = []
    lists: list[list[Any]] = []
    words: list[list[str]] = []
    keys: dict[str, Any] = {}
    flaw = ""
    level: list[Any] = [[value]]
    for _ in range(DEPTH_MAX + 1):
        below: list[Any] = []
        for holder in level:
            if type(holder) is dict:
                keys.update(holder)
                items, found = holder.values(), texts
            elif set(map(type, holder)) == _TEXTS:
                lists.append(holder)
                words.append(holder)
                continue
            else:
                items, found = holder, []
            flaw = _sorted_out(items, found, below) or flaw
            if found and found is not texts:
                lists.append(holder)
                words.append(found)
        level = below
        if not level:
            break
    return Leaves(texts, lists, words, keys, flaw=TOO_DEEP if level else flaw)


def _sorted_out(items: Iterable[Any], texts: list[str], below: list[Any]) -> str:
    """Add the texts to `texts`, arrays and objects to `below`; the flaw of a number among them."""
    flaw = ""
    for item in items:
        kind = type(item)
        if kind is str:
            texts.append(item)
        elif kind is dict or kind is list:
            below.append(item)
        elif kind is float and item in _INFINITE:
            flaw = TOO_LARGE
    return flaw


def path_of_text(value: Any, text: str) -> Path:
    """Where a text is first a member of an object."""
    for path, holder, item in _members(value):
        if item == text and isinstance(item, str) and isinstance(holder, dict):
            return path
    return ()


def path_of_key(value: Any, key: str) -> Path:
    """Where an object first has this key."""
    for path, holder, _ in _members(value):
        if isinstance(holder, dict) and path[-1] == key:
            return path
    return ()


def path_of_list(value: Any, items: list[Any]) -> Path:
    """Where a list stands that is part of the value."""
    return next((path for path, _, item in _members(value) if item is items), ())


def _members(value: Any) -> Iterator[tuple[Path, Any, Any]]:
    """Triples of path, holder and item for the value and all that is in it, in document order."""
    yield (), None, value
    stack = [(value, _iterate_members(value))]
    path: list[str | int] = []
    while stack:
        holder, items = stack[-1]
        for name, item in items:
            yield (*path, name), holder, item
            if isinstance(item, dict | list):
                path.append(name)
                stack.append((item, _iterate_members(item)))
                break
        else:
            stack.pop()
            if path:
                path.pop()


def _iterate_members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value)) if isinstance(value, list) else iter(())


# 3. Where a bracketed value ends, without parsing it --------------------------------------------

STEPS_MAX: Final = 1_000_000  # brackets followed; no model writes as many around or in one value

TOO_MANY: Final = "it has too many brackets"

_TEXT: Final = r'"(?:[^"\\]++|\\.)*+"'
_PLAIN: Final = r'[^"{}\[\]]++'
_LEAF: Final = rf"\{{(?:{_PLAIN}|{_TEXT})*+\}}|\[(?:{_PLAIN}|{_TEXT})*+\]"
# Skips all that cannot change the depth, innermost pairs included; ends before what can.
_SKIP: Final = late_pattern(rf"(?:{_PLAIN}|{_TEXT}|{_LEAF})*+", re.DOTALL)
_PAIRS: Final = {"}": "{", "]": "["}


def closing(text: str, start: int) -> tuple[int, str]:
    """The character behind the bracket that closes the one at `start`, and what is wrong.

    Without a closing bracket the first is -1 and the second says why; else the second is empty.
    """
    open_brackets: list[str] = []
    at = start
    for _ in range(STEPS_MAX):
        if open_brackets:
            found = _SKIP.match(text, at)
            at = found.end() if found else at
        if at >= len(text) or text[at] == '"':
            return -1, CUT
        bracket = text[at]
        at += 1
        if bracket in "{[":
            open_brackets.append(bracket)
            if len(open_brackets) > DEPTH_MAX:
                return -1, TOO_DEEP
        elif open_brackets.pop() != _PAIRS[bracket]:
            return -1, UNBALANCED
        if not open_brackets:
            return at, ""
    return -1, TOO_MANY


# 4. The value -----------------------------------------------------------------------------------

LENGTH_MAX: Final = 20_000_000  # characters of a response; no provider sends a tenth of it
FENCES_MAX: Final = 8  # code fences around one value; beyond, they are text
THOUGHTS_MAX: Final = 8  # ends of thoughts looked at; beyond, they are text
GROUPS_MAX: Final = 1_000  # bracketed groups looked at; beyond, the response is no answer

# Unicode's white space, and what has no width: U+FEFF at the beginning is the byte order mark.
_BLANK: Final = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202f\u205f\u2060"
    "\u2061\u2062\u2063\u2064\u3000\ufeff"
)
# A fence and its tag, which is one word (or, as Pandoc writes it, a word in braces).
_FENCE: Final = late_pattern(
    rf"[{_BLANK}]*+(?:`{{3,}}+|~{{3,}}+)[ \t]*+"
    r"(?:[^\s`~{}\[\]\"]++|\{\.?[a-zA-Z]\w*+\})?+"
)
_FENCE_LINE: Final = late_pattern(r"^[ \t]*+(?:`{3,}+|~{3,}+)\S*+[ \t]*+$", re.MULTILINE)
# A model's thoughts stand in tags, which servers without a parser for them leave in the text.
_TAG: Final = (
    r"(?:\w++:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)(?:\s[^<>]*+)?>"
)
_THOUGHT: Final = late_pattern(f"</?{_TAG}", re.IGNORECASE)
# Mistral, Kimi and gpt-oss mark it their own way.
_OTHER_ENDS: Final = (
    r"\[/think\]|◁/think▷|<\|channel\|>final\s*+(?:<\|constrain\|>\w*+)?<\|message\|>"
)
_OTHER_BEGINNINGS: Final = r"\[think\]|◁think▷|<\|channel\|>analysis\s*+<\|message\|>"
_MARK: Final = late_pattern(
    rf"(?P<other>{_OTHER_BEGINNINGS})|(?P<end>{_OTHER_ENDS})|[{{}}\[\]]|<(?P<closing>/?){_TAG}",
    re.IGNORECASE,
)
_THOUGHT_ENDS: Final = late_pattern(f"</{_TAG}|{_OTHER_ENDS}", re.IGNORECASE)
_ATTEMPT: Final = late_pattern(r"[\[\s]*+\{\s*+[\"']")
_LONE: Final = "a character is half of one (a lone surrogate)"


class Extracted(msgspec.Struct, frozen=True):
    """One value, and the beginning of what stood around it."""

    value: Any
    prose: str = ""


class Allowed(NamedTuple):
    """What may stand around the value, and what it may be."""

    prose: bool
    """Whether text around it is dropped."""
    reasoning: bool
    """Whether what a model thought before it is dropped."""
    arrays: bool
    """Whether an array is as welcome as an object. Where it is not, one without objects is taken
    for text, such as a footnote's mark."""


def extracted(raw: str, allowed: Allowed) -> Extracted | Rejected:
    """The one value of a response."""
    if not isinstance(raw, str):
        return rejected("invalid_json", f"it is no text, but {type(raw).__name__}")
    if len(raw) > LENGTH_MAX:
        found = f"it is longer than {LENGTH_MAX:,} characters"
        return rejected("invalid_json", found, excerpt(raw))
    try:
        return Extracted(_parser()(raw.encode()))
    except UnicodeEncodeError as error:
        return rejected("invalid_json", _LONE, excerpt(raw, error.start - 40))
    except ValueError:
        return _unwrapped(raw, allowed)


@cache
def _parser() -> Callable[[bytes], Any]:
    """Refuses duplicate keys, lone surrogates, NaN and integers of more than 4,300 digits."""
    import jiter

    return partial(jiter.from_json, allow_inf_nan=False, catch_duplicate_keys=True)


def _unwrapped(raw: str, allowed: Allowed) -> Extracted | Rejected:
    text = _without_fences(raw)
    if len(text) != len(raw):
        try:
            return Extracted(_parser()(text.encode()))
        except ValueError:
            pass
    if allowed.reasoning and (found := _behind_thoughts(text)):
        return found
    return _ValueSearch(text, allowed).result()


def _behind_thoughts(text: str) -> Extracted | None:
    """The value, where nothing but thoughts stands before it.

    What was thought may hold drafts and open brackets, and the value the end of a tag: the last
    end that a whole value follows counts.
    """
    ends = deque((tag.end() for tag in _THOUGHT_ENDS.finditer(text)), THOUGHTS_MAX)
    for end in reversed(ends):
        with contextlib.suppress(ValueError):
            value = _parser()(_without_fences(text[end:]).encode())
            return Extracted(value, _prose(text[:end], ""))
    return None


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


def read_prose_response(raw: str) -> str:
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


class _ValueSearch:
    """Goes through a text that is no JSON as a whole, from bracket to bracket."""

    def __init__(self, text: str, allowed: Allowed) -> None:
        self.text = text
        self.allowed = allowed
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
            if bracket not in "{[":
                at = self._after_thought(mark)
                if at < 0:
                    return self._invalid(CUT, start)
                continue
            groups += 1
            at, problem = closing(self.text, start)
            if problem or groups > GROUPS_MAX:
                return self._invalid(problem or TOO_MANY, start)
            if failure := self._group(start, at):
                return failure
        return None

    def _after_thought(self, mark: re.Match[str]) -> int:
        """Where a model's thoughts end; what it drafts in them is not its answer."""
        if mark["closing"] or mark["end"]:
            self.found = self.damaged = None
            return mark.end()
        closed = None if self.endless else _THOUGHT_ENDS.search(self.text, mark.end())
        if closed:
            return closed.end()
        self.endless = True
        return -1 if self.allowed.prose or self.allowed.reasoning else mark.end()

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
            found = "a second JSON value begins here"
            return rejected("multiple_artifacts", found, excerpt(self.text, start))
        self.found = (start, end, value)
        return None

    def _counts(self, value: Any) -> bool:
        """Whether a bracketed value is an answer, and not a mark in the text."""
        if self.allowed.arrays or isinstance(value, dict):
            return True
        return any(isinstance(v, dict) for v in value)

    def _verdict(self) -> Extracted | Rejected:
        if self.found is None:
            if self.damaged is None:
                return rejected("invalid_json", NOTHING, excerpt(self.text))
            start, end = self.damaged
            return self._invalid(*_located(self.text[start:end], start))
        start, end, value = self.found
        before, after = self.text[:start].strip(_BLANK), self.text[end:].strip(_BLANK)
        if not self.allowed.prose:
            if self.allowed.reasoning:  # it is not what is wrong here
                before = _THOUGHT_ENDS.split(before)[-1].strip(_BLANK)
            return _reject_surroundings(before, after)
        return Extracted(value, _prose(before, after))

    def _invalid(self, why: str, at: int) -> Rejected:
        """The excerpt shows the end of a cut response, and the place of any other flaw."""
        at = max(at, len(self.text) - EXCERPT_MAX) if why is CUT else at - 40
        return rejected("invalid_json", why, excerpt(self.text, at))


def _located(group: str, start: int) -> tuple[str, int]:
    why, offset = flaw(group)
    return why, start + offset


def _reject_surroundings(before: str, after: str) -> Rejected:
    """What stands around the value is more values, or text."""
    for part in (before, after):
        bare = _FENCE_LINE.sub("", part).strip(_BLANK + ",;")
        if bare and _is_json(f"[{bare}]"):
            return rejected("multiple_artifacts", "there is another JSON value", excerpt(bare))
    what = f"there is text {'before' if before else 'behind'} the value"
    if _THOUGHT.search(before):
        what = "reasoning stands before the value: turn on the reasoning parser of the server"
    return rejected("explanatory_text", what, excerpt(before or after))


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
