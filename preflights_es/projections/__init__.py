"""Stored tables over many sessions; a question folds none of them.

Each projection is a function from one folded session to rows. Nothing here reads a database, a
clock or a workflow by name; a question about a single session is answered by its own log.
"""
