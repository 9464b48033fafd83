"""Recorded sessions as a regression suite: which ones, where they run, which results are kept."""
