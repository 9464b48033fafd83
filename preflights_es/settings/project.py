"""What a repository is recognised by where several share a log: more than its folder's name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from preflights_es.kernel.text import late_pattern
from preflights_es.system import files as atomic_file
from preflights_es.system import git
from preflights_es.system.files import Unreadable

LOOKED_UP_S: Final = 60  # for git to walk a history of millions of commits, once
REMEMBERED: Final = "identity"  # a file in the folder `preflights` of git's common directory

_FORM: Final = late_pattern(r"(?:root:[0-9a-f]{40}|(?:root|path):[0-9a-f]{64})")
_SIZE_MAX: Final = 100  # bytes: more than an identity has


class Repository:
    """A repository, by git's common directory, which all of its work trees share."""

    def __init__(self, common: Path, env: Mapping[str, str]) -> None:
        """Args:
        env: of the process; git is run with it.
        """
        self._common = common
        self._env = env

    def owns(self, file: Path) -> bool:
        """Whether a log lies where this repository's own does."""
        return file.resolve() == (self._common / "preflights" / "log.db").resolve()

    def identity(self) -> str:
        """`root:` and its first commit, else `path:` and a digest; it never changes.

        A shallow clone does not have its first commit, and a new repository has none yet. What
        was found is remembered, so that the identity does not change with the next commit.
        """
        if known := self._remembered():
            return known
        found = self._root() or self._path()
        try:
            with (
                atomic_file.opened(self._common, ("preflights",), makes=True) as folder,
                folder.new(REMEMBERED) as file,
            ):
                file.write(f"{found}\n".encode())
        except FileExistsError:  # another process was first, or something else lies there
            return self._remembered() or found
        except OSError:  # a repository that is only read: it is looked up each time
            return found
        return found

    def _remembered(self) -> str | None:
        try:
            with atomic_file.opened(self._common, ("preflights",)) as folder:
                content = folder.content(REMEMBERED, _SIZE_MAX)
        except (OSError, Unreadable):
            return None
        text = content.decode("ascii", "replace").removesuffix("\n")
        return text if _FORM.fullmatch(text) else None

    def _root(self) -> str | None:
        """The first commit; the smallest hash where histories were joined."""
        if (self._common / "shallow").exists():
            return None
        words = ("--git-dir", str(self._common), "rev-list", "--max-parents=0", "HEAD")
        said = git.said(words, self._common, self._env, LOOKED_UP_S)
        found = f"root:{min(said.split())}" if said else ""
        return found if _FORM.fullmatch(found) else None

    def _path(self) -> str:
        return f"path:{sha256(os.fsencode(self._common.resolve())).hexdigest()}"
