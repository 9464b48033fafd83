"""The version of the program, which every session records."""

__version__ = "0.1.0"
