"""The program, killed at the N-th time that it makes, renames or removes a file or a folder."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from preflights_cli.main import main

CHANGES = ("os.link", "os.mkdir", "os.remove", "os.rename")

_left = int(sys.argv.pop(1))


def _kill_when_due(event: str, args: tuple[Any, ...]) -> None:
    global _left  # noqa: PLW0603  an audit hook has no other place for it
    makes = event == "open" and isinstance(args[2], int) and bool(args[2] & os.O_CREAT)
    if event in CHANGES or makes:
        _left -= 1
        if _left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.addaudithook(_kill_when_due)
    main()
