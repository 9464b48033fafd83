"""Streams of opaque events: SQL, memory, JSON Lines; hash chains."""
