"""What a replay says of a call that differs from each that was recorded."""

from __future__ import annotations

from typing import Any

import pytest

from preflights_es.features.calls.playing import describe_changed_value
from preflights_es.kernel.json import ABSENT


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("a  b", "a b", 'recorded "a  b", now "a b"'),
        (ABSENT, 0.2, "recorded nothing, now 0.2"),
        (
            f"{'Sort this mail. ' * 50}Be short.",
            f"{'Sort this mail. ' * 50}Be kind.",
            'recorded … Sort this mail. Be short.", now … Sort this mail. Be kind."',
        ),
    ],
)
def test_of_two_values_what_differs_is_shown(old: Any, new: Any, said: str) -> None:
    assert describe_changed_value(old, new) == said
