"""Streams of opaque events at rest: SQL, memory and JSON Lines; knows no workflow."""
