"""Reads what coding agents keep of their conversations: which questions a person was asked there.

One module a format, and what they have in common. Nothing here records anything.
"""
