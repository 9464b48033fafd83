"""The operating system's files, read and written safely. It knows nothing of sessions."""
