"""A short way to write the rules: blanks and names are most of what such patterns are made of."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

CALL: Final = "name("
"""The gate of rules that hold an opening parenthesis with no blank before it."""

_ARTICLES: Final = (
    r"(?:the|an?|all|any|each|every|to|its|their|this|that|these|those|both|only|if|when|with|from"
    r"|as|early|which|one|some|no|it|them|your|our|and|or|for|in|on|at|of|by|is|are|into)\b"
)
_PARTS: Final = {
    "~": r"[ \t]*+",
    " ": r"[ \t]++",
    "<name>": r"[\w$]{1,80}+",
    "<dotted>": r"[\w$.]{1,80}+",
    "<args>": r"\([^()]{0,300}\)",
    "<call>": r"\([^\n]{0,300}\)",
    "<end>": r"[ \t;`]*+(?:(?:#|//)[^\n\x7f]*+)?(?=[\n\x7f]|\Z)",
    "<eol>": r"(?=[\n\x7f]|\Z)",
    "<prose>": rf"(?=[ \t]+{_ARTICLES})",
    "<article>": rf"(?=[ \t]*{_ARTICLES})",
}
_TOKEN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|<[a-z]+>|[~ ]")


class Rule(NamedTuple):
    """One way to recognise a language."""

    pattern: str
    """A regular expression, to be compiled with MULTILINE."""
    needles: tuple[tuple[str, ...], ...] = ()
    """Pieces of text; of each group, every text that matches holds one."""
    any_case: bool = False

    @property
    def word(self) -> bool:
        """Whether a match begins with a word, and so not within one."""
        return self.pattern.removeprefix("(?:")[:1].isalpha()


class Language(NamedTuple):
    """The rules of one language, by what makes it worth trying them."""

    name: str
    anywhere: tuple[tuple[str, Rule], ...]
    """Pairs of a gate and a rule for what is code wherever it stands. A gate is a piece of text,
    most often one rare character, without which no rule behind it is tried."""
    at_line: tuple[tuple[str, Rule], ...] = ()
    """Pairs of a first word and a rule for what is code where a line or a clause begins."""
    at_sign: tuple[tuple[str, Rule], ...] = ()
    """Pairs of a first character and a rule for lines that begin with no word."""
    in_line: tuple[tuple[str, Rule], ...] = ()
    """Pairs of a gate and a rule for lines that begin with any word."""


def written(pattern: str) -> str:
    """The regular expression of a pattern in which, outside of classes, `~` stands for blanks, a
    blank for at least one, and `<name>`, `<dotted>`, `<args>`, `<call>`, `<end>` (of a statement)
    and `<eol>` for what they say; `<prose>` and `<article>` look ahead for a word that only prose has there.
    """
    return _TOKEN.sub(lambda token: _PARTS.get(token.group(), token.group()), pattern)


def table(rows: str, **parts: str) -> tuple[tuple[str, Rule], ...]:
    """The rules of a table: pairs of a gate, or of a first word, and a rule.

    A row is `gates | needles | pattern`; its needles may be left out, and an indented line goes on
    with it. Of needles, `|` parts those of one group, `&` groups; `␣` is a blank.

    Args:
        parts: what stands in rows as `<name>`.
    """
    for name, part in parts.items():
        rows = rows.replace(f"<{name}>", part)
    whole = rows.strip("\n").replace("\n    ", "").split("\n")
    return tuple(pair for row in whole for pair in _behind_each(row))


def _behind_each(row: str) -> list[tuple[str, Rule]]:
    """The same rule behind each of several gates; `(?i)` before its pattern: in any case."""
    gates, *needles, pattern = row.replace("␣", " ").split(" | ")
    groups = tuple(
        tuple(group.replace("\\n", "\n").split("|"))
        for some in needles
        for group in some.split(" & ")
    )
    rule = Rule(written(pattern.removeprefix("(?i)")), groups, pattern.startswith("(?i)"))
    return [(gate, rule) for gate in gates.split()]
