"""Replay, what-if, import, export, verification, erasure."""
