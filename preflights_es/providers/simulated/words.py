"""What the simulator reads in a prompt: its instruction, its data, the words and names in it.

Letters are given as ranges of code points and not asked of Python's Unicode tables, which grow with
every version of Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.providers.simulated.lexicon import COMMON, KNOWN

READ_MAX: Final = 1_000  # characters of the data that are looked at; the key takes all of them
WORDS_READ_MAX: Final = 300  # characters of it whose words are
WORDS_MAX: Final = 24  # words of the data that a response may be made of
NAMES_MAX: Final = 8  # names of the data that a response may hold
NAME_MAX: Final = 60  # characters; what is longer is no name
WORD_MAX: Final = 30  # characters; what is longer is no word

WORD: Final = (
    "0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u060b\u060d-\u061a\u061d\u061e\u0620-\u180d"
    "\u180f-\u1fff\u2c00-\u2dff\u3041-\ud7ff\uf900-\ufaff\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a"
    "\uff41-\uff5a\uff66-\uffdc\U00010000-\U0001cfff\U0001e000-\U0001efff\U00020000-\U0003ffff"
)
"""Letters, digits and marks, as the inside of a character class; no punctuation, nothing unseen."""

_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f\u0391-\u03a9\u0400-\u042f"
_PART = f"[{_UPPER}][{WORD}]*(?:['\u2019&.-][{WORD}]+)*"
_NAME = re.compile(
    f"[{_UPPER}](?<![{WORD}].)[{WORD}]*(?:['\u2019&.-][{WORD}]+)*(?: {_PART}){{0,3}}"
)
_COLON = re.compile(r":\s")
_LABEL = re.compile(
    r"\n[ \t]*+(?:(?:existing|new|old|user)[ \t]++)?+"
    r"(?:content|data|document|input|memory|message|query|question|statement|text):[ \t\n]",
    re.ASCII | re.IGNORECASE,
)
_TOKEN = re.compile(f"[{WORD}]+")


def instruction_of(request: CompletionRequested) -> tuple[str, str]:
    """What is to be done, and the data it is done with.

    The instruction is what the system says, else the first line of the first message that is not
    blank; the data is everything else that people said.
    """
    messages = request.messages
    if len(messages) == 1 and messages[0].role != "system":
        return _first_line(messages[0].content)
    system = [m.content for m in messages if m.role == "system"]
    said = "\n".join(m.content for m in messages if m.role == "user")
    return ("\n".join(system), said) if any(system) else _first_line(said)


def _first_line(text: str) -> tuple[str, str]:
    line, _, rest = text.lstrip().partition("\n")
    return line, rest


def data_of(request: CompletionRequested) -> str:
    """The last that a person said; behind a label such as `Text:`, or its first line's colon."""
    messages = request.messages
    if len(messages) > 1:
        said = next((m.content for m in reversed(messages) if m.role == "user"), "")
    else:
        said = messages[0].content
    text = said[: 2 * READ_MAX].lstrip()
    if label := _LABEL.search(text):
        return text[label.end() :][:READ_MAX]
    if len(messages) > 1 and any(m.role == "system" for m in messages):
        return text[:READ_MAX]
    colon = _COLON.search(text, 0, text.find("\n") + 1 or len(text))
    behind = text[colon.end() :] if colon else ""
    return (text if not behind or behind.isspace() else behind)[:READ_MAX]


def words(text: str) -> list[str]:
    """The words that say what a text is about, in lower case, each once, in its order."""
    tokens = _TOKEN.findall(text[:WORDS_READ_MAX].lower())
    found = {t: None for t in tokens if t not in COMMON and 2 < len(t) <= WORD_MAX}
    return list(found)[:WORDS_MAX]


def names(text: str, most: int = NAMES_MAX) -> dict[str, int]:
    """The first names in a text, as whole words, and where each stands first."""
    found: dict[str, int] = {}
    for match in islice(_NAME.finditer(text), 2 * most):
        run, start = match.group(), match.start()
        for name, at in _parts(run, start) if " " in run else ((run, start),):
            if 2 <= len(name) <= NAME_MAX and name not in found and name.lower() not in COMMON:
                found[name] = at
                if len(found) == most:
                    return found
    return found


def _parts(run: str, start: int) -> Iterator[tuple[str, int]]:
    """A run of capitals without common words before it, a date of its own: `On Monday Alice`."""
    while run:
        first, _, rest = run.partition(" ")
        if first.lower() in COMMON:
            if " ".join(run.split(" ", 2)[:2]) in KNOWN:  # New York
                break
        elif rest and KNOWN.get(first) == "date":
            yield first, start
        else:
            break
        start, run = start + len(first) + 1, rest
    yield run, start


def word_before(text: str, start: int) -> str:
    """The word in front of a place, in lower case; empty where a sentence begins."""
    in_front = text[max(0, start - 16) : start].rstrip(" \t\"'(")
    if not in_front or in_front[-1] in ".!?:;\n":
        return ""
    return in_front[in_front.rfind(" ") + 1 :].lower()
