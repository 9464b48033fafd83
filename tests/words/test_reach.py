"""Patterns of paths: what is one, and what each matches; git itself is the judge."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.words.path_patterns import (
    PATH_MAX,
    PATTERN_MAX,
    _compile_reach_pattern,
    _plainly,
    find_pattern_prefix,
    matches,
    pattern_problem,
    specificity,
)
from tests.each import each

PATTERNS: Final = (
    *("src/db/**", "src/db", "src/db/", "/src/db/orders.py", "*.sql", "db/*.py", "**/db/*.py"),
    *("src/**/orders.py", "orders.py", "a*b", "[ab]c", "[!a]c", "[^a]c", "?c", "src/*/x", "docs/"),
    *("/readme", "**", "*", "src/**/a/**/b", "\\!x", "\\#x", "with space", "SRC/**", "*/**/x.py"),
    *("*.sql/", "x/**", "/x/", "*b", "x/y/", "*/", "**/"),
    *("[0-9]x", "[a-c]/x", "a\\*b", "**/x"),
)
PATHS: Final = (
    *("src/db/orders.py", "src/db", "src/db/sub/deep.sql", "x.sql", "db/a.py", "a/db/a.py"),
    *("src/orders.py", "src/a/b/orders.py", "orders.py", "ab", "axb", "a/xb", "bc", "ac", "cc"),
    *("src/y/x", "src/y/z/x", "docs/a", "a/docs/b", "readme", "a/readme", "src/a/b", "a*b"),
    *(
        "src/q/a/w/b",
        "!x",
        "#x",
        "with space",
        "Src/Db/x",
        "x.py",
        "p/q/r/x.py",
        "1x",
        "b/x",
        "x/y",
    ),
)


def ignored(folder: Path, pattern: str, ignores_case: bool) -> set[str]:
    """The paths that git ignores by one pattern."""
    (folder / "exclude").write_text(f"{pattern}\n")
    found = subprocess.run(
        (
            *("git", "-c", f"core.excludesFile={folder / 'exclude'}"),
            *("-c", f"core.ignoreCase={str(ignores_case).lower()}"),
            *("check-ignore", "--no-index", "-z", "--stdin"),
        ),
        cwd=folder / "repository",
        input="\0".join(PATHS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode in (0, 1), found.stderr
    return set(filter(None, found.stdout.split("\0")))


def test_git_matches_what_we_match(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    subprocess.run(("git", "init", "--quiet", tmp_path / "repository"), check=True)
    for pattern in PATTERNS:
        assert pattern_problem(pattern) == "", pattern
        for ignores_case in (False, True):
            ours = {one for one in PATHS if matches(pattern, one, ignores_case=ignores_case)}
            assert ours == ignored(tmp_path, pattern, ignores_case), (pattern, ignores_case)


@each(
    ("pattern", "why"),
    (
        ("", "names no path"),
        ("/", "names no path"),
        ("  ", "names no path"),
        ("!src", "begins with !"),
        ("#src", "begins with #"),
        ("../src", "leads elsewhere"),
        ("src/./x", "leads elsewhere"),
        ("src//x", "has // between folders"),
        ("src\\db", "has a \\ between folders"),
        ("src\\", "has a \\ between folders"),
        ("C:/src", "begins with a drive"),
        ("a\nb", "holds a character that no line shows"),
        ("a\x1b[31m", "holds a character that no line shows"),
        ("[a", "has a [ without its ]"),
        ("[[:digit:]]", "has a named class"),
        ("x" * (PATTERN_MAX + 1), f"has more than {PATTERN_MAX} characters"),
        ("*a*a*a*b", "has more than 3 times *"),
        ("**/*a/**/*b/**/*c", "has more than 4 times * or **"),
    ),
)
def test_what_is_no_pattern(pattern: str, why: str) -> None:
    assert pattern_problem(pattern).startswith(why), pattern_problem(pattern)
    assert not matches(pattern, pattern.strip("/") or "x")


def test_a_pattern_of_a_stranger_costs_little() -> None:
    assert not matches("*a" * 90, "a" * 250)
    assert not matches("**/" * 60 + "x", "a/" * 400)
    assert not matches("x" * 10_000_000, "x" * 10_000_000)
    assert not matches("**", "x" * (PATH_MAX + 1))


@given(st.sampled_from(PATTERNS), st.sampled_from(PATHS))
def test_a_match_begins_as_its_pattern_does(pattern: str, path: str) -> None:
    if matches(pattern, path):
        assert path.startswith(find_pattern_prefix(pattern))


@given(st.text("ab.*/", min_size=1, max_size=8), st.text("ab./", min_size=1, max_size=8))
def test_what_is_matched_plainly_is_what_the_library_matches(pattern: str, path: str) -> None:
    clean = "/".join(filter(None, path.split("/")))
    if not clean or pattern_problem(pattern):
        return
    plainly, compiled = _plainly(pattern, clean), _compile_reach_pattern(pattern)
    assert compiled is not None
    assert plainly in (None, compiled.search(clean) is not None)


def test_the_pattern_that_says_more_is_the_more_specific_one() -> None:
    found = ["**", "*.py", "src/**", "src/db/**", "src/db/orders.py"]
    assert sorted(found, key=specificity) == found
