"""Calls of any program."""
