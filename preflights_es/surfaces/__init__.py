"""What others call: Python programs, and coding agents by the server."""
