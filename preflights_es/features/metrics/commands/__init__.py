"""Questions about data on the command line."""
