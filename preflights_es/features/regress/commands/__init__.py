"""Regression runs on the command line."""
