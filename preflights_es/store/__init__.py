"""Streams of opaque events: SQL, memory, JSON Lines; hash chains.

No workflow is known here. The tables of projections are made of what each projection declares.
"""
