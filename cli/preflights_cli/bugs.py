"""Whose bug an exception is that no code expects: ours, or another package's."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator

import preflights_cli
from preflights_es.kernel.errors import WorkflowBug

OURS = "of ours"


def bug_of(error: BaseException, workflow: str = "") -> tuple[str, str]:
    """Whose it is, as `of ours`, and in brackets the file and line that raised it.

    Args:
        workflow: the one that was decided or folded: its package is to blame wherever its code
            stands in the traceback.
    """
    from preflights_es.runtime.features import FEATURES

    places = list(_raising_places(error))
    for path, line in places:
        if package := FEATURES.package_of(path, workflow):
            return f"of the package {package}", _format_code_place(path, line)
        if not workflow and _is_ours(path):
            break
    return OURS, _format_code_place(*places[0]) if places else ""


def _raising_places(error: BaseException) -> Iterator[tuple[str, int]]:
    """Files and lines, that which raised it first."""
    if isinstance(error, WorkflowBug) and error.place[1]:
        yield error.place
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        yield frame.filename, frame.lineno or 0


def _is_ours(path: str) -> bool:
    from preflights_es.runtime.features import FOLDER

    folders = os.path.dirname(preflights_cli.__file__ or ""), os.path.dirname(FOLDER)
    return any(path.startswith(folder + os.sep) for folder in folders)


def _format_code_place(path: str, line: int) -> str:
    return f" ({path}, line {line})"
