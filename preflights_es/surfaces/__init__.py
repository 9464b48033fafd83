"""What others call: Python programs, and coding agents by the server.

Features add tools and pages of their own, so this room lies below them.
"""
