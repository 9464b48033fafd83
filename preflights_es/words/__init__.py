"""Pure: questions, decisions, items, views, language, workflows.

What more than one feature says, and the kernel does not know.
"""
