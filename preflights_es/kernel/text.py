"""Text from outside: what is refused before it is recorded, how the rest is shown, and keys."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


class _Late:
    """What `re.compile` gives; a command uses few of those that its modules name."""

    def __init__(self, pattern: Any, flags: int = 0) -> None:
        self._said = pattern, flags

    def __getattr__(self, name: str) -> object:
        found = getattr(re.compile(*self._said), name)
        setattr(self, name, found)  # found at once from now on
        return found


if TYPE_CHECKING:
    late_pattern = re.compile
else:
    late_pattern = _Late


def own_file(spec: ModuleSpec | None, path: str) -> bytes:
    """A data file of the program; importlib.resources costs more than all that is done with it.

    Args:
        spec: the `__spec__` of a module.
        path: relative to the module's folder.
    """
    assert spec is not None, "a module of a package"
    assert spec.origin is not None, "a module in a file"
    loader: Any = spec.loader  # one of files: it has `get_data`
    stem = f"{spec.name.rpartition('.')[2]}."
    data: bytes = loader.get_data(spec.origin.rpartition(stem)[0] + path)
    return data


INTENTION_MAX: Final = 4_000  # characters; an intention is a sentence, not a document
ANSWER_MAX: Final = 2_000  # characters, each value of an answer
SCOPE_MAX: Final = 120  # characters of what a decision is for
KEY_MAX: Final = 100  # characters of a question's id
NAME_MAX: Final = 200  # characters of a person's name

_BIDI = "\u202a-\u202e\u2066-\u2069"
TAGS: Final = "\U000e0000-\U000e007f"
"""Invisible twins of ASCII, which a model reads and a person does not see. The flags of England,
Scotland and Wales hold some: they are shown as a black flag and escapes."""
_UNSEEN_MARKS = "\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064"
"""Without width; the joiners of emoji and scripts are not among them."""
_UNSAFE = late_pattern(
    f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff{_BIDI}{_UNSEEN_MARKS}{TAGS}]"
)
_UNSAFE_MULTILINE = late_pattern(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff{_BIDI}{_UNSEEN_MARKS}{TAGS}]"
)
_CONTROL = late_pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = late_pattern(r"[\ud800-\udfff]")

SLUG_MAX: Final = 60  # characters, so that a path stays readable in a listing
SLUG_BYTES_MAX: Final = 120  # a name has 255 bytes at most, and 143 where it is encrypted


def composed(text: str) -> str:
    """As rules read a text: a letter and its accents are one character, however they were typed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def caseless(text: str) -> str:
    """As two texts are compared that may differ in case or in how accents were typed."""
    return composed(text.casefold())


def problem(text: str, limit: int) -> str | None:
    """Why a text cannot be recorded, in words that say what to do; None when it can."""
    if len(text) > limit and (size := len(composed(text))) > limit:
        return f"has {size:,} characters, at most {limit:,} are taken: shorten it"
    if text.isprintable():  # so is most of what people type, and no pattern is compiled for it
        return None
    if found := _SURROGATE.search(text):
        return (
            f"is not valid Unicode (a lone surrogate at character {found.start() + 1}): retype it"
        )
    if found := _CONTROL.search(text):
        code = ord(found.group())
        return (
            f"holds the control character U+{code:04X} at character {found.start() + 1}: remove it"
        )
    return None


_UNSEEN: Final = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))
_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols, by their category, that are drawn as nothing."""


def visible(text: str) -> bool:
    """Whether anything of it can be seen: white space of any kind and width is nothing."""
    return any(unicodedata.category(c) not in _UNSEEN and c not in _FILLERS for c in text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escaped_text(text: str) -> str:
    """Safe on a terminal, on one line: nothing in it moves the cursor, turns a line or hides."""
    if text.isprintable():  # as `str` has it, nothing that is escaped here is
        return text
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n").replace("\n", "⏎ "))


def shown_lines(text: str) -> str:
    """Safe on a terminal, line breaks and tabs kept."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _UNSAFE_MULTILINE.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Every run of white space as one blank."""
    return " ".join(text.split())


_UNSEEN_BY_HFS: Final = late_pattern("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Characters that the file system HFS+ leaves out of a name."""


def is_git(name: str) -> bool:
    """Whether a folder of this name is git's own, in any case and on any file system."""
    seen = name if name.isascii() else _UNSEEN_BY_HFS.sub("", name)
    return seen.partition(":")[0].rstrip(". ").casefold() in (".git", "git~1")


def shortened(text: str, width: int) -> str:
    """At most `width` characters, an ellipsis where something was cut."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def cut_at_word(text: str, width: int) -> str:
    """The same, cut behind a whole word where one fits."""
    if len(text) <= width:
        return text
    words = text[:width].rpartition(" ")[0] or text[: width - 1]
    return words.rstrip(" ,;:-\u2013\u2014") + "\u2026"


UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
"""Of a span of time, in seconds."""


def span(seconds: float) -> str:
    """`2 h 10 min`, `1.2 s`, `340 ms`: two units at most."""
    if seconds < 1:
        return f"{round(seconds * 1_000)} ms"
    if seconds < 59.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    left, said = round(seconds), list[str]()
    for unit, size in UNITS:
        if left >= size and len(said) < 2:
            said.append(f"{left // size} {unit}")
            left %= size
        elif said:
            break
    return " ".join(said)


def slug(text: str) -> str:
    """Words of letters of any script with dashes, cut at a word; empty without a letter or digit.

    Composed, in small letters and of few bytes, so that every file system keeps it as it is.
    """
    words: list[str] = []
    for word in _split_slug_words(unicodedata.normalize("NFKC", text).lower()):
        if words and not _fits_slug_limits("-".join((*words, word))):
            break
        words.append(word)
    name = "-".join(words)
    while not _fits_slug_limits(name):
        name = name[:-1]
    return name


def _split_slug_words(text: str) -> list[str]:
    """Runs of letters, digits and the marks behind them."""
    shown = "".join(c if _is_of_word(c) else " " for c in unicodedata.normalize("NFKC", text))
    return [word for one in shown.split() if (word := _without_marks(one))]


def _is_of_word(c: str) -> bool:
    return unicodedata.category(c)[0] in "LNM" and c not in _FILLERS


def _without_marks(word: str) -> str:
    """Without marks that stand on no letter."""
    while word and unicodedata.category(word[0])[0] == "M":
        word = word[1:]
    return word


def _fits_slug_limits(name: str) -> bool:
    return len(name) <= SLUG_MAX and len(name.encode()) <= SLUG_BYTES_MAX


def line_trouble(text: str, limit: int) -> str | None:
    """Why a text is no name; None where it is one."""
    if not text.strip():
        return "is empty"
    return problem(text, limit) or ("has more than one line" if "\n" in text else None)


MASK: Final = "***"


class Secret:
    """A value that is not printed by accident; only `reveal` returns it.

    `source` names where it came from (an environment variable), so that a message can say which
    key is meant.
    """

    __slots__ = ("_value", "source")

    def __init__(self, value: str, source: str = "") -> None:
        self._value = value
        self.source = source

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return MASK

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)


def count_in_words(number: int, what: str) -> str:
    """`1 session`, `2,000 sessions`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
