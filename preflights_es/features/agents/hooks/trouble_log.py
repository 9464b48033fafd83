"""`hooks.log`: what went wrong in a hook, since the agent that called it must not know."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from preflights_es.kernel.ids import iso
from preflights_es.kernel.text import one_line, shortened, shown
from preflights_es.redaction.masking import redact_hidden
from preflights_es.system import clock_ids

FILE: Final = "hooks.log"
SIZE_MAX: Final = 256_000  # bytes; the file of before stays as `hooks.log.1`
LINE_MAX: Final = 400  # characters
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
_OPEN: Final = _FLAGS | getattr(os, "O_NONBLOCK", 0)  # a fifo without a reader would block


def note(folder: Path, agent: str, event: str, text: str) -> None:
    """Write a line; where that fails, there is no line."""
    bare = shortened(shown(one_line(text[: 4 * LINE_MAX])), LINE_MAX)
    who = shortened(shown(one_line(f"{agent or '-'} {event or '-'}")), LINE_MAX)
    line = f"{iso(clock_ids.now())} {redact_hidden(f'{who}: {bare}').text}\n"
    path = folder / FILE
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            if os.lstat(path).st_size > SIZE_MAX:
                os.replace(path, folder / f"{FILE}.1")
        handle = os.open(path, _OPEN, 0o600)
        try:
            os.write(handle, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(handle)
