"""Passes and plans: the services."""
