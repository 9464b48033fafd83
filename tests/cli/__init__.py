"""The command line, as a script and as a person meet it."""
