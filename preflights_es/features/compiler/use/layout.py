"""The layout of a repository, as git lists it."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Final

from preflights_es.features.compiler.domain.values import REQUEST_MAX
from preflights_es.kernel.text import problem
from preflights_es.settings.load import surroundings
from preflights_es.system import git

LISTED_S: Final = 30  # for git to list a repository of a million files
PATH_MAX: Final = 1_000  # characters of a path
LAYOUT_MAX: Final = 2 * REQUEST_MAX  # characters of all paths; what is beyond fits no request
OWN: Final = ".preflights/"  # documents and plans, which a pass reads where it needs them
_TAG: Final = 2  # characters in front of each path: git's letter for it, and a blank
_NO_UTF8: Final = "\ufffd"


def layout(root: Path) -> tuple[tuple[str, ...], int]:
    """The paths of a repository but those of plans, sorted, and how many are left out already.

    None of them where git lists none. Left out are those whose name is no text, and those that
    would fit no request.
    """
    said = git.said(("ls-files", "-z", "-t"), root, surroundings(), LISTED_S)
    named = {entry[_TAG:] for entry in (said or "").split("\0") if entry}
    named = {path for path in named if not path.startswith(OWN)}
    fit = sorted(path for path in named if _is_text(path))
    ends = accumulate(len(path) + 1 for path in fit)
    kept = tuple(path for path, end in zip(fit, ends, strict=True) if end <= LAYOUT_MAX)
    return kept, len(named) - len(kept)


def _is_text(path: str) -> bool:
    return _NO_UTF8 not in path and "\n" not in path and problem(path, PATH_MAX) is None
