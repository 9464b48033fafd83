"""Patterns of paths, as in a `.gitignore`.

They are relative to the repository's root, with `/` between folders on every system, and may come
from a stranger's clone: a pattern that could not be recorded here matches nothing.
"""

from functools import lru_cache
from re import Pattern
from typing import Final

from preflights_es.kernel.text import late_pattern

PATTERNS_MAX: Final = 20
PATTERN_MAX: Final = 200  # characters
STARS_MAX: Final = (
    3  # in one pattern: each more multiplies what a match may cost by a name's length
)
WILDS_MAX: Final = 4  # the same with each `**` but one at its end
PATH_MAX: Final = 1_024  # characters of a path that is compared

_WILD: Final = late_pattern(r"\\.|\[[^]]*\]|[*?]+")
_ESCAPED: Final = late_pattern(r"\\[^\\*?\[\]!# ]|\\$")
_CLASS: Final = late_pattern(r"\[[!^]?\]?[^]/]*\]")


def pattern_problem(pattern: str) -> str:
    """Why a text is no pattern, behind `the pattern 'x' `; empty for one that is."""
    bare = pattern.strip()
    names = bare.strip("/").split("/")
    stars = sum(name.count("*") for name in names if name != "**")
    bad: tuple[tuple[bool, str], ...] = (
        (not bare.strip("/"), "names no path"),
        (len(bare) > PATTERN_MAX, f"has more than {PATTERN_MAX} characters"),
        (not bare.isprintable(), "holds a character that no line shows"),
        (
            bare.startswith("!"),
            "begins with !: say where the decision holds, not where it does not",
        ),
        (bare.startswith("#"), "begins with #: write \\# if the file is called so"),
        (_ESCAPED.search(bare) is not None, "has a \\ between folders: write /"),
        (bare[1:2] == ":", "begins with a drive: give a path from the repository's root"),
        ("//" in bare, "has // between folders: write /"),
        (bool({".", ".."} & {*names}), "leads elsewhere: give a path from the repository's root"),
        ("[:" in bare, "has a named class of characters: write them, such as [0-9]"),
        (
            "[" in _CLASS.sub("", bare.replace("\\\\", "").replace("\\[", "")),
            "has a [ without its ]: write \\[ for the character",
        ),
        (stars > STARS_MAX, f"has more than {STARS_MAX} times *"),
        (stars + names[:-1].count("**") > WILDS_MAX, f"has more than {WILDS_MAX} times * or **"),
    )
    return next((why for is_so, why in bad if is_so), "")


@lru_cache(maxsize=4_096)
def find_pattern_prefix(pattern: str) -> str:
    """What each path that a pattern matches begins with; empty where nothing is certain."""
    bare = pattern.strip()
    if "/" not in bare.rstrip("/"):
        return ""
    return _WILD.split(bare.removeprefix("/"), maxsplit=1)[0].rstrip("/")


def specificity(pattern: str) -> int:
    """How much of a path a pattern says itself, in characters."""
    return len(_WILD.sub("", pattern))


def matches(pattern: str, path: str, *, ignores_case: bool = False) -> bool:
    """Whether a pattern matches a file, or a folder above it."""
    if ignores_case:
        pattern, path = pattern.casefold(), path.casefold()
    if len(pattern) > PATTERN_MAX or len(path) > PATH_MAX or not _may_match(pattern, path):
        return False
    if pattern_problem(pattern):
        return False
    plainly = _plainly(pattern.strip(), path)
    if plainly is not None:
        return plainly
    expression = _compile_reach_pattern(pattern.strip())
    return expression is not None and expression.search(path) is not None


def _plainly(pattern: str, path: str) -> bool | None:
    """Whether a pattern of a common form matches; None for another form.

    What compiles the others takes as long to import as a hook may take: `src/db`, `src/db/**` and
    `*.sql` do without.
    """
    bare = pattern.removeprefix("/")
    folder, is_below, _ = bare.partition("/**")
    stem = folder if is_below and bare == f"{folder}/**" else bare.rstrip("/")
    ending = stem.removeprefix("*")
    is_anchored = "/" in pattern.rstrip("/")
    if _WILD.search(stem if is_anchored else ending):
        return None
    if is_anchored:
        return path.startswith(f"{stem}/") or (path == stem and stem == bare)
    *folders, name = path.split("/")
    names = folders if bare.endswith("/") else [*folders, name]
    return any(one.endswith(ending) if ending != stem else one == stem for one in names)


def _may_match(pattern: str, path: str) -> bool:
    """Whether the literal parts of a pattern stand in a path, in their order.

    Most patterns fail here: what compiles the others is not imported for them.
    """
    pieces = literals(pattern)
    if not pieces:
        return True
    if not path.startswith(find_pattern_prefix(pattern)):
        return False
    at = 0
    for piece in pieces:
        if (found := path.find(piece, at)) < 0:
            return False
        at = found + len(piece)
    return True


@lru_cache(maxsize=4_096)
def literals(pattern: str) -> tuple[str, ...]:
    """What stands in every path that a pattern matches, in this order."""
    bare = pattern.strip().removeprefix("/")
    return tuple(piece for part in _WILD.split(bare) if (piece := part.strip("/")))


@lru_cache(maxsize=4_096)
def _compile_reach_pattern(pattern: str) -> Pattern[str] | None:
    from pathspec.patterns.gitignore.base import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        return GitIgnoreSpecPattern(pattern).regex
    except GitIgnorePatternError:
        return None
