"""Recorded sessions, judged by today's code and with changes."""
