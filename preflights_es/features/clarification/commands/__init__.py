"""Clarifications on the command line."""
