"""Judging a response: extraction, schema, code detection; one thought a module."""
