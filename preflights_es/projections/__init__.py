"""What many sessions come to, kept so that nobody has to fold all of them to ask.

Each projection is a function from one folded session to rows. Nothing here reads a database, a
clock or a workflow by name; a question about a single session is answered by its own log.
"""
