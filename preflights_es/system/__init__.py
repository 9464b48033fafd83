"""This machine: clock, ids, git, files. It knows nothing of sessions."""
