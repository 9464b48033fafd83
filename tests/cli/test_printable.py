"""What is printable is shown as it is: the short way past the patterns misses nothing."""

from __future__ import annotations

import re
import sys

from preflights_cli.common import _OBEYED
from preflights_es.kernel import text

PATTERNS = (text._UNSAFE, text._CONTROL, text._SURROGATE, _OBEYED)


def test_no_printable_character_is_one_that_a_pattern_finds() -> None:
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert len(printable) > 100_000
    found = [found for pattern in PATTERNS if (found := pattern.search(printable))]
    assert found == []
    assert re.search("[Aé数🛫]", printable)
