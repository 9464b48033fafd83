"""Transcripts of agents, written by the tests themselves: no line is copied from anywhere."""
