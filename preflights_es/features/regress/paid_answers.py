"""What models answered in a run that is not done, in the user's cache folder until it is.

Each line is the case of a session, with its texts, as the report has it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.results import Case

KEPT_S: Final = 30 * 86_400  # seconds; a run that is not taken up until then is given up


class PaidAnswers:
    """Cases for which models were asked; a file that cannot be written keeps none."""

    def __init__(self, folder: Path | None, run: str, now_s: float) -> None:
        """Args:
        folder: None keeps nothing.
        run: all that decides a case besides the session itself.
        now_s: seconds since 1970 UTC.
        """
        key = sha256(run.encode()).hexdigest()
        self._file = None if folder is None else folder / f"{key}.jsonl"
        if folder is not None:
            with suppress(OSError):
                for file in folder.glob("*.jsonl"):
                    if file.stat().st_mtime < now_s - KEPT_S:
                        file.unlink()

    def kept_cases(self) -> dict[str, Case]:
        """By the hash of the session's last event, without source and command."""
        found: dict[str, Case] = {}
        lines: list[bytes] = []
        if self._file is not None:
            with suppress(OSError):
                lines = self._file.read_bytes().splitlines()
        for line in lines:
            with suppress(msgspec.MsgspecError, ValueError):  # it was cut off, or is empty
                case = msgspec.json.decode(line, type=Case)
                found[case.head] = case
        return found

    def keep_case(self, case: Case) -> None:
        """Write a case behind the others; one that still waits for a model is not paid yet."""
        if self._file is None or case.calls_needed:
            return
        kept = msgspec.json.encode(replace(case, source="", repeat=""))
        line = b"\n%b\n" % kept  # the line before may have been cut off
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(file, "ab") as out:
                out.write(line)

    def forget(self) -> None:
        """The run is done."""
        if self._file is not None:
            with suppress(OSError):
                self._file.unlink()
