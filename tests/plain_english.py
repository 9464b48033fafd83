"""Finds the worst habits of our English, with the place and a better wording: `make style` runs it.

It knows words, not sense: a text that passes may still be hard to read (CONTRIBUTING.md says more).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]

SOURCES: Final = ("preflights_es/**/*.py", "cli/**/*.py", "tests/**/*.py", "tests/**/*.toml")
DOCS: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")

QUOTING: Final = ("tests/plain_english.py", "tests/test_plain_english.py", "tests/test_pages.py")
"""Files that name the habits, to find them."""

REPORTED_ONLY: Final[tuple[str, ...]] = ()
"""Files whose hits are printed but do not fail the check: none."""

LAST_HISTORIC_DECISION: Final = 15
"""Decisions up to this number are records of their time, and stay as they are."""

HABITS: Final = {
    # A space stands for any gap, also a line break; words are found in any case.
    r"nobody(?:'s)?|no one": "name the actor: no process, no user; or use the passive",
    r"whoever|whomever": "name the actor: the caller, the reader, the process, the person",
    r"somebody(?:'s)?|anybody|everybody(?:'s)?": "name the actor: a user, another process",
    r"the world failed": "environment failure (disk, database, provider)",
    r"look(?:s|ed|ing)? after": "manage, maintain",
    r"what is kept of": "projections; or the stored fields",
    r"to be otherwise": "a change to test; what changes",
    r"(?:is|are) none(?: of (?:its|it|ours|theirs|that)| that|(?=[.,:;)]))": (
        "say what it is: is invalid, is unknown, is not a number"
    ),
    r"(?:is|are) no \w+ but": "say it the straight way: X is a Y; only Z can ...",
    r"(?:waits?|stays?) for ever": "stay, are never removed",
    r"ever after|ever since": "it never changes; since then",
    r"otherwise than|(?:is|done|goes? on) otherwise": "differs from; the change",
    r"be it an?|but for what|taken for dead": "also; apart from; counts as dead",
}


class Found(NamedTuple):
    """A habit at its place."""

    path: str
    line: int
    words: str
    better: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.words!r}: {self.better}"


def _apart(pattern: str) -> str:
    """Words between which a line may end, in prose, comments and literals."""
    return pattern.replace(" ", r"""(?:[\s#>_]|"\s*f?")+""")


def _compiled(pattern: str) -> re.Pattern[str]:
    """Whole words, also those of a name."""
    return re.compile(rf"(?<![^\W_])(?:{_apart(pattern)})(?![^\W_])", re.IGNORECASE)


_HABITS: Final = tuple((_compiled(pattern), better) for pattern, better in HABITS.items())
_PERHAPS: Final = re.compile("|".join(map(_apart, HABITS)))
"""Of a text in small letters: most have no habit, and are read once instead of once for each."""
_INNOCENT: Final = re.compile(  # a user of the operating system, and the name of a golden recording
    r"""\b(?:is|are)\s+None\b|\bthere\s+(?:is|are)\s+none\b|"nobody"|somebody_else_takes_over"""
)


def found(path: str, text: str) -> Iterator[Found]:
    """The habits of a text, in its order."""
    if not _PERHAPS.search(text.lower()):
        return
    text = _INNOCENT.sub(lambda hit: re.sub(r"[^\n]", "~", hit[0]), text)
    hits = [(hit, better) for habit, better in _HABITS for hit in habit.finditer(text)]
    for hit, better in sorted(hits, key=lambda one: one[0].start()):
        yield Found(path, text.count("\n", 0, hit.start()) + 1, " ".join(hit[0].split()), better)


def _is_historic(path: Path) -> bool:
    number = path.name[:4]
    return path.parent.name == "decisions" and number <= f"{LAST_HISTORIC_DECISION:04}"


def _all(patterns: tuple[str, ...]) -> list[Found]:
    """The habits of all files that a pattern names."""
    paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    return [
        one
        for path in paths
        if not _is_historic(path) and path.relative_to(ROOT).as_posix() not in QUOTING
        for one in found(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    ]


def main() -> int:
    """Print what is found; 1 where a file that must be clean is not."""
    failing = tuple(one for one in (*SOURCES, *DOCS) if one not in REPORTED_ONLY)
    reported, failed = _all(REPORTED_ONLY), _all(failing)
    for one in reported:
        print(f"reported only: {one}")
    for one in failed:
        print(one)
    if failed:
        print(f"Plain English: {len(failed)} places to reword (the table is in {__file__}).")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
