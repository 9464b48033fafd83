"""Processes that work for another one."""

from __future__ import annotations

import os
from threading import Thread


def begun() -> None:
    """For a process that was just started: it ends with the other, also where that is killed."""
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
