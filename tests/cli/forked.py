"""A command in a forked process, which need not import the program once more.

Imports are nine tenths of a short command. A fork has a folder, an environment and streams of its
own, as a process that starts; only what is tested of a start itself has to start.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from preflights_cli import EXIT_BUG
from preflights_cli.main import main

OPEN: Final = Path("/proc/self/fd")
AT_START: Final = ("PYTHON", "LANG", "LC_")
"""Of these an interpreter reads at its start."""


def can_be_forked(environment: Mapping[str, str]) -> bool:
    """Whether nothing in it is read at the start of an interpreter alone.

    Never from another thread of a test, nor while it holds a log: SQLite takes the locks of one
    process for those of its fork.
    """
    told = {name for name in environment if name.startswith(AT_START)}
    is_usual = told == {"LC_ALL"} and environment["LC_ALL"] == "C.UTF-8"
    return is_usual and threading.current_thread() is threading.main_thread() and not _holds_a_log()


def _holds_a_log() -> bool:
    """Whether a file of SQLite is open here; where that cannot be seen, one may be."""
    links = [one for one in OPEN.iterdir() if one.is_symlink()] if OPEN.is_dir() else []
    return not links or any(".db" in os.readlink(one) for one in links)


def forked(arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """The program, in the child between `fork` and `exec`; it never comes back to the tests."""
    code = EXIT_BUG
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # also what tells the parent of an `exec`
        # Nothing that was opened by the tests is ended here.
        atexit._clear()
        weakref.finalize._registry.clear()  # type: ignore[attr-defined]  # where folders wait
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        tempfile.tempdir = None
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # as an interpreter does at its start
            signal.signal(number, signal.SIG_IGN)
        sys.argv = ["preflights", *arguments]
        # pytest imports readline, which would edit what is typed.
        ctypes.c_void_p.in_dll(ctypes.pythonapi, "PyOS_ReadlineFunctionPointer").value = None
        sys.stdin, sys.stdout = _stream(0, "r"), _stream(1, "w")
        sys.stderr = _stream(2, "w", "backslashreplace")
        main(arguments)
    except SystemExit as end:
        threading._shutdown()  # type: ignore[attr-defined]  # as an interpreter waits for threads
        code = int(end.code or 0)
    except BaseException:  # it would be another run of the tests
        traceback.print_exc()
    finally:
        os._exit(code)


def _stream(number: int, mode: str, errors: str = "surrogateescape") -> Any:
    """As an interpreter opens it, a line at a time also where no terminal is."""
    return open(number, mode, 1, "utf-8", errors, closefd=False)
