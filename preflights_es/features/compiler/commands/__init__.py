"""Passes and plans on the command line."""
