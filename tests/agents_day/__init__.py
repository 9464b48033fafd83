"""A coding agent's day: what it is told before each of ten tasks."""
