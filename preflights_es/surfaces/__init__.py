"""What others call: programs, and coding agents by the server."""
