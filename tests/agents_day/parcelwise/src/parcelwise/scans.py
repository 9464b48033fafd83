"""Scans of carriers, as they come in."""
