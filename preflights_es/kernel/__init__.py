"""Pure: what a log is: events, the fold, requests, errors, ports.

No clock, no chance, no environment, no network, no database: what changes between two runs
enters as a field of an Input.
"""

__version__ = "0.1.0"
"""Of the program; every session records it."""
