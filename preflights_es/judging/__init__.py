"""Judges a model's response; finds source code in it."""
