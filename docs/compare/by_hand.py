"""The floor: sessions verified and driven again by the standard library, as a team might write it.

    python by_hand.py ROOT

Reads `sessions.jsonl` of this folder; prints the ids of sessions that differ.
"""

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from tests.benchmarks.floor import parsed, verify
from tests.benchmarks.floor_led import drive


def main() -> None:
    """Judge all sessions."""
    differing = []
    for session_id, events in parsed(Path("sessions.jsonl").read_bytes().splitlines()).items():
        try:
            verify(events)
            drive(events)
        except (AssertionError, KeyError, IndexError):
            differing.append(session_id)
    sys.stdout.write(f"differing: {' '.join(differing)}\n")


if __name__ == "__main__":
    main()
