"""`make test` stays quick: few tests are slow, and none without a reason."""

from __future__ import annotations

import subprocess
import sys
import time
from threading import Event

import pytest

from tests.conftest import SLOW, SLOW_MAX, SLOW_TESTS, ended_after, slow_tests


def test_few_tests_are_slow(pytestconfig: pytest.Config) -> None:
    # Of the files that were collected: of all of them, where all run.
    assert len(pytestconfig.stash[SLOW_TESTS]) <= SLOW_MAX


@pytest.mark.parametrize("why", [(), ("it takes long",), (*SLOW,)])
def test_a_slow_test_says_why(request: pytest.FixtureRequest, why: tuple[str, ...]) -> None:
    request.node.add_marker(pytest.mark.slow(*why))
    with pytest.raises(pytest.UsageError, match=r"slow\(\) takes one of"):
        slow_tests([request.node])


def test_a_test_that_hangs_ends_at_its_limit() -> None:
    asleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    for hang in (Event().wait, lambda: time.sleep(60), lambda: subprocess.run(asleep)):
        began = time.monotonic()
        with (
            pytest.raises(pytest.fail.Exception, match=r"more than 0\.2 seconds"),
            ended_after(0.2),
        ):
            hang()
        assert time.monotonic() - began < 20
