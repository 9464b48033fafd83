"""Helps to rebuild when it is told to: `python -m tests.projections.joiner DATABASE`.

It prints a line when it is ready, and waits for one: the session behind which it begins.
"""

from __future__ import annotations

import sys

from preflights_es.use.bootstrap import joined

if __name__ == "__main__":
    print("ready", flush=True)
    joined(sys.argv[1], (), sys.stdin.readline().strip())
