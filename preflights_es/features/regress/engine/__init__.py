"""Recorded sessions held against a change: what the change does to each, and why."""
