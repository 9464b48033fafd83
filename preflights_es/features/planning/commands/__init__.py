"""The day plan on the command line."""
