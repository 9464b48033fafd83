"""The server that the tests start ends with them, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.markdown import ROOT
from tests.postgres import lives

STARTED = """
from tests.postgres import FAST, OwnServer
server = OwnServer(FAST)
print(server.pid, server.folder, flush=True)
input()
"""
GONE_S = 20  # seconds in which a server must be gone; it takes a twentieth of one


@pytest.mark.slow("kills")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_server_outlives_the_tests_that_started_it(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as tests:
        assert tests.stdout is not None
        pid, folder = tests.stdout.readline().split()
        assert lives(int(pid))
        os.kill(tests.pid, number)
    until = time.monotonic() + GONE_S
    while lives(int(pid)) or Path(folder).exists():
        assert time.monotonic() < until, "the server is still there"
        time.sleep(0.01)
