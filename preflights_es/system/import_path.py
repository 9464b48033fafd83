"""Where the program imports from: never a folder that is found from the current one."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping


def keep_to_absolute_folders(environment: MutableMapping[str, str]) -> None:
    """Take the current folder out of the search path, here and in every Python started later.

    An empty or relative entry of PYTHONPATH means a folder of whatever repository is looked at.
    An absolute entry stays, even where it names the current folder: the user says so.

    Args:
        environment: of the process, which its children inherit.
    """
    told = environment.get("PYTHONPATH", "")
    kept = [one for one in told.split(os.pathsep) if os.path.isabs(one)]
    # `site` has made the entries absolute by now.
    dropped = {_absolute(one) for one in told.split(os.pathsep) if told} - set(kept)
    sys.path[:] = [one for one in sys.path if os.path.isabs(one) and one not in dropped]
    if told:
        environment["PYTHONPATH"] = os.pathsep.join(kept)
    environment["PYTHONSAFEPATH"] = "1"


def children_are_safe() -> bool:
    """Whether another Python started from here leaves the current folder out as well.

    One that ignores the environment (`python -E`) starts others that ignore it.
    """
    return bool(sys.flags.safe_path) or not sys.flags.ignore_environment


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)
    except FileNotFoundError:  # the current folder is gone
        return path
