"""`make test` stays quick: few tests are slow, and none without a reason."""

from __future__ import annotations

import pytest

from tests.conftest import SLOW, SLOW_MAX, SLOW_TESTS, slow_tests


def test_few_tests_are_slow(pytestconfig: pytest.Config) -> None:
    # Of the files that were collected: of all of them, where all run.
    assert len(pytestconfig.stash[SLOW_TESTS]) <= SLOW_MAX


@pytest.mark.parametrize("why", [(), ("it takes long",), (*SLOW,)])
def test_a_slow_test_says_why(request: pytest.FixtureRequest, why: tuple[str, ...]) -> None:
    request.node.add_marker(pytest.mark.slow(*why))
    with pytest.raises(pytest.UsageError, match=r"slow\(\) takes one of"):
        slow_tests([request.node])
