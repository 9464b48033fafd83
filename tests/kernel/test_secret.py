"""A key is shown nowhere."""

from __future__ import annotations

import json

import msgspec
import pytest

from preflights_es.kernel.secret import Secret


def test_a_secret_shows_nothing_of_itself() -> None:
    secret = Secret("hunter2", "MY_KEY")
    shown = f"{secret} {secret!r} {secret:>8} %s" % secret + str([secret]) + str({"a": secret})
    assert "hunter2" not in shown
    assert "***" in shown
    assert secret.reveal() == "hunter2"
    assert secret.source == "MY_KEY"


def test_a_secret_is_no_json() -> None:
    with pytest.raises(TypeError):
        json.dumps(Secret("hunter2"))
    with pytest.raises(TypeError):
        msgspec.json.encode(Secret("hunter2"))


def test_secrets_are_equal_by_value_and_empty_is_none() -> None:
    assert Secret("a", "X") == Secret("a", "Y")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert not Secret("")
