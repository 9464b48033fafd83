"""What the rules have in common: how patterns are written, compiled and searched.

Nothing here knows what a secret is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Final, Literal, cast, get_args

from preflights_es.kernel.text import own_file

PersonalKind = Literal["email", "phone", "card", "iban"]
PERSONAL: Final[tuple[PersonalKind, ...]] = get_args(PersonalKind)
"""What may be a task's own matter: it goes only where the setting `redact` names it."""
SecretKind = Literal["key", "token", "password"] | PersonalKind
SECRETS: Final[tuple[SecretKind, ...]] = ("key", "token", "password")
"""What is never recorded."""
KINDS: Final[tuple[SecretKind, ...]] = (*SECRETS, *PERSONAL)
Span = tuple[int, int, SecretKind]
OPAQUE: Final = "\ufdd0"  # a noncharacter of Unicode: no keyboard types it, no rule matches it
VALUE_MAX: Final = 256  # characters of a value that are judged; more would not change the verdict


@cache
def compile_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compiled at first use, so that importing this module costs next to nothing."""
    return re.compile(pattern, flags)


@cache
def read_word_table(table: str) -> frozenset[str]:
    """The words of one table of `words.txt`: a name in brackets, words, and `#` for remarks."""
    found = compile_pattern(rf"^\[{table}\]\n([^\[#]+)", re.MULTILINE).search(_read_words_file())
    assert found, table
    return frozenset(found[1].split())


@cache
def _read_words_file() -> str:
    return own_file(__spec__, "words.txt").decode()


def find_named_spans(matches: Iterable[re.Match[str]]) -> Iterator[Span]:
    """Each match's named group: its name is the kind, and it alone goes."""
    for found in matches:
        kind = cast("SecretKind", found.lastgroup)
        start, end = found.span(kind)
        yield start, end, kind


# A rule is written `words | pattern`. A text without any of the words (in lower case) is not
# searched, and the pattern not even compiled. Behind a ^ they are words that a match begins with: a
# search for words costs a tenth of one for a pattern that does not begin with a fixed letter.


def find_by_rule(rule: str, text: str) -> Iterable[re.Match[str]]:
    """What `finditer` finds."""
    words, pattern, begins = split_rule(rule)
    if not any(map(lower_as_matched(telling_words(text)).__contains__, words)):
        return ()
    compiled = compile_pattern(pattern)
    return _find_from(words, compiled, text) if begins else compiled.finditer(text)


@cache
def split_rule(rule: str) -> tuple[tuple[str, ...], str, bool]:
    """The words, the pattern, and whether matches begin with a word."""
    words, pattern = rule.split(" | ", 1)
    return split_words(words.removeprefix("^")), pattern, words.startswith("^")


@cache
def split_words(words: str) -> tuple[str, ...]:
    found = tuple(words.split(" "))
    _SOUGHT.update(found)
    return found


def _find_from(
    words: tuple[str, ...], pattern: re.Pattern[str], text: str
) -> Iterator[re.Match[str]]:
    done = 0
    for start in find_starts(words, text):
        if start >= done and (found := pattern.match(text, start)):
            yield found
            done = found.end()


def find_starts(words: tuple[str, ...], text: str) -> list[int]:
    """Where these words stand in the text, in order."""
    starts, telling = set[int](), lower_as_matched(telling_words(text))
    low = lower_as_matched(text)
    for word in filter(telling.__contains__, words):
        at = low.find(word)
        while at >= 0:
            starts.add(at)
            at = low.find(word, at + 1)
    return sorted(starts)


# Prose repeats its words. Those of a long text that are short, and in which no word of a rule
# stands, are remembered: of the next text only the others are searched.
LONG_WORD: Final = 12  # characters: a run of so many may be a secret by its shape
_LONG_TEXT: Final = 500  # characters
_KNOWN_MAX: Final = 20_000  # words of either sort
_SOUGHT: Final = set[str]()
"""The words of all rules that were asked for so far."""


def telling_words(text: str) -> str:
    """What of a text may tell of a secret, where words are split at blanks: each once."""
    return text if len(text) < _LONG_TEXT else _tell_words(text, len(_SOUGHT))


@lru_cache(maxsize=2)  # each rule asks for it
def _tell_words(text: str, sought: int) -> str:
    known_innocent, known_telling = _known_words(sought)
    telling = {*text.split()} - known_innocent
    pattern = compile_pattern(_write_any(sought))
    for word in telling - known_telling:
        is_telling = len(word) >= LONG_WORD or pattern.search(lower_as_matched(word))
        known = known_telling if is_telling else known_innocent
        if len(known) >= _KNOWN_MAX:
            known.clear()
        if len(word) < 2 * LONG_WORD:
            known.add(word)
    return "\n".join(telling - known_innocent)


@lru_cache(maxsize=1)
def _known_words(_sought: int) -> tuple[set[str], set[str]]:
    """Innocent and telling ones; forgotten where more words are sought."""
    return set(), set()


@lru_cache(maxsize=1)
def _write_any(_sought: int) -> str:
    """All words that are sought in one pattern: one letter, and what may follow it."""
    behind = dict[str, list[str]]()
    for word in sorted(_SOUGHT):
        behind.setdefault(re.escape(word[0]), []).append(re.escape(word[1:]))
    return "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in behind.items())


@lru_cache(maxsize=8)  # each rule asks for it, of the text and of its telling words
def lower_as_matched(text: str) -> str:
    """As `lower`, and as a pattern without case reads letters: a long s, an i without its dot."""
    low = lower(text)
    if not low.isascii():
        for letter, matched in ("\u017fs", "\u0131i", "\u0130i"):
            low = low.replace(letter, matched)
    return low


@lru_cache(maxsize=2)
def lower(text: str) -> str:
    """In lower case and of the same length, so that a position holds for both."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


# Words that no command line has between a program and its option, but a sentence.
_PROSE: Final = (
    r"(?i:and|or|with|in|on|by|to|from|for|via|then|before|after|using|built|compiled|is|are|was|"
    r"uses?|needs?|has|plus|but|und|oder|mit|auf|von|für|dann|vor|nach|ist|sind|et|ou|avec|dans|"
    r"pour|puis|est|sont|y|o|con|en|para|luego|es|son)\s"
)
# The abbreviations of the tables.
_SHORT: Final = {
    # 8 letters and digits, or 16 of one sort; the same with - and _, 8 or 20
    "«N»": "(?:(?=[A-Za-z]{0,40}[0-9])«W»{8,}|«W»{16,})",
    "«L»": "(?:(?=[A-Za-z_-]{0,60}[0-9])«D»{8,}|«D»{20,})",
    "«D»": "[A-Za-z0-9_-]",
    "«W»": "[A-Za-z0-9]",
    # for the places: other arguments (one, blanks between them), the end of a program's name, the
    # flags of mysql, programs with a login, a password as argument and in quotes, a URL's user
    "«C»": r"[\"']?(?:«S»«T»){0,24}?«S»",
    "«T»": (
        rf"(?!{_PROSE}|[^\s\"']{{0,80}}[.,:!?]\s)"
        r"(?:[^\s\"'|;&]|\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'){1,80}+"
    ),
    "«S»": r"(?:[ \t]|\\\r?\n){1,20}+",
    "«X»": r"(?:\.exe)?",
    "«B»": r"(?:[ \t]|\\\r?\n|=){0,20}+",
    "«M»": "[A-CEGHILNU-Xbcfijknqrstvw]{0,6}",
    "«I»": r"(?:docker|podman|nerdctl|buildah|skopeo|oras|helm\s+registry|az(?:\s+acr)?|oc|cf)",
    "«P»": r"[\"']?(?P<password>«A»{3,})",
    "«Q»": r"[\"'](?P<password>[^\"'\n\ufdd0]{1,200})",
    # of an address, 12 letters and digits in a row; a password in quotes that has both
    "«E»": r"(?=[^&\s]{0,60}?(?=[A-Za-z]{0,60}\d)(?=\d{0,60}[A-Za-z])[A-Za-z0-9]{12})",
    "«F»": (
        r"[\"'](?=[^\"'\n]{0,60}\d)(?=[^\"'\n]{0,60}[A-Za-z])"
        r"(?P<password>[^\"'\n\ufdd0]{6,200})"
    ),
    "«O»": r"\s-(?:\w{0,8}[uU]|-(?:proxy-)?user)[ =]?[\"']?",
    "«U»": r"://[^\s/?#@:\"'<>`\ufdd0]{0,256}:(?!\d{1,5}(?:[/?#]|\s|$))",
    "«A»": r"[^\s\"'`<>|;\ufdd0]",
}


def find_by_table(table: str, text: str) -> Iterator[re.Match[str]]:
    """What the rules of a table find, one after the other; most of them have no word in a text."""
    split = split_table(table)
    low = lower_as_matched(telling_words(text))
    for words, rule in split:
        if any(map(low.__contains__, words)):
            yield from find_by_rule(rule, text)


@cache
def split_table(table: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Pairs of the words of a rule, and the rule."""
    return tuple((split_rule(rule)[0], rule) for rule in rules(table))


@cache
def rules(table: str) -> tuple[str, ...]:
    """The lines of a table, their abbreviations written out."""
    for short, long in _SHORT.items():
        table = table.replace(short, long)
    return tuple(line for line in table.splitlines() if line)
