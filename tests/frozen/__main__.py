"""Records what is new among all that is published: `python -m tests.frozen`.

What was published before stays as it was recorded: where it was changed, the program says what to
do, and ends with exit code 1. `--all` records that too, in a commit that says why.
"""

from __future__ import annotations

import sys

from tests.frozen.differing import differences, record
from tests.frozen.published import KINDS, recorded


def main(*, is_all: bool) -> int:
    touched = list[str]()
    for kind, published in KINDS.items():
        now = published.found()
        before = recorded(kind)
        found = differences(kind, before, now) if before and not is_all else ()
        kept = [one.text for one in found if not one.is_added]
        if not kept:
            record(kind, now)
        touched += kept
    print(*touched, sep="\n", end="\n" if touched else "")
    return bool(touched)


if __name__ == "__main__":
    sys.exit(main(is_all="--all" in sys.argv[1:]))
