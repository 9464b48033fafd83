"""The forms of a regression report."""
