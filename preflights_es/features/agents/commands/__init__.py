"""Hooks and files of coding agents on the command line."""
