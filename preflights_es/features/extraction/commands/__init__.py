"""Notes on the command line."""
