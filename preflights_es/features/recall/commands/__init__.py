"""What was decided, on the command line."""
