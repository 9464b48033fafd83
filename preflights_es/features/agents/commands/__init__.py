"""Hooks, files and conversations of coding agents on the command line."""
