"""The files of a project, as patterns of paths see them."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from preflights_es.kernel.errors import Refused
from preflights_es.words.path_patterns import (
    PATH_MAX,
    PATTERN_MAX,
    find_pattern_prefix,
    literals,
    matches,
    specificity,
)

LISTED_S: Final = 30  # for git to list the files of a work tree


class WorkTree:
    """The files of a project, as patterns see them."""

    def __init__(self, root: Path, files: Iterable[str] | None = None) -> None:
        """Args:
        files: those that count; all of the project where none are given.
        """
        self.root = root
        self.compared = 0
        """How often a pattern was held against a path by `matching`."""
        if files is not None:
            self.files = sorted(files)

    @cached_property
    def ignores_case(self) -> bool:
        """As git's `core.ignorecase` says; it is asked only where that would matter."""
        from preflights_es.settings.load import surroundings
        from preflights_es.system import git

        words = ("config", "--type=bool", "--get", "core.ignorecase")
        return git.read_git_text(words, self.root, surroundings()) == "true"

    def matched(self, patterns: Iterable[str], path: str) -> str:
        """The most specific pattern that matches; empty where none does."""
        found = [one for one in patterns if self.is_matched(one, path)]
        return max(found, key=specificity, default="")

    def is_matched(self, pattern: str, path: str) -> bool:
        """Whether a pattern matches a file."""
        return matches(pattern, path) or (
            matches(pattern, path, ignores_case=True) and self.ignores_case
        )

    @cached_property
    def files(self) -> Sequence[str]:
        """What git lists, tracked or new and not ignored; else what lies there. Sorted."""
        from preflights_es.settings.load import surroundings
        from preflights_es.system import git

        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        said = git.read_git_text(words, self.root, surroundings(), LISTED_S)
        if said is not None:
            return sorted(one for one in said.split("\0") if one)
        root = str(self.root)
        found = (
            os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            for folder, _, names in os.walk(root)
            for name in names
        )
        return sorted(found)

    @cached_property
    def _text(self) -> str:
        """All files in one text: what stands in none of them is found so at once."""
        text = "\n".join(self.files)
        return text.casefold() if self.ignores_case else text

    def has_match(self, pattern: str) -> bool:
        """Whether any file is matched."""
        return next(self.matching(pattern), None) is not None

    def below(self, folder: str) -> list[str]:
        """The files in a folder, which ends with a `/`; all of them where it is empty."""
        return [path for path in self.files if path.startswith(folder)]

    def matching(self, pattern: str) -> Iterator[str]:
        """The files that a pattern matches, in order."""
        self.compared += 1
        folded = pattern.casefold() if self.ignores_case else pattern
        if len(pattern) > PATTERN_MAX or not all(one in self._text for one in literals(folded)):
            return
        first = "" if self.ignores_case else find_pattern_prefix(pattern)
        for at in range(bisect_left(self.files, first), len(self.files)):
            path = self.files[at]
            if not path.startswith(first):
                return
            self.compared += 1
            if matches(pattern, path, ignores_case=self.ignores_case):
                yield path


def project_path(root: Path, typed: str, cwd: Path | None = None) -> str:
    """A file as patterns name it: relative to the root, with `/` between folders, and behind one.

    Args:
        cwd: what a relative path is relative to, unless it lies below the root alone.

    Raises:
        Refused: it lies outside of the project, or names nothing.
    """
    path = os.path.normpath(os.path.join(root, typed))
    if cwd is not None and (os.path.lexists(cwd / typed) or not os.path.lexists(path)):
        path = os.path.normpath(os.path.join(cwd, typed))
    relative = os.path.relpath(path, root)
    if relative.startswith(f"..{os.sep}") or relative in ("..", ".") or os.path.isabs(relative):
        real = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
        if real.startswith(f"..{os.sep}") or real in ("..", "."):
            message = f"found the path {typed!r}, expected a file of the project in {str(root)!r}"
            raise Refused(message, code="path_outside", typed=typed)
        relative = real
    is_folder = os.path.isdir(path) or typed.endswith(("/", os.sep))
    return relative.replace(os.sep, "/")[:PATH_MAX] + ("/" if is_folder else "")
