"""For tests of workflows: laws, golden sessions, a scripted provider.

Stands above every other room, and no other room imports it. It needs the extra `testing` only
where sessions are generated.
"""

from preflights_es.testing.laws import LAWS, check_golden, check_laws, record_golden
from preflights_es.testing.played import PlayedSession, Reply, ScriptedProvider, SessionMove

__all__ = [
    "LAWS",
    "PlayedSession",
    "Reply",
    "ScriptedProvider",
    "SessionMove",
    "check_golden",
    "check_laws",
    "record_golden",
]
