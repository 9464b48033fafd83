"""Source code in texts that should be plans: found by what only code has, never by a word alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, islice
from typing import Any, Final

from preflights_es.judging.code_search import first_code
from preflights_es.judging.walk import Leaves, path_of_key, path_of_list, path_of_text
from preflights_es.kernel.verdict import (
    EXCERPT_MAX,
    Path,
    Rejected,
    Violation,
    excerpt,
    pointer,
)

TOKEN_MAX: Final = 16  # characters of an item, on average, up to which a list may be split tokens
# Ends the texts of one place: no white space, so that nothing matches across it.
_APART: Final = "\x7f\n"
# Signs one of which is in every piece of code that is split into tokens.
_MARKS: Final = "(\"'=:.-;{<"
_WORD: Final = re.compile(r"\w")
_BLANK_AT_MARK: Final = re.compile(r" (?=[()\[\]{}.,:;\"'])|(?<=[()\[\]{}.,:;\"']) ")
_BREAKS: Final = "\r\x0b\x0c\x85\u2028\u2029"
_BREAK: Final = re.compile(f"\r\n|[{_BREAKS}]")


def found_code(value: Any, parts: Leaves) -> Rejected | None:
    """The first piece of source code in the texts and keys of a value, None without any.

    The texts of a list are searched as lines, and, where they are tokens, once more as one line.
    """
    keys = [key for key in parts.keys if not key.isidentifier()]
    lists = ["\n".join(words) for words in parts.words]
    tokens = [line for words in parts.words if (line := _one_line(words))]
    texts = [*parts.texts, *keys, *lists, *tokens]
    whole = _APART.join(texts)
    if any(sign in whole for sign in _BREAKS):
        texts = [_BREAK.sub("\n", text) for text in texts]
        whole = _APART.join(texts)
    found = first_code(whole)
    if found is None:
        return None
    language, at = found
    ends = list(accumulate(len(text) + len(_APART) for text in texts))
    number = min(bisect_right(ends, at), len(texts) - 1)
    path = _path(value, parts, keys, number, whole[ends[number - 1] if number else 0 : at])
    violation = Violation(pointer(path), f"looks like {language}, where words are asked for")
    look = whole[at : at + 2 * EXCERPT_MAX].replace(_APART, "\n")
    return Rejected("code_in_output", (violation,), excerpt(look))


def _path(value: Any, parts: Leaves, keys: list[str], number: int, before: str) -> Path:
    """Where the text with this number stands; `before` is what stands in it before the match."""
    if number < len(parts.texts):
        return path_of_text(value, parts.texts[number])
    number -= len(parts.texts)
    if number < len(keys):
        return path_of_key(value, keys[number])
    number -= len(keys)
    if number < len(parts.lists):
        items, words = parts.lists[number], parts.words[number]
        ends = list(accumulate(_BREAK.sub("\n", text).count("\n") + 1 for text in words))
        word = words[min(bisect_right(ends, before.count("\n")), len(words) - 1)]
        return (*path_of_list(value, items), items.index(word)) if value != word else ()
    number -= len(parts.lists)
    split = (
        items for items, words in zip(parts.lists, parts.words, strict=True) if _one_line(words)
    )
    return path_of_list(value, next(islice(split, number, None)))


def _one_line(texts: list[str]) -> str:
    """The tokens of a list on one line; blanks around punctuation go, where an item is just that.

    Empty where the items are too long to be tokens, or too few.
    """
    if len(texts) < 2 or sum(map(len, texts)) > TOKEN_MAX * len(texts):
        return ""
    line = " ".join(texts)
    if not any(mark in line for mark in _MARKS):
        return ""
    if any(len(text) < 3 and text.strip() and not _WORD.search(text) for text in texts):
        line = _BLANK_AT_MARK.sub("", line)
    return line
